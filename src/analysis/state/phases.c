/* SPDX-License-Identifier: Apache-2.0
 *
 * Range stacks per thread, the tree of phases, and steps; see the header. The invariant: a thread's
 * kept ranges are the outermost min(depth, capacity) of its open ranges, and each stores its place,
 * so that the innermost one gives the thread's place without a walk. */
#include "analysis/state/phases.h"

#include <stdio.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"
#include "trace/format/event.h"

#define PART_TEXT_MAX 120 /* of a name in a path */
#define OPEN_STEPS_MAX 65536 /* start/end ranges a trace may leave open */

void vs_phases_init(struct vs_phases *phases)
{
    vs_vec_room(&phases->items, &phases->capacity, 1, sizeof *phases->items);
    phases->items[0] = (struct vs_phase){.name = "", .prefix = ""};
    phases->count = 1;
}

struct vs_thread *vs_phases_find_thread(struct vs_phases *phases, uint32_t tid)
{
    const uint64_t *found = vs_map_get(&phases->by_tid, (uint64_t)tid + 1);
    if (!found && phases->thread_count >= VS_THREADS_MAX)
        return &phases->others;
    if (!found) {
        vs_vec_room(&phases->threads, &phases->thread_capacity,
                    phases->thread_count + 1, sizeof *phases->threads);
        vs_xmap_put(&phases->by_tid, (uint64_t)tid + 1, phases->thread_count);
        phases->threads[phases->thread_count] = (struct vs_thread){.tid = tid};
        phases->last_thread = phases->thread_count++;
    } else {
        phases->last_thread = (size_t)*found;
    }
    return &phases->threads[phases->last_thread];
}

static char *copy_name(struct vs_phases *phases, const char *text, size_t length)
{
    return memcpy(vs_xarena(&phases->names, length + 1), text, length);
}

static uint64_t hash_name(uint32_t parent, const char *name, size_t length)
{
    uint64_t hash = vs_text_hash_bytes(VS_TEXT_HASH_START ^ parent, name, length);
    return hash ? hash : 1;
}

/* The child *name* of *parent*, added when new. Names with the same hash take the next free key, so
 * a look-up compares the names it meets. */
static uint32_t child_of(struct vs_phases *phases, uint32_t parent, const char *name,
                         const struct vs_step_name *step, bool is_step)
{
    size_t length = step ? step->stem_length : strlen(name);
    uint64_t key = hash_name(parent, name, length);
    const uint64_t *found;
    while ((found = vs_map_get(&phases->by_key, key)) != NULL) {
        const struct vs_phase *phase = &phases->items[*found];
        if (phase->parent == parent && strncmp(phase->name, name, length) == 0 &&
            phase->name[length] == 0)
            return (uint32_t)*found;
        key = key + 1 ? key + 1 : 1;
    }
    if (phases->count >= VS_PHASES_MAX)
        return parent; /* too many names: events inside count for the outer phase */
    vs_vec_room(&phases->items, &phases->capacity, phases->count + 1, sizeof *phases->items);
    char *kept = copy_name(phases, name, length);
    char *prefix = kept;
    if (step && step->numbered)
        prefix = copy_name(phases, name, step->prefix_length);
    vs_xmap_put(&phases->by_key, key, phases->count);
    phases->items[phases->count] =
        (struct vs_phase){.parent = parent, .is_step = is_step, .name = kept, .prefix = prefix};
    return (uint32_t)phases->count++;
}

static void step_begin(struct vs_phases *phases, uint32_t tid, uint64_t range,
                       const struct vs_step_name *name, uint64_t time_ns)
{
    struct vs_steps *steps = &phases->steps;
    steps->open = true;
    phases->raised_count = 0;
    steps->tid = tid;
    steps->range = range;
    steps->number = name->numbered ? name->number : steps->begun + 1;
    steps->begun++;
    steps->time_ns = time_ns;
}

static void step_end(struct vs_steps *steps, uint64_t time_ns)
{
    uint64_t length = time_ns > steps->time_ns ? time_ns - steps->time_ns : 0;
    steps->open = false;
    if (steps->done == 0 || length < steps->shortest_ns)
        steps->shortest_ns = length;
    if (steps->done == 0 || length > steps->longest_ns) {
        steps->longest_ns = length;
        steps->longest_number = steps->number;
    }
    steps->total_ns += length;
    steps->done++;
}

static uint32_t kept_ranges(const struct vs_thread *thread)
{
    return thread->depth < thread->capacity ? thread->depth : thread->capacity;
}

/* Of the ranges that are phases: others have the place outside any. */
static const struct vs_range *innermost(const struct vs_thread *thread)
{
    uint32_t kept = kept_ranges(thread);
    while (kept && !thread->ranges[kept - 1].place.phase && !thread->ranges[kept - 1].place.step_known)
        kept--;
    return kept ? &thread->ranges[kept - 1] : NULL;
}

bool vs_phases_room(struct vs_phases *phases, struct vs_thread *thread, uint32_t depth)
{
    uint32_t wanted = thread->capacity ? thread->capacity : 2;
    while (wanted < depth)
        wanted *= 2;
    if (depth <= thread->capacity)
        return true;
    if (wanted > VS_RANGE_DEPTH_MAX || thread == &phases->others ||
        phases->ranges_room + (wanted - thread->capacity) > VS_RANGES_ROOM_MAX)
        return false;
    thread->ranges = vs_xrealloc(thread->ranges, wanted, sizeof *thread->ranges);
    phases->ranges_room += wanted - thread->capacity;
    thread->capacity = wanted;
    return true;
}

struct vs_place vs_phases_push(struct vs_phases *phases, uint32_t tid, const char *name,
                               uint64_t domain, uint64_t time_ns)
{
    struct vs_thread *thread = vs_phases_thread(phases, tid);
    /* while ranges are open that did not fit, the next ones are not kept either */
    if (thread->depth > thread->capacity || !vs_phases_room(phases, thread, thread->depth + 1)) {
        struct vs_place place = vs_phases_place(phases, tid);
        thread->depth += thread != &phases->others;
        return place;
    }
    const struct vs_range *outer = innermost(thread);
    struct vs_range range = {.domain = domain, .time_ns = time_ns};
    if (!name) {
        thread->ranges[thread->depth++] = range;
        return vs_phases_place(phases, tid);
    }
    if (outer)
        range.place = outer->place;
    struct vs_step_name step;
    bool step_like = vs_step_name_parse(name, &step);
    bool is_step = step_like && !range.place.step_known; /* "batch 3" inside "step 2" is a part */
    range.place.phase = child_of(phases, range.place.phase, name, step_like ? &step : NULL, is_step);
    struct vs_steps *steps = &phases->steps;
    if (is_step) {
        range.place.step_known = true;
        range.place.step = step.numbered ? step.number : steps->begun + !steps->open;
        if (!steps->open && (steps->tid == 0 || steps->tid == tid)) {
            step_begin(phases, tid, 0, &step, time_ns);
            range.is_step = true;
        }
    }
    phases->items[range.place.phase].times++;
    thread->ranges[thread->depth++] = range;
    return range.place;
}

static void close_range(struct vs_phases *phases, const struct vs_range *range, uint64_t time_ns)
{
    struct vs_phase *phase = &phases->items[range->place.phase];
    phase->time_ns += time_ns > range->time_ns ? time_ns - range->time_ns : 0;
}

bool vs_phases_pop(struct vs_phases *phases, uint32_t tid, uint64_t domain, uint64_t time_ns)
{
    struct vs_thread *thread = vs_phases_thread(phases, tid);
    if (thread == &phases->others)
        return false;
    if (thread->depth > thread->capacity) {
        thread->depth--;
        return false;
    }
    uint32_t at = thread->depth;
    while (at > 0 && thread->ranges[at - 1].domain != domain)
        at--;
    if (at == 0) {
        phases->unmatched_pops++;
        return false;
    }
    struct vs_range range = thread->ranges[at - 1];
    close_range(phases, &range, time_ns);
    memmove(thread->ranges + at - 1, thread->ranges + at,
            (thread->depth - at) * sizeof *thread->ranges);
    thread->depth--;
    if (range.is_step)
        step_end(&phases->steps, time_ns);
    return range.is_step;
}

void vs_phases_mark(struct vs_phases *phases, uint32_t tid, const char *name, const char *domain)
{
    struct vs_steps *steps = &phases->steps;
    const uint64_t *found = vs_map_get(&phases->by_tid, (uint64_t)tid + 1);
    bool in_step = false;
    if (!found || !steps->open || steps->range || strcmp(name, VS_NO_STEP_MARK) != 0 ||
        strcmp(domain, VS_AUTOMATIC_DOMAIN) != 0)
        return;
    struct vs_thread *thread = &phases->threads[*found];
    for (uint32_t i = 0; i < kept_ranges(thread); i++) {
        in_step |= thread->ranges[i].is_step;
        thread->ranges[i].is_step = false;
        if (in_step)
            phases->items[thread->ranges[i].place.phase].times--;
    }
    if (!in_step)
        return;
    steps->open = false;
    if (--steps->begun == 0)
        steps->tid = 0;
}

void vs_phases_start(struct vs_phases *phases, uint64_t range, uint32_t tid,
                     const char *name, uint64_t time_ns)
{
    struct vs_steps *steps = &phases->steps;
    struct vs_step_name step;
    if (steps->open || !range || !vs_step_name_parse(name, &step))
        return;
    if (steps->tid != 0 && steps->tid != tid)
        return;
    if (phases->open_steps.count >= OPEN_STEPS_MAX)
        return;
    step_begin(phases, tid, range, &step, time_ns);
    vs_xmap_put(&phases->open_steps, range, steps->number + 1);
}

bool vs_phases_end(struct vs_phases *phases, uint64_t range, uint64_t time_ns)
{
    struct vs_steps *steps = &phases->steps;
    bool known = range && vs_map_remove(&phases->open_steps, range, NULL);
    if (!known || !steps->open || steps->range != range)
        return false;
    step_end(steps, time_ns);
    return true;
}

static const struct vs_thread *find_thread(const struct vs_phases *phases, uint32_t tid)
{
    if (phases->last_thread < phases->thread_count &&
        phases->threads[phases->last_thread].tid == tid)
        return &phases->threads[phases->last_thread];
    const uint64_t *found = vs_map_get(&phases->by_tid, (uint64_t)tid + 1);
    return found ? &phases->threads[*found] : NULL;
}

struct vs_place vs_phases_place_inside(const struct vs_phases *phases, uint32_t tid)
{
    const uint32_t tids[2] = {tid, phases->main_tid};
    for (int i = 0; i < 2; i++) {
        if (i == 1 && (!tids[1] || tids[1] == tid))
            break;
        const struct vs_thread *thread = find_thread(phases, tids[i]);
        const struct vs_range *range = thread ? innermost(thread) : NULL;
        if (range)
            return range->place;
    }
    struct vs_place outside = {0};
    if (phases->steps.open && phases->steps.range) {
        outside.step_known = true;
        outside.step = phases->steps.number;
    }
    return outside;
}

/* Returns false where there was a peak as high: those of outer phases are not lower. */
static bool raise_peak(struct vs_phases *phases, struct vs_phase *phase, bool user, unsigned device,
                       uint64_t allocated)
{
    uint64_t **peaks = user ? &phase->user_peaks : &phase->peaks;
    unsigned *count = user ? &phase->user_count : &phase->peak_count;
    if (device < *count && allocated <= (*peaks)[device])
        return false;
    if (phases->steps.open && phases->steps.done)
        VS_VEC_ADD(phases->raised, phases->raised_count, phases->raised_capacity,
                   (struct vs_phase_raise){(uint32_t)(phase - phases->items), device, user,
                                           device < *count ? (*peaks)[device] : 0});
    if (device >= *count) {
        *peaks = vs_xrealloc(*peaks, device + 1, sizeof **peaks);
        memset(*peaks + *count, 0, (device + 1 - *count) * sizeof **peaks);
        *count = device + 1;
    }
    (*peaks)[device] = allocated;
    return true;
}

void vs_phases_raise(struct vs_phases *phases, uint32_t phase, unsigned device, uint64_t allocated)
{
    struct vs_phase *p = &phases->items[phase];
    while (raise_peak(phases, p, false, device, allocated) && p != phases->items)
        p = &phases->items[p->parent];
}

void vs_phases_user_level(struct vs_phases *phases, uint32_t phase, unsigned device,
                          uint64_t allocated)
{
    struct vs_phase *p = &phases->items[phase];
    while (raise_peak(phases, p, true, device, allocated) && p != phases->items)
        p = &phases->items[p->parent];
}

void vs_phases_user_split(struct vs_phases *phases, unsigned device, uint64_t backing)
{
    for (size_t i = 0; i < phases->count; i++) {
        struct vs_phase *p = &phases->items[i];
        uint64_t peak = device < p->peak_count ? p->peaks[device] : 0;
        (void)raise_peak(phases, p, true, device, peak > backing ? peak - backing : 0);
    }
}

void vs_phases_prepared(struct vs_phases *phases)
{
    for (size_t t = 0; t < phases->thread_count; t++)
        for (uint32_t i = 0; i < kept_ranges(&phases->threads[t]); i++)
            if (phases->threads[t].ranges[i].is_step)
                phases->after_last = phases->threads[t].ranges[i].place;
}

bool vs_phases_after_last(const struct vs_phases *phases, struct vs_place place)
{
    return phases->after_last.phase && place.step_known && place.step == phases->after_last.step &&
           vs_phases_in(phases, place.phase, phases->after_last.phase);
}

bool vs_phases_in(const struct vs_phases *phases, uint32_t phase, uint32_t outer)
{
    while (phase && phase != outer)
        phase = phases->items[phase].parent;
    return phase;
}

void vs_phases_finish(struct vs_phases *phases, uint64_t time_ns, bool drop)
{
    for (size_t t = 0; t < phases->thread_count; t++) {
        struct vs_thread *thread = &phases->threads[t];
        bool in_step = false;
        for (uint32_t i = 0; i < kept_ranges(thread); i++) {
            in_step |= thread->ranges[i].is_step;
            if (drop && in_step)
                phases->items[thread->ranges[i].place.phase].times--;
            else
                close_range(phases, &thread->ranges[i], time_ns);
        }
    }
    for (size_t i = drop ? phases->raised_count : 0; i-- > 0;) {
        const struct vs_phase_raise *raise = &phases->raised[i];
        const struct vs_phase *p = &phases->items[raise->phase];
        if (!vs_phases_in(phases, raise->phase, phases->after_last.phase))
            continue; /* around the step, or of another thread */
        (raise->user ? p->user_peaks : p->peaks)[raise->device] = raise->before;
    }
}

bool vs_phases_restore(struct vs_phases *phases, uint64_t index, const struct vs_phase *phase,
                       const char *name, size_t length, const char *prefix, size_t prefix_length)
{
    struct vs_phase item = *phase;
    bool outside = index == 0 && phases->count == 1 && !phases->items[0].peaks &&
                   !phases->items[0].user_peaks;
    if (!outside && (!index || index != phases->count || index >= VS_PHASES_MAX)) {
        free(item.peaks);
        free(item.user_peaks);
        return false;
    }
    item.name = copy_name(phases, name, length);
    item.prefix = prefix ? copy_name(phases, prefix, prefix_length) : item.name;
    if (!outside) {
        uint64_t key = hash_name(item.parent, item.name, strlen(item.name));
        while (vs_map_get(&phases->by_key, key))
            key = key + 1 ? key + 1 : 1;
        vs_xmap_put(&phases->by_key, key, phases->count);
        vs_vec_room(&phases->items, &phases->capacity, phases->count + 1, sizeof *phases->items);
    }
    phases->items[index] = item;
    phases->count += !outside;
    return true;
}

void vs_phases_window(struct vs_phases *phases, uint64_t time_ns)
{
    for (size_t i = 0; i < phases->count; i++) {
        struct vs_phase *phase = &phases->items[i];
        phase->times = phase->time_ns = phase->allocs = phase->alloc_bytes = 0;
        phase->user_allocs = phase->user_bytes = 0;
        if (phase->peak_count)
            memset(phase->peaks, 0, phase->peak_count * sizeof *phase->peaks);
        if (phase->user_count)
            memset(phase->user_peaks, 0, phase->user_count * sizeof *phase->user_peaks);
    }
    for (size_t t = 0; t < phases->thread_count; t++) {
        struct vs_thread *thread = &phases->threads[t];
        for (uint32_t i = 0; i < kept_ranges(thread); i++) {
            thread->ranges[i].time_ns = time_ns;
            phases->items[thread->ranges[i].place.phase].times++;
        }
    }
    struct vs_steps *steps = &phases->steps;
    steps->total_ns = steps->shortest_ns = steps->longest_ns = steps->longest_number = 0;
    steps->begun = steps->open;
    steps->done = 0;
    if (steps->open)
        steps->time_ns = time_ns;
    phases->unmatched_pops = phases->raised_count = 0;
}

/* Ends a text that is too long with "...", not within a character. Returns its new length. */
static size_t cut_part(char part[VS_PLACE_TEXT_MAX])
{
    size_t length = PART_TEXT_MAX - 3;
    while (length && ((unsigned char)part[length] & 0xc0) == 0x80)
        length--;
    memcpy(part + length, "...", 4);
    return length + 3;
}

char *vs_phases_path(const struct vs_phases *phases, uint32_t phase)
{
    size_t length = 0;
    for (uint32_t at = phase; at; at = phases->items[at].parent)
        length += strlen(phases->items[at].name) + (at != phase ? 3 : 0);
    char *out = vs_xcalloc(1, length + 1), *p = out + length;
    for (uint32_t at = phase; at; at = phases->items[at].parent) {
        size_t bytes = strlen(phases->items[at].name);
        if (at != phase) {
            p -= 3;
            memcpy(p, " / ", 3);
        }
        p -= bytes;
        memcpy(p, phases->items[at].name, bytes);
    }
    return vs_text_clean(out);
}

char *vs_phases_text(const struct vs_phases *phases, struct vs_place place, char *out)
{
    char *p = out + VS_PLACE_TEXT_MAX - 1;
    if (vs_phases_after_last(phases, place))
        return strcpy(out, VS_AFTER_LAST_STEP);
    *p = 0;
    for (uint32_t at = place.phase; at; at = phases->items[at].parent) {
        const struct vs_phase *phase = &phases->items[at];
        char part[VS_PLACE_TEXT_MAX];
        const char *text = phase->name;
        size_t length = strlen(text);
        if (phase->is_step && place.step_known) {
            int n = snprintf(part, sizeof part, "%s%s%llu", phase->prefix,
                             phase->prefix == phase->name ? " " : "", (unsigned long long)place.step);
            length = n < 0 ? 0 : (size_t)n;
            text = part;
        }
        if (length > PART_TEXT_MAX) {
            if (text != part)
                snprintf(part, sizeof part, "%s", text);
            length = cut_part(part);
            text = part;
        }
        if (length + 3 > (size_t)(p - out))
            break;
        if (*p) {
            p -= 3;
            memcpy(p, " / ", 3);
        }
        p -= length;
        memcpy(p, text, length);
    }
    if (!place.phase && place.step_known) {
        snprintf(out, VS_PLACE_TEXT_MAX, "step %llu", (unsigned long long)place.step);
        return out;
    }
    memmove(out, p, strlen(p) + 1);
    return vs_text_clean(out);
}

void vs_phases_free(struct vs_phases *phases)
{
    for (size_t i = 0; i < phases->count; i++) {
        free(phases->items[i].peaks);
        free(phases->items[i].user_peaks);
    }
    for (size_t i = 0; i < phases->thread_count; i++)
        free(phases->threads[i].ranges);
    free(phases->items);
    free(phases->threads);
    free(phases->raised);
    vs_map_free(&phases->by_key);
    vs_map_free(&phases->by_tid);
    vs_map_free(&phases->open_steps);
    vs_arena_free_all(&phases->names);
    *phases = (struct vs_phases){0};
}
