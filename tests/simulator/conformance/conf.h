/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts that hold on a GPU and on the simulated one: the same source is linked against NVIDIA's
 * libraries (conformance_cuda) and against the stand-ins (conformance). A fact names the rule it
 * follows: the header and function, or the section of the CUDA programming guide. No fact may
 * depend on durations, or on a feature of the simulator alone. */
#ifndef CONF_H
#define CONF_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <string.h>

#define VS_TESTS_SHARED static __attribute__((unused)) /* a group is a file */
#include "support/cmocka_test.h"

#define CONF_MIB ((size_t)1 << 20)

/* FACT: *condition* holds, by *rule*: "cuMemAlloc: ..." is what cuda.h says of that function,
 * "cudaMalloc: ..." what cuda_runtime_api.h says. Ends the case if it does not hold. Main thread
 * only. */
#define FACT(condition, rule) conf_fact((condition) ? 1 : 0, #condition, rule, __FILE__, __LINE__)
/* FACT_EQ: two integers are equal; both are printed if they are not. */
#define FACT_EQ(actual, expected, rule) \
    conf_fact_equal((long long)(actual), (long long)(expected), #actual, rule, __FILE__, __LINE__)
/* RETURNS: a call has an error that the header lists for its function. */
#define RETURNS(call, error)                                                                   \
    conf_fact_equal((long long)(call), (long long)(error), #call,                              \
                    "the header lists this error for the function", __FILE__, __LINE__)
/* DO: a call that must succeed, most often to prepare a fact. */
#define DO(call) conf_fact_equal((long long)(call), 0, #call, NULL, __FILE__, __LINE__)
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

/* conf_need_processes: skips the case if only one process at a time may use the device. */
void conf_need_processes(void);

/* conf_takes_memory: free memory is smaller by at least *bytes* after *make*, and larger again
 * after *drop*. Other users of the device can disturb one attempt, so several are made. Skipped if
 * the device's memory is the host's. */
bool conf_takes_memory(size_t bytes, void *(*make)(void), void (*drop)(void *));

/* conf_begin: a group's set-up: makes device 0 current for the runtime, and so its primary context
 * for the driver; clears the last error of the previous group. */
int conf_begin(void **state);
/* conf_end: its tear-down. What a case made may live until the process ends: a case or a group ends
 * only what is large, or what its facts need ended. */
int conf_end(void **state);

/* conf_gate: a host function that blocks its stream until conf_open; *gate* is a zeroed int that
 * outlives it. Makes "not finished yet" independent of timing, on any device. While one is closed
 * no other host function may be needed to continue (they may be serialised), and nothing may be
 * allocated or freed. A fact that does not hold opens all of them. */
void conf_gate(void *gate); /* a CUhostFn, a cudaHostFn_t */
void conf_open(int *gate);

/* The groups, each returning the number of its failed cases. */
#define CONF_GROUP(name) int conf_##name(void);
#include "conf_group_table.h"
#undef CONF_GROUP

#endif
