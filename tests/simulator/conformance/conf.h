/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts that hold on a GPU and on the simulated one alike: the same source is
 * linked against NVIDIA's libraries (conformance_cuda) and against the stand-ins
 * (conformance). A fact names the rule it follows: the header and function, or the
 * section of the CUDA programming guide. Nothing here may rest on how long
 * something takes, or ask for what only the simulator has. */
#ifndef CONF_H
#define CONF_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CONF_MIB ((size_t)1 << 20)

/* FACT: *condition* holds, by *rule* ("cuda.h, cuMemAlloc: ..."). Ends the case
 * when it does not. Main thread only. */
#define FACT(condition, rule) conf_fact((condition) ? 1 : 0, #condition, rule, __FILE__, __LINE__)
/* FACT_EQ: two integers are equal; both are printed when they are not. */
#define FACT_EQ(actual, expected, rule) \
    conf_fact_equal((long long)(actual), (long long)(expected), #actual, rule, __FILE__, __LINE__)
/* DO: a call that only prepares a fact succeeds. */
#define DO(call) conf_fact_equal((long long)(call), 0, #call, NULL, __FILE__, __LINE__)
/* NEED: leave the case out, saying why, on devices that lack something optional. A
 * condition asks the device (an attribute, a count), never whether a call worked. */
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

/* conf_need_processes: leave the case out where one process at a time may use the device. */
void conf_need_processes(void);

/* conf_takes_memory: less memory is free by *bytes* at least while what *make* made is
 * there, and more again after *drop*. Others who use the device make one attempt say
 * nothing, so several are made. Left out where the device's memory is the host's. */
bool conf_takes_memory(size_t bytes, void *(*make)(void), void (*drop)(void *));

/* conf_begin: a group's set-up: device 0 is current for the runtime, and thereby its
 * primary context for the driver; the last error of the group before is forgotten. */
int conf_begin(void **state);

/* conf_gate: a host function that blocks its stream until conf_open; *gate* is a
 * zeroed int that outlives it. Makes "not finished yet" a fact instead of a matter
 * of timing, on any device. While one is closed no other host function may be
 * needed to get on (they may be serialised), and nothing may be allocated or freed.
 * A fact that does not hold opens all of them. */
void conf_gate(void *gate); /* a CUhostFn, a cudaHostFn_t */
void conf_open(int *gate);

/* The groups, each returning how many of its cases failed. */
#define CONF_GROUP(name) int conf_##name(void);
#include "conf_group_table.h"
#undef CONF_GROUP

#endif
