/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups: the calls of one thread between ncclGroupStart and ncclGroupEnd. Communicators are made
 * first, then the calls of each communicator are queued as one piece of work. An error of a call
 * inside the group discards the group, and ncclGroupEnd returns it. */
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/nccl/vs_nccl_comm.h"

struct grouped {
    struct vs_nccl_member *member;
    CUstream stream;
    struct vs_nccl_task task;
    bool queued;
};

struct group {
    int depth, error;
    struct grouped *calls;
    size_t call_count, call_room;
    struct vs_nccl_join *joins;
    size_t join_count, join_room;
};

static _Thread_local struct group group;

int vs_nccl_group_note(int e)
{
    if (e && e != ncclInProgress && group.depth && !group.error)
        group.error = e;
    return e;
}

static void clear(void)
{
    for (size_t i = 0; i < group.call_count; i++)
        vs_nccl_release(group.calls[i].member);
    free(group.calls);
    free(group.joins);
    group = (struct group){0};
}

int vs_nccl_enqueue(struct vs_nccl_member *m, const struct vs_nccl_task *task, CUstream stream)
{
    if (!group.depth) {
        if (task->kind >= VS_NCCL_SEND && task->root == m->rank)
            return vs_nccl_fail(ncclInvalidUsage, "a rank that sends to itself needs the send and the "
                                "receive in one group");
        return vs_nccl_queue(m, task, 1, &stream, 1);
    }
    vs_sim_room(&group.calls, group.call_count, &group.call_room, sizeof *group.calls);
    vs_nccl_keep(m);
    group.calls[group.call_count++] = (struct grouped){m, stream, *task, false};
    return ncclSuccess;
}

int vs_nccl_join(const struct vs_nccl_join *join)
{
    if (!group.depth) {
        struct vs_nccl_join one = *join;
        return vs_nccl_joins_run(&one, 1);
    }
    vs_sim_room(&group.joins, group.join_count, &group.join_room, sizeof *group.joins);
    group.joins[group.join_count++] = *join;
    return ncclSuccess;
}

int ncclGroupStart(void)
{
    group.depth++;
    return ncclSuccess;
}

/* The calls of one communicator, from call *first* on. */
static int queue_member(size_t first)
{
    struct vs_nccl_member *m = group.calls[first].member;
    struct vs_nccl_task *tasks = vs_sim_need(malloc(group.call_count * sizeof *tasks));
    CUstream *streams = vs_sim_need(malloc(group.call_count * sizeof *streams));
    size_t count = 0, stream_count = 0;
    for (size_t i = first; i < group.call_count; i++) {
        struct grouped *g = &group.calls[i];
        if (g->member != m)
            continue;
        g->queued = true;
        tasks[count++] = g->task;
        size_t s = 0;
        while (s < stream_count && streams[s] != g->stream)
            s++;
        if (s == stream_count)
            streams[stream_count++] = g->stream;
    }
    int e = vs_nccl_queue(m, tasks, count, streams, stream_count);
    free(tasks);
    free(streams);
    return e;
}

int ncclGroupEnd(void)
{
    if (!group.depth)
        return vs_nccl_fail(ncclInvalidUsage, "ncclGroupEnd: not in a group");
    if (group.depth > 1) {
        group.depth--;
        return group.error;
    }
    int e = group.error;
    if (!e && group.join_count)
        e = vs_nccl_joins_run(group.joins, group.join_count);
    for (size_t i = 0; i < group.call_count && (!e || e == ncclInProgress); i++)
        if (!group.calls[i].queued) {
            int queued = queue_member(i);
            e = queued ? queued : e;
        }
    clear();
    return e;
}

int ncclGroupSimulateEnd(ncclSimInfo_t *info)
{
    if (!group.depth)
        return vs_nccl_fail(ncclInvalidUsage, "ncclGroupSimulateEnd: not in a group");
    if (info && (info->size < sizeof *info || info->magic != 0x74685283))
        return vs_nccl_group_note(vs_nccl_fail(ncclInvalidArgument, "ncclGroupSimulateEnd: the result was not "
                                       "initialised by NCCL_SIM_INFO_INITIALIZER"));
    double ns = 0;
    for (size_t i = 0; i < group.call_count; i++)
        ns += vs_nccl_cost_ns(group.calls[i].member, &group.calls[i].task);
    int e = group.error;
    if (info)
        info->estimatedTime = (float)(ns / 1e3);
    if (--group.depth == 0)
        clear();
    return e;
}
