/* SPDX-License-Identifier: Apache-2.0
 *
 * The messages after a program was killed, after `vramscope run` itself was killed, with unusual
 * file names, and for processes of other users and containers. */
#define _GNU_SOURCE

#define SIMULATED "t4-16g,capacity=1GiB,context=400MiB"
#include "preload/run_shell.h"

TEST(a_killed_program_is_named_with_its_signal_by_every_verb)
{
    static const char *const verbs[] = {"$V report k.vst", "$V oom k.vst",
                                        "$V export -f chrome -o k.json k.vst", "$V recover k.vst"};
    expect_bash(128 + 9, "!the program was killed by signal 9 (SIGKILL): |!recovered from |"
                "!killed by SIGKILL", "$V run $S -o k.vst -- $P sigkill");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        char script[256];
        snprintf(script, sizeof script, "%s 2>&1", verbs[i]);
        bash(script);
        assert_prints(out, "killed by signal 9 (SIGKILL): ");
    }
    expect_bash(0, "nothing to recover|killed by SIGKILL|~warning",
                "$V recover k.vst; $V report k.vst; test ! -e k.vst.live");
}

/* By how the recording ended, not by whether the file was rewritten since. */
TEST(a_killed_trace_is_checked_alike_after_it_was_written_anew)
{
    static const char *const traces[] = {"k.vst", "recovered.vst", "symbolized.vst"};
    assert_int_equal(bash("$V run -q $S -o k.vst -- $P sigkill"), 128 + 9);
    assert_int_equal(bash("$V recover -o recovered.vst k.vst && "
                          "$V symbolize --no-symbol-cache -o symbolized.vst k.vst"), 0);
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        char script[256];
        snprintf(script, sizeof script, "$V check --max-peak 1TiB %s", traces[i]);
        expect_bash(2, "!the program was killed by signal 9 (SIGKILL)|!add --partial", script);
        snprintf(script, sizeof script, "$V check --max-peak 1TiB --partial %s", traces[i]);
        expect_bash(1, "the program was killed by signal 9 (SIGKILL)", script);
        snprintf(script, sizeof script,
                 "$V check --max-peak 1TiB --partial --allow-exit 137 %s", traces[i]);
        assert_int_equal(bash(script), 0);
    }
}

TEST(recover_writes_elsewhere_and_never_over_other_files)
{
    assert_int_equal(bash("$V run -q $S -o k.vst -- $P sigsegv"), 128 + 11);
    assert_int_equal(bash("cp k.vst a; cp k.vst.live b; $V recover -o whole.vst k.vst && "
                          "cmp a k.vst && cmp b k.vst.live && "
                          "$V check --max-peak 1TiB --partial --allow-exit 139 whole.vst"), 0);
    expect_bash(0, "=precious\n|!exists and is not a trace",
                "echo precious >text; $V recover -o text k.vst; cat text");
    assert_int_equal(bash("mkfifo pipe; for v in recover symbolize; do for f in text pipe; do "
                          "timeout 300 $V $v -o $f k.vst; echo $?; done; done; test -p pipe && "
                          "cat text"), 0);
    assert_string_equal(out, "2\n2\n2\n2\nprecious\n");
    assert_int_equal(bash("head -c -1 whole.vst >cut; cp cut cut.before; $V recover cut; echo $?; "
                          "$V index cut; echo $?; $V symbolize -o cut cut; echo $?; "
                          "cmp cut cut.before && $V recover -o whole2.vst cut"), 0);
    assert_memory_equal(out, "2\n2\n2\n", 6);
    assert_prints(out, "dropped: the last ");
    assert_prints(out, "whole2.vst is complete now");
    /* damaged in the first frame, with its end: it is not called whole, nor replaced */
    expect_bash(0, "index 2\n|end missing from the trace|damaged at byte|vramscope recover -o "
                "recovered.vst bad\n2\n",
                "cp whole.vst bad; printf '\\377\\376' | dd of=bad bs=1 seek=200 conv=notrunc "
                "status=none; cp bad bad.before; $V recover bad 2>&1; echo $?; "
                "$V index bad; echo index $?; $V report --partial bad; cmp bad bad.before");
    assert_int_equal(bash("mkdir links; ln -s ../k.vst links/l.vst; $V report links/l.vst 2>&1"), 0);
    assert_prints(out, "recovered from ");
    expect_bash(0, "=2\n|!is missing",
                "mv k.vst.live away; $V recover k.vst; echo $?; mv away k.vst.live");
    assert_int_equal(bash("$V recover -o k.vst k.vst && test ! -e k.vst.live"), 0);
    assert_int_equal(bash("$V recover nowhere.vst"), 2);
    assert_int_equal(bash("$V recover script.sh"), 2);
}

/* A file name must not control the terminal. */
TEST(control_characters_in_names_are_not_printed)
{
    assert_int_equal(bash("n=$'odd\\nname\\e[31m.vst'; $V run -q $S -o \"$n\" -- $P sigkill; for v in "
                          "report oom index recover symbolize report; do $V $v \"$n\"; done; rm odd*"), 0);
    assert_prints(out, "odd?name?[31m.vst");
    assert_null(strchr(out, 033));
    assert_null(strchr(err, 033));
    assert_null(strstr(out, "odd\n"));
    assert_null(strstr(err, "odd\n"));
}

/* The command itself cannot remove its folder when it is killed. That of a running one stays, however
 * old it is, and so does anything else. */
TEST(the_folder_of_a_killed_command_is_removed_by_the_next)
{
    assert_int_equal(
        bash("mkdir own; export TMPDIR=$PWD/own; mkdir own/vramscope-run-mine; touch own/vramscope-run-mine/notes\n"
             "set -m; $V run -q $S -o killed.vst -- sleep 600 & killed=$!\n"
             "$V run -q $S -o alive.vst -- sleep 600 & alive=$!; set +m\n"
             "count() { ls own | grep -c 'vramscope-run-......$'; }\n"
             "for i in $(seq 6000); do [ $(ls own/*/* | wc -l) = 3 ] && break; sleep 0.05; done\n"
             "kill -KILL -- -$killed; wait $killed; count; $V run -q $S -o new.vst -- true; count\n"
             "touch -d '2 minutes ago' own/*; $V run -q $S -o old.vst -- true; count; ls own/vramscope-run-mine\n"
             "kill -- -$alive; wait $alive; count; rm -r own *.vst*"), 0);
    assert_string_equal(out, "2\n2\n1\nnotes\n0\n");
}

/* Before the program is started or just after: the signal is sent once the folder is there. */
TEST(an_interrupt_before_the_start_leaves_no_folder)
{
    bash("ls -A tmp; for s in INT TERM HUP; do\n"
         "$V run -q $S -o none.vst -- sleep 600 & p=$!\n"
         "for i in $(seq 2400); do ls tmp/*/* >/dev/null 2>&1 && break; sleep 0.05; done\n"
         "kill -$s $p; wait $p; echo $?; ls -A tmp; done");
    assert_string_equal(out, "130\n143\n129\n");
}

TEST(a_folder_for_temporary_files_is_asked_for)
{
    assert_int_equal(bash("TMPDIR=/proc/none $V run -q $S -o none.vst -- $P sigkill"), 125);
    assert_prints(err, "No such file or directory; set TMPDIR to a folder");
}

/* SIGCHLD ignored is inherited from some daemons: then waitpid does not return the status of a
 * child. */
TEST(the_status_is_the_programs_whatever_was_inherited)
{
    assert_int_equal(bash("(trap '' CHLD; exec $V run -q $S -o s.vst -- bash -c 'exit 7')"), 7);
    assert_int_equal(bash("(trap '' CHLD; exec $V run -q $S -o s.vst -- $P sigkill)"), 128 + 9);
    expect_bash(0, "killed by signal 9 (SIGKILL)", "$V report s.vst 2>&1");
    /* the program inherits these settings */
    expect_bash(0, "trap -- '' SIGCHLD|trap -- '' SIGXFSZ|77\n",
                "(trap '' CHLD XFSZ; ulimit -Sn 77; exec $V run -q $S -o s.vst -- bash -c "
                "'trap; ulimit -Sn')");
    expect_bash(0, "~SIGXFSZ", "$V run -q $S -o s.vst -- bash -c 'trap'");
}

/* Names and checkpoints are added to the trace after the program's end. */
TEST(a_limit_of_file_sizes_costs_neither_the_status_nor_the_trace)
{
    assert_int_equal(bash("$V run -q $S -o l.vst -- $P sigkill; $V recover -o l2.vst l.vst; "
                          "(ulimit -f 1; $V recover l.vst; echo $?); ls -A | grep new$"), 1);
    assert_string_equal(out + strlen(out) - 2, "2\n");
    assert_prints(err, "File too large");
    assert_int_equal(bash("$V report l.vst"), 0); /* as it was */
    assert_int_equal(bash("(ulimit -f 4; $V run -q --symbolize=on $S -o f.vst -- bash -c '$P sigkill; exit 7')"),
                     7);
    assert_int_equal(bash("ls -A | grep new$"), 1);
}

/* The summary waits for a reader that never reads. */
TEST(an_interrupt_of_the_summary_leaves_the_programs_status)
{
    assert_int_equal(
        bash("mkfifo full; exec 9<>full; dd if=/dev/zero of=full bs=4k oflag=nonblock 2>/dev/null\n"
             "$V run --symbolize=on $S -o i.vst -- bash -c 'exec 2>/dev/null; echo $$ >program; "
             "$P sigkill >&2; exit 7' 2>full & p=$!\n"
             "for j in {1..3000}; do [ -s program ] && ! kill -0 $(<program) 2>/dev/null && break; "
             "sleep 0.01; done\n"
             "for j in {1..300}; do kill -TERM $p 2>/dev/null || break; sleep 0.1; done\n"
             "wait $p; echo $?; ls -A tmp; ls -A | grep new$; rm full program"), 0);
    assert_string_equal(out, "7\n");
}

TEST(no_room_for_the_list_of_traces_is_said_before_the_start)
{
    if (bash("unshare --mount true")) {
        print_message("not allowed to mount here\n");
        skip();
    }
    expect_bash(125, "!No space left on device; set TMPDIR|=all\n",
                "mkdir full; unshare --mount bash -c 'mount -t tmpfs -o size=16k none full; "
                "head -c 16k /dev/zero >full/all 2>/dev/null; TMPDIR=$PWD/full $V run $S -o n.vst "
                "-- $P sigkill; s=$?; ls full; exit $s'");
}

/* Ended as soon as the hidden file exists: if it is not seen in time, the test proves nothing. */
TEST(what_was_half_written_is_removed_by_an_interrupt)
{
    if (bash("test -x $(dirname $P)/victim_sampling")) /* not built without a compiler for it */
        skip();
    assert_int_equal(bash("$V run -q $S,time=off -o long.vst -- $(dirname $P)/victim_sampling churn "
                          "10000 >/dev/null; head -c -20 long.vst >k.vst"), 0);
    bash("for i in 1 2 3 4; do $V recover -o o.vst k.vst >/dev/null & p=$!\n"
         "for j in {1..30000}; do [ -e .o.vst.$p.new ] && break; kill -0 $p || break; done\n"
         "kill -TERM $p; wait $p; [ -e .o.vst.$p.new ] && echo left; done 2>/dev/null");
    assert_null(strstr(out, "left"));
}

/* A signal interrupts the reading and the waiting of `run`, which passes it on and goes on. */
TEST(signals_that_the_program_survives_do_not_end_the_waiting)
{
    assert_int_equal(
        bash("mkfifo sig_hold; $V run -q $S -o signals.vst -- bash -c '"
             "trap \"echo got >>sig_got\" TERM; mkdir sig_ready; "
             "until [ -e sig_done ]; do read -t 0.05 <> sig_hold; done; exit 5' &\n"
             "p=$!; until [ -e sig_ready ]; do read -t 0.05 <> sig_hold; done\n"
             "for i in 1 2 3; do kill -TERM $p; "
             "until [ -e sig_got ] && [ $(wc -l <sig_got) -ge $i ]; "
             "do read -t 0.05 <> sig_hold; done; done\n"
             "mkdir sig_done; wait $p"), 5);
}

/* `timeout -s KILL` does not wait for the program that it kills: while the kernel still frees its
 * memory, the summary called it running. */
TEST(a_killed_process_that_nobody_waits_for_has_ended)
{
    bash("mkfifo ready; $V run $S -o k.vst -- bash -c '$P large >ready & read x <ready; "
         "kill -KILL $!; kill -KILL $$'");
    assert_prints(err, "no end recorded (killed)");
    assert_null(strstr(err, "still running"));
}

TEST(a_trace_is_not_recovered_while_it_is_recorded)
{
    assert_int_equal(
        bash("mkfifo hold; $V run -q $S -o busy.vst -- $P wait <hold &\nexec 9>hold; "
             "recorded busy.vst; $V report busy.vst; $V recover busy.vst; echo status $?\n"
             "rm busy.vst.live; $V recover busy.vst; echo status $?\n" /* the lock file remains */
             "echo >&9; wait; $V recover busy.vst; echo status $?"), 0);
    assert_prints(out, "still running");
    assert_prints(out, "status 2\nstatus 2\n");
    assert_prints(out, "status 0\n");
    assert_prints(err, "busy.vst is being recorded by process ");
}

TEST(one_of_another_container_neither)
{
    if (bash("unshare --pid --fork true")) {
        print_message("not allowed to make a container here\n");
        skip();
    }
    assert_int_equal(
        bash("mkfifo hold2; unshare --pid --fork --mount-proc $V run -q $S -o far.vst -- $P wait "
             "<hold2 &\nexec 9>hold2; recorded far.vst\n"
             "$V recover far.vst; echo status $?\n"
             "unshare --pid --fork --mount-proc $V recover far.vst; echo status $?\n"
             "echo >&9; wait"), 0);
    assert_string_equal(out, "status 2\nstatus 2\n");
    assert_prints(err, "far.vst is being recorded by process ");
    assert_prints(err, "far.vst is being recorded by a process in another container");
}

TEST(a_newline_in_a_name_breaks_neither_lines_nor_the_summary)
{
    expect_bash(0, "!peak allocated|~!no trace was written",
                "$V run $S -o $'new\\nline.vst' -- $P atexit; test -s $'new\\nline.vst'");
    assert_int_equal(bash("$V report $'no\\nsuch.vst'"), 2);
    assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1);
}

TEST(a_process_that_became_another_user_is_in_the_summary)
{
    if (geteuid() || bash("setpriv --reuid=65534 --regid=65534 --clear-groups test -x $V")) {
        print_message("no other user to become here\n");
        skip();
    }
    assert_int_equal(bash("chmod 711 .; mkdir open; chmod 1777 open; $V run $S -o open/%p.vst -- "
                          "setpriv --reuid=65534 --regid=65534 --clear-groups $P atexit"), 5);
    assert_prints(err, "peak allocated");
    assert_int_equal(bash("ls -A tmp"), 0);
    assert_string_equal(out, ""); /* the manifest is gone */
}

/* `run` moves an older trace aside. If killed, it cannot restore it; the next run does. */
TEST(an_older_trace_comes_back_after_run_was_killed)
{
    assert_int_equal(
        bash("$V run -q $S -o old.vst -- $P sigkill >/dev/null; cp old.vst saved; cp old.vst.live saved.live\n"
             "$V run -q -o old.vst -- sh -c 'touch up; exec sleep 600' & run=$!\n"
             "for i in $(seq 6000); do [ -e up ] && break; sleep 0.05; done\n"
             "kill -KILL -- -$run; wait $run; test ! -e old.vst && ls -A | grep -q 'old.vst.*before' && "
             "$V run -q -o old.vst -- true && cmp old.vst saved && cmp old.vst.live saved.live && "
             "ls -A | grep -c 'old.vst'"), 0);
    assert_string_equal(out, "2\n");
}

/* A new trace was written meanwhile: the older one is removed. */
TEST(or_goes_where_there_is_a_new_one)
{
    assert_int_equal(
        bash("$V run -q $S -o old2.vst -- $P atexit >/dev/null; cp old2.vst saved\n"
             "$V run -q -o old2.vst -- sh -c 'touch up2; exec sleep 600' & run=$!\n"
             "for i in $(seq 6000); do [ -e up2 ] && break; sleep 0.05; done\n"
             "kill -KILL -- -$run; wait $run; $V run -q $S -o old2.vst -- $P device >/dev/null\n"
             "cmp -s old2.vst saved || ls -A | grep -c 'old2.vst'"), 0);
    assert_string_equal(out, "1\n");
}
