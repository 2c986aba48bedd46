/* SPDX-License-Identifier: Apache-2.0
 *
 * Lowered means SCHED_BATCH, so that waking up interrupts nobody, and niceness 10, so that a busy
 * machine gives the thread a tenth of the share of the program's threads. It stays a share: however
 * busy the machine is, the work that another thread waits for goes on (SCHED_IDLE gives no such
 * share, and an ordinary user may not leave it again). Going back to SCHED_OTHER is always allowed,
 * a lower niceness only with privilege. */
#define _GNU_SOURCE
#include "trace/record/priority.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICENESS 10

static bool set(pid_t tid, int policy, int niceness)
{
    const struct sched_param param = {0};
    int saved_errno = errno;
    bool changed = !setpriority(PRIO_PROCESS, (id_t)tid, niceness);
    changed |= !sched_setscheduler(tid, policy, &param);
    errno = saved_errno;
    return changed;
}

bool vs_priority_lower(void)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    if (sched_getscheduler(tid) != SCHED_OTHER)
        return false;
    int saved_errno = errno;
    errno = 0;
    int niceness = getpriority(PRIO_PROCESS, (id_t)tid);
    bool known = !errno;
    errno = saved_errno;
    return known && set(tid, SCHED_BATCH, niceness > NICENESS ? niceness : NICENESS);
}

void vs_priority_raise(pid_t tid)
{
    int saved_errno = errno;
    errno = 0;
    int niceness = getpriority(PRIO_PROCESS, 0);
    bool known = !errno;
    errno = saved_errno;
    if (tid && known)
        set(tid, SCHED_OTHER, niceness);
}
