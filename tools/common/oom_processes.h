/* SPDX-License-Identifier: Apache-2.0
 *
 * The post-mortem of several processes, as `vramscope oom` of several traces prints it. */
#ifndef VS_OOM_PROCESSES_H
#define VS_OOM_PROCESSES_H

#include "tools/common/process_tree_tool.h"
#include "viewer/common/text_style.h"

/* vs_oom_processes: prints which of the processes in *list* ran out of memory first, and what each
 * held then; to the style's stream, as JSON if *json*. *first*: the path of that trace in *list*;
 * NULL when none failed. With *partial*, damaged traces are used as far as they are readable. Returns
 * an exit code, with a message if it is not VS_EXIT_OK. Cost: each trace is read four times. */
int vs_oom_processes(const char *who, struct vs_trace_list *list, bool json, bool partial,
                     const struct vs_style *style, const char **first);

#endif
