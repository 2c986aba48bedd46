/* SPDX-License-Identifier: Apache-2.0
 *
 * Activity buffers of the stand-in CUPTI. Records are written by the threads that
 * finished the work, under one lock; the client's completion callback is called
 * without it, by the flushing thread or by the thread that filled the buffer's
 * last place. */
#define _GNU_SOURCE
#include "simulator/cupti_records.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static CUpti_BuffersCallbackRequestFunc request_buffer;   /* guarded by mu */
static CUpti_BuffersCallbackCompleteFunc complete_buffer; /* guarded by mu */
static uint8_t *buffer;                                   /* guarded by mu */
static size_t buffer_bytes, buffer_used;                  /* guarded by mu */
static size_t records_left;                               /* guarded by mu; SIZE_MAX: no limit */
static size_t dropped;                                    /* guarded by mu */

static pthread_t flusher;
static pthread_cond_t flusher_wake = PTHREAD_COND_INITIALIZER;
static bool flusher_runs;    /* guarded by mu */
static uint32_t period_ms;   /* guarded by mu */

static _Atomic(CUpti_TimestampCallbackFunc) client_clock;
static atomic_llong offset_ns; /* client's clock - CLOCK_MONOTONIC, when it was set */

static uint64_t now_ns(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t vs_sim_clock_now(void)
{
    CUpti_TimestampCallbackFunc clock = atomic_load(&client_clock);
    return clock ? clock() : now_ns(CLOCK_REALTIME);
}

void vs_sim_clock_set(CUpti_TimestampCallbackFunc clock)
{
    atomic_store(&client_clock, clock);
    uint64_t before = now_ns(CLOCK_MONOTONIC), theirs = vs_sim_clock_now();
    uint64_t middle = before + (now_ns(CLOCK_MONOTONIC) - before) / 2;
    long long difference = (long long)(theirs - middle);
    /* the client's clock is the monotonic one itself, as far as can be told */
    atomic_store(&offset_ns, llabs(difference) < 20000 ? 0 : difference);
}

static void clock_first(void)
{
    if (!atomic_load(&client_clock))
        vs_sim_clock_set(NULL);
}

uint64_t vs_sim_time(uint64_t monotonic_ns)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!monotonic_ns)
        return 0;
    pthread_once(&once, clock_first);
    return monotonic_ns + (uint64_t)atomic_load(&offset_ns);
}

CUptiResult vs_sim_records_register(CUpti_BuffersCallbackRequestFunc request,
                                    CUpti_BuffersCallbackCompleteFunc complete)
{
    if (!request || !complete)
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&mu);
    request_buffer = request;
    complete_buffer = complete;
    pthread_mutex_unlock(&mu);
    return CUPTI_SUCCESS;
}

/* What leaves our hands, to be completed once the lock is free. */
struct handed {
    uint8_t *buffer;
    size_t bytes, used;
    CUpti_BuffersCallbackCompleteFunc complete;
};

static struct handed take_locked(void)
{
    struct handed h = {buffer, buffer_bytes, buffer_used, complete_buffer};
    buffer = NULL;
    buffer_bytes = buffer_used = 0;
    return h;
}

static void hand_over(const struct handed *h)
{
    if (h->buffer && h->complete)
        h->complete(NULL, 0, h->buffer, h->bytes, h->used);
}

static bool fetch_locked(size_t bytes)
{
    size_t limit = 0;
    if (!request_buffer)
        return false;
    request_buffer(&buffer, &buffer_bytes, &limit);
    if (!buffer || buffer_bytes < bytes || (uintptr_t)buffer % 8) {
        buffer = NULL;
        return false;
    }
    buffer_used = 0;
    records_left = limit ? limit : SIZE_MAX;
    return true;
}

void vs_sim_records_write(const void *record, size_t bytes)
{
    struct handed full = {0};
    pthread_mutex_lock(&mu);
    if (buffer && (buffer_used + bytes > buffer_bytes || !records_left))
        full = take_locked();
    if (buffer || fetch_locked(bytes)) {
        memcpy(buffer + buffer_used, record, bytes);
        buffer_used += bytes;
        records_left--;
    } else {
        dropped++;
    }
    pthread_mutex_unlock(&mu);
    hand_over(&full);
}

void vs_sim_records_flush(void)
{
    struct handed h = {0};
    pthread_mutex_lock(&mu);
    if (buffer_used)
        h = take_locked();
    pthread_mutex_unlock(&mu);
    hand_over(&h);
}

static void *flush_regularly(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&mu);
    while (period_ms) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += period_ms / 1000;
        until.tv_nsec += (long)(period_ms % 1000) * 1000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        pthread_cond_timedwait(&flusher_wake, &mu, &until);
        if (!period_ms)
            break;
        pthread_mutex_unlock(&mu);
        vs_sim_records_flush();
        pthread_mutex_lock(&mu);
    }
    flusher_runs = false;
    pthread_mutex_unlock(&mu);
    return NULL;
}

CUptiResult vs_sim_records_period(uint32_t ms)
{
    CUptiResult result = CUPTI_SUCCESS;
    sigset_t all, was;
    pthread_mutex_lock(&mu);
    period_ms = ms;
    pthread_cond_signal(&flusher_wake);
    if (ms && !flusher_runs) {
        /* the program's signals are its own threads' business */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &was);
        flusher_runs = pthread_create(&flusher, NULL, flush_regularly, NULL) == 0;
        pthread_sigmask(SIG_SETMASK, &was, NULL);
        if (flusher_runs)
            pthread_detach(flusher);
        else
            result = CUPTI_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_unlock(&mu);
    return result;
}

static size_t record_bytes(CUpti_ActivityKind kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        return sizeof(CUpti_ActivityExternalCorrelation);
    default:
        return 0;
    }
}

CUptiResult vs_sim_records_next(uint8_t *from, size_t valid, CUpti_Activity **record)
{
    if (!from || !record)
        return CUPTI_ERROR_INVALID_PARAMETER;
    uint8_t *next = from;
    if (*record) {
        size_t bytes = record_bytes((*record)->kind);
        if (!bytes)
            return CUPTI_ERROR_INVALID_KIND;
        next = (uint8_t *)*record + bytes;
    }
    if (next >= from + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}

size_t vs_sim_records_dropped(void)
{
    pthread_mutex_lock(&mu);
    size_t n = dropped;
    dropped = 0;
    pthread_mutex_unlock(&mu);
    return n;
}
