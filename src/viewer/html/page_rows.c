/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of blocks; see the header. Whether memory of the device holds a framework's tensors is known
 * at its birth from its stack, or only when the first tensor appears in it: then its row becomes one
 * of a segment. */
#include "viewer/html/page_rows.h"

#include <stdlib.h>

#include "analysis/report/report.h"
#include "base/reading/vs_vec.h"

#define PYTORCH_SMALL_SEGMENT (UINT64_C(2) << 20)

static uint64_t since_start(const struct vs_page_rows *rows, uint64_t time_ns)
{
    return time_ns > rows->start_ns ? time_ns - rows->start_ns : 0;
}

uint32_t vs_page_stream(struct vs_page_streams *streams, struct vs_page_stream stream)
{
    uint64_t key = (stream.stream * 256 + stream.device * 2 + stream.framework) + 1;
    if (!key || key == streams->latest_key)
        return key ? streams->latest : 0;
    uint64_t number = vs_xmap_number(&streams->by_key, key, streams->count + 1);
    if (number > streams->count)
        VS_VEC_ADD(streams->items, streams->count, streams->capacity, stream);
    streams->latest_key = key;
    return streams->latest = (uint32_t)number;
}

/* --- rows --- */

static struct vs_page_live *slot_of(struct vs_page_rows *rows, const struct vs_live *live)
{
    return &rows->live[vs_replay_slot(rows->replay, live)];
}

/* A row for *live* at *place*; *stream*: of its event. */
static void add_row(struct vs_page_rows *rows, const struct vs_live *live,
                    struct vs_page_live *slot, uint64_t place, uint32_t segment, uint32_t stream)
{
    struct vs_column *c = rows->columns;
    uint64_t born = since_start(rows, live->time_ns);
    vs_vec_room(&rows->blocks, &rows->capacity, rows->count + 1, sizeof *rows->blocks);
    rows->unordered |= rows->count && born < rows->blocks[rows->count - 1].born;
    rows->blocks[rows->count] = (struct vs_page_block){
        .born = born, .site = live->site, .step = rows->step, .step_known = live->place.step_known,
        .kind = live->level == VS_LEVEL_FRAMEWORK ? VS_KIND_UNKNOWN : VS_PAGE_NO_KIND,
        .device = live->device};
    vs_column_add(&c[VS_BLOCK_BORN], born);
    vs_column_add(&c[VS_BLOCK_BYTES], live->size);
    vs_column_add(&c[VS_BLOCK_WASTE], live->size > live->requested ? live->size - live->requested : 0);
    vs_column_add(&c[VS_BLOCK_PLACE], place - rows->freed.place);
    vs_column_add(&c[VS_BLOCK_SEGMENT], (uint64_t)segment - rows->freed.segment);
    vs_column_add(&c[VS_BLOCK_STREAM], stream);
    vs_column_add(&c[VS_BLOCK_PHASE], live->place.phase);
    vs_column_add(&c[VS_BLOCK_FAMILY], live->family);
    c = &rows->life_columns[VS_LIFE_ADDRESS]; /* of a block in a segment the one before: one byte */
    vs_column_add(c, segment ? c->last : live->addr < VS_ADDR_ARRAY ? live->addr : 0);
    if (rows->modules.count > 1 && live->level == VS_LEVEL_FRAMEWORK) {
        uint32_t module = vs_modules_now(&rows->modules, live->tid);
        c = &rows->life_columns[VS_LIFE_MODULE];
        while (module && c->count < rows->count) /* rows before the first one in a module */
            vs_column_add(c, 0);
        if (module || c->count)
            vs_column_add(c, module);
    }
    slot->row = (uint32_t)++rows->count;
    slot->place = place;
    slot->segment = segment;
}

/* *live* has no segment: it gets a place of its own. */
static void add_alone(struct vs_page_rows *rows, const struct vs_live *live,
                      struct vs_page_live *slot, uint32_t stream)
{
    if (!vs_axis_take(&rows->axes[live->device], live->size, &slot->place)) {
        rows->err = VS_ERR_NOMEM;
        return;
    }
    slot->taken = live->size ? live->size : 1;
    add_row(rows, live, slot, slot->place, 0, stream);
}

/* PyTorch CUDACachingAllocator, get_allocation_size: blocks of up to 1 MiB lie in segments of 2 MiB,
 * larger ones in larger segments. */
static enum vs_page_pool pool_of(uint64_t segment_bytes)
{
    return segment_bytes <= PYTORCH_SMALL_SEGMENT ? VS_PAGE_POOL_SMALL : VS_PAGE_POOL_LARGE;
}

/* Memory that holds a framework's tensors: a segment. */
static void add_backing(struct vs_page_rows *rows, const struct vs_live *live, uint64_t born_ns)
{
    if (live->addr >= VS_ADDR_ARRAY)
        return; /* physical memory: where it is mapped is the segment */
    struct vs_page_room *room = vs_page_room_add(rows, live->device, live->addr, live->size);
    struct vs_page_segment row = {.born_ns = born_ns, .site = live->site + 1,
                                  .family = live->family, .pool = pool_of(live->size)};
    if (room)
        vs_page_segment_add(rows, room, &row);
}

/* A block of memory in which a tensor has appeared is a segment: its row ends at its begin. */
static void turn_into_segment(struct vs_page_rows *rows, struct vs_page_room *room)
{
    struct vs_page_block *block = &rows->blocks[room->block - 1];
    room->block = 0;
    block->lived = block->kept = 1;
    const struct vs_live *live = vs_live_table_find(&rows->replay->device_live, room->addr);
    if (live)
        slot_of(rows, live)->row = 0;
    struct vs_page_segment segment = {.born_ns = block->born + rows->start_ns,
                                      .site = block->site + 1,
                                      .family = live ? live->family : VS_FAMILY_DEVICE,
                                      .pool = pool_of(room->size)};
    vs_page_segment_add(rows, room, &segment);
}

/* A framework allocates for one stream in all of a segment, and in the pieces of memory that it maps
 * one after another. */
static void name_stream(struct vs_page_rows *rows, const struct vs_page_room *room,
                        const struct vs_live *live, uint32_t stream)
{
    uint64_t end = live->addr + live->size;
    while (room && room->segment) {
        if (!rows->segments[room->segment - 1].stream)
            rows->segments[room->segment - 1].stream = stream;
        if (room->addr + room->size >= end)
            return;
        room = vs_page_room_find(rows, room->addr + room->size);
    }
}

/* The column's number of the stream of *event*, which allocates *live*; NULL: not known. */
static uint32_t stream_of(struct vs_page_rows *rows, const struct vs_live *live,
                          const struct vs_event *event)
{
    bool tensor = live->level == VS_LEVEL_FRAMEWORK;
    if (!event || event->kind != (tensor ? VS_EVENT_framework_alloc : VS_EVENT_alloc))
        return 0;
    uint64_t stream = tensor ? event->framework_alloc.framework_stream : event->alloc.stream;
    return tensor || stream
               ? vs_page_stream(rows->streams, (struct vs_page_stream){stream, live->device,
                                                                       tensor})
               : 0;
}

static void born_in(struct vs_page_rows *rows, const struct vs_live *live,
                    struct vs_page_live *slot,
                    uint32_t stream)
{
    struct vs_page_room *room = vs_page_room_find(rows, live->addr);
    if (!room || room->device != live->device) {
        add_alone(rows, live, slot, stream);
        return;
    }
    if (room->block)
        turn_into_segment(rows, room);
    struct vs_page_segment *segment = room->segment ? &rows->segments[room->segment - 1] : NULL;
    if (segment && !segment->site && !segment->older)
        segment->site = live->site + 1; /* an allocator's: its first block is what it was allocated for */
    if (stream)
        name_stream(rows, room, live, stream);
    else if (segment)
        stream = segment->stream;
    add_row(rows, live, slot, room->place + (live->addr - room->addr), room->segment, stream);
}

/* The first sign of a framework on *device*: memory that is live there may become segments. */
static void learn_framework(struct vs_page_rows *rows, unsigned device)
{
    const struct vs_live_table *table = &rows->replay->device_live;
    rows->framework[device] = true;
    for (size_t i = 0; i < table->slots; i++) {
        const struct vs_live *live = &table->items[i];
        if (!live->used || live->device != device || live->in_segment ||
            live->addr >= VS_ADDR_ARRAY)
            continue;
        struct vs_page_live *slot = slot_of(rows, live);
        if (!slot->taken)
            continue;
        vs_page_room_keep(rows, device, live->addr, live->size, slot->place, slot->taken)->block =
            slot->row;
        slot->taken = 0;
    }
}

/* *event*: of its allocation; NULL: it is older than the window. */
static void born(struct vs_page_rows *rows, const struct vs_live *live,
                 const struct vs_event *event)
{
    vs_vec_room(&rows->live, &rows->live_capacity, vs_replay_slot(rows->replay, live) + 1,
                sizeof *rows->live);
    struct vs_page_live *slot = slot_of(rows, live);
    *slot = (struct vs_page_live){0};
    if (rows->ended)
        return;
    bool tensor = live->level == VS_LEVEL_FRAMEWORK;
    bool backing = rows->replay->sites.items[live->site].backing;
    if (rows->learning && !rows->framework[live->device] && (tensor || backing))
        learn_framework(rows, live->device);
    bool framework = rows->framework[live->device];
    backing &= framework;
    if (tensor) {
        born_in(rows, live, slot, stream_of(rows, live, event));
    } else if (live->in_segment) {
        if (!backing)
            born_in(rows, live, slot, 0);
    } else if (!live->counted) {
        rows->imported++;
    } else if (backing) {
        add_backing(rows, live, live->time_ns);
    } else if (framework && live->addr < VS_ADDR_ARRAY) {
        struct vs_page_room *room = vs_page_room_add(rows, live->device, live->addr, live->size);
        if (!room)
            return;
        add_row(rows, live, slot, room->place, 0, stream_of(rows, live, event));
        room->block = slot->row;
    } else {
        add_alone(rows, live, slot, stream_of(rows, live, event));
    }
}

/* The row of *block* ends now. */
static void end_row(struct vs_page_rows *rows, struct vs_page_block *block, const struct vs_page_live *slot)
{
    struct vs_page_freed freed = {since_start(rows, rows->replay->now_ns), slot->place, (uint32_t)rows->count, slot->row,
                                  slot->segment};
    block->lived = freed.died - block->born + 1;
    block->kept = freed.rows - slot->row + 1;
    bool later = freed.rows != rows->freed.rows || freed.died > rows->freed.died ||
                 (freed.died == rows->freed.died && freed.row > rows->freed.row);
    if (later && freed.died > block->born)
        rows->freed = freed;
}

/* *event*: by which it ends. */
static void ended(struct vs_page_rows *rows, const struct vs_live *live,
                  const struct vs_event *event)
{
    struct vs_page_live *slot = slot_of(rows, live);
    struct vs_page_block *block = slot->row ? &rows->blocks[slot->row - 1] : NULL;
    uint64_t api = event->kind == VS_EVENT_free ? event->free.api : 0;
    if (block && live->level == VS_LEVEL_FRAMEWORK) {
        block->kind = live->kind;
        block->assumed = live->kind_assumed;
    }
    if (rows->ended) {
        slot->row = 0;
        return;
    }
    if (block) {
        end_row(rows, block, slot);
        block->freed_phase = vs_phases_place(&rows->replay->phases, event->tid).phase;
    }
    if (block && api) {
        uint64_t number = vs_xmap_number(&rows->frees_by_name, api, rows->free_count);
        if (number == rows->free_count)
            VS_VEC_ADD(rows->frees, rows->free_count, rows->free_capacity, api);
        block->freed_by = (uint32_t)number + 1;
    }
    if (slot->taken)
        vs_axis_give(&rows->axes[live->device], slot->place, slot->taken);
    else if (live->level != VS_LEVEL_FRAMEWORK && !live->in_segment && live->addr < VS_ADDR_ARRAY &&
             rows->framework[live->device])
        vs_page_room_cut(rows, live->addr, live->size);
    *slot = (struct vs_page_live){0};
}

static void held(struct vs_page_rows *rows, const struct vs_replay_segment *piece)
{
    struct vs_page_room *room = vs_page_room_add(rows, piece->device, piece->addr, piece->size);
    struct vs_page_segment row = {
        .born_ns = rows->replay->now_ns,
        .pool = piece->pool ? VS_PAGE_POOL_LARGE : VS_PAGE_POOL_SMALL, .family = VS_FAMILY_DEVICE,
        .stream = vs_page_stream(rows->streams, (struct vs_page_stream){
            piece->stream, piece->device, false})};
    if (room && !piece->view)
        vs_page_segment_add(rows, room, &row);
}

static void on_change(void *context, const struct vs_replay *replay,
                      const struct vs_published *change)
{
    struct vs_page_rows *rows = context;
    (void)replay; /* rows->replay */
    if (rows->err ||
        (change->live ? change->live->device : change->piece->device) >= VS_DEVICES_MAX)
        return;
    if (change->kind == VS_CHANGE_BORN)
        born(rows, change->live, change->event);
    else if (change->live)
        ended(rows, change->live, change->event);
    else if (!rows->ended && change->kind == VS_CHANGE_HELD)
        held(rows, change->piece);
    else if (!rows->ended)
        vs_page_room_cut(rows, change->piece->addr, change->piece->size);
}

/* Physical memory *memory* (the address of its `alloc`) is mapped. */
static void map_memory(struct vs_page_rows *rows, unsigned device, uint64_t addr, uint64_t size,
                       uint64_t memory)
{
    const struct vs_replay *replay = rows->replay;
    const struct vs_live *live = vs_live_table_find(&replay->device_live, memory);
    struct vs_page_room *room = vs_page_room_add(rows, device, addr, size);
    if (!room || !live || !rows->framework[device] || !replay->sites.items[live->site].backing)
        return; /* the physical memory has the row */
    struct vs_page_segment row = {.born_ns = replay->now_ns, .site = live->site + 1,
                                  .family = live->family, .pool = pool_of(size)};
    vs_page_segment_add(rows, room, &row);
}

void vs_page_rows_mapped(struct vs_page_rows *rows, const struct vs_event *event)
{
    const struct vs_replay *replay = rows->replay;
    if (rows->ended || rows->err)
        return;
    if (event->kind == VS_EVENT_vmm_unmap) {
        vs_page_room_cut(rows, event->vmm_unmap.addr, event->vmm_unmap.size);
        return;
    }
    unsigned device = vs_replay_account(replay, event->vmm_map.device);
    if (device < VS_DEVICES_MAX && event->vmm_map.size)
        map_memory(rows, device, event->vmm_map.addr, event->vmm_map.size,
                   event->vmm_map.memory | VS_ADDR_MEMORY);
}

void vs_page_rows_module(struct vs_page_rows *rows, const struct vs_event *event)
{
    vs_modules_run(&rows->modules, rows->replay->reader, event);
}

void vs_page_rows_tensor(struct vs_page_rows *rows, const struct vs_event *event)
{
    const struct vs_event_torch_tensor *tensor = &event->torch_tensor;
    const struct vs_live *live = vs_live_table_find(&rows->replay->framework_live, tensor->addr);
    uint64_t what = tensor->what & ~(uint64_t)VS_TORCH_RENAMED;
    /* after an error later blocks have no slot */
    uint32_t row = live && !rows->err && live->device < VS_DEVICES_MAX ? slot_of(rows, live)->row : 0;
    if (!row || what < VS_TORCH_PARAMETER || what > VS_TORCH_STATE ||
        (vs_map_get(&rows->tensor_rows, (uint64_t)row + 1) && tensor->what == what))
        return; /* of several names the first one */
    uint64_t number = vs_xmap_number(&rows->tensors_by_name, tensor->name * 4 + what + 1, rows->tensor_count);
    if (number == rows->tensor_count)
        VS_VEC_ADD(rows->tensors, rows->tensor_count, rows->tensor_capacity,
                   ((struct vs_page_tensor){tensor->name, what}));
    vs_xmap_put(&rows->tensor_rows, (uint64_t)row + 1, number);
}

/* --- begin and end --- */

static int by_birth(const void *a, const void *b)
{
    const struct vs_live *x = *(const struct vs_live *const *)a;
    const struct vs_live *y = *(const struct vs_live *const *)b;
    /* memory of the device first: tensors lie in it */
    return vs_then(VS_ORDER(x->level == VS_LEVEL_FRAMEWORK, y->level == VS_LEVEL_FRAMEWORK),
                   vs_then(VS_ORDER(x->time_ns, y->time_ns), VS_ORDER(x->addr, y->addr)));
}

void vs_page_rows_begin(struct vs_page_rows *rows, struct vs_replay *replay)
{
    rows->replay = replay;
    vs_modules_init(&rows->modules);
    rows->zone_places = vs_xcalloc(rows->zone_count + 1, sizeof *rows->zone_places);
    vs_replay_subscribe(replay, VS_CHANGE_BORN | VS_CHANGE_ENDED | VS_CHANGE_LOST | VS_CHANGE_HELD |
                                    VS_CHANGE_RELEASED, on_change, rows);
    for (size_t i = 0; i < replay->segments.count && !rows->err; i++)
        if (replay->segments.items[i].device < VS_DEVICES_MAX)
            held(rows, &replay->segments.items[i]);
    for (size_t i = 0; i < rows->segment_count; i++)
        rows->segments[i].older = true;
    for (size_t i = 0; i < replay->mappings.count && !rows->err; i++) {
        const struct vs_replay_segment *m = &replay->mappings.items[i];
        if (m->device < VS_DEVICES_MAX)
            map_memory(rows, m->device, m->addr, m->size, m->memory);
    }
    const struct vs_live_table *tables[2] = {&replay->device_live, &replay->framework_live};
    const struct vs_live **list = vs_xcalloc(tables[0]->count + tables[1]->count, sizeof *list);
    size_t count = 0;
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < tables[t]->slots; i++)
            if (tables[t]->items[i].used)
                list[count++] = &tables[t]->items[i];
    qsort(list, count, sizeof *list, by_birth);
    for (size_t i = 0; i < count && !rows->err; i++)
        if (list[i]->device < VS_DEVICES_MAX)
            born(rows, list[i], NULL);
    free(list);
}

void vs_page_rows_encode(struct vs_page_rows *rows, const uint32_t *site_numbers,
                         const uint8_t *device_numbers, const struct vs_report_steps *found,
                         bool kinds)
{
    const struct vs_live_table *tensors = &rows->replay->framework_live;
    for (size_t i = 0; i < tensors->slots; i++) {
        const struct vs_live *live = &tensors->items[i];
        if (!live->used || live->device >= VS_DEVICES_MAX || !slot_of(rows, live)->row)
            continue;
        struct vs_page_block *block = &rows->blocks[slot_of(rows, live)->row - 1];
        block->kind = live->kind;
        block->assumed = live->kind_assumed;
    }
    struct vs_column *c = rows->columns, *life = rows->life_columns;
    bool phases = rows->replay->phases.count > 1;
    size_t begun = 0; /* of the steps that were found */
    for (size_t i = 0; i < rows->count; i++) {
        const struct vs_page_block *block = &rows->blocks[i];
        while (found && begun < found->row_count && found->rows[begun].start_ns <= block->born)
            begun++;
        vs_column_add(&c[VS_BLOCK_KEPT], block->kept);
        vs_column_add(&c[VS_BLOCK_AFTER], block->kept ? block->born + block->lived - 1 -
                                                            rows->blocks[i + block->kept - 1].born : 0);
        vs_column_add(&c[VS_BLOCK_SITE], site_numbers[block->site]);
        vs_column_add(&c[VS_BLOCK_DEVICE], device_numbers[block->device]);
        vs_column_add(&c[VS_BLOCK_STEP], block->step_known ? block->step : begun);
        vs_column_add(&c[VS_BLOCK_KIND], kinds || block->kind == VS_PAGE_NO_KIND ? block->kind
                                                                                 : VS_KIND_UNKNOWN);
        if (phases)
            vs_column_add(&life[VS_LIFE_FREED_PHASE], block->freed_phase);
        if (rows->free_count)
            vs_column_add(&life[VS_LIFE_FREED_BY], block->freed_by);
        if (kinds)
            vs_column_add(&life[VS_LIFE_ASSUMED], block->assumed);
        if (rows->tensor_count) {
            const uint64_t *tensor = vs_map_get(&rows->tensor_rows, i + 2); /* row + 1, + 1 */
            vs_column_add(&life[VS_LIFE_TENSOR], tensor ? *tensor + 1 : 0);
        }
    }
    free(rows->blocks);
    rows->blocks = NULL;
    c = rows->segment_columns;
    for (size_t i = 0; i < rows->segment_count; i++) {
        const struct vs_page_segment *s = &rows->segments[i];
        const uint64_t values[VS_SEGMENT_COLUMNS] = {
            [VS_SEGMENT_BORN] = since_start(rows, s->born_ns),
            [VS_SEGMENT_LIVED] = s->died_ns ? s->died_ns - s->born_ns + 1 : 0,
            [VS_SEGMENT_BYTES] = s->bytes, [VS_SEGMENT_PLACE] = s->place,
            [VS_SEGMENT_ADDRESS] = s->addr, [VS_SEGMENT_DEVICE] = device_numbers[s->device],
            [VS_SEGMENT_STREAM] = s->stream, [VS_SEGMENT_POOL] = s->pool,
            [VS_SEGMENT_FAMILY] = s->family,
            [VS_SEGMENT_SITE] = site_numbers[s->site ? s->site - 1 : rows->replay->sites.count]};
        for (int k = 0; k < VS_SEGMENT_COLUMNS; k++)
            vs_column_add(&c[k], values[k]);
    }
}

void vs_page_rows_free(struct vs_page_rows *rows)
{
    for (int i = 0; i < VS_DEVICES_MAX; i++)
        vs_axis_free(&rows->axes[i]);
    free(rows->live);
    free(rows->blocks);
    free(rows->segments);
    free(rows->zone_places);
    free(rows->frees);
    vs_modules_free(&rows->modules);
    vs_map_free(&rows->tensor_rows);
    vs_map_free(&rows->tensors_by_name);
    free(rows->tensors);
    vs_map_free(&rows->frees_by_name);
    vs_arena_free_all(&rows->memory);
}
