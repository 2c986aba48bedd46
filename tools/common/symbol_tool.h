/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the verbs that show names look for them: flags common to them, the options that
 * stand behind the flags, and the line that tells of progress. */
#ifndef VS_SYMBOL_TOOL_H
#define VS_SYMBOL_TOOL_H

#include <stdbool.h>

#include "base/vs_option.h"

/* Lines of a verb's --help. */
#define VS_SYMBOL_FLAGS \
    "Function names (see vramscope-symbolize(1)):\n" \
    "  --debug-dir DIR       also look for debug files here; may be repeated\n" \
    "  --sysroot DIR         root folder of the traced program, such as a container's\n" \
    "  --symbol-seconds N    time limit for reading debug files (20; 0 = no limit)\n" \
    "  --no-symbol-cache     do not use or write the cache of names\n" \
    "  --debuginfod          query the servers in DEBUGINFOD_URLS\n"

/* vs_symbol_tool_configure: as *options* say. Called by main with the environment's, and
 * by `run` with its own. */
void vs_symbol_tool_configure(const struct vs_options *options);

/* vs_symbol_tool_environment: as the environment says. */
void vs_symbol_tool_environment(void);

/* vs_symbol_tool_flags: take the flags above out of *argv* and configure by them. false,
 * and said, when one is wrong. */
bool vs_symbol_tool_flags(int *argc, char **argv);

/* vs_symbol_tool_afresh: names that the traces hold count for less than those found. */
void vs_symbol_tool_afresh(void);

/* vs_symbol_tool_done: take the line of progress off the terminal. */
void vs_symbol_tool_done(void);

#endif
