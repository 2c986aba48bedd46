/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives as messages between all pairs of ranks. Every rank sends every other one a message
 * that says what it does, so that none finishes before all have begun, and different calls are
 * found. Bytes are sent along up to the limit of vs_nccl_options; larger messages only meet.
 * Each rank combines the inputs in the order of ranks, so all get the same bits. A rank alone sends
 * nothing: it computes with its own data in place of the others'. */
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/nccl/vs_nccl_comm.h"

const char *vs_nccl_kind_name(int kind)
{
    static const char *const names[VS_NCCL_KINDS] = {
        "", "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "AlltoAll", "Gather",
        "Scatter", "Send", "Recv"};
    return kind > 0 && kind < VS_NCCL_KINDS ? names[kind] : "an unknown call";
}

static bool spreads(enum vs_nccl_kind kind) /* a buffer has a part for each rank */
{
    return kind == VS_NCCL_ALL_GATHER || kind == VS_NCCL_REDUCE_SCATTER ||
           kind == VS_NCCL_ALL_TO_ALL || kind == VS_NCCL_GATHER || kind == VS_NCCL_SCATTER;
}

static bool reduces(enum vs_nccl_kind kind)
{
    return kind == VS_NCCL_ALL_REDUCE || kind == VS_NCCL_REDUCE_SCATTER || kind == VS_NCCL_REDUCE;
}

static size_t part_bytes(const struct vs_nccl_task *t)
{
    return t->count * vs_nccl_type_bytes(t->type);
}

uint64_t vs_nccl_task_bytes(const struct vs_nccl_task *t, int count)
{
    return (uint64_t)part_bytes(t) * (spreads(t->kind) ? (uint64_t)count : 1);
}

/* Whether rank *from* gives rank *to* bytes. */
static bool gives(const struct vs_nccl_task *t, int from, int to)
{
    switch (t->kind) {
    case VS_NCCL_BROADCAST:
    case VS_NCCL_SCATTER: return from == t->root;
    case VS_NCCL_REDUCE:
    case VS_NCCL_GATHER: return to == t->root;
    default: return true;
    }
}

/* ---- the input and output of one collective ---- */

struct collective_work {
    struct vs_nccl_transfer *transfers;
    size_t count;
    unsigned char *scaled;   /* own input times a scalar, or NULL */
    unsigned char *received; /* inputs of a reduction, by rank */
};

static const unsigned char *input_for(const struct vs_nccl_task *t, const struct collective_work *w, int peer)
{
    const unsigned char *at = w->scaled ? w->scaled : t->send;
    bool parts = t->kind == VS_NCCL_REDUCE_SCATTER || t->kind == VS_NCCL_ALL_TO_ALL ||
                 t->kind == VS_NCCL_SCATTER;
    return parts ? at + (size_t)peer * part_bytes(t) : at;
}

static unsigned char *output_from(const struct vs_nccl_task *t, const struct collective_work *w, int peer)
{
    if (reduces(t->kind))
        return w->received + (size_t)peer * part_bytes(t);
    bool parts = t->kind == VS_NCCL_ALL_GATHER || t->kind == VS_NCCL_ALL_TO_ALL ||
                 t->kind == VS_NCCL_GATHER;
    return (unsigned char *)t->recv + (parts ? (size_t)peer * part_bytes(t) : 0);
}

static void prepare(struct vs_nccl_member *m, const struct vs_nccl_task *t, bool carried, struct collective_work *w)
{
    size_t part = part_bytes(t), all = (size_t)vs_nccl_task_bytes(t, m->count);
    w->transfers = vs_sim_need(calloc(2 * (size_t)m->count, sizeof *w->transfers));
    if (carried && reduces(t->kind))
        w->received = vs_sim_need(malloc(part * (size_t)m->count + 1));
    if (carried && t->op == VS_NCCL_SCALED) {
        w->scaled = vs_sim_need(malloc(all + 1));
        vs_nccl_scale(t->type, t->scalar_address ? t->scalar_address : t->scalar, t->send,
                      all / vs_nccl_type_bytes(t->type), w->scaled);
    }
    struct vs_nccl_message message = {.kind = t->kind, .type = t->type, .op = t->op, .root = t->root,
                                      .count = t->count, .number = m->performed};
    for (int r = 0; r < m->count; r++) {
        if (r == m->rank)
            continue;
        struct vs_nccl_transfer *give = &w->transfers[w->count++], *take = &w->transfers[w->count++];
        *give = (struct vs_nccl_transfer){.peer = r, .sending = true, .message = message};
        *take = (struct vs_nccl_transfer){.peer = r, .message = message};
        if (carried && gives(t, m->rank, r)) {
            give->message.carried = part;
            give->data = (unsigned char *)input_for(t, w, r);
        }
        if (carried && gives(t, r, m->rank)) {
            take->message.carried = part;
            take->data = output_from(t, w, r);
        }
    }
}

/* After all bytes have come: the rank's own part, and the reduction. */
static void finish(struct vs_nccl_member *m, const struct vs_nccl_task *t, struct collective_work *w)
{
    if (!gives(t, m->rank, m->rank))
        return;
    const unsigned char *own = input_for(t, w, m->rank);
    if (!reduces(t->kind)) {
        unsigned char *to = output_from(t, w, m->rank);
        if (to != own)
            memmove(to, own, part_bytes(t));
        return;
    }
    const void **inputs = vs_sim_need(calloc((size_t)m->count, sizeof *inputs));
    memcpy(output_from(t, w, m->rank), own, part_bytes(t)); /* the output may be the input */
    for (int r = 0; r < m->count; r++)
        inputs[r] = output_from(t, w, r);
    vs_nccl_reduce(t->type, t->op, inputs, m->count, t->count, t->recv);
    free(inputs);
}

static int perform_collective(struct vs_nccl_member *m, const struct vs_nccl_task *t)
{
    struct collective_work w = {0};
    bool carried = vs_nccl_task_bytes(t, m->count) <= vs_nccl_options()->bytes;
    prepare(m, t, carried, &w);
    int e = vs_nccl_transfer_all(m, w.transfers, w.count);
    if (!e && carried)
        finish(m, t, &w);
    m->performed++;
    free(w.transfers);
    free(w.scaled);
    free(w.received);
    return e;
}

/* ---- a rank alone ---- */

/* What *ranks* equal inputs come to, in log(ranks) steps. */
static void reduce_equal(const struct vs_nccl_task *t, const unsigned char *own, int ranks)
{
    size_t bytes = part_bytes(t);
    unsigned char *power = vs_sim_need(malloc(bytes + 1));
    bool once = t->op != ncclSum && t->op != ncclProd && t->op != VS_NCCL_SCALED, begun = false;
    memcpy(power, own, bytes);
    for (int left = once ? 1 : ranks; left; left >>= 1) {
        if (left & 1 && begun)
            vs_nccl_reduce(t->type, t->op, (const void *[]){t->recv, power}, 2, t->count, t->recv);
        else if (left & 1)
            memcpy(t->recv, power, bytes);
        begun |= left & 1;
        if (left > 1)
            vs_nccl_reduce(t->type, t->op, (const void *[]){power, power}, 2, t->count, power);
    }
    free(power);
}

static void perform_alone(struct vs_nccl_member *m, const struct vs_nccl_task *t)
{
    struct collective_work w = {0};
    bool rooted = t->kind == VS_NCCL_REDUCE || t->kind == VS_NCCL_GATHER || t->kind == VS_NCCL_BROADCAST ||
                  t->kind == VS_NCCL_SCATTER;
    size_t part = part_bytes(t), all = (size_t)vs_nccl_task_bytes(t, m->count);
    if (all > vs_nccl_options()->bytes || (rooted && t->root != m->rank))
        return;
    if (t->op == VS_NCCL_SCALED) {
        w.scaled = vs_sim_need(malloc(all + 1));
        vs_nccl_scale(t->type, t->scalar_address ? t->scalar_address : t->scalar, t->send,
                      all / vs_nccl_type_bytes(t->type), w.scaled);
    }
    /* A copy: the output may be the input. */
    unsigned char *own = vs_sim_need(malloc(part + 1));
    memcpy(own, input_for(t, &w, m->rank), part);
    if (reduces(t->kind))
        reduce_equal(t, own, m->count);
    else if (t->kind == VS_NCCL_BROADCAST || t->kind == VS_NCCL_SCATTER)
        memcpy(t->recv, own, part);
    else
        for (int r = 0; r < m->count; r++)
            memcpy(output_from(t, &w, r), own, part);
    free(own);
    free(w.scaled);
}

/* Broadcasts of one group, of which this rank does one, are an all-gather (PyTorch's nccl2). */
static void gather_alone(struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count)
{
    const struct vs_nccl_task *own = NULL;
    for (size_t i = 0; i < count && !own; i++)
        own = tasks[i].kind == VS_NCCL_BROADCAST && tasks[i].root == m->rank ? &tasks[i] : NULL;
    for (size_t i = 0; i < count && own; i++)
        if (tasks[i].kind == VS_NCCL_BROADCAST && tasks[i].root != m->rank &&
            part_bytes(&tasks[i]) == part_bytes(own) && part_bytes(own) <= vs_nccl_options()->bytes)
            memmove(tasks[i].recv, own->send, part_bytes(own));
}

/* What a rank sends to itself arrives; nothing else does. */
static void pairs_alone(struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count)
{
    size_t at = 0; /* behind the latest send that was received */
    for (size_t i = 0; i < count; i++) {
        if (tasks[i].kind != VS_NCCL_RECV || tasks[i].root != m->rank)
            continue;
        while (at < count && (tasks[at].kind != VS_NCCL_SEND || tasks[at].root != m->rank))
            at++;
        if (at < count && part_bytes(&tasks[at]) == part_bytes(&tasks[i]))
            memmove(tasks[i].recv, tasks[at].send, part_bytes(&tasks[i]));
        at += at < count;
    }
}

/* ---- sends and receives ---- */

static int perform_pairs(struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count)
{
    struct vs_nccl_transfer *list = vs_sim_need(calloc(count, sizeof *list));
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const struct vs_nccl_task *t = &tasks[i];
        if (t->kind != VS_NCCL_SEND && t->kind != VS_NCCL_RECV)
            continue;
        bool sending = t->kind == VS_NCCL_SEND;
        bool carried = part_bytes(t) <= vs_nccl_options()->bytes || t->root == m->rank;
        list[n++] = (struct vs_nccl_transfer){
            .peer = t->root,
            .sending = sending,
            .data = sending ? (unsigned char *)t->send : t->recv,
            .message = {.kind = t->kind, .type = t->type, .count = t->count,
                        .carried = carried ? part_bytes(t) : 0}};
    }
    int e = vs_nccl_transfer_all(m, list, n);
    free(list);
    return e;
}

int vs_nccl_perform(struct vs_nccl_member *m, const struct vs_nccl_task *tasks, size_t count)
{
    bool pairs = false;
    for (size_t i = 0; i < count; i++) {
        if (tasks[i].kind == VS_NCCL_SEND || tasks[i].kind == VS_NCCL_RECV) {
            pairs = true;
            continue;
        }
        if (!m->segment) {
            perform_alone(m, &tasks[i]);
            continue;
        }
        int e = perform_collective(m, &tasks[i]);
        if (e)
            return e;
    }
    if (!m->segment) {
        gather_alone(m, tasks, count);
        pairs_alone(m, tasks, count);
        return ncclSuccess;
    }
    return pairs ? perform_pairs(m, tasks, count) : ncclSuccess;
}
