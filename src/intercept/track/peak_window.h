/* SPDX-License-Identifier: Apache-2.0
 *
 * Peaks between two points of the program: windows that it opens and closes, any number of them at
 * a time, and one that has been open since the start or the last reset.
 *
 * The sums keep one peak each, which rises with every change. Whenever a window begins, is read or
 * ends, that peak is copied to all open windows and starts again from the current sum: so windows
 * cost nothing between these calls, and their peaks are exact. */
#ifndef VS_PEAK_WINDOW_H
#define VS_PEAK_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define VS_PEAK_WINDOWS 256u /* open at the same time */

/* Bytes of one device. *tensors*: of a framework's tensors, a level above the others. *user*: at the
 * user's level (ledger/book.h); in a report, of the device until a framework has reported blocks. */
#define VS_PEAK_FIGURES 5
union vs_peak_sums {
    struct {
        uint64_t allocated, requested, reserved, tensors, user;
    };
    uint64_t figure[VS_PEAK_FIGURES];
};

struct vs_peak_report {
    union vs_peak_sums before, now, peak;
    uint64_t allocations, frees, failures, tensor_allocations, tensor_frees; /* since it began */
    uint64_t user_allocations, user_frees; /* likewise, at the user's level */
    uint64_t begun_ns, now_ns;                                 /* CLOCK_MONOTONIC */
};

/* vs_peak_window_begin: opens a window on all devices. Returns its number, above 0; -1 if
 * VS_PEAK_WINDOWS are open. Any thread; takes ranks TRACKER and RECORDER. */
int64_t vs_peak_window_begin(void);

/* vs_peak_window_read: the figures of *window* for *device* (below VS_DEVICES_MAX), so far. *out*
 * may be NULL. *end*: closes it. False if the window is not open. Threads as above. */
bool vs_peak_window_read(int64_t window, uint32_t device, bool end, struct vs_peak_report *out);

/* vs_peak_raise: each figure of *high* to that of *now*. */
void vs_peak_raise(union vs_peak_sums *high, const union vs_peak_sums *now);

/* vs_peak_highest: raises *peaks* to the highest sums that windows moved out of the ledger since
 * vs_peak_restart. Without a lock: call it after reading the ledger's own peaks. */
void vs_peak_highest(uint32_t device, union vs_peak_sums *peaks);

/* vs_peak_restart: peaks of *device* restart from the current sums; open windows keep theirs.
 * Threads as above. */
void vs_peak_restart(uint32_t device);

#endif
