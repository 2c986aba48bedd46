/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A block's row has all that is drawn of it, so nothing is kept for one. Its slot is the
 * number of its track: it is used by one block after the other. */
#define _GNU_SOURCE /* mempcpy */
#include "viewer/chrome/timeline_memory.h"

#include <stdio.h>
#include <string.h>

#include "base/vs_size.h"
#include "base/vs_text.h"
#include "trace/read/reader.h"
#include "viewer/common/json_writer.h"

#define MIN_BYTES_DEFAULT (UINT64_C(64) << 20)
#define SITE_NAME_MAX 250

static const char *const counter_names[] = {"allocated", "reserved", "tensors", "device in use"};
#define COUNTERS (sizeof counter_names / sizeof *counter_names)

static bool is_large(const struct vs_timeline_memory *m, unsigned account, uint64_t bytes)
{
    const struct vs_replay *replay = m->replay;
    if (account == VS_HOST_INDEX && replay->account_count) /* as of the first device */
        account = 0;
    uint64_t least = m->min_bytes, part = replay->accounts[account]->total_bytes / 100;
    if (!least)
        least = part && part < MIN_BYTES_DEFAULT ? part : MIN_BYTES_DEFAULT;
    return bytes >= least;
}

static struct vs_emitted instant(const struct vs_timeline_memory *m, uint32_t tid, const char *name,
                                 const struct vs_chrome_stack *stack)
{
    return (struct vs_emitted){.phase = 'i', .name = name, .category = "cpu_instant_event",
                               .pid = m->devices[VS_HOST_INDEX].pid, .tid = tid,
                               .time_ns = m->replay->now_ns, .stack = stack};
}

#define DEVICE_ARGUMENTS(m, account)                                                               \
    VS_J_UINT("Device Type", (account) == VS_HOST_INDEX ? 0 : 1),                                  \
        VS_J_UINT("Device Id", (m)->replay->accounts[account]->device)

/* What PyTorch's profiler writes of an allocation, and of a free: with less than 0 bytes. */
static void memory_event(struct vs_timeline_memory *m, const struct vs_live *live,
                         const struct vs_published *change)
{
    const struct vs_account *a = m->replay->accounts[live->device];
    const struct vs_event *event = change->event;
    bool tensor = live->level == VS_LEVEL_FRAMEWORK, born = change->kind == VS_CHANGE_BORN;
    uint64_t allocated = a->sums.now.allocated, reserved = a->sums.now.reserved;
    if (tensor) {
        allocated = a->framework.now.allocated;
        reserved = event->kind == VS_EVENT_framework_alloc ? event->framework_alloc.total_reserved
                                                           : event->framework_free.total_reserved;
    } else if (!born && live->counted) {
        allocated -= live->size; /* published before the sums change */
        reserved -= live->in_segment ? 0 : live->size;
    }
    struct vs_chrome_stack stack =
        vs_chrome_stack(m->stacks, born ? m->replay->sites.items[live->site].stack : 0);
    struct vs_emitted out = instant(m, event->tid, "[memory]", &stack);
    vs_emit_event(m->emit, &out, DEVICE_ARGUMENTS(m, live->device), VS_J_UINT("Addr", live->addr),
                  VS_J_INT("Bytes", born ? (int64_t)live->size : -(int64_t)live->size),
                  VS_J_UINT("Requested", live->requested), VS_J_UINT("Total Allocated", allocated),
                  VS_J_UINT("Total Reserved", reserved),
                  VS_J_TEXT("family", tensor ? "tensor" : vs_family_name(live->family)));
}

/* From its birth, or the begin of the window, until now. */
static void lifetime(struct vs_timeline_memory *m, const struct vs_live *live, const char *end)
{
    const struct vs_replay *replay = m->replay;
    const struct vs_site *site = &replay->sites.items[live->site];
    bool tensor = live->level == VS_LEVEL_FRAMEWORK, host = live->device == VS_HOST_INDEX;
    struct vs_chrome_stack stack = vs_chrome_stack(m->stacks, site->stack);
    stack.site = ""; /* the report's, below */
    const char *kind = !tensor ? vs_family_name(live->family)
                       : m->kinds ? vs_kind_name((enum vs_kind)live->kind) : "tensor";
    const char *label = vs_site_labels_of(&m->labels, replay, live->site)->text;
    const char *caller = strstr(label, " < ");
    char name[SITE_NAME_MAX + 64], addr[VS_TEXT_HEX_MAX];
    size_t length = caller ? (size_t)(caller - label) : strlen(label);
    char *end_of = mempcpy(name, label, length < SITE_NAME_MAX ? length : SITE_NAME_MAX); /* printf takes too long */
    end_of = stpcpy(stpcpy(end_of, ": "), vs_size_text(live->size));
    stpcpy(stpcpy(end_of, " "), kind);
    vs_text_hex(addr, live->addr);
    if (memcmp(&m->place, &live->place, sizeof m->place) != 0) /* most are of the place of the one before */
        vs_phases_text(&replay->phases, m->place = live->place, m->place_text);
    const char *track = tensor ? "lives of tensors" : host ? "lives of host memory" : "lives of blocks";
    uint64_t begin = live->time_ns > m->from_ns ? live->time_ns : m->from_ns;
    struct vs_emitted out = {.phase = 'b', .name = name, .category = "memory", .track = track,
                             .pid = m->devices[live->device].pid, .tid = live->tid,
                             .time_ns = begin, .duration_ns = replay->now_ns > begin ? replay->now_ns - begin : 0,
                             .id = vs_replay_slot(replay, live) + UINT64_C(1), .stack = &stack};
    vs_emit_event(m->emit, &out, VS_J_UINT("Bytes", live->size), VS_J_UINT("Requested", live->requested),
                  VS_J_TEXT("Addr", addr), VS_J_TEXT("kind", kind),
                  VS_J_TEXT("call site", label),
                  VS_J_TEXT("phase", m->place_text), VS_J_TEXT("end", end));
    out.phase = 'e';
    out.time_ns += out.duration_ns;
    out.stack = NULL;
    vs_emit_event(m->emit, &out);
}

static void segment(struct vs_timeline_memory *m, unsigned account, uint64_t bytes, uint64_t stack_id,
                    bool held, uint32_t tid)
{
    struct vs_chrome_stack stack = vs_chrome_stack(m->stacks, stack_id);
    struct vs_emitted out = instant(m, tid, held ? "segment allocated" : "segment freed", &stack);
    vs_emit_event(m->emit, &out, DEVICE_ARGUMENTS(m, account), VS_J_UINT("Bytes", bytes));
}

static void on_change(void *context, const struct vs_replay *replay, const struct vs_published *change)
{
    struct vs_timeline_memory *m = context;
    const struct vs_live *live = change->live;
    const struct vs_event *event = change->event;
    if (change->piece) {
        bool held = change->kind == VS_CHANGE_HELD;
        uint64_t stack = event->kind == VS_EVENT_segment_alloc ? event->segment_alloc.stack
                         : event->kind == VS_EVENT_segment_map ? event->segment_map.stack : 0;
        segment(m, change->piece->device, change->piece->size, stack, held, event->tid);
        return;
    }
    bool born = change->kind == VS_CHANGE_BORN;
    const struct vs_site *site = &replay->sites.items[live->site];
    if (site->backing && live->level != VS_LEVEL_FRAMEWORK) {
        segment(m, live->device, live->size, born ? site->stack : 0, born, event->tid);
    } else if (is_large(m, live->device, live->size)) {
        memory_event(m, live, change);
        if (!born)
            lifetime(m, live, change->kind == VS_CHANGE_ENDED ? "freed" : "lost with its context");
    }
}

/* Its account. */
static unsigned failure(struct vs_timeline_memory *m, const struct vs_event *event)
{
    const struct vs_replay *replay = m->replay;
    size_t count = replay->failure_count;
    if (!count || replay->failures[count - 1].event != replay->events)
        return VS_ACCOUNT_NONE; /* a device beyond the limit */
    const struct vs_failure *f = &replay->failures[count - 1];
    struct vs_chrome_stack stack = vs_chrome_stack(m->stacks, f->stack);
    /* PyTorch empties its cache and tries again: it has an event of its own if that fails, too. */
    bool retries = !f->framework && replay->accounts[f->account]->user.reports;
    struct vs_emitted out = instant(m, event->tid, retries ? "refused by the device" : "[OutOfMemory]", &stack);
    out.instant_of_all = !retries;
    vs_emit_event(m->emit, &out, DEVICE_ARGUMENTS(m, f->account), VS_J_UINT("Bytes", f->requested),
                  VS_J_UINT("Total Allocated", f->allocated), VS_J_UINT("Total Reserved", f->reserved),
                  VS_J_UINT("Device Free", f->device_free), VS_J_UINT("Device Total", f->device_total),
                  VS_J_TEXT("phase", vs_place_text(&replay->phases, f->place)));
    return f->account;
}

void vs_timeline_memory_follow(struct vs_timeline_memory *m, struct vs_replay *replay, bool whole)
{
    m->replay = replay;
    if (whole && !m->kinds) /* first: a block has its kind when it ends */
        m->kinds = vs_kinds_open(replay, vs_stack_names_symbols(m->stacks->names));
    vs_replay_subscribe(replay, VS_CHANGE_BORN | VS_CHANGE_ENDED | VS_CHANGE_LOST | VS_CHANGE_HELD |
                                    VS_CHANGE_RELEASED, on_change, m);
}

/* Points of a counter; a peak that no event had, between allocations that were only counted, has one of its own. */
static void level(struct vs_timeline_memory *m, struct vs_chrome_counter *counter, uint64_t now, uint64_t peak,
                  uint64_t time_ns)
{
    if (peak > counter->most && peak > now && m->peaks)
        vs_counter_set(counter, m->emit, peak, time_ns, m->counter_ns);
    counter->most = peak > now ? peak : now;
    vs_counter_set(counter, m->emit, now, time_ns, m->counter_ns);
}

void vs_timeline_memory_counters(struct vs_timeline_memory *m, unsigned account, uint64_t time_ns)
{
    struct vs_timeline_device *device = &m->devices[account];
    const struct vs_account *a = m->replay->accounts[account];
    struct vs_chrome_counter *counters = device->counters;
    bool host = account == VS_HOST_INDEX;
    for (size_t i = 0; i < COUNTERS; i++) {
        counters[i].name = host ? "pinned host" : counter_names[i];
        counters[i].pid = device->pid;
    }
    if (host) {
        level(m, counters, a->sums.now.family[VS_FAMILY_PINNED], a->sums.peak.family[VS_FAMILY_PINNED], time_ns);
        return;
    }
    level(m, &counters[0], a->sums.now.allocated, a->sums.peak.allocated, time_ns);
    level(m, &counters[1], a->sums.now.reserved, a->sums.peak.reserved, time_ns);
    level(m, &counters[2], a->framework.now.allocated, a->framework.peak.allocated, time_ns);
    if (a->last_used.event || a->sample_total) /* before the window: the latest sample */
        vs_counter_set(&counters[3], m->emit, a->last_used.event ? a->last_used.used : a->sample_total - a->sample_free,
                       time_ns, m->counter_ns);
}

void vs_timeline_memory_event(struct vs_timeline_memory *m, const struct vs_event *event)
{
    const struct vs_replay *replay = m->replay;
    bool fails = vs_event_has(event, VS_PROPERTY_FAILS);
    unsigned account = fails ? failure(m, event) : replay->changed;
    switch (event->kind) { /* of those that change sums below the device's */
    case VS_EVENT_framework_alloc: account = vs_replay_account(replay, event->framework_alloc.device); break;
    case VS_EVENT_framework_free: account = vs_replay_account(replay, event->framework_free.device); break;
    case VS_EVENT_device_sample: account = vs_replay_account(replay, event->device_sample.device); break;
    case VS_EVENT_unrecorded:
        if (event->unrecorded.level == VS_LEVEL_FRAMEWORK)
            account = vs_replay_account(replay, event->unrecorded.device);
        break;
    default: break;
    }
    if (account != VS_ACCOUNT_NONE) {
        struct vs_timeline_device *device = &m->devices[account];
        uint64_t retries = replay->accounts[account]->framework_retries;
        if (retries > device->retries || (!fails && replay->failures_open < m->failures_open)) {
            struct vs_emitted out = instant(m, event->tid, retries > device->retries ? "retry succeeded"
                                                           : "recovered from out of memory", NULL);
            vs_emit_event(m->emit, &out, DEVICE_ARGUMENTS(m, account));
        }
        device->retries = retries;
        vs_timeline_memory_counters(m, account, replay->now_ns);
    }
    m->failures_open = replay->failures_open;
}

void vs_timeline_memory_end(struct vs_timeline_memory *m)
{
    const struct vs_live_table *tables[] = {&m->replay->device_live, &m->replay->framework_live};
    if (m->kinds)
        vs_kinds_finish(m->kinds);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; i < tables[t]->slots; i++) {
            const struct vs_live *live = &tables[t]->items[i];
            if (live->used && (t || !m->replay->sites.items[live->site].backing) &&
                is_large(m, live->device, live->size))
                lifetime(m, live, "live at the end");
        }
    for (unsigned i = 0; i <= VS_HOST_INDEX; i++)
        for (size_t k = 0; k < COUNTERS; k++)
            vs_counter_flush(&m->devices[i].counters[k], m->emit);
}

void vs_timeline_memory_free(struct vs_timeline_memory *m)
{
    vs_kinds_close(m->kinds);
    vs_site_labels_close(&m->labels);
}
