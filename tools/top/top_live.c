/* SPDX-License-Identifier: Apache-2.0
 *
 * The live view: reads the traces at each interval, draws, and obeys the keys in between. A long
 * trace is read in parts, so that the view responds meanwhile. */
#include <unistd.h>

#include "base/vs_clock.h"
#include "tools/common/command.h"
#include "tools/top/top_command.h"

#define MS UINT64_C(1000000)
#define READ_MS 100 /* before the keys are looked at */
#define FDS_MAX 256

static const char nothing[] =
    "No process is being recorded.\n"
    "\n"
    "Start one with: vramscope run -- PROGRAM\n"
    "It appears here with its first CUDA call.";

/* Waits until *due_ns*, a key or the names of call sites. Returns false to quit. */
static bool wait_for(struct vs_top_sources *sources, uint64_t due_ns, bool *names)
{
    struct pollfd fds[FDS_MAX + 1];
    size_t count = 0;
    uint64_t now = vs_clock_ns();
    int timeout = due_ns > now ? (int)((due_ns - now) / MS) + 1 : 0;
    for (size_t i = 0; i < sources->count && count < FDS_MAX; i++)
        if (sources->items[i].names.child)
            fds[count++] = (struct pollfd){.fd = sources->items[i].names.fd, .events = POLLIN};
    enum vs_top_key key = vs_terminal_wait(fds, count, timeout);
    struct vs_top_model *model = &sources->model;
    switch (key) {
    case VS_KEY_UP:
    case VS_KEY_DOWN:
        if (model->row_count)
            model->selected = (model->selected + (key == VS_KEY_UP ? model->row_count - 1 : 1)) %
                              model->row_count;
        model->chosen = true;
        break;
    case VS_KEY_SORT:
        model->sort = (model->sort + 1) % VS_TOP_SORT_COUNT;
        vs_top_sort_rows(model);
        break;
    case VS_KEY_EXPAND: model->expanded = !model->expanded; break;
    case VS_KEY_GROWTH: model->by_growth = !model->by_growth; break;
    case VS_KEY_PAUSE: model->paused = !model->paused; break;
    case VS_KEY_HELP: model->help = !model->help; break;
    case VS_KEY_OTHER: model->help = false; break;
    default: break;
    }
    *names = false;
    for (size_t i = 0; i < sources->count; i++)
        *names |= vs_top_names_read(&sources->items[i].names, &sources->model.processes[i].view);
    return key != VS_KEY_QUIT && !vs_terminal_interrupted();
}

int vs_top_live(const char *who, struct vs_top_sources *sources)
{
    char why[VS_READER_WHY_MAX];
    if (!vs_terminal_open(why))
        return vs_tool_fail(who, "%s", why);
    (void)!nice(VS_TOP_NICE); /* the watched programs come first */
    struct vs_top_model *model = &sources->model;
    uint64_t interval = model->interval_ms * MS, due = 0;
    bool go_on = true, behind = false, names = false;
    while (go_on) {
        bool now = vs_clock_ns() >= due && !model->paused;
        if (now) {
            due = vs_clock_ns() + interval;
            vs_top_sources_search(sources);
            sources->model.note = *sources->why ? sources->why : nothing;
            behind = vs_top_sources_read(sources, vs_clock_ns() + READ_MS * MS, false, false);
        } else if (names && !model->paused) { /* others may be looked up now */
            behind = vs_top_sources_read(sources, 0, false, false);
        }
        vs_terminal_draw(model);
        if (behind && !model->paused)
            due = 0;
        go_on = wait_for(sources, model->paused ? vs_clock_ns() + interval : due, &names);
    }
    vs_terminal_close();
    return VS_EXIT_OK;
}
