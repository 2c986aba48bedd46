/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks with Python frames in them. One run of the interpreter's loop, a C frame, is replaced by
 * the Python frames from the current one down to the one that began the run. That C frame is found
 * by address: it contains an object of the run (3.10, 3.11: CFrame; 3.12 and later: the entry
 * frame). Where there is no such object (3.9), or the walk did not report where frames lie, it is
 * found by the function's address range.
 *
 * The interpreter's other C functions add nothing to its Python frames and are left out, as is
 * everything below the outermost Python frame when that is only the C library and the interpreter,
 * or the code that started a greenlet. Native frames of extensions and libraries stay.
 *
 * In a list of frames a Python frame is vs_python_step_key, which no address can equal. */
#define _GNU_SOURCE
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/vs_log.h"
#include "trace/record/new_stack.h"
#include "trace/record/recorder_internal.h"
#include "trace/stacks/python.h"

#define NATIVE_MAX 256u

/* --- frames into one list --- */

struct merge {
    const struct vs_recorder *r;
    const struct vs_python *python;
    const struct vs_python_step *steps;
    size_t next, count; /* steps */
    void **out;
    size_t n, bottom; /* frames; number of frames when the last Python frame was added */
    bool more;        /* there were more frames than room */
};

static void put(struct merge *m, uint64_t word)
{
    if (m->n < m->r->depth_max)
        m->out[m->n++] = (void *)(uintptr_t)word;
    else
        m->more = true;
}

/* Add the Python frames of one run. */
static void put_run(struct merge *m)
{
    while (m->next < m->count) {
        const struct vs_python_step *step = &m->steps[m->next++];
        if (!step->code)
            break;
        put(m, vs_python_step_key(step));
        m->bottom = m->n;
    }
}

/* Address of the next run; 0 when unknown, UINT64_MAX when there is none. */
static uint64_t next_anchor(const struct merge *m)
{
    size_t i = m->next;
    while (i < m->count && m->steps[i].code)
        i++;
    if (i < m->count)
        return m->steps[i].instr;
    return m->next < m->count ? 0 : UINT64_MAX;
}

static bool within(uint64_t at, uint64_t start, uint64_t end)
{
    return at >= start && at < end;
}

static bool is_bottom(const struct vs_python *python, uint64_t pc)
{
    return within(pc, python->object_start, python->object_end) ||
           within(pc, python->libc_start, python->libc_end) ||
           within(pc, python->program_start, python->program_end);
}

/* Whether the C frame at *pc*, which covers [low, high) of the stack, is the next run. */
static bool is_run(const struct merge *m, uint64_t pc, uint64_t low, uint64_t high)
{
    uint64_t anchor = next_anchor(m);
    if (anchor == UINT64_MAX)
        return false;
    if (anchor && high)
        return within(anchor, low, high);
    return within(pc, m->python->eval_start, m->python->eval_end);
}

/* *sps*: NULL when the walk did not report stack pointers. */
static void merge_native(struct merge *m, void *const *pcs, const uint64_t *sps, size_t count,
                         size_t from, unsigned skip)
{
    const struct vs_python *python = m->python;
    size_t i;
    for (i = from; i < count && m->n < m->r->depth_max; i++) {
        uint64_t pc = (uint64_t)(uintptr_t)pcs[i] - 1, anchor = next_anchor(m);
        uint64_t low = sps ? sps[i] : 0, high = sps && i + 1 < count ? sps[i + 1] : 0;
        if (i - from < skip || !pcs[i] || within(pc, m->r->own_start, m->r->own_end))
            continue;
        /* the walk passed a run without detecting it */
        for (; sps && anchor && within(anchor, sps[from], low); anchor = next_anchor(m))
            put_run(m);
        if (is_run(m, pc, low, high))
            put_run(m);
        else if (within(pc, python->eval_start, python->eval_end) ||
                 (python->machinery && within(pc, python->object_start, python->object_end)))
            continue;
        else
            put(m, pc + 1);
    }
    m->more |= i < count;
}

static void leave_out_bottom(struct merge *m)
{
    if (!m->bottom)
        return;
    /* code below a greenlet's first frame did not call it, and may not even be frames */
    m->n = m->bottom + vs_python_until_greenlet(m->out + m->bottom, m->n - m->bottom);
    if (!m->python->machinery)
        return;
    for (size_t i = m->bottom; i < m->n; i++) {
        if (!is_bottom(m->python, (uint64_t)(uintptr_t)m->out[i] - 1))
            return;
    }
    m->n = m->bottom;
}

/* --- one stack --- */

struct python_stack_stack {
    struct vs_new_stack stack; /* must be first: cast from one to the other */
    struct vs_walk_owner owner;
    const struct vs_walk_start *start;
    const struct vs_python *python;
    const struct vs_python_step *steps;
    size_t count;
    void *frames[VS_STACK_FRAMES_MAX + 1]; /* and a mark */
};

static void capture(struct vs_recorder *r, struct vs_new_stack *stack)
{
    struct python_stack_stack *s = (struct python_stack_stack *)stack;
    void *pcs[NATIVE_MAX];
    uint64_t sps[NATIVE_MAX];
    enum vs_walk_end end = VS_WALK_BOTTOM;
    struct merge m = {r, s->python, s->steps, 0, s->count, s->frames, 0, 0, false};
    if (r->native) {
        size_t from = 0;
        size_t walked = vs_walk_stack(s->owner, s->start, pcs, sps, NATIVE_MAX, &end,
                                      &stack->trail);
        size_t count = walked;
        if (!walked)
            count = vs_walk_check(pcs, vs_unwind_capture(pcs, NATIVE_MAX), &end);
        while (from < count && (uint64_t)(uintptr_t)pcs[from] != s->start->pc)
            from++;
        if (from == count)
            from = 0;
        merge_native(&m, pcs, walked ? sps : NULL, count, from, s->owner.skip);
    } else {
        stack->trail = vs_walk_nothing(s->owner, s->start);
    }
    while (m.next < m.count && m.n < r->depth_max)
        put_run(&m);
    m.more |= m.next < m.count;
    size_t before = m.n;
    leave_out_bottom(&m);
    if (m.n && m.n == before && (m.more || end == VS_WALK_LOST))
        m.out[m.n++] = vs_walk_mark(m.more ? VS_STACK_MORE : VS_STACK_LOST);
    stack->frames = s->frames;
    stack->count = m.n;
}

/* --- names --- */

/* The number of the function in the trace, defined now if it is new; modules_busy reserves the
 * number while the lock is released. false when it cannot be defined. */
static bool number_function_locked(struct vs_recorder *r, const struct vs_python_place *place,
                                   uint32_t *index)
{
    uint64_t key = XXH3_64bits(place->file, place->file_bytes);
    key = XXH3_64bits_withSeed(place->function, place->function_bytes, key);
    key = key ? key : 1;
    while (r->modules_busy && !atomic_load_explicit(&r->stopped, memory_order_relaxed))
        vs_cond_wait(&r->progress, &r->lock, UINT64_MAX);
    const uint64_t *known = vs_map_get(&r->python_functions, key);
    if (known) {
        *index = (uint32_t)*known;
        return true;
    }
    if (atomic_load_explicit(&r->stopped, memory_order_relaxed))
        return false;
    if (r->python_functions.count >= r->python_functions_max) {
        vs_log_once(VS_LOG_WARN, "%s: more than %u Python functions; the others have no name",
                    r->path, r->python_functions_max);
        return false;
    }
    r->modules_busy = true; /* the lock may be released meanwhile */
    struct vs_event event = {.kind = VS_EVENT_module};
    event.module.function = vs_intern_string_locked(r, place->function, place->function_bytes);
    event.module.path = vs_intern_string_locked(r, place->file, place->file_bytes);
    event.module.alive = 1;
    bool good = !vs_map_put(&r->python_functions, key, r->module_next_index);
    if (good) {
        event.module.module = *index = r->module_next_index++;
        vs_recorder_event_locked(r, &event);
    } else {
        vs_recorder_out_of_memory_locked(r);
    }
    r->modules_busy = false;
    vs_cond_broadcast(&r->progress);
    return good;
}

uint64_t vs_recorder_frame(struct vs_recorder *r, uint64_t outer, const char *function, const char *file,
                           unsigned line)
{
    struct vs_python_place place;
    uint32_t index;
    if (!r)
        return 0;
    place.function_bytes = strnlen(function, sizeof place.function);
    place.file_bytes = strnlen(file, sizeof place.file);
    memcpy(place.function, function, place.function_bytes);
    memcpy(place.file, file, place.file_bytes);
    VS_RECORDER_SCOPE(r);
    return !vs_selection_stacks_stopped(&r->selection) && number_function_locked(r, &place, &index) &&
                   vs_window_reserve_locked(r, VS_STACK_NODE_BYTES_MAX)
               ? vs_intern_node_locked(r, outer, (uint64_t)index + 1, line)
               : 0;
}

/* Code that is compiled again each time is at new addresses each time. The cached places are
 * dropped and found again; functions, nodes and so ids of stacks stay the same. */
static void bound_places_locked(struct vs_recorder *r)
{
    if (r->python_places.count < r->python_places_max)
        return;
    vs_map_free(&r->python_places);
    vs_map_free(&r->stack_ids);
    r->python_places_dropped++;
}

/* Returns with the lock held, all frames defined and room for the stack reserved: waiting for that
 * room later would release the lock, and other threads could drop the definitions. */
static void name_all_and_acquire(struct vs_recorder *r, const struct vs_new_stack *stack)
{
    const struct python_stack_stack *s = (const struct python_stack_stack *)stack;
    uint32_t dropped;
    vs_lock_acquire(&r->lock);
    do {
        dropped = r->python_places_dropped;
        vs_recorder_release(r);
        /* Afterwards every Python frame of the stack is defined under its key, or has no name. */
        struct vs_python_place place;
        for (size_t i = 0; i < s->count; i++) {
            const struct vs_python_step *step = &s->steps[i];
            if (!step->code)
                continue;
            uint64_t key = vs_python_step_key(step);
            vs_lock_acquire(&r->lock);
            bound_places_locked(r);
            bool known = vs_map_get(&r->python_places, key) != NULL;
            vs_recorder_release(r);
            if (known || !vs_python_place(s->python, step, &place))
                continue;
            uint32_t index;
            VS_RECORDER_SCOPE(r);
            if (number_function_locked(r, &place, &index) &&
                vs_map_put(&r->python_places, key, (uint64_t)index << 32 | place.line))
                vs_recorder_out_of_memory_locked(r);
        }
        vs_lock_acquire(&r->lock);
    } while (vs_window_reserve_locked(r, stack->count * VS_STACK_NODE_BYTES_MAX) &&
             dropped != r->python_places_dropped);
}

/* A separate function: the frames need stack space that cached stacks do not. */
static __attribute__((noinline)) uint64_t new_stack(struct vs_recorder *r,
                                                    const struct vs_python *python,
                                                    struct vs_walk_owner owner,
                                                    const struct vs_walk_start *start,
                                                    const struct vs_python_step *steps,
                                                    size_t count)
{
    static const struct vs_stack_way way = {capture, name_all_and_acquire};
    struct python_stack_stack s;
    s.owner = owner;
    s.start = start;
    s.python = python;
    s.steps = steps;
    s.count = count;
    return vs_new_stack_id(r, &s.stack, &way);
}

__attribute__((noinline)) bool vs_python_stack(struct vs_recorder *r,
                                               const struct vs_python *python,
                                               struct vs_walk_owner owner,
                                               struct vs_walk_start *start, uint64_t *id)
{
    const char *thread = vs_python_thread(python);
    if (!thread)
        return false;
    struct vs_python_step steps[VS_PYTHON_STEPS_MAX];
    size_t count = vs_python_steps(python, thread, r->depth_max + 1, steps); /* are there more? */
    if (!count)
        return false;
    if (!r->native)
        *start = (struct vs_walk_start){0};
    start->python = vs_python_key(steps, count);
    *id = vs_walk_cached(owner, start);
    if (!*id)
        *id = new_stack(r, python, owner, start, steps, count);
    return true;
}
