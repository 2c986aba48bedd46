/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the host function of one kernel launch, with threads that share its blocks. A launch with
 * few or quick blocks stays on the stream's own thread: the cost per block is learned from a
 * kernel's earlier launches. Jobs live on the stack of the engine that waits for them.
 *
 * A cooperative launch gets all blocks in one call, which may start threads of its own
 * (vramscopeSimThread). A host function ends its launch with an error by vramscopeSimFail; the
 * context fails with it, and blocks that have not started are left out. */
#define _GNU_SOURCE
#include "simulator/memory/vs_sim_managed.h"

#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/vs_clock.h"

#define WORKERS_MAX 63
#define SHARE_NS 40000 /* least work for which other threads are woken */
#define SLICE_NS 10000 /* least work in one slice */
#define SPIN_TURNS 400

struct job {
    struct vs_sim_host_kernel *kernel;
    const struct vramscope_sim_launch *launch;
    struct vs_sim_op *check; /* the checker's kernel, or NULL */
    const atomic_int *fault; /* the context's error */
    unsigned long blocks, slice;
    atomic_ulong next;
    atomic_uint active; /* workers inside; changed under pool_mu */
    struct job *link;
};

static pthread_mutex_t pool_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_work = PTHREAD_COND_INITIALIZER, pool_idle = PTHREAD_COND_INITIALIZER;
static struct job *jobs;      /* guarded by pool_mu */
static unsigned sleeping;     /* guarded by pool_mu */
static atomic_uint job_count; /* jobs in the list, readable without the lock */
static unsigned worker_count; /* immutable after pool_start */
static pthread_once_t pool_once = PTHREAD_ONCE_INIT;

/* Runs slices until none are left; returns the number of blocks this thread ran. */
static unsigned long work_on(struct job *job)
{
    unsigned long did = 0;
    for (;;) {
        unsigned long first = atomic_fetch_add(&job->next, job->slice);
        if (first >= job->blocks || atomic_load(job->fault))
            return did;
        unsigned long last = job->blocks - first > job->slice ? first + job->slice : job->blocks;
        job->kernel->fn(job->launch, first, last);
        did += last - first;
    }
}

static void *worker_main(void *arg)
{
    prctl(PR_SET_NAME, "vs-sim-worker");
    vs_sim_host_function_begin(); /* never ended: this thread runs host functions only */
    for (;;) {
        for (int i = 0; i < SPIN_TURNS && !atomic_load(&job_count); i++)
            vs_sim_relax();
        pthread_mutex_lock(&pool_mu);
        struct job *job = jobs;
        while (!job || atomic_load(&job->next) >= job->blocks) {
            if (job) {
                job = job->link;
                continue;
            }
            sleeping++;
            pthread_cond_wait(&pool_work, &pool_mu);
            sleeping--;
            job = jobs;
        }
        atomic_fetch_add(&job->active, 1);
        pthread_mutex_unlock(&pool_mu);
        struct vs_sim_op *before = job->check ? vs_sim_check_kernel_enter(job->check) : NULL;
        work_on(job);
        if (job->check)
            vs_sim_check_kernel_leave(before);
        pthread_mutex_lock(&pool_mu);
        if (atomic_fetch_sub(&job->active, 1) == 1)
            pthread_cond_broadcast(&pool_idle); /* job may be freed from here on */
        pthread_mutex_unlock(&pool_mu);
    }
    return NULL;
}

static void pool_start(void)
{
    cpu_set_t cpus;
    unsigned count = 1;
    if (!sched_getaffinity(0, sizeof cpus, &cpus))
        count = (unsigned)CPU_COUNT(&cpus);
    unsigned started = 0;
    while (started + 1 < count && started < WORKERS_MAX && vs_sim_thread_start(worker_main, NULL))
        started++;
    worker_count = started;
}

static void job_end(struct job *job)
{
    pthread_mutex_lock(&pool_mu);
    for (struct job **p = &jobs; *p; p = &(*p)->link)
        if (*p == job) {
            *p = job->link;
            break;
        }
    atomic_fetch_sub(&job_count, 1);
    pthread_mutex_unlock(&pool_mu);
    for (int i = 0; i < SPIN_TURNS && atomic_load(&job->active); i++)
        vs_sim_relax();
    if (!atomic_load(&job->active))
        return;
    pthread_mutex_lock(&pool_mu);
    while (atomic_load(&job->active))
        pthread_cond_wait(&pool_idle, &pool_mu);
    pthread_mutex_unlock(&pool_mu);
}

static unsigned long share_out(struct job *job, uint64_t ns_per_block)
{
    unsigned long even = (job->blocks - atomic_load(&job->next)) / ((worker_count + 1ul) * 4);
    unsigned long least = SLICE_NS / (ns_per_block + 1);
    job->slice = even > least ? even : least;
    if (!job->slice)
        job->slice = 1;
    pthread_mutex_lock(&pool_mu);
    job->link = jobs;
    jobs = job;
    atomic_fetch_add(&job_count, 1);
    if (sleeping)
        pthread_cond_broadcast(&pool_work);
    pthread_mutex_unlock(&pool_mu);
    unsigned long did = work_on(job);
    job_end(job);
    return did;
}

static void run_blocks(struct vs_sim_host_kernel *kernel,
                       const struct vramscope_sim_launch *launch, unsigned long blocks,
                       const atomic_int *fault)
{
    struct job job = {.kernel = kernel,
                      .launch = launch,
                      .check = vs_sim_checking ? vs_sim_check_kernel() : NULL,
                      .fault = fault,
                      .blocks = blocks};
    uint64_t known = atomic_load_explicit(&kernel->ns_per_block, memory_order_relaxed);
    uint64_t begin = vs_clock_ns();
    unsigned long did = 0;
    if (blocks > 1 && !known) { /* first launch: measure a part of it */
        did = blocks / 16 ? blocks / 16 : 1;
        kernel->fn(launch, 0, did);
        known = (vs_clock_ns() - begin) / did;
        atomic_store(&job.next, did);
    }
    if (atomic_load(fault))
        return;
    if (blocks > 1 && known * (blocks - did) > SHARE_NS)
        pthread_once(&pool_once, pool_start);
    if (blocks > 1 && known * (blocks - did) > SHARE_NS && worker_count) {
        did += share_out(&job, known);
    } else if (did < blocks) {
        kernel->fn(launch, did, blocks);
        did = blocks;
    }
    uint64_t spent = vs_clock_ns() - begin;
    if (!did)
        return;
    uint64_t smooth = known ? (known * 7 + spent / did) / 8 : spent / did;
    atomic_store_explicit(&kernel->ns_per_block, smooth ? smooth : 1, memory_order_relaxed);
}

/* ---- one launch ---- */

/* What a host function sees is the first member, so that its address finds the rest. */
struct running {
    struct vramscope_sim_launch launch;
    struct vs_sim_context *ctx;
    struct vs_sim_op *check; /* for threads of the host function; NULL: the checker is off */
};
_Static_assert(offsetof(struct running, launch) == 0, "a launch is found by its address");

void vs_sim_kernel_run(struct vs_sim_context *ctx, struct vs_sim_op *work)
{
    const struct vs_sim_launch_op *op = &work->u.launch;
    struct running run = {.launch.shared_bytes = op->shared_bytes,
                          .launch.cooperative = op->attributes.cooperative,
                          .ctx = ctx,
                          .check = work->check ? work : NULL};
    void *args[VS_SIM_ARGS_MAX];
    memcpy(run.launch.grid, op->grid, sizeof run.launch.grid);
    memcpy(run.launch.block, op->block, sizeof run.launch.block);
    for (unsigned i = 0; i < op->host->arg_count; i++) {
        args[i] = op->args + op->host->offset[i];
        if (op->host->bytes[i] == sizeof(uintptr_t)) /* may be a pointer */
            vs_sim_managed_touch(*(uintptr_t *)args[i], ctx->device->ordinal);
    }
    run.launch.args = args;
    bool variables = vs_sim_variables_enter(op->function, ctx);
    struct vs_sim_op *before = work->check ? vs_sim_check_kernel_enter(work) : NULL;
    vs_sim_host_function_begin();
    unsigned long blocks = (unsigned long)op->grid[0] * op->grid[1] * op->grid[2];
    if (op->attributes.cooperative)
        op->host->fn(&run.launch, 0, blocks);
    else
        run_blocks(op->host, &run.launch, blocks, &ctx->fault);
    vs_sim_host_function_end();
    if (work->check)
        vs_sim_check_kernel_leave(before);
    if (variables)
        vs_sim_variables_leave();
}

/* ---- functions found by dlsym: vramscope_simulator.h describes them ---- */

int vramscopeSimFail(const struct vramscope_sim_launch *launch, int error);
VS_SIM_EXPORT int vramscopeSimFail(const struct vramscope_sim_launch *launch, int error)
{
    if (!launch || error <= 0)
        return 0;
    vs_sim_context_fail(((const struct running *)launch)->ctx, (CUresult)error);
    return 1;
}

void vramscopeSimThread(const struct vramscope_sim_launch *launch, int begins);
VS_SIM_EXPORT void vramscopeSimThread(const struct vramscope_sim_launch *launch, int begins)
{
    struct vs_sim_op *check = ((const struct running *)launch)->check;
    if (begins) {
        if (check)
            vs_sim_check_kernel_enter(check);
        vs_sim_host_function_begin();
    } else {
        vs_sim_host_function_end();
        if (check)
            vs_sim_check_kernel_leave(NULL);
    }
}
