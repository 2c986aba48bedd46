/* SPDX-License-Identifier: Apache-2.0
 *
 * The peaks of many windows of time, such as the tests of a test run, and the call sites that made them
 * up, from two readings of the trace: the first finds the times, the second lists what changed until
 * then. Threads do not matter, unlike for the phases of a report. */
#ifndef VS_WINDOW_PEAKS_H
#define VS_WINDOW_PEAKS_H

#include "analysis/report/report_site.h"

/* One device in one window. Bytes are of the user's level (user_level.h). */
struct vs_window_peak {
    uint64_t device;
    enum vs_level level;
    uint64_t begin_bytes, peak_bytes, end_bytes;
    uint64_t peak_event, peak_ns; /* when the peak was first reached; 0: the begin of the window */
    /* Call sites that hold more at the peak than at the begin, and those that hold less. The bytes of
     * each are the difference. */
    struct vs_report_sites more, less;
};

/* A window, both ends included, in ns since the start. It may overlap others. */
struct vs_report_window {
    uint64_t from_ns, to_ns;
    struct vs_window_peak *devices; /* those that were in use before it ended */
    size_t count;
};

/* vs_window_peaks: fills *count* windows of a trace that starts at *start_ns*, with lists in
 * *memory*; sorts them by their begin. A window after the end of the trace shows the state at the
 * end. Cost: reads the trace twice; for each event, looks at the windows that are open; for each
 * window, sorts the live memory at its begin and at its peak, and names the call sites that
 * differ. */
void vs_window_peaks(struct vs_reader *reader, struct vs_arena *memory, uint64_t start_ns,
                     struct vs_report_window *windows, size_t count, size_t sites_max);

#endif
