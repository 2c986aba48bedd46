/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls from a layer to those above it, whose headers it must not include (ARCHITECTURE.md): a table
 * that the highest layer fills in when the library is built, so that nothing is registered at run
 * time. None of these calls is made for every allocation. */
#ifndef VS_UPCALLS_H
#define VS_UPCALLS_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/route/hook.h"

struct vs_context;

struct vs_upcalls {
    /* route: vs_cupti_guard and vs_cupti_guard_absent (cupti_guard.h), at a lookup by dlsym */
    void *(*cupti_found)(const char *name, void *fn);
    bool (*cupti_absent)(const char *name);

    /* process, at the start, with its lock held: all memory can be shared from now on (option
     * ipc); the trace is open, but no other thread records yet; the recording is on */
    void (*share_all)(void);
    void (*trace_opened)(void);
    void (*recording)(bool injected);
    /* process: the program ends, or is replaced by exec: the last calls of CUDA that are allowed */
    void (*ending)(void);

    /* track: *context* ended: what the cache and others keep for it goes, by *api* */
    void (*context_gone)(struct vs_context *context, const char *api);
    /* track: the block of the cache that contains *address*; false if there is none */
    bool (*cached_block)(uint64_t address, uint64_t *base, uint64_t *bytes);
    /* track: CUPTI's number for a stream (vs_collector_stream_id) */
    bool (*stream_number)(CUcontext context, CUstream stream, bool per_thread, uint32_t *id);
    /* track: the program has waited for the device (vs_collector_waited) */
    void (*waited)(void);
    /* track: the annotation of this thread's next allocation ends (nvtx.h) */
    void (*annotation_ends)(void);
};

extern const struct vs_upcalls vs_upcalls;

/* vs_annotation_used: this thread allocated memory, and its event is recorded. Inside hooks. */
static inline void vs_annotation_used(enum vs_annotated what)
{
    if (__builtin_expect(vs_thread.annotated == (int)what, 0))
        vs_upcalls.annotation_ends();
}

#endif
