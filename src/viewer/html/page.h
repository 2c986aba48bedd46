/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTML page of a trace (`vramscope view`): a shell that the build bundles, and
 * the trace's data as elements that the page decodes. The format is in
 * docs/internals/view-format.md. The caller builds the report first, which gives the page its
 * figures; the overview of the whole trace (page_scan.h) and its blocks are collected on the
 * way. */
#ifndef VS_PAGE_H
#define VS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/checkpoint/trace_state.h"
#include "analysis/oom/oom.h"
#include "analysis/report/report.h"
#include "base/vs_err.h"
#include "viewer/html/page_scan.h"

#define VS_PAGE_EVENTS_MAX 10000000 /* with all blocks */
#define VS_PAGE_SITES_MAX 4000 /* call sites with a name */

struct vs_whatif_changes;

/* What other settings would have done. */
struct vs_page_whatif {
    uint64_t device; /* index in the report's devices */
    const char *why; /* nothing was replayed; NULL */
    const struct vs_whatif_changes *changes; /* empty with *why* */
    const char *rest, *path; /* of a command, after its options: " --device 1", and the trace */
};

/* What a page shows. */
struct vs_page_source {
    struct vs_reader *reader;
    const struct vs_report *report;
    struct vs_page_scan *scan; /* of the same reading as *report* */
    struct vs_page_data *collected; /* likewise, by its observer; the builder's from here on. NULL:
                                     * the page is of a part, or the trace has too many events */
    struct vs_replay *end;     /* the state at the end of that reading; with *collected* */
    const struct vs_span *span;
    const struct vs_time_window *window; /* NULL: chosen here if the trace has too many events */
    uint64_t events_max;       /* of a window that is chosen here, or given */
    bool served;               /* the page asks its server for other parts */
    bool live;                 /* the program runs: the page asks its server for new data */
    bool text;                 /* with lines of the source files that the trace names */
    const char *editor;        /* template of links to source lines, with {path} and {line}; NULL: none */
    const struct vs_oom *oom;  /* the post-mortem; NULL: none */
    const char *message;       /* about the blocks; NULL: none */
    const struct vs_page_whatif *whatif; /* NULL: none */
    void (*progress)(void *context, uint64_t bytes, uint64_t total); /* may be NULL */
    void *context;
};

/* The part of the trace whose blocks are on the page. */
struct vs_page_window {
    bool whole;
    const char *why;         /* "around the failed allocation", …; static */
    uint64_t from_ns, to_ns; /* since the start */
    uint64_t first_event, last_event; /* numbers from 1 */
};

struct vs_page_data;

/* vs_page_data_open: for the blocks of a whole trace, which its observer collects in one reading of
 * all events, after vs_page_data_begin with the replay of that reading. Ownership: vs_page_data_free. */
struct vs_page_data *vs_page_data_open(const struct vs_span *span);
void vs_page_data_begin(struct vs_page_data *data, struct vs_replay *replay);
struct vs_observer vs_page_observer(struct vs_page_data *data);

/* vs_page_data_build: the page of *source*. VS_ERR_NOMEM. Ownership: vs_page_data_free. Cost: none
 * of the reading if the blocks were collected before, unless memory is mapped piece by piece or a
 * framework came later than its memory; otherwise one reading of the trace, or of the window if the
 * trace has checkpoints. */
enum vs_err vs_page_data_build(const struct vs_page_source *source, struct vs_page_data **out)
    VS_MUST_CHECK;

/* vs_page_data_window, _blocks: the part with blocks, and how many there are. */
const struct vs_page_window *vs_page_data_window(const struct vs_page_data *data);
uint64_t vs_page_data_blocks(const struct vs_page_data *data);

/* vs_page_data_source_files: of how many files the page has lines. */
size_t vs_page_data_source_files(const struct vs_page_data *data);

/* vs_page_compare: for a page of both: finds which call sites of *b* are those of *a*. The reports are of their
 * traces, which are open, with VS_PAGE_SITES_MAX call sites in each list; where each has one device, that of b gets
 * the number of a's. */
void vs_page_compare(const struct vs_page_data *a, struct vs_report *report_a,
                     struct vs_page_data *b, struct vs_report *report_b);

/* vs_page_write: the whole page with *first* and, if it is not NULL, *second* beside it. Write
 * errors show in ferror(out). */
void vs_page_write(FILE *out, const struct vs_page_data *first, const struct vs_page_data *second,
                   bool served);

/* vs_page_elements: only the elements with the data of *data*, without a prefix. */
void vs_page_elements(FILE *out, const struct vs_page_data *data);

void vs_page_data_free(struct vs_page_data *data); /* NULL does nothing */

#endif
