/* SPDX-License-Identifier: Apache-2.0
 *
 * The client's buffers. A record is copied into the current buffer, which is returned to the client
 * when the next record does not fit or at a flush; a record without room is counted as dropped. The
 * client's callbacks are called without our lock, so they may call CUPTI. Their duration is itself
 * a record (OVERHEAD), which waits for the next buffer, so that a flush leaves no record behind. */
#include "simulator/cupti/vs_sim_cupti.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/vs_clock.h"

#define RECORD_ALIGN 8
#define OVERHEADS_MAX 64

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static CUpti_BuffersCallbackRequestFunc requested;  /* guarded by mu */
static CUpti_BuffersCallbackCompleteFunc completed; /* guarded by mu */
static struct buffer {
    uint8_t *bytes;
    size_t size, used, records, records_max; /* records_max 0: as many as fit */
} current;                                   /* guarded by mu */
static atomic_size_t dropped;

static CUpti_ActivityOverhead3 overheads[OVERHEADS_MAX]; /* not in a buffer yet; guarded by mu */
static unsigned overhead_count;                          /* guarded by mu */

static size_t padded(size_t bytes)
{
    return (bytes + RECORD_ALIGN - 1) & ~(size_t)(RECORD_ALIGN - 1);
}

/* ---- overhead ---- */

static void overhead_locked(CUpti_ActivityOverheadKind kind, uint64_t start_ns, uint64_t end_ns)
{
    if (!vs_cupti_enabled(CUPTI_ACTIVITY_KIND_OVERHEAD))
        return;
    if (overhead_count == OVERHEADS_MAX) {
        atomic_fetch_add(&dropped, 1);
        return;
    }
    overheads[overhead_count++] = (CUpti_ActivityOverhead3){
        .kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
        .overheadKind = kind,
        .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
        .objectId = {.pt = {.processId = (uint32_t)getpid(), .threadId = vs_cupti_thread()}},
        .start = vs_cupti_time(start_ns),
        .end = vs_cupti_time(end_ns)};
}

/* ---- buffers ---- */

static bool fits_locked(size_t bytes)
{
    return current.bytes && current.size - current.used >= bytes &&
           (!current.records_max || current.records < current.records_max);
}

/* Requests a buffer for a record of *bytes* from the client and returns the current buffer, if any,
 * to it. Called with mu held, which is released meanwhile: on return other threads may have filled
 * this buffer or another one. Returns false if the client gave no usable buffer. */
static bool renew_locked(size_t bytes)
{
    struct buffer full = current, fresh = {0};
    CUpti_BuffersCallbackRequestFunc request = requested;
    CUpti_BuffersCallbackCompleteFunc complete = completed;
    current = (struct buffer){0};
    pthread_mutex_unlock(&mu);
    uint64_t begin = vs_clock_ns();
    if (full.bytes)
        complete(NULL, 0, full.bytes, full.size, full.used);
    uint64_t between = vs_clock_ns();
    request(&fresh.bytes, &fresh.size, &fresh.records_max);
    uint64_t end = vs_clock_ns();
    bool usable = fresh.bytes && fresh.size >= bytes && !((uintptr_t)fresh.bytes % RECORD_ALIGN);
    pthread_mutex_lock(&mu);
    if (full.bytes)
        overhead_locked(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, begin, between);
    overhead_locked(CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST, between, end);
    if (usable && !current.bytes) {
        current = fresh;
        return true;
    }
    pthread_mutex_unlock(&mu); /* another thread was faster, or the buffer is unusable: return it */
    if (fresh.bytes)
        complete(NULL, 0, fresh.bytes, fresh.size, 0);
    pthread_mutex_lock(&mu);
    return usable;
}

static void put_locked(const void *record, size_t bytes)
{
    while (requested && !fits_locked(padded(bytes)))
        if (!renew_locked(padded(bytes)))
            break;
    if (!requested || !fits_locked(padded(bytes))) {
        atomic_fetch_add(&dropped, 1);
        return;
    }
    memcpy(current.bytes + current.used, record, bytes);
    current.used += padded(bytes);
    current.records++;
}

static void put_overheads_locked(void)
{
    while (overhead_count) {
        CUpti_ActivityOverhead3 record = overheads[--overhead_count];
        put_locked(&record, sizeof record);
        if (!current.bytes)
            return; /* no buffers available: do not try again for each record */
    }
}

void vs_cupti_put(const void *record)
{
    size_t bytes = vs_cupti_record_bytes(((const CUpti_Activity *)record)->kind);
    pthread_mutex_lock(&mu);
    put_locked(record, bytes);
    if (current.bytes)
        put_overheads_locked();
    pthread_mutex_unlock(&mu);
}

static void flush(void)
{
    pthread_mutex_lock(&mu);
    if (requested)
        put_overheads_locked();
    struct buffer out = current;
    CUpti_BuffersCallbackCompleteFunc complete = completed;
    current = (struct buffer){0};
    pthread_mutex_unlock(&mu);
    if (!out.bytes)
        return;
    uint64_t begin = vs_clock_ns();
    complete(NULL, 0, out.bytes, out.size, out.used);
    uint64_t end = vs_clock_ns();
    pthread_mutex_lock(&mu);
    overhead_locked(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, begin, end);
    pthread_mutex_unlock(&mu);
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
                                           CUpti_BuffersCallbackCompleteFunc funcBufferCompleted)
{
    if (!funcBufferRequested || !funcBufferCompleted)
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    pthread_mutex_lock(&mu);
    requested = funcBufferRequested;
    completed = funcBufferCompleted;
    pthread_mutex_unlock(&mu);
    return CUPTI_SUCCESS;
}

/* A record is written when its work is complete, so *flag* has no effect. */
CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    if (!vs_cupti_attach())
        return vs_cupti_result(CUPTI_ERROR_NOT_INITIALIZED);
    pthread_mutex_lock(&mu);
    bool registered = requested != NULL;
    pthread_mutex_unlock(&mu);
    if (!registered)
        return vs_cupti_result(CUPTI_ERROR_INVALID_OPERATION);
    flush();
    return CUPTI_SUCCESS;
}

VS_CUPTI_AS(cuptiActivityFlush, (CUcontext context, uint32_t streamId, uint32_t flag),
            cuptiActivityFlushAll(flag))

/* A periodic flush returns full buffers only (cupti_activity.h). Full buffers are never held here,
 * so every period is valid and has no effect. */
VS_CUPTI_AS(cuptiActivityFlushPeriod, (uint32_t time),
            vs_cupti_attach() ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_INITIALIZED)

/* Of all contexts and streams: there is one queue of buffers. */
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t streamId, size_t *count)
{
    if (!count)
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    *count = atomic_exchange(&dropped, 0);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t validBufferSizeBytes,
                                       CUpti_Activity **record)
{
    if (!buffer || !record)
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    uint8_t *next = buffer;
    if (*record) {
        size_t bytes = vs_cupti_record_bytes((*record)->kind);
        if (!bytes)
            return vs_cupti_result(CUPTI_ERROR_INVALID_KIND);
        next = (uint8_t *)*record + padded(bytes);
    }
    if (next >= buffer + validBufferSizeBytes)
        return CUPTI_ERROR_MAX_LIMIT_REACHED; /* the regular end, not stored as an error */
    if (!vs_cupti_record_bytes(((CUpti_Activity *)next)->kind))
        return vs_cupti_result(CUPTI_ERROR_INVALID_KIND);
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}

void vs_cupti_buffer_finish(void)
{
    flush();
    pthread_mutex_lock(&mu);
    overhead_count = 0;
    requested = NULL;
    completed = NULL;
    pthread_mutex_unlock(&mu);
}
