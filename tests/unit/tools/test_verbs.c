/* SPDX-License-Identifier: Apache-2.0
 *
 * The reading verbs from the user's side: output, error lines, exit codes. The command runs as a
 * separate process, in a folder that is empty at the start of each test. */
#define _GNU_SOURCE
#include <errno.h>

#include "support/json_test.h"
#include "support/shell_folder.h"
#include "support/trace_text.h"

static struct json_object *json; /* of the last expect_json */
static struct vs_builder b;

/* Runs a line of the shell in the folder; returns its exit code. */
__attribute__((format(printf, 1, 2))) static int shell(const char *format, ...)
{
    char line[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    return run_script("", line);
}

static void write_file(const char *name, const char *bytes, size_t size)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

#define WRITE_FILE(name, text) write_file(name, text, sizeof text - 1)

BEFORE(empty_folder)
{
    static unsigned tests;
    snprintf(folder, sizeof folder, "%s/%u", scratch_folder(), tests++);
    return mkdir(folder, 0700);
}

AFTER(forget_json)
{
    json_object_put(json);
    json = NULL;
    return 0;
}

static int exit_code; /* of the last command */

/* Runs `vramscope ARGS` (a shell line). */
static void run(const char *args)
{
    exit_code = shell("%s %s", VS_TEST_COMMAND, args);
}

/* Whether *part* is in *text*, also where its words are on several lines. */
static bool contains(const char *text, const char *part)
{
    char folded[65536];
    size_t n = 0;
    for (const char *p = text; *p && n + 1 < sizeof folded; n++) {
        folded[n] = *p == '\n' && p[1] == ' ' ? ' ' : *p;
        p += *p == '\n' && p[1] == ' ' ? 1 + strspn(p + 1, " ") : 1;
    }
    folded[n] = 0;
    return strstr(text, part) || strstr(folded, part);
}

/* Runs `vramscope ARGS`: it exits with *code* and writes each of *parts*, which "|" separates: to
 * standard output, or with "!" before it to standard error. */
static void expect(int code, const char *parts, const char *args)
{
    char copy[4096];
    run(args);
    if (exit_code != code)
        fail_msg("%s: exit %d, %s%s", args, exit_code, out, err);
    snprintf(copy, sizeof copy, "%s", parts);
    for (char *next, *part = strtok_r(copy, "|", &next); part; part = strtok_r(NULL, "|", &next)) {
        const char *text = *part == '!' ? err : out;
        if (!contains(text, part + (*part == '!')))
            fail_msg("%s: '%s' is not in:\n%s", args, part, text);
    }
}

static void expect_json(int code, const char *args)
{
    expect(code, "", args);
    json_object_put(json);
    json = json_tokener_parse(out);
    assert_non_null(json);
}

/* Rows of arguments of *verb* and words of the only line that it says then, at exit code 2; {0} ends
 * them. */
static void refuses(const char *verb, const char *const (*rows)[2])
{
    for (; (*rows)[0]; rows++) {
        char args[1024];
        snprintf(args, sizeof args, "%s%s%s", verb, *verb ? " " : "", (*rows)[0]);
        run(args);
        if (exit_code != 2 || *out || vs_times(err, "\n") != 1 || !contains(err, (*rows)[1]))
            fail_msg("%s: exit %d, not '%s': %s%s", args, exit_code, (*rows)[1], out, err);
    }
}

#define REFUSES(verb, ...) refuses(verb, (const char *const[][2]){__VA_ARGS__, {0}})

__attribute__((noinline)) static uint64_t alloc_buffers(void)
{
    uint64_t stack = vs_recorder_stack(b.recorder, 0);
    __asm__ volatile("" ::: "memory");
    return stack;
}

/* Other code, so that compilers do not merge the two. */
__attribute__((noinline)) static uint64_t alloc_tensors(void)
{
    uint64_t stack = vs_recorder_stack(b.recorder, 0);
    __asm__ volatile("" : "+r"(stack) : : "memory");
    return stack;
}

/* Ends the trace that b writes, which becomes *name* in the folder. */
static void end_as(const char *name, enum vs_end_reason reason, uint64_t status)
{
    vs_builder_close(&b, reason, status);
    assert_int_equal(shell("mv '%s' '%s'", b.path, name), 0);
}

/* Peak 48 MiB allocated in step 1, 8 MiB left at the end. */
static void small_trace(void)
{
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 1G Test GPU");
    b.stack = alloc_buffers();
    vs_trace(&b, "alloc 0 8M");
    for (unsigned s = 0; s < 2; s++) {
        vs_trace(&b, "step %u; push forward; alloc 100 %uM", s, 20 + 20 * s);
        vs_builder_kernel(&b, 0, 7, "matmul_kernel", 2000 + 1000 * s, 600);
        vs_builder_memcpy(&b, 0, 7, VS_COPY_HTOD, 4096, 2700 + 1000 * s, 100);
        vs_trace(&b, "free 100; pop; pop");
    }
}

/* The same as trace.vst. */
static void write_small_trace(void)
{
    small_trace();
    end_as("trace.vst", VS_END_EXIT, 0);
}

TEST(report_prints_what_was_recorded)
{
    small_trace();
    end_as("trace.vst", VS_END_EXIT, 3);
    expect(0, "train_demo|pid 4242|exit 3|Test GPU|(simulated)|peak allocated|48.0 MiB|step 1 / "
           "forward|alloc_buffers (test_verbs.c:|< small_trace:|live at the end: 8.0 MiB|"
           "matmul_kernel|HtoD|next: vramscope view trace.vst", "report trace.vst");
    assert_string_equal(err, "");
    assert_null(strchr(out, '\x1b')); /* no colour in a file */
    expect(0, "\x1b[1m", "report --color always trace.vst");
}

/* Copies of which the small ones are faster; a wait in every step, which is short; two calls on one line. */
TEST(sections_name_short_waits_of_every_step_and_compare_copies_with_the_link)
{
    for (unsigned known = 0; known < 2; known++) {
        vs_builder_open(&b, "observe");
        vs_builder_event(&b, EVENT(device, .total_bytes = GIB, .cc_major = known ? 7 : 0, .cc_minor = known ? 5 : 0));
        b.stack = alloc_buffers();
        vs_trace(&b, "copy 7 htod 4M 1000 4000000 pageable; copy 7 htod 512K 5000000 100000 pageable; "
                 "kernel 7 6000000 1000 k; repeat 2 { step i; wait 3 100 20; pop }");
        vs_builder_event(&b, EVENT(sync, .start_ns = b.start_ns, .end_ns = b.start_ns + 9000000, .stack = b.stack,
                                   .sync_kind = VS_WAIT_COPY, .api = vs_builder_string(&b, "cudaMemcpyAsync")));
        end_as("link.vst", VS_END_EXIT, 0);
        expect(0, known ? "100 % = 15.8 GB/s: PCIe 3.0 with 16 lanes, the most that such GPUs have|33.3 %"
                        : "100 % = 5.2 GB/s: the fastest HtoD copies of this trace|100.0 %|20.0 %",
               "report --transfers --syncs --kernels link.vst");
        expect(0, "pageable copies: 4.10 ms; use pinned memory: in PyTorch pin_memory=True|cudaHostAlloc.|"
               "cannot be worked out from this trace|cudaMemcpyAsync|cudaStreamSynchronize, 1.0 a step|"
               "with copies and memsets the device was busy for 4.10 ms", "report --transfers --syncs --kernels link.vst");
    }
}

TEST(report_json_has_the_schema_and_exact_numbers)
{
    small_trace();
    end_as("trace.vst", VS_END_SIGNAL, 9);
    expect_json(0, "report --json trace.vst");
    assert_string_equal(json_text(json, "/schema"), "vramscope.report/1");
    assert_string_equal(json_text(json, "/process/end"), "signal");
    assert_int_equal(json_number(json, "/devices/0/peak_allocated/bytes"), 48 * MIB);
    assert_string_equal(json_text(json, "/devices/0/peak_allocated/phase"), "step 1 / forward");
    assert_string_equal(json_text(json, "/devices/0/sites_at_peak_allocated/sites/0/frames/0/function"),
                        "alloc_buffers");
}

TEST(windows_of_a_file_have_peaks_and_a_wrong_line_is_named)
{
    write_small_trace();
    WRITE_FILE("good.txt", "# all of it\n\n0 1000000000\n");
    WRITE_FILE("bad.txt", "0 10\n5 1s\n");
    WRITE_FILE("none.txt", "# no window\n");
    expect_json(0, "report --json --windows good.txt trace.vst");
    assert_int_equal(json_length(json, "/windows"), 1);
    assert_int_equal(json_number(json, "/windows/0/devices/0/peak_bytes"), 48 * MIB);
    assert_int_equal(json_number(json, "/windows/0/devices/0/end_bytes"), 8 * MIB);
    REFUSES("report trace.vst",
            {"--json --windows bad.txt", "bad.txt:2: '5 1s' is not a window; write two numbers"},
            {"--json --windows none.txt", "none.txt: the file has no window"},
            {"--json --windows absent.txt", "absent.txt: No such file or directory"},
            {"--windows good.txt", "--windows needs --json"},
            {"--json --at peak --windows good.txt", "--windows reads the whole trace"});
}

TEST(unusable_input_gets_one_clear_line_and_exit_2)
{
    write_small_trace();
    WRITE_FILE("empty.vst", "");
    WRITE_FILE("text.vst", "step,loss\n1,2.5\n2,2.4\n3,2.3\n");
    char whole[65536];
    size_t n = slurp("trace.vst", whole, sizeof whole);
    assert_true(n > 200 && n < sizeof whole - 1);
    write_file("cut.vst", whole, n / 2);
    static const char *const names[] = {"empty.vst", "text.vst", "cut.vst", ".", "missing.vst"};
    static const char *const verbs[] = {"report", "oom", "check --max-peak 1GiB",
                                        "export -f chrome -o t.json"};
    for (size_t v = 0; v < 4; v++) {
        for (size_t i = 0; i < 5; i++) {
            char start[64], args[64];
            if (v == 2 && i == 3)
                continue; /* the whole traces of the folder are checked */
            snprintf(start, sizeof start, "vramscope %.*s: %s", (int)strcspn(verbs[v], " "),
                     verbs[v], names[i]);
            snprintf(args, sizeof args, "%s %s", verbs[v], names[i]);
            run(args);
            /* the folder also has a truncated copy, and the two above it; then the remedy */
            size_t lines = v <= 1 && i == 3 ? 4 : 1;
            if (exit_code != 2 || vs_times(err, "\n") != lines ||
                strncmp(err, start, strlen(start)) != 0)
                fail_msg("%s: code %d, said: %s", args, exit_code, err);
            assert_string_equal(out, "");
        }
    }
    expect(2, "!no event before it is readable; record the program again", "report cut.vst");
}

/* A trace with enough frames that half of it still has events. */
TEST(partial_shows_what_is_readable)
{
    small_trace();
    vs_recorder_flush(b.recorder);
    struct stat info;
    assert_int_equal(stat(b.path, &info), 0);
    vs_trace(&b, "alloc 900 500M");
    end_as("trace.vst", VS_END_EXIT, 0);
    shell("truncate -s %lld trace.vst", (long long)info.st_size); /* one whole frame */
    expect(2, "", "report trace.vst");
    expect(0, "48.0 MiB|warning", "report --partial trace.vst");
    /* the missing part could exceed the budget */
    expect(2, "", "check --max-peak 1GiB trace.vst");
    expect(0, "", "check --max-peak 1GiB --partial trace.vst");
}

TEST(check_exits_0_1_2_and_names_the_sites)
{
    write_small_trace();
    expect(0, "is within", "check --max-peak 48MiB trace.vst");
    expect(1, "exceeds 40.0 MiB by 8.0 MiB (20.0 %)|alloc_buffers|step 1 / forward",
           "check --max-peak 40MiB trace.vst");
    expect(1, "live at the end 8.0 MiB exceeds 0 B",
           "check --max-peak 1GiB --max-live-at-end 0 trace.vst");
    /* the usable one is checked nevertheless */
    expect(2, "exceeds", "check --max-peak 40MiB trace.vst missing.vst");
    REFUSES("check", {"", ""}, {"--max-peak", ""}, {"--max-peak x trace.vst", ""}, {"trace.vst", ""},
            {"--max-peak 1GiB", ""}, {"--max-peak 1GiB --metric y trace.vst", ""},
            {"--max-peak 1GiB --device 3 trace.vst", ""}, {"--max-peak 1GiB --format z trace.vst", ""},
            {"--max-peak 1GiB --nonsense trace.vst", ""});
}

TEST(diff_has_a_tolerance_and_refuses_what_it_cannot_compare)
{
    small_trace();
    vs_trace(&b, "alloc 200 1M");
    end_as("b.vst", VS_END_EXIT, 0);
    write_small_trace();
    expect(0, "ok    no peak, growth or leak is larger by more than 25%",
           "diff --fail-on-regression=25% trace.vst b.vst");
    REFUSES("diff", {"", ""}, {"trace.vst", ""}, {"trace.vst trace.vst trace.vst", ""},
            {"trace.vst none.vst", ""}, {"--fail-on-regression=x trace.vst trace.vst", ""},
            {"--nonsense trace.vst trace.vst", ""}, {"--color=x trace.vst trace.vst", ""});
}

/* Memory that holds no tensors was "tensors live at the end", and steps of two kinds were compared. */
TEST(diff_names_tensors_and_steps_as_what_they_are)
{
    static const char *const steps[] = {"step i+1; tensor 20 2M of 20M 40M; drop 20; pop",
                                        "tensor 20 2M of 20M 40M; tensor 30 4M of 20M 40M; drop 20; drop 30"};
    for (int found = 0; found < 2; found++) {
        vs_builder_open(&b, "observe");
        vs_trace(&b, "device 1G Test GPU; at request_segment 37 < main 44; alloc 0 40M; at train 31 < main 44; "
                     "tensor 0 %dM of 10M 40M; at handle 7 < main 8; alloc 5000 %dM; at train 33 < main 44; "
                     "repeat 40 { %s }", 8 + found, 8 + found, steps[found]);
        end_as(found ? "found.vst" : "marked.vst", VS_END_EXIT, 0);
    }
    expect(0, "(train_demo, 40 steps)|(train_demo, 40 steps found in repeating requests)|\n  peak of tensors and others |"
              "\n  live at the end |\n  step: peak live ", "diff marked.vst found.vst");
    assert_null(strstr(out, "\n  steps "));
}

/* Beside the tensors of a rank stood what the device reserved, with NCCL's memory; and four failed calls beside one
 * failed allocation. */
TEST(ranks_have_the_frameworks_reserved_memory_and_failed_calls_are_explained)
{
    for (unsigned rank = 0; rank < 2; rank++) {
        vs_builder_open(&b, "observe");
        vs_trace(&b, "option RANK %u; option WORLD_SIZE 2; device 1G Test GPU; "
                     "at @/env/lib/python3.11/site-packages/torch/lib/libc10_cuda.so; alloc 0 40M; "
                     "at train 31 < main 44; tensor 0 8M of 8M 40M; at @/env/lib/libnccl.so.2; alloc 5000 70M; "
                     "at @/env/lib/python3.11/site-packages/torch/lib/libc10_cuda.so; "
                     "fail 32M free 3M; fail 32M free 3M; at train 31 < main 44; raise 30M", rank);
        end_as(rank ? "rank1.vst" : "rank0.vst", VS_END_EXIT, 1);
    }
    expect(0, "tensors    reserved|0    0     8.0 MiB    40.0 MiB|1    0     8.0 MiB    40.0 MiB",
           "report rank0.vst rank1.vst");
    expect(0, "after a failed call PyTorch empties its cache and tries again; 1 of its\n    allocations failed\n",
           "report rank0.vst");
}

TEST(diff_says_how_many_call_sites_moved)
{
    for (int renamed = 0; renamed < 2; renamed++) {
        vs_builder_open(&b, "observe");
        vs_trace(&b, "device 1G Test GPU");
        b.stack = renamed ? alloc_tensors() : alloc_buffers();
        vs_trace(&b, "alloc 0 8M");
        end_as(renamed ? "renamed.vst" : "trace.vst", VS_END_EXIT, 0);
    }
    expect(0, "no difference in memory, 1 call site moved|-> alloc_tensors (test_verbs.c:",
           "diff trace.vst renamed.vst");
}

/* XML parsers reject invalid UTF-8. */
TEST(junit_has_valid_utf_8_whatever_the_traces_name)
{
    write_small_trace();
    shell("cp trace.vst $(printf 'a\\377b.vst')");
    expect(1, "<testsuite name=\"a\xef\xbf\xbd" "b.vst\" ",
           "check --max-peak 40MiB --format junit a*b.vst");
}

TEST(a_recording_that_stopped_early_does_not_pass_a_check)
{
    small_trace();
    end_as("trace.vst", VS_END_STOPPED, ENOSPC);
    REFUSES("check", {"--max-peak 1GiB trace.vst", "recording stopped early: No space left on device"});
    expect(0, "", "check --max-peak 1GiB --partial trace.vst");
    expect(0, "recording stopped early: No space left on device; later events are missing",
           "report trace.vst");
    expect(0, "\"cut_short\": \"recording stopped early: No space left on device",
           "report --json trace.vst");
}

TEST(the_first_point_knows_the_process)
{
    static const char *const spans[] = {"--at 0", "--at 0s", "--at 0%", "--at 1us",
                                        "--from 0 --to 0"};
    write_small_trace();
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        char args[64];
        snprintf(args, sizeof args, "report %s trace.vst", spans[i]);
        expect(0, i < 3 ? "state at 0 ns" : i == 4 ? "from 0 ns to 0 ns" : "", args);
        assert_null(strstr(out, "unknown program"));
    }
    expect(0, "not more than --every 1,048,576: no checkpoints are needed", "index trace.vst");
}

TEST(a_killed_program_is_reported_but_does_not_pass_a_check)
{
    pid_t child = fork();
    if (child == 0) {
        small_trace();
        char link_path[PATH_MAX + 8];
        snprintf(link_path, sizeof link_path, "%s/killed", folder);
        if (symlink(b.dir, link_path) != 0)
            _exit(1);
        raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    expect(0, "no end recorded|48.0 MiB", "report killed/trace.vst");
    expect(2, "!--partial", "check --max-peak 1GiB killed/trace.vst");
    expect(0, "", "check --max-peak 1GiB --partial killed/trace.vst");
}

TEST(oom_prints_the_verdict_or_what_was_left)
{
    write_small_trace();
    expect(0, "no allocation failed|peak reserved 48.0 MiB of 1.00 GiB: 976.0 MiB (95.3 %) left",
           "oom trace.vst");
    REFUSES("oom trace.vst", {"--nth 1", "no allocation failed; --nth cannot be used"});
    small_trace();
    vs_trace(&b, "step 2");
    b.stack = alloc_buffers();
    vs_trace(&b, "fail 1000M free 900M");
    end_as("trace.vst", VS_END_EXIT, 1);
    expect(0, "out of memory  1000.0 MiB by cudaMalloc on device 0\n  device   Test GPU|"
              "verdict  single spike|step 2|alloc_buffers (test_verbs.c:|what would have helped",
           "oom trace.vst");
    expect(0, "next: vramscope oom trace.vst", "report trace.vst");
    expect_json(0, "oom --json trace.vst");
    assert_string_equal(json_text(json, "/verdict"), "single_spike");
    assert_true(json_length(json, "/evidence") >= 2);
}

/* A process that holds *held* MiB of the device that it shares, and if *request* is given, is then
 * refused that many while *left* MiB are free. */
static void process_of_two(const char *name, unsigned held, unsigned request, unsigned left)
{
    vs_builder_open(&b, "observe");
    vs_builder_event(&b, EVENT(device, .uuid = vs_builder_string(&b, "GPU-shared"),
                               .name = vs_builder_string(&b, "Shared"),
                               .total_bytes = b.total_bytes = GIB));
    vs_trace(&b, "alloc 0 %uM", held);
    if (request)
        vs_trace(&b, "fail %uM free %uM", request, left);
    else
        b.now_ns += 1000000000;
    vs_builder_event(&b, EVENT(mark));
    end_as(name, VS_END_EXIT, request ? 1 : 0);
}

TEST(oom_of_several_processes_names_the_first_and_what_all_held)
{
    for (int small = 0; small < 2; small++) {
        process_of_two("other.vst", small ? 100 : 600, 0, 0);
        process_of_two("trace.vst", small ? 700 : 300, 500, 100);
        expect(0, "1 of 2 processes ran out of memory: |no allocation failed|"
                  "Shared, 1.00 GiB, at that time|500.0 MiB by cudaMalloc on device 0",
               "oom trace.vst other.vst"); /* the last: its own post-mortem */
        expect(0, small ? "100.0 MiB    9.8 %|800.0 MiB   78.1 %  all|"
                          "cause  the process itself: without the 100.0 MiB of the others"
                        : "600.0 MiB   58.6 %|900.0 MiB   87.9 %  all|"
                          "cause  the processes together need more than the device has",
               "oom trace.vst other.vst");
        expect(0, small ? "\"cause\": \"itself\"" : "\"cause\": \"together\"",
               "oom --json trace.vst other.vst");
        REFUSES("oom trace.vst other.vst", {"--nth 1", "--nth takes one trace"});
    }
}

TEST(oom_names_another_error_and_the_numbers_of_nth)
{
    static const struct {
        unsigned failures;
        const char *words;
    } cases[] = {{1, "has 1 failed allocation; --nth takes 1\n"},
                 {2, "has 2 failed allocations; --nth takes 1 to 2\n"},
                 {300, "has 300 failed allocations, of which the last 256 are stored; --nth takes 45 to "
                       "300, or the first of others: 1\n"}};
    for (size_t c = 0; c < 3; c++) {
        small_trace();
        for (unsigned i = 0; i < cases[c].failures; i++)
            vs_builder_event(&b, EVENT(alloc_failed, .requested = 100, .family = VS_FAMILY_PINNED,
                                       .context = 1, .error = 1,
                                       .api = vs_builder_string(&b, "cudaHostAlloc")));
        end_as("trace.vst", VS_END_EXIT, 0);
        REFUSES("oom trace.vst", {"--nth 999", cases[c].words});
        expect(0, "allocation failed (CUDA_ERROR_INVALID_VALUE)  100 B by cudaHostAlloc, host\n"
                  "                                              memory\n|"
                  "1. correct the arguments of the call\n", "oom trace.vst");
        assert_null(strstr(out, "out of memory  "));
    }
}

TEST(export_writes_a_file_or_standard_output)
{
    write_small_trace();
    expect(0, "", "export trace.vst -f chrome -o t.json");
    assert_string_equal(out, "");
    assert_int_equal(shell("python3 -m json.tool t.json >/dev/null"), 0);
    expect_json(0, "export -f chrome -o - trace.vst");
    expect(2, "", "export -f chrome -o trace.vst trace.vst"); /* would destroy its input */
    expect(0, "", "report trace.vst");
    expect(0, "", "export -f chrome --no-symbol-cache --debug-dir . -o /dev/null trace.vst");
    assert_string_equal(err, "");
    REFUSES("export trace.vst", /* no names would be found */
            {"-f chrome --debug-dir nowhere", "--debug-dir: no such folder: nowhere"},
            {"-f svg", "unknown format 'svg'; available: chrome"},
            {"-f chrome --at peak", "format chrome does not use --at"},
            {"-f collapsed --by size", "--by takes bytes or count, not 'size'"},
            {"-f chrome -o /dev/full", "cannot write /dev/full: No space left on device"});
    expect(0, "chrome: timeline for ui.perfetto.dev and chrome://tracing (.json)", "export --help");
}

TEST(steps_are_selected_by_the_numbers_that_the_program_gives_them)
{
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 1G GPU; step 100; alloc 0 1M; pop; step 200; alloc 1000 2M; pop; step 300; alloc 2000 3M; pop");
    end_as("hundreds.vst", VS_END_EXIT, 0);
    expect(0, "step 200", "export -f chrome --steps 150-200 --min-bytes 1 hundreds.vst");
    assert_null(strstr(out, "step 300"));
    REFUSES("export -f chrome --steps", {"101 hundreds.vst", "no step 101; the trace has steps 100 to 300, 3 of them completed"});
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 1G GPU; step 1; pop; step 2");
    end_as("open.vst", VS_END_EXIT, 0);
    REFUSES("export -f chrome --steps", {"9 open.vst", "the trace has steps 1 to 2, 1 of them completed"},
            {"1 --max-size 1KB open.vst", "--max-size 1KB: counters, ranges and instants alone take "},
            {"1 --max-size 1KB open.vst", "use -f perfetto, which is smaller, or give no --max-size and a FILE"});
}

/* Python refuses a text that is not UTF-8. */
TEST(a_database_has_names_in_utf8)
{
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 1G GPU \xff; alloc 0 1M; kernel 7 2000 10 bad \xff\xc0\xaf gr\xc3\xb6\xc3\x9f" "e");
    end_as("bytes.vst", VS_END_EXIT, 0);
    run("export -f sqlite -o bytes.db bytes.vst");
    if (exit_code == 2 && contains(err, "built without"))
        return;
    assert_int_equal(shell("python3 -c \"import sqlite3; d = sqlite3.connect('bytes.db'); assert "
                           "d.execute('select kernels.name, devices.name from kernels, devices').fetchall() == "
                           "[('bad \\ufffd\\ufffd\\ufffd gr\\u00f6\\u00dfe', 'GPU \\ufffd')]\""), 0);
}

TEST(tables_of_sizes_whose_sum_overflows_are_refused_by_the_name_of_the_trace)
{
    write_small_trace();
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 1G GPU; alloc 0 4294967296G; alloc 4611686018427387904 4294967296G");
    end_as("sums.vst", VS_END_EXIT, 0);
    run("export -f parquet -o tables sums.vst");
    if (exit_code == 2 && contains(err, "built without"))
        return;
    assert_int_equal(exit_code, 2);
    assert_true(contains(err, "sums.vst: cannot read the trace: damaged data"));
    run("merge -f parquet -o tables trace.vst sums.vst");
    assert_int_equal(exit_code, 2);
    assert_true(contains(err, "sums.vst: cannot read the trace: damaged data"));
}

TEST(an_earlier_name_of_an_option_selects_the_same)
{
    write_small_trace();
    expect(0, "[memory]", "export -f chrome --instant-min 1MiB trace.vst");
    REFUSES("export trace.vst", {"-f csv --instant-min 1MiB", "format csv does not use --min-bytes"});
}

TEST(view_writes_a_page_with_the_figures_of_the_report)
{
    char page[4096];
    write_small_trace();
    expect(0, "trace.html: | with 3 blocks", "view trace.vst");
    assert_string_equal(err, "");
    slurp("trace.html", page, sizeof page);
    assert_true(contains(page, "<!doctype html>"));
    assert_true(contains(page, "Content-Security-Policy"));
    expect(0, "", "view trace.vst -o - | grep -c '\"allocated_bytes\"\\|\"peak_user\"'");
    assert_int_equal(vs_times(out, "\n"), 1); /* all in one element of one line */
    expect(0, "!as asked", "view trace.vst --from 2us -o part.html");
    expect(0, "!around the peak", "view --events 4 trace.vst trace.vst -o two.html");
}

TEST(view_writes_no_page_over_a_trace)
{
    write_small_trace();
    WRITE_FILE("cut.vst", "not a trace");
    REFUSES("view", {"trace.vst -o trace.vst", "trace itself"}, {"trace.vst -o ./trace.vst --partial", ""},
            {"trace.vst -o missing/page.html", "missing/page.html"}, {"", "no trace given"},
            {"trace.vst -o - --open", "--open needs a file"},
            {"--serve trace.vst trace.vst", "--serve takes one trace"},
            {"--port 80 trace.vst", "only with --serve"},
            {"--what-if 0 trace.vst", "a number from 1 to 70, or off, not '0'"}, {"cut.vst", "cut.vst"});
    expect(0, "", "report trace.vst");
}

TEST(a_full_disk_is_said_not_ignored)
{
    write_small_trace();
    static const char *const verbs[] = {"report trace.vst", "doctor", /* regression: ignored it */
                                        "doctor --json"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        char said[256];
        assert_int_equal(shell("%s %s 2>said >/dev/full", VS_TEST_COMMAND, verbs[i]), 2);
        slurp("said", said, sizeof said);
        assert_true(contains(said, "cannot write the output"));
    }
}

/* What a filter names is in the trace, but none of it is live at the peak. */
TEST(a_filter_that_nothing_passes_says_so)
{
    write_small_trace();
    expect(0, "live at the peak: none of 48.0 MiB; try --at TIME", "report --step 0 trace.vst");
    expect(0, "live at the peak: none of 48.0 MiB; the largest block has 40.0 MiB",
           "report --min-bytes 1GiB trace.vst");
}

TEST(errors_end_with_what_to_do)
{
    write_small_trace();
    shell("mkdir empty && echo words >text.txt");
    REFUSES("",
        {"report missing.vst", "missing.vst: no such file; check its name, or record a trace with: "},
        {"report text.txt", "but a text file; record a trace with: vramscope run -o FILE.vst -- PROGRAM"},
        {"report empty", ": no .vst file in this folder; record a trace"},
        {"check --max-peak 1GiB --device 7 trace.vst", "--device 7: the program did not use that device; it used 0"},
        {"report --from 15us --to 5us trace.vst", "--from 15us is after --to 5us; exchange"},
        {"report --at 99m trace.vst", "--at 99m: after the end of the trace, at "},
        {"report --at @99999 trace.vst", "--at @99999: there is no such event: the trace has "},
        {"report --device 7 trace.vst", "--device 7: the program did not use that device; it used 0"},
        {"report --phase forwrd trace.vst", "no phase 'forwrd'; did you mean 'forward'?"},
        {"report --phase epoch trace.vst", "no phase 'epoch'; the trace has step, forward"},
        {"report --step 7 trace.vst", "no step 7; the last one is step 1"},
        {"report --site nowhere trace.vst",
         "no call site matches --site 'nowhere'; the largest are alloc_buffers (test_verbs.c:"},
        {"report --site nowhere --json --at end trace.vst", "no call site matches --site 'nowhere'"},
        {"report --top x trace.vst", "--top takes a number from 1 to 100000, not 'x'"},
        {"report --syncs --phase forward trace.vst", "use --step, or --from and --to"},
        {"report --syncs --step 3 --at 1s trace.vst", "--step cannot be combined with --at, --from or --to here"},
        {"index --share 200 trace.vst", "--share takes a percentage from 1 to 100, not '200'"},
        {"export -f chrome -o nodir/x.json trace.vst", "; create the folder nodir first"},
        {"export -f chrome --steps 3-2 trace.vst", "--steps takes a step's number such as 12, or a range such as 10-12, not '3-2'"},
        {"export -f chrome --steps 3 --to 1s trace.vst", "--steps cannot be combined with --at, --from or --to"},
        {"export -f csv --max-size 1MB trace.vst", "format csv does not use --max-size"},
        {"export -f chrome --max-size 0 trace.vst", "--max-size takes a size such as 200MB, not '0'"},
        {"export -f chrome --min-bytes y trace.vst", "--min-bytes takes a size such as 64MiB, not 'y'"},
        /* regression: a long option without its value was named by a letter */
        {"report trace.vst --top", "--top needs a value"},
        {"export trace.vst -f", ": -f needs a value"});
}

TEST(every_verb_has_help_and_unknown_ones_get_a_hint)
{
    static const char *const verbs[] = {"report", "oom", "check", "export", "recover", "replay"};
    expect(0, "report|oom|check|export|recover|replay|options", "--help");
    for (size_t i = 0; i < 6; i++) {
        char start[64], args[64];
        snprintf(start, sizeof start, "usage: vramscope %s", verbs[i]);
        snprintf(args, sizeof args, "%s --help", verbs[i]);
        expect(0, "Exit codes", args);
        assert_int_equal(strncmp(out, start, strlen(start)), 0);
        snprintf(args, sizeof args, "help %s", verbs[i]);
        run(args);
        assert_int_equal(strncmp(out, start, strlen(start)), 0);
    }
    expect(2, "!did you mean 'report'?", "reprot x");
    expect(2, "", "xyzzy");
    expect(0, "vramscope 0.", "--version");
    expect(2, "", "");
}

/* Every --option of the help is in the verb's man page. */
TEST(man_pages_know_every_option_of_the_help)
{
    static const char *const verbs[] = {"run", "fit", "report", "oom", "check", "diff", "export",
                                        "replay", "estimate", "recover", "doctor", "options"};
    static char page[32768];
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        char args[64];
        /* roff writes '-' with a backslash before it */
        assert_int_equal(shell("tr -d '\\\\' <" VS_TEST_MAN_DIR "/vramscope-%s.1 >page", verbs[i]),
                         0);
        slurp("page", page, sizeof page);
        snprintf(args, sizeof args, "%s --help", verbs[i]);
        run(args);
        for (const char *p = out; (p = strstr(p, "--")) != NULL;) {
            size_t length = 2 + strspn(p + 2, "abcdefghijklmnopqrstuvwxyz-");
            char option[64];
            snprintf(option, sizeof option, "%.*s", (int)length, p);
            if (length > 2 && strcmp(option, "--name") != 0 && !strstr(page, option))
                fail_msg("vramscope-%s.1 does not know %s", verbs[i], option);
            p += length;
        }
    }
}

TEST(replay_compares_settings_and_devices)
{
    /* Blocks of 5 MiB, of which every second is freed, and then larger ones; the last does not
     * fit. */
    vs_builder_open(&b, "caching");
    vs_trace(&b, "device 200M Test GPU; step 0; repeat 8 { segment 20i 20M }; "
             "repeat 32 { alloc 5i 5M }; pop; step 1; repeat 16 { free 10i }; fail 60M free 40M");
    end_as("trace.vst", VS_END_EXIT, 1);
    expect(0, "32 requests (cudaMalloc), 1 step, 1 failed|"
              "recorded peak reserved                160.0 MiB|"
              "as recorded: pytorch                  160.0 MiB   0.0 %        1  fails\n"
              "    request in step 1: 60.0 MiB, short by 20.0 MiB\n|"
              "\ncompact                               160.0 MiB   0.0 %        0  fits\n|"
              "\nbest: observe: reserves 160.0 MiB\n|"
              "reserves as much as was recorded, and\n       fails at the same request\n|"
              "the recorded program ended early", "replay trace.vst");
    assert_string_equal(err, "");
    expect_json(0, "replay --policy pytorch --capacity 220MiB --json trace.vst");
    assert_string_equal(json_text(json, "/schema"), "vramscope.replay/1");
    assert_int_equal(json_length(json, "/rows"), 2);
    assert_true(json_object_get_boolean(json_at(json, "/rows/1/survives")));
    expect(0, "   220.0 MiB ", "replay --policy pytorch --find-capacity trace.vst");
    expect(1, "", "replay --policy pytorch --capacity 210MiB trace.vst");
    REFUSES("replay trace.vst",
        {"--set max_split_size_mb:5", "--set 'max_split_size_mb:5': "},
        {"--policy best", "it takes observe (no cache), pytorch, expandable or compact"},
        {"--free-site nowhere", "no call site matches"}, {"--without-site '('", "--without-site '(': "},
        {"--without-site nowhere", "no call site matches --without-site 'nowhere'"}, {"--device 3", "on that device"},
        {"--set foo:1", "--set 'foo:1': unknown key 'foo'; known keys: large_segment_size_mb, "},
        {"--set expandable_segment:True",
         "unknown key 'expandable_segment'; did you mean 'expandable_segments'?"},
        {"--set ''", "--set takes KEY:VALUE, such as expandable_segments:True"},
        {"--until 2", "no request for device memory up to event 2, so there is nothing to replay"},
        {"--until 99999", "--until 99999: there is no such event: the trace has "});
}

/* The first row is the recorded run: what is tried in the others once changed its capacity, too. */
TEST(the_capacity_of_the_recorded_run_is_not_that_of_a_remedy)
{
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 1G Test GPU");
    for (unsigned i = 0; i < 5; i++) {
        vs_trace(&b, "step %u", i + 1);
        b.stack = alloc_buffers(); /* never freed */
        vs_trace(&b, "alloc %u 64M; pop", 64 * i);
    }
    end_as("trace.vst", VS_END_EXIT, 0);
    expect_json(0, "replay --json --policy pytorch --find-capacity trace.vst");
    int64_t recorded = json_number(json, "/rows/0/least_capacity_bytes");
    assert_true(recorded >= (int64_t)(320 * MIB));
    expect_json(0, "replay --json --policy pytorch --find-capacity --free-site alloc_buffers "
                "trace.vst");
    assert_int_equal(json_number(json, "/rows/0/least_capacity_bytes"), recorded);
    assert_true(json_number(json, "/rows/1/least_capacity_bytes") < (int64_t)(200 * MIB));
}

/* Each would print a row, or "fits", for something that was not tried. */
TEST(a_request_that_no_device_holds_has_no_capacity)
{
    vs_builder_open(&b, "caching");
    vs_trace(&b, "device 200M Test GPU; alloc 0 5M; fail %lu free 40M", 60 * (MIB << 20));
    end_as("trace.vst", VS_END_EXIT, 1);
    expect(1, "as recorded: pytorch               needs more than any device has\n",
           "replay --policy compact --find-capacity trace.vst");
}

/* Blocks of 5 MiB, of which each takes three pages of the driver, beside contexts of 200 MiB and
 * another process with 300 MiB. */
TEST(the_parts_of_a_capacity_add_up)
{
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 1G Test GPU; repeat 20 { alloc 10i 5M }; usage others 300M; sample %uM",
             1024 - (120 + 200 + 300));
    end_as("trace.vst", VS_END_EXIT, 0);
    expect(0, "other processes                       300.0 MiB   not counted: its own device\n|   "
           "320.0 MiB  |\n    = 100.0 MiB reserved + 200.0 MiB contexts + 20.0 MiB rounding\n",
           "replay --find-capacity --policy compact trace.vst");
    expect_json(0, "replay --find-capacity --json trace.vst");
    struct json_object *rows = json_at(json, "/rows");
    for (size_t i = 0; i < json_object_array_length(rows); i++) {
        struct json_object *row = json_object_array_get_idx(rows, i);
        uint64_t sum = 0, least = (uint64_t)json_number(row, "/least_capacity_bytes");
        json_object_object_foreach(json_at(row, "/fullest"), key, value) {
            (void)key;
            sum += json_object_get_uint64(value);
        }
        assert_int_equal(sum, json_number(row, "/used_peak_bytes"));
        assert_true(sum <= least && least < sum + 2 * MIB);
    }
}

/* No row twice, and each failing row says which request failed. */
TEST(rows_of_a_sweep_are_all_different)
{
    vs_builder_open(&b, "caching");
    vs_trace(&b, "device 200M Test GPU; alloc 0 150M");
    b.stack = alloc_buffers();
    vs_trace(&b, "fail 60M free 40M");
    end_as("trace.vst", VS_END_EXIT, 1);
    expect(1, "\nbest: none of these 11 settings fits\n",
           "replay --sweep --set expandable_segments:True --set max_split_size_mb:32 trace.vst");
    assert_int_equal(vs_times(out, "\nexpandable_segments:True  "), 1);
    assert_int_equal(vs_times(out, "\nmax_split_size_mb:32 "), 1);
    assert_int_equal(vs_times(out, "\n    request: 60.0 MiB, short by 10.0 MiB\n    at alloc_buffers "
                                     "("), 1);
    size_t explained = vs_times(out, "  fails\n");
    assert_int_equal(explained + vs_times(out, "  fails as above\n"), 11);
    assert_int_equal(explained, 1 + vs_times(out, "\n    the same request, "));
}

/* A run of a program that allocates *batch* blocks of 1 GiB above 2 GiB. */
static void write_batch(const char *name, unsigned batch, bool refused)
{
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 64G Test GPU; alloc 0 2G; repeat %u { alloc 10000i+10000 1G }", batch);
    if (refused)
        vs_trace(&b, "fail 64G free 1G");
    end_as(name, VS_END_EXIT, 0);
}

TEST(estimate_finds_the_largest_batch_from_runs)
{
    write_batch("two", 2, false);
    write_batch("four", 4, false);
    write_batch("refused", 8, true);
    expect(0, "peak allocated = 2.00 GiB + 1.00 GiB x batch|"
              "at batch=16: 18.00 GiB allocated, 18.00 GiB reserved\n|"
              "largest batch: 17\n", /* 400 MiB for the context */
           "estimate --capacity 20GiB --find batch --at batch=16 batch=2:two batch=4:four");
    expect_json(1, "estimate --capacity 20GiB --at batch=18 batch=2:two batch=4:four --json");
    assert_int_equal(json_number(json, "/needed_bytes"), 20 * GIB);
    REFUSES("estimate", {"batch=2:two batch=8:refused", "ran out of memory, so its peak is unknown"},
            {"batch=2:two seq=4:four", ""}, {"two", "batch=4:"}, {"batch=2:missing.vst batch=4:four", ""},
            {"batch=2:two batch=2:two", "at least two traces with different arguments"});
}

TEST(estimate_describes_a_model)
{
#define LLAMA "estimate --params 8.03B --dtype bf16 --layers 32 --width 4096 --heads 32 --kv-heads 8 " \
              "--ffn 14336 --mlp swiglu --vocab 128256 --batch 1 --seq 2048 --checkpointing full "
    expect(0, "8.03 billion parameters in 16 bits, AdamW, batch 1 x 2048 tokens|74.79 GiB|"
              "peak in the optimizer step", LLAMA "--capacity 80GiB");
    expect(1, "short|no batch fits", LLAMA "--capacity 24GiB --find batch");
    expect(2, "  ?  |left for activations|Activations are not included: give --layers, --width, --vocab",
           "estimate --params 124M --batch 12 --seq 1024 --capacity 12GiB");
    REFUSES("estimate", {"", ""}, {"--params 0", ""}, {"--params 8X", ""}, {"--params 8B --dtype int8", ""},
            {"--params 8B --dtype bf16 --amp", ""}, {"--params 8B --zero 3", ""},
            {"--params 8B --zero 4", ""}, {"--layers 12", ""},
            {"--params 8B --find batch --capacity 8GiB", ""}, {"--layers 2 --width 100 --heads 3", ""},
            {"--params 8B --at batch=3", ""}, {"--params 8B --find batch", ""},
            {"--params 8B --capacity 12", ""}, {"--params 8B --gpu nothing", ""}, {"--params nan", ""},
            {"--params -3", ""});
}

TEST(options_print_value_source_and_variable)
{
    setenv("VRAMSCOPE_STACK_DEPTH", "17", 1);
    expect(0, "17  (environment)|VRAMSCOPE_STACK_DEPTH", "options");
    expect_json(0, "options --json");
    bool seen = false;
    for (size_t i = 0; i < json_length(json, "/options"); i++) {
        struct json_object *one = json_object_array_get_idx(json_at(json, "/options"), i);
        if (strcmp(json_text(one, "/name"), "stack_depth"))
            continue;
        seen = true;
        assert_string_equal(json_text(one, "/value"), "17");
        assert_string_equal(json_text(one, "/default"), "64");
    }
    assert_true(seen);
    setenv("VRAMSCOPE_STACK_DEPTH", "many", 1);
    expect(0, "!many", "options");
    unsetenv("VRAMSCOPE_STACK_DEPTH");
}

TEST(one_trace_counts_once_and_a_damaged_one_is_not_passed_over)
{
    write_small_trace();
    expect(0, "!the same trace as trace.vst, counted once|48.0 MiB", "report trace.vst trace.vst");
    shell("cp trace.vst copy.vst && mkdir f && ln -s ../trace.vst f/a.vst && cp trace.vst f/b.vst");
    expect(0, "", "report --json f copy.vst");
    assert_int_equal(vs_times(err, "\n"), 2);
    shell("head -c 300 trace.vst >a_cut.vst");
    expect(0, "", "report a_cut.vst trace.vst"); /* the complete one is used */
    small_trace();
    end_as("other.vst", VS_END_EXIT, 0);
    shell("head -c 300 other.vst >cut.vst");
    expect(2, "!cut.vst is cut off or damaged; add --partial", "report trace.vst cut.vst");
    expect(0, "!only its readable events are counted", "report --partial trace.vst cut.vst");
}

TEST(what_a_limit_leaves_out_does_not_fail_a_check)
{
    for (int limited = 0; limited < 3; limited++) {
        small_trace();
        if (limited)
            vs_builder_event(&b, EVENT(recording_changed, .what = VS_RECORDING_TOTALS,
                                       .limit_bytes = MIB));
        const char *kind = limited == 2 ? "alloc" : "device_sample";
        vs_builder_event(&b, EVENT(dropped, .what = vs_builder_string(&b, kind), .count = 7));
        end_as("trace.vst", VS_END_EXIT, 0);
        expect(limited == 1 ? 0 : 2, "", "check --max-peak 1GiB trace.vst");
        expect(0, limited == 1 ? "left out 7 readings of free memory" : "too low by these",
               "report trace.vst");
        assert_int_equal(contains(out, "too low by these"), limited != 1);
    }
}

/* Only text and its own newlines; U+0080 to U+009F count as control characters. */
static void assert_harmless(const char *line, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if ((*at < ' ' && *at != '\n') || *at == 0x7f ||
            (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f))
            fail_msg("%s: steers the terminal with \\x%02x:\n%s", line, *at, text);
    }
}

TEST(nothing_in_a_trace_or_its_name_steers_the_terminal)
{
    small_trace();
    vs_builder_device(&b, 1, "cut\x1b[31m\ngpu line\xc2\x9b", GIB);
    vs_builder_event(&b, EVENT(note, .text = vs_builder_string(&b, "a\x1b]0;x\ab")));
    vs_builder_push(&b, "evil\x1b[2Jname\nline\xc2\x9b");
    vs_trace(&b, "alloc 200 100M");
    uint64_t api = vs_builder_string(&b, "make\x1b[1m\r\napi line");
    vs_builder_event(&b, EVENT(alloc, .addr = VS_TRACE_ADDRESS + 400 * MIB, .requested = MIB,
                               .size = MIB, .device = 1, .context = 2, .api = api));
    vs_builder_event(&b, EVENT(alloc_failed, .requested = GIB, .device = 1, .context = 2,
                               .error = 2, .api = api));
    end_as("trace.vst", VS_END_EXIT, 0);
    shell("mkdir f && cp trace.vst \"f/$(printf 'x\\033[31my%%%%\\nz').vst\"");
    small_trace();
    end_as("other.vst", VS_END_EXIT, 0);
    static const char *const verbs[] = {
        "report f", "report --full f", "report f other.vst", "report f/*.vst",
        "report --at 100% f/*.vst", "check --max-peak 1MiB f/*.vst",
        "check --max-peak 1MiB --format junit f/*.vst", "oom f/*.vst", "index --every 1 f/*.vst",
        "index f/*.vst", "symbolize f/*.vst", "recover f/*.vst", "report f/missing*.vst"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        run(verbs[i]);
        assert_true(*out || *err);
        assert_harmless(verbs[i], out);
        assert_harmless(verbs[i], err);
        /* names from the trace cannot start a line */
        assert_null(strstr(out, "\ngpu line"));
        assert_null(strstr(out, "\napi line"));
        assert_null(strstr(out, "\nz.vst: "));
    }
    expect(0, "x?[31my%?z.vst|device 1  cut?[31m?gpu line? (simulated)  1.00 GiB|make?[1m??api line",
           "report f/*.vst");
    expect(1, "x?[31my%25%0Az.vst: device 1: peak allocated|make?[1m??api line",
           "check --max-peak 1KiB --device 1 --format github f/*.vst");
    assert_harmless("github", out);
    assert_int_equal(vs_times(out, "\n"), 2); /* a workflow command is a line: an error, and a notice */
    assert_non_null(strstr(out, "\n::notice "));
}

/* Over midnight; a free without its allocation, a thread that does not fit, and a line that is cut
 * off. */
TEST(import_makes_a_trace_of_a_log)
{
    WRITE_FILE("log.csv", "Thread,Time,Action,Pointer,Size,Stream\n"
                          "7,23:59:59.500000,allocate,0x7f0000000000,1048576,0x0\n"
                          "8,00:00:00.250000,allocate,0x7f0000200000,3145728,0x2\n"
                          "7,00:00:00.500000,free,0x7f0000000000,1048576,0x0\n"
                          "7,00:00:00.600000,free,0x7f00ffffff00,512,0x0\n"
                          "7,00:00:00.750000,allocate failure,(nil),1073741824,0x0\n"
                          "18446744073709551615,00:00:00.800000,allocate,0x7f0000400000,512,0x0\n"
                          "7,00:00:01.000");
    expect(0, "log.vst: 10 events from log.csv|2 allocations, 1 free|"
              "left out: 1 free of memory whose allocation is not in the file|"
              "left out: 2 lines not of the format, the first is line 7", "import log.csv");
    assert_string_equal(err, "");
    expect(0, "log.csv  1.250 s  imported|4.0 MiB", "report log.vst");
    expect(0, "", "import - --format rmm-csv -q -o again.vst <log.csv");
    assert_string_equal(out, "");
}

TEST(import_refuses_what_it_cannot_read)
{
    WRITE_FILE("bad.pickle", "\x80\x02" "cos\nsystem\n(U\x04true\x85R.");
    WRITE_FILE("other.pickle", "\x80\x02}q\x01.");
    WRITE_FILE("cut.pickle", "\x80\x02}X");
    WRITE_FILE("text", "hello");
    WRITE_FILE("empty", "");
    REFUSES("import",
        {"bad.pickle", "opcode GLOBAL, which makes Python import or call something: refused"},
        {"other.pickle", "not a PyTorch memory snapshot"},
        {"cut.pickle", "the file ends in the middle of the pickle"},
        {"text", "neither a PyTorch memory snapshot"},
        {"empty", "the file is empty"},
        {"missing", "cannot open missing: No such file"},
        {"text --format rmm-csv", "no line of it is an entry of an RMM log"},
        {"text --format x", "--format takes one of auto, torch-snapshot, rmm-csv, nsys-sqlite, pprof, not x"},
        {"", "no file given"},
        {"a b", "takes one file"},
        {"-", "give the trace's with -o"},
        {"text -o text", "text is the file itself"},
        {"text -o other.pickle", "exists and is not a trace"},
        {"-q -o t.vst bad.pickle", ""});
    assert_int_equal(shell("test -z \"$(ls -A | grep t.vst)\""), 0); /* nothing is left behind */
}

/* The size limit applies to the recording: requested additions may exceed it. */
TEST(what_carries_a_trace_over_its_limit_says_so)
{
    for (int limited = 0; limited < 2; limited++) {
        small_trace();
        if (limited)
            vs_builder_event(&b, EVENT(recording_changed, .what = VS_RECORDING_SELECTS, .sample = 1,
                                       .limit_bytes = 2048));
        end_as("trace.vst", VS_END_EXIT, 0);
        static const char *const verbs[] = {"index --every 2 trace.vst", "index --every 2 --again trace.vst",
                                            "symbolize --no-symbol-cache trace.vst"};
        for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
            expect(0, limited ? "more than the --max-trace-size of 2.0 KiB that it was recorded with" : "",
                   verbs[i]);
            assert_int_equal(strstr(out, "--max-trace-size") != NULL, limited);
        }
        expect(0, "", "symbolize --quiet --no-symbol-cache trace.vst");
        assert_string_equal(out, "");
    }
}
