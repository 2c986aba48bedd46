/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of call sites: at once what the trace has itself, such as Python lines, and the rest on
 * request. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/naming/library.h"
#include "analysis/naming/name_text.h"
#include "analysis/naming/user_line.h"
#include "analysis/report/site_text.h"
#include "analysis/report/summary.h"
#include "analysis/watch/watch_internal.h"
#include "base/vs_text.h"

#define STACK_MAX 128
#define NAME_FRAMES 4
#define CHAIN_FRAMES 12

/* The API, where no stack was recorded; else the innermost place that is not in a driver library. */
static void substitute(struct vs_watch *w, const struct vs_site *site, char *out)
{
    const struct vs_reader *reader = w->replay->reader;
    struct vs_frame frames[STACK_MAX];
    char name[VS_LIBRARY_NAME_MAX];
    const char *exe = w->replay->has_process
                          ? vs_reader_string(reader, w->replay->process.process.exe) : "";
    size_t count = vs_reader_stack(reader, site->stack, frames, STACK_MAX);
    const char *api = vs_reader_string(reader, site->api);
    snprintf(out, VS_WATCH_NAME_MAX, "%.200s (no stack recorded)",
             *api ? api : site->level == VS_LEVEL_FRAMEWORK ? "tensors" : "memory");
    for (size_t i = 0; i < count; i++) {
        const struct vs_module *module = vs_reader_module(reader, frames[i].module);
        bool framework;
        if (!module || !vs_library_of_module(module->path, exe, name, &framework))
            continue;
        snprintf(out, VS_WATCH_NAME_MAX, "%.200s+0x%" PRIx64, vs_text_base_name(module->path),
                 frames[i].pc - module->base);
        break;
    }
    vs_text_clean(out);
}

bool vs_watch_line(struct vs_watch *w, const struct vs_watch_site *row, char *out)
{
    const struct vs_site *site = &w->replay->sites.items[row->site];
    struct vs_arena memory = {0};
    const char *line = vs_user_line(w->replay->reader, w->symbols, &memory, site->stack, site->mark,
                                    true, false);
    bool known = line && *line;
    if (known)
        snprintf(out, VS_WATCH_NAME_MAX, "%s", line);
    else
        substitute(w, site, out);
    vs_arena_free_all(&memory);
    return known;
}

enum vs_err vs_watch_name(struct vs_watch *w, const struct vs_watch_site *row,
                          char name[VS_WATCH_NAME_MAX], char chain[VS_WATCH_CHAIN_MAX])
{
    _Static_assert(VS_WATCH_CHAIN_MAX == VS_CHAIN_TEXT_MAX, "one buffer");
    const struct vs_site *site = &w->replay->sites.items[row->site];
    struct vs_arena memory = {0};
    struct vs_summary summary = {.memory = &memory, .replay = w->replay, .symbols = w->symbols,
                                 .wrappers = &w->wrappers};
    struct vs_report_site named = {.level = (enum vs_level)site->level, .family = site->family,
                                   .api = vs_reader_string(w->replay->reader, site->api)};
    enum vs_err err = VS_OK;
    if (w->replay->sites.count >= 2 * w->wrappers_at) { /* twice as many as when last found */
        err = vs_summary_wrappers(&summary, &w->wrappers);
        w->wrappers_at = w->replay->sites.count;
    }
    if (!err)
        err = vs_summary_frames(&summary, site->stack, site->mark, &named);
    if (!err) {
        vs_text_site(chain, &named, NAME_FRAMES);
        vs_text_clip(name, chain, (VS_WATCH_NAME_MAX - 4) / 4);
        vs_text_site(chain, &named, CHAIN_FRAMES);
    }
    vs_arena_free_all(&memory);
    return err;
}
