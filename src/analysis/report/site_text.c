/* SPDX-License-Identifier: Apache-2.0
 *
 * Call sites and names as text; see the header. */
#include "analysis/report/site_text.h"

#include <stdio.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "analysis/naming/source_text.h"
#include "base/vs_text.h"
#include "trace/format/event.h"

static size_t append(char *out, size_t at, const char *text, int length)
{
    int n = snprintf(out + at, VS_CHAIN_TEXT_MAX - at, "%.*s", length, text);
    size_t end = at + (n > 0 ? (size_t)n : 0);
    return end < VS_CHAIN_TEXT_MAX ? end : VS_CHAIN_TEXT_MAX - 1;
}

#define FIRST_FUNCTION_MAX 56 /* bytes: its line must not be cut off in 80 columns */

/* *first*: of a text that begins with it. For missing frames a text with a remedy. */
static size_t append_function(char *out, size_t at, const char *function, bool first)
{
    static const char more[] = "(more frames; raise --stack-depth, at most 128)";
    if (strcmp(function, "(more frames)") == 0)
        return append(out, at, more, (int)sizeof more - 1);
    char name[VS_CHAIN_TEXT_MAX];
    int length = (int)vs_function_text(function, name, sizeof name);
    function = name;
    if (!first || length <= FIRST_FUNCTION_MAX)
        return append(out, at, function, length);
    /* The last parts of a name that is too long: "inner<int>::f" of "outer::inner<int>::f". */
    const char *tail = function;
    int depth = 0;
    for (int i = length; i-- > 0 && length - i <= FIRST_FUNCTION_MAX;) {
        depth += (function[i] == '>') - (function[i] == '<');
        if (depth == 0 && function[i] == ':' && i + 1 < length && function[i + 1] != ':')
            tail = function + i + 1;
    }
    length -= (int)(tail - function);
    at = append(out, at, tail == function ? "" : "…::", (int)strlen("…::"));
    if (length <= FIRST_FUNCTION_MAX)
        return append(out, at, tail, length);
    while (length > FIRST_FUNCTION_MAX || ((unsigned char)tail[length] & 0xc0) == 0x80)
        length--;
    return append(out, append(out, at, tail, length), "…", (int)strlen("…"));
}

/* A function that calls itself on one line is one frame: "visit (tree.c:12) x 3". */
static size_t append_chain(char *out, size_t at, const struct vs_report_site *site, size_t frames)
{
    const char *file = NULL;
    const struct vs_report_frame *last = NULL;
    size_t shown = 0, times = 1;
    for (size_t i = site->wrappers; i <= site->frame_count; i++) {
        const struct vs_report_frame *frame = i < site->frame_count ? &site->frames[i] : NULL;
        if (frame && site->folds && frame->library)
            continue;
        if (frame && last && frame->line && frame->line == last->line && frame->file &&
            last->file &&
            strcmp(frame->function, last->function) == 0 && strcmp(frame->file, last->file) == 0) {
            times++;
            continue;
        }
        char repeated[32];
        if (times > 1)
            at = append(out, at, repeated, snprintf(repeated, sizeof repeated, " x %zu", times));
        times = 1;
        last = frame;
        if (!frame)
            break;
        if (shown == frames)
            return append(out, at, " < …", (int)strlen(" < …"));
        if (shown)
            at = append(out, at, " < ", 3);
        at = append_function(out, at, frame->function, !shown++);
        char where[300] = "";
        if (frame->file && frame->line && file && strcmp(file, frame->file) == 0) {
            snprintf(where, sizeof where, ":%u", frame->line);
        } else if (frame->file && frame->line) {
            snprintf(where, sizeof where, " (%.280s:%u)", vs_text_base_name(frame->file),
                     frame->line);
            file = frame->file;
        }
        at = append(out, at, where, (int)strlen(where));
    }
    return at;
}

char *vs_text_site(char *out, const struct vs_report_site *site, size_t frames)
{
    size_t at = 0;
    out[0] = 0;
    if (site->line) {
        snprintf(out, VS_CHAIN_TEXT_MAX, "%s", site->line);
        return vs_text_clean(out);
    }
    if (site->frame_count == 0) {
        snprintf(out, VS_CHAIN_TEXT_MAX, "%s (no stack recorded)",
                 *site->api                            ? site->api
                 : site->level == VS_LEVEL_FRAMEWORK ? "tensors"
                                                       : vs_family_name(site->family));
        return vs_text_clean(out);
    }
    append_chain(out, at, site, frames);
    return vs_text_clean(out);
}

char *vs_text_label(char *out, const struct vs_report_site *site)
{
    return vs_text_site(out, site, VS_LABEL_FRAMES);
}

char *vs_text_called(char *out, const struct vs_report_site *site)
{
    size_t at = strlen(vs_text_label(out, site));
    if (site->through)
        snprintf(out + at, VS_CHAIN_TEXT_MAX - at, " [%s]", site->through);
    return vs_text_clean(out);
}

char *vs_text_part(char *out, const struct vs_site_part *part)
{
    int n = snprintf(out, VS_PART_TEXT_MAX, "%.200s", part->function);
    if (part->file && part->line)
        snprintf(out + n, VS_PART_TEXT_MAX - (size_t)n, " (%.120s:%u)", vs_text_base_name(part->file), part->line);
    else if (part->file)
        snprintf(out + n, VS_PART_TEXT_MAX - (size_t)n, " (%.120s)", vs_text_base_name(part->file));
    return vs_text_clean(out);
}

char *vs_text_code(char *out, const char *path, unsigned line, uint64_t started_ns)
{
    static const char changed[] = "  (changed since then)";
    uint64_t changed_ns = 0;
    *out = 0;
    if (!path || !vs_source_is_code(path) ||
        !vs_source_line(path, line, out, VS_CODE_TEXT_MAX - sizeof changed, &changed_ns))
        return strcpy(out, "");
    if (started_ns && changed_ns > started_ns)
        strcat(out, changed);
    return vs_text_clean(out);
}

char *vs_text_percent(char *out, uint64_t part, uint64_t whole)
{
    if (whole == 0)
        snprintf(out, 16, "-");
    else if (part && (double)part / (double)whole < 0.0005)
        snprintf(out, 16, "<0.1 %%"); /* not "0.0 %", which looks like zero */
    else
        snprintf(out, 16, "%.1f %%", 100.0 * (double)part / (double)whole);
    return out;
}
