/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Live processes are found in /proc. Ended ones are not: a daemon's parent has
 * ended before the daemon allocates. So every fork is recorded in memory, which the child inherits:
 * two instructions and a clock, no lock, no system call except getpid. exec loses the record, like
 * all memory. Children of vfork and of the system call clone are not recorded; their parents are
 * alive, or cannot be found at all. */
#define _GNU_SOURCE
#include "base/vs_cancel.h"
#include "intercept/process/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FORKS_KEPT 8u
#define FOREBEARS_MAX 16u

static struct {
    pid_t pid;
    uint64_t fork_ns;
} forks[FORKS_KEPT]; /* the nearest first; written in a child, which has one thread then */

static _Atomic pid_t forking; /* the process that calls fork; the same for all of its threads */

static void before_fork(void)
{
    atomic_store_explicit(&forking, getpid(), memory_order_relaxed);
}

static void in_child(void)
{
    VS_KEEP_ERRNO();
    memmove(&forks[1], &forks[0], sizeof forks - sizeof forks[0]);
    forks[0].pid = atomic_load_explicit(&forking, memory_order_relaxed);
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    forks[0].fork_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

__attribute__((constructor)) static void note_forks(void)
{
    pthread_atfork(before_fork, NULL, in_child);
}

bool vs_lineage_forked(void)
{
    return forks[0].pid != 0;
}

/* Parent and start time of a process; false if /proc has none. */
static bool look_up(pid_t pid, pid_t *parent, uint64_t *born_ns)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    /* the name may contain anything, also brackets and spaces; numbers follow it */
    char *field = strrchr(text, ')');
    long hz = sysconf(_SC_CLK_TCK);
    long up = 0;
    for (int number = 2; field && number < 22; number++) {
        field = strchr(field + 1, ' ');
        if (field && number == 3)
            up = strtol(field, NULL, 10);
    }
    if (!field || hz <= 0)
        return false;
    *parent = (pid_t)up;
    *born_ns = strtoull(field, NULL, 10) * (UINT64_C(1000000000) / (uint64_t)hz);
    return true;
}

static size_t append(char *text, size_t at, pid_t pid, char sign, uint64_t ns)
{
    int n = snprintf(text + at, VS_LINEAGE_TEXT_MAX - at, "%s%ld%c%" PRIu64, at ? " " : "",
                     (long)pid, sign, ns);
    if (n > 0 && (size_t)n < VS_LINEAGE_TEXT_MAX - at)
        return at + (size_t)n;
    text[at] = '\0';
    return at;
}

void vs_lineage_read(struct vs_lineage *out)
{
    pid_t parent = 0, next;
    size_t at = 0;
    *out = (struct vs_lineage){0};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, out->boot, VS_LINEAGE_BOOT_MAX - 1) : 0;
    if (fd >= 0)
        close(fd);
    out->boot[n > 0 ? n : 0] = '\0';
    out->boot[strcspn(out->boot, "\n")] = '\0';
    for (unsigned i = 0; i < FORKS_KEPT && forks[i].pid; i++)
        at = append(out->text, at, forks[i].pid, '@', forks[i].fork_ns);
    if (!look_up(getpid(), &parent, &out->born_ns))
        return;
    for (unsigned i = 0; i < FOREBEARS_MAX && parent > 0; i++, parent = next) {
        uint64_t born_ns;
        if (!look_up(parent, &next, &born_ns))
            break;
        if (!i)
            out->parent_born_ns = born_ns;
        at = append(out->text, at, parent, ':', born_ns);
    }
}
