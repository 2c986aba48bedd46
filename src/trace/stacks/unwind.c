/* SPDX-License-Identifier: Apache-2.0
 *
 * Native call stacks by libunwind with its per-thread cache. unw_backtrace caches frames by address
 * for good, so that it would take new code for code that was unloaded: after an unloading,
 * libunwind's other cache is flushed and its frame-by-frame interface is used instead.
 *
 * The library is loaded with RTLD_LOCAL: it exports _Unwind_* functions, which must not precede the
 * C++ runtime's own in the program's scope.
 *
 * To find out whether memory is readable, libunwind writes it to a pipe of its own. We make it
 * create that pipe here, immediately, so that the pipe does not become one of the standard three
 * descriptors and its numbers are known. If the program replaced one of them with its own file,
 * libunwind would write a byte into that file, so it is not used any more once the pipe is gone. */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <fcntl.h>
#include <libunwind.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vs_library.h"
#include "base/vs_log.h"
#include "trace/stacks/cfi.h"
#include "trace/stacks/walk.h"

/* unw_set_cache_size is a macro; the symbol's name contains the machine's, for example
 * _ULx86_64_set_cache_size */
#define NAME_OF_(symbol) #symbol
#define NAME_OF(symbol) NAME_OF_(symbol)

#define CACHED_PROCEDURES 1024

/* libunwind's frame-by-frame functions; immutable after load. */
static struct {
    unw_addr_space_t *space;
    __typeof__(&unw_flush_cache) flush;
    __typeof__(&unw_init_local) init;
    __typeof__(&unw_step) step;
    __typeof__(&unw_get_reg) get_reg;
#if defined(__x86_64__)
    int (*get_context)(unw_context_t *);
#endif
} step_by_step;
static _Atomic uint32_t flushed = 1; /* the epoch of libunwind's cache */

#if defined(__x86_64__)
#define GET_CONTEXT_KNOWN (step_by_step.get_context != NULL)
#define GET_CONTEXT(context) step_by_step.get_context(context)
#else /* inline assembly */
#define GET_CONTEXT_KNOWN true
#define GET_CONTEXT(context) unw_getcontext(context)
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int (*backtrace_fn)(void **, int); /* immutable after load */
static struct {
    int fd;
    dev_t device;
    ino_t inode;
} pipe_ends[2]; /* immutable after load; fd 0: unknown */

static void close_all(const int *fds, int count)
{
    for (int i = 0; i < count; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

static bool pipe_is_there(void)
{
    bool there = true;
    for (int i = 0; i < 2; i++) {
        struct stat st;
        if (pipe_ends[i].fd)
            there &= !fstat(pipe_ends[i].fd, &st) && st.st_dev == pipe_ends[i].device &&
                     st.st_ino == pipe_ends[i].inode;
    }
    return there;
}

static void load(void)
{
    int fillers[3] = {-1, -1, -1}, next[2];
    vs_loaded_object_init();
    void *handle = dlopen(VS_LIBUNWIND, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *trouble = vs_library_trouble();
        if (trouble)
            vs_log(VS_LOG_WARN, "no call stacks: %s", trouble);
        else
            vs_log(VS_LOG_WARN, "no call stacks: " VS_LIBUNWIND " was not found; install libunwind8");
        return;
    }
    /* the two descriptors that a pipe created now would get, excluding the standard three: those
     * that are closed are occupied by *fillers* meanwhile */
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (int i = 0; i <= STDERR_FILENO && fd >= 0 && fd <= STDERR_FILENO; i++) {
        fillers[i] = fd;
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    next[0] = fd;
    next[1] = fd < 0 ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    close_all(next, 2);
    void *pcs[4];
    backtrace_fn = (int (*)(void **, int))dlsym(handle, "unw_backtrace");
    if (!backtrace_fn)
        vs_log(VS_LOG_WARN, "no call stacks: " VS_LIBUNWIND " has no unw_backtrace");
    unw_addr_space_t *space = dlsym(handle, NAME_OF(unw_local_addr_space));
    __typeof__(&unw_set_caching_policy) set_policy =
        (__typeof__(set_policy))dlsym(handle, NAME_OF(unw_set_caching_policy));
    __typeof__(&unw_set_cache_size) set_size =
        (__typeof__(set_size))dlsym(handle, NAME_OF(unw_set_cache_size));
    step_by_step.space = dlsym(handle, NAME_OF(unw_local_addr_space));
    *(void **)&step_by_step.flush = dlsym(handle, NAME_OF(unw_flush_cache));
    *(void **)&step_by_step.init = dlsym(handle, NAME_OF(unw_init_local));
    *(void **)&step_by_step.step = dlsym(handle, NAME_OF(unw_step));
    *(void **)&step_by_step.get_reg = dlsym(handle, NAME_OF(unw_get_reg));
#if defined(__x86_64__)
    *(void **)&step_by_step.get_context = dlsym(handle, NAME_OF(unw_tdep_getcontext));
#endif
    if (space && set_policy)
        set_policy(*space, UNW_CACHE_PER_THREAD);
    if (space && set_size)
        set_size(*space, CACHED_PROCEDURES, 0);
    if (backtrace_fn)
        backtrace_fn(pcs, 4); /* creates the pipe */
    for (int i = 0; i < 2; i++) {
        struct stat st;
        if (next[i] < 0 || fstat(next[i], &st) || !S_ISFIFO(st.st_mode))
            continue;
        pipe_ends[i].fd = next[i];
        pipe_ends[i].device = st.st_dev;
        pipe_ends[i].inode = st.st_ino;
    }
    close_all(fillers, 3);
}

bool vs_unwind_load(void)
{
    pthread_once(&once, load);
    return backtrace_fn != NULL;
}

/* --- after code was unloaded --- */

static size_t capture_steps(unw_context_t *context, void **pcs, size_t max)
{
    unw_cursor_t cursor;
    unw_word_t pc;
    size_t n = 0;
    uint32_t epoch = vs_walk_epoch();
    if (atomic_exchange(&flushed, epoch) != epoch)
        step_by_step.flush(*step_by_step.space, 0, 0);
    if (step_by_step.init(&cursor, context))
        return 0;
    do {
        if (step_by_step.get_reg(&cursor, UNW_REG_IP, &pc) || !pc)
            break;
        pcs[n++] = (void *)(uintptr_t)pc;
    } while (n < max && step_by_step.step(&cursor) > 0);
    return n;
}

size_t vs_unwind_capture(void **pcs, size_t max)
{
    if (!backtrace_fn || !pipe_is_there())
        return 0;
    if (vs_walk_epoch() != 1 && step_by_step.space && step_by_step.flush && step_by_step.init &&
        step_by_step.step && step_by_step.get_reg && GET_CONTEXT_KNOWN) {
        unw_context_t context;
        return GET_CONTEXT(&context) ? 0 : capture_steps(&context, pcs, max);
    }
    int n = backtrace_fn(pcs, (int)max);
    return n > 0 ? (size_t)n : 0;
}
