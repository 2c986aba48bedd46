/* SPDX-License-Identifier: Apache-2.0
 *
 * --steps: how far a running program is, read from the traces that it is writing, and its end when
 * it is far enough. It is interrupted as from the keyboard, so that Python leaves in order; if that
 * takes long it is terminated, then killed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/fit/fit_answer.h"
#include "base/vs_clock.h"
#include "tools/fit/fit_internal.h"
#include "trace/read/reader.h"

#define LOOK_NS UINT64_C(500000000) /* between two looks at the traces */
#define POLL_MS 50
#define PATIENCE_NS UINT64_C(20000000000) /* until the next, stronger signal */

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

/* The least over the processes that have steps. */
static uint64_t steps_done(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    uint64_t least = 0;
    while (dir && (entry = readdir(dir))) {
        char path[2 * PATH_MAX];
        size_t n = strlen(entry->d_name);
        if (n < 4 || strcmp(entry->d_name + n - 4, ".vst") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        uint64_t steps = steps_in(path);
        if (steps && (!least || steps < least))
            least = steps;
    }
    if (dir)
        closedir(dir);
    return least;
}

static bool wait_a_little(pid_t pid, int *status)
{
    struct timespec pause = {0, POLL_MS * 1000000L};
    pid_t ended = waitpid(pid, status, WNOHANG);
    if (ended == pid)
        return true;
    nanosleep(&pause, NULL);
    return false;
}

bool vs_fit_wait_for_steps(int pid, const char *folder, uint64_t wanted, int *status)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
    uint64_t looked = vs_clock_ns(), sent = 0;
    size_t next = 0;
    while (!wait_a_little(pid, status)) {
        uint64_t now = vs_clock_ns();
        if (!next && now - looked >= LOOK_NS) {
            if (steps_done(folder) >= wanted)
                kill(pid, signals[next++]);
            looked = sent = vs_clock_ns();
        } else if (next && next < 3 && now - sent >= PATIENCE_NS) {
            kill(pid, signals[next++]);
            sent = now;
        }
    }
    return next > 0;
}
