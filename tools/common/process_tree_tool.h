/* SPDX-License-Identifier: Apache-2.0
 *
 * Several traces at once, as `vramscope report`, `vramscope oom` and the end of `vramscope run`
 * print them. */
#ifndef VS_PROCESS_TREE_TOOL_H
#define VS_PROCESS_TREE_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/oom/oom.h"
#include "viewer/common/text_style.h"

/* A list of traces; zero-initialise. */
struct vs_trace_list {
    char **paths;
    size_t count, capacity;
};

/* vs_trace_list_add: adds *path* or, for a folder, every .vst in it, by name. Returns false, with a
 * line on standard error that begins with *who*, when there is none. */
bool vs_trace_list_add(const char *who, struct vs_trace_list *list, const char *path);
/* vs_trace_list_single: removes duplicates from the list: traces named twice, and copies or links;
 * the longest stays. Prints a line on standard error for each. */
void vs_trace_list_single(const char *who, struct vs_trace_list *list);
/* vs_trace_list_readable: removes the traces that cannot be opened from the list, and prints a line
 * on standard error for each. Returns false when *partial* does not allow that, or none are left. */
bool vs_trace_list_readable(const char *who, struct vs_trace_list *list, bool partial);
void vs_trace_list_free(struct vs_trace_list *list);
/* vs_trace_list_runs: calls *show* for the traces of each run in *list*, in the order of their starts, after
 * a line on stdout that names the run if there are several. *list*: all can be opened; *run* is valid during
 * the call. Returns false, with a message, when the traces cannot be read, or *show* returned false. */
bool vs_trace_list_runs(const char *who, const struct vs_trace_list *list,
                        bool (*show)(void *context, struct vs_trace_list *run), void *context);

/* vs_tool_tree: prints them as a tree, or as JSON to the style's stream. With *partial*, the
 * readable part of truncated or damaged traces is used, and unreadable ones leave the list;
 * without, they make it return false. Prints a line on standard error for each. */
bool vs_tool_tree(const char *who, struct vs_trace_list *list,
                  const struct vs_style *style, bool json, bool partial);

/* vs_oom_processes: prints which of the processes in *list* ran out of memory first, and what each
 * held then; to the style's stream, as JSON if *json*. *first*: the path of that trace in *list*;
 * NULL when none failed. With *partial*, damaged traces are used as far as they are readable. Returns
 * an exit code, with a message if it is not VS_EXIT_OK. Cost: each trace is read four times. */
int vs_oom_processes(const char *who, struct vs_trace_list *list, bool json, bool partial,
                     const struct vs_style *style, const char **first);

/* --- oom_tool.c --- */

/* vs_oom_tool_build: diagnoses failure *nth* (0: see vs_oom_build) of the trace of *report* (and of *watch*, or NULL), tries
 * remedies by replay if *replay*, and adds the kinds of tensors. **out* is NULL where no allocation failed. VS_ERR_NOT_FOUND when there is no failure *nth*;
 * VS_ERR_STATE when the trace does not have every allocation before the failure: no diagnosis is
 * possible. The position of *reader* is lost. Ownership: vs_oom_free. */
enum vs_err vs_oom_tool_build(struct vs_reader *reader, const struct vs_report *report,
                              struct vs_oom_watch *watch, uint64_t nth, bool replay,
                              struct vs_oom **out) VS_MUST_CHECK;

#endif
