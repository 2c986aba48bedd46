/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "intercept/cupti/kernel_switch.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "base/vs_option.h"
#include "base/steps/vs_schedule.h"
#include "base/steps/vs_step_name.h"
#include "intercept/cupti/call_site.h"
#include "intercept/cupti/collector.h"
#include "intercept/cupti/nvtx.h"
#include "intercept/process/process.h"
#include "intercept/track/capture.h"

/* The range of this thread that counts, until it is closed. */
static _Thread_local struct {
    bool open;
    unsigned nested; /* further ones of its domain */
    const char *domain;
    uint64_t number;
} watched __attribute__((tls_model("initial-exec")));

static _Atomic(const void *) stepping; /* the thread whose steps count: its *watched* */
static uint64_t step_index;            /* of that thread */
static _Atomic unsigned ranges_open;   /* with the name of kernels_range, of all threads */

bool vs_switch_given(void)
{
    const struct vs_options *options = vs_process_options();
    return *options->text[VS_OPT_kernels_steps] || *options->text[VS_OPT_kernels_range] ||
           options->number[VS_OPT_kernels_signal];
}

/* Asks only: the device can be waited for in a call of the program's alone. */
static void on_signal(int number)
{
    (void)number;
    atomic_fetch_or_explicit(&vs_calls_wanted, VS_CALL_SIGNALLED, memory_order_relaxed);
}

bool vs_switch_signal(void)
{
    static const int numbers[] = {0, SIGUSR1, SIGUSR2, SIGUSR1, SIGUSR2};
    int number = numbers[vs_process_options()->number[VS_OPT_kernels_signal]];
    struct sigaction before, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART | (int)SA_ONSTACK};
    return !number || (!sigaction(number, NULL, &before) && before.sa_handler == SIG_DFL &&
                       !sigaction(number, &ours, NULL));
}

void vs_switch_signalled(void)
{
    if (vs_capture_any()) /* a call after it does */
        return;
    if (!(atomic_fetch_and_explicit(&vs_calls_wanted, ~(unsigned)VS_CALL_SIGNALLED, memory_order_relaxed) &
          VS_CALL_SIGNALLED))
        return;
    bool on = vs_collector_part_on();
    vs_collector_switch(on ? VS_SCHEDULE_OFF : VS_SCHEDULE_ON, VS_SWITCH_SIGNAL, 0, "");
}

/* The option was valid when it was set. */
static enum vs_schedule_part part_at(uint64_t number, uint64_t index)
{
    struct vs_schedule schedule;
    if (vs_schedule_parse(vs_process_options()->text[VS_OPT_kernels_steps], &schedule) != VS_OK)
        return VS_SCHEDULE_ON;
    return vs_schedule_at(&schedule, number, index);
}

static bool begins_step(const char *name)
{
    struct vs_step_name step;
    const void *none = NULL;
    if (!*vs_process_options()->text[VS_OPT_kernels_steps] || !vs_step_name_parse(name, &step))
        return false;
    if (!atomic_compare_exchange_strong_explicit(&stepping, &none, &watched, memory_order_relaxed,
                                                 memory_order_relaxed) &&
        none != &watched)
        return false;
    watched.number = step.numbered ? step.number : step_index + 1;
    return true;
}

void vs_switch_pushed(const char *name, const char *domain)
{
    if (watched.open) {
        watched.nested += domain == watched.domain;
        return;
    }
    /* the name of an allocation ends inside its hook, under locks */
    if (!vs_switch_given() || strcmp(domain, VS_ANNOTATION_DOMAIN) == 0)
        return;
    const char *range = vs_process_options()->text[VS_OPT_kernels_range];
    bool is_range = *range && strcmp(name, range) == 0;
    if (!is_range && !begins_step(name))
        return;
    watched.open = true;
    watched.nested = 0;
    watched.domain = domain;
    if (is_range && atomic_fetch_add_explicit(&ranges_open, 1, memory_order_relaxed) == 0)
        vs_collector_switch(VS_SCHEDULE_ON, VS_SWITCH_RANGE, 0, range);
    else if (!is_range)
        vs_collector_switch(part_at(watched.number, step_index), VS_SWITCH_STEP, watched.number, "");
}

void vs_switch_withdrawn(const char *domain)
{
    const void *this_thread = &watched;
    if (!watched.open || strcmp(domain, watched.domain) || *vs_process_options()->text[VS_OPT_kernels_range])
        return;
    watched.open = false;
    if (!step_index)
        (void)atomic_compare_exchange_strong_explicit(&stepping, &this_thread, NULL, memory_order_relaxed,
                                                      memory_order_relaxed);
}

void vs_switch_popped(const char *domain)
{
    if (!watched.open || domain != watched.domain)
        return;
    if (watched.nested) {
        watched.nested--;
        return;
    }
    watched.open = false;
    const char *range = vs_process_options()->text[VS_OPT_kernels_range];
    if (*range) {
        if (atomic_fetch_sub_explicit(&ranges_open, 1, memory_order_relaxed) == 1)
            vs_collector_switch(VS_SCHEDULE_OFF, VS_SWITCH_RANGE, 0, range);
        return;
    }
    step_index++;
    enum vs_schedule_part next = part_at(watched.number + 1, step_index);
    if (next == VS_SCHEDULE_OFF || part_at(watched.number, step_index - 1) == VS_SCHEDULE_ON)
        vs_collector_switch(next, VS_SWITCH_STEP, watched.number, "");
}
