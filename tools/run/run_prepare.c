/* SPDX-License-Identifier: Apache-2.0
 *
 * Preparations of `vramscope run` before the program starts: the trace's path, the manifest, and
 * the environment that the program inherits (run_simulated.c: for the simulated GPU). Problems are reported
 * here, with the remedy, and the program is not started. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vs_link.h"
#include "tools/common/paths.h"
#include "tools/run/run_internal.h"
#include "trace/read/reader.h"

/* A folder whose name only the program can determine (%p in it) is not checked. */
static int check_folder(const char *pattern)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(pattern, '/');
    size_t length = slash ? (size_t)(slash - pattern) : 0;
    if (!vs_run_output_fixed(pattern, length ? length : 1, folder) || access(folder, W_OK | X_OK) == 0)
        return 0;
    fprintf(stderr, "vramscope run: cannot write the trace in %s: %s; choose another folder with -o\n",
            folder, strerror(errno));
    return EXIT_OWN_FAILURE;
}

/* Writes the trace to the target of a link, replacing an older one there: the link stays. *path*:
 * the name by the pattern *text*. */
static int follow_links(struct vs_run *run, char *text, char path[PATH_MAX])
{
    struct stat st;
    if (lstat(path, &st) || !S_ISLNK(st.st_mode))
        return 0;
    if (!vs_link_follow(path, VS_OPTION_TEXT_MAX)) /* EPERM: another user's */
        return vs_run_fail("cannot follow the link %s: %s; give the trace another name with -o", path,
                           strerror(errno));
    if (!vs_run_output_literal(path, strlen(path), text, VS_OPTION_TEXT_MAX))
        return vs_run_fail("the path of the trace is too long: %s", path);
    run->options.source[VS_OPT_output] = VS_FROM_COMMAND;
    return 0;
}

/* The present folder before a relative name; its percent signs are none of the pattern's. */
static int make_absolute(struct vs_run *run, char *text)
{
    char cwd[PATH_MAX], absolute[VS_OPTION_TEXT_MAX];
    if (*text == '/')
        return 0;
    if (!getcwd(cwd, sizeof cwd))
        return errno != ENOENT ? 0 : vs_run_fail("%s", "the current folder was deleted; change to another folder, or "
                                                       "give the trace an absolute name with -o");
    if (!vs_run_output_literal(cwd, strlen(cwd), absolute, sizeof absolute) ||
        strlen(absolute) + strlen(text) + 2 > sizeof absolute)
        return vs_run_fail("the path of the trace is too long: %s/%s", cwd, text);
    strcat(strcat(absolute, "/"), text);
    strcpy(text, absolute);
    run->options.source[VS_OPT_output] = VS_FROM_COMMAND;
    run->relative_output = true;
    return 0;
}

/* An older trace at *path*, which this run may replace; 0, or the status to exit with. */
static int check_older(const struct vs_run *run, const char *path)
{
    struct stat st;
    char who[VS_RECORDER_TEXT_MAX];
    if (stat(path, &st))
        return 0;
    if (st.st_size && !vs_reader_is_trace(path))
        return vs_run_fail("%s exists and is not a trace: not overwritten; give the trace "
                           "another name with -o", path);
    uint64_t recorder = run->options.number[VS_OPT_record] ? vs_reader_recorded_by(path) : 0;
    if (!recorder)
        return 0;
    fprintf(stderr, "vramscope run: %s is being recorded by %s; give the trace another "
                    "name with -o\n", path, vs_reader_recorder_text(who, recorder));
    return EXIT_OWN_FAILURE;
}

int vs_run_prepare_output(struct vs_run *run)
{
    char path[PATH_MAX], *text = run->options.text[VS_OPT_output];
    struct stat st;
    int status = make_absolute(run, text);
    if (status)
        return status;
    if (vs_run_output_varies(text)) {
        if (vs_output_expand(text, "program", 1, path, sizeof path))
            return vs_run_fail("%s: only %%n, %%p, %%h, %%r and %%%% may follow a percent sign; "
                               "%%%% stands for a percent sign of the name", text);
        return check_folder(text);
    }
    if (!vs_run_output_fixed(text, strlen(text), path))
        return vs_run_fail("the path of the trace is too long: %s", text);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return vs_run_fail("%s is not a regular file; give the trace another name with -o", path);
    status = follow_links(run, text, path);
    if (!status)
        status = check_older(run, path);
    return status ? status : check_folder(text);
}

int vs_run_prepare_manifest(struct vs_run *run)
{
    /* Without this an outer run would report that its program did not use CUDA. */
    const char *manifest = run->options.text[VS_OPT_manifest];
    int fd = *manifest ? open(manifest, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? write(fd, "+\n", 2) : 0;
    (void)n; /* without it the outer run's message is less precise */
    if (fd >= 0)
        close(fd);
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    bool created = vs_run_manifest_create(run->manifest);
    if (created)
        vs_run_signals_prepare(run->manifest);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (!created)
        return vs_run_fail("cannot create %s: %s; set TMPDIR to a folder that can be written to",
                           run->manifest, strerror(errno));
    char why[VS_OPTION_TEXT_MAX];
    if (vs_options_set(&run->options, VS_OPT_manifest, run->manifest, VS_FROM_COMMAND, why))
        return vs_run_fail("%s", why);
    return 0;
}

int vs_run_prepare_environment(struct vs_run *run)
{
    char library[PATH_MAX];
    if (vs_path_preload(library, sizeof library))
        return vs_run_fail("%s", "libvramscope.so is missing: vramscope was built without CUDA "
                                 "headers and can only read traces; rebuild it with CUDA_PATH set");
    if (!vs_reach_is_library(library))
        return vs_run_fail("%s is damaged or for another architecture; reinstall vramscope",
                           library);
    if (strpbrk(library, " :") && !vs_option_is(&run->options, VS_OPT_via, "injection"))
        return vs_run_fail("the path %s contains a space or colon, which LD_PRELOAD does not "
                           "allow; install vramscope elsewhere%s", library,
                           *run->options.text[VS_OPT_simulate_notes] ? "" /* of fit, which preloads it */
                                                                     : ", or use --via=injection");
    int status = *run->options.text[VS_OPT_simulate] ? vs_run_prepare_simulated(run) : 0;
    if (status)
        return status;
    char name[VS_OPTION_ENV_MAX], startup[PATH_MAX];
    if (run->options.number[VS_OPT_modules] || run->options.number[VS_OPT_pools]) {
        if (vs_path_python_startup(startup, sizeof startup))
            return vs_run_fail("--%s: the Python part of vramscope is missing from this installation",
                               run->options.number[VS_OPT_modules] ? "modules" : "pools");
        if (vs_run_prepend("PYTHONPATH", startup))
            return vs_run_fail("%s", "out of memory");
    }
    for (int i = 0; i < VS_OPT_COUNT; i++) {
        if (run->options.source[i] == VS_FROM_COMMAND &&
            setenv(vs_option_env_name(i, name), run->options.text[i], 1))
            return vs_run_fail("%s", "out of memory");
    }
    /* without it NVTX in the program itself would not find us; another tool's value stays */
    if (!vs_environment("NVTX_INJECTION64_PATH") && setenv("NVTX_INJECTION64_PATH", library, 1))
        return vs_run_fail("%s", "out of memory");
    if (vs_option_is(&run->options, VS_OPT_via, "injection")) {
        /* The variable has room for one tool; another tool's value stays. */
        const char *other = vs_environment("CUDA_INJECTION64_PATH");
        if (other && *other && strcmp(other, library) != 0)
            return vs_run_fail("CUDA_INJECTION64_PATH names another tool (%s); unset it, or use "
                               "--via=preload", other);
        return setenv("CUDA_INJECTION64_PATH", library, 1) ? vs_run_fail("%s", "out of memory") : 0;
    }
    if (run->reach == VS_REACH_HARMFUL)
        return 0;
    return vs_run_prepend("LD_PRELOAD", library) ? vs_run_fail("%s", "out of memory") : 0;
}
