/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that is not linked with CUDA: it checks whether CUDA is installed, as programs do that
 * run with and without a GPU, and opens the driver itself. */
#include "victim.h"

VICTIM("routing")

static void ask_all(void)
{
    static const char *const names[] = {"cuInit", "cuMemAlloc_v2", "cuMemFree_v2", "cudaMalloc",
                                        "cudaFree", "cuGetProcAddress_v2", "cuGetProcAddress",
                                        "cuMemAllocAsync_ptsz"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        print_lookup("default", RTLD_DEFAULT, names[i]);
        print_lookup("next", RTLD_NEXT, names[i]);
        print_lookup("program", dlopen(NULL, RTLD_NOW), names[i]);
        print_lookup("libc", dlopen("libc.so.6", RTLD_NOW), names[i]);
    }
}

CASE(absent, "a program without CUDA looks it up in every way: not found", VF_NO_TRACE)
{
    ask_all();
    printf("driver: %s\n", dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) ? "loaded" : "not loaded");
}

static void *driver_at(const char *name, int flags)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", getenv("LD_LIBRARY_PATH"), name);
    void *driver = dlopen(path, flags);
    if (!driver)
        printf("%s\n", dlerror());
    CHECK(driver);
    return driver;
}

static void work(void *driver)
{
    int (*init)(unsigned), (*retain)(void **, int), (*set)(void *), (*alloc)(uintptr_t *, size_t),
        (*release)(uintptr_t);
    void *context;
    uintptr_t p;
    *(void **)&init = find(driver, "cuInit");
    *(void **)&retain = find(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&set = find(driver, "cuCtxSetCurrent");
    *(void **)&alloc = find(driver, "cuMemAlloc_v2");
    *(void **)&release = find(driver, "cuMemFree_v2");
    OK(init(0));
    OK(retain(&context, 0));
    OK(set(context));
    for (int i = 0; i < 3; i++) {
        ALLOCATES(VT_DEVICE, 3 << 20, alloc(&p, 3 << 20));
        FREES(VT_DEVICE, release(p));
    }
}

CASE(local_driver, "the driver opened by its path, RTLD_LOCAL", 0)
{
    work(driver_at("libcuda.so.1", RTLD_NOW | RTLD_LOCAL));
    ask_all();
}

CASE(reopened_driver, "the driver closed and opened again", 0)
{
    for (int i = 0; i < 3; i++) {
        void *driver = driver_at("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
        work(driver);
        dlclose(driver);
    }
}

CASE(local_runtime, "a CUDA 12 runtime opened by its path, RTLD_LOCAL", 0)
{
    void *runtime = driver_at("libcudart.so.12", RTLD_LAZY | RTLD_LOCAL);
    int (*alloc)(void **, size_t), (*release)(void *);
    void *p;
    *(void **)&alloc = find(runtime, "cudaMalloc");
    *(void **)&release = find(runtime, "cudaFree");
    ALLOCATES(VT_DEVICE, 3 << 20, alloc(&p, 3 << 20));
    FREES(VT_DEVICE, release(p));
}

/* By the name that a development package links to it. */
CASE(unnumbered_runtime, "a runtime opened as libcudart.so", 0)
{
    void *runtime = driver_at("libcudart.so", RTLD_NOW | RTLD_GLOBAL);
    int (*alloc)(void **, size_t);
    void *p;
    *(void **)&alloc = find(runtime, "cudaMalloc");
    printf("the same by default: %d\n", dlsym(RTLD_DEFAULT, "cudaMalloc") == (void *)alloc);
    ALLOCATES(VT_DEVICE, 3 << 20, alloc(&p, 3 << 20));
}

CASE(many_lookups, "40,000 lookups of other functions", VF_NO_TRACE)
{
    unsigned long found = 0;
    void *handle = dlopen("libc.so.6", RTLD_NOW);
    for (int i = 0; i < 20000; i++)
        found += dlsym(RTLD_DEFAULT, "malloc") != NULL && dlsym(handle, "printf") != NULL;
    printf("%lu\n", found);
}

static void plugin_work(void *plugin, int count)
{
    int (*work_there)(int, size_t);
    *(void **)&work_there = find(plugin, "plugin_work");
    OK(count ? work_there(count, 1 << 20) : 0);
}

/* A library with all its own dependencies, opened with RTLD_DEEPBIND. */
static void deep(const char *name, int count)
{
    plugin_work(dlopen(beside(name), RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND), count);
}

CASE_OF(deep_runtime, deep("libroute_plugin_shared.so", 3),
        "a plugin opened with RTLD_DEEPBIND: not recorded, with a message",
        VF_NO_TRACE | VF_NOT_SANITIZED, STDERR_HAS("opened with RTLD_DEEPBIND"))
CASE_OF(deep_static, deep("libroute_plugin_static.so", 3),
        "a plugin with a static runtime opened with RTLD_DEEPBIND", VF_NO_TRACE | VF_NOT_SANITIZED,
        STDERR_HAS("libroute_plugin_static.so: opened with RTLD_DEEPBIND"))

CASE_OF(deep_lookup, deep("libroute_plugin_lookup.so", 3),
        "a plugin that looks up the driver's functions, opened with RTLD_DEEPBIND",
        VF_NO_TRACE | VF_NOT_SANITIZED,
        STDERR_HAS("libroute_plugin_lookup.so: opened with RTLD_DEEPBIND"))

CASE(deep_beside, "a plugin opened with RTLD_DEEPBIND, beside recorded calls", VF_NOT_SANITIZED,
     STDERR_HAS("libroute_plugin_static.so: opened with RTLD_DEEPBIND"))
{
    work(driver_at("libcuda.so.1", RTLD_NOW | RTLD_LOCAL));
    deep("libroute_plugin_static.so", 3);
}

CASE(deep_unused, "a plugin opened with RTLD_DEEPBIND that makes no CUDA call", VF_NOT_SANITIZED)
{
    work(driver_at("libcuda.so.1", RTLD_NOW | RTLD_LOCAL));
    deep("libroute_plugin_static.so", 0);
}

CASE_OF(namespace_apart,
        plugin_work(dlmopen(LM_ID_NEWLM, beside("libroute_plugin_static.so"), RTLD_NOW), 3),
        "CUDA in a namespace of its own (dlmopen): not recorded, with a message",
        VF_NO_TRACE | VF_NOT_SANITIZED, STDERR_HAS("separate namespace"))
