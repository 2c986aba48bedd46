/* SPDX-License-Identifier: Apache-2.0
 *
 * Totals of changes without events of their own: counted by many threads that wait repeatedly for
 * room in the trace while others count on; nothing is lost and nothing is counted twice. */
#include "unit/trace/trace_test.h"

#include <pthread.h>

#include "trace/record/recorder_internal.h"
#include "trace/record/selection.h"

#define WORKERS 4u
#define ROUNDS 20000u
#define FRAME_BYTES 300u /* windows are full, and waited for, all the time */
#define DEVICES 16u /* more combinations than are counted between two writes */
#define FAMILIES 4u

static const enum vs_family families[FAMILIES] = {VS_FAMILY_DEVICE, VS_FAMILY_ASYNC,
                                                  VS_FAMILY_MANAGED, VS_FAMILY_PINNED};

struct total {
    uint64_t allocs, frees, size, freed_size;
};

struct worker {
    struct vs_recorder *recorder;
    pthread_t thread;
    uint64_t random;
    bool marks; /* writes little each time, and waits; the others' counts are added to that */
    struct total truth[DEVICES][FAMILIES];
};

static struct vs_book book;

static void change_by(struct worker *w, unsigned device, unsigned family, bool alloc, uint64_t size)
{
    struct vs_change change =
        (alloc ? vs_change_alloc : vs_change_free)(VS_LEVEL_DEVICE, families[family], device, size,
                                                   size);
    struct vs_event event = EVENT(alloc, .addr = size, .size = size);
    vs_recorder_change(w->recorder, &book, change, false, &event); /* counted: below the minimum
                                                                    * size */
    struct total *t = &w->truth[device][family];
    *(alloc ? &t->allocs : &t->frees) += 1;
    *(alloc ? &t->size : &t->freed_size) += size;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t random = vs_random(&w->random), size = 1 + (random >> 40);
        unsigned device = (unsigned)(random % DEVICES), family = (unsigned)(random >> 8) % FAMILIES;
        change_by(w, device, family, true, size);
        if (random >> 20 & 1)
            change_by(w, device, family, false, size);
        if (w->marks)
            record_mark(w->recorder); /* pending counts must be written before it */
    }
    return NULL;
}

TEST(what_threads_count_while_others_wait_is_recorded_once)
{
    const char *path = scratch("totals.vst");
    struct worker *workers = calloc(WORKERS, sizeof *workers);
    struct total truth[DEVICES][FAMILIES] = {0}, recorded[DEVICES][FAMILIES] = {0};
    assert_non_null(workers);
    struct vs_recorder *r = open_with((struct vs_recorder_config){
        .path = path, .compression = 19, .flush_ms = 1000, .window_bytes = 1,
        .min_size = UINT64_C(1) << 40});
    r->frame_bytes = FRAME_BYTES;
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i].recorder = r;
        workers[i].random = i;
        workers[i].marks = i == 0;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    /* The last written totals equal the current ones. */
    vs_recorder_acquire(r);
    vs_unrecorded_write_locked(r);
    for (unsigned i = 0; i < VS_BOOK_ACCOUNTS; i++)
        assert_memory_equal(&r->selection.accounts[i].written.now, &book.account[i].now,
                            sizeof(struct vs_levels));
    vs_recorder_release(r);
    vs_recorder_close(r, VS_END_EXIT, 0);
    for (unsigned i = 0; i < WORKERS; i++) {
        for (unsigned d = 0; d < DEVICES; d++) {
            for (unsigned f = 0; f < FAMILIES; f++) {
                truth[d][f].allocs += workers[i].truth[d][f].allocs;
                truth[d][f].frees += workers[i].truth[d][f].frees;
                truth[d][f].size += workers[i].truth[d][f].size;
                truth[d][f].freed_size += workers[i].truth[d][f].freed_size;
            }
        }
    }
    struct vs_reader *reader = open_reader(path);
    for (struct vs_event e; next_plain(reader, &e);) {
        if (e.kind != VS_EVENT_unrecorded)
            continue;
        unsigned family = 0;
        while (family < FAMILIES && families[family] != e.unrecorded.family)
            family++;
        assert_true(family < FAMILIES && e.unrecorded.device < DEVICES);
        struct total *t = &recorded[e.unrecorded.device][family];
        t->allocs += e.unrecorded.allocs;
        t->frees += e.unrecorded.frees;
        t->size += e.unrecorded.size;
        t->freed_size += e.unrecorded.freed_size;
    }
    close_reader(reader, VS_TRACE_COMPLETE);
    assert_memory_equal(recorded, truth, sizeof recorded);
    free(workers);
}
