/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of the process. on_exit runs before the CUDA runtime's own teardown (which was registered
 * earlier); it stores the exit status, waits for work that cudaFree would have waited for, flushes the
 * collector and forbids further CUDA calls of
 * ours; the library's destructor runs after the program's own static destructors and ends the
 * trace. Libraries may free in destructors that run even later: the recorder continues and ends the
 * trace again after each such event, so that the file is always complete. quick_exit does the same
 * by at_quick_exit.
 *
 * The recorded status is that of the process: exit called in an exit handler changes it, and so
 * does _exit in a destructor. Programs also end in signal handlers, where a lock of the interrupted
 * code is never released. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include "base/vs_cancel.h"
#include "base/vs_lock.h"
#include "intercept/process/process_internal.h"
#include "intercept/route/definitions.h"
#include "intercept/route/hook.h"
#include "intercept/route/upcalls.h"

static _Atomic uint64_t exit_status; /* atomic; the latest one */

/* libgcc's unwinder, which reports whether a signal interrupted a frame. */
static __typeof__(&_Unwind_Backtrace) unwind_backtrace; /* both written at the start; may be NULL */
static __typeof__(&_Unwind_GetIPInfo) unwind_ip;

static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *frame, void *arg)
{
    int *interrupted = arg;
    unwind_ip(frame, interrupted);
    return *interrupted ? _URC_END_OF_STACK : _URC_NO_REASON;
}

bool vs_process_quiet(void)
{
    int interrupted = 0;
    if (!vs_thread.inside && unwind_backtrace && unwind_ip)
        unwind_backtrace(visit_frame, &interrupted);
    return !vs_thread.inside && !interrupted;
}

static void take_status(int status)
{
    atomic_store(&exit_status, (uint64_t)(status & 0xff));
}

/* No CUDA calls of ours from here on. */
static void begin_end(void)
{
    if (vs_process_state() != VS_PROCESS_ACTIVE || !vs_process_own())
        return;
    if (vs_lock_held()) { /* the code that holds it was interrupted and never continues */
        vs_process_set_state(VS_PROCESS_SILENT);
        return;
    }
    if (vs_process_quiet()) {
        VS_OWN_WORK();
        vs_cancel_hold(); /* for good: a cancellation meanwhile would end this thread in the middle of exit */
        vs_upcalls.ending();
        vs_bypass_report();
    }
    vs_process_set_state(VS_PROCESS_EXITING);
}

static void finish(void)
{
    if (vs_process_state() == VS_PROCESS_EXITING && !vs_lock_held() && vs_process_own())
        vs_recorder_end(vs_process_recorder(), VS_END_EXIT, atomic_load(&exit_status));
}

static void at_exit(int status, void *arg)
{
    (void)arg;
    bool unloaded = vs_process_state() == VS_PROCESS_EXITING;
    take_status(status);
    begin_end();
    if (unloaded) /* main returned during the first CUDA call, which registered this handler last */
        finish();
}

static void at_quick_exit_of_program(void)
{
    begin_end();
    finish();
}

/* The state stays EXITING: memory from the cache, unknown to the driver, may still be freed. */
__attribute__((destructor)) static void at_unload(void)
{
    vs_process_await_begin();
    begin_end();
    finish();
    /* CUDA may have been used nevertheless; the child of a fork cannot check: the lock of the
     * loader's list may stay locked in it */
    if (vs_process_state() == VS_PROCESS_IDLE && !vs_lineage_forked())
        vs_bypass_report();
}

void vs_process_exit_prepare(bool libraries)
{
    void *library = libraries ? dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library) {
        *(void **)&unwind_backtrace = dlsym(library, "_Unwind_Backtrace");
        *(void **)&unwind_ip = dlsym(library, "_Unwind_GetIPInfo");
    }
    vs_process_exec_prepare();
    on_exit(at_exit, NULL);
    at_quick_exit(at_quick_exit_of_program);
}

/* A process whose main thread has ended ends with its last thread, which must not be ours. That
 * thread then calls exit, like any other. */
VS_EXPORT __attribute__((noreturn)) void pthread_exit(void *result);
void pthread_exit(void *result)
{
    static _Atomic(void *) slot;
    __attribute__((noreturn)) void (*next)(void *) = vs_next_stored(&slot, "pthread_exit");
    if (vs_process_own() && syscall(SYS_gettid) == getpid() && !vs_lock_held() &&
        vs_process_state() == VS_PROCESS_ACTIVE)
        vs_recorder_dismiss_thread(vs_process_recorder());
    next(result);
}

/* _exit ends a process without any handler: the trace is ended here instead, so that its exit
 * status is recorded. The kernel call is the real function. */
VS_EXPORT void _exit(int status);
void _exit(int status)
{
    vs_process_await_begin();
    if (vs_process_own()) {
        take_status(status);
        begin_end();
        finish();
    }
    for (;;)
        syscall(SYS_exit_group, status);
}

VS_EXPORT void _Exit(int status) __attribute__((alias("_exit")));

/* Called in an exit handler, these change the status after on_exit has stored it. */
VS_EXPORT __attribute__((noreturn)) void exit(int status);
void exit(int status)
{
    static _Atomic(void *) slot;
    __attribute__((noreturn)) void (*next)(int) = vs_next_stored(&slot, "exit");
    if (vs_process_own())
        take_status(status);
    next(status);
}

VS_EXPORT __attribute__((noreturn)) void quick_exit(int status);
void quick_exit(int status)
{
    static _Atomic(void *) slot;
    __attribute__((noreturn)) void (*next)(int) = vs_next_stored(&slot, "quick_exit");
    if (vs_process_own())
        take_status(status);
    next(status);
}
