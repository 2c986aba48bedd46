/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope attach: begins to record a Python program that runs already. python/startup/vramscope_attach_to.py does
 * it, run by the program's own interpreter: the addresses of functions in the program follow from its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vs_option.h"
#include "tools/common/paths.h"
#include "tools/common/tool_options.h"

static const char usage[] =
    "usage: vramscope attach [-o PATTERN] PID\n"
    "\n"
    "Records a Python program that runs already, from now on until it ends: every\n"
    "allocation, as `vramscope run --via=injection` does, and PyTorch's tensors. What\n"
    "PyTorch holds now is in the trace as \"allocated before the recording\"; other\n"
    "memory from before is not. Prints the path of the trace, which all verbs read\n"
    "while the program runs.\n"
    "\n"
    "  -o, --output PATTERN  the trace (default vramscope.%n.%p.vst, in the program's\n"
    "                        current folder)\n"
    "\n"
    "Other options of `vramscope run` are taken from their variables, for example\n"
    "VRAMSCOPE_KERNELS=on. Only the user of the program and root may attach, as far\n"
    "as /proc/sys/kernel/yama/ptrace_scope permits.\n"
    "\n"
    "Exit codes: 0 it is recorded, 2 it cannot be, or wrong usage.\n";

static void warn(const char *sentence, void *who)
{
    fprintf(stderr, "%s: %s\n", (const char *)who, sentence);
}

/* All of its user ids; /proc/PID itself may belong to root for another reason (PR_SET_DUMPABLE). */
static bool runs_as_root(unsigned long long pid)
{
    char path[64], line[256];
    unsigned id[4] = {1, 1, 1, 1};
    snprintf(path, sizeof path, "/proc/%llu/status", pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file) &&
           sscanf(line, "Uid: %u %u %u %u", &id[0], &id[1], &id[2], &id[3]) != 4)
        ;
    if (file)
        fclose(file);
    return !(id[0] | id[1] | id[2] | id[3]);
}

/* The file at *path*, which becomes its real path, and each folder above it: then it stays what it is. */
static bool only_root_writes(char path[PATH_MAX])
{
    char part[PATH_MAX];
    struct stat its;
    if (!realpath(path, part))
        return false;
    strcpy(path, part);
    for (char *end = part + strlen(part); end; end = strrchr(part, '/')) {
        *end = 0;
        if (stat(*part ? part : "/", &its) || its.st_uid != 0 || its.st_mode & (S_IWGRP | S_IWOTH))
            return false;
    }
    return true;
}

static int attach_main(int argc, char **argv)
{
    static struct vs_options options;
    static char lines[VS_OPT_COUNT][VS_OPTION_TEXT_MAX + 64];
    char library[PATH_MAX], script[PATH_MAX], exe[PATH_MAX], seen[2 * PATH_MAX];
    char *words[VS_OPT_COUNT + 8] = {exe, (char[]){"-I"}, script, NULL, library};
    const char *output = NULL;
    unsigned long long pid;
    struct stat ours, its;
    const struct vs_tool_option table[] = {{"output", 'o', .text = &output}, {0}};
    int status = vs_tool_options(argc, argv, usage, table), count = 5;
    if (status)
        return status < 0 ? VS_EXIT_OK : status;
    if (argc - optind != 1 || !vs_tool_count(argv[optind], 1, INT_MAX, &pid))
        return vs_tool_usage(argv[0], "takes the number of one process");
    words[3] = argv[optind];
    snprintf(exe, sizeof exe, "/proc/%llu", pid);
    if (access(exe, F_OK))
        return vs_tool_fail(argv[0], "there is no process %llu", pid);
    snprintf(seen, sizeof seen, "/proc/%llu/exe", pid);
    ssize_t length = readlink(seen, exe, sizeof exe - 1);
    if (length < 0)
        return errno == ENOENT ? vs_tool_fail(argv[0], "process %llu has ended, or belongs to the kernel", pid)
                               : vs_tool_fail(argv[0], "process %llu may not be traced: run vramscope as its user, "
                                                       "or as root", pid);
    exe[length] = 0;
    const char *name = strrchr(exe, '/') ? strrchr(exe, '/') : exe;
    if (!strstr(name, "python"))
        return vs_tool_fail(argv[0], "process %llu runs %s, not Python: start it with vramscope run", pid, exe);
    if (strstr(name, "python2"))
        return vs_tool_fail(argv[0], "attach needs Python 3.9 or later, process %llu runs %s: start it with vramscope run",
                            pid, exe);
    if (vs_path_preload(library, sizeof library) || vs_path_python_startup(script, PATH_MAX - 32) || stat(library, &ours))
        return vs_tool_fail(argv[0], "libvramscope.so or the Python part is missing from this installation");
    snprintf(seen, sizeof seen, "/proc/%llu/root%s", pid, library);
    if (stat(seen, &its) ? errno == ENOENT : its.st_ino != ours.st_ino || its.st_dev != ours.st_dev)
        return vs_tool_fail(argv[0], "process %llu runs in a container without %s: run vramscope inside of it", pid, library);
    if (geteuid() == 0 && !runs_as_root(pid) && !only_root_writes(exe))
        return vs_tool_fail(argv[0], "process %llu runs %s, which another user than root may change: run vramscope as the "
                                     "user of the process, not as root", pid, exe);
    strcat(script, "/vramscope_attach_to.py");
    vs_options_init(&options);
    vs_options_load_environment(&options, warn, argv[0]);
    for (int i = 0; i < VS_OPT_COUNT; i++)
        if (options.source[i] != VS_FROM_DEFAULT && (i != VS_OPT_output || !output)) {
            snprintf(lines[i], sizeof lines[i], "%s=%s", vs_option_describe(i)->name, options.text[i]);
            words[count++] = lines[i];
        }
    bool relative = output && *output != '/' && getcwd(seen, PATH_MAX);
    if (output && asprintf(&words[count], "output=%s%s%s", relative ? seen : "", relative ? "/" : "", output) < 0)
        return vs_tool_fail(argv[0], "out of memory");
    fflush(NULL);
    vs_own_state_end();
    execv(exe, words);
    return vs_tool_fail(argv[0], "cannot start %s: %s", exe, strerror(errno));
}

const struct vs_command vs_cmd_attach = {
    "attach", "record a Python program that runs already", usage, attach_main, false};
