/* SPDX-License-Identifier: Apache-2.0
 *
 * Moving to any place in a trace gives the same result as reading all of it up to there: the same
 * events, exactly the same state, with checkpoints in the trace, in the cache, or without any; and
 * invalid checkpoints cost only time. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/checkpoint/checkpoint_build.h"
#include "analysis/checkpoint/trace_state.h"
#include "support/busy_trace.h"
#include "support/cmocka_test.h"
#include "support/scratch_folder.h"
#include "trace/read/checkpoint.h"
#include "trace/read/reader_internal.h"
#include "trace/read/seek.h"
#include "trace/record/recorder_internal.h"
#include "trace/record/selection.h"

#define EVENTS 80000

struct bytes {
    unsigned char *data;
    size_t used;
};

static enum vs_err gather(void *context, const unsigned char *bytes, size_t count)
{
    struct bytes *all = context;
    all->data = realloc(all->data, all->used + count);
    assert_non_null(all->data);
    memcpy(all->data + all->used, bytes, count);
    all->used += count;
    return VS_OK;
}

/* The whole state as bytes: the same state gives the same bytes. */
static struct bytes state_of(struct vs_trace_state *point)
{
    struct bytes all = {0};
    assert_int_equal(vs_trace_state_save(point, gather, &all), VS_OK);
    return all;
}

static void assert_same_state(struct vs_trace_state *a, struct vs_trace_state *other)
{
    assert_int_equal(a->replay->events, other->replay->events);
    assert_true(vs_replay_check(a->replay));
    struct bytes x = state_of(a), y = state_of(other);
    assert_int_equal(x.used, y.used);
    assert_memory_equal(x.data, y.data, x.used);
    free(x.data);
    free(y.data);
}

static struct vs_reader *open_trace(const char *path)
{
    struct vs_reader *opened;
    assert_int_equal(vs_reader_open(path, &opened, NULL), VS_OK);
    return opened;
}

static struct vs_builder b;
static struct vs_reader *reader, *plain; /* of one trace; the second one has no checkpoints */

AFTER(close_both)
{
    vs_reader_close(reader);
    vs_reader_close(plain);
    reader = plain = NULL;
    return 0;
}

static void open_both(const char *path)
{
    close_both(NULL);
    reader = open_trace(path);
    plain = open_trace(path);
}

static void step(struct vs_trace_state *point)
{
    struct vs_event event;
    assert_int_equal(vs_reader_next(point->reader, &event), VS_OK);
    vs_trace_state_event(point, &event);
}

static void run_out(struct vs_trace_state *point)
{
    struct vs_event event;
    enum vs_err err;
    while ((err = vs_reader_next(point->reader, &event)) == VS_OK)
        vs_trace_state_event(point, &event);
    assert_int_equal(err, VS_ERR_END);
}

static struct vs_extent extent_of(struct vs_reader *of)
{
    struct vs_extent extent;
    assert_int_equal(vs_reader_extent(of, &extent), VS_OK);
    return extent;
}

/* At several times, the state by *reader* equals that of reading *plain* from its start; and both
 * continue alike to the end. */
static void assert_points(unsigned points)
{
    struct vs_extent extent = extent_of(plain);
    struct vs_trace_state *full, *there;
    full = vs_trace_state_open(plain);
    vs_reader_rewind(plain);
    for (unsigned i = 1; i <= points; i++) {
        uint64_t event = extent.events * i / (points + 1);
        while (full->replay->events < event)
            step(full);
        assert_int_equal(vs_trace_state_at_event(reader, event, &there), VS_OK);
        assert_same_state(there, full);
        if (i == points) {
            run_out(there);
            run_out(full);
            assert_same_state(there, full);
        }
        vs_trace_state_close(there);
    }
    vs_trace_state_close(full);
}

static const struct vs_checkpoint_options often = {.interval = 3000, .share = 100000};

/* Not in the home directory of the user who runs the tests. */
static void private_cache(void)
{
    char cache[128];
    snprintf(cache, sizeof cache, "%s/cache", b.dir);
    assert_int_equal(setenv("XDG_CACHE_HOME", cache, 1), 0);
}

static void make_trace(uint64_t seed)
{
    vs_busy_trace(&b, seed, EVENTS);
    vs_builder_close(&b, VS_END_EXIT, 0);
    private_cache();
}

TEST(a_state_from_a_checkpoint_is_that_of_a_full_read)
{
    make_trace(42);
    char why[VS_READER_WHY_MAX];
    struct vs_checkpoint_result result;
    assert_int_equal(vs_checkpoint_into_trace(b.path, &often, &result, why), VS_OK);
    assert_true(result.count >= 3);
    open_both(b.path);
    assert_int_equal(vs_reader_attach(reader), VS_OK);
    assert_int_equal(vs_checkpoints_table(vs_reader_checkpoints(reader))->count, result.count);
    assert_points(23);
    assert_non_null(vs_reader_checkpoints(reader)); /* none was found invalid */
}

TEST(checkpoints_are_kept_in_the_cache_and_used_again)
{
    make_trace(7);
    for (int turn = 0; turn < 2; turn++) {
        open_both(b.path);
        assert_int_equal(vs_checkpoint_cache_attach(reader), turn ? VS_OK : VS_ERR_NOT_FOUND);
        assert_int_equal(vs_checkpoint_need(reader, 0, &often), VS_OK);
        assert_non_null(vs_reader_checkpoints(reader));
        assert_points(7);
        assert_non_null(vs_reader_checkpoints(reader));
    }
}

static bool stop_at_once(void *context, uint64_t bytes, uint64_t total)
{
    (void)context, (void)bytes, (void)total;
    return false;
}

TEST(an_interrupted_index_leaves_the_trace_as_it_was)
{
    struct stat before, after;
    char why[VS_READER_WHY_MAX];
    make_trace(9);
    assert_int_equal(stat(b.path, &before), 0);
    struct vs_checkpoint_options options = {.interval = 3000, .progress = stop_at_once};
    assert_int_equal(vs_checkpoint_into_trace(b.path, &options, NULL, why), VS_ERR_STATE);
    assert_int_equal(stat(b.path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(before.st_size, after.st_size);
    reader = open_trace(b.path);
    assert_int_equal(vs_checkpoint_need(reader, 0, &options), VS_ERR_STATE);
    assert_int_equal(vs_checkpoint_cache_attach(reader), VS_ERR_NOT_FOUND);
}

/* The one file of the cache. */
static void cache_file(char *name, size_t room)
{
    char command[256];
    snprintf(command, sizeof command, "ls '%s'/cache/vramscope/checkpoints/*.vsc", b.dir);
    FILE *list = popen(command, "r");
    assert_non_null(list);
    assert_non_null(fgets(name, (int)room, list));
    name[strcspn(name, "\n")] = 0;
    pclose(list);
}

TEST(a_cache_that_was_tampered_with_changes_nothing)
{
    char name[512];
    make_trace(11);
    open_both(b.path);
    assert_int_equal(vs_checkpoint_need(reader, 0, &often), VS_OK);
    cache_file(name, sizeof name);
    struct stat st;
    assert_int_equal(stat(name, &st), 0);
    uint64_t seed = 99;
    for (int turn = 0; turn < 12; turn++) {
        FILE *f = fopen(name, "r+");
        assert_non_null(f);
        long at = (long)(vs_random(&seed) >> 1) % st.st_size;
        assert_int_equal(fseek(f, at, SEEK_SET), 0);
        int byte = fgetc(f);
        assert_int_equal(fseek(f, at, SEEK_SET), 0);
        fputc(byte ^ 0x40, f);
        fclose(f);
        open_both(b.path);
        enum vs_err err = vs_checkpoint_cache_attach(reader);
        assert_true(err == VS_OK || err == VS_ERR_NOT_FOUND);
        assert_points(2);
        f = fopen(name, "r+");
        assert_non_null(f);
        assert_int_equal(fseek(f, at, SEEK_SET), 0);
        fputc(byte, f);
        fclose(f);
    }
}

TEST(a_cache_of_another_trace_is_not_used)
{
    char names[2][512], command[1200], path[128];
    for (int other = 0; other < 2; other++) {
        make_trace(other ? 3 : 4);
        open_both(b.path);
        assert_int_equal(vs_checkpoint_need(reader, 0, &often), VS_OK);
        cache_file(names[other], sizeof names[other]);
        if (!other)
            snprintf(path, sizeof path, "%s", b.path);
    }
    snprintf(command, sizeof command, "cp '%s' '%s'", names[1], names[0]);
    assert_int_equal(system(command), 0);
    *strstr(names[0], "/vramscope") = 0;
    setenv("XDG_CACHE_HOME", names[0], 1);
    open_both(path);
    assert_int_equal(vs_checkpoint_cache_attach(reader), VS_ERR_NOT_FOUND);
}

/* Events from a place on equal those of a full read, ids and their meaning included. */
static void assert_slices(uint64_t seed)
{
    struct vs_extent extent = extent_of(plain);
    for (int i = 0; i < 12; i++) {
        struct vs_event a, there;
        uint64_t event = vs_random(&seed) % (extent.events + 2);
        assert_int_equal(vs_reader_seek_event(reader, event), VS_OK);
        vs_reader_rewind(plain);
        uint64_t n = 0;
        enum vs_err err;
        while ((err = vs_reader_next(plain, &a)) == VS_OK && n < event)
            n++;
        assert_int_equal(vs_reader_event_number(reader), n);
        for (int k = 0; k < 3000 && !err; k++) {
            assert_int_equal(vs_reader_next(reader, &there), VS_OK);
            assert_memory_equal(&a, &there, sizeof a);
            if (a.kind == VS_EVENT_alloc && a.alloc.stack) {
                struct vs_frame x[4], y[4];
                assert_int_equal(vs_reader_stack(reader, there.alloc.stack, y, 4),
                                 vs_reader_stack(plain, a.alloc.stack, x, 4));
                assert_int_equal(x[0].pc, y[0].pc);
                assert_int_equal(x[0].module, y[0].module);
                assert_string_equal(vs_reader_module(plain, x[0].module)->path,
                                    vs_reader_module(reader, y[0].module)->path);
            }
            if (a.kind == VS_EVENT_range_push)
                assert_string_equal(vs_reader_string(plain, a.range_push.name),
                                    vs_reader_string(reader, there.range_push.name));
            err = vs_reader_next(plain, &a);
        }
        if (err)
            assert_int_equal(vs_reader_next(reader, &there), VS_ERR_END);
    }
}

TEST(slices_are_those_of_a_full_read)
{
    char why[VS_READER_WHY_MAX];
    make_trace(5);
    for (int with = 0; with < 2; with++) {
        if (with)
            assert_int_equal(vs_checkpoint_into_trace(b.path, &often, NULL, why), VS_OK);
        for (uint64_t seed = 1; seed <= 3; seed++) {
            open_both(b.path);
            assert_int_equal(vs_reader_attach(reader), with ? VS_OK : VS_ERR_NOT_FOUND);
            assert_slices(seed);
        }
    }
}

static char killed[160]; /* see killed_trace */

/* A trace, and the state of it that a kill would have left. */
static void killed_trace(uint64_t seed)
{
    char command[900];
    vs_busy_trace(&b, seed, EVENTS);
    private_cache();
    snprintf(killed, sizeof killed, "%s/killed.vst", b.dir);
    snprintf(command, sizeof command, "cp '%s.live' '%s.live' && cp '%s' '%s'", b.path, killed,
             b.path, killed);
    vs_recorder_acquire(b.recorder);
    assert_true(vs_window_wait_idle_locked(b.recorder));
    assert_int_equal(system(command), 0);
    vs_recorder_release(b.recorder);
    vs_builder_close(&b, VS_END_EXIT, 0);
}

TEST(slices_of_what_a_killed_process_left)
{
    char live[176];
    killed_trace(6);
    for (int turn = 0; turn < 3; turn++) { /* with its live window, in the cache, truncated */
        open_both(killed);
        if (turn)
            assert_int_equal(vs_checkpoint_need(reader, 0, &often), VS_OK);
        assert_slices(20 + (uint64_t)turn);
        assert_points(5);
        if (turn == 1) {
            struct stat st;
            snprintf(live, sizeof live, "%s.live", killed);
            assert_int_equal(unlink(live), 0);
            assert_int_equal(stat(killed, &st), 0);
            assert_int_equal(truncate(killed, st.st_size - 1000), 0);
        }
    }
}

TEST(a_killed_trace_takes_checkpoints)
{
    char why[VS_READER_WHY_MAX];
    killed_trace(8);
    if (vs_checkpoint_into_trace(killed, &often, NULL, why))
        fail_msg("%s", why);
    open_both(killed);
    assert_int_equal(vs_reader_attach(reader), VS_OK);
    assert_slices(31);
    assert_points(5);
    assert_non_null(vs_reader_checkpoints(reader));
}

/* --- checkpoints that `run` adds to a trace with a size limit --- */

/* *events* allocations, half of which stay live, recorded with that limit. */
static void record_limited(const char *path, uint64_t limit, unsigned events)
{
    struct vs_recorder_config config = {.path = path, .flush_ms = 1000, .window_bytes = 1,
                                        .limit_bytes = limit};
    struct vs_book book = {.account = {{.segment_bytes = 0}}};
    struct vs_recorder *r;
    uint64_t random = 88172645463325252u;
    assert_int_equal(vs_recorder_open(&config, &r), VS_OK);
    for (unsigned i = 0; i < events; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint64_t addr = random & ~UINT64_C(4095), requested = random >> 45;
        struct vs_change change =
            vs_change_alloc(VS_LEVEL_DEVICE, VS_FAMILY_DEVICE, 0, requested, 100352);
        struct vs_event event = EVENT(alloc, .addr = addr, .requested = requested, .size = 100352);
        vs_recorder_change(r, &book, change, true, &event);
    }
    vs_recorder_close(r, VS_END_EXIT, 0);
}

static off_t bytes_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

/* The number of checkpoints in the trace. */
static size_t count_of(const char *path)
{
    open_both(path);
    return vs_reader_attach(reader) ? 0 : vs_checkpoints_table(vs_reader_checkpoints(reader))->count;
}

static uint64_t limit_of(const char *path)
{
    open_both(path);
    return vs_size_limit(reader);
}

TEST(a_recorded_trace_gets_checkpoints_only_within_its_limit)
{
    static const struct {
        uint64_t limit, events_min;
        bool some;
    } cases[] = {{UINT64_C(2) << 20, 1000, false}, {UINT64_C(1) << 30, UINT64_MAX, false},
                 {UINT64_C(1) << 30, 1000, true}};
    static const struct vs_checkpoint_options close = {.interval = 12000, .share = 100000};
    char path[80], why[VS_READER_WHY_MAX];
    snprintf(path, sizeof path, "%s/trace.vst", scratch_folder());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        record_limited(path, cases[i].limit, 80000);
        off_t before = bytes_of(path);
        assert_int_equal(limit_of(path), cases[i].limit);
        assert_int_equal(vs_checkpoint_recorded(path, cases[i].events_min, &close, why), VS_OK);
        assert_int_equal(count_of(path) > 0, cases[i].some);
        if (cases[i].some) {
            assert_true(bytes_of(path) > before && (uint64_t)bytes_of(path) < cases[i].limit);
        } else {
            assert_int_equal(bytes_of(path), before);
        }
    }
    /* exact to the byte: the size they need is enough, one byte less is not */
    off_t with = bytes_of(path);
    struct vs_checkpoint_options tight = close;
    tight.bytes_max = (uint64_t)with - 1;
    assert_int_equal(vs_checkpoint_into_trace(path, &tight, NULL, why), VS_ERR_LIMIT);
    tight.bytes_max = (uint64_t)with;
    assert_int_equal(vs_checkpoint_into_trace(path, &tight, NULL, why), VS_OK);
    assert_int_equal(bytes_of(path), with);
    assert_int_equal(limit_of(path), UINT64_C(1) << 30); /* said still */
}
