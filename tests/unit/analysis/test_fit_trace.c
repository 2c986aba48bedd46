/* SPDX-License-Identifier: Apache-2.0
 *
 * What `vramscope fit` reads from traces of known content: peaks, who held them, failures and
 * recoveries, and the answer of several processes together. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/fit/fit_answer.h"
#include "analysis/naming/python_file.h"
#include "base/vs_size.h"
#include "support/report_test.h"

static struct vs_fit_trace *trace;

AFTER(finish)
{
    vs_fit_trace_free(trace);
    trace = NULL;
    return 0;
}

/* Reads a trace that ends with *status*. */
static const struct vs_fit_device *fit(const char *text, int status)
{
    begin_trace("observe", "device 8G Test GPU");
    vs_trace(&b, "%s", text);
    read_trace(status);
    assert_int_equal(vs_fit_trace_build(reader, b.path, "3", &trace), VS_OK);
    return trace->device_count ? &trace->devices[0] : NULL;
}

TEST(attempts_for_one_tensor_are_one_failure)
{
    const struct vs_fit_device *device =
        fit("alloc 0 1G; tensor 0 1G of 1G 1G; step 2; push backward; mark at /home/u/train.py:88; "
            "fail 2G free 1G; fail 2G free 1536M; fail 2G free 1536M; raise 2G-1000; "
            "pop; pop", 1); /* the end of the failed step itself is no recovery */
    assert_int_equal(trace->device_count, 1);
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
}

TEST(emptying_the_cache_is_a_retry)
{
    fit("alloc 0 1G; tensor 0 1G of 1G 1G; fail 2G free 1G; free 0; alloc 5000 2G", 0);
    assert_int_equal(trace->devices[0].retries, 1);
    assert_int_equal(trace->devices[0].recovered, 0);
    assert_int_equal(trace->devices[0].failure.requested, 0);
}

/* As in the post-mortem. */
TEST(a_later_step_or_as_much_memory_is_a_recovery)
{
    fit("step 1; fail 4G free 1G; pop; step 2; pop; fail 4G free 1G; alloc 0 4G; fail 3G free 1G; "
        "alloc 5000 32M", 1); /* too little */
    assert_int_equal(trace->devices[0].recovered, 2);
    assert_int_equal(trace->devices[0].failure.requested, 3 * GIB);
    assert_int_equal(trace->devices[0].failure.missing, 2 * GIB);
}

TEST(a_program_that_goes_on_and_ends_well_has_recovered)
{
    fit("fail 3G free 1G; alloc 0 32M", 0);
    assert_int_equal(trace->devices[0].recovered, 1);
    assert_int_equal(trace->devices[0].failure.requested, 0);
}

/* More failures than a replay keeps, of which the first two kinds matter. */
TEST(the_first_failure_of_a_mixed_storm_is_named)
{
    fit("alloc 0 1G; repeat 700 { step i; fail 7G free 6G; pop }; " /* each step goes on without it */
        "step 700; pop; repeat 1000 { fail 8G free 7G; fail 9G free 7G }", 1);
    assert_int_equal(trace->devices[0].failure.requested, 8 * GIB);
    assert_int_equal(trace->devices[0].failure.missing, GIB);
    assert_int_equal(trace->devices[0].recovered, 700);
}

TEST(tensors_belong_to_the_line_marked_in_the_open_range)
{
    const struct vs_fit_device *device =
        fit("alloc 0 4G; step 0; push backward; mark at /x/train.py:30; "
            "push layer; pop; " /* ranges inside keep the mark */
            "thread 777; tensor 0 2G of 2G 4G; tensor 2048 1G of 3G 4G; thread 0; pop; "
            "tensor 3072 512M of 3584M 4G; drop 0; tensor 0 128M of 1G 4G", 0);
    assert_true(device->tensors);
    assert_int_equal(device->peak_allocated, 3 * GIB + 512 * MIB);
    assert_int_equal(device->peak_reserved, 4 * GIB);
    assert_string_equal(device->peak_place, "step 0");
    assert_int_equal(device->holders.count, 2);
    assert_string_equal(device->holders.items[0].where, "train.py:30");
    assert_int_equal(device->holders.items[0].bytes, 3 * GIB);
    assert_int_equal(device->holders.items[0].count, 2);
    assert_string_equal(device->holders.items[1].where, "");
}

TEST(a_marked_line_without_a_range_ends_with_its_mark)
{
    const struct vs_fit_device *device =
        fit("alloc 0 4G; mark at /x/train.py:30; push layer; pop; " /* a hook of the program's */
            "thread 777; tensor 0 2G of 2G 4G; mark at end; "       /* another thread's */
            "tensor 2048 1G of 3G 4G; thread 0; mark at end; tensor 3072 512M of 3584M 4G", 0);
    assert_int_equal(device->holders.count, 2);
    assert_string_equal(device->holders.items[0].where, "train.py:30");
    assert_int_equal(device->holders.items[0].bytes, 3 * GIB);
    assert_string_equal(device->holders.items[1].where, "");
}

TEST(the_highest_use_includes_what_no_allocation_holds)
{
    fit("alloc 0 1G; sample 6768M; " /* a context */
        "alloc 5000 2G; free 5000; sample 6718M", 0); /* a module was loaded */
    assert_int_equal(trace->devices[0].used_peak, 3 * GIB + 400 * MIB);
    assert_int_equal(trace->devices[0].outside, 400 * MIB);
    assert_int_equal(trace->devices[0].held_peak, 3 * GIB);
}

TEST(host_memory_is_not_the_gpus)
{
    assert_null(fit("fail 1G pinned", 0));
    assert_int_equal(trace->device_count, 0);
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

static enum vs_fit_answer decide(struct vs_fit_trace *one, int status)
{
    struct vs_fit_trace *traces[] = {one};
    struct vs_fit_run run = {.gpu = "g", .status = status, .started = true, .traces = traces,
                             .trace_count = one != NULL};
    assert_int_equal(vs_fit_decide(&run), VS_OK);
    return run.answer;
}

TEST(the_exit_status_alone_decides_nothing_about_memory)
{
    fit("alloc 0 1G", 0);
    assert_int_equal(decide(trace, 0), VS_FIT_YES);
    assert_int_equal(decide(trace, 1), VS_FIT_UNKNOWN);
    assert_int_equal(decide(trace, 137), VS_FIT_UNKNOWN);
    assert_int_equal(decide(NULL, 0), VS_FIT_UNKNOWN);
    finish(NULL);
    fit("fail 4G free 1G", 0);
    assert_int_equal(decide(trace, 1), VS_FIT_NO);
    assert_int_equal(decide(trace, 0), VS_FIT_NO);
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
