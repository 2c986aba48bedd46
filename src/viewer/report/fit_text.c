/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of `vramscope fit`: the answer for each GPU first, then where the peak is, then what
 * was assumed; see the header. Lines that are the same for several GPUs are printed once, with the
 * names of these. */
#include "viewer/report/answer_text.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/report/site_text.h"
#include "analysis/state/phases.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_size.h"

#define CELL_MAX 512
#define ASSUMED_MAX 3 /* assumed sizes that are shown */
#define LISTED_MAX 6 /* items of a list in one line */
#define INDENT 2
#define USE_INDENT 4 /* of a row for a line of the program */
#define SIZE_COLUMN 12 /* of a size in a row below a line */
#define HOLDER_COLUMNS (80 - SIZE_COLUMN - 2)
#define PARTS_SHOWN 5
#define PART_COLUMNS 55u

enum fit_column { GPU, VALUE, FITS, ALLOCATED, RESERVED, HEADROOM, REMARK, COLUMNS };

static void remark(char out[CELL_MAX], const struct vs_fit_run *run)
{
    char what[CELL_MAX] = "", who[128] = "";
    if (run->answer == VS_FIT_UNKNOWN)
        snprintf(what, sizeof what, "no answer: %s", run->why);
    else if (run->answer == VS_FIT_NO && *run->why)
        snprintf(what, sizeof what, "%s", run->why);
    else if (run->answer == VS_FIT_NO) {
        const struct vs_fit_failure *failure = &run->worst_device->failure;
        const char *and = *failure->place && *failure->where ? ", " : "";
        const char *comma = *failure->place || *failure->where ? ", " : "";
        if (failure->missing)
            snprintf(what, CELL_MAX, "%s%s%s%sshort by %s", failure->place, and, failure->where,
                     comma, vs_size_text(failure->missing));
        else
            snprintf(what, CELL_MAX, "%s%s%s%s%s refused", failure->place, and, failure->where,
                     comma, vs_size_text(failure->requested));
    } else if (run->recovered)
        snprintf(what, sizeof what, "recovered from %llu failure%s",
                 (unsigned long long)run->recovered, run->recovered == 1 ? "" : "s");
    if (run->trace_count > 1 && run->worst && !(run->answer == VS_FIT_NO && *run->why)) {
        /* Which process the row shows; without a launcher all have the same rank. */
        const char *after = *what ? ": " : "";
        const char *shown = run->answer == VS_FIT_NO ? "" : "shown: "; /* not a failure */
        bool ranked = false;
        for (size_t i = 1; i < run->trace_count; i++)
            ranked |= strcmp(run->traces[i]->rank, run->traces[0]->rank) != 0;
        if (ranked)
            snprintf(who, 128, "%srank %s of %zu processes%s", shown, run->worst->rank,
                     run->trace_count, after);
        else
            snprintf(who, 128, "%sone of %zu processes%s", shown, run->trace_count, after);
    }
    snprintf(out, CELL_MAX, "%.120s%.380s", who, what);
}

static void print_table(const struct vs_fit_set *set, const struct vs_style *style)
{
    struct vs_arena memory = {0};
    struct vs_answer_row *rows = vs_xarena(&memory, (set->count + 1) * sizeof *rows);
    struct vs_answer_table table = {.rows = rows, .count = set->count + 1, .columns = COLUMNS, .painted = FITS,
                                    .right = 1u << ALLOCATED | 1u << RESERVED | 1u << HEADROOM, .first_most = SIZE_MAX};
    rows[0] = (struct vs_answer_row){.cells = {NULL, set->ranks ? "ranks run" : NULL, "fits", "peak allocated", "reserved",
                                               "headroom"}};
    for (size_t i = 0; i < set->count; i++) {
        const struct vs_fit_run *run = &set->runs[i];
        bool named = set->vary && *set->vary, yes = run->answer == VS_FIT_YES;
        bool more = yes && run->if_no_more, holds_if = more || run->if_assumed;
        const char *value = run->rank ? run->rank : run->value ? run->value : "";
        char text[CELL_MAX];
        remark(text, run);
        rows[i + 1] = (struct vs_answer_row){
            .paint = holds_if || run->answer == VS_FIT_UNKNOWN ? VS_WARN : yes ? VS_GOOD : VS_BAD,
            .cells = {run->gpu, vs_xarena_printf(&memory, "%s%s%s", named ? set->vary : "", named ? " " : "", value),
                      vs_xarena_printf(&memory, "%s%s", yes ? "yes" : run->answer == VS_FIT_NO ? "no" : "?",
                                       holds_if ? ", if" : ""),
                      "–", "–", "–", vs_xarena_text(&memory, text)}};
        if (*text)
            rows[0].cells[REMARK] = "first failure";
        if (!yes)
            continue;
        const uint64_t sizes[] = {run->worst_device->peak_allocated, run->worst_device->peak_reserved, vs_fit_headroom(run)};
        for (int k = 0; k < 3; k++)
            rows[i + 1].cells[ALLOCATED + k] =
                vs_xarena_printf(&memory, "%s%s", more && k == 0 ? "at least " : "", vs_size_text(sizes[k]));
    }
    size_t widths[VS_ANSWER_COLUMNS];
    bool below = vs_answer_table_width(&table, widths) > VS_ANSWER_WIDTH;
    /* The last column of a table that would be too wide is below its row. */
    for (size_t i = 0; below && i <= set->count; i++) {
        const char *text = rows[i].cells[REMARK];
        bool failed = i && set->runs[i - 1].answer == VS_FIT_NO && !*set->runs[i - 1].why;
        rows[i].cells[REMARK] = NULL;
        if (i && *text)
            rows[i].below[0] = vs_xarena_printf(&memory, "%s%s", failed ? "first failure: " : "", text);
    }
    vs_answer_table(&table, style);
    vs_arena_free_all(&memory);
}

/* --- lines below the table --- */

/* A kind of line. *make* writes what follows the title for one run, with its separator; nothing: no line. Runs of
 * the same text share a line. Further lines are indented as far as the first INDENT letters of the title,
 * of one word, are wide; rows that follow the first newline are printed as they are. */
struct fit_line {
    const char *title;
    void (*make)(const struct vs_fit_set *set, const struct vs_fit_run *run, const struct fit_line *line, FILE *out);
    enum vs_fit_answer answer;  /* of the runs that have one */
    enum vs_fit_note_kind kind; /* of the notes in it */
};

static void print_line(const struct vs_fit_set *set, const struct fit_line *row, const struct vs_style *style)
{
    const char *title = row->title;
    char **texts = vs_xcalloc(set->count + 1, sizeof *texts), *line, *names, lead[INDENT + 1] = "";
    size_t bytes;
    memcpy(lead, title, INDENT);
    for (size_t i = 0; i < set->count; i++) {
        FILE *out = vs_xstream(&texts[i], &bytes);
        row->make(set, &set->runs[i], row, out);
        vs_xstream_end(out);
    }
    for (size_t i = 0; i < set->count; i++) {
        bool seen = !*texts[i];
        for (size_t k = 0; k < i && !seen; k++)
            seen = strcmp(texts[k], texts[i]) == 0;
        if (seen)
            continue;
        /* names that are all of them say nothing */
        size_t gpus = 0, named = 0;
        FILE *out = vs_xstream(&names, &bytes);
        for (size_t k = 0; k < set->count; k++) {
            const char *gpu = set->runs[k].gpu;
            bool first = vs_fit_set_first(set, gpu) == &set->runs[k], has = false;
            for (size_t m = k; first && m < set->count && !has; m++)
                has = strcmp(texts[m], texts[i]) == 0 && strcmp(set->runs[m].gpu, gpu) == 0;
            gpus += first;
            if (has)
                fprintf(out, "%s%s", named++ ? ", " : " on ", gpu);
        }
        vs_xstream_end(out);
        out = vs_xstream(&line, &bytes);
        fprintf(out, "%s%s", title + INDENT, named < gpus ? names : "");
        free(names);
        fputs(texts[i], out);
        vs_xstream_end(out);
        char *rows = strchr(line, '\n');
        if (rows)
            *rows++ = 0;
        vs_text_wrapped(style, lead, line);
        if (rows)
            fprintf(style->out, "%s\n", rows);
        free(line);
    }
    for (size_t i = 0; i < set->count; i++)
        free(texts[i]);
    free(texts);
}

/* *where* names a call site and its callers, which are left out from the one on that does not fit
 * into HOLDER_COLUMNS. */
static void put_holder(uint64_t bytes, const char *where, FILE *out)
{
    static const char between[] = " < ", more[] = " < …";
    size_t whole = strlen(where), fits = whole;
    if (whole > HOLDER_COLUMNS)
        for (const char *p = where; (p = strstr(p, between)); p++) {
            size_t before = (size_t)(p - where);
            if (fits < whole && before + strlen(between) + 1 > HOLDER_COLUMNS)
                break;
            fits = before; /* the first is printed even if it is too long */
        }
    fprintf(out, "\n%*s  %.*s%s", SIZE_COLUMN, vs_size_text(bytes), (int)fits, where,
            where[fits] ? more : "");
}

/* A row for each, the largest first. */
static void put_holders(const struct vs_fit_holders *holders, bool tensors, FILE *out)
{
    const char *unknown = tensors ? "PyTorch's own threads" : "unknown";
    uint64_t rest = holders->total_bytes;
    for (size_t i = 0; i < holders->count; i++) {
        const struct vs_fit_holder *one = &holders->items[i];
        if (i && one->bytes * 100 < holders->total_bytes)
            break;
        put_holder(one->bytes, *one->where ? one->where : unknown, out);
        /* What its line called in installed packages, and the rest. */
        char text[VS_PART_TEXT_MAX], name[VS_PART_TEXT_MAX];
        uint64_t other = one->bytes;
        for (size_t k = 0; k < one->parts.count && k < PARTS_SHOWN; k++) {
            const struct vs_site_part *part = &one->parts.items[k];
            vs_text_clip(name, vs_text_part(text, part), PART_COLUMNS);
            fprintf(out, "\n%*s  %5s×  %s", SIZE_COLUMN + INDENT, vs_size_text(part->bytes),
                    vs_count_text(part->count), name);
            other -= part->bytes;
        }
        if (other && one->parts.count)
            fprintf(out, "\n%*s  %6s  other functions", SIZE_COLUMN + INDENT, vs_size_text(other),
                    "");
        rest -= one->bytes;
    }
    if (rest * 100 >= holders->total_bytes && rest)
        put_holder(rest, "others", out);
}

/* What the tensors are for, in lines of at most VS_ANSWER_WIDTH columns; nothing unless it is known. */
static void put_kinds(const struct vs_kinds_table *table, FILE *out)
{
    enum vs_kind order[VS_KIND_COUNT];
    size_t count = vs_kinds_order(table, order), column = VS_ANSWER_WIDTH;
    if (table->kinds[VS_KIND_UNKNOWN].bytes == table->total.bytes)
        return;
    for (size_t i = 0; i < count; i++) {
        char text[VS_SIZE_TEXT_MAX + 32];
        uint64_t bytes = table->kinds[order[i]].bytes;
        if (bytes * 100 < table->total.bytes)
            continue;
        size_t length = (size_t)snprintf(text, sizeof text, "%s %s", vs_kind_name(order[i]),
                                         vs_size_text(bytes));
        bool first = column == VS_ANSWER_WIDTH, wraps = !first && column + length + 2 > VS_ANSWER_WIDTH;
        fprintf(out, "%s%s", first ? "\n  " : wraps ? ",\n  " : ", ", text);
        column = (first || wraps ? 2 : column + 2) + length;
    }
}

/* With --vary the peak of the largest value that fits is enough. */
static void put_peak(const struct vs_fit_set *set, const struct vs_fit_run *run, const struct fit_line *line, FILE *out)
{
    (void)line;
    if (run->answer != VS_FIT_YES || !run->worst_device->holders.count ||
        (set->vary && vs_fit_set_largest(set, run->gpu) != run))
        return;
    const char *place = run->worst_device->peak_place;
    if (set->vary)
        fprintf(out, " with %s%s%s", set->vary, *set->vary ? " " : "", run->value);
    if (run->rank)
        fprintf(out, " of rank %s%s", run->rank, set->ranks > 1 ? *place ? ", the one with the least headroom,"
                                                                       : ", the one with the least headroom" : "");
    fprintf(out, "%s%s", !*place ? "" : strcmp(place, VS_AFTER_LAST_STEP) ? " at " : " ", place);
    put_kinds(&run->worst_device->kinds, out);
    put_holders(&run->worst_device->holders, run->worst_device->tensors, out);
}

static void put_failure(const struct vs_fit_set *set, const struct vs_fit_run *run, const struct fit_line *line,
                        FILE *out)
{
    (void)line;
    if (set->vary || run->answer != VS_FIT_NO || *run->why)
        return;
    const struct vs_fit_device *device = run->worst_device;
    const struct vs_fit_failure *failure = &device->failure;
    if (run->rank)
        fprintf(out, " of rank %s", run->rank);
    fprintf(out, ": %s requested, %s of %s free%s", vs_size_text(failure->requested),
            vs_size_text(failure->free_bytes), vs_size_text(device->total_bytes),
            failure->holders.count ? "; memory was held by" : "");
    put_kinds(&failure->kinds, out);
    put_holders(&failure->holders, device->tensors, out);
}

/* An answer that rests on assumed sizes; with --vary, of the largest value that fits. */
static void put_if(const struct vs_fit_set *set, const struct vs_fit_run *run, const struct fit_line *line, FILE *out)
{
    const struct vs_fit_assumed *assumed = &run->assumed;
    if (run->answer != line->answer || !run->if_assumed ||
        (set->vary && vs_fit_set_largest(set, run->gpu) != run))
        return;
    if (assumed->count == 1)
        fputs(", if the assumed size holds: ", out);
    else
        fprintf(out, ", if the %zu assumed sizes hold: ", assumed->count);
    if (run->answer == VS_FIT_NO)
        fprintf(out, "short by %s, with %s assumed", vs_size_text(vs_fit_lacks(run)), vs_size_text(assumed->bytes));
    else
        fprintf(out, "margin %s; %s may be %s larger", vs_size_text(vs_fit_headroom(run)),
                assumed->count == 1 ? "it" : "they", vs_size_text(assumed->margin));
}

static void put_if_no_more(const struct vs_fit_set *set, const struct vs_fit_run *run,
                           const struct fit_line *line, FILE *out)
{
    (void)line;
    if (run->answer == VS_FIT_YES && run->if_no_more &&
        (!set->vary || vs_fit_set_largest(set, run->gpu) == run))
        fprintf(out, ", if a mask that was not computed selects no more: %s: %s", run->if_no_more->name,
                run->if_no_more->text);
}

static void put_needed(const struct vs_fit_set *set, const struct vs_fit_run *run, const struct fit_line *line,
                       FILE *out)
{
    (void)set, (void)line;
    if (!run->needed)
        return;
    struct vs_size_pair two = vs_sizes_apart(run->needed, run->worst_device->total_bytes);
    fprintf(out, ": %s instead of %s, %s more", two.a, two.b, vs_size_text(vs_fit_lacks(run)));
    if (run->needed_steps)
        fprintf(out, ", in its first %s step%s", vs_count_text(run->needed_steps),
                run->needed_steps == 1 ? "" : "s");
    if (run->worst_device->tensors)
        fputs("; vramscope advise finds what makes it fit", out);
}

static void put_remedy(const struct vs_fit_set *set, const struct vs_fit_run *run, const struct fit_line *line,
                       FILE *out)
{
    (void)set, (void)line;
    if (run->remedy.text)
        fprintf(out, ": %s", run->remedy.text);
}

static void put_largest(const struct vs_fit_set *set, const struct vs_fit_run *run, const struct fit_line *line,
                        FILE *out)
{
    (void)line;
    if (!set->vary || run != vs_fit_set_first(set, run->gpu)) /* one line per GPU */
        return;
    const struct vs_fit_run *largest = vs_fit_set_largest(set, run->gpu);
    if (largest)
        fprintf(out, ": %s%s%s", set->vary, *set->vary ? " " : "", largest->value);
    else
        fputs(vs_fit_set_answer(set, run->gpu) == VS_FIT_NO ? ": none of these values" : ": no answer", out);
}

static int by_bytes(const void *a, const void *b)
{
    const struct vs_fit_note *x = *(const struct vs_fit_note *const *)a;
    const struct vs_fit_note *y = *(const struct vs_fit_note *const *)b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : (x > y) - (x < y);
}

static void put_assumed(const struct vs_fit_set *set, const struct vs_fit_run *run, const struct fit_line *line,
                        FILE *out)
{
    const struct vs_fit_note_list *list = &run->notes.lists[VS_FIT_ASSUMED];
    const struct vs_fit_note *context = NULL; /* of the simulated driver; NULL: measured or given */
    for (size_t i = 0; i < list->count && !context; i++)
        if (!strcmp(list->items[i].library, "driver") && !strcmp(list->items[i].name, "context"))
            context = &list->items[i];
    (void)set, (void)line;
    if (list->count)
        fputs(": ", out);
    /* The largest but *context*; how many there are, if not all are shown. */
    size_t count = 0;
    const struct vs_fit_note **sorted = vs_xcalloc(list->count + 1, sizeof *sorted);
    for (size_t i = 0; i < list->count; i++)
        if (&list->items[i] != context)
            sorted[count++] = &list->items[i];
    qsort(sorted, count, sizeof *sorted, by_bytes);
    size_t shown = count < ASSUMED_MAX ? count : ASSUMED_MAX;
    while (shown > 1 && !sorted[shown - 1]->bytes)
        shown--; /* an assumption of 0 B matters as one of many */
    if (shown < count)
        fprintf(out, "%zu sizes, the largest ", count);
    for (size_t i = 0; i < shown; i++) {
        fputs(i ? ", " : "", out);
        const struct vs_fit_note *note = sorted[i];
        fprintf(out, "%s of %s %s", note->name, note->library, vs_size_text(note->bytes));
        if (note->count > 1)
            fprintf(out, " (%llu times)", (unsigned long long)note->count);
    }
    free(sorted);
    if (context)
        fprintf(out, "%scontext %s", list->count > 1 ? "; " : "", vs_size_text(context->bytes));
}

static void put_unsupported(const struct vs_fit_set *set, const struct vs_fit_run *run, const struct fit_line *line,
                            FILE *out)
{
    const struct vs_fit_note_list *list = &run->notes.lists[line->kind];
    (void)set;
    for (size_t i = 0; i < list->count && i < LISTED_MAX; i++)
        fprintf(out, "%s%s of %s", i ? ", " : ": ", list->items[i].name, list->items[i].library);
    if (list->count > LISTED_MAX)
        fprintf(out, ", %zu more", list->count - LISTED_MAX);
}

/* A row for each place of the program: "train.py:31: `if loss > 3`: read as False, 6 times". */
static void put_uses(const struct vs_fit_note_list *list, FILE *out)
{
    for (size_t i = 0; i < list->count && i < LISTED_MAX; i++) {
        const struct vs_fit_note *note = &list->items[i];
        fprintf(out, "\n%*s%s: %s", USE_INDENT, "", note->name, note->text);
        if (note->count > 1)
            fprintf(out, "%s, %llu times", note->varied ? " the first time" : "",
                    (unsigned long long)note->count);
    }
    if (list->count > LISTED_MAX)
        fprintf(out, "\n%*s%zu more lines; --json lists all", USE_INDENT, "", list->count - LISTED_MAX);
}

/* With --vary the places are those of every value: one run of each GPU is enough, the one whose peak
 * is shown. */
static void put_places(const struct vs_fit_set *set, const struct vs_fit_run *run, const struct fit_line *line,
                       FILE *out)
{
    const struct vs_fit_run *shown = run;
    if (set->vary && line->kind != VS_FIT_REPLACED)
        shown = vs_fit_set_largest(set, run->gpu);
    if ((shown ? shown : vs_fit_set_first(set, run->gpu)) == run)
        put_uses(&run->notes.lists[line->kind], out);
}

/* Of all ranks of a GPU, below its first one: equal ones once. */
static void put_unanswered(const struct vs_fit_set *set, const struct vs_fit_run *run, const struct fit_line *line,
                           FILE *out)
{
    struct vs_fit_note_list all = {0};
    for (size_t i = 0; run == vs_fit_set_first(set, run->gpu) && i < set->count; i++) {
        const struct vs_fit_note_list *list = &set->runs[i].notes.lists[line->kind];
        if (strcmp(set->runs[i].gpu, run->gpu) != 0)
            continue;
        for (size_t k = 0; k < list->count; k++) {
            char *fact = vs_xprintf("%s\t%s", list->items[k].name, list->items[k].text);
            if (vs_intern_text(&all.facts, fact) == all.count)
                VS_VEC_ADD(all.items, all.count, all.capacity, list->items[k]);
            free(fact);
        }
    }
    put_uses(&all, out);
    vs_intern_free(&all.facts);
    free(all.items);
}

/* Whose cache reserved memory includes, where it is not PyTorch's. */
static void put_policy(const struct vs_fit_set *set, const struct vs_fit_run *run, const struct fit_line *line,
                       FILE *out)
{
    (void)set, (void)line;
    if (run->answer == VS_FIT_YES && !run->worst_device->tensors && *run->worst_device->policy)
        fprintf(out, " with --allocator=%s%s", run->worst_device->policy,
                strcmp(run->worst_device->policy, "observe") ? "" : ": without the cache of vramscope run");
}

static void put_retries(const struct vs_fit_set *set, const struct vs_fit_run *run, const struct fit_line *line,
                        FILE *out)
{
    (void)set, (void)line;
    if (run->answer == VS_FIT_YES && run->retries)
        fprintf(out, " %llu time%s, for want of memory", (unsigned long long)run->retries,
                run->retries == 1 ? "" : "s");
}

/* ---- ranks ---- */

static bool same_class(const struct vs_fit_run *a, const struct vs_fit_run *b)
{
    const struct vs_fit_device *x = a->worst_device, *y = b->worst_device;
    if (strcmp(a->gpu, b->gpu) != 0 || a->answer != b->answer || strcmp(a->why, b->why) != 0 || !x != !y)
        return false;
    return !x || (x->peak_allocated == y->peak_allocated && x->peak_reserved == y->peak_reserved &&
                  a->used_peak == b->used_peak && x->failure.requested == y->failure.requested &&
                  (!x->failure.requested || (strcmp(x->failure.place, y->failure.place) == 0 &&
                                             strcmp(x->failure.where, y->failure.where) == 0)));
}

/* "0-3, 7" of the runs of set->runs[i]'s class. */
static char *ranks_of_class(const struct vs_fit_set *set, size_t i)
{
    char *text;
    size_t bytes;
    FILE *out = vs_xstream(&text, &bytes);
    unsigned long long last = 0;
    bool first = true, open = false;
    for (size_t k = i; k < set->count; k++) {
        if (!same_class(&set->runs[i], &set->runs[k]))
            continue;
        unsigned long long rank = strtoull(set->runs[k].rank, NULL, 10);
        bool follows = !first && rank == last + 1;
        if (open && !follows)
            fprintf(out, "-%llu", last);
        if (!follows)
            fprintf(out, "%s%llu", first ? "" : ", ", rank);
        open = follows;
        first = false;
        last = rank;
    }
    if (open)
        fprintf(out, "-%llu", last);
    vs_xstream_end(out);
    return text;
}

/* A rank that decides for its GPU: one that does not fit, else one without an answer, else that with the
 * least headroom. */
static bool decides(const struct vs_fit_run *a, const struct vs_fit_run *b)
{
    static const int order[] = {[VS_FIT_NO] = 2, [VS_FIT_UNKNOWN] = 1, [VS_FIT_YES] = 0};
    return a->answer != b->answer ? order[a->answer] > order[b->answer]
           : a->answer == VS_FIT_YES && vs_fit_headroom(a) < vs_fit_headroom(b);
}

/* The table of classes; *deciding* gets the rank that decides of each GPU. */
static void print_classes(const struct vs_fit_set *set, const struct vs_style *style,
                          struct vs_fit_set *deciding)
{
    struct vs_fit_set classes = *set;
    classes.runs = vs_xcalloc(set->count + 1, sizeof *classes.runs);
    classes.count = deciding->count = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct vs_fit_run *run = &set->runs[i];
        struct vs_fit_run *same_gpu = deciding->count ? &deciding->runs[deciding->count - 1] : NULL;
        if (!same_gpu || strcmp(same_gpu->gpu, run->gpu) != 0)
            deciding->runs[deciding->count++] = *run;
        else if (decides(run, same_gpu))
            *same_gpu = *run;
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = same_class(&set->runs[k], run);
        if (seen)
            continue;
        classes.runs[classes.count] = *run;
        classes.runs[classes.count++].rank = ranks_of_class(set, i);
    }
    print_table(&classes, style);
    size_t ran = 0; /* of the first GPU */
    while (ran < set->count && strcmp(set->runs[ran].gpu, set->runs[0].gpu) == 0)
        ran++;
    bool known = set->runs[0].notes.lists[VS_FIT_RANKS].count > 0;
    if (ran < set->ranks && set->runs[0].answer == VS_FIT_UNKNOWN)
        vs_text_lines(style, "  ", "rank 0 gave no answer, so no other of the %s ranks was run", vs_count_text(set->ranks));
    else if (ran < set->ranks)
        vs_text_lines(style, "  ", "%zu of %s ranks were run, each alone. The others were not run: each is taken "
                      "to be like one of those%s (--rank runs more).", ran, vs_count_text(set->ranks),
                      known ? ", the one with the same place in its groups: first, inner or last"
                            : "; the program's groups are not known");
    else
        vs_text_lines(style, "  ", "each of the %zu ranks was run alone", ran);
    if (deciding->count && deciding->runs[0].worst_device && deciding->runs[0].worst_device->tensors)
        vs_text_lines(style, "  ", "peak allocated and reserved are those of PyTorch's allocator; NCCL's "
                      "buffers and the CUDA context are subtracted from the headroom as well");
    for (size_t i = 0; i < classes.count; i++)
        free(classes.runs[i].rank);
    free(classes.runs);
}

void vs_fit_errors_text(const char *errors, const struct vs_style *style)
{
    while (*errors) {
        size_t length = strcspn(errors, "\n");
        fputs("    ", style->out);
        vs_text_put_part(style->out, errors, length);
        fputc('\n', style->out);
        errors += length + (errors[length] == '\n');
    }
}

void vs_fit_text(const struct vs_fit_set *set, const struct vs_style *style)
{
    static const struct fit_line lines[] = {
        {"largest that fits", .make = put_largest},
        {"fits", put_if, .answer = VS_FIT_YES},
        {"fits", .make = put_if_no_more},
        {"does not fit", put_if, .answer = VS_FIT_NO},
        {"would need", .make = put_needed},
        {"peak", .make = put_peak},
        {"reserved", .make = put_policy},
        {"failure", .make = put_failure},
        {"would help (replayed)", .make = put_remedy},
        {"PyTorch emptied its cache", .make = put_retries},
        {"assumed", .make = put_assumed},
        {"not supported", put_unsupported, .kind = VS_FIT_UNSUPPORTED},
        {"ran another kernel than on a GPU", put_places, .kind = VS_FIT_REPLACED},
        {"decided by values that were not computed", put_places, .kind = VS_FIT_DECIDED},
        {"read, but not computed", put_places, .kind = VS_FIT_READ},
        {"not known without the other ranks", put_unanswered, .kind = VS_FIT_UNANSWERED}};
    struct vs_fit_set some = *set; /* the runs whose peak and failure are shown */
    some.runs = vs_xcalloc(set->count + 1, sizeof *some.runs);
    memcpy(some.runs, set->runs, set->count * sizeof *some.runs);
    if (set->ranks)
        print_classes(set, style, &some);
    else
        print_table(set, style);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        print_line(lines[i].kind == VS_FIT_UNANSWERED ? set : &some, &lines[i], style);
    free(some.runs);
    if (set->kept)
        fprintf(style->out, "traces: %s (vramscope oom TRACE explains a failure)\n", set->kept);
    /* The end of the program's own messages, where these are the only explanation. */
    for (size_t i = 0; i < set->count; i++) {
        const struct vs_fit_run *run = &set->runs[i];
        if (run->answer != VS_FIT_UNKNOWN || !run->errors || !*run->errors)
            continue;
        fprintf(style->out, "\nthe end of the standard error on %s%s%s:\n", run->gpu,
                run->rank ? ", rank " : run->value ? ", " : "",
                run->rank ? run->rank : run->value ? run->value : "");
        vs_fit_errors_text(run->errors, style);
    }
}
