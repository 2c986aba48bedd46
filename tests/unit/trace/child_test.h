/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of recorders that fail: a body runs in a child, and what it says and leaves is looked at.
 * Header-only; each test program is one file. */
#ifndef VS_CHILD_TEST_H
#define VS_CHILD_TEST_H

#include "unit/trace/trace_test.h"

#include "support/child.h"

static MAYBE_UNUSED char path[520], live[530]; /* of the child's trace */

/* Runs *body* with the trace *name* in a child. Returns how it ended. */
static MAYBE_UNUSED int in_child(int (*body)(void), const char *name)
{
    snprintf(path, sizeof path, "%s/%s", scratch_dir, name);
    snprintf(live, sizeof live, "%s.live", path);
    unlink(path);
    unlink(live);
    if (child_begin())
        _exit(body());
    return child_ending();
}

static MAYBE_UNUSED unsigned lines_said(void)
{
    return (unsigned)vs_times(child_said, "\n");
}

#endif
