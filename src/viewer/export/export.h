/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace in another tool's format. A format is one function, which writes while it reads the trace
 * once, and one row in export_table.h. */
#ifndef VS_EXPORT_H
#define VS_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/state/replay_totals.h"
#include "base/vs_err.h"
#include "trace/read/reader.h"

struct vs_time_window; /* analysis/checkpoint/trace_state.h */
struct vs_rank_clock;  /* analysis/merge/merge.h */

/* The trace is one of several in one timeline, written one after the other to the same stream. */
struct vs_export_member {
    unsigned index, count;           /* from 0 */
    const char *name;                /* of its tracks: "rank 3" */
    const struct vs_rank_clock *clock; /* its time as that of all */
    uint64_t written;                /* records of those before it */
};

/* Options that a format uses. */
enum vs_export_option {
    VS_EXPORT_SPAN = 1 << 0,        /* --from, --to, --steps */
    VS_EXPORT_MIN_BYTES = 1 << 1,   /* --min-bytes */
    VS_EXPORT_ALL_POINTS = 1 << 2,  /* --all-points */
    VS_EXPORT_AT = 1 << 3,          /* --at */
    VS_EXPORT_BY = 1 << 4,          /* --by */
    VS_EXPORT_INVERTED = 1 << 5,    /* --inverted */
    VS_EXPORT_DEVICE = 1 << 6,      /* --device */
    VS_EXPORT_MAX_SIZE = 1 << 7,    /* --max-size */
    VS_EXPORT_JOB = 1 << 8,         /* --job */
    VS_EXPORT_FOLDER = 1 << 9,      /* not an option: the output is a folder */
};

struct vs_export_options {
    const struct vs_time_window *window; /* NULL: the whole trace */
    bool point;          /* the window is one point in time, its end (--at) */
    bool gzip;            /* the output is compressed, whatever the format */
    bool by_count;        /* blocks instead of bytes */
    bool inverted;        /* from the allocating function outwards */
    bool one_device;      /* only this one: */
    uint64_t device;      /* the trace's number */
    uint64_t min_bytes;   /* of blocks that the timeline draws; 0 = its default */
    uint64_t max_bytes;   /* of the output before compression; 0: any */
    const struct vs_export_member *member; /* NULL: the trace alone; chrome, perfetto */
    const char *folder;   /* of VS_EXPORT_FOLDER: the output */
    bool partial;         /* of a damaged trace as well; otherwise such a folder stays as it was */
    const char *job;      /* the name of the job; NULL: as recorded */
    bool no_timeline;     /* sqlite: without kernels, copies, calls, waits and segments */
    uint64_t counter_ns;  /* counter points closer than this are merged, maxima kept; 0 = all */
};

struct vs_export_result {
    uint64_t written; /* records of the format */
    uint64_t clipped; /* slices cut short because they overlapped another on their track */
    uint64_t selectable, left_out, shortest_ns; /* slices, those that --max-size left out: shorter than that */
    uint64_t least_bytes; /* with VS_ERR_LIMIT: the size without them */
    bool ended;       /* the trace was read to its end, not only to the end of the window: */
    enum vs_condition condition; /* of the trace */
    char why[VS_READER_WHY_MAX]; /* the condition as a sentence */
    struct vs_recording_state recording; /* limits of the recording; since_ns from the start on */
};

/* Reads *reader* from its start, or from the start of the window, and writes to *out*; called by
 * vs_export, which sets *result* to 0 and checks *out* at the end. */
typedef enum vs_err vs_export_write(struct vs_reader *reader, FILE *out,
                                    const struct vs_export_options *options,
                                    struct vs_export_result *result);

#define VS_EXPORT_FORMAT(id, name, extension, options, help) vs_export_write vs_export_##id;
#include "viewer/export/export_table.h"
#undef VS_EXPORT_FORMAT

struct vs_export_format {
    const char *name, *extension;
    unsigned options; /* enum vs_export_option */
    vs_export_write *write;
};

/* vs_export_find: the format called *name*; NULL if there is none. */
const struct vs_export_format *vs_export_find(const char *name);

/* vs_export: reads *reader* and writes to *out*, which is NULL for a folder. VS_ERR_IO if a write fails (errno has the reason),
 * VS_ERR_NOMEM, VS_ERR_NOT_FOUND: the program did not use the device, VS_ERR_UNSUPPORTED: this
 * build lacks the library, VS_ERR_LIMIT: the output cannot be as small as max_bytes. The caller checks the
 * trace's condition. */
enum vs_err vs_export(const struct vs_export_format *format, struct vs_reader *reader, FILE *out,
                      const struct vs_export_options *options, struct vs_export_result *result)
    VS_MUST_CHECK;

/* vs_export_ended: *reader* has read the trace to its end: sets that and its condition. */
void vs_export_ended(const struct vs_reader *reader, struct vs_export_result *result);

/* vs_export_recording: sets the limits of the recording from *state*, with times from *start_ns* on. */
void vs_export_recording(const struct vs_recording_state *state, uint64_t start_ns,
                         struct vs_export_result *result);

/* vs_export_unused: the flag, such as "--all-points", of the first option in *given* (enum
 * vs_export_option) that *format* does not use; NULL if it uses all. */
const char *vs_export_unused(const struct vs_export_format *format, unsigned given);

#endif
