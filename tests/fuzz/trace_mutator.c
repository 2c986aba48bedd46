/* SPDX-License-Identifier: Apache-2.0
 *
 * libFuzzer's mutations of a trace (see trace_input.h): a frame's payload with its length, whole
 * frames (duplicated, removed, exchanged), one record inserted, FILE.live alone, or any bytes.
 * Without this, libFuzzer breaks the first length and reaches nothing after it. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/trace_input.h"
#include "trace/format/format.h"

#define FRAMES_MAX 256u
#define RECORD_MAX 64u

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

struct place {
    size_t at, header, payload; /* all of the input's bytes */
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static size_t find_frames(const uint8_t *data, size_t size, struct place *places)
{
    uint32_t live;
    size_t count = 0;
    if (size < TRACE_INPUT_HEAD + sizeof(struct vs_file_header))
        return 0;
    memcpy(&live, data + 1, sizeof live);
    if (live > size - TRACE_INPUT_HEAD - sizeof(struct vs_file_header))
        return 0;
    size_t at = TRACE_INPUT_HEAD + live + sizeof(struct vs_file_header);
    struct vs_frame_header frame;
    while (count < FRAMES_MAX && size - at >= sizeof frame) {
        memcpy(&frame, data + at, sizeof frame);
        if (frame.sync != VS_FRAME_SYNC || frame.header_bytes < sizeof frame ||
            size - at < frame.header_bytes || size - at - frame.header_bytes < frame.stored_bytes)
            break;
        places[count++] = (struct place){at, frame.header_bytes, frame.stored_bytes};
        at += frame.header_bytes + (size_t)frame.stored_bytes;
    }
    return count;
}

/* Resizes the payload of *p* to *bytes*; the caller fills it. */
static size_t resize_payload(uint8_t *data, size_t size, struct place p, size_t bytes)
{
    size_t end = p.at + p.header + p.payload;
    memmove(data + p.at + p.header + bytes, data + end, size - end);
    uint32_t length = (uint32_t)bytes;
    memcpy(data + p.at + offsetof(struct vs_frame_header, raw_bytes), &length, sizeof length);
    memcpy(data + p.at + offsetof(struct vs_frame_header, stored_bytes), &length, sizeof length);
    return size - p.payload + bytes;
}

static size_t mutate_payload(uint8_t *data, size_t size, size_t max_size, struct place p)
{
    size_t most = p.payload + (max_size - size);
    uint8_t *copy = most ? malloc(most) : NULL;
    if (!copy)
        return size;
    memcpy(copy, data + p.at + p.header, p.payload);
    size_t bytes = LLVMFuzzerMutate(copy, p.payload, most);
    size = resize_payload(data, size, p, bytes);
    memcpy(data + p.at + p.header, copy, bytes);
    free(copy);
    return size;
}

/* A record of a random code with random varints, some of them large. */
static size_t make_record(uint8_t *out, uint32_t *random)
{
    static const uint8_t codes[] = {VS_DEFINE_STRING, VS_DEFINE_STACK, VS_DEFINE_KIND,
                                    VS_DEFINE_RESERVED};
    uint32_t pick = next_random(random);
    unsigned char *p = out;
    *p++ = pick % 3 ? (uint8_t)(next_random(random)) : codes[pick / 3 % sizeof codes];
    for (unsigned n = next_random(random) % 5; n; n--) {
        uint64_t value = next_random(random);
        value = value % 4 ? value % 7 : value << (next_random(random) % 40);
        p = vs_put_varint(p, value);
    }
    return (size_t)(p - out);
}

static size_t insert_record(uint8_t *data, size_t size, size_t max_size, struct place p,
                            uint32_t *random)
{
    uint8_t record[RECORD_MAX];
    size_t bytes = make_record(record, random);
    if (bytes > max_size - size)
        return size;
    size_t at = p.payload ? next_random(random) % (p.payload + 1) : 0;
    size = resize_payload(data, size, p, p.payload + bytes);
    uint8_t *to = data + p.at + p.header + at;
    memmove(to + bytes, to, p.payload - at);
    memcpy(to, record, bytes);
    return size;
}

static size_t copy_frame(uint8_t *data, size_t size, size_t max_size, struct place from,
                         struct place before)
{
    size_t bytes = from.header + from.payload;
    uint8_t *copy = bytes <= max_size - size ? malloc(bytes) : NULL;
    if (!copy)
        return size;
    memcpy(copy, data + from.at, bytes);
    memmove(data + before.at + bytes, data + before.at, size - before.at);
    memcpy(data + before.at, copy, bytes);
    free(copy);
    return size + bytes;
}

static size_t remove_frame(uint8_t *data, size_t size, struct place p)
{
    size_t end = p.at + p.header + p.payload;
    memmove(data + p.at, data + end, size - end);
    return size - (end - p.at);
}

static size_t mutate_live(uint8_t *data, size_t size, uint32_t *random)
{
    uint32_t live;
    memcpy(&live, data + 1, sizeof live);
    if (!live || live > size - TRACE_INPUT_HEAD)
        return 0;
    size_t head = live < 256 ? live : 256; /* the header and its first windows, or anywhere */
    size_t at = next_random(random) % 2 ? 0 : next_random(random) % live;
    size_t bytes = at ? live - at : head;
    LLVMFuzzerMutate(data + TRACE_INPUT_HEAD + at, bytes, bytes);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static struct place places[FRAMES_MAX];
    uint32_t random = seed * 2654435761u + 1;
    size_t count = find_frames(data, size, places);
    if (!count || max_size < size)
        return LLVMFuzzerMutate(data, size, max_size);
    struct place p = places[next_random(&random) % count];
    struct place other = places[next_random(&random) % count];
    size_t out = 0;
    switch (next_random(&random) % 12) {
    case 0:
        return LLVMFuzzerMutate(data, size, max_size);
    case 1:
        data[0] = (uint8_t)next_random(&random);
        return size;
    case 2:
        return copy_frame(data, size, max_size, p, other);
    case 3:
        return remove_frame(data, size, p);
    case 4: /* the frame's header, and the fields that a minor version appends to it */
        LLVMFuzzerMutate(data + p.at, p.header, p.header);
        return size;
    case 5:
    case 6:
        out = mutate_live(data, size, &random);
        return out ? out : mutate_payload(data, size, max_size, p);
    case 7:
    case 8:
        return insert_record(data, size, max_size, p, &random);
    default:
        return mutate_payload(data, size, max_size, p);
    }
}
