# SPDX-License-Identifier: Apache-2.0
# Build options, warnings and sanitizers, shared by every module.
option(VRAMSCOPE_TESTS "Build the tests" ON)
option(VRAMSCOPE_SQLITE "Export to SQLite databases, if libsqlite3 is installed" ON)
option(VRAMSCOPE_BUNDLE "libvramscope.so loads libunwind and zstd by names of its own, from its folder" OFF)
option(VRAMSCOPE_SANITIZED_TESTS "Build also the tests of which a sanitizer's build runs all (label sanitized)" ON)
option(VRAMSCOPE_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
option(VRAMSCOPE_WERROR "Treat warnings as errors" OFF)
set(VRAMSCOPE_SANITIZE "" CACHE STRING "-fsanitize= list, such as address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# One tree shaped like the installed one, so that the command finds its library
# and the simulator by the same relative paths in both.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(VS_SIMULATOR_DIR "${CMAKE_BINARY_DIR}/lib/vramscope/simulator")

add_library(vs_flags INTERFACE)
target_compile_options(vs_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wshadow;-Wstrict-prototypes;-Wmissing-prototypes;-Wpointer-arith;-Wvla>
  -fno-omit-frame-pointer)
if(VRAMSCOPE_WERROR)
  target_compile_options(vs_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()
if(VRAMSCOPE_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:C>:-fsanitize=${VRAMSCOPE_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:C>:-fno-sanitize-recover=undefined>
                      $<$<COMPILE_LANGUAGE:C>:-g1>) # functions and lines, which is what reports of errors show
  add_link_options(-fsanitize=${VRAMSCOPE_SANITIZE})
endif()
if(VRAMSCOPE_BUNDLE)
  add_compile_definitions(VS_BUNDLED)
endif()
if(VRAMSCOPE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# vs_room(NAME SOURCES...): the objects of one folder, compiled once and linked wherever
# they are needed. Headers are included by their path below src/.
function(vs_room name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PRIVATE vs_flags Threads::Threads)
  # unit tests spend most of their time in these; the warnings are of checks that GCC itself adds
  if(VRAMSCOPE_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "Debug" AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND
     name MATCHES "^vs_(base|ledger|allocator|trace|analysis)")
    target_compile_options(${name} PRIVATE
      $<$<COMPILE_LANGUAGE:C>:-O1;-Wno-maybe-uninitialized;-Wno-stringop-overread>)
  endif()
endfunction()

# vs_module(NAME ROOMS ROOM...): a static library of rooms; its property VS_ROOMS has their names.
function(vs_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ROOMS")
  foreach(room IN LISTS arg_ROOMS)
    list(APPEND objects $<TARGET_OBJECTS:${room}>)
  endforeach()
  add_library(${name} STATIC ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C VS_ROOMS "${arg_ROOMS}")
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
endfunction()
