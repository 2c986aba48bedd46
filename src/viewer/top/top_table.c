/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of processes and devices: which columns fit, the order of the rows. */
#include <inttypes.h>

#include "base/vs_size.h"
#include "viewer/top/top_frame.h"

const char *vs_top_sort_name(enum vs_top_sort sort)
{
    static const char *const names[] = {"auto", "allocated", "reserved", "rate", "left", "pid"};
    return names[sort];
}

const struct vs_watch_device *vs_top_device(const struct vs_top_model *model,
                                            const struct vs_top_row *row)
{
    return row->device == VS_TOP_NO_DEVICE
               ? NULL : &model->processes[row->process].view.devices[row->device];
}

/* --- order --- */

/* What a row is sorted by; the larger one comes first. */
static uint64_t weight(const struct vs_top_model *model, enum vs_top_sort sort,
                       const struct vs_top_row *row)
{
    const struct vs_watch_device *device = vs_top_device(model, row);
    if (!device)
        return 0;
    const struct vs_forecast *forecast = &device->forecast;
    switch (sort) {
    case VS_TOP_BY_ALLOCATED: return device->allocated;
    case VS_TOP_BY_RESERVED: return device->reserved;
    case VS_TOP_BY_RATE: return device->bytes_per_second;
    case VS_TOP_BY_LEFT:
        return !forecast->known || !model->processes[row->process].view.running ? 0
               : forecast->time_known ? UINT64_MAX - forecast->seconds
                                       : UINT64_MAX / 2 - forecast->steps / 2;
    default: return 0;
    }
}

static bool comes_first(const struct vs_top_model *model, enum vs_top_sort sort,
                        const struct vs_top_row *a, const struct vs_top_row *b)
{
    uint64_t x = weight(model, sort, a), y = weight(model, sort, b);
    const struct vs_top_process *p = &model->processes[a->process], *q = &model->processes[b->process];
    if (p->view.running != q->view.running)
        return p->view.running;
    if (x != y)
        return x > y;
    if (p->pid != q->pid)
        return p->pid < q->pid;
    return a->process != b->process ? a->process < b->process : a->device < b->device;
}

static void add_row(struct vs_top_model *model, enum vs_top_sort sort, uint32_t process,
                    uint32_t device)
{
    struct vs_top_row row = {process, device};
    if (model->row_count == VS_TOP_ROWS_MAX)
        return;
    size_t at = model->row_count++;
    for (; at && comes_first(model, sort, &row, &model->rows[at - 1]); at--)
        model->rows[at] = model->rows[at - 1];
    model->rows[at] = row;
}

void vs_top_sort_rows(struct vs_top_model *model)
{
    struct vs_top_row chosen = {0};
    bool any = model->chosen && model->selected < model->row_count;
    if (any)
        chosen = model->rows[model->selected];
    enum vs_top_sort sort = model->sort;
    if (sort == VS_TOP_BY_DANGER) {
        sort = VS_TOP_BY_PID;
        for (size_t i = 0; i < model->count; i++)
            for (size_t d = 0; d < model->processes[i].view.device_count; d++)
                if (model->processes[i].view.running &&
                    vs_top_alarm(&model->processes[i].view.devices[d]) == VS_BAD)
                    sort = VS_TOP_BY_LEFT;
    }
    model->row_count = 0;
    for (size_t i = 0; i < model->count; i++) {
        const struct vs_watch_view *view = &model->processes[i].view;
        for (size_t d = 0; d < view->device_count; d++)
            add_row(model, sort, (uint32_t)i, (uint32_t)d);
        if (!view->device_count)
            add_row(model, sort, (uint32_t)i, VS_TOP_NO_DEVICE);
    }
    model->selected = 0;
    for (size_t i = 0; any && i < model->row_count; i++) {
        const struct vs_top_row *row = &model->rows[i];
        if (row->process == chosen.process &&
            (row->device == chosen.device || (chosen.device == VS_TOP_NO_DEVICE && !row->device)))
            model->selected = i;
    }
}

/* --- columns --- */

enum top_column {
    COLUMN_PID, COLUMN_DEVICE, COLUMN_PROGRAM, COLUMN_ALLOCATED, COLUMN_RESERVED, COLUMN_PEAK,
    COLUMN_USED, COLUMN_BUSY, COLUMN_RATE, COLUMN_UNUSED, COLUMN_GROWTH, COLUMN_LEFT, COLUMN_COUNT
};

static const struct {
    const char *title;
    unsigned width; /* with the space before it */
    unsigned rank;  /* the highest is left out first */
    bool left;      /* text begins at the left */
} columns[COLUMN_COUNT] = {
    [COLUMN_PID] = {"PID", 7, 0, false},
    [COLUMN_DEVICE] = {"GPU", 4, 0, false},
    [COLUMN_PROGRAM] = {"PROGRAM", 13, 3, true},
    [COLUMN_ALLOCATED] = {"ALLOCATED", 11, 0, false},
    [COLUMN_RESERVED] = {"RESERVED", 11, 4, false},
    [COLUMN_PEAK] = {"PEAK", 11, 5, false},
    [COLUMN_USED] = {"DEVICE USED", 12, 2, false},
    [COLUMN_BUSY] = {"BUSY", 6, 3, false},
    [COLUMN_RATE] = {"ALLOC/S", 11, 6, false},
    [COLUMN_UNUSED] = {"UNUSED", 8, 7, false},
    [COLUMN_GROWTH] = {"GROWTH/STEP", 13, 8, false},
    [COLUMN_LEFT] = {"LEFT", 9, 1, false},
};

#define RANK_MAX 8u
#define PROGRAM_MORE 20u /* columns that the program's name may have beyond its usual width */

struct top_layout {
    bool shown[COLUMN_COUNT];
    bool busy; /* known of a device */
    unsigned program; /* its width */
};

static unsigned width_up_to(unsigned rank, struct top_layout *layout)
{
    unsigned width = 0;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        layout->shown[i] = columns[i].rank <= rank && (i != COLUMN_BUSY || layout->busy);
        width += layout->shown[i] ? columns[i].width : 0;
    }
    return width;
}

static const char *share(char out[VS_SIZE_TEXT_MAX], uint64_t part, uint64_t whole)
{
    if (!whole)
        return "-";
    snprintf(out, VS_SIZE_TEXT_MAX, "%.0f %%", 100 * (double)part / (double)whole);
    return out;
}

/* The text of a column; *buffer* may hold it. */
static const char *column_text(const struct vs_top_model *model, const struct vs_top_row *row,
                               enum top_column column, char buffer[VS_TOP_PROGRAM_MAX])
{
    const struct vs_top_process *process = &model->processes[row->process];
    const struct vs_watch_device *device = vs_top_device(model, row);
    if (column == COLUMN_PID) {
        snprintf(buffer, VS_TOP_PROGRAM_MAX, "%" PRIu64, process->pid);
        return process->pid ? buffer : "?";
    }
    if (column == COLUMN_PROGRAM)
        return vs_top_program(buffer, &process->view);
    if (column == COLUMN_LEFT) {
        const struct vs_forecast *forecast = device ? &device->forecast : NULL;
        if (process->error)
            return "error";
        if (!process->view.running)
            return "ended";
        if (!process->view.complete)
            return "reading";
        if (!forecast || !forecast->known)
            return device && device->growing && forecast->early ? "grows" : "-";
        if (forecast->time_known && forecast->seconds < 10)
            return "seconds";
        if (forecast->time_known && forecast->seconds < UINT64_C(15) * 24 * 3600)
            return vs_about_time(buffer, forecast->seconds);
        if (forecast->time_known)
            return ">2 weeks";
        /* At most 8 columns: "85 st.", "3.6k st.". */
        static const char units[] = "kMGTPE";
        char about[VS_FORECAST_TEXT_MAX];
        double value = (double)forecast->steps / 1000;
        size_t unit = 0;
        if (forecast->steps < 995) {
            snprintf(buffer, VS_FORECAST_TEXT_MAX, "%.20s st.",
                     vs_about_count(about, forecast->steps));
            return buffer;
        }
        while (value >= 995) {
            value /= 1000;
            unit++;
        }
        snprintf(buffer, VS_FORECAST_TEXT_MAX, "%.*f%c st.", value < 9.95 ? 1 : 0, value,
                 units[unit]);
        return buffer;
    }
    if (!device)
        return "-";
    switch (column) {
    case COLUMN_DEVICE: snprintf(buffer, VS_TOP_PROGRAM_MAX, "%" PRIu64, device->device); break;
    case COLUMN_ALLOCATED: return vs_size_format(buffer, device->allocated);
    case COLUMN_RESERVED: return vs_size_format(buffer, device->reserved);
    case COLUMN_PEAK: return vs_size_format(buffer, device->peak);
    case COLUMN_RATE: return vs_size_format(buffer, device->bytes_per_second);
    case COLUMN_USED: return share(buffer, device->used, device->used_known ? device->total : 0);
    case COLUMN_BUSY: return device->busy_known ? share(buffer, device->busy_percent, 100) : "-";
    case COLUMN_UNUSED: return share(buffer, device->cached, device->reserved);
    default:
        return device->growing && device->growth.per_step
                   ? vs_size_format(buffer, device->growth.per_step) : "-";
    }
    return buffer;
}

static void draw_row(const struct vs_top_model *model, const struct vs_top_row *row,
                     const struct top_layout *layout, struct vs_grid *grid, unsigned at)
{
    const struct vs_top_process *process = row ? &model->processes[row->process] : NULL;
    const struct vs_watch_device *device = row ? vs_top_device(model, row) : NULL;
    enum vs_paint paint = !row                     ? VS_BOLD
                          : !process->view.running ? VS_DIM
                          : device                 ? vs_top_alarm(device)
                                                   : VS_PLAIN;
    unsigned column = 0;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        char buffer[VS_TOP_PROGRAM_MAX];
        if (!layout->shown[i])
            continue;
        unsigned width = i == COLUMN_PROGRAM ? layout->program : columns[i].width;
        const char *text = row ? column_text(model, row, (enum top_column)i, buffer)
                               : columns[i].title;
        if (columns[i].left)
            vs_grid_put(grid, at, column + 1, column + width, paint, "%s", text);
        else
            vs_grid_right(grid, at, column + width, width - 1, paint, "%s", text);
        column += width;
    }
}

unsigned vs_top_table(const struct vs_top_model *model, struct vs_grid *grid, unsigned row,
                      unsigned rows)
{
    struct top_layout layout = {.busy = false};
    unsigned rank = RANK_MAX;
    for (size_t i = 0; i < model->row_count; i++) {
        const struct vs_watch_device *device = vs_top_device(model, &model->rows[i]);
        layout.busy |= device && device->busy_known;
    }
    while (rank && width_up_to(rank, &layout) > grid->columns)
        rank--;
    unsigned used = width_up_to(rank, &layout);
    unsigned more = grid->columns > used ? grid->columns - used : 0;
    layout.program = columns[COLUMN_PROGRAM].width + (more < PROGRAM_MORE ? more : PROGRAM_MORE);
    size_t first = model->selected >= rows ? model->selected - rows + 1 : 0;
    draw_row(model, NULL, &layout, grid, row++);
    for (size_t i = first; i < model->row_count && i < first + rows; i++) {
        draw_row(model, &model->rows[i], &layout, grid, row);
        if (i == model->selected)
            vs_grid_reverse(grid, row);
        row++;
    }
    if (model->row_count > rows && grid->rows >= VS_TOP_ROOMY) /* where an empty row follows */
        vs_grid_put(grid, row, columns[COLUMN_PID].width + columns[COLUMN_DEVICE].width + 1, grid->columns, VS_DIM,
                    "%zu more", model->row_count - rows);
    return row;
}
