/* SPDX-License-Identifier: Apache-2.0
 *
 * The screen as a whole: title, table, details or help, keys. */
#include "viewer/top/top_frame.h"

#include <string.h>

#define ROWS_BESIDE_SITES 14u
#define ROWS_MANY 24u    /* of details: a third of them are the graph's */
#define TABLE_SHARE 3u /* the table has at most a third of the screen */

static void keys(const struct vs_top_model *model, struct vs_grid *grid)
{
    unsigned row = grid->rows - 1;
    if (grid->columns >= 72)
        vs_grid_put(grid, row, 0, grid->columns, VS_DIM,
                    "q quit  %ss sort: %s  e %s  g by %s  p %s  ? help",
                    grid->columns >= 90 ? "arrows select  " : "", vs_top_sort_name(model->sort),
                    model->expanded ? "overview" : "call tree",
                    model->by_growth ? "bytes" : "growth", model->paused ? "resume" : "pause");
    else
        vs_grid_put(grid, row, 0, grid->columns, VS_DIM, "q quit  s sort  e tree  p pause  ? help");
}

static void help(struct vs_grid *grid, unsigned row, unsigned end)
{
    static const char *const lines[] = {
        "up, down, Tab  select a process and device",
        "s              sort: auto (what fails first, else by pid), allocated,",
        "               reserved, rate, left, pid",
        "e              call tree, or the overview",
        "g              call sites by growth, or by bytes",
        "p              pause the view; the program runs on",
        "q              quit",
        "?              close this help",
        "",
        "ALLOCATED    live memory of the program: tensors, where PyTorch",
        "             reports them, and other memory of the device",
        "RESERVED     held from the device by the process, its caches too",
        "DEVICE USED  of the device's memory, by all processes",
        "BUSY         of the time something ran on the device (NVML)",
        "UNUSED       of reserved: cached, but not in use",
        "ALLOC/S      allocated per second, in the last 5 seconds",
        "LEFT         until memory runs out, if the growth goes on; st.: steps;",
        "             \"grows\": not yet seen for long enough to tell",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines && row < end; i++, row++)
        vs_grid_put(grid, row, 0, grid->columns, VS_PLAIN, "%s", lines[i]);
}

void vs_top_draw(const struct vs_top_model *model, struct vs_grid *grid)
{
    if (grid->rows < 2 || !grid->columns)
        return;
    unsigned end = grid->rows - 1, row = 1, most = grid->rows / TABLE_SHARE;
    /* How many processes, and the state of the view. */
    size_t ended = 0;
    char right[32];
    for (size_t i = 0; i < model->count; i++)
        ended += model->processes[i].view.path && !model->processes[i].view.running;
    unsigned at = vs_grid_put(grid, 0, 0, grid->columns, VS_BOLD, "vramscope top");
    at = vs_grid_put(grid, 0, at, grid->columns, VS_PLAIN, "  %zu process%s", model->count,
                     model->count == 1 ? "" : "es");
    if (ended)
        at = vs_grid_put(grid, 0, at, grid->columns, VS_PLAIN, ", %zu ended", ended);
    if (model->paused)
        snprintf(right, sizeof right, "PAUSED");
    else
        snprintf(right, sizeof right, "every %g s", model->interval_ms / 1000.0);
    if (at + strlen(right) + 2 <= grid->columns)
        vs_grid_right(grid, 0, grid->columns, 20, model->paused ? VS_WARN : VS_DIM, "%s", right);
    keys(model, grid);
    if (!model->row_count && !model->help) {
        const char *text = model->note ? model->note : "";
        for (row = 2; *text && row + 1 < grid->rows; row++) {
            size_t length = strcspn(text, "\n");
            if (length > grid->columns) {
                length = grid->columns;
                while (length > grid->columns / 2 && text[length] != ' ')
                    length--;
            }
            vs_grid_put(grid, row, 0, grid->columns, VS_PLAIN, "%.*s", (int)length, text);
            text += length + (text[length] == '\n' || text[length] == ' ');
        }
        return;
    }
    if (grid->rows >= VS_TOP_ROOMY)
        row++;
    most = most < 4 ? 2 : most - 2;
    if (model->row_count)
        row = vs_top_table(model, grid, row, model->expanded ? 1 : most);
    if (grid->rows >= VS_TOP_ROOMY)
        row++;
    if (model->help)
        help(grid, row, end);
    else {
        const struct vs_top_row *which = &model->rows[model->selected];
        const struct vs_top_shown shown = {.sites = VS_WATCH_SITES_MAX, .tree = model->expanded,
                                           .by_growth = model->by_growth};
        const struct vs_watch_device *device = vs_top_device(model, which);
        unsigned rest = end > row + ROWS_MANY ? (end - row) / 3 : 0;
        row = vs_top_details(model, which, grid, row, end - rest, &shown);
        if (device)
            vs_top_graph(device, model->processes[which->process].view.run_ns, grid, row + 1, end);
    }
}

void vs_top_once(const struct vs_top_model *model, const struct vs_style *style)
{
    struct vs_grid grid = {.ascii = style->ascii};
    unsigned sites = (unsigned)style->sites;
    for (size_t i = 0; i < model->row_count; i++) {
        unsigned rows = ROWS_BESIDE_SITES + sites * (style->full ? 4 : 1);
        vs_grid_begin(&grid, rows, style->width);
        const struct vs_top_shown shown = {.sites = sites, .chains = style->full,
                                           .by_growth = model->by_growth};
        unsigned end = vs_top_details(model, &model->rows[i], &grid, 0, rows, &shown);
        vs_grid_print(&grid, end, style);
        if (i + 1 < model->row_count)
            fputc('\n', style->out);
    }
    vs_grid_free(&grid);
}
