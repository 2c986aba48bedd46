/* SPDX-License-Identifier: Apache-2.0
 *
 * `vramscope run`: start a program with the profiler in front, wait, print what
 * was recorded. The program's own output and exit status pass through; the
 * summary goes to standard error. Every process it starts that uses CUDA leaves
 * a trace of its own and adds its path to a manifest, which tells this command
 * what to summarise. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/common/command.h"
#include "tools/common/own_state.h"
#include "tools/common/symbol_tool.h"
#include "tools/run/run_internal.h"
#include "tools/run/run_manifest.h"
#include "tools/run/run_names.h"
#include "tools/run/run_output.h"
#include "tools/run/run_signals.h"
#include "tools/run/run_summary.h"
#include "trace/read/reader.h"

#define CHECKER_STATUS 86 /* of programs that the simulated GPU's checker fails */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

static const char usage[] =
    "usage: vramscope run [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs PROGRAM with the profiler in front. Its output and exit status pass through;\n"
    "a summary of each trace follows on standard error.\n"
    "\n"
    "  -o FILE             the trace; %n program, %p pid, %h host, %r rank\n"
    "                      (default vramscope.%n.%p.vst; an older trace is replaced\n"
    "                      once there is a new one; where something else has the\n"
    "                      name, that stays, and the trace is NAME.PID.vst)\n"
    "  --allocator=HOW     auto, caching or observe: serve device memory from a cache with\n"
    "                      PyTorch's rules, or only watch (auto: caching, except under PyTorch)\n"
    "  --policy=compact    less memory from the device for the same requests; with --plan FILE\n"
    "                      (of `vramscope plan`, or a trace) each block where it is planned\n"
    "  --limit AMOUNT      let each device seem this big: 8GiB, 50%, or 0:8GiB,1:16GiB\n"
    "  --via=injection     let the CUDA driver load the library, where preloading is not possible:\n"
    "                      memory is only observed, and CUPTI is needed\n"
    "  --simulate DEVICE   on a simulated GPU: h100-80g, or t4-16g,capacity=2GiB,devices=2\n"
    "  --no-kernels        memory only: no kernels, no copies\n"
    "  --stacks=none       no call stacks\n"
    "  --sample N, --min-size SIZE, --max-trace-size SIZE\n"
    "                      for long runs: record 1 allocation in N, none below SIZE, no trace\n"
    "                      above SIZE; totals and peaks stay exact (docs/sampling.md)\n"
    "  -q, --quiet         no summary\n"
    "\n"
    "Every option of `vramscope options` is accepted as --name=value. Exit status: the\n"
    "program's own; 128+n when signal n killed it; 127 not found, 126 not executable; 125 when\n"
    "vramscope itself could not start it.\n";

int vs_run_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("vramscope run: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return EXIT_OWN_FAILURE;
}

/* Say when preloading cannot work, instead of leaving an empty-handed user. */
static void look_at_program(struct vs_run *run)
{
    char why[2 * PATH_MAX + 256];
    run->reach = vs_reach(run->program[0], why, sizeof why);
    if (*why)
        fprintf(stderr, "vramscope run: %s\n", why);
}

/* *mask* is the one to run with: no signal may end us while an older trace is set aside. */
static int start(struct vs_run *run, const sigset_t *mask, int *status)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC))
        return vs_run_fail("cannot create a pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0)
        return vs_run_fail("cannot start a process: %s", strerror(errno));
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        vs_own_state_end();
        execvp(run->program[0], run->program);
        int code = errno;
        ssize_t n = write(report[1], &code, sizeof code);
        _exit(n == sizeof code ? EXIT_NOT_FOUND : EXIT_OWN_FAILURE);
    }
    run->pid = pid;
    vs_run_signals_to(pid);
    sigprocmask(SIG_SETMASK, mask, NULL);
    close(report[1]);
    int code = 0;
    ssize_t n;
    while ((n = read(report[0], &code, sizeof code)) < 0 && errno == EINTR)
        ;
    close(report[0]);
    pid_t ended;
    while ((ended = waitpid(pid, status, 0)) < 0 && errno == EINTR)
        ;
    if (ended != pid)
        return vs_run_fail("how %s ended is not known: %s", run->program[0], strerror(errno));
    if (n != sizeof code)
        return 0;
    fprintf(stderr, "vramscope run: cannot run %s: %s\n", run->program[0], strerror(code));
    return code == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* As a shell tells it. */
static int exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int fail_replacing(const char *trace)
{
    if (errno == EBUSY)
        return vs_run_fail("%s is being recorded; give the trace another name with -o", trace);
    return vs_run_fail("%s cannot be replaced: %s", trace, strerror(errno));
}

static bool is_old_trace(const char *path, const struct stat *st)
{
    return S_ISREG(st->st_mode) && (!st->st_size || vs_run_is_trace(path)) &&
           !vs_reader_recorded_by(path);
}

/* An older trace of that name gives way, also of a name by a pattern where that can be known.
 * What stays there nevertheless must not be taken for what is recorded now. */
static bool make_way(const struct vs_run *run, struct vs_run_output *older)
{
    const char *output = run->options.text[VS_OPT_output];
    char path[PATH_MAX];
    struct stat st;
    if (!run->options.number[VS_OPT_record])
        return true;
    if (!strchr(output, '%'))
        return vs_run_output_set_aside(older, output);
    bool known = vs_run_output_known(output, run->program[0], path);
    bool there = *path && !lstat(path, &st);
    if (known && (!there || is_old_trace(path, &st)) && vs_run_output_set_aside(older, path))
        return true;
    bool later = there && is_old_trace(path, &st) && vs_run_names_replaced(output);
    if (there && !later)
        vs_tool_fail("vramscope run", "%s is there already and stays; what is recorded now gets "
                     "another name, with the process number in it", path);
    return true;
}

static int execute(struct vs_run *run, int *status)
{
    const char *trace = run->options.text[VS_OPT_output];
    struct vs_run_output older = {0};
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    clock_gettime(CLOCK_REALTIME, &run->began);
    bool ready = make_way(run, &older);
    int result = ready ? start(run, &mask, status) : fail_replacing(trace);
    vs_run_output_settle(&older);
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (ready)
        vs_run_signals_end();
    if (!result)
        vs_run_signals_summary(exit_code(*status), run->manifest, run->plan);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return result;
}

static void summarise(struct vs_run *run, int status)
{
    struct vs_run_summary seen;
    struct vs_run_names names = {.pattern = run->options.text[VS_OPT_output],
                                 .began = run->began, .manifest = run->manifest};
    vs_symbol_tool_configure(&run->options);
    vs_run_summarise(&names, run->quiet, run->options.number[VS_OPT_symbolize] != 0, &seen);
    vs_run_names_free(&names);
    if (seen.failures && !run->quiet)
        fprintf(stderr, "vramscope: %s used CUDA, but nothing was recorded; the reason stands "
                        "above\n", run->program[0]);
    if (!seen.traces && *seen.unreached && !run->quiet)
        vs_tool_fail("vramscope", "%s was started without LD_PRELOAD in its environment; nothing "
                     "can be recorded there", seen.unreached);
    if (!seen.traces && !seen.failures && !*seen.unreached && !seen.nested &&
        run->reach == VS_REACH_YES && !run->quiet && run->options.number[VS_OPT_record]) {
        fprintf(stderr, "vramscope: %s %s, as far as was seen without using CUDA; no trace was "
                        "written\n",
                run->program[0], WIFSIGNALED(status) ? "was killed" : "ended");
        if (!*run->options.text[VS_OPT_simulate] && !dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL))
            fputs("vramscope: this machine has no NVIDIA driver; --simulate h100-80g runs CUDA "
                  "programs without one\n", stderr);
        if (*run->options.text[VS_OPT_simulate] && status)
            fputs("vramscope: if it has NVIDIA's CUDA runtime linked in (nvcc's default), it cannot "
                  "use the simulated GPU: build it with nvcc -cudart shared\n", stderr);
    }
    if (strstr(run->options.text[VS_OPT_simulate], "check=fail") && WIFEXITED(status) &&
        WEXITSTATUS(status) == CHECKER_STATUS && !run->quiet)
        fputs("vramscope: status 86 is that of the simulated GPU's checker; its reports stand "
              "above\n", stderr);
    if (WIFSIGNALED(status) && !run->quiet)
        fprintf(stderr, "vramscope: the program was killed by signal %d (%s)\n", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
}

static int run_main(int argc, char **argv)
{
    struct vs_run *run = calloc(1, sizeof *run);
    if (!run)
        return vs_run_fail("%s", "out of memory");
    int status = 0, result = vs_run_parse(run, argc, argv);
    if (!result)
        result = vs_run_prepare_output(run);
    if (!result) {
        if (!vs_option_is(&run->options, VS_OPT_via, "injection"))
            look_at_program(run);
        vs_run_warn_observed(run);
        vs_run_warn_without_effect(run);
        result = vs_run_prepare_manifest(run);
    }
    if (!result)
        result = vs_run_prepare_plan(run);
    if (!result)
        result = vs_run_prepare_environment(run);
    if (!result)
        result = execute(run, &status);
    if (!result) {
        result = exit_code(status);
        vs_run_manifest_record_end(run->manifest, (uint64_t)run->pid, status);
        summarise(run, status);
        vs_run_signals_end();
    }
    if (*run->manifest)
        vs_run_manifest_remove(run->manifest);
    if (*run->plan)
        unlink(run->plan);
    free(run);
    return result;
}

const struct vs_command vs_cmd_run = {
    "run", "record a program; prints a summary; exits with the program's status", usage, run_main};
