/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the screen of `vramscope top`. Each returns the first row after it. */
#ifndef VS_TOP_INTERNAL_H
#define VS_TOP_INTERNAL_H

#include "viewer/top/top_frame.h"

/* vs_top_table: header and at most *rows* rows, among them the selected one. */
unsigned vs_top_table(const struct vs_top_model *model, struct vs_grid *grid, unsigned row,
                      unsigned rows);

/* vs_top_details: the details of *which*, in the grid's rows from *row* to before *end*, with at most
 * *most* call sites. With *expanded*, their call chains. */
unsigned vs_top_details(const struct vs_top_model *model, const struct vs_top_row *which,
                        struct vs_grid *grid, unsigned row, unsigned end, size_t most,
                        bool expanded);

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
