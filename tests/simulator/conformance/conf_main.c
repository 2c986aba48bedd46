/* SPDX-License-Identifier: Apache-2.0
 *
 * conformance [GROUP]...: checks the facts of these groups, or of all. Exit status 0 if all hold, 1
 * if one does not, 2 for an unknown group, 77 without a device. conformance --ptx: prints the
 * kernels for an assembler. conformance --list: prints the groups' names. */
#include "conf.h"

#include <stdio.h>
#include <unistd.h>

static unsigned facts, left_out;
static int abandoned; /* a fact did not hold: gates open */

/* Opens all gates, so that the next case finds idle streams. */
static void give_up(const char *file, int line)
{
    conf_open(&abandoned);
    (void)cuCtxSynchronize();
    __atomic_store_n(&abandoned, 0, __ATOMIC_RELEASE);
    _fail(file, line);
}

void conf_fact(int holds, const char *text, const char *rule, const char *file, int line)
{
    if (!holds) {
        print_error("does not hold: %s\n  rule: %s\n", text, rule);
        give_up(file, line);
    }
    facts++;
}

void conf_fact_equal(long long actual, long long expected, const char *text, const char *rule,
                     const char *file, int line)
{
    if (actual != expected) {
        print_error("does not hold: %s is %lld, not %lld\n  rule: %s\n", text, actual, expected,
                    rule ? rule : "it should simply work here");
        give_up(file, line);
    }
    facts += rule != NULL;
}

void conf_leave_out(const char *why)
{
    print_message("left out: %s\n", why);
    left_out++;
    skip();
}

int conf_attribute(CUdevice_attribute attribute)
{
    return GOT(int, cuDeviceGetAttribute(&got, attribute, 0));
}

int conf_device_count(void)
{
    return GOT(int, cuDeviceGetCount(&got));
}

void conf_need_processes(void)
{
    NEED(DEVICE_ATTRIBUTE(COMPUTE_MODE) == CU_COMPUTEMODE_DEFAULT,
         "one process at a time may use the device");
}

CUcontext conf_context(void)
{
    return GOT(CUcontext, cuCtxGetCurrent(&got));
}

CUstream conf_stream(void)
{
    return GOT(CUstream, cuStreamCreate(&got, CU_STREAM_NON_BLOCKING));
}

CUevent conf_event(void)
{
    return GOT(CUevent, cuEventCreate(&got, CU_EVENT_DISABLE_TIMING));
}

CUdeviceptr conf_alloc(size_t bytes)
{
    return GOT(CUdeviceptr, cuMemAlloc(&got, bytes));
}

void *conf_pinned(size_t bytes)
{
    void *memory = NULL;
    DO(cuMemHostAlloc(&memory, bytes, 0));
    return memset(memory, 0, bytes);
}

unsigned char conf_byte(CUdeviceptr at)
{
    DO(cuCtxSynchronize());
    return GOT(unsigned char, cuMemcpyDtoH(&got, at, 1));
}

CUgraph conf_graph(void)
{
    return GOT(CUgraph, cuGraphCreate(&got, 0));
}

CUgraphExec conf_exec(CUgraph graph)
{
    return GOT(CUgraphExec, cuGraphInstantiate(&got, graph, 0));
}

void conf_run(CUgraphExec exec, CUstream stream)
{
    DO(cuGraphLaunch(exec, stream));
    DO(cuStreamSynchronize(stream));
}

size_t conf_node_count(CUgraph graph)
{
    return GOT(size_t, cuGraphGetNodes(graph, NULL, &got));
}

static size_t free_memory(void)
{
    size_t total = 0;
    return GOT(size_t, cuMemGetInfo(&got, &total));
}

bool conf_takes_memory(size_t bytes, void *(*make)(void), void (*drop)(void *))
{
    bool seen = false;
    NEED(!DEVICE_ATTRIBUTE(INTEGRATED), "the device has the host's memory");
    for (int i = 0; i < 20 && !seen; i++) {
        size_t before = free_memory();
        void *made = make();
        size_t during = free_memory();
        drop(made);
        seen = during + bytes <= before && free_memory() > during;
    }
    return seen;
}

void conf_gate(void *gate)
{
    while (!__atomic_load_n((int *)gate, __ATOMIC_ACQUIRE) &&
           !__atomic_load_n(&abandoned, __ATOMIC_ACQUIRE))
        usleep(100);
}

void conf_close(CUstream stream, int *gate)
{
    *gate = 0;
    DO(cuLaunchHostFunc(stream, conf_gate, gate));
}

void conf_open(int *gate) { __atomic_store_n(gate, 1, __ATOMIC_RELEASE); }

static const struct {
    const char *name;
    bool begin;
    int needed;
    const char *needed_name;
} rows[] = {
#define CONF_GROUP(name, begin, needed) {#name, begin, needed, #needed},
#include "conf_group_table.h"
#undef CONF_GROUP
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static struct conf_group groups[ROWS + 2]; /* conf_kernels.c and this file have no tests */
static size_t group_count;
static const struct vs_fixtures *fixtures; /* of the group that runs */
static bool begin;

void conf_add_group(struct conf_group group) { groups[group_count++] = group; }

FIXTURE(group_begins)
{
    if (begin && cudaSetDevice(0) != cudaSuccess)
        return -1;
    return vs_run_fixtures(fixtures->setup, state);
}

FIXTURE(group_ends) { return begin && cuCtxSynchronize() != CUDA_SUCCESS ? -1 : 0; }

FIXTURE(case_begins)
{
    if (begin)
        (void)cudaGetLastError(); /* of an earlier case */
    return vs_run_fixtures(fixtures->before, state);
}

FIXTURE(case_ends) { return vs_run_fixtures(fixtures->after, state); }

/* Number of its failed cases. */
static int run_group(size_t row)
{
    char file[64];
    struct CMUnitTest tests[VS_TESTS_MAX];
    const struct conf_group *group = groups;
    if (rows[row].needed && !conf_attribute((CUdevice_attribute)rows[row].needed)) {
        print_message("left out: %s needs %s\n", rows[row].name, rows[row].needed_name);
        left_out++;
        return 0;
    }
    snprintf(file, sizeof file, "/conf_%s.c", rows[row].name);
    while (!strstr(group->file, file))
        group++;
    fixtures = group->fixtures;
    begin = rows[row].begin;
    for (size_t i = 0; i < *group->count; i++) {
        tests[i] = group->tests[i];
        tests[i].setup_func = case_begins;
        tests[i].teardown_func = case_ends;
    }
    return _cmocka_run_group_tests(rows[row].name, tests, *group->count, group_begins, group_ends);
}

/* Number of its failed cases; -1: unknown group. NULL: of all groups. */
static int run_named(const char *name)
{
    int failed = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (!name)
            failed += run_group(i);
        else if (!strcmp(name, rows[i].name))
            return run_group(i);
    return name ? -1 : failed;
}

int main(int argc, char **argv)
{
    int count = 0, failed = 0;
    if (argc == 2 && !strcmp(argv[1], "--ptx"))
        return fputs(conf_ptx, stdout) < 0;
    if (argc == 2 && !strcmp(argv[1], "--list")) {
        for (size_t i = 0; i < ROWS; i++)
            puts(rows[i].name);
        return 0;
    }
    /* Removes debug settings of the user that would delay work behind a gate, or load a kernel
     * there. */
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1); /* no two streams share a hardware queue */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    unsetenv("CUDA_LAUNCH_BLOCKING");
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS || !count) {
        fprintf(stderr, "conformance: there is no CUDA device here\n");
        return 77;
    }
    for (int i = 1; i < argc && !failed; i++) {
        failed = run_named(argv[i]);
        if (failed < 0) {
            fprintf(stderr, "conformance: no group is called '%s'; the groups are those of "
                            "conf_group_table.h\n", argv[i]);
            return 2;
        }
    }
    if (argc == 1)
        failed = run_named(NULL);
    printf("conformance: %u facts held, %u cases left out%s\n", facts, left_out,
           failed ? ", AND SOME DO NOT HOLD" : "");
    return failed ? 1 : 0;
}
