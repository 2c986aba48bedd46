/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests of a trace under other settings: what is read, what each setting does, and what ends a
 * run. Each trace is a few events whose outcome is known by the rules of the allocator. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/cmocka_test.h"
#include "analysis/whatif/request_store.h"
#include "analysis/whatif/whatif.h"
#include "support/policy_run.h"
#include "support/trace_text.h"
#include "support/workloads.h"

#define MIB (UINT64_C(1) << 20)
#define CAPACITY (1000 * MIB)
#define A(n) (UINT64_C(0x7f0000000000) + (uint64_t)(n) * MIB)
#define OUT_OF_MEMORY 2

static struct vs_builder b;
static struct vs_reader *reader;
static struct vs_whatif_log *whatif_log;

AFTER(done)
{
    vs_whatif_close(whatif_log);
    vs_reader_close(reader);
    whatif_log = NULL;
    reader = NULL;
    vs_builder_remove(&b);
    return 0;
}

static void start(const char *policy)
{
    done(NULL);
    vs_builder_open(&b, policy);
    vs_trace(&b, "device 1000M Small GPU");
}

static const struct vs_whatif_recorded *read_log(uint64_t until, int status)
{
    char why[VS_READER_WHY_MAX];
    struct vs_whatif_query query = {.device = VS_WHATIF_DEVICE_ANY, .until_event = until};
    vs_builder_close(&b, VS_END_EXIT, (uint64_t)status);
    assert_int_equal(vs_reader_open(b.path, &reader, why), VS_OK);
    assert_int_equal(vs_whatif_open(reader, &query, &whatif_log), VS_OK);
    return vs_whatif_recorded(whatif_log);
}

static struct vs_whatif_outcome as_recorded(void)
{
    struct vs_whatif_setting setting;
    struct vs_whatif_outcome out;
    vs_whatif_setting_init(&setting);
    vs_whatif_run(whatif_log, &setting, &out);
    assert_int_equal(out.err, VS_OK);
    return out;
}

static struct vs_whatif_outcome under(enum vs_policy_id policy)
{
    struct vs_whatif_setting setting;
    struct vs_whatif_outcome out;
    vs_whatif_setting_init(&setting);
    vs_whatif_setting_policy(&setting, policy);
    vs_whatif_run(whatif_log, &setting, &out);
    assert_int_equal(out.err, VS_OK);
    return out;
}

static void event(struct vs_event e)
{
    vs_builder_event(&b, e);
}

static void tensor(uint64_t addr, uint64_t size, uint64_t reserved)
{
    event((struct vs_event){.kind = VS_EVENT_framework_alloc,
                               .framework_alloc = {.addr = addr, .size = size,
                                                   .total_reserved = reserved,
                                                   .stack = b.stack}});
}

static void tensor_freed(uint64_t addr, uint64_t size)
{
    event((struct vs_event){.kind = VS_EVENT_framework_free,
                               .framework_free = {.addr = addr, .size = size}});
}

static void refused(uint64_t bytes)
{
    event((struct vs_event){.kind = VS_EVENT_alloc_failed,
                               .alloc_failed = {.requested = bytes, .error = OUT_OF_MEMORY}});
}

/* --- what is read --- */

TEST(driver_requests_share_pages_and_have_no_cache)
{
    start("observe");
    for (int i = 0; i < 4; i++)
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0) + (uint64_t)i * 4096, 4000, 4000);
    vs_trace(&b, "alloc 2 3M; free 2");
    const struct vs_whatif_recorded *recorded = read_log(0, 0);
    assert_int_equal(recorded->requests, VS_WHATIF_PROGRAM);
    assert_false(recorded->cached);
    assert_int_equal(recorded->request_count, 5);
    assert_int_equal(recorded->reserved_peak, 3 * MIB + 16000);
    struct vs_whatif_outcome out = as_recorded();
    assert_true(out.survives);
    assert_int_equal(out.reserved_peak, 3 * MIB + 16000);
    assert_int_equal(out.used_peak, 6 * MIB); /* a page for the small ones, two for the large one */
    assert_int_equal(under(VS_POLICY_PYTORCH).reserved_peak, 22 * MIB);
}

TEST(tensors_are_the_requests_and_their_segments_are_not_other_memory)
{
    start("observe");
    vs_trace(&b, "alloc 0 20M"); /* a segment */
    tensor(A(0), 4 * MIB, 20 * MIB);
    tensor(A(4), 5 * MIB, 20 * MIB);
    vs_trace(&b, "alloc 100 8M"); /* a library's */
    tensor_freed(A(0), 4 * MIB);
    tensor(A(0), 3 * MIB, 20 * MIB);
    const struct vs_whatif_recorded *recorded = read_log(0, 0);
    assert_int_equal(recorded->requests, VS_WHATIF_FRAMEWORK);
    assert_int_equal(recorded->request_count, 3);
    assert_int_equal(recorded->reserved_peak, 20 * MIB);
    assert_int_equal(recorded->other_peak, 8 * MIB);
    assert_int_equal(recorded->live_peak, 9 * MIB);
    struct vs_whatif_outcome out = as_recorded();
    assert_int_equal(out.reserved_peak, 20 * MIB);
    assert_int_equal(out.held_peak, 28 * MIB);
}

TEST(a_mapped_segment_means_expandable_segments)
{
    start("observe");
    vs_trace(&b, "alloc memory:%u 20M vmm", 1);
    event((struct vs_event){.kind = VS_EVENT_vmm_map,
                                .vmm_map = {.addr = A(0), .size = 20 * MIB, .memory = 1}});
    tensor(A(0), 12 * MIB, 20 * MIB);
    const struct vs_whatif_recorded *recorded = read_log(0, 0);
    assert_true(recorded->expandable);
    assert_int_equal(recorded->policy, VS_POLICY_EXPANDABLE);
    assert_int_equal(recorded->other_peak, 0);
    assert_int_equal(as_recorded().reserved_peak, 20 * MIB);
    assert_int_equal(under(VS_POLICY_PYTORCH).reserved_peak, 12 * MIB);
}

TEST(memory_outside_the_program_comes_from_readings)
{
    start("observe");
    vs_trace(&b, "alloc 0 100M");
    event((struct vs_event){.kind = VS_EVENT_device_usage,
                                .device_usage = {.what = VS_USAGE_OTHERS, .bytes = 150 * MIB,
                                                 .count = 1, .how = VS_USAGE_BY_PID}});
    event((struct vs_event){.kind = VS_EVENT_device_sample,
                                .device_sample = {.free_bytes = 700 * MIB,
                                                  .total_bytes = CAPACITY}});
    vs_trace(&b, "alloc 200 600M");
    const struct vs_whatif_recorded *recorded = read_log(0, 0);
    assert_int_equal(recorded->outside_peak, 200 * MIB);
    assert_int_equal(recorded->others_peak, 150 * MIB);
    struct vs_whatif_outcome out = as_recorded();
    assert_true(out.survives);
    assert_int_equal(out.used_peak, 900 * MIB);
    struct vs_whatif_setting setting;
    vs_whatif_setting_init(&setting);
    setting.capacity = 800 * MIB;
    vs_whatif_run(whatif_log, &setting, &out);
    assert_false(out.survives);
    assert_int_equal(out.fail_short, 100 * MIB);
    setting.others_most = 0;
    vs_whatif_run(whatif_log, &setting, &out);
    assert_true(out.survives);
    assert_int_equal(out.free_at_end, 50 * MIB);
}

/* --- empty_cache --- */

/* Two segments; the free one is released, then a large tensor needs a new one. *refusal*: the
 * driver had refused memory before. */
static void release_and_grow(bool refusal)
{
    start("observe");
    vs_trace(&b, "alloc 0 40M");
    tensor(A(0), 40 * MIB, 40 * MIB);
    tensor_freed(A(0), 40 * MIB);
    if (refusal)
        refused(60 * MIB);
    vs_trace(&b, "free 0; alloc 100 60M");
    tensor(A(100), 60 * MIB, 60 * MIB);
}

TEST(a_release_without_a_refusal_is_empty_cache)
{
    release_and_grow(false);
    read_log(0, 0);
    assert_int_equal(as_recorded().reserved_peak, 60 * MIB);
}

TEST(a_release_after_a_refusal_belongs_to_the_retry)
{
    struct vs_whatif_setting setting;
    struct vs_whatif_outcome out;
    release_and_grow(true);
    read_log(0, 0);
    vs_whatif_setting_init(&setting);
    setting.capacity = 90 * MIB;
    vs_whatif_run(whatif_log, &setting, &out);
    assert_true(out.survives);
    assert_int_equal(out.retries, 1);
    assert_int_equal(out.reserved_peak, 60 * MIB);
    assert_int_equal(as_recorded().retries, 0); /* the device had room for both */
    assert_int_equal(as_recorded().reserved_peak, 100 * MIB);
}

TEST(a_context_takes_the_tensors_of_its_segments_along)
{
    start("observe");
    vs_trace(&b, "alloc 0 20M"); /* of context 0 */
    tensor(A(0), 4 * MIB, 20 * MIB);
    event((struct vs_event){.kind = VS_EVENT_alloc,
                                .alloc = {.family = VS_FAMILY_DEVICE, .addr = A(100),
                                          .size = 8 * MIB, .requested = 8 * MIB, .context = 2}});
    tensor(A(8), 4 * MIB, 20 * MIB); /* the block of context 2 is a library's */
    event((struct vs_event){.kind = VS_EVENT_context, .context = {.context = 0}});
    event((struct vs_event){.kind = VS_EVENT_context, .context = {.context = 2}});
    event((struct vs_event){.kind = VS_EVENT_alloc,
                                .alloc = {.family = VS_FAMILY_DEVICE, .addr = A(200),
                                          .size = 20 * MIB, .requested = 20 * MIB, .context = 3}});
    tensor(A(200), 16 * MIB, 40 * MIB);
    event((struct vs_event){.kind = VS_EVENT_context, .context = {.context = 3}});
    const struct vs_whatif_recorded *recorded = read_log(0, 0);
    assert_int_equal(recorded->live_peak, 24 * MIB);
    assert_int_equal(recorded->free_count, 1);
}

TEST(a_program_that_fits_into_a_page_gets_a_page)
{
    struct vs_whatif_setting setting;
    struct vs_whatif_outcome out;
    start("observe");
    b.stack = UINT64_MAX; /* not known */
    vs_trace(&b, "alloc 0 4K");
    assert_int_equal(read_log(0, 0)->request_count, 1);
    vs_whatif_setting_init(&setting);
    assert_int_equal(vs_whatif_least_capacity(whatif_log, &setting, &out), 2 * MIB);
}

/* --- failures --- */

TEST(the_last_failure_decides_and_earlier_ones_are_probes)
{
    start("observe");
    vs_trace(&b, "fail 2000M free 1000M; alloc 0 600M; fail 500M free 400M");
    const struct vs_whatif_recorded *recorded = read_log(0, 1);
    assert_int_equal(recorded->failures, 2);
    assert_int_not_equal(recorded->last_failure, 0);
    struct vs_whatif_setting setting;
    struct vs_whatif_outcome out = as_recorded();
    assert_false(out.survives);
    assert_int_equal(out.fail_event, recorded->last_failure);
    assert_int_equal(out.fail_requested, 500 * MIB);
    assert_int_equal(out.fail_short, 100 * MIB);
    assert_int_equal(out.failed_probes, 1);
    vs_whatif_setting_init(&setting);
    setting.capacity = 1100 * MIB;
    vs_whatif_run(whatif_log, &setting, &out);
    assert_true(out.survives);
    assert_int_equal(out.failed_probes, 1);
    assert_int_equal(vs_whatif_least_capacity(whatif_log, &setting, &out), 1100 * MIB);
}

TEST(a_program_that_ends_well_recovered_from_its_failures)
{
    start("observe");
    vs_trace(&b, "alloc 0 600M; fail 500M free 400M");
    assert_int_equal(read_log(0, 0)->last_failure, 0);
    assert_true(as_recorded().survives);
    assert_int_equal(as_recorded().failed_probes, 1);
}

TEST(a_frameworks_failure_is_one_with_the_drivers)
{
    start("observe");
    vs_trace(&b, "alloc 0 600M");
    tensor(A(0), 600 * MIB, 600 * MIB);
    refused(500 * MIB);
    refused(500 * MIB);
    event((struct vs_event){.kind = VS_EVENT_framework_oom,
                                .framework_oom = {.requested = 499 * MIB}});
    const struct vs_whatif_recorded *recorded = read_log(5, 1); /* the driver's first */
    assert_int_equal(recorded->failures, 1);
    struct vs_whatif_outcome out = as_recorded();
    assert_false(out.survives);
    assert_int_equal(out.fail_requested, 499 * MIB);
    assert_int_equal(out.fail_need, 500 * MIB);
}

/* A free half of another stream's segment does not serve the request. */
TEST(tensors_of_two_streams_share_no_segment)
{
    for (unsigned other = 0; other < 2; other++) {
        start("observe");
        vs_trace(&b, "alloc 0 20M");
        for (unsigned i = 0; i < 2; i++)
            event((struct vs_event){
                .kind = VS_EVENT_framework_alloc,
                .framework_alloc = {.addr = A(0) + i * 9 * MIB, .size = 9 * MIB,
                                    .framework_stream = 7}});
        event((struct vs_event){.kind = VS_EVENT_framework_free,
                                    .framework_free = {.addr = A(0), .size = 9 * MIB}});
        event((struct vs_event){
            .kind = VS_EVENT_framework_alloc,
            .framework_alloc = {.addr = other ? A(40) : A(0), .size = 9 * MIB,
                                .framework_stream = other ? 0 : 7}});
        read_log(0, 0);
        assert_int_equal(as_recorded().reserved_peak, other ? 40 * MIB : 20 * MIB);
    }
}

TEST(the_option_limit_counts_other_memory_too)
{
    vs_builder_open(&b, "observe");
    event((struct vs_event){.kind = VS_EVENT_option,
                                .option = {.name = vs_builder_string(&b, "limit"),
                                           .value = vs_builder_string(&b, "500MiB")}});
    vs_trace(&b, "device 1000M Small GPU");
    vs_builder_alloc(&b, 0, VS_FAMILY_ARRAY, VS_ADDR_ARRAY + 1, 100 * MIB, 100 * MIB);
    vs_trace(&b, "alloc 0 300M; fail 150M free 500M");
    assert_int_equal(read_log(0, 1)->limit_bytes, 500 * MIB);
    struct vs_whatif_setting setting;
    struct vs_whatif_outcome out = as_recorded();
    assert_false(out.survives);
    assert_int_equal(out.fail_short, 50 * MIB);
    vs_whatif_setting_init(&setting);
    setting.limit = VS_WHATIF_NONE;
    vs_whatif_run(whatif_log, &setting, &out);
    assert_true(out.survives);
}

/* --- call sites and steps --- */

static void steps_with_a_leak(void)
{
    start("observe");
    b.stack = 0;
    vs_trace(&b, "alloc 0 100M");
    b.stack = vs_recorder_stack(b.recorder, 0);
    vs_trace(&b, "alloc 200 10M"); /* permanent, same site */
    vs_trace(&b, "repeat 5 { step i; alloc 20i+300 20M; pop }");
}

TEST(blocks_of_a_site_can_end_with_their_step)
{
    struct vs_whatif_setting setting;
    struct vs_whatif_outcome out;
    size_t count;
    steps_with_a_leak();
    read_log(0, 0);
    const uint64_t *stacks = vs_whatif_stacks(whatif_log, &count);
    assert_int_equal(count, 2);
    struct vs_whatif_site site = {stacks[1], VS_WHATIF_FREE_AT_STEP_END, 0};
    assert_int_equal(as_recorded().reserved_peak, 210 * MIB);
    vs_whatif_setting_init(&setting);
    setting.sites = &site;
    setting.site_count = 1;
    vs_whatif_run(whatif_log, &setting, &out);
    assert_int_equal(out.reserved_peak, 130 * MIB); /* the permanent one stays */
    site.rule = VS_WHATIF_ABSENT;
    vs_whatif_run(whatif_log, &setting, &out);
    assert_int_equal(out.reserved_peak, 100 * MIB);
}

/* --- runs --- */

TEST(parallel_runs_equal_single_ones)
{
    struct vs_whatif_setting settings[12];
    struct vs_whatif_outcome all[12], one;
    start("observe");
    for (unsigned i = 0; i < 400; i++) {
        if (i >= 40)
            vs_trace(&b, "free %u", 100 * (i - 40));
        vs_trace(&b, "alloc %u %lu", 100 * i, ((uint64_t)(i * 7919 % 97 + 1) * 100000));
    }
    read_log(0, 0);
    for (unsigned i = 0; i < 12; i++) {
        vs_whatif_setting_init(&settings[i]);
        vs_whatif_setting_policy(&settings[i], (enum vs_policy_id)(i % VS_POLICY_COUNT));
        settings[i].capacity = (150 + 20 * i) * MIB;
    }
    vs_whatif_run_all(whatif_log, settings, 12, all);
    for (unsigned i = 0; i < 12; i++) {
        vs_whatif_run(whatif_log, &settings[i], &one);
        assert_memory_equal(&one, &all[i], sizeof one);
    }
}

TEST(a_wrong_text_is_refused_with_the_reason)
{
    struct vs_whatif_setting setting;
    char why[VS_WHATIF_WHY_MAX];
    vs_whatif_setting_init(&setting);
    assert_int_equal(vs_whatif_setting_conf(&setting, "max_split_size_mb:5", why), VS_ERR_ARG);
    assert_non_null(strstr(why, "max_split_size_mb"));
    assert_int_equal(vs_whatif_setting_conf(&setting, "backend:cudaMallocAsync", why), VS_ERR_ARG);
    assert_non_null(strstr(why, "cudaMallocAsync"));
    assert_int_equal(setting.server, VS_WHATIF_AS_RECORDED);
}

TEST(a_trace_without_requests_has_nothing_to_replay)
{
    struct vs_whatif_query query = {.device = VS_WHATIF_DEVICE_ANY};
    char why[VS_READER_WHY_MAX];
    start("observe");
    vs_trace(&b, "alloc 0 1M pinned");
    vs_builder_close(&b, VS_END_EXIT, 0);
    assert_int_equal(vs_reader_open(b.path, &reader, why), VS_OK);
    assert_int_equal(vs_whatif_open(reader, &query, &whatif_log), VS_ERR_NOT_FOUND);
    whatif_log = NULL;
}

static void requests_to_trace(const struct request_log *log)
{
    for (size_t i = 0; i < log->count; i++) {
        const struct request *r = &log->requests[i];
        uint64_t addr = UINT64_C(1) << 60 | (uint64_t)r->id << 36;
        if (r->kind == REQUEST_ALLOC)
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, addr, r->size, r->size);
        else if (r->kind == REQUEST_FREE)
            vs_builder_free(&b, 0, addr);
    }
}

/* A replay reserves what the allocator reserves on a device that counts its pages. */
TEST(policies_reserve_what_they_take_from_a_device)
{
    static const char *const names[] = {"varlen", "serving"};
    for (size_t i = 0; i < 2; i++) {
        struct request_log log;
        assert_true(workload_make(names[i], 1, &log));
        done(NULL);
        vs_builder_open(&b, "observe");
        vs_trace(&b, "device %lu Large GPU", (uint64_t)(UINT64_C(1) << 40));
        requests_to_trace(&log);
        read_log(0, 0);
        for (int p = 0; p < VS_POLICY_COUNT; p++) {
            const struct vs_allocator_config config = {.policy = (enum vs_policy_id)p};
            struct policy_result on_device;
            assert_int_equal(policy_run(&log, &config, UINT64_C(1) << 40, &on_device),
                             VS_OK);
            assert_int_equal(under((enum vs_policy_id)p).reserved_peak, on_device.reserved_peak);
        }
        request_log_clear(&log);
    }
}

TEST(what_no_device_could_hold_is_not_run)
{
    struct vs_whatif_setting setting;
    struct vs_whatif_outcome out;
    start("observe");
    for (uint64_t i = 0; i < 17; i++)
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, (i + 1) << 44, UINT64_C(1) << 40,
                         UINT64_C(1) << 40);
    read_log(0, 0);
    vs_whatif_setting_init(&setting);
    vs_whatif_run(whatif_log, &setting, &out);
    assert_int_equal(out.err, VS_ERR_LIMIT);
}

/* --- the store --- */

/* The calls of the store on its file, where *interrupt* is set: every third one is interrupted, and
 * the others move a part. */
static bool interrupt;
static unsigned calls, interrupted;

static bool is_interrupted(void)
{
    bool now = interrupt && calls++ % 3 == 0;
    interrupted += now;
    errno = now ? EINTR : errno;
    return now;
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at)
{
    return is_interrupted() ? -1 : syscall(SYS_pwrite64, fd, from, interrupt ? bytes / 2 + 1 : bytes, at);
}

ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
    return is_interrupted() ? -1 : syscall(SYS_pread64, fd, to, interrupt ? bytes / 2 + 1 : bytes, at);
}

/* Beyond the chunks in memory the log goes on in a file; two cursors read it independently. */
TEST(entries_come_back_from_memory_and_from_the_file)
{
    struct vs_request_store store;
    struct vs_request_cursor first = {0}, second = {0};
    struct vs_request_entry entry, read;
    uint64_t count = (VS_REQUEST_CHUNKS_HELD + 2) * VS_REQUEST_CHUNK / 16;
    vs_request_store_init(&store);
    for (uint64_t i = 0; i < count; i++) {
        entry = (struct vs_request_entry){.kind = VS_REQUEST_ALLOC, .event = 20 * i,
                                          .bytes = UINT64_C(1) << 62 | i, .slot = (uint32_t)i,
                                          .lane = (uint32_t)(i % 7), .site = (uint32_t)(i % 1000)};
        vs_request_add(&store, &entry);
    }
    assert_int_equal(vs_request_store_seal(&store), VS_OK);
    assert_true(store.file >= 0);
    assert_int_equal(store.entries, count);
    vs_request_rewind(&first, &store);
    vs_request_rewind(&second, &store);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(vs_request_next(&first, &read), VS_OK);
        if (read.kind != VS_REQUEST_ALLOC || read.event != 20 * i || (read.bytes & ~(UINT64_C(1) << 62)) != i ||
            read.slot != (uint32_t)i || read.lane != i % 7 || read.site != i % 1000)
            fail_msg("entry %llu is different", (unsigned long long)i);
        if (i % 3 == 0)
            assert_int_equal(vs_request_next(&second, &read), VS_OK);
    }
    assert_int_equal(vs_request_next(&first, &read), VS_OK);
    assert_int_equal(read.kind, VS_REQUEST_END);
    assert_int_equal(vs_request_next(&second, &read), VS_OK);
    assert_int_equal(read.kind, VS_REQUEST_ALLOC);
    vs_request_cursor_free(&first);
    vs_request_cursor_free(&second);
    vs_request_store_free(&store);
}

/* A signal, as of a profiler's timer, may end any call early. */
TEST(the_file_of_the_store_survives_interrupted_calls)
{
    interrupt = true;
    calls = interrupted = 0;
    entries_come_back_from_memory_and_from_the_file(state);
    interrupt = false;
    assert_true(interrupted >= 4);
}
