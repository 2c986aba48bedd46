/* SPDX-License-Identifier: Apache-2.0
 *
 * The possible places of a module's own file and its separate debug file: beside the module, in
 * debug directories by build id and by debug link, below another root, in a debuginfod client's
 * cache. Names come from traces and ELF files: build ids are checked to be hex before they become
 * part of a path. Private to src/trace and its tests. */
#ifndef VS_DEBUG_FILES_H
#define VS_DEBUG_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/symbols/symbols.h"

#define VS_BUILD_ID_HEX_MAX 130u /* longest build id as text, with its NUL */
#define VS_DEBUG_LINK_MAX 256u

struct vs_debug_query {
    const char *path;     /* of the module, as recorded */
    const char *build_id; /* lower-case hex; "" when it has none */
    const char *link;     /* name in .gnu_debuglink; "" when unknown or none */
    const struct vs_symbols_options *options;
};

/* Called for each candidate in order of preference; true ends the search. */
typedef bool vs_debug_candidate(void *arg, const char *path);

/* vs_debug_files_modules: lists files that may be the module itself. */
bool vs_debug_files_modules(const struct vs_debug_query *query, vs_debug_candidate *use, void *arg);
/* vs_debug_files_separate: lists files that may hold its debug information. */
bool vs_debug_files_separate(const struct vs_debug_query *query, vs_debug_candidate *use,
                             void *arg);

/* vs_debug_files_is_build_id: whether *text* is 2 to 64 bytes in lower-case hex. */
bool vs_debug_files_is_build_id(const char *text);

/* A signature of the existing files, from their status only; 0: none. */
struct vs_debug_signature {
    uint64_t module, separate;
};
struct vs_debug_signature vs_debug_files_sign(const struct vs_debug_query *query);

/* vs_debug_files_open: opens a regular file for reading; -1 for anything else. */
int vs_debug_files_open(const char *path);

#endif
