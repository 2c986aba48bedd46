/* SPDX-License-Identifier: Apache-2.0
 *
 * __cxa_demangle by dlopen, once per process; the library stays loaded. Rust's names are
 * known by their form. */
#define _GNU_SOURCE
#include "trace/symbols/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "trace/symbols/demangle_rust.h"

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
    char rust[VS_RUST_NAME_MAX];
    int status = 0;
    if (vs_demangle_rust(name, rust))
        return strdup(rust);
    if (strncmp(name, "_Z", 2) != 0)
        return NULL;
    pthread_once(&once, find);
    char *plain = demangler ? demangler(name, NULL, NULL, &status) : NULL;
    if (plain && vs_demangle_rust_is_legacy(name))
        vs_demangle_rust_tidy(plain);
    return plain;
}
