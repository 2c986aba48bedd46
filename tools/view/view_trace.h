/* SPDX-License-Identifier: Apache-2.0
 *
 * One trace as the data of an HTML page: its report, its post-mortem and its blocks; the page
 * opened in the browser, and served. */
#ifndef VS_VIEW_TRACE_H
#define VS_VIEW_TRACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/whatif/whatif.h"
#include "base/vs_arena.h"
#include "tools/common/trace_part.h"
#include "viewer/html/page.h"

struct vs_view_options {
    bool partial;        /* --partial */
    uint64_t events_max; /* --events */
    struct vs_part_args part; /* --from, --to */
    bool served, live;
    bool no_whatif;                /* --what-if */
    unsigned long long whatif_max; /* changes; 0: by the length of the trace */
    bool no_source;      /* --no-source */
    const char *editor;  /* --editor; NULL: that of the environment */
    size_t sites_max;    /* of the lists of the report; 0: as many as usual */
};

/* A trace that is open, with all that is computed once. */
struct vs_view_trace {
    const char *who, *path; /* not owned */
    struct vs_reader *reader;
    struct vs_span span;
    struct vs_page_scan scan;
    struct vs_page_data *collected; /* by the reading of the report, until a page takes it; NULL: the
                                     * page is of a part */
    struct vs_trace_state *state;   /* at the end of that reading */
    struct vs_report *report;
    struct vs_oom *oom;     /* NULL: no allocation failed, or for the reason in *message* */
    const char *message;    /* for the page; NULL: none */
    struct vs_whatif_watch *watch; /* NULL: no changes are tried */
    struct vs_whatif_log *log;
    const struct vs_page_whatif *whatif; /* NULL: none */
    struct vs_arena memory; /* of that */
};

/* vs_view_open: opens the trace at *path* and reads it for its report. Returns false, with a message
 * of *who*: nothing is open. Shows progress after a second on a terminal. */
bool vs_view_open(const char *who, const char *path, const struct vs_view_options *options,
                  struct vs_view_trace *trace);

/* vs_view_data: the page's data for *window* (NULL: the whole trace, or a part chosen around the
 * failure or the peak). NULL, with a message, on failure. Ownership: vs_page_data_free. */
struct vs_page_data *vs_view_data(struct vs_view_trace *trace,
                                  const struct vs_view_options *options,
                                  const struct vs_time_window *window);

/* vs_view_window: the part from *from* to *to*, in ns since the start of the trace, as far as that is in
 * it. Returns false when *from* lies after its end. */
bool vs_view_window(const struct vs_view_trace *trace, uint64_t from, uint64_t to,
                    struct vs_time_window *out);

/* vs_view_page: the data for the window that *options* ask for; tells on standard error which part
 * has blocks, if not all. NULL, with a message, on failure. */
struct vs_page_data *vs_view_page(struct vs_view_trace *trace,
                                  const struct vs_view_options *options);

void vs_view_close(struct vs_view_trace *trace);

/* --- view_whatif.c --- */

/* vs_view_whatif: fills whatif of *trace*, after its reading. */
void vs_view_whatif(struct vs_view_trace *trace, const struct vs_view_options *options);

/* --- view_open.c: names of pages, and the browser --- */

/* vs_view_name: the page's name for the trace at *first* and, if not NULL, *second*: "train.html" for
 * "train.vst", in the same folder. Returns false, with a message of *who*, if it is too long. */
bool vs_view_name(const char *who, const char *first, const char *second, char out[PATH_MAX]);

/* vs_view_editor: the template of links to source lines for *name* (NULL: VRAMSCOPE_EDITOR, or else vscode), which
 * is an editor's name or such a template; "": no links. NULL, with a message of *who*, if it is neither. */
const char *vs_view_editor(const char *who, const char *name);

/* vs_view_show: opens the file *path* with xdg-open, which goes on by itself. Where there is no desktop,
 * or no xdg-open, prints a line with *place* instead: the path, or the address to which it leads. */
void vs_view_show(const char *who, const char *path, const char *place);

/* vs_view_redirect: writes a page that leads to *url* to a new file with mode 0600, which the caller
 * removes: the arguments of a process are readable for everyone. False with errno. */
bool vs_view_redirect(const char *url, char path[PATH_MAX]);

/* --- view_serve.c: `--serve`: the page over HTTP, for this machine only, with further parts on request
 * --- */

struct vs_view_live;
struct vs_serve_options {
    unsigned port; /* 0: any free one */
    bool open;     /* open the page in the browser */
    struct vs_view_live *live; /* NULL: *trace* is complete */
};

/* vs_view_serve: serves the page of *trace* at 127.0.0.1 until SIGINT or SIGTERM, and prints its
 * address, which has a random token; other requests are refused. Returns an exit code; an error is
 * printed. */
int vs_view_serve(struct vs_view_trace *trace, const struct vs_view_options *options,
                  const struct vs_serve_options *serve);

/* --- view_write.c: a page to its file, by `view` and at the end of `run` --- */

/* vs_view_may_write: false, with a message of *who*, when *output* is one of the traces (*second* may
 * be NULL), or another trace. */
bool vs_view_may_write(const char *who, const char *output, const char *first, const char *second);

/* A page to be written. */
struct vs_view_page_file {
    const char *path;                     /* NULL: standard output */
    const char *traces[2];                /* what it is made from; the second may be NULL */
    const struct vs_page_data *data[2];   /* likewise */
};

/* vs_view_write: writes the page, completely or not at all, with no more permissions than its traces
 * have, and prints a line about it to *told* (NULL: nothing). Returns an exit code. */
int vs_view_write(const char *who, const struct vs_view_page_file *page, FILE *told);

/* vs_view_recorded: the pages of *count* traces that were just recorded, whatever their condition, under
 * their default names. The one of the process that failed, or has the largest peak, is opened in the
 * browser; with *output* only that one is written, there. Messages on standard error. */
void vs_view_recorded(const char *who, char *const *traces, size_t count, const char *output, bool no_source);

#endif
