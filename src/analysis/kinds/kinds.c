/* SPDX-License-Identifier: Apache-2.0
 *
 * Every live block has its maker and the program's counts at its birth, by its slot; `decide`
 * is the only place that turns these into a kind. A point in time adds the blocks that are decided to its
 * sums, and leaves a row (struct pending) on those that are not: they are added when the block is
 * freed, or at the end. */
#include "analysis/kinds/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/kinds/program_clock.h"
#include "analysis/naming/maker.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"

#define NO_KIND VS_KIND_COUNT /* not decided yet */
#define NO_ROW UINT32_MAX

struct block {
    const struct vs_live *live; /* its row in the replay: valid while nothing is born */
    struct vs_program_counts born;
    uint32_t site;
    uint32_t pending;   /* index + 1 of the first row */
    uint8_t maker;      /* enum vs_maker */
    uint8_t named;      /* enum vs_torch_tensor: the program told its kind; 0: it did not */
    bool assumed;
    bool before;        /* older than the record, without a stack */
};

struct pending {
    uint32_t point, row; /* row of its blocks, or NO_ROW */
    uint32_t next;        /* index + 1 */
};

struct vs_kinds {
    struct vs_replay *replay;
    struct vs_makers *makers;
    struct vs_modules modules;
    struct vs_program_clock clock;
    struct block *blocks; /* by slot of replay->framework_live */
    size_t block_capacity;
    struct vs_map parameters; /* size_key -> number of live parameters of that size */
    struct vs_map gradients; /* size_key -> count_gradient */
    struct vs_map updates;   /* size_key -> 1: the latest block of that size is an optimizer's */
    struct vs_map older;     /* size_key -> number of older blocks that were found to be parameters */
    bool any_before;
    struct vs_map hidden; /* device + 1 -> bytes of tensors without events */
    struct pending *pending;
    size_t pending_count, pending_capacity;
    uint32_t free_pending; /* index + 1 */
    struct vs_kinds_table *points;
    size_t point_count, point_capacity;
    bool exited; /* the program ended by itself */
    bool kept;   /* an imported record that no failure ended: its live blocks are not temporary */
};

void vs_kinds_close(struct vs_kinds *kinds)
{
    if (!kinds)
        return;
    for (size_t i = 0; i < kinds->point_count; i++)
        vs_kinds_table_free(&kinds->points[i]);
    free(kinds->points);
    vs_modules_free(&kinds->modules);
    free(kinds->pending);
    free(kinds->blocks);
    vs_map_free(&kinds->parameters);
    vs_map_free(&kinds->hidden);
    vs_map_free(&kinds->gradients);
    vs_map_free(&kinds->updates);
    vs_map_free(&kinds->older);
    vs_map_free(&kinds->clock.roles);
    vs_makers_close(kinds->makers);
    free(kinds);
}

/* What is known about a block's life. */
enum life {
    LIFE_GOES_ON,
    LIFE_FREED,        /* by the engine, or by the thread that made it */
    LIFE_FREED_BY_ANOTHER, /* by another thread, which is not the engine's */
};

/* Forward code, and code around it: needed by backward, or not. */
static enum vs_kind decide_forward(const struct vs_kinds *kinds, const struct block *block,
                                   enum life life)
{
    const struct vs_program_counts *now = &kinds->clock.now, *born = &block->born;
    bool forward = block->maker == VS_MAKER_FORWARD;
    if (now->begun > born->begun) {
        if (forward)
            return VS_KIND_ACTIVATIONS;
        if (now->ended >= born->ended + 2) /* kept beyond the next step: averages, histories */
            return VS_KIND_OTHER;
        return life == LIFE_GOES_ON ? NO_KIND : VS_KIND_ACTIVATIONS;
    }
    if (life == LIFE_GOES_ON || now->failed > born->failed)
        return NO_KIND;
    /* without any backward: results and caches, which outlive the call */
    return now->begun == 0 && forward && now->outside > born->outside ? VS_KIND_ACTIVATIONS
                                                                     : VS_KIND_TEMPORARIES;
}

static enum vs_kind decide_backward(const struct vs_kinds *kinds, const struct block *block,
                                    enum life life)
{
    const struct vs_program_counts *now = &kinds->clock.now, *born = &block->born;
    if (vs_clock_outlived(&kinds->clock, born))
        return VS_KIND_GRADIENTS;
    if (life == LIFE_GOES_ON || now->failed > born->failed)
        return NO_KIND;
    return life == LIFE_FREED_BY_ANOTHER ? VS_KIND_GRADIENTS : VS_KIND_TEMPORARIES;
}

/* The kind of *block* by what is known now; NO_KIND: its future decides. */
static enum vs_kind decide(const struct vs_kinds *kinds, const struct block *block, enum life life)
{
    const struct vs_program_counts *now = &kinds->clock.now, *born = &block->born;
    if (block->named)
        return (enum vs_kind)(block->named - VS_TORCH_PARAMETER);
    bool failed = now->failed > born->failed, ends = life != LIFE_GOES_ON && !failed;
    switch ((enum vs_maker)block->maker) {
    case VS_MAKER_MODULE: return VS_KIND_PARAMETERS;
    case VS_MAKER_STATE: return VS_KIND_OPTIMIZER_STATE;
    case VS_MAKER_BUCKET: return VS_KIND_GRADIENTS;
    case VS_MAKER_PASSING: return VS_KIND_TEMPORARIES;
    case VS_MAKER_WORKSPACE: return VS_KIND_WORKSPACES;
    case VS_MAKER_KV_CACHE: return VS_KIND_ACTIVATIONS; /* as the one that forward code makes */
    case VS_MAKER_INPUT: return VS_KIND_INPUTS;
    case VS_MAKER_UNKNOWN: return block->before ? NO_KIND : VS_KIND_UNKNOWN;
    case VS_MAKER_CONSTRUCTOR: return NO_KIND;
    case VS_MAKER_OPTIMIZER:
        if (now->optimized > born->optimized)
            return VS_KIND_OPTIMIZER_STATE;
        return ends ? VS_KIND_TEMPORARIES : NO_KIND;
    case VS_MAKER_RECOMPUTE:
        if (now->recomputed > born->recomputed)
            return VS_KIND_ACTIVATIONS;
        return ends ? VS_KIND_TEMPORARIES : NO_KIND;
    case VS_MAKER_BACKWARD: return decide_backward(kinds, block, life);
    default: return decide_forward(kinds, block, life);
    }
}

/* The device and the size of *block* in one number, which is never 0: sizes are below 2^56. */
static uint64_t size_key(const struct block *block)
{
    uint64_t key = block->live->size ^ (block->live->device + UINT64_C(1)) << 56;
    return key ? key : 1;
}

/* A gradient has the size of its parameter: counts how many of a size one backward pass made, the most of
 * any pass. */
#define COUNT_BITS 20u
static void count_gradient(struct vs_kinds *kinds, const struct block *block)
{
    const uint64_t *known = vs_map_get(&kinds->gradients, size_key(block));
    uint64_t mask = (1u << COUNT_BITS) - 1, pass = block->born.begun & mask, most = known ? *known & mask : 0;
    uint64_t count = known && *known >> 2 * COUNT_BITS == pass ? (*known >> COUNT_BITS & mask) + 1 : 1;
    most = count > most ? count : most;
    vs_xmap_put(&kinds->gradients, size_key(block), pass << 2 * COUNT_BITS | count << COUNT_BITS | most);
}

/* The kind of a block that was there before the record began. One that is freed after an optimizer made
 * another one of its size was replaced: state. Of those that stay, as many as have a gradient of their
 * size are parameters, and the others of that size the optimizer's state, which it changes in place. */
static enum vs_kind older_kind(struct vs_kinds *kinds, struct block *block, enum life life)
{
    uint64_t key = size_key(block);
    const uint64_t *known = vs_map_get(&kinds->gradients, key);
    uint64_t gradients = known ? *known & ((1u << COUNT_BITS) - 1) : 0; /* most of one pass */
    const uint64_t *found = vs_map_get(&kinds->older, key);
    if (!kinds->clock.now.optimized && !kinds->clock.now.begun)
        return VS_KIND_UNKNOWN;
    if (life != LIFE_GOES_ON && !vs_map_get(&kinds->updates, key))
        return VS_KIND_UNKNOWN;
    block->assumed = true;
    if (life != LIFE_GOES_ON)
        return VS_KIND_OPTIMIZER_STATE;
    if (!gradients)
        return VS_KIND_UNKNOWN;
    if (found && *found >= gradients)
        return VS_KIND_OPTIMIZER_STATE;
    vs_xmap_put(&kinds->older, key, found ? *found + 1 : 1);
    return VS_KIND_PARAMETERS;
}

/* The kind of a block whose end was not seen, or not in the ordinary way. */
static enum vs_kind assume(struct vs_kinds *kinds, struct block *block)
{
    const struct vs_maker_site *site = vs_makers_row(kinds->makers, block->site);
    enum vs_kind usual = NO_KIND; /* that most bytes of the site's earlier blocks turned out to have */
    for (int k = 0; k < VS_KIND_COUNT; k++)
        if (site->ended[k] && (usual == NO_KIND || site->ended[k] > site->ended[usual]))
            usual = (enum vs_kind)k;
    if (block->maker == VS_MAKER_CONSTRUCTOR)
        return vs_makers_is_module(kinds->makers, site) ? VS_KIND_PARAMETERS : VS_KIND_INPUTS;
    block->assumed = true;
    if (usual != NO_KIND)
        return usual;
    switch ((enum vs_maker)block->maker) {
    case VS_MAKER_OPTIMIZER:
        return kinds->exited && !kinds->clock.now.failed ? VS_KIND_OPTIMIZER_STATE
                                                         : VS_KIND_TEMPORARIES;
    case VS_MAKER_BACKWARD:
        return vs_map_get(&kinds->parameters, size_key(block)) ? VS_KIND_GRADIENTS : VS_KIND_TEMPORARIES;
    default: return VS_KIND_ACTIVATIONS;
    }
}

static void add(struct vs_kinds_table *table, enum vs_kind kind, uint64_t size, bool assumed)
{
    table->kinds[kind].bytes += size;
    table->kinds[kind].count++;
    table->assumed_bytes += assumed ? size : 0;
}

static void settle(struct vs_kinds *kinds, struct block *block, enum vs_kind kind)
{
    uint32_t next;
    struct vs_live *row = &kinds->replay->framework_live.items[block - kinds->blocks];
    row->kind = (uint8_t)kind;
    row->kind_assumed = block->assumed;
    for (uint32_t at = block->pending; at; at = next) {
        struct pending *asked = &kinds->pending[at - 1];
        struct vs_kinds_table *table = &kinds->points[asked->point];
        add(table, kind, block->live->size, block->assumed);
        if (asked->row != NO_ROW) {
            table->blocks[asked->row].kind = kind;
            table->blocks[asked->row].assumed = block->assumed;
            table->blocks[asked->row].module = row->module;
        }
        next = asked->next;
        asked->next = kinds->free_pending;
        kinds->free_pending = at;
    }
    block->pending = 0;
}

static void on_end(struct vs_kinds *kinds, const struct vs_live *live, uint32_t tid)
{
    struct block *block = &kinds->blocks[live - kinds->replay->framework_live.items];
    block->live = live;
    vs_clock_free(&kinds->clock, tid, (enum vs_maker)block->maker, &block->born);
    bool by_another = tid != live->tid && !vs_clock_is_engine(&kinds->clock, tid);
    enum life life = by_another ? LIFE_FREED_BY_ANOTHER : LIFE_FREED;
    enum vs_kind kind = decide(kinds, block, life);
    if (block->before)
        kind = older_kind(kinds, block, life);
    else if (kind == NO_KIND)
        kind = assume(kinds, block);
    else
        vs_makers_row(kinds->makers, block->site)->ended[kind] += live->size;
    settle(kinds, block, kind);
    uint64_t *parameters =
        block->maker == VS_MAKER_MODULE ? vs_map_get(&kinds->parameters, size_key(block)) : NULL;
    if (parameters && --*parameters == 0)
        vs_map_remove(&kinds->parameters, size_key(block), NULL);
    if (kind == VS_KIND_GRADIENTS && kinds->any_before)
        count_gradient(kinds, block);
}

static void on_birth(struct vs_kinds *kinds, const struct vs_live *live, uint64_t stack)
{
    bool assumed;
    uint32_t site = vs_makers_site(kinds->makers, stack);
    size_t index = (size_t)(live - kinds->replay->framework_live.items);
    const struct vs_maker_site *row = vs_makers_row(kinds->makers, site);
    enum vs_maker maker = vs_clock_maker(&kinds->clock, row, live->tid,
                                         vs_makers_python(kinds->makers), &assumed);
    vs_clock_alloc(&kinds->clock, row, maker, live->tid);
    vs_vec_room(&kinds->blocks, &kinds->block_capacity, index + 1, sizeof *kinds->blocks);
    struct block *block = &kinds->blocks[index];
    *block = (struct block){.live = live, .born = kinds->clock.now, .site = site,
                            .maker = (uint8_t)maker, .assumed = assumed, .before = row->older};
    kinds->replay->framework_live.items[index].module = vs_modules_now(&kinds->modules, live->tid);
    uint64_t key = size_key(block);
    kinds->any_before |= row->older;
    if (kinds->any_before && (maker == VS_MAKER_OPTIMIZER || maker == VS_MAKER_STATE))
        vs_xmap_put(&kinds->updates, key, 1);
    else if (kinds->any_before)
        vs_map_remove(&kinds->updates, key, NULL);
    if (maker == VS_MAKER_MODULE)
        ++*vs_xmap_value(&kinds->parameters, key, 0);
}

static void on_change(void *context, const struct vs_replay *replay, const struct vs_published *change)
{
    (void)replay;
    if (change->live->level != VS_LEVEL_FRAMEWORK)
        return;
    if (change->kind == VS_CHANGE_BORN)
        on_birth(context, change->live, change->event->framework_alloc.stack);
    else
        on_end(context, change->live, change->event->tid);
}

_Static_assert((int)VS_KIND_GRADIENTS == VS_TORCH_GRADIENT - VS_TORCH_PARAMETER &&
                   (int)VS_KIND_OPTIMIZER_STATE == VS_TORCH_STATE - VS_TORCH_PARAMETER, "in the same order");

static void name_block(struct vs_kinds *kinds, const struct vs_event_torch_tensor *tensor)
{
    struct vs_live *live = vs_live_table_find(&kinds->replay->framework_live, tensor->addr);
    const char *name = vs_reader_string(kinds->replay->reader, tensor->name);
    uint64_t what = tensor->what & ~(uint64_t)VS_TORCH_RENAMED;
    if (!live || kinds->replay->accounts[live->device]->device != tensor->device || !name || !what ||
        what > VS_TORCH_STATE)
        return;
    struct block *block = &kinds->blocks[live - kinds->replay->framework_live.items];
    live->module = vs_modules_own(&kinds->modules, live->module, name, !block->named || what != tensor->what);
    block->named = (uint8_t)what;
    block->assumed = false;
}

static enum vs_err before_event(void *context, struct vs_replay *replay, const struct vs_event *event)
{
    struct vs_kinds *kinds = context;
    switch (event->kind) {
    case VS_EVENT_unrecorded: {
        const struct vs_event_unrecorded *sums = &event->unrecorded;
        if (sums->level != VS_LEVEL_FRAMEWORK || sums->device == UINT64_MAX)
            break;
        uint64_t *hidden = vs_xmap_value(&kinds->hidden, sums->device + 1, 0), bytes = *hidden + sums->size;
        *hidden = bytes > sums->freed_size ? bytes - sums->freed_size : 0;
        break;
    }
    case VS_EVENT_torch_module: vs_modules_run(&kinds->modules, replay->reader, event); break;
    case VS_EVENT_torch_tensor: name_block(kinds, &event->torch_tensor); break;
    case VS_EVENT_framework_oom: vs_clock_fail(&kinds->clock); break;
    case VS_EVENT_process:
        kinds->clock.main_tid = (uint32_t)event->process.pid;
        kinds->clock.no_threads = event->process.pid == 0;
        break;
    case VS_EVENT_range_push:
        if (event->tid == kinds->clock.main_tid)
            vs_clock_range(&kinds->clock, vs_reader_string(replay->reader, event->range_push.name));
        break;
    case VS_EVENT_end:
        kinds->exited = event->end.reason == VS_END_EXIT;
        kinds->kept = event->end.reason == VS_END_IMPORTED && vs_clock_finish(&kinds->clock);
        break;
    default: break;
    }
    return VS_OK;
}

struct vs_kinds *vs_kinds_open(struct vs_replay *replay, struct vs_symbols *symbols)
{
    struct vs_kinds *kinds = vs_xcalloc(1, sizeof *kinds);
    kinds->replay = replay;
    kinds->makers = vs_makers_open(replay->reader, symbols);
    vs_modules_init(&kinds->modules);
    vs_replay_subscribe(replay, VS_CHANGE_BORN | VS_CHANGE_ENDED | VS_CHANGE_OF_TENSORS, on_change, kinds);
    return kinds;
}

struct vs_observer vs_kinds_observer(struct vs_kinds *kinds)
{
    return (struct vs_observer){VS_KIND_BIT(VS_EVENT_unrecorded) | VS_KIND_BIT(VS_EVENT_framework_oom) |
                                    VS_KIND_BIT(VS_EVENT_process) | VS_KIND_BIT(VS_EVENT_range_push) |
                                    VS_KIND_BIT(VS_EVENT_end) | VS_KIND_BIT(VS_EVENT_torch_module) |
                                    VS_KIND_BIT(VS_EVENT_torch_tensor),
                                before_event, NULL, kinds};
}

/* --- points in time --- */

/* The next live block at or after slot *at*; NULL at the end. */
static struct block *next_block(struct vs_kinds *kinds, size_t *at)
{
    const struct vs_live_table *live = &kinds->replay->framework_live;
    while (*at < live->slots && !live->items[*at].used)
        ++*at;
    if (*at == live->slots)
        return NULL;
    kinds->blocks[*at].live = &live->items[*at];
    return &kinds->blocks[(*at)++];
}

static void list_block(struct vs_kinds_table *table, size_t *capacity, const struct vs_live *live,
                       uint64_t stack, uint64_t device, enum vs_kind kind, bool assumed)
{
    vs_vec_room(&table->blocks, capacity, table->block_count + 1, sizeof *table->blocks);
    table->blocks[table->block_count++] = (struct vs_kind_block){
        .addr = live->addr, .size = live->size, .stack = stack, .device = device, .kind = kind,
        .module = live->module, .assumed = assumed};
}

size_t vs_kinds_point(struct vs_kinds *kinds, uint64_t device, bool blocks)
{
    vs_vec_room(&kinds->points, &kinds->point_capacity,
                kinds->point_count + 1, sizeof *kinds->points);
    uint32_t point = (uint32_t)kinds->point_count++;
    struct vs_kinds_table *table = &kinds->points[point];
    *table = (struct vs_kinds_table){.device = device, .event = kinds->replay->events,
                                     .time_ns = kinds->replay->now_ns};
    size_t capacity = 0, at = 0;
    for (struct block *block; (block = next_block(kinds, &at)) != NULL;) {
        uint64_t of = kinds->replay->accounts[block->live->device]->device;
        if (of != device)
            continue;
        enum vs_kind kind = decide(kinds, block, LIFE_GOES_ON);
        uint32_t row = blocks ? (uint32_t)table->block_count : NO_ROW;
        if (blocks) /* rows are sorted when the table is taken: the pending ones are known by their number */
            list_block(table, &capacity, block->live, vs_makers_row(kinds->makers, block->site)->stack,
                       of, kind == NO_KIND ? VS_KIND_UNKNOWN : kind, block->assumed);
        table->total.bytes += block->live->size;
        table->total.count++;
        /* the tensor of a block may be named later */
        if (kind != NO_KIND && !blocks) {
            add(table, kind, block->live->size, block->assumed);
            continue;
        }
        uint32_t pending = kinds->free_pending;
        if (pending) {
            kinds->free_pending = kinds->pending[pending - 1].next;
        } else {
            vs_vec_room(&kinds->pending, &kinds->pending_capacity, kinds->pending_count + 1,
                        sizeof *kinds->pending);
            pending = (uint32_t)++kinds->pending_count;
        }
        kinds->pending[pending - 1] = (struct pending){point, row, block->pending};
        block->pending = pending;
    }
    const struct vs_map_slot *slot;
    for (size_t cursor = 0; (slot = vs_map_next(&kinds->hidden, &cursor));) {
        if (device != slot->key - 1)
            continue;
        table->unrecorded_bytes += slot->value;
        table->total.bytes += slot->value;
        table->kinds[VS_KIND_UNKNOWN].bytes += slot->value;
    }
    return point;
}

void vs_kinds_finish(struct vs_kinds *kinds)
{
    struct block *block;
    for (size_t at = 0; (block = next_block(kinds, &at)) != NULL;) {
        enum vs_kind kind = decide(kinds, block, LIFE_GOES_ON);
        if (kind == VS_KIND_GRADIENTS && kinds->any_before)
            count_gradient(kinds, block);
        if (block->before)
            continue; /* by what the others are */
        bool whole = block->maker == VS_MAKER_USER || block->maker == VS_MAKER_LIBRARY;
        if (kind == NO_KIND && whole && kinds->clock.now.begun > block->born.begun)
            kind = VS_KIND_ACTIVATIONS;
        if (kind == NO_KIND) {
            kind = assume(kinds, block);
            kind = kind == VS_KIND_TEMPORARIES && kinds->kept ? VS_KIND_OTHER : kind;
        }
        settle(kinds, block, kind);
    }
    for (size_t at = 0; (block = next_block(kinds, &at)) != NULL;)
        if (block->before)
            settle(kinds, block, older_kind(kinds, block, LIFE_GOES_ON));
    for (size_t i = 0; i < kinds->point_count; i++) {
        kinds->points[i].before = kinds->any_before;
        kinds->points[i].no_python = !vs_makers_python(kinds->makers);
    }
}

static int by_address(const void *a, const void *b)
{
    const struct vs_kind_block *left = a, *right = b;
    return vs_then(VS_ORDER(left->addr, right->addr), VS_ORDER(left->device, right->device));
}

struct vs_module_scope vs_kinds_scope(const struct vs_kinds *kinds, uint32_t number)
{
    return kinds->modules.items[number];
}

static void copy_scopes(const struct vs_kinds *kinds, struct vs_kinds_table *table)
{
    size_t bytes = kinds->modules.count * sizeof *table->scopes;
    table->scope_count = kinds->modules.count;
    table->scopes = memcpy(vs_xcalloc(1, bytes), kinds->modules.items, bytes);
}

void vs_kinds_of_live(const struct vs_kinds *kinds, const struct vs_replay *state, unsigned account,
                      struct vs_kinds_table *out)
{
    size_t capacity = 0;
    *out = (struct vs_kinds_table){.device = state->accounts[account]->device, .event = state->events,
                                   .time_ns = state->now_ns, .before = kinds->any_before,
                                   .no_python = !vs_makers_python(kinds->makers)};
    copy_scopes(kinds, out);
    for (size_t i = 0; i < state->framework_live.slots; i++) {
        const struct vs_live *live = &state->framework_live.items[i];
        if (!live->used || live->device != account)
            continue;
        enum vs_kind kind = (enum vs_kind)live->kind;
        out->total.bytes += live->size;
        out->total.count++;
        add(out, kind, live->size, live->kind_assumed);
        list_block(out, &capacity, live, state->sites.items[live->site].stack, out->device, kind,
                   live->kind_assumed);
    }
    vs_vec_sort(out->blocks, out->block_count, sizeof *out->blocks, by_address);
}

void vs_kinds_take(struct vs_kinds *kinds, size_t number, struct vs_kinds_table *out)
{
    *out = kinds->points[number];
    kinds->points[number].blocks = NULL;
    kinds->points[number].block_count = 0;
    out->scope_count = kinds->modules.count;
    if (out->blocks) /* a hostile trace has many modules, and a caller many points */
        copy_scopes(kinds, out);
    vs_vec_sort(out->blocks, out->block_count, sizeof *out->blocks, by_address);
}
