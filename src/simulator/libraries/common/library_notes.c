/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes of a simulated run: functions that are not supported, and sizes that were assumed. One line
 * each, appended with a single write to the file that VRAMSCOPE_SIMULATE_NOTES names, so that lines
 * of several processes do not mix (docs/fit.md has the format):
 *     KIND TAB PID TAB LIBRARY TAB NAME TAB BYTES TAB TEXT
 * Repeated notes are recognised by a hash of their text. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/vs_map.h"
#include "base/vs_text.h"
#include "simulator/libraries/common/vs_library_base.h"

#define NOTES_MAX 4096 /* different notes of one library in one process */
#define LINE_MAX_BYTES 1024

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct vs_map written; /* hashes; guarded by mu */

static bool first_time(const char *line)
{
    pthread_mutex_lock(&mu);
    uint64_t hash = vs_text_hash(VS_TEXT_HASH_START, line), key = hash ? hash : 1;
    bool first = written.count < NOTES_MAX && !vs_map_get(&written, key) &&
                 vs_map_put(&written, key, 1) == VS_OK;
    pthread_mutex_unlock(&mu);
    return first;
}

static bool note(const char *kind, const char *name, uint64_t bytes, const char *text)
{
    char line[LINE_MAX_BYTES];
    int n = snprintf(line, sizeof line - 1, "%s\t%ld\t%s\t%s\t%" PRIu64 "\t%s", kind, (long)getpid(),
                     vs_library.name, name, bytes, text);
    n = n < (int)sizeof line - 2 ? n : (int)sizeof line - 2;
    memcpy(line + n, "\n", 2);
    if (!first_time(line))
        return false;
    vs_sim_note(line);
    return true;
}

int vs_library_unsupported(const char *function, const char *why)
{
    if (note("unsupported", function, 0, why ? why : ""))
        vs_sim_say("vramscope: the simulated GPU does not support %s%s%s of %s: it returned %s\n", function,
                   why ? " " : "", why ? why : "", vs_library.name, vs_library.not_supported_name);
    return vs_library.not_supported;
}

void vs_library_measured(const char *name, uint64_t bytes, const char *source)
{
    note("measured", name, bytes, source);
}

void vs_library_assume(const char *name, uint64_t bytes, const char *why)
{
    note("assumed", name, bytes, why);
}
