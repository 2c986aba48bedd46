/* SPDX-License-Identifier: Apache-2.0
 *
 * What `vramscope fit` reads from traces of known content: peaks, who held them, failures and
 * recoveries, and the answer of several processes together. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/cmocka_test.h"
#include "analysis/fit/fit_answer.h"
#include "analysis/naming/python_file.h"
#include "base/vs_size.h"
#include "support/trace_builder.h"

#define MIB VS_MIB
#define GIB VS_GIB
#define A(n) (UINT64_C(0x700000000000) + (uint64_t)(n) * 16 * GIB)
#define OTHER_THREAD 777

static struct vs_builder b;

static void begin(void)
{
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", 8 * GIB);
}

static void mark(const char *text)
{
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_mark,
                                           .mark = {.name = vs_builder_string(&b, text)}});
}

static void reading(uint64_t free_bytes)
{
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_device_sample,
                                           .device_sample = {0, free_bytes, 8 * GIB}});
}

static void tensor(uint64_t addr, uint64_t bytes, uint64_t allocated, uint64_t reserved)
{
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_framework_alloc,
                                           .framework_alloc = {.addr = addr, .size = bytes,
                                                               .total_allocated = allocated,
                                                               .total_reserved = reserved}});
}

static void tensor_freed(uint64_t addr)
{
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_framework_free,
                                           .framework_free = {.addr = addr}});
}

static void raised(uint64_t bytes)
{
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_framework_oom,
                                           .framework_oom = {.requested = bytes}});
}

/* Ends the trace and reads it. */
static struct vs_fit_trace *end(int status)
{
    struct vs_reader *reader;
    struct vs_fit_trace *trace;
    vs_builder_close(&b, VS_END_EXIT, (uint64_t)status);
    assert_int_equal(vs_reader_open(b.path, &reader, NULL), VS_OK);
    assert_int_equal(vs_fit_trace_build(reader, b.path, "3", &trace), VS_OK);
    vs_reader_close(reader);
    return trace;
}

static void finish(struct vs_fit_trace *trace)
{
    vs_fit_trace_free(trace);
    vs_builder_remove(&b);
}

TEST(attempts_for_one_tensor_are_one_failure)
{
    begin();
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), GIB, GIB);
    tensor(A(0), GIB, GIB, GIB);
    vs_builder_step(&b, 2);
    vs_builder_push(&b, "backward");
    mark("at /home/u/train.py:88");
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 2 * GIB, GIB, 8 * GIB);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 2 * GIB, GIB + 512 * MIB, 8 * GIB);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 2 * GIB, GIB + 512 * MIB, 8 * GIB);
    raised(2 * GIB - 1000);
    vs_builder_pop(&b);
    vs_builder_pop(&b); /* the end of the failed step itself is no recovery */
    struct vs_fit_trace *trace = end(1);
    assert_int_equal(trace->device_count, 1);
    const struct vs_fit_device *device = &trace->devices[0];
    assert_int_equal(device->failure.requested, 2 * GIB - 1000);
    assert_int_equal(device->failure.missing, 512 * MIB);
    assert_true(device->failure.framework);
    assert_string_equal(device->failure.place, "step 2 / backward");
    assert_string_equal(device->failure.where, "train.py:88");
    assert_int_equal(device->failure.holders.total_bytes, GIB);
    assert_int_equal(device->failure.kinds.total.bytes, GIB);
    assert_int_equal(device->kinds.kinds[VS_KIND_UNKNOWN].bytes, GIB); /* without stacks */
    assert_int_equal(device->recovered, 0);
    assert_int_equal(device->retries, 0);
    assert_string_equal(trace->rank, "3");
    finish(trace);
}

TEST(emptying_the_cache_is_a_retry)
{
    begin();
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), GIB, GIB);
    tensor(A(0), GIB, GIB, GIB);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 2 * GIB, GIB, 8 * GIB);
    vs_builder_free(&b, 0, A(0));
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1), 2 * GIB, 2 * GIB);
    struct vs_fit_trace *trace = end(0);
    assert_int_equal(trace->devices[0].retries, 1);
    assert_int_equal(trace->devices[0].recovered, 0);
    assert_int_equal(trace->devices[0].failure.requested, 0);
    finish(trace);
}

/* As in the post-mortem. */
TEST(a_later_step_or_as_much_memory_is_a_recovery)
{
    begin();
    vs_builder_step(&b, 1);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 4 * GIB, GIB, 8 * GIB);
    vs_builder_pop(&b);
    vs_builder_step(&b, 2);
    vs_builder_pop(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 4 * GIB, GIB, 8 * GIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 4 * GIB, 4 * GIB);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 3 * GIB, GIB, 8 * GIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1), 32 * MIB, 32 * MIB); /* too little */
    struct vs_fit_trace *trace = end(1);
    assert_int_equal(trace->devices[0].recovered, 2);
    assert_int_equal(trace->devices[0].failure.requested, 3 * GIB);
    assert_int_equal(trace->devices[0].failure.missing, 2 * GIB);
    finish(trace);
}

TEST(a_program_that_goes_on_and_ends_well_has_recovered)
{
    begin();
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 3 * GIB, GIB, 8 * GIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1), 32 * MIB, 32 * MIB);
    struct vs_fit_trace *trace = end(0);
    assert_int_equal(trace->devices[0].recovered, 1);
    assert_int_equal(trace->devices[0].failure.requested, 0);
    finish(trace);
}

/* More failures than a replay keeps, of which the first two kinds matter. */
TEST(the_first_failure_of_a_mixed_storm_is_named)
{
    begin();
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), GIB, GIB);
    for (unsigned i = 0; i < 700; i++) { /* each step goes on without it */
        vs_builder_step(&b, i);
        vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 7 * GIB, 6 * GIB, 8 * GIB);
        vs_builder_pop(&b);
    }
    vs_builder_step(&b, 700);
    vs_builder_pop(&b);
    for (unsigned i = 0; i < 2000; i++)
        vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, (8 + i % 2) * GIB, 7 * GIB, 8 * GIB);
    struct vs_fit_trace *trace = end(1);
    assert_int_equal(trace->devices[0].failure.requested, 8 * GIB);
    assert_int_equal(trace->devices[0].failure.missing, GIB);
    assert_int_equal(trace->devices[0].recovered, 700);
    finish(trace);
}

TEST(tensors_belong_to_the_line_marked_in_the_open_range)
{
    begin();
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 4 * GIB, 4 * GIB);
    vs_builder_step(&b, 0);
    vs_builder_push(&b, "backward");
    mark("at /x/train.py:30");
    vs_builder_push(&b, "layer"); /* ranges inside keep the mark */
    vs_builder_pop(&b);
    b.tid = OTHER_THREAD;
    tensor(A(0), 2 * GIB, 2 * GIB, 4 * GIB);
    tensor(A(0) + 2 * GIB, GIB, 3 * GIB, 4 * GIB);
    b.tid = VS_BUILDER_PID;
    vs_builder_pop(&b);
    tensor(A(0) + 3 * GIB, 512 * MIB, 3 * GIB + 512 * MIB, 4 * GIB);
    tensor_freed(A(0));
    tensor(A(0), 128 * MIB, GIB, 4 * GIB);
    struct vs_fit_trace *trace = end(0);
    const struct vs_fit_device *device = &trace->devices[0];
    assert_true(device->tensors);
    assert_int_equal(device->peak_allocated, 3 * GIB + 512 * MIB);
    assert_int_equal(device->peak_reserved, 4 * GIB);
    assert_string_equal(device->peak_place, "step 0");
    assert_int_equal(device->holders.count, 2);
    assert_string_equal(device->holders.items[0].where, "train.py:30");
    assert_int_equal(device->holders.items[0].bytes, 3 * GIB);
    assert_int_equal(device->holders.items[0].count, 2);
    assert_string_equal(device->holders.items[1].where, "");
    finish(trace);
}

TEST(a_marked_line_without_a_range_ends_with_its_mark)
{
    begin();
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 4 * GIB, 4 * GIB);
    mark("at /x/train.py:30");
    vs_builder_push(&b, "layer"); /* a hook of the program's */
    vs_builder_pop(&b);
    b.tid = OTHER_THREAD;
    tensor(A(0), 2 * GIB, 2 * GIB, 4 * GIB);
    mark("at end"); /* another thread's */
    tensor(A(0) + 2 * GIB, GIB, 3 * GIB, 4 * GIB);
    b.tid = VS_BUILDER_PID;
    mark("at end");
    tensor(A(0) + 3 * GIB, 512 * MIB, 3 * GIB + 512 * MIB, 4 * GIB);
    struct vs_fit_trace *trace = end(0);
    const struct vs_fit_device *device = &trace->devices[0];
    assert_int_equal(device->holders.count, 2);
    assert_string_equal(device->holders.items[0].where, "train.py:30");
    assert_int_equal(device->holders.items[0].bytes, 3 * GIB);
    assert_string_equal(device->holders.items[1].where, "");
    finish(trace);
}

TEST(the_highest_use_includes_what_no_allocation_holds)
{
    begin();
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), GIB, GIB);
    reading(8 * GIB - GIB - 400 * MIB); /* a context */
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1), 2 * GIB, 2 * GIB);
    vs_builder_free(&b, 0, A(1));
    reading(8 * GIB - GIB - 450 * MIB); /* a module was loaded */
    struct vs_fit_trace *trace = end(0);
    assert_int_equal(trace->devices[0].used_peak, 3 * GIB + 400 * MIB);
    assert_int_equal(trace->devices[0].outside, 400 * MIB);
    assert_int_equal(trace->devices[0].held_peak, 3 * GIB);
    finish(trace);
}

TEST(host_memory_is_not_the_gpus)
{
    begin();
    vs_builder_failed(&b, 0, VS_FAMILY_PINNED, GIB, 0, 0);
    struct vs_fit_trace *trace = end(0);
    assert_int_equal(trace->device_count, 0);
    finish(trace);
}

TEST(installed_packages_are_not_the_users)
{
    static const char *const theirs[] = {
        "/v/lib/python3.11/site-packages/torch/nn/modules/linear.py", "/usr/lib/python3.11/runpy.py",
        "/usr/lib/python3/dist-packages/x.py", "<frozen runpy>",
        "<vramscope>/shadow.py"};
    static const char *const users[] = {"/home/u/train.py", "train.py", "<string>", "lib/model.py"};
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        assert_true(vs_python_is_library(theirs[i]));
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        assert_false(vs_python_is_library(users[i]));
}

TEST(equal_notes_are_counted_and_other_lines_ignored)
{
    char path[] = "/tmp/vs_notes_XXXXXX";
    int fd = mkstemp(path);
    struct vs_fit_notes notes = {0};
    assert_true(fd >= 0);
    dprintf(fd, "assumed\t1\tcuDNN\tconv\t64\tno entry\nassumed\t2\tcuDNN\tconv\t64\tno entry\n"
                "assumed\t1\tcuDNN\tconv\t65\tno entry\nunsupported\t1\tcuFFT\tf\t0\t\n"
                "values\t1\t\t\t0\tcomputed=2 skipped=1 failed=0\nvalues\t2\t\t\t0\tcomputed=3 skipped=0\n"
                "assumed\t1\tcut off\n\n\t\t\t\t\t\nfuture\t1\tx\ty\t0\tz\n"
                "decided\t1\t\ta.py:1: if\t3\tTrue\ndecided\t2\t\ta.py:1: if\t0\tTrue\n"
                "read\t1\t\ta.py:2: x\t1\t0\nread\t1\t\ta.py:2: x\t4\t0.5\n"
                "replaced\t1\tvalues\tns::f\t0\tanother\nreplaced\t2\tvalues\tns::f\t0\tanother");
    close(fd);
    assert_int_equal(vs_fit_notes_read(path, &notes), VS_OK);
    assert_int_equal(notes.lists[VS_FIT_ASSUMED].count, 2);
    assert_int_equal(notes.lists[VS_FIT_ASSUMED].items[0].count, 2);
    assert_int_equal(notes.lists[VS_FIT_ASSUMED].items[0].bytes, 64);
    assert_int_equal(notes.lists[VS_FIT_UNSUPPORTED].count, 1);
    assert_int_equal(notes.lists[VS_FIT_DECIDED].count, 1);
    assert_string_equal(notes.lists[VS_FIT_DECIDED].items[0].name, "a.py:1: if");
    assert_int_equal(notes.lists[VS_FIT_DECIDED].items[0].count, 4);
    assert_false(notes.lists[VS_FIT_DECIDED].items[0].varied);
    assert_int_equal(notes.lists[VS_FIT_READ].count, 1);
    assert_string_equal(notes.lists[VS_FIT_READ].items[0].text, "0");
    assert_int_equal(notes.lists[VS_FIT_READ].items[0].count, 5);
    assert_true(notes.lists[VS_FIT_READ].items[0].varied);
    assert_int_equal(notes.lists[VS_FIT_REPLACED].count, 1);
    assert_int_equal(notes.lists[VS_FIT_REPLACED].items[0].count, 2);
    assert_int_equal(notes.computed, 5);
    assert_int_equal(notes.skipped, 1);
    vs_fit_notes_free(&notes);
    unlink(path);
    assert_int_equal(vs_fit_notes_read(path, &notes), VS_ERR_IO);
}

static enum vs_fit_answer decide(struct vs_fit_trace *trace, int status)
{
    struct vs_fit_trace **traces = malloc(sizeof(struct vs_fit_trace *));
    struct vs_fit_run run = {.gpu = "g", .status = status, .started = true, .traces = traces,
                             .trace_count = trace != NULL};
    traces[0] = trace;
    assert_int_equal(vs_fit_decide(&run), VS_OK);
    free(traces);
    return run.answer;
}

TEST(the_exit_status_alone_decides_nothing_about_memory)
{
    begin();
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), GIB, GIB);
    struct vs_fit_trace *good = end(0);
    vs_builder_remove(&b);
    assert_int_equal(decide(good, 0), VS_FIT_YES);
    assert_int_equal(decide(good, 1), VS_FIT_UNKNOWN);
    assert_int_equal(decide(good, 137), VS_FIT_UNKNOWN);
    assert_int_equal(decide(NULL, 0), VS_FIT_UNKNOWN);
    vs_fit_trace_free(good);
    begin();
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 4 * GIB, GIB, 8 * GIB);
    struct vs_fit_trace *bad = end(0);
    assert_int_equal(decide(bad, 1), VS_FIT_NO);
    assert_int_equal(decide(bad, 0), VS_FIT_NO);
    finish(bad);
}

TEST(one_gpu_without_an_answer_is_no_answer)
{
    struct vs_fit_run runs[] = {{.gpu = "a", .value = "1", .answer = VS_FIT_YES},
                                {.gpu = "a", .value = "2", .answer = VS_FIT_NO},
                                {.gpu = "b", .value = "1", .answer = VS_FIT_NO}};
    struct vs_fit_set set = {.runs = runs, .count = 3, .vary = "--n"};
    assert_int_equal(vs_fit_set_answer(&set, "a"), VS_FIT_YES);
    assert_string_equal(vs_fit_set_largest(&set, "a")->value, "1");
    assert_int_equal(vs_fit_set_answer(&set, NULL), VS_FIT_NO);
    runs[2].answer = VS_FIT_UNKNOWN;
    assert_int_equal(vs_fit_set_answer(&set, NULL), VS_FIT_UNKNOWN);
    set.count = 0;
    assert_int_equal(vs_fit_set_answer(&set, NULL), VS_FIT_UNKNOWN);
}

#define NOTE(lib, what, size) {.library = lib, .name = what, .text = "", .bytes = size, .count = 1}

TEST(of_assumed_sizes_those_that_last_count_once_and_the_largest_workspace)
{
    struct vs_fit_note items[] = {
        NOTE("NCCL", "communicator", 256 * VS_MIB),           NOTE("NCCL", "connections of 4 ranks", 432 * VS_MIB),
        NOTE("NCCL", "connections of 4 ranks", 576 * VS_MIB), NOTE("cuDNN", "handle", 0),
        NOTE("cuDNN", "convolution forward", 16 * VS_MIB),    NOTE("cuDNN", "convolution backward", 100 * VS_MIB),
        NOTE("cuFFT", "plan", 90 * VS_MIB)};
    struct vs_fit_notes notes = {.lists[VS_FIT_ASSUMED] = {.items = items, .count = 7}};
    struct vs_fit_assumed sum;
    vs_fit_assumed_sum(&notes, &sum);
    assert_int_equal(sum.count, 7);
    assert_int_equal(sum.bytes, (256 + 576 + 100) * VS_MIB);
    assert_int_equal(sum.margin, (256 + 576 + 32 + 100) * VS_MIB); /* of 0 bytes 32 MiB */
    notes.lists[VS_FIT_ASSUMED].count = 0;
    vs_fit_assumed_sum(&notes, &sum);
    assert_int_equal(sum.count + sum.bytes + sum.margin, 0);
}
