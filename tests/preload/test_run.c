/* SPDX-License-Identifier: Apache-2.0
 *
 * `vramscope run` from the user's view: output and status pass through, the summary is printed on
 * standard error, mistakes get one clear line. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/run_command.h"

TEST(output_and_status_pass_through_and_a_summary_follows)
{
    expect(5, "=will free at exit\n|!peak allocated|!1.0 MiB",
           SIMULATED "-o a.vst -- " VS_VICTIM " atexit");
    assert_true(exists("a.vst"));
    assert_false(exists("a.vst.live"));
    struct stat st;
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/a.vst", folder);
    assert_return_code(stat(path, &st), errno);
    assert_int_equal(st.st_mode & 0777, 0600);
}

TEST(the_next_command_can_be_pasted_whatever_the_name)
{
    assert_int_equal(vramscope(SIMULATED "-o \"it's here.vst\" -- " VS_VICTIM " atexit"), 5);
    const char *path = strstr(err, "/it'\\''s here.vst' ");
    assert_non_null(path);
    path += strlen("/it'\\''s here.vst' ");
    path += *path == '\\' ? strspn(path + 1, "\n ") + 1 : 0; /* continued on the next line */
    assert_int_equal(strncmp(path, "--open\n", 7), 0);
}

TEST(the_double_dash_may_be_left_out)
{
    assert_int_equal(vramscope(SIMULATED "-o b.vst " VS_VICTIM " destructor"), 6);
}

TEST(a_signal_becomes_128_plus_its_number)
{
    expect(128 + 9, "!killed by signal 9|!peak allocated",
           SIMULATED "-o c.vst -- " VS_VICTIM " sigkill");
    assert_int_equal(vramscope(SIMULATED "-o c.vst -- " VS_VICTIM " sigsegv"), 128 + 11);
}

TEST(a_signal_sent_to_run_alone_reaches_the_program)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"INT", 2}, {"TERM", 15}, {"HUP", 1}};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        char command[4 * PATH_MAX];
        /* kill signals one process, not the group: only `run` receives the signal */
        snprintf(command, sizeof command,
                 "cd '%s'; rm -f ready; '%s' run -q -- sh -c 'touch ready; exec sleep 600' &\n"
                 "until [ -e ready ]; do sleep 0.05; done; kill -%s $!; wait $!", folder, VS_COMMAND,
                 signals[i].name);
        char script[PATH_MAX + 32];
        snprintf(script, sizeof script, "%s/signal.sh", folder);
        FILE *f = fopen(script, "w");
        assert_non_null(f);
        fprintf(f, "set -m\n%s\n", command);
        fclose(f);
        snprintf(command, sizeof command, "bash '%s' 2>/dev/null", script);
        assert_int_equal(WEXITSTATUS(system(command)), 128 + signals[i].number);
    }
}

TEST(a_stop_sent_to_run_alone_stops_the_program_until_it_is_continued)
{
    bash("state() { sed 's/.*) //; s/ .*//' /proc/$1/stat; }\n"
         "'" VS_COMMAND "' run -q -- sh -c 'touch up; while [ ! -e go ]; do sleep 0.05; done; exit 3' &\n"
         "run=$!\n"
         "while [ ! -e up ]; do sleep 0.05; done\n"
         "program=$(pgrep -P $run); kill -TSTP $run\n"
         "for i in $(seq 6000); do [ $(state $run)$(state $program) = TT ] && break; sleep 0.05; done\n"
         "echo $(state $run)$(state $program)\n"
         "kill -CONT $run; touch go; wait $run; echo status $?\n");
    assert_string_equal(out, "TT\nstatus 3\n");
}

TEST(what_was_ignored_stays_ignored)
{
    bash("trap '' INT TERM\n'" VS_COMMAND "' run -q -- sh -c 'kill -INT $PPID; kill -TERM $PPID; "
         "sleep 0.2; echo alive'; echo status $?");
    assert_string_equal(out, "alive\nstatus 0\n");
}

TEST(nobody_need_read_the_summary)
{
    bash("{ '" VS_COMMAND "' " SIMULATED "-o unread.vst -- " VS_VICTIM " destructor; "
         "echo status $? >status.txt; } 2>&1 >/dev/null | true");
    slurp("status.txt", out, sizeof out);
    assert_string_equal(out, "status 6\n");
}

TEST(several_processes_are_listed_in_a_table)
{
    assert_int_equal(vramscope(SIMULATED "-o '%n.%p.vst' -- sh -c '" VS_VICTIM " device; " VS_VICTIM
                                         " exec | cat; exec " VS_VICTIM " destructor'"), 6);
    char *table = strstr(err, "vramscope: 4 processes used CUDA:\n");
    assert_non_null(table);
    assert_non_null(strstr(table, "  exit 0 "));
    assert_non_null(strstr(table, "  exit 6 "));
    assert_non_null(strstr(table, "  replaced by exec"));
    assert_null(strstr(table, "killed"));
}

TEST(a_program_out_of_reach_is_named)
{
    assert_int_equal(vramscope("run -- env -i /bin/true"), 0);
    assert_non_null(strstr(err, "/bin/true was started without LD_PRELOAD in its environment"));
    expect(2, "!/bin/true was started without LD_PRELOAD in its environment|!sh ended without "
           "loading the CUDA driver", "run -- sh -c 'env -u LD_PRELOAD /bin/true; exit 2'");
    assert_int_equal(vramscope(SIMULATED "-- env -u LD_PRELOAD " VS_VICTIM " atexit"), 5);
    assert_non_null(strstr(err, "was started without LD_PRELOAD in its environment"));
    assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1); /* and nothing is guessed */
    expect(2, "~!LD_PRELOAD", "run -- sh -c '/bin/true; exit 2'");
}

/* Regression: Python's ctypes.util.find_library runs ldconfig with a clean environment, and the
 * message about that replaced the hint that explains the program's failure. */
TEST(a_child_with_a_clean_environment_hides_no_hint)
{
    expect(3, "!/bin/true was started without LD_PRELOAD in its environment|!without loading the "
           "CUDA driver, so no trace was written\n|!nvcc -cudart shared",
           SIMULATED "-- sh -c 'env -i /bin/true; exit 3'");
}

/* Regression: run reported that it had not used CUDA. */
TEST(a_program_that_only_queries_devices_used_cuda)
{
    expect(0, "=1 devices\n", SIMULATED "-- " VS_VICTIM " queries");
    assert_non_null(strstr(err, "vramscope: " VS_VICTIM " loaded the CUDA driver but allocated no GPU "
                                "memory, so no trace was written\n"));
    assert_non_null(strstr(err, "nvcc -cudart shared")); /* even when the program ends well */
    expect(0, "!=", SIMULATED "-q -- " VS_VICTIM " queries");
}

/* Regression: a graph's allocation that failed with another error than out of memory was counted
 * nowhere, and for other families no report named the error. */
TEST(failures_are_counted_by_family_and_error)
{
    static const char *const lines[] = {
        "\n5 allocations failed\n", "  managed           2×  CUDA_ERROR_INVALID_VALUE\n",
        "  pinned            1×  CUDA_ERROR_INVALID_VALUE\n",
        "  device            1×  CUDA_ERROR_OUT_OF_MEMORY\n",
        "  graph             1×  CUDA_ERROR_INVALID_VALUE\n",
        "  2× 1.0 MiB by cudaMallocManaged on device 0 ",
        "    CUDA_ERROR_INVALID_VALUE\n    mode_errors (", "  16.00 EiB by cudaMallocPitch on device 0 at "};
    assert_int_equal(vramscope(SIMULATED "-o errors.vst -- " VS_VICTIM " errors"), 0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_non_null(strstr(err, lines[i]));
    expect(0, "\"failures_by_error\": [|\"family\": \"graph\",\n      \"error\": 1,\n      "
           "\"error_name\": \"CUDA_ERROR_INVALID_VALUE\",\n      \"count\": 1\n",
           "report --json errors.vst");
    /* where memory alone is short, the codes say nothing new */
    expect(0, "!failed, and the program went on\n|~!CUDA_ERROR_OUT_OF_MEMORY|~!failed "
           "allocations by error", SIMULATED "-o short.vst -- " VS_VICTIM " oom");
    assert_non_null(strstr(err, "2 frees failed\n")); /* the mode's own, of other errors */
}

TEST(a_run_below_a_run_lists_its_own_traces)
{
    assert_int_equal(vramscope(SIMULATED "-- '" VS_COMMAND "' " SIMULATED "-q -o below.vst -- "
                               VS_VICTIM " atexit"), 5);
    assert_true(exists("below.vst"));
    assert_string_equal(err, "");
}

TEST(a_library_is_called_absent_only_when_it_is)
{
    expect(5, "!no call stacks: libunwind.so.8: |!Too many open files|~!install lib",
           SIMULATED "-q -o few.vst -- sh -c 'exec 3>&-; ulimit -n 4; exec " VS_VICTIM " atexit'");
}

TEST(quiet_prints_nothing_of_ours)
{
    expect(5, "!=", SIMULATED "-q -o d.vst -- " VS_VICTIM " atexit");
}

TEST(view_writes_a_page_of_the_trace_at_the_end)
{
    assert_int_equal(vramscope(SIMULATED "-q --view=page.html -o e.vst -- " VS_VICTIM " atexit"), 5);
    assert_non_null(strstr(err, "vramscope: page page.html: "));
    bash("head -c 15 page.html | grep -qi '<!doctype html>' && rm page.html");
    assert_int_equal(vramscope(SIMULATED "-q --view=e.vst -o e.vst -- " VS_VICTIM " atexit"), 5);
    assert_non_null(strstr(err, "e.vst is the trace itself"));
    assert_int_equal(vramscope("run --view= -- " VS_VICTIM " atexit"), 125);
}

/* Only the first process had a page, and nothing said that the others had none. */
TEST(view_writes_a_page_of_each_process_and_names_the_largest)
{
    const char *largest = "the page is of ";
    assert_int_equal(vramscope(SIMULATED "-q --view -o 'many.%p.vst' -- bash -c '" VS_VICTIM
                               " atexit; " VS_VICTIM " device; " VS_VICTIM " atexit; true'"), 0);
    bash("test $(ls many.*.vst | wc -l) = 3; for t in many.*.vst; do test -s ${t%.vst}.html; done; "
         "rm many.*.html many.*.vst");
    assert_int_equal(vramscope(SIMULATED "-q --view=one.html -o 'many.%p.vst' -- bash -c '" VS_VICTIM
                               " atexit; " VS_VICTIM " device; " VS_VICTIM " atexit; true'"), 0);
    const char *named = strstr(err, largest);
    assert_non_null(named);
    char path[4096], command[8192];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(named + strlen(largest), ";"),
             named + strlen(largest));
    snprintf(command, sizeof command,
             "test $(ls many.*.html 2>/dev/null | wc -l) = 0; peak() { " VS_COMMAND
             " report --json $1 | grep -A1 '\"peak_allocated\"' | grep -om1 '[0-9]\\+'; }; "
             "most=$(peak %s); for t in many.*.vst; do test $(peak $t) -le $most; done; "
             "rm many.* one.html", path);
    bash(command);
}

TEST(a_program_that_cannot_be_run_says_so_as_a_shell_would)
{
    expect(127, "!vramscope run: cannot run ./no-such-program: No such file or directory; check "
           "the name, or PATH\n", "run -- ./no-such-program");
    assert_int_equal(vramscope("run -- /etc/passwd"), 126);
}

TEST(a_program_without_cuda_is_distinguished)
{
    assert_int_equal(vramscope("run -- " VS_VICTIM " nothing"), 7);
    assert_non_null(strstr(err, " ended without loading the CUDA driver, so no trace was written\n"));
    expect(7, "~!--simulate|!nvcc -cudart shared", SIMULATED "-- " VS_VICTIM " nothing");
    expect(0, "~!nvcc", SIMULATED "-- true");
}

TEST(a_program_whose_trace_cannot_be_written_is_not_called_one_without_cuda)
{
    expect(5, "=will free at exit\n|!cannot write the trace|!used CUDA, but nothing was recorded|"
           "~!no trace was written", SIMULATED "-o %p/t.vst -- " VS_VICTIM " atexit");
}

TEST(a_file_that_is_no_trace_is_never_overwritten)
{
    char text[64] = "";
    assert_int_equal(system(NULL) ? 0 : 1, 0);
    char command[PATH_MAX + 64];
    snprintf(command, sizeof command, "echo precious > '%s/notes.txt'", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(vramscope(SIMULATED "-o notes.txt -- " VS_VICTIM " device"), 125);
    assert_non_null(strstr(err, "exists and is not a trace: not overwritten; give the trace another "
                                "name with -o"));
    slurp("notes.txt", text, sizeof text);
    assert_string_equal(text, "precious\n");
}

TEST(an_older_trace_is_replaced)
{
    assert_int_equal(vramscope(SIMULATED "-q -o e.vst -- " VS_VICTIM " device"), 0);
    expect(5, "!1.0 MiB", SIMULATED "-o e.vst -- " VS_VICTIM " atexit");
}

/* The number of traces under that name is *expect*, including hidden ones. */
static void assert_files(const char *name, const char *expect)
{
    char script[512];
    snprintf(script, sizeof script, "ls -A | grep -c '^[.]*%s'", name);
    bash(script);
    assert_string_equal(out, expect);
}

TEST(an_older_trace_is_lost_only_to_a_new_one)
{
    static const struct {
        const char *args;
        int status;
    } runs[] = {
        {"run -q -o old.vst -- ./no-such-program", 127},
        {"run -q -o old.vst -- true", 0},
        {SIMULATED "-q --record=off -o old.vst -- " VS_VICTIM " atexit", 5},
        {"run -q -o old.vst -- sh -c 'kill -TERM $PPID; exec sleep 600'", 128 + 15},
    };
    /* killed, so the trace is two files */
    assert_int_equal(vramscope(SIMULATED "-q -o old.vst -- " VS_VICTIM " sigkill"), 128 + 9);
    assert_true(exists("old.vst.live"));
    bash("cp old.vst saved.vst; cp old.vst.live saved.vst.live");
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        assert_int_equal(vramscope(runs[i].args), runs[i].status);
        bash("cmp old.vst saved.vst && cmp old.vst.live saved.vst.live && echo same");
        assert_string_equal(out, "same\n");
        assert_files("old.vst", "2\n");
    }
    assert_int_equal(vramscope(SIMULATED "-q -o old.vst -- " VS_VICTIM " atexit"), 5);
    assert_files("old.vst", "1\n");
    bash("cmp -s old.vst saved.vst || echo new");
    assert_string_equal(out, "new\n");
}

TEST(a_trace_that_is_being_recorded_is_left_alone)
{
    bash("mkfifo hold; '" VS_COMMAND "' " SIMULATED "-q -o busy.vst -- " VS_VICTIM " wait <hold &\n"
         "exec 9>hold; for i in $(seq 6000); do [ -s busy.vst ] && [ -s busy.vst.live ] && break; "
         "sleep 0.05; done\n"
         "'" VS_COMMAND "' run -o busy.vst -- touch started; echo status $?\n"
         "'" VS_COMMAND "' run -q --record=off -o busy.vst -- true; echo status $?\n"
         "echo >&9; wait; '" VS_COMMAND "' report busy.vst | grep -c incomplete\n");
    assert_string_equal(out, "status 125\nstatus 0\n0\n");
    assert_non_null(strstr(err, "busy.vst is being recorded by process "));
    assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1);
    assert_false(exists("started"));
    assert_int_equal(vramscope(SIMULATED "-q -o busy.vst -- " VS_VICTIM " atexit"), 5);
}

TEST(every_process_under_one_name_keeps_its_own_trace)
{
    assert_int_equal(vramscope(SIMULATED "-o f.vst -- sh -c '" VS_VICTIM " device && " VS_VICTIM
                                         " device'"), 0);
    char *second = strstr(err, "peak allocated");
    assert_non_null(second);
    assert_non_null(strstr(second + 1, "peak allocated"));
}

/* On a machine with a fault, a program sees the same fault with the profiler loaded, and the
 * profiler reports what it cannot record itself. */
TEST(a_faulty_machine_looks_the_same_through_the_profiler)
{
    static const struct {
        const char *fault, *mode;
        int status;
        const char *output, *note;
    } runs[] = {
        {"fail=device:3", "device", 3, "cudaMalloc: cudaErrorMemoryAllocation\n",
         "out of memory  "},
        {"fail=managed:1", "families", 3, "cudaMallocManaged: cudaErrorMemoryAllocation\n",
         "failed"},
        {"fail=host:2", "families", 3, "cudaHostAlloc: cudaErrorMemoryAllocation\n", "failed"},
        {"fail=pool:1", "families", 3, "cudaMallocAsync: cudaErrorMemoryAllocation\n", "failed"},
        {"cupti=refused", "copies", 0, "copies done\n", "another profiler is using it"},
        {"cupti=unprivileged", "copies", 0, "copies done\n", "profiling to root only"},
        {"cupti=none", "copies", 0, "copies done\n", "memory is recorded"},
        {"driver=11080", "device", 3, "cudaMalloc: cudaErrorInsufficientDriver\n", "no trace"},
        {"slow=2:1", "copies", 0, "copies done\n", "peak allocated"},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char args[2 * PATH_MAX];
        snprintf(args, sizeof args,
                 "run --simulate t4-16g,%s --allocator=observe -o f.vst -- %s %s", runs[i].fault,
                 VS_VICTIM, runs[i].mode);
        assert_int_equal(vramscope(args), runs[i].status);
        assert_string_equal(out, runs[i].output);
        if (!strstr(err, runs[i].note))
            fail_msg("%s: no '%s' in: %s", runs[i].fault, runs[i].note, err);
    }
}

TEST(a_cache_outlives_a_single_failed_allocation)
{
    assert_int_equal(vramscope("run --simulate t4-16g,fail=device:3 --allocator=caching "
                               "-o g.vst -- " VS_VICTIM " device"), 0);
    assert_non_null(strstr(out, "allocations 193"));
    assert_int_equal(vramscope("run --simulate t4-16g,fail=device:3+ --allocator=caching "
                               "-o g.vst -- " VS_VICTIM " device"), 3);
    assert_string_equal(out, "cudaMalloc: cudaErrorMemoryAllocation\n");
}

TEST(a_device_that_is_lost_leaves_a_whole_trace)
{
    expect(1, "!unspecified launch failure|!peak allocated",
           "run --simulate t4-16g,lost=1 -o k.vst -- " VS_PROGRAM);
    expect(0, "~incomplete", "report k.vst");
}

/* Regression: a failed context left no event, and `vramscope oom` said that nothing had failed. */
TEST(a_context_without_memory_is_a_failure)
{
#define FIRST_REMEDY "\"remedies\": [\n    {\n      \"kind\": "
    static const struct {
        const char *device, *mode, *oom;
    } rows[] = {
        {"context=400MiB", "", "\"needed\": 419430400|\"free\": 50331648|"
         FIRST_REMEDY "\"one_context\""},
        {"context=400MiB,others=1500MiB", "",
         "1 other process holds 1.46 GiB|" FIRST_REMEDY "\"stop_others\""},
        /* without any context, NVML alone knows the device's memory, and not what one needs */
        {"context=700MiB", "physical",
         "\"free\": 536870912|it needs more than the 512.0 MiB available"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char args[2 * PATH_MAX];
        snprintf(args, sizeof args, "run --simulate t4-16g,capacity=2GiB,%s -o context.vst -- %s %s",
                 rows[i].device, VS_CONTEXT_VICTIM, rows[i].mode);
        expect(1, "error 2|!out of memory  a CUDA context by cuCtxCreate on device 0", args);
        expect(0, "\"failure_count\": 1,|\"what\": \"context\"", "report --json context.vst");
        expect(0, "\"verdict\": \"contexts\"", "oom --json context.vst");
        assert_wrote(rows[i].oom);
    }
}

#ifdef VS_C10_VICTIM
/* The name of the second function once had a wrong length, so PyTorch's failures were not
 * recorded. */
TEST(pytorch_reports_are_recorded_and_passed_on)
{
    assert_int_equal(vramscope(SIMULATED "--allocator=observe -o c10.vst -- " VS_C10_VICTIM), 0);
    assert_string_equal(out, "3 allocations, 1 frees, 1 failures\n");
    assert_int_equal(vramscope("report --json c10.vst"), 0);
    const char *level = strstr(out, "\"framework\": {");
    assert_non_null(level);
    assert_non_null(strstr(level, "\"allocations\": 2"));
    assert_non_null(strstr(level, "\"peak_allocated_bytes\": 7340032"));
    assert_non_null(strstr(level, "\"peak_reserved_bytes\": 20971520"));
    assert_non_null(strstr(level, "\"failures\": 1"));
    assert_non_null(strstr(level, "\"level\": \"framework\""));
    /* the device's refusal and PyTorch's error are one failure */
    const char *failures = strstr(out, "\"failures\": [");
    assert_non_null(failures);
    const char *first = strstr(failures, "\"device_refusals\": 1");
    assert_non_null(first);
    const char *again = strstr(first + 1, "\"device_refusals\""); /* in failure_groups */
    assert_true(!again || again > strstr(failures, "\"failure_groups\": ["));
    assert_non_null(strstr(failures, "\"device_requested_bytes\": 107374182400"));
    /* the segment is not at the level of its tensors */
    const char *sites = strstr(out, "\"sites_at_peak_allocated\": {");
    assert_non_null(sites);
    assert_non_null(strstr(sites, "\"total_bytes\": 7340032"));
    assert_non_null(strstr(sites, "\"device_sites_at_peak_allocated\": {"));
}
#endif

TEST(programs_of_cuda_11_and_12_are_recorded_kernels_and_all)
{
    static const char *const programs[] = {VS_PROGRAM_11, VS_PROGRAM_12};
    for (size_t i = 0; i < 2; i++) {
        char args[2 * PATH_MAX];
        snprintf(args, sizeof args, SIMULATED "-o old.vst -- %s work", programs[i]);
        expect(0, "~!kernels and copies are not recorded|!1.0 MiB|!3×  old_kernel|!DtoH          "
               "64 B in 1×", args);
        assert_non_null(strstr(err, "1.0 MiB in 1×")); /* the memset */
    }
}

/* The victim's copy is removed before the trace is read. */
TEST(a_symbolized_trace_is_named_without_the_program)
{
    char line[PATH_MAX + 512], named[sizeof out];
    snprintf(line, sizeof line, "cp '" VS_VICTIM "' '%s/names_victim'", folder);
    assert_int_equal(system(line), 0);
    expect(5, "!=", SIMULATED "-q --symbolize=on -o names.vst -- ./names_victim atexit");
    assert_int_equal(vramscope("report --no-symbol-cache names.vst"), 0);
    snprintf(named, sizeof named, "%s", out);
    assert_non_null(strstr(named, "mode_atexit (victim.c:"));
    snprintf(line, sizeof line, "rm '%s/names_victim'", folder);
    assert_int_equal(system(line), 0);
    assert_int_equal(vramscope("report --no-symbol-cache names.vst"), 0);
    assert_string_equal(out, named);
    expect(0, " addresses named", "symbolize --no-symbol-cache names.vst");
    expect(0, "mode_atexit (victim.c:", "report --no-symbol-cache names.vst");
    expect(2, "!--symbol-seconds takes a number", "symbolize --symbol-seconds x names.vst");
}

/* The first calls of a statically linked runtime go through its thunks, later ones do not. */
TEST(thunks_do_not_split_call_sites)
{
    assert_int_equal(vramscope(SIMULATED "-q -o thunk.vst -- " VS_VICTIM_STATIC " nvtx"), 0);
    expect(0, "\"function\": \"device_alloc\"|~vs_thunk", "report --json --top 1000 thunk.vst");
}

#ifdef VS_STATIC_PROGRAM
TEST(a_program_out_of_reach_is_reported_before_it_runs)
{
    expect(3, "=no loader\n", "run -- " VS_STATIC_PROGRAM);
    const char *message = strstr(err, "is statically linked");
    assert_non_null(message);
    assert_null(strstr(message + 1, "vramscope")); /* no message that CUDA was not used */
    char script[PATH_MAX + 16];
    snprintf(script, sizeof script, "%s/reach.sh", folder);
    FILE *f = fopen(script, "w");
    assert_non_null(f);
    fprintf(f, "#!%s\n", VS_STATIC_PROGRAM);
    fclose(f);
    assert_return_code(chmod(script, 0755), errno);
    expect(3, "!is statically linked", "run -- ./reach.sh");
}
#endif

TEST(cuda_that_passes_us_by_is_not_called_unused)
{
    expect(0, "!opened with RTLD_DEEPBIND|!used CUDA, but nothing was recorded|~!no trace was "
           "written", SIMULATED "-- " VS_ABSENT " deep_static");
}
