/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of the post-mortem: a trace as text, and the facts of the JSON that `vramscope oom` prints
 * of its failure (json_expect). Beside them are the texts that it and the summary of a run print, and
 * figures that it only uses:
 *
 *     verdict growth; remedies/0/kind free_growth; summary has   why     growth: ; inside/ended 1 */
#ifndef OOM_TEST_H
#define OOM_TEST_H

#include "analysis/checkpoint/trace_state.h"
#include "analysis/oom/oom.h"
#include "support/json_test.h"
#include "support/report_test.h"
#include "viewer/report/oom_text.h"

#define GUILTY "guilty/sites/0/frames/0/function "

static struct vs_oom *oom;
static struct vs_oom_watch *watch;
static struct vs_trace_state *at_end;

/* Of failure *nth* of the trace, which is ended now if it has no end; 0: that which ended the run. */
static inline void diagnose(uint64_t nth)
{
    if (!report) {
        watch = vs_oom_watch_open(nth);
        const struct vs_observer observer = vs_oom_watch_observer(watch);
        const struct vs_report_options options = {
            .observers = &observer, .observer_count = 1, .chosen = vs_oom_watch_peaks(watch),
            .begin = vs_oom_watch_begin, .observed = watch, .state = &at_end};
        read_trace(1);
        assert_int_equal(vs_report_build(reader, b.path, &options, &report), VS_OK);
    }
    vs_oom_free(oom);
    assert_int_equal(vs_oom_build(reader, report, watch, nth, &oom), VS_OK);
}

static inline struct json_object *figures(void)
{
    struct json_object *inside = json_object_new_object();
    const struct vs_report_device *device = &report->devices[0];
#define FIGURE(name) {#name, (int64_t)oom->name}
    const struct {
        const char *name;
        int64_t value;
    } all[] = {
        FIGURE(ended), FIGURE(went_on), FIGURE(failures_recovered), FIGURE(missing_unknown),
        FIGURE(in_step), FIGURE(spike_is_request), FIGURE(spike_peak), FIGURE(also_count),
        FIGURE(pools_releasable), FIGURE(library_bytes), FIGURE(withheld_live), FIGURE(request_first),
        FIGURE(need_at_least), FIGURE(cache.segments), FIGURE(cache.scattered), FIGURE(cache.withheld),
        FIGURE(cache.other_streams), FIGURE(cache.other_class), FIGURE(cache.private_pools),
        FIGURE(cache.withheld_largest), {"limit", (int64_t)device->limit_bytes},
        {"firsts", (int64_t)report->first_count},
        {"device_failures", (int64_t)device->family[VS_FAMILY_DEVICE].failures},
    };
#undef FIGURE
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        json_object_object_add(inside, all[i].name, json_object_new_int64(all[i].value));
    return inside;
}

/* Facts of the diagnosis made last, or else of the failure that ended the run. */
static inline void expect(const char *facts)
{
    char *texts[3] = {NULL};
    size_t size;
    if (!oom)
        diagnose(0);
    for (int i = 0; i < 3; i++) {
        struct vs_style style = {
            .out = open_memstream(&texts[i], &size), .sites = 10, .width = i == 2 ? 80 : 200};
        if (i == 0)
            vs_oom_json(oom, report, false, style.out);
        else if (i == 1)
            vs_oom_brief(oom, &style);
        else
            vs_oom_text(oom, report, &style);
        fclose(style.out);
    }
    unsigned columns = 0;
    for (const char *c = texts[2]; *c; c++) {
        columns = *c == '\n' ? 0 : columns + ((*c & 0xc0) != 0x80);
        assert_true(columns <= 80);
    }
    struct json_object *root = json_tokener_parse(texts[0]);
    json_object_object_add(root, "summary", json_object_new_string(texts[1]));
    json_object_object_add(root, "text", json_object_new_string(texts[2]));
    json_object_object_add(root, "inside", figures());
    json_expect(root, root, facts);
    json_object_put(root);
    for (int i = 0; i < 3; i++)
        free(texts[i]);
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

/* A trace, and what is said of the failure that ended it, or of failure *nth*. */
struct oom_case {
    const char *name, *trace, *facts;
    const char *replayed; /* facts after the requests were replayed; NULL: they are not */
    const char *policy;   /* NULL: observe */
};

static inline void explain(const struct oom_case *c)
{
    begin_trace(c->policy ? c->policy : "observe", c->trace);
    expect(c->facts);
    if (c->replayed) {
        vs_oom_replay(oom, reader);
        expect(c->replayed);
    }
}

#endif
