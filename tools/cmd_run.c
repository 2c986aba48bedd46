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
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allocator/alloc_conf.h"
#include "allocator/plan.h"
#include "base/vs_link.h"
#include "base/vs_option.h"
#include "command.h"
#include "own_state.h"
#include "paths.h"
#include "plan_tool.h"
#include "reach.h"
#include "run_manifest.h"
#include "run_output.h"
#include "run_signals.h"
#include "run_summary.h"
#include "symbol_tool.h"
#include "trace/reader.h"

#define CHECKER_STATUS 86 /* of programs that the simulated GPU's checker fails */
#define EXIT_OWN_FAILURE 125
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
    "                      once there is a new one; where its name cannot be known\n"
    "                      before, it stays, and the new one is NAME.PID.vst)\n"
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

struct run {
    struct vs_options options;
    bool quiet;
    char manifest[PATH_MAX];
    pid_t pid; /* of the program */
    char plan[PATH_MAX]; /* made for this run; empty: none */
    enum vs_reach reach; /* by the library, of the program */
    char **program; /* argv of the program, NULL-terminated */
};

static int fail(const char *format, ...) VS_PRINTF(1, 2);
static int fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("vramscope run: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return EXIT_OWN_FAILURE;
}

/* The limit is refused and not merely warned about (check_limit). */
static void warn_environment(const char *sentence, void *arg)
{
    char name[VS_OPTION_ENV_MAX];
    size_t length = strlen(vs_option_env_name(VS_OPT_limit, name));
    (void)arg;
    if (strncmp(sentence, name, length) != 0 || sentence[length] != ':')
        fprintf(stderr, "vramscope run: %s\n", sentence);
}

/* "--" and what begins with it is no value: one that does can be given as --name=value. */
static bool is_option(const char *argument)
{
    return strncmp(argument, "--", 2) == 0;
}

/* One "--name[=value]"; *used* is how many arguments it took. */
static int parse_flag(struct run *run, char **argv, int left, int *used)
{
    const char *name = argv[0] + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] ? name + length + 1 : NULL;
    char why[VS_OPTION_TEXT_MAX];
    bool negated = false;
    enum vs_option_id id;
    if (vs_option_find(name, length, &id)) {
        negated = length > 3 && strncmp(name, "no-", 3) == 0;
        if (!negated || vs_option_find(name + 3, length - 3, &id) ||
            vs_option_describe(id)->type != VS_OPTION_BOOL)
            return fail("unknown option %s; `vramscope options` lists them", argv[0]);
    }
    *used = 1;
    if (vs_option_describe(id)->type == VS_OPTION_BOOL && !value)
        value = negated ? "off" : "on";
    if (!value) {
        if (left < 2 || is_option(argv[1]))
            return fail("option %s needs a value", argv[0]);
        value = argv[1];
        *used = 2;
    }
    /* an empty variable of a script must not mean no limit */
    if (id == VS_OPT_limit && !*value)
        return fail("%s needs a value such as 8GiB or 50%%", "--limit");
    if (vs_options_set(&run->options, id, value, VS_FROM_COMMAND, why))
        return fail("%s", why);
    return 0;
}

/* A program meant to be limited must not run without: the environment's limit, which the
 * library would ignore, counts as one given here. */
static int check_limit(const struct run *run)
{
    char name[VS_OPTION_ENV_MAX], why[VS_OPTION_TEXT_MAX], told[2 * VS_OPTION_TEXT_MAX];
    const char *text = vs_environment(vs_option_env_name(VS_OPT_limit, name));
    struct vs_options unused;
    if (!text || run->options.source[VS_OPT_limit] == VS_FROM_COMMAND ||
        vs_options_set(&unused, VS_OPT_limit, text, VS_FROM_ENVIRONMENT, why) == VS_OK)
        return 0;
    snprintf(told, sizeof told, "%s: %s", name, why);
    return fail("%s", told);
}

static int parse(struct run *run, int argc, char **argv)
{
    vs_options_init(&run->options);
    vs_options_load_environment(&run->options, warn_environment, NULL);
    int i = 1;
    while (i < argc && argv[i][0] == '-') {
        int used = 1, status = 0;
        char why[VS_OPTION_TEXT_MAX];
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "-q") == 0 || strcmp(argv[i], "--quiet") == 0) {
            run->quiet = true;
        } else if (strncmp(argv[i], "-o", 2) == 0) {
            const char *value = argv[i][2] ? argv[i] + 2 : i + 1 < argc ? argv[i + 1] : NULL;
            used = argv[i][2] ? 1 : 2;
            if (!value || (used == 2 && is_option(value)))
                return fail("option %s needs a file name", argv[i]);
            if (vs_options_set(&run->options, VS_OPT_output, value, VS_FROM_COMMAND, why))
                return fail("%s", why);
        } else if (strncmp(argv[i], "--", 2) == 0) {
            status = parse_flag(run, argv + i, argc - i, &used);
        } else {
            return fail("unknown option %s; see `vramscope run --help`", argv[i]);
        }
        if (status)
            return status;
        i += used;
    }
    if (i >= argc)
        return fail("no program given; usage: %s", "vramscope run [options] [--] PROGRAM [ARGS…]");
    run->program = argv + i;
    return check_limit(run);
}

/* Does the text set anything that only PyTorch's rules know? */
static bool tunes_pytorch(const char *text)
{
    struct vs_alloc_conf conf = {0};
    struct vs_alloc_conf_messages messages = {0};
    const struct vs_allocator_config *c = &conf.config;
    return vs_alloc_conf_parse(text, strlen(text), &conf, &messages) == VS_OK &&
           (c->expandable_segments || c->tie);
}

/* The library watches and caches nothing, or has other rules: what was asked for on top is
 * said to have no effect, in one line. */
static void warn_without_effect(const struct run *run)
{
    const struct vs_options *o = &run->options;
    const char *conf = o->text[VS_OPT_alloc_conf];
    bool compact = vs_option_is(o, VS_OPT_policy, "compact"), plan = *o->text[VS_OPT_plan];
    if (vs_option_is(o, VS_OPT_allocator, "observe") && (compact || plan || *conf))
        fprintf(stderr, "vramscope run: --allocator=observe only watches cudaMalloc, so%s%s%s "
                        "%s nothing there\n", compact ? " --policy" : "", plan ? " --plan" : "",
                *conf ? " --alloc-conf" : "", compact + plan + (*conf != 0) > 1 ? "do" : "does");
    else if (compact && tunes_pytorch(conf))
        fprintf(stderr, "vramscope run: --alloc-conf=%.200s: --policy=compact does without the keys "
                        "that tune PyTorch's segments; they have no effect\n", conf);
}

/* Injected, the library is told of calls that the driver has made already. */
static void warn_observed(const struct run *run)
{
    const struct vs_options *o = &run->options;
    if (!vs_option_is(o, VS_OPT_via, "injection"))
        return;
    const char *asked = vs_option_is(o, VS_OPT_allocator, "caching")        ? "--allocator=caching"
                        : vs_option_is(o, VS_OPT_policy, "compact")         ? "--policy"
                        : *o->text[VS_OPT_plan]                             ? "--plan"
                        : *o->text[VS_OPT_limit]                            ? "--limit"
                        : *o->text[VS_OPT_alloc_conf]                       ? "--alloc-conf"
                                                                            : NULL;
    if (asked)
        fprintf(stderr, "vramscope run: %s has no effect with --via=injection, which only observes\n",
                asked);
}

/* A folder whose name is only known to the program (%p in it) is left to it. */
static int check_folder(const char *text)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", text);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = 0;
    if (strchr(folder, '%') || access(folder, W_OK | X_OK) == 0)
        return 0;
    fprintf(stderr, "vramscope run: cannot write the trace in %s: %s; give it a place with -o\n",
            folder, strerror(errno));
    return EXIT_OWN_FAILURE;
}

/* The trace goes where a link leads, and an older one is replaced there: the link stays. */
static int follow_links(struct run *run, char *text)
{
    struct stat st;
    if (lstat(text, &st) || !S_ISLNK(st.st_mode))
        return 0;
    if (!vs_link_follow(text, VS_OPTION_TEXT_MAX)) /* EPERM: another user's */
        return fail("the link %s is not followed: %s; give the trace another name with -o", text,
                    strerror(errno));
    if (strchr(text, '%'))
        return fail("-o is a link to %s; a percent sign cannot be in that name", text);
    run->options.source[VS_OPT_output] = VS_FROM_COMMAND;
    return 0;
}

/* The trace's folder must exist and the file, where its name is fixed, must be
 * ours to replace: a slip of the keyboard must not cost a file. */
static int prepare_output(struct run *run)
{
    char absolute[2 * PATH_MAX], *text = run->options.text[VS_OPT_output], cwd[PATH_MAX];
    if (*text != '/' && getcwd(cwd, sizeof cwd)) {
        snprintf(absolute, sizeof absolute, "%s/%s", cwd, text);
        if (strlen(absolute) >= VS_OPTION_TEXT_MAX)
            return fail("the trace's path is too long: %s", absolute);
        strcpy(text, absolute);
        run->options.source[VS_OPT_output] = VS_FROM_COMMAND;
    }
    if (strchr(text, '%')) {
        if (vs_output_expand(text, "program", 1, absolute, sizeof absolute))
            return fail("%s: only %%n, %%p, %%h, %%r and %%%% may follow a percent sign", text);
        return check_folder(text);
    }
    struct stat st;
    if (stat(text, &st) == 0 && !S_ISREG(st.st_mode))
        return fail("%s is not a regular file; give the trace another name with -o", text);
    int status = follow_links(run, text);
    if (status)
        return status;
    if (stat(text, &st) == 0) {
        char magic[8] = "";
        FILE *f = fopen(text, "rb");
        size_t n = f ? fread(magic, 1, sizeof magic, f) : 0;
        if (f)
            fclose(f);
        if (st.st_size && !vs_reader_is_trace(magic, n))
            return fail("%s exists and is not a vramscope trace; it is left alone", text);
        uint64_t recorder = run->options.number[VS_OPT_record] ? vs_reader_recorded_by(text) : 0;
        if (recorder) {
            char who[VS_RECORDER_TEXT_MAX];
            fprintf(stderr, "vramscope run: %s is being recorded by %s; give the trace another name "
                            "with -o\n", text, vs_reader_recorder_text(who, recorder));
            return EXIT_OWN_FAILURE;
        }
    }
    return check_folder(text);
}

/* Say when preloading cannot work, instead of leaving an empty-handed user. */
static void look_at_program(struct run *run)
{
    char why[2 * PATH_MAX + 256];
    run->reach = vs_reach(run->program[0], why, sizeof why);
    if (*why)
        fprintf(stderr, "vramscope run: %s\n", why);
}

/* One tool at a time has this variable; another's stays. */
static int set_injection(const char *library)
{
    const char *other = vs_environment("CUDA_INJECTION64_PATH");
    if (other && *other && strcmp(other, library) != 0)
        return fail("CUDA_INJECTION64_PATH names another tool (%s); unset it, or use --via=preload",
                    other);
    return setenv("CUDA_INJECTION64_PATH", library, 1) ? fail("%s", "out of memory") : 0;
}

static int prepend_path(const char *variable, const char *first)
{
    const char *rest = vs_environment(variable);
    char *value = NULL;
    int n = rest && *rest ? asprintf(&value, "%s:%s", first, rest) : asprintf(&value, "%s", first);
    if (n < 0)
        return -1;
    int status = setenv(variable, value, 1);
    free(value);
    return status;
}

static int fail_temporary(const char *path)
{
    return fail("cannot create %s: %s; set TMPDIR to a folder that can be written to", path,
                strerror(errno));
}

static int new_file(char path[PATH_MAX], const char *kind)
{
    const char *temporary = vs_environment("TMPDIR");
    snprintf(path, PATH_MAX, "%s/vramscope-%s-XXXXXX",
             temporary && *temporary ? temporary : "/tmp", kind);
    int fd = mkstemp(path);
    if (fd < 0)
        return fail_temporary(path);
    close(fd);
    return 0;
}

static bool is_trace(const char *path)
{
    char magic[8] = "";
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(magic, 1, sizeof magic, file) : 0;
    if (file)
        fclose(file);
    return vs_reader_is_trace(magic, n);
}

/* A trace is planned into a file of our own first. */
static int plan_trace(struct run *run, const char *trace)
{
    struct vs_plan_request request = {
        .trace = trace, .device = VS_PLAN_DEVICE_ANY, .for_run = true};
    struct vs_plan_result plan;
    if (new_file(run->plan, "plan"))
        return EXIT_OWN_FAILURE;
    if (!vs_tool_plan("vramscope run", &request, &plan))
        return EXIT_OWN_FAILURE;
    bool written = vs_tool_plan_write("vramscope run", run->plan, &plan);
    free(plan.bytes);
    return written ? 0 : EXIT_OWN_FAILURE;
}

/* The program may change its folder, so the path becomes absolute. */
static int prepare_plan(struct run *run)
{
    char given[VS_OPTION_TEXT_MAX], absolute[PATH_MAX], why[VS_OPTION_TEXT_MAX];
    struct vs_plan plan;
    snprintf(given, sizeof given, "%s", run->options.text[VS_OPT_plan]);
    if (!*given)
        return 0;
    if (!vs_option_is(&run->options, VS_OPT_policy, "compact"))
        return fail("%s", "--plan needs --policy=compact");
    if (!realpath(given, absolute)) {
        fprintf(stderr, "vramscope run: the plan %s: %s\n", given, strerror(errno));
        return EXIT_OWN_FAILURE;
    }
    if (is_trace(absolute)) {
        int status = plan_trace(run, absolute);
        if (status)
            return status;
        snprintf(absolute, sizeof absolute, "%s", run->plan);
    }
    if (vs_plan_open(absolute, &plan, why)) {
        fprintf(stderr, "vramscope run: %s: %s; it takes a plan or a trace\n", given, why);
        return EXIT_OWN_FAILURE;
    }
    vs_plan_close(&plan);
    if (vs_options_set(&run->options, VS_OPT_plan, absolute, VS_FROM_COMMAND, why))
        return fail("%s", why);
    return 0;
}

/* The run that this one is part of would take its program for one without CUDA. */
static void tell_outer_run(const char *manifest)
{
    int fd = *manifest ? open(manifest, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? write(fd, "+\n", 2) : 0;
    (void)n; /* it then says less */
    if (fd >= 0)
        close(fd);
}

static int prepare_manifest(struct run *run)
{
    tell_outer_run(run->options.text[VS_OPT_manifest]);
    if (!vs_run_manifest_create(run->manifest))
        return fail_temporary(run->manifest);
    char why[VS_OPTION_TEXT_MAX];
    if (vs_options_set(&run->options, VS_OPT_manifest, run->manifest, VS_FROM_COMMAND, why))
        return fail("%s", why);
    return 0;
}

/* The simulated driver itself knows which devices there are. */
static int check_simulated(const char *folder, const char *device)
{
    typedef int check_fn(const char *, char *, size_t);
    char path[PATH_MAX + 16], why[1024] = "";
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!driver)
        return fail("the simulated GPU cannot be loaded: %s", dlerror());
    void *found = dlsym(driver, "vramscopeSimCheckSpec");
    check_fn *check;
    memcpy(&check, &found, sizeof check);
    return check && check(device, why, sizeof why) ? fail("--simulate: %s", why) : 0;
}

/* In the parent: what it changes here, the child inherits and nobody else sees. */
static int prepare_environment(struct run *run)
{
    char library[PATH_MAX], simulator[PATH_MAX];
    if (vs_path_preload(library, sizeof library))
        return fail("%s", "libvramscope.so is not part of this installation (it was built without "
                          "CUDA headers); reading traces works, recording does not");
    if (!vs_reach_is_library(library))
        return fail("%s is not a whole library of this machine; install vramscope again", library);
    if (strpbrk(library, " :") && !vs_option_is(&run->options, VS_OPT_via, "injection"))
        return fail("the path %s holds a space or colon, which LD_PRELOAD cannot express; "
                    "install vramscope elsewhere, or use --via=injection", library);
    if (*run->options.text[VS_OPT_simulate]) {
        if (vs_path_simulator(simulator, sizeof simulator))
            return fail("%s", "the simulated GPU is not part of this installation");
        int status = check_simulated(simulator, run->options.text[VS_OPT_simulate]);
        if (status)
            return status;
        if (prepend_path("LD_LIBRARY_PATH", simulator))
            return fail("%s", "out of memory");
    }
    char name[VS_OPTION_ENV_MAX];
    for (int i = 0; i < VS_OPT_COUNT; i++) {
        if (run->options.source[i] == VS_FROM_COMMAND &&
            setenv(vs_option_env_name(i, name), run->options.text[i], 1))
            return fail("%s", "out of memory");
    }
    /* without it NVTX in the program itself would not find us; another tool's stays */
    if (!vs_environment("NVTX_INJECTION64_PATH") && setenv("NVTX_INJECTION64_PATH", library, 1))
        return fail("%s", "out of memory");
    if (vs_option_is(&run->options, VS_OPT_via, "injection"))
        return set_injection(library);
    if (run->reach == VS_REACH_HARMFUL)
        return 0;
    return prepend_path("LD_PRELOAD", library) ? fail("%s", "out of memory") : 0;
}

/* *mask* is the one to run with: no signal may end us while an older trace is set aside. */
static int start(struct run *run, const sigset_t *mask, int *status)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC))
        return fail("cannot create a pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0)
        return fail("cannot start a process: %s", strerror(errno));
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
        return fail("how %s ended is not known: %s", run->program[0], strerror(errno));
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
        return fail("%s is being recorded; give the trace another name with -o", trace);
    return fail("%s cannot be replaced: %s", trace, strerror(errno));
}

static bool is_old_trace(const char *path, const struct stat *st)
{
    return S_ISREG(st->st_mode) && (!st->st_size || is_trace(path)) && !vs_reader_recorded_by(path);
}

/* An older trace of that name gives way, also of a name by a pattern where that can be known.
 * What stays there nevertheless must not be taken for what is recorded now. */
static bool make_way(const struct run *run, struct vs_run_output *older)
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
    if (there)
        vs_tool_fail("vramscope run", "%s is there already and stays; what is recorded now gets "
                     "another name, with the process number in it", path);
    return true;
}

static int execute(struct run *run, int *status)
{
    const char *trace = run->options.text[VS_OPT_output];
    struct vs_run_output older = {0};
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
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

static void summarise(struct run *run, int status)
{
    struct vs_run_summary seen;
    vs_symbol_tool_configure(&run->options);
    vs_run_summarise(run->manifest, run->quiet, run->options.number[VS_OPT_symbolize] != 0, &seen);
    if (seen.failures && !run->quiet)
        fprintf(stderr, "vramscope: %s used CUDA, but nothing was recorded; the reason stands above\n",
                run->program[0]);
    if (!seen.traces && *seen.unreached && !run->quiet)
        vs_tool_fail("vramscope", "%s was started without LD_PRELOAD in its environment; nothing can be "
                     "recorded there", seen.unreached);
    if (!seen.traces && !seen.failures && !*seen.unreached && !seen.nested &&
        run->reach == VS_REACH_YES && !run->quiet && run->options.number[VS_OPT_record]) {
        fprintf(stderr, "vramscope: %s %s, as far as was seen without using CUDA; no trace was "
                        "written\n",
                run->program[0], WIFSIGNALED(status) ? "was killed" : "ended");
        if (!*run->options.text[VS_OPT_simulate] && !dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL))
            fputs("vramscope: this machine has no NVIDIA driver; --simulate h100-80g runs CUDA "
                  "programs without one\n", stderr);
        if (*run->options.text[VS_OPT_simulate] && status)
            fputs("vramscope: if it has NVIDIA's CUDA runtime linked in (nvcc's default), it cannot use "
                  "the simulated GPU: build it with nvcc -cudart shared\n", stderr);
    }
    if (strstr(run->options.text[VS_OPT_simulate], "check=fail") && WIFEXITED(status) &&
        WEXITSTATUS(status) == CHECKER_STATUS && !run->quiet)
        fputs("vramscope: status 86 is that of the simulated GPU's checker; its reports stand above\n",
              stderr);
    if (WIFSIGNALED(status) && !run->quiet)
        fprintf(stderr, "vramscope: the program was killed by signal %d (%s)\n", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
}

static int run_main(int argc, char **argv)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return fail("%s", "out of memory");
    int status = 0, result = parse(run, argc, argv);
    if (!result)
        result = prepare_output(run);
    if (!result) {
        if (!vs_option_is(&run->options, VS_OPT_via, "injection"))
            look_at_program(run);
        warn_observed(run);
        warn_without_effect(run);
        result = prepare_manifest(run);
    }
    if (!result)
        result = prepare_plan(run);
    if (!result)
        result = prepare_environment(run);
    if (!result)
        result = execute(run, &status);
    if (!result) {
        result = exit_code(status);
        vs_run_manifest_tell_end(run->manifest, (uint64_t)run->pid, status);
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
