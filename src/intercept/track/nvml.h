/* SPDX-License-Identifier: Apache-2.0
 *
 * Who uses a device, by NVML: the library nvidia-smi asks, which sees all processes.
 * Loaded where it is there; without it nobody is asked and nothing is said. */
#ifndef VS_NVML_H
#define VS_NVML_H

#include <stdbool.h>
#include <stdint.h>

#define VS_NVML_SHOWN 4 /* other processes told of by number: the largest */

struct vs_nvml_process {
    uint32_t pid;
    uint64_t bytes;
};

struct vs_nvml_usage {
    uint64_t own_bytes, other_bytes;
    unsigned others;  /* how many other processes */
    unsigned how;     /* enum vs_usage_how */
    unsigned shown;
    struct vs_nvml_process other[VS_NVML_SHOWN]; /* largest first */
};

/* vs_nvml_open: at begin: open the library and have it prepare itself, for which the loader's
 * lock is taken: a thread that makes a context later may be one that is awaited by whoever
 * holds it. Some ms. */
void vs_nvml_open(void);

/* vs_nvml_load: find the device, unless that was done or failed before. May take some ms: call
 * where a context is made. Call with vs_thread.inside > 0; not while a lock of ours is held. */
void vs_nvml_load(uint32_t device);

/* vs_nvml_note_others: who uses *device* before this process does: whoever comes next
 * is this process, where its number is another one there. As vs_nvml_load. */
void vs_nvml_note_others(uint32_t device);

/* vs_nvml_query: who uses *device* now. False when that cannot be told, or another thread
 * is asking. No lock is held, nothing is loaded. Cost: about a millisecond on a real
 * device. */
bool vs_nvml_query(uint32_t device, struct vs_nvml_usage *out);

#endif
