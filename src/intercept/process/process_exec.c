/* SPDX-License-Identifier: Apache-2.0
 *
 * exec: the process becomes another program and our code does not run again, unless the call fails.
 * The trace is ended before the call, and the end is removed after a failure; the recorder is held
 * meanwhile. Children of vfork call these functions in our memory and are only forwarded; so are
 * handlers that interrupted our own work. Calls of exec functions to each other inside the C
 * library are not visible here, so each has its hook.
 *
 * A program started with an environment without LD_PRELOAD cannot be recorded. If the recording
 * ends by it, its user gets a message; otherwise the manifest of `vramscope run` gets a line, for a
 * summary that has nothing else to print. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/vs_cancel.h"
#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "intercept/process/process_internal.h"
#include "intercept/route/definitions.h"
#include "intercept/route/hook.h"
#include "intercept/route/upcalls.h"

enum exec_function { EXECV, EXECVE, EXECVP, EXECVPE, FEXECVE, EXECVEAT, EXEC_FUNCTIONS };

static void *real(enum exec_function which)
{
    static _Atomic(void *) functions[EXEC_FUNCTIONS];
    static const char *const names[] = {"execv",   "execve",  "execvp",
                                        "execvpe", "fexecve", "execveat"};
    return vs_next_stored(&functions[which], names[which]);
}

void vs_process_exec_prepare(void)
{
    for (int i = 0; i < EXEC_FUNCTIONS; i++)
        (void)real((enum exec_function)i);
}

/* --- an environment without us --- */

static bool preloads_us(char *const *environment)
{
    for (char *const *e = environment; e && *e; e++) {
        if (strncmp(*e, "LD_PRELOAD=", 11) == 0)
            return strstr(*e, "libvramscope.so") != NULL;
    }
    return false;
}

/* The value of *name* ("NAME=") in the environment that this process started with, which its
 * program may have cleared since. */
static bool initial_variable(const char *name, char *value, size_t max)
{
    char text[512];
    size_t want = strlen(name), matched = 0, kept = 0;
    bool copying = false, start = true;
    int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && !(copying && start) && (n = read(fd, text, sizeof text)) > 0;) {
        for (ssize_t i = 0; i < n && !(copying && start); i++) {
            if (copying && text[i] && kept + 1 < max)
                value[kept++] = text[i];
            matched = start ? 0 : matched;
            if (!copying && matched < want)
                matched = text[i] == name[matched] ? matched + 1 : SIZE_MAX;
            copying |= matched == want;
            start = !text[i];
        }
    }
    if (fd >= 0)
        close(fd);
    value[kept] = 0;
    return kept > 0;
}

static void notify_run(const char *path)
{
    char manifest[PATH_MAX], line[PATH_MAX + 16];
    if (!initial_variable("VRAMSCOPE_MANIFEST=", manifest, sizeof manifest))
        return;
    snprintf(line, sizeof line, "%d %s", (int)getpid(), path);
    vs_manifest_append(manifest, '?', line);
}

static void warn_user(const char *path)
{
    char text[512];
    snprintf(text, sizeof text,
             "the program became %.300s without LD_PRELOAD in its environment: recording ends "
             "here", path);
    vs_log(VS_LOG_WARN, "%s", text);
    vs_process_note(VS_LOG_WARN, text);
}

/* --- before and after the call --- */

/* *path* NULL or without a slash: the program's location is not known here. Returns whether the
 * trace is ended, and the recorder held. */
static bool before(const char *path, char *const *environment)
{
    VS_KEEP_ERRNO();
    bool likely = !path || !strchr(path, '/') || access(path, X_OK) == 0;
    bool leaves_us = likely && path && !preloads_us(environment);
    if (likely)
        vs_process_await_begin();
    enum vs_process_state state = vs_process_state();
    bool ours = (state == VS_PROCESS_ACTIVE || state == VS_PROCESS_EXITING) && !vs_lock_held() &&
                vs_process_own();
    bool quiet = ours && vs_process_quiet();
    if (leaves_us)
        notify_run(path);
    if (quiet && likely) {
        VS_OWN_WORK();
        if (leaves_us && preloads_us(environ))
            warn_user(path);
        if (vs_process_state() == VS_PROCESS_ACTIVE) /* again: another thread may have ended it */
            vs_upcalls.ending();
    }
    return ours && likely && vs_recorder_exec_begin(vs_process_recorder());
}

/* The call returned, so it failed. */
static int after(bool held, int result)
{
    if (held)
        vs_recorder_exec_failed(vs_process_recorder());
    vs_process_resume();
    return result;
}

/* --- the hooks --- */

typedef int (*argv_fn)(const char *, char *const *);
typedef int (*envp_fn)(const char *, char *const *, char *const *);

static int with_argv(enum exec_function which, const char *path, char *const *argv)
{
    argv_fn fn = (argv_fn)real(which);
    bool held = before(path, environ);
    return after(held, fn ? fn(path, argv) : (errno = ENOSYS, -1));
}

static int with_envp(enum exec_function which, const char *path, char *const *argv,
                     char *const *envp)
{
    envp_fn fn = (envp_fn)real(which);
    bool held = before(path, envp);
    return after(held, fn ? fn(path, argv, envp) : (errno = ENOSYS, -1));
}

VS_EXPORT int execv(const char *path, char *const argv[])
{
    return with_argv(EXECV, path, argv);
}

VS_EXPORT int execvp(const char *file, char *const argv[])
{
    return with_argv(EXECVP, file, argv);
}

VS_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    return with_envp(EXECVE, path, argv, envp);
}

VS_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    return with_envp(EXECVPE, file, argv, envp);
}

VS_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    int (*fn)(int, char *const *, char *const *) = real(FEXECVE);
    bool held = before(NULL, envp);
    return after(held, fn ? fn(fd, argv, envp) : (errno = ENOSYS, -1));
}

VS_EXPORT int execveat(int folder, const char *path, char *const argv[], char *const envp[],
                       int flags);
int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
    int (*fn)(int, const char *, char *const *, char *const *, int) = real(EXECVEAT);
    bool held = before(NULL, envp);
    return after(held, fn ? fn(folder, path, argv, envp, flags) : (errno = ENOSYS, -1));
}

/* Counts the variable arguments, and copies them to a vector on the caller's stack, as the C
 * library does. After the NULL, execle has the environment. */
static size_t count_arguments(const char *first, va_list *rest)
{
    size_t n = 0;
    for (const char *a = first; a; a = va_arg(*rest, const char *))
        n++;
    return n;
}

static void take_arguments(char **argv, const char *first, va_list *rest)
{
    size_t n = 0;
    for (const char *a = first; a; a = va_arg(*rest, const char *))
        argv[n++] = (char *)a;
    argv[n] = NULL;
}

#define LIST_TO_ARGV(argv, first, after_list)                        \
    va_list list;                                                    \
    va_start(list, first);                                           \
    char **argv = __builtin_alloca((count_arguments(first, &list) + 1) * sizeof *argv); \
    va_end(list);                                                    \
    va_start(list, first);                                           \
    take_arguments(argv, first, &list);                              \
    after_list;                                                      \
    va_end(list)

VS_EXPORT int execl(const char *path, const char *argument, ...)
{
    LIST_TO_ARGV(argv, argument, );
    return with_argv(EXECV, path, argv);
}

VS_EXPORT int execlp(const char *file, const char *argument, ...)
{
    LIST_TO_ARGV(argv, argument, );
    return with_argv(EXECVP, file, argv);
}

VS_EXPORT int execle(const char *path, const char *argument, ...)
{
    LIST_TO_ARGV(argv, argument, char *const *envp = va_arg(list, char *const *));
    return with_envp(EXECVE, path, argv, envp);
}
