/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads of kernels on the host. Included by vramscope_simulator_kernels.hpp; do not
 * include it directly.
 *
 * A thread block runs on one host thread. Its threads run one after another, each up to its
 * end or to the next barrier or warp operation. A waiting thread has a stack of its own, so
 * any code may wait anywhere. The blocks of a cooperative launch have a host thread each,
 * so that all of them run at the same time.
 *
 * A thread that fails an assertion never runs again, and neither does a thread of its block
 * that waits; the block ends when all others have ended or wait. */
#ifndef VRAMSCOPE_SIMULATOR_THREADS_HPP
#define VRAMSCOPE_SIMULATOR_THREADS_HPP

#ifndef VRAMSCOPE_SIMULATOR_KERNELS_HPP
#include "vramscope_simulator_kernels.hpp"
#endif

/* Variables, not macros, so that host code may use their names for its own. The symbols have
 * other names, because nvcc's object files declare the same. */
inline thread_local uint3 threadIdx __asm__("vramscope_sim_thread_index");
inline thread_local uint3 blockIdx __asm__("vramscope_sim_block_index");
inline thread_local dim3 blockDim __asm__("vramscope_sim_block_size");
inline thread_local dim3 gridDim __asm__("vramscope_sim_grid_size");
constexpr int warpSize = 32;

namespace vramscope_sim {

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
        std::size_t at = std::size_t(reinterpret_cast<const char *>(&running_stack) - block);
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


struct fiber {
    context at;
    char *stack;
    unsigned thread = 0;

    /* A stack is used from its upper end; its lowest bytes stay zero unless it overflows. */
    void check() const
    {
        const std::uint64_t *lowest = reinterpret_cast<const std::uint64_t *>(stack);
        for (int i = 0; i < 8; i++)
            if (lowest[i]) {
                std::fprintf(stderr, "vramscope simulator: a thread ran out of stack; compile "
                                     "with a larger VRAMSCOPE_SIM_STACK_BYTES\n");
                std::abort(); /* it has written over another thread's stack */
            }
    }
};

/* ---- the blocks of a cooperative launch ---- */

/* Where they wait for each other. A block that has ended is not waited for. */
class meeting {
public:
    explicit meeting(unsigned long blocks) : live_(blocks) {}

    /* Returns when all other blocks have arrived, too; false if one of them has failed. */
    VRAMSCOPE_SIM_UNSEEN bool arrive()
    {
        std::unique_lock<std::mutex> lock(mu_);
        unsigned long phase = phase_;
        if (++arrived_ == live_)
            open();
        else
            opened_.wait(lock, [&] { return phase_ != phase || failed_; });
        return !failed_;
    }
    VRAMSCOPE_SIM_UNSEEN void leave(bool failed)
    {
        std::lock_guard<std::mutex> lock(mu_);
        failed_ |= failed;
        if (--live_ == arrived_ || failed)
            open();
    }

private:
    std::mutex mu_;
    std::condition_variable opened_;
    unsigned long live_, arrived_ = 0, phase_ = 0;
    bool failed_ = false;

    VRAMSCOPE_SIM_UNSEEN void open()
    {
        arrived_ = 0;
        phase_++;
        opened_.notify_all();
    }
};

/* ---- one block ---- */

struct exchange { /* what a thread shows to the others of its group */
    alignas(16) unsigned char value[32];
    bool vote;
};

struct gathered { /* what the lanes of a warp showed in one operation */
    exchange lane[32];
    unsigned lanes, voted; /* those that took part; those that voted */
    unsigned readers;      /* that have not read it yet */
};

struct warp {
    unsigned alive;
    unsigned parked;     /* lanes that wait anywhere */
    unsigned waiting;    /* of them: for a warp operation */
    unsigned converging; /* of them: for the lanes that reach the same place */
    unsigned mask[32];   /* of the operation; or the lanes that converged */
    const void *place[32];
    exchange shown[32];
    gathered *given[32];
};

/* Threads of a part of a block, more than a warp, that wait for each other. */
struct part_barrier {
    unsigned first, count;
    std::vector<unsigned> waiting;
};

class runner {
public:
    using body = void (*)(void **args);

    VRAMSCOPE_SIM_UNSEEN static runner &mine()
    {
        static thread_local runner r;
        return r;
    }
    runner() = default;
    runner(const runner &) = delete;
    ~runner()
    {
        for (char *slab : slabs_)
            munmap(slab, slab_bytes);
    }

    /* Runs a block; *all*: where it meets the others, or NULL. False if it failed. */
    VRAMSCOPE_SIM_UNSEEN bool run(const vramscope_sim_launch *launch, unsigned long index, body call,
                                  meeting *all = nullptr)
    {
        blockIdx = {unsigned(index % launch->grid[0]),
                    unsigned(index / launch->grid[0] % launch->grid[1]),
                    unsigned(index / launch->grid[0] / launch->grid[1])};
        blockDim = dim3(launch->block[0], launch->block[1], launch->block[2]);
        gridDim = dim3(launch->grid[0], launch->grid[1], launch->grid[2]);
        launch_ = launch;
        call_ = call;
        all_ = all;
        begin(launch->block[0] * launch->block[1] * launch->block[2]);
        if (launch->shared_bytes > VRAMSCOPE_SIM_SHARED_BYTES) {
            complain("more dynamic shared memory than VRAMSCOPE_SIM_SHARED_BYTES; compile with a "
                     "larger one");
            failed_ = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
        } else {
            run_threads();
        }
        if (stopped_)
            discard();
#ifdef VRAMSCOPE_SIM_INSTRUMENTED
        if (seen.count)
            report_accesses();
#endif
        running_stack = nullptr;
        current_ = nullptr;
        if (failed_ && !vramscope_sim_fail(launch, failed_))
            std::abort(); /* no simulator that could take the error */
        return !failed_ && !stopped_;
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

    /* Waits for all threads of the grid that have not ended. */
    VRAMSCOPE_SIM_UNSEEN void grid_barrier()
    {
        if (!all_ && gridDim.x * gridDim.y * gridDim.z > 1)
            fail_launch(CUDA_ERROR_LAUNCH_FAILED, "a barrier of the grid in a kernel that was not launched "
                                           "by cudaLaunchCooperativeKernel");
        if (!all_) {
            block_barrier(false);
        } else if (grid_waiting_.size() + 1 == live_) {
            release_grid();
        } else {
            grid_waiting_.push_back(current_->thread);
            wait();
        }
    }

    /* Waits for the threads in [first, first + count) that have not ended. */
    VRAMSCOPE_SIM_UNSEEN void part_wait(unsigned first, unsigned count)
    {
        part_barrier *part = nullptr;
        for (part_barrier &p : parts_)
            if (p.first == first && p.count == count)
                part = &p;
        if (!part) {
            parts_.push_back({first, count, {}});
            part = &parts_.back();
        }
        part->waiting.push_back(current_->thread);
        if (part->waiting.size() == alive_in(first, count)) {
            part->waiting.pop_back();
            release_part(*part);
        } else {
            wait();
        }
    }
    /* What a thread shows to such a part, between two waits. */
    VRAMSCOPE_SIM_UNSEEN exchange &shown_by(unsigned thread)
    {
        if (shown_.size() < total_)
            shown_.resize(total_);
        return shown_[thread];
    }
    VRAMSCOPE_SIM_UNSEEN bool has_ended(unsigned thread) const
    {
        return !(warps_[thread / 32].alive & 1u << thread % 32);
    }

    /* Waits for all lanes in *mask*; then *read* gets what they showed. It must not wait. */
    template <typename F>
    VRAMSCOPE_SIM_UNSEEN auto warp_barrier(unsigned mask, const exchange &mine, F read)
    {
        unsigned thread = current_->thread, lane = thread % 32;
        warp &w = warps_[thread / 32];
        mask |= 1u << lane;
        w.shown[lane] = mine;
        w.mask[lane] = mask;
        w.waiting |= 1u << lane;
        if (!release_warp(thread / 32, mask, thread))
            wait();
        gathered *g = w.given[lane];
        auto answer = read(*g);
        if (--g->readers == 0)
            unused_.push_back(g);
        return answer;
    }

    /* The lanes of the warp that have come to the same call of this function, which its return
     * address identifies, when no lane can run any further. */
    VRAMSCOPE_SIM_UNSEEN __attribute__((noinline)) unsigned converge()
    {
        const void *place = __builtin_return_address(0);
        unsigned thread = current_->thread;
        warp &w = warps_[thread / 32];
        w.converging |= 1u << thread % 32;
        w.place[thread % 32] = place;
        wait();
        return w.mask[thread % 32];
    }

    VRAMSCOPE_SIM_UNSEEN unsigned lane() const { return current_->thread % 32; }
    VRAMSCOPE_SIM_UNSEEN unsigned thread() const { return current_->thread; }
    VRAMSCOPE_SIM_UNSEEN bool running() const { return current_ != nullptr; }
    VRAMSCOPE_SIM_UNSEEN bool cooperative() const { return all_ != nullptr; }

    /* Ends the thread that is running and its launch. *error*: a CUresult. */
    [[noreturn]] VRAMSCOPE_SIM_UNSEEN void fail_launch(int error)
    {
        if (!failed_)
            failed_ = error;
        stop();
    }
    [[noreturn]] VRAMSCOPE_SIM_UNSEEN void fail_launch(int error, const char *why)
    {
        complain(why);
        fail_launch(error);
    }

private:
    static constexpr std::size_t slab_stacks = 32;
    static constexpr std::size_t slab_bytes = slab_stacks * VRAMSCOPE_SIM_STACK_BYTES;

    const vramscope_sim_launch *launch_ = nullptr;
    body call_ = nullptr;
    meeting *all_ = nullptr;
    int failed_ = 0;       /* a CUresult */
    bool stopped_ = false; /* a thread has failed, or a block that this one waited for */
    unsigned next_ = 0, total_ = 0, live_ = 0;
    context scheduler_;
    fiber *current_ = nullptr;
    std::vector<char *> slabs_;
    std::deque<fiber> fibers_;
    std::vector<fiber *> idle_, holder_; /* holder_: of a waiting thread */
    std::vector<unsigned> ready_, waiting_, grid_waiting_;
    std::size_t ready_head_ = 0;
    std::vector<warp> warps_;
    std::deque<part_barrier> parts_;
    std::vector<exchange> shown_;
    std::deque<gathered> gathered_;
    std::vector<gathered *> unused_;
    votes counting_{}, counted_{};

    VRAMSCOPE_SIM_UNSEEN void complain(const char *why) const
    {
        std::fprintf(stderr, "vramscope simulator: kernel, block (%u,%u,%u): %s\n", blockIdx.x,
                     blockIdx.y, blockIdx.z, why);
    }

    VRAMSCOPE_SIM_UNSEEN void begin(unsigned threads)
    {
        failed_ = 0;
        stopped_ = false;
        next_ = 0;
        total_ = live_ = threads;
        counting_ = {};
        holder_.resize(threads);
        warps_.resize((threads + 31) / 32);
        parts_.clear();
        for (unsigned i = 0; i < warps_.size(); i++) {
            unsigned lanes = std::min(32u, threads - i * 32);
            warps_[i].alive = lanes == 32 ? ~0u : (1u << lanes) - 1;
            warps_[i].parked = warps_[i].waiting = warps_[i].converging = 0;
        }
    }

    VRAMSCOPE_SIM_UNSEEN void run_threads()
    {
        for (;;) {
            if (ready_head_ < ready_.size())
                resume(holder_[ready_[ready_head_++]]);
            else if (next_ < total_)
                resume(idle_fiber());
            else if (live_ == 0 || stopped_)
                return;
            else {
                complain("its threads wait for each other at different places");
                failed_ = CUDA_ERROR_LAUNCH_FAILED;
                stopped_ = true;
            }
            if (ready_head_ == ready_.size()) {
                ready_.clear();
                ready_head_ = 0;
            }
        }
    }

    /* Forgets the threads that will not run again; what they hold on their stacks is lost. */
    VRAMSCOPE_SIM_UNSEEN void discard()
    {
        idle_.clear();
        for (fiber &f : fibers_) {
            make_context(&f.at, f.stack, VRAMSCOPE_SIM_STACK_BYTES, fiber_main);
            idle_.push_back(&f);
        }
        ready_.clear();
        ready_head_ = 0;
        waiting_.clear();
        grid_waiting_.clear();
        unused_.clear();
        for (gathered &g : gathered_)
            unused_.push_back(&g);
    }

    [[noreturn]] VRAMSCOPE_SIM_UNSEEN void stop()
    {
        stopped_ = true;
        switch_context(&current_->at, &scheduler_);
        std::abort(); /* never resumed */
    }

    VRAMSCOPE_SIM_UNSEEN char *new_stack()
    {
        std::size_t at = fibers_.size() % slab_stacks;
        if (at == 0) {
            void *p = mmap(nullptr, slab_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (p == MAP_FAILED) {
                complain("no memory for the stacks of its threads");
                std::abort();
            }
            madvise(p, slab_bytes, MADV_NOHUGEPAGE); /* a thread needs a page or two */
            slabs_.push_back(static_cast<char *>(p));
        }
        return slabs_.back() + at * VRAMSCOPE_SIM_STACK_BYTES;
    }

    VRAMSCOPE_SIM_UNSEEN fiber *idle_fiber()
    {
        if (idle_.empty()) {
            char *stack = new_stack();
            fibers_.emplace_back();
            fiber &f = fibers_.back();
            f.stack = stack;
            make_context(&f.at, stack, VRAMSCOPE_SIM_STACK_BYTES, fiber_main);
            return &f;
        }
        fiber *f = idle_.back();
        idle_.pop_back();
        return f;
    }

    VRAMSCOPE_SIM_UNSEEN void place(unsigned thread)
    {
        threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y,
                     thread / blockDim.x / blockDim.y};
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
        warp &w = warps_[f->thread / 32];
        holder_[f->thread] = f;
        w.parked |= 1u << f->thread % 32;
        if (w.converging && w.parked == w.alive)
            release_converged(f->thread / 32);
        f->check();
        switch_context(&f->at, &scheduler_);
        place(f->thread);
    }

    VRAMSCOPE_SIM_UNSEEN void continues(unsigned thread)
    {
        warps_[thread / 32].parked &= ~(1u << thread % 32);
        ready_.push_back(thread);
    }

    VRAMSCOPE_SIM_UNSEEN static void fiber_main()
    {
        for (;;) {
            runner &r = mine();
            fiber *f = r.current_;
            while (r.next_ < r.total_ && r.ready_head_ == r.ready_.size()) {
                f->thread = r.next_++;
                r.place(f->thread);
                r.call_(r.launch_->args);
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
        if (w.converging && w.parked == w.alive)
            release_converged(thread / 32);
        for (part_barrier &p : parts_)
            if (thread - p.first < p.count && !p.waiting.empty() &&
                p.waiting.size() == alive_in(p.first, p.count))
                release_part(p);
        if (live_ && waiting_.size() == live_)
            release_block();
        if (live_ && grid_waiting_.size() == live_)
            release_grid();
    }

    VRAMSCOPE_SIM_UNSEEN void release(std::vector<unsigned> &threads)
    {
        for (unsigned thread : threads)
            continues(thread);
        threads.clear();
    }

    VRAMSCOPE_SIM_UNSEEN void release_block()
    {
        counted_ = counting_;
        counting_ = {};
        release(waiting_);
    }

    VRAMSCOPE_SIM_UNSEEN void release_grid()
    {
        if (!all_->arrive())
            stop(); /* its launch has failed; another block has said why */
        release(grid_waiting_);
    }

    VRAMSCOPE_SIM_UNSEEN void release_part(part_barrier &p) { release(p.waiting); }

    VRAMSCOPE_SIM_UNSEEN unsigned alive_in(unsigned first, unsigned count) const
    {
        unsigned alive = 0;
        for (unsigned t = first; t < first + count && t < total_; t++)
            alive += !has_ended(t);
        return alive;
    }

    VRAMSCOPE_SIM_UNSEEN void release_converged(unsigned index)
    {
        warp &w = warps_[index];
        unsigned left = w.converging;
        w.converging = 0;
        while (left) {
            unsigned first = unsigned(__builtin_ctz(left)), group = 0;
            for (unsigned lane = first; lane < 32; lane++)
                if (left & 1u << lane && w.place[lane] == w.place[first])
                    group |= 1u << lane;
            left &= ~group;
            for (unsigned lane = first; lane < 32; lane++)
                if (group & 1u << lane) {
                    w.mask[lane] = group;
                    continues(index * 32 + lane);
                }
        }
    }

    VRAMSCOPE_SIM_UNSEEN gathered *new_gathered()
    {
        if (unused_.empty()) {
            gathered_.emplace_back();
            return &gathered_.back();
        }
        gathered *g = unused_.back();
        unused_.pop_back();
        return g;
    }

    /* True if all lanes of *mask* had arrived; they continue. *self* is not made ready. */
    VRAMSCOPE_SIM_UNSEEN bool release_warp(unsigned index, unsigned mask, unsigned self)
    {
        warp &w = warps_[index];
        unsigned need = mask & w.alive;
        if ((need & w.waiting) != need)
            return false;
        for (unsigned lane = 0; lane < 32; lane++)
            if (need & 1u << lane && w.mask[lane] != mask)
                return false;
        gathered *g = new_gathered();
        g->lanes = need;
        g->voted = 0;
        g->readers = unsigned(__builtin_popcount(need));
        for (unsigned lane = 0; lane < 32; lane++) {
            if (!(need & 1u << lane))
                continue;
            g->lane[lane] = w.shown[lane];
            g->voted |= unsigned(w.shown[lane].vote) << lane;
            w.given[lane] = g;
            if (index * 32 + lane != self)
                continues(index * 32 + lane);
        }
        w.waiting &= ~need;
        return true;
    }
};

/* Runs all blocks of a cooperative launch, each on a host thread of its own. */
struct together {
    const vramscope_sim_launch *launch;
    runner::body call;
    meeting all;
    struct block {
        together *of;
        unsigned long index;
        pthread_t thread;
    };
    std::vector<block> blocks;

    VRAMSCOPE_SIM_UNSEEN static void *block_main(void *arg)
    {
        block *b = static_cast<block *>(arg);
        vramscope_sim_thread(b->of->launch, 1);
        bool whole = runner::mine().run(b->of->launch, b->index, b->of->call, &b->of->all);
        b->of->all.leave(!whole);
        vramscope_sim_thread(b->of->launch, 0);
        return nullptr;
    }

    together(const vramscope_sim_launch *l, runner::body c, unsigned long count)
        : launch(l), call(c), all(count), blocks(count)
    {
        sigset_t every, old;
        sigfillset(&every);
        pthread_sigmask(SIG_SETMASK, &every, &old);
        pthread_attr_t small;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, std::size_t(1) << 20);
        unsigned long started = 0;
        for (int error = 0; started < count && !error; started += !error) {
            block &b = blocks[started];
            b.of = this;
            b.index = started;
            error = pthread_create(&b.thread, &small, block_main, &b);
            if (error == EINVAL) /* the program's thread-local variables need more */
                error = pthread_create(&b.thread, nullptr, block_main, &b);
            if (error)
                start_failed(started, error);
        }
        pthread_attr_destroy(&small);
        pthread_sigmask(SIG_SETMASK, &old, nullptr);
        for (unsigned long i = 0; i < started; i++)
            pthread_join(blocks[i].thread, nullptr);
    }

    VRAMSCOPE_SIM_UNSEEN void start_failed(unsigned long started, int error)
    {
        std::fprintf(stderr,
                     "vramscope simulator: a cooperative launch needs a host thread for each of "
                     "its %lu blocks, but only %lu could be started: %s. Launch fewer blocks, or "
                     "raise the limit on threads (ulimit -u).\n",
                     static_cast<unsigned long>(blocks.size()), started, std::strerror(error));
        if (!vramscope_sim_fail(launch, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES))
            std::abort();
        all.leave(true);
    }
};

/* ---- failures ---- */

/* What assert() calls in the files that include this header. */
[[noreturn]] VRAMSCOPE_SIM_UNSEEN inline void assertion(const char *what, const char *file,
                                                        unsigned line, const char *function)
{
    runner &r = runner::mine();
    std::string name = function ? function : "";
    if (!r.running()) { /* in host code: as the C library does, whose function NDEBUG hides */
        std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, name.c_str(), what);
        std::abort();
    }
    static const char tag[] = "[abi:vramscope]"; /* of __device__, below */
    for (std::size_t at; (at = name.find(tag)) != std::string::npos;)
        name.erase(at, sizeof tag - 1);
    std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                 file, line, name.c_str(), blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
                 threadIdx.y, threadIdx.z, what);
    name = std::string(); /* the stack is not unwound */
    r.fail_launch(CUDA_ERROR_ASSERT);
}

} // namespace vramscope_sim

[[noreturn]] inline void vramscope_sim_assertion(const char *what, const char *file, unsigned line,
                                                 const char *function) noexcept
{
    vramscope_sim::assertion(what, file, line, function);
}
#define __assert_fail vramscope_sim_assertion

#ifdef VRAMSCOPE_SIM_INSTRUMENTED
namespace vramscope_sim {

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

} // namespace vramscope_sim
#endif

#endif
