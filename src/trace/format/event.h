/* SPDX-License-Identifier: Apache-2.0
 *
 * One event, as passed to the recorder and returned by the reader. All fields of a kind are
 * uint64_t so that the codecs run over the table, not over structs; signed fields hold two's
 * complement. */
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
    uint32_t tid;    /* kernel thread id of the caller; 0 = filled in by the recorder */
    uint64_t time_ns; /* vs_clock_ns(); 0 = filled in by the recorder. Never decreases in a file */
    union {
        uint64_t fields[VS_EVENT_FIELDS_MAX];
        struct vs_event_activity activity;
#define VS_EVENT(code, name, properties, list) struct vs_event_##name name;
#include "trace/format/event_table.h"
#undef VS_EVENT
    };
};

/* vs_event_begin: starts an event of *kind*; the caller then sets all fields of that kind. For hot
 * paths: an initialiser of the whole struct would write all sixteen fields. */
static inline void vs_event_begin(struct vs_event *event, enum vs_event_kind kind)
{
    event->kind = kind;
    event->tid = 0;
    event->time_ns = 0;
}

/* Names in events that readers know: the start of the name of a range that is a test; the domain of the
 * ranges of automatic steps, and in it the mark that the open one is no step. */
#define VS_TEST_PREFIX "test:"
#define VS_AUTOMATIC_DOMAIN "vramscope.automatic"
#define VS_NO_STEP_MARK "no step"
/* Imports and `vramscope attach` put what was there already into this range of this domain. */
#define VS_BEFORE_RANGE "before the recording"
#define VS_BEFORE_DOMAIN "recording"
/* The API of blocks of an imported heap profile: a framework's own, whatever memory holds them. */
#define VS_HEAP_PROFILE_API "heap profile"

/* Allocations without an address are recorded under a number that cannot be an address: these bits
 * plus the array's handle, or plus the number of the physical memory, counted from 1. */
#define VS_ADDR_ARRAY (UINT64_C(2) << 62)
#define VS_ADDR_MEMORY (UINT64_C(3) << 62)

/* vs_family_name: "device", "async", "managed", "pinned", …; "other" outside. */
const char *vs_family_name(uint64_t family);

/* The values of CUpti_ActivityMemcpyKind, so that a collector stores them unchanged. */
enum vs_copy_kind {
    VS_COPY_UNKNOWN = 0, VS_COPY_HTOD = 1, VS_COPY_DTOH = 2, VS_COPY_HTOA = 3, VS_COPY_ATOH = 4,
    VS_COPY_ATOA = 5, VS_COPY_ATOD = 6, VS_COPY_DTOA = 7, VS_COPY_DTOD = 8, VS_COPY_HTOH = 9,
    VS_COPY_PTOP = 10, VS_COPY_KIND_COUNT
};
/* The values of CUpti_ActivityMemoryKind. */
enum vs_memory_kind {
    VS_MEMORY_UNKNOWN = 0, VS_MEMORY_PAGEABLE = 1, VS_MEMORY_PINNED = 2, VS_MEMORY_DEVICE = 3,
    VS_MEMORY_ARRAY = 4, VS_MEMORY_MANAGED = 5, VS_MEMORY_DEVICE_STATIC = 6,
    VS_MEMORY_MANAGED_STATIC = 7, VS_MEMORY_KIND_COUNT
};
/* Why kernels and copies are recorded from here on, or not (`activity_switched`). */
enum vs_switch {
    VS_SWITCH_STEP = 0,  /* a step of --kernels-steps: its number is *step* */
    VS_SWITCH_RANGE = 1, /* a range of --kernels-range: its name is *range* */
    VS_SWITCH_CALL = 2,  /* the program called our function */
    VS_SWITCH_SIGNAL = 3
};
/* The number that a range or mark has as its payload; smaller types are widened to these. */
enum vs_payload {
    VS_PAYLOAD_NONE = 0, VS_PAYLOAD_UNSIGNED = 1, VS_PAYLOAD_SIGNED = 2, VS_PAYLOAD_DOUBLE = 3
};
/* What the program waits for (`sync`): up to 4 the values of CUpti_ActivitySynchronizationType. */
enum vs_wait {
    VS_WAIT_EVENT = 1, VS_WAIT_STREAM = 3, VS_WAIT_CONTEXT = 4,
    VS_WAIT_COPY = 16, /* a copy that returns when it is done */
    VS_WAIT_FREE = 17, /* a free that waits for work */
    VS_WAIT_ASYNC_COPY = 18 /* a copy that should not wait, but did: of memory that is not page-locked */
};

/* vs_copy_kind_name: "HtoD", "DtoH", …; "other" outside. */
const char *vs_copy_kind_name(uint64_t kind);

/* vs_memory_kind_name: "pageable", "pinned", "device", …; "unknown" outside. */
const char *vs_memory_kind_name(uint64_t kind);

/* vs_cupti_overhead_name: what CUPTI took time for (`cupti_overhead`). */
const char *vs_cupti_overhead_name(uint64_t kind);

/* The meaning of a `device_usage` event; the values are in the file. */
enum vs_usage_what {
    VS_USAGE_OWN = 0,     /* memory of this process, contexts included */
    VS_USAGE_OTHERS = 1,  /* memory of *count* other processes; `process` events follow */
    VS_USAGE_PROCESS = 2, /* memory of one of them; recorded for the largest ones only */
    VS_USAGE_POOLS = 3,   /* reserved by *count* stream-ordered pools of this process */
    VS_USAGE_WHAT_COUNT
};
enum vs_usage_how {
    VS_USAGE_BY_PID = 0,  /* this process was found by its pid */
    VS_USAGE_BY_RULE = 1, /* by elimination: the pids are those of another namespace */
    VS_USAGE_UNATTRIBUTED = 2, /* not found: *others* includes this process */
    VS_USAGE_NO_BYTES = 3 /* the processes are listed without their sizes */
};

/* The cause of an `overhead` event, and how its size was measured. */
enum vs_overhead_what {
    VS_OVERHEAD_CONTEXT = 0,
    VS_OVERHEAD_MODULE = 1, /* code and variables */
    VS_OVERHEAD_LIMIT = 2,  /* stack, printf buffer, heap (cuCtxSetLimit) */
    VS_OVERHEAD_WHAT_COUNT,
    VS_OVERHEAD_LAUNCH = 3  /* only of `overhead_failed`: what a launch loads or needs as a stack */
};
enum vs_overhead_how {
    VS_OVERHEAD_MEASURED = 0, /* difference in the device's free memory before and after */
    VS_OVERHEAD_REPORTED = 1, /* memory of the process as reported by the driver, minus its
                               * allocations */
    VS_OVERHEAD_AT_MOST = 2   /* all memory in use: an upper limit, includes other processes */
};

/* What a `finding` is: a free that the driver, or the cache, refused; 1 to 7 are reported by the checker of the
 * simulated GPU. */
enum vs_finding {
    VS_FINDING_FAILED_FREE = 0,
    VS_FINDING_RACE = 1,
    VS_FINDING_USE_AFTER_FREE = 2, /* by work */
    VS_FINDING_FREED_IN_USE = 3,
    VS_FINDING_EARLY = 4,         /* work is not ordered after the allocation */
    VS_FINDING_FREED_POINTER = 5, /* a call received freed memory */
    VS_FINDING_UNWRITTEN = 6,     /* read, but never written */
    VS_FINDING_LEAK = 7,          /* live when its context ended */
    /* A refusal that the program did not see, because the cache asked again: although the bytes were free
     * (without the cache the program would have failed), or after the cache gave back memory. */
    VS_FINDING_HIDDEN_FAILURE = 8,
    VS_FINDING_CACHE_GAVE_BACK = 9,
    VS_FINDING_COUNT
};

/* What an `uncomputed_read` is, and of what its text is. */
enum vs_uncomputed {
    VS_UNCOMPUTED_COPIED = 0,  /* a copy to the host; the latest kernel that was not computed */
    VS_UNCOMPUTED_DECIDED = 1, /* a value decided something; the expression and the value */
    VS_UNCOMPUTED_MANAGED = 2, /* a wait, after which the host may read managed memory; as copied */
    VS_UNCOMPUTED_COUNT
};

/* vs_event_change: the sums of an `unrecorded` event, as one change. */
struct vs_change vs_event_change(const struct vs_event_unrecorded *event);

/* vs_event_height: the highest levels of the sums since the previous such event, where the event
 * records them; otherwise zeros. *now*: their values before the event. */
struct vs_levels vs_event_height(const struct vs_event_unrecorded *event,
                                 const struct vs_levels *now);

/* Why an `unrecorded` event counts changes that have no events of their own (enum vs_level:
 * whose). */
enum vs_why {
    VS_WHY_SMALL = 0,  /* below the minimum recorded size */
    VS_WHY_SAMPLE = 1, /* skipped by sampling */
    VS_WHY_LIMIT = 2,  /* the trace had reached its size limit, or the program stopped recording */
    VS_WHY_COUNT
};
/* The meaning of a `recording_changed` event. */
enum vs_recording {
    VS_RECORDING_SELECTS = 0,    /* from the start: minimum size, sampling or size limit in force */
    VS_RECORDING_NO_ACTIVITY = 1, /* kernels, copies, memsets, synchronisations are no longer
                                   * recorded */
    VS_RECORDING_NO_STACKS = 2,   /* new stacks are no longer recorded */
    VS_RECORDING_TOTALS = 3,      /* only totals, failures and the end are still recorded */
    VS_RECORDING_SUMMED_UP = 4,   /* nothing: added by a reader after it delivered the counts of
                                   * FILE.live */
    VS_RECORDING_PAUSED = 5,  /* by the program: single allocations, kernels and copies are not
                               * recorded */
    VS_RECORDING_RESUMED = 6, /* they are again */
};

/* How a thread runs a module of PyTorch (`torch_module`). */
enum vs_torch_pass {
    VS_TORCH_NONE = 0,
    VS_TORCH_FORWARD = 1,
    VS_TORCH_BACKWARD = 2,
    VS_TORCH_RECOMPUTED = 3, /* forward code that runs again during backward */
    VS_TORCH_PASS_COUNT
};

/* What a `torch_tensor` is to its module, with VS_TORCH_RENAMED where the block's earlier names no longer hold. */
enum vs_torch_tensor {
    VS_TORCH_PARAMETER = 1, /* or a buffer */
    VS_TORCH_GRADIENT = 2,
    VS_TORCH_STATE = 3, /* of an optimizer, for a parameter of that name */
    VS_TORCH_RENAMED = 4
};

/* What the recorder's `note` begins with when CUPTI delivers no kernels and copies, or only to another
 * tool from there on. */
#define VS_NOTE_NO_ACTIVITY "kernels and copies are not recorded"
#define VS_NOTE_ACTIVITY_LEFT "another tool in this process uses CUPTI"
/* Likewise, when the program ended while kernels and copies ran. */
#define VS_NOTE_UNFINISHED "kernels and copies may be missing at the end"

enum vs_end_reason {
    VS_END_EXIT = 0,
    VS_END_SIGNAL = 1,
    VS_END_EXEC = 2,
    VS_END_STOPPED = 3,
    VS_END_KILLED = 4, /* added afterwards: the process was killed */
    VS_END_COPY = 5,   /* of a copy that the program made of its trace: it ran on */
    VS_END_IMPORTED = 6, /* the end of another tool's record: how the process ended is unknown */
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

/* Properties of event kinds, for code that handles some kinds differently. */
enum vs_event_property {
    VS_PROPERTY_NONE = 0,
    /* Memory is allocated or reserved, or freed or returned. A change without an event of its own
     * is counted in `unrecorded`. */
    VS_PROPERTY_ALLOCATES = 1 << 0,
    VS_PROPERTY_FREES = 1 << 1,
    /* The event reports sums of memory at its time: pending sums are written before it. */
    VS_PROPERTY_SUMS_FIRST = 1 << 2,
    /* Still recorded in the last stage of a trace with a size limit: always, or while part of the
     * space reserved for that stage is left. Allocations and frees have already been selected at
     * this point, and nothing else counts them. */
    VS_PROPERTY_KEPT = 1 << 3,
    VS_PROPERTY_KEPT_IF_ROOM = 1 << 4,
    /* Work of the device; the fields begin as in struct vs_event_activity. A size limit drops these
     * first. */
    VS_PROPERTY_ACTIVITY = 1 << 5,
    VS_PROPERTY_RANGE = 1 << 6, /* a range of the program begins or ends: peaks restart */
    VS_PROPERTY_HEAD = 1 << 7,  /* written at the start of a trace */
    /* Needed by a reader that begins in the middle of the trace; restored from the checkpoint. With
     * NUMBERED the first field is a number, and a later event with that number replaces the earlier
     * one; a field `alive` that is 0 removes it. */
    VS_PROPERTY_STATE = 1 << 8,
    VS_PROPERTY_NUMBERED = 1 << 9,
    VS_PROPERTY_FAILS = 1 << 10, /* memory was refused */
    VS_PROPERTY_CALL = 1 << 11, /* a call; dropped and paused with ACTIVITY */
};

extern const uint16_t vs_event_properties[VS_EVENT_CODE_MAX + 1];

/* vs_event_has: whether the kind of *event* has one of *properties* (enum vs_event_property). */
static inline bool vs_event_has(const struct vs_event *event, unsigned properties)
{
    return vs_event_properties[event->kind & VS_EVENT_CODE_MAX] & properties;
}

/* vs_event_kinds: the kinds with one of *properties*: bit *kind* is set. */
uint64_t vs_event_kinds(unsigned properties);

/* vs_event_describe: the table's row for *kind*; NULL for an unknown kind. Static storage, any
 * thread. */
const struct vs_event_info *vs_event_describe(uint32_t kind);

#endif
