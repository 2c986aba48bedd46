# SPDX-License-Identifier: Apache-2.0
# victim_reconcile: libraries that allocate, under the names of those that do. NCCL brings
# a runtime of its own, cuBLAS uses the program's. The releases are those that the simulated GPU
# does not replace.
foreach(library nccl cublas)
  add_library(compat_${library} SHARED reconcile_library.c)
  target_compile_definitions(compat_${library} PRIVATE
    LIBRARY_TAKE=${library}_take LIBRARY_GIVE=${library}_give)
  target_compile_options(compat_${library} PRIVATE -fvisibility=hidden)
  target_link_options(compat_${library} PRIVATE LINKER:--exclude-libs,ALL)
  set_target_properties(compat_${library} PROPERTIES PREFIX "" SUFFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/compat)
endforeach()
target_link_libraries(compat_nccl PRIVATE vs_cuda_headers sim_cudart_static)
target_link_libraries(compat_cublas PRIVATE vs_cuda_headers sim_cudart)
set_target_properties(compat_nccl PROPERTIES OUTPUT_NAME libnccl.so.1)
set_target_properties(compat_cublas PROPERTIES OUTPUT_NAME libcublas.so.11)
foreach(runtime IN LISTS compat_runtimes)
  add_dependencies(victim_reconcile_${runtime} compat_nccl compat_cublas)
endforeach()
target_compile_definitions(victim_reconcile_objects PRIVATE
  VICTIM_NCCL="$<TARGET_FILE:compat_nccl>" VICTIM_CUBLAS="$<TARGET_FILE:compat_cublas>")
