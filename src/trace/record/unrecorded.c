/* SPDX-License-Identifier: Apache-2.0
 *
 * Totals of allocations without events. Each combination of level, reason, device and family has a
 * cell, which becomes an `unrecorded` event. The cells of a device share an account, which holds
 * the sums that a reader of the trace would have by now (by the same rules, those of src/ledger),
 * and the highest values that they really reached since. The cells are written before every event
 * that depends on memory sums, and when half of flush_ms has passed. Before an allocation or a free
 * they are written only if they contain a new peak, or if the reader would compute a false one
 * without them. When all cells are in use they are written early. Until they are written, their
 * contents are in FILE.live (live_counts.c), so that a kill loses none of them. */
#include "trace/record/live_counts.h"

/* --- cells --- */

static bool is_cell(const struct vs_unrecorded_cell *cell, const struct vs_change *change,
                    enum vs_why why)
{
    return cell->sums.level == change->level && cell->sums.why == why &&
           cell->sums.family == change->family && cell->sums.device == change->device;
}

/* Sets which cells report the peak of *cell*'s account and that of its family: of each the first cell. */
static void find_bearers(struct vs_selection *s, struct vs_unrecorded_cell *cell)
{
    unsigned i = (unsigned)(cell - s->cells);
    cell->account_bearer = cell->family_bearer = (uint8_t)i;
    while (i-- > 0) {
        const struct vs_unrecorded_cell *other = &s->cells[i];
        if (other->account != cell->account)
            continue;
        cell->account_bearer = (uint8_t)i;
        if (other->sums.family == cell->sums.family && other->sums.level != VS_LEVEL_SEGMENT &&
            cell->sums.level != VS_LEVEL_SEGMENT)
            cell->family_bearer = (uint8_t)i;
    }
}

/* The cell of *change*; when there is no free one, after writing them all. */
static struct vs_unrecorded_cell *cell_of_locked(struct vs_recorder *r,
                                                 const struct vs_change *change, enum vs_why why)
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
    *cell = (struct vs_unrecorded_cell){.sums = {.level = change->level,
                                                 .why = why,
                                                 .family = change->family,
                                                 .device = change->device}};
    cell->account = (uint8_t)vs_book_index(change);
    find_bearers(s, cell);
    return cell;
}

static uint64_t above(uint64_t high, uint64_t written)
{
    int64_t by = (int64_t)(high - written);
    return by > 0 ? (uint64_t)by : 0;
}

/* The event of cell *i* as it would be written now. */
VS_ALWAYS_INLINE static inline uint32_t event_of_cell(const struct vs_selection *s, unsigned i,
                                                      uint64_t now_ns,
                                                      struct vs_event_unrecorded *u)
{
    const struct vs_unrecorded_cell *cell = &s->cells[i];
    const struct vs_unrecorded_account *a = &s->accounts[cell->account];
    const struct vs_levels *high = &a->high, *written = &a->written.now;
    *u = cell->sums;
    u->peak_ns = now_ns;
    if (cell->family_bearer == i && u->level != VS_LEVEL_SEGMENT)
        u->family_peak = above(high->family[u->family], written->family[u->family]);
    if (cell->account_bearer != i)
        return cell->tid;
    u->peak_allocated = above(high->allocated, written->allocated);
    u->peak_requested = above(high->requested, written->requested);
    u->peak_reserved = u->level == VS_LEVEL_FRAMEWORK ? a->framework_reserved
                                                      : above(high->reserved, written->reserved);
    if (!a->peak_ns)
        return cell->tid;
    u->peak_ns = a->peak_ns;
    return a->peak_tid;
}

/* --- in FILE.live --- */

/* Publish cell *i*. *events*: number of events recorded before it is valid. */
static void show_cell_locked(struct vs_recorder *r, unsigned i, uint64_t events)
{
    struct vs_selection *s = &r->selection;
    struct vs_live_count *copy = vs_live_counts_begin_locked(r, i);
    copy->events = events;
    copy->time_ns = s->counted_ns;
    copy->tid =
        event_of_cell(s, i, s->counted_ns, (struct vs_event_unrecorded *)copy->fields);
    vs_live_counts_put_locked(r, copy);
}

void vs_unrecorded_publish_locked(struct vs_recorder *r)
{
    for (unsigned i = 0; i < r->selection.cell_count; i++)
        show_cell_locked(r, i, vs_window_events_locked(r));
    if (r->selection.cell_count)
        vs_live_counts_commit_locked(r);
}

/* An event of account *a* and *family* is about to be recorded: pending peaks are differences to a
 * sum that it changes. */
static void show_follow_locked(struct vs_recorder *r, const struct vs_unrecorded_account *a,
                               unsigned family)
{
    struct vs_selection *s = &r->selection;
    bool any = false;
    for (unsigned i = 0; i < s->cell_count; i++) {
        const struct vs_unrecorded_cell *cell = &s->cells[i];
        bool bears = cell->account_bearer == i ||
                     (cell->family_bearer == i && cell->sums.family == family);
        if (!bears || &s->accounts[cell->account] != a)
            continue;
        show_cell_locked(r, i, vs_window_events_locked(r) + 1);
        any = true;
    }
    if (any)
        vs_live_counts_commit_locked(r);
}

/* --- counting --- */

/* The sums that a change of *family* affects: the account's three, and the family's. */
#define CHANGED_SUMS 4u
static inline unsigned sum_of(unsigned i, unsigned family)
{
    return i < 3 ? i : 3 + family;
}

/* *now*: the sums after a change. Returns whether one of the account's three is the highest since
 * the last writing. *unknown*: set if one is above the peak that a reader of the trace has. */
VS_ALWAYS_INLINE static inline bool raise_heights(struct vs_unrecorded_account *a,
                                                  const struct vs_levels *now, unsigned family,
                                                  bool *unknown)
{
    bool higher = false;
    for (unsigned i = 0; i < CHANGED_SUMS; i++) {
        unsigned k = sum_of(i, family);
        uint64_t sum = now->sum[k];
        if (sum > a->range_high.sum[k])
            a->range_high.sum[k] = sum;
        if (sum > a->high.sum[k]) {
            a->high.sum[k] = sum;
            higher |= i < 3;
        }
        *unknown |= sum > a->written.peak.sum[k];
    }
    return higher;
}

/* Whether the pending cells have to be written before a change of the sums *now* by *step*:
 * otherwise the reader would miss a peak, or see one that never was. */
static bool must_precede(const struct vs_unrecorded_account *a, const struct vs_ledger *ledger,
                         const struct vs_change *change)
{
    struct vs_ledger after = *ledger;
    const struct vs_levels *now = &ledger->now;
    bool must = false;
    vs_ledger_apply(&after, change);
    for (unsigned i = 0; i < CHANGED_SUMS; i++) {
        unsigned k = sum_of(i, change->family);
        uint64_t written = a->written.now.sum[k], more = after.now.sum[k] - now->sum[k];
        if (now->sum[k] != written && (int64_t)more > 0)
            must |= now->sum[k] + more > a->written.peak.sum[k] ||
                    written + more > a->range_high.sum[k];
    }
    return must;
}

void vs_unrecorded_add_locked(struct vs_recorder *r, struct vs_book *book,
                              const struct vs_change *change, enum vs_why why,
                              const struct vs_event *event)
{
    struct vs_selection *s = &r->selection;
    struct vs_ledger *ledger = &book->account[vs_book_index(change)];
    struct vs_unrecorded_account *a = &s->accounts[vs_book_index(change)];
    if (change->freed_size > ledger->now.family[change->family] &&
        change->level != VS_LEVEL_SEGMENT)
        return; /* the allocation was never seen */
    struct vs_unrecorded_cell *cell = cell_of_locked(r, change, why);
    uint64_t before = ledger->now.reserved;
    vs_book_apply(book, change);
    int64_t reserved = (int64_t)(ledger->now.reserved - before);
    if (!cell)
        return;
    struct vs_event_unrecorded *u = &cell->sums;
    u->allocs += change->allocs;
    u->requested += change->requested;
    u->size += change->size;
    u->frees += change->frees;
    u->freed_requested += change->freed_requested;
    u->freed_size += change->freed_size;
    u->reserved += (uint64_t)reserved;
    if (!change->allocs && !change->frees) { /* memory that the driver holds for graphs */
        *(reserved >= 0 ? &u->allocs : &u->frees) += 1;
        *(reserved >= 0 ? &u->size : &u->freed_size) += (uint64_t)(reserved >= 0 ? reserved : -reserved);
    }
    cell->tid = vs_encode_thread();
    bool higher = raise_heights(a, &ledger->now, change->family, &s->must);
    if (event->kind == VS_EVENT_framework_alloc &&
        event->framework_alloc.total_reserved > a->framework_reserved)
        a->framework_reserved = event->framework_alloc.total_reserved;
    if (higher) {
        a->peak_ns = event->time_ns;
        a->peak_tid = cell->tid;
    }
    a->pending = a->used = s->pending = true;
    s->counted_ns = event->time_ns;
    /* publish the cells whose contents the change alters */
    unsigned i = (unsigned)(cell - r->selection.cells);
    uint64_t events = vs_window_events_locked(r);
    show_cell_locked(r, i, events);
    if (cell->account_bearer != i)
        show_cell_locked(r, cell->account_bearer, events);
    if (cell->family_bearer != i && cell->family_bearer != cell->account_bearer)
        show_cell_locked(r, cell->family_bearer, events);
    vs_live_counts_commit_locked(r);
}

void vs_unrecorded_follow_locked(struct vs_recorder *r, struct vs_book *book,
                                 const struct vs_change *change)
{
    struct vs_selection *s = &r->selection;
    struct vs_ledger *ledger = &book->account[vs_book_index(change)];
    struct vs_unrecorded_account *a = &s->accounts[vs_book_index(change)];
    /* the room comes first: other threads may count while we wait for it, and the copies in
     * FILE.live name the event from which they are valid */
    bool room = vs_window_reserve_locked(r, VS_EVENT_BYTES_MAX), unknown = false;
    if (room && s->pending &&
        (s->must || (change->family == VS_FAMILY_GRAPH && a->pending) ||
         must_precede(a, ledger, change)))
        vs_unrecorded_write_locked(r); /* leaves room for one more event */
    vs_book_apply(book, change);
    raise_heights(a, &ledger->now, change->family, &unknown);
    if (!room)
        return;
    vs_ledger_apply(&a->written, change);
    a->used = true;
    if (a->pending)
        show_follow_locked(r, a, change->family);
}

/* Everything has been written. */
void vs_unrecorded_range_locked(struct vs_recorder *r)
{
    for (unsigned i = 0; i < VS_BOOK_ACCOUNTS; i++) {
        struct vs_unrecorded_account *a = &r->selection.accounts[i];
        if (a->used)
            a->high = a->range_high = a->written.now;
    }
}

/* --- writing --- */

void vs_unrecorded_write_locked(struct vs_recorder *r)
{
    struct vs_selection *s = &r->selection;
    unsigned cells;
    /* with all the room reserved at once no thread records in between, and the counts precede the
     * event that follows; other threads may count while we wait for the room */
    do {
        cells = s->cell_count;
        if (!s->pending || !vs_window_reserve_locked(r, (cells + 1) * VS_EVENT_BYTES_MAX))
            return;
    } while (s->cell_count != cells);
    uint64_t now = vs_ticks_now(&r->ticks);
    s->pending = s->must = false;
    vs_live_counts_record_begin_locked(r);
    for (unsigned i = 0; i < cells; i++) {
        struct vs_ledger *written = &s->accounts[s->cells[i].account].written;
        struct vs_event event = {.kind = VS_EVENT_unrecorded, .time_ns = now};
        event.tid = event_of_cell(s, i, now, &event.unrecorded);
        vs_recorder_event_locked(r, &event);
        struct vs_levels height = vs_event_height(&event.unrecorded, &written->now);
        struct vs_change change = vs_event_change(&event.unrecorded);
        vs_ledger_rise(written, &height);
        vs_ledger_apply(written, &change);
    }
    for (unsigned i = 0; i < cells; i++) {
        struct vs_unrecorded_account *a = &s->accounts[s->cells[i].account];
        a->high = a->written.now; /* the current sums */
        a->framework_reserved = a->peak_ns = 0;
        a->pending = false;
    }
    s->cell_count = 0;
    vs_live_counts_record_end_locked(r);
}
