/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Lock order: the table of windows, then the recorder, which excludes changes of
 * the sums; so the figures of a window are those of one point in the trace. */
#include "intercept/track/peak_window.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/vs_clock.h"
#include "base/vs_lock.h"
#include "intercept/track/track_change.h"
#include "intercept/track/tracker.h"

struct peak_of_device {
    union vs_peak_sums before, peak;
    uint64_t allocations, frees, failures, tensor_allocations, tensor_frees; /* before it began */
    uint64_t holding_allocations, holding_frees; /* of memory that holds tensors, likewise */
};

static struct peak_window {
    int64_t number; /* 0: free */
    uint64_t begun_ns;
    struct peak_of_device devices[VS_DEVICES_MAX];
} windows[VS_PEAK_WINDOWS];             /* guarded by lock */
static unsigned windows_end;            /* likewise: no window is open from here on */
static union vs_peak_sums moved[VS_DEVICES_MAX]; /* written under lock, read by vs_sum_read */
static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_TRACKER, "peak windows");

static const struct vs_ledger *tensors_of(uint32_t device)
{
    return &vs_process_book.account[VS_BOOK_HOST + 1 + device];
}

static union vs_peak_sums sums(uint32_t device, bool peak)
{
    const struct vs_ledger *own = vs_track_sums(device), *above = tensors_of(device);
    const struct vs_levels *levels = peak ? &own->peak : &own->now;
    return (union vs_peak_sums){
        .allocated = vs_sum_read(&levels->allocated),
        .requested = vs_sum_read(&levels->requested),
        .reserved = vs_sum_read(&levels->reserved),
        .tensors = vs_sum_read(peak ? &above->peak.allocated : &above->now.allocated),
        .user = peak ? vs_book_user_peak(&vs_process_book, device)
                     : vs_book_user_now(&vs_process_book, device)};
}

void vs_peak_raise(union vs_peak_sums *high, const union vs_peak_sums *now)
{
    for (int i = 0; i < VS_PEAK_FIGURES; i++)
        vs_sum_raise(&high->figure[i], now->figure[i]);
}

/* Moves the peak of the sums of *device* to every open window. With the recorder held. */
static void move_peak_locked(uint32_t device)
{
    union vs_peak_sums peak = sums(device, true);
    if (!peak.reserved && !peak.allocated && !peak.tensors)
        return;
    for (unsigned i = 0; i < windows_end; i++) {
        if (windows[i].number)
            vs_peak_raise(&windows[i].devices[device].peak, &peak);
    }
    vs_peak_raise(&moved[device], &peak);
    /* pairs with the fence in vs_peak_highest: who reads the lower peak reads *moved* as well */
    atomic_thread_fence(memory_order_release);
    vs_book_restart_peaks(&vs_process_book, device);
}

static struct peak_of_device counts_of(uint32_t device)
{
    struct vs_device_counters counters = {0};
    const struct vs_family_counts *tensors = &tensors_of(device)->family[VS_FAMILY_DEVICE];
    const struct vs_book_user *user = &vs_process_book.user[device];
    if (vs_track_device(device, &counters))
        return (struct peak_of_device){0};
    return (struct peak_of_device){.allocations = counters.allocations,
                                   .frees = counters.frees,
                                   .failures = counters.failures,
                                   .tensor_allocations = vs_sum_read(&tensors->allocs),
                                   .tensor_frees = vs_sum_read(&tensors->frees),
                                   .holding_allocations = user->allocs,
                                   .holding_frees = user->frees};
}

int64_t vs_peak_window_begin(void)
{
    static int64_t begun; /* guarded by lock */
    struct vs_recorder *recorder = vs_process_recorder();
    int64_t number = -1;
    VS_LOCK_SCOPE(&lock);
    unsigned i = 0;
    while (i < VS_PEAK_WINDOWS && windows[i].number)
        i++;
    if (i < VS_PEAK_WINDOWS) {
        number = ++begun * VS_PEAK_WINDOWS + i;
        vs_recorder_acquire(recorder);
        struct peak_window *window = &windows[i];
        for (uint32_t device = 0; device < VS_DEVICES_MAX; device++) {
            move_peak_locked(device);
            struct peak_of_device *of = &window->devices[device];
            *of = counts_of(device);
            of->before = of->peak = sums(device, false);
        }
        window->begun_ns = vs_clock_ns();
        vs_recorder_release(recorder);
        windows[i].number = number;
        if (i >= windows_end)
            windows_end = i + 1;
    }
    return number;
}

static void report(const struct peak_window *window, uint32_t device, struct vs_peak_report *out)
{
    const struct peak_of_device *from = &window->devices[device];
    struct peak_of_device now = counts_of(device);
    *out = (struct vs_peak_report){
        .before = from->before,
        .now = sums(device, false),
        .peak = from->peak,
        .allocations = now.allocations - from->allocations,
        .frees = now.frees - from->frees,
        .failures = now.failures - from->failures,
        .tensor_allocations = now.tensor_allocations - from->tensor_allocations,
        .tensor_frees = now.tensor_frees - from->tensor_frees,
        .begun_ns = window->begun_ns,
        .now_ns = vs_clock_ns()};
    /* until a framework reports blocks, it is the level of the device, as for a reader */
    if (!now.tensor_allocations) {
        out->before.user = out->before.allocated;
        out->now.user = out->now.allocated;
        out->peak.user = out->peak.allocated;
        now.holding_allocations = from->holding_allocations;
        now.holding_frees = from->holding_frees;
    }
    out->user_allocations = out->allocations + out->tensor_allocations -
                            (now.holding_allocations - from->holding_allocations);
    out->user_frees =
        out->frees + out->tensor_frees - (now.holding_frees - from->holding_frees);
}

bool vs_peak_window_read(int64_t number, uint32_t device, bool end, struct vs_peak_report *out)
{
    if (number < 0 || device >= VS_DEVICES_MAX)
        return false;
    struct vs_recorder *recorder = vs_process_recorder();
    struct peak_window *window = &windows[(uint64_t)number % VS_PEAK_WINDOWS];
    VS_LOCK_SCOPE(&lock);
    bool open = number && window->number == number;
    if (open) {
        VS_RECORDER_SCOPE(recorder);
        move_peak_locked(device);
        if (out)
            report(window, device, out);
    }
    if (open && end) {
        window->number = 0;
        while (windows_end && !windows[windows_end - 1].number)
            windows_end--;
    }
    return open;
}

void vs_peak_highest(uint32_t device, union vs_peak_sums *peaks)
{
    atomic_thread_fence(memory_order_acquire);
    for (int i = 0; i < VS_PEAK_FIGURES; i++)
        vs_sum_raise(&peaks->figure[i], vs_sum_read(&moved[device].figure[i]));
}

void vs_peak_restart(uint32_t device)
{
    struct vs_recorder *recorder = vs_process_recorder();
    VS_LOCK_SCOPE(&lock);
    VS_RECORDER_SCOPE(recorder);
    move_peak_locked(device);
    union vs_peak_sums now = sums(device, false);
    for (int i = 0; i < VS_PEAK_FIGURES; i++)
        vs_sum_write(&moved[device].figure[i], now.figure[i]);
}
