/* SPDX-License-Identifier: Apache-2.0
 *
 * Places on the axes, by address; see page_rows.h. Addresses into which memory is mapped piece by
 * piece (zones) keep one place of their full extent, so that a block over two pieces is one
 * rectangle; all others have a place while they are held. */
#include <stdlib.h>

#include "base/reading/vs_vec.h"
#include "base/vs_treap.h"
#include "viewer/html/page_rows.h"

VS_TREAP_BY(room, struct vs_page_room, addr)

struct vs_page_room *vs_page_room_find(const struct vs_page_rows *rows, uint64_t addr)
{
    struct vs_page_room *room =
        addr == UINT64_MAX ? NULL : room_last_before(rows->rooms, addr + 1);
    return room && addr - room->addr < room->size ? room : NULL;
}

static const struct vs_scan_zone *zone_of(const struct vs_page_rows *rows, unsigned account,
                                          uint64_t addr, uint64_t size)
{
    size_t low = 0, high = rows->zone_count;
    while (low < high) { /* the first zone of the device that ends after *addr* */
        size_t middle = (low + high) / 2;
        const struct vs_scan_zone *zone = &rows->zones[middle];
        if (zone->account < account || (zone->account == account && zone->to <= addr))
            low = middle + 1;
        else
            high = middle;
    }
    const struct vs_scan_zone *zone = &rows->zones[low];
    bool inside = low < rows->zone_count && zone->account == account && zone->from <= addr &&
                  size <= zone->to - addr;
    return inside ? zone : NULL;
}

struct vs_page_room *vs_page_room_keep(struct vs_page_rows *rows, unsigned device, uint64_t addr,
                                       uint64_t size, uint64_t place, uint64_t taken)
{
    struct vs_page_room *room = rows->unused_rooms;
    if (room)
        rows->unused_rooms = room->left;
    else
        room = vs_xarena(&rows->memory, sizeof *room);
    *room = (struct vs_page_room){.addr = addr, .size = size, .place = place, .taken = taken,
                                  .device = (uint8_t)device};
    room_insert(&rows->rooms, room, room->addr);
    return room;
}

struct vs_page_room *vs_page_room_add(struct vs_page_rows *rows, unsigned device, uint64_t addr,
                                      uint64_t size)
{
    uint64_t place;
    if (size > UINT64_MAX - addr)
        size = UINT64_MAX - addr;
    vs_page_room_cut(rows, addr, size);
    const struct vs_scan_zone *zone = zone_of(rows, device, addr, size);
    uint64_t *known = zone ? &rows->zone_places[zone - rows->zones] : NULL;
    if (!zone || !*known) {
        if (!vs_axis_take(&rows->axes[device], zone ? zone->to - zone->from : size, &place)) {
            rows->err = VS_ERR_NOMEM;
            return NULL;
        }
        if (!zone)
            return vs_page_room_keep(rows, device, addr, size, place, size ? size : 1);
        *known = place + 1;
    }
    return vs_page_room_keep(rows, device, addr, size, *known - 1 + (addr - zone->from), 0);
}

void vs_page_segment_add(struct vs_page_rows *rows, struct vs_page_room *room,
                         const struct vs_page_segment *segment)
{
    VS_VEC_ADD(rows->segments, rows->segment_count, rows->segment_capacity, *segment);
    struct vs_page_segment *row = &rows->segments[rows->segment_count - 1];
    row->addr = room->addr;
    row->bytes = room->size;
    row->place = room->place;
    row->device = room->device;
    room->segment = (uint32_t)rows->segment_count;
}

/* The part [addr, addr + size) of the room *of*, which was removed, goes on. Its place is already its
 * own only in a zone: elsewhere the part gets a new one. */
static void keep_part(struct vs_page_rows *rows, const struct vs_page_room *of, uint64_t addr,
                      uint64_t size)
{
    struct vs_page_room *room = size ? vs_page_room_add(rows, of->device, addr, size) : NULL;
    if (!room || !of->segment)
        return;
    struct vs_page_segment row = rows->segments[of->segment - 1];
    row.born_ns = rows->replay->now_ns;
    row.died_ns = 0;
    vs_page_segment_add(rows, room, &row);
}

void vs_page_room_cut(struct vs_page_rows *rows, uint64_t addr, uint64_t size)
{
    uint64_t end = addr + size;
    for (;;) {
        struct vs_page_room *room = vs_page_room_find(rows, addr);
        if (!room)
            room = room_first_from(rows->rooms, addr);
        if (!room || room->addr >= end || rows->err)
            return;
        struct vs_page_room old = *room;
        room_remove(&rows->rooms, room, room->addr);
        if (room->taken)
            vs_axis_give(&rows->axes[room->device], room->place, room->taken);
        room->left = rows->unused_rooms;
        rows->unused_rooms = room;
        if (old.segment)
            rows->segments[old.segment - 1].died_ns = rows->replay->now_ns;
        if (old.addr < addr)
            keep_part(rows, &old, old.addr, addr - old.addr);
        if (old.addr + old.size > end)
            keep_part(rows, &old, end, old.addr + old.size - end);
    }
}
