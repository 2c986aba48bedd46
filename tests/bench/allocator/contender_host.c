/* SPDX-License-Identifier: Apache-2.0
 *
 * A general-purpose allocator of the host as the floor: mimalloc, loaded so that only its own
 * column uses it, or the C library's. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_contender.h"

static void *(*host_malloc)(size_t) = malloc;
static void (*host_free)(void *) = free;

static uint64_t host_take(void *self, uint64_t bytes, unsigned stream)
{
    (void)self, (void)stream;
    return (uintptr_t)host_malloc(bytes < 1024 ? (size_t)bytes : 1024);
}

static void host_give(void *self, uint64_t addr, uint64_t bytes, unsigned stream)
{
    (void)self, (void)bytes, (void)stream;
    host_free((void *)(uintptr_t)addr);
}

const struct bench_contender *bench_host(void)
{
    static struct bench_contender host = {"glibc", NULL, NULL, NULL, host_take, host_give};
    static const char *const names[] = {"libmimalloc.so.3", "libmimalloc.so.2", "libmimalloc.so"};
    static char what[160];
    if (host.what)
        return &host;
    host.open = bench_nothing.open;
    host.close = bench_nothing.close;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        void *take = lib ? dlsym(lib, "mi_malloc") : NULL, *give = lib ? dlsym(lib, "mi_free") : NULL;
        int (*version)(void) = lib ? (int (*)(void))dlsym(lib, "mi_version") : NULL;
        if (!take || !give)
            continue;
        host_malloc = (void *(*)(size_t))take;
        host_free = (void (*)(void *))give;
        host.name = "mimalloc";
        snprintf(what, sizeof what, "%s, version %d, at most 1 KiB at a time", names[i],
                 version ? version() : 0);
        return host.what = what, &host;
    }
    host.what = "the C library's malloc, at most 1 KiB at a time; no libmimalloc.so found "
                "(Debian: libmimalloc2.0 or libmimalloc-dev)";
    return &host;
}
