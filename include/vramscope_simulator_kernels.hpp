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
 * A thread block runs on one host thread. Its threads run one after another, each up to
 * its end or to the next barrier or warp operation. A waiting thread has a stack of its
 * own, so any code may wait anywhere. */
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
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <link.h>
#include <sys/mman.h>
#if !defined(__x86_64__) || defined(VRAMSCOPE_SIM_UCONTEXT)
#include <ucontext.h>
#endif

#include <cuda_runtime.h>
#include <device_launch_parameters.h>

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

#define threadIdx (vramscope_sim::here.thread)
#define blockIdx (vramscope_sim::here.block)
#define blockDim (vramscope_sim::here.block_dim)
#define gridDim (vramscope_sim::here.grid_dim)
#define warpSize 32

/* For code whose accesses are not reported. Atomics report theirs themselves. */
#define VRAMSCOPE_SIM_UNSEEN __attribute__((no_sanitize("kernel-address")))
#ifdef VRAMSCOPE_SIM_INSTRUMENTED
#define VRAMSCOPE_SIM_CHANGES(p) vramscope_sim::announce(p, sizeof *(p), 2)
#else
#define VRAMSCOPE_SIM_CHANGES(p) ((void)0)
#endif

namespace vramscope_sim {

struct position {
    uint3 thread, block, block_dim, grid_dim;
};
inline thread_local position here;
inline thread_local char *running_stack; /* of the running thread, lowest address */

#ifdef VRAMSCOPE_SIM_INSTRUMENTED
/* This thread's block of thread-local variables of this program or library, which contains
 * the __shared__ variables of kernels. */
struct thread_locals {
    const char *begin;
    std::size_t bytes;
};
inline thread_local thread_locals shared;

VRAMSCOPE_SIM_UNSEEN inline int find_thread_locals(dl_phdr_info *info, std::size_t, void *)
{
    const char *block = static_cast<const char *>(info->dlpi_tls_data);
    for (int i = 0; block && i < info->dlpi_phnum; i++) {
        const auto &header = info->dlpi_phdr[i];
        std::size_t at = std::size_t(reinterpret_cast<const char *>(&here) - block);
        if (header.p_type != PT_TLS || at >= header.p_memsz)
            continue;
        shared = {block, header.p_memsz};
        return 1;
    }
    return 0;
}

/* The accesses of a block's threads. They run one after another, so their accesses are
 * sorted, merged and reported together. Writes come first, because a thread may read data
 * that it wrote itself. */
struct span {
    const char *begin, *end;
    int how; /* 0: read, 1: written, 2: atomically changed */
};
struct accesses {
    static constexpr std::size_t most = 1 << 16;
    span *items;
    std::size_t count;
};
inline thread_local accesses seen;

VRAMSCOPE_SIM_UNSEEN inline int compare_spans(const void *a, const void *b)
{
    const span *x = static_cast<const span *>(a), *y = static_cast<const span *>(b);
    if (x->how != y->how)
        return x->how == 0 ? 1 : y->how == 0 ? -1 : x->how - y->how; /* reads last */
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

VRAMSCOPE_SIM_UNSEEN inline void report_accesses()
{
    char *stack = running_stack;
    running_stack = nullptr; /* later code may be instrumented, too */
    std::qsort(seen.items, seen.count, sizeof(span), compare_spans);
    for (std::size_t i = 0; i < seen.count;) {
        span s = seen.items[i++];
        for (; i < seen.count && seen.items[i].how == s.how && seen.items[i].begin <= s.end; i++)
            s.end = seen.items[i].end > s.end ? seen.items[i].end : s.end;
        vramscope_sim_access(s.begin, std::size_t(s.end - s.begin), s.how);
    }
    seen.count = 0;
    running_stack = stack;
}
#endif

[[noreturn]] inline void give_up(const char *why)
{
    std::fprintf(stderr, "vramscope simulator: kernel, block (%u,%u,%u): %s\n", here.block.x,
                 here.block.y, here.block.z, why);
    std::abort();
}

/* ---- stacks ---- */

#if defined(__x86_64__) && !defined(VRAMSCOPE_SIM_UCONTEXT)
using context = void *; /* a stack pointer; the preserved registers are above it */

extern "C" void vramscope_sim_switch(void **from, void *to);
asm(R"(
    .pushsection .text
    .weak vramscope_sim_switch
    .hidden vramscope_sim_switch
    .type vramscope_sim_switch, @function
vramscope_sim_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size vramscope_sim_switch, .-vramscope_sim_switch
    .popsection
)");

inline void switch_context(context *from, context *to) { vramscope_sim_switch(from, *to); }

inline void make_context(context *made, char *stack, std::size_t bytes, void (*entry)())
{
    void **sp = reinterpret_cast<void **>(stack + bytes);
    *--sp = nullptr; /* entry's return address; leaves the stack as after a call */
    *--sp = reinterpret_cast<void *>(entry);
    for (int i = 0; i < 6; i++)
        *--sp = nullptr;
    *made = sp;
}
#else
using context = ucontext_t;

inline void switch_context(context *from, context *to) { swapcontext(from, to); }

inline void make_context(context *made, char *stack, std::size_t bytes, void (*entry)())
{
    getcontext(made);
    made->uc_stack.ss_sp = stack;
    made->uc_stack.ss_size = bytes;
    made->uc_link = nullptr;
    makecontext(made, entry, 0);
}
#endif

/* A stack that runs the threads of a block one after another. A waiting thread keeps its
 * stack. */
struct fiber {
    static constexpr std::uint64_t canary = 0x76735374616b2121u;
    context at;
    char *stack;
    unsigned thread = 0;

    explicit fiber(void (*entry)())
    {
        void *p = mmap(nullptr, VRAMSCOPE_SIM_STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            give_up("no memory for the stack of a thread");
        stack = static_cast<char *>(p);
        *reinterpret_cast<std::uint64_t *>(stack) = canary;
        make_context(&at, stack, VRAMSCOPE_SIM_STACK_BYTES, entry);
    }
    ~fiber() { munmap(stack, VRAMSCOPE_SIM_STACK_BYTES); }
    fiber(const fiber &) = delete;
    fiber &operator=(const fiber &) = delete;

    void check() const
    {
        if (*reinterpret_cast<const std::uint64_t *>(stack) != canary)
            give_up("a thread ran out of stack; compile with a larger VRAMSCOPE_SIM_STACK_BYTES");
    }
};

/* ---- one block ---- */

struct exchange { /* the value that a lane offers to its warp, or receives */
    alignas(16) unsigned char value[16];
    unsigned from; /* the lane whose value it requests */
    unsigned vote; /* received: the lanes that voted */
};

struct warp {
    unsigned alive, waiting;
    unsigned mask[32];
    exchange shown[32], given[32];
};

class runner {
public:
    using body = void (*)(void **args);

    VRAMSCOPE_SIM_UNSEEN static runner &mine()
    {
        static thread_local runner r;
        return r;
    }

    VRAMSCOPE_SIM_UNSEEN void run(const vramscope_sim_launch *launch, unsigned long index, body call)
    {
        here.block = {unsigned(index % launch->grid[0]),
                      unsigned(index / launch->grid[0] % launch->grid[1]),
                      unsigned(index / launch->grid[0] / launch->grid[1])};
        here.block_dim = {launch->block[0], launch->block[1], launch->block[2]};
        here.grid_dim = {launch->grid[0], launch->grid[1], launch->grid[2]};
        if (launch->shared_bytes > VRAMSCOPE_SIM_SHARED_BYTES)
            give_up("more dynamic shared memory than VRAMSCOPE_SIM_SHARED_BYTES");
        call_ = call;
        args_ = launch->args;
        begin(launch->block[0] * launch->block[1] * launch->block[2]);
        for (;;) {
            if (ready_head_ < ready_.size())
                resume(holder_[ready_[ready_head_++]]);
            else if (next_ < total_)
                resume(idle_fiber());
            else if (live_ == 0)
                break;
            else
                give_up("its threads wait for each other at different places");
            if (ready_head_ == ready_.size()) {
                ready_.clear();
                ready_head_ = 0;
            }
        }
#ifdef VRAMSCOPE_SIM_INSTRUMENTED
        if (seen.count)
            report_accesses();
#endif
        running_stack = nullptr;
    }

    /* Waits for all threads of the block that have not ended; counts their votes. */
    struct votes {
        unsigned yes, no;
    };
    VRAMSCOPE_SIM_UNSEEN votes block_barrier(bool vote)
    {
        (vote ? counting_.yes : counting_.no)++;
        if (waiting_.size() + 1 == live_) {
            release_block();
        } else {
            waiting_.push_back(current_->thread);
            wait();
        }
        return counted_;
    }

    /* Waits for all lanes in *mask*; each receives the value of the requested lane. */
    VRAMSCOPE_SIM_UNSEEN const exchange &warp_barrier(unsigned mask, const exchange &mine)
    {
        unsigned thread = current_->thread, lane = thread % 32;
        warp &w = warps_[thread / 32];
        mask |= 1u << lane;
        w.shown[lane] = mine;
        w.mask[lane] = mask;
        w.waiting |= 1u << lane;
        if (!release_warp(thread / 32, mask, thread))
            wait();
        return w.given[lane];
    }

    VRAMSCOPE_SIM_UNSEEN unsigned lane() const { return current_->thread % 32; }

private:
    body call_ = nullptr;
    void **args_ = nullptr;
    unsigned next_ = 0, total_ = 0, live_ = 0;
    context scheduler_;
    fiber *current_ = nullptr;
    std::vector<std::unique_ptr<fiber>> fibers_;
    std::vector<fiber *> idle_, holder_; /* holder_: of a waiting thread */
    std::vector<unsigned> ready_, waiting_;
    std::size_t ready_head_ = 0;
    std::vector<warp> warps_;
    votes counting_{}, counted_{};

    VRAMSCOPE_SIM_UNSEEN void begin(unsigned threads)
    {
        next_ = 0;
        total_ = live_ = threads;
        counting_ = {};
        holder_.resize(threads);
        warps_.resize((threads + 31) / 32);
        for (unsigned i = 0; i < warps_.size(); i++) {
            unsigned lanes = std::min(32u, threads - i * 32);
            warps_[i].alive = lanes == 32 ? ~0u : (1u << lanes) - 1;
            warps_[i].waiting = 0;
        }
    }

    VRAMSCOPE_SIM_UNSEEN fiber *idle_fiber()
    {
        if (idle_.empty()) {
            fibers_.push_back(std::make_unique<fiber>(fiber_main));
            idle_.push_back(fibers_.back().get());
        }
        fiber *f = idle_.back();
        idle_.pop_back();
        return f;
    }

    VRAMSCOPE_SIM_UNSEEN void place(unsigned thread)
    {
        here.thread = {thread % here.block_dim.x, thread / here.block_dim.x % here.block_dim.y,
                       thread / here.block_dim.x / here.block_dim.y};
    }

    VRAMSCOPE_SIM_UNSEEN void resume(fiber *f)
    {
        current_ = f;
        running_stack = f->stack;
#ifdef VRAMSCOPE_SIM_INSTRUMENTED
        if (!shared.bytes)
            dl_iterate_phdr(find_thread_locals, nullptr);
#endif
        switch_context(&scheduler_, &f->at);
    }

    VRAMSCOPE_SIM_UNSEEN void wait()
    {
        fiber *f = current_;
        holder_[f->thread] = f;
        f->check();
        switch_context(&f->at, &scheduler_);
        place(f->thread);
    }

    VRAMSCOPE_SIM_UNSEEN static void fiber_main()
    {
        for (;;) {
            runner &r = mine();
            fiber *f = r.current_;
            while (r.next_ < r.total_ && r.ready_head_ == r.ready_.size()) {
                f->thread = r.next_++;
                r.place(f->thread);
                r.call_(r.args_);
                f->check();
                r.ended(f->thread);
            }
            r.idle_.push_back(f);
            switch_context(&f->at, &r.scheduler_);
        }
    }

    VRAMSCOPE_SIM_UNSEEN void ended(unsigned thread)
    {
        live_--;
        warp &w = warps_[thread / 32];
        w.alive &= ~(1u << thread % 32);
        for (unsigned lane = 0; w.waiting && lane < 32; lane++)
            if (w.waiting & 1u << lane)
                release_warp(thread / 32, w.mask[lane], thread);
        if (live_ && waiting_.size() == live_)
            release_block();
    }

    VRAMSCOPE_SIM_UNSEEN void release_block()
    {
        counted_ = counting_;
        counting_ = {};
        ready_.insert(ready_.end(), waiting_.begin(), waiting_.end());
        waiting_.clear();
    }

    /* True if all lanes of *mask* had arrived; they continue. *self* is not made ready. */
    VRAMSCOPE_SIM_UNSEEN bool release_warp(unsigned index, unsigned mask, unsigned self)
    {
        warp &w = warps_[index];
        unsigned need = mask & w.alive, vote = 0;
        if ((need & w.waiting) != need)
            return false;
        for (unsigned lane = 0; lane < 32; lane++)
            if (need & 1u << lane && w.mask[lane] != mask)
                return false;
        for (unsigned lane = 0; lane < 32; lane++)
            if (need & 1u << lane && w.shown[lane].vote)
                vote |= 1u << lane;
        for (unsigned lane = 0; lane < 32; lane++) {
            if (!(need & 1u << lane))
                continue;
            unsigned from = w.shown[lane].from;
            w.given[lane] = w.shown[need & 1u << from ? from : lane];
            w.given[lane].vote = vote;
            if (index * 32 + lane != self)
                ready_.push_back(index * 32 + lane);
        }
        w.waiting &= ~need;
        return true;
    }
};

#ifdef VRAMSCOPE_SIM_INSTRUMENTED
/* ---- accesses reported by the compiler's instrumentation ---- */

VRAMSCOPE_SIM_UNSEEN inline void announce(const void *address, std::size_t bytes, int how)
{
    const char *p = static_cast<const char *>(address);
    if (!running_stack || std::size_t(p - running_stack) < VRAMSCOPE_SIM_STACK_BYTES ||
        std::size_t(p - shared.begin) < shared.bytes)
        return;
    accesses &to = seen;
    span *last = to.count ? &to.items[to.count - 1] : nullptr;
    if (last && last->how == how && last->end == p) {
        last->end += bytes;
        return;
    }
    if (to.count == accesses::most)
        report_accesses();
    if (!to.items && !(to.items = static_cast<span *>(std::malloc(accesses::most * sizeof(span)))))
        return;
    to.items[to.count++] = {p, p + bytes, how};
}

#define VRAMSCOPE_SIM_ANNOUNCE(bytes)                                                              \
    extern "C" VRAMSCOPE_SIM_UNSEEN __attribute__((weak)) void __asan_load##bytes##_noabort(        \
        void *p)                                                                                   \
    {                                                                                              \
        announce(p, bytes, 0);                                                                     \
    }                                                                                              \
    extern "C" VRAMSCOPE_SIM_UNSEEN __attribute__((weak)) void __asan_store##bytes##_noabort(       \
        void *p)                                                                                   \
    {                                                                                              \
        announce(p, bytes, 1);                                                                     \
    }
VRAMSCOPE_SIM_ANNOUNCE(1)
VRAMSCOPE_SIM_ANNOUNCE(2)
VRAMSCOPE_SIM_ANNOUNCE(4)
VRAMSCOPE_SIM_ANNOUNCE(8)
VRAMSCOPE_SIM_ANNOUNCE(16)
#undef VRAMSCOPE_SIM_ANNOUNCE
extern "C" {
VRAMSCOPE_SIM_UNSEEN __attribute__((weak)) void __asan_loadN_noabort(void *p, std::size_t bytes)
{
    announce(p, bytes, 0);
}
VRAMSCOPE_SIM_UNSEEN __attribute__((weak)) void __asan_storeN_noabort(void *p, std::size_t bytes)
{
    announce(p, bytes, 1);
}
__attribute__((weak)) void __asan_handle_no_return() {}
__attribute__((weak)) void __asan_before_dynamic_init(const char *) {}
__attribute__((weak)) void __asan_after_dynamic_init() {}
}
#endif

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
        for (unsigned long b = first; b < last; b++)
            runner::mine().run(launch, b, thread);
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

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wattributes" /* __global__ on static functions */
#endif

#endif
