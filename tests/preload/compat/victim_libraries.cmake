# SPDX-License-Identifier: Apache-2.0
# Libraries that single victims link or load in addition to the runtime: TARGET is each of
# victim_NAME_shared and victim_NAME_static.
include(victim_reconcile.cmake)

# Other interposers, plugins and stand-ins for the victims of routing, beside the programs.
set(compat_libraries "")
function(vs_compat_library name source)
  add_library(${name} SHARED ${source})
  target_link_libraries(${name} PRIVATE vs_cuda_headers Threads::Threads ${CMAKE_DL_LIBS} ${ARGN})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/compat)
  set(compat_libraries ${compat_libraries} ${name} PARENT_SCOPE)
endfunction()

# A library that exports the memory passed to it; only its name matters.
vs_compat_library(sharing_library memory/sharing_library.c)
set_target_properties(sharing_library PROPERTIES OUTPUT_NAME ucp)
vs_compat_library(peer_library memory/peer_library.c)
vs_compat_library(route_next route/route_next.c)
foreach(way 1 2 3)
  vs_compat_library(route_driver_${way} route/route_driver.c)
  target_compile_definitions(route_driver_${way} PRIVATE WAY=${way})
endforeach()
vs_compat_library(route_dlsym route/route_dlsym.c)
target_compile_definitions(route_dlsym PRIVATE VERSIONED=1)
target_link_options(route_dlsym PRIVATE
  -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/route/route_dlsym.map)
vs_compat_library(route_dlsym_plain route/route_dlsym.c)
target_compile_definitions(route_dlsym_plain PRIVATE VERSIONED=0)
vs_compat_library(route_audit route/route_audit.c)
vs_compat_library(route_plugin_static route/route_plugin.c sim_cudart_static)
vs_compat_library(route_plugin_shared route/route_plugin.c sim_cudart)
vs_compat_library(route_plugin_11 route/route_plugin.c sim_cudart_11)
vs_compat_library(route_plugin_12 route/route_plugin.c sim_cudart_12)
vs_compat_library(route_plugin_early route/route_plugin.c sim_cudart_static)
target_compile_definitions(route_plugin_early PRIVATE MOMENT=1)
vs_compat_library(route_plugin_opens route/route_plugin.c sim_cudart_static)
target_compile_definitions(route_plugin_opens PRIVATE MOMENT=2)
vs_compat_library(route_plugin_lookup route/route_plugin.c)
target_compile_definitions(route_plugin_lookup PRIVATE MOMENT=3)
vs_compat_library(route_plugin_symbolic route/route_plugin.c sim_cudart_static)
target_link_options(route_plugin_symbolic PRIVATE -Wl,-Bsymbolic)
vs_compat_library(route_plugin_now route/route_plugin.c sim_cudart)
target_link_options(route_plugin_now PRIVATE -Wl,-z,now)
vs_compat_library(route_plugin_driver route/route_plugin.c -Wl,--no-as-needed sim_cuda sim_cudart_static)
vs_compat_library(route_closable route/route_closable.c)
set_target_properties(route_closable PROPERTIES PREFIX "" OUTPUT_NAME libcudart.so SUFFIX ".13"
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/compat/closable)
target_link_options(route_closable PRIVATE -Wl,-soname,libcudart.so.13
  -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/route/route_closable.map)
set_property(TARGET route_closable PROPERTY NO_SONAME ON)

# Linked with nothing of CUDA.
add_executable(victim_route_absent_static route/route_absent.c)
target_link_libraries(victim_route_absent_static PRIVATE ${CMAKE_DL_LIBS})
target_compile_definitions(victim_route_absent_static PRIVATE _GNU_SOURCE)
target_include_directories(victim_route_absent_static PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties(victim_route_absent_static PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/compat)
list(APPEND compat_programs victim_route_absent_static)

foreach(runtime IN LISTS compat_runtimes)
  target_link_libraries(victim_process_state_${runtime} PRIVATE m) # feenableexcept
  target_link_libraries(victim_profilers_linked_${runtime} PRIVATE sim_cupti)
endforeach()

vs_compat_library(late_linked process/late_library.c)
vs_compat_library(late_opened process/late_library.c)
foreach(runtime IN LISTS compat_runtimes)
  target_link_libraries(victim_process_late_${runtime} PRIVATE late_linked)
  add_dependencies(victim_process_late_${runtime} late_opened)
endforeach()
target_compile_definitions(victim_process_late_objects PRIVATE
  VICTIM_OPENED_LIBRARY="$<TARGET_FILE:late_opened>")

vs_compat_library(loading_library threads/loading_library.c)
vs_compat_library(loading_init_library threads/loading_library.c)
target_compile_definitions(loading_init_library PRIVATE LOADING_BY_INIT)
target_link_options(loading_init_library PRIVATE -Wl,-init,loading)
foreach(runtime IN LISTS compat_runtimes)
  add_dependencies(victim_threads_waited_${runtime} loading_library loading_init_library)
endforeach()
target_compile_definitions(victim_threads_waited_objects PRIVATE
  VICTIM_LOADING_LIBRARY="$<TARGET_FILE:loading_library>"
  VICTIM_INIT_LIBRARY="$<TARGET_FILE:loading_init_library>")
