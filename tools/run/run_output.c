/* SPDX-License-Identifier: Apache-2.0
 *
 * FILE.live, the live window of a killed program, moves along: it holds the last
 * part of its trace. */
#include "tools/run/run_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vs_option.h"
#include "base/vs_text.h"
#include "tools/common/command.h"
#include "trace/read/reader.h"

#define LIVE ".live"
#define BEFORE ".before"

static bool with_live(char out[PATH_MAX], const char *path)
{
    return snprintf(out, PATH_MAX, "%s" LIVE, path) < PATH_MAX;
}

/* The process in ".NAME.PID.before", whose `vramscope run` was killed before it settled the file.
 * Our own pid is from an earlier container, because we have set nothing aside yet. Returns 0 when
 * *entry* is not such a name. */
static pid_t left_by(const char *entry, const char *name)
{
    char expected[NAME_MAX + 1], *end;
    int n = snprintf(expected, sizeof expected, ".%.200s.", name);
    if (strncmp(entry, expected, (size_t)n) != 0)
        return 0;
    long pid = strtol(entry + n, &end, 10);
    bool whole = end > entry + n && strcmp(end, BEFORE) == 0 && pid > 0 && pid <= INT_MAX;
    bool gone = whole && (pid == (long)getpid() || (kill((pid_t)pid, 0) && errno == ESRCH));
    return gone ? (pid_t)pid : 0;
}

bool vs_run_output_has(const char *pattern, char letter)
{
    const char *p = strchr(pattern, '%');
    while (p && p[1] && p[1] != letter)
        p = strchr(p + 2, '%');
    return p && p[1];
}

bool vs_run_output_varies(const char *pattern)
{
    const char *p = strchr(pattern, '%');
    while (p && p[1] == '%')
        p = strchr(p + 2, '%');
    return p != NULL;
}

bool vs_run_output_literal(const char *path, size_t length, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (n + 2 >= size)
            return false;
        out[n++] = path[i];
        if (path[i] == '%')
            out[n++] = '%';
    }
    out[n] = 0;
    return true;
}

bool vs_run_output_fixed(const char *pattern, size_t length, char path[PATH_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (n + 1 >= PATH_MAX || (pattern[i] == '%' && (++i == length || pattern[i] != '%')))
            return false;
        path[n++] = pattern[i];
    }
    path[n] = 0;
    return true;
}

bool vs_run_output_known(const char *pattern, const char *program, char path[PATH_MAX])
{
    *path = 0;
    if (vs_run_output_has(pattern, 'p') ||
        vs_output_expand(pattern, vs_text_base_name(program), 0, path, PATH_MAX))
        return false;
    return vs_run_output_has(pattern, 'r') == vs_output_is_ranked();
}

bool vs_run_output_set_aside(struct vs_run_output *output, const char *path)
{
    char from[PATH_MAX], to[PATH_MAX];
    const char *name = vs_text_base_name(path);
    struct stat st;
    /* Settles the traces that a killed run left set aside. */
    char folder[PATH_MAX], live[PATH_MAX + 8];
    int n = (int)(name - path);
    snprintf(folder, sizeof folder, "%.*s", n ? n : 1, n ? path : ".");
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = vs_tool_entry(&dir));) {
        if (!left_by(entry->d_name, name) ||
            snprintf(output->aside, PATH_MAX, "%.*s%s", n, path, entry->d_name) >= PATH_MAX)
            continue;
        snprintf(output->path, PATH_MAX, "%s", path);
        output->live = with_live(live, output->aside) && !lstat(live, &st);
        vs_run_output_settle(output);
    }
    *output = (struct vs_run_output){0};
    if (lstat(path, &st))
        return errno == ENOENT;
    /* 200 bytes of the name: with the additions it stays valid on every file system */
    if (snprintf(output->path, PATH_MAX, "%s", path) >= PATH_MAX ||
        snprintf(output->aside, PATH_MAX, "%.*s.%.200s.%ld" BEFORE, (int)(name - path), path, name,
                 (long)getpid()) >= PATH_MAX ||
        !with_live(from, path) || !with_live(to, output->aside)) {
        output->aside[0] = 0;
        errno = ENAMETOOLONG;
        return false;
    }
    if (rename(path, output->aside)) {
        output->aside[0] = 0;
        return false;
    }
    /* of a killed program: the trace's last part */
    output->live = vs_reader_owns_live(output->aside, from) && !rename(from, to);
    if (vs_reader_recorded_by(output->aside)) { /* recording started after the last check */
        vs_run_output_settle(output);
        errno = EBUSY;
        return false;
    }
    return true;
}

/* Creates a link first, because that never replaces a file; not every file system has links. Once
 * both names exist the move is complete, even if the old name cannot be removed. */
static bool move_one(const char *from, const char *to)
{
    if (link(from, to))
        return errno != EEXIST && !rename(from, to);
    unlink(from);
    return true;
}

/* The file *live* may hold another trace's only copy of its last events. */
static bool make_way(const char *live)
{
    char kept[PATH_MAX];
    if (!vs_reader_clear_live(live, kept))
        return false;
    if (*kept)
        vs_tool_fail("vramscope",
                     "%s belongs to another trace and may hold its last events: kept as %s", live,
                     kept);
    return true;
}

bool vs_run_output_move(const char *from, const char *to)
{
    char live[PATH_MAX], live_to[PATH_MAX];
    if (!with_live(live, from) || !with_live(live_to, to))
        return false;
    bool owned = vs_reader_owns_live(from, live);
    if (owned && !(make_way(live_to) && move_one(live, live_to)))
        return false;
    bool moved = move_one(from, to);
    if (!moved && owned)
        move_one(live_to, live);
    return moved;
}

void vs_run_output_settle(struct vs_run_output *output)
{
    char live[PATH_MAX];
    struct stat st;
    if (!*output->aside)
        return;
    bool replaced = !lstat(output->path, &st);
    if (replaced && output->live && with_live(live, output->aside))
        unlink(live);
    if (replaced)
        unlink(output->aside);
    else if (!vs_run_output_move(output->aside, output->path))
        vs_tool_fail("vramscope", "the older trace %s is kept as %s", output->path, output->aside);
    output->aside[0] = 0;
}
