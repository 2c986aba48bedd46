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

static const struct {
    const char *name;
    enum vs_column_type type;
} block_columns[VS_BLOCK_COLUMNS] = {
    [VS_BLOCK_BORN] = {"born", VS_COLUMN_DELTA},     [VS_BLOCK_LIVED] = {"lived", VS_COLUMN_VARINT},
    [VS_BLOCK_BYTES] = {"bytes", VS_COLUMN_VARINT},  [VS_BLOCK_WASTE] = {"waste", VS_COLUMN_VARINT},
    [VS_BLOCK_SITE] = {"site", VS_COLUMN_VARINT},    [VS_BLOCK_PLACE] = {"place", VS_COLUMN_DELTA},
    [VS_BLOCK_SEGMENT] = {"segment", VS_COLUMN_VARINT},
    [VS_BLOCK_STREAM] = {"stream", VS_COLUMN_VARINT},
    [VS_BLOCK_DEVICE] = {"device", VS_COLUMN_VARINT},
    [VS_BLOCK_PHASE] = {"phase", VS_COLUMN_VARINT},  [VS_BLOCK_STEP] = {"step", VS_COLUMN_VARINT},
    [VS_BLOCK_KIND] = {"kind", VS_COLUMN_U8},        [VS_BLOCK_FAMILY] = {"family", VS_COLUMN_U8},
}, segment_columns[VS_SEGMENT_COLUMNS] = {
    [VS_SEGMENT_BORN] = {"born", VS_COLUMN_DELTA},   [VS_SEGMENT_LIVED] = {"lived", VS_COLUMN_VARINT},
    [VS_SEGMENT_BYTES] = {"bytes", VS_COLUMN_VARINT},
    [VS_SEGMENT_PLACE] = {"place", VS_COLUMN_DELTA},
    [VS_SEGMENT_ADDRESS] = {"address", VS_COLUMN_VARINT},
    [VS_SEGMENT_DEVICE] = {"device", VS_COLUMN_VARINT},
    [VS_SEGMENT_STREAM] = {"stream", VS_COLUMN_VARINT},
    [VS_SEGMENT_POOL] = {"pool", VS_COLUMN_VARINT},  [VS_SEGMENT_FAMILY] = {"family", VS_COLUMN_U8},
    [VS_SEGMENT_SITE] = {"site", VS_COLUMN_VARINT},
};

static void fail(struct vs_page_rows *rows, enum vs_err err)
{
    if (!rows->err)
        rows->err = err;
}

static uint64_t since_start(const struct vs_page_rows *rows, uint64_t time_ns)
{
    return time_ns > rows->start_ns ? time_ns - rows->start_ns : 0;
}

uint32_t vs_page_stream(struct vs_page_streams *streams, struct vs_page_stream stream)
{
    uint64_t key = (stream.stream * 256 + stream.device * 2 + stream.framework) + 1;
    const uint64_t *found = key ? vs_map_get(&streams->by_key, key) : NULL;
    if (found)
        return (uint32_t)*found;
    if (!key || vs_vec_grow(&streams->items, &streams->capacity, streams->count + 1,
                            sizeof *streams->items) ||
        vs_map_put(&streams->by_key, key, streams->count + 1))
        return 0;
    streams->items[streams->count++] = stream;
    return (uint32_t)streams->count;
}

/* --- rows --- */

static struct vs_page_live *slot_of(struct vs_page_rows *rows, const struct vs_replay *replay,
                                    const struct vs_live *live)
{
    unsigned table = live->level == VS_LEVEL_FRAMEWORK;
    size_t slot = (size_t)(live - (table ? replay->framework_live : replay->device_live).items);
    if (slot < rows->live_capacity[table])
        return &rows->live[table][slot];
    enum vs_err err = vs_vec_grow(&rows->live[table], &rows->live_capacity[table], slot + 1,
                                  sizeof **rows->live);
    fail(rows, err);
    return err ? NULL : &rows->live[table][slot];
}

static enum vs_err make_room(struct vs_page_rows *rows)
{
    if (rows->count >= UINT32_MAX - 1)
        return VS_ERR_NOMEM;
    enum vs_err err = vs_vec_grow(&rows->lived, &rows->lived_capacity, rows->count + 1,
                                  sizeof *rows->lived);
    if (!err)
        err = vs_vec_grow(&rows->born, &rows->born_capacity, rows->count + 1, sizeof *rows->born);
    if (!err)
        err = vs_vec_grow(&rows->site, &rows->site_capacity, rows->count + 1, sizeof *rows->site);
    if (!err)
        err = vs_vec_grow(&rows->kind, &rows->kind_capacity, rows->count + 1, sizeof *rows->kind);
    return err;
}

/* A row for *live* at *place*; *stream*: of its event. */
static void add_row(struct vs_page_rows *rows, const struct vs_live *live,
                    struct vs_page_live *slot, uint64_t place, uint32_t segment, uint32_t stream)
{
    struct vs_column *c = rows->columns;
    enum vs_err err = rows->count < rows->lived_capacity ? VS_OK : make_room(rows);
    fail(rows, err);
    if (err)
        return;
    uint64_t born = since_start(rows, live->time_ns);
    rows->unordered |= rows->count && born < rows->born[rows->count - 1];
    rows->lived[rows->count] = 0;
    rows->born[rows->count] = born;
    rows->site[rows->count] = live->site;
    rows->kind[rows->count] =
        live->level == VS_LEVEL_FRAMEWORK ? VS_KIND_UNKNOWN : VS_PAGE_NO_KIND;
    vs_column_add(&c[VS_BLOCK_BORN], born);
    vs_column_add(&c[VS_BLOCK_BYTES], live->size);
    vs_column_add(&c[VS_BLOCK_WASTE], live->size > live->requested ? live->size - live->requested : 0);
    vs_column_add(&c[VS_BLOCK_PLACE], place);
    vs_column_add(&c[VS_BLOCK_SEGMENT], segment);
    vs_column_add(&c[VS_BLOCK_STREAM], stream);
    vs_column_add(&c[VS_BLOCK_DEVICE], rows->numbers[live->device]);
    vs_column_add(&c[VS_BLOCK_PHASE], live->place.phase);
    while (rows->found && rows->found_at < rows->found->row_count &&
           rows->found->rows[rows->found_at].start_ns <= born)
        rows->found_at++;
    vs_column_add(&c[VS_BLOCK_STEP], live->place.step_known ? rows->step : rows->found_at);
    vs_column_add(&c[VS_BLOCK_FAMILY], live->family);
    slot->row = (uint32_t)++rows->count;
}

/* *live* has no segment: it gets a place of its own. */
static void add_alone(struct vs_page_rows *rows, const struct vs_live *live,
                      struct vs_page_live *slot, uint32_t stream)
{
    enum vs_err err = vs_axis_take(&rows->axes[live->device], live->size, &slot->place);
    fail(rows, err);
    if (err)
        return;
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
static void turn_into_segment(struct vs_page_rows *rows, const struct vs_replay *replay,
                              struct vs_page_room *room)
{
    uint32_t row = room->block;
    room->block = 0;
    rows->lived[row - 1] = 1;
    const struct vs_live *live = vs_live_table_find(&replay->device_live, room->addr);
    struct vs_page_live *slot = live ? slot_of(rows, replay, live) : NULL;
    if (slot)
        slot->row = 0;
    struct vs_page_segment segment = {.born_ns = rows->born[row - 1] + rows->start_ns,
                                      .site = rows->site[row - 1] + 1,
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

static uint32_t stream_of(struct vs_page_rows *rows, const struct vs_live *live)
{
    if (!rows->stream_known)
        return 0;
    return vs_page_stream(rows->streams, (struct vs_page_stream){
        rows->stream, live->device, live->level == VS_LEVEL_FRAMEWORK});
}

static void born_in(struct vs_page_rows *rows, const struct vs_replay *replay,
                    const struct vs_live *live, struct vs_page_live *slot)
{
    struct vs_page_room *room = vs_page_room_find(rows, live->addr);
    uint32_t stream = live->level == VS_LEVEL_FRAMEWORK ? stream_of(rows, live) : 0;
    if (!room || room->device != live->device) {
        add_alone(rows, live, slot, stream);
        return;
    }
    if (room->block)
        turn_into_segment(rows, replay, room);
    if (stream)
        name_stream(rows, room, live, stream);
    else if (room->segment)
        stream = rows->segments[room->segment - 1].stream;
    add_row(rows, live, slot, room->place + (live->addr - room->addr), room->segment, stream);
}

static void born(void *context, const struct vs_replay *replay, const struct vs_live *live)
{
    struct vs_page_rows *rows = context;
    if (!rows->recording || rows->err || live->device >= VS_DEVICES_MAX)
        return;
    struct vs_page_live *slot = slot_of(rows, replay, live);
    if (!slot)
        return;
    *slot = (struct vs_page_live){0};
    if (rows->ended)
        return;
    rows->now_ns = replay->now_ns;
    bool framework = rows->framework[live->device];
    bool backing = framework && replay->sites.items[live->site].backing;
    if (live->level == VS_LEVEL_FRAMEWORK) {
        born_in(rows, replay, live, slot);
    } else if (live->in_segment) {
        if (!backing)
            born_in(rows, replay, live, slot);
    } else if (!live->counted) {
        rows->imported++;
    } else if (backing) {
        add_backing(rows, live, live->time_ns);
    } else if (framework && live->addr < VS_ADDR_ARRAY) {
        struct vs_page_room *room = vs_page_room_add(rows, live->device, live->addr, live->size);
        if (!room)
            return;
        add_row(rows, live, slot, room->place, 0, rows->stream ? stream_of(rows, live) : 0);
        room->block = slot->row;
    } else {
        add_alone(rows, live, slot, rows->stream ? stream_of(rows, live) : 0);
    }
}

void vs_page_rows_ended(void *context, const struct vs_live *live, bool freed)
{
    struct vs_page_rows *rows = context;
    const struct vs_replay *replay = rows->replay;
    (void)freed; /* or lost with its context */
    if (!rows->recording || rows->err || live->device >= VS_DEVICES_MAX)
        return;
    struct vs_page_live *slot = slot_of(rows, replay, live);
    if (!slot)
        return;
    if (rows->ended) {
        slot->row = 0;
        return;
    }
    rows->now_ns = replay->now_ns;
    if (slot->row)
        rows->lived[slot->row - 1] =
            since_start(rows, replay->now_ns) - rows->born[slot->row - 1] + 1;
    if (slot->taken)
        fail(rows, vs_axis_give(&rows->axes[live->device], slot->place, slot->taken));
    else if (live->level != VS_LEVEL_FRAMEWORK && !live->in_segment && live->addr < VS_ADDR_ARRAY &&
             rows->framework[live->device])
        vs_page_room_cut(rows, live->addr, live->size);
    *slot = (struct vs_page_live){0};
}

static void held(void *context, const struct vs_replay *replay,
                 const struct vs_replay_segment *piece)
{
    struct vs_page_rows *rows = context;
    if (!rows->recording || rows->ended || rows->err || piece->device >= VS_DEVICES_MAX)
        return;
    rows->now_ns = replay->now_ns;
    struct vs_page_room *room = vs_page_room_add(rows, piece->device, piece->addr, piece->size);
    struct vs_page_segment row = {
        .born_ns = replay->now_ns, .pool = piece->pool ? VS_PAGE_POOL_LARGE : VS_PAGE_POOL_SMALL,
        .family = VS_FAMILY_DEVICE,
        .stream = vs_page_stream(rows->streams, (struct vs_page_stream){
            piece->stream, piece->device, false})};
    if (room && !piece->view)
        vs_page_segment_add(rows, room, &row);
}

static void released(void *context, const struct vs_replay *replay,
                     const struct vs_replay_segment *piece)
{
    struct vs_page_rows *rows = context;
    if (!rows->recording || rows->ended || rows->err || piece->device >= VS_DEVICES_MAX)
        return;
    rows->now_ns = replay->now_ns;
    vs_page_room_cut(rows, piece->addr, piece->size);
}

struct vs_replay_watch vs_page_rows_watch(struct vs_page_rows *rows)
{
    return (struct vs_replay_watch){rows, born, held, released};
}

/* Physical memory *memory* (the address of its `alloc`) is mapped. */
static void map_memory(struct vs_page_rows *rows, const struct vs_replay *replay, unsigned device,
                       uint64_t addr, uint64_t size, uint64_t memory)
{
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
    if (!rows->recording || rows->ended || rows->err)
        return;
    rows->now_ns = replay->now_ns;
    if (event->kind == VS_EVENT_vmm_unmap) {
        vs_page_room_cut(rows, event->vmm_unmap.addr, event->vmm_unmap.size);
        return;
    }
    unsigned device = vs_replay_account(replay, event->vmm_map.device);
    if (device < VS_DEVICES_MAX && event->vmm_map.size)
        map_memory(rows, replay, device, event->vmm_map.addr, event->vmm_map.size,
                   event->vmm_map.memory | VS_ADDR_MEMORY);
}

void vs_page_rows_kind(void *context, uint64_t device, uint64_t addr, enum vs_kind kind, bool assumed)
{
    struct vs_page_rows *rows = context;
    if (!rows->recording) /* kinds are read from the trace's start: before the window */
        return;
    const struct vs_live_table *table = &rows->replay->framework_live;
    const struct vs_live *live = vs_live_table_find(table, addr);
    (void)device, (void)assumed;
    size_t slot = live ? (size_t)(live - table->items) : SIZE_MAX;
    if (slot < rows->live_capacity[1] && rows->live[1][slot].row)
        rows->kind[rows->live[1][slot].row - 1] = (uint8_t)kind;
}

/* --- begin and end --- */

static int by_birth(const void *a, const void *b)
{
    const struct vs_live *x = *(const struct vs_live *const *)a;
    const struct vs_live *y = *(const struct vs_live *const *)b;
    if (x->level != y->level) /* memory of the device first: tensors lie in it */
        return x->level == VS_LEVEL_FRAMEWORK ? 1 : -1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

static enum vs_err add_present(struct vs_page_rows *rows, const struct vs_replay *replay)
{
    const struct vs_live_table *tables[2] = {&replay->device_live, &replay->framework_live};
    size_t room = tables[0]->count + tables[1]->count, count = 0;
    const struct vs_live **list = calloc(room + 1, sizeof *list);
    if (!list)
        return VS_ERR_NOMEM;
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < tables[t]->slots && count < room; i++)
            if (tables[t]->items[i].used)
                list[count++] = &tables[t]->items[i];
    qsort(list, count, sizeof *list, by_birth);
    for (size_t i = 0; i < count; i++)
        born(rows, replay, list[i]);
    free(list);
    return rows->err;
}

enum vs_err vs_page_rows_begin(struct vs_page_rows *rows, const struct vs_replay *replay)
{
    for (int i = 0; i < VS_BLOCK_COLUMNS; i++)
        rows->columns[i] = (struct vs_column){.name = block_columns[i].name,
                                              .type = block_columns[i].type};
    for (int i = 0; i < VS_SEGMENT_COLUMNS; i++)
        rows->segment_columns[i] = (struct vs_column){.name = segment_columns[i].name,
                                                      .type = segment_columns[i].type};
    rows->replay = replay;
    rows->recording = true;
    rows->zone_places = calloc(rows->zone_count + 1, sizeof *rows->zone_places);
    if (!rows->zone_places)
        return VS_ERR_NOMEM;
    for (size_t i = 0; i < replay->segments.count; i++)
        held(rows, replay, &replay->segments.items[i]);
    for (size_t i = 0; i < replay->mappings.count; i++) {
        const struct vs_mapping *m = &replay->mappings.items[i];
        if (m->device < VS_DEVICES_MAX)
            map_memory(rows, replay, m->device, m->addr, m->size, m->memory);
    }
    return add_present(rows, replay);
}

static void encode_segments(struct vs_page_rows *rows, const uint32_t *site_numbers)
{
    struct vs_column *c = rows->segment_columns;
    for (size_t i = 0; i < rows->segment_count; i++) {
        const struct vs_page_segment *s = &rows->segments[i];
        vs_column_add(&c[VS_SEGMENT_BORN], since_start(rows, s->born_ns));
        vs_column_add(&c[VS_SEGMENT_LIVED], s->died_ns ? s->died_ns - s->born_ns + 1 : 0);
        vs_column_add(&c[VS_SEGMENT_BYTES], s->bytes);
        vs_column_add(&c[VS_SEGMENT_PLACE], s->place);
        vs_column_add(&c[VS_SEGMENT_ADDRESS], s->addr);
        vs_column_add(&c[VS_SEGMENT_DEVICE], rows->numbers[s->device]);
        vs_column_add(&c[VS_SEGMENT_STREAM], s->stream);
        vs_column_add(&c[VS_SEGMENT_POOL], s->pool);
        vs_column_add(&c[VS_SEGMENT_FAMILY], s->family);
        vs_column_add(&c[VS_SEGMENT_SITE], s->site ? site_numbers[s->site - 1] : 0);
    }
}

enum vs_err vs_page_rows_encode(struct vs_page_rows *rows, const uint32_t *site_numbers)
{
    for (size_t i = 0; i < rows->count; i++) {
        vs_column_add(&rows->columns[VS_BLOCK_LIVED], rows->lived[i]);
        vs_column_add(&rows->columns[VS_BLOCK_SITE], site_numbers[rows->site[i]]);
        vs_column_add(&rows->columns[VS_BLOCK_KIND], rows->kind[i]);
    }
    free(rows->lived);
    free(rows->born);
    free(rows->site);
    free(rows->kind);
    rows->lived = rows->born = NULL;
    rows->site = NULL;
    rows->kind = NULL;
    rows->recording = false;
    encode_segments(rows, site_numbers);
    return rows->err;
}

void vs_page_rows_free(struct vs_page_rows *rows)
{
    for (int i = 0; i < VS_BLOCK_COLUMNS; i++)
        vs_column_free(&rows->columns[i]);
    for (int i = 0; i < VS_SEGMENT_COLUMNS; i++)
        vs_column_free(&rows->segment_columns[i]);
    for (int i = 0; i < VS_DEVICES_MAX; i++)
        vs_axis_free(&rows->axes[i]);
    free(rows->live[0]);
    free(rows->live[1]);
    free(rows->lived);
    free(rows->born);
    free(rows->site);
    free(rows->kind);
    free(rows->segments);
    free(rows->zone_places);
    vs_arena_free_all(&rows->memory);
}
