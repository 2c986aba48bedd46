/* SPDX-License-Identifier: Apache-2.0
 *
 * __cxa_demangle by dlopen, once per process; the library stays loaded. */
#include "trace/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char *(*demangler)(const char *, char *, size_t *, int *); /* set by once */

static void find(void)
{
    void *runtime = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    if (runtime)
        *(void **)&demangler = dlsym(runtime, "__cxa_demangle");
}

char *vs_demangle(const char *name)
{
    int status = 0;
    if (strncmp(name, "_Z", 2) != 0)
        return NULL;
    pthread_once(&once, find);
    return demangler ? demangler(name, NULL, NULL, &status) : NULL;
}
