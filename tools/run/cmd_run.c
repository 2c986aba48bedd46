/* SPDX-License-Identifier: Apache-2.0
 *
 * `vramscope run`: starts a program with the profiler preloaded, waits, prints a summary of the
 * recording. The program's own output and exit status pass through; the summary goes to standard
 * error. Every process of the program that uses CUDA writes its own trace and adds its path to a
 * manifest, which lists the traces to summarise. */
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

#include "base/reading/vs_xalloc.h"
#include "tools/common/command.h"
#include "tools/common/symbol_tool.h"
#include "tools/run/run_internal.h"
#include "tools/view/view_trace.h"
#include "trace/read/reader.h"

#define CHECKER_STATUS 86 /* exit status of programs that the simulated GPU's checker fails */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127
#define PAGES_MAX 64       /* of `--view`; further traces have none */

static const char usage[] =
    "usage: vramscope run [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs PROGRAM and records its GPU memory in a trace. The program's output and\n"
    "exit status pass through; a summary of each trace follows on standard error.\n"
    "\n"
    "  -o FILE             the trace; %n program, %p pid, %h host, %r rank (default\n"
    "                      vramscope.%n.%p.vst, of ranks vramscope.%n.rank%r.%p.vst).\n"
    "                      An older trace of that name is replaced when the new one\n"
    "                      is written; any other file is kept, and the new trace is\n"
    "                      NAME.PID.vst\n"
    "  --allocator=HOW     auto, caching or observe: serve cudaMalloc from a cache\n"
    "                      with PyTorch's rules, or only record (auto: caching, but\n"
    "                      observe under PyTorch and other frameworks with a pool,\n"
    "                      with --limit, and with check= or fail= of --simulate)\n"
    "  --policy=compact    reserve less device memory for the same requests\n"
    "  --limit AMOUNT      limit the memory of each device:\n"
    "                      8GiB, 50%, or 0:8GiB,1:16GiB\n"
    "  --via=injection     let the CUDA driver load the library where preloading is\n"
    "                      impossible: memory is only recorded, not cached, and CUPTI\n"
    "                      is required\n"
    "  --simulate DEVICE   use a simulated GPU: h100-80g, or\n"
    "                      t4-16g,capacity=2GiB,devices=2\n"
    "  --no-kernels        record memory only, no kernels, copies or waits\n"
    "  --kernels=api       record each call of CUDA as well\n"
    "  --copy-stacks       record the line of each copy (--kernels=api: included)\n"
    "  --stacks=none       record no call stacks\n"
    "  --sample N, --min-size SIZE, --max-trace-size SIZE\n"
    "                      for long runs: record 1 allocation in N, only those of at\n"
    "                      least SIZE, a trace of at most SIZE; totals and peaks stay\n"
    "                      exact (docs/sampling.md)\n"
    "  --view              at the end, write the trace as an HTML page beside it and\n"
    "                      open it in the browser (see vramscope-view(1));\n"
    "                      --view=FILE only writes it there. Of several processes\n"
    "                      each gets a page; the one that failed, or has the largest\n"
    "                      peak, is opened or written to FILE\n"
    "  --no-source         the page of --view has no lines of source files\n"
    "  --check FILE        at the end, check the traces with this budget file, as\n"
    "                      `vramscope check --budget FILE` does\n"
    "  --check-output FORMAT=FILE\n"
    "                      also write the result of --check in this format\n"
    "  --allow-uncomputed  --check accepts a program that read values which no\n"
    "                      kernel of the simulated GPU computed\n"
    "  -q, --quiet         print no summary, and of --check only the exceeded limits\n"
    "\n"
    "Every option of `vramscope options` is accepted as --name=value.\n"
    "\n"
    "Exit status: the program's own; 128+n when signal n killed it; 127 not found;\n"
    "126 not executable; 125 when vramscope could not start it. With --check, if the\n"
    "program ended well (or as its budget allows): 0 the budget held, 1 exceeded,\n"
    "2 nothing to check.\n";

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

/* *mask* is the signal mask to run with: no signal may end us while an older trace is set aside. */
static int start(struct vs_run *run, const sigset_t *mask, int *status)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC))
        return vs_run_fail("cannot create a pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0)
        return vs_run_fail("cannot start a process: %s", strerror(errno));
    if (pid == 0) {
        vs_run_signals_child();
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
        return vs_run_fail("cannot wait for %s: %s", run->program[0], strerror(errno));
    if (n != sizeof code)
        return 0;
    fprintf(stderr, "vramscope run: cannot run %s: %s%s\n", run->program[0], strerror(code),
            code != ENOENT                     ? ""
            : access(run->program[0], F_OK)    ? "; check the name, or PATH"
            : strchr(run->program[0], '/')     ? "; the interpreter that it names does not exist"
                                               : "; write ./ before a program of this folder");
    return code == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* The status as a shell reports it. */
static int exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Only a trace whose name is fixed is replaced. */
static int fail_replacing(const char *pattern)
{
    char trace[PATH_MAX] = "the trace";
    (void)!vs_run_output_fixed(pattern, strlen(pattern), trace);
    if (errno == EBUSY)
        return vs_run_fail("%s is being recorded by another process; give the trace another name with -o", trace);
    return vs_run_fail("cannot replace %s: %s; give the trace another name with -o", trace, strerror(errno));
}

static bool is_old_trace(const char *path, const struct stat *st)
{
    return S_ISREG(st->st_mode) && (!st->st_size || vs_reader_is_trace(path)) &&
           !vs_reader_recorded_by(path);
}

/* Sets aside an older trace of that name, also of a name from a pattern where it can be predicted.
 * A file that stays there must not be taken for the new recording. */
static bool make_way(const struct vs_run *run, struct vs_run_output *older)
{
    const char *output = run->options.text[VS_OPT_output];
    char path[PATH_MAX];
    struct stat st;
    if (!run->options.number[VS_OPT_record])
        return true;
    if (vs_run_output_fixed(output, strlen(output), path) && !vs_output_is_ranked())
        return vs_run_output_set_aside(older, path);
    bool known = vs_run_output_known(output, run->program[0], path);
    bool there = *path && !lstat(path, &st);
    if (known && (!there || is_old_trace(path, &st)) && vs_run_output_set_aside(older, path))
        return true;
    bool later = there && is_old_trace(path, &st) && vs_run_names_replaced(output);
    if (there && !later)
        vs_tool_fail("vramscope run", "%s exists and is kept; the new trace gets another name, "
                     "with the process ID in it", path);
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
        vs_run_signals_summary(exit_code(*status), run->manifest);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return result;
}

/* Explains a missing trace, as far as the cause can be found. */
static void explain_no_trace(const struct vs_run *run, const struct vs_run_summary *seen, int status)
{
    const char *program = run->program[0], *simulated = run->options.text[VS_OPT_simulate];
    bool replaced = *seen->unreached && seen->unreached_pid == run->pid;
    bool known = replaced || seen->failures || seen->nested || run->reach != VS_REACH_YES ||
                 !run->options.number[VS_OPT_record];
    if (!known)
        vs_tool_fail("vramscope", "%s %s, so no trace was written", program,
                     seen->idle             ? "loaded the CUDA driver but allocated no GPU memory"
                     : WIFSIGNALED(status) ? "was killed before a CUDA call was observed"
                                            : "ended without loading the CUDA driver");
    if (*seen->unreached)
        vs_tool_fail("vramscope", "%s was started without LD_PRELOAD in its environment, so its "
                     "GPU memory is not recorded%s", seen->unreached,
                     *simulated ? "; with a clean environment it does not use the simulated GPU "
                                  "either" : "");
    if (known)
        return;
    if (!*simulated && !dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL))
        fputs("vramscope: this machine has no NVIDIA driver; to run CUDA programs without a GPU: "
              "vramscope run --simulate h100-80g -- PROGRAM\n", stderr);
}

/* Checks the traces, with paths as they were given: relative to the current folder with a relative -o. */
static int check_paths(struct vs_run *run, const struct vs_run_summary *seen)
{
    char folder[PATH_MAX];
    size_t cwd = run->relative_output && getcwd(folder, sizeof folder) ? strlen(folder) : 0;
    char **paths = vs_xcalloc(seen->path_count, sizeof *paths);
    for (size_t i = 0; i < seen->path_count; i++) {
        bool below = cwd && strncmp(seen->paths[i], folder, cwd) == 0 && seen->paths[i][cwd] == '/';
        paths[i] = seen->paths[i] + (below ? cwd + 1 : 0);
    }
    int code = vs_check_traces(&run->check, paths, seen->path_count);
    free(paths);
    return code;
}

static int summarise(struct vs_run *run, int status)
{
    int result = exit_code(status);
    struct vs_run_summary seen;
    vs_xalloc_begin("vramscope run", run->checked && !result ? VS_EXIT_UNUSABLE : result);
    struct vs_run_names names = {.pattern = run->options.text[VS_OPT_output],
                                 .began = run->began, .manifest = run->manifest};
    vs_symbol_tool_configure(&run->options);
    vs_run_summarise(&names, run->quiet, run->options.number[VS_OPT_symbolize] != 0, &seen);
    vs_run_names_free(&names);
    unsigned pages = seen.path_count < PAGES_MAX ? (unsigned)seen.path_count : PAGES_MAX;
    if (run->view)
        vs_view_recorded("vramscope run", seen.paths, pages, run->view_file, run->no_source);
    if (run->view && seen.traces > pages)
        vs_tool_fail("vramscope run", "%u more traces have no page; write one with: vramscope view TRACE",
                     seen.traces - pages);
    if (!run->quiet) {
        /* What the user must know beyond the reports. */
        if (seen.failures)
            vs_tool_fail("vramscope", "%s used CUDA, but nothing was recorded: see the error above",
                         run->program[0]);
        if (!seen.traces)
            explain_no_trace(run, &seen, status);
        if (strstr(run->options.text[VS_OPT_simulate], "check=fail") && WIFEXITED(status) &&
            WEXITSTATUS(status) == CHECKER_STATUS)
            fputs("vramscope: exit status 86: the simulated GPU's checker found errors; see its "
                  "reports above\n", stderr);
        if (WIFSIGNALED(status))
            fprintf(stderr, "vramscope: the program was killed by signal %d (%s)\n",
                    WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    if (run->checked) {
        /* The exit status of a run with --check: the program's own unless it is 0 or the budget allows it,
         * otherwise that of the check. */
        const struct vs_budget *budget = &run->check.budget;
        int own = exit_code(status);
        bool allowed = !own || budget->allow_any_exit;
        for (size_t i = 0; i < budget->allow_exit_count; i++)
            allowed |= budget->allow_exit[i] == (uint64_t)own;
        run->check.out = stderr;
        run->check.failures_only = run->quiet;
        int code = seen.path_count
                       ? check_paths(run, &seen)
                       : vs_tool_fail("vramscope run",
                                      "no trace was recorded, so the budget was not checked");
        result = allowed ? code : own;
    }
    vs_run_summary_free(&seen);
    return result;
}

static int run_main(int argc, char **argv)
{
    struct vs_run *run = vs_xcalloc(1, sizeof *run);
    int status = 0, result = vs_run_parse(run, argc, argv);
    if (!result)
        result = vs_run_prepare_output(run);
    if (!result) {
        if (!vs_option_is(&run->options, VS_OPT_via, "injection")) {
            /* Reports programs where preloading cannot work; otherwise users would just miss their
             * trace. */
            char why[2 * PATH_MAX + 256];
            run->reach = vs_reach(run->program[0], why, sizeof why);
            if (*why)
                fprintf(stderr, "vramscope run: %s\n", why);
        }
        vs_run_warn_observed(run);
        vs_run_warn_without_effect(run);
        result = vs_run_prepare_manifest(run);
    }
    if (!result)
        result = vs_run_prepare_environment(run);
    if (!result)
        result = execute(run, &status);
    if (!result) {
        vs_run_manifest_record_end(run->manifest, (uint64_t)run->pid, status);
        result = summarise(run, status);
        vs_run_signals_end();
    }
    if (*run->manifest)
        vs_run_manifest_remove(run->manifest);
    vs_check_command_free(&run->check);
    free(run);
    return result;
}

const struct vs_command vs_cmd_run = {
    "run", "record a program, print a summary, exit with the program's status", usage, run_main,
    false};
