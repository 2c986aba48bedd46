/* SPDX-License-Identifier: Apache-2.0
 *
 * What `vramscope fit` reads from traces of known content, as its JSON: peaks, who held them,
 * failures and recoveries, and the answer of several processes together. */
#include <unistd.h>

#include "analysis/naming/python_file.h"
#include "unit/analysis/report_facts.h"
#include "viewer/report/answer_text.h"

static struct vs_fit_trace *trace;

AFTER(finish)
{
    vs_fit_trace_free(trace);
    trace = NULL;
    return 0;
}

/* Reads a trace that ends with *status*. */
static void fit(const char *text, int status)
{
    finish(NULL);
    begin_trace("observe", "device 8G Test GPU");
    vs_trace(&b, "%s", text);
    read_trace(status);
    assert_int_equal(vs_fit_trace_build(reader, b.path, "3", &trace), VS_OK);
}

/* Facts of a run, from *from* in the JSON on. */
static void expect_run(struct vs_fit_run *run, const char *from, const char *facts)
{
    char *text = NULL, *program[] = {"train", NULL};
    size_t size;
    FILE *out = open_memstream(&text, &size);
    vs_fit_json(&(struct vs_fit_set){.runs = run, .count = 1, .program = program}, out);
    fclose(out);
    struct json_object *root = json_tokener_parse(text);
    json_expect(root, json_follow(root, from), facts);
    json_object_put(root);
    free(text);
}

static struct vs_fit_run decided(struct vs_fit_trace **one, int status)
{
    struct vs_fit_run run = {.gpu = "g", .status = status, .started = true, .traces = one,
                             .trace_count = *one != NULL};
    assert_int_equal(vs_fit_decide(&run), VS_OK);
    return run;
}

#define RECOVERED "/runs/0/recovered_failures "
#define RETRIES "/runs/0/cache_retries "

static const struct fit_case {
    const char *name, *trace, *facts; /* of its worst device */
    int status;
} cases[] = {
    {"attempts_for_one_tensor_are_one_failure", /* the end of the failed step is no recovery */
     "alloc 0 1G; tensor 0 1G of 1G 1G; step 2; push backward; mark at /home/u/train.py:88; "
     "fail 2G free 1G; fail 2G free 1536M; fail 2G free 1536M; raise 2G-1000; pop; pop",
     "failure/requested_bytes 2G-1000; failure/short_bytes 512M; failure/framework true; "
     "failure/place step 2 / backward; failure/where train.py:88; failure/held_by/0/bytes 1G; "
     "failure/kinds/unknown 1G; peak_kinds/unknown 1G; " /* without stacks */
     "rank 3; " RECOVERED "0; " RETRIES "0", 1},
    {"emptying_the_cache_is_a_retry",
     "alloc 0 1G; tensor 0 1G of 1G 1G; fail 2G free 1G; free 0; alloc 5000 2G",
     "failure none; " RECOVERED "0; " RETRIES "1"},
    {"a_later_step_or_as_much_memory_is_a_recovery", /* as in the post-mortem; 32M are too little */
     "step 1; fail 4G free 1G; pop; step 2; pop; fail 4G free 1G; alloc 0 4G; fail 3G free 1G; "
     "alloc 5000 32M",
     "failure/requested_bytes 3G; failure/short_bytes 2G; " RECOVERED "2", 1},
    {"a_program_that_goes_on_and_ends_well_has_recovered", "fail 3G free 1G; alloc 0 32M",
     "failure none; " RECOVERED "1"},
    /* more failures than a replay keeps, of which the first two kinds matter */
    {"the_first_failure_of_a_mixed_storm_is_named", /* each step goes on without it */
     "alloc 0 1G; repeat 700 { step i; fail 7G free 6G; pop }; step 700; pop; "
     "repeat 1000 { fail 8G free 7G; fail 9G free 7G }",
     "failure/requested_bytes 8G; failure/short_bytes 1G; " RECOVERED "700", 1},
    {"tensors_belong_to_the_line_marked_in_the_open_range", /* ranges inside keep the mark */
     "alloc 0 4G; step 0; push backward; mark at /x/train.py:30; push layer; pop; "
     "thread 777; tensor 0 2G of 2G 4G; tensor 2048 1G of 3G 4G; thread 0; pop; "
     "tensor 3072 512M of 3584M 4G; drop 0; tensor 0 128M of 1G 4G",
     "tensors true; peak_allocated_bytes 3584M; peak_reserved_bytes 4G; peak_place step 0; "
     "peak_held_by count 2; peak_held_by/0/where train.py:30; peak_held_by/0/bytes 3G; "
     "peak_held_by/0/count 2; peak_held_by/1/where "},
    {"a_marked_line_without_a_range_ends_with_its_mark", /* a hook; the end is another thread's */
     "alloc 0 4G; mark at /x/train.py:30; push layer; pop; thread 777; tensor 0 2G of 2G 4G; "
     "mark at end; tensor 2048 1G of 3G 4G; thread 0; mark at end; tensor 3072 512M of 3584M 4G",
     "peak_held_by count 2; peak_held_by/0/where train.py:30; peak_held_by/0/bytes 3G; "
     "peak_held_by/1/where "},
    {"the_highest_use_includes_what_no_allocation_holds", /* a context; a module was loaded */
     "alloc 0 1G; sample 6768M; alloc 5000 2G; free 5000; sample 6718M",
     "peak_used_bytes 3G+400M; context_bytes 400M; peak_allocated_bytes 3G"},
    {"host_memory_is_not_the_gpus", "fail 1G pinned", "/runs/0/device none"},
};

ROWS(cases, a_run_is_of_its_trace)
{
    const struct fit_case *c = *state;
    fit(c->trace, c->status);
    struct vs_fit_run run = decided(&trace, c->status);
    expect_run(&run, "runs/0/device", c->facts);
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
    struct vs_fit_run run = {.gpu = "g", .notes = notes};
    expect_run(&run, "runs/0",
               "assumed count 2; assumed/0/count 2; assumed/0/bytes 64; unsupported count 1; "
               "decided_by_values_not_computed count 1; "
               "decided_by_values_not_computed/0/name a.py:1: if; "
               "decided_by_values_not_computed/0/count 4; "
               "decided_by_values_not_computed/0/varied false; "
               "read_but_not_computed count 1; read_but_not_computed/0/text 0; "
               "read_but_not_computed/0/count 5; read_but_not_computed/0/varied true; "
               "replaced_kernels count 1; replaced_kernels/0/count 2; "
               "values/computed 5; values/skipped 1");
    vs_fit_notes_free(&notes);
    unlink(path);
    assert_int_equal(vs_fit_notes_read(path, &notes), VS_ERR_IO);
}

TEST(the_exit_status_alone_decides_nothing_about_memory)
{
    struct vs_fit_trace *none = NULL;
    fit("alloc 0 1G", 0);
    assert_int_equal(decided(&trace, 0).answer, VS_FIT_YES);
    assert_int_equal(decided(&trace, 1).answer, VS_FIT_UNKNOWN);
    assert_int_equal(decided(&trace, 137).answer, VS_FIT_UNKNOWN);
    assert_int_equal(decided(&none, 0).answer, VS_FIT_UNKNOWN);
    fit("fail 4G free 1G", 0);
    assert_int_equal(decided(&trace, 1).answer, VS_FIT_NO);
    assert_int_equal(decided(&trace, 0).answer, VS_FIT_NO);
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

/* A call now, and its work on the device, which runs much later. */
static void call(void)
{
    b.correlation = ++b.calls;
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_api_call,
                                           .api_call = {.start_ns = b.now_ns, .end_ns = b.now_ns,
                                                        .correlation = b.correlation}});
    vs_trace(&b, "kernel 7 9000000 10 gemm");
    b.correlation = ++b.calls; /* of a library, without a call of the program */
    vs_trace(&b, "copy 7 htod 1M 9000000 10");
}

TEST(the_work_of_the_second_step_is_that_of_its_calls)
{
    for (int more = 0; more < 2; more++) {
        finish(NULL);
        begin_trace("observe", "device 8G Test GPU");
        vs_trace(&b, "alloc 0 1G; step 1");
        call();
        vs_trace(&b, "pop; step 2");
        call();
        call();
        vs_trace(&b, "pop; step 3");
        if (more)
            call();
        vs_builder_close(&b, VS_END_SIGNAL, 2);
        read_trace(0);
        assert_int_equal(vs_fit_trace_build(reader, b.path, "3", &trace), VS_OK);
        assert_int_equal(trace->cost.steps, more); /* without later work, records may be missing */
        assert_int_equal(trace->cost.kernel_ns, 20 * more);
        assert_int_equal(trace->cost.copy_bytes, 2 * VS_MIB * (uint64_t)more);
    }
    fit("alloc 0 1G; step 1; pop; step 2; pop", 0); /* kernels were not recorded */
    assert_int_equal(trace->cost.steps, 0);
}
