/* SPDX-License-Identifier: Apache-2.0
 *
 * One source, three runtimes. rt_*.c are written for the CUDA 13 headers; the libraries for CUDA 11
 * and 12 programs are built from the same files, and those that use VS_SIM_RT_MAJOR are compiled
 * once for each major version (src/simulator/CMakeLists.txt). If an older major version has another
 * form of a function under the same name, the CUDA 13 form keeps its name in C and gets another one
 * in the library (vs_sim_runtime_major_names.h); rt_major.c defines the old form. */
#ifndef VS_SIM_RUNTIME_MAJOR_H
#define VS_SIM_RUNTIME_MAJOR_H

#ifndef VS_SIM_RT_MAJOR
#define VS_SIM_RT_MAJOR 13
#endif

/* The value of cudaRuntimeGetVersion: the last release of the major version. */
#if VS_SIM_RT_MAJOR == 11
#define VS_SIM_RT_VERSION 11080
#elif VS_SIM_RT_MAJOR == 12
#define VS_SIM_RT_VERSION 12090
#else
#define VS_SIM_RT_VERSION CUDART_VERSION
#endif

#endif
