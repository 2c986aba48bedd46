/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The ranges are thread-local: only the thread that opened them closes them. After the
 * program's range on another thread, it does so at its next call. */
#include "intercept/cupti/automatic_steps.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "intercept/cupti/kernel_switch.h"
#include "intercept/cupti/nvtx.h"
#include "trace/record/recorder.h"

#define FIRST_PHASE "forward"

static _Atomic uint32_t era = 1;

static _Thread_local struct {
    bool step_open, phase_open;
    bool worked; /* a phase other than the first was seen in this step */
    bool later;  /* it is not the first step of its era */
    uint64_t number;
} automatic;

uint32_t vs_automatic_era(void)
{
    return atomic_load_explicit(&era, memory_order_relaxed);
}

static void end_phase(void)
{
    if (automatic.phase_open)
        vs_nvtx_pop_in(VS_AUTOMATIC_DOMAIN);
    automatic.phase_open = false;
}

static void end_step(void)
{
    end_phase();
    if (automatic.step_open)
        vs_nvtx_pop_in(VS_AUTOMATIC_DOMAIN);
    automatic.step_open = automatic.worked = false;
}

static void end_era(void)
{
    if (automatic.step_open && (!automatic.later || !automatic.worked)) {
        vs_nvtx_mark_in(VS_NO_STEP_MARK, VS_AUTOMATIC_DOMAIN);
        vs_switch_withdrawn(VS_AUTOMATIC_DOMAIN);
    }
    end_step();
    automatic.later = false;
}

void vs_automatic_place(uint64_t number, const char *phase)
{
    char name[32];
    if (!vs_automatic_era()) {
        end_era();
        return;
    }
    if (automatic.step_open && automatic.number != number) {
        end_step();
        automatic.later = true;
    }
    end_phase();
    if (!automatic.step_open) {
        snprintf(name, sizeof name, "step %llu", (unsigned long long)number);
        vs_nvtx_push_in(name, VS_AUTOMATIC_DOMAIN);
        automatic.step_open = true;
        automatic.number = number;
    }
    if (!phase)
        return;
    vs_nvtx_push_in(phase, VS_AUTOMATIC_DOMAIN);
    automatic.phase_open = true;
    automatic.worked |= strcmp(phase, FIRST_PHASE) != 0;
}

/* Threads without ranges of ours change the era too: the next call of the one that has some sees it. */
static void next_era(void)
{
    uint32_t now = vs_automatic_era();
    while (now && !atomic_compare_exchange_weak_explicit(
                      &era, &now, now + 1 ? now + 1 : 1, memory_order_relaxed, memory_order_relaxed)) {
    }
}

void vs_automatic_give_way(bool is_test)
{
    if (!is_test)
        atomic_store_explicit(&era, 0, memory_order_relaxed);
    else if (automatic.step_open)
        next_era();
    end_era();
}

void vs_automatic_range_ends(void)
{
    if (!automatic.step_open)
        return;
    next_era();
    end_era();
}
