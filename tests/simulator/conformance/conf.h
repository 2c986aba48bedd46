/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts that hold on a GPU and on the simulated one: the same source is linked against NVIDIA's
 * libraries (conformance_cuda) and against the stand-ins (conformance). A fact names the rule it
 * follows. No fact may depend on durations, or on a feature of the simulator alone.
 *
 * The tests of conf_NAME.c are the group NAME, which has a row in conf_group_table.h. What a case
 * made may live until the process ends: a case ends only what is large, or what its facts need
 * ended. */
#ifndef CONF_H
#define CONF_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <string.h>

#define VS_TESTS_SHARED static __attribute__((unused)) /* a group is a file */
#include "support/cmocka_test.h"
#undef GOT /* one that opens the gates */

#define CONF_MIB ((size_t)1 << 20)

/* FACT: *condition* holds, by *rule*: "cuMemAlloc: ..." is what the header says of that function,
 * "guide, streams: ..." a section of the CUDA programming guide. A rule of a call that names no
 * function is what the header says of the called one. Ends the case if it does not hold. Main
 * thread only. */
#define FACT(condition, rule) conf_fact((condition) ? 1 : 0, #condition, rule, __FILE__, __LINE__)
/* FACT_EQ: two integers are equal; both are printed if they are not. */
#define FACT_EQ(actual, expected, rule) \
    conf_fact_equal((long long)(actual), (long long)(expected), #actual, rule, __FILE__, __LINE__)
/* The result of a call: success, an invalid value, not ready; any error. The numbers are those of
 * the driver and of the runtime. */
#define WORKS(call, rule) FACT_EQ(call, CUDA_SUCCESS, rule)
#define INVALID(call, rule) FACT_EQ(call, CUDA_ERROR_INVALID_VALUE, rule)
#define BUSY(call, rule) FACT_EQ(call, CUDA_ERROR_NOT_READY, rule)
#define REFUSED(call, rule) \
    conf_fact((long long)(call) != 0, #call " is refused", rule, __FILE__, __LINE__)
/* RETURNS: a call has an error that the header lists for its function. */
#define RETURNS(call, error) FACT_EQ(call, error, "the header lists this error for the function")
/* DO: a call that must succeed, most often to prepare a fact. */
#define DO(call) conf_fact_equal((long long)(call), 0, #call, NULL, __FILE__, __LINE__)
/* GOT: what a call that must succeed stores in *got*, which is of this type. */
#define GOT(type, call)                   \
    __extension__({                       \
        type got;                         \
        memset(&got, 0x5a, sizeof got);   \
        DO(call);                         \
        got;                              \
    })
/* NEED: skips the case, with the reason, on devices that lack something optional. A condition
 * queries the device (an attribute, a count), never whether a call worked. */
#define NEED(condition, why)       \
    do {                           \
        if (!(condition))          \
            conf_leave_out((why)); \
    } while (0)

void conf_fact(int holds, const char *text, const char *rule, const char *file, int line);
void conf_fact_equal(long long actual, long long expected, const char *text, const char *rule,
                     const char *file, int line);
void conf_leave_out(const char *why);

/* conf_attribute: of device 0. */
int conf_attribute(CUdevice_attribute attribute);
#define DEVICE_ATTRIBUTE(name) conf_attribute(CU_DEVICE_ATTRIBUTE_##name)
int conf_device_count(void);

/* conf_need_processes: skips the case if only one process at a time may use the device. */
void conf_need_processes(void);

CUcontext conf_context(void);           /* the current one */
CUstream conf_stream(void);             /* a new non-blocking one */
CUevent conf_event(void);               /* a new one without timing */
CUdeviceptr conf_alloc(size_t bytes);   /* device memory */
void *conf_pinned(size_t bytes);        /* host memory, zero */
unsigned char conf_byte(CUdeviceptr at); /* the byte at *at* after all work */

CUgraph conf_graph(void); /* a new one */
CUgraphExec conf_exec(CUgraph graph);
void conf_run(CUgraphExec exec, CUstream stream); /* launches it and waits */
size_t conf_node_count(CUgraph graph);

/* conf_takes_memory: free memory is smaller by at least *bytes* after *make*, and larger again
 * after *drop*. Other users of the device can disturb one attempt, so several are made. Skipped if
 * the device's memory is the host's. */
bool conf_takes_memory(size_t bytes, void *(*make)(void), void (*drop)(void *));

/* conf_gate: a host function that blocks its stream until conf_open; *gate* is an int that
 * outlives it. Makes "not finished yet" independent of timing, on any device. While one is closed
 * no other host function may be needed to continue (they may be serialised), and nothing may be
 * allocated or freed. A fact that does not hold opens all of them. */
void conf_gate(void *gate);                  /* a CUhostFn, a cudaHostFn_t */
void conf_close(CUstream stream, int *gate); /* zeroes the gate and queues it */
void conf_open(int *gate);

/* Kernels of 32-bit elements, one thread of a one-dimensional launch each, that compute the same on
 * a GPU and on the simulated one: conf_fill(out, value, count): out[i] = value; conf_add(out, value,
 * count): out[i] += value; conf_copy(out, in, count): out[i] = in[i]. */
extern const char conf_ptx[];
CUmodule conf_module(void); /* loads them into the current context */
CUfunction conf_function(CUmodule module, const char *name);

/* The file's tests, for conf_main.c. */
struct conf_group {
    const char *file;
    const struct CMUnitTest *tests;
    const size_t *count;
    const struct vs_fixtures *fixtures;
};
void conf_add_group(struct conf_group group);

__attribute__((constructor)) static void conf_add_this_group(void)
{
    conf_add_group((struct conf_group){__BASE_FILE__, vs_tests, &vs_test_count, &vs_fixtures});
}

#endif
