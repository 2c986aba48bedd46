/* SPDX-License-Identifier: Apache-2.0
 *
 * The content of a trace, counted event by event rather than by the analysis: one line per family
 * with allocations, frees, failures and requested bytes, then the end of the trace and its notes.
 * Frees of memory that is not live are printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vs_map.h"
#include "trace/read/reader.h"

struct count {
    uint64_t allocs, frees, failed, bytes;
};

static struct count counts[VS_FAMILY_COUNT];
static struct vs_map live; /* address, without its family's bits -> family */
static uint64_t stray, twice;

static void apply(const struct vs_reader *reader, const struct vs_event *e)
{
    uint64_t *family;
    switch (e->kind) {
    case VS_EVENT_alloc:
        counts[e->alloc.family].allocs++;
        counts[e->alloc.family].bytes += e->alloc.requested;
        twice += vs_map_get(&live, e->alloc.addr) != NULL;
        if (vs_map_put(&live, e->alloc.addr, e->alloc.family))
            exit(2);
        break;
    case VS_EVENT_free:
        family = vs_map_get(&live, e->free.addr);
        if (!family) {
            stray++;
            break;
        }
        counts[*family].frees++;
        vs_map_remove(&live, e->free.addr, NULL);
        break;
    case VS_EVENT_alloc_failed:
        counts[e->alloc_failed.family].failed++;
        break;
    case VS_EVENT_note:
        printf("note %s\n", vs_reader_string(reader, e->note.text));
        break;
    case VS_EVENT_end:
        printf("end %" PRIu64 " %" PRIu64 "\n", e->end.reason, e->end.status);
        break;
    default:
        break;
    }
}

int main(int argc, char **argv)
{
    struct vs_reader *reader;
    struct vs_event event;
    char why[VS_READER_WHY_MAX], text[VS_READER_WHY_MAX];
    enum vs_err err;
    if (argc != 2)
        return 2;
    if (vs_reader_open(argv[1], &reader, why)) {
        printf("unreadable %s\n", why);
        return 1;
    }
    while (!(err = vs_reader_next(reader, &event)))
        apply(reader, &event);
    for (unsigned i = 0; i < VS_FAMILY_COUNT; i++)
        printf("family %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i, counts[i].allocs,
               counts[i].frees, counts[i].failed, counts[i].bytes);
    printf("stray %" PRIu64 " twice %" PRIu64 "\n", stray, twice);
    printf("condition %d %s\n", (int)vs_reader_condition(reader, text), text);
    vs_map_free(&live);
    vs_reader_close(reader);
    return err == VS_ERR_END ? 0 : 1;
}
