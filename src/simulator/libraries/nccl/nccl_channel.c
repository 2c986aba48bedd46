/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes between ranks, and every wait. A ring of the shared memory carries, for one ordered pair of
 * ranks, messages: a header that says what the sender is doing, then its bytes, in pieces as there is
 * room. A rank without progress sleeps on its bell; now and then it looks whether the ranks that it
 * waits for are still there. */
#include <stdio.h>
#include <string.h>

#include "base/vs_clock.h"
#include "simulator/libraries/nccl/vs_nccl_comm.h"

#define MESSAGE_MAGIC 0x6d63636e
#define LOOK_MS 200         /* between looks at the other ranks' processes */
#define GRACE_NS UINT64_C(30000000000)

/* ---- waiting ---- */

struct waiting {
    uint64_t since_ns, looked_ns;
};

/* An error if *peer* cannot arrive any more. */
static int look_at_left(struct vs_nccl_member *m, int peer)
{
    static const char *const how[] = {"", "destroyed its communicator", "aborted its communicator",
                                      "stopped after an error"};
    uint32_t left = atomic_load(&m->segment->ranks[peer].left);
    if (left == VS_NCCL_PRESENT || peer == m->rank)
        return ncclSuccess;
    return vs_nccl_stop_with(m, ncclRemoteError, "rank %d %s while this rank waits for it", peer,
                             how[left <= VS_NCCL_FAILED ? left : VS_NCCL_FAILED]);
}

static int look_at_process(struct vs_nccl_member *m, int peer)
{
    struct vs_nccl_rank *r = &m->segment->ranks[peer];
    if (peer == m->rank || !atomic_load(&r->joined))
        return ncclSuccess;
    if (r->namespace != m->segment->ranks[m->rank].namespace) /* another container's: the timeout ends it */
        return ncclSuccess;
    if (vs_nccl_process_start(r->pid) == r->started)
        return ncclSuccess;
    return vs_nccl_stop_with(m, ncclRemoteError,
                             "rank %d (process %d) ended while this rank waits for it", peer, r->pid);
}

/* Sleeps until the bell differs from *seen*, or looks at the ranks in *needed*. */
static int wait_for(struct vs_nccl_member *m, uint32_t seen, const unsigned char *needed,
                    struct waiting *w)
{
    int e = ncclSuccess, last = m->rank;
    uint64_t now = vs_clock_ns();
    bool look = now - w->looked_ns >= LOOK_MS * UINT64_C(1000000);
    for (int r = 0; r < m->count && !e; r++)
        if (needed[r]) {
            e = look_at_left(m, r);
            if (!e && look)
                e = look_at_process(m, r);
            last = r;
        }
    if (e)
        return e;
    if (look)
        w->looked_ns = now;
    if (now - w->since_ns >= vs_nccl_options()->timeout_ns)
        return vs_nccl_stop_with(m, ncclRemoteError,
                                 "rank %d did not arrive within %llu s; check that every rank makes "
                                 "the same calls, or set "
                                 "VRAMSCOPE_SIMULATE_COLLECTIVES=timeout=SECONDS", last,
                                 (unsigned long long)(vs_nccl_options()->timeout_ns / 1000000000));
    vs_nccl_bell_sleep(&m->segment->ranks[m->rank], seen, LOOK_MS);
    return ncclSuccess;
}

void vs_nccl_hold(struct vs_nccl_member *m)
{
    struct vs_nccl_rank *own = &m->segment->ranks[m->rank];
    for (uint64_t until = vs_clock_ns() + GRACE_NS; vs_clock_ns() < until;) {
        uint32_t seen = atomic_load(&own->bell);
        if (atomic_load(&m->stopped))
            return;
        vs_nccl_bell_sleep(own, seen, LOOK_MS);
    }
}

/* ---- rings ---- */

/* Copies *n* bytes at position *at* of the ring into it, or out of it. */
static void copy(struct vs_nccl_member *m, int from, int to, uint64_t at, void *data, size_t n, bool in)
{
    unsigned char *bytes = vs_nccl_ring_bytes(m->segment, from, to), *other = data;
    size_t size = m->segment->ring_bytes, offset = at & (size - 1);
    size_t first = n < size - offset ? n : size - offset;
    memcpy(in ? bytes + offset : other, in ? other : bytes + offset, first);
    memcpy(in ? bytes : other + first, in ? other + first : bytes, n - first);
}

/* True if anything moved. A message whose bytes are not carried is finished when it was read, as
 * a large send is when its receiver has come. */
static bool step_send(struct vs_nccl_member *m, struct vs_nccl_transfer *t)
{
    struct vs_nccl_ring *ring = vs_nccl_ring_of(m->segment, m->rank, t->peer);
    uint64_t head = atomic_load(&ring->head), begin = head;
    uint64_t room = m->segment->ring_bytes - (head - atomic_load(&ring->tail));
    if (!t->began) {
        if (room < sizeof t->message)
            return false;
        t->message.magic = MESSAGE_MAGIC;
        copy(m, m->rank, t->peer, head, &t->message, sizeof t->message, true);
        head += sizeof t->message;
        room -= sizeof t->message;
        t->began = true;
    }
    uint64_t n = t->message.carried - t->done;
    n = n < room ? n : room;
    if (n)
        copy(m, m->rank, t->peer, head, t->data + t->done, n, true);
    t->done += n;
    head += n;
    if (head != begin) {
        t->end = head;
        atomic_store(&ring->head, head); /* pairs with step_receive */
        vs_nccl_bell_ring(&m->segment->ranks[t->peer]);
    }
    t->finished = t->done == t->message.carried &&
                  (t->message.carried || !t->message.count || atomic_load(&ring->tail) >= t->end);
    return head != begin || t->finished;
}

static void describe(const struct vs_nccl_message *s, char *text, size_t bytes)
{
    bool pair = s->kind == VS_NCCL_SEND || s->kind == VS_NCCL_RECV;
    int n = snprintf(text, bytes, "%s of %llu %s", vs_nccl_kind_name(s->kind),
                     (unsigned long long)s->count, vs_nccl_type_name(s->type));
    if (n > 0 && (size_t)n < bytes && !pair)
        snprintf(text + n, bytes - (size_t)n, " (operation %d, root %d, collective %llu of the "
                 "communicator)", s->op, s->root, (unsigned long long)s->number + 1);
}

static bool matches(const struct vs_nccl_message *got, const struct vs_nccl_message *want)
{
    if (want->kind == VS_NCCL_RECV)
        return got->kind == VS_NCCL_SEND && got->carried == want->carried &&
               got->count * vs_nccl_type_bytes(got->type) ==
                   want->count * vs_nccl_type_bytes(want->type);
    return got->kind == want->kind && got->type == want->type && got->op == want->op &&
           got->root == want->root && got->count == want->count && got->number == want->number &&
           got->carried == want->carried;
}

static int mismatch(struct vs_nccl_member *m, int peer, const struct vs_nccl_message *got,
                    const struct vs_nccl_message *want)
{
    char theirs[160], ours[160];
    describe(got, theirs, sizeof theirs);
    describe(want, ours, sizeof ours);
    return vs_nccl_stop_with(m, ncclInvalidUsage,
                             "the ranks make different calls: rank %d %s, rank %d %s; a real device "
                             "would hang or compute nonsense here", m->rank, ours, peer, theirs);
}

/* *moved* is set if anything moved. */
static int step_receive(struct vs_nccl_member *m, struct vs_nccl_transfer *t, bool *moved)
{
    struct vs_nccl_ring *ring = vs_nccl_ring_of(m->segment, t->peer, m->rank);
    uint64_t tail = atomic_load(&ring->tail), begin = tail;
    uint64_t ready = atomic_load(&ring->head) - tail;
    if (!t->began) {
        struct vs_nccl_message got;
        if (ready < sizeof got)
            return ncclSuccess;
        copy(m, t->peer, m->rank, tail, &got, sizeof got, false);
        if (got.magic != MESSAGE_MAGIC)
            return vs_nccl_stop_with(m, ncclInternalError, "the shared memory is damaged");
        if (!matches(&got, &t->message))
            return mismatch(m, t->peer, &got, &t->message);
        tail += sizeof got;
        ready -= sizeof got;
        t->began = true;
    }
    uint64_t n = t->message.carried - t->done;
    n = n < ready ? n : ready;
    if (n)
        copy(m, t->peer, m->rank, tail, t->data + t->done, n, false);
    t->done += n;
    tail += n;
    if (tail != begin) {
        atomic_store(&ring->tail, tail); /* pairs with step_send */
        vs_nccl_bell_ring(&m->segment->ranks[t->peer]);
        *moved = true;
    }
    t->finished = t->began && t->done == t->message.carried;
    return ncclSuccess;
}

/* One round over all transfers: in a direction of a pair, each waits for those before it. */
static int round_of(struct vs_nccl_member *m, struct vs_nccl_transfer *list, size_t count,
                    unsigned char *busy, bool *moved, bool *all)
{
    memset(busy, 0, 2 * (size_t)m->count);
    *all = true;
    for (size_t i = 0; i < count; i++) {
        struct vs_nccl_transfer *t = &list[i];
        unsigned char *b = &busy[t->sending ? t->peer : m->count + t->peer];
        if (t->finished || *b)
            continue;
        if (t->sending)
            *moved |= step_send(m, t);
        else {
            int e = step_receive(m, t, moved);
            if (e)
                return e;
        }
        *b = !t->finished;
        *all &= t->finished;
    }
    for (int r = 0; r < m->count; r++)
        *all &= !busy[r] && !busy[m->count + r];
    return ncclSuccess;
}

int vs_nccl_transfer_all(struct vs_nccl_member *m, struct vs_nccl_transfer *list, size_t count)
{
    unsigned char busy[2 * VS_NCCL_RANKS_MAX];
    struct vs_nccl_rank *own = &m->segment->ranks[m->rank];
    struct waiting w = {vs_clock_ns(), vs_clock_ns()};
    bool left_before = false;
    for (;;) {
        uint32_t seen = atomic_load(&own->bell);
        if (atomic_load(&m->stopped))
            return ncclInvalidUsage;
        bool moved = false, all = false;
        int e = round_of(m, list, count, busy, &moved, &all);
        if (e || all)
            return e;
        if (moved) {
            w.since_ns = vs_clock_ns();
            left_before = false;
            continue;
        }
        bool left = false; /* a rank may leave just after its last bytes: look at those once more */
        for (int r = 0; r < m->count; r++) {
            busy[r] |= busy[m->count + r];
            left |= busy[r] && atomic_load(&m->segment->ranks[r].left) != VS_NCCL_PRESENT;
        }
        if (left && !left_before) {
            left_before = true;
            continue;
        }
        if ((e = wait_for(m, seen, busy, &w)))
            return e;
    }
}

/* ---- control data ---- */

uint64_t vs_nccl_post(struct vs_nccl_member *m, const void *data, size_t bytes)
{
    struct vs_nccl_rank *own = &m->segment->ranks[m->rank];
    uint64_t number = ++m->posted;
    memcpy(own->control[number & 1], data, bytes);
    atomic_store(&own->posted, number); /* pairs with vs_nccl_collect */
    for (int r = 0; r < m->count; r++)
        vs_nccl_bell_ring(&m->segment->ranks[r]);
    return number;
}

/* Returns when every rank has posted exchange *number*, or, for 0, has joined. */
static int wait_ranks(struct vs_nccl_member *m, uint64_t number)
{
    unsigned char needed[VS_NCCL_RANKS_MAX];
    struct vs_nccl_rank *ranks = m->segment->ranks;
    struct waiting w = {vs_clock_ns(), vs_clock_ns()};
    for (;;) {
        uint32_t seen = atomic_load(&ranks[m->rank].bell);
        int missing = 0, first = -1;
        for (int r = m->count - 1; r >= 0; r--) {
            bool there = number ? atomic_load(&ranks[r].posted) >= number : atomic_load(&ranks[r].joined);
            needed[r] = !there || !number; /* a rank that has joined may end before the others come */
            if (!there) {
                missing++;
                first = r;
            }
        }
        if (!missing)
            return ncclSuccess;
        if (atomic_load(&m->stopped))
            return vs_nccl_fail(ncclInvalidUsage, "the communicator was aborted");
        if (!number && vs_clock_ns() - w.since_ns >= vs_nccl_options()->timeout_ns)
            return vs_nccl_stop_with(m, ncclRemoteError,
                                     "%d of %d ranks did not join within %llu s, the first of them "
                                     "rank %d; all ranks must be processes of this machine", missing,
                                     m->count,
                                     (unsigned long long)(vs_nccl_options()->timeout_ns / 1000000000),
                                     first);
        int e = wait_for(m, seen, needed, &w);
        if (e)
            return e;
    }
}

int vs_nccl_collect(struct vs_nccl_member *m, uint64_t number, void *all, size_t bytes)
{
    int e = wait_ranks(m, number);
    for (int r = 0; r < m->count && !e; r++)
        memcpy((unsigned char *)all + (size_t)r * bytes, m->segment->ranks[r].control[number & 1], bytes);
    return e;
}

int vs_nccl_wait_joined(struct vs_nccl_member *m) { return wait_ranks(m, 0); }
