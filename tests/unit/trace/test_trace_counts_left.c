/* SPDX-License-Identifier: Apache-2.0
 *
 * Which counts in FILE.live are used when some of it was not written: after a machine stop, a kill
 * while counts are being recorded, events after an end. Also the recorder's steps before it stores
 * the first event for which they are valid. */
#include "unit/trace/trace_test.h"

#include "trace/record/recorder_internal.h"
#include "trace/record/selection.h"

#define ALLOCS (offsetof(struct vs_event_unrecorded, allocs) / sizeof(uint64_t))

struct recording {
    struct vs_recorder *recorder;
    char path[512];
};

static struct vs_book book;

/* The background thread would write pending counts whenever it runs: it is kept waiting. */
static struct recording begin_locked(size_t window_bytes)
{
    struct recording t;
    snprintf(t.path, sizeof t.path, "%s", scratch("left.vst"));
    memset(&book, 0, sizeof book);
    t.recorder = open_with((struct vs_recorder_config){
        .path = t.path, .min_size = (uint64_t)MIB, .flush_ms = 600000, .window_bytes = window_bytes});
    vs_recorder_acquire(t.recorder);
    return t;
}

static void end_locked(const struct recording *t)
{
    vs_recorder_release(t->recorder);
    vs_recorder_close(t->recorder, VS_END_EXIT, 0);
}

static void mark_locked(const struct recording *t)
{
    struct vs_event event = EVENT(mark);
    vs_recorder_event_locked(t->recorder, &event);
}

/* *then*: called when the change's event, if any, is about to be recorded. */
static bool change_locked(const struct recording *t, unsigned device, uint64_t addr, int64_t by,
                          void (*then)(const struct vs_recorder *))
{
    uint64_t size = (uint64_t)(by > 0 ? by : -by);
    struct vs_change change =
        (by > 0 ? vs_change_alloc : vs_change_free)(VS_LEVEL_DEVICE, VS_FAMILY_DEVICE, device, size,
                                                    size);
    struct vs_event event = EVENT(free, .addr = addr, .device = device);
    if (by > 0)
        event = EVENT(alloc, .addr = addr, .requested = size, .size = size,
                      .family = VS_FAMILY_DEVICE, .device = device);
    bool selected = by > 0 && vs_recorder_selects(t->recorder, VS_LEVEL_DEVICE, size);
    bool keeps = vs_selection_count_locked(t->recorder, &book, &change, selected, &event);
    if (keeps && then)
        then(t->recorder);
    if (keeps)
        vs_recorder_event_locked(t->recorder, &event);
    return keeps;
}

/* --- a modified copy of the files --- */

struct copy {
    const char *path;
    int live;
    struct vs_live_counts header;
};

static struct copy copy_of(const struct recording *t)
{
    struct copy c = {.path = scratch("copy.vst")};
    copy_file(t->path, c.path);
    copy_file(live_of(t->path), live_of(c.path));
    c.live = open(live_of(c.path), O_RDWR | O_CLOEXEC);
    assert_true(c.live >= 0);
    assert_int_equal(pread(c.live, &c.header, sizeof c.header, sizeof(struct vs_live_header)),
                     sizeof c.header);
    return c;
}

static off_t cell_at(const struct copy *c, unsigned i)
{
    return (off_t)(c->header.offset + i * sizeof(struct vs_live_cell));
}

static struct vs_live_cell cell_of(const struct copy *c, unsigned i)
{
    struct vs_live_cell cell;
    assert_int_equal(pread(c->live, &cell, sizeof cell, cell_at(c, i)), sizeof cell);
    return cell;
}

static void write_cell(const struct copy *c, unsigned i, const struct vs_live_cell *cell)
{
    assert_int_equal(pwrite(c->live, cell, sizeof *cell, cell_at(c, i)), sizeof *cell);
}

struct left {
    unsigned events; /* `unrecorded` ones */
    uint64_t allocs, time_ns; /* of the last of them */
    bool summed_up;
};

static struct left read_copy(const struct copy *c)
{
    struct vs_reader *reader = open_reader(c->path);
    struct left left = {0};
    close(c->live);
    for (struct vs_event e; next_plain(reader, &e);) {
        left.summed_up |= e.kind == VS_EVENT_recording_changed &&
                          e.recording_changed.what == VS_RECORDING_SUMMED_UP;
        if (e.kind != VS_EVENT_unrecorded)
            continue;
        left.events++;
        left.allocs = e.unrecorded.allocs;
        left.time_ns = e.time_ns;
    }
    close_reader(reader, VS_TRACE_LIVE);
    return left;
}

static uint64_t version(const struct vs_live_cell *cell, unsigned k)
{
    return atomic_load(&cell->copy[k].version);
}

/* --- cases --- */

/* Pages of a mapping reach the disk independently. */
TEST(cells_that_were_lost_are_not_nothing)
{
    struct recording t = begin_locked(0);
    struct vs_live_cell none = {0}, cell;
    for (unsigned i = 1; i <= 5; i++)
        change_locked(&t, 0, i, 1000, NULL);
    mark_locked(&t);
    struct copy c = copy_of(&t);
    write_cell(&c, 0, &none); /* recorded: it is no longer needed */
    struct left left = read_copy(&c);
    assert_true(left.summed_up && left.events == 1 && left.allocs == 5);

    change_locked(&t, 0, 6, 1000, NULL);
    change_locked(&t, 0, 7, 1000, NULL);
    c = copy_of(&t);
    left = read_copy(&c);
    assert_true(left.summed_up && left.events == 2 && left.allocs == 2);

    c = copy_of(&t);
    write_cell(&c, 0, &none);
    left = read_copy(&c);
    assert_true(!left.summed_up && left.events == 1);

    c = copy_of(&t); /* the cell as it was before the latest change */
    cell = cell_of(&c, 0);
    cell.copy[version(&cell, 1) > version(&cell, 0)] = (struct vs_live_count){0};
    write_cell(&c, 0, &cell);
    left = read_copy(&c);
    assert_true(!left.summed_up && left.events == 1);
    end_locked(&t);
}

/* Of two cells the first is recorded; the second one's values are those before the recording. */
TEST(cells_hold_as_of_the_event_before_they_are_recorded)
{
    struct recording t = begin_locked(0);
    mark_locked(&t);
    mark_locked(&t);
    for (unsigned i = 1; i <= 6; i++)
        change_locked(&t, i % 2, i, 1000, NULL);
    struct copy c = copy_of(&t);
    uint64_t events = vs_window_events_locked(t.recorder);
    struct vs_live_cell cell = cell_of(&c, 1);
    unsigned newer = version(&cell, 1) > version(&cell, 0);
    cell.copy[!newer].events = events - 2;
    cell.copy[!newer].fields[ALLOCS] = 11;
    cell.copy[newer].events = events;
    cell.copy[newer].fields[ALLOCS] = 22;
    cell.copy[newer].time_ns = UINT64_MAX / 2;
    write_cell(&c, 1, &cell);
    atomic_store(&c.header.writing, events);
    assert_int_equal(pwrite(c.live, &c.header, sizeof c.header, sizeof(struct vs_live_header)),
                     sizeof c.header);
    struct left left = read_copy(&c);
    assert_true(left.summed_up);
    assert_int_equal(left.events, 1);
    assert_int_equal(left.allocs, 11);
    assert_true(left.time_ns < UINT64_MAX / 2);
    end_locked(&t);
}

/* The end was taken back, or the recorder of an exec'ed program continues. */
TEST(counts_behind_an_end_and_another_event_are_brought)
{
    struct recording t = begin_locked(0);
    struct vs_event end = EVENT(end);
    change_locked(&t, 0, 1, 1000, NULL);
    vs_recorder_event_locked(t.recorder, &end);
    change_locked(&t, 0, 2, 1000, NULL);
    struct copy c = copy_of(&t);
    struct left left = read_copy(&c);
    assert_true(!left.summed_up && left.events == 1);
    change_locked(&t, 0, 4096, MIB, NULL);
    change_locked(&t, 0, 2, 1000, NULL);
    c = copy_of(&t);
    left = read_copy(&c);
    assert_true(left.summed_up);
    end_locked(&t);
}

static unsigned looks;

static void assert_room(const struct vs_recorder *r)
{
    looks++;
    assert_non_null(r->active);
    assert_true((size_t)(r->limit - r->cursor) >= VS_EVENT_BYTES_MAX);
}

/* Otherwise other events come in between, and it is another event than the copies refer to. */
TEST(an_event_has_its_room_before_counts_wait_for_it)
{
    struct recording t = begin_locked(VS_WINDOW_BYTES_LEAST);
    uint64_t windows = t.recorder->sequence;
    looks = 0;
    change_locked(&t, 0, 1, 1000 * MIB, NULL); /* below this no counts are recorded early */
    change_locked(&t, 0, 1, -1000 * MIB, NULL);
    while (t.recorder->sequence < windows + 20) {
        change_locked(&t, 0, 2, 1000, NULL);
        assert_true(change_locked(&t, 0, 3, MIB, assert_room));
        change_locked(&t, 0, 2, -1000, NULL);
        assert_true(change_locked(&t, 0, 3, -MIB, assert_room));
        assert_true(looks < 1000000);
    }
    end_locked(&t);
}
