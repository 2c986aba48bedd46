/* SPDX-License-Identifier: Apache-2.0
 *
 * Delivers the counts that a killed process left in FILE.live (live_counts.c), as the last records
 * of its trace: an `unrecorded` event for each cell that had none yet, as the process would have
 * recorded it, then `recording_changed` with VS_RECORDING_SUMMED_UP. They are delivered only if all
 * events before them are available, nothing changed while they and the windows were read, and the
 * latest change is among them: otherwise sums would be counted twice, or data lost when the machine
 * stopped would look like no change. */
#include <stdlib.h>
#include <string.h>

#include "trace/read/reader_internal.h"

#include "base/reading/vs_xalloc.h"

#define EVENT_BYTES_MAX (1u + 2u * VS_VARINT_MAX + VS_KIND_FIELDS_MAX * VS_VARINT_MAX)

static uint64_t value(const _Atomic uint64_t *p)
{
    return atomic_load_explicit(p, memory_order_relaxed);
}

static bool read_header(const struct vs_source *source, struct vs_live_counts *out)
{
    return vs_source_read(source, sizeof(struct vs_live_header), out, sizeof *out) == sizeof *out;
}

static bool has_room(const struct vs_live_counts *h, const struct vs_live_header *live,
                     const struct vs_source *source)
{
    uint64_t end = (uint64_t)h->offset + (uint64_t)h->cells * sizeof(struct vs_live_cell);
    return h->offset >= sizeof *live + sizeof *h && h->cells && h->cells <= VS_LIVE_CELLS_MAX &&
           end <= live->header_bytes && end <= source->size;
}

void vs_recovered_counts_load(struct vs_recovered_counts *counts, const struct vs_source *source,
                              const struct vs_live_header *live)
{
    struct vs_live_counts *h = &counts->header;
    if (live->header_bytes < sizeof *live + sizeof *h || !read_header(source, h) ||
        !has_room(h, live, source))
        return;
    size_t bytes = h->cells * sizeof *counts->cells;
    counts->cells = vs_xcalloc(1, bytes);
    if (vs_source_read(source, h->offset, counts->cells, bytes) != bytes)
        vs_recovered_counts_free(counts);
}

void vs_recovered_counts_confirm(struct vs_recovered_counts *counts,
                                 const struct vs_source *source)
{
    struct vs_live_counts now;
    const struct vs_live_counts *then = &counts->header;
    if (!counts->cells || (read_header(source, &now) &&
                           value(&now.version) == value(&then->version) &&
                           value(&now.written) == value(&then->written) &&
                           value(&now.writing) == value(&then->writing)))
        return;
    vs_recovered_counts_free(counts);
}

void vs_recovered_counts_free(struct vs_recovered_counts *counts)
{
    free(counts->cells);
    free(counts->records);
    *counts = (struct vs_recovered_counts){0};
}

/* --- records --- */

struct records {
    unsigned char *next;
    uint64_t time_ns, last_t, last_address;
};

static void put_event(struct records *to, const struct vs_reader_kind *kind, unsigned code,
                      uint32_t tid, uint64_t time_ns, const uint64_t *fields)
{
    unsigned char *p = to->next;
    *p++ = (unsigned char)(code | VS_RECORD_TID);
    p = vs_put_varint(p, tid);
    p = vs_put_varint(p, time_ns - to->time_ns);
    to->time_ns = time_ns;
    for (unsigned i = 0; i < kind->field_count; i++) {
        uint64_t field = i < kind->known_fields ? fields[i] : 0, coded = field;
        uint64_t *last = kind->codecs[i] == VS_CODEC_T ? &to->last_t : &to->last_address;
        if (kind->codecs[i] == VS_CODEC_S) {
            coded = vs_zigzag(field);
        } else if (kind->codecs[i] == VS_CODEC_T || kind->codecs[i] == VS_CODEC_A) {
            coded = vs_zigzag(field - *last);
            *last = field;
        }
        p = vs_put_varint(p, coded);
    }
    to->next = p;
}

/* The copy in effect after *events*; NULL: none, which is damage in a cell that others follow. */
static const struct vs_live_count *in_force(const struct vs_recovered_counts *counts, unsigned i,
                                            uint64_t events)
{
    const struct vs_live_count *best = NULL;
    for (unsigned k = 0; k < 2; k++) {
        const struct vs_live_count *c = &counts->cells[i].copy[k];
        uint64_t version = value(&c->version);
        if (version > value(&counts->header.written) &&
            version <= value(&counts->header.version) && c->events <= events &&
            c->tid <= UINT32_MAX && (!best || version > value(&best->version)))
            best = c;
    }
    return best;
}

/* The latest change in cell *i* since the cells were last recorded; 0: not in use. */
static uint64_t newest_of(const struct vs_recovered_counts *counts, unsigned i)
{
    uint64_t newest = 0;
    for (unsigned k = 0; k < 2; k++) {
        uint64_t version = value(&counts->cells[i].copy[k].version);
        if (version > value(&counts->header.written) &&
            version <= value(&counts->header.version) && version > newest)
            newest = version;
    }
    return newest;
}

/* The cells to deliver as events: from *first* to before *end*, with their values after
 * *events*. */
struct recovered_counts_chosen {
    unsigned first, end;
    uint64_t events;
};

/* Returns false when some of the changes are missing. */
static bool choose(const struct vs_reader *r, struct recovered_counts_chosen *out)
{
    const struct vs_recovered_counts *counts = &r->recovery.counts;
    uint64_t recording = value(&counts->header.writing);
    uint64_t newest = value(&counts->header.written), of, recorded;
    *out = (struct recovered_counts_chosen){.events = r->events};
    for (; out->end < counts->header.cells && (of = newest_of(counts, out->end)); out->end++)
        newest = of > newest ? of : newest;
    if (newest != value(&counts->header.version))
        return false;
    if (recording && out->end) { /* it was recording them: this many of the latest events are these
                                  * counts */
        if (recording - 1 > r->events)
            return false;
        out->events = recording - 1;
        recorded = r->events - out->events;
        out->first = recorded < out->end ? (unsigned)recorded : out->end;
    }
    for (unsigned i = out->first; i < out->end; i++) {
        if (!in_force(counts, i, out->events))
            return false;
    }
    return true;
}

static bool is_known(const struct vs_reader_kind *kind)
{
    return kind->defined && kind->known;
}

const unsigned char *vs_recovered_counts_records(struct vs_reader *r, size_t *bytes)
{
    struct vs_recovered_counts *counts = &r->recovery.counts;
    const struct vs_reader_kind *unrecorded = &r->kinds[VS_EVENT_unrecorded];
    const struct vs_reader_kind *changed = &r->kinds[VS_EVENT_recording_changed];
    struct recovered_counts_chosen chosen;
    if (!counts->cells || r->counts_delivered || r->end_seen || !is_known(unrecorded) ||
        !is_known(changed) || !choose(r, &chosen))
        return NULL;
    if (!counts->records)
        counts->records = vs_xcalloc(1, (counts->header.cells + 1) * (size_t)EVENT_BYTES_MAX);
    struct records to = {counts->records, r->time_ns, r->time_ns, 0};
    uint64_t time_ns = r->time_ns; /* the latest */
    for (unsigned i = chosen.first; i < chosen.end; i++) {
        const struct vs_live_count *c = in_force(counts, i, chosen.events);
        time_ns = c->time_ns > time_ns ? c->time_ns : time_ns;
    }
    uint64_t fields[VS_EVENT_FIELDS_MAX] = {0};
    for (unsigned i = chosen.first; i < chosen.end; i++) {
        const struct vs_live_count *c = in_force(counts, i, chosen.events);
        memcpy(fields, c->fields, sizeof c->fields);
        put_event(&to, unrecorded, VS_EVENT_unrecorded, (uint32_t)c->tid, time_ns, fields);
    }
    memset(fields, 0, sizeof fields);
    fields[0] = VS_RECORDING_SUMMED_UP;
    put_event(&to, changed, VS_EVENT_recording_changed, 0, time_ns, fields);
    *bytes = (size_t)(to.next - counts->records);
    return counts->records;
}
