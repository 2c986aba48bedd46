/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries loaded and unloaded: runtimes of several major versions in one process, plugins with a
 * runtime of their own, CUDA used before main, libraries closed and opened again. */
#include "victim_memory.h"

VICTIM("routing")

static void *open_beside(const char *name, int flags)
{
    void *handle = dlopen(beside(name), flags);
    if (!handle)
        printf("%s\n", dlerror());
    CHECK(handle);
    return handle;
}

static void tally_given(int count, int64_t bytes)
{
    tally_alloc_many(VT_DEVICE, count, count * bytes);
    for (int i = 0; i < count; i++)
        tally_free(VT_DEVICE);
}

static void work_of(void *plugin, int count, int64_t bytes)
{
    int (*work)(int, size_t);
    *(void **)&work = find(plugin, "plugin_work");
    OK(work(count, (size_t)bytes));
    tally_given(count, bytes);
}

static void own_work(int count)
{
    for (int i = 0; i < count; i++)
        give(take(MIB));
}

static int result_of(void *plugin, const char *name)
{
    int (*function)(void);
    *(void **)&function = find(plugin, name);
    return function();
}

/* A runtime by its handle; returns its cudaMalloc. */
static int (*use_runtime(void *runtime))(void **, size_t)
{
    int (*alloc)(void **, size_t);
    *(void **)&alloc = find(runtime, "cudaMalloc");
    use_found(find(runtime, "cudaMalloc"), find(runtime, "cudaFree"), MIB);
    return alloc;
}

CASE(plugin_with_its_own, "a plugin with a static runtime, opened and closed three times", 0)
{
    own_work(2);
    for (int i = 0; i < 3; i++) {
        void *plugin = open_beside("libroute_plugin_static.so", RTLD_NOW | RTLD_LOCAL);
        work_of(plugin, 5, 3 << 20);
        dlclose(plugin);
        own_work(2);
    }
}

CASE(plugin_first, "a plugin's runtime used before the program's", 0)
{
    void *plugin = open_beside("libroute_plugin_static.so", RTLD_LAZY | RTLD_GLOBAL);
    work_of(plugin, 5, 3 << 20);
    own_work(2);
    dlclose(plugin);
    own_work(2);
}

/* The runtime of each keeps its own error: a call that reached another runtime would set it
 * there. */
CASE(three_majors, "runtimes of CUDA 11, 12 and 13 in one process, each with its own callers",
     VF_SHARED_ONLY)
{
    static const char *const names[] = {"libroute_plugin_11.so", "libroute_plugin_12.so",
                                        "libroute_plugin_shared.so"};
    void *plugins[3];
    for (int i = 0; i < 3; i++)
        plugins[i] = open_beside(names[i], RTLD_NOW | (i == 1 ? RTLD_GLOBAL : RTLD_LOCAL));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            printf("%s reaches %d\n", names[i], result_of(plugins[i], "plugin_version") / 1000);
            work_of(plugins[i], 4, 2 << 20);
            printf("out of memory: %d\n", result_of(plugins[i], "plugin_fails"));
            tally_failed(VT_DEVICE);
            OK(cudaPeekAtLastError());
        }
        own_work(3);
    }
}

/* By the handles of the runtimes themselves, as language bindings do. */
CASE(majors_by_handle, "runtimes of CUDA 11, 12 and 13 through their handles", VF_SHARED_ONLY)
{
    static const char *const names[] = {"libcudart.so.12", "libcudart.so.11.0"};
    own_work(1);
    for (int i = 0; i < 2; i++) {
        void *runtime = dlopen(names[i], RTLD_NOW);
        int (*alloc)(void **, size_t) = use_runtime(runtime);
        void *p;
        int e = alloc(&p, (size_t)1 << 50);
        tally_failed(VT_DEVICE);
        printf("%s: %d and %d\n", names[i], e, result_of(runtime, "cudaGetLastError"));
        OK(cudaPeekAtLastError());
        printf("found again: %d\n", dlvsym(runtime, "cudaMalloc", names[i]) == (void *)alloc);
        dlclose(runtime);
    }
}

CASE(in_constructor, "CUDA used in a plugin's constructor", 0)
{
    void *plugin = open_beside("libroute_plugin_early.so", RTLD_NOW);
    tally_given(2, 4096);
    work_of(plugin, 1, 1 << 20);
    dlclose(plugin);
}

CASE(opened_in_constructor, "a constructor opens and closes a CUDA library", 0)
{
    for (int i = 0; i < 2; i++) {
        void *plugin = open_beside("libroute_plugin_opens.so", RTLD_NOW);
        tally_given(3, 8192);
        work_of(plugin, 1, 1 << 20);
        dlclose(plugin);
    }
}

/* Before main, and before the constructors of all libraries except its dependencies. */
CASE(before_main, "CUDA used in the constructor of a preloaded library", 0,
     PRELOAD_AFTER("libroute_plugin_early.so"))
{
    tally_given(2, 4096); /* by the preloaded library */
    own_work(2);
}

CASE(runtime_reloaded, "a runtime opened, used and closed repeatedly", VF_STATIC_ONLY)
{
    for (int i = 0; i < 4; i++) {
        void *runtime = open_beside("closable/libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
        use_runtime(runtime);
        dlclose(runtime);
        /* the next library is loaded at its address */
        void *other = open_beside(i & 1 ? "libroute_next.so" : "libroute_driver_1.so", RTLD_NOW);
        dlclose(other);
    }
}

CASE(symbol_bound, "plugins linked with -Bsymbolic and with -z now", 0)
{
    void *plugin = open_beside("libroute_plugin_symbolic.so", RTLD_NOW);
    work_of(plugin, 4, 2 << 20);
    dlclose(plugin);
    plugin = open_beside("libroute_plugin_now.so", RTLD_LAZY);
    work_of(plugin, 4, 2 << 20);
    dlclose(plugin);
}

CASE_OF(bound_now, own_work(2), "LD_BIND_NOW", 0, ENV("LD_BIND_NOW=1"))

CASE(audited, "under an LD_AUDIT library", VF_NOT_SANITIZED, ENV("LD_AUDIT=@/libroute_audit.so"))
{
    own_work(2);
    void *plugin = open_beside("libroute_plugin_static.so", RTLD_LAZY);
    work_of(plugin, 2, 2 << 20);
}
