/* SPDX-License-Identifier: Apache-2.0
 *
 * Peaks of many windows of time, and the call sites that changed until then. */
#include "analysis/report/window_peaks.h"
#include "unit/analysis/report_facts.h"

#define MODEL "at model; alloc 0 "
#define LOSS "at loss; alloc 2000 "
#define ONLY(list, site, size) \
    list "/sites count 1; " list "/sites/0/frames/0/function " site "; " \
    list "/sites/0/bytes " size "; " list "/total_bytes " size "; "
#define MORE(site, size) ONLY("sites_more_at_peak", site, size)
#define LESS(site, size) ONLY("sites_less_at_peak", site, size)
#define NO_LESS "sites_less_at_peak/sites count 0; "

/* In a trace "[N" is the begin of window N of the list and "]N" its end, both at the next event, or
 * after the trace where there is none. */
static const struct window_case {
    const char *name, *trace, *facts[3]; /* of device 0 of the windows, by their begin */
} cases[] = {
    {"each_window_has_its_own_peak_and_what_changed_until_then", /* events 8 and 10 are of loss */
     MODEL "8M; alloc 1000 4M [1 free 1000; " LOSS "20M ]1 free 2000 [0" LOSS "30M ]0 free 2000; "
     LOSS "300M",
     {"begin_bytes 12M; peak_bytes 28M; peak_event 8; " MORE("loss", "20M") LESS("model", "4M"),
      "begin_bytes 8M; peak_bytes 38M; end_bytes 8M; peak_event 10; " MORE("loss", "30M") NO_LESS}},
    {"windows_may_overlap_and_lie_after_the_end", "[0" MODEL "8M [1" LOSS "2M; free 0 [2",
     {"begin_bytes 0; peak_bytes 10M; sites_more_at_peak/sites count 2",
      "begin_bytes 8M; " MORE("loss", "2M"),
      "begin_bytes 2M; peak_bytes 2M; peak_event 0; sites_more_at_peak/sites count 0"}},
    {"a_device_that_appears_in_a_window_begins_with_nothing",
     "[0 gpu 1; device 1G GPU; " MODEL "5M",
     {"peak_bytes 0; /windows/0/devices count 2; /windows/0/devices/1/device 1; "
      "/windows/0/devices/1/begin_bytes 0; "
      ONLY("/windows/0/devices/1/sites_more_at_peak", "model", "5M")}},
    /* the segment that PyTorch requests before its first tensor is no memory of the user's */
    {"a_framework_that_appears_in_a_window_counts_its_tensors_alone",
     "[0" MODEL "20M; at loss; tensor 0 3M",
     {"level framework; begin_bytes 0; peak_bytes 3M; " MORE("loss", "3M")}},
    /* segments that the framework had at its first tensor were taken off the bytes at the begin and
     * at the peak, although they were requested later */
    {"segments_requested_after_a_moment_are_not_taken_off_its_bytes",
     "at other; alloc 5000 5M [0" MODEL "20M; at loss; tensor 0 3M",
     {"begin_bytes 5M; peak_bytes 8M; " MORE("loss", "3M") NO_LESS}},
    {"segments_requested_after_the_peak_are_not_taken_off_its_bytes",
     "[0 at other; alloc 5000 30M; free 5000; " MODEL "20M; at loss; tensor 0 3M",
     {"begin_bytes 0; peak_bytes 30M; end_bytes 3M; " MORE("other", "30M")}},
    /* at the begin no framework was known: the segment is no memory of the user's then, too */
    {"a_segment_of_the_begin_is_not_listed_as_less",
     "at other; alloc 5000 5M; " MODEL "20M [0 at loss; tensor 0 3M",
     {"begin_bytes 5M; peak_bytes 8M; " MORE("loss", "3M") NO_LESS}},
};

ROWS(cases, windows_have_their_peaks)
{
    const struct window_case *c = *state;
    struct vs_report_window windows[3] = {{0}};
    size_t count = 0;
    begin_trace("observe", "device 1G GPU");
    for (const char *text = c->trace; *text;) {
        size_t size = strcspn(text, "[]");
        vs_trace(&b, "%.*s", (int)size, text);
        text += size;
        if (!*text)
            break;
        struct vs_report_window *window = &windows[text[1] - '0'];
        if (*text == '[')
            *window = (struct vs_report_window){
                .from_ns = text[2] ? b.now_ns - b.start_ns : UINT64_MAX - 1, .to_ns = UINT64_MAX};
        else
            window->to_ns = b.now_ns - b.start_ns;
        count += *text == '[';
        text += 2;
    }
    read_report(0);
    vs_window_peaks(reader, &report->memory, report->start_ns, windows, count, 10);
    report->windows = windows;
    report->window_count = count;
    for (unsigned i = 0; i < count; i++) {
        char from[40];
        snprintf(from, sizeof from, "windows/%u/devices/0", i);
        expect_report(from, c->facts[i]);
    }
}
