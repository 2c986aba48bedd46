/* SPDX-License-Identifier: Apache-2.0
 *
 * Recording from Python: an interpreter in this process calls a function 15 deep, which calls the
 * same loop as the other rows, from C. The Python frames do not change while the loop runs, as
 * while a training step's kernels allocate. libpython is found by name and called through dlsym, so
 * that the benchmark needs no headers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_clock.h"
#include "bench_trace.h"

static struct {
    struct vs_recorder *recorder;
    uint64_t api[2], events;
    double slices[BENCH_SLICES];
    unsigned count;
} run;

/* Called by the script, without an argument: ctypes finds it by address. */
static void record_slice(void)
{
    uint64_t start = vs_clock_ns();
    bench_record(run.recorder, run.events, run.api, true);
    run.slices[run.count++] = (double)(vs_clock_ns() - start) / (double)run.events;
}

bool bench_python(uint64_t events, struct bench_figure *figure)
{
    void *library = NULL;
    for (int minor = 14; minor >= 9 && !library; minor--) {
        char name[64];
        snprintf(name, sizeof name, "libpython3.%d.so.1.0", minor);
        library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    }
    void *python = library;
    void (*initialize)(int) = python ? (void (*)(int))dlsym(python, "Py_InitializeEx") : NULL;
    int (*script)(const char *) = python ? (int (*)(const char *))dlsym(python, "PyRun_SimpleString")
                                         : NULL;
    if (!initialize || !script)
        return false;
    initialize(0);
    run.recorder = bench_open(1, 64, true);
    run.api[0] = vs_recorder_string(run.recorder, "cudaMalloc", SIZE_MAX);
    run.api[1] = vs_recorder_string(run.recorder, "cudaFree", SIZE_MAX);
    run.events = events / BENCH_SLICES;
    char text[512];
    snprintf(text, sizeof text,
             "import ctypes\n"
             "record = ctypes.PYFUNCTYPE(None)(%llu)\n" /* with the GIL held */
             "def below(depth):\n"
             "    if depth:\n"
             "        below(depth - 1)\n"
             "    else:\n"
             "        record()\n"
             "for _ in range(%d):\n"
             "    below(13)\n",
             (unsigned long long)(uintptr_t)record_slice, BENCH_SLICES);
    bool good = !script(text) && run.count == BENCH_SLICES;
    vs_recorder_close(run.recorder, VS_END_EXIT, 0);
    if (good)
        *figure = bench_figure(run.slices, run.count);
    return good;
}
