/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace reader on any bytes: as a file, and as a file with a live window.
 * Input: a byte of flags, a 32-bit length, that many bytes of FILE.live, the rest
 * is the file. Flag 1 makes the checksums and the window's uuid right first, so
 * that what lies behind them is reached. Everything a consumer may do is done
 * with every event, and twice, to see that a rewind changes nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/format.h"
#include "trace/reader_internal.h"

#define MAKE_RIGHT 1u
#define EVENTS_MAX 2000000u /* a frame of 4 MiB of the shortest events is 2 million */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_right(uint8_t *file, size_t size, uint8_t *live, size_t live_size)
{
    struct vs_file_header h;
    if (size < sizeof h)
        return;
    memcpy(&h, file, sizeof h);
    h.checksum = XXH64(&h, offsetof(struct vs_file_header, checksum), 0);
    memcpy(file, &h, sizeof h);
    if (live_size >= sizeof(struct vs_live_header))
        memcpy(live + offsetof(struct vs_live_header, uuid), h.uuid, sizeof h.uuid);
    size_t at = h.header_bytes;
    struct vs_frame_header frame;
    while (at < size && size - at >= sizeof frame) {
        memcpy(&frame, file + at, sizeof frame);
        if (frame.sync != VS_FRAME_SYNC || frame.header_bytes < sizeof frame ||
            size - at < frame.header_bytes ||
            size - at - frame.header_bytes < frame.stored_bytes)
            return;
        XXH64_state_t state;
        XXH64_reset(&state, 0);
        XXH64_update(&state, &frame, offsetof(struct vs_frame_header, checksum));
        XXH64_update(&state, file + at + sizeof frame,
                     frame.header_bytes - sizeof frame + frame.stored_bytes);
        frame.checksum = XXH64_digest(&state);
        memcpy(file + at, &frame, sizeof frame);
        at += frame.header_bytes + (size_t)frame.stored_bytes;
    }
}

static void check(bool right)
{
    if (!right)
        abort();
}

/* Ids a consumer may index with, texts it may print. */
static void use_event(const struct vs_reader *r, const struct vs_event *event)
{
    const struct vs_event_info *info = vs_event_describe(event->kind);
    struct vs_frame frames[16];
    check(info != NULL);
    for (unsigned i = 0; i < info->field_count; i++) {
        if (info->fields[i].codec == VS_CODEC_STR) {
            check(event->fields[i] <= r->table.string_count);
            check(strlen(vs_reader_string(r, event->fields[i])) <= 3 * VS_STRING_MAX);
        } else if (info->fields[i].codec == VS_CODEC_STK) {
            check(event->fields[i] <= r->table.node_count);
            size_t n = vs_reader_stack(r, event->fields[i], frames, 16);
            for (size_t j = 0; j < n; j++)
                check(frames[j].module == VS_NO_MODULE || vs_reader_module(r, frames[j].module));
        }
    }
}

static uint64_t read_all(struct vs_reader *r, uint64_t *hash)
{
    struct vs_event event;
    uint64_t events = 0, last_ns = 0;
    *hash = 0;
    while (events < EVENTS_MAX && !vs_reader_next(r, &event)) {
        check(event.time_ns >= last_ns);
        last_ns = event.time_ns;
        use_event(r, &event);
        *hash = XXH3_64bits_withSeed(&event, sizeof event, *hash);
        events++;
    }
    return events;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t live_size;
    if (size < 5)
        return 0;
    memcpy(&live_size, data + 1, sizeof live_size);
    if (live_size > size - 5)
        live_size = (uint32_t)(size - 5);
    size_t file_size = size - 5 - live_size;
    uint8_t *live = malloc(live_size + 1), *file = malloc(file_size + 1);
    check(live && file);
    memcpy(live, data + 5, live_size);
    memcpy(file, data + 5 + live_size, file_size);
    if (data[0] & MAKE_RIGHT)
        make_right(file, file_size, live, live_size);

    struct vs_reader *r = NULL;
    char why[VS_READER_WHY_MAX], text[VS_READER_WHY_MAX];
    if (!vs_reader_open_bytes(file, file_size, live_size ? live : NULL, live_size, "input", &r,
                              why)) {
        uint64_t first, second;
        uint64_t events = read_all(r, &first);
        vs_reader_condition(r, text);
        check(!vs_reader_rewind(r));
        check(read_all(r, &second) == events && first == second);
        vs_reader_close(r);
    }
    free(live);
    free(file);
    return 0;
}
