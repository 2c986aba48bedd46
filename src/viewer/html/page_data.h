/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a page's data while they are built. Private to this folder; not thread-safe. */
#ifndef VS_PAGE_DATA_H
#define VS_PAGE_DATA_H

#include <stddef.h>

#include "analysis/report/report.h"
#include "analysis/report/summary.h"
#include "analysis/state/replay.h"
#include "analysis/state/work_calls.h"
#include "base/reading/vs_sorted_rows.h"
#include "base/reading/vs_intern.h"
#include "base/vs_arena.h"
#include "base/vs_err.h"
#include "base/vs_map.h"
#include "viewer/html/page.h"
#include "viewer/html/page_rows.h"

/* --- page_names.c ---
 *
 * The names of a page: call sites with their stacks as a prefix tree, each name once. Only sites
 * that have rows are named, the heaviest ones first; sites beyond the limits share one row, so
 * that the page's first element stays small. */

#define VS_PAGE_NODES_MAX 40000 /* later ones are not on the page */

struct vs_page_node {
    uint32_t parent, frame, file; /* parent: row + 1; file: index + 1; 0: none */
    uint32_t line;
    uint32_t user; /* 1: the user's own code, 0: a library's */
    uint32_t library; /* index + 1; 0: the user's, or not known */
};

struct vs_page_site {
    uint32_t stack;    /* row of its innermost frame + 1; 0: none */
    const char *label; /* as the report prints it */
    const char *through; /* the function of a library that it called; "": none */
    uint32_t library;  /* index */
    uint32_t file, line; /* of a label that is a line of code: index + 1; 0: none */
    struct vs_report_site named; /* with its frames; of the row of all others: api NULL */
};

/* Zero-initialise. */
struct vs_page_names {
    struct vs_intern frames, files, libraries; /* texts */
    struct vs_intern nodes; /* struct vs_page_node */
    struct vs_page_site *sites;
    size_t site_count, site_capacity;
    uint32_t *site_numbers; /* of each site of the replay, then of no site; those without rows have 0 */
    struct vs_arena memory;
};

/* vs_page_names_build: *used*: for each site of the replay, whether a row has it, then whether a row has none. Cost:
 * looks up the symbols of their stacks. */
void vs_page_names_build(struct vs_page_names *names, const struct vs_replay *replay,
                         struct vs_symbols *symbols, const bool *used);

void vs_page_names_free(struct vs_page_names *names);

/* --- page_text.c ---
 *
 * Source text: the lines around those of the user's code that the call sites have, of the heaviest sites
 * first, as one column of bytes, JSON (docs/internals/view-format.md). */

#define VS_PAGE_TEXT_NAMES_MAX 160 /* bytes of the names of files in a message */

struct vs_page_text {
    size_t files, changed, missing; /* with lines on the page; of these, changed after the program's start,
                                     * or perhaps; that could not be read */
    size_t left_out;                /* lines beyond the limits */
    char changed_names[VS_PAGE_TEXT_NAMES_MAX], missing_names[VS_PAGE_TEXT_NAMES_MAX];
};

/* vs_page_text_build: *started_ns*: of the program, since the Unix epoch; 0: not known. */
void vs_page_text_build(struct vs_page_text *text, const struct vs_page_names *names, uint64_t started_ns,
                        struct vs_column *column);

/* --- page_ranges.c ---
 *
 * The ranges and steps of a trace as sections of the page: when each was opened and how long it was
 * open, on which thread, how deep. */

enum vs_page_range_column {
    VS_RANGE_START, VS_RANGE_DURATION, VS_RANGE_PHASE, VS_RANGE_DEPTH, VS_RANGE_THREAD,
    VS_RANGE_STEP, VS_RANGE_COLUMNS
};
enum vs_page_step_column { VS_STEP_NUMBER, VS_STEP_START, VS_STEP_DURATION, VS_STEP_COLUMNS };

struct vs_page_range {
    uint64_t start_ns, duration_ns, step; /* step: its number + 1; 0: none */
    uint32_t phase, thread;
    uint8_t depth;
};

struct vs_page_step {
    uint64_t number, start_ns, duration_ns;
    bool open;
};

/* Zero-initialise, then set start_ns and the columns. */
struct vs_page_ranges {
    uint64_t start_ns; /* of the trace's clock: time 0 */
    struct vs_page_range *ranges;
    size_t range_count, range_capacity;
    struct vs_page_step *steps;
    size_t step_count, step_capacity;
    uint64_t begun; /* steps of the replay that have rows, or are before the window */
    bool prepared;  /* the open step was only prepared when the program ended */
    struct vs_column *range_columns, *step_columns; /* not owned */
};

/* vs_page_ranges_begin: the window begins: the open step gets a row. */
void vs_page_ranges_begin(struct vs_page_ranges *ranges, const struct vs_replay *replay);

/* vs_page_ranges_before: *event* closes a range, which gets a row. Called before the replay applies
 * it. vs_page_ranges_after: likewise for steps, after the replay has applied it. */
void vs_page_ranges_before(struct vs_page_ranges *ranges, const struct vs_replay *replay,
                           const struct vs_event *event);
void vs_page_ranges_after(struct vs_page_ranges *ranges, const struct vs_replay *replay);

/* vs_page_ranges_end: the window ends, at *end_ns* of the trace's clock: ranges open in *replay*
 * get rows, except in a step that was only prepared. */
void vs_page_ranges_end(struct vs_page_ranges *ranges, const struct vs_replay *replay,
                        uint64_t end_ns);

/* vs_page_ranges_found: rows of steps that the program did not mark, all of the trace. */
void vs_page_ranges_found(struct vs_page_ranges *ranges, const struct vs_report_steps *steps);

/* vs_page_ranges_encode: fills the columns, after vs_page_ranges_end. */
void vs_page_ranges_encode(struct vs_page_ranges *ranges);

void vs_page_ranges_free(struct vs_page_ranges *ranges);

/* --- page_activity.c ---
 *
 * Kernels, copies, memsets, waits and calls as a section of the page, ordered by their start. CUPTI
 * delivers them in buffers, nearly in order: rows wait in a buffer of a fixed size until no earlier
 * one is expected. */

enum vs_page_activity_column {
    VS_ACTIVITY_START, VS_ACTIVITY_DURATION, VS_ACTIVITY_NAME, VS_ACTIVITY_STREAM,
    VS_ACTIVITY_DEVICE, VS_ACTIVITY_TYPE, VS_ACTIVITY_BYTES, VS_ACTIVITY_LINK, VS_ACTIVITY_THREAD,
    VS_ACTIVITY_PLACE, VS_ACTIVITY_COLUMNS
};

struct vs_page_work {
    uint64_t start_ns, stream, duration_ns, bytes;
    uint64_t link; /* the same number for a call and the work that it began; 0: none */
    uint32_t name;
    uint32_t thread; /* of waits and calls */
    uint32_t place;  /* of waits: the name of the call site + 1; 0: unknown */
    uint8_t device, type; /* type: 0 kernel, 1 copy, 2 memset, 3 wait, 4 call, 5 call of the driver */
};

/* Zero-initialise, then set the first five. */
struct vs_page_activity {
    uint64_t start_ns; /* of the trace's clock: time 0 */
    uint64_t from_ns, to_ns; /* activity that overlaps this span is added */
    struct vs_page_streams *streams; /* not owned */
    const uint8_t *numbers; /* of the devices on the page, by account; not owned */
    struct vs_column *columns; /* VS_ACTIVITY_COLUMNS; not owned */
    struct vs_sorted_rows waiting; /* of struct vs_page_work */
    uint64_t last_ns;  /* start of the latest row */
    bool unordered;    /* a row came later than the buffer could wait */
    struct vs_map by_name; /* a kernel's string id, or a code of other work -> number */
    const char **names;    /* readable; owned by memory */
    size_t name_count, name_capacity;
    struct vs_page_place { /* a call site among the names, which are complete at the end */
        uint32_t name;
        uint64_t stack;
    } *places;
    size_t place_count, place_capacity;
    struct vs_work_calls calls;
    struct vs_arena memory;
};

/* vs_page_activity_event: adds *event*, which is activity or a call, if it is of the span. */
void vs_page_activity_event(struct vs_page_activity *activity,
                            const struct vs_replay *replay, const struct vs_event *event);

/* vs_page_activity_finish: the rows that are still waiting, and the names of call sites. */
void vs_page_activity_finish(struct vs_page_activity *activity, const struct vs_replay *replay,
                             struct vs_symbols *symbols);

void vs_page_activity_free(struct vs_page_activity *activity);

/* --- page.c, page_head.c --- */

enum vs_page_section_number {
    VS_SECTION_CURVES, VS_SECTION_SEGMENTS, VS_SECTION_BLOCKS, VS_SECTION_STEPS, VS_SECTION_RANGES,
    VS_SECTION_ACTIVITY, VS_SECTION_LIVES, VS_SECTION_SOURCES, VS_SECTION_WHATIF, VS_SECTIONS
};

struct vs_page_data {
    uint8_t numbers[VS_DEVICES_MAX]; /* of devices: the report's, which sorts them, by account */
    uint64_t start_ns;          /* of the trace's clock: time 0 */
    struct vs_time_window part; /* that has blocks; empty: the whole trace */
    uint64_t part_events_max;   /* only so many events of it; 0: all */
    bool begun;                 /* the part has; rows.ended: and is over */
    bool to_the_end;            /* the reading goes on after the part */
    struct vs_page_window window;
    struct vs_section sections[VS_SECTIONS];
    struct vs_page_rows rows;
    struct vs_page_ranges ranges;
    struct vs_page_activity activity;
    struct vs_page_streams streams;
    struct vs_page_names names;
    struct vs_page_text text;
    char *head;      /* JSON, safe inside an HTML element */
    size_t head_bytes;
    char *compared;  /* likewise: the call sites of another page that are those of this one; NULL: none */
    size_t compared_bytes;
};

/* vs_page_head_write: fills head; the other parts are complete, *replay* is the state at the end of
 * the reading. */
void vs_page_head_write(struct vs_page_data *data, const struct vs_page_source *source,
                        const struct vs_replay *replay);

/* vs_page_escape: JSON *text* as one line that is safe inside an HTML script element; malloc'ed. */
char *vs_page_escape(const char *text, size_t bytes, size_t *out_bytes);

/* --- page_whatif.c: the member "whatif" of the head, and the columns of its section --- */

struct vs_json;
void vs_page_whatif_columns(const struct vs_page_source *source, struct vs_section *section);
void vs_page_whatif_write(struct vs_json *json, const struct vs_page_source *source);

/* --- the shell ---
 *
 * Strings that cmake/bundle_page.py writes from src/viewer/html/web. A page is vs_page_open (or
 * vs_page_open_served, whose policy allows requests to the server of the page), vs_page_before, the
 * elements with the data, vs_page_after. UTF-8; their sizes do not count the terminating zero. */

extern const char vs_page_open[], vs_page_open_served[], vs_page_before[], vs_page_after[];
extern const size_t vs_page_open_size, vs_page_open_served_size, vs_page_before_size,
    vs_page_after_size;

#endif
