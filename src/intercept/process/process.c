/* SPDX-License-Identifier: Apache-2.0
 *
 * The start of a recording, and queries about it by the rest of the library. Constructors only
 * register for forks (lineage.c): a process that never uses CUDA pays for the symbol lookups alone
 * and leaves no file.
 *
 * The recording starts inside the program's first CUDA call, on any stack and with any signal mask:
 * signals are blocked, the thread cannot be cancelled, and large buffers are outside the stack. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/vs_clock.h"
#include "base/vs_cancel.h"
#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "base/vs_text.h"
#include "intercept/process/process_internal.h"
#include "intercept/route/hook.h"
#include "intercept/route/loaded.h"
#include "intercept/route/upcalls.h"
#include "trace/record/selection.h"
#include "vramscope.h"

static struct vs_lock process_lock = VS_LOCK_INIT(VS_RANK_PROCESS, "process");
struct vs_book vs_process_book;
/* Written under process_lock before state leaves IDLE, but read by the C API at any time. */
static _Atomic(struct vs_recorder *) recorder;
static _Atomic bool caching;
/* Written under process_lock before state leaves IDLE, and read afterwards. */
static struct vs_options options;
static bool with_stacks, with_native; /* likewise */
/* likewise: another thread loads a library, and waits for us */
static bool no_libraries;

struct vs_recorder *vs_process_recorder(void)
{
    return atomic_load_explicit(&recorder, memory_order_acquire); /* pairs with the store */
}

const struct vs_options *vs_process_options(void)
{
    return &options;
}

bool vs_process_caching(void)
{
    return atomic_load_explicit(&caching, memory_order_relaxed);
}

static _Atomic bool entry_points_used; /* atomic; never reset */

bool vs_process_entered(void)
{
    return atomic_load_explicit(&entry_points_used, memory_order_relaxed);
}

bool vs_process_serving(void)
{
    return vs_process_caching() || vs_process_entered();
}

void vs_process_serve(void)
{
    atomic_store_explicit(&entry_points_used, true, memory_order_relaxed);
}

static struct vs_lock pause_lock = VS_LOCK_INIT(VS_RANK_TRACKER, "pause");
static bool starts_paused; /* guarded by pause_lock; how the recording starts */

static bool pause_locked(bool pause)
{
    struct vs_recorder *r = vs_process_recorder();
    return r && vs_recorder_pause(r, &vs_process_book, pause);
}

/* Under the lock: another thread may be just starting the recording. */
bool vs_process_pause(bool pause)
{
    if (vs_process_forked())
        return false;
    VS_LOCK_SCOPE(&pause_lock);
    enum vs_process_state now = vs_process_state();
    bool able = now == VS_PROCESS_IDLE;
    if (able)
        starts_paused = pause;
    else if (now == VS_PROCESS_ACTIVE)
        able = pause_locked(pause);
    return able;
}

uint64_t vs_process_string(const char *text)
{
    return vs_recorder_string(recorder, text, SIZE_MAX);
}

_Thread_local uint64_t vs_process_stack_given __attribute__((tls_model("initial-exec")));

uint64_t vs_process_stack(void)
{
    if (__builtin_expect(vs_process_stack_given != 0, 0))
        return vs_process_stack_given;
    uint64_t id = with_stacks ? vs_recorder_stack(recorder, 0) : 0;
    /* without native frames at least the caller, so that memory can be attributed to a library */
    return id || with_native ? id : vs_recorder_caller(recorder, vs_thread.caller);
}

void vs_process_note(int severity, const char *text)
{
    VS_RECORD(note, .severity = (uint64_t)severity,
              .text = vs_process_string(text));
}

/* `vramscope run` has printed the same about the environment. */
static void warn(const char *sentence, void *arg)
{
    const char *manifest = vs_environment("VRAMSCOPE_MANIFEST");
    (void)arg;
    if (manifest && *manifest)
        return;
    vs_log(VS_LOG_WARN, "%s", sentence);
}

static const char *attached_options; /* written before the recording starts */
static char refusal[512];
static bool attached; /* likewise */

void vs_process_attach(const char *text)
{
    attached_options = text;
    attached |= text != NULL;
    if (text)
        *refusal = 0;
}

bool vs_process_attached(void)
{
    return attached;
}

static void load_options(void)
{
    vs_options_init(&options);
    vs_options_load_environment(&options, warn, NULL);
    for (const char *line = attached_options ? attached_options : ""; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char text[VS_OPTION_TEXT_MAX + 64], *value = text;
        enum vs_option_id id;
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
        const char *name = strsep(&value, "=");
        if (value && !vs_option_find(name, strlen(name), &id) &&
            vs_options_set(&options, id, value, VS_FROM_COMMAND, NULL))
            warn(line, NULL);
    }
    vs_log_set_level((enum vs_log_level)options.number[VS_OPT_log]);
}

static bool injected; /* written before calls arrive */

void vs_process_inject(void)
{
    injected = true;
}

/* Our cache gains nothing before the pool of a framework. */
static int has_pool(const struct vs_loaded *object, void *arg)
{
    static const char *const pools[] = {
#define VS_FRAMEWORK(id, name, contents, objects, pool, seen, more) pool,
#include "base/frameworks/vs_framework_table.h"
#undef VS_FRAMEWORK
    };
    (void)arg;
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
        if (pools[i] && (vs_loaded_is(object, pools[i]) || strstr(object->path, pools[i])))
            return 1;
    return 0;
}

static void choose_policy(void)
{
    bool cached = vs_option_is(&options, VS_OPT_allocator, "caching");
    const char *device = options.text[VS_OPT_simulate];
    bool wanted =
        *options.text[VS_OPT_alloc_conf] || !vs_option_is(&options, VS_OPT_policy, "pytorch");
    /* is the run to find failures? The cache would hide some: it makes other requests of the device
     * */
    bool tests = *options.text[VS_OPT_limit] || strstr(device, ",fail=") ||
                 (strstr(device, ",check=") && !strstr(device, ",check=off"));
    if (injected)
        cached = false; /* reported calls cannot be served */
    else if (vs_option_is(&options, VS_OPT_allocator, "auto")) {
        bool pool = vs_loaded_each(has_pool, NULL);
        cached = !pool && (wanted || !tests);
        if (pool && wanted)
            vs_log(VS_LOG_WARN, "--policy and --alloc-conf have no effect: the program's framework has a pool of its own; "
                                "--allocator=caching uses them");
    }
    atomic_store_explicit(&caching, cached, memory_order_relaxed);
}

/* Too large for the stacks of some threads; guarded by process_lock. */
static struct {
    char path[PATH_MAX], exe[PATH_MAX], command[4096];
    struct vs_lineage lineage;
} scratch;

/* No trace is ever overwritten: only an unused name is taken. */
static enum vs_err open_recorder(char *path)
{
    with_stacks = !vs_option_is(&options, VS_OPT_stacks, "none");
    with_native = with_stacks && !no_libraries && !vs_option_is(&options, VS_OPT_stacks, "python");
    struct vs_recorder_config config = {
        .path = path,
        .keep_existing = true,
        .compression = (unsigned)options.number[VS_OPT_compression],
        .python = vs_option_is(&options, VS_OPT_stacks, "both") ||
                  vs_option_is(&options, VS_OPT_stacks, "python"),
        .unloads_reported = !injected && vs_loaded_self_at_start(), /* our dlclose is called */
        .no_native = !with_native,
        .stack_depth_max = with_stacks ? (unsigned)options.number[VS_OPT_stack_depth] : 0,
        .flush_ms = (unsigned)options.number[VS_OPT_flush_ms],
        .min_size = options.number[VS_OPT_min_size],
        .sample = options.number[VS_OPT_sample],
        .sample_seed = options.number[VS_OPT_sample_seed],
        .limit_bytes = options.number[VS_OPT_max_trace_size]};
    struct vs_recorder *opened;
    enum vs_err err = VS_ERR_IO;
    errno = EEXIST;
    for (unsigned i = 0; err == VS_ERR_IO && errno == EEXIST && i < VS_TRACE_NAME_TRIES; i++) {
        err = vs_trace_name(options.text[VS_OPT_output], i, path);
        if (!err)
            err = vs_recorder_open(&config, &opened);
    }
    if (!err)
        atomic_store(&recorder, opened);
    return err;
}

/* *value*: NULL: there is none. */
static void record_text(const char *name, const char *value)
{
    if (!value)
        return;
    VS_RECORD(option, .name = vs_process_string(name),
              .value = vs_process_string(value));
}

static void record_process(void)
{
    char *exe = scratch.exe, *command = scratch.command, host[256] = "", policy[64] = "caching";
    if (!caching)
        strcpy(policy, injected ? "observe (injection)" : "observe");
    else if (!vs_option_is(&options, VS_OPT_policy, vs_option_describe(VS_OPT_policy)->fallback))
        snprintf(policy, sizeof policy, "caching (%.40s)", options.text[VS_OPT_policy]);
    ssize_t n = readlink("/proc/self/exe", exe, sizeof scratch.exe - 1);
    if (n < 0)
        n = 0;
    exe[n] = 0;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, command, sizeof scratch.command - 1) : 0;
    if (fd >= 0)
        close(fd);
    while (length > 0 && !command[length - 1]) /* a program that sets its title leaves many zeros */
        length--;
    command[length > 0 ? length : 0] = 0;
    for (ssize_t i = 0; i < length; i++) {
        if (!command[i])
            command[i] = ' ';
    }
    gethostname(host, sizeof host - 1);
    vs_lineage_read(&scratch.lineage);
    VS_RECORD(process, .pid = (uint64_t)getpid(),
              .ppid = (uint64_t)getppid(),
              .start_realtime_ns = vs_clock_realtime_ns(),
              .start_ns = vs_clock_ns(),
              .exe = vs_process_string(exe),
              .cmdline = vs_process_string(command),
              .host = vs_process_string(host),
              .version = vs_process_string(VRAMSCOPE_VERSION),
              .policy = vs_process_string(policy),
              .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
              .born_ns = scratch.lineage.born_ns,
              .parent_born_ns = scratch.lineage.parent_born_ns,
              .boot = vs_process_string(scratch.lineage.boot),
              .lineage = vs_process_string(scratch.lineage.text));
    for (int i = 0; i < VS_OPT_COUNT; i++)
        record_text(vs_option_describe(i)->name, options.text[i]);
    /* by the names of PyTorch's launcher, whichever launcher it was */
    struct vs_rank_environment job = vs_rank_environment();
    record_text("RANK", job.rank);
    record_text("LOCAL_RANK", job.local_rank);
    record_text("WORLD_SIZE", job.world_size);
    record_text("JOB", *options.text[VS_OPT_job] ? options.text[VS_OPT_job] : vs_job_environment());
    const char *manifest = options.text[VS_OPT_manifest];
    if (*manifest) /* its name is that of the run: the same in all of its processes */
        record_text("RUN", vs_text_base_name(manifest));
    /* by the name of the newer one, which takes precedence: they decide how PyTorch's allocator uses
     * the device */
    const char *text = vs_environment("PYTORCH_ALLOC_CONF");
    if (!text || !*text)
        text = vs_environment("PYTORCH_CUDA_ALLOC_CONF");
    if (text && *text)
        record_text("PYTORCH_ALLOC_CONF", text);
}

/* Without a trace all calls are forwarded; a limit still applies. */
static bool begin_trace(void)
{
    char *path = scratch.path;
    enum vs_err err = open_recorder(path);
    if (!err) {
        vs_manifest_append(options.text[VS_OPT_manifest], 0, path);
        record_process();
        return true;
    }
    vs_log(VS_LOG_ERROR, "cannot write the trace %s: %s; the program continues without recording",
           *path ? path : options.text[VS_OPT_output],
           err == VS_ERR_IO ? strerror(errno) : vs_err_text(err));
    vs_manifest_append(options.text[VS_OPT_manifest], '!', ""); /* informs `vramscope run` */
    return false;
}

#define LOADER_WAITS                                                                          \
    "the first CUDA call came from a library that was still being loaded, when no other library " \
    "can be loaded: no kernels, no native call stacks, and the trace is stored uncompressed"

static void begin_locked(void)
{
    bool kernels_left;
    char why[VS_OPTION_TEXT_MAX];
    vs_log_remember();
    load_options();
    choose_policy();
    /* when injected, we cannot detect another user of CUPTI's records, which has one set of
     * callbacks for all: we would receive its buffers. So kernels are recorded on request only */
    kernels_left = injected && options.source[VS_OPT_kernels] == VS_FROM_DEFAULT;
    if ((injected && vs_options_set(&options, VS_OPT_via, "injection", VS_FROM_COMMAND, why)) ||
        (kernels_left && vs_options_set(&options, VS_OPT_kernels, "off", VS_FROM_DEFAULT, why)))
        vs_log(VS_LOG_DEBUG, "%s", why);
    no_libraries = options.number[VS_OPT_record] && vs_loader_waits();
    static const struct { /* every part that needs another library is turned off */
        enum vs_option_id option;
        const char *value;
    } without[] = {{VS_OPT_kernels, "off"}, {VS_OPT_nvml, "off"}, {VS_OPT_compression, "0"}};
    for (size_t i = 0; no_libraries && i < sizeof without / sizeof *without; i++) {
        if (vs_options_set(&options, without[i].option, without[i].value, VS_FROM_DEFAULT, why))
            vs_log(VS_LOG_DEBUG, "%s", why);
    }
    if (no_libraries)
        vs_log(VS_LOG_WARN, "%s", LOADER_WAITS);
    if (vs_option_is(&options, VS_OPT_ipc, "always"))
        vs_upcalls.share_all();
    if (options.number[VS_OPT_record] && !begin_trace() && !*options.text[VS_OPT_limit]) {
        vs_process_set_state(VS_PROCESS_SILENT);
        return;
    }
    vs_process_exit_prepare(!no_libraries);
    if (recorder)
        vs_upcalls.trace_opened();
    {
        VS_LOCK_SCOPE(&pause_lock);
        if (starts_paused)
            (void)pause_locked(true);
        vs_process_set_state(VS_PROCESS_ACTIVE);
    }
    if (recorder && no_libraries)
        vs_process_note(VS_LOG_WARN, LOADER_WAITS);
    if (recorder && kernels_left)
        vs_process_note(VS_LOG_INFO, "kernels and copies are not recorded with injection, as the "
                                     "program may use CUPTI itself; --kernels=on records them");
    if (recorder)
        vs_upcalls.recording(injected);
}

const char *vs_process_refusal(void)
{
    return refusal;
}

void vs_process_refuse(const char *what)
{
    VS_OWN_WORK();
    vs_process_enter();
    VS_LOCK_SCOPE(&process_lock);
    if (vs_process_state() == VS_PROCESS_IDLE) {
        snprintf(refusal, sizeof refusal, "attach needs %s", what);
        if (attached_options)
            return; /* reported by `vramscope attach`, which may be repeated */
        load_options();
        vs_log(VS_LOG_ERROR, "nothing is recorded: --via=injection needs %s; preloading records memory without it", what);
        vs_manifest_append(options.text[VS_OPT_manifest], '!', "");
        vs_process_set_state(VS_PROCESS_SILENT);
    }
}

/* --- a process that ends while another thread begins --- */

/* Longest wait of either for the other. */
#define BEGIN_NS ((uint64_t)2000000000)

/* Process and thread that is about to end the process or to call exec; 0: none. With the process,
 * since a child of vfork writes to its parent's memory. */
static _Atomic uint64_t ending;

static uint64_t own_mark(void)
{
    return (uint64_t)getpid() << 32 | (uint32_t)syscall(SYS_gettid);
}

void vs_process_await_begin(void)
{
    if (vs_process_state() != VS_PROCESS_IDLE || vs_thread.inside || vs_lock_held())
        return;
    /* either this thread sees that the other has entered, or the other sees the mark */
    atomic_store(&ending, own_mark());
    if (vs_process_own() && vs_lock_acquire_within(&process_lock, BEGIN_NS))
        vs_lock_release(&process_lock);
}

void vs_process_resume(void)
{
    uint64_t mark = own_mark();
    atomic_compare_exchange_strong(&ending, &mark, 0);
}

/* Releases the lock between checks: the thread that ends the process needs it. */
static void begin_unless_ending(void)
{
    uint64_t until_ns = vs_clock_ns() + BEGIN_NS;
    for (;;) {
        vs_lock_acquire(&process_lock);
        uint64_t mark = atomic_load(&ending); /* of another thread? */
        bool wait = mark && mark >> 32 == (uint64_t)getpid() && mark != own_mark() &&
                    vs_clock_ns() < until_ns;
        if (!wait && vs_process_state() == VS_PROCESS_IDLE)
            begin_locked();
        vs_lock_release(&process_lock);
        if (!wait)
            return;
        usleep(1000);
    }
}

/* Separate, so that the check for a running recording has a small frame. */
static __attribute__((noinline)) void begin(void)
{
    /* not blocked: faults of the running code, since a blocked one would kill the process, and
     * SIGSYS, by which a sandbox serves system calls */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t held, before;
    VS_KEEP_ERRNO();
    VS_CANCEL_SCOPE();
    vs_thread.inside++;
    sigfillset(&held);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&held, faults[i]);
    pthread_sigmask(SIG_BLOCK, &held, &before);
    vs_process_enter();
    if (vs_process_state() == VS_PROCESS_IDLE)
        begin_unless_ending();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    vs_thread.inside--;
}

inline bool vs_process_begin(void) /* inline: see vs_recorder_acquire */
{
    enum vs_process_state now = vs_process_state();
    if (__builtin_expect(now == VS_PROCESS_IDLE, 0)) {
        begin();
        now = vs_process_state();
    }
    return now != VS_PROCESS_SILENT;
}

void vs_process_abandon(void)
{
    vs_lock_reset_after_fork(&process_lock);
    vs_recorder_abandon_in_child(recorder);
}

inline bool vs_hook_active_for(const void *caller)
{
    if (vs_thread.inside)
        return false;
    vs_hook_called(caller);
    return vs_process_begin();
}

/* --- the ids of entry points' names in the trace, found without a lock by the address of the text
 * --- */

#define API_SLOTS 64

struct api_slot {
    _Atomic(const char *) name; /* release pairs with acquire: id was stored before */
    _Atomic uint64_t id;
};
static struct api_slot api_slots[API_SLOTS];

/* A name that is not in its slot. */
static __attribute__((noinline)) uint64_t find_api(struct api_slot *slot, const char *name)
{
    uint64_t id = vs_process_string(name);
    /* a slot never changes its name, so that name and id always match */
    if (atomic_load_explicit(&slot->name, memory_order_relaxed) == NULL) {
        static atomic_flag filling = ATOMIC_FLAG_INIT;
        if (!atomic_flag_test_and_set_explicit(&filling, memory_order_acquire)) {
            if (atomic_load_explicit(&slot->name, memory_order_relaxed) == NULL) {
                atomic_store_explicit(&slot->id, id, memory_order_relaxed);
                atomic_store_explicit(&slot->name, name, memory_order_release);
            }
            atomic_flag_clear_explicit(&filling, memory_order_release);
        }
    }
    return id;
}

inline uint64_t vs_process_api(const char *name) /* inline: see vs_recorder_acquire */
{
    /* the names are literals: their addresses identify them */
    struct api_slot *slot = &api_slots[((uintptr_t)name >> 3 ^ (uintptr_t)name >> 9) % API_SLOTS];
    if (atomic_load_explicit(&slot->name, memory_order_acquire) == name)
        return atomic_load_explicit(&slot->id, memory_order_relaxed);
    return find_api(slot, name);
}
