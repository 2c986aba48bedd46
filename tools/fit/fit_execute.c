/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of the program: a folder of its own, and `vramscope run` of this same executable with its
 * traces there. A separate process, because a run sets its own environment, handles signals and
 * ends with the program; several run at the same time. The program's output is not shown, its
 * standard error is kept. */
#define _DEFAULT_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_clock.h"
#include "base/vs_text.h"
#include "tools/common/command.h"
#include "tools/fit/fit_internal.h"

#define FLAGS_MAX 12     /* of `run`, besides the user's and the program */
#define POLL_NS 20000000L

/* A part of a file name from what the user typed. */
static void append_name(char *path, size_t max, const char *text)
{
    size_t n = strlen(path);
    for (; *text && n + 1 < max; text++)
        path[n++] = isalnum((unsigned char)*text) || strchr(".-_=,", *text) ? *text : '_';
    path[n] = 0;
}

/* *name* in the folder of *process*; NULL: /dev/null. */
static int new_file(const struct vs_fit_job *job, const struct vs_fit_process *process, const char *name)
{
    char path[sizeof process->folder + 16];
    snprintf(path, sizeof path, "%s/%s", name ? process->folder : "/dev", name ? name : "null");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        vs_tool_fail(job->who, "cannot create %s: %s", path, strerror(errno));
    return fd;
}

void vs_fit_name_folder(const struct vs_fit_job *job, struct vs_fit_process *process)
{
    const struct vs_fit_run *run = process->run;
    const char *parts[] = {run->gpu, run->value ? "-" : "", run->value, run->rank ? "-rank" : "", run->rank};
    snprintf(process->folder, sizeof process->folder, "%s/", job->folder);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        append_name(process->folder, sizeof process->folder, parts[i] ? parts[i] : "");
}

/* Creates the folder, and removes files of an earlier run from one that was kept. */
static int make_folder(const struct vs_fit_job *job, const struct vs_fit_process *process)
{
    if (mkdir(process->folder, 0777) && errno != EEXIST)
        return vs_tool_fail(job->who, "cannot create %s: %s", process->folder, strerror(errno));
    DIR *dir = opendir(process->folder);
    for (struct dirent *entry; (entry = vs_tool_entry(&dir));) {
        if (entry->d_name[0] != '.' &&
            (vs_text_ends(entry->d_name, ".vst") || vs_text_ends(entry->d_name, ".vst.live")))
            unlinkat(dirfd(dir), entry->d_name, 0);
    }
    int notes = new_file(job, process, "notes.txt");
    if (notes < 0)
        return VS_EXIT_UNUSABLE;
    close(notes);
    return 0;
}

/* --- starting `run` --- */

static size_t word_count(char *const *words)
{
    size_t n = 0;
    while (words && words[n])
        n++;
    return n;
}

/* The arguments of `run`: its memory as without vramscope, no kernels, readings of the device often
 * enough to see its highest use. What large copies and memsets write takes no host memory, unless
 * the user decides otherwise: then a large model fits a laptop. Called in the child, which is
 * replaced: nothing is freed. */
static char **run_arguments(const struct vs_fit_job *job, const struct vs_fit_process *process, char *const *command)
{
    size_t flags = word_count(job->run_flags), words = word_count(command), n = 0;
    const char *gpu = process->run->gpu;
    char **arguments = vs_xcalloc(FLAGS_MAX + flags + words + 1, sizeof *arguments);
    char *pattern = vs_xcalloc(2 * strlen(process->folder) + sizeof "/%r.%p.vst", 1);
    size_t length = 0;
    for (const char *c = process->folder; *c; c++) {
        pattern[length++] = *c;
        if (*c == '%') /* in a folder's name: none of the trace's pattern */
            pattern[length++] = '%';
    }
    strcpy(pattern + length, "/%r.%p.vst");
    static const char *const fixed[] = {"vramscope", "run", "--quiet", "--allocator=observe",
                                        "--no-kernels", "--sample-ms=5"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        arguments[n++] = vs_xstrdup(fixed[i]);
    for (size_t i = 0; i < flags; i++)
        arguments[n++] = job->run_flags[i];
    char *devices = job->ranks && !strstr(gpu, ",devices=") ? vs_xprintf(",devices=%llu", job->per_node)
                                                            : vs_xstrdup("");
    arguments[n++] = vs_xprintf("--simulate=%s%s%s", gpu, devices,
                                strstr(gpu, ",data=") ? "" : ",data=small");
    arguments[n++] = vs_xprintf("--simulate-notes=%s/notes.txt", process->folder);
    arguments[n++] = vs_xstrdup("-o");
    arguments[n++] = pattern;
    arguments[n++] = vs_xstrdup("--");
    for (size_t i = 0; i < words; i++)
        arguments[n++] = command[i];
    return arguments;
}

static int start(const struct vs_fit_job *job, size_t slot, struct vs_fit_process *process)
{
    const struct vs_fit_run *run = process->run;
    int errors = make_folder(job, process) ? -1 : new_file(job, process, "stderr.txt");
    int output = errors < 0 ? -1 : new_file(job, process, job->keep ? "stdout.txt" : NULL);
    if (output < 0) {
        if (errors >= 0)
            close(errors);
        return VS_EXIT_UNUSABLE;
    }
    process->began = process->looked = vs_clock_ns();
    process->slot = slot;
    process->steps = process->steps ? process->steps : job->steps;
    process->watched = process->signals = 0;
    process->until = process->longest_ns ? process->began + process->longest_ns : 0;
    pid_t pid = fork();
    if (pid == 0) {
        int nothing = open("/dev/null", O_RDONLY);
        char **arguments = run_arguments(job, process, vs_fit_command(job, run->value));
        for (const char *const *text = run->environment; text && *text; text++)
            putenv(vs_xstrdup(*text));
        vs_own_state_end();
        if (nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(output, 1) >= 0 &&
            dup2(errors, 2) >= 0)
            execv("/proc/self/exe", arguments);
        dprintf(errors, "%s: cannot start `vramscope run`: %s\n", job->who, strerror(errno));
        _exit(125);
    }
    int code = errno;
    close(errors);
    close(output);
    if (pid < 0)
        return vs_tool_fail(job->who, "cannot start a process: %s", strerror(code));
    process->pid = pid;
    vs_fit_signals_to(slot, pid);
    return 0;
}

static bool has_ended(const struct vs_fit_job *job, struct vs_fit_process *process)
{
    struct vs_fit_run *run = process->run;
    int status = 0;
    struct rusage used;
    pid_t ended = wait4(process->pid, &status, WNOHANG, &used);
    if (ended == 0 || (ended < 0 && errno == EINTR)) {
        if (process->steps)
            vs_fit_watch_steps(process, process->steps);
        if (process->until && vs_clock_ns() >= process->until) {
            kill(process->pid, process->late ? SIGKILL : SIGTERM);
            process->late = true;
            process->until += VS_FIT_SIGNAL_NS;
        }
        vs_fit_watch_host(job, process);
        return false;
    }
    vs_fit_signals_to(process->slot, 0);
    run->wall_ns = vs_clock_ns() - process->began;
    run->stopped = process->signals > 0;
    run->started = true;
    run->host_bytes = (uint64_t)used.ru_maxrss * 1024;
    run->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

size_t vs_fit_at_once(const struct vs_fit_job *job)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return job->jobs ? (size_t)job->jobs : processors > 1 ? (size_t)processors : 1;
}

int vs_fit_run_all(const struct vs_fit_job *job, void *of,
                   struct vs_fit_process *(*next)(void *of, size_t running, int *status),
                   int (*ended)(void *of, struct vs_fit_process *process))
{
    struct vs_fit_process *running[VS_FIT_GPUS_MAX] = {NULL};
    const struct timespec pause = {0, POLL_NS};
    size_t count = 0;
    int status = 0;
    do {
        bool more = true;
        for (size_t slot = 0; slot < VS_FIT_GPUS_MAX; slot++) {
            if (running[slot] && has_ended(job, running[slot])) {
                int failed = ended(of, running[slot]);
                status = status ? status : failed;
                running[slot] = NULL;
                count--;
                more = true; /* its result may call for another run */
            }
            if (running[slot] || !more || status || vs_fit_interrupted())
                continue;
            struct vs_fit_process *process = next(of, count, &status);
            more = process != NULL;
            if (process && !status)
                status = start(job, slot, process);
            if (process && !status) {
                running[slot] = process;
                count++;
            }
        }
        if (count)
            nanosleep(&pause, NULL);
    } while (count);
    return status;
}
