/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads while a library is being loaded: its constructor uses CUDA and holds the loader's lock,
 * so another thread that holds one of our locks must not wait for the loader. */
#include <dlfcn.h>
#include <semaphore.h>
#include <time.h>

#include "victim_memory.h"

VICTIM("threads")

#define DEADLOCK_SECONDS 200

static sem_t is_loading, is_done;
static CUcontext context;

struct graph {
    CUgraph graph;
    CUgraphExec exec;
    size_t bytes;
};
static struct graph graphs[2];

static void make(struct graph *g, size_t bytes)
{
    g->bytes = bytes;
    g->graph = graph_of(bytes);
    g->exec = executable(g->graph, 0);
}

static void launch(const struct graph *g)
{
    ALLOCATES(VT_GRAPH, g->bytes, cuGraphLaunch(g->exec, NULL));
    tally_free(VT_GRAPH);
}

static void finish(const struct graph *g)
{
    OK(cuGraphExecDestroy(g->exec));
    OK(cuGraphDestroy(g->graph));
}

static void start_with_a_deadline(void)
{
    alarm(DEADLOCK_SECONDS);
    CHECK(!sem_init(&is_loading, 0, 0) && !sem_init(&is_done, 0, 0));
    start();
    OK(cuCtxGetCurrent(&context));
}

/* Calls *moment* in a constructor. */
static void load(void (*moment)(void))
{
    char address[32];
    snprintf(address, sizeof address, "%llx", (unsigned long long)(uintptr_t)moment);
    CHECK(!setenv("VICTIM_MOMENT", address, 1));
    CHECK(dlopen(VICTIM_LOADING_LIBRARY, RTLD_NOW));
}

static void *launch_beside(void *arg)
{
    OK(cuCtxSetCurrent(context));
    sem_wait(&is_loading);
    for (int i = 0; i < 3; i++)
        launch(arg);
    sem_post(&is_done);
    return NULL;
}

static void launch_while_loading(void)
{
    sem_post(&is_loading);
    usleep(200000); /* by now the other thread waits, if it does */
    launch(&graphs[0]);
}

CASE_STATUS(graphs_beside_loading, "graphs with memory in a constructor and in another thread", 0)
{
    pthread_t thread;
    start_with_a_deadline();
    make(&graphs[0], 3 * MIB);
    make(&graphs[1], 5 * MIB);
    launch(&graphs[0]);
    CHECK(!pthread_create(&thread, NULL, launch_beside, &graphs[1]));
    load(launch_while_loading);
    CHECK(!pthread_join(thread, NULL));
    OK(cuCtxSynchronize());
    finish(&graphs[0]);
    finish(&graphs[1]);
    return 61;
}

/* A thread that has called CUDA before need not wait until a library is loaded. */
static void wait_for_the_other(void)
{
    struct timespec until;
    sem_post(&is_loading);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += DEADLOCK_SECONDS / 2;
    puts(sem_timedwait(&is_done, &until) ? "the other thread waits" : "the other thread goes on");
}

CASE_STATUS(graphs_go_on_while_loading, "graphs with memory while a library is being loaded", 0)
{
    pthread_t thread;
    start_with_a_deadline();
    make(&graphs[0], 3 * MIB);
    launch(&graphs[0]);
    CHECK(!pthread_create(&thread, NULL, launch_beside, &graphs[0]));
    load(wait_for_the_other);
    CHECK(!pthread_join(thread, NULL));
    OK(cuCtxSynchronize());
    finish(&graphs[0]);
    return 62;
}
