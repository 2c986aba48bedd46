/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests of a trace under other settings: what is read, what each setting does, and what ends a
 * run. Each trace is a few events whose outcome is known by the rules of the allocator. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/growth/growth.h"
#include "analysis/whatif/requests_reading.h"
#include "analysis/whatif/whatif.h"
#include "support/policy_run.h"
#include "support/report_test.h"
#include "support/workloads.h"

#define CAPACITY (1000 * MIB)

static struct vs_whatif_log *whatif_log;

AFTER(done)
{
    vs_whatif_close(whatif_log);
    whatif_log = NULL;
    return close_trace(NULL);
}

static void start(const char *text)
{
    done(NULL);
    begin_trace("observe", "device 1000M Small GPU");
    vs_trace(&b, "%s", text);
}

static const struct vs_whatif_recorded *read_log(uint64_t until, int status)
{
    struct vs_whatif_query query = {.device = VS_WHATIF_DEVICE_ANY, .until_event = until};
    read_trace(status);
    assert_int_equal(vs_whatif_open(reader, &query, &whatif_log), VS_OK);
    return vs_whatif_recorded(whatif_log);
}

static struct vs_whatif_outcome run(const struct vs_whatif_setting *setting)
{
    struct vs_whatif_outcome out;
    vs_whatif_run(whatif_log, setting, &out);
    assert_int_equal(out.err, VS_OK);
    return out;
}

static struct vs_whatif_outcome as_recorded(void)
{
    struct vs_whatif_setting setting;
    vs_whatif_setting_init(&setting);
    return run(&setting);
}

static struct vs_whatif_outcome under(enum vs_policy_id policy)
{
    struct vs_whatif_setting setting;
    vs_whatif_setting_init(&setting);
    vs_whatif_setting_policy(&setting, policy);
    return run(&setting);
}

static struct vs_whatif_outcome of_capacity(uint64_t capacity)
{
    struct vs_whatif_setting setting;
    vs_whatif_setting_init(&setting);
    setting.capacity = capacity;
    return run(&setting);
}

/* --- what is read --- */

TEST(driver_requests_share_pages_and_have_no_cache)
{
    start("");
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
    start("alloc 0 20M; tensor 0 4M of 4M 20M; tensor 4 5M of 9M 20M; " /* in a segment */
          "alloc 100 8M; "                          /* a library's */
          "drop 0; tensor 0 3M");
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
    start("alloc memory:1 20M vmm; map 0 20M 1; tensor 0 12M");
    const struct vs_whatif_recorded *recorded = read_log(0, 0);
    assert_true(recorded->expandable);
    assert_int_equal(recorded->policy, VS_POLICY_EXPANDABLE);
    assert_int_equal(recorded->other_peak, 0);
    assert_int_equal(as_recorded().reserved_peak, 20 * MIB);
    assert_int_equal(under(VS_POLICY_PYTORCH).reserved_peak, 12 * MIB);
}

TEST(memory_outside_the_program_comes_from_readings)
{
    start("alloc 0 100M; usage others 150M; sample 700M; alloc 200 600M");
    const struct vs_whatif_recorded *recorded = read_log(0, 0);
    assert_int_equal(recorded->outside_peak, 200 * MIB);
    assert_int_equal(recorded->others_peak, 150 * MIB);
    struct vs_whatif_outcome out = as_recorded();
    assert_true(out.survives);
    assert_int_equal(out.used_peak, 900 * MIB);
    out = of_capacity(800 * MIB);
    assert_false(out.survives);
    assert_int_equal(out.fail_short, 100 * MIB);
    struct vs_whatif_setting setting;
    vs_whatif_setting_init(&setting);
    setting.capacity = 800 * MIB;
    setting.others_most = 0;
    out = run(&setting);
    assert_true(out.survives);
    assert_int_equal(out.free_at_end, 50 * MIB);
}

/* --- empty_cache --- */

/* Two segments; the free one is released, then a large tensor needs a new one. */
#define SEGMENT "alloc 0 40M; tensor 0 40M; drop 0; "
#define RELEASE_AND_GROW "free 0; alloc 100 60M; tensor 100 60M"

TEST(a_release_without_a_refusal_is_empty_cache)
{
    start(SEGMENT RELEASE_AND_GROW);
    read_log(0, 0);
    assert_int_equal(as_recorded().reserved_peak, 60 * MIB);
}

TEST(a_release_after_a_refusal_belongs_to_the_retry)
{
    start(SEGMENT "fail 60M; " RELEASE_AND_GROW);
    read_log(0, 0);
    struct vs_whatif_outcome out = of_capacity(90 * MIB);
    assert_true(out.survives);
    assert_int_equal(out.retries, 1);
    assert_int_equal(out.reserved_peak, 60 * MIB);
    assert_int_equal(as_recorded().retries, 0); /* the device had room for both */
    assert_int_equal(as_recorded().reserved_peak, 100 * MIB);
}

TEST(a_context_takes_the_tensors_of_its_segments_along)
{
    struct vs_event_alloc of_2 = {.family = VS_FAMILY_DEVICE, .addr = A(100), .size = 8 * MIB, .requested = 8 * MIB,
                                  .context = 2};
    struct vs_event_alloc of_3 = {.family = VS_FAMILY_DEVICE, .addr = A(200), .size = 20 * MIB, .requested = 20 * MIB,
                                  .context = 3};
    start("alloc 0 20M; tensor 0 4M"); /* of context 0 */
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_alloc, .alloc = of_2});
    vs_trace(&b, "tensor 8 4M; context 0 ends; context 2 ends"); /* the block of context 2 is a library's */
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_alloc, .alloc = of_3});
    vs_trace(&b, "tensor 200 16M; context 3 ends");
    const struct vs_whatif_recorded *recorded = read_log(0, 0);
    assert_int_equal(recorded->live_peak, 24 * MIB);
    assert_int_equal(recorded->free_count, 1);
}

TEST(a_program_that_fits_into_a_page_gets_a_page)
{
    struct vs_whatif_setting setting;
    struct vs_whatif_outcome out;
    start("");
    b.stack = UINT64_MAX; /* not known */
    vs_trace(&b, "alloc 0 4K");
    assert_int_equal(read_log(0, 0)->request_count, 1);
    vs_whatif_setting_init(&setting);
    assert_int_equal(vs_whatif_least_capacity(whatif_log, &setting, &out), 2 * MIB);
}

/* --- failures --- */

TEST(the_last_failure_decides_and_earlier_ones_are_probes)
{
    start("fail 2000M free 1000M; alloc 0 600M; fail 500M free 400M");
    const struct vs_whatif_recorded *recorded = read_log(0, 1);
    assert_int_equal(recorded->failures, 2);
    assert_int_not_equal(recorded->last_failure, 0);
    struct vs_whatif_outcome out = as_recorded();
    assert_false(out.survives);
    assert_int_equal(out.fail_event, recorded->last_failure);
    assert_int_equal(out.fail_requested, 500 * MIB);
    assert_int_equal(out.fail_short, 100 * MIB);
    assert_int_equal(out.failed_probes, 1);
    out = of_capacity(1100 * MIB);
    assert_true(out.survives);
    assert_int_equal(out.failed_probes, 1);
    struct vs_whatif_setting setting;
    vs_whatif_setting_init(&setting);
    setting.capacity = 1100 * MIB;
    assert_int_equal(vs_whatif_least_capacity(whatif_log, &setting, &out), 1100 * MIB);
}

TEST(a_program_that_ends_well_recovered_from_its_failures)
{
    start("alloc 0 600M; fail 500M free 400M");
    assert_int_equal(read_log(0, 0)->last_failure, 0);
    assert_true(as_recorded().survives);
    assert_int_equal(as_recorded().failed_probes, 1);
}

TEST(a_frameworks_failure_is_one_with_the_drivers)
{
    start("alloc 0 600M; tensor 0 600M; fail 500M; fail 500M; raise 499M");
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
        start("alloc 0 20M; tensor 0 9M stream 7; tensor 9 9M stream 7; drop 0");
        vs_trace(&b, "%s", other ? "tensor 40 9M" : "tensor 0 9M stream 7");
        read_log(0, 0);
        assert_int_equal(as_recorded().reserved_peak, other ? 40 * MIB : 20 * MIB);
    }
}

TEST(the_option_limit_counts_other_memory_too)
{
    begin_trace("observe", "option limit 500MiB; device 1000M Small GPU");
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

TEST(blocks_of_a_site_can_end_with_their_step)
{
    struct vs_whatif_setting setting;
    size_t count;
    start("alloc 0 100M; at site; alloc 200 10M; " /* permanent, same site */
          "repeat 5 { step i; alloc 20i+300 20M; pop }");
    read_log(0, 0);
    const uint64_t *stacks = vs_whatif_stacks(whatif_log, &count);
    assert_int_equal(count, 2);
    struct vs_whatif_site site = {.stack = stacks[1], .rule = VS_WHATIF_FREE_AT_STEP_END};
    assert_int_equal(as_recorded().reserved_peak, 210 * MIB);
    vs_whatif_setting_init(&setting);
    setting.sites = &site;
    setting.site_count = 1;
    assert_int_equal(run(&setting).reserved_peak, 130 * MIB); /* the permanent one stays */
    site.rule = VS_WHATIF_ABSENT;
    assert_int_equal(run(&setting).reserved_peak, 100 * MIB);
}

TEST(without_a_site_its_failed_request_is_not_made)
{
    struct vs_whatif_setting setting;
    size_t count;
    start("alloc 0 600M; at site; fail 500M free 400M");
    read_log(0, 1);
    const uint64_t *stacks = vs_whatif_stacks(whatif_log, &count);
    struct vs_whatif_site site = {.stack = stacks[count - 1], .rule = VS_WHATIF_ABSENT};
    vs_whatif_setting_init(&setting);
    setting.sites = &site;
    setting.site_count = 1;
    assert_false(run(&setting).survives);
    site.failed_too = true;
    assert_true(run(&setting).survives);
}

TEST(steps_that_only_requests_show_end_in_the_runs)
{
    struct vs_whatif_setting setting;
    size_t count;
    start("alloc 0 100M; at site; repeat 5 { alloc 20i+300 20M }");
    read_log(0, 0);
    const uint64_t events = vs_whatif_recorded(whatif_log)->events;
    struct vs_growth_step steps[5] = {{.event = 0}};
    for (uint64_t i = 0; i < 5; i++) /* each begins with an allocation; the last event ends the trace */
        steps[i].event = events - 5 + i;
    vs_whatif_found_steps(whatif_log, steps, 5, false);
    assert_int_equal(vs_whatif_recorded(whatif_log)->steps, 4);
    const uint64_t *stacks = vs_whatif_stacks(whatif_log, &count);
    struct vs_whatif_site site = {.stack = stacks[1], .rule = VS_WHATIF_FREE_AT_STEP_END};
    vs_whatif_setting_init(&setting);
    setting.sites = &site;
    setting.site_count = 1;
    assert_int_equal(run(&setting).reserved_peak, 120 * MIB);
}

/* --- one reading for every device and level --- */

TEST(a_framework_that_comes_late_is_read_again)
{
    start("repeat 20000 { alloc 0 1M; free 0 }");
    vs_trace(&b, "alloc 0 20M; tensor 0 4M of 4M 20M");
    const struct vs_whatif_recorded *recorded = read_log(0, 0);
    assert_int_equal(recorded->requests, VS_WHATIF_FRAMEWORK);
    assert_int_equal(recorded->request_count, 1);
    assert_int_equal(recorded->reserved_peak, 20 * MIB);
}

TEST(the_device_with_most_memory_in_use_is_replayed)
{
    start("alloc 0 100M; step 1; pop");
    for (uint64_t i = 0; i < 2; i++)
        vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_alloc, .alloc = {
            .family = VS_FAMILY_DEVICE, .device = 1, .addr = A(5000 + 1000 * i), .size = 80 * MIB, .requested = 80 * MIB}});
    const struct vs_whatif_recorded *recorded = read_log(0, 0);
    assert_int_equal(recorded->device, 1);
    assert_int_equal(recorded->steps, 1); /* also those before the device appeared */
    assert_int_equal(as_recorded().reserved_peak, 160 * MIB);
}

/* --- runs --- */

TEST(parallel_runs_equal_single_ones)
{
    struct vs_whatif_setting settings[12];
    struct vs_whatif_outcome all[12], one;
    start("");
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
    start("alloc 0 1M pinned");
    read_trace(0);
    assert_int_equal(vs_whatif_open(reader, &query, &whatif_log), VS_ERR_NOT_FOUND);
    whatif_log = NULL;
}

/* A replay reserves what the allocator reserves on a device that counts its pages. */
TEST(policies_reserve_what_they_take_from_a_device)
{
    static const char *const names[] = {"varlen", "serving"};
    for (size_t i = 0; i < 2; i++) {
        struct request_log log;
        assert_true(workload_make(names[i], 1, &log));
        done(NULL);
        begin_trace("observe", "device 1024G Large GPU");
        for (size_t k = 0; k < log.count; k++) {
            const struct request *one = &log.requests[k];
            uint64_t addr = UINT64_C(1) << 60 | (uint64_t)one->id << 36;
            if (one->kind == REQUEST_ALLOC)
                vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, addr, one->size, one->size);
            else if (one->kind == REQUEST_FREE)
                vs_builder_free(&b, 0, addr);
        }
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
    start("");
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
