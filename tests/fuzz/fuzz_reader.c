/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace reader on any bytes: as a file, and as a file with a live window. Input: see
 * trace_input.h. All reader functions are called for every event, in two passes, to check that a
 * rewind changes nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "fuzz/check.h"
#include "fuzz/event_use.h"
#include "fuzz/memory_budget.h"
#include "fuzz/trace_input.h"
#include "trace/format/format.h"
#include "trace/read/reader_internal.h"

#define EVENTS_MAX 2000000u /* a frame of 4 MiB of the shortest events is 2 million */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t read_all(struct vs_reader *r, uint64_t *hash)
{
    struct vs_event event;
    uint64_t events = 0, last_ns = 0;
    *hash = 0;
    while (events < EVENTS_MAX && !vs_reader_next(r, &event)) {
        check(event.time_ns >= last_ns);
        last_ns = event.time_ns;
        event_use(r, &event);
        *hash = XXH3_64bits_withSeed(&event, sizeof event, *hash);
        events++;
    }
    return events;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_input in;
    if (!trace_input_make(data, size, &in))
        return 0;
    struct vs_reader *r = NULL;
    char why[VS_READER_WHY_MAX], text[VS_READER_WHY_MAX];
    size_t texts = 0;
    memory_budget_begin();
    if (!vs_reader_open_bytes(in.file, in.file_bytes, in.live, in.live_bytes, "input", &r, why)) {
        uint64_t first, second;
        uint64_t events = read_all(r, &first);
        vs_reader_condition(r, text);
        vs_reader_rewind(r);
        check(read_all(r, &second) == events && first == second);
        texts = r->table.text.bytes_mapped; /* from mmap, not from the heap */
        vs_reader_close(r);
    }
    check(texts < trace_input_budget(&in));
    memory_budget_check(trace_input_budget(&in) - texts, 1);
    trace_input_free(&in);
    return 0;
}
