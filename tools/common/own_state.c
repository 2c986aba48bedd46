/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/command.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

static const struct {
    int number;
    void (*handler)(int);
} wanted[] = {
    {SIGCHLD, SIG_DFL}, /* when ignored, wait cannot return a child's status */
    {SIGXFSZ, SIG_IGN}, /* exceeding a file size limit becomes an error instead of a signal */
};
#define WANTED (sizeof wanted / sizeof *wanted)
static struct sigaction before[WANTED];
static struct rlimit files_before;
static bool files_raised;

void vs_own_state_begin(void)
{
    for (size_t i = 0; i < WANTED; i++) {
        struct sigaction action = {.sa_handler = wanted[i].handler};
        sigaction(wanted[i].number, &action, &before[i]);
    }
    /* several traces are open at once */
    if (!getrlimit(RLIMIT_NOFILE, &files_before)) {
        struct rlimit files = {files_before.rlim_max, files_before.rlim_max};
        files_raised = !setrlimit(RLIMIT_NOFILE, &files);
    }
}

void vs_own_state_end(void)
{
    for (size_t i = 0; i < WANTED; i++)
        sigaction(wanted[i].number, &before[i], NULL);
    if (files_raised)
        setrlimit(RLIMIT_NOFILE, &files_before);
}
