/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory use of several processes together: their traces replayed side by side. The next event
 * is always the earliest of all, found with a heap. Processes of one boot share a clock; others are
 * compared by the time of day at the start of each trace. A process's memory is freed when its
 * trace ends. Allocations without events are known by their sums and the peak since the previous
 * sums: that peak counts before the sums. */
#include <stdlib.h>
#include <string.h>

#include "analysis/processes/process_tree.h"
#include "analysis/state/replay.h"
#include "analysis/state/replay_internal.h"
#include "base/reading/vs_xalloc.h"

struct holding {
    uint64_t allocated, reserved;
    uint32_t gpu;
    bool known; /* gpu is set */
};

struct process_tree_sum_stream {
    struct vs_reader *reader;
    struct vs_replay *replay;
    struct vs_event event; /* the next one */
    uint64_t now_ns, shift; /* now: time of the next event, in the common clock */
    struct holding held[VS_DEVICES_MAX];
};

struct gpu_state {
    uint64_t allocated, reserved;
    uint64_t *current; /* [member]: allocated now */
    bool *used;        /* [member] */
    bool at_peak;      /* shares have not been copied yet */
};

struct summing {
    struct vs_tree *tree;
    struct process_tree_sum_stream *streams;
    size_t *heap, heap_count;
    struct gpu_state gpus[VS_TREE_GPUS_MAX];
    uint64_t first_ns;
    uint64_t wanted_ns; /* what is held at this time is requested */
    bool wanted;        /* and was not found yet */
};

/* --- the earliest of all events --- */

static bool earlier(const struct summing *s, size_t a, size_t b)
{
    uint64_t x = s->streams[a].now_ns, y = s->streams[b].now_ns;
    return x != y ? x < y : a < b;
}

static void sink(struct summing *s, size_t i)
{
    for (;;) {
        size_t least = i, child = 2 * i + 1;
        for (size_t c = child; c < child + 2 && c < s->heap_count; c++)
            least = earlier(s, s->heap[c], s->heap[least]) ? c : least;
        if (least == i)
            return;
        size_t moved = s->heap[i];
        s->heap[i] = s->heap[least];
        s->heap[least] = moved;
        i = least;
    }
}

/* --- sums --- */

/* Sets the device of *held*, which is found by its uuid; a trace without uuids has devices of its
 * own. */
static void find_gpu(struct summing *s, const struct process_tree_sum_stream *stream,
                     const struct vs_account *account, struct holding *held)
{
    struct vs_tree *tree = s->tree;
    if (held->known)
        return;
    const char *uuid = vs_reader_string(stream->reader, account->uuid);
    const char *name = vs_reader_string(stream->reader, account->name);
    held->known = true;
    held->gpu = *uuid ? 0 : (uint32_t)tree->gpu_count;
    while (held->gpu < tree->gpu_count && strcmp(tree->gpus[held->gpu].uuid, uuid) != 0)
        held->gpu++;
    if (held->gpu == VS_TREE_GPUS_MAX)
        held->gpu = VS_TREE_NONE;
    if (held->gpu < tree->gpu_count || held->gpu == VS_TREE_NONE)
        return;
    struct vs_tree_gpu *gpu = &tree->gpus[tree->gpu_count];
    struct gpu_state *state = &s->gpus[tree->gpu_count];
    size_t words = tree->count * sizeof(uint64_t);
    gpu->shares = vs_xarena(&tree->arena, words);
    gpu->held = vs_xarena(&tree->arena, tree->count * sizeof *gpu->held);
    state->current = vs_xarena(&tree->arena, words);
    state->used = vs_xarena(&tree->arena, tree->count);
    gpu->number = account->device;
    for (uint32_t i = 0; i < tree->gpu_count; i++)
        if (tree->gpus[i].number == gpu->number)
            gpu->number = tree->gpu_count;
    gpu->total_bytes = account->total_bytes;
    gpu->simulated = account->simulated;
    gpu->uuid = vs_xarena_text(&tree->arena, uuid);
    gpu->name = vs_xarena_text(&tree->arena, name);
    tree->gpu_count++;
}

static void take_shares(struct summing *s, size_t i)
{
    if (s->gpus[i].at_peak)
        memcpy(s->tree->gpus[i].shares, s->gpus[i].current, s->tree->count * sizeof(uint64_t));
    s->gpus[i].at_peak = false;
}

/* Sets the bytes that member *m* holds on the device. */
static void set_held(struct summing *s, size_t m, struct holding *held, uint64_t allocated,
                     uint64_t reserved)
{
    if (held->gpu != VS_TREE_NONE) {
        struct vs_tree_gpu *gpu = &s->tree->gpus[held->gpu];
        struct gpu_state *state = &s->gpus[held->gpu];
        uint64_t since = s->streams[m].now_ns - s->first_ns;
        if (allocated < held->allocated)
            take_shares(s, held->gpu);
        gpu->users += !state->used[m];
        state->used[m] = true;
        state->allocated += allocated - held->allocated;
        state->reserved += reserved - held->reserved;
        state->current[m] = allocated;
        if (state->allocated > gpu->peak_allocated) {
            gpu->peak_allocated = state->allocated;
            gpu->peak_allocated_ns = since;
            state->at_peak = true;
        }
        if (state->reserved > gpu->peak_reserved) {
            gpu->peak_reserved = state->reserved;
            gpu->peak_reserved_ns = since;
        }
    }
    held->allocated = allocated;
    held->reserved = reserved;
}

/* The process's own peaks, over its devices. */
static void note_member_peaks(struct summing *s, size_t m)
{
    const struct process_tree_sum_stream *stream = &s->streams[m];
    struct vs_tree_member *member = &s->tree->members[m];
    uint64_t allocated = 0, reserved = 0;
    for (unsigned i = 0; i < stream->replay->account_count; i++) {
        allocated += stream->held[i].allocated;
        reserved += stream->held[i].reserved;
    }
    if (allocated > member->peak_allocated)
        member->peak_allocated = allocated;
    if (reserved > member->peak_reserved)
        member->peak_reserved = reserved;
}

static void account_for(struct summing *s, size_t m)
{
    struct process_tree_sum_stream *stream = &s->streams[m];
    bool changed = false;
    for (unsigned i = 0; i < stream->replay->account_count; i++) {
        const struct vs_account *a = stream->replay->accounts[i];
        struct holding *held = &stream->held[i];
        if (a->sums.now.allocated == held->allocated && a->sums.now.reserved == held->reserved)
            continue;
        find_gpu(s, stream, a, held);
        set_held(s, m, held, a->sums.now.allocated, a->sums.now.reserved);
        changed = true;
    }
    if (changed)
        note_member_peaks(s, m);
}

/* Applies the next event of a trace and updates the sums. */
static void apply(struct summing *s, size_t m)
{
    struct process_tree_sum_stream *stream = &s->streams[m];
    const struct vs_event_unrecorded *u = &stream->event.unrecorded;
    uint64_t allocated = 0, reserved = 0;
    bool rose = stream->event.kind == VS_EVENT_unrecorded && u->level < VS_LEVEL_COUNT &&
                u->level != VS_LEVEL_FRAMEWORK && u->family < VS_FAMILY_COUNT &&
                !vs_family_on_host(u->family) && (u->peak_allocated || u->peak_reserved);
    unsigned index = rose ? vs_replay_account(stream->replay, u->device) : VS_ACCOUNT_NONE;
    if (index != VS_ACCOUNT_NONE) {
        allocated = stream->replay->accounts[index]->sums.now.allocated;
        reserved = stream->replay->accounts[index]->sums.now.reserved;
    }
    vs_replay_event(stream->replay, &stream->event);
    index = rose ? vs_replay_account(stream->replay, u->device) : VS_ACCOUNT_NONE;
    if (index != VS_ACCOUNT_NONE && index < stream->replay->account_count) {
        /* the peak since the last sums, above the values before this event */
        struct holding *held = &stream->held[index];
        find_gpu(s, stream, stream->replay->accounts[index], held);
        set_held(s, m, held, allocated + u->peak_allocated, reserved + u->peak_reserved);
        note_member_peaks(s, m);
    }
    account_for(s, m);
}

/* At the end of a trace: the process's memory is free. */
static void end_stream(struct summing *s, size_t m)
{
    struct process_tree_sum_stream *stream = &s->streams[m];
    struct vs_tree_member *member = &s->tree->members[m];
    uint64_t most = 0;
    for (unsigned i = 0; i < stream->replay->account_count; i++) {
        if (stream->held[i].known)
            set_held(s, m, &stream->held[i], 0, 0);
        const struct vs_account *account = stream->replay->accounts[i];
        if (account->sums.peak.reserved <= most)
            continue;
        most = account->sums.peak.reserved; /* of all devices, this one's figures */
        member->device = account->device;
        member->has_tensors = account->framework.peak.allocated > 0;
        member->tensors = account->framework.peak.allocated;
        member->tensors_reserved = account->framework.peak.reserved;
        member->device_used = account->use_known.used;
        member->device_total =
            account->use_known.total ? account->use_known.total : account->total_bytes;
    }
    member->events = stream->replay->events;
    member->condition = vs_reader_condition(stream->reader, NULL);
    member->has_end = stream->replay->has_end;
    member->partial = vs_recording_partial(&stream->replay->recording);
    if (member->has_end) {
        member->end_reason = stream->replay->end.end.reason;
        member->end_status = stream->replay->end.end.status;
    }
    vs_replay_close(stream->replay);
    vs_reader_close(stream->reader);
    stream->replay = NULL;
    stream->reader = NULL;
}

/* --- what is held at the requested time --- */

static uint64_t contexts_of(const struct vs_account *account)
{
    const struct vs_device_usage *usage = &account->usage;
    int64_t sum = 0;
    for (size_t i = 0; i < usage->context_count; i++)
        for (int what = 0; what < VS_OVERHEAD_WHAT_COUNT; what++)
            if (usage->contexts[i].measured && usage->contexts[i].how != VS_OVERHEAD_AT_MOST)
                sum += usage->contexts[i].bytes[what];
    return sum > 0 ? (uint64_t)sum : 0;
}

static void note_held(struct summing *s)
{
    s->wanted = false;
    for (size_t m = 0; m < s->tree->count; m++) {
        struct process_tree_sum_stream *stream = &s->streams[m];
        for (unsigned i = 0; stream->replay && i < stream->replay->account_count; i++) {
            const struct vs_account *a = stream->replay->accounts[i];
            uint64_t contexts = contexts_of(a);
            if (contexts || a->sums.now.reserved)
                find_gpu(s, stream, a, &stream->held[i]);
            if (!stream->held[i].known || stream->held[i].gpu == VS_TREE_NONE)
                continue;
            struct vs_tree_held *held = &s->tree->gpus[stream->held[i].gpu].held[m];
            held->reserved += a->sums.now.reserved;
            held->contexts += contexts;
        }
    }
}

static enum vs_err step(struct process_tree_sum_stream *stream)
{
    enum vs_err err = vs_reader_next(stream->reader, &stream->event);
    if (!err)
        stream->now_ns = stream->event.time_ns + stream->shift;
    return err;
}

static enum vs_err open_all(struct summing *s, char *why)
{
    bool shared = true; /* one boot, and with it one clock */
    for (size_t i = 0; i < s->tree->count; i++)
        shared &= *s->tree->members[i].boot &&
                  strcmp(s->tree->members[i].boot, s->tree->members[0].boot) == 0;
    for (size_t i = 0; i < s->tree->count; i++) {
        const struct vs_tree_member *m = &s->tree->members[i];
        struct process_tree_sum_stream *stream = &s->streams[i];
        stream->shift = shared ? 0 : m->start_realtime_ns - m->start_ns;
        if (!i || m->start_ns + stream->shift < s->first_ns)
            s->first_ns = m->start_ns + stream->shift;
        enum vs_err err = vs_reader_open(m->path, &stream->reader, why);
        if (err)
            return err;
        stream->replay = vs_replay_open(stream->reader);
        stream->now_ns = m->start_ns + stream->shift;
        err = step(stream);
        if (err == VS_ERR_END)
            end_stream(s, i);
        else if (err)
            return err;
        else
            s->heap[s->heap_count++] = i;
    }
    for (size_t i = s->heap_count; i-- > 0;)
        sink(s, i);
    return VS_OK;
}

static enum vs_err run(struct summing *s)
{
    while (s->heap_count) {
        size_t m = s->heap[0];
        struct process_tree_sum_stream *stream = &s->streams[m];
        if (s->wanted && stream->now_ns > s->wanted_ns)
            note_held(s);
        apply(s, m);
        enum vs_err err = step(stream);
        if (err && err != VS_ERR_END)
            return err;
        if (err) {
            if (s->wanted && stream->now_ns >= s->wanted_ns)
                note_held(s);
            end_stream(s, m);
            s->heap[0] = s->heap[--s->heap_count];
        }
        sink(s, 0);
    }
    for (size_t i = 0; i < s->tree->gpu_count; i++)
        take_shares(s, i);
    return VS_OK;
}

enum vs_err vs_tree_sum(struct vs_tree *tree, const struct vs_tree_time *at, char *why)
{
    struct summing *s = vs_xcalloc(1, sizeof *s);
    s->tree = tree;
    s->streams = vs_xcalloc(tree->count + 1, sizeof *s->streams);
    s->heap = vs_xcalloc(tree->count + 1, sizeof *s->heap);
    enum vs_err err = open_all(s, why);
    for (size_t i = 0; at && i < s->tree->count; i++) {
        const struct vs_tree_member *m = &s->tree->members[i];
        if (strcmp(m->path, at->path) != 0)
            continue;
        s->wanted = true;
        s->wanted_ns = m->start_ns + s->streams[i].shift + at->ns;
        s->tree->requested_ns = s->wanted_ns - s->first_ns;
    }
    if (!err)
        err = run(s);
    for (size_t i = 0; i < tree->count; i++) {
        vs_replay_close(s->streams[i].replay);
        vs_reader_close(s->streams[i].reader);
    }
    free(s->streams);
    free(s->heap);
    free(s);
    return err;
}
