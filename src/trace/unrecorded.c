/* SPDX-License-Identifier: Apache-2.0
 *
 * Totals of allocations without events. Each combination of level, reason, device and
 * family has a cell; a device's cells share an account that keeps the highest of their
 * sum. Between two writings no event that looks at memory is recorded, so "above what it
 * was before" is all that a reader needs to know the peaks exactly. When the cells do not
 * suffice they are written early. */
#include "trace/recorder_internal.h"

static struct vs_unrecorded_account *account_of(struct vs_selection *s, unsigned level,
                                                unsigned family, unsigned device)
{
    if (level == VS_LEVEL_FRAMEWORK)
        return &s->accounts[VS_UNRECORDED_DEVICES + 1 + device];
    if (family == VS_FAMILY_PINNED || family == VS_FAMILY_REGISTERED)
        return &s->accounts[VS_UNRECORDED_DEVICES];
    return &s->accounts[device];
}

static bool is_cell(const struct vs_unrecorded_cell *cell, const struct vs_change *change,
                    enum vs_why why)
{
    return cell->level == change->level && cell->why == why && cell->family == change->family &&
           cell->device == change->device;
}

/* The cell of *change*; when there is no room for another, after writing them all. */
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
    *cell = (struct vs_unrecorded_cell){.level = (uint8_t)change->level,
                                        .why = (uint8_t)why,
                                        .family = (uint8_t)change->family,
                                        .device = (uint8_t)change->device};
    return cell;
}

static bool raise(int64_t *figure, int64_t *peak, int64_t by)
{
    *figure += by;
    if (*figure <= *peak)
        return false;
    *peak = *figure;
    return true;
}

static void count_cell(struct vs_unrecorded_cell *cell, const struct vs_change *change)
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
}

void vs_unrecorded_add_locked(struct vs_recorder *r, const struct vs_change *change,
                              enum vs_why why, uint64_t now_ns)
{
    struct vs_unrecorded_cell *cell = cell_of_locked(r, change, why);
    if (!cell)
        return;
    struct vs_unrecorded_account *a =
        account_of(&r->selection, change->level, change->family, change->device);
    int64_t sign = change->alloc ? 1 : -1, size = sign * (int64_t)change->size;
    count_cell(cell, change);
    cell->tid = vs_encode_thread();
    bool higher = raise(&a->reserved, &a->reserved_peak, change->reserved);
    if (change->level != VS_LEVEL_SEGMENT) {
        (void)raise(&a->family[change->family].live, &a->family[change->family].peak, size);
        if (change->family != VS_FAMILY_IPC) {
            higher |= raise(&a->allocated, &a->allocated_peak, size);
            higher |= raise(&a->requested, &a->requested_peak, sign * (int64_t)change->requested);
        }
    }
    if (change->reserved_now > a->framework_reserved)
        a->framework_reserved = change->reserved_now;
    if (higher) {
        a->peak_ns = now_ns;
        a->peak_tid = cell->tid;
    }
    a->pending = r->selection.pending = true;
}

/* The first event of an account carries what the account reached, the first of a family
 * what that did. */
static void fill_peaks(struct vs_event *event, struct vs_unrecorded_account *a)
{
    if (event->unrecorded.level != VS_LEVEL_SEGMENT) {
        event->unrecorded.family_peak = (uint64_t)a->family[event->unrecorded.family].peak;
        a->family[event->unrecorded.family].peak = a->family[event->unrecorded.family].live = 0;
    }
    if (!a->pending)
        return;
    event->unrecorded.peak_allocated = (uint64_t)a->allocated_peak;
    event->unrecorded.peak_requested = (uint64_t)a->requested_peak;
    event->unrecorded.peak_reserved =
        a->framework_reserved ? a->framework_reserved : (uint64_t)a->reserved_peak;
    if (a->peak_ns) {
        event->unrecorded.peak_ns = a->peak_ns;
        event->tid = a->peak_tid;
    }
    a->allocated = a->requested = a->reserved = 0;
    a->allocated_peak = a->requested_peak = a->reserved_peak = 0;
    a->framework_reserved = a->peak_ns = 0;
    a->pending = false;
}

void vs_unrecorded_write_locked(struct vs_recorder *r)
{
    struct vs_selection *s = &r->selection;
    /* with the room for all of it at once nobody comes in between, and what was counted
     * is in front of the event that follows */
    if (!s->pending || !vs_window_reserve_locked(r, (s->cell_count + 1) * VS_EVENT_BYTES_MAX))
        return;
    uint64_t now = vs_ticks_now(&r->ticks);
    s->pending = false;
    for (unsigned i = 0; i < s->cell_count; i++) {
        const struct vs_unrecorded_cell *cell = &s->cells[i];
        struct vs_event event = {.kind = VS_EVENT_unrecorded,
                                 .tid = cell->tid,
                                 .time_ns = now,
                                 .unrecorded = {.level = cell->level,
                                                .why = cell->why,
                                                .device = cell->device,
                                                .family = cell->family,
                                                .allocs = cell->allocs,
                                                .requested = cell->requested,
                                                .size = cell->size,
                                                .frees = cell->frees,
                                                .freed_requested = cell->freed_requested,
                                                .freed_size = cell->freed_size,
                                                .reserved = (uint64_t)cell->reserved,
                                                .peak_ns = now}};
        fill_peaks(&event, account_of(s, cell->level, cell->family, cell->device));
        vs_recorder_event_locked(r, &event);
    }
    s->cell_count = 0;
}
