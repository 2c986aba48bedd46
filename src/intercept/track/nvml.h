/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory by process, from NVML, the library behind nvidia-smi, which sees all processes.
 * Loaded if installed; otherwise nothing is queried or reported. */
#ifndef VS_NVML_H
#define VS_NVML_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#define VS_NVML_SHOWN 4 /* other processes shown by number: the largest */

struct vs_nvml_process {
    uint32_t pid;
    uint64_t bytes;
};

struct vs_nvml_usage {
    uint64_t own_bytes, other_bytes;
    unsigned others;  /* count of other processes */
    unsigned how;     /* enum vs_usage_how */
    unsigned shown;
    struct vs_nvml_process other[VS_NVML_SHOWN]; /* largest first */
};

/* vs_uuid_text: "PREFIX-" and *id* as NVML writes it. */
#define VS_UUID_TEXT_MAX 48
void vs_uuid_text(char text[VS_UUID_TEXT_MAX], const char *prefix, const CUuuid *id);

/* vs_nvml_open: at begin: load and initialise the library. This takes the loader's lock, so it must
 * not wait until a context is created: a thread that holds the loader's lock may be waiting for
 * that thread. Some ms. */
void vs_nvml_open(void);

/* vs_nvml_load: find the device, unless that was done or failed before. May take some ms: call when
 * a context is created. Call with vs_thread.inside > 0; not while a lock of ours is held. */
void vs_nvml_load(uint32_t device);

/* vs_nvml_note_others: save the processes that use *device* before this one does: the next new one
 * is this process, if its number differs there. Rules as for vs_nvml_load. */
void vs_nvml_note_others(uint32_t device);

/* vs_nvml_memory: free and total memory of *device* as NVML reports it, also without a context
 * there. False when NVML cannot say. Rules as for vs_nvml_query. */
bool vs_nvml_memory(uint32_t device, uint64_t *free_bytes, uint64_t *total_bytes);

/* vs_nvml_query: the processes that use *device* now. False when NVML cannot say or another thread
 * is querying. No lock is held, nothing is loaded. Cost: about a millisecond on a real device. */
bool vs_nvml_query(uint32_t device, struct vs_nvml_usage *out);

#endif
