/* SPDX-License-Identifier: Apache-2.0
 *
 * Results that a stand-in library computes on the CPU, in the order of the stream: the kernel of that
 * name gets a host function, registered with the simulated driver at its first use. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/common/vs_library_base.h"

#define KERNELS_MAX 64 /* names that one library registers */

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static const char *registered[KERNELS_MAX]; /* guarded by mu */

static bool known(const struct vs_library_driver *d, const char *name, vramscope_sim_kernel fn,
                  size_t bytes)
{
    int i = 0;
    pthread_mutex_lock(&mu);
    while (i < KERNELS_MAX && registered[i] && strcmp(registered[i], name))
        i++;
    bool found = i < KERNELS_MAX && registered[i];
    if (!found && i < KERNELS_MAX && d->register_kernel(name, fn, &bytes, 1)) {
        registered[i] = name;
        found = true;
    }
    pthread_mutex_unlock(&mu);
    return found;
}

CUresult vs_library_compute(CUstream stream, const struct vs_sim_work *work,
                            vramscope_sim_kernel fn, const void *data, size_t bytes)
{
    const struct vs_library_driver *d = vs_library_driver();
    if (!d)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!known(d, work->name, fn, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    void *params[] = {(void *)data};
    struct vs_sim_work one = *work;
    one.params = params;
    one.blocks = 1;
    return d->work(stream, &one);
}

struct in_order {
    void (*run)(void *data);
    bool keep; /* part of a captured graph: it runs again */
    _Alignas(16) char data[];
};

static void run_in_order(void *data)
{
    struct in_order *o = data;
    o->run(o->data);
    if (!o->keep)
        free(o);
}

CUresult vs_library_in_order(CUstream stream, void (*run)(void *data), const void *data, size_t bytes)
{
    const struct vs_library_driver *d = vs_library_driver();
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!d)
        return CUDA_ERROR_NOT_INITIALIZED;
    d->cuStreamIsCapturing(stream, &capture);
    struct in_order *o = vs_sim_need(malloc(sizeof *o + bytes));
    *o = (struct in_order){.run = run, .keep = capture != CU_STREAM_CAPTURE_STATUS_NONE};
    memcpy(o->data, data, bytes);
    CUresult e = d->cuLaunchHostFunc(stream, run_in_order, o);
    if (e)
        free(o);
    return e;
}

bool vs_library_computes(void)
{
    static atomic_int python = -1; /* the interpreter is there before its first library */
    if (atomic_load(&python) < 0)
        atomic_store(&python, dlsym(RTLD_DEFAULT, "Py_IsInitialized") != NULL);
    return !atomic_load(&python);
}
