/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the number of devices by the runtime that it links, then by each library that it opens by
 * the given names. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int cudaGetDeviceCount(int *count);

static void ask_library(const char *name)
{
    int (*ask)(int *);
    int count = 0;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, "cudaGetDeviceCount") : NULL;
    memcpy(&ask, &found, sizeof ask);
    printf(ask ? "%d\n" : "no library\n", ask && !ask(&count) ? count : -1);
}

int main(int argc, char **argv)
{
    int count = 0;
    printf("%d\n", cudaGetDeviceCount(&count) ? -1 : count);
    for (int i = 1; i < argc; i++)
        ask_library(argv[i]);
    return 0;
}
