/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/program_clock.h"
#include "base/reading/vs_xalloc.h"

#include <string.h>

static enum vs_thread_role role_of(const struct vs_program_clock *clock, uint32_t tid)
{
    const uint64_t *role = vs_map_get(&clock->roles, (uint64_t)tid + 1);
    return role ? (enum vs_thread_role)*role : 0;
}

bool vs_clock_is_engine(const struct vs_program_clock *clock, uint32_t tid)
{
    return role_of(clock, tid) == VS_THREAD_ENGINE;
}

enum vs_maker vs_clock_maker(const struct vs_program_clock *clock, const struct vs_maker_site *site,
                             uint32_t tid, bool python_trace, bool *assumed)
{
    bool engine = site->engine || vs_clock_is_engine(clock, tid);
    *assumed = false;
    switch (site->maker) {
    case VS_MAKER_FORWARD: return engine ? VS_MAKER_RECOMPUTE : site->maker;
    case VS_MAKER_INPUT:
    case VS_MAKER_LIBRARY:
    case VS_MAKER_CONSTRUCTOR: return engine ? VS_MAKER_BACKWARD : site->maker;
    case VS_MAKER_USER:
        if (engine)
            return VS_MAKER_BACKWARD;
        *assumed = !site->named;
        /* without the operation's name: data is made before the forward code of its step */
        return site->named || clock->in_forward ? VS_MAKER_USER : VS_MAKER_INPUT;
    case VS_MAKER_UNKNOWN:
        if (engine)
            return VS_MAKER_BACKWARD;
        /* a thread without Python code, where others have some */
        *assumed = python_trace && !site->named && clock->main_tid && tid != clock->main_tid;
        return *assumed ? VS_MAKER_BACKWARD : VS_MAKER_UNKNOWN;
    default: return site->maker;
    }
}

static void end_optimizer(struct vs_program_clock *clock)
{
    clock->now.optimized += clock->in_optimizer;
    clock->in_optimizer = false;
}

static void end_backward(struct vs_program_clock *clock)
{
    clock->now.ended += clock->in_backward;
    clock->in_backward = false;
    clock->in_recompute = false;
}

static void learn_role(struct vs_program_clock *clock, const struct vs_maker_site *site,
                       enum vs_maker maker, uint32_t tid)
{
    enum vs_thread_role old = role_of(clock, tid), role = old;
    if (clock->no_threads) /* every event has the same id: the engine is known by its stacks */
        return;
    bool native = site->engine || (maker == VS_MAKER_BACKWARD && !site->python);
    if (tid != clock->main_tid && (native || (!old && maker == VS_MAKER_BACKWARD)))
        role = VS_THREAD_ENGINE; /* Python frames alone do not tell: hooks have some there */
    else if (!old && site->python)
        role = VS_THREAD_PLAIN;
    if (role != old)
        vs_xmap_put(&clock->roles, (uint64_t)tid + 1, role);
}

static void begin_backward(struct vs_program_clock *clock)
{
    if (clock->in_backward)
        return;
    clock->now.begun++;
    clock->in_backward = true;
    clock->in_forward = false;
}

void vs_clock_alloc(struct vs_program_clock *clock, const struct vs_maker_site *site,
                    enum vs_maker maker, uint32_t tid)
{
    learn_role(clock, site, maker, tid);
    clock->failing = false;
    if (maker == VS_MAKER_WORKSPACE || maker == VS_MAKER_UNKNOWN)
        return;
    if (maker == VS_MAKER_OPTIMIZER || maker == VS_MAKER_STATE) {
        clock->in_optimizer = true;
        clock->optimizer_tid = tid;
    } else if (tid == clock->optimizer_tid && maker != VS_MAKER_PASSING) {
        end_optimizer(clock);
    }
    bool optimizer = maker == VS_MAKER_OPTIMIZER || maker == VS_MAKER_STATE;
    if (maker == VS_MAKER_BACKWARD || maker == VS_MAKER_RECOMPUTE) {
        begin_backward(clock);
        clock->now.recomputed += maker == VS_MAKER_BACKWARD && clock->in_recompute;
        clock->in_recompute = maker == VS_MAKER_RECOMPUTE;
    } else if (!site->engine && !vs_clock_is_engine(clock, tid)) { /* Python code outside of the
                                                                    * engine */
        end_backward(clock);
        if (optimizer || maker == VS_MAKER_USER || maker == VS_MAKER_INPUT ||
            maker == VS_MAKER_MODULE)
            clock->now.outside += clock->in_forward;
        /* the loss may be computed outside of modules: still the same pass */
        clock->in_forward = maker == VS_MAKER_FORWARD || (clock->in_forward && !optimizer);
    }
}

void vs_clock_free(struct vs_program_clock *clock, uint32_t tid, enum vs_maker maker,
                   const struct vs_program_counts *born)
{
    /* the engine's thread may still drop blocks of the pass before */
    if (!clock->in_backward && vs_clock_is_engine(clock, tid) && maker == VS_MAKER_FORWARD &&
        born->begun == clock->now.begun && born->ended == clock->now.ended)
        begin_backward(clock);
}

void vs_clock_fail(struct vs_program_clock *clock)
{
    clock->now.failed++;
    clock->failing = true;
    if (!clock->in_backward)
        return;
    clock->now.broken++;
    clock->broken_ended = clock->now.ended;
}

bool vs_clock_outlived(const struct vs_program_clock *clock, const struct vs_program_counts *born)
{
    bool broken = clock->now.broken > born->broken && born->ended == clock->broken_ended;
    return clock->now.ended > born->ended && !broken;
}

void vs_clock_range(struct vs_program_clock *clock, const char *name)
{
    if (strcmp(name, "forward") == 0 || strcmp(name, "optimizer") == 0)
        end_backward(clock);
    if (strcmp(name, "forward") == 0 || strcmp(name, "backward") == 0)
        end_optimizer(clock);
}

bool vs_clock_finish(struct vs_program_clock *clock)
{
    if (clock->failing)
        return false;
    end_backward(clock);
    end_optimizer(clock);
    return true;
}
