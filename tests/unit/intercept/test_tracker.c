/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations freed with their context (intercept/track/tracker.c): found in passes over the table
 * of live allocations, which are counted slot by slot. And which of them hold a framework's blocks
 * (holding.c). The recorder accepts no events here. */
#include "support/cmocka_test.h"

#include "intercept/route/hook.h"
#include "intercept/route/loaded.h"
#include "intercept/route/replayed_call.h"
#include "intercept/route/upcalls.h"
#include "intercept/track/holding.h"
#include "intercept/track/limit.h"
#include "intercept/track/live_entries.h"
#include "intercept/process/process.h"
#include "intercept/track/peak_window.h"
#include "intercept/track/track_change.h"
#include "intercept/track/tracker.h"
#include "trace/record/selection.h"
#include "intercept/track/usage.h"

#define MANY 20000u

static uint64_t slots_visited, frees;

const struct vs_live_entry *__real_vs_live_next(size_t *cursor, uint64_t *addr);
const struct vs_live_entry *__wrap_vs_live_next(size_t *cursor, uint64_t *addr);

const struct vs_live_entry *__wrap_vs_live_next(size_t *cursor, uint64_t *addr)
{
    size_t from = *cursor;
    const struct vs_live_entry *entry = __real_vs_live_next(cursor, addr);
    slots_visited += *cursor - from;
    return entry;
}

/* --- functions that the tracker calls --- */

_Thread_local struct vs_injected_call vs_replay;
bool vs_replay_on;
_Thread_local struct vs_hook_thread vs_thread;
const struct vs_upcalls vs_upcalls; /* nothing is annotated */
struct vs_book vs_process_book;

void *vs_hook_real(enum vs_hook_id id) { (void)id; return NULL; }
void vs_limit_gone(const struct vs_tracked *live) { (void)live; }
void vs_usage_failed(uint32_t device) { (void)device; }
void vs_usage_reserved(uint32_t device, uint64_t reserved) { (void)device, (void)reserved; }
enum vs_process_state vs_process_state(void) { return VS_PROCESS_ACTIVE; }
struct vs_recorder *vs_process_recorder(void)
{
    static char any; /* passed through unchanged */
    return (struct vs_recorder *)&any;
}
static uint64_t stack;
uint64_t vs_process_stack(void) { return stack; }
/* Two objects: one with the addresses in *framework*, the rest. */
static const char framework[64];
static unsigned searches;
bool vs_loaded_at_in_visit(const void *address, struct vs_loaded *object)
{
    const char *at = address;
    searches++;
    object->name = object->path =
        at >= framework && at < framework + sizeof framework ? "libc10_cuda.so" : "libnccl.so";
    return true;
}
bool vs_loaded_is(const struct vs_loaded *object, const char *prefix)
{
    return strncmp(object->name, prefix, strlen(prefix)) == 0;
}
bool vs_loaded_find(const char *prefix, struct vs_loaded_names *names)
{
    (void)prefix, (void)names;
    return true;
}
uint64_t vs_process_api(const char *name) { (void)name; return 0; }
void vs_recorder_acquire(struct vs_recorder *recorder) { (void)recorder; }
void vs_recorder_release(struct vs_recorder *recorder) { (void)recorder; }
void vs_recorder_event(struct vs_recorder *recorder, struct vs_event *event)
{
    (void)recorder, (void)event;
}
void vs_recorder_event_locked(struct vs_recorder *recorder, struct vs_event *event)
{
    (void)recorder;
    frees += event->kind == VS_EVENT_free;
}
bool vs_selection_on;
bool vs_selection_chooses(struct vs_recorder *recorder, enum vs_level level, uint64_t bytes)
{
    (void)recorder, (void)level, (void)bytes;
    return true;
}
bool vs_selection_count_locked(struct vs_recorder *recorder, struct vs_book *book,
                               const struct vs_change *change, bool selected,
                               struct vs_event *event)
{
    (void)recorder, (void)book, (void)change, (void)selected, (void)event;
    return true;
}

/* --- tests --- */

static void allocate(uint64_t addr, uint32_t context, enum vs_family family)
{
    struct vs_tracked live = {
        .addr = addr, .requested = 64, .size = 512, .context = context, .family = family};
    vs_track_alloc(&live, 0, "allocate");
}

BEFORE(fresh)
{
    slots_visited = frees = 0;
    memset(&vs_process_book, 0, sizeof vs_process_book);
    return 0;
}

/* Regression: every one was searched for from the start: hundreds of millions of slots. */
TEST(many_that_die_with_a_context_are_found_in_few_walks)
{
    for (uint64_t i = 1; i <= MANY; i++)
        allocate(i * 4096, 1 + (i & 1), VS_FAMILY_PINNED);
    vs_track_context_gone(1, "reset");
    assert_int_equal(frees, MANY / 2);
    /* one pass, one that finds nothing, a step back for each; the table is at most this large */
    assert_in_range(slots_visited, MANY, 2 * 4 * MANY + MANY);
    vs_track_context_gone(2, "reset");
    assert_int_equal(frees, MANY);
    assert_null(vs_live_find(4096));
}

TEST(what_is_not_of_the_context_stays)
{
    struct vs_tracked was;
    allocate(0x1000, 1, VS_FAMILY_ASYNC); /* the pool's */
    allocate(0x2000, 1, VS_FAMILY_REGISTERED); /* the program's */
    allocate(0x3000, 2, VS_FAMILY_DEVICE);
    allocate(0x4000, 1, VS_FAMILY_DEVICE);
    vs_track_context_gone(1, "reset");
    assert_int_equal(frees, 1);
    for (uint64_t addr = 0x1000; addr < 0x4000; addr += 0x1000)
        assert_true(vs_track_free(addr, 0, "free", &was) && was.addr == addr);
    assert_false(vs_track_free(0x4000, 0, "free", NULL));
}

/* Memory whose free went past us is not live any more once its address is given out again. */
TEST(an_address_that_comes_again_counts_once)
{
    struct vs_device_counters before, after;
    assert_int_equal(vs_track_device(0, &before), VS_OK);
    allocate(0x9000, 3, VS_FAMILY_DEVICE);
    allocate(0x9000, 3, VS_FAMILY_DEVICE);
    assert_int_equal(frees, 0); /* no event: a reader infers it from the second allocation */
    assert_int_equal(vs_track_device(0, &after), VS_OK);
    assert_int_equal(after.allocated, before.allocated + 512);
    assert_int_equal(after.reserved, before.reserved + 512);
    assert_int_equal(after.allocations, before.allocations + 2);
    assert_int_equal(after.frees, before.frees + 1);
    assert_true(vs_track_free(0x9000, 0, "free", NULL));
}

/* --- memory that holds a framework's blocks; its sums: tests/preload/level --- */

static void called_by(const void *caller, uint64_t new_stack)
{
    vs_thread.caller = caller;
    stack = new_stack;
}

TEST(until_a_block_is_reported_it_counts_as_the_programs)
{
    struct vs_peak_report report;
    int64_t window = vs_peak_window_begin();
    called_by(framework + 8, 1);
    allocate(0x10000, 1, VS_FAMILY_DEVICE);
    assert_true(vs_track_free(0x10000, 0, "free", NULL));
    assert_true(vs_peak_window_read(window, 0, true, &report));
    assert_int_equal(report.peak.user, 512);
    assert_int_equal(report.user_allocations, 1);
    assert_int_equal(report.user_frees, 1);
}

TEST(each_caller_is_looked_up_once)
{
    searches = 0;
    for (int i = 0; i < 100; i++) {
        called_by(framework + i % 2, 5);
        assert_int_equal(vs_holds(5), VS_HOLDING_YES);
    }
    assert_int_equal(searches, 2);
}

TEST(blocks_of_the_cache_are_listed_by_address)
{
    assert_false(vs_holding_block_remove(0x1000));
    assert_true(vs_holding_block_add(0x1000));
    assert_false(vs_holding_block_remove(0x2000));
    assert_true(vs_holding_block_remove(0x1000));
    assert_false(vs_holding_block_remove(0x1000));
}
