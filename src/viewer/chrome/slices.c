/* SPDX-License-Identifier: Apache-2.0
 *
 * A binary heap by start time; see the header. */
#include "viewer/chrome/chrome_emit.h"

#include "base/reading/vs_vec.h"

static void swap(struct vs_slice_node *a, struct vs_slice_node *b)
{
    struct vs_slice_node t = *a;
    *a = *b;
    *b = t;
}

static bool earlier(const struct vs_slice_node *a, const struct vs_slice_node *b)
{
    return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->end_ns < b->end_ns;
}

static void sift_down(struct vs_slices *slices)
{
    size_t at = 0;
    for (;;) {
        size_t least = at, left = 2 * at + 1, right = left + 1;
        if (left < slices->count && earlier(&slices->heap[left], &slices->heap[least]))
            least = left;
        if (right < slices->count && earlier(&slices->heap[right], &slices->heap[least]))
            least = right;
        if (least == at)
            return;
        swap(&slices->heap[at], &slices->heap[least]);
        at = least;
    }
}

bool vs_slices_take(struct vs_slices *slices, struct vs_slice *out)
{
    if (slices->count == 0)
        return false;
    const struct vs_slice_node first = slices->heap[0];
    *out = (struct vs_slice){first.start_ns, first.end_ns, slices->held[first.place]};
    slices->heap[0] = slices->heap[--slices->count];
    slices->heap[slices->count].place = first.place; /* for the next one */
    sift_down(slices);
    if (out->end_ns < out->start_ns)
        out->end_ns = out->start_ns;
    if (out->start_ns < slices->end_ns) {
        out->start_ns = slices->end_ns;
        if (out->end_ns < out->start_ns)
            out->end_ns = out->start_ns;
        slices->clipped++;
    }
    slices->end_ns = out->end_ns;
    return true;
}

bool vs_slices_add(struct vs_slices *slices, const struct vs_slice *slice, struct vs_slice *out)
{
    bool ready = slices->count == VS_SLICES_HELD_MAX && vs_slices_take(slices, out);
    size_t at = slices->count++, before = slices->capacity;
    vs_vec_room(&slices->heap, &slices->capacity, at + 1, sizeof *slices->heap);
    vs_vec_room(&slices->held, &slices->held_capacity, slices->capacity, sizeof *slices->held);
    for (; before < slices->capacity; before++)
        slices->heap[before].place = (uint32_t)before;
    uint32_t place = slices->heap[at].place;
    slices->held[place] = slice->event;
    slices->heap[at] = (struct vs_slice_node){slice->start_ns, slice->end_ns, place};
    while (at > 0 && earlier(&slices->heap[at], &slices->heap[(at - 1) / 2])) {
        swap(&slices->heap[at], &slices->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    return ready;
}

void vs_slices_free(struct vs_slices *slices)
{
    free(slices->heap);
    free(slices->held);
    *slices = (struct vs_slices){0};
}
