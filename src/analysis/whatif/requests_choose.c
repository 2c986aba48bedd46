/* SPDX-License-Identifier: Apache-2.0
 *
 * Which device of a trace to replay, and whose requests: a pass that keeps sums only. */
#include <string.h>

#include "analysis/whatif/requests_reading.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"

#define DEVICES 64

struct device_sums {
    uint64_t live, peak;       /* cudaMalloc memory of the program */
    uint64_t framework_peak;   /* tensors in use, as the framework counted them */
    bool program, framework;
};

struct choice {
    struct device_sums devices[DEVICES];
    struct vs_map live; /* address -> bytes << 8 | device */
};

static void take(struct choice *c, const struct vs_event *e)
{
    uint64_t was;
    struct device_sums *d;
    switch (e->kind) {
    case VS_EVENT_framework_alloc:
        if (e->framework_alloc.device >= DEVICES)
            return;
        d = &c->devices[e->framework_alloc.device];
        d->framework = true;
        if (e->framework_alloc.total_allocated > d->framework_peak)
            d->framework_peak = e->framework_alloc.total_allocated;
        return;
    case VS_EVENT_alloc:
        if (e->alloc.family != VS_FAMILY_DEVICE || e->alloc.device >= DEVICES || !e->alloc.addr)
            return;
        d = &c->devices[e->alloc.device];
        d->program = true;
        d->live += e->alloc.size;
        if (d->live > d->peak)
            d->peak = d->live;
        vs_xmap_put(&c->live, e->alloc.addr, e->alloc.size << 8 | e->alloc.device);
        return;
    case VS_EVENT_free:
        if (e->free.addr && vs_map_remove(&c->live, e->free.addr, &was))
            c->devices[was & 0xff].live -= was >> 8;
        return;
    default: return;
    }
}

static enum vs_err read_all(struct vs_reader *reader, uint64_t device, struct choice *c)
{
    struct vs_event event;
    enum vs_err err;
    vs_reader_rewind(reader);
    while ((err = vs_reader_next(reader, &event)) == VS_OK) {
        take(c, &event);
        if (device < DEVICES && c->devices[device].framework)
            return err; /* nothing further could change the choice */
    }
    return err == VS_ERR_END ? VS_OK : err;
}

enum vs_err vs_requests_choose(struct vs_reader *reader, uint64_t *device,
                               enum vs_whatif_requests *requests)
{
    struct choice choice;
    const struct device_sums *best = NULL;
    memset(&choice, 0, sizeof choice);
    enum vs_err err = read_all(reader, *device, &choice);
    for (uint64_t i = 0; i < DEVICES; i++) {
        const struct device_sums *d = &choice.devices[i];
        uint64_t peak = d->framework && d->framework_peak > d->peak ? d->framework_peak : d->peak;
        uint64_t most = !best ? 0
                        : best->framework_peak > best->peak ? best->framework_peak : best->peak;
        if ((!d->framework && !d->program) ||
            (*device != VS_WHATIF_DEVICE_ANY && *device != i) || (best && peak <= most))
            continue;
        best = d;
    }
    vs_map_free(&choice.live);
    if (err)
        return err;
    if (!best)
        return VS_ERR_NOT_FOUND;
    *device = (uint64_t)(best - choice.devices);
    *requests = best->framework ? VS_WHATIF_FRAMEWORK : VS_WHATIF_PROGRAM;
    return VS_OK;
}
