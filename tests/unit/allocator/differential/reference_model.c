/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference model's array of blocks, and its requests: rounding, the search, growing in
 * PyTorch's order of attempts, splitting. */
#include "reference_internal.h"

#include <stdlib.h>
#include <string.h>

const char *const model_mechanism_names[MODEL_MECHANISM_COUNT] = {
#define MODEL_NAME(name) #name,
    MODEL_MECHANISMS(MODEL_NAME)
#undef MODEL_NAME
};

struct model *model_new(const struct vs_allocator_config *config, struct fake_device *device,
                        void (*event)(void *ctx, const struct vs_allocator_event *event), void *ctx)
{
    struct model *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    m->config = *config;
    m->device = device;
    m->event = event;
    m->event_ctx = ctx;
    m->stats.max_split_size = config->max_split_size ? (int64_t)config->max_split_size : -1;
    return m;
}

void model_delete(struct model *m)
{
    if (m)
        free(m->blocks);
    free(m);
}

const uint64_t *model_counts(const struct model *m)
{
    return m->counts;
}

void model_emit(const struct model *m, enum vs_allocator_event_kind kind, const struct block *b,
                uint64_t addr, uint64_t requested, uint64_t size)
{
    const struct vs_allocator_event event = {
        .kind = kind, .pool = b->large ? VS_POOL_LARGE : VS_POOL_SMALL, .addr = addr,
        .requested = requested, .size = size, .stream = b->stream};
    m->event(m->event_ctx, &event);
}

/* --- the array --- */

int model_index_of(const struct model *m, uint64_t addr)
{
    for (int i = 0; i < m->count; i++) {
        const struct block *b = &m->blocks[i];
        if (addr >= b->addr && addr - b->addr < b->size && !b->unmapped)
            return i;
    }
    return -1;
}

void model_insert(struct model *m, struct block block)
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

void model_erase(struct model *m, int i)
{
    m->count--;
    memmove(&m->blocks[i], &m->blocks[i + 1], (size_t)(m->count - i) * sizeof *m->blocks);
}

void model_join(struct model *m, int i)
{
    struct block *low = &m->blocks[i], *high = &m->blocks[i + 1];
    low->size += high->size;
    if (high->unsafe_until > low->unsafe_until)
        low->unsafe_until = high->unsafe_until;
    model_erase(m, i + 1);
}

bool model_is_free(const struct block *b)
{
    return !b->busy && !b->waiting && !b->unmapped;
}

bool model_alone(const struct block *b)
{
    return b->size == b->segment_size;
}

bool model_after(const struct block *x, const struct block *y)
{
    if (x->stream != y->stream)
        return x->stream > y->stream;
    if (x->size != y->size)
        return x->size > y->size;
    return x->age != y->age ? x->age > y->age : x->addr > y->addr;
}

void model_now_free(struct model *m, uint64_t addr)
{
    int i = model_index_of(m, addr);
    struct block *b = &m->blocks[i];
    model_emit(m, VS_ALLOCATOR_FREE_COMPLETED, b, b->addr, b->requested, b->size);
    b->busy = b->waiting = false;
    b->requested = 0;
    b->uses = b->capture_uses = 0;
    b->unsafe_until = m->config.reuse == VS_REUSE_AFTER_SYNC ? m->syncs_begun + 1 : 0;
    if (i + 1 < m->count && m->blocks[i + 1].segment == b->segment &&
        model_is_free(&m->blocks[i + 1])) {
        RAN(m, merge);
        model_join(m, i);
    }
    if (i > 0 && m->blocks[i - 1].segment == b->segment && model_is_free(&m->blocks[i - 1])) {
        RAN(m, merge);
        model_join(m, --i);
    }
    m->blocks[i].born_free = m->searches;
    model_recount(m);
}

enum vs_err model_find(struct model *m, uint64_t addr, struct vs_allocation *out, bool *live)
{
    int i = model_index_of(m, addr);
    if (i < 0)
        return VS_ERR_FOREIGN;
    *live = m->blocks[i].busy;
    *out = (struct vs_allocation){.addr = m->blocks[i].addr,
                                  .requested = *live ? m->blocks[i].requested : 0,
                                  .size = m->blocks[i].size};
    return VS_OK;
}

void model_abandon(struct model *m)
{
    m->count = m->pending_count = m->deferred_count = 0;
    m->pool_count = m->scope_count = 0;
    model_recount(m);
}

/* --- rules for sizes --- */

uint64_t model_round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

uint64_t model_max_split(const struct model *m)
{
    return m->config.max_split_size ? m->config.max_split_size : UINT64_MAX;
}

uint64_t model_allowed(const struct model *m)
{
    double fraction = m->config.memory_fraction;
    uint64_t total = m->config.total_memory ? m->config.total_memory : m->device->capacity;
    if (fraction == 0 || fraction == 1)
        return UINT64_MAX;
    return (uint64_t)(fraction * (double)total);
}

enum vs_err model_set_memory_fraction(struct model *m, double fraction)
{
    if (!(fraction >= 0 && fraction <= 1))
        return VS_ERR_ARG;
    m->config.memory_fraction = fraction;
    return VS_OK;
}

static uint64_t rounded(struct model *m, uint64_t bytes)
{
    uint64_t power = 1;
    int slot = 0;
    if (bytes < 512)
        return 512;
    while (power * 2 <= bytes)
        power *= 2;
    for (uint64_t mib = MODEL_MIB; mib * 2 <= power && slot < VS_ROUNDUP_SLOTS - 1; mib *= 2)
        slot++;
    uint64_t divisions = m->config.roundup_power2_divisions[slot];
    if (divisions > 1 && bytes > 512 * divisions) {
        m->counts[MODEL_division] += bytes != power;
        return bytes == power ? bytes : power + model_round_up(bytes - power, power / divisions);
    }
    return model_round_up(bytes, 512);
}

uint64_t model_large_segment(const struct model *m)
{
    return m->config.large_segment_size ? m->config.large_segment_size : 20 * MODEL_MIB;
}

static uint64_t segment_bytes(const struct model *m, const struct request *q)
{
    if (!q->large)
        return 2 * MODEL_MIB;
    return q->size < 10 * MODEL_MIB ? model_large_segment(m) : model_round_up(q->size, 2 * MODEL_MIB);
}

/* --- the cache --- */

/* The next after *last* (NULL: the first) of the free blocks of the request's pool and stream, in
 * order; -1 at the end. */
static int next_fitting(const struct model *m, const struct request *q, const struct block *last)
{
    int best = -1;
    for (int i = 0; i < m->count; i++) {
        const struct block *b = &m->blocks[i];
        if (!model_is_free(b) || b->large != q->large || b->pool != q->pool ||
            b->stream != q->stream || b->size < q->size || (b->expandable && !q->expandable))
            continue;
        if (last && !model_after(b, last))
            continue;
        if (best < 0 || model_after(&m->blocks[best], b))
            best = i;
    }
    return best;
}

/* Includes the address space after it into which it can grow. */
static uint64_t growable_size(const struct model *m, int i)
{
    const struct block *b = &m->blocks[i], *next = b + 1;
    if (i + 1 < m->count && next->segment == b->segment && next->unmapped)
        return b->size + next->size;
    return b->size;
}

int model_search(struct model *m, const struct request *q)
{
    int i = next_fitting(m, q, NULL);
    while (i >= 0 && m->blocks[i].expandable) {
        int next = next_fitting(m, q, &m->blocks[i]);
        if (next < 0 || growable_size(m, next) >= growable_size(m, i))
            break;
        RAN(m, larger_preferred);
        i = next;
    }
    if (i < 0)
        return -1;
    const struct block *chosen = &m->blocks[i];
    uint64_t slack = m->config.max_non_split_rounding;
    slack = slack ? slack : model_large_segment(m);
    bool oversize = q->size >= model_max_split(m);
    if (chosen->size >= (oversize ? q->size + slack : model_max_split(m))) {
        m->counts[oversize ? MODEL_rounding_refused : MODEL_oversize_refused]++;
        return -1;
    }
    /* an equally large block at a lower address was not chosen because of its segment's age */
    bool tie = false;
    for (const struct block *b = m->blocks; b < chosen; b++)
        tie |= model_is_free(b) && b->large == q->large && b->pool == q->pool &&
               b->stream == q->stream && b->size == chosen->size && b->age > chosen->age;
    m->counts[MODEL_tie] += tie;
    return i;
}

/* --- memory from the device --- */

uint64_t model_age(struct model *m)
{
    return m->config.tie == VS_TIE_OLDEST_SEGMENT ? ++m->segments_made : 0;
}

void model_follow_pytorch(struct model *m)
{
    m->as_pytorch = true;
}

static enum vs_err grow(struct model *m, const struct request *q, int *out)
{
    uint64_t bytes = segment_bytes(m, q), addr;
    if (m->stats.reserved_bytes[0].current + bytes > model_allowed(m)) {
        RAN(m, fraction_refused);
        return VS_ERR_DEVICE_OOM;
    }
    if (q->expandable) {
        enum vs_err err = model_grow(m, q, out);
        m->counts[MODEL_pool_segment] += !err && q->pool;
        return err;
    }
    enum vs_err err = fake_device_ops.segment_alloc(m->device, bytes, &addr);
    if (err)
        return err;
    RAN(m, segment);
    m->counts[MODEL_pool_segment] += q->pool != 0;
    m->stats.num_device_alloc++;
    model_insert(m, (struct block){.addr = addr, .size = bytes, .segment = addr,
                                   .segment_size = bytes, .stream = q->stream, .pool = q->pool,
                                   .large = q->large, .age = model_age(m)});
    model_recount(m);
    *out = model_index_of(m, addr);
    model_emit(m, VS_ALLOCATOR_SEGMENT_ALLOC, &m->blocks[*out], addr, bytes, bytes);
    return VS_OK;
}

static void count_oom(struct model *m, const struct request *q)
{
    const struct block kind = {.large = q->large, .stream = q->stream};
    m->stats.num_ooms++;
    model_emit(m, VS_ALLOCATOR_OOM, &kind, m->device->capacity - m->device->used, q->bytes, q->size);
}

/* --- a request --- */

enum vs_err model_make_safe(struct model *m, int i)
{
    if (m->blocks[i].unsafe_until <= m->syncs_done)
        return VS_OK;
    uint64_t ticket = ++m->syncs_begun;
    enum vs_err err = fake_device_ops.synchronize(m->device);
    if (err) {
        RAN(m, reuse_sync_failed);
        return err;
    }
    RAN(m, reuse_sync);
    m->syncs_done = ticket;
    m->stats.num_reuse_syncs++;
    return VS_OK;
}

enum vs_err model_malloc(struct model *m, uint64_t bytes, uint64_t stream, struct vs_allocation *out)
{
    if (!bytes) {
        *out = (struct vs_allocation){0};
        return VS_OK;
    }
    if (!m->scope_count)
        model_look_at_events(m, false);
    if (m->config.reuse == VS_REUSE_AFTER_SYNC)
        stream = 0;
    struct request q = {.bytes = bytes, .stream = stream};
    if (bytes > VS_ALLOCATOR_REQUEST_MAX) {
        RAN(m, oom);
        q.large = true;
        q.size = bytes;
        count_oom(m, &q);
        return VS_ERR_DEVICE_OOM;
    }
    q.size = rounded(m, bytes);
    q.pool = model_pool_for(m, stream);
    q.expandable = m->config.expandable_segments;
    q.large = q.size > MODEL_MIB;
    if (model_allowed(m) != UINT64_MAX && m->config.garbage_collection_threshold > 0 && !q.pool)
        m->searches += q.large;
    int i = model_search(m, &q);
    m->counts[MODEL_hit] += i >= 0;
    if (i < 0) {
        model_collect_garbage(m);
        enum vs_err err = grow(m, &q, &i);
        if (err == VS_ERR_DEVICE_OOM && model_release_oversize(m, &q))
            err = grow(m, &q, &i);
        uint64_t released = 0;
        if (err == VS_ERR_DEVICE_OOM && m->scope_count) {
            RAN(m, capture_no_retry);
        } else if (err == VS_ERR_DEVICE_OOM && model_release_all(m, &released) == VS_ERR_STATE) {
            err = VS_ERR_STATE; /* releasing is not allowed now, so the request ends here */
        } else if (err == VS_ERR_DEVICE_OOM) {
            m->stats.num_alloc_retries++;
            RAN(m, retry);
            err = grow(m, &q, &i);
            m->counts[MODEL_retry_served] += !err;
        }
        if (err == VS_ERR_DEVICE_OOM)
            count_oom(m, &q);
        m->counts[err == VS_ERR_DEVICE_OOM ? MODEL_oom : MODEL_error] += err != VS_OK;
        if (err)
            return err;
    }
    enum vs_err err = model_make_safe(m, i);
    if (err)
        return err;
    struct block rest = m->blocks[i], *b = &m->blocks[i];
    uint64_t left = b->size - q.size;
    b->busy = true;
    b->requested = bytes;
    if (!q.large || q.expandable ? left >= 512
                                 : left > MODEL_MIB && q.size < model_max_split(m)) {
        RAN(m, split);
        b->size = q.size;
        rest.addr += q.size;
        rest.size = left;
        rest.born_free = m->searches;
        model_insert(m, rest);
        b = &m->blocks[i];
    } else {
        m->counts[MODEL_tail] += left != 0;
    }
    model_recount(m);
    m->counts[MODEL_pool_request] += q.pool != 0;
    model_emit(m, VS_ALLOCATOR_ALLOC, b, b->addr, bytes, b->size);
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
