/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of call sites: at once what the trace has itself, such as Python lines, and the rest on
 * request. */
#include <stdio.h>

#include "analysis/naming/name_text.h"
#include "analysis/report/site_text.h"
#include "analysis/report/summary.h"
#include "analysis/watch/watch_internal.h"

#define CHAIN_FRAMES 12

/* Names *row* in *named*, with texts in *memory*. *own*: only what takes no time. */
static void name_row(struct vs_watch *w, const struct vs_watch_site *row, bool own,
                     struct vs_arena *memory, struct vs_report_site *named)
{
    const struct vs_site *site = &w->replay->sites.items[row->site];
    struct vs_summary summary = {.memory = memory, .replay = w->replay, .symbols = w->symbols,
                                 .wrappers = &w->wrappers[own], .own_only = own};
    *named = (struct vs_report_site){.level = (enum vs_level)site->level, .family = site->family,
                                     .api = vs_reader_string(w->replay->reader, site->api)};
    if (w->replay->sites.count >= 2 * w->wrappers_at[own]) { /* twice as many as when last found */
        vs_summary_wrappers(&summary, &w->wrappers[own]);
        w->wrappers_at[own] = w->replay->sites.count;
    }
    vs_summary_frames(&summary, site->stack, site->mark, named);
}

bool vs_watch_line(struct vs_watch *w, const struct vs_watch_site *row, char *out)
{
    char text[VS_CHAIN_TEXT_MAX];
    struct vs_arena memory = {0};
    struct vs_report_site named;
    name_row(w, row, true, &memory, &named);
    bool known = named.line || named.folds || !w->replay->sites.items[row->site].stack;
    if (known)
        vs_text_clip(out, vs_text_label(text, &named), (VS_WATCH_NAME_MAX - 4) / 4);
    else /* no other name before it is known: it would change while one reads it */
        snprintf(out, VS_WATCH_NAME_MAX, "…");
    vs_arena_free_all(&memory);
    return known;
}

void vs_watch_name(struct vs_watch *w, const struct vs_watch_site *row,
                   char name[VS_WATCH_NAME_MAX], char chain[VS_WATCH_CHAIN_MAX])
{
    _Static_assert(VS_WATCH_CHAIN_MAX == VS_CHAIN_TEXT_MAX, "one buffer");
    struct vs_arena memory = {0};
    struct vs_report_site named;
    name_row(w, row, false, &memory, &named);
    vs_text_label(chain, &named);
    vs_text_clip(name, chain, (VS_WATCH_NAME_MAX - 4) / 4);
    vs_text_site(chain, &named, CHAIN_FRAMES);
    vs_arena_free_all(&memory);
}
