/* SPDX-License-Identifier: Apache-2.0
 *
 * Who records a trace now: FILE.live names a process, which must have it mapped, as a
 * number alone may be another process's by now. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "trace/format.h"
#include "trace/reader.h"

/* Of a process whose mappings may not be read nothing better is known than that it is there. */
static bool maps_file(pid_t pid, ino_t inode)
{
    char name[64], line[PATH_MAX + 128];
    uint64_t mapped;
    bool found = false;
    snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
    FILE *maps = fopen(name, "r");
    if (!maps)
        return errno == EACCES || errno == EPERM;
    while (!found && fgets(line, sizeof line, maps))
        found = sscanf(line, "%*s %*s %*s %*s %" SCNu64, &mapped) == 1 && mapped == inode;
    bool refused = ferror(maps);
    fclose(maps);
    return found || refused;
}

uint64_t vs_reader_recorded_by(const char *path)
{
    char live[PATH_MAX];
    bool fits = snprintf(live, sizeof live, "%s.live", path) < PATH_MAX;
    struct vs_live_header header;
    struct stat st;
    FILE *file = fits ? fopen(live, "rb") : NULL;
    if (!file)
        return 0;
    bool read = fread(&header, sizeof header, 1, file) == 1 && !fstat(fileno(file), &st);
    fclose(file);
    if (!read || memcmp(header.magic, VS_LIVE_MAGIC, VS_MAGIC_BYTES) != 0 ||
        header.byte_order != VS_BYTE_ORDER || !header.pid || header.pid > INT_MAX)
        return 0;
    pid_t pid = (pid_t)header.pid;
    bool runs = !kill(pid, 0) || errno == EPERM;
    return runs && maps_file(pid, st.st_ino) ? header.pid : 0;
}
