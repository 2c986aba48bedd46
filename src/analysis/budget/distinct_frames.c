/* SPDX-License-Identifier: Apache-2.0
 *
 * In round k all sites that are still open are counted by a hash of their innermost k
 * frames, so that the cost does not depend on the number of pairs of sites: a site that shares its
 * frames with no other is closed, the others go on with the next frame outwards. */
#include "analysis/budget/culprits.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"
#include "base/vs_text.h"

#define FEW_SITES 3 /* a function that training, evaluation and a test call; more callers share allocation functions */

/* In a count of sites: one that has not changed, and whether the function calls itself in one of them. */
#define UNCHANGED (UINT64_C(1) << 31)
#define CALLS_ITSELF (UINT64_C(1) << 63)

struct open_site {
    struct vs_named_site *named;
    uint64_t hash; /* of the frames up to named->frame; never 0 */
    size_t best;   /* the innermost frame that no more sites share than named->frame */
    uint64_t best_sites; /* which is how many; 0: none so far */
};

size_t vs_site_frames(const struct vs_report_site *site, size_t *out)
{
    size_t count = 0;
    for (size_t i = vs_user_frame(site, 0); i < site->frame_count && count < VS_SITE_FRAMES_MAX;
         i = vs_user_frame(site, i + 1))
        out[count++] = i;
    return count;
}

/* By its line; without one by its function. Instances of one template are one function of the source. */
static uint64_t add_frame(uint64_t hash, const struct vs_report_frame *frame)
{
    const char *name = frame->file && frame->line ? frame->file : frame->function;
    hash = (vs_text_hash(hash, name) ^ frame->line) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
    return hash ? hash : 1;
}

/* Whether the function of frame *i* is further outwards in the stack again. */
static bool calls_itself(const struct vs_report_site *site, size_t i)
{
    for (size_t k = i + 1; k < site->frame_count; k++)
        if (strcmp(site->frames[k].function, site->frames[i].function) == 0)
            return true;
    return false;
}

size_t vs_innermost_frame(const struct vs_report_site *site)
{
    return site->line ? site->frame_count : vs_user_frame(site, site->wrappers);
}

/* Whether the frame that *sites* share, counted as above, names each of them. */
static bool is_distinct(uint64_t sites)
{
    return sites & CALLS_ITSELF || sites <= FEW_SITES || sites == UNCHANGED + 1;
}

bool vs_file_is_header(const char *file)
{
    static const char *const endings[] = {"h", "hh", "hpp", "hxx", "cuh", "inl", "ipp", "tpp", "tcc"};
    const char *dot = file ? strrchr(file, '.') : NULL;
    bool header = false;
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        header |= strcmp(dot + 1, endings[i]) == 0;
    return header;
}

/* The same for a run that is not compared. */
static bool is_distinct_alone(uint64_t sites, const struct vs_report_frame *frame)
{
    uint64_t count = sites & (UNCHANGED - 1);
    return sites & CALLS_ITSELF || count <= (frame->line && vs_file_is_header(frame->file) ? 1 : FEW_SITES);
}

/* Closes the sites whose frame tells them apart. Of sites that have all lines in common, as those of two
 * instances of a template, the outer frames tell nothing: the innermost one that only they share names
 * them. Returns how many are left, at the front. */
static size_t close_sites(struct open_site *open, size_t count, const struct vs_map *sharing, bool alone)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        struct vs_named_site *named = open[i].named;
        const struct vs_report_site *site = named->site;
        size_t next = vs_user_frame(site, named->frame + 1);
        uint64_t sites = *vs_map_get(sharing, open[i].hash);
        bool distinct = alone ? is_distinct_alone(sites, &site->frames[named->frame]) : is_distinct(sites);
        uint64_t sharers = sites & (UNCHANGED - 1);
        size_t best = open[i].best_sites && sharers >= open[i].best_sites ? open[i].best : named->frame;
        if (!distinct && (next >= site->frame_count || !site->frames[next].line))
            named->frame = best;
        else if (!distinct) {
            named->frame = next;
            open[left++] = (struct open_site){named, add_frame(open[i].hash, &site->frames[next]), best, sharers};
        }
    }
    return left;
}

static void set_frames(struct vs_named_sites *sites, bool alone)
{
    struct open_site *open = vs_xcalloc(sites->count + 1, sizeof *open);
    size_t count = 0; /* of the sites that have frames, and are open */
    for (size_t i = 0; i < sites->count; i++) {
        struct vs_named_site *named = &sites->items[i];
        const struct vs_report_site *site = named->site;
        size_t frame = vs_innermost_frame(site);
        named->frame = 0;
        if (frame >= site->frame_count)
            continue;
        named->frame = frame;
        open[count++] = (struct open_site){named, add_frame(1, &site->frames[frame]), frame, 0};
    }
    while (count) {
        struct vs_map sharing = {0};
        for (size_t i = 0; i < count; i++) { /* by the hash of their frames */
            uint64_t *sharers = vs_xmap_value(&sharing, open[i].hash, 0);
            *sharers += 1 + (open[i].named->changed ? 0 : UNCHANGED);
            if (calls_itself(open[i].named->site, open[i].named->frame))
                *sharers |= CALLS_ITSELF;
        }
        count = close_sites(open, count, &sharing, alone);
        vs_map_free(&sharing);
    }
    free(open);
}

void vs_distinct_frames(struct vs_named_sites *sites, const struct vs_named_sites *around, bool alone)
{
    struct vs_named_sites all = {NULL, sites->count}; /* those of both, each once */
    if (!around) {
        set_frames(sites, alone);
        return;
    }
    all.items = vs_xcalloc(sites->count + around->count + 1, sizeof *all.items);
    if (sites->count)
        memcpy(all.items, sites->items, sites->count * sizeof *all.items);
    for (size_t i = 0; i < around->count; i++)
        if (!bsearch(&around->items[i], sites->items, sites->count, sizeof *sites->items, vs_named_site_order))
            all.items[all.count++] = around->items[i];
    set_frames(&all, alone);
    for (size_t i = 0; i < sites->count; i++)
        sites->items[i].frame = all.items[i].frame;
    free(all.items);
}
