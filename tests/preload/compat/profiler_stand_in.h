/* SPDX-License-Identifier: Apache-2.0
 *
 * Another profiler in the process, like kineto (torch.profiler): CUPTI's subscriber, with activity
 * buffers of its own. It does not depend on vramscope and checks that everything works as without
 * it: no call of CUPTI fails, every record that it requested and no other arrives, in buffers that
 * it provided, by CUPTI's own clock. */
#ifndef PROFILER_STAND_IN_H
#define PROFILER_STAND_IN_H

#include <cupti.h>
#include <stdbool.h>

#include "victim_memory.h"

#define BUFFER_BYTES (64 * 1024)
#define BUFFERS_MAX 64

/* CUPTI's functions, linked with or found in the library. */
#define CUPTI_FUNCTIONS(F)                                                                     \
    F(cuptiSubscribe) F(cuptiUnsubscribe) F(cuptiEnableCallback) F(cuptiActivityEnable)        \
    F(cuptiActivityDisable) F(cuptiActivityRegisterCallbacks) F(cuptiActivityGetNextRecord)    \
    F(cuptiActivityFlushAll) F(cuptiGetTimestamp) F(cuptiFinalize)

static struct {
#define F(name) __typeof__(&name) name;
    CUPTI_FUNCTIONS(F)
#undef F
} use;

static struct {
    long copies, sets, calls; /* records, callbacks */
    long strays;              /* foreign buffers, unrequested kinds, times of another clock */
    uint8_t *out[BUFFERS_MAX];
    uint64_t begin_ns;
    bool copies_wanted, sets_wanted;
    CUpti_SubscriberHandle handle;
} profiler;

#ifdef PROFILER_LINKED
#define PROFILER_HOW "a profiler linked with CUPTI "
static void profiler_find(void)
{
#define F(name) use.name = name;
    CUPTI_FUNCTIONS(F)
#undef F
}
#else
#define PROFILER_HOW "a profiler that opens CUPTI "
static void profiler_find(void)
{
    void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
#define F(name) *(void **)&use.name = find(library, #name);
    CUPTI_FUNCTIONS(F)
#undef F
}
#endif

static uint64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void CUPTIAPI profiler_request(uint8_t **buffer, size_t *bytes, size_t *records)
{
    *buffer = (uint8_t *)aligned_alloc(8, BUFFER_BYTES);
    *bytes = BUFFER_BYTES;
    *records = 0;
    for (int i = 0; i < BUFFERS_MAX; i++) {
        uint8_t *none = NULL;
        if (__atomic_compare_exchange_n(&profiler.out[i], &none, *buffer, 0, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return;
    }
    __atomic_fetch_add(&profiler.strays, 1, __ATOMIC_SEQ_CST);
}

static bool profiler_owns(uint8_t *buffer)
{
    for (int i = 0; i < BUFFERS_MAX; i++) {
        uint8_t *expected = buffer;
        if (__atomic_compare_exchange_n(&profiler.out[i], &expected, NULL, 0, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return true;
    }
    return false;
}

static bool time_is_ours(uint64_t t)
{
    return t + 1000000 >= profiler.begin_ns && t <= wall_ns() + 1000000;
}

static void profiler_take(const CUpti_Activity *record)
{
    long *count = NULL;
    uint64_t start = 0;
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY && profiler.copies_wanted) {
        count = &profiler.copies;
        start = ((const CUpti_ActivityMemcpy5 *)record)->start;
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET && profiler.sets_wanted) {
        count = &profiler.sets;
        start = ((const CUpti_ActivityMemset4 *)record)->start;
    }
    if (!count || !time_is_ours(start))
        count = &profiler.strays;
    __atomic_fetch_add(count, 1, __ATOMIC_SEQ_CST);
}

static void CUPTIAPI profiler_complete(CUcontext context, uint32_t stream, uint8_t *buffer,
                                       size_t bytes, size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)bytes;
    if (!profiler_owns(buffer)) {
        __atomic_fetch_add(&profiler.strays, 1, __ATOMIC_SEQ_CST);
        return;
    }
    while (valid && use.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        profiler_take(record);
    free(buffer);
}

static void CUPTIAPI profiler_called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                     const void *data)
{
    (void)user, (void)id, (void)data;
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
        __atomic_fetch_add(&profiler.calls, 1, __ATOMIC_SEQ_CST);
}

/* Only the subscription, with a callback for each cudaMemset. */
static void profiler_subscribe(void)
{
    OK(use.cuptiSubscribe(&profiler.handle, profiler_called, NULL));
    OK(use.cuptiEnableCallback(1, profiler.handle, CUPTI_CB_DOMAIN_RUNTIME_API,
                               CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020));
}

static void profiler_collect(bool copies, bool sets)
{
    profiler.copies_wanted = copies;
    profiler.sets_wanted = sets;
    profiler.begin_ns = wall_ns();
    OK(use.cuptiActivityRegisterCallbacks(profiler_request, profiler_complete));
    if (copies)
        OK(use.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
    if (sets)
        OK(use.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
}

static void profiler_stop(void)
{
    if (profiler.copies_wanted)
        OK(use.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY));
    if (profiler.sets_wanted)
        OK(use.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMSET));
    if (profiler.copies_wanted || profiler.sets_wanted)
        OK(use.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    profiler.copies_wanted = profiler.sets_wanted = false;
    if (profiler.handle)
        OK(use.cuptiUnsubscribe(profiler.handle));
    profiler.handle = NULL;
}

static void profiler_print(void)
{
    printf("copies %ld sets %ld calls %ld strays %ld\n", profiler.copies, profiler.sets,
           profiler.calls, profiler.strays);
    CHECK(profiler.strays == 0);
}

#endif
