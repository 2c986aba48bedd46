/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "reference_model.h"

#include <stdlib.h>
#include <string.h>

#define USES_MAX 8
#define PENDING_MAX 65536

struct block {
    uint64_t addr, size, requested;
    uint64_t segment, segment_size; /* address and size of the device allocation */
    uint64_t stream;
    bool large, busy, waiting; /* busy: with the client; waiting: for events */
    uint64_t uses[USES_MAX];
    int use_count, event_count;
    uint64_t unsafe_until; /* synchronisation number */
    uint64_t born_free;    /* search number when it became free */
};

struct pending {
    uint64_t stream, event, addr;
};

struct model {
    struct vs_allocator_config config;
    struct fake_device *device;
    struct block *blocks;
    int count, capacity;
    struct pending pending[PENDING_MAX];
    int pending_count;
    uint64_t syncs_begun, syncs_done, searches_small, searches_large;
    struct vs_allocator_stats stats;
};

struct model *model_new(const struct vs_allocator_config *config, struct fake_device *device)
{
    struct model *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    m->config = *config;
    m->device = device;
    m->stats.max_split_size = config->max_split_size ? (int64_t)config->max_split_size : -1;
    return m;
}

void model_delete(struct model *m)
{
    free(m->blocks);
    free(m);
}

/* --- statistics: recounted, the difference booked --- */

static void book(struct vs_stat *stat, uint64_t now)
{
    if (now > stat->current)
        stat->allocated += now - stat->current;
    else
        stat->freed += stat->current - now;
    stat->current = now;
    if (now > stat->peak)
        stat->peak = now;
}

static uint64_t max_split(const struct model *m)
{
    return m->config.max_split_size ? m->config.max_split_size : UINT64_MAX;
}

static bool alone(const struct block *b)
{
    return b->size == b->segment_size;
}

static void recount(struct model *m)
{
    for (int pool = 0; pool < 3; pool++) {
        uint64_t n[9] = {0}, over[2] = {0};
        for (int i = 0; i < m->count; i++) {
            const struct block *b = &m->blocks[i];
            if ((pool == VS_STAT_SMALL && b->large) || (pool == VS_STAT_LARGE && !b->large))
                continue;
            bool active = b->busy || b->waiting, first = b->addr == b->segment;
            n[0] += b->busy;
            n[1] += first;
            n[2] += active;
            n[3] += !active && !alone(b);
            n[4] += b->busy ? b->size : 0;
            n[5] += first ? b->segment_size : 0;
            n[6] += active ? b->size : 0;
            n[7] += !active && !alone(b) ? b->size : 0;
            n[8] += active ? b->requested : 0;
            over[0] += b->busy && b->size >= max_split(m);
            over[1] += first && b->segment_size >= max_split(m);
        }
        book(&m->stats.allocation[pool], n[0]);
        book(&m->stats.segment[pool], n[1]);
        book(&m->stats.active[pool], n[2]);
        book(&m->stats.inactive_split[pool], n[3]);
        book(&m->stats.allocated_bytes[pool], n[4]);
        book(&m->stats.reserved_bytes[pool], n[5]);
        book(&m->stats.active_bytes[pool], n[6]);
        book(&m->stats.inactive_split_bytes[pool], n[7]);
        book(&m->stats.requested_bytes[pool], n[8]);
        if (pool == VS_STAT_ALL) {
            book(&m->stats.oversize_allocations, over[0]);
            book(&m->stats.oversize_segments, over[1]);
        }
    }
}

const struct vs_allocator_stats *model_stats(const struct model *m)
{
    return &m->stats;
}

static void each_stat(struct model *m, bool peaks)
{
    struct vs_stat *all = (struct vs_stat *)&m->stats;
    for (size_t i = 0; i < 9 * 3 + 2; i++) {
        if (peaks)
            all[i].peak = all[i].current;
        else
            all[i].allocated = all[i].freed = 0;
    }
}

void model_reset_peaks(struct model *m)
{
    each_stat(m, true);
}

void model_reset_accumulated(struct model *m)
{
    each_stat(m, false);
    m->stats.num_alloc_retries = m->stats.num_ooms = m->stats.num_sync_all_streams = 0;
    m->stats.num_device_alloc = m->stats.num_device_free = m->stats.num_reuse_syncs = 0;
}

/* --- the array --- */

static int index_of(const struct model *m, uint64_t addr)
{
    for (int i = 0; i < m->count; i++) {
        if (addr >= m->blocks[i].addr && addr < m->blocks[i].addr + m->blocks[i].size)
            return i;
    }
    return -1;
}

static void insert(struct model *m, struct block block)
{
    if (m->count == m->capacity) {
        m->capacity = m->capacity ? 2 * m->capacity : 64;
        m->blocks = realloc(m->blocks, (size_t)m->capacity * sizeof *m->blocks);
        if (!m->blocks)
            abort();
    }
    int i = m->count++;
    while (i > 0 && m->blocks[i - 1].addr > block.addr) {
        m->blocks[i] = m->blocks[i - 1];
        i--;
    }
    m->blocks[i] = block;
}

static void erase(struct model *m, int i)
{
    m->count--;
    memmove(&m->blocks[i], &m->blocks[i + 1], (size_t)(m->count - i) * sizeof *m->blocks);
}

static bool is_free(const struct block *b)
{
    return !b->busy && !b->waiting;
}

/* --- frees --- */

static void join(struct model *m, int i)
{
    struct block *low = &m->blocks[i], *high = &m->blocks[i + 1];
    low->size += high->size;
    if (high->unsafe_until > low->unsafe_until)
        low->unsafe_until = high->unsafe_until;
    erase(m, i + 1);
}

static void now_free(struct model *m, uint64_t addr)
{
    int i = index_of(m, addr);
    struct block *b = &m->blocks[i];
    b->busy = b->waiting = false;
    b->requested = 0;
    b->unsafe_until = m->config.reuse == VS_REUSE_AFTER_SYNC ? m->syncs_begun + 1 : 0;
    if (i + 1 < m->count && m->blocks[i + 1].segment == b->segment && is_free(&m->blocks[i + 1]))
        join(m, i);
    if (i > 0 && m->blocks[i - 1].segment == b->segment && is_free(&m->blocks[i - 1]))
        join(m, --i);
    m->blocks[i].born_free = m->searches_large;
    recount(m);
}

static void event_done(struct model *m, int p)
{
    struct block *b = &m->blocks[index_of(m, m->pending[p].addr)];
    fake_device_ops.event_release(m->device, m->pending[p].event);
    m->pending_count--;
    memmove(&m->pending[p], &m->pending[p + 1],
            (size_t)(m->pending_count - p) * sizeof *m->pending);
    if (--b->event_count == 0)
        now_free(m, b->addr);
}

/* Streams by rising value; in each, events in the order they were recorded. */
static void look_at_events(struct model *m, bool wait)
{
    for (uint64_t stream = 0; stream < FAKE_STREAMS; stream++) {
        for (int p = 0; p < m->pending_count;) {
            bool ready = true;
            if (m->pending[p].stream != stream) {
                p++;
                continue;
            }
            enum vs_err err =
                wait ? fake_device_ops.event_synchronize(m->device, m->pending[p].event)
                     : fake_device_ops.event_query(m->device, m->pending[p].event, &ready);
            if (err || !ready)
                break;
            event_done(m, p);
        }
    }
}

enum vs_err model_free(struct model *m, uint64_t addr)
{
    int i = index_of(m, addr);
    if (i < 0)
        return VS_ERR_FOREIGN;
    struct block *b = &m->blocks[i];
    if (!b->busy)
        return VS_ERR_STATE;
    if (b->addr != addr)
        return VS_ERR_ARG;
    b->busy = false;
    b->waiting = true;
    recount(m);
    b->event_count = b->use_count;
    for (int u = 0; u < b->use_count; u++) {
        struct pending *p = &m->pending[m->pending_count++];
        *p = (struct pending){b->uses[u], 0, addr};
        if (fake_device_ops.event_record(m->device, p->stream, &p->event))
            abort();
    }
    bool at_once = b->use_count == 0;
    b->use_count = 0;
    if (at_once)
        now_free(m, addr);
    return VS_OK;
}

enum vs_err model_record_stream(struct model *m, uint64_t addr, uint64_t stream)
{
    int i = index_of(m, addr);
    if (i < 0)
        return VS_ERR_FOREIGN;
    struct block *b = &m->blocks[i];
    if (!b->busy)
        return VS_ERR_STATE;
    if (b->addr != addr)
        return VS_ERR_ARG;
    if (m->config.reuse == VS_REUSE_AFTER_SYNC || stream == b->stream)
        return VS_OK;
    for (int u = 0; u < b->use_count; u++) {
        if (b->uses[u] == stream)
            return VS_OK;
    }
    b->uses[b->use_count++] = stream;
    return VS_OK;
}

enum vs_err model_find(struct model *m, uint64_t addr, struct vs_allocation *out, bool *live)
{
    int i = index_of(m, addr);
    if (i < 0)
        return VS_ERR_FOREIGN;
    *live = m->blocks[i].busy;
    *out = (struct vs_allocation){.addr = m->blocks[i].addr,
                                  .requested = *live ? m->blocks[i].requested : 0,
                                  .size = m->blocks[i].size};
    return VS_OK;
}

/* --- giving back --- */

static void release(struct model *m, int i)
{
    if (fake_device_ops.segment_free(m->device, m->blocks[i].addr, m->blocks[i].size))
        abort();
    m->stats.num_device_free++;
    erase(m, i);
    recount(m);
}

/* The next block in (stream, size, address) order after *last*, among free whole
 * segments of a kind; -1 at the end. */
static int next_whole(const struct model *m, bool large, const struct block *last)
{
    int best = -1;
    for (int i = 0; i < m->count; i++) {
        const struct block *b = &m->blocks[i], *c = best < 0 ? NULL : &m->blocks[best];
        if (!is_free(b) || !alone(b) || b->large != large)
            continue;
#define AFTER(x, y)                                                                      \
    ((x)->stream != (y)->stream ? (x)->stream > (y)->stream                              \
                                : (x)->size != (y)->size ? (x)->size > (y)->size         \
                                                         : (x)->addr > (y)->addr)
        if (last && !AFTER(b, last))
            continue;
        if (!c || AFTER(c, b))
            best = i;
#undef AFTER
    }
    return best;
}

static uint64_t release_all(struct model *m)
{
    uint64_t released = 0;
    m->stats.num_sync_all_streams++;
    look_at_events(m, true);
    for (int large = 1; large >= 0; large--) {
        int i;
        while ((i = next_whole(m, large, NULL)) >= 0) {
            released += m->blocks[i].size;
            release(m, i);
        }
    }
    return released;
}

uint64_t model_empty_cache(struct model *m)
{
    return release_all(m);
}

/* --- requests --- */

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

static uint64_t rounded(const struct model *m, uint64_t bytes)
{
    uint64_t power = 1;
    int slot = 0;
    if (bytes < 512)
        return 512;
    while (power * 2 <= bytes)
        power *= 2;
    for (uint64_t mib = 1 << 20; mib * 2 <= power && slot < 15; mib *= 2)
        slot++;
    uint64_t divisions = m->config.roundup_power2_divisions[slot];
    if (divisions > 1 && bytes > 512 * divisions)
        return bytes == power ? bytes : power + round_up(bytes - power, power / divisions);
    return round_up(bytes, 512);
}

static uint64_t allowed(const struct model *m)
{
    double fraction = m->config.memory_fraction;
    if (fraction == 0 || fraction == 1)
        return UINT64_MAX;
    return (uint64_t)(fraction * (double)m->device->capacity);
}

/* The best fit of the right kind and stream, whatever max_split_size says. */
static int best_fit(const struct model *m, uint64_t size, uint64_t stream, bool large)
{
    int best = -1;
    for (int i = 0; i < m->count; i++) {
        const struct block *b = &m->blocks[i];
        if (!is_free(b) || b->large != large || b->stream != stream || b->size < size)
            continue;
        if (best < 0 || b->size < m->blocks[best].size)
            best = i; /* by address, so the first of equals stays */
    }
    return best;
}

static enum vs_err new_segment(struct model *m, uint64_t size, uint64_t stream, bool large, int *out)
{
    uint64_t bytes = !large ? 2 << 20 : size < 10 << 20 ? 20 << 20 : round_up(size, 2 << 20), addr;
    if (m->stats.reserved_bytes[0].current + bytes > allowed(m))
        return VS_ERR_DEVICE_OOM;
    enum vs_err err = fake_device_ops.segment_alloc(m->device, bytes, &addr);
    if (err)
        return err;
    m->stats.num_device_alloc++;
    insert(m, (struct block){.addr = addr, .size = bytes, .segment = addr, .segment_size = bytes,
                             .stream = stream, .large = large});
    recount(m);
    *out = index_of(m, addr);
    return VS_OK;
}

static void collect_garbage(struct model *m)
{
    double threshold = m->config.garbage_collection_threshold;
    if (allowed(m) == UINT64_MAX || threshold <= 0)
        return;
    uint64_t limit = (uint64_t)(threshold * (double)allowed(m));
    while (m->stats.reserved_bytes[0].current > limit) {
        double ages = 0;
        int count = 0, freed = 0;
        for (int i = 0; i < m->count; i++) {
            const struct block *b = &m->blocks[i];
            if (is_free(b) && alone(b) && b->large) {
                ages += (double)(m->searches_large - b->born_free);
                count++;
            }
        }
        if (!count)
            return;
        struct block last, *after = NULL;
        for (int i; (i = next_whole(m, true, after)) >= 0; after = &last) {
            last = m->blocks[i];
            if ((double)(m->searches_large - last.born_free) >= ages / count) {
                release(m, i);
                freed++;
            }
        }
        if (!freed)
            return;
    }
}

/* With a split limit: one free block of this stream that is large enough, or the
 * largest above the limit until together they are. */
static bool release_oversize(struct model *m, uint64_t size, uint64_t stream, bool large)
{
    if (!m->config.max_split_size)
        return false;
    if (size < m->config.max_split_size)
        size = m->config.max_split_size;
    int one = best_fit(m, size, stream, large);
    if (one >= 0) {
        release(m, one);
        return true;
    }
    uint64_t released = 0;
    while (released < size) {
        int largest = -1;
        for (int i = 0; i < m->count; i++) {
            const struct block *b = &m->blocks[i];
            if (is_free(b) && b->large == large && b->stream == stream && b->size >= max_split(m) &&
                (largest < 0 || b->size >= m->blocks[largest].size))
                largest = i;
        }
        if (largest < 0)
            return false;
        released += m->blocks[largest].size;
        release(m, largest);
    }
    return true;
}

static enum vs_err obtain(struct model *m, uint64_t size, uint64_t stream, bool large, int *out)
{
    collect_garbage(m);
    enum vs_err err = new_segment(m, size, stream, large, out);
    if (err == VS_ERR_DEVICE_OOM && release_oversize(m, size, stream, large))
        err = new_segment(m, size, stream, large, out);
    if (err == VS_ERR_DEVICE_OOM) {
        release_all(m);
        m->stats.num_alloc_retries++;
        err = new_segment(m, size, stream, large, out);
    }
    return err;
}

static bool too_large_for(const struct model *m, uint64_t block, uint64_t size)
{
    uint64_t slack = m->config.max_non_split_rounding ? m->config.max_non_split_rounding : 20 << 20;
    if (!m->config.max_split_size)
        return false;
    return size < m->config.max_split_size ? block >= m->config.max_split_size
                                           : block >= size + slack;
}

enum vs_err model_malloc(struct model *m, uint64_t bytes, uint64_t stream, struct vs_allocation *out)
{
    look_at_events(m, false);
    if (m->config.reuse == VS_REUSE_AFTER_SYNC)
        stream = 0;
    uint64_t size = rounded(m, bytes);
    bool large = size > 1 << 20;
    if (allowed(m) != UINT64_MAX && m->config.garbage_collection_threshold > 0)
        m->searches_large += large;
    int i = best_fit(m, size, stream, large);
    if (i >= 0 && too_large_for(m, m->blocks[i].size, size))
        i = -1;
    if (i < 0) {
        enum vs_err err = obtain(m, size, stream, large, &i);
        if (err == VS_ERR_DEVICE_OOM)
            m->stats.num_ooms++;
        if (err)
            return err;
    }
    if (m->blocks[i].unsafe_until > m->syncs_done) {
        uint64_t ticket = ++m->syncs_begun;
        enum vs_err err = fake_device_ops.synchronize(m->device);
        if (err)
            return err;
        m->syncs_done = ticket;
        m->stats.num_reuse_syncs++;
    }
    struct block rest = m->blocks[i], *b = &m->blocks[i];
    uint64_t left = b->size - size;
    bool cut = large ? left > 1 << 20 && size < max_split(m) : left >= 512;
    b->busy = true;
    b->requested = bytes;
    if (cut) {
        b->size = size;
        rest.addr += size;
        rest.size = left;
        insert(m, rest);
        b = &m->blocks[i];
    }
    recount(m);
    *out = (struct vs_allocation){.addr = b->addr, .requested = bytes, .size = b->size};
    return VS_OK;
}

uint64_t model_sync_begin(struct model *m)
{
    return ++m->syncs_begun;
}

void model_sync_end(struct model *m, uint64_t ticket)
{
    if (ticket > m->syncs_done)
        m->syncs_done = ticket;
}
