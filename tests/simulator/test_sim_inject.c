/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA_INJECTION64_PATH: which library cuInit loads, when, how often, and that the program is
 * unaffected. The library is sim_injected.c; each case is a process of its own, as cuInit happens
 * once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/wait.h>

#include "sim_test.h"

/* In a child: cuInit with the variable set to *path* (NULL: unset). Returns the number of times
 * that the library was started, or -1 if cuInit failed. */
static int started(const char *path, bool twice, unsigned flags)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (path)
            setenv("CUDA_INJECTION64_PATH", path, 1);
        else
            unsetenv("CUDA_INJECTION64_PATH");
        close(STDERR_FILENO);
        if (cuInit(flags) || (twice && cuInit(0)))
            _exit(100);
        int count = 0;
        CUresult working = cuDeviceGetCount(&count);
        void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
        int *calls = library ? dlsym(library, "injected_calls") : NULL;
        _exit(working || count != 1 ? 101 : calls ? *calls : 0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) >= 100 ? -(WEXITSTATUS(status) - 99) : WEXITSTATUS(status);
}

TEST(the_named_library_is_started_once_by_a_cuInit_that_works)
{
    static const struct {
        const char *path;
        bool twice;
        unsigned flags;
        int started;
    } rows[] = {
        {VS_INJECTED, false, 0, 1}, {VS_INJECTED, true, 0, 1}, {NULL, false, 0, 0},
        {"", false, 0, 0}, {VS_INJECTED, false, 1, -1}, /* flags must be 0 */
        {"/no/such/library.so", false, 0, 0}, {"libm.so.6", false, 0, 0}, /* has no such function */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(started(rows[i].path, rows[i].twice, rows[i].flags), rows[i].started);
}
