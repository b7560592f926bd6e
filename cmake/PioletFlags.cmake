# Flags of all our code, on one interface target.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# Assertions stay on: they guard our own bugs, and none stands in a timed loop.
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")

add_library(piolet_flags INTERFACE)
target_include_directories(piolet_flags INTERFACE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
target_compile_definitions(piolet_flags INTERFACE _GNU_SOURCE PIOLET_VERSION="${PROJECT_VERSION}")
target_compile_options(piolet_flags INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wformat=2
  -Wno-format-nonliteral -Wvla -Wundef -fno-omit-frame-pointer)
if(PIOLET_FUZZ)
  target_compile_definitions(piolet_flags INTERFACE PIOLET_FUZZ) # base/checksum.h
endif()
if(PIOLET_SANITIZE)
  target_compile_options(piolet_flags INTERFACE -fsanitize=${PIOLET_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(piolet_flags INTERFACE -fsanitize=${PIOLET_SANITIZE})
endif()
