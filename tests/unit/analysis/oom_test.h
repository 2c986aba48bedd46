/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of the post-mortem: one trace at a time, written by vs_trace to *b*, and what is said of its
 * failure. */
#ifndef OOM_TEST_H
#define OOM_TEST_H

#include <stdbool.h>
#include <string.h>

#include "analysis/checkpoint/trace_state.h"
#include "analysis/oom/oom.h"
#include "support/report_test.h"

static struct vs_oom *oom;
static struct vs_oom_watch *watch;
static struct vs_trace_state *at_end;

/* Of failure *nth* of the trace, which is ended now if it has no end; 0: the one that ended the run. */
static inline void diagnose(uint64_t nth)
{
    if (!report) {
        watch = vs_oom_watch_open(nth);
        const struct vs_observer observer = vs_oom_watch_observer(watch);
        const struct vs_report_options options = {.observers = &observer, .observer_count = 1,
                                                  .chosen = vs_oom_watch_peaks(watch), .state = &at_end};
        read_trace(1);
        assert_int_equal(vs_report_build(reader, b.path, &options, &report), VS_OK);
    }
    vs_oom_free(oom);
    assert_int_equal(vs_oom_build(reader, report, watch, nth, &oom), VS_OK);
}

static inline void expect_verdict(const char *name)
{
    diagnose(0);
    assert_string_equal(oom->verdict->name, name);
}

AFTER(done)
{
    vs_oom_free(oom);
    vs_oom_watch_close(watch);
    vs_trace_state_close(at_end);
    watch = NULL;
    at_end = NULL;
    oom = NULL;
    return close_trace(NULL);
}

static inline const struct vs_remedy *remedy_of(const char *kind)
{
    for (size_t i = 0; i < oom->remedy_count; i++)
        if (strcmp(oom->remedies[i].kind, kind) == 0)
            return &oom->remedies[i];
    return NULL;
}

/* Evidence that is *text*, or has it in it with *part*. */
static inline bool evidence(bool against, bool part, const char *text)
{
    for (size_t i = 0; i < oom->evidence_count; i++) {
        const char *found = strstr(oom->evidence[i].text, text);
        if (oom->evidence[i].against == against && found && (part || strcmp(oom->evidence[i].text, text) == 0))
            return true;
    }
    return false;
}

#endif
