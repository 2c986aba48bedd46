/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment of a program on the simulated GPU. Its libraries come first by LD_LIBRARY_PATH
 * and, where a program names another path, by an auditor of the dynamic loader. PYTHONPATH starts
 * the Python part in every interpreter, also those that other processes of the program start.
 * PyTorch, CuPy and Warp keep no kernels that the simulated NVRTC "compiled" where they would find
 * them on a real GPU, under the same name: they contain no code. All of it is inherited by children. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_output_file.h"
#include "tools/common/paths.h"
#include "tools/run/run_internal.h"

int vs_run_prepend(const char *variable, const char *first)
{
    const char *rest = vs_environment(variable);
    size_t length = strlen(first);
    if (rest && strncmp(rest, first, length) == 0 && (!rest[length] || rest[length] == ':'))
        return 0;
    char *value = rest && *rest ? vs_xprintf("%s:%s", first, rest) : vs_xstrdup(first);
    int status = setenv(variable, value, 1);
    free(value);
    return status;
}

/* Another auditor keeps its place before ours: libraries that it redirects do not reach ours. */
static int append_auditor(const char *library)
{
    const char *others = vs_environment("LD_AUDIT");
    if (others && strstr(others, library))
        return 0;
    char *value =
        vs_xprintf("%s%s%s", others ? others : "", others && *others ? ":" : "", library);
    int status = setenv("LD_AUDIT", value, 1);
    free(value);
    return status;
}

int vs_run_prepare_simulated(struct vs_run *run)
{
    char simulator[PATH_MAX], audit[PATH_MAX], startup[PATH_MAX], kernels[PATH_MAX];
    char why[VS_SIMULATED_WHY_MAX];
    enum vs_err err = vs_simulated_check(run->options.text[VS_OPT_simulate], why);
    if (err)
        return vs_run_fail("%s%s", err == VS_ERR_ARG ? "--simulate: " : "", why);
    if (vs_path_simulator(simulator, sizeof simulator))
        return vs_run_fail("%s", "the simulated GPU is missing from this installation");
    if (vs_path_audit(audit, sizeof audit))
        return vs_run_fail("%s", "libvramscope_audit.so is missing from this installation; reinstall "
                                 "vramscope");
    if (strchr(audit, ':'))
        return vs_run_fail("the path %s contains a colon, which LD_AUDIT does not allow; install "
                           "vramscope elsewhere", audit);
    bool failed = vs_run_prepend("LD_LIBRARY_PATH", simulator) || append_auditor(audit) ||
                  setenv("USE_PYTORCH_KERNEL_CACHE", "0", 1) || setenv("CUPY_CACHE_IN_MEMORY", "1", 1);
    if (vs_folder_cache("warp", kernels, sizeof kernels)) /* Warp cannot do without files */
        failed = failed || setenv("WARP_CACHE_PATH", kernels, 1);
    if (!vs_path_python_startup(startup, sizeof startup))
        failed = failed || vs_run_prepend("PYTHONPATH", startup);
    return failed ? vs_run_fail("%s", "out of memory") : 0;
}
