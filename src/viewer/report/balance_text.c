/* SPDX-License-Identifier: Apache-2.0
 *
 * A row is printed if any of its figures is not 0; used, free and total always are,
 * so that a reader can check the sum. */
#include "viewer/report/report_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/vs_size.h"

#define LABEL_COLUMNS 42
#define SIZE_COLUMNS 15
#define LIBRARIES_SHOWN 8
#define ROWS_MAX 32
#define REASON_MAX 256

struct balance_text_row {
    char label[96];
    int64_t bytes[2];
};

struct balance_text_table {
    struct balance_text_row rows[ROWS_MAX];
    size_t count;
};

/* Live memory, by family; those of the host, and managed memory, have other rows or none. */
static const char *const live_labels[VS_FAMILY_COUNT] = {
    [VS_FAMILY_DEVICE] = "allocated by cudaMalloc",
    [VS_FAMILY_ASYNC] = "allocated by cudaMallocAsync",
    [VS_FAMILY_ARRAY] = "allocated as arrays",
    [VS_FAMILY_VMM] = "allocated by cuMemCreate",
    [VS_FAMILY_GRAPH] = "allocated by CUDA graphs",
};

static const char *context_source(const struct vs_balance *b)
{
    if (b->contexts_unmeasured)
        return ", not all sizes known";
    switch (b->contexts_how) {
    case VS_OVERHEAD_MEASURED: return "";
    case VS_OVERHEAD_REPORTED: return ", size from NVML";
    default: return ", at most";
    }
}

static void set_cell(struct balance_text_table *table, size_t column, const char *label, int64_t bytes)
{
    size_t i = 0;
    while (i < table->count && strcmp(table->rows[i].label, label) != 0)
        i++;
    if (i == table->count) {
        if (i == ROWS_MAX)
            return;
        table->count++;
        table->rows[i] = (struct balance_text_row){.bytes = {0, 0}};
        snprintf(table->rows[i].label, sizeof table->rows[i].label, "%s", label);
    }
    table->rows[i].bytes[column] = bytes;
}

static const char *signed_size(char out[VS_SIZE_TEXT_MAX + 1], int64_t bytes)
{
    char *at = out;
    if (bytes < 0)
        *at++ = '-';
    vs_size_format(at, bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes);
    return out;
}

static void print_row(const struct vs_style *style, const char *label, const int64_t bytes[2],
                      size_t columns, enum vs_paint paint)
{
    char text[VS_SIZE_TEXT_MAX + 1];
    int room = (int)style->width - 4 - SIZE_COLUMNS * (int)columns, width = (int)vs_text_width(label);
    room = room < LABEL_COLUMNS ? room : LABEL_COLUMNS;
    fprintf(style->out, "    %s%s", vs_paint(style, paint), label);
    if (width >= room && room < LABEL_COLUMNS) /* a narrow terminal: the sizes below the label */
        fprintf(style->out, "\n%*s", 4 + (room > 0 ? room : 0), "");
    else
        fprintf(style->out, "%*s", width < room ? room - width : 1, "");
    for (size_t i = 0; i < columns; i++)
        fprintf(style->out, "  %13s", signed_size(text, bytes[i]));
    fprintf(style->out, "%s\n", vs_unpaint(style));
}

static void print_table(const struct vs_style *style, const struct vs_balance *const *at,
                        size_t columns)
{
    struct balance_text_table table = {.count = 0};
    const struct vs_balance *most = at[0];
    if (columns > 1 && at[1]->context_count + at[1]->others_count >
                           at[0]->context_count + at[0]->others_count)
        most = at[1];
    for (size_t i = 0; i < columns; i++) {
        /* The labels describe *most*. */
        const struct vs_balance *b = at[i];
        char label[96];
        for (int f = 0; f < VS_FAMILY_COUNT; f++) {
            if (f == VS_FAMILY_MANAGED || !vs_family_on_device((uint64_t)f))
                continue;
            set_cell(&table, i, live_labels[f], (int64_t)b->live[f]);
        }
        set_cell(&table, i, "cached but unused", (int64_t)b->cached);
        set_cell(&table, i, "cached by stream-ordered pools", (int64_t)b->pools);
        set_cell(&table, i, "reserved for CUDA graphs", (int64_t)b->graphs);
        set_cell(&table, i, "rounding to the driver's 2 MiB pages", (int64_t)b->rounding);
        snprintf(label, sizeof label, "CUDA context%s (%" PRIu64 "%s)",
                 most->context_count == 1 ? "" : "s", most->context_count, context_source(most));
        set_cell(&table, i, label, (int64_t)b->contexts);
        set_cell(&table, i, "modules", b->modules);
        set_cell(&table, i, "stack, printf and heap limits", b->limits);
        set_cell(&table, i, "managed, at most (residency unknown)", (int64_t)b->managed);
        snprintf(label, sizeof label, "other processes (%" PRIu64 ")", most->others_count);
        set_cell(&table, i, label, (int64_t)b->others);
        set_cell(&table, i, "unexplained", b->unexplained);
    }
    for (size_t i = 0; i < table.count; i++) {
        const struct balance_text_row *row = &table.rows[i];
        bool rest = strcmp(row->label, "unexplained") == 0;
        if (rest || row->bytes[0] || row->bytes[1])
            print_row(style, row->label, row->bytes, columns,
                      rest && (row->bytes[0] || row->bytes[1]) ? VS_WARN : VS_PLAIN);
    }
    int64_t used[2] = {0}, unused[2] = {0}, total[2] = {0};
    for (size_t i = 0; i < columns; i++) {
        used[i] = (int64_t)at[i]->used;
        unused[i] = (int64_t)at[i]->free;
        total[i] = (int64_t)at[i]->total;
    }
    print_row(style, "= used", used, columns, VS_BOLD);
    print_row(style, "free", unused, columns, VS_PLAIN);
    print_row(style, "total", total, columns, VS_PLAIN);
}

/* --- possible causes of the rest --- */

static void say(const struct vs_style *style, const char *text)
{
    vs_text_wrapped(style, "    ", text);
}

/* The part of the unexplained memory that the device attributes to this process. */
static uint64_t unexplained_here(const struct vs_balance *b)
{
    uint64_t known = b->used - b->others - b->managed - (uint64_t)b->unexplained;
    uint64_t here = b->own_known && b->own > known ? b->own - known : 0;
    return b->unexplained > 0 && here > (uint64_t)b->unexplained ? (uint64_t)b->unexplained : here;
}

static void print_reasons(const struct vs_style *style, const struct vs_balance *b)
{
    char text[REASON_MAX];
    if (b->unexplained > 0 && unexplained_here(b)) {
        snprintf(text, sizeof text, "unexplained: %s of it belongs to this process, says NVML",
                 vs_size_text(unexplained_here(b)));
        say(style, text);
    }
    if (b->unexplained && b->rounding_partial)
        say(style, "rounding is known for recorded allocations only: unexplained is off by that of the "
                   "others");
    else if (b->unexplained < 0)
        say(style, "unexplained is below 0: some memory is counted twice, such as small blocks that "
                   "share a page");
    if (b->unexplained && !b->others_known && b->contexts_how != VS_OVERHEAD_AT_MOST)
        say(style, "unexplained may be memory of other processes: NVML did not list them");
    if (b->unexplained > 0 && b->contexts_unmeasured + (b->context_count == 0))
        say(style, "unexplained includes contexts whose size is unknown");
    if (b->unexplained > 0 && b->small_arrays) {
        snprintf(text, sizeof text,
                 "unexplained includes the pages of %" PRIu64 " arrays below 1 MiB: up to %s",
                 b->small_arrays, vs_size_text(b->small_arrays << 21));
        say(style, text);
    }
    if (b->unexplained > 0 && !b->pools_known && b->live[VS_FAMILY_ASYNC])
        say(style, "unexplained includes memory cached by stream-ordered pools, which was not read");
    if (b->unexplained > 0 && b->others_known && !b->contexts_unmeasured && !b->small_arrays)
        say(style, "unexplained may be code loaded later, local memory, the driver's own tables, "
                   "or calls that were not intercepted");
    if (b->managed_live) {
        snprintf(text, sizeof text,
                 "managed: %s allocated; CUDA does not report how much of it is on the device",
                 vs_size_text(b->managed_live));
        say(style, text);
    }
    if (b->imported) {
        snprintf(text, sizeof text, "imported from other processes and counted there: %s",
                 vs_size_text(b->imported));
        say(style, text);
    }
}

static void print_processes(const struct vs_style *style, const struct vs_balance *b)
{
    for (size_t i = 0; b->others_known && i < b->process_count; i++)
        fprintf(style->out, "    other process: pid %" PRIu64 " holds %s\n", b->process[i].pid,
                vs_size_text(b->process[i].bytes));
    if (b->others_how == VS_USAGE_NO_BYTES && b->others_count)
        fprintf(style->out,
                "    %" PRIu64 " other %s the device; NVML does not report how much\n", b->others_count,
                b->others_count == 1 ? "process uses" : "processes use");
}

void vs_balance_rows(const struct vs_style *style, const struct vs_balance *balance)
{
    print_table(style, &balance, 1);
    print_reasons(style, balance);
}

void vs_balance_text(const struct vs_style *style, const struct vs_balance *peak,
                     const struct vs_balance *last, uint64_t end_ns, const char *end)
{
    const struct vs_balance *at[2] = {peak, last};
    static const char *const names[2] = {"highest use", "last reading"};
    char b[VS_SIZE_TEXT_MAX], before[96];
    if (!peak->known)
        return;
    size_t columns = last->known && last->event != peak->event ? 2 : 1;
    fprintf(style->out, "  %sdevice memory in use%*s", vs_paint(style, VS_DIM),
            LABEL_COLUMNS + 2 - 20, "");
    for (size_t i = 0; i < columns; i++)
        fprintf(style->out, "  %13s", names[i]);
    fprintf(style->out, "%s\n", vs_unpaint(style));
    const char *a = vs_time_text(peak->time_ns);
    vs_time_format(b, last->time_ns);
    if (end_ns > last->time_ns)
        snprintf(before, sizeof before, "%s before %s", vs_time_text(end_ns - last->time_ns), end);
    else
        snprintf(before, sizeof before, "at %s", end);
    if (columns == 2)
        vs_text_lines(style, "    ", "read at %s%s%s, and at %s, %s", a, *peak->place ? ", " : "",
                      peak->place, b, before);
    else
        vs_text_lines(style, "    ", "last read at %s%s%s, %s", a, *peak->place ? ", " : "",
                      peak->place, before);
    print_table(style, at, columns);
    print_processes(style, peak);
    print_reasons(style, peak);
    uint64_t all = 0;
    for (size_t i = 0; i < peak->library_count; i++)
        all += peak->libraries[i].bytes;
    if (peak->library_count == 0 ||
        (peak->library_count == 1 && (peak->libraries[0].framework ||
                                      strcmp(peak->libraries[0].name, "the program") == 0)))
        return;
    fprintf(style->out, "  memory by library at the highest use of the device\n");
    for (size_t i = 0; i < peak->library_count && i < LIBRARIES_SHOWN; i++) {
        const struct vs_balance_library *library = &peak->libraries[i];
        fprintf(style->out, "    %12s  %7s  %6" PRIu64 "×  ", vs_size_text(library->bytes),
                vs_percent_text(library->bytes, all), library->count);
        vs_text_put(style->out, library->name);
        if (library->framework && peak->framework_allocated &&
            peak->framework_allocated <= library->bytes)
            fprintf(style->out, ", %s of it in tensors", vs_size_text(peak->framework_allocated));
        fprintf(style->out, "\n");
    }
    if (peak->outside_framework)
        fprintf(style->out, "    %12s  of it outside PyTorch's allocator\n",
                vs_size_text(peak->outside_framework));
}

/* --- JSON --- */

static void parts_json(struct vs_json *json, const struct vs_balance *b)
{
    static const char *const how[] = {"measured", "reported_by_nvml", "at_most"};
    vs_json_begin_object(json, "parts");
    vs_json_begin_object(json, "live");
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        if (b->live[f])
            vs_json_uint(json, vs_family_name((uint64_t)f), b->live[f]);
    vs_json_end_object(json);
    vs_json_members(json, VS_J_UINT("cached", b->cached), VS_J_UINT("pools", b->pools),
                    VS_J_UINT("graphs", b->graphs), VS_J_UINT("rounding", b->rounding),
                    VS_J_UINT("contexts", b->contexts), VS_J_INT("modules", b->modules),
                    VS_J_INT("limits", b->limits), VS_J_UINT("managed_at_most", b->managed),
                    VS_J_UINT("other_processes", b->others),
                    VS_J_INT("unexplained", b->unexplained),
                    VS_J_BOOL("rounding_partial", b->rounding_partial));
    vs_json_end_object(json);
    vs_json_members(json, VS_J_UINT("context_count", b->context_count),
                    VS_J_TEXT("contexts_known",
                              b->contexts_unmeasured ? "not_all"
                              : b->contexts_how < 3  ? how[b->contexts_how] : "at_most"));
}

void vs_balance_json(struct vs_json *json, const char *key, const struct vs_balance *b)
{
    if (!b->known) {
        vs_json_string(json, key, NULL);
        return;
    }
    vs_json_begin_object(json, key);
    vs_json_members(json, VS_J_UINT("event", b->event), VS_J_UINT("time_ns", b->time_ns),
                    VS_J_TEXT("phase", b->place), VS_J_UINT("total_bytes", b->total),
                    VS_J_UINT("free_bytes", b->free), VS_J_UINT("used_bytes", b->used));
    parts_json(json, b);
    vs_json_members(json, VS_J_UINT("managed_live_bytes", b->managed_live),
                    VS_J_UINT("imported_bytes", b->imported),
                    VS_J_UINT("small_arrays", b->small_arrays));
    static const char *const how[] = {"by_pid", "by_elimination", "not_told_apart", "no_figures"};
    vs_json_begin_object(json, "processes");
    vs_json_members(json, VS_J_BOOL("others_known", b->others_known),
                    VS_J_TEXT("how", b->others_how < 4 ? how[b->others_how] : "not_told_apart"),
                    VS_J_UINT("others", b->others_count),
                    VS_J_UINT_IF(b->own_known, "this_process_bytes", b->own));
    vs_json_begin_array(json, "largest");
    for (size_t i = 0; i < b->process_count; i++)
        vs_json_object(json, NULL, VS_J_UINT("pid", b->process[i].pid),
                       VS_J_UINT("bytes", b->process[i].bytes));
    vs_json_end_array(json);
    vs_json_end_object(json);
    vs_json_members(json, VS_J_UINT("allocated_bytes", vs_balance_allocated(b)),
                    VS_J_UINT("framework_allocated_bytes", b->framework_allocated),
                    VS_J_UINT("outside_framework_bytes", b->outside_framework));
    vs_json_begin_array(json, "libraries");
    for (size_t i = 0; i < b->library_count; i++)
        vs_json_object(json, NULL, VS_J_TEXT("name", b->libraries[i].name),
                       VS_J_UINT("bytes", b->libraries[i].bytes),
                       VS_J_UINT("count", b->libraries[i].count));
    vs_json_end_array(json);
    vs_json_end_object(json);
}
