/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs CUDA kernels on vramscope's simulated GPU, which does not execute device code.
 * The kernels' source is compiled a second time, for the host: this header defines
 * __global__, threadIdx, __shared__, __syncthreads, atomicAdd, shuffles and so on for an
 * ordinary C++ compiler. An additional source file, which is not compiled by nvcc, includes
 * this header and the kernels, and names them:
 *
 *     #include <vramscope_simulator_kernels.hpp>
 *     #include "kernels.cuh"
 *     VRAMSCOPE_SIM_KERNEL(matmul);
 *     VRAMSCOPE_SIM_KERNEL(scale<float>);
 *
 * Compile it with -std=c++17 and the CUDA headers, and link it with the program or
 * build a shared library to preload. On a real GPU it finds no simulator and does nothing.
 * See docs/simulator.md, "Running your own kernels".
 *
 * With -DVRAMSCOPE_SIM_INSTRUMENTED and the options in docs/simulator.md, every access of
 * the kernels is reported to the simulator's checker.
 *
 * vramscope_simulator_threads.hpp runs the threads; _intrinsics.hpp, _arithmetic.hpp,
 * _groups.hpp and _textures.hpp contain the functions of device code. */
#ifndef VRAMSCOPE_SIMULATOR_KERNELS_HPP
#define VRAMSCOPE_SIMULATOR_KERNELS_HPP

#if defined(__CUDACC__)
#error "this header is for the host's C++ compiler; nvcc compiles the kernels by itself"
#endif
#if __cplusplus < 201703L
#error "vramscope_simulator_kernels.hpp needs C++17"
#endif

/* Before the CUDA headers, because their __noinline__ breaks the standard library. */
#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cerrno>
#include <cfenv>
#include <limits>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#if !defined(__x86_64__) || defined(VRAMSCOPE_SIM_UCONTEXT)
#include <ucontext.h>
#endif

#ifdef __DEVICE_LAUNCH_PARAMETERS_H__
#error "include vramscope_simulator_kernels.hpp before the CUDA headers"
#endif
#define __DEVICE_LAUNCH_PARAMETERS_H__ /* threadIdx and the others are this header's */
#include <cuda.h>
#include <cuda_runtime.h>

#include "vramscope_simulator.h"

#ifndef VRAMSCOPE_SIM_STACK_BYTES /* of a waiting thread; multiple of the page size */
#ifdef VRAMSCOPE_SIM_INSTRUMENTED
#define VRAMSCOPE_SIM_STACK_BYTES 1048576 /* the checker's reports need it */
#else
#define VRAMSCOPE_SIM_STACK_BYTES 65536
#endif
#endif
#ifndef VRAMSCOPE_SIM_SHARED_BYTES
#define VRAMSCOPE_SIM_SHARED_BYTES 65536 /* most dynamic shared memory of a launch */
#endif

/* ---- CUDA's keywords ---- */

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __managed__
#undef __grid_constant__
#undef __launch_bounds__
#undef __maxnreg__
#undef __forceinline__

/* nvcc's object files define functions and variables of the same names. Kernels are inlined
 * into their callers here, so that it does not matter which of two definitions the linker
 * keeps; the tag gives everything else a different name. */
#define __global__ inline __attribute__((always_inline, visibility("hidden")))
#define __device__ __attribute__((abi_tag("vramscope")))
#define __constant__ __attribute__((abi_tag("vramscope")))
#define __managed__ __attribute__((abi_tag("vramscope")))
#define __host__
#define __shared__ thread_local
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))

/* For code whose accesses are not reported. Atomics report theirs themselves. */
#define VRAMSCOPE_SIM_UNSEEN __attribute__((no_sanitize("kernel-address")))
#ifdef VRAMSCOPE_SIM_INSTRUMENTED
#define VRAMSCOPE_SIM_CHANGES(p) vramscope_sim::announce(p, sizeof *(p), 2)
#else
#define VRAMSCOPE_SIM_CHANGES(p) ((void)0)
#endif

#include "vramscope_simulator_threads.hpp"

namespace vramscope_sim {

/* ---- names and registration ---- */

/* The symbol name of a kernel. */
template <auto kernel> const char *symbol_of()
{
    const char *name;
#if defined(__x86_64__)
    asm(".pushsection .rodata\n.Lvramscope_sim_%=: .asciz \"%c1\"\n.popsection\n"
        "leaq .Lvramscope_sim_%=(%%rip), %0"
        : "=r"(name)
        : "i"(kernel));
#elif defined(__aarch64__)
    asm(".pushsection .rodata\n.Lvramscope_sim_%=: .asciz \"%c1\"\n.popsection\n"
        "adrp %0, .Lvramscope_sim_%=\nadd %0, %0, :lo12:.Lvramscope_sim_%="
        : "=r"(name)
        : "i"(kernel));
#else
#error "vramscope_simulator_kernels.hpp: x86-64 and AArch64 only"
#endif
    return name;
}

/* The same name in device code, which has no L for static functions. */
inline std::string device_name(std::string name)
{
    if (name.compare(0, 2, "_Z") != 0)
        return name;
    std::size_t at = name[2] == 'N' ? 3 : 2;
    for (std::size_t length; at < name.size(); at += length) {
        if (name[at] == 'L')
            name.erase(at, 1);
        if (!std::isdigit(static_cast<unsigned char>(name[at])))
            break;
        char *end;
        length = std::strtoul(&name[at], &end, 10);
        length += std::size_t(end - &name[at]);
    }
    return name;
}

/* Loads the driver for the registration; programs open it later. */
inline void open_driver()
{
    static void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
    (void)driver;
}

template <auto kernel> struct host_kernel;
template <typename... A, void (*kernel)(A...)> struct host_kernel<kernel> {
    template <std::size_t... i> static void call_with(void **args, std::index_sequence<i...>)
    {
        (void)args;
        kernel(*static_cast<std::remove_const_t<A> *>(args[i])...);
    }

    static void thread(void **args) { call_with(args, std::index_sequence_for<A...>()); }

    static void blocks(const vramscope_sim_launch *launch, unsigned long first, unsigned long last)
    {
        if (launch->cooperative)
            together(launch, thread, last);
        else
            for (unsigned long b = first; b < last && runner::mine().run(launch, b, thread); b++)
                ;
    }

    explicit host_kernel(const char *name = nullptr)
    {
        static const std::size_t bytes[] = {sizeof(A)..., 0};
        open_driver();
        std::string own = name ? name : device_name(symbol_of<kernel>());
        vramscope_sim_register(own.c_str(), blocks, bytes, sizeof...(A));
    }
};

/* The name of "a::b" in device code. */
inline std::string variable_name(const char *source)
{
    std::string name, mangled;
    int parts = 0;
    for (const char *p = source;; p++) {
        if (*p && *p != ':') {
            if (*p != ' ')
                name += *p;
            continue;
        }
        if (!name.empty()) {
            mangled += std::to_string(name.size()) + name;
            parts++;
        }
        if (!*p)
            return parts == 1 ? name : "_ZN" + mangled + "E";
        name.clear();
    }
}

struct host_variable {
    template <typename T> host_variable(const std::string &name, T &variable)
    {
        open_driver();
        vramscope_sim_register_variable(name.c_str(), const_cast<std::remove_const_t<T> *>(&variable),
                                        sizeof variable,
                                        std::is_const_v<std::remove_all_extents_t<T>>);
    }
};

} // namespace vramscope_sim

#define VRAMSCOPE_SIM_JOIN_(a, b) a##b
#define VRAMSCOPE_SIM_JOIN(a, b) VRAMSCOPE_SIM_JOIN_(a, b)

/* VRAMSCOPE_SIM_KERNEL(k): run this code at each launch of the kernel *k*. Kernels in a
 * namespace and instances of templates are named as in a C++ call. */
#define VRAMSCOPE_SIM_KERNEL(...)                                                                  \
    static const vramscope_sim::host_kernel<&__VA_ARGS__> VRAMSCOPE_SIM_JOIN(                      \
        vramscope_sim_kernel_, __COUNTER__)

/* VRAMSCOPE_SIM_KERNEL_NAMED("name", k): the same for a kernel whose name in device code is
 * *name*. */
#define VRAMSCOPE_SIM_KERNEL_NAMED(name, ...)                                                      \
    static const vramscope_sim::host_kernel<&__VA_ARGS__> VRAMSCOPE_SIM_JOIN(                      \
        vramscope_sim_kernel_, __COUNTER__)(name)

/* VRAMSCOPE_SIM_VARIABLE(v): in kernels, the __device__, __constant__ or __managed__
 * variable *v* has the value of the device on which the kernel runs. Its initial value is
 * the one given here. Variables in a namespace are named as in C++. */
#define VRAMSCOPE_SIM_VARIABLE(...)                                                                \
    static const vramscope_sim::host_variable VRAMSCOPE_SIM_JOIN(vramscope_sim_variable_,          \
                                                                 __COUNTER__)(                     \
        vramscope_sim::variable_name(#__VA_ARGS__), __VA_ARGS__)

/* VRAMSCOPE_SIM_DYNAMIC_SHARED(float, s): for kernels with `extern __shared__ float s[];`.
 * After the include, once per name. The function is the initialiser that C++ calls before
 * the first use of such a variable; it does nothing. */
#define VRAMSCOPE_SIM_DYNAMIC_SHARED(type, name)                                                   \
    __attribute__((used, noinline, noclone)) static void VRAMSCOPE_SIM_JOIN(vramscope_sim_init_, name)()              \
    {                                                                                              \
        asm(".pushsection .text\n.weak _ZTH%c0" #name "\n.hidden _ZTH%c0" #name "\n"               \
            ".type _ZTH%c0" #name ", %%function\n_ZTH%c0" #name ": ret\n.popsection"               \
            :                                                                                      \
            : "i"(sizeof #name - 1));                                                              \
    }                                                                                              \
    __attribute__((weak, aligned(256))) thread_local type                                          \
        name[VRAMSCOPE_SIM_SHARED_BYTES / sizeof(type)]

#include "vramscope_simulator_intrinsics.hpp"
#include "vramscope_simulator_arithmetic.hpp"
#include "vramscope_simulator_groups.hpp"
#include "vramscope_simulator_textures.hpp"

/* For kernels that choose code by architecture. Last, because the CUDA headers above would
 * choose device code by it. */
#if defined(VRAMSCOPE_SIM_ARCH) && !defined(__CUDA_ARCH__)
#define __CUDA_ARCH__ VRAMSCOPE_SIM_ARCH
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wattributes" /* __global__ on static functions */
#endif

#endif
