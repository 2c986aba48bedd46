/* SPDX-License-Identifier: Apache-2.0
 *
 * The details of one process and device: what is most urgent comes first. */
#include <inttypes.h>
#include <string.h>

#include "analysis/naming/name_text.h"
#include "base/vs_size.h"
#include "base/vs_text.h"
#include "viewer/top/top_frame.h"

#define LABEL 11u   /* columns */
#define URGENT_SECONDS 600u
#define URGENT_STEPS 20u
#define CHAIN_ROWS 3u
#define BAR_MAX 40u

char *vs_top_program(char *out, const struct vs_watch_view *view)
{
    if (!*vs_process_name(view->exe, view->cmdline, out, VS_TOP_PROGRAM_MAX))
        snprintf(out, VS_TOP_PROGRAM_MAX, "%s", view->path ? vs_text_base_name(view->path) : "?");
    return out;
}

enum vs_paint vs_top_alarm(const struct vs_watch_device *device)
{
    const struct vs_forecast *f = &device->forecast;
    if (!device->growing)
        return VS_PLAIN;
    bool soon = f->known && ((f->time_known && f->seconds < URGENT_SECONDS) ||
                             (f->steps_known && f->steps < URGENT_STEPS));
    return soon ? VS_BAD : VS_WARN;
}

static unsigned label(struct vs_grid *grid, unsigned row, const char *text)
{
    vs_grid_put(grid, row, 0, LABEL, VS_DIM, "%s", text);
    return LABEL;
}

/* --- lines --- */

static void title(const struct vs_top_process *process, const struct vs_watch_device *device,
                  struct vs_grid *grid, unsigned row)
{
    const struct vs_watch_view *view = &process->view;
    char name[VS_TOP_PROGRAM_MAX], right[64];
    unsigned at = vs_grid_put(grid, row, 0, grid->columns, VS_BOLD, "%s", vs_top_program(name, view));
    if (process->pid) /* an imported trace has none */
        at = vs_grid_put(grid, row, at, grid->columns, VS_PLAIN, " (%" PRIu64 ")", process->pid);
    snprintf(right, sizeof right, "%s %s",
             process->error  ? "cannot be read"
             : view->running ? "running"
                             : "ended after",
             view->run_ns ? vs_time_text(view->run_ns) : "");
    unsigned width = (unsigned)strlen(right), end = grid->columns - width - 2;
    if (grid->columns < at + width + 2)
        end = grid->columns;
    else
        vs_grid_right(grid, row, grid->columns, width, VS_PLAIN, "%s", right);
    if (device)
        vs_grid_put(grid, row, at, end, VS_PLAIN, ", GPU %" PRIu64 "%s%s", device->device,
                    *device->name ? ": " : "", device->name);
}

static void device_line(const struct vs_watch_device *device, struct vs_grid *grid, unsigned row)
{
    char text[128], busy[24] = "";
    struct vs_size_pair sizes = vs_sizes_apart(device->used, device->total);
    unsigned at = label(grid, row, "device");
    if (!device->used_known) {
        vs_grid_put(grid, row, at, grid->columns, VS_PLAIN, "%s in all, its use is not known",
                    vs_size_format(text, device->total));
        return;
    }
    double part = (double)device->used / (double)device->total;
    if (device->busy_known)
        snprintf(busy, sizeof busy, ", busy %u %%", device->busy_percent);
    snprintf(text, sizeof text, "%s of %s in use%s", sizes.a, sizes.b, busy);
    unsigned room = grid->columns > at + strlen(text) + 8 ? grid->columns - at - (unsigned)strlen(text) - 3 : 0;
    unsigned bar = room < BAR_MAX ? room : BAR_MAX;
    unsigned full = (unsigned)(part * bar + 0.5);
    if (bar)
        at = vs_grid_put(grid, row, at, grid->columns, VS_PLAIN, "[");
    for (unsigned i = 0; i < bar; i++)
        at = vs_grid_put(grid, row, at, grid->columns,
                         i >= full ? VS_DIM : part > 0.9 ? VS_BAD : VS_GOOD, i < full ? "#" : ".");
    vs_grid_put(grid, row, at, grid->columns, VS_PLAIN, "%s%s", bar ? "] " : "", text);
}

/* --- call sites --- */

/* "x = f(y) (train.py:12)": where it is too long, the code is cut rather than its place. */
static void site_name(const char *name, enum vs_paint paint, struct vs_grid *grid, unsigned row,
                      unsigned at, unsigned end)
{
    const char *place = NULL;
    unsigned room = end > at ? end - at : 0, width = (unsigned)vs_text_width(name);
    for (const char *p = name; !strstr(name, " < ") && (p = strstr(p, " (")); p++)
        place = p;
    unsigned tail = place ? (unsigned)vs_text_width(place) : 0;
    if (width <= room || !place || tail + 8 > room) {
        vs_grid_put(grid, row, at, end, paint, "%s", name);
        return;
    }
    vs_grid_put(grid, row, at, end - tail, paint, "%.*s", (int)(place - name), name);
    vs_grid_put(grid, row, end - tail, end, paint, "%s", place);
}

static void site_row(const struct vs_watch_device *device, const struct vs_watch_site *site,
                     struct vs_grid *grid, unsigned row)
{
    char growth[64] = "";
    bool wide = grid->columns >= 60;
    unsigned at = wide ? 29 : 20;
    vs_grid_right(grid, row, 11, 10, VS_PLAIN, "%s", vs_size_text(site->bytes));
    vs_grid_right(grid, row, 18, 6, VS_PLAIN, "%.0f %%",
                  device->sites_bytes ? 100 * (double)site->bytes / (double)device->sites_bytes : 0);
    if (wide)
        vs_grid_right(grid, row, 27, 8, VS_PLAIN, "%s", vs_count_text(site->count));
    if (site->growing && site->growth_per_step)
        snprintf(growth, sizeof growth, "+%s/step", vs_size_text(site->growth_per_step));
    else if (site->growing)
        snprintf(growth, sizeof growth, "grows");
    unsigned width = (unsigned)strlen(growth), end = grid->columns;
    if (width && at + width + 12 < grid->columns) {
        vs_grid_right(grid, row, grid->columns, width, VS_WARN, "%s", growth);
        end -= width + 1;
    }
    site_name(site->name ? site->name : "?", site->growing ? VS_WARN : VS_PLAIN, grid, row, at, end);
}

/* The source line of the chain's first function, and the chain after it, on a few rows. */
static unsigned chain_rows(const char *chain, struct vs_grid *grid, unsigned row, unsigned end)
{
    const char *code = strchr(chain, '\n'), *stop = code ? code : chain + strlen(chain);
    const char *more = strstr(chain, " < ");
    if (code && row < end)
        vs_grid_put(grid, row++, 4, grid->columns, VS_PLAIN, "%s", code + 1);
    unsigned width = grid->columns > 24 ? grid->columns - 4 : 20;
    for (unsigned n = 0; more && more < stop && n < CHAIN_ROWS && row < end; n++, row++) {
        size_t length = (size_t)(stop - more), take = length;
        if (length > width && n + 1 < CHAIN_ROWS) {
            take = width;
            while (take > width / 2 && more[take] != ' ')
                take--;
        }
        vs_grid_put(grid, row, 4, grid->columns, VS_DIM, "%.*s", (int)take,
                    more[0] == ' ' ? more + 1 : more);
        more += take;
    }
    return row;
}

static bool grows_more(const struct vs_watch_site *a, const struct vs_watch_site *b)
{
    return a->growth_per_step != b->growth_per_step ? a->growth_per_step > b->growth_per_step
                                                    : a->growing && !b->growing;
}

static unsigned sites(const struct vs_watch_view *view, const struct vs_watch_device *device,
                      struct vs_grid *grid, unsigned row, unsigned end,
                      const struct vs_top_shown *shown)
{
    uint32_t order[VS_WATCH_SITES_MAX];
    size_t count = device->site_count, all = device->site_count + device->sites_omitted;
    for (size_t i = 0, at; i < count; i++) { /* they come by bytes */
        for (at = i; at && shown->by_growth &&
                     grows_more(&device->sites[i], &device->sites[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = (uint32_t)i;
    }
    /* Sites beside which half a percent is nothing are not listed. */
    while (count > 1 && device->sites[order[count - 1]].bytes * 200 < device->sites_bytes)
        count--;
    if (!device->site_count || row + 2 > end)
        return row;
    bool wide = grid->columns >= 60;
    vs_grid_right(grid, row, 11, 10, VS_BOLD, "LIVE");
    vs_grid_right(grid, row, 18, 6, VS_BOLD, "SHARE");
    if (wide)
        vs_grid_right(grid, row, 27, 8, VS_BOLD, "BLOCKS");
    vs_grid_put(grid, row++, wide ? 29 : 20, grid->columns, VS_BOLD, "CALL SITE%s",
                view->sampled ? " (estimates: not every allocation is recorded)" : "");
    for (size_t i = 0; i < all && row < end; i++) {
        if (i >= count || i == shown->sites || (row + 1 == end && i + 1 < all)) {
            vs_grid_put(grid, row++, wide ? 29 : 20, grid->columns, VS_DIM,
                        "%zu more call site%s", all - i, all - i == 1 ? "" : "s");
            break;
        }
        const struct vs_watch_site *site = &device->sites[order[i]];
        site_row(device, site, grid, row++);
        if (shown->chains && site->chain)
            row = chain_rows(site->chain, grid, row, end);
    }
    return row;
}

/* --- all --- */

static unsigned process_lines(const struct vs_top_process *process, struct vs_grid *grid,
                              unsigned row, unsigned end)
{
    const struct vs_watch_view *view = &process->view;
    const char *text = process->error ? process->error : !view->running ? view->ending : NULL;
    if (text && row < end)
        vs_grid_put(grid, row++, 0, grid->columns, process->error ? VS_BAD : VS_WARN, "%s", text);
    if (!text && !view->complete && row < end)
        vs_grid_put(grid, row++, 0, grid->columns, VS_WARN, "reading the trace: %.0f %%",
                    100 * view->read_share);
    if (view->failures && row < end)
        vs_grid_put(grid, row++, 0, grid->columns, VS_BAD,
                    "%s failed; `vramscope oom` explains the last",
                    vs_number_text(view->failures, "allocation"));
    return row;
}

unsigned vs_top_details(const struct vs_top_model *model, const struct vs_top_row *which,
                        struct vs_grid *grid, unsigned row, unsigned end,
                        const struct vs_top_shown *shown)
{
    const struct vs_top_process *process = &model->processes[which->process];
    const struct vs_watch_view *view = &process->view;
    const struct vs_watch_device *device = vs_top_device(model, which);
    if (row < end)
        title(process, device, grid, row++);
    row = process_lines(process, grid, row, end);
    if (!device)
        return row;
    const struct vs_forecast *f = &device->forecast;
    const struct vs_growth_row *growth = &device->growth;
    unsigned at, columns = grid->columns;
    char text[VS_FORECAST_TEXT_MAX];
    if (f->known && view->running && row < end) {
        at = label(grid, row, "forecast");
        at = vs_grid_put(grid, row, at, columns, vs_top_alarm(device), "%s",
                         vs_forecast_text(text, f));
        if (f->steps_known && f->time_known && f->steps)
            at = vs_grid_put(grid, row, at, columns, VS_PLAIN, " (%s step%s)",
                             vs_about_count(text, f->steps), f->steps == 1 ? "" : "s");
        vs_grid_put(grid, row++, at, columns, VS_PLAIN, ": %s available, %s a %s",
                    vs_size_text(f->available),
                        vs_size_text(f->per_step ? f->per_step : f->per_second),
                    f->per_step ? "step" : "second");
    }
    if (device->growing && row < end) {
        at = label(grid, row, "growth");
        if (growth->per_step)
            at = vs_grid_put(grid, row, at, columns, VS_WARN, "%s a step",
                             vs_size_text(growth->per_step));
        else
            at = vs_grid_put(grid, row, at, columns, VS_WARN, "grows");
        if (growth->since_step_known)
            at = vs_grid_put(grid, row, at, columns, VS_PLAIN, " since step %" PRIu64,
                             growth->since_step);
        at = vs_grid_put(grid, row, at, columns, VS_PLAIN, ", %s so far",
                         vs_size_text(growth->bytes));
        if (f->early)
            vs_grid_put(grid, row, at, columns, VS_PLAIN, "; may be a cache");
        else if (f->known)
            vs_grid_put(grid, row, at, columns, VS_PLAIN, growth->confidence > 0.99 ? " (>99 %% sure)" : " (%.0f %% sure)",
                        100 * growth->confidence);
        row++;
    }
    if (shown->tree)
        return vs_top_tree(device, shown->by_growth, grid, row, end);
    if (row < end) {
        at = label(grid, row, device->level == VS_LEVEL_FRAMEWORK ? "tensors" : "allocated");
        at = vs_grid_put(grid, row, at, columns, VS_BOLD, "%s", vs_size_text(device->allocated));
        at = vs_grid_put(grid, row, at, columns, VS_PLAIN, ", peak %s ",
                         vs_size_text(device->peak));
        if (at + 4 < columns)
            vs_top_line(device->history, device->peak, grid, row, at,
                      columns - at < 2 * BAR_MAX ? columns - at : 2 * BAR_MAX);
        row++;
    }
    if (row < end && device->total)
        device_line(device, grid, row++);
    if (row < end) {
        at = label(grid, row, "reserved");
        at = vs_grid_put(grid, row, at, columns, VS_PLAIN, "%s", vs_size_text(device->reserved));
        if (device->cached)
            at = vs_grid_put(grid, row, at, columns, VS_PLAIN, ", %s unused",
                             vs_size_text(device->cached));
        if (device->cached && device->holes.count)
            vs_grid_put(grid, row, at, columns, VS_PLAIN, " in %s, the largest %s",
                        vs_number_text(device->holes.count, "hole"),
                        vs_size_text(device->holes.largest));
        row++;
    }
    if (view->step && row + 4 < end) {
        at = label(grid, row, "step");
        at = vs_grid_put(grid, row, at, columns, VS_PLAIN, "%s", vs_count_text(view->step));
        if (view->step_ns)
            at = vs_grid_put(grid, row, at, columns, VS_PLAIN, ", %s each",
                             vs_time_text(view->step_ns));
        vs_grid_put(grid, row++, at, columns, VS_PLAIN, "%s", view->steps_source == VS_STEPS_FOUND
                    ? " (steps from repeating allocations)" : "");
    }
    if (view->running && row + 3 < end) {
        at = label(grid, row, "rate");
        vs_grid_put(grid, row++, at, columns, VS_PLAIN, "%s/s in %s allocations/s",
                    vs_size_text(device->bytes_per_second),
                        vs_count_text(device->allocs_per_second));
    }
    return sites(view, device, grid, row, end, shown);
}
