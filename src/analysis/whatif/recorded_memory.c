/* SPDX-License-Identifier: Apache-2.0
 *
 * A reading of the device's free memory gives the memory outside the program: the
 * memory in use, minus the program's memory in the driver's pages at that time. Between two
 * readings it is taken to stay the same. */
#include "analysis/whatif/requests_reading.h"
#include "base/reading/vs_xalloc.h"

/* The pages of an allocation at *addr*: those that others may touch as well are counted. */
static void touch(struct vs_recorded_memory *m, uint64_t addr, uint64_t bytes, bool add)
{
    uint64_t first = addr / VS_DRIVER_PAGE, last = (addr + (bytes ? bytes - 1 : 0)) / VS_DRIVER_PAGE;
    bool alone_first = addr % VS_DRIVER_PAGE == 0 && bytes >= VS_DRIVER_PAGE;
    bool alone_last = (addr + bytes) % VS_DRIVER_PAGE == 0 && bytes >= VS_DRIVER_PAGE;
    uint64_t inner = last - first + 1;
    for (int end = 0; end < 2; end++) {
        uint64_t page = end ? last : first;
        if (end ? alone_last || last == first : alone_first)
            continue;
        inner--;
        uint64_t *count = add ? vs_xmap_value(&m->pages, page + 1, 0) : vs_map_get(&m->pages, page + 1);
        if (add) {
            m->page_bytes += ++*count == 1 ? VS_DRIVER_PAGE : 0;
        } else if (count && --*count == 0) {
            vs_map_remove(&m->pages, page + 1, NULL);
            m->page_bytes -= VS_DRIVER_PAGE;
        }
    }
    m->page_bytes += (add ? inner : -inner) * VS_DRIVER_PAGE;
}

/* The role-dependent sums. */
static void count(struct vs_recorded_memory *m, enum vs_family family, uint64_t bytes,
                  enum vs_recorded_role role, bool add)
{
    uint64_t change = add ? bytes : -bytes, pages = vs_driver_pages(bytes);
    if (family == VS_FAMILY_ASYNC) {
        m->pool_live += role == VS_ROLE_OTHER ? change : 0;
    } else if (family == VS_FAMILY_MANAGED) {
        m->managed += change;
    } else if (family == VS_FAMILY_GRAPH) {
        m->graph_live += change;
    } else if (role == VS_ROLE_REQUEST) {
        m->direct += change;
    } else if (role == VS_ROLE_OTHER) {
        m->other += change;
        m->other_small += bytes < VS_DRIVER_SMALL ? change : 0;
        m->other_pages += bytes < VS_DRIVER_SMALL ? 0 : add ? pages : -pages;
    }
}

void vs_recorded_change(struct vs_recorded_memory *m, enum vs_family family, uint64_t addr,
                        uint64_t bytes, enum vs_recorded_role role, bool add)
{
    if (family == VS_FAMILY_DEVICE && addr)
        touch(m, addr, bytes, add);
    if (family == VS_FAMILY_VMM || family == VS_FAMILY_ARRAY)
        m->mapped += add ? bytes : -bytes;
    count(m, family, bytes, role, add);
}

void vs_recorded_role(struct vs_recorded_memory *m, enum vs_family family, uint64_t bytes,
                      enum vs_recorded_role from, enum vs_recorded_role to)
{
    count(m, family, bytes, from, false);
    count(m, family, bytes, to, true);
}

/* Pool memory that is reserved: at least what is in use. */
static uint64_t pool_held(const struct vs_recorded_memory *m)
{
    return m->pool_row > m->pool_live ? m->pool_row : m->pool_live;
}

static uint64_t graphs(const struct vs_recorded_memory *m)
{
    return m->graph_driver > m->graph_live ? m->graph_driver : m->graph_live;
}

/* The program's memory in the driver's pages. */
static uint64_t ours(const struct vs_recorded_memory *m)
{
    return m->segments + m->page_bytes + m->mapped + graphs(m) + pool_held(m);
}

uint64_t vs_recorded_used(const struct vs_recorded_memory *m)
{
    return ours(m) + m->outside + m->others;
}

void vs_recorded_reading(struct vs_recorded_memory *m, uint64_t free_bytes, uint64_t total_bytes)
{
    if (!total_bytes || free_bytes > total_bytes || (m->total && total_bytes != m->total))
        return;
    m->total = total_bytes;
    uint64_t used = total_bytes - free_bytes;
    uint64_t outside = used > ours(m) ? used - ours(m) : 0;
    m->others = m->others_known && m->others_row < outside ? m->others_row
                : m->others_known                         ? outside
                                                          : 0;
    m->outside = outside - m->others;
    if (outside > m->outside_peak)
        m->outside_peak = outside;
    if (m->outside > m->contexts_peak)
        m->contexts_peak = m->outside;
    if (m->others > m->others_peak)
        m->others_peak = m->others;
}

void vs_recorded_usage(struct vs_recorded_memory *m, const struct vs_event *event)
{
    const struct vs_event_device_usage *row = &event->device_usage;
    if (row->what == VS_USAGE_POOLS) {
        m->pool_row = row->bytes;
    } else if (row->what == VS_USAGE_OTHERS) {
        m->others_known = row->how == VS_USAGE_BY_PID || row->how == VS_USAGE_BY_RULE;
        m->others_row = row->bytes;
    }
}

/* Without rounding, and pools by what is in use. */
static uint64_t limited(const struct vs_recorded_memory *m)
{
    return m->other + graphs(m) + m->pool_live;
}

uint64_t vs_recorded_held(const struct vs_recorded_memory *m, uint64_t serving)
{
    return serving + limited(m) + m->managed;
}

void vs_recorded_say(struct vs_recorded_memory *m, struct vs_request_store *store,
                     uint64_t event)
{
    const struct {
        enum vs_request_kind kind;
        uint64_t level;
    } levels[] = {
        {VS_REQUEST_OTHER, m->other_pages + vs_driver_pages(m->other_small) + graphs(m)},
        {VS_REQUEST_LIMITED, limited(m)},
        {VS_REQUEST_MANAGED, m->managed},
        {VS_REQUEST_OUTSIDE, m->outside},
        {VS_REQUEST_OTHERS, m->others},
        {VS_REQUEST_POOL_LIVE, m->pool_live},
        {VS_REQUEST_POOL_HELD, pool_held(m)},
    };
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        uint64_t *said = &m->said[levels[i].kind];
        if (*said == levels[i].level)
            continue;
        vs_request_add(store, &(struct vs_request_entry){
                                  .kind = levels[i].kind, .event = event, .bytes = levels[i].level});
        *said = levels[i].level;
    }
    uint64_t other = limited(m) + m->managed, kept = pool_held(m) - m->pool_live;
    if (other > m->other_peak)
        m->other_peak = other;
    if (kept > m->pool_kept_peak)
        m->pool_kept_peak = kept;
}
