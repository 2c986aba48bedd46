/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's own memory: a run that takes more than there is, or than --host-memory, is ended with
 * an answer that says so, before the kernel kills whichever process it chooses. Device memory of the
 * simulated GPU is memory of the host, too, where a program writes to it. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_clock.h"
#include "tools/fit/fit_internal.h"

#define LOOK_NS UINT64_C(50000000) /* a process can take 100 MiB in this time */
#define LEFT_PART 32               /* this part of the host's memory stays free */

struct host_process {
    int pid, parent;
    bool ours;
    uint64_t bytes;
};

/* The processes of the host whose ancestor is *root*, in *found*. Freed by the caller. */
static size_t descendants(int root, struct host_process **found)
{
    struct host_process *all = NULL;
    size_t count = 0, capacity = 0, ours = 0;
    DIR *dir = opendir("/proc");
    for (struct dirent *entry; (entry = vs_tool_entry(&dir));) {
        char path[300], line[256];
        struct host_process one = {.pid = atoi(entry->d_name)};
        unsigned long long kib;
        snprintf(path, sizeof path, "/proc/%.200s/status", entry->d_name);
        VS_TOOL_FILE file = one.pid > 0 ? fopen(path, "r") : NULL;
        while (file && fgets(line, sizeof line, file)) {
            (void)sscanf(line, "PPid: %d", &one.parent);
            if (sscanf(line, "RssAnon: %llu kB", &kib) == 1 ||
                sscanf(line, "RssShmem: %llu kB", &kib) == 1)
                one.bytes += kib * 1024;
        }
        if (!file)
            continue;
        VS_VEC_ADD(all, count, capacity, one);
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; !all[i].ours && j <= count; j++)
                if (j < count ? all[j].ours && all[j].pid == all[i].parent : all[i].parent == root)
                    more = all[i].ours = true;
    }
    for (size_t i = 0; i < count; i++)
        if (all[i].ours)
            all[ours++] = all[i];
    *found = all;
    return ours;
}

/* A number after *name* in a file; without a name its first word. UINT64_MAX: none. */
static uint64_t read_number(const char *folder, const char *file_name, const char *name)
{
    char path[PATH_MAX + 64], line[256];
    unsigned long long number = UINT64_MAX;
    size_t length = strlen(name);
    snprintf(path, sizeof path, "%s/%s", folder, file_name);
    VS_TOOL_FILE file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0 && sscanf(line + length, "%llu", &number) == 1)
            break;
    return number;
}

/* Of the host, or of the control group that this process is in, as in a container or a job of Slurm. */
bool vs_fit_host_free(uint64_t *total, uint64_t *available)
{
    char line[PATH_MAX] = "", group[PATH_MAX + 32];
    *total = read_number("/proc", "meminfo", "MemTotal:");
    *available = read_number("/proc", "meminfo", "MemAvailable:");
    if (*total == UINT64_MAX || *available == UINT64_MAX)
        return false;
    *total *= 1024;
    *available *= 1024;
    VS_TOOL_FILE file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file) && strncmp(line, "0::", 3) != 0)
        ;
    line[strcspn(line, "\n")] = 0;
    snprintf(group, sizeof group, "/sys/fs/cgroup%s", strncmp(line, "0::", 3) == 0 ? line + 3 : "");
    uint64_t most = read_number(group, "memory.max", ""), used = read_number(group, "memory.current", "");
    uint64_t cached = read_number(group, "memory.stat", "inactive_file ");
    if (most >= *total || used == UINT64_MAX || cached > used)
        return true;
    *total = most;
    uint64_t left = used - cached < most ? most - (used - cached) : 0;
    if (left < *available)
        *available = left;
    return true;
}

void vs_fit_watch_host(const struct vs_fit_job *job, struct vs_fit_process *process)
{
    uint64_t now = vs_clock_ns(), total, available, used = 0;
    if (now - process->watched < LOOK_NS || !vs_fit_host_free(&total, &available))
        return;
    process->watched = now;
    if (!job->host_memory && available > total / LEFT_PART)
        return;
    struct host_process *found;
    size_t count = descendants(process->pid, &found);
    for (size_t i = 0; i < count; i++)
        used += found[i].bytes;
    /* Where others have taken the host's memory, a small run goes on. */
    if (job->host_memory ? used > job->host_memory : used > available) {
        process->run->host_needed = used;
        process->run->host_free = job->host_memory ? 0 : available;
        for (size_t i = 0; i < count; i++)
            kill(found[i].pid, SIGKILL);
    }
    free(found);
}
