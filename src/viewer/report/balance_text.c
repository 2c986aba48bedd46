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

static void print_row(const struct vs_style *style, const char *label, const int64_t bytes[2],
                      size_t columns, enum vs_paint paint)
{
    int room = (int)style->width - 4 - SIZE_COLUMNS * (int)columns, width = (int)vs_text_width(label);
    room = room < LABEL_COLUMNS ? room : LABEL_COLUMNS;
    fprintf(style->out, "    %s%s", vs_paint(style, paint), label);
    if (width >= room && room < LABEL_COLUMNS) /* a narrow terminal: the sizes below the label */
        fprintf(style->out, "\n%*s", 4 + (room > 0 ? room : 0), "");
    else
        fprintf(style->out, "%*s", width < room ? room - width : 1, "");
    for (size_t i = 0; i < columns; i++) {
        char text[VS_SIZE_TEXT_MAX + 1] = "-";
        bool below = bytes[i] < 0;
        vs_size_format(text + below, below ? 0 - (uint64_t)bytes[i] : (uint64_t)bytes[i]);
        fprintf(style->out, "  %13s", text);
    }
    fprintf(style->out, "%s\n", vs_unpaint(style));
}

static void print_table(const struct vs_style *style, const struct vs_balance *const *at,
                        size_t columns)
{
    const struct vs_balance *a = at[0], *b = at[columns - 1], *most = a;
    char contexts[96], others[96];
    if (b->context_count + b->others_count > a->context_count + a->others_count)
        most = b;
    snprintf(contexts, sizeof contexts, "CUDA context%s (%" PRIu64 "%s)",
             most->context_count == 1 ? "" : "s", most->context_count, context_source(most));
    snprintf(others, sizeof others, "other processes (%" PRIu64 ")", most->others_count);
#define BOTH(figure) {(int64_t)a->figure, (int64_t)b->figure}
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        if (live_labels[f] && (a->live[f] || b->live[f]))
            print_row(style, live_labels[f], (int64_t[2])BOTH(live[f]), columns, VS_PLAIN);
    const struct {
        const char *label;
        int64_t bytes[2];
        bool always;
        enum vs_paint paint;
    } rows[] = {
        {"cached but unused", BOTH(cached), false, VS_PLAIN},
        {"cached by stream-ordered pools", BOTH(pools), false, VS_PLAIN},
        {"reserved for CUDA graphs", BOTH(graphs), false, VS_PLAIN},
        {"rounding to the driver's 2 MiB pages", BOTH(rounding), false, VS_PLAIN},
        {contexts, BOTH(contexts), false, VS_PLAIN},
        {"modules", BOTH(modules), false, VS_PLAIN},
        {"stack, printf and heap limits", BOTH(limits), false, VS_PLAIN},
        {"managed, at most (residency unknown)", BOTH(managed), false, VS_PLAIN},
        {others, BOTH(others), false, VS_PLAIN},
        {"unexplained", BOTH(unexplained), true,
         a->unexplained || b->unexplained ? VS_WARN : VS_PLAIN},
        {"= used", BOTH(used), true, VS_BOLD},
        {"free", BOTH(free), true, VS_PLAIN},
        {"total", BOTH(total), true, VS_PLAIN},
    };
#undef BOTH
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].always || rows[i].bytes[0] || rows[i].bytes[1])
            print_row(style, rows[i].label, rows[i].bytes, columns, rows[i].paint);
}

/* --- possible causes of the rest --- */

/* The part of the unexplained memory that the device attributes to this process. */
static uint64_t unexplained_here(const struct vs_balance *b)
{
    uint64_t known = b->used - b->others - b->managed - (uint64_t)b->unexplained;
    uint64_t here = b->own_known && b->own > known ? b->own - known : 0;
    return b->unexplained > 0 && here > (uint64_t)b->unexplained ? (uint64_t)b->unexplained : here;
}

static void print_reasons(const struct vs_style *style, const struct vs_balance *b)
{
    const char *lead = "    ";
    if (b->unexplained > 0 && unexplained_here(b))
        vs_text_lines(style, lead, "unexplained: %s of it belongs to this process, says NVML",
                      vs_size_text(unexplained_here(b)));
    if (b->unexplained && b->rounding_partial)
        vs_text_wrapped(style, lead, "rounding is known for recorded allocations only: unexplained "
                        "is off by that of the others");
    else if (b->unexplained < 0)
        vs_text_wrapped(style, lead, "unexplained is below 0: some memory is counted twice, such "
                        "as small blocks that share a page");
    if (b->unexplained && !b->others_known && b->contexts_how != VS_OVERHEAD_AT_MOST)
        vs_text_wrapped(style, lead, "unexplained may be memory of other processes: NVML did not "
                        "list them");
    if (b->unexplained > 0 && b->contexts_unmeasured + (b->context_count == 0))
        vs_text_wrapped(style, lead, "unexplained includes contexts whose size is unknown");
    if (b->unexplained > 0 && b->small_arrays)
        vs_text_lines(style, lead, "unexplained includes the pages of %" PRIu64 " arrays below "
                      "1 MiB: up to %s", b->small_arrays, vs_size_text(b->small_arrays << 21));
    if (b->unexplained > 0 && !b->pools_known && b->live[VS_FAMILY_ASYNC])
        vs_text_wrapped(style, lead, "unexplained includes memory cached by stream-ordered pools, "
                        "which was not read");
    if (b->unexplained > 0 && b->others_known && !b->contexts_unmeasured && !b->small_arrays)
        vs_text_wrapped(style, lead, "unexplained may be code loaded later, local memory, the "
                        "driver's own tables, or calls that were not intercepted");
    if (b->managed_live)
        vs_text_lines(style, lead, "managed: %s allocated; CUDA does not report how much of it is "
                      "on the device", vs_size_text(b->managed_live));
    if (b->imported)
        vs_text_lines(style, lead, "imported from other processes and counted there: %s",
                      vs_size_text(b->imported));
}

void vs_balance_rows(const struct vs_style *style, const struct vs_balance *balance)
{
    print_table(style, &balance, 1);
    print_reasons(style, balance);
}

void vs_balance_text(const struct vs_style *style, const struct vs_report_device *device, uint64_t end_ns,
                     const char *end)
{
    const struct vs_balance *peak = &device->balance_peak, *last = &device->balance_last;
    const struct vs_balance *at[2] = {peak, last};
    char before[96];
    if (!peak->known)
        return;
    size_t columns = last->known && last->event != peak->event ? 2 : 1;
    fprintf(style->out, "  %sdevice memory in use%*s  %13s%s%s\n", vs_paint(style, VS_DIM),
            LABEL_COLUMNS + 2 - 20, "", "highest use", columns == 2 ? "   last reading" : "",
            vs_unpaint(style));
    const char *a = vs_time_text(peak->time_ns), *b = vs_time_text(last->time_ns);
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
    for (size_t i = 0; peak->others_known && i < peak->process_count; i++)
        fprintf(style->out, "    other process: pid %" PRIu64 " holds %s\n", peak->process[i].pid,
                vs_size_text(peak->process[i].bytes));
    if (peak->others_how == VS_USAGE_NO_BYTES && peak->others_count)
        fprintf(style->out,
                "    %" PRIu64 " other %s the device; NVML does not report how much\n",
                    peak->others_count,
                peak->others_count == 1 ? "process uses" : "processes use");
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
            fprintf(style->out, ", %s of it in %s", vs_size_text(peak->framework_allocated), device->contents);
        fprintf(style->out, "\n");
    }
    if (peak->outside_framework)
        fprintf(style->out, "    %12s  of it outside %s's allocator\n",
                vs_size_text(peak->outside_framework), device->framework);
}

/* --- JSON --- */

void vs_families_json(struct vs_json *json, const char *key, const uint64_t bytes[VS_FAMILY_COUNT])
{
    vs_json_begin_object(json, key);
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        if (bytes[f])
            vs_json_uint(json, vs_family_name((uint64_t)f), bytes[f]);
    vs_json_end_object(json);
}

void vs_balance_json(struct vs_json *json, const char *key, const struct vs_balance *b)
{
    if (!vs_json_begin_object_if(json, key, b->known))
        return;
    vs_json_members(json, VS_J_UINT("event", b->event), VS_J_UINT("time_ns", b->time_ns),
                    VS_J_TEXT("phase", b->place), VS_J_UINT("total_bytes", b->total),
                    VS_J_UINT("free_bytes", b->free), VS_J_UINT("used_bytes", b->used));
    static const char *const known[] = {"measured", "reported_by_nvml", "at_most"};
    static const char *const how[] = {"by_pid", "by_elimination", "not_told_apart", "no_figures"};
    vs_json_begin_object(json, "parts");
    vs_families_json(json, "live", b->live);
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
                              : b->contexts_how < 3  ? known[b->contexts_how] : "at_most"),
                    VS_J_UINT("managed_live_bytes", b->managed_live),
                    VS_J_UINT("imported_bytes", b->imported),
                    VS_J_UINT("small_arrays", b->small_arrays));
    vs_json_begin(json, "processes", VS_J_BOOL("others_known", b->others_known),
                  VS_J_TEXT("how", b->others_how < 4 ? how[b->others_how] : "not_told_apart"),
                  VS_J_UINT("others", b->others_count),
                  VS_J_UINT_IF(b->own_known, "this_process_bytes", b->own));
    for (size_t i = 0; vs_json_next(json, "largest", i, b->process_count); i++)
        vs_json_object(json, NULL, VS_J_UINT("pid", b->process[i].pid),
                       VS_J_UINT("bytes", b->process[i].bytes));
    vs_json_end_object(json);
    vs_json_members(json, VS_J_UINT("allocated_bytes", vs_balance_allocated(b)),
                    VS_J_UINT("framework_allocated_bytes", b->framework_allocated),
                    VS_J_UINT("outside_framework_bytes", b->outside_framework));
    for (size_t i = 0; vs_json_next(json, "libraries", i, b->library_count); i++)
        vs_json_object(json, NULL, VS_J_TEXT("name", b->libraries[i].name),
                       VS_J_UINT("bytes", b->libraries[i].bytes),
                       VS_J_UINT("count", b->libraries[i].count));
    vs_json_end_object(json);
}
