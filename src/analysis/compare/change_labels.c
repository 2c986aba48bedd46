/* SPDX-License-Identifier: Apache-2.0
 *
 * All labels begin short; those whose text is another site's as well get more frames,
 * at last the inner ones that reports leave out. Sites that even read the same then are numbered. */
#include "analysis/compare/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_map.h"
#include "base/vs_text.h"

#define ALL_FRAMES 128

/* How many frames a label has, and how many of them are inside of the one that tells sites apart. */
static const struct label_level {
    unsigned inner, frames;
} levels[] = {{0, 3}, {1, 3}, {2, 4}, {3, 6}, {4, 12}, {ALL_FRAMES, ALL_FRAMES}};
#define LEVELS (sizeof levels / sizeof *levels)

/* At the last level also with the frames that reports leave out. */
static void set_level(struct vs_named_site *named, size_t level)
{
    const struct vs_report_site *site = named->site;
    size_t from = named->frame, least = level + 1 < LEVELS ? site->wrappers : 0;
    unsigned inner = 0;
    for (size_t i = named->frame; i-- > least && inner < levels[level].inner;) {
        if (site->folds && site->frames[i].library)
            continue;
        from = i;
        inner++;
    }
    named->label = (struct vs_site_label){.from = from, .frames = levels[level].frames};
}

char *vs_change_label_text(char *out, const struct vs_named_site *named)
{
    struct vs_report_site site = *named->site;
    site.wrappers = named->label.from;
    vs_text_site(out, &site, named->label.frames);
    size_t n = strlen(out);
    if (named->label.number)
        snprintf(out + n, VS_CHAIN_TEXT_MAX - n, " (no. %u of this name)", named->label.number);
    return out;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = vs_text_hash(VS_TEXT_HASH_START, text);
    return hash ? hash : 1;
}

void vs_change_labels(struct vs_named_sites *sites)
{
    struct vs_named_site **list = vs_xcalloc(sites->count + 1, sizeof *list);
    uint64_t *hashes = vs_xcalloc(sites->count + 1, sizeof *hashes);
    size_t count = sites->count;
    for (size_t i = 0; i < count; i++) {
        list[i] = &sites->items[i];
        set_level(list[i], 0);
    }
    for (size_t level = 1; count && level <= LEVELS; level++) {
        struct vs_map texts = {0};
        char text[VS_CHAIN_TEXT_MAX];
        size_t left = 0;
        for (size_t i = 0; i < count; i++) {
            hashes[i] = hash_of(vs_change_label_text(text, list[i]));
            uint64_t number = ++*vs_xmap_value(&texts, hashes[i], 0);
            list[i]->label.number = number > 1 ? (unsigned)number : 0;
        }
        for (size_t i = 0; i < count && level < LEVELS; i++)
            if (*vs_map_get(&texts, hashes[i]) > 1) { /* not this site's alone */
                set_level(list[i], level);
                list[left++] = list[i];
            }
        count = left;
        vs_map_free(&texts);
    }
    free(list);
    free(hashes);
}
