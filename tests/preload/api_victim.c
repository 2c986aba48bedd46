/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that queries its own memory through the public C API, if the library is loaded. It
 * compares the results with its own allocations and with CUDA's results, and prints "ok" or the
 * first line that was wrong. Built twice: linked with libvramscope, and with weak references only.
 */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_line.h"
#include "driver_function.h"
#include "vramscope.h"

static int64_t figure(const char *key)
{
    int64_t value = -99;
    if (vramscope_get_statistic(0, key, &value))
        printf("no key %s\n", key);
    return value;
}

static void *device_alloc(size_t bytes)
{
    void *p = NULL;
    CHECK(cudaMalloc(&p, bytes) == cudaSuccess);
    return p;
}

static int visited;

static void compare(const char *key, int64_t value, void *arg)
{
    visited++;
    CHECK(arg == &visited);
    CHECK(figure(key) == value);
}

static void mode_statistics(void)
{
    static const char *const keys[] = {
        "", "allocation", "allocation.all", "allocation.all.", "allocation.all.currents",
        "allocation.every.current", "allocations.all.current", "oversize_segments.all.current",
        "num_ooms.current"};
    struct vramscope_device_stats stats;
    size_t free_bytes, total_bytes;
    uint64_t free_reported = 0, total_reported = 0;
    int64_t value = 5;
    CHECK(vramscope_get_memory_info(0, &free_reported, &total_reported) == -1); /* not used yet */
    void *p = device_alloc(1000), *q = device_alloc(3 * MIB);
    CHECK(figure("allocation.all.current") == 2);
    CHECK(figure("allocation.small_pool.current") == 1);
    CHECK(figure("requested_bytes.all.current") == (int64_t)(1000 + 3 * MIB));
    CHECK(figure("allocated_bytes.small_pool.current") == 1024);
    CHECK(figure("segment.all.current") == 2);
    CHECK(figure("reserved_bytes.all.current") == (int64_t)(22 * MIB));
    CHECK(figure("num_device_alloc") == 2 && figure("max_split_size") == -1);
    CHECK(cudaFree(q) == cudaSuccess);
    CHECK(figure("allocation.all.current") == 1 && figure("allocation.all.peak") == 2);
    CHECK(figure("allocation.all.freed") == 1);
    CHECK(vramscope_reset_peaks(0) == 0 && vramscope_reset_peaks(64) == -1);
    CHECK(figure("allocation.all.peak") == 1);
    CHECK(vramscope_get_device_stats(0, &stats) == 0 && stats.allocated_peak == 1024);
    CHECK(stats.reserved == 22 * MIB && stats.allocations == 2 && stats.frees == 1);
    CHECK(vramscope_reset_accumulated(0) == 0 && vramscope_reset_accumulated(-1) == -1);
    CHECK(figure("allocation.all.allocated") == 0 && figure("num_device_alloc") == 0);
    CHECK(vramscope_visit_statistics(0, compare, &visited) == 0 && visited >= 123);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        CHECK(vramscope_get_statistic(0, keys[i], &value) == -1);
    CHECK(vramscope_get_statistic(0, NULL, &value) == -1);
    CHECK(vramscope_get_statistic(-1, "num_ooms", &value) == -1);
    CHECK(vramscope_get_statistic(64, "num_ooms", &value) == -1);
    CHECK(vramscope_get_statistic(0, "num_ooms", NULL) == -1);
    CHECK(vramscope_visit_statistics(0, NULL, NULL) == -1);
    CHECK(value == 5);
    CHECK(cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess);
    CHECK(vramscope_get_memory_info(0, &free_reported, &total_reported) == 0);
    CHECK(free_reported == free_bytes && total_reported == total_bytes);
    CHECK(vramscope_get_memory_info(1, &free_reported, NULL) == -1);
    uint64_t before = free_reported;
    CHECK(vramscope_trim(0) == 20 * MIB && vramscope_trim(0) == 0);
    CHECK(vramscope_get_memory_info(0, &free_reported, NULL) == 0 && free_reported == before);
    CHECK(cudaFree(p) == cudaSuccess);
}

static struct {
    uint64_t at, end, segments, live, cached, live_bytes;
    void *made_inside;
} seen;

static int look(const struct vramscope_segment *segment, const struct vramscope_block *block,
                void *arg)
{
    CHECK(arg == &seen);
    if (!block) {
        CHECK(seen.at == seen.end);
        seen.segments++;
        seen.at = segment->address;
        seen.end = seen.at + segment->size;
        CHECK(segment->device == 0 && segment->pool == (segment->size > 2 * MIB));
        return 0;
    }
    CHECK(block->address == seen.at && block->size > 0 && block->requested <= block->size);
    seen.at += block->size;
    seen.live += block->state == VRAMSCOPE_BLOCK_LIVE;
    seen.cached += block->state == VRAMSCOPE_BLOCK_FREE;
    seen.live_bytes += block->requested;
    if (!seen.made_inside) /* no lock is held here */
        seen.made_inside = device_alloc(100 * MIB);
    return 0;
}

static int stop_at_once(const struct vramscope_segment *segment,
                        const struct vramscope_block *block, void *arg)
{
    (void)segment;
    CHECK(!block);
    ++*(int *)arg;
    return 1;
}

static void mode_snapshot(void)
{
    struct vramscope_block blocks[8];
    int calls = 0;
    void *a = device_alloc(1000), *b = device_alloc(2000), *c = device_alloc(5 * MIB);
    CHECK(cudaFree(a) == cudaSuccess);
    CHECK(vramscope_snapshot(0, look, &seen) == 0);
    CHECK(seen.segments == 2 && seen.live == 2 && seen.cached == 3 && seen.at == seen.end);
    CHECK(seen.live_bytes == 2000 + 5 * MIB);
    CHECK(vramscope_snapshot(0, stop_at_once, &calls) == 0 && calls == 1);
    CHECK(vramscope_snapshot(0, NULL, NULL) == -1 && vramscope_snapshot(64, look, NULL) == -1);
    CHECK(vramscope_copy_blocks(0, NULL, 0) == 6); /* one was allocated by the callback */
    memset(blocks, 0xab, sizeof blocks);
    CHECK(vramscope_copy_blocks(0, blocks, 2) == 6 && blocks[2].size == 0xabababababababab);
    CHECK(vramscope_copy_blocks(0, blocks, 8) == 6);
    int found = 0;
    for (int i = 0; i < 6; i++)
        found += blocks[i].address == (uint64_t)(uintptr_t)c && blocks[i].requested == 5 * MIB;
    CHECK(found == 1);
    CHECK(vramscope_copy_blocks(0, NULL, 1) == -1 && vramscope_copy_blocks(-1, blocks, 8) == -1);
    CHECK(cudaFree(b) == cudaSuccess && cudaFree(c) == cudaSuccess);
    CHECK(cudaFree(seen.made_inside) == cudaSuccess);
}

static int go_on(const struct vramscope_segment *segment, const struct vramscope_block *block,
                 void *arg)
{
    (void)segment, (void)block, (void)arg;
    return 0;
}

static void ignore(const char *key, int64_t value, void *arg)
{
    (void)key, (void)value, (void)arg;
}

static void mode_fraction(void)
{
    struct vramscope_failure failure;
    uint64_t total;
    void *small = device_alloc(MIB), *p = NULL;
    CHECK(vramscope_get_last_failure(0, &failure) == -1);
    CHECK(vramscope_get_memory_info(0, NULL, &total) == 0);
    CHECK(vramscope_set_memory_fraction(0, 64.0 * (double)MIB / (double)total) == 0);
    CHECK(cudaMalloc(&p, 100 * MIB) == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(vramscope_get_last_failure(0, &failure) == 0);
    CHECK(failure.requested == 100 * MIB && failure.device_total == total);
    CHECK(failure.error == 2 && failure.allocated == MIB && failure.reserved == 2 * MIB);
    CHECK(failure.time_ns > 0 && failure.device_free > 0);
    p = device_alloc(40 * MIB);
    CHECK(cudaFree(p) == cudaSuccess);
    CHECK(vramscope_set_memory_fraction(0, 1.5) == -1 && vramscope_set_memory_fraction(-1, 1) == -1);
    CHECK(vramscope_set_memory_fraction(0, 0.0 / 0.0) == -1);
    CHECK(vramscope_set_memory_fraction(0, 1) == 0);
    p = device_alloc(100 * MIB);
    CHECK(figure("num_ooms") >= 1);
    CHECK(cudaFree(p) == cudaSuccess && cudaFree(small) == cudaSuccess);
    CHECK(vramscope_get_last_failure(0, NULL) == -1 && vramscope_get_last_failure(70, &failure) == -1);
}

/* Before CUDA is initialised the number of devices is unknown. */
static void ordinals(int devices)
{
    struct vramscope_device_stats stats;
    struct vramscope_block block;
    int64_t value;
    CHECK(vramscope_get_device_stats(7, &stats) == 0 && vramscope_get_device_stats(64, &stats) == -1);
    void *p = device_alloc(1000);
    for (int i = -1; i < 70; i++) {
        int expected = i >= 0 && i < devices ? 0 : -1;
        CHECK(vramscope_get_device_stats(i, &stats) == expected);
        CHECK(vramscope_reset_peaks(i) == expected);
        CHECK(vramscope_reset_accumulated(i) == expected);
        CHECK(vramscope_get_statistic(i, "num_ooms", &value) == expected);
        CHECK(vramscope_visit_statistics(i, ignore, NULL) == expected);
        CHECK(vramscope_snapshot(i, go_on, NULL) == expected);
        CHECK((vramscope_copy_blocks(i, &block, 1) < 0) == (expected < 0));
        CHECK(vramscope_set_memory_fraction(i, 0.5) == expected);
    }
    CHECK(cudaFree(p) == cudaSuccess);
}

static void mode_one_device(void) { ordinals(1); }
static void mode_two_devices(void) { ordinals(2); }

/* Sizes that the cache does not round. */
static void mode_windows(void)
{
    struct vramscope_window_stats s, untouched;
    struct vramscope_device_stats device;
    int64_t outer = vramscope_window_begin(), many[256];
    CHECK(outer > 0 && vramscope_window_read(outer, 0, &s) == 0 && s.allocated_peak == 0);
    void *a = device_alloc(3 * MIB);
    int64_t inner = vramscope_window_begin();
    void *b = device_alloc(5 * MIB);
    CHECK(vramscope_reset_peaks(0) == 0 && cudaFree(b) == cudaSuccess);
    CHECK(vramscope_window_read(inner, 0, &s) == 0);
    CHECK(s.allocated_begin == 3 * MIB && s.allocated_end == 3 * MIB && s.allocated_peak == 8 * MIB);
    CHECK(s.allocations == 1 && s.frees == 1 && s.failures == 0 && s.end_ns >= s.begin_ns);
    CHECK(s.requested_peak == 8 * MIB && s.reserved_peak >= s.reserved_begin && s.tensors_peak == 0);
    b = device_alloc(MIB);
    CHECK(vramscope_window_end(inner, 0, &s) == 0 && s.allocated_peak == 8 * MIB);
    CHECK(s.allocated_end == 4 * MIB && s.allocations == 2);
    /* other windows take the peak of the sums: the device's own stays */
    CHECK(vramscope_get_device_stats(0, &device) == 0 && device.allocated_peak == 8 * MIB);
    CHECK(cudaFree(a) == cudaSuccess && cudaFree(b) == cudaSuccess);
    CHECK(vramscope_reset_peaks(0) == 0);
    CHECK(vramscope_get_device_stats(0, &device) == 0 && device.allocated_peak == 0);
    memset(&s, 0xab, sizeof s);
    untouched = s;
    CHECK(vramscope_window_read(inner, 0, &s) == -1 && vramscope_window_end(inner, 0, &s) == -1);
    CHECK(vramscope_window_read(outer, 7, &s) == -1 && vramscope_window_read(outer, -1, &s) == -1);
    CHECK(vramscope_window_end(0, 0, &s) == -1 && vramscope_window_end(-5, 0, &s) == -1);
    CHECK(vramscope_window_read(outer, 0, NULL) == -1);
    CHECK(memcmp(&s, &untouched, sizeof s) == 0);
    for (int i = 0; i < 255; i++)
        CHECK((many[i] = vramscope_window_begin()) > 0);
    CHECK(vramscope_window_begin() == -1);
    for (int i = 0; i < 255; i++)
        CHECK(vramscope_window_end(many[i], 0, NULL) == 0);
    CHECK(vramscope_window_begin() > 0);
    CHECK(vramscope_window_end(outer, 0, &s) == 0 && s.allocated_peak == 8 * MIB);
    CHECK(s.allocated_begin == 0 && s.allocated_end == 0 && s.allocations == 3 && s.frees == 3);
}

static void *windows_of_a_thread(void *arg)
{
    struct vramscope_window_stats s;
    for (int i = 0; i < 300; i++) {
        int64_t window = vramscope_window_begin();
        CHECK(window > 0);
        void *p = device_alloc(MIB);
        CHECK(vramscope_window_read(window, 0, &s) == 0 && s.allocated_peak >= MIB);
        CHECK(cudaFree(p) == cudaSuccess);
        CHECK(vramscope_window_end(window, 0, &s) == 0 && s.allocated_peak >= MIB);
        CHECK(s.allocated_peak <= 4 * MIB && s.allocations >= 1 && s.frees >= 1);
    }
    return arg;
}

static void mode_window_threads(void)
{
    struct vramscope_window_stats s;
    pthread_t threads[4];
    int64_t all = vramscope_window_begin();
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_create(&threads[i], NULL, windows_of_a_thread, NULL));
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_join(threads[i], NULL));
    CHECK(vramscope_window_end(all, 0, &s) == 0);
    CHECK(s.allocations == 1200 && s.frees == 1200 && s.allocated_end == 0);
    CHECK(s.allocated_peak >= MIB && s.allocated_peak <= 4 * MIB);
}

/* --- everything at once, from before the first CUDA call on --- */

#define WORKERS 3
#define WORKER_ROUNDS 150

static pthread_barrier_t together;
static _Atomic int working; /* threads that allocate */

static void *annotate_and_allocate(void *arg)
{
    struct vramscope_window_stats s;
    char name[32];
    pthread_barrier_wait(&together);
    for (int i = 0; i < WORKER_ROUNDS; i++) {
        snprintf(name, sizeof name, "worker %d", *(int *)arg);
        vramscope_step((uint64_t)i);
        vramscope_range_push(name);
        int64_t window = vramscope_window_begin();
        vramscope_annotate(i % 3 ? name : NULL);
        vramscope_annotate(i % 5 ? "again" : NULL);
        void *p = device_alloc((size_t)(i % 7 + 1) * 64 * 1024);
        CHECK(window > 0 && vramscope_window_read(window, 0, &s) == 0);
        CHECK(s.allocations >= 1 && s.allocated_peak >= (size_t)(i % 7 + 1) * 64 * 1024);
        vramscope_mark("allocated");
        CHECK(cudaFree(p) == cudaSuccess);
        CHECK(vramscope_window_end(window, 0, &s) == 0 && s.frees >= 1);
        vramscope_range_pop();
    }
    vramscope_step_end();
    working--;
    return NULL;
}

static void *stop_and_start(void *arg)
{
    pthread_barrier_wait(&together);
    do {
        vramscope_stop_recording();
        (void)vramscope_recording();
        vramscope_start_recording();
        vramscope_flush();
    } while (working);
    return arg;
}

static bool dump(void)
{
    char path[4096];
    int length = vramscope_trace_path(path, sizeof path - 8);
    if (length < 0) {
        CHECK(vramscope_dump(NULL) == -1); /* another thread may just begin */
        CHECK(errno == ESRCH || errno == EINVAL);
        return false;
    }
    CHECK(length < (int)sizeof path - 8);
    strcat(path, ".copy");
    return vramscope_dump(path) == 0;
}

static void *dump_again_and_again(void *arg)
{
    pthread_barrier_wait(&together);
    do
        (void)dump();
    while (working);
    return arg;
}

static void *read_everything(void *arg)
{
    struct vramscope_device_stats stats;
    struct vramscope_failure failure;
    int64_t value;
    pthread_barrier_wait(&together);
    do {
        CHECK(vramscope_get_device_stats(0, &stats) == 0 && stats.allocated <= stats.allocated_peak);
        CHECK(vramscope_get_statistic(0, "allocation.all.current", &value) == 0 && value >= 0);
        CHECK(vramscope_get_last_failure(0, &failure) == -1);
        (void)vramscope_copy_blocks(0, NULL, 0);
        (void)vramscope_reset_peaks(0);
        (void)vramscope_trim(0);
    } while (working);
    return arg;
}

static void mode_control_threads(void)
{
    static void *(*const bodies[])(void *) = {stop_and_start, dump_again_and_again, read_everything};
    enum { OTHERS = sizeof bodies / sizeof *bodies };
    struct vramscope_window_stats s;
    pthread_t threads[WORKERS + OTHERS];
    int numbers[WORKERS + OTHERS];
    int64_t all = vramscope_window_begin();
    working = WORKERS;
    CHECK(!pthread_barrier_init(&together, NULL, WORKERS + OTHERS));
    for (int i = 0; i < WORKERS + OTHERS; i++) {
        numbers[i] = i;
        CHECK(!pthread_create(&threads[i], NULL, i < WORKERS ? annotate_and_allocate : bodies[i - WORKERS],
                              &numbers[i]));
    }
    for (int i = 0; i < WORKERS + OTHERS; i++)
        CHECK(!pthread_join(threads[i], NULL));
    CHECK(vramscope_window_end(all, 0, &s) == 0);
    CHECK(s.allocations == WORKERS * WORKER_ROUNDS && s.frees == s.allocations);
    CHECK(s.allocated_end == 0 && s.allocated_peak <= WORKERS * 7 * 64 * 1024);
    CHECK(dump() == (vramscope_trace_path(NULL, 0) > 0));
}

/* No file may grow any more: the trace fails, and the interface reports it. */
static void mode_failed(void)
{
    struct rlimit before, small;
    void *p = device_alloc(1000);
    CHECK(vramscope_recording() == 1 && getrlimit(RLIMIT_FSIZE, &before) == 0);
    small = (struct rlimit){.rlim_cur = 512, /* room for our message */ .rlim_max = before.rlim_max};
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    vramscope_flush();
    CHECK(vramscope_recording() == 0);
    CHECK(vramscope_dump("failed.copy") == -1 && errno == EFBIG);
    CHECK(vramscope_stop_recording() == -1 && vramscope_start_recording() == -1);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(vramscope_recording() == 0);
    CHECK(vramscope_dump("failed.copy") == -1 && errno == EFBIG);
    CHECK(access("failed.copy", F_OK) == -1);
    CHECK(cudaFree(p) == cudaSuccess);
}

/* --- memory that is freed without being seen --- */

#define LOST 300
#define LOST_BYTES (256 * MIB)

static void *lose_memory(void *arg)
{
    int (*free_unseen)(unsigned long long);
    struct vramscope_device_stats stats;
    uint64_t most = 0;
    void **last = arg;
    *(void **)&free_unseen = driver_function("cuMemFree_v2");
    CHECK(free_unseen);
    pthread_barrier_wait(&together);
    for (int i = 0; i < LOST; i++) {
        *last = device_alloc(LOST_BYTES);
        if (i < LOST - 1)
            CHECK(free_unseen((unsigned long long)(uintptr_t)*last) == 0);
        CHECK(vramscope_get_device_stats(0, &stats) == 0);
        most = stats.allocated > most ? stats.allocated : most;
    }
    CHECK(most < LOST / 2 * LOST_BYTES && stats.frees > LOST / 2);
    working--;
    return NULL;
}

/* Each is noticed when its address is used again, which the simulated GPU does as late as possible;
 * another thread stops and starts the recording meanwhile. */
static void mode_lost(void)
{
    pthread_t threads[2];
    void *last = device_alloc(MIB);
    CHECK(cudaFree(last) == cudaSuccess);
    working = 1;
    CHECK(!pthread_barrier_init(&together, NULL, 2));
    CHECK(!pthread_create(&threads[0], NULL, lose_memory, &last));
    CHECK(!pthread_create(&threads[1], NULL, stop_and_start, NULL));
    CHECK(!pthread_join(threads[0], NULL) && !pthread_join(threads[1], NULL));
    CHECK(cudaFree(last) == cudaSuccess);
}

static void mode_fork(void)
{
    struct vramscope_device_stats stats, none = {0};
    int status;
    void *p = device_alloc(1000);
    pid_t child = fork();
    if (!child) {
        memset(&stats, 0xab, sizeof stats);
        CHECK(vramscope_get_device_stats(0, &stats) == 0);
        CHECK(memcmp(&stats, &none, sizeof stats) == 0);
        CHECK(vramscope_reset_peaks(0) == 0 && figure("allocation.all.current") == 0);
        CHECK(vramscope_copy_blocks(0, NULL, 0) == 0);
        CHECK(vramscope_get_device_stats(64, &stats) == -1);
        CHECK(vramscope_window_begin() == -1 && vramscope_window_read(256, 0, NULL) == -1);
        CHECK(vramscope_stop_recording() == -1 && vramscope_start_recording() == -1);
        CHECK(vramscope_dump("copy.vst") == -1 && vramscope_trace_path(NULL, 0) == -1);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(vramscope_get_device_stats(0, &stats) == 0 && stats.allocated == 1024);
    CHECK(cudaFree(p) == cudaSuccess);
}

/* The options allow an eighth of the device. */
static void mode_limited(void)
{
    void *p = NULL;
    uint64_t total;
    CHECK(cudaMalloc(&p, MIB) == cudaSuccess);
    CHECK(vramscope_get_memory_info(0, NULL, &total) == 0);
    CHECK(cudaMalloc(&p, total / 4) == cudaErrorMemoryAllocation);
    CHECK(vramscope_set_memory_fraction(0, 0.5) == 0); /* the program's setting takes precedence */
    CHECK(cudaMalloc(&p, total / 4) == cudaSuccess);
    CHECK(cudaFree(p) == cudaSuccess);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
#ifdef VRAMSCOPE_WEAK
    if (!vramscope_version) {
        puts("absent");
        return 0;
    }
#endif
    CHECK(strcmp(vramscope_version(), VRAMSCOPE_VERSION) == 0);
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"statistics", mode_statistics}, {"snapshot", mode_snapshot}, {"fraction", mode_fraction},
        {"windows", mode_windows}, {"window-threads", mode_window_threads}, {"failed", mode_failed},
        {"lost", mode_lost}, {"control-threads", mode_control_threads}, {"fork", mode_fork},
        {"limited", mode_limited}, {"one-device", mode_one_device},
        {"two-devices", mode_two_devices},
    };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i].name) == 0) {
            modes[i].run();
            puts("ok");
            return 0;
        }
    return 2;
}
