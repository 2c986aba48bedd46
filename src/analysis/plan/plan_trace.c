/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A planner per device and level is filled in one pass; the right one is selected
 * at the end. */
#include "analysis/plan/plan_trace.h"

#include <stdio.h>
#include <string.h>

#define DEVICES 64

enum level { DEVICE_LEVEL, FRAMEWORK_LEVEL, LEVELS };

struct reading {
    struct vs_reader *reader;
    struct vs_planner *planners[LEVELS][DEVICES];
    uint64_t device_bytes[DEVICES];
    uint64_t unmatched;
    uint64_t exe; /* string */
    struct vs_recording_state recording;
};

static enum vs_err ask(struct reading *r, enum level level, uint64_t device, uint64_t addr,
                       uint64_t bytes, uint64_t stream)
{
    if (device >= DEVICES || !addr)
        return VS_OK;
    struct vs_planner **planner = &r->planners[level][device];
    enum vs_err err = *planner ? VS_OK : vs_planner_open(planner);
    if (err)
        return err;
    err = vs_planner_alloc(*planner, addr, bytes, stream);
    if (err != VS_ERR_STATE)
        return err;
    /* the address is in use: its free was lost, or its context was destroyed */
    r->unmatched++;
    err = vs_planner_free(*planner, addr);
    return err ? err : vs_planner_alloc(*planner, addr, bytes, stream);
}

static enum vs_err give_back(struct reading *r, enum level level, uint64_t device, uint64_t addr)
{
    if (device >= DEVICES || !addr)
        return VS_OK;
    struct vs_planner *planner = r->planners[level][device];
    enum vs_err err = planner ? vs_planner_free(planner, addr) : VS_ERR_NOT_FOUND;
    if (err != VS_ERR_NOT_FOUND)
        return err;
    r->unmatched++; /* memory of another kind, or allocated before the trace */
    return VS_OK;
}

static enum vs_err take_event(struct reading *r, const struct vs_event *e)
{
    switch (e->kind) {
    case VS_EVENT_process: r->exe = e->process.exe; return VS_OK;
    case VS_EVENT_recording_changed:
        vs_recording_event(&r->recording, e);
        return VS_OK;
    case VS_EVENT_device:
        if (e->device.device < DEVICES)
            r->device_bytes[e->device.device] = e->device.total_bytes;
        return VS_OK;
    case VS_EVENT_alloc:
        if (e->alloc.family != VS_FAMILY_DEVICE)
            return VS_OK;
        return ask(r, DEVICE_LEVEL, e->alloc.device, e->alloc.addr, e->alloc.requested,
                   e->alloc.stream);
    case VS_EVENT_free: return give_back(r, DEVICE_LEVEL, e->free.device, e->free.addr);
    case VS_EVENT_framework_alloc:
        return ask(r, FRAMEWORK_LEVEL, e->framework_alloc.device, e->framework_alloc.addr,
                   e->framework_alloc.size, 0);
    case VS_EVENT_framework_free:
        return give_back(r, FRAMEWORK_LEVEL, e->framework_free.device, e->framework_free.addr);
    default: return VS_OK;
    }
}

/* Removes and returns the requested planner; NULL when there is none. */
static struct vs_planner *choose(struct reading *r, uint64_t device, struct vs_plan_trace *out)
{
    struct vs_planner **best = NULL;
    for (int level = LEVELS; level-- > 0 && !best;) {
        for (uint32_t i = 0; i < DEVICES; i++) {
            struct vs_planner **p = &r->planners[level][i];
            if (!*p || (device != VS_PLAN_DEVICE_ANY && device != i) ||
                (best && vs_planner_peak(*best) >= vs_planner_peak(*p)))
                continue;
            best = p;
            out->framework = level == FRAMEWORK_LEVEL;
            out->identity.device = i;
            out->identity.device_bytes = r->device_bytes[i];
        }
    }
    struct vs_planner *chosen = best ? *best : NULL;
    if (best)
        *best = NULL;
    return chosen;
}

enum vs_err vs_plan_trace_read(struct vs_reader *reader, uint64_t device,
                               struct vs_plan_trace *out)
{
    struct reading r = {.reader = reader};
    struct vs_event event;
    enum vs_err err;
    memset(out, 0, sizeof *out);
    while ((err = vs_reader_next(reader, &event)) == VS_OK) {
        err = take_event(&r, &event);
        if (err)
            break;
    }
    err = err == VS_ERR_END ? VS_OK : err;
    out->recording = r.recording;
    if (!err)
        out->planner = choose(&r, device, out);
    if (!err && !out->planner)
        err = VS_ERR_NOT_FOUND;
    for (int level = 0; level < LEVELS; level++) {
        for (int i = 0; i < DEVICES; i++)
            vs_planner_close(r.planners[level][i]);
    }
    const char *exe = vs_reader_string(reader, r.exe), *slash = strrchr(exe, '/');
    snprintf(out->program, sizeof out->program, "%.63s", slash ? slash + 1 : exe);
    out->identity.program = out->program;
    out->unmatched = r.unmatched;
    return err;
}
