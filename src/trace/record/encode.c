/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodes an event as a record straight into the active window, under the recorder's lock. The
 * fields of every kind come from the table (event_table.h): the few kinds that programs make by the
 * million are encoded by code generated from it, the others by a loop over it; both write the same
 * bytes. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/record/recorder_internal.h"

/* initial-exec: no call into the loader on the hot path */
static _Thread_local __attribute__((tls_model("initial-exec"))) uint32_t own_tid;

void vs_encode_reset_thread(void)
{
    own_tid = 0;
}

inline uint32_t vs_encode_thread(void) /* inline: see vs_recorder_acquire */
{
    if (__builtin_expect(!own_tid, 0))
        own_tid = (uint32_t)syscall(SYS_gettid);
    return own_tid;
}

/* Position of the next byte, and the state that the codecs refer to. */
struct encoding {
    unsigned char *p;
    uint64_t last_address, last_t, strings, stack_nodes;
};

#define put_U(e, value) ((void)((e)->p = vs_put_varint((e)->p, (value))))

static inline void put_plain(struct encoding *e, uint64_t value)
{
    put_U(e, value);
}

static inline void put_S(struct encoding *e, uint64_t value)
{
    put_U(e, vs_zigzag(value));
}

static inline void put_A(struct encoding *e, uint64_t value)
{
    put_S(e, value - e->last_address);
    e->last_address = value;
}

static inline void put_T(struct encoding *e, uint64_t value)
{
    put_S(e, value - e->last_t);
    e->last_t = value;
}

/* an undefined id would make the rest of the trace unreadable */
static inline void put_STR(struct encoding *e, uint64_t value)
{
    put_U(e, value <= e->strings ? value : 0);
}

static inline void put_STK(struct encoding *e, uint64_t value)
{
    put_U(e, value <= e->stack_nodes ? value : 0);
}

/* encode_<kind>: the fields of one kind, in order. Only those called are compiled. */
#define F(field, codec) put_##codec(e, fields->field);
#define VS_EVENT(code, name, properties, list)                                            \
    __attribute__((unused)) static inline void encode_##name(struct encoding *e,          \
                                                             const struct vs_event *event) \
    {                                                                                     \
        const __typeof__(event->name) *fields = &event->name;                             \
        list                                                                              \
    }
#include "trace/format/event_table.h"
#undef VS_EVENT
#undef F

/* Passed and returned by value, so that the state of the frequent kinds can stay in registers. */
static __attribute__((noinline)) struct encoding encode_by_table(struct encoding e,
                                                                 const struct vs_event *event)
{
    const struct vs_event_info *info = vs_event_describe(event->kind);
    static void (*const put[])(struct encoding *, uint64_t) = {
        [VS_CODEC_U] = put_plain, [VS_CODEC_S] = put_S,     [VS_CODEC_A] = put_A,
        [VS_CODEC_T] = put_T, [VS_CODEC_STR] = put_STR, [VS_CODEC_STK] = put_STK,
    };
    for (unsigned i = 0; i < info->field_count; i++)
        put[info->fields[i].codec](&e, event->fields[i]);
    return e;
}

/* Encode thread and time, after the place for the first byte. Returns that byte. */
static inline unsigned char encode_head(struct vs_recorder *r, struct encoding *e,
                                        const struct vs_event *event)
{
    unsigned char head = (unsigned char)event->kind;
    e->p++;
    if (event->tid != r->last_tid) {
        head |= VS_RECORD_TID;
        put_U(e, event->tid);
        r->last_tid = event->tid;
    }
    if (event->time_ns == r->last_ns)
        return head | VS_RECORD_SAME_TIME;
    put_U(e, event->time_ns - r->last_ns);
    r->last_ns = event->time_ns;
    return head;
}

void vs_recorder_event_locked(struct vs_recorder *r, struct vs_event *event)
{
    if (!r || !vs_event_describe(event->kind) ||
        (__builtin_expect(r->selection.watched_kinds >> event->kind & 1, 0) &&
         !vs_selection_before_locked(r, event)) ||
        !vs_window_reserve_locked(r, VS_EVENT_BYTES_MAX))
        return;
    if (!event->tid)
        event->tid = vs_encode_thread();
    if (!event->time_ns)
        event->time_ns = vs_ticks_now(&r->ticks);
    if (event->time_ns < r->last_ns)
        event->time_ns = r->last_ns;

    unsigned char *first = r->cursor;
    struct encoding e = {first, r->last_address, r->last_t, r->strings, r->stack_nodes};
    *first = encode_head(r, &e, event);
    switch (event->kind) {
    case VS_EVENT_alloc: encode_alloc(&e, event); break;
    case VS_EVENT_free: encode_free(&e, event); break;
    case VS_EVENT_framework_alloc: encode_framework_alloc(&e, event); break;
    case VS_EVENT_framework_free: encode_framework_free(&e, event); break;
    default:
        /* a `module` defines what stacks refer to */
        r->active->definitions += event->kind == VS_EVENT_module;
        e = encode_by_table(e, event);
    }
    r->last_address = e.last_address;
    r->last_t = e.last_t;
    r->active->events++;
    vs_window_publish_locked(r, e.p);
}

size_t vs_encode_end(unsigned char *p, enum vs_end_reason reason, uint64_t status)
{
    unsigned char *first = p;
    *p++ = VS_EVENT_end | VS_RECORD_TID | VS_RECORD_SAME_TIME;
    p = vs_put_varint(p, vs_encode_thread());
    p = vs_put_varint(p, reason);
    p = vs_put_varint(p, status);
    return (size_t)(p - first);
}
