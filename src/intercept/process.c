/* SPDX-License-Identifier: Apache-2.0
 *
 * Begin, end and fork of a recording. Nothing runs in a constructor: a process
 * that never uses CUDA pays for the symbol lookups alone and leaves no file.
 *
 * End: on_exit runs before the CUDA runtime's own teardown (which was registered
 * earlier) and takes the exit status, flushes the collector and forbids further
 * CUDA calls of ours; the library's destructor runs after the program's own static
 * destructors and closes the trace, so frees made there are still recorded. Those of
 * libraries may run later: their frees are served as before, unrecorded. Programs
 * end in signal handlers too, where a lock of the interrupted code never comes. */
#define _GNU_SOURCE
#include "intercept/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <unwind.h>

#include "base/vs_clock.h"
#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "intercept/caching.h"
#include "intercept/collector.h"
#include "intercept/context.h"
#include "intercept/hook.h"
#include "intercept/nvtx.h"
#include "intercept/planned.h"
#include "intercept/sharing.h"
#include "vramscope.h"

static _Atomic int state = VS_PROCESS_IDLE; /* atomic; release on change pairs with acquire */
static struct vs_lock process_lock = VS_LOCK_INIT(VS_RANK_PROCESS, "process");
static struct vs_recorder *recorder; /* written under process_lock before state leaves IDLE */
static struct vs_options options;    /* likewise */
static bool caching;                 /* likewise */
static _Atomic uint64_t exit_status; /* atomic */
static _Atomic int ended;            /* atomic: the trace was closed */
static pid_t begin_pid;              /* as recorder; a vfork child shares our memory */

enum vs_process_state vs_process_state(void)
{
    return (enum vs_process_state)atomic_load_explicit(&state, memory_order_acquire);
}

struct vs_recorder *vs_process_recorder(void)
{
    return recorder;
}

const struct vs_options *vs_process_options(void)
{
    return &options;
}

bool vs_process_caching(void)
{
    return caching;
}

static _Atomic bool entry_points_used; /* atomic; never taken back */

bool vs_process_entered(void)
{
    return atomic_load_explicit(&entry_points_used, memory_order_relaxed);
}

bool vs_process_serving(void)
{
    return caching || vs_process_entered();
}

static _Atomic bool forked; /* atomic; never taken back */

bool vs_process_forked(void)
{
    return atomic_load_explicit(&forked, memory_order_relaxed);
}

void vs_process_serve(void)
{
    atomic_store_explicit(&entry_points_used, true, memory_order_relaxed);
}

uint64_t vs_process_string(const char *text)
{
    return vs_recorder_string(recorder, text, SIZE_MAX);
}

#define API_SLOTS 64

uint64_t vs_process_api(const char *name)
{
    /* the names are literals: their address stands for them */
    static struct {
        _Atomic(const char *) name; /* release pairs with acquire: id was stored before */
        _Atomic uint64_t id;
    } slots[API_SLOTS];
    size_t i = ((uintptr_t)name >> 3 ^ (uintptr_t)name >> 9) % API_SLOTS;
    if (atomic_load_explicit(&slots[i].name, memory_order_acquire) == name)
        return atomic_load_explicit(&slots[i].id, memory_order_relaxed);
    uint64_t id = vs_process_string(name);
    /* a slot is taken once and for all, so that name and id always belong together */
    if (atomic_load_explicit(&slots[i].name, memory_order_relaxed) == NULL) {
        static atomic_flag filling = ATOMIC_FLAG_INIT;
        if (!atomic_flag_test_and_set_explicit(&filling, memory_order_acquire)) {
            if (atomic_load_explicit(&slots[i].name, memory_order_relaxed) == NULL) {
                atomic_store_explicit(&slots[i].id, id, memory_order_relaxed);
                atomic_store_explicit(&slots[i].name, name, memory_order_release);
            }
            atomic_flag_clear_explicit(&filling, memory_order_release);
        }
    }
    return id;
}

uint64_t vs_process_stack(void)
{
    return vs_recorder_stack(recorder, 0);
}

void vs_process_note(int severity, const char *text)
{
    struct vs_event event = {.kind = VS_EVENT_note,
                             .note = {.severity = (uint64_t)severity,
                                      .text = vs_process_string(text)}};
    vs_recorder_event(recorder, &event);
}

static void warn(const char *sentence, void *arg)
{
    (void)arg;
    vs_log(VS_LOG_WARN, "%s", sentence);
}

static int is_torch(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    return strstr(info->dlpi_name, "libc10_cuda.so") != NULL;
}

static bool injected; /* written before calls arrive */

void vs_process_inject(void)
{
    injected = true;
}

static void choose_policy(void)
{
    if (injected)
        caching = false; /* what is only reported cannot be served */
    else if (vs_option_is(&options, VS_OPT_allocator, "auto"))
        caching = !dl_iterate_phdr(is_torch, NULL);
    else
        caching = vs_option_is(&options, VS_OPT_allocator, "caching");
}

static void apply_log_level(void)
{
    vs_log_set_level((enum vs_log_level)options.number[VS_OPT_log]);
}

#define NAMES_MAX 100

/* The trace's name: the pattern at first; then NAME.PID.vst, NAME.PID.2.vst, … beside
 * it, as other processes, or this one before an exec, may write there. */
static enum vs_err trace_path(char *path, unsigned attempt)
{
    const char *program = program_invocation_short_name;
    enum vs_err err = vs_output_expand(options.text[VS_OPT_output], program, (long)getpid(), path,
                                       PATH_MAX);
    if (err || !attempt)
        return err;
    char *slash = strrchr(path, '/'), *dot = strrchr(path, '.'), number[16] = "";
    if (dot && (!slash || dot > slash + 1) && strcmp(dot, ".vst") == 0)
        *dot = 0;
    if (attempt > 1)
        snprintf(number, sizeof number, ".%u", attempt);
    size_t n = strlen(path);
    int m = snprintf(path + n, PATH_MAX - n, ".%ld%s.vst", (long)getpid(), number);
    return m < 0 || (size_t)m >= PATH_MAX - n ? VS_ERR_LIMIT : VS_OK;
}

/* No trace is ever lost to another: only a name that nobody has is taken. */
static enum vs_err open_recorder(char *path)
{
    struct vs_recorder_config config = {
        .path = path,
        .keep_existing = true,
        .compression = (unsigned)options.number[VS_OPT_compression],
        .stack_depth_max = vs_option_is(&options, VS_OPT_stacks, "native")
                               ? (unsigned)options.number[VS_OPT_stack_depth]
                               : 0,
        .flush_ms = (unsigned)options.number[VS_OPT_flush_ms]};
    enum vs_err err = VS_ERR_IO;
    errno = EEXIST;
    for (unsigned i = 0; err == VS_ERR_IO && errno == EEXIST && i < NAMES_MAX; i++) {
        err = trace_path(path, i);
        if (!err)
            err = vs_recorder_open(&config, &recorder);
    }
    return err;
}

static void manifest_line(const char *text)
{
    const char *manifest = options.text[VS_OPT_manifest];
    if (!*manifest)
        return;
    int fd = open(manifest, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return;
    char line[PATH_MAX + 1];
    size_t n = strnlen(text, sizeof line - 1);
    memcpy(line, text, n);
    line[n++] = '\n';
    if (write(fd, line, n) != (ssize_t)n)
        vs_log(VS_LOG_DEBUG, "manifest not written");
    close(fd);
}

static void manifest_append(const char *path)
{
    char absolute[PATH_MAX];
    manifest_line(realpath(path, absolute) ? absolute : path);
}

static const char *policy_name(void)
{
    if (!caching)
        return injected ? "observe (injection)" : "observe";
    return vs_option_is(&options, VS_OPT_policy, "compact") ? "caching (compact)" : "caching";
}

static void record_process(void)
{
    char exe[PATH_MAX] = "", command[4096] = "", host[256] = "";
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n < 0)
        n = 0;
    exe[n] = 0;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, command, sizeof command - 1) : 0;
    if (fd >= 0)
        close(fd);
    for (ssize_t i = 0; i + 1 < length; i++) {
        if (!command[i])
            command[i] = ' ';
    }
    gethostname(host, sizeof host - 1);
    struct vs_event event = {
        .kind = VS_EVENT_process,
        .process = {.pid = (uint64_t)getpid(),
                    .ppid = (uint64_t)getppid(),
                    .start_realtime_ns = vs_clock_realtime_ns(),
                    .start_ns = vs_clock_ns(),
                    .exe = vs_process_string(exe),
                    .cmdline = vs_process_string(command),
                    .host = vs_process_string(host),
                    .version = vs_process_string(VRAMSCOPE_VERSION),
                    .policy = vs_process_string(policy_name()),
                    .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE)}};
    vs_recorder_event(recorder, &event);
    for (int i = 0; i < VS_OPT_COUNT; i++) {
        event = (struct vs_event){.kind = VS_EVENT_option,
                                  .option = {.name = vs_process_string(vs_option_describe(i)->name),
                                             .value = vs_process_string(options.text[i])}};
        vs_recorder_event(recorder, &event);
    }
}

static void finish(enum vs_end_reason reason)
{
    if (!recorder || atomic_exchange(&ended, 1))
        return;
    vs_recorder_close(recorder, reason, atomic_load(&exit_status));
}

/* libgcc's unwinder, which says of a frame whether a signal interrupted it. */
static __typeof__(&_Unwind_Backtrace) unwind_backtrace; /* both written as recorder; may be NULL */
static __typeof__(&_Unwind_GetIPInfo) unwind_ip;

static void load_unwinder(void)
{
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&unwind_backtrace = dlsym(library, "_Unwind_Backtrace");
    *(void **)&unwind_ip = dlsym(library, "_Unwind_GetIPInfo");
}

static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *frame, void *arg)
{
    int *interrupted = arg;
    unwind_ip(frame, interrupted);
    return *interrupted ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static bool in_signal_handler(void)
{
    int interrupted = 0;
    if (unwind_backtrace && unwind_ip)
        unwind_backtrace(visit_frame, &interrupted);
    return interrupted;
}

static void at_exit(int status, void *arg)
{
    (void)arg;
    if (vs_process_state() != VS_PROCESS_ACTIVE || getpid() != begin_pid)
        return;
    if (vs_lock_held()) { /* the code that holds it was interrupted and never goes on */
        atomic_store_explicit(&state, VS_PROCESS_SILENT, memory_order_release);
        return;
    }
    atomic_store(&exit_status, (uint64_t)(status & 0xff));
    /* CUPTI and the driver have locks as well, which a handler may have interrupted */
    if (!vs_thread.inside && !in_signal_handler()) {
        vs_thread.inside++;
        vs_collector_flush(true);
        vs_planned_report();
        vs_thread.inside--;
    }
    atomic_store_explicit(&state, VS_PROCESS_EXITING, memory_order_release);
}

/* The state stays EXITING: the closed recorder takes no more, but memory from the
 * cache, which the driver knows nothing of, may still be freed. */
__attribute__((destructor)) static void at_unload(void)
{
    at_exit(0, NULL);
    if (vs_process_state() == VS_PROCESS_EXITING)
        finish(VS_END_EXIT);
}

/* A child of fork has no CUDA and shares the parent's trace file: forget both, also
 * when another thread was just beginning. Nothing is locked before a fork: the
 * runtime locks itself there, and calls us with that lock held. */
static void in_forked_child(void)
{
    vs_lock_reset_after_fork(&process_lock);
    atomic_store(&forked, true);
    atomic_store_explicit(&state, VS_PROCESS_SILENT, memory_order_release);
    vs_recorder_abandon_in_child(recorder);
}

/* Without a trace we step aside; a limit holds all the same. */
static bool begin_trace(void)
{
    char path[PATH_MAX] = "";
    enum vs_err err = open_recorder(path);
    if (!err) {
        manifest_append(path);
        record_process();
        return true;
    }
    vs_log(VS_LOG_ERROR, "cannot write the trace %s: %s; the program runs on, unrecorded",
           *path ? path : options.text[VS_OPT_output],
           err == VS_ERR_IO ? strerror(errno) : vs_err_text(err));
    manifest_line("!"); /* so that `vramscope run` knows of it */
    return false;
}

static void begin_locked(void)
{
    /* first: the child of a thread that forks meanwhile must hear of it */
    pthread_atfork(NULL, NULL, in_forked_child);
    vs_options_init(&options);
    vs_options_load_environment(&options, warn, NULL);
    apply_log_level();
    choose_policy();
    if (vs_option_is(&options, VS_OPT_ipc, "always"))
        vs_sharing_begin();
    load_unwinder();
    if (options.number[VS_OPT_record] && !begin_trace() && !*options.text[VS_OPT_limit]) {
        atomic_store_explicit(&state, VS_PROCESS_SILENT, memory_order_release);
        return;
    }
    begin_pid = getpid();
    on_exit(at_exit, NULL);
    if (recorder)
        vs_nvtx_replay_open_ranges();
    atomic_store_explicit(&state, VS_PROCESS_ACTIVE, memory_order_release);
    if (recorder && options.number[VS_OPT_kernels])
        vs_collector_start(injected);
}

void vs_process_refuse(const char *line)
{
    vs_thread.inside++;
    vs_lock_acquire(&process_lock);
    if (atomic_load_explicit(&state, memory_order_acquire) == VS_PROCESS_IDLE) {
        vs_options_init(&options);
        vs_options_load_environment(&options, warn, NULL);
        apply_log_level();
        vs_log(VS_LOG_ERROR, "%s", line);
        manifest_line("!");
        atomic_store_explicit(&state, VS_PROCESS_SILENT, memory_order_release);
    }
    vs_lock_release(&process_lock);
    vs_thread.inside--;
}

bool vs_process_begin(void)
{
    int now = atomic_load_explicit(&state, memory_order_acquire);
    if (now != VS_PROCESS_IDLE)
        return now != VS_PROCESS_SILENT;
    int saved_errno = errno;
    vs_thread.inside++;
    vs_lock_acquire(&process_lock);
    if (atomic_load_explicit(&state, memory_order_acquire) == VS_PROCESS_IDLE)
        begin_locked();
    vs_lock_release(&process_lock);
    vs_thread.inside--;
    errno = saved_errno;
    return vs_process_state() != VS_PROCESS_SILENT;
}

bool vs_hook_active(void)
{
    return !vs_thread.inside && vs_process_begin();
}

/* _exit ends a process without any handler: the trace is closed here instead, so
 * that its exit status is known. The kernel call is the real function. */
VS_EXPORT void _exit(int status);
void _exit(int status)
{
    at_exit(status, NULL);
    if (vs_process_state() == VS_PROCESS_EXITING && !vs_lock_held() && getpid() == begin_pid) {
        atomic_store(&exit_status, (uint64_t)(status & 0xff)); /* an exit handler's, maybe */
        finish(VS_END_EXIT);
    }
    for (;;)
        syscall(SYS_exit_group, status);
}

VS_EXPORT void _Exit(int status) __attribute__((alias("_exit")));
