/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of copies and memsets. By the spec's data= a large one moves none, so that work of the
 * size of a real GPU runs in little host memory: its destination then reads as zero, whatever it
 * held, and takes no host memory. Memory of devices is zeroed by returning its pages; host memory,
 * which may be of any kind, by writing to it only where it is not zero, since reading untouched
 * memory takes none. Every copy and memset of the driver goes through this file, also those of
 * graphs, batches and peers, on the thread that runs the work (drv_exec.c). */
#include "simulator/driver/vs_sim_driver.h"

#include <string.h>
#include <sys/mman.h>

#define OS_PAGE_BYTES ((uintptr_t)4096)
#define ZERO_BY_HOLE_BYTES (UINT64_C(64) << 20) /* memsets to zero, with data=on as well */

/* Memory of this driver, which consists of shared pages of files. */
static bool is_ours(const struct vs_sim_end *end)
{
    return end->memory == VS_SIM_MEMORY_DEVICE || end->memory == VS_SIM_MEMORY_MANAGED ||
           end->mapped_bytes;
}

/* ---- zeroing without touching ---- */

/* Returns the pages to the system; their next reader gets zeroes. */
static void zero_ours(char *to, size_t bytes)
{
    uintptr_t begin = ((uintptr_t)to + OS_PAGE_BYTES - 1) & ~(OS_PAGE_BYTES - 1);
    uintptr_t end = ((uintptr_t)to + bytes) & ~(OS_PAGE_BYTES - 1);
    if (begin >= end || madvise((void *)begin, end - begin, MADV_REMOVE)) {
        memset(to, 0, bytes);
        return;
    }
    memset(to, 0, begin - (uintptr_t)to);
    memset((char *)end, 0, (uintptr_t)to + bytes - end);
}

static bool is_zero(const char *at, size_t bytes) { return !*at && !memcmp(at, at + 1, bytes - 1); }

static void zero_host(char *to, size_t bytes)
{
    while (bytes) {
        size_t part = OS_PAGE_BYTES - ((uintptr_t)to & (OS_PAGE_BYTES - 1));
        part = part < bytes ? part : bytes;
        if (!is_zero(to, part))
            memset(to, 0, part);
        to += part;
        bytes -= part;
    }
}

/* *rows* of *width* bytes in each of *planes* at *end*. */
static void zero_rows(const struct vs_sim_end *end, size_t width, size_t rows, size_t planes)
{
    void (*zero)(char *to, size_t bytes) = is_ours(end) ? zero_ours : zero_host;
    if (rows == 1 || end->pitch == width) {
        width *= rows;
        rows = 1;
    }
    if (rows == 1 && (planes == 1 || end->slice == width)) {
        width *= planes;
        planes = 1;
    }
    for (size_t z = 0; z < planes; z++)
        for (size_t y = 0; y < rows; y++)
            zero((char *)end->base + z * end->slice + y * end->pitch, width);
}

/* ---- copies and memsets ---- */

void vs_sim_transfer_copy(const struct vs_sim_copy *copy)
{
    if (copy->width * copy->height * copy->depth > vs_sim_spec.data_max_bytes) {
        zero_rows(&copy->to, copy->width, copy->height, copy->depth);
        return;
    }
    const char *from_plane = copy->staged ? copy->staged : (const char *)copy->from.base;
    char *to_plane = (char *)copy->to.base;
    bool flat =
        copy->height == 1 || (copy->from.pitch == copy->width && copy->to.pitch == copy->width);
    for (size_t z = 0; z < copy->depth; z++) {
        const char *from = from_plane + z * copy->from.slice;
        char *to = to_plane + z * copy->to.slice;
        if (flat)
            memmove(to, from, copy->width * copy->height);
        for (size_t y = 0; !flat && y < copy->height; y++)
            memmove(to + y * copy->to.pitch, from + y * copy->from.pitch, copy->width);
    }
}

void vs_sim_transfer_set(const struct vs_sim_set *set)
{
    size_t row = set->width * set->element;
    bool zero_by_hole = !set->value && set->height == 1 && row >= ZERO_BY_HOLE_BYTES &&
                        set->to.memory == VS_SIM_MEMORY_DEVICE;
    if (zero_by_hole || row * set->height > vs_sim_spec.data_max_bytes) {
        zero_rows(&set->to, row, set->height, 1);
        return;
    }
    const size_t width = set->width;
    const uint32_t value = set->value;
    const uint8_t element = set->element;
    for (size_t y = 0; y < set->height; y++) {
        char *to = (char *)set->to.base + y * set->to.pitch;
        if (element == 1)
            memset(to, (int)value, width);
        for (size_t i = 0; element == 2 && i < width; i++)
            ((uint16_t *)to)[i] = (uint16_t)value;
        for (size_t i = 0; element == 4 && i < width; i++)
            ((uint32_t *)to)[i] = value;
    }
}
