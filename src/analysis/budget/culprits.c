/* SPDX-License-Identifier: Apache-2.0
 *
 * culprit_match.c finds the sites of a baseline again. A function without a name is written as its module
 * and its offset there. */
#include "analysis/budget/culprits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/site_text.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

const char *vs_change_name(enum vs_site_change change)
{
    static const char *const names[] = {"holds", "new", "grown"};
    return names[change];
}

size_t vs_function_length(const char *function)
{
    static const char *const added[] = {".part.", ".constprop.", ".isra.", ".cold"};
    size_t length = strlen(function);
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        const char *at = strstr(function, added[i]);
        if (at && (size_t)(at - function) < length)
            length = (size_t)(at - function);
    }
    return length;
}

/* The bytes of *line* before the line's number: "loss.backward() (train.py" of "loss.backward()
 * (train.py:40)". All of them where it ends in no number: "PyTorch: torch.mm". */
static size_t before_number(const char *line)
{
    size_t length = strlen(line), at = length;
    if (!length || line[length - 1] != ')')
        return length;
    for (at--; at && line[at - 1] >= '0' && line[at - 1] <= '9';)
        at--;
    return at && at < length - 1 && line[at - 1] == ':' ? at - 1 : length;
}

/* Names a site with the allocation functions of the program that reports leave out (wrappers): which
 * these are depends on how many others call them. */
char *vs_site_stable_name(char *out, const struct vs_report_site *site)
{
    const char *file = "";
    size_t n = 0, shown = 0;
    if (site->line) {
        size_t length = before_number(site->line);
        bool cut = length < strlen(site->line);
        snprintf(out, VS_SITE_NAME_MAX, "%.*s%s", length < 400 ? (int)length : 400, site->line, cut ? ")" : "");
        return vs_text_clean(out);
    }
    snprintf(out, VS_SITE_NAME_MAX, "%s", *site->api ? site->api : "unknown");
    for (size_t i = vs_user_frame(site, 0);
         i < site->frame_count && shown < VS_SITE_NAME_FRAMES && n < VS_SITE_NAME_MAX;
         i = vs_user_frame(site, i + 1), shown++) {
        const struct vs_report_frame *frame = &site->frames[i];
        const char *name = frame->file ? vs_text_base_name(frame->file) : frame->module;
        bool same = strcmp(name ? name : "", file) == 0;
        int wrote = snprintf(out + n, VS_SITE_NAME_MAX - n, "%s%.*s%s%s%s", shown ? " < " : "",
                             (int)vs_function_length(frame->function), frame->function, same ? "" : " (",
                             same ? "" : name, same ? "" : ")");
        n += wrote > 0 ? (size_t)wrote : 0;
        file = name ? name : "";
    }
    return vs_text_clean(out);
}

static int compare_lines(const struct vs_report_site *a, const struct vs_report_site *b)
{
    size_t i = vs_user_frame(a, 0), j = vs_user_frame(b, 0);
    for (; i < a->frame_count && j < b->frame_count;
         i = vs_user_frame(a, i + 1), j = vs_user_frame(b, j + 1))
        if (a->frames[i].line != b->frames[j].line)
            return a->frames[i].line < b->frames[j].line ? -1 : 1;
    const char *x = a->line ? a->line : "", *y = b->line ? b->line : "";
    return strcmp(x, y);
}

bool vs_site_is(const struct vs_report_site *a, const struct vs_report_site *b)
{
    char x[VS_SITE_NAME_MAX], y[VS_SITE_NAME_MAX];
    return compare_lines(a, b) == 0 && strcmp(vs_site_stable_name(x, a), vs_site_stable_name(y, b)) == 0;
}

int vs_named_site_order(const void *a, const void *b)
{
    const struct vs_named_site *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : compare_lines(x->site, y->site);
}

void vs_named_sites_of(struct vs_arena *memory, const struct vs_report_sites *sites,
                       enum vs_metric metric, struct vs_named_sites *out)
{
    struct vs_named_site *items = vs_xarena(memory, (sites->count + 1) * sizeof *items);
    for (size_t i = 0; i < sites->count; i++) {
        const struct vs_report_site *site = &sites->items[i];
        char text[VS_SITE_NAME_MAX];
        size_t frame = vs_innermost_frame(site);
        size_t bytes = strlen(vs_site_stable_name(text, site)) + 1;
        char *name = vs_xarena(memory, bytes);
        items[i] = (struct vs_named_site){
            .name = memcpy(name, text, bytes), .count = site->count, .site = site,
            .families = UINT32_C(1) << site->family,
            .frame = frame < site->frame_count ? frame : 0,
            .bytes = metric == VS_METRIC_GROWTH ? site->growth_per_step : site->bytes};
    }
    qsort(items, sites->count, sizeof *items, vs_named_site_order);
    size_t count = 0;
    for (size_t i = 0; i < sites->count; i++) {
        if (count && vs_named_site_order(&items[count - 1], &items[i]) == 0) {
            items[count - 1].bytes += items[i].bytes;
            items[count - 1].count += items[i].count;
            items[count - 1].families |= items[i].families;
        } else {
            items[count++] = items[i];
        }
    }
    *out = (struct vs_named_sites){items, count};
}

struct vs_culprit vs_culprit_of(const struct vs_named_site *named)
{
    const struct vs_report_site *site = named->site;
    struct vs_culprit out = {.bytes = named->bytes, .count = named->count, .site = site,
                             .families = named->families};
    if (site->line) {
        out.function = site->line;
        out.file = site->line_file;
        out.line = site->line_number;
        return out;
    }
    if (!site->frame_count)
        return out;
    out.function = site->frames[named->frame].function;
    out.file = site->frames[named->frame].file;
    out.line = site->frames[named->frame].line;
    return out;
}

/* Insert into the *count* largest so far. */
static size_t insert(struct vs_culprit *out, size_t count, size_t max, struct vs_culprit one)
{
    size_t at = count < max ? count : max;
    while (at > 0 && out[at - 1].delta < one.delta) {
        if (at < max)
            out[at] = out[at - 1];
        at--;
    }
    if (at < max)
        out[at] = one;
    return count < max ? count + 1 : max;
}

size_t vs_culprits_largest(struct vs_named_sites *now, const struct vs_named_sites *around, enum vs_metric metric,
                           struct vs_culprit *out, size_t max)
{
    size_t count = 0;
    vs_distinct_frames(now, around, true);
    for (size_t i = 0; i < now->count; i++) {
        struct vs_culprit one = vs_culprit_of(&now->items[i]);
        one.delta = (int64_t)vs_site_amount(&now->items[i], metric);
        if (one.delta) /* copies per step may round to 0 */
            count = insert(out, count, max, one);
    }
    return count;
}

/* The line of a site of the name of the new one, which was there before, as it seems, and is like it;
 * 0: there is none. */
static unsigned line_of_alike(const struct vs_culprit_match *match, size_t new, const struct vs_culprit *one)
{
    const struct vs_named_site *now = match->now->items;
    size_t from = new, most = VS_SITE_ALIGN_MAX;
    while (from > 0 && new - from < most && strcmp(now[from - 1].name, now[new].name) == 0)
        from--;
    for (size_t k = from; k < match->now->count && k - from < most; k++) {
        if (strcmp(now[k].name, now[new].name) != 0)
            break;
        if (!match->partner[k] || now[k].bytes != now[new].bytes || now[k].count != now[new].count)
            continue;
        struct vs_culprit other = vs_culprit_of(&now[k]);
        if (other.file && one->file && strcmp(other.file, one->file) == 0 && other.line != one->line)
            return other.line;
    }
    return 0;
}

/* Returns whether any site of *now*, which are those of *match*, holds more. */
static bool mark(struct vs_named_sites *now, const struct vs_culprit_match *match, enum vs_metric metric)
{
    bool any = false;
    for (size_t i = 0; i < now->count; i++) {
        /* What site i holds more than before; 0: not more. */
        size_t other = match->partner[i];
        uint64_t value = vs_site_amount(&match->now->items[i], metric);
        uint64_t was = other ? vs_site_amount(&match->before->items[other - 1], metric) : 0;
        now->items[i].more = value > was ? value - was : 0;
        now->items[i].changed = now->items[i].more > 0;
        any |= now->items[i].changed;
    }
    return any;
}

void vs_mark_changed(struct vs_named_sites *now, const struct vs_named_sites *before,
                     enum vs_metric metric)
{
    struct vs_culprit_match match;
    vs_culprit_match(now, before, metric, &match);
    mark(now, &match, metric);
    vs_culprit_match_free(&match);
}

size_t vs_culprits(const struct vs_named_sites *now, const struct vs_named_sites *around,
                   const struct vs_named_sites *before, enum vs_metric metric, uint64_t new_min,
                   struct vs_culprit *out, size_t max)
{
    struct vs_culprit_match match;
    struct vs_named_sites marked = *now;
    size_t count = 0;
    vs_culprit_match(now, before, metric, &match);
    bool any = mark(&marked, &match, metric);
    if (any)
        vs_distinct_frames(&marked, around, false);
    for (size_t i = 0; any && i < marked.count; i++) {
        uint64_t more = marked.items[i].more;
        if (!more || (!match.partner[i] && more < new_min))
            continue;
        struct vs_culprit one = vs_culprit_of(&marked.items[i]);
        one.change = match.partner[i] ? VS_CHANGE_GROWN : VS_CHANGE_NEW;
        one.or_line = match.partner[i] ? 0 : line_of_alike(&match, i, &one);
        one.delta = (int64_t)more;
        count = insert(out, count, max, one);
    }
    vs_culprit_match_free(&match);
    return count;
}

struct vs_named_memory vs_named_memory(const struct vs_report *report)
{
    struct vs_named_memory out = {0};
    for (size_t i = 0; i < report->device_count; i++) {
        const struct vs_report_sites *sites = &report->devices[i].at_peak;
        for (size_t s = 0; s < sites->count; s++) {
            const struct vs_report_site *site = &sites->items[s];
            bool known = site->line;
            for (size_t k = site->wrappers; k < site->frame_count && !known; k++)
                known = site->frames[k].known && !(site->folds && site->frames[k].library);
            out.all += site->bytes;
            out.with_stack += site->frame_count || site->line ? site->bytes : 0;
            out.with_names += known ? site->bytes : 0;
        }
    }
    return out;
}

bool vs_without_names(const struct vs_report *report)
{
    struct vs_named_memory memory = vs_named_memory(report);
    return memory.with_stack && memory.with_names < memory.with_stack / 2;
}

/* Whether every function of *name* is an address. */
static bool is_address(const char *name)
{
    for (; name; name = strstr(name, " < ")) {
        name += strncmp(name, " < ", 3) == 0 ? 3 : 0;
        const char *offset = strstr(name, "+0x"), *end = strpbrk(name, " ");
        if (!offset || (end && offset > end))
            return false;
    }
    return true;
}

/* Bytes of one list. Not counted: addresses that the other list has as well, as of a stripped library; and names
 * without a file, such as "cudaMalloc", which are the same with and without names of functions. */
struct name_balance {
    uint64_t common;           /* of functions that the other list has as well */
    uint64_t named, addresses; /* that it does not have */
};

static struct name_balance balance_names(const struct vs_named_sites *sites, const struct vs_named_sites *other)
{
    struct name_balance out = {0};
    for (size_t i = 0, k = 0; i < sites->count; i++) {
        const struct vs_named_site *site = &sites->items[i];
        while (k < other->count && strcmp(other->items[k].name, site->name) < 0)
            k++;
        bool both = k < other->count && strcmp(other->items[k].name, site->name) == 0, bare = is_address(site->name);
        if (strstr(site->name, " (") && !(both && bare))
            *(both ? &out.common : bare ? &out.addresses : &out.named) += site->bytes;
    }
    return out;
}

/* Whether most of these bytes are addresses in one list, and names that are gone in the other. */
static bool are_apart(const struct name_balance *addresses, const struct name_balance *names)
{
    return addresses->addresses > addresses->named + addresses->common &&
           names->named > names->addresses + names->common;
}

enum vs_names_lack vs_names_lack(const struct vs_named_sites *now, const struct vs_named_sites *before)
{
    struct name_balance is = balance_names(now, before), was = balance_names(before, now);
    return are_apart(&is, &was) ? VS_NAMES_LACK_NOW : are_apart(&was, &is) ? VS_NAMES_LACK_BEFORE : VS_NAMES_LACK_NONE;
}
