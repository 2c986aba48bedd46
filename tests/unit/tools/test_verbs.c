/* SPDX-License-Identifier: Apache-2.0
 *
 * The reading verbs from the user's side: output, error lines, exit codes. The command runs as a
 * separate process. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

#include "support/cmocka_test.h"
#include "support/scratch_folder.h"
#include "support/trace_builder.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define A(n) (UINT64_C(0x7f0000000000) + (uint64_t)(n) * MIB)

struct outcome {
    int code;
    char out[65536], err[4096];
};

static void read_all(const char *path, char *buffer, size_t size)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(buffer, 1, size - 1, file);
    buffer[n] = 0;
    fclose(file);
    unlink(path);
}

static struct outcome o; /* of the last run */
static struct vs_builder b; /* removed after the test */

static int remove_trace(void **state)
{
    (void)state;
    if (*b.dir)
        vs_builder_remove(&b);
    b.dir[0] = '\0';
    return 0;
}

/* Runs `vramscope ARGS` (a shell line) in *dir*. */
static void run(const char *dir, const char *format, ...)
{
    char args[1024], line[2048], path[160];
    va_list list;
    va_start(list, format);
    vsnprintf(args, sizeof args, format, list);
    va_end(list);
    snprintf(line, sizeof line, "cd '%s' && %s %s >out.txt 2>err.txt", dir, VS_TEST_COMMAND, args);
    int status = system(line);
    assert_true(WIFEXITED(status));
    o.code = WEXITSTATUS(status);
    snprintf(path, sizeof path, "%s/out.txt", dir);
    read_all(path, o.out, sizeof o.out);
    snprintf(path, sizeof path, "%s/err.txt", dir);
    read_all(path, o.err, sizeof o.err);
}

static const char *scratch; /* for verbs that need no trace */

static size_t lines_in(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
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

static void assert_contains(const char *text, const char *part)
{
    if (!contains(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

__attribute__((noinline)) static uint64_t alloc_buffers(struct vs_builder *trace)
{
    uint64_t stack = vs_recorder_stack(trace->recorder, 0);
    __asm__ volatile("" ::: "memory");
    return stack;
}

/* Peak 48 MiB allocated in step 1, 8 MiB left at the end. */
static void small_trace(struct vs_builder *trace)
{
    vs_builder_open(trace, "observe");
    vs_builder_device(trace, 0, "Test GPU", GIB);
    trace->stack = alloc_buffers(trace);
    vs_builder_alloc(trace, 0, VS_FAMILY_DEVICE, A(0), 8 * MIB, 8 * MIB);
    for (unsigned s = 0; s < 2; s++) {
        vs_builder_step(trace, s);
        vs_builder_push(trace, "forward");
        vs_builder_alloc(trace, 0, VS_FAMILY_DEVICE, A(100), (20 + 20 * s) * MIB, (20 + 20 * s) * MIB);
        vs_builder_kernel(trace, 0, 7, "matmul_kernel", 2000 + 1000 * s, 600);
        vs_builder_memcpy(trace, 0, 7, VS_COPY_HTOD, 4096, 2700 + 1000 * s, 100);
        vs_builder_free(trace, 0, A(100));
        vs_builder_pop(trace);
        vs_builder_pop(trace);
    }
}

static void write_file(const struct vs_builder *trace, const char *name, const char *text, size_t n)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", trace->dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, n, file), n);
    fclose(file);
}

static void remove_file(const struct vs_builder *trace, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", trace->dir, name);
    assert_int_equal(unlink(path), 0);
}

TEST(report_prints_what_was_recorded)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 3);
    run(b.dir, "report trace.vst");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.err, "");
    static const char *const parts[] = {
        "train_demo", "pid 4242", "exit 3", "Test GPU", "(simulated)", "peak allocated",
        "48.0 MiB", "step 1 / forward", "alloc_buffers (test_verbs.c:", "< small_trace:",
        "live at the end: 8.0 MiB", "matmul_kernel", "HtoD", "next: vramscope view trace.vst"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_contains(o.out, parts[i]);
    assert_null(strchr(o.out, '\x1b')); /* no colour in a file */
    run(b.dir, "report --color always trace.vst");
    assert_contains(o.out, "\x1b[1m");
}

TEST(report_json_has_the_schema_and_exact_numbers)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_SIGNAL, 9);
    run(b.dir, "report --json trace.vst");
    assert_int_equal(o.code, 0);
    struct json_object *root = json_tokener_parse(o.out), *devices, *peak, *process;
    assert_non_null(root);
    assert_string_equal(json_object_get_string(json_object_object_get(root, "schema")),
                        "vramscope.report/1");
    assert_true(json_object_object_get_ex(root, "process", &process));
    assert_string_equal(json_object_get_string(json_object_object_get(process, "end")), "signal");
    assert_true(json_object_object_get_ex(root, "devices", &devices));
    struct json_object *device = json_object_array_get_idx(devices, 0);
    assert_true(json_object_object_get_ex(device, "peak_allocated", &peak));
    assert_int_equal(json_object_get_int64(json_object_object_get(peak, "bytes")), 48 * MIB);
    assert_string_equal(json_object_get_string(json_object_object_get(peak, "phase")),
                        "step 1 / forward");
    struct json_object *sites = json_object_object_get(
        json_object_object_get(device, "sites_at_peak_allocated"), "sites");
    struct json_object *frames =
        json_object_object_get(json_object_array_get_idx(sites, 0), "frames");
    assert_string_equal(json_object_get_string(json_object_object_get(
                            json_object_array_get_idx(frames, 0), "function")), "alloc_buffers");
    json_object_put(root);
}

TEST(windows_of_a_file_have_peaks_and_a_wrong_line_is_named)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    static const char good[] = "# all of it\n\n0 1000000000\n", bad[] = "0 10\n5 1s\n", none[] = "# no window\n";
    write_file(&b, "good.txt", good, sizeof good - 1);
    write_file(&b, "bad.txt", bad, sizeof bad - 1);
    write_file(&b, "none.txt", none, sizeof none - 1);
    run(b.dir, "report --json --windows good.txt trace.vst");
    assert_int_equal(o.code, 0);
    struct json_object *root = json_tokener_parse(o.out), *list = json_object_object_get(root, "windows");
    assert_int_equal(json_object_array_length(list), 1);
    struct json_object *row = json_object_array_get_idx(
        json_object_object_get(json_object_array_get_idx(list, 0), "devices"), 0);
    assert_int_equal(json_object_get_int64(json_object_object_get(row, "peak_bytes")), 48 * MIB);
    assert_int_equal(json_object_get_int64(json_object_object_get(row, "end_bytes")), 8 * MIB);
    json_object_put(root);
    static const char *const wrong[][2] = {
        {"--json --windows bad.txt", "bad.txt:2: '5 1s' is not a window; write two numbers"},
        {"--json --windows none.txt", "none.txt: the file has no window"},
        {"--json --windows absent.txt", "absent.txt: No such file or directory"},
        {"--windows good.txt", "--windows needs --json"},
        {"--json --at peak --windows good.txt", "--windows reads the whole trace"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        run(b.dir, "report %s trace.vst", wrong[i][0]);
        assert_int_equal(o.code, 2);
        assert_string_equal(o.out, "");
        assert_contains(o.err, wrong[i][1]);
    }
    remove_file(&b, "good.txt");
    remove_file(&b, "bad.txt");
    remove_file(&b, "none.txt");
}

TEST(unusable_input_gets_one_clear_line_and_exit_2)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    write_file(&b, "empty.vst", "", 0);
    write_file(&b, "text.vst", "step,loss\n1,2.5\n2,2.4\n3,2.3\n", 28);
    char whole[65536];
    FILE *file = fopen(b.path, "r");
    assert_non_null(file);
    size_t n = fread(whole, 1, sizeof whole, file);
    fclose(file);
    assert_true(n > 200 && n < sizeof whole);
    write_file(&b, "cut.vst", whole, n / 2);
    static const char *const names[] = {"empty.vst", "text.vst", "cut.vst", ".", "missing.vst"};
    static const char *const verbs[] = {"report", "oom", "check --max-peak 1GiB",
                                        "export -f chrome -o t.json"};
    for (size_t v = 0; v < 4; v++) {
        for (size_t i = 0; i < 5; i++) {
            char start[64];
            if (v == 2 && i == 3)
                continue; /* the whole traces of the folder are checked */
            snprintf(start, sizeof start, "vramscope %.*s: %s", (int)strcspn(verbs[v], " "),
                     verbs[v], names[i]);
            run(b.dir, "%s %s", verbs[v], names[i]);
            /* the folder also has a truncated copy, and the two above it; then the remedy */
            size_t lines = v <= 1 && i == 3 ? 4 : 1;
            if (o.code != 2 || lines_in(o.err) != lines || strncmp(o.err, start, strlen(start)) != 0)
                fail_msg("%s %s: code %d, said: %s", verbs[v], names[i], o.code, o.err);
            assert_string_equal(o.out, "");
        }
    }
    run(b.dir, "report cut.vst");
    assert_contains(o.err, "add --partial");
    remove_file(&b, "empty.vst");
    remove_file(&b, "text.vst");
    remove_file(&b, "cut.vst");
}

/* A trace with enough frames that half of it still has events. */
TEST(partial_shows_what_is_readable)
{
    small_trace(&b);
    vs_recorder_flush(b.recorder);
    struct stat info;
    assert_int_equal(stat(b.path, &info), 0);
    off_t first = info.st_size; /* one whole frame */
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(900), 500 * MIB, 500 * MIB);
    vs_builder_close(&b, VS_END_EXIT, 0);
    assert_int_equal(truncate(b.path, first), 0);
    run(b.dir, "report trace.vst");
    assert_int_equal(o.code, 2);
    run(b.dir, "report --partial trace.vst");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "48.0 MiB");
    assert_contains(o.out, "warning");
    run(b.dir, "check --max-peak 1GiB trace.vst"); /* the missing part could exceed the budget */
    assert_int_equal(o.code, 2);
    run(b.dir, "check --max-peak 1GiB --partial trace.vst");
    assert_int_equal(o.code, 0);
}

TEST(check_exits_0_1_2_and_names_the_sites)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    run(b.dir, "check --max-peak 48MiB trace.vst");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "is within");
    run(b.dir, "check --max-peak 40MiB trace.vst");
    assert_int_equal(o.code, 1);
    assert_contains(o.out, "exceeds 40.0 MiB by 8.0 MiB (20.0 %)");
    assert_contains(o.out, "alloc_buffers");
    assert_contains(o.out, "step 1 / forward");
    run(b.dir, "check --max-peak 1GiB --max-live-at-end 0 trace.vst");
    assert_int_equal(o.code, 1);
    assert_contains(o.out, "live at the end 8.0 MiB exceeds 0 B");
    run(b.dir, "check --max-peak 40MiB trace.vst missing.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.out, "exceeds"); /* the usable one is checked nevertheless */
    static const char *const wrong[] = {"", "--max-peak", "--max-peak x trace.vst", "trace.vst",
                                        "--max-peak 1GiB", "--max-peak 1GiB --metric y trace.vst",
                                        "--max-peak 1GiB --device 3 trace.vst",
                                        "--max-peak 1GiB --format z trace.vst",
                                        "--max-peak 1GiB --nonsense trace.vst"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        run(b.dir, "check %s", wrong[i]);
        assert_int_equal(o.code, 2);
        assert_int_equal(lines_in(o.err), 1);
    }
}

__attribute__((noinline)) static uint64_t stack_of_extra(struct vs_builder *trace)
{
    uint64_t stack = vs_recorder_stack(trace->recorder, 0);
    __asm__ volatile("" ::: "memory");
    return stack;
}

/* The same place under another name. */
__attribute__((noinline)) static uint64_t stack_of_extra_now(struct vs_builder *trace)
{
    uint64_t stack = vs_recorder_stack(trace->recorder, 0);
    __asm__ volatile("" ::: "memory");
    return stack;
}

/* Peak 48 MiB and *extra* MiB more, on a device of *total* bytes; nothing is left at the end. */
static void write_run(struct vs_builder *trace, unsigned extra, bool renamed, uint64_t total)
{
    vs_builder_open(trace, "observe");
    vs_builder_device(trace, 0, "Test GPU", total);
    trace->stack = alloc_buffers(trace);
    vs_builder_alloc(trace, 0, VS_FAMILY_DEVICE, A(0), 40 * MIB, 40 * MIB);
    trace->stack = renamed ? stack_of_extra_now(trace) : stack_of_extra(trace);
    vs_builder_alloc(trace, 0, VS_FAMILY_DEVICE, A(100), (8 + extra) * MIB, (8 + extra) * MIB);
    vs_builder_free(trace, 0, A(100));
    vs_builder_free(trace, 0, A(0));
    vs_builder_close(trace, VS_END_EXIT, 0);
}

TEST(diff_says_what_changed)
{
    struct vs_builder a, same, larger, renamed, other;
    write_run(&a, 0, false, GIB);
    write_run(&same, 0, false, GIB);
    write_run(&larger, 12, false, GIB);
    write_run(&renamed, 0, true, GIB);
    write_run(&other, 12, true, 2 * GIB);
    run(a.dir, "diff --fail-on-regression trace.vst '%s'", same.path);
    assert_int_equal(o.code, 0);
    assert_string_equal(o.out, "no difference: peak allocated 48.0 MiB on device 0 in both\n");
    run(a.dir, "diff trace.vst '%s'", larger.path);
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "peak allocated 48.0 MiB -> 60.0 MiB (+25.0 %) on device 0");
    assert_contains(o.out, "device 0: 1 grown, 1 moved");
    assert_contains(o.out, "  grown     +12.0 MiB  +150.0 %  stack_of_extra (test_verbs.c:");
    run(a.dir, "diff trace.vst '%s'", renamed.path);
    assert_contains(o.out, "no difference in memory, 1 call site moved");
    assert_contains(o.out, "-> stack_of_extra_now (test_verbs.c:");
    run(a.dir, "diff trace.vst '%s'", other.path);
    assert_contains(o.out, "1 grown, 1 moved"); /* renamed and larger: not new and gone */
    assert_contains(o.out, "device 0 differs: Test GPU with 1.00 GiB in A, Test GPU with 2.00 GiB in B");
    vs_builder_remove(&a);
    vs_builder_remove(&same);
    vs_builder_remove(&larger);
    vs_builder_remove(&renamed);
    vs_builder_remove(&other);
}

TEST(diff_fails_on_regressions_and_names_their_lines)
{
    struct vs_builder a;
    write_run(&a, 0, false, GIB);
    write_run(&b, 12, false, GIB);
    run(a.dir, "diff --fail-on-regression trace.vst '%s'", b.path);
    assert_int_equal(o.code, 1);
    assert_contains(o.out, "FAIL  device 0: peak allocated 60.0 MiB is 12.0 MiB more than 48.0 MiB");
    assert_contains(o.out, "+12.0 MiB  grown  stack_of_extra (test_verbs.c:");
    run(a.dir, "diff --fail-on-regression=25%% trace.vst '%s'", b.path);
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "ok    no peak, growth or leak is larger by more than 25%");
    run(a.dir, "diff --fail-on-regression=11MiB trace.vst '%s'", b.path);
    assert_int_equal(o.code, 1);
    run(b.dir, "diff --fail-on-regression trace.vst '%s'", a.path); /* less memory is no regression */
    assert_int_equal(o.code, 0);
    static const char *const wrong[] = {"", "trace.vst", "trace.vst trace.vst trace.vst", "trace.vst none.vst",
                                        "--fail-on-regression=x trace.vst trace.vst",
                                        "--nonsense trace.vst trace.vst", "--color=x trace.vst trace.vst"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        run(a.dir, "diff %s", wrong[i]);
        assert_int_equal(o.code, 2);
        assert_int_equal(lines_in(o.err), 1);
    }
    vs_builder_remove(&a);
}

TEST(check_writes_what_ci_systems_read)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    run(b.dir, "check --max-peak 40MiB --format github trace.vst");
    assert_int_equal(o.code, 1);
    assert_contains(o.out, "::error title=GPU memory budget,file="); /* of the first culprit */
    assert_contains(o.out, "test_verbs.c,line=");
    assert_contains(o.out, "::trace.vst: device 0: peak allocated");
    assert_contains(o.out, "20.0 %25");
    assert_int_equal(lines_in(o.out), 1);
    run(b.dir, "check --max-peak 40MiB --format junit trace.vst");
    assert_contains(o.out, "<testsuite name=\"trace.vst\" tests=\"1\" failures=\"1\" errors=\"0\">");
    assert_contains(o.out, "device 0: peak allocated 48.0 MiB exceeds 40.0 MiB by 8.0 MiB (20.0 %)");
    /* XML parsers reject invalid UTF-8 */
    char line[600];
    snprintf(line, sizeof line, "cd '%s' && cp trace.vst $(printf 'a\\377b.vst')", b.dir);
    assert_int_equal(system(line), 0);
    run(b.dir, "check --max-peak 40MiB --format junit a*b.vst");
    assert_contains(o.out, "<testsuite name=\"a\xef\xbf\xbd" "b.vst\" ");
    snprintf(line, sizeof line, "rm '%s'/a*b.vst", b.dir);
    assert_int_equal(system(line), 0);
    run(b.dir, "check --max-peak 40MiB --format json trace.vst");
    struct json_object *root = json_tokener_parse(o.out);
    assert_non_null(root);
    assert_int_equal(json_object_get_int64(json_object_object_get(root, "exit_code")), 1);
    json_object_put(root);
}

TEST(a_recording_that_stopped_early_does_not_pass_a_check)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_STOPPED, ENOSPC);
    run(b.dir, "check --max-peak 1GiB trace.vst");
    assert_int_equal(o.code, 2);
    assert_string_equal(o.out, "");
    assert_contains(o.err, "recording stopped early: No space left on device");
    run(b.dir, "check --max-peak 1GiB --partial trace.vst");
    assert_int_equal(o.code, 0);
    run(b.dir, "report trace.vst");
    assert_contains(o.out, "recording stopped early: No space left on device; later events are "
                           "missing");
    run(b.dir, "report --json trace.vst");
    assert_contains(o.out, "\"cut_short\": \"recording stopped early: No space left on device");
}

TEST(the_first_moment_knows_the_process)
{
    static const char *const spans[] = {"--at 0", "--at 0s", "--at 0%", "--at 1us",
                                        "--from 0 --to 0"};
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        run(b.dir, "report %s trace.vst", spans[i]);
        assert_int_equal(o.code, 0);
        assert_null(strstr(o.out, "unknown program"));
        if (i < 3)
            assert_contains(o.out, "state at 0 ns");
    }
    assert_contains(o.out, "from 0 ns to 0 ns");
    run(b.dir, "index trace.vst");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "not more than --every 1,048,576: no checkpoints are needed");
}

TEST(a_killed_program_is_reported_but_does_not_pass_a_check)
{
    pid_t child = fork();
    if (child == 0) {
        small_trace(&b);
        char link_path[64];
        snprintf(link_path, sizeof link_path, "%s/killed", scratch);
        if (symlink(b.dir, link_path) != 0)
            _exit(1);
        raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    char link_path[64];
    snprintf(link_path, sizeof link_path, "%s/killed", scratch);
    ssize_t n = readlink(link_path, b.dir, sizeof b.dir - 1);
    assert_true(n > 0);
    b.dir[n] = 0;
    unlink(link_path);
    snprintf(b.path, sizeof b.path, "%s/trace.vst", b.dir);
    run(b.dir, "report trace.vst");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "no end recorded");
    assert_contains(o.out, "48.0 MiB");
    run(b.dir, "check --max-peak 1GiB trace.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "--partial");
    run(b.dir, "check --max-peak 1GiB --partial trace.vst");
    assert_int_equal(o.code, 0);
}

TEST(oom_prints_the_verdict_or_what_was_left)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    run(b.dir, "oom trace.vst");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "no allocation failed");
    assert_contains(o.out, "peak reserved 48.0 MiB of 1.00 GiB: 976.0 MiB (95.3 %) left");
    run(b.dir, "oom --nth 1 trace.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "no allocation failed; --nth cannot be used");
    vs_builder_remove(&b);

    small_trace(&b);
    vs_builder_step(&b, 2);
    b.stack = alloc_buffers(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 1000 * MIB, 900 * MIB, GIB);
    vs_builder_close(&b, VS_END_EXIT, 1);
    run(b.dir, "oom trace.vst");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "out of memory  1000.0 MiB by cudaMalloc on device 0\n  device   Test GPU");
    assert_contains(o.out, "verdict  single spike");
    assert_contains(o.out, "step 2");
    assert_contains(o.out, "alloc_buffers (test_verbs.c:");
    assert_contains(o.out, "what would have helped");
    run(b.dir, "report trace.vst");
    assert_contains(o.out, "next: vramscope oom trace.vst");
    run(b.dir, "oom --json trace.vst");
    struct json_object *root = json_tokener_parse(o.out);
    assert_non_null(root);
    assert_string_equal(json_object_get_string(json_object_object_get(root, "verdict")),
                        "single_spike");
    assert_true(json_object_array_length(json_object_object_get(root, "evidence")) >= 2);
    json_object_put(root);
}

/* A process that holds *held* bytes of the device that it shares, and if *request* is given, is then
 * refused that many while *left* bytes are free. */
static void process_of_two(struct vs_builder *trace, uint64_t held, uint64_t request, uint64_t left)
{
    vs_builder_open(trace, "observe");
    vs_builder_event(trace, (struct vs_event){
        .kind = VS_EVENT_device,
        .device = {.uuid = vs_builder_string(trace, "GPU-shared"), .name = vs_builder_string(trace, "Shared"),
                   .total_bytes = GIB}});
    vs_builder_alloc(trace, 0, VS_FAMILY_DEVICE, 0x7f0000000000, held, held);
    if (request)
        vs_builder_failed(trace, 0, VS_FAMILY_DEVICE, request, left, GIB);
    else
        trace->now_ns += 1000000000;
    vs_builder_event(trace, (struct vs_event){.kind = VS_EVENT_mark});
    vs_builder_close(trace, VS_END_EXIT, request ? 1 : 0);
}

TEST(oom_of_several_processes_names_the_first_and_what_all_held)
{
    for (int small = 0; small < 2; small++) {
        struct vs_builder failing, other;
        process_of_two(&other, (small ? 100 : 600) * MIB, 0, 0);
        process_of_two(&failing, (small ? 700 : 300) * MIB, 500 * MIB, 100 * MIB);
        run(failing.dir, "oom trace.vst '%s'", other.path);
        assert_int_equal(o.code, 0);
        assert_contains(o.out, "1 of 2 processes ran out of memory: ");
        assert_contains(o.out, "no allocation failed");
        assert_contains(o.out, "Shared, 1.00 GiB, at that time");
        assert_contains(o.out, small ? "100.0 MiB    9.8 %" : "600.0 MiB   58.6 %");
        assert_contains(o.out, small ? "800.0 MiB   78.1 %  all" : "900.0 MiB   87.9 %  all");
        assert_contains(o.out, small ? "cause  the process itself: without the 100.0 MiB of the others"
                                     : "cause  the processes together need more than the device has");
        assert_contains(o.out, "500.0 MiB by cudaMalloc on device 0"); /* its own post-mortem */
        run(failing.dir, "oom --json trace.vst '%s'", other.path);
        assert_contains(o.out, small ? "\"cause\": \"itself\"" : "\"cause\": \"together\"");
        run(failing.dir, "oom --nth 1 trace.vst '%s'", other.path);
        assert_int_equal(o.code, 2);
        assert_contains(o.err, "--nth takes one trace");
        vs_builder_remove(&failing);
        vs_builder_remove(&other);
    }
}

TEST(oom_names_another_error_and_the_numbers_of_nth)
{
    for (unsigned failures = 1; failures <= 300; failures += failures == 1 ? 1 : 298) {
        small_trace(&b);
        for (unsigned i = 0; i < failures; i++)
            vs_builder_event(&b, (struct vs_event){
                .kind = VS_EVENT_alloc_failed,
                .alloc_failed = {.requested = 100, .family = VS_FAMILY_PINNED, .context = 1,
                                 .error = 1, .api = vs_builder_string(&b, "cudaHostAlloc")}});
        vs_builder_close(&b, VS_END_EXIT, 0);
        run(b.dir, "oom --nth 999 trace.vst");
        assert_int_equal(o.code, 2);
        assert_contains(o.err, failures == 1   ? "has 1 failed allocation; --nth takes 1\n"
                               : failures == 2 ? "has 2 failed allocations; --nth takes 1 to 2\n"
                                               : "has 300 failed allocations, of which the last 256 "
                                                 "are stored; --nth takes 45 to 300, or the first of others: 1\n");
        run(b.dir, "oom trace.vst");
        assert_contains(o.out, "allocation failed (CUDA_ERROR_INVALID_VALUE)  100 B by "
                               "cudaHostAlloc, host\n"
                               "                                              memory\n");
        assert_contains(o.out, "1. correct the arguments of the call\n");
        assert_null(strstr(o.out, "out of memory  "));
        vs_builder_remove(&b);
    }
}

TEST(export_writes_a_file_or_standard_output)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    run(b.dir, "export trace.vst -f chrome -o t.json");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.out, "");
    char path[160];
    snprintf(path, sizeof path, "%s/t.json", b.dir);
    struct json_object *root = json_object_from_file(path);
    assert_non_null(root);
    json_object_put(root);
    remove_file(&b, "t.json");
    run(b.dir, "export -f chrome -o - trace.vst");
    assert_int_equal(o.code, 0);
    root = json_tokener_parse(o.out);
    assert_non_null(root);
    json_object_put(root);
    run(b.dir, "export -f chrome -o trace.vst trace.vst"); /* would destroy its input */
    assert_int_equal(o.code, 2);
    run(b.dir, "report trace.vst");
    assert_int_equal(o.code, 0);
    run(b.dir, "export -f chrome --no-symbol-cache --debug-dir . -o /dev/null trace.vst");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.err, "");
    run(b.dir, "export -f chrome --debug-dir nowhere trace.vst"); /* no names would be found */
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "--debug-dir: no such folder: nowhere");
    run(b.dir, "export -f svg trace.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "unknown format 'svg'; available: chrome");
    run(b.dir, "export -f chrome --at peak trace.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "format chrome does not use --at");
    run(b.dir, "export -f collapsed --by size trace.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "--by takes bytes or count, not 'size'");
    run(b.dir, "export --help");
    assert_contains(o.out, "chrome: timeline for ui.perfetto.dev and chrome://tracing (.json)");
    run(b.dir, "export -f chrome -o /dev/full trace.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "cannot write /dev/full: No space left on device");
}

TEST(view_writes_a_page_with_the_figures_of_the_report)
{
    char path[160], page[4096];
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    run(b.dir, "view trace.vst");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.err, "");
    assert_contains(o.out, "trace.html: ");
    assert_contains(o.out, " with 3 blocks");
    snprintf(path, sizeof path, "%s/trace.html", b.dir);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[n] = 0;
    assert_contains(page, "<!doctype html>");
    assert_contains(page, "Content-Security-Policy");
    remove_file(&b, "trace.html");
    run(b.dir, "view trace.vst -o - | grep -c '\"allocated_bytes\"\\|\"peak_user\"'");
    assert_int_equal(o.code, 0);
    assert_int_equal(lines_in(o.out), 1); /* all in one element of one line */

    run(b.dir, "view trace.vst --from 2us -o part.html");
    assert_int_equal(o.code, 0);
    assert_contains(o.err, "as asked");
    remove_file(&b, "part.html");
    run(b.dir, "view --events 4 trace.vst trace.vst -o two.html");
    assert_int_equal(o.code, 0);
    assert_contains(o.err, "around the peak");
    remove_file(&b, "two.html");
}

TEST(view_writes_no_page_over_a_trace)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    run(b.dir, "view trace.vst -o trace.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "trace itself");
    run(b.dir, "view trace.vst -o ./trace.vst --partial");
    assert_int_equal(o.code, 2);
    run(b.dir, "report trace.vst");
    assert_int_equal(o.code, 0);
    run(b.dir, "view trace.vst -o missing/page.html");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "missing/page.html");
    run(b.dir, "view");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "no trace given");
    run(b.dir, "view trace.vst -o - --open");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "--open needs a file");
    run(b.dir, "view --serve trace.vst trace.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "--serve takes one trace");
    run(b.dir, "view --port 80 trace.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "only with --serve");
    write_file(&b, "cut.vst", "not a trace", 11);
    run(b.dir, "view cut.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "cut.vst");
    remove_file(&b, "cut.vst");
}

TEST(a_full_disk_is_said_not_ignored)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    /* regression: doctor ignored it */
    static const char *const verbs[] = {"report", "doctor", "doctor --json"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        char line[512], said[256] = "";
        snprintf(line, sizeof line, "cd '%s' && %s %s %s 2>&1 >/dev/full", b.dir, VS_TEST_COMMAND, verbs[i],
                 i ? "" : "trace.vst");
        FILE *pipe = popen(line, "r");
        assert_non_null(pipe);
        assert_non_null(fgets(said, sizeof said, pipe));
        int status = pclose(pipe);
        assert_int_equal(WEXITSTATUS(status), 2);
        assert_contains(said, "cannot write the output");
    }
}

/* Regression: a long option without its value was named by a letter. */
TEST(an_option_without_its_value_is_named_as_written)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    run(b.dir, "report trace.vst --top");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "--top needs a value");
    run(b.dir, "export trace.vst -f");
    assert_contains(o.err, ": -f needs a value");
}

/* What a filter names is in the trace, but none of it is live at the peak. */
TEST(a_filter_that_nothing_passes_says_so)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    run(b.dir, "report --step 0 trace.vst");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "live at the peak: none of 48.0 MiB; try --at TIME");
    run(b.dir, "report --min-bytes 1GiB trace.vst");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "live at the peak: none of 48.0 MiB; the largest block has 40.0 MiB");
}

TEST(errors_end_with_what_to_do)
{
    static const struct {
        const char *args, *words;
    } cases[] = {
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
        {"index --share 200 trace.vst", "--share takes a percentage from 1 to 100, not '200'"},
        {"export -f chrome -o nodir/x.json trace.vst", "; create the folder nodir first"},
        {"export -f chrome --instant-min y trace.vst", "--instant-min takes a size such as 64MiB, not 'y'"},
    };
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    run(b.dir, "--version && mkdir empty && echo words >text.txt; true");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run(b.dir, "%s", cases[i].args);
        if (o.code != 2 || !strstr(o.err, cases[i].words))
            fail_msg("%s: exit %d, %s", cases[i].args, o.code, o.err);
    }
}

TEST(every_verb_has_help_and_unknown_ones_get_a_hint)
{
    static const char *const verbs[] = {"report", "oom", "check", "export", "recover", "replay", "options"};
    run(scratch, "--help");
    assert_int_equal(o.code, 0);
    for (size_t i = 0; i < 7; i++)
        assert_contains(o.out, verbs[i]);
    for (size_t i = 0; i < 6; i++) {
        char start[64];
        snprintf(start, sizeof start, "usage: vramscope %s", verbs[i]);
        run(scratch, "%s --help", verbs[i]);
        assert_int_equal(o.code, 0);
        assert_int_equal(strncmp(o.out, start, strlen(start)), 0);
        assert_contains(o.out, "Exit codes");
        run(scratch, "help %s", verbs[i]);
        assert_int_equal(strncmp(o.out, start, strlen(start)), 0);
    }
    run(scratch, "reprot x");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "did you mean 'report'?");
    run(scratch, "xyzzy");
    assert_int_equal(o.code, 2);
    run(scratch, "--version");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "vramscope 0.");
    run(scratch, "%s", "");
    assert_int_equal(o.code, 2);
}

/* Every --option of the help is in the verb's man page. */
TEST(man_pages_know_every_option_of_the_help)
{
    static const char *const verbs[] = {"run", "fit", "report", "oom", "check", "diff", "export",
                                        "replay", "estimate", "recover", "doctor", "options"};
    static char page[32768];
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        char path[512];
        snprintf(path, sizeof path, VS_TEST_MAN_DIR "/vramscope-%s.1", verbs[i]);
        FILE *file = fopen(path, "r");
        if (!file)
            fail_msg("there is no %s", path);
        size_t n = fread(page, 1, sizeof page - 1, file), to = 0;
        fclose(file);
        for (size_t k = 0; k < n; k++) /* roff writes '-' with a backslash before it */
            if (page[k] != '\\')
                page[to++] = page[k];
        page[to] = 0;
        run(scratch, "%s --help", verbs[i]);
        for (const char *p = o.out; (p = strstr(p, "--")) != NULL;) {
            size_t length = 2 + strspn(p + 2, "abcdefghijklmnopqrstuvwxyz-");
            char option[64];
            snprintf(option, sizeof option, "%.*s", (int)length, p);
            if (length > 2 && strcmp(option, "--name") != 0 && !strstr(page, option))
                fail_msg("%s does not know %s", path, option);
            p += length;
        }
    }
}

/* Blocks of 5 MiB, of which every second is freed, and then larger ones; the last does not fit. */
static void fragmented_trace(struct vs_builder *trace)
{
    vs_builder_open(trace, "caching");
    vs_builder_device(trace, 0, "Test GPU", 200 * MIB);
    vs_builder_step(trace, 0);
    for (unsigned i = 0; i < 8; i++)
        vs_builder_segment(trace, 0, A(20 * i), 20 * MIB);
    for (unsigned i = 0; i < 32; i++)
        vs_builder_alloc(trace, 0, VS_FAMILY_DEVICE, A(5 * i), 5 * MIB, 5 * MIB);
    vs_builder_pop(trace);
    vs_builder_step(trace, 1);
    for (unsigned i = 0; i < 32; i += 2)
        vs_builder_free(trace, 0, A(5 * i));
    vs_builder_failed(trace, 0, VS_FAMILY_DEVICE, 60 * MIB, 40 * MIB, 200 * MIB);
    vs_builder_close(trace, VS_END_EXIT, 1);
}

TEST(replay_compares_settings_and_devices)
{
    fragmented_trace(&b);
    run(b.dir, "replay trace.vst");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.err, "");
    static const char *const parts[] = {
        "32 requests (cudaMalloc), 1 step, 1 failed",
        "recorded peak reserved                160.0 MiB",
        "as recorded: pytorch                  160.0 MiB   0.0 %        1  fails\n"
        "    request in step 1: 60.0 MiB, short by 20.0 MiB\n",
        "\ncompact                               160.0 MiB   0.0 %        0  fits\n",
        "\nbest: observe: reserves 160.0 MiB\n",
        "reserves as much as was recorded, and\n       fails at the same request\n",
        "the recorded program ended early"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_contains(o.out, parts[i]);
    run(b.dir, "replay --policy pytorch --capacity 220MiB --json trace.vst");
    assert_int_equal(o.code, 0);
    struct json_object *json = json_tokener_parse(o.out), *rows;
    assert_non_null(json);
    assert_string_equal(json_object_get_string(json_object_object_get(json, "schema")),
                        "vramscope.replay/1");
    rows = json_object_object_get(json, "rows");
    assert_int_equal(json_object_array_length(rows), 2);
    assert_true(json_object_get_boolean(
        json_object_object_get(json_object_array_get_idx(rows, 1), "survives")));
    json_object_put(json);
    run(b.dir, "replay --policy pytorch --find-capacity trace.vst");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "   220.0 MiB ");
    run(b.dir, "replay --policy pytorch --capacity 210MiB trace.vst");
    assert_int_equal(o.code, 1);
    run(b.dir, "replay --set max_split_size_mb:5 trace.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "--set 'max_split_size_mb:5': ");
    run(b.dir, "replay --policy best trace.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "it takes observe (no cache), pytorch, expandable or compact");
    run(b.dir, "replay --free-site nowhere trace.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "no call site matches");
    run(b.dir, "replay --device 3 trace.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "on that device");
}

static int64_t least_capacity(const char *folder, const char *options, size_t row)
{
    run(folder, "replay --json --policy pytorch --find-capacity %s trace.vst", options);
    struct json_object *json = json_tokener_parse(o.out), *rows = NULL;
    assert_non_null(json);
    assert_true(json_object_object_get_ex(json, "rows", &rows));
    assert_true(row < json_object_array_length(rows));
    int64_t least = json_object_get_int64(json_object_object_get(
        json_object_array_get_idx(rows, row), "least_capacity_bytes"));
    json_object_put(json);
    return least;
}

/* The first row is the recorded run: what is tried in the others once changed its capacity, too. */
TEST(the_capacity_of_the_recorded_run_is_not_that_of_a_remedy)
{
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    for (unsigned i = 0; i < 5; i++) {
        vs_builder_step(&b, i + 1);
        b.stack = alloc_buffers(&b); /* never freed */
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, 0x7f0000000000 + i * 64 * MIB, 64 * MIB, 64 * MIB);
        vs_builder_pop(&b);
    }
    vs_builder_close(&b, VS_END_EXIT, 0);
    int64_t recorded = least_capacity(b.dir, "", 0);
    assert_true(recorded >= (int64_t)(320 * MIB));
    assert_int_equal(least_capacity(b.dir, "--free-site alloc_buffers", 0), recorded);
    assert_true(least_capacity(b.dir, "--free-site alloc_buffers", 1) < (int64_t)(200 * MIB));
}

/* Each would print a row, or "fits", for something that was not tried. */
TEST(a_request_that_no_device_holds_has_no_capacity)
{
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 0, "Test GPU", 200 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 5 * MIB, 5 * MIB);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 60 * (MIB << 20), 40 * MIB, 200 * MIB);
    vs_builder_close(&b, VS_END_EXIT, 1);
    run(b.dir, "replay --policy compact --find-capacity trace.vst");
    assert_contains(o.out, "as recorded: pytorch               needs more than any device has\n");
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

static uint64_t sum_of(struct json_object *parts)
{
    uint64_t sum = 0;
    json_object_object_foreach(parts, key, value) {
        (void)key;
        sum += json_object_get_uint64(value);
    }
    return sum;
}

/* Blocks of 5 MiB, of which each takes three pages of the driver, beside contexts of 200 MiB and
 * another process with 300 MiB. */
TEST(the_parts_of_a_capacity_add_up)
{
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", GIB);
    for (unsigned i = 0; i < 20; i++)
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(10 * i), 5 * MIB, 5 * MIB);
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_device_usage,
        .device_usage = {.what = VS_USAGE_OTHERS, .bytes = 300 * MIB, .count = 1}});
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_device_sample,
        .device_sample = {.free_bytes = GIB - (120 + 200 + 300) * MIB, .total_bytes = GIB}});
    vs_builder_close(&b, VS_END_EXIT, 0);
    run(b.dir, "replay --find-capacity --policy compact trace.vst");
    assert_contains(o.out, "other processes                       300.0 MiB   not counted: its own "
                           "device\n");
    assert_contains(o.out, "   320.0 MiB  ");
    assert_contains(o.out, "\n    = 100.0 MiB reserved + 200.0 MiB contexts + 20.0 MiB rounding\n");
    run(b.dir, "replay --find-capacity --json trace.vst");
    struct json_object *json = json_tokener_parse(o.out), *rows = json_object_object_get(json, "rows");
    for (size_t i = 0; i < json_object_array_length(rows); i++) {
        struct json_object *row = json_object_array_get_idx(rows, i);
        uint64_t sum = sum_of(json_object_object_get(row, "fullest"));
        uint64_t least = json_object_get_uint64(json_object_object_get(row, "least_capacity_bytes"));
        assert_int_equal(sum,
                         json_object_get_uint64(json_object_object_get(row, "used_peak_bytes")));
        assert_true(sum <= least && least < sum + 2 * MIB);
    }
    json_object_put(json);
}

/* No row twice, and each failing row says which request failed. */
TEST(rows_of_a_sweep_are_all_different)
{
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 0, "Test GPU", 200 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 150 * MIB, 150 * MIB);
    b.stack = alloc_buffers(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 60 * MIB, 40 * MIB, 200 * MIB);
    vs_builder_close(&b, VS_END_EXIT, 1);
    run(b.dir, "replay --sweep --set expandable_segments:True --set max_split_size_mb:32 trace.vst");
    assert_int_equal(count_of(o.out, "\nexpandable_segments:True  "), 1);
    assert_int_equal(count_of(o.out, "\nmax_split_size_mb:32 "), 1);
    assert_int_equal(count_of(o.out, "\n    request: 60.0 MiB, short by 10.0 MiB\n    at alloc_buffers "
                                     "("), 1);
    assert_contains(o.out, "\nbest: none of these 11 settings fits\n");
    size_t explained = count_of(o.out, "  fails\n");
    assert_int_equal(explained + count_of(o.out, "  fails as above\n"), 11);
    assert_int_equal(explained, 1 + count_of(o.out, "\n    the same request, "));
}

TEST(a_replay_of_nothing_is_an_error)
{
    static const struct {
        const char *args, *words;
    } cases[] = {
        {"--set foo:1", "--set 'foo:1': unknown key 'foo'; known keys: large_segment_size_mb, "},
        {"--set expandable_segment:True",
         "unknown key 'expandable_segment'; did you mean 'expandable_segments'?"},
        {"--set ''", "--set takes KEY:VALUE, such as expandable_segments:True"},
        {"--until 2", "no request for device memory up to event 2, so there is nothing to replay"},
        {"--until 99999", "--until 99999: there is no such event: the trace has "},
    };
    fragmented_trace(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run(b.dir, "replay %s trace.vst", cases[i].args);
        if (o.code != 2 || *o.out || !strstr(o.err, cases[i].words))
            fail_msg("%s: exit %d, %s%s", cases[i].args, o.code, o.out, o.err);
    }
}

/* A run of a program that allocates *batch* blocks of 1 GiB above 2 GiB. */
static void batch_trace(struct vs_builder *trace, unsigned batch, bool refused)
{
    vs_builder_open(trace, "observe");
    vs_builder_device(trace, 0, "Test GPU", 64 * GIB);
    vs_builder_alloc(trace, 0, VS_FAMILY_DEVICE, A(0), 2 * GIB, 2 * GIB);
    for (unsigned i = 0; i < batch; i++)
        vs_builder_alloc(trace, 0, VS_FAMILY_DEVICE, A(10000 * (i + 1)), GIB, GIB);
    if (refused)
        vs_builder_failed(trace, 0, VS_FAMILY_DEVICE, 64 * GIB, GIB, 64 * GIB);
    vs_builder_close(trace, VS_END_EXIT, 0);
}

TEST(estimate_finds_the_largest_batch_from_runs)
{
    struct vs_builder two, four, refused;
    batch_trace(&two, 2, false);
    batch_trace(&four, 4, false);
    batch_trace(&refused, 8, true);
    run(two.dir, "estimate --capacity 20GiB --find batch 'batch=2:%s' 'batch=4:%s'", two.path, four.path);
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "peak allocated = 2.00 GiB + 1.00 GiB x batch");
    assert_contains(o.out, "largest batch: 17\n"); /* 400 MiB for the context */
    run(two.dir, "estimate --capacity 20GiB --at batch=18 'batch=2:%s' 'batch=4:%s' --json", two.path, four.path);
    assert_int_equal(o.code, 1);
    struct json_object *json = json_tokener_parse(o.out);
    assert_non_null(json);
    assert_int_equal(json_object_get_int64(json_object_object_get(json, "needed_bytes")), 20 * GIB);
    json_object_put(json);
    run(two.dir, "estimate 'batch=2:%s' 'batch=8:%s'", two.path, refused.path);
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "ran out of memory, so its peak is unknown");
    run(two.dir, "estimate 'batch=2:%s' 'seq=4:%s'", two.path, four.path);
    assert_int_equal(o.code, 2);
    run(two.dir, "estimate 'batch=2:%s' 'batch=2:%s'", two.path, two.path);
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "at least two traces with different arguments");
    run(two.dir, "estimate '%s'", two.path);
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "batch=4:");
    run(two.dir, "estimate batch=2:missing.vst 'batch=4:%s'", four.path);
    assert_int_equal(o.code, 2);
    assert_int_equal(lines_in(o.err), 1);
    vs_builder_remove(&two);
    vs_builder_remove(&four);
    vs_builder_remove(&refused);
}

TEST(estimate_describes_a_model)
{
    static const char llama[] = "--params 8.03B --dtype bf16 --layers 32 --width 4096 --heads 32 --kv-heads 8 "
                                "--ffn 14336 --mlp swiglu --vocab 128256 --batch 1 --seq 2048 --checkpointing full";
    run(scratch, "estimate %s --capacity 80GiB", llama);
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "8.03 billion parameters in 16 bits, AdamW, batch 1 x 2048 tokens");
    assert_contains(o.out, "74.79 GiB");
    assert_contains(o.out, "peak in the optimizer step");
    run(scratch, "estimate %s --capacity 24GiB --find batch", llama);
    assert_int_equal(o.code, 1);
    assert_contains(o.out, "short");
    assert_contains(o.out, "no batch fits");
    static const char *const wrong[] = {
        "", "--params 0", "--params 8X", "--params 8B --dtype int8", "--params 8B --dtype bf16 --amp",
        "--params 8B --zero 3", "--params 8B --zero 4", "--layers 12", "--params 8B --find batch --capacity 8GiB",
        "--layers 2 --width 100 --heads 3", "--params 8B --at batch=3", "--params 8B --find batch",
        "--params 8B --capacity 12", "--params 8B --gpu nothing", "--params nan", "--params -3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        run(scratch, "estimate %s", wrong[i]);
        if (o.code != 2 || lines_in(o.err) != 1)
            fail_msg("estimate %s: exit code %d: %s", wrong[i], o.code, o.err);
    }
}

TEST(options_print_value_source_and_variable)
{
    setenv("VRAMSCOPE_STACK_DEPTH", "17", 1);
    run(scratch, "options");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "17  (environment)");
    assert_contains(o.out, "VRAMSCOPE_STACK_DEPTH");
    run(scratch, "options --json");
    struct json_object *root = json_tokener_parse(o.out), *list;
    assert_non_null(root);
    assert_true(json_object_object_get_ex(root, "options", &list));
    bool seen = false;
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *one = json_object_array_get_idx(list, i);
        if (strcmp(json_object_get_string(json_object_object_get(one, "name")), "stack_depth"))
            continue;
        seen = true;
        assert_string_equal(json_object_get_string(json_object_object_get(one, "value")), "17");
        assert_string_equal(json_object_get_string(json_object_object_get(one, "default")), "64");
    }
    assert_true(seen);
    json_object_put(root);
    setenv("VRAMSCOPE_STACK_DEPTH", "many", 1);
    run(scratch, "options");
    assert_contains(o.err, "many");
    unsetenv("VRAMSCOPE_STACK_DEPTH");
}

TEST(one_trace_counts_once_and_a_damaged_one_is_not_passed_over)
{
    small_trace(&b);
    vs_builder_close(&b, VS_END_EXIT, 0);
    run(b.dir, "report trace.vst trace.vst");
    assert_int_equal(o.code, 0);
    assert_contains(o.err, "the same trace as trace.vst, counted once");
    assert_contains(o.out, "48.0 MiB");
    char line[512];
    snprintf(line, sizeof line, "cd '%s' && cp trace.vst copy.vst && mkdir f && ln -s ../trace.vst "
             "f/a.vst && cp trace.vst f/b.vst", b.dir);
    assert_int_equal(system(line), 0);
    run(b.dir, "report --json f copy.vst");
    assert_int_equal(o.code, 0);
    assert_int_equal(lines_in(o.err), 2);
    snprintf(line, sizeof line, "cd '%s' && head -c 300 trace.vst >a_cut.vst", b.dir);
    assert_int_equal(system(line), 0);
    run(b.dir, "report a_cut.vst trace.vst"); /* the complete one is used */
    assert_int_equal(o.code, 0);
    struct vs_builder other;
    small_trace(&other);
    vs_builder_close(&other, VS_END_EXIT, 0);
    snprintf(line, sizeof line, "cd '%s' && rm a_cut.vst && head -c 300 '%s' >cut.vst", b.dir, other.path);
    assert_int_equal(system(line), 0);
    run(b.dir, "report trace.vst cut.vst");
    assert_int_equal(o.code, 2);
    assert_contains(o.err, "cut.vst is cut off or damaged; add --partial");
    run(b.dir, "report --partial trace.vst cut.vst");
    assert_int_equal(o.code, 0);
    assert_contains(o.err, "only its readable events are counted");
    snprintf(line, sizeof line, "cd '%s' && rm -r f copy.vst cut.vst", b.dir);
    assert_int_equal(system(line), 0);
    vs_builder_remove(&other);
}

TEST(what_a_limit_leaves_out_does_not_fail_a_check)
{
    for (int limited = 0; limited < 3; limited++) {
        small_trace(&b);
        if (limited)
            vs_builder_event(&b, (struct vs_event){
                .kind = VS_EVENT_recording_changed,
                .recording_changed = {.what = VS_RECORDING_TOTALS, .limit_bytes = MIB}});
        const char *kind = limited == 2 ? "alloc" : "device_sample";
        vs_builder_event(&b, (struct vs_event){
            .kind = VS_EVENT_dropped,
            .dropped = {.what = vs_builder_string(&b, kind), .count = 7}});
        vs_builder_close(&b, VS_END_EXIT, 0);
        run(b.dir, "check --max-peak 1GiB trace.vst");
        assert_int_equal(o.code, limited == 1 ? 0 : 2);
        run(b.dir, "report trace.vst");
        assert_contains(o.out, limited == 1 ? "left out 7 readings of free memory" : "too low by these");
        assert_int_equal(contains(o.out, "too low by these"), limited != 1);
        vs_builder_remove(&b);
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
    char line[512];
    small_trace(&b);
    vs_builder_device(&b, 1, "cut\x1b[31m\ngpu line\xc2\x9b", GIB);
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_note, .note = {.text = vs_builder_string(&b, "a\x1b]0;x\ab")}});
    vs_builder_push(&b, "evil\x1b[2Jname\nline\xc2\x9b");
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(200), 100 * MIB, 100 * MIB);
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_alloc,
        .alloc = {.addr = A(400), .requested = MIB, .size = MIB, .device = 1, .context = 2,
                  .api = vs_builder_string(&b, "make\x1b[1m\r\napi line")}});
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_alloc_failed,
        .alloc_failed = {.requested = GIB, .device = 1, .context = 2, .error = 2,
                         .api = vs_builder_string(&b, "make\x1b[1m\r\napi line")}});
    vs_builder_close(&b, VS_END_EXIT, 0);
    snprintf(line, sizeof line,
             "cd '%s' && mkdir f && cp trace.vst \"f/$(printf 'x\\033[31my%%%%\\nz').vst\"", b.dir);
    assert_int_equal(system(line), 0);
    struct vs_builder other;
    small_trace(&other);
    vs_builder_close(&other, VS_END_EXIT, 0);
    static const char *const verbs[] = {
        "report f", "report --full f", "report f ", "report f/*.vst", "report --at 100% f/*.vst",
        "check --max-peak 1MiB f/*.vst", "check --max-peak 1MiB --format junit f/*.vst",
        "oom f/*.vst", "index --every 1 f/*.vst", "index f/*.vst", "symbolize f/*.vst",
        "recover f/*.vst", "report f/missing*.vst"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        snprintf(line, sizeof line, "%s'%s'", verbs[i], i == 2 ? other.path : "");
        run(b.dir, "%s", line);
        assert_true(*o.out || *o.err);
        assert_harmless(line, o.out);
        assert_harmless(line, o.err);
        /* names from the trace cannot start a line */
        assert_null(strstr(o.out, "\ngpu line"));
        assert_null(strstr(o.out, "\napi line"));
        assert_null(strstr(o.out, "\nz.vst: "));
    }
    run(b.dir, "report f/*.vst");
    assert_contains(o.out, "x?[31my%?z.vst");
    assert_contains(o.out, "device 1  cut?[31m?gpu line? (simulated)  1.00 GiB");
    assert_contains(o.out, "make?[1m??api line");
    run(b.dir, "check --max-peak 1KiB --device 1 --format github f/*.vst");
    assert_int_equal(o.code, 1);
    assert_harmless("github", o.out);
    assert_int_equal(lines_in(o.out), 1); /* a workflow command is a line */
    assert_contains(o.out, "x?[31my%25%0Az.vst: device 1: peak allocated");
    assert_contains(o.out, "make?[1m??api line");
    snprintf(line, sizeof line, "rm -r '%s'/f", b.dir);
    assert_int_equal(system(line), 0);
    vs_builder_remove(&other);
}

static void write_input(const char *dir, const char *name, const char *bytes, size_t size)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void remove_files(const char *names)
{
    char line[256];
    snprintf(line, sizeof line, "cd '%s' && rm %s", scratch, names);
    assert_int_equal(system(line), 0);
}

/* Over midnight; a free without its allocation, a thread that does not fit, and a line that is cut
 * off. */
TEST(import_makes_a_trace_of_a_log)
{
    static const char log[] = "Thread,Time,Action,Pointer,Size,Stream\n"
                              "7,23:59:59.500000,allocate,0x7f0000000000,1048576,0x0\n"
                              "8,00:00:00.250000,allocate,0x7f0000200000,3145728,0x2\n"
                              "7,00:00:00.500000,free,0x7f0000000000,1048576,0x0\n"
                              "7,00:00:00.600000,free,0x7f00ffffff00,512,0x0\n"
                              "7,00:00:00.750000,allocate failure,(nil),1073741824,0x0\n"
                              "18446744073709551615,00:00:00.800000,allocate,0x7f0000400000,512,0x0\n"
                              "7,00:00:01.000";
    write_input(scratch, "log.csv", log, sizeof log - 1);
    run(scratch, "import log.csv");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.err, "");
    assert_contains(o.out, "log.vst: 10 events from log.csv");
    assert_contains(o.out, "2 allocations, 1 free");
    assert_contains(o.out, "left out: 1 free of memory whose allocation is not in the file");
    assert_contains(o.out, "left out: 2 lines not of the format, the first is line 7");
    run(scratch, "report log.vst");
    assert_int_equal(o.code, 0);
    assert_contains(o.out, "log.csv  1.250 s  imported");
    assert_contains(o.out, "4.0 MiB");
    run(scratch, "import - --format rmm-csv -q -o again.vst <log.csv");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.out, "");
    remove_files("log.csv log.vst again.vst");
}

TEST(import_refuses_what_it_cannot_read)
{
    static const char calls[] = "\x80\x02" "cos\nsystem\n(U\x04true\x85R.";
    static const char list[] = "\x80\x02}q\x01.";
    write_input(scratch, "bad.pickle", calls, sizeof calls - 1);
    write_input(scratch, "other.pickle", list, sizeof list - 1);
    write_input(scratch, "cut.pickle", "\x80\x02}X", 4);
    write_input(scratch, "text", "hello", 5);
    write_input(scratch, "empty", "", 0);
    static const struct {
        const char *args, *text;
    } cases[] = {
        {"bad.pickle", "opcode GLOBAL, which makes Python import or call something: refused"},
        {"other.pickle", "not a PyTorch memory snapshot"},
        {"cut.pickle", "the file ends in the middle of the pickle"},
        {"text", "neither a PyTorch memory snapshot"},
        {"empty", "the file is empty"},
        {"missing", "cannot open missing: No such file"},
        {"text --format rmm-csv", "no line of it is an entry of an RMM log"},
        {"text --format x", "unknown format 'x'"},
        {"", "no file given"},
        {"a b", "takes one file"},
        {"-", "give the trace's with -o"},
        {"text -o text", "text is the file itself"},
        {"text -o other.pickle", "exists and is not a trace"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run(scratch, "import %s", cases[i].args);
        assert_int_equal(o.code, 2);
        assert_string_equal(o.out, "");
        assert_contains(o.err, cases[i].text);
    }
    run(scratch, "import -q -o t.vst bad.pickle");
    char line[256];
    snprintf(line, sizeof line, "test -z \"$(ls -A '%s' | grep t.vst)\"", scratch);
    assert_int_equal(system(line), 0); /* nothing is left behind */
    remove_files("bad.pickle other.pickle cut.pickle text empty");
}

/* The size limit applies to the recording: requested additions may exceed it. */
TEST(what_carries_a_trace_over_its_limit_says_so)
{
    static const char told[] = "more than the --max-trace-size of 2.0 KiB that it was recorded with";
    for (int limited = 0; limited < 2; limited++) {
        small_trace(&b);
        if (limited)
            vs_builder_event(&b, (struct vs_event){
                .kind = VS_EVENT_recording_changed,
                .recording_changed = {.what = VS_RECORDING_SELECTS, .sample = 1,
                                      .limit_bytes = 2048}});
        vs_builder_close(&b, VS_END_EXIT, 0);
        static const char *const verbs[] = {"index --every 2", "index --every 2 --again",
                                            "symbolize --no-symbol-cache"};
        for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
            run(b.dir, "%s trace.vst", verbs[i]);
            assert_int_equal(o.code, 0);
            if (limited)
                assert_contains(o.out, told);
            else
                assert_null(strstr(o.out, "--max-trace-size"));
        }
        run(b.dir, "symbolize --quiet --no-symbol-cache trace.vst");
        assert_string_equal(o.out, "");
        vs_builder_remove(&b);
    }
}

int main(void)
{
    scratch = scratch_folder();
    return scratch ? vs_run_tests_around("tests", NULL, NULL, NULL, remove_trace) : 1;
}
