/* SPDX-License-Identifier: Apache-2.0
 *
 * `vramscope fit` as a user types it: answers, exit codes and messages, with a CUDA program whose
 * memory is an argument. The simulated devices have less than their capacity, by the context: 400 MiB
 * (by rule) on the custom one, 426 MiB (measured) on the RTX 6000 Ada. */
#define _GNU_SOURCE
#define SIMULATED ""
#define VS_SIMULATOR_PATH ""
#include "preload/run_shell.h"

#define SMALL "--gpu custom,sm=80,sms=100,memory=1GiB "
#define LARGE "--gpu rtx6000ada-48g,capacity=2GiB "
#define FIT "\"$V\" fit "

static void assert_fits(const char *script, int status)
{
    int got = bash(script);
    if (got != status)
        fail_msg("exit status %d instead of %d:\n%s%s", got, status, out, err);
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("'%s' is in:\n%s", part, text);
}

TEST(each_gpu_has_an_answer)
{
    expect_bash(1, "custom,sm=80,sms=100,memory=1GiB  no|rtx6000ada-48g,capacity=2GiB      yes   "
                "        1.00 GiB  1.00 GiB  598.0 MiB\n|fit_victim.c:|short|\nassumed on "
                "custom,sm=80,sms=100,memory=1GiB: context 400.0 MiB\n|~assumed on rtx6000|"
                "!custom,sm=80,sms=100,memory=1GiB … does not fit",
                FIT SMALL LARGE "-- $P hold 1024");
    assert_lacks(out, "cudaMalloc:"); /* the program's own output */
    assert_fits(FIT LARGE "$P hold 1024", 0);
    expect_bash(0, "!=|512.0 MiB", FIT SMALL "-q $P hold 512");
    assert_prints(out, "112.0 MiB\n"); /* 1024 - 400 - 512 */
}

TEST(a_failure_has_its_step_and_is_short_by_so_much)
{
    assert_fits(FIT SMALL "-- $P steps 1024", 1); /* the 10th piece of step 3 */
    assert_prints(out, "step 3 / backward, grow (fit_victim.c:29) < steps:");
    assert_prints(out, ", short by 16.0 MiB"); /* grow is a helper: the line that calls it is named */
    assert_prints(out, "failure: 64.0 MiB requested, 48.0 MiB of 1.00 GiB free; memory was held by\n   576.0 MiB  grow");
    assert_fits(FIT SMALL "-- $P steps 512", 0);
    assert_prints(out, "peak at step 4 / backward\n   512.0 MiB  grow (fit_victim.c:29) < steps:");
}

TEST(the_line_is_the_users_own)
{
    assert_fits("mkdir -p site-packages; cat >site-packages/installed.py <<E\n"
                "import ctypes\n"
                "cuda = ctypes.CDLL('libcudart.so.13')\n"
                "def empty(mib):\n"
                "    return cuda.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(mib << 20))\n"
                "E\n"
                "cat >train.py <<E\n"
                "import sys; sys.path.insert(0, 'site-packages')\n"
                "from installed import empty\n"
                "def train(mib):\n"
                "    empty(128)  # small\n"
                "    return empty(mib)\n"
                "sys.exit(train(1024) != 0)\n"
                "E\n" FIT SMALL LARGE "-- python3 train.py", 1);
    assert_prints(out, "    first failure: train (train.py:5) < <module>:6, short by 528.0 MiB\n");
    assert_prints(out, "memory was held by\n   128.0 MiB  train (train.py:4) < <module>:6");
    assert_prints(out, "peak on rtx6000ada-48g,capacity=2GiB\n    1.00 GiB  train (train.py:5) < <module>:6\n");
}

TEST(the_largest_value_is_found_by_halves)
{
    expect_bash(0, "largest that fits on custom,sm=80,sms=100,memory=1GiB: --mib 512\n|largest "
                "that fits on rtx6000ada-48g,capacity=2GiB: --mib 1024\n|~--mib 64 |~--mib 128 ",
                FIT SMALL LARGE "--vary --mib=64,128,256,512,1024,2048 -- $P hold");
    expect_bash(0, "--mib 64 ", FIT SMALL "--all --vary --mib=256,64,1024 -- $P hold");
    assert_true(strstr(out, "--mib 64 ") < strstr(out, "--mib 256"));
    assert_fits(FIT "--json " SMALL LARGE "--vary --mib=64,128,256,512,1024,2048 -- $P hold | python3 -c "
                "'import json, sys; print(json.load(sys.stdin)[\"largest\"])'", 0);
    assert_non_null(strstr(out, "'value': '512'"));
    assert_fits(FIT SMALL "--vary --mib=1024,2048 -- $P hold", 1);
    assert_prints(out, "largest that fits: none of these values\n");
}

TEST(a_value_goes_where_the_command_has_its_place)
{
    static const char *const commands[] = {"--vary 320 -- sh -c 'echo $* >args; exec \"$0\" \"$@\"' $P hold {}",
        "--vary --mib=320 -- sh -c 'echo $* >args; exec \"$0\" \"$@\"' $P hold --mib 64",
        "--vary=--mib=320 -- sh -c 'echo $* >args; exec \"$0\" \"$@\"' $P hold --mib=64",
        "--vary data.mib=320 -- sh -c 'echo $* >args; exec \"$0\" \"$@\"' $P hold",
        "--vary data.mib=320 -- sh -c 'echo $* >args; exec \"$0\" \"$@\"' $P hold data.mib=1",
        "--vary --mib=320 -- sh -c 'echo $* >args; exec \"$0\" \"$@\"' $P hold x{}x --size=64x{}",
        "--vary --mib=320 -- sh -c 'echo $* >args; exec \"$0\" \"$@\"' $P hold --mib"};
    static const char *const expected[] = {"hold 320\n", "hold --mib 320\n", "hold --mib=320\n",
                                           "hold data.mib=320\n", "hold data.mib=320\n",
                                           "hold x320x --size=64x320\n", "hold --mib 320\n"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char script[1024], args[256];
        snprintf(script, sizeof script, FIT SMALL "%s", commands[i]);
        assert_fits(script, 0);
        slurp("args", args, sizeof args);
        assert_string_equal(args, expected[i]);
    }
}

TEST(other_failures_have_no_answer)
{
    expect_bash(2, "?|no answer: the program failed with exit status 3|    the data set is "
                "missing\n",
                FIT SMALL "-- $P fail");
    expect_bash(2, "killed by signal 11 (Segmentation fault)", FIT SMALL "-- $P crash");
    expect_bash(2, "the program used no memory of the GPU|nvcc -cudart shared",
                FIT SMALL "-- $P nothing");
    assert_fits(FIT SMALL LARGE "-- ./missing", 2);
    assert_prints(out, "the program could not be started");
    assert_prints(out, "cannot run ./missing: No such file or directory");
    assert_lacks(out, "rtx6000"); /* it would be the same there */
    expect_bash(2, "add devices=N", FIT SMALL "-- $P second");
    assert_fits(FIT SMALL LARGE "-- sh -c 'case $VRAMSCOPE_SIMULATE in custom*) exec \"$0\" fail;; esac; "
                "exec \"$0\" hold 64' $P", 2); /* one answer is missing */
    assert_prints(out, "yes");
}

/* Regression: the end of torchrun's messages does not name the error of its worker. */
TEST(the_exception_is_shown_before_the_launchers_last_lines)
{
    assert_fits(FIT SMALL "-- sh -c '\"$0\" hold; printf \"Traceback:\\n  File x\\n[rank1]: ValueError: bad shape\\n\" >&2; "
                "printf \"  5%%\\r 50%%\\rdone\\n\" >&2; seq 30 >&2; exit 1' $P", 2);
    assert_prints(out, "    [rank1]: ValueError: bad shape\n    …\n    19\n    20\n");
    assert_lacks(out, "    18\n");
    assert_fits(FIT SMALL "-- sh -c '\"$0\" hold; printf \" 5%%\\r50%%\\rdone\\n\" >&2; exit 1' $P", 2);
    assert_prints(out, ":\n    done\n");
    assert_lacks(out, "5%");
}

TEST(a_recovered_failure_fits_and_a_hidden_one_does_not)
{
    expect_bash(0, "recovered from 1 failure\n", FIT SMALL "-- $P recover 1024");
    expect_bash(1, "short", FIT SMALL "-- $P swallow 1024");
}

TEST(every_device_counts)
{
    assert_fits(FIT "--gpu custom,sm=80,sms=100,memory=1GiB,devices=2 -- $P second 1024", 1);
    assert_fits(FIT "--gpu custom,sm=80,sms=100,memory=1GiB,devices=2 -- $P second 64", 0);
}

TEST(processes_on_one_device_are_added_up)
{
    assert_fits(FIT SMALL "-- $P share 512", 1);
    assert_prints(out, "2 processes need 1.78 GiB together, 800.0 MiB short");
    expect_bash(0, "one of 2 processes\n", FIT LARGE "-- $P share 512");
    assert_prints(out, "172.0 MiB"); /* 2048 - 2 * (512 + 426) */
}

/* One after the other, they never need the sum; nor do they have two contexts at a time. */
TEST(processes_that_follow_each_other_are_not_added_up)
{
    assert_fits(FIT SMALL "-- sh -c '\"$0\" hold 512; \"$0\" hold 448' $P", 0);
    assert_prints(out, "512.0 MiB  512.0 MiB  112.0 MiB");
}

/* The first failure counts, not the first rank. */
TEST(the_rank_that_failed_first_is_shown)
{
    assert_fits(FIT "--gpu custom,sm=80,sms=100,memory=1GiB,devices=2 -- sh -c 'for r in 1 0; do "
                "RANK=$r CUDA_VISIBLE_DEVICES=$r \"$0\" hold 1024; done' $P", 1);
    assert_prints(out, "rank 1 of 2 processes: grow");
}

TEST(ranks_are_named)
{
    assert_fits(FIT "--gpu custom,sm=80,sms=100,memory=1GiB,devices=4 -- sh -c 'for r in 0 1 2 3; do "
                "RANK=$r CUDA_VISIBLE_DEVICES=$r \"$0\" hold $((64 + 64 * (r == 2))) || exit; done' $P", 0);
    assert_prints(out, "128.0 MiB");
    assert_prints(out, "rank 2 of 4 processes\n");
    assert_fits(FIT "--gpu custom,sm=80,sms=100,memory=1GiB,devices=4 -- sh -c 'for r in 0 1 2 3; do "
                "RANK=$r CUDA_VISIBLE_DEVICES=$r \"$0\" hold $((64 + 1024 * (r == 3))); done' $P", 1);
    assert_prints(out, "rank 3 of 4 processes: grow");
}

TEST(assumed_sizes_and_values_that_were_not_computed_are_printed)
{
    assert_fits(FIT SMALL "-- $P notes", 0);
    assert_prints(out, "assumed: workspace of conv1 of cuDNN 64.0 MiB (2 times); context 400.0 MiB\n");
    assert_prints(out, "not supported: cusparseSpSM_solve of cuSPARSE\n");
    assert_fits(FIT "--gpu custom,sm=80,sms=100,memory=1GiB,context=100MiB -- $P notes", 0);
    assert_prints(out, "assumed: workspace of conv1 of cuDNN 64.0 MiB (2 times)\n");
    expect_bash(0, "decided by values that were not computed\n    train.py:31: `if bad`: read as "
                "False, 6 times\nread, but not computed\n    train.py:40: `x.item()`: read as 0 "
                "the first time, 3 times\n",
                FIT SMALL "-- $P notes");
    /* with --vary once for each GPU: 512 fits, 1024 does not */
    assert_fits(FIT SMALL "--all --vary 64,512,1024 -- $P notes {} | grep -c 'read as False'", 0);
    assert_string_equal(out, "1\n");
    assert_fits(FIT SMALL "--all --vary 1024,2048 -- $P notes {} | grep -c 'read as False'", 0);
    assert_string_equal(out, "1\n");
}

/* One size of 64 MiB is assumed: it may be as much larger. */
TEST(an_answer_that_rests_on_assumed_sizes_says_so)
{
#define GIB "--gpu custom,sm=80,sms=100,memory=1GiB,context=100MiB "
    expect_bash(0, "~yes, if", FIT GIB "-- $P notes 512");
    assert_fits(FIT GIB "-- $P notes 896", 0);
    assert_prints(out, "  yes, if  ");
    assert_prints(out, "\nfits, if the assumed size holds: margin 28.0 MiB; it may be 64.0 MiB larger\n");
    assert_fits(FIT GIB "-- $P notes 960", 1);
    assert_prints(out, "  no, if  ");
    assert_prints(out, "\ndoes not fit, if the assumed size holds: short by 36.0 MiB, with 64.0 MiB\n  assumed\n");
    assert_fits(FIT GIB "-- $P notes 1024 | grep -c ', if'", 0);
    assert_fits(FIT GIB "-- $P hold 1024", 1);
    assert_lacks(out, ", if"); /* nothing is assumed */
    assert_fits(FIT GIB "--json -- $P notes 896 | python3 -c 'import json, sys; r = json.load(sys.stdin)[\"runs\"][0]\n"
                "print(r[\"fits\"], r[\"verdict\"], r[\"assumed_sum\"], r[\"assumed\"][0][\"margin_bytes\"], "
                "r[\"assumed\"][0][\"lasts\"])'", 0);
    assert_prints(out, "yes yes_if_assumed {'sizes': 1, 'bytes': 67108864, 'margin_bytes': 67108864} 67108864 False\n");
    assert_fits(FIT GIB "--vary 512,896 -- $P notes {}", 0);
    assert_prints(out, "\nfits, if the assumed size holds: margin 28.0 MiB; it may be 64.0 MiB larger\n");
}

TEST(a_no_has_the_first_remedy_that_was_replayed)
{
    expect_bash(1, "\nwould help (replayed): a device with ", FIT GIB "-- $P hold 1024");
    assert_fits(FIT GIB "--json -- $P hold 1024 | python3 -c 'import json, sys; r = json.load(sys.stdin)[\"runs\"][0]\n"
                "print(r[\"remedy\"][\"kind\"], r[\"remedy\"][\"replayed\"], r[\"verdict\"])'", 0);
    assert_prints(out, "bigger_device True no\n");
    expect_bash(0, "~would help", FIT GIB "-- $P hold 512");
}

TEST(json_has_bytes)
{
    assert_fits(FIT "--json " SMALL LARGE "-- $P steps 1024 >fit.json; code=$?\n"
                "python3 -c 'import json; f = json.load(open(\"fit.json\")); a, b = f[\"runs\"]\n"
                "print(f[\"schema\"], f[\"fits\"], f[\"command\"][1:], a[\"fits\"], b[\"fits\"])\n"
                "d = a[\"device\"][\"failure\"]; print(d[\"short_bytes\"], d[\"requested_bytes\"], d[\"place\"])\n"
                "d = b[\"device\"]; print(d[\"peak_reserved_bytes\"], d[\"headroom_bytes\"], d[\"failure\"])'\n"
                "exit $code", 1);
    assert_string_equal(out, "vramscope.fit/1 no ['steps', '1024'] no yes\n"
                             "16777216 67108864 step 3 / backward\n1073741824 627048448 None\n");
    assert_fits(FIT "--json " SMALL "-- $P notes | python3 -c 'import json, sys; r = json.load(sys.stdin)[\"runs\"][0]\n"
                "print(r[\"values\"], r[\"assumed\"][0][\"bytes\"], r[\"assumed\"][0][\"count\"], r[\"value\"])'", 0);
    assert_string_equal(out, "{'computed': 12, 'skipped': 3, 'failed': 1, 'read': 3, 'decided': 6} 67108864 2 None\n");
}

TEST(wrong_usage_is_answered_before_any_run)
{
    static const struct {
        const char *arguments, *message;
    } cases[] = {
        {"-- $P hold", "no GPU given; --gpu takes one of: p100-16g, v100-16g"},
        {SMALL, "no program given"},
        {"--gpu nosuch -- $P hold", "--gpu nosuch: no simulated device 'nosuch'"},
        {"--gpu t4-16g,colour=red -- $P hold", "unknown key in colour=red"},
        {"--gpu", "--gpu needs a value"},
        {SMALL "--vary 1,2 -- $P hold", "the command has no {}"},
        {SMALL "--vary --mib=1,,2 -- $P hold", "has an empty value"},
        {SMALL "--vary --mib= -- $P hold", "has an empty value"},
        {SMALL "--vary a=1 --vary b=1 -- $P hold", "--vary is given twice"},
        {SMALL "--nosuch -- $P hold", "unknown option --nosuch"},
        {SMALL "-x -- $P hold", "unknown option -x"},
        {SMALL "--output=a.vst -- $P hold", "--output cannot be given: use --keep DIR"},
        {SMALL "--simulate t4-16g -- $P hold", "--simulate cannot be given: use --gpu"},
        {SMALL "--no-record -- $P hold", "--no-record cannot be given"},
        {SMALL "--stack-depth=0 -- $P hold", "'0' is not a value for --stack-depth"},
        {SMALL "--steps 0 -- $P hold", "--steps takes a number, from 1"},
        {SMALL "--jobs 0 -- $P hold", "--jobs takes a number from 1 to 64"},
        {SMALL "--json=1 -- $P hold", "--json takes no value"},
        {SMALL "--keep /dev/null/x -- $P hold", "choose another folder with --keep"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char script[1024];
        snprintf(script, sizeof script, FIT "%s", cases[i].arguments);
        expect_bash(2, "=", script);
        assert_prints(err, cases[i].message);
        assert_lacks(err, " … ");
    }
}

TEST(a_training_ends_after_its_steps)
{
    expect_bash(0, "512.0 MiB", FIT SMALL "--steps 3 -- $P train 512");
    assert_fits(FIT SMALL "--steps 3 -- $P train 1024", 1);
    assert_fits(FIT SMALL "--steps 3 -- $P hold 64", 0); /* it has no steps */
    assert_fits(FIT SMALL "--steps 3 --json -- $P train 64 | grep stopped", 0);
    assert_string_equal(out, "      \"stopped_after_steps\": true,\n");
}

TEST(options_of_run_are_passed_on)
{
    assert_fits(FIT SMALL "--values=off --no-nvtx --stack-depth 3 -- sh -c 'echo $VRAMSCOPE_VALUES "
                "$VRAMSCOPE_NVTX $VRAMSCOPE_STACK_DEPTH $VRAMSCOPE_ALLOCATOR >environment; exec \"$0\" hold' $P", 0);
    slurp("environment", out, sizeof out);
    assert_string_equal(out, "off off 3 observe\n");
    assert_fits(FIT SMALL "--gpu t4-16g,data=on --jobs 1 -- sh -c 'echo $VRAMSCOPE_SIMULATE >>devices; exec \"$0\" hold' $P", 0);
    slurp("devices", out, sizeof out);
    assert_string_equal(out, "custom,sm=80,sms=100,memory=1GiB,data=small\nt4-16g,data=on\n");
}

TEST(kept_traces_stay_and_others_go)
{
    assert_fits("rm -rf tmp/*; " FIT SMALL "--keep 'my %d folder' -- sh -c '\"$0\" hold; echo hello' $P >/dev/null && "
                FIT SMALL "--keep 'my %d folder' -- $P hold >/dev/null; ls -A tmp; cd 'my %d folder' && ls; cd *GiB; ls | "
                "sed s/[0-9][0-9]*/N/g; \"$V\" report *.vst | grep -c 'peak allocated'", 0);
    assert_string_equal(out, "custom,sm=80,sms=100,memory=1GiB\nN.N.vst\nnotes.txt\nstderr.txt\nstdout.txt\n1\n");
}

/* Each of the two waits for the other, which a single one at a time never ends. */
TEST(gpus_run_at_the_same_time_and_are_shown_in_order)
{
    const char *meet = "-- bash -c 'touch on-$$; while [ $(ls on-* | wc -l) -lt 2 ]; do sleep 0.05; done; "
                       "exec \"$0\" hold 512' $P";
    char script[1024];
    snprintf(script, sizeof script, "rm -f on-*; timeout 600 " FIT LARGE SMALL "--jobs 2 %s", meet);
    assert_fits(script, 0);
    assert_prints(strstr(out, "rtx6000ada-48g,capacity=2GiB      yes"), "custom,sm=80,sms=100,memory=1GiB  yes");
    assert_prints(err, "custom,sm=80,sms=100,memory=1GiB … fits (");
    assert_prints(err, "rtx6000ada-48g,capacity=2GiB … fits (");
    /* one at a time, and a GPU that is given twice has one folder */
    assert_fits("rm -f log; " FIT SMALL LARGE SMALL "--jobs 1 -- sh -c 'echo begin >>log; \"$0\" hold; "
                "echo end >>log' $P && uniq -c log | sort -u | wc -l && uniq log | wc -l", 0);
    assert_prints(out, "\n2\n6\n");
    expect_bash(0, "=2\n", FIT SMALL SMALL "--jobs 2 -q -- $P hold 512 | grep -c yes");
}

/* The program is stopped, the temporary files go, and the status is the signal's. */
TEST(an_interrupt_cleans_up)
{
    bash("rm -rf tmp/*\nfor s in INT TERM HUP; do\n"
         "rm -f waiting; " FIT SMALL LARGE "--jobs 2 -- $P wait & fit=$!\n"
         "for i in $(seq 6000); do [ -e waiting ] && break; sleep 0.05; done\n"
         "kill -$s $fit; wait $fit; echo $?; ls -A tmp\ndone\npgrep -f \"$P wait\" | wc -l");
    assert_string_equal(out, "130\n143\n129\n0\n");
}
