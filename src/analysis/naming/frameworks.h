/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of frameworks, by which libraries are named and reports say what a trace has of each. */
#ifndef VS_FRAMEWORKS_H
#define VS_FRAMEWORKS_H

/* A row of vs_framework_table.h, which says what the texts are. */
struct vs_framework {
    const char *name, *contents, *objects, *seen, *more;
};
enum {
#define VS_FRAMEWORK(id, ...) VS_FRAMEWORK_##id,
#include "base/frameworks/vs_framework_table.h"
#undef VS_FRAMEWORK
    VS_FRAMEWORK_COUNT
};
extern const struct vs_framework vs_frameworks[VS_FRAMEWORK_COUNT];

/* vs_framework_named: the row with this name of a library, or NULL. */
const struct vs_framework *vs_framework_named(const char *name);

#endif
