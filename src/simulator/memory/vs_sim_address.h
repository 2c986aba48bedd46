/* SPDX-License-Identifier: Apache-2.0
 *
 * Where in a device's address window its whole pages lie (drv_address.c), internal: for drv_space.c,
 * which maps and counts them. The spec's addresses= chooses the order. */
#ifndef VS_SIM_ADDRESS_H
#define VS_SIM_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

#include "simulator/driver/vs_sim_spec.h"

struct address_span { /* an interval of the window */
    uintptr_t base;
    size_t bytes; /* without a fence */
};

struct address_list { /* ascending */
    struct address_span *at;
    size_t count, max;
};

/* All zero at first; the caller locks it, and sets the window before the first use. */
struct vs_sim_addresses {
    uintptr_t window;
    size_t window_bytes;
    uintptr_t cursor;           /* fenced: where the search for room goes on */
    struct address_list used;   /* allocations */
    struct address_list ranges; /* linux: which allocations share */
    uint64_t taken;             /* lowest: calls for the program's own allocations */
};

/* vs_sim_address_take: finds room for *bytes*, a multiple of VS_SIM_PAGE_BYTES. *shared*: a page for
 * small allocations, which is kept out of the order of the others. Returns its address, or 0
 * without a gap or host memory; drv_space.c then finds another address. */
uintptr_t vs_sim_address_take(struct vs_sim_addresses *addresses, size_t bytes, bool shared);
/* vs_sim_address_drop: the allocation at *base* ends. Returns its size. */
size_t vs_sim_address_drop(struct vs_sim_addresses *addresses, uintptr_t base);

#endif
