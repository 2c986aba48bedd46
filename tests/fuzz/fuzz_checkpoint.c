/* SPDX-License-Identifier: Apache-2.0
 *
 * The contents of checkpoints, as any bytes: the first byte of the input selects whether the rest
 * is a state, definitions, or a table with frames of both before it. Accepted input must be valid
 * for all later uses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "analysis/checkpoint/trace_state.h"
#include "trace/read/checkpoint.h"
#include "trace/read/reader_internal.h"
#include "trace/read/seek.h"

#define FRAMES 8
#define FRAME_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct vs_reader *empty_reader(void)
{
    static struct vs_file_header header;
    char why[VS_READER_WHY_MAX];
    struct vs_reader *reader;
    memcpy(header.magic, VS_FILE_MAGIC, VS_MAGIC_BYTES);
    header.major = VS_FORMAT_MAJOR;
    header.byte_order = VS_BYTE_ORDER;
    header.header_bytes = sizeof header;
    header.checksum = XXH64(&header, offsetof(struct vs_file_header, checksum), 0);
    if (vs_reader_open_bytes(&header, sizeof header, NULL, 0, "fuzz", &reader, why))
        abort();
    return reader;
}

static enum vs_err count(void *context, const unsigned char *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)context += n;
    return VS_OK;
}

static void state(const uint8_t *data, size_t size)
{
    struct vs_reader *reader = empty_reader();
    struct vs_trace_state *point = vs_trace_state_open(reader);
    if (vs_trace_state_load(point, data, size) == VS_OK && vs_trace_state_loaded(point) == VS_OK) {
        /* Continues from an accepted state: ends everything live in it. */
        size_t saved = 0;
        struct vs_event event = {.kind = VS_EVENT_range_pop, .tid = 1, .time_ns = UINT64_MAX / 2};
        for (size_t i = 0; i < point->replay->device_live.slots && i < 100; i++) {
            struct vs_event freed = {.kind = VS_EVENT_free, .time_ns = UINT64_MAX / 2,
                                     .free = {.addr = point->replay->device_live.items[i].addr}};
            vs_trace_state_event(point, &freed);
        }
        for (unsigned i = 0; i < point->replay->account_count; i++) {
            struct vs_event gone = {.kind = VS_EVENT_context, .time_ns = UINT64_MAX / 2,
                                    .context = {.context = 1,
                                                .device = point->replay->accounts[i]->device}};
            struct vs_holes holes;
            vs_trace_state_event(point, &gone);
            vs_replay_holes(point->replay, i, &holes);
        }
        vs_trace_state_event(point, &event);
        if (vs_trace_state_save(point, count, &saved))
            abort();
        vs_trace_state_window(point, 0);
        if (vs_trace_state_save(point, count, &saved))
            abort();
        vs_replay_finish(point->replay);
    }
    vs_trace_state_close(point);
    vs_reader_close(reader);
}

static void definitions(const uint8_t *data, size_t size)
{
    struct vs_reader *reader = empty_reader();
    struct vs_event event;
    struct vs_frame frames[8];
    enum vs_err err = vs_reader_define(reader, data, size);
    if (err == VS_ERR_NOMEM)
        abort();
    for (uint64_t id = 0; id <= reader->table.node_count; id++)
        for (size_t n = vs_reader_stack(reader, id, frames, 8); n-- > 0;)
            if (frames[n].module != VS_NO_MODULE && !vs_reader_module(reader, frames[n].module))
                abort();
    if (vs_reader_next(reader, &event) != VS_ERR_END)
        abort();
    vs_reader_close(reader);
}

static size_t put_frame(unsigned char *file, size_t at, const uint8_t *data, size_t size,
                        uint64_t *offset)
{
    struct vs_frame_header h = {.sync = VS_FRAME_SYNC, .type = VS_FRAME_CHECKPOINT,
                                .header_bytes = sizeof h, .raw_bytes = (uint32_t)size,
                                .stored_bytes = (uint32_t)size};
    XXH64_state_t hash;
    XXH64_reset(&hash, 0);
    XXH64_update(&hash, &h, offsetof(struct vs_frame_header, checksum));
    XXH64_update(&hash, data, size);
    h.checksum = XXH64_digest(&hash);
    *offset = at;
    memcpy(file + at, &h, sizeof h);
    memcpy(file + at + sizeof h, data, size);
    return at + sizeof h + size;
}

static void table(const uint8_t *data, size_t size)
{
    static unsigned char file[FRAMES * (FRAME_BYTES + sizeof(struct vs_frame_header))];
    uint64_t offsets[FRAMES];
    size_t used = 0, frames = 0, passed;
    struct vs_frame_place places[FRAMES];
    for (size_t i = 0; i < FRAMES; i++)
        places[i] = (struct vs_frame_place){64 + i * 100, i + 1, i * 10, i * 1000, i * 1000 + 999,
                                            10, 0};
    struct vs_frame_list list = {.items = places, .count = FRAMES, .loaded = true};
    while (size >= 2 && frames < FRAMES) {
        size_t n = (size_t)data[0] | (size_t)data[1] << 8;
        data += 2, size -= 2;
        n = n < size ? n : size;
        n = n < FRAME_BYTES ? n : FRAME_BYTES;
        used = put_frame(file, used, data, n, &offsets[frames++]);
        data += n, size -= n;
    }
    struct vs_source source = {.fd = -1, .bytes = file, .size = used};
    struct vs_checkpoints *checkpoints;
    if (vs_checkpoints_open(&source, false, offsets, frames, &list, &checkpoints))
        return;
    for (uint32_t i = 0; i < vs_checkpoints_table(checkpoints)->count; i++) {
        passed = 0;
        if (vs_checkpoints_each(checkpoints, i, VS_CHECKPOINT_STATE, count, &passed) == VS_OK &&
            passed > sizeof file)
            abort();
        if (vs_checkpoints_each(checkpoints, i, VS_CHECKPOINT_DEFINITIONS, count, &passed) ==
            VS_ERR_NOMEM)
            abort();
    }
    vs_checkpoints_close(checkpoints);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    if (data[0] % 3 == 0)
        state(data + 1, size - 1);
    else if (data[0] % 3 == 1)
        definitions(data + 1, size - 1);
    else
        table(data + 1, size - 1);
    return 0;
}
