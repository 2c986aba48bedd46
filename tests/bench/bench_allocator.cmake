# SPDX-License-Identifier: Apache-2.0
# `ninja bench_allocator_run` converts the shared traces, where there are any, and
# runs the benchmark over them.
add_executable(bench_allocator ${CMAKE_CURRENT_LIST_DIR}/bench_allocator.c)
target_link_libraries(bench_allocator PRIVATE vs_flags vs_test_allocator_support)
set_target_properties(bench_allocator PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

set(vs_bench_events "")
file(GLOB vs_bench_snapshots ${VS_SHARED_DIR}/traces/*.pickle)
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  foreach(snapshot IN LISTS vs_bench_snapshots)
    get_filename_component(name ${snapshot} NAME_WE)
    set(events ${CMAKE_CURRENT_BINARY_DIR}/${name}.events)
    add_custom_command(OUTPUT ${events}
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/support/snapshot_to_events.py
              ${snapshot} ${events}
      DEPENDS ${snapshot} ${PROJECT_SOURCE_DIR}/tests/support/snapshot_to_events.py)
    list(APPEND vs_bench_events ${events})
  endforeach()
endif()
add_custom_target(bench_allocator_run
  COMMAND bench_allocator ${vs_bench_events}
  DEPENDS bench_allocator ${vs_bench_events} USES_TERMINAL)
