/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations freed with their context (intercept/track/tracker.c): found in passes over the table
 * of live allocations, which are counted slot by slot. The recorder accepts no events here. */
#include "unit/base/cm.h"

#include "intercept/route/hook.h"
#include "intercept/cupti/inject_replay.h"
#include "intercept/cupti/nvtx.h"
#include "intercept/track/limit.h"
#include "intercept/track/live_entries.h"
#include "intercept/process/process.h"
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

void vs_nvtx_end_annotation(void) {}
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
uint64_t vs_process_stack(void) { return 0; }
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

static int fresh(void **state)
{
    (void)state;
    slots_visited = frees = 0;
    return 0;
}

/* Regression: every one was searched for from the start: hundreds of millions of slots. */
static void many_that_die_with_a_context_are_found_in_few_walks(void **state)
{
    (void)state;
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

static void what_is_not_of_the_context_stays(void **state)
{
    (void)state;
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
static void an_address_that_comes_again_counts_once(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(many_that_die_with_a_context_are_found_in_few_walks, fresh),
        cmocka_unit_test_setup(what_is_not_of_the_context_stays, fresh),
        cmocka_unit_test_setup(an_address_that_comes_again_counts_once, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
