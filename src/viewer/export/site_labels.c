/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/export/site_labels.h"

#include <stdlib.h>

#include "analysis/naming/library.h"
#include "analysis/report/site_text.h"
#include "base/reading/vs_vec.h"

void vs_site_labels_open(struct vs_site_labels *labels, struct vs_symbols *symbols,
                         const struct vs_replay *replay)
{
    *labels = (struct vs_site_labels){.symbols = symbols};
    struct vs_summary summary = {.memory = &labels->memory, .replay = replay, .symbols = symbols};
    vs_summary_wrappers(&summary, &labels->wrappers);
}

const struct vs_site_label *vs_site_labels_of(struct vs_site_labels *labels,
                                              const struct vs_replay *replay, uint32_t index)
{
    vs_vec_room(&labels->items, &labels->capacity, index + 1, sizeof *labels->items);
    struct vs_site_label *label = &labels->items[index];
    if (label->text)
        return label;
    const struct vs_site *from = &replay->sites.items[index];
    struct vs_summary summary = {.memory = &labels->memory, .replay = replay,
                                 .symbols = labels->symbols, .wrappers = &labels->wrappers};
    struct vs_report_site site = {.level = (enum vs_level)from->level, .family = from->family,
                                  .api = vs_reader_string(replay->reader, from->api)};
    char text[VS_CHAIN_TEXT_MAX], library[VS_LIBRARY_NAME_MAX];
    vs_summary_frames(&summary, from->stack, from->mark, &site);
    label->through = site.through ? site.through : "";
    label->text = vs_xarena_text(&labels->memory, vs_text_label(text, &site));
    label->library = vs_xarena_text(&labels->memory,
                                    vs_summary_library(&summary, from->stack, library, NULL));
    return label;
}

void vs_site_labels_close(struct vs_site_labels *labels)
{
    free(labels->items);
    vs_arena_free_all(&labels->memory);
    *labels = (struct vs_site_labels){0};
}
