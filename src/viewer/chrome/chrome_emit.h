/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the Chrome renderer: trace events and the merging of counter points, call stacks.
 * Not thread-safe. */
#ifndef VS_CHROME_EMIT_H
#define VS_CHROME_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/naming/stack_names.h"
#include "base/reading/vs_intern.h"
#include "base/vs_arena.h"
#include "base/vs_err.h"
#include "base/vs_map.h"
#include "trace/format/event.h"
#include "trace/read/reader.h"
#include "viewer/common/json_writer.h"

/* --- chrome_stack.c: call stacks ---
 *
 * Each frame is written once, in "stackFrames", as a tree of callers; an event refers to its
 * innermost frame by "sf". For viewers that do not show these (ui.perfetto.dev) an event also has
 * the innermost frames as text. Memory and output are bounded; stacks beyond the limits are left
 * out. */

struct vs_chrome_stack {
    uint32_t frame; /* the innermost, by number from 1; 0: no stack */
    const char *site; /* the line of the user's code, where the text begins with a library's; "" */
    const char *text; /* "forward (net.py:12) < train (net.py:40)"; "" without a stack */
};

/* Zero-initialise, then set names. Not thread-safe. */
struct vs_chrome_stacks {
    struct vs_stack_names *names; /* owned */
    struct vs_intern frames; /* {number of its caller's frame, from 1, or 0; number in *names*} */
    struct vs_map by_stack;  /* pointers to those in *memory* */
    struct vs_arena memory;
};

/* vs_chrome_stack: symbolizes stack number *stack* of the trace. Strings live until
 * vs_chrome_stacks_free. */
struct vs_chrome_stack vs_chrome_stack(struct vs_chrome_stacks *stacks, uint64_t stack);

/* vs_chrome_stacks_write: writes all frames that were referred to, as the member "stackFrames". */
void vs_chrome_stacks_write(const struct vs_chrome_stacks *stacks, FILE *out);

void vs_chrome_stacks_free(struct vs_chrome_stacks *stacks);

/* Tracks above the numbers of threads, of which Linux has 2^22. Viewers keep 32 bits. */
#define VS_CALLS_TRACK (UINT64_C(1) << 23) /* the calls of one */
#define VS_STEPS_TRACK (UINT64_C(1) << 24)
#define VS_OVERHEAD_TRACK (UINT64_C(1) << 25) /* CUPTI's, on one */

/* --- chrome_emit.c: events and counters, as Chrome's JSON or as packets of Perfetto --- */

/* What is left out of a timeline that may have only so many bytes: a first writing, whose bytes are only counted,
 * counts those of the slices of each length; then the shortest are left out. */
#define VS_LENGTHS 512 /* eight for each power of two */
struct vs_lengths {
    uint64_t bytes[VS_LENGTHS]; /* of slices, and of the arrows from and to them */
    uint64_t shortest_ns;       /* shorter ones are left out */
    uint64_t left_out, slices;  /* written or not */
};
unsigned vs_length_of(uint64_t ns);
/* vs_length_begins: the shortest of length *index*. */
uint64_t vs_length_begins(unsigned index);

struct vs_emit {
    FILE *out;
    struct vs_lengths *lengths; /* NULL: nothing is left out */
    uint64_t start_ns; /* ts 0 */
    uint64_t host_pid; /* of the program; other "processes" are devices */
    uint64_t written;
    struct vs_perfetto *perfetto; /* NULL: JSON */
    const struct vs_rank_clock *clock; /* times of the trace as those written; NULL: the same */
    struct vs_json json; /* its bytes are also those of packets */
    struct vs_map lanes; /* of lives, that have a name; to be freed */
    uint64_t ids; /* of the trace among several in the file: added to ids; 0: alone */
};

/* One event. Phases are Chrome's: X (a slice), B and E, b and e (with an id), i, C. */
struct vs_emitted {
    char phase;
    const char *name, *category;
    uint64_t pid, tid, time_ns, duration_ns; /* of b and e of a life: its length */
    uint64_t id;          /* b, e; of X the correlation of a call or of work: arrows in Perfetto */
    const char *track;    /* b: the name of its track; NULL: of the event */
    bool instant_of_all;  /* i: of the process, not of the thread */
    const struct vs_chrome_stack *stack; /* NULL: none */
};

/* vs_emit_event: writes *event* with its arguments, members of an object (VS_J_*). False: it is left out. */
#define vs_emit_event(emit, event, ...)                                                            \
    vs_emit_put(emit, event, (const struct vs_json_item[]){__VA_ARGS__ __VA_OPT__(, ) {.key = NULL}})
bool vs_emit_put(struct vs_emit *emit, const struct vs_emitted *event,
                 const struct vs_json_item *args);

/* vs_emit_track: the name of a process (*thread* false) or of a track, unless NULL, and its place among the other
 * processes, or in its process. */
#define VS_NO_PLACE UINT64_MAX
void vs_emit_track(struct vs_emit *emit, bool thread, uint64_t pid, uint64_t tid, const char *name, uint64_t place);

/* --- perfetto_emit.c: the same events as packets
 * (https://perfetto.dev/docs/reference/trace-packet-proto) --- */

struct vs_perfetto *vs_perfetto_open(FILE *out);
void vs_perfetto_event(struct vs_perfetto *perfetto, struct vs_emit *emit,
                       const struct vs_emitted *event, const struct vs_json_item *args);
void vs_perfetto_name(struct vs_perfetto *perfetto, const struct vs_emit *emit, bool thread,
                      uint64_t pid, uint64_t tid, const char *name);
void vs_perfetto_close(struct vs_perfetto *perfetto);

/* Work on a stream; its times may be cut. */
struct vs_slice {
    uint64_t start_ns, end_ns;
    struct vs_event event; /* kernel, memcpy or memset */
};

/* vs_emit_slice: a kernel named *kernel*, or a copy or memset, on its stream of *pid*; *stack*: of the call
 * that began it. False: it is left out. */
bool vs_emit_slice(struct vs_emit *emit, const struct vs_slice *slice, uint64_t pid, const char *kernel,
                       const struct vs_chrome_stack *stack);

/* --- flows: arrows from the call that began work to the work, in JSON ---
 *
 * Either may be recorded first; each waits in a table for the other, until a later one takes its
 * place. */

#define VS_FLOWS_MAX (1u << 17) /* that wait, of either side */

struct vs_flow_end {
    uint64_t correlation, pid, tid, time_ns, duration_ns;
};

/* Zero-initialise; free(waiting). */
struct vs_flows {
    struct vs_flow_end (*waiting)[2]; /* a call, work */
    uint64_t written;
};

/* vs_flow_add: a call, or work; where the other is known, the arrow is written. */
void vs_flow_add(struct vs_flows *flows, struct vs_emit *emit, bool is_work, struct vs_flow_end end);

/* One counter. Points within *window_ns* of the first are held back; the highest and the last of
 * them are written. Zero-initialise, then set name and pid. */
struct vs_chrome_counter {
    const char *name;
    uint64_t pid;
    bool open;        /* points are held back since window_start_ns */
    uint64_t window_start_ns;
    uint64_t high, high_ns, last, last_ns;
    uint64_t written; /* last written value */
    uint64_t most;    /* the highest so far, written or held back */
};
void vs_counter_set(struct vs_chrome_counter *counter, struct vs_emit *emit, uint64_t value,
                    uint64_t time_ns, uint64_t window_ns);
void vs_counter_flush(struct vs_chrome_counter *counter, struct vs_emit *emit);

#endif
