/* SPDX-License-Identifier: Apache-2.0
 *
 * Host memory of the stand-ins. A stand-in that gets none cannot go on: it prints one line and ends
 * the process. CUDA_ERROR_OUT_OF_MEMORY is of device memory, or of work that needs a thread where none
 * may start. */
#ifndef VS_SIM_HOST_H
#define VS_SIM_HOST_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* vs_sim_need: *got*, unless it is NULL: then the process ends. */
static inline void *vs_sim_need(void *got)
{
    static const char line[] = "vramscope simulator: no host memory, or no thread\n";
    if (!got) {
        (void)!write(STDERR_FILENO, line, sizeof line - 1);
        abort();
    }
    return got;
}

/* vs_sim_dup: a malloc'ed copy of *bytes* bytes. */
static inline void *vs_sim_dup(const void *from, size_t bytes)
{
    return memcpy(vs_sim_need(malloc(bytes)), from, bytes);
}

/* vs_sim_room: makes room for one more of *count* elements in the malloc'ed array that the pointer
 * at *array* refers to, which has room for *max*. */
static inline void vs_sim_room(void *array, size_t count, size_t *max, size_t element)
{
    void *at;
    if (count < *max)
        return;
    *max = *max ? 2 * *max : 16;
    memcpy(&at, array, sizeof at);
    at = vs_sim_need(realloc(at, *max * element));
    memcpy(array, &at, sizeof at);
}

#endif
