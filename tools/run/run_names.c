/* SPDX-License-Identifier: Apache-2.0
 *
 * A file is an older trace when it was last written before the run began and is not
 * one of the run's own names (a file server's clock may differ from ours). */
#define _GNU_SOURCE
#include "tools/run/run_internal.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading/vs_vec.h"
#include "base/vs_option.h"
#include "base/vs_text.h"
#include "tools/common/command.h"
#include "trace/read/reader.h"

#define FIRST_EVENTS 64 /* `process` is among them */

bool vs_run_names_replaced(const char *pattern)
{
    return vs_run_output_varies(pattern) && !vs_run_output_has(pattern, 'p') &&
           (vs_run_output_has(pattern, 'r') || !vs_output_is_ranked());
}

static bool is_of_this_run(const struct vs_run_names *names, const char *trace)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->taken[i], trace) == 0)
            return true;
    char line[PATH_MAX + 2];
    VS_TOOL_FILE file = fopen(names->manifest, "r");
    bool found = false;
    while (file && !found && vs_run_manifest_line(file, line, sizeof line))
        found = strcmp(line, trace) == 0;
    return found;
}

/* 0 when it cannot be read. */
static uint64_t pid_of(const char *trace)
{
    struct vs_reader *reader;
    struct vs_event event;
    char why[VS_READER_WHY_MAX];
    uint64_t pid = 0;
    if (vs_reader_open(trace, &reader, why) != VS_OK)
        return 0;
    for (int i = 0; !pid && i < FIRST_EVENTS && vs_reader_next(reader, &event) == VS_OK; i++)
        if (event.kind == VS_EVENT_process)
            pid = event.process.pid;
    vs_reader_close(reader);
    return pid;
}

/* Cuts ".NUMBER" off the end; returns 0 when there is none. */
static uint64_t cut_number(char *name)
{
    char *dot = strrchr(name, '.');
    bool number = dot && dot[1] && dot[1 + strspn(dot + 1, "0123456789")] == 0;
    uint64_t value = number ? strtoull(dot + 1, NULL, 10) : 0;
    if (number)
        *dot = 0;
    return value;
}

/* NAME.PID.vst and NAME.PID.2.vst are names of processes that found NAME in use. Returns false when
 * *trace* is not such a name. *wanted*: PATH_MAX bytes. */
static bool wanted_name(const struct vs_run_names *names, const char *trace, char *wanted)
{
    char pid_text[24];
    size_t length = strlen(trace);
    if (length >= PATH_MAX - 8 || !vs_text_ends(trace, ".vst"))
        return false;
    snprintf(wanted, PATH_MAX, "%.*s", (int)(length - 4), trace);
    uint64_t first = cut_number(wanted), pid = first ? pid_of(trace) : 0;
    if (!pid || (first != pid && cut_number(wanted) != pid))
        return false;
    const char *slash = strrchr(wanted, '/');
    snprintf(pid_text, sizeof pid_text, "%llu", (unsigned long long)pid);
    if (vs_run_output_has(names->pattern, 'p') && !strstr(slash ? slash : wanted, pid_text))
        return false; /* the number is part of the requested name */
    if (vs_text_ends(names->pattern, ".vst"))
        strcat(wanted, ".vst");
    return true;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* A trace, or the empty file of one, that no process writes to. */
static bool is_older(const struct vs_run_names *names, const char *path)
{
    struct stat st;
    struct vs_reader *reader;
    char why[VS_READER_WHY_MAX];
    if (lstat(path, &st) || !S_ISREG(st.st_mode) || !is_before(&st.st_mtim, &names->began) ||
        vs_reader_recorded_by(path) || is_of_this_run(names, path))
        return false;
    if (!st.st_size)
        return true;
    if (vs_reader_open(path, &reader, why) != VS_OK)
        return false;
    vs_reader_close(reader);
    return true;
}

void vs_run_names_take(struct vs_run_names *names, char *trace)
{
    char wanted[PATH_MAX];
    struct vs_run_output older = {0};
    sigset_t all, mask;
    if (!vs_run_names_replaced(names->pattern) || !wanted_name(names, trace, wanted) ||
        !is_older(names, wanted) || vs_reader_recorded_by(trace))
        return;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask); /* no signal may end us while it is set aside */
    bool moved = vs_run_output_set_aside(&older, wanted) && vs_run_output_move(trace, wanted);
    vs_run_output_settle(&older);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (moved) {
        vs_vec_room(&names->taken, &names->capacity, names->count + 1, sizeof *names->taken);
        names->taken[names->count++] = vs_xstrdup(wanted);
        strcpy(trace, wanted);
    }
}

bool vs_run_names_warn(const struct vs_run_names *names, const char *trace)
{
    char wanted[PATH_MAX];
    bool other = wanted_name(names, trace, wanted), ours = other && is_of_this_run(names, wanted);
    if (other && !ours && !access(wanted, F_OK))
        vs_tool_fail("vramscope", "%s is from an earlier run; this run's trace is %s", wanted, trace);
    return ours;
}

/* Whether *entry* is a name from *pattern*, whose one percent sign is that of %r, for any rank. */
static bool is_ranked_name(const char *entry, const char *pattern)
{
    const char *rank = strchr(pattern, '%');
    size_t before = (size_t)(rank - pattern);
    if (strncmp(entry, pattern, before) != 0)
        return false;
    size_t digits = strspn(entry + before, "0123456789");
    return digits && strcmp(entry + before + digits, rank + 2) == 0;
}

void vs_run_names_warn_ranks(const struct vs_run_names *names)
{
    char path[PATH_MAX], folder[PATH_MAX], first[PATH_MAX] = "";
    const char *slash = strrchr(names->pattern, '/'), *name = slash ? slash + 1 : NULL;
    const char *percent = name ? strchr(name, '%') : NULL;
    unsigned count = 0;
    if (!percent || percent[1] != 'r' || strchr(percent + 1, '%') ||
        !vs_run_output_fixed(names->pattern, (size_t)(name - names->pattern), folder))
        return;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = vs_tool_entry(&dir));) {
        if (!is_ranked_name(entry->d_name, name) ||
            snprintf(path, sizeof path, "%s%s", folder, entry->d_name) >= PATH_MAX ||
            !is_older(names, path))
            continue;
        if (!count++ || strverscmp(path, first) < 0)
            strcpy(first, path);
    }
    if (count == 1)
        vs_tool_fail("vramscope", "%s is from an earlier run", first);
    else if (count)
        vs_tool_fail("vramscope", "%s and the traces of %u more ranks are from an earlier run", first,
                     count - 1);
}

void vs_run_names_free(struct vs_run_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->taken[i]);
    free(names->taken);
}
