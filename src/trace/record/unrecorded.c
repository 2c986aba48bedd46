/* SPDX-License-Identifier: Apache-2.0
 *
 * Totals of allocations without events. Each combination of level, reason, device and
 * family has a cell; a device's cells share an account of meters, which know the bytes as
 * they are and as a reader of what is written takes them to be. The cells are written
 * before every event that looks at memory, and when half of flush_ms has passed. Before
 * allocations and frees they wait while no new peak is among them and the reader cannot
 * take a height that never was for one. What was the highest meanwhile comes with them.
 * When the cells do not suffice they are written early. Until they are written, what would
 * be is in FILE.live (live_counts.c), so that a kill loses none of it. */
#include "trace/record/live_counts.h"

/* allocs to reserved, of a cell and of an event */
#define SUMS_BYTES (7 * sizeof(uint64_t))
#define IS_LIKE(member)                                                                        \
    (offsetof(struct vs_unrecorded_cell, member) - offsetof(struct vs_unrecorded_cell, allocs) == \
     offsetof(struct vs_event_unrecorded, member) - offsetof(struct vs_event_unrecorded, allocs))
_Static_assert(IS_LIKE(requested) && IS_LIKE(size) && IS_LIKE(frees) && IS_LIKE(freed_requested) &&
                   IS_LIKE(freed_size) && IS_LIKE(reserved),
               "sums are copied at once");

static struct vs_unrecorded_account *account_of(struct vs_selection *s, unsigned level,
                                                unsigned family, unsigned device)
{
    if (level == VS_LEVEL_FRAMEWORK)
        return &s->accounts[VS_UNRECORDED_DEVICES + 1 + device];
    if (family == VS_FAMILY_PINNED || family == VS_FAMILY_REGISTERED)
        return &s->accounts[VS_UNRECORDED_DEVICES];
    return &s->accounts[device];
}

static bool is_cell(const struct vs_unrecorded_cell *cell, const struct vs_recorded *change,
                    enum vs_why why)
{
    return cell->level == change->level && cell->why == why && cell->family == change->family &&
           cell->device == change->device;
}

/* Which cells, *cell* or before it, bring the peaks of its account and of its family: the first
 * of them. */
static void find_bearers(struct vs_selection *s, struct vs_unrecorded_cell *cell)
{
    unsigned i = (unsigned)(cell - s->cells);
    cell->account_bearer = cell->family_bearer = (uint8_t)i;
    while (i-- > 0) {
        const struct vs_unrecorded_cell *other = &s->cells[i];
        if (other->account != cell->account)
            continue;
        cell->account_bearer = (uint8_t)i;
        if (other->family == cell->family && other->level != VS_LEVEL_SEGMENT &&
            cell->level != VS_LEVEL_SEGMENT)
            cell->family_bearer = (uint8_t)i;
    }
}

/* The cell of *change*; when there is no room for another, after writing them all. */
static struct vs_unrecorded_cell *cell_of_locked(struct vs_recorder *r,
                                                 const struct vs_recorded *change, enum vs_why why)
{
    struct vs_selection *s = &r->selection;
    for (unsigned i = 0; i < s->cell_count; i++) {
        if (is_cell(&s->cells[i], change, why))
            return &s->cells[i];
    }
    if (s->cell_count == VS_UNRECORDED_CELLS) {
        vs_unrecorded_write_locked(r);
        if (s->cell_count == VS_UNRECORDED_CELLS)
            return NULL; /* the recorder has stopped */
    }
    struct vs_unrecorded_cell *cell = &s->cells[s->cell_count++];
    *cell = (struct vs_unrecorded_cell){.level = (uint8_t)change->level,
                                        .why = (uint8_t)why,
                                        .family = (uint8_t)change->family,
                                        .device = (uint8_t)change->device};
    cell->account = (uint8_t)(account_of(s, change->level, change->family, change->device) -
                              s->accounts);
    find_bearers(s, cell);
    return cell;
}

static void count_cell(struct vs_unrecorded_cell *cell, const struct vs_recorded *change)
{
    if (change->alloc) {
        cell->allocs++;
        cell->requested += change->requested;
        cell->size += change->size;
    } else {
        cell->frees++;
        cell->freed_requested += change->requested;
        cell->freed_size += change->size;
    }
    cell->reserved += change->reserved;
    cell->tid = vs_encode_thread();
}

/* --- meters --- */

static bool add(struct vs_meter *m, int64_t by)
{
    m->now += by;
    if (m->now > m->high_in_range)
        m->high_in_range = m->now;
    bool higher = m->now > m->high;
    if (higher)
        m->high = m->now;
    return higher;
}

/* Count what has no event. *higher*: the highest since the last writing. True when it
 * cannot wait. */
static bool count(struct vs_meter *m, int64_t by, bool *higher)
{
    *higher |= add(m, by);
    m->pending += by;
    return m->now > m->known;
}

/* What is recorded by itself changes it by *by*: whether what is pending has to be written
 * before. */
static bool asks_first(const struct vs_meter *m, int64_t by)
{
    if (!m->pending || by <= 0)
        return false;
    return m->now + by > m->known || m->now - m->pending + by > m->high_in_range;
}

static void follow(struct vs_meter *m, int64_t by)
{
    (void)add(m, by);
    if (m->now > m->known)
        m->known = m->now;
}

/* How far above what the reader knows it was. */
static uint64_t above(const struct vs_meter *m)
{
    int64_t by = m->high - (m->now - m->pending);
    return by > 0 ? (uint64_t)by : 0;
}

/* Likewise; written now. */
static uint64_t settle(struct vs_meter *m)
{
    uint64_t by = above(m);
    if (m->high > m->known)
        m->known = m->high;
    m->high = m->now;
    m->pending = 0;
    return by;
}

/* The changes of one allocation or free to its account. */
struct steps {
    int64_t allocated, requested, reserved, family;
};

static struct steps steps_of(const struct vs_recorded *change)
{
    int64_t sign = change->alloc ? 1 : -1, size = sign * (int64_t)change->size;
    struct steps steps = {.reserved = change->reserved};
    if (change->level != VS_LEVEL_SEGMENT) {
        steps.family = size;
        if (change->family != VS_FAMILY_IPC) {
            steps.allocated = size;
            steps.requested = sign * (int64_t)change->requested;
        }
    }
    return steps;
}

/* --- in FILE.live --- */

/* And no peaks. */
static void fill_sums(struct vs_event_unrecorded *u, const struct vs_unrecorded_cell *cell)
{
    u->level = cell->level;
    u->why = cell->why;
    u->device = cell->device;
    u->family = cell->family;
    memcpy(&u->allocs, &cell->allocs, SUMS_BYTES); /* they lie alike */
    u->family_peak = u->peak_allocated = u->peak_requested = u->peak_reserved = 0;
}

/* Cell *i* as it would be written now. *events*: recorded before that holds. */
static void show_cell_locked(struct vs_recorder *r, unsigned i, uint64_t events)
{
    struct vs_selection *s = &r->selection;
    const struct vs_unrecorded_cell *cell = &s->cells[i];
    const struct vs_unrecorded_account *a = &s->accounts[cell->account];
    struct vs_live_count *copy = vs_live_counts_begin_locked(r, i);
    struct vs_event_unrecorded *u = (struct vs_event_unrecorded *)copy->fields;
    copy->events = events;
    copy->tid = cell->tid;
    copy->time_ns = s->counted_ns;
    fill_sums(u, cell);
    u->peak_ns = s->counted_ns;
    if (cell->family_bearer == i && cell->level != VS_LEVEL_SEGMENT)
        u->family_peak = above(&a->family[cell->family]);
    if (cell->account_bearer == i) {
        bool framework = cell->level == VS_LEVEL_FRAMEWORK;
        u->peak_allocated = above(&a->allocated);
        u->peak_requested = above(&a->requested);
        u->peak_reserved = framework ? a->framework_reserved : above(&a->reserved);
        if (a->peak_ns) {
            u->peak_ns = a->peak_ns;
            copy->tid = a->peak_tid;
        }
    }
    vs_live_counts_put_locked(r, copy);
}

/* What a change of *cell* changes in what would be written. */
static void show_count_locked(struct vs_recorder *r, const struct vs_unrecorded_cell *cell)
{
    unsigned i = (unsigned)(cell - r->selection.cells);
    uint64_t events = vs_window_events_locked(r);
    show_cell_locked(r, i, events);
    if (cell->account_bearer != i)
        show_cell_locked(r, cell->account_bearer, events);
    if (cell->family_bearer != i && cell->family_bearer != cell->account_bearer)
        show_cell_locked(r, cell->family_bearer, events);
    vs_live_counts_commit_locked(r);
}

void vs_unrecorded_show_locked(struct vs_recorder *r)
{
    for (unsigned i = 0; i < r->selection.cell_count; i++)
        show_cell_locked(r, i, vs_window_events_locked(r));
    if (r->selection.cell_count)
        vs_live_counts_commit_locked(r);
}

/* An event of account *a* and *family* is about to be recorded: the peaks of what waits are told
 * from a height that it changes. */
static void show_follow_locked(struct vs_recorder *r, const struct vs_unrecorded_account *a,
                               unsigned family)
{
    struct vs_selection *s = &r->selection;
    bool any = false;
    for (unsigned i = 0; i < s->cell_count; i++) {
        const struct vs_unrecorded_cell *cell = &s->cells[i];
        bool bears = cell->account_bearer == i ||
                     (cell->family_bearer == i && cell->family == family);
        if (!bears || &s->accounts[cell->account] != a)
            continue;
        show_cell_locked(r, i, vs_window_events_locked(r) + 1);
        any = true;
    }
    if (any)
        vs_live_counts_commit_locked(r);
}

/* --- counting --- */

void vs_unrecorded_add_locked(struct vs_recorder *r, const struct vs_recorded *change,
                              enum vs_why why, uint64_t now_ns)
{
    struct vs_selection *s = &r->selection;
    struct vs_unrecorded_account *a =
        account_of(s, change->level, change->family, change->device);
    struct steps by = steps_of(change);
    if (by.family < 0 && a->family[change->family].now + by.family < 0)
        return; /* of memory whose allocation was never seen */
    struct vs_unrecorded_cell *cell = cell_of_locked(r, change, why);
    if (!cell)
        return;
    bool higher = false, family_higher = false;
    count_cell(cell, change);
    bool must = count(&a->allocated, by.allocated, &higher);
    must |= count(&a->requested, by.requested, &higher);
    must |= count(&a->reserved, by.reserved, &higher);
    must |= count(&a->family[change->family], by.family, &family_higher);
    if (change->reserved_now > a->framework_reserved)
        a->framework_reserved = change->reserved_now;
    if (higher) {
        a->peak_ns = now_ns;
        a->peak_tid = cell->tid;
    }
    a->pending = a->used = s->pending = true;
    s->must |= must;
    s->counted_ns = now_ns;
    show_count_locked(r, cell);
}

void vs_unrecorded_follow_locked(struct vs_recorder *r, const struct vs_recorded *change)
{
    struct vs_selection *s = &r->selection;
    /* the room comes first: others may count, and tell, while we wait for it, and the copies say
     * which event they hold from */
    if (!vs_window_reserve_locked(r, VS_EVENT_BYTES_MAX))
        return;
    struct vs_unrecorded_account *a =
        account_of(s, change->level, change->family, change->device);
    struct steps by = steps_of(change);
    if (s->pending &&
        (s->must || asks_first(&a->allocated, by.allocated) ||
         asks_first(&a->requested, by.requested) || asks_first(&a->reserved, by.reserved) ||
         asks_first(&a->family[change->family], by.family)))
        vs_unrecorded_write_locked(r); /* and has room for one more */
    follow(&a->allocated, by.allocated);
    follow(&a->requested, by.requested);
    follow(&a->reserved, by.reserved);
    follow(&a->family[change->family], by.family);
    a->used = true;
    if (a->pending)
        show_follow_locked(r, a, change->family);
}

static void begin_range(struct vs_meter *m)
{
    m->high = m->high_in_range = m->now;
}

/* Everything has been written. */
void vs_unrecorded_range_locked(struct vs_recorder *r)
{
    for (unsigned i = 0; i < VS_UNRECORDED_ACCOUNTS; i++) {
        struct vs_unrecorded_account *a = &r->selection.accounts[i];
        if (!a->used)
            continue;
        begin_range(&a->allocated);
        begin_range(&a->requested);
        begin_range(&a->reserved);
        for (int f = 0; f < VS_FAMILY_COUNT; f++)
            begin_range(&a->family[f]);
    }
}

/* --- writing --- */

/* The first event of an account carries what the account reached, the first of a family
 * what that did. */
static void fill_peaks(struct vs_event *event, struct vs_unrecorded_account *a)
{
    if (event->unrecorded.level != VS_LEVEL_SEGMENT)
        event->unrecorded.family_peak = settle(&a->family[event->unrecorded.family]);
    if (!a->pending)
        return;
    event->unrecorded.peak_allocated = settle(&a->allocated);
    event->unrecorded.peak_requested = settle(&a->requested);
    event->unrecorded.peak_reserved = settle(&a->reserved);
    if (event->unrecorded.level == VS_LEVEL_FRAMEWORK)
        event->unrecorded.peak_reserved = a->framework_reserved;
    if (a->peak_ns) {
        event->unrecorded.peak_ns = a->peak_ns;
        event->tid = a->peak_tid;
    }
    a->framework_reserved = a->peak_ns = 0;
    a->pending = false;
}

void vs_unrecorded_write_locked(struct vs_recorder *r)
{
    struct vs_selection *s = &r->selection;
    unsigned cells;
    /* with the room for all of it at once nobody comes in between, and what was counted
     * is in front of the event that follows; others may count while we wait for the room */
    do {
        cells = s->cell_count;
        if (!s->pending || !vs_window_reserve_locked(r, (cells + 1) * VS_EVENT_BYTES_MAX))
            return;
    } while (s->cell_count != cells);
    uint64_t now = vs_ticks_now(&r->ticks);
    s->pending = s->must = false;
    vs_live_counts_record_begin_locked(r);
    for (unsigned i = 0; i < s->cell_count; i++) {
        const struct vs_unrecorded_cell *cell = &s->cells[i];
        struct vs_event event = {.kind = VS_EVENT_unrecorded,
                                 .tid = cell->tid,
                                 .time_ns = now};
        fill_sums(&event.unrecorded, cell);
        event.unrecorded.peak_ns = now;
        fill_peaks(&event, &s->accounts[cell->account]);
        vs_recorder_event_locked(r, &event);
    }
    s->cell_count = 0;
    vs_live_counts_record_end_locked(r);
}
