/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows in FILE.live, left by a killed (or still running) process, that are not in the trace yet.
 * The sequence of a window is read before and after it is copied, so that a window that a running
 * process reuses meanwhile is not used. */
#include <stdlib.h>
#include <string.h>

#include "trace/read/reader_internal.h"

#include "base/reading/vs_xalloc.h"

#define PAGE_BYTES ((size_t)4096)

bool vs_recovery_fits(const struct vs_live_header *h, const uint8_t *uuid)
{
    return !memcmp(h->magic, VS_LIVE_MAGIC, VS_MAGIC_BYTES) && h->major <= VS_FORMAT_MAJOR &&
           h->byte_order == VS_BYTE_ORDER && !memcmp(h->uuid, uuid, sizeof h->uuid) &&
           h->header_bytes >= sizeof *h && h->windows <= VS_LIVE_WINDOWS_MAX &&
           h->window_bytes <= VS_FRAME_RAW_MAX;
}

/* The copy is in private memory; _Atomic is not needed to read it. */
static uint64_t value(const _Atomic uint64_t *p)
{
    return atomic_load_explicit(p, memory_order_relaxed);
}

static bool is_zero(const unsigned char *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && !bytes[i])
        i++;
    return i == n;
}

/* Pages that never reached the disk before the machine stopped are zero. A record that reaches into
 * one would decode, as zeros: the bytes end where the first such page begins. No record ends in so
 * many zeros. */
static size_t bytes_written(const unsigned char *data, size_t used, uint64_t offset)
{
    size_t at = (size_t)(-offset & (PAGE_BYTES - 1));
    for (; at < used; at += PAGE_BYTES) {
        size_t n = used - at < PAGE_BYTES ? used - at : PAGE_BYTES;
        if (n > VS_KIND_FIELDS_MAX && is_zero(data + at, n))
            return at;
    }
    return used;
}

static void load_window(struct vs_recovery *recovery, const struct vs_source *source,
                        const struct vs_live_header *h, unsigned i)
{
    uint64_t offset = h->header_bytes + i * h->window_bytes;
    uint64_t used = value(&h->window[i].used);
    if (!value(&h->window[i].sequence) || offset >= source->size || !used)
        return;
    if (used > h->window_bytes)
        used = h->window_bytes;
    uint64_t claimed = used;
    if (used > source->size - offset)
        used = source->size - offset;
    struct vs_recovered_window *w = &recovery->windows[recovery->count];
    w->data = vs_xcalloc(1, used);
    w->used = bytes_written(w->data, vs_source_read(source, offset, w->data, used), offset);
    w->cut = w->used < claimed;
    w->sequence = value(&h->window[i].sequence);
    w->first_event = value(&h->window[i].first_event);
    w->base_ns = value(&h->window[i].base_ns);

    struct vs_live_window again;
    uint64_t at = offsetof(struct vs_live_header, window) + i * sizeof again;
    if (w->used && vs_source_read(source, at, &again, sizeof again) == sizeof again &&
        value(&again.sequence) == w->sequence) {
        recovery->count++;
    } else {
        free(w->data);
        w->data = NULL;
    }
}

void vs_recovery_load(struct vs_recovery *recovery, const struct vs_source *source,
                      const uint8_t *uuid)
{
    struct vs_live_header header;
    if (vs_source_read(source, 0, &header, sizeof header) != sizeof header ||
        !vs_recovery_fits(&header, uuid))
        return;
    recovery->found = true;
    if (header.end_kind == VS_OUTCOME_EXITED || header.end_kind == VS_OUTCOME_KILLED)
        recovery->outcome = (struct vs_reader_outcome){header.end_kind, header.end_status};
    vs_recovered_counts_load(&recovery->counts, source, &header);
    /* read again: *used* must not be older than the counts */
    if (vs_source_read(source, 0, &header, sizeof header) != sizeof header ||
        !vs_recovery_fits(&header, uuid))
        header.windows = 0;
    for (unsigned i = 0; i < header.windows; i++)
        load_window(recovery, source, &header, i);
}

const struct vs_recovered_window *vs_recovery_find(const struct vs_recovery *recovery,
                                                   uint64_t sequence)
{
    for (unsigned i = 0; i < recovery->count; i++) {
        if (recovery->windows[i].sequence == sequence)
            return &recovery->windows[i];
    }
    return NULL;
}

uint64_t vs_recovery_newest(const struct vs_recovery *recovery)
{
    uint64_t newest = 0;
    for (unsigned i = 0; i < recovery->count; i++) {
        if (recovery->windows[i].sequence > newest)
            newest = recovery->windows[i].sequence;
    }
    return newest;
}

uint64_t vs_recovery_oldest(const struct vs_recovery *recovery, uint64_t sequence)
{
    uint64_t oldest = 0;
    for (unsigned i = 0; i < recovery->count; i++) {
        uint64_t here = recovery->windows[i].sequence;
        if (here >= sequence && (!oldest || here < oldest))
            oldest = here;
    }
    return oldest;
}

void vs_recovery_free(struct vs_recovery *recovery)
{
    for (unsigned i = 0; i < recovery->count; i++)
        free(recovery->windows[i].data);
    vs_recovered_counts_free(&recovery->counts);
    *recovery = (struct vs_recovery){0};
}
