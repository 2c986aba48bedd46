/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects activity records for the CUPTI tests: every record is stored, in order, until
 * records_forget. Any thread may deliver. */
#ifndef SIM_RECORDS_H
#define SIM_RECORDS_H

#include <cupti.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS_MAX = 20000 };

union record {
    CUpti_Activity head;
    CUpti_ActivityAPI api;
    CUpti_ActivityKernel10 kernel;
    CUpti_ActivityMemcpy6 copy;
    CUpti_ActivityMemset4 set;
    CUpti_ActivitySynchronization2 sync;
    CUpti_ActivityExternalCorrelation external;
    CUpti_ActivityOverhead3 overhead;
    CUpti_ActivityMemory4 memory;
    CUpti_ActivityMemoryPool3 pool;
};

static pthread_mutex_t records_mu = PTHREAD_MUTEX_INITIALIZER;
static union record records[RECORDS_MAX]; /* guarded by records_mu, as is the rest */
static int record_count, buffers_delivered, buffers_out, sizes_wrong;
static size_t records_buffer_bytes = 1 << 16; /* of the next buffers; 0: none is given */
static size_t records_per_buffer;             /* 0: as many as fit */

static inline void CUPTIAPI records_give(uint8_t **buffer, size_t *bytes, size_t *max)
{
    pthread_mutex_lock(&records_mu);
    *bytes = records_buffer_bytes;
    *buffer = *bytes ? malloc(*bytes) : NULL;
    *max = records_per_buffer;
    buffers_out += *buffer != NULL;
    pthread_mutex_unlock(&records_mu);
}

static inline void CUPTIAPI records_take(CUcontext context, uint32_t stream, uint8_t *buffer,
                                         size_t bytes, size_t valid)
{
    CUpti_Activity *next = NULL;
    (void)context, (void)stream;
    pthread_mutex_lock(&records_mu);
    while (valid && cuptiActivityGetNextRecord(buffer, valid, &next) == CUPTI_SUCCESS &&
           record_count < RECORDS_MAX) {
        size_t left = (size_t)(buffer + valid - (uint8_t *)next);
        memcpy(&records[record_count++], next, left < sizeof *records ? left : sizeof *records);
    }
    buffers_delivered++;
    buffers_out--;
    sizes_wrong += valid > bytes;
    pthread_mutex_unlock(&records_mu);
    free(buffer);
}

/* records_forget: flushes, and removes all records. */
static inline void records_forget(void)
{
    cuptiActivityFlushAll(0);
    record_count = buffers_delivered = 0;
}

/* records_begin: enables *kind*; records_expect: *count* records since then. */
static inline void records_begin(CUpti_ActivityKind kind)
{
    assert_int_equal(cuptiActivityEnable(kind), CUPTI_SUCCESS);
    records_forget();
}
static inline void records_expect(int count)
{
    assert_int_equal(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
    assert_int_equal(record_count, count);
}

/* For AFTER: no kind stays enabled. */
static inline int records_end(void)
{
    for (int kind = 1; kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
        cuptiActivityDisable((CUpti_ActivityKind)kind);
    return 0;
}

static inline int records_of(CUpti_ActivityKind kind)
{
    int n = 0;
    for (int i = 0; i < record_count; i++)
        n += records[i].head.kind == kind;
    return n;
}

/* records_find: number *nth* (from 0) of *kind*, or NULL. */
static inline const union record *records_find(CUpti_ActivityKind kind, int nth)
{
    for (int i = 0; i < record_count; i++)
        if (records[i].head.kind == kind && !nth--)
            return &records[i];
    return NULL;
}

/* records_call: number *nth* of the calls of one function, or NULL. */
static inline const CUpti_ActivityAPI *records_call(CUpti_ActivityKind kind, CUpti_CallbackId cbid,
                                                    int nth)
{
    for (int i = 0; i < record_count; i++)
        if (records[i].head.kind == kind && records[i].api.cbid == cbid && !nth--)
            return &records[i].api;
    return NULL;
}

#endif
