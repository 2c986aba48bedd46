/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of `vramscope run`: limits, injection, policies, and messages about
 * mistakes before the program starts. Paths come from CMake. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/run_command.h"

TEST(a_limit_that_cannot_be_read_is_refused_before_the_program_starts)
{
    static const char *const bad[] = {"much", "0", "0%", "150%", "8GiB,", "64:1GiB", "1:1GiB,1:2GiB"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char args[256], message[64];
        snprintf(args, sizeof args, "run --limit '%s' -- touch started", bad[i]);
        snprintf(message, sizeof message, "'%s' is not a value for --limit", bad[i]);
        assert_int_equal(vramscope(args), 125);
        assert_non_null(strstr(err, message));
        snprintf(message, sizeof message, "VRAMSCOPE_LIMIT: '%s' is not a value for limit", bad[i]);
        assert_false(exists("started"));
        setenv("VRAMSCOPE_LIMIT", bad[i], 1);
        assert_int_equal(vramscope("run -- touch started"), 125);
        assert_non_null(strstr(err, message));
        assert_non_null(strstr(err, "VRAMSCOPE_LIMIT"));
        assert_null(strstr(err, "no limit"));
        assert_false(exists("started"));
        expect(0, "!=", "run -q --limit 8GiB -- true");
        unsetenv("VRAMSCOPE_LIMIT");
    }
}

TEST(an_empty_limit_is_refused_before_the_program_starts)
{
    static const char *const empty[] = {"--limit ''", "--limit="};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        char args[256];
        snprintf(args, sizeof args, "run %s -- touch started", empty[i]);
        expect(125, "!--limit needs a value", args);
        assert_false(exists("started"));
    }
}

TEST(a_limit_that_is_reached_is_named_by_report_and_oom)
{
    assert_int_equal(vramscope(SIMULATED "-q --limit 25% -o limit.vst -- " VS_LIMITED " each_family"),
                     0);
    expect(0, "1.00 GiB, limited to 256.0 MiB", "report limit.vst");
    expect(0, "verdict  imposed limit|the option limit allows 256.0 MiB of the device's 1.00 GiB",
           "oom limit.vst");
    expect(0, "\"verdict\": \"imposed_limit\"|\"kind\": \"raise_limit\"", "oom --json limit.vst");
    expect(0, "\"limit_bytes\": 268435456", "report --json limit.vst");
}

TEST(a_limit_holds_where_no_trace_can_be_written)
{
    /* the program checks its limit itself, and ends with 99 if it is not in force */
    assert_int_equal(vramscope(SIMULATED "--limit 256MiB --allocator observe -- "
                                         "env VRAMSCOPE_OUTPUT=/nowhere/x.vst " VS_LIMITED " sizes_reported"), 0);
    assert_non_null(strstr(err, "cannot write the trace /nowhere/x.vst"));
    assert_int_equal(vramscope(SIMULATED "--limit 255MiB --allocator caching -- "
                                         "env VRAMSCOPE_OUTPUT=/nowhere/x.vst " VS_LIMITED " sizes_reported"), 99);
}

TEST(record_off_serves_memory_and_leaves_no_trace)
{
    expect(5, "=will free at exit\n|!=",
           SIMULATED "--record=off --allocator=caching -o none.vst -- " VS_VICTIM " atexit");
    assert_false(exists("none.vst"));
    assert_false(exists("none.vst.live"));
}

TEST(injection_records_what_preloading_records_and_says_which_it_was)
{
    expect(0, "!allocator observe (injection)|!managed|!stream-ordered|!  note     kernels and "
           "copies are not recorded with injection",
           SIMULATED "--via=injection -o i.vst -- " VS_VICTIM " families");
    /* in the summary, not in the program's stderr */
    assert_null(strstr(err, "vramscope: kernels"));
    expect(0, "kernels and copies are not recorded with injection", "report --json i.vst");
    assert_int_equal(vramscope(SIMULATED "--via=injection --kernels=on -o i.vst -- " VS_VICTIM
                                         " families"), 0);
    expect(0, "~not recorded with injection", "report --json i.vst");
    expect(5, "=will free at exit\n", SIMULATED "--via=injection -o i.vst -- " VS_VICTIM " atexit");
}

TEST(who_is_preloaded_too_records_alone)
{
    char setting[PATH_MAX + 32];
    snprintf(setting, sizeof setting, "CUDA_INJECTION64_PATH=%s", VS_LIBRARY);
    assert_int_equal(putenv(setting), 0);
    int status = vramscope(SIMULATED "--allocator=observe -o j.vst -- " VS_VICTIM " device");
    assert_int_equal(unsetenv("CUDA_INJECTION64_PATH"), 0);
    assert_int_equal(status, 0);
    assert_non_null(strstr(err, "allocator observe\n"));
    expect(0, "device                  193          192        0", "report j.vst");
}

TEST(another_tools_injection_is_left_alone)
{
    assert_int_equal(setenv("CUDA_INJECTION64_PATH", "/opt/tool.so", 1), 0);
    int status = vramscope(SIMULATED "--via=injection -- " VS_VICTIM " device");
    assert_int_equal(unsetenv("CUDA_INJECTION64_PATH"), 0);
    assert_int_equal(status, 125);
    assert_non_null(strstr(err, "CUDA_INJECTION64_PATH names another tool (/opt/tool.so)"));
}

TEST(injection_without_cupti_says_that_nothing_is_recorded)
{
    static const char *const how[] = {"none", "refused", "unprivileged"};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        char args[2 * PATH_MAX];
        snprintf(args, sizeof args, "run --simulate t4-16g,capacity=1GiB,context=400MiB,cupti=%s --via=injection "
                 "-o none.vst -- %s atexit", how[i], VS_VICTIM);
        expect(5, "!nothing is recorded: --via=injection needs CUPTI, which failed|!used CUDA, "
               "but nothing was recorded", args);
        assert_null(strstr(strstr(err, "injection needs") + 1, "injection needs"));
        assert_false(exists("none.vst"));
    }
}

TEST(what_injection_cannot_do_is_said)
{
    expect(5, "!--limit has no effect with --via=injection",
           SIMULATED "--via=injection --limit=100MiB -o k.vst -- " VS_VICTIM " atexit");
}

TEST(mistakes_in_options_get_one_line_and_125)
{
    static const struct {
        const char *args, *expect;
    } cases[] = {
        {"run", "no program given"},
        {"run --colour -- true", "unknown option --colour"},
        {"run --stack-depth=900 -- true", "expected a number from 1 to 128"},
        {"run --allocator=fast -- true", "expected one of auto|caching|observe"},
        {"run -o", "needs a file name"},
        {"run -o -- true", "needs a file name"},
        {"run --policy --quiet true", "option --policy needs a value"},
        {"run --stack-depth -- true", "option --stack-depth needs a value"},
        {"run -o x%z.vst -- true", "may follow a percent sign"},
        {"run -o /nonexistent/t.vst -- true", "cannot write the trace in /nonexistent"},
        {"run -o /nonexistent/%p.vst -- true", "cannot write the trace in /nonexistent"},
        {"run --alloc-conf=expandable_segment:True -- true",
         "unknown key 'expandable_segment'; did you mean 'expandable_segments'?\n"},
        {"run --alloc-conf=splits:7 -- true", "unknown key 'splits'; known keys: "},
        {"run --alloc-conf=max_split_size_mb:many -- true",
         "--alloc-conf 'max_split_size_mb:many': "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(vramscope(cases[i].args), 125);
        if (!strstr(err, cases[i].expect))
            fail_msg("%s: %s", cases[i].args, err);
        assert_string_equal(out, "");
        assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1);
    }
}

/* A relative trace there was once "in v". */
TEST(a_deleted_folder_is_named)
{
#define GONE "t=$PWD/there.vst; mkdir gone; cd gone; rmdir ../gone; '" VS_COMMAND "' " SIMULATED
    static const char *const outputs[] = {GONE "-o trace.vst -- " VS_VICTIM " device",
                                          GONE "-- " VS_VICTIM " device"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(bash(outputs[i]), 125);
        assert_wrote("=|!^the current folder was deleted; change to another folder");
    }
    assert_int_equal(bash(GONE "-q -o \"$t\" -- " VS_VICTIM " device && test -s \"$t\""), 0);
}

/* The line was cut at its end once, which hid the arguments. */
TEST(the_command_line_of_a_long_folder_keeps_the_arguments)
{
    bash("unset COLUMNS; export LC_ALL=C.UTF-8; t=$(mktemp -d /tmp/vramscope-line-XXXXXX)\n"
         "line() { '" VS_COMMAND "' run --simulate t4-16g -o \"$t/t.vst\" -- \"$@\" 2>&1 "
         ">/dev/null | sed -nE 's/^  command  (.{1,69})$/\\1/p'; }\n"
         "long=$(printf 'f%.0s' {1..90}); for name in $long \"a folder with spaces $long\"; do\n"
         "p=\"$t/$name/bin\"; mkdir -p \"$p\"; cp '" VS_VICTIM "' \"$p/train\"\n"
         "line \"$p/train\" device --batch 8\n"
         "line \"$p/train\" device --data \"$p/train.json\" --batch 8 | sed 's,--data ….*/train.json,DATA,'; done\n"
         "cd \"$t\"; line \"./$name/bin/train\" device | sed 's,.*/train,TRAIN,'; rm -r \"$t\"");
#define BOTH "…/bin/train device --batch 8\n…/train device DATA --batch 8\n"
    assert_string_equal(out, BOTH BOTH "TRAIN device\n");
}

/* Each was printed twice once. */
TEST(variables_that_are_not_understood_are_named_once)
{
    int status = bash(
        "set -o pipefail; VRAMSCOPE_STACK=native VRAMSCOPE_SAMPLE=x '" VS_COMMAND "' " SIMULATED
        "-q -o v.vst -- " VS_VICTIM " device 2>&1 >/dev/null | "
        "grep -oE 'VRAMSCOPE_(STACK|SAMPLE)' | sort");
    assert_int_equal(status, 0);
    assert_string_equal(out, "VRAMSCOPE_SAMPLE\nVRAMSCOPE_STACK\n");
}

TEST(a_bad_variable_is_named_once_and_the_default_used)
{
    setenv("VRAMSCOPE_STACK_DEPTH", "many", 1);
    setenv("VRAMSCOPE_NONSENSE", "1", 1);
    assert_int_equal(vramscope(SIMULATED "-o g.vst -- " VS_VICTIM " atexit"), 5);
    unsetenv("VRAMSCOPE_STACK_DEPTH");
    unsetenv("VRAMSCOPE_NONSENSE");
    assert_non_null(strstr(err, "VRAMSCOPE_NONSENSE"));
    assert_non_null(strstr(err, "expected a number from 1 to 128"));
}

TEST(a_device_that_is_not_understood_is_refused_before_the_program_starts)
{
    static const char *const specs[] = {"h300", "t4-16g,colour=red", "fail=disk:1", "devices=17"};
    static const char *const words[] = {"h100-80g", "keys: sm, sms, memory, capacity, ", "FAMILY one of device, ",
                                        "devices takes 1 to 16\n"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        char args[256];
        snprintf(args, sizeof args, "run --simulate %s -- touch started", specs[i]);
        assert_int_equal(vramscope(args), 125);
        assert_false(exists("started"));
        assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1); /* one line */
        assert_non_null(strstr(err, words[i]));
    }
    setenv("VRAMSCOPE_SIMULATE", "h300", 1);
    assert_int_equal(vramscope("run -- touch started"), 125);
    unsetenv("VRAMSCOPE_SIMULATE");
    assert_false(exists("started"));
}

TEST(cupti_switched_off_still_records_memory)
{
    expect(0, "!peak allocated", SIMULATED "--no-kernels -o h.vst -- " VS_VICTIM " copies");
}

TEST(a_verb_is_suggested_only_when_it_is_near)
{
    expect(2, "~!did you mean", "foo");
    expect(2, "!did you mean 'report'", "reprot");
}

TEST(doctor_and_options_answer)
{
    expect(0, "preload library", "doctor");
    expect(0, "vramscope.doctor/1", "doctor --json");
    assert_int_equal(vramscope("doctor --loud"), 2);
    expect(0, "VRAMSCOPE_STACK_DEPTH", "options");
}

TEST(what_has_no_effect_together_is_said_once)
{
    assert_int_equal(vramscope("run -q --allocator=observe --policy=compact "
                               "--alloc-conf=vramscope_tie:oldest_segment -- true"), 0);
    assert_string_equal(err, "vramscope run: --allocator=observe only records cudaMalloc, so "
                             "--policy --alloc-conf have no effect\n");
    assert_int_equal(vramscope("run -q --allocator=observe --policy=compact -- true"), 0);
    assert_non_null(strstr(err, "so --policy has no effect\n"));
    expect(0, "!have no effect with --policy=compact\n",
           "run -q --policy=compact --alloc-conf=expandable_segments:True -- true");
    assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1);
    expect(0, "!=",
           "run -q --policy=compact " "--alloc-conf=per_process_memory_fraction:0.5 -- true");
}

TEST(the_summary_names_the_policy)
{
    expect(5, "!allocator caching (compact)\n",
           SIMULATED "--allocator=caching --policy=compact -o n.vst -- " VS_VICTIM " atexit");
    assert_int_equal(vramscope(SIMULATED "--allocator=caching -o n.vst -- " VS_VICTIM " atexit"), 5);
    assert_non_null(strstr(err, "allocator caching\n"));
}
