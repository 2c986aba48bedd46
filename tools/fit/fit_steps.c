/* SPDX-License-Identifier: Apache-2.0
 *
 * --steps: how far a running program is, read from the traces that it is writing, and its end when
 * it is far enough. It is interrupted as from the keyboard, so that Python leaves in order; if that
 * takes long it is terminated, then killed. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>

#include "analysis/fit/fit_answer.h"
#include "base/vs_clock.h"
#include "base/vs_text.h"
#include "tools/fit/fit_internal.h"
#include "trace/read/reader.h"

#define LOOK_NS UINT64_C(500000000) /* between two looks at the traces */

/* Steps completed in the trace at *path*, which may be unfinished. */
static uint64_t steps_in(const char *path)
{
    char why[VS_READER_WHY_MAX];
    struct vs_reader *reader;
    uint64_t steps = 0;
    if (vs_reader_open(path, &reader, why) != VS_OK)
        return 0;
    if (vs_fit_steps(reader, &steps) != VS_OK)
        steps = 0;
    vs_reader_close(reader);
    return steps;
}

void vs_fit_watch_steps(struct vs_fit_process *process, uint64_t wanted)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
    uint64_t now = vs_clock_ns();
    if (!process->signals && now - process->looked >= LOOK_NS) {
        DIR *dir = opendir(process->folder);
        uint64_t least = 0;
        for (struct dirent *entry; (entry = vs_tool_entry(&dir));) {
            char path[2 * PATH_MAX];
            if (entry->d_name[0] == '.' || !vs_text_ends(entry->d_name, ".vst"))
                continue;
            snprintf(path, sizeof path, "%s/%s", process->folder, entry->d_name);
            uint64_t steps = steps_in(path);
            if (steps && (!least || steps < least))
                least = steps;
        }
        if (least >= wanted)
            kill(process->pid, signals[process->signals++]);
        process->looked = process->sent = vs_clock_ns();
    } else if (process->signals && process->signals < 3 && now - process->sent >= VS_FIT_SIGNAL_NS) {
        kill(process->pid, signals[process->signals++]);
        process->sent = now;
    }
}
