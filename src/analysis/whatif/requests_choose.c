/* SPDX-License-Identifier: Apache-2.0
 *
 * Which device of a trace to replay, and whose requests: a pass that keeps sums only. */
#include "analysis/whatif/requests_reading.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"

#define DEVICES 64

struct device_sums {
    uint64_t live, peak;       /* cudaMalloc memory of the program */
    uint64_t framework_peak;   /* tensors in use, as the framework counted them */
    bool program, framework;
};

enum vs_err vs_requests_choose(struct vs_reader *reader, uint64_t *device,
                               enum vs_whatif_requests *requests)
{
    struct device_sums devices[DEVICES] = {{0}};
    struct vs_map live = {0}; /* address -> bytes << 8 | device */
    const struct device_sums *best = NULL;
    struct vs_event e;
    uint64_t was;
    enum vs_err err;
    vs_reader_rewind(reader);
    while ((err = vs_reader_next(reader, &e)) == VS_OK) {
        if (e.kind == VS_EVENT_framework_alloc && e.framework_alloc.device < DEVICES) {
            struct device_sums *d = &devices[e.framework_alloc.device];
            d->framework = true;
            if (e.framework_alloc.total_allocated > d->framework_peak)
                d->framework_peak = e.framework_alloc.total_allocated;
        } else if (e.kind == VS_EVENT_alloc && e.alloc.family == VS_FAMILY_DEVICE &&
                   e.alloc.device < DEVICES && e.alloc.addr) {
            struct device_sums *d = &devices[e.alloc.device];
            d->program = true;
            d->live += e.alloc.size;
            if (d->live > d->peak)
                d->peak = d->live;
            vs_xmap_put(&live, e.alloc.addr, e.alloc.size << 8 | e.alloc.device);
        } else if (e.kind == VS_EVENT_free && e.free.addr &&
                   vs_map_remove(&live, e.free.addr, &was)) {
            devices[was & 0xff].live -= was >> 8;
        }
        if (*device < DEVICES && devices[*device].framework)
            break; /* nothing further could change the choice */
    }
    vs_map_free(&live);
    for (uint64_t i = 0; i < DEVICES; i++) {
        const struct device_sums *d = &devices[i];
        uint64_t peak = d->framework && d->framework_peak > d->peak ? d->framework_peak : d->peak;
        uint64_t most = !best ? 0
                        : best->framework_peak > best->peak ? best->framework_peak : best->peak;
        if ((!d->framework && !d->program) ||
            (*device != VS_WHATIF_DEVICE_ANY && *device != i) || (best && peak <= most))
            continue;
        best = d;
    }
    if (err && err != VS_ERR_END)
        return err;
    if (!best)
        return VS_ERR_NOT_FOUND;
    *device = (uint64_t)(best - devices);
    *requests = best->framework ? VS_WHATIF_FRAMEWORK : VS_WHATIF_PROGRAM;
    return VS_OK;
}
