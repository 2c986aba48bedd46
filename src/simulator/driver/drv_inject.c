/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA_INJECTION64_PATH: the library that a tool has the driver load in every process that uses it.
 * The first successful cuInit opens it and calls its `int InitializeInjection(void)` on the calling
 * thread, before any other cuInit returns. The library may call the driver and CUPTI there. How
 * NVIDIA's driver handles a missing library, or one that refuses to run (0), is not documented;
 * here a missing library gives one line on standard error, a refusal nothing, and the program
 * continues. */
#include "simulator/driver/vs_sim_driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local bool inside; /* the library's own cuInit must not wait for itself */

static void load(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (!path || !*path)
        return;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, "InitializeInjection") : NULL;
    int (*initialize)(void);
    memcpy(&initialize, &found, sizeof initialize);
    if (initialize) {
        initialize();
        return;
    }
    char line[1024];
    int n =
        snprintf(line, sizeof line, "vramscope simulator: CUDA_INJECTION64_PATH=%.300s: %.300s\n",
                 path, library ? "it has no InitializeInjection" : dlerror());
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
        errno = 0; /* errors cannot be reported here */
}

void vs_sim_inject(void)
{
    if (inside)
        return;
    inside = true;
    pthread_once(&once, load);
    inside = false;
}
