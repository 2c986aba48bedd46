/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that loads Python at run time: `python_embed RUNTIME LIBPYTHON MODE`. unload: uses it,
 * shuts it down, unloads it, and continues to allocate. twice: all of that twice. load: other
 * threads allocate from new stacks while it is being loaded. late: it is loaded long before it is
 * initialised. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*alloc_fn)(void **, size_t);

static alloc_fn cuda_malloc;
static atomic_bool stop;

static void need(int good, const char *what)
{
    if (good)
        return;
    const char *why = dlerror();
    fprintf(stderr, "python_embed: %s: %s\n", what, why ? why : "");
    exit(2);
}

static void alloc(size_t bytes)
{
    void *memory = NULL;
    need(!cuda_malloc(&memory, bytes), "cudaMalloc");
}

/* Called by a script: each value of *bits* gives a new stack. */
static __attribute__((noinline)) void embed_alloc(unsigned bits, int depth)
{
    if (!depth) {
        alloc(256);
    } else if (bits & 1) {
        embed_alloc(bits >> 1, depth - 1);
        __asm__ volatile("nop");
    } else {
        embed_alloc(bits >> 1, depth - 1);
        __asm__ volatile("nop; nop");
    }
}

static void *allocate_on(void *first)
{
    for (unsigned i = (unsigned)(size_t)first; !stop; i += 2)
        embed_alloc(i, 16);
    return NULL;
}

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    need(found != NULL, name);
    return found;
}

static void run_script(void *python)
{
    char script[512];
    snprintf(script, sizeof script,
             "import ctypes\ndef inside_python():\n"
             "    ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_int)(%zu)(5, 3)\n"
             "inside_python()\nclass Name(str): pass\n"
             "exec(compile('inside_python()', Name('x' * (1 << 26)), 'exec'))\n",
             (size_t)&embed_alloc);
    ((void (*)(int))symbol(python, "Py_InitializeEx"))(0);
    need(!((int (*)(const char *))symbol(python, "PyRun_SimpleString"))(script), "the script");
}

static void use_and_unload(const char *path)
{
    void *python = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    need(python != NULL, path);
    run_script(python);
    alloc(4096);
    ((int (*)(void))symbol(python, "Py_FinalizeEx"))();
    alloc(4096);
    need(!dlclose(python), "dlclose");
    for (unsigned i = 0; i < 64; i++)
        embed_alloc(i, 6);
}

static void load_beside_threads(const char *path)
{
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        need(!pthread_create(&threads[i], NULL, allocate_on, (void *)i), "a thread");
    for (int i = 0; i < 20; i++) {
        void *python = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        need(python != NULL, path);
        need(!dlclose(python), "dlclose");
    }
    stop = true;
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void begin_late(const char *path)
{
    void *python = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    need(python != NULL, path);
    for (unsigned i = 0; i < 64; i++)
        embed_alloc(i, 6);
    run_script(python);
}

int main(int argc, char **argv)
{
    need(argc == 4, "usage: RUNTIME LIBPYTHON MODE");
    void *runtime = dlopen(argv[1], RTLD_NOW);
    need(runtime != NULL, argv[1]);
    *(void **)&cuda_malloc = symbol(runtime, "cudaMalloc");
    alloc(4096);
    if (!strcmp(argv[3], "load"))
        load_beside_threads(argv[2]);
    else if (!strcmp(argv[3], "late"))
        begin_late(argv[2]);
    else
        use_and_unload(argv[2]);
    if (!strcmp(argv[3], "twice"))
        use_and_unload(argv[2]);
    puts("good");
    return 0;
}
