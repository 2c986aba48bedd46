/* SPDX-License-Identifier: Apache-2.0
 *
 * One event as the recorder takes it and the reader gives it. All fields of a
 * kind are uint64_t so that the codecs run over the table, not over structs;
 * signed fields hold two's complement. */
#ifndef VS_EVENT_H
#define VS_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/ledger.h"

enum vs_event_kind {
#define VS_EVENT(code, name, properties, fields) VS_EVENT_##name = code,
#include "trace/format/event_table.h"
#undef VS_EVENT
    VS_EVENT_CODE_MAX = 63 /* codes fit six bits */
};

#define VS_EVENT_FIELDS_MAX 16

/* struct vs_event_<kind>: the fields of one kind. */
#define F(field, codec) uint64_t field;
#define VS_EVENT(code, name, properties, list) struct vs_event_##name { list };
#include "trace/format/event_table.h"
#undef VS_EVENT
#undef F

/* The first fields of every kind with VS_PROPERTY_ACTIVITY. */
struct vs_event_activity {
    uint64_t start_ns, end_ns, device, context, stream;
};

struct vs_event {
    uint32_t kind;   /* enum vs_event_kind */
    uint32_t tid;    /* kernel thread id of the caller; 0 = let the recorder fill it in */
    uint64_t time_ns; /* vs_clock_ns(); 0 = let the recorder fill it in. Never decreases in a file */
    union {
        uint64_t fields[VS_EVENT_FIELDS_MAX];
        struct vs_event_activity activity;
#define VS_EVENT(code, name, properties, list) struct vs_event_##name name;
#include "trace/format/event_table.h"
#undef VS_EVENT
    };
};

/* vs_event_begin: an event of *kind* whose fields the caller fills next: all of that
 * kind, none of the others. For hot paths: an initialiser of the whole struct writes
 * all sixteen fields. */
static inline void vs_event_begin(struct vs_event *event, enum vs_event_kind kind)
{
    event->kind = kind;
    event->tid = 0;
    event->time_ns = 0;
}

/* What has no address is entered under a number that no address can be: these bits and
 * the handle of an array, or the number of the physical memory from 1 on. */
#define VS_ADDR_ARRAY (UINT64_C(2) << 62)
#define VS_ADDR_MEMORY (UINT64_C(3) << 62)

/* vs_family_name: "device", "async", "managed", "pinned", …; "other" outside. */
const char *vs_family_name(uint64_t family);

/* CUpti_ActivityMemcpyKind's values, so that a collector passes them through. */
enum vs_copy_kind {
    VS_COPY_UNKNOWN = 0, VS_COPY_HTOD = 1, VS_COPY_DTOH = 2, VS_COPY_HTOA = 3, VS_COPY_ATOH = 4,
    VS_COPY_ATOA = 5, VS_COPY_ATOD = 6, VS_COPY_DTOA = 7, VS_COPY_DTOD = 8, VS_COPY_HTOH = 9,
    VS_COPY_PTOP = 10, VS_COPY_KIND_COUNT
};
/* vs_copy_kind_name: "HtoD", "DtoH", …; "other" outside. */
const char *vs_copy_kind_name(uint64_t kind);

/* What a `device_usage` event tells; the values are in the file. */
enum vs_usage_what {
    VS_USAGE_OWN = 0,     /* held by this process, contexts included */
    VS_USAGE_OTHERS = 1,  /* held by *count* other processes; `process` events follow */
    VS_USAGE_PROCESS = 2, /* by one of them; the largest ones only */
    VS_USAGE_POOLS = 3,   /* reserved by *count* stream-ordered pools of this process */
    VS_USAGE_WHAT_COUNT
};
enum vs_usage_how {
    VS_USAGE_BY_PID = 0,  /* this process was found by its number */
    VS_USAGE_BY_RULE = 1, /* by elimination: the numbers are not those of this namespace */
    VS_USAGE_UNATTRIBUTED = 2, /* not found: *others* is bytes of all processes with this one */
    VS_USAGE_NO_BYTES = 3 /* processes are listed without their bytes */
};

/* What an `overhead` event is about, and how its bytes are known. */
enum vs_overhead_what {
    VS_OVERHEAD_CONTEXT = 0,
    VS_OVERHEAD_MODULE = 1, /* code and variables */
    VS_OVERHEAD_LIMIT = 2,  /* stack, printf buffer, heap (cuCtxSetLimit) */
    VS_OVERHEAD_WHAT_COUNT
};
enum vs_overhead_how {
    VS_OVERHEAD_MEASURED = 0, /* the device's free memory before and after */
    VS_OVERHEAD_REPORTED = 1, /* held by the process as the driver reports, less allocations */
    VS_OVERHEAD_AT_MOST = 2   /* all that was in use: other processes are in it */
};

/* vs_event_change: what an `unrecorded` event adds up, as one change. */
struct vs_change vs_event_change(const struct vs_event_unrecorded *event);

/* vs_event_height: how high the sums stood since the last such event, where it says so;
 * zeros elsewhere. *now*: what they are before it. */
struct vs_levels vs_event_height(const struct vs_event_unrecorded *event,
                                 const struct vs_levels *now);

/* Why an `unrecorded` event counts what has no events of its own (enum vs_level: whose). */
enum vs_why {
    VS_WHY_SMALL = 0,  /* below the smallest size */
    VS_WHY_SAMPLE = 1, /* between two samples */
    VS_WHY_LIMIT = 2,  /* the trace had reached its size */
    VS_WHY_COUNT
};
/* What a `recording_changed` event says. */
enum vs_recording {
    VS_RECORDING_SELECTS = 0,    /* from the start: smallest size, sampling, limit in force */
    VS_RECORDING_NO_ACTIVITY = 1, /* kernels, copies, memsets, synchronisations end */
    VS_RECORDING_NO_STACKS = 2,   /* stacks not seen so far end */
    VS_RECORDING_TOTALS = 3,      /* all but totals, failures and the end */
    VS_RECORDING_SUMMED_UP = 4,   /* nothing: by a reader, once FILE.live's counts are told */
};

enum vs_end_reason {
    VS_END_EXIT = 0,
    VS_END_SIGNAL = 1,
    VS_END_EXEC = 2,
    VS_END_STOPPED = 3,
    VS_END_KILLED = 4, /* put in afterwards: the process never came to its end */
};

enum vs_field_codec { VS_CODEC_U, VS_CODEC_S, VS_CODEC_A, VS_CODEC_T, VS_CODEC_STR, VS_CODEC_STK };

struct vs_event_field {
    const char *name;
    enum vs_field_codec codec;
};

struct vs_event_info {
    const char *name; /* NULL for a code that is not in the table */
    unsigned field_count;
    const struct vs_event_field *fields;
};

/* What holds of a kind of event, for code that treats some kinds differently. */
enum vs_event_property {
    VS_PROPERTY_NONE = 0,
    /* Memory is allocated or reserved, or freed or returned. A change without an event of its own
     * is counted in `unrecorded`. */
    VS_PROPERTY_ALLOCATES = 1 << 0,
    VS_PROPERTY_FREES = 1 << 1,
    /* Sums of memory are reported for its time: those not written yet are written before it. */
    VS_PROPERTY_SUMS_FIRST = 1 << 2,
    /* The last stage of a trace with a size limit records it: always, or while a part of the
     * space kept for that stage is left. For allocations and frees it was decided before that
     * they have an event, and nothing else counts them. */
    VS_PROPERTY_KEPT = 1 << 3,
    VS_PROPERTY_KEPT_IF_ROOM = 1 << 4,
    /* The device's work; fields begin as in struct vs_event_activity. A size limit drops it
     * first. */
    VS_PROPERTY_ACTIVITY = 1 << 5,
    VS_PROPERTY_RANGE = 1 << 6, /* a range of the program begins or ends: peaks start again */
    VS_PROPERTY_HEAD = 1 << 7,  /* one of those that a trace begins with */
    /* Needed by a reader that begins in the middle of the trace; it gets them from the checkpoint.
     * With NUMBERED the first field is a number, and a later event with that number replaces it;
     * a field `alive` that is 0 removes it. */
    VS_PROPERTY_STATE = 1 << 8,
    VS_PROPERTY_NUMBERED = 1 << 9,
};

extern const uint16_t vs_event_properties[VS_EVENT_CODE_MAX + 1];

/* vs_event_has: whether the kind of *event* has one of *properties* (enum vs_event_property). */
static inline bool vs_event_has(const struct vs_event *event, unsigned properties)
{
    return vs_event_properties[event->kind & VS_EVENT_CODE_MAX] & properties;
}

/* vs_event_kinds: the kinds with one of *properties*: bit *kind* is set. */
uint64_t vs_event_kinds(unsigned properties);

/* vs_event_describe: the table's row for *kind*; NULL when there is none. Static
 * storage, any thread. */
const struct vs_event_info *vs_event_describe(uint32_t kind);

#endif
