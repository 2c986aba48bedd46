/* SPDX-License-Identifier: Apache-2.0
 *
 * Sources of symbol names, for the verbs that show names: their common flags, the options set by
 * the flags, and the progress line. */
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
    "  --library PREFIX      a library's code, not yours: a folder, file, object or\n" \
    "                        namespace that begins so; may be repeated\n" \
    "  --debuginfod          query the servers in DEBUGINFOD_URLS\n"

/* vs_symbol_tool_configure: sets the sources from *options*. Called by main with the environment's
 * options, and by `run` with its own. */
void vs_symbol_tool_configure(const struct vs_options *options);

/* vs_symbol_tool_environment: sets the sources from the environment. */
void vs_symbol_tool_environment(void);

/* vs_symbol_tool_flags: removes the flags above from *argv* and applies them. Returns false, with a
 * message, when one is wrong. */
bool vs_symbol_tool_flags(int *argc, char **argv);

/* vs_symbol_tool_library: as --library, with a *list* separated by ','. Returns false when there are
 * too many. */
bool vs_symbol_tool_library(const char *list);

/* vs_symbol_tool_prefer_files: names found in files replace the names stored in the traces. */
void vs_symbol_tool_prefer_files(void);

/* vs_symbol_tool_done: clears the progress line on the terminal. */
void vs_symbol_tool_done(void);

#endif
