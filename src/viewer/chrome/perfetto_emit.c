/* SPDX-License-Identifier: Apache-2.0
 *
 * Events as packets of a Perfetto trace; field numbers are those of its public schema. Every process,
 * thread, stream, counter and open range is a track, described before its first event. Times count
 * from the start of the program; a reader sorts them. A slice is two packets. Arrows are made by the
 * reader from the numbers of calls and of the work that they began. */
#include "viewer/chrome/chrome_emit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"
#include "viewer/common/json_writer.h"
#include "viewer/common/proto_writer.h"

enum { TRACE_PACKET = 1 };
enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_TRACK = 60 };
enum { EVENT_ARGUMENT = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_CATEGORY = 22, EVENT_NAME = 23,
       EVENT_COUNTER = 30, EVENT_FLOW = 47 };
enum { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };
enum { ARGUMENT_BOOL = 2, ARGUMENT_UINT, ARGUMENT_INT, ARGUMENT_DOUBLE, ARGUMENT_TEXT,
       ARGUMENT_NAME = 10, ARGUMENT_ELEMENT = 12 };
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_THREAD, TRACK_PARENT, TRACK_COUNTER = 8,
       TRACK_CHILDREN = 11, TRACK_PLACE };
enum { CHILDREN_BY_PLACE = 3, STREAMS_PLACE = 1000, STREAMS_MAX = 1000000 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, UNIT_BYTES = 3 };

struct vs_perfetto {
    FILE *out;
    struct vs_map tracks; /* uuid -> 1: described */
    struct vs_proto packets; /* not written yet; the last one may be open */
    size_t packet, event;    /* its begin, and that of the event or track in it */
};

#define PACKETS_BYTES (1u << 15) /* written together */

static void write_packets(struct vs_perfetto *p)
{
    fwrite(p->packets.bytes, 1, p->packets.count, p->out);
    p->packets.count = 0;
}

struct vs_perfetto *vs_perfetto_open(FILE *out)
{
    struct vs_perfetto *p = vs_xcalloc(1, sizeof *p);
    p->out = out;
    return p;
}

void vs_perfetto_close(struct vs_perfetto *p)
{
    if (!p)
        return;
    write_packets(p);
    vs_map_free(&p->tracks);
    free(p->packets.bytes);
    free(p);
}

static void begin_packet(struct vs_perfetto *p)
{
    if (p->packets.count >= PACKETS_BYTES)
        write_packets(p);
    p->packet = vs_proto_begin(&p->packets, TRACE_PACKET);
}

/* Its size in the file. */
static uint64_t end_packet(struct vs_perfetto *p)
{
    vs_proto_uint(&p->packets, PACKET_SEQUENCE, 1);
    vs_proto_end(&p->packets, p->packet);
    return p->packets.count - p->packet + 2; /* with its field and the first byte of its length */
}

/* A number for a track: of a process, of one of its threads or streams, or of a counter or range in it. */
static uint64_t uuid_of(char kind, uint64_t pid, uint64_t of)
{
    uint64_t x = (pid + 1) * UINT64_C(0x9E3779B97F4A7C15) ^ (of + (unsigned char)kind) * UINT64_C(0xD6E8FEB86659FD93);
    x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (x ^ x >> 29) | 1;
}

/* Describes a track; of a process it is its own parent. */
static void describe(struct vs_perfetto *p, const struct vs_emit *emit, char kind, uint64_t uuid,
                     uint64_t pid, uint64_t of, const char *name)
{
    struct vs_proto *track = &p->packets;
    bool host = pid == emit->host_pid;
    /* Steps and counters first, then streams by their number, then lives of blocks. */
    uint64_t place = STREAMS_PLACE + (kind == 'r' ? STREAMS_MAX : of < STREAMS_MAX ? of : STREAMS_MAX - 1);
    if (of == VS_STEPS_TRACK)
        place = 0;
    else if (kind == 'c')
        place = p->tracks.count < STREAMS_PLACE ? p->tracks.count : STREAMS_PLACE;
    vs_xmap_put(&p->tracks, uuid, 1);
    begin_packet(p);
    size_t begin = vs_proto_begin(track, PACKET_TRACK), inner;
    vs_proto_uint(track, TRACK_UUID, uuid);
    if (kind != 'p')
        vs_proto_uint(track, TRACK_PARENT, uuid_of('p', pid, 0));
    if (host && kind == 'p') {
        inner = vs_proto_begin(track, TRACK_PROCESS);
        vs_proto_uint(track, PROCESS_PID, pid);
        vs_proto_text(track, PROCESS_NAME, name);
        vs_proto_end(track, inner);
    } else if (host && kind == 't' && of < VS_CALLS_TRACK && !emit->clock) {
        inner = vs_proto_begin(track, TRACK_THREAD);
        vs_proto_uint(track, THREAD_PID, pid);
        vs_proto_uint(track, THREAD_TID, of);
        if (*name)
            vs_proto_text(track, THREAD_NAME, name);
        vs_proto_end(track, inner);
    } else { /* also threads of several machines, whose numbers may be equal */
        char thread[32];
        snprintf(thread, sizeof thread, "thread %" PRIu64, of);
        vs_proto_text(track, TRACK_NAME, kind == 't' && !*name ? thread : name);
    }
    if (kind == 'c') {
        inner = vs_proto_begin(track, TRACK_COUNTER);
        vs_proto_uint(track, COUNTER_UNIT, UNIT_BYTES);
        vs_proto_end(track, inner);
    }
    if (kind == 'p')
        vs_proto_uint(track, TRACK_CHILDREN, CHILDREN_BY_PLACE);
    else
        vs_proto_uint(track, TRACK_PLACE, place);
    vs_proto_end(track, begin);
    end_packet(p);
}

void vs_perfetto_name(struct vs_perfetto *p, const struct vs_emit *emit, bool thread, uint64_t pid,
                      uint64_t tid, const char *name)
{
    char kind = thread ? 't' : 'p';
    describe(p, emit, kind, uuid_of(kind, pid, tid), pid, tid, name);
}

/* The track of an event, described if it is new. */
static uint64_t track_of(struct vs_perfetto *p, const struct vs_emit *emit,
                         const struct vs_emitted *event)
{
    char kind = event->phase == 'C' ? 'c' : event->phase == 'b' || event->phase == 'e' ? 'r' : 't';
    uint64_t of = kind == 'c'               ? vs_text_hash(VS_TEXT_HASH_START, event->name)
                  : kind == 'r' && event->track ? event->id ^ vs_text_hash(VS_TEXT_HASH_START, event->track)
                  : kind == 'r'             ? event->id
                                            : event->tid;
    uint64_t uuid = uuid_of(kind, event->pid, of);
    if (!vs_map_get(&p->tracks, uuid))
        describe(p, emit, kind, uuid, event->pid, of, kind == 't' ? "" : event->track ? event->track : event->name);
    else if (event->phase == 'e' && !event->track)
        vs_map_remove(&p->tracks, uuid, NULL); /* a range is the only one on its track */
    return uuid;
}

static void put_value(struct vs_proto *argument, const struct vs_json_item *item)
{
    uint64_t bits;
    switch (item->type) {
    case VS_JSON_UINT: vs_proto_uint(argument, ARGUMENT_UINT, item->uint); break;
    case VS_JSON_INT: vs_proto_uint(argument, ARGUMENT_INT, (uint64_t)item->sint); break;
    case VS_JSON_BOOL: vs_proto_uint(argument, ARGUMENT_BOOL, item->uint); break;
    case VS_JSON_REAL:
        memcpy(&bits, &item->ratio, sizeof bits);
        vs_proto_fixed64(argument, ARGUMENT_DOUBLE, bits);
        break;
    case VS_JSON_TEXT: vs_proto_text(argument, ARGUMENT_TEXT, item->text ? item->text : ""); break;
    default: break;
    }
}

static void put_argument(struct vs_proto *event, const struct vs_json_item *item)
{
    size_t argument = vs_proto_begin(event, EVENT_ARGUMENT);
    vs_proto_bytes(event, ARGUMENT_NAME, item->key, strlen(item->key)); /* ASCII, as all of ours */
    put_value(event, item);
    for (int i = 0; item->type == VS_JSON_TRIPLE && i < 3; i++) {
        size_t element = vs_proto_begin(event, ARGUMENT_ELEMENT);
        vs_proto_uint(event, ARGUMENT_UINT, item->triple[i]);
        vs_proto_end(event, element);
    }
    vs_proto_end(event, argument);
}

static void begin_event(struct vs_perfetto *p, const struct vs_emit *emit, uint64_t time_ns)
{
    begin_packet(p);
    vs_proto_uint(&p->packets, PACKET_TIMESTAMP, time_ns > emit->start_ns ? time_ns - emit->start_ns : 0);
    p->event = vs_proto_begin(&p->packets, PACKET_EVENT);
}

static void end_event(struct vs_perfetto *p, struct vs_emit *emit, int type, uint64_t track)
{
    vs_proto_uint(&p->packets, EVENT_TYPE, (uint64_t)type);
    vs_proto_uint(&p->packets, EVENT_TRACK, track);
    vs_proto_end(&p->packets, p->event);
    emit->json.flushed += end_packet(p);
}

void vs_perfetto_event(struct vs_perfetto *p, struct vs_emit *emit,
                       const struct vs_emitted *event, const struct vs_json_item *args)
{
    uint64_t track = track_of(p, emit, event);
    bool ends = event->phase == 'E' || event->phase == 'e';
    struct vs_proto *out = &p->packets;
    begin_event(p, emit, event->time_ns);
    if (event->phase == 'C') {
        vs_proto_uint(out, EVENT_COUNTER, args->uint);
        end_event(p, emit, COUNTER, track);
        return;
    }
    if (!ends) {
        vs_proto_text(out, EVENT_NAME, event->name);
        if (event->category)
            vs_proto_text(out, EVENT_CATEGORY, event->category);
        for (; args->key; args++)
            if (args->type != VS_JSON_ABSENT && args->type != VS_JSON_NULL)
                put_argument(out, args);
        if (event->stack && event->stack->frame && *event->stack->site)
            put_argument(out, &(struct vs_json_item)VS_J_TEXT("call site", event->stack->site));
        if (event->stack && event->stack->frame)
            put_argument(out, &(struct vs_json_item)VS_J_TEXT("stack", event->stack->text));
        if (event->phase == 'X' && event->id)
            vs_proto_fixed64(out, EVENT_FLOW, event->id);
    }
    end_event(p, emit, event->phase == 'i' ? INSTANT : ends ? SLICE_END : SLICE_BEGIN, track);
    if (event->phase == 'X') {
        begin_event(p, emit, event->time_ns + event->duration_ns);
        end_event(p, emit, SLICE_END, track);
    }
}
