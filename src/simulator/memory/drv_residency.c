/* SPDX-License-Identifier: Apache-2.0
 *
 * Residency of managed memory. Host and device share the bytes; the simulation tracks which 2 MiB
 * pages are resident on a device, and counts those against its memory. If a page does not fit,
 * others are evicted to the host, in no order that a program may rely on. So resident bytes never
 * exceed the device's memory, and allocations may be larger.
 *
 * Advice is stored for intervals of 4 KiB pages, the granularity of programs.
 *
 * Lock order: managed_mu, then a device's space and the registry of ranges. An allocation's state
 * is freed under managed_mu after the removal of its range, so it stays valid for a thread that
 * finds the range with managed_mu held. */
#include "simulator/memory/vs_sim_managed.h"
#include "simulator/memory/vs_sim_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct vs_sim_managed {
    struct vs_sim_managed *next; /* of all, guarded by managed_mu */
    struct vs_sim_advice *advice; /* ascending; the last interval ends at the allocation's end */
    size_t advice_count, advice_max;
    size_t page_count;
    int8_t resident[]; /* of each page: ordinal, or -1 */
};

static pthread_mutex_t managed_mu = PTHREAD_MUTEX_INITIALIZER;
static struct vs_sim_managed *newest;               /* guarded by managed_mu */
static uint64_t held_pages[VS_SIM_DEVICES_MAX];    /* guarded by managed_mu */
static atomic_uint live; /* allocations; launches skip everything else if 0 */

/* ---- pages of devices ---- */

static void go_home_locked(int8_t *page)
{
    vs_sim_space_uncharge(*page, VS_SIM_PAGE_BYTES);
    held_pages[*page]--;
    *page = -1;
}

/* Evicts pages of *device* until *bytes* are free, or none is left. */
static void evict_locked(int device, uint64_t bytes)
{
    for (struct vs_sim_managed *m = newest; m; m = m->next)
        for (size_t i = 0; i < m->page_count && held_pages[device]; i++) {
            if (vs_sim_space_free_bytes(device) >= bytes)
                return;
            if (m->resident[i] == device)
                go_home_locked(&m->resident[i]);
        }
}

/* Returns whether the page moved. *wanted_bytes*: of this page and those that follow it. */
static bool bring_locked(int8_t *page, int device, uint64_t wanted_bytes)
{
    if (*page == device)
        return false;
    if (*page >= 0)
        go_home_locked(page);
    if (!vs_sim_space_try_charge(device, VS_SIM_PAGE_BYTES)) {
        evict_locked(device, wanted_bytes);
        if (!vs_sim_space_try_charge(device, VS_SIM_PAGE_BYTES))
            return false; /* the rest of the device is permanently in use: the page stays here */
    }
    *page = (int8_t)device;
    held_pages[device]++;
    return true;
}

bool vs_sim_managed_make_room(int device, uint64_t bytes)
{
    bytes = (bytes + VS_SIM_PAGE_BYTES - 1) & ~(VS_SIM_PAGE_BYTES - 1);
    pthread_mutex_lock(&managed_mu);
    uint64_t before = held_pages[device];
    if (vs_sim_space_free_bytes(device) + before * VS_SIM_PAGE_BYTES >= bytes)
        evict_locked(device, bytes);
    bool any = held_pages[device] < before;
    pthread_mutex_unlock(&managed_mu);
    return any;
}

/* ---- advice ---- */

/* Index of the interval that contains byte *at*. */
static size_t advice_at(const struct vs_sim_managed *m, size_t at)
{
    size_t i = 0;
    while (m->advice[i].end <= at)
        i++;
    return i;
}

/* Makes an interval begin at *at*. */
static void split(struct vs_sim_managed *m, size_t at)
{
    if (!at || at >= m->advice[m->advice_count - 1].end)
        return;
    size_t i = advice_at(m, at - 1);
    if (m->advice[i].end == at)
        return;
    vs_sim_room(&m->advice, m->advice_count, &m->advice_max, sizeof *m->advice);
    memmove(m->advice + i + 1, m->advice + i, (m->advice_count - i) * sizeof *m->advice);
    m->advice[i].end = at;
    m->advice_count++;
}

static size_t round_up(size_t bytes)
{
    return (bytes + VS_SIM_ADVICE_PAGE - 1) & ~(size_t)(VS_SIM_ADVICE_PAGE - 1);
}

/* The allocation that contains a whole range, and the range as offsets of whole pages. */
static struct vs_sim_managed *holder_locked(uintptr_t address, size_t bytes, size_t *from,
                                            size_t *to)
{
    struct vs_sim_range range;
    if (!bytes || !vs_sim_range_covers(address, bytes, &range) ||
        range.kind != VS_SIM_RANGE_MANAGED)
        return NULL;
    *from = (address - range.base) & ~(size_t)(VS_SIM_ADVICE_PAGE - 1);
    *to = round_up(address - range.base + bytes);
    return range.managed;
}

CUresult vs_sim_managed_advise(uintptr_t address, size_t bytes, CUmem_advise advice, int place)
{
    uint32_t by = place == CU_DEVICE_CPU ? VS_SIM_BY_HOST : UINT32_C(1) << (place & 31);
    size_t from, to;
    pthread_mutex_lock(&managed_mu);
    struct vs_sim_managed *m = holder_locked(address, bytes, &from, &to);
    if (m) {
        split(m, from);
        split(m, to);
        for (size_t i = advice_at(m, from); i < m->advice_count && m->advice[i].end <= to; i++) {
            struct vs_sim_advice *a = &m->advice[i];
            switch ((int)advice) {
            case VS_SIM_PREFETCHED: a->prefetched = place; break;
            case CU_MEM_ADVISE_SET_READ_MOSTLY: a->read_mostly = true; break;
            case CU_MEM_ADVISE_UNSET_READ_MOSTLY: a->read_mostly = false; break;
            case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
            case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: a->preferred = place; break;
            case CU_MEM_ADVISE_SET_ACCESSED_BY: a->accessed_by |= by; break;
            default: a->accessed_by &= ~by; break;
            }
        }
        size_t kept = 0;
        for (size_t i = 1; i < m->advice_count; i++) {
            struct vs_sim_advice *a = &m->advice[kept], *b = &m->advice[i];
            if (a->preferred == b->preferred && a->prefetched == b->prefetched &&
                a->accessed_by == b->accessed_by && a->read_mostly == b->read_mostly)
                a->end = b->end;
            else
                m->advice[++kept] = *b;
        }
        m->advice_count = kept + 1;
    }
    pthread_mutex_unlock(&managed_mu);
    return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult vs_sim_managed_common(uintptr_t address, size_t bytes, struct vs_sim_advice *common)
{
    size_t from, to;
    pthread_mutex_lock(&managed_mu);
    struct vs_sim_managed *m = holder_locked(address, bytes, &from, &to);
    if (m)
        *common = m->advice[advice_at(m, from)];
    for (size_t i = m ? advice_at(m, from) + 1 : 0; m && i < m->advice_count && common->end < to;
         i++) {
        const struct vs_sim_advice *a = &m->advice[i];
        common->end = a->end;
        common->read_mostly = common->read_mostly && a->read_mostly;
        common->accessed_by &= a->accessed_by;
        if (common->preferred != a->preferred)
            common->preferred = CU_DEVICE_INVALID;
        if (common->prefetched != a->prefetched)
            common->prefetched = CU_DEVICE_INVALID;
    }
    pthread_mutex_unlock(&managed_mu);
    return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- moves ---- */

uint64_t vs_sim_managed_move(const struct vs_sim_managed_span *span)
{
    struct vs_sim_range range;
    uint64_t moved = 0;
    pthread_mutex_lock(&managed_mu);
    if (vs_sim_range_find(span->base, &range) && range.id == span->id) {
        size_t first = span->offset / VS_SIM_PAGE_BYTES,
               last = (span->offset + span->bytes - 1) / VS_SIM_PAGE_BYTES;
        for (size_t i = first; i <= last; i++) {
            int8_t *page = &range.managed->resident[i];
            if (span->place >= 0) {
                moved += bring_locked(page, span->place, (last - i + 1) * VS_SIM_PAGE_BYTES)
                             ? VS_SIM_PAGE_BYTES
                             : 0;
            } else if (*page >= 0) {
                go_home_locked(page);
                moved += span->place == CU_DEVICE_INVALID ? 0 : VS_SIM_PAGE_BYTES;
            }
        }
    }
    pthread_mutex_unlock(&managed_mu);
    return moved;
}

void vs_sim_managed_touch(uintptr_t address, int device)
{
    struct vs_sim_range range;
    if (!atomic_load_explicit(&live, memory_order_relaxed))
        return;
    pthread_mutex_lock(&managed_mu);
    if (vs_sim_range_find(address, &range) && range.kind == VS_SIM_RANGE_MANAGED) {
        struct vs_sim_managed *m = range.managed;
        for (size_t i = 0, at = 0; i < m->page_count; i++) {
            while (m->advice[at].end <= i * VS_SIM_PAGE_BYTES)
                at++;
            int preferred = m->advice[at].preferred;
            if (preferred == CU_DEVICE_INVALID || preferred == device)
                bring_locked(&m->resident[i], device, (m->page_count - i) * VS_SIM_PAGE_BYTES);
        }
    }
    pthread_mutex_unlock(&managed_mu);
}

/* ---- creation and reuse ---- */

static struct vs_sim_managed *state_new(size_t bytes)
{
    size_t count = (bytes + VS_SIM_PAGE_BYTES - 1) / VS_SIM_PAGE_BYTES;
    struct vs_sim_managed *m = vs_sim_need(malloc(sizeof *m + count));
    struct vs_sim_advice *advice = vs_sim_need(malloc(4 * sizeof *advice));
    *m = (struct vs_sim_managed){
        .advice = advice, .advice_count = 1, .advice_max = 4, .page_count = count};
    advice[0] = (struct vs_sim_advice){
        .end = round_up(bytes), .preferred = CU_DEVICE_INVALID, .prefetched = CU_DEVICE_INVALID};
    memset(m->resident, -1, count);
    return m;
}

CUresult vs_sim_managed_add(struct vs_sim_range *range)
{
    size_t bytes = round_up(range->bytes);
    range->base = bytes < range->bytes ? 0 : vs_sim_store_reserve(bytes, VS_SIM_PAGE_BYTES, 0);
    range->managed = range->base && !mprotect((void *)range->base, bytes, PROT_READ | PROT_WRITE)
                         ? state_new(range->bytes)
                         : NULL;
    range->kind = VS_SIM_RANGE_MANAGED;
    CUresult e = range->managed ? vs_sim_range_add(range) : CUDA_ERROR_OUT_OF_MEMORY;
    if (e == CUDA_SUCCESS) {
        pthread_mutex_lock(&managed_mu);
        range->managed->next = newest;
        newest = range->managed;
        pthread_mutex_unlock(&managed_mu);
        atomic_fetch_add(&live, 1);
        return CUDA_SUCCESS;
    }
    if (range->managed)
        free(range->managed->advice);
    free(range->managed);
    if (range->base)
        vs_sim_store_unreserve(range->base, bytes);
    return e;
}

void vs_sim_managed_release(const struct vs_sim_range *range)
{
    struct vs_sim_managed *m = range->managed;
    pthread_mutex_lock(&managed_mu);
    for (size_t i = 0; i < m->page_count; i++)
        if (m->resident[i] >= 0)
            go_home_locked(&m->resident[i]);
    struct vs_sim_managed **link = &newest;
    while (*link != m)
        link = &(*link)->next;
    *link = m->next;
    pthread_mutex_unlock(&managed_mu);
    atomic_fetch_sub(&live, 1);
    free(m->advice);
    free(m);
    vs_sim_store_unreserve(range->base, round_up(range->bytes));
}
