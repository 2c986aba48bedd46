/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/html/page_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/naming/library.h"
#include "analysis/report/site_text.h"
#include "base/reading/vs_vec.h"

static void add_site(struct vs_page_names *names, const struct vs_summary *summary,
                     const struct vs_site *from)
{
    const struct vs_replay *replay = summary->replay;
    char text[VS_CHAIN_TEXT_MAX], library[VS_LIBRARY_NAME_MAX];
    struct vs_report_site site = {.level = from->level, .family = from->family, .stacks = 1,
                                  .api = vs_reader_string(replay->reader, from->api)};
    struct vs_page_site row = {0};
    vs_summary_frames(summary, from->stack, from->mark, &site);
    row.label = vs_xarena_text(&names->memory, vs_text_label(text, &site));
    row.through = site.through ? site.through : "";
    row.named = site;
    if (site.line_file && *site.line_file) {
        row.file = vs_intern_text(&names->files, site.line_file) + 1;
        row.line = site.line_number;
    }
    row.library = vs_intern_text(
        &names->libraries, vs_summary_library(summary, from->stack, library, NULL));
    for (size_t i = site.frame_count; i-- > 0;) { /* from the outermost on */
        const struct vs_report_frame *frame = &site.frames[i];
        const char *file = frame->file ? frame->file : frame->module;
        struct vs_page_node node = {.parent = row.stack, .line = frame->line,
                                    .user = !frame->library && !site.line,
                                    .frame = vs_intern_text(&names->frames, frame->function)};
        const char *of = frame->library ? frame->library : file && *file ? NULL : "unknown";
        if (of)
            node.library = vs_intern_text(&names->libraries, of) + 1;
        if (file && *file)
            node.file = vs_intern_text(&names->files, file) + 1;
        row.stack = vs_intern(&names->nodes, &node, sizeof node) + 1;
        if (row.stack > VS_PAGE_NODES_MAX) {
            row.stack = 0; /* too many stacks: this one has only its label */
            break;
        }
    }
    VS_VEC_ADD(names->sites, names->site_count, names->site_capacity, row);
}

void vs_page_names_build(struct vs_page_names *names, const struct vs_replay *replay,
                         struct vs_symbols *symbols, const bool *used)
{
    size_t total = replay->sites.count, count = 0;
    struct vs_wrappers wrappers;
    struct vs_summary summary = {.memory = &names->memory, .replay = replay, .symbols = symbols,
                                 .wrappers = &wrappers};
    struct vs_summary_row *list = vs_xcalloc(total, sizeof *list);
    names->site_numbers = vs_xcalloc(total + 1, sizeof *names->site_numbers);
    vs_summary_wrappers(&summary, &wrappers);
    for (size_t i = 0; i < total; i++)
        if (used[i])
            list[count++] = (struct vs_summary_row){.bytes = replay->sites.items[i].bytes,
                                                    .site = (uint32_t)i};
    VS_SORT(list, count, VS_DOWN(bytes), VS_UP(site));
    for (size_t i = 0; i < count; i++) {
        names->site_numbers[list[i].site] = (uint32_t)names->site_count;
        if (i < VS_PAGE_SITES_MAX)
            add_site(names, &summary, &replay->sites.items[list[i].site]);
    }
    if (count > VS_PAGE_SITES_MAX || !count) { /* the row of all others */
        const struct vs_page_site row = {
            .label = count ? vs_xarena_printf(&names->memory, "%zu other call sites",
                                              count - VS_PAGE_SITES_MAX)
                           : "no call site",
            .through = "", .library = vs_intern_text(&names->libraries, "unknown")};
        VS_VEC_ADD(names->sites, names->site_count, names->site_capacity, row);
    }
    names->site_numbers[total] = (uint32_t)names->site_count;
    if (used[total])
        VS_VEC_ADD(names->sites, names->site_count, names->site_capacity,
                   ((struct vs_page_site){.label = "unknown call site", .through = "",
                                          .library = vs_intern_text(&names->libraries, "unknown")}));
    free(list);
}

void vs_page_names_free(struct vs_page_names *names)
{
    vs_intern_free(&names->frames);
    vs_intern_free(&names->files);
    vs_intern_free(&names->libraries);
    vs_intern_free(&names->nodes);
    free(names->sites);
    free(names->site_numbers);
    vs_arena_free_all(&names->memory);
}
