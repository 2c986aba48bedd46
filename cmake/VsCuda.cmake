# SPDX-License-Identifier: Apache-2.0
# Finds the CUDA headers (never a CUDA library to link with) and, where there is
# one, nvcc. Order: -DCUDA_PATH / environment CUDA_PATH, the toolkit CMake finds,
# NVIDIA's Python wheels. Sets VS_CUDA_HEADERS (a list, empty when absent),
# VS_CUPTI_HEADERS, VS_NVTX_HEADERS as subsets of it, and VS_HAVE_NVCC.
set(CUDA_PATH "$ENV{CUDA_PATH}" CACHE PATH "CUDA toolkit root")
option(VRAMSCOPE_CUDA "Build what needs CUDA headers (intercept, simulator, examples)" ON)
set(VS_CUDA_HEADERS "")
set(VS_HAVE_NVCC OFF)

if(VRAMSCOPE_CUDA)
  set(vs_cuda_roots ${CUDA_PATH})
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND)
    list(APPEND vs_cuda_roots ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_TARGET_DIR})
    list(APPEND vs_cuda_incs ${CUDAToolkit_INCLUDE_DIRS})
  endif()
  list(APPEND vs_cuda_roots /usr/local/cuda)
  # NVIDIA's wheels: nvidia/cu13 (13.x) or nvidia/cuda_runtime, cuda_cupti, nvtx (12.x)
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" -c
      "import sys,glob,os; print(';'.join(sorted(g for p in sys.path if p for g in glob.glob(os.path.join(p,'nvidia','*')) if os.path.isdir(os.path.join(g,'include')))))"
    OUTPUT_VARIABLE vs_wheel_roots OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(APPEND vs_cuda_roots ${vs_wheel_roots})
  foreach(root IN LISTS vs_cuda_roots)
    list(APPEND vs_cuda_incs ${root}/include ${root}/extras/CUPTI/include)
  endforeach()
  find_path(VS_CUDA_RUNTIME_INC cuda_runtime_api.h PATHS ${vs_cuda_incs} NO_DEFAULT_PATH)
  find_path(VS_CUDA_RUNTIME_INC cuda_runtime_api.h)
  find_path(VS_CUPTI_INC cupti.h PATHS ${vs_cuda_incs} NO_DEFAULT_PATH)
  find_path(VS_CUPTI_INC cupti.h)
  find_path(VS_NVTX_INC nvtx3/nvToolsExt.h PATHS ${vs_cuda_incs} NO_DEFAULT_PATH)
  find_path(VS_NVTX_INC nvtx3/nvToolsExt.h)
  find_path(VS_CRT_INC crt/host_defines.h PATHS ${vs_cuda_incs} NO_DEFAULT_PATH)
  find_path(VS_CRT_INC crt/host_defines.h)
  find_path(VS_PROFILER_INC cudaProfiler.h PATHS ${vs_cuda_incs} NO_DEFAULT_PATH)
  find_path(VS_PROFILER_INC cudaProfiler.h)
  if(VS_CUDA_RUNTIME_INC AND VS_CUPTI_INC AND VS_NVTX_INC AND VS_CRT_INC)
    set(VS_CUDA_HEADERS ${VS_CUDA_RUNTIME_INC} ${VS_CUPTI_INC} ${VS_NVTX_INC} ${VS_CRT_INC})
    if(VS_PROFILER_INC) # the simulated GPU needs it, nothing else
      list(APPEND VS_CUDA_HEADERS ${VS_PROFILER_INC})
    endif()
    list(REMOVE_DUPLICATES VS_CUDA_HEADERS)
    file(STRINGS "${VS_CUDA_RUNTIME_INC}/cuda.h" vs_cuda_version REGEX "#define CUDA_VERSION ")
    string(REGEX MATCH "[0-9]+$" VS_CUDA_VERSION "${vs_cuda_version}")
    message(STATUS "CUDA headers ${VS_CUDA_VERSION}: ${VS_CUDA_HEADERS}")
    if(VS_CUDA_VERSION LESS 12020)
      message(FATAL_ERROR "These CUDA headers are older than 12.2. Set CUDA_PATH to a newer toolkit (programs "
        "of CUDA 11 can be recorded all the same), or -DVRAMSCOPE_CUDA=OFF for only the verbs that read traces.")
    endif()
  else()
    message(STATUS "CUDA headers incomplete (runtime: ${VS_CUDA_RUNTIME_INC}, CUPTI: "
      "${VS_CUPTI_INC}, NVTX: ${VS_NVTX_INC}, crt: ${VS_CRT_INC}): "
      "building only the verbs that read traces. Set CUDA_PATH to a toolkit, or pip install nvidia-cuda-runtime "
      "nvidia-cuda-cupti nvidia-nvtx nvidia-cuda-crt nvidia-cuda-profiler-api.")
  endif()
endif()

add_library(vs_cuda_headers INTERFACE)
target_include_directories(vs_cuda_headers SYSTEM INTERFACE ${VS_CUDA_HEADERS})

option(VRAMSCOPE_NVCC "Build the examples with nvcc where there is one" ON)
if(VS_CUDA_HEADERS AND VRAMSCOPE_NVCC)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75) # oldest that CUDA 13 compiles for; its PTX runs on later ones
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(VS_HAVE_NVCC ON)
  endif()
endif()
