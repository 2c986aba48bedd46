/* SPDX-License-Identifier: Apache-2.0
 *
 * Making communicators: all ranks join the shared memory of a key, then wait for each other. The
 * communicators of one group are taken through each phase together, so that one thread can make
 * those of several devices. The key of a split is computed from its parent's on every rank. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simulator/libraries/nccl/vs_nccl_comm.h"

#define KEY_WAIT_NS UINT64_C(30000000000) /* for the answer of the first rank's process */

struct split_data { /* what ranks tell each other */
    int color, sort, has_key;
    struct vs_nccl_key key;
};
_Static_assert(sizeof(struct split_data) <= VS_NCCL_CONTROL_BYTES, "fits the control data");

static struct vs_nccl_key derive(const struct vs_nccl_key *from, uint64_t what, uint64_t number)
{
    uint64_t h[2] = {UINT64_C(14695981039346656037), UINT64_C(1099511628211)};
    struct {
        struct vs_nccl_key key;
        uint64_t what, number;
    } in = {*from, what, number};
    for (size_t i = 0; i < 2 * sizeof in; i++) { /* FNV-1a, the halves from different beginnings */
        uint64_t *half = &h[i / sizeof in];
        *half = (*half ^ ((const unsigned char *)&in)[i % sizeof in]) * UINT64_C(1099511628211);
    }
    struct vs_nccl_key key;
    memcpy(key.bytes, h, sizeof key.bytes);
    return key;
}

/* The split's result for this rank: key, rank and count, or count 0. */
static int take_split(struct vs_nccl_join *j)
{
    struct vs_nccl_member *p = j->parent;
    struct split_data *all = vs_sim_need(calloc((size_t)p->count, sizeof *all));
    int e = vs_nccl_collect(p, j->posted, all, sizeof *all);
    j->rank = j->count = 0;
    for (int r = 0; r < p->count && !e && j->color >= 0; r++) {
        if (all[r].color != j->color)
            continue;
        j->count++;
        j->rank += all[r].sort < j->sort || (all[r].sort == j->sort && r < p->rank);
    }
    j->key = derive(&p->key, 1 + (uint64_t)(unsigned)j->color, j->posted);
    free(all);
    return e;
}

static int take_growth(struct vs_nccl_join *j)
{
    struct vs_nccl_member *p = j->parent;
    struct split_data *all = vs_sim_need(calloc((size_t)p->count, sizeof *all));
    int e = vs_nccl_collect(p, j->posted, all, sizeof *all), found = 0;
    for (int r = 0; r < p->count && !e; r++)
        if (all[r].has_key) {
            j->key = all[r].key;
            found++;
        }
    free(all);
    if (!e && found != 1)
        e = vs_nccl_fail(ncclInvalidUsage, "ncclCommGrow: %d ranks gave a unique id; exactly one must",
                         found);
    return e;
}

static int attach(struct vs_nccl_join *j)
{
    struct vs_nccl_member *m = j->made->member;
    char why[256];
    m->rank = j->rank;
    m->count = j->count;
    m->key = j->key;
    m->near_low = j->near_low;
    m->near_end = j->near_end ? j->near_end : j->count;
    m->connected = vs_sim_need(calloc((size_t)j->count, 1));
    if (vs_nccl_options()->alone)
        return ncclSuccess;
    m->segment = vs_nccl_segment_join(&j->key, j->count, j->rank, KEY_WAIT_NS, &m->door, why, sizeof why);
    if (!m->segment)
        return vs_nccl_stop_with(m, ncclSystemError, "cannot join the communicator: %s", why);
    struct vs_nccl_rank *own = &m->segment->ranks[m->rank];
    struct stat st;
    own->pid = getpid();
    own->namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
    own->started = vs_nccl_process_start(own->pid);
    vs_library_driver()->cuDeviceGetPCIBusId(own->bus, sizeof own->bus, m->device);
    atomic_store(&own->joined, 1); /* pairs with vs_nccl_wait_joined */
    for (int r = 0; r < m->count; r++)
        vs_nccl_bell_ring(&m->segment->ranks[r]);
    return ncclSuccess;
}

static int check_devices(struct vs_nccl_member *m)
{
    struct vs_nccl_rank *ranks = m->segment->ranks;
    for (int r = 0; r < m->count; r++)
        if (r != m->rank && !strncmp(ranks[r].bus, ranks[m->rank].bus, sizeof ranks[r].bus))
            return vs_nccl_stop_with(m, ncclInvalidUsage,
                                     "Duplicate GPU detected : rank %d and rank %d both on CUDA device "
                                     "%.16s; simulate more devices: add devices=%d to "
                                     "the simulated GPU, as in h100-80g,devices=%d", m->rank, r, ranks[r].bus,
                                     m->count, m->count);
    return ncclSuccess;
}

static int wait_ready(struct vs_nccl_join *j)
{
    struct vs_nccl_member *m = j->made->member;
    int e = m->segment ? vs_nccl_wait_joined(m) : ncclSuccess;
    vs_nccl_segment_shut(&m->door);
    if (!e && m->segment)
        e = check_devices(m);
    int expected = ncclInProgress;
    if (!e)
        atomic_compare_exchange_strong(&m->error, &expected, ncclSuccess);
    return e ? e : atomic_load(&m->error);
}

/* ---- phases ---- */

static void give_up(struct vs_nccl_join *j, int e)
{
    int expected = ncclInProgress;
    struct vs_nccl_member *m = j->made->member;
    atomic_compare_exchange_strong(&m->error, &expected, e);
    if (m->segment)
        vs_nccl_stop_with(m, e, "the communicator was not made");
    if (!j->blocking)
        return; /* ncclCommGetAsyncError answers; the program destroys it */
    *j->out = NULL;
    vs_library_delete(j->made, VS_NCCL_HANDLE);
    vs_nccl_release(m);
}

static int run_wave(struct vs_nccl_join *joins, const size_t *wave, size_t count)
{
    int e = ncclSuccess;
    for (size_t i = 0; i < count; i++) {
        struct vs_nccl_join *j = &joins[wave[i]];
        struct split_data data = {j->color, j->sort, j->has_key, j->key};
        if (j->parent)
            j->posted = vs_nccl_post(j->parent, &data, sizeof data);
    }
    for (size_t i = 0; i < count && !e; i++) {
        struct vs_nccl_join *j = &joins[wave[i]];
        if (j->how == VS_NCCL_SPLIT)
            e = take_split(j);
        else if (j->how == VS_NCCL_GROW && j->parent)
            e = take_growth(j);
        if (!e && j->count) {
            e = attach(j);
        } else if (!e) { /* a rank that is in no part of a split has no communicator */
            struct vs_nccl_member *m = j->made->member;
            *j->out = NULL;
            vs_library_delete(j->made, VS_NCCL_HANDLE);
            vs_nccl_release(m);
            j->made = NULL;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (joins[wave[i]].made && !e)
            e = wait_ready(&joins[wave[i]]);
    for (size_t i = 0; i < count && e; i++)
        if (joins[wave[i]].made)
            give_up(&joins[wave[i]], e);
    return e;
}

/* A wave has each parent once: its ranks exchange data one split at a time. */
static int run_all(struct vs_nccl_join *joins, size_t count)
{
    size_t *wave = vs_sim_need(calloc(count, sizeof *wave));
    bool *done = vs_sim_need(calloc(count, sizeof *done));
    int e = ncclSuccess;
    for (size_t left = count; left && !e;) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++) {
            bool take = !done[i];
            for (size_t k = 0; k < n && take; k++)
                take = !joins[i].parent || joins[wave[k]].parent != joins[i].parent;
            if (take)
                wave[n++] = i;
        }
        for (size_t k = 0; k < n; k++)
            done[wave[k]] = true;
        left -= n;
        e = run_wave(joins, wave, n);
    }
    for (size_t i = 0; i < count; i++)
        if (joins[i].parent)
            vs_nccl_release(joins[i].parent);
    free(wave);
    free(done);
    return e;
}

struct background {
    size_t count;
    struct vs_nccl_join joins[];
};

static void *run_in_background(void *argument)
{
    struct background *b = argument;
    run_all(b->joins, b->count);
    for (size_t i = 0; i < b->count; i++)
        if (b->joins[i].made)
            vs_nccl_release(b->joins[i].made->member);
    free(b);
    return NULL;
}

/* For communicators with blocking = 0. A split's result may be NULL, which the program must know at
 * once: then the phases run here. */
static int start_background(struct vs_nccl_join *joins, size_t count)
{
    struct background *b = vs_sim_need(malloc(sizeof *b + count * sizeof *joins));
    b->count = count;
    memcpy(b->joins, joins, count * sizeof *joins);
    for (size_t i = 0; i < count; i++)
        vs_nccl_keep(joins[i].made->member);
    if (!vs_sim_thread_start(run_in_background, b)) {
        for (size_t i = 0; i < count; i++)
            vs_nccl_release(joins[i].made->member);
        free(b);
        return vs_nccl_fail(ncclSystemError, "no thread for a communicator");
    }
    return ncclInProgress;
}

static struct ncclComm *make_handle(const struct vs_nccl_join *j)
{
    struct vs_nccl_member *m = vs_sim_need(calloc(1, sizeof *m));
    struct ncclComm *comm = vs_library_new(VS_NCCL_HANDLE, sizeof *comm);
    atomic_init(&m->references, 1);
    atomic_init(&m->error, ncclInProgress);
    pthread_mutex_init(&m->mu, NULL);
    pthread_mutex_init(&m->order, NULL);
    pthread_cond_init(&m->idle, NULL);
    m->rank = j->rank;
    m->count = j->count;
    m->blocking = j->blocking;
    m->device = j->device;
    m->context = j->context;
    comm->member = m;
    return comm;
}

int vs_nccl_joins_run(struct vs_nccl_join *joins, size_t count)
{
    bool background = true;
    for (size_t i = 0; i < count; i++) {
        joins[i].made = make_handle(&joins[i]);
        *joins[i].out = joins[i].made;
        background &= !joins[i].blocking && joins[i].how == VS_NCCL_INIT;
    }
    return background ? start_background(joins, count) : run_all(joins, count);
}
