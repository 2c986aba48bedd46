# SPDX-License-Identifier: Apache-2.0
# What single victims link with, or load, beside the runtime: TARGET is each of
# victim_NAME_shared and victim_NAME_static.

# Other interposers, plugins and stand-ins for the victims of routing, beside the programs.
set(compat_libraries "")
function(vs_compat_library name source)
  add_library(${name} SHARED ${source})
  target_link_libraries(${name} PRIVATE vs_cuda_headers Threads::Threads ${CMAKE_DL_LIBS} ${ARGN})
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/compat)
  set(compat_libraries ${compat_libraries} ${name} PARENT_SCOPE)
endfunction()

vs_compat_library(route_next route_next.c)
foreach(way 1 2 3)
  vs_compat_library(route_driver_${way} route_driver.c)
  target_compile_definitions(route_driver_${way} PRIVATE WAY=${way})
endforeach()
vs_compat_library(route_dlsym route_dlsym.c)
target_compile_definitions(route_dlsym PRIVATE VERSIONED=1)
target_link_options(route_dlsym PRIVATE
  -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/route_dlsym.map)
vs_compat_library(route_dlsym_plain route_dlsym.c)
target_compile_definitions(route_dlsym_plain PRIVATE VERSIONED=0)
