# What shell tests start or preload. Each C file of mpi/ and fault/ is a program of its own but for those named here,
# which have several sources, parts of ours, or another library.
find_package(Threads REQUIRED)
set(tests "${CMAKE_CURRENT_SOURCE_DIR}")
set(source "${PROJECT_SOURCE_DIR}/src")
file(GLOB alone CONFIGURE_DEPENDS "${tests}/mpi/*.c" "${tests}/fault/*.c")

file(GLOB fuzz CONFIGURE_DEPENDS "${tests}/mpi/engine_fuzz*.c")
piolet_test_program(engine_fuzz ${fuzz})
set(mix "${tests}/mpi/engine_mix.c" "${tests}/mpi/engine_mix_base.c" "${tests}/mpi/engine_mix_file.c"
  "${tests}/mpi/engine_mix_message.c" "${tests}/mpi/engine_mix_request.c")
piolet_test_program(engine_mix ${mix})
file(GLOB progress CONFIGURE_DEPENDS "${tests}/mpi/engine_progress*.c")
piolet_test_program(engine_progress ${progress})

# Parts of the engine and of the tracer. The first two have the memory of type_trial.c, in the place of engine/mem.c.
file(GLOB typemap CONFIGURE_DEPENDS "${source}/engine/typemap/*.c")
file(GLOB datarep CONFIGURE_DEPENDS "${source}/engine/datarep/*.c")
set(trial support/type_trial.c ${typemap} "${source}/mpi/real.c" "${source}/base/status.c")
piolet_test_program(typemap_decode mpi/typemap_decode.c ${trial})
piolet_test_program(datarep mpi/datarep.c ${datarep} ${trial})
piolet_test_program(ground mpi/ground.c)
target_link_libraries(ground PRIVATE piolet_mpi piolet_base)
piolet_test_program(trace_dump mpi/trace_dump.c)
target_link_libraries(trace_dump PRIVATE piolet_trace piolet_base)
piolet_test_program(dist_filetype mpi/dist_filetype.c)
target_link_libraries(dist_filetype PRIVATE piolet_shared)

# Programs on foreign libraries, which are not built with sanitizers.
set(foreign "${tests}/mpi/software_hdf5.c" "${tests}/mpi/software_pnetcdf.c")
if(NOT PIOLET_SANITIZE)
  find_program(PIOLET_H5PCC "h5pcc.${PIOLET_MPI}")
  if(PIOLET_H5PCC)
    execute_process(COMMAND ${PIOLET_H5PCC} -shlib -show OUTPUT_VARIABLE shown)
    string(REGEX MATCHALL "-[IL][^ ]+" folders "${shown}")
    piolet_test_program(software_hdf5 mpi/software_hdf5.c)
    target_compile_options(software_hdf5 PRIVATE ${folders})
    target_link_libraries(software_hdf5 PRIVATE ${folders} hdf5)
  endif()
  find_path(PIOLET_PNETCDF_INCLUDE pnetcdf.h)
  if(PIOLET_PNETCDF_INCLUDE AND PIOLET_MPI STREQUAL openmpi) # Debian has it for Open MPI alone
    piolet_test_program(software_pnetcdf mpi/software_pnetcdf.c)
    target_link_libraries(software_pnetcdf PRIVATE pnetcdf)
  endif()
endif()

# A program that is not linked with MPI, and the library that brings it.
piolet_test_preload(apart mpi/engine_apart.c)
piolet_test_preload(bench_tamper support/bench_tamper.c)
piolet_test_preload(beffio_calls support/beffio_calls.c)
target_compile_definitions(apart PRIVATE LIBRARY)
add_executable(engine_apart mpi/engine_apart.c)
piolet_test_binary(engine_apart)
target_link_libraries(engine_apart PRIVATE ${CMAKE_DL_LIBS})

list(REMOVE_ITEM alone "${tests}/mpi/engine_check.c" # included by others
  "${tests}/mpi/engine_apart.c"
  ${fuzz} ${mix} ${progress} ${foreign} "${tests}/mpi/typemap_decode.c" "${tests}/mpi/datarep.c"
  "${tests}/mpi/ground.c" "${tests}/mpi/trace_dump.c" "${tests}/mpi/dist_filetype.c")
foreach(file IN LISTS alone)
  get_filename_component(name "${file}" NAME_WE)
  piolet_test_program(${name} "${file}")
endforeach()

foreach(name serial_btio serial_matrix allocated)
  piolet_test_program(${name} support/${name}.c)
endforeach()
foreach(name make_block make_blocks)
  piolet_test_program(${name} support/${name}.c)
  target_link_libraries(${name} PRIVATE piolet_base)
endforeach()
piolet_test_program(make_trace support/make_trace.c)
target_link_libraries(make_trace PRIVATE piolet_trace piolet_base)
piolet_test_program(model_scale support/model_scale.c) # started by hand: docs/model.md
target_link_libraries(model_scale PRIVATE piolet_model)
foreach(name count tamper record_writes no_tmpfile extents spoil beff_below no_thread less_thread)
  piolet_test_preload(${name} support/${name}.c)
endforeach()
foreach(kind TICK STEP) # what is coarse about the clock
  piolet_test_preload(coarse_clock_${kind} support/coarse_clock.c)
  target_compile_definitions(coarse_clock_${kind} PRIVATE ${kind})
endforeach()
