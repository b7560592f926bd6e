# piolet_registry(OUT DEF PREFIX): the source files of a registry.
# Every line ENTRY(name) of the .def file stands for PREFIX_name.c beside it.
function(piolet_registry out def prefix)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${def}")
  file(STRINGS "${def}" lines REGEX "^ENTRY\\(")
  get_filename_component(folder "${def}" DIRECTORY)
  set(sources "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^ENTRY\\(([A-Za-z0-9_]+)\\).*" "\\1" name "${line}")
    list(APPEND sources "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${prefix}_${name}.c")
  endforeach()
  set(${out} "${sources}" PARENT_SCOPE)
endfunction()
