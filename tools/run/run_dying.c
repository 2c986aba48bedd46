/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel marks a process as killed before kill() returns: a fatal signal is
 * pending, then the process is exiting, and it frees its memory before its locks. A pidfd becomes
 * readable when it has ended, so no time has to be guessed. */
#include "tools/run/run_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/read/reader.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* on every architecture */
#endif
#define PF_EXITING 0x4u      /* of the kernel, field 9 of /proc/PID/stat */
#define AT_MOST_MS 30000     /* a process that hangs in the kernel: its trace is readable anyway */

/* Whether SIGKILL is pending: any fatal signal becomes one for each thread. */
static bool kill_pending(pid_t pid)
{
    char name[64], line[256];
    uint64_t mask = 0, all = 0;
    snprintf(name, sizeof name, "/proc/%ld/status", (long)pid);
    FILE *status = fopen(name, "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "SigPnd: %" SCNx64, &mask) == 1 || sscanf(line, "ShdPnd: %" SCNx64, &mask) == 1)
            all |= mask;
    if (status)
        fclose(status);
    return all >> (SIGKILL - 1) & 1;
}

static bool is_exiting(pid_t pid)
{
    char name[64], text[1024];
    unsigned flags = 0;
    char state = 0;
    snprintf(name, sizeof name, "/proc/%ld/stat", (long)pid);
    VS_TOOL_FILE stat = fopen(name, "r");
    size_t n = stat ? fread(text, 1, sizeof text - 1, stat) : 0;
    text[n] = 0;
    const char *rest = strrchr(text, ')'); /* the program's name may contain anything */
    return rest && sscanf(rest, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) == 2 &&
           (flags & PF_EXITING || state == 'Z' || state == 'X');
}

void vs_run_await_dying(const char *path)
{
    uint64_t pid = vs_reader_recorded_by(path);
    if (!pid || pid > INT_MAX)
        return;
    int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    if (fd < 0)
        return;
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    /* looked at in this order: pending first, then exiting */
    if (kill_pending((pid_t)pid) || is_exiting((pid_t)pid))
        while (poll(&ended, 1, AT_MOST_MS) < 0 && errno == EINTR)
            continue;
    close(fd);
}
