/* SPDX-License-Identifier: Apache-2.0
 *
 * What `vramscope top` shows: a table with a row for each process and device, and the details of
 * the selected row. Drawn into a grid of any size from 20 columns and 5 rows on; what does not
 * fit is left out, the least important first. Does not read traces and knows no terminal. */
#ifndef VS_TOP_FRAME_H
#define VS_TOP_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/watch/watch.h"
#include "viewer/top/grid.h"

#define VS_TOP_ROWS_MAX 1024 /* processes and their devices */
#define VS_TOP_ROOMY 20u     /* rows of a screen from which on its parts are apart */

struct vs_top_process {
    uint64_t pid;
    struct vs_watch_view view;
    const char *error; /* why it cannot be read; NULL: it can */
};

/* A row of the table. */
struct vs_top_row {
    uint32_t process; /* index */
    uint32_t device;  /* index in its view; VS_TOP_NO_DEVICE: it has none so far */
};
#define VS_TOP_NO_DEVICE UINT32_MAX

enum vs_top_sort {
    VS_TOP_BY_DANGER, /* by time left while a process is about to run out of memory, else by pid */
    VS_TOP_BY_ALLOCATED,
    VS_TOP_BY_RESERVED,
    VS_TOP_BY_RATE,
    VS_TOP_BY_LEFT,
    VS_TOP_BY_PID,
    VS_TOP_SORT_COUNT
};
/* vs_top_sort_name: as --sort takes it: "auto", "allocated", "reserved", "rate", "left", "pid". */
const char *vs_top_sort_name(enum vs_top_sort sort);

struct vs_top_model {
    struct vs_top_process *processes;
    size_t count;
    enum vs_top_sort sort;
    struct vs_top_row rows[VS_TOP_ROWS_MAX]; /* set by vs_top_sort_rows */
    size_t row_count;
    size_t selected; /* index in rows */
    bool chosen;     /* by the user; otherwise it is the first row */
    bool paused, expanded, help;
    bool by_growth;  /* order of call sites; otherwise by bytes */
    unsigned interval_ms;
    const char *note; /* a line instead of the table when there is no row */
};

/* vs_top_sort_rows: makes the rows; the process and device that the user chose stay selected. */
void vs_top_sort_rows(struct vs_top_model *model);

/* vs_top_draw: the whole screen. */
void vs_top_draw(const struct vs_top_model *model, struct vs_grid *grid);

/* vs_top_once: prints each row with its details, for `--once`. */
void vs_top_once(const struct vs_top_model *model, const struct vs_style *style);

/* vs_top_json: likewise as JSON, schema vramscope.top/1. */
void vs_top_json(const struct vs_top_model *model, FILE *out);

/* vs_top_metrics: the running processes in the text format of OpenMetrics 1.0. */
void vs_top_metrics(const struct vs_top_model *model, FILE *out);

/* --- the parts of the screen; each returns the first row after it --- */

/* vs_top_table: header and at most *rows* rows, among them the selected one. */
unsigned vs_top_table(const struct vs_top_model *model, struct vs_grid *grid, unsigned row,
                      unsigned rows);

/* Which call sites the details have. */
struct vs_top_shown {
    size_t sites;   /* at most */
    bool chains;    /* with their call chains */
    bool tree;      /* as a call tree instead */
    bool by_growth;
};

/* vs_top_details: the details of *which*, in the grid's rows from *row* to before *end*. */
unsigned vs_top_details(const struct vs_top_model *model, const struct vs_top_row *which,
                        struct vs_grid *grid, unsigned row, unsigned end,
                        const struct vs_top_shown *shown);

/* vs_top_tree: the call tree of the sites that hold most, with a header. */
unsigned vs_top_tree(const struct vs_watch_device *device, bool by_growth, struct vs_grid *grid,
                     unsigned row, unsigned end);

/* vs_top_graph: allocated memory over the whole run, *run_ns* long, in all rows to *end*; nothing where
 * there are few. */
unsigned vs_top_graph(const struct vs_watch_device *device, uint64_t run_ns, struct vs_grid *grid, unsigned row,
                      unsigned end);

/* vs_top_line: likewise as blocks in one row, from column *at*; the full one is *top*. */
void vs_top_line(const struct vs_memory_history *history, uint64_t top, struct vs_grid *grid,
                 unsigned row, unsigned at, unsigned width);

/* vs_top_device: the device of *row*; NULL when it has none. */
const struct vs_watch_device *vs_top_device(const struct vs_top_model *model,
                                            const struct vs_top_row *row);

/* vs_top_program: the program's name, without folders; a Python program's is that of its script.
 * *out* has VS_TOP_PROGRAM_MAX bytes. Returns out. */
#define VS_TOP_PROGRAM_MAX 64
char *vs_top_program(char *out, const struct vs_watch_view *view);

/* vs_top_alarm: how urgent the state of a device is: VS_PLAIN, VS_WARN, VS_BAD. */
enum vs_paint vs_top_alarm(const struct vs_watch_device *device);

#endif
