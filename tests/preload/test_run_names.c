/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of traces: an existing file, behind a link or beside as FILE.live, is a user's file or
 * another recording's data and is kept. */
#define _GNU_SOURCE

#define SIMULATED "t4-16g"
#include "preload/run_shell.h"

TEST(a_file_behind_a_link_is_not_written_to)
{
    expect_bash(0, "=thesis\n3\n|!=",
                "mkdir a; cd a; echo thesis >precious; ln -s precious t.vst\n"
                "alone \"$PWD/t.vst\" $P device >/dev/null; cat precious; test -L t.vst; "
                "$V report t.*.vst >/dev/null && ls | wc -l");
}

TEST(a_link_leads_to_where_the_trace_is_made)
{
    assert_int_equal(bash("mkdir -p b/disk; cd b; ln -s disk/x.vst t.vst\n"
                          "alone t.vst $P device >/dev/null; test -L t.vst && test -s disk/x.vst && "
                          "test ! -e disk/x.vst.live && $V report t.vst >/dev/null && ls . disk"), 0);
    assert_string_equal(out, ".:\ndisk\nt.vst\n\ndisk:\nx.vst\n");
    assert_int_equal(bash("cd b; ln -s ../nowhere/x.vst lost; alone lost $P device"), 0);
    assert_prints(err, "cannot write the trace ");
    expect_bash(0, "=1\n",
                "cd b; ln -s loop loop; alone loop $P device >/dev/null; ls loop.*.vst | wc -l");
}

TEST(devices_and_pipes_are_written_to)
{
    expect_bash(0, "=copy\npipe\n/dev/null\n|!=",
                "mkdir c; cd c; alone /dev/null $P device >/dev/null; mkfifo pipe; "
                "exec 3<>pipe; cat <pipe >copy 3>&- & alone pipe $P device >/dev/null 3>&-; "
                "exec 3>&-; wait; "
                "$V report --partial copy >/dev/null; ls; ls /dev/null*");
}

/* As in a container, whose programs all have the same pid. */
TEST(names_do_not_run_out)
{
    expect_bash(0, "=1\n101\n|!=",
                "mkdir d; cd d; alone t.vst bash -c 'touch t.vst t.$$.vst t.$$.{2..99}.vst; "
                "exec $P device' >/dev/null; find . -type f -size +0 | wc -l; ls | wc -l");
}

/* After a kill only the trace was moved; its last events are in FILE.live. */
TEST(a_live_window_left_behind_survives_the_next_recording)
{
    assert_int_equal(bash("mkdir e; cd e; for how in '$V run -q $S -o t.vst --' 'alone t.vst'; do\n"
                          "$V run -q $S -o t.vst -- $P sigkill >/dev/null; "
                          "$V recover -o whole.vst t.vst >/dev/null; mv t.vst crash.vst; "
                          "eval $how $P device >/dev/null; test ! -e t.vst.live && "
                          "mv t.vst.live.???????? crash.vst.live && $V recover crash.vst >/dev/null && "
                          "cmp crash.vst whole.vst && rm *.vst && ls; done"), 0);
    assert_string_equal(out, "");
    char *said = strstr(err, "t.vst.live belongs to another trace");
    assert_non_null(said);
    assert_non_null(strstr(said + 1, "t.vst.live belongs to another trace"));
}

/* Moved while recorded: neither recording removes the other's window. */
TEST(two_recordings_that_had_the_same_name_keep_their_windows)
{
    assert_int_equal(
        bash("mkdir f; cd f; mkfifo hold hold2; alone t.vst $P wait <hold & exec 8>hold; recorded t.vst; "
             "mv t.vst first.vst; was=$(stat -c %i t.vst.live); alone t.vst $P wait <hold2 & exec 9>hold2\n"
             "for i in {1..6000}; do [ $(stat -c %i t.vst.live 2>/dev/null || echo $was) != $was ] && break; "
             "sleep 0.05; done; recorded t.vst\n"
             "echo >&8; wait %1; test -e t.vst.live && echo there; echo >&9; wait; "
             "test ! -e t.vst.live && $V report first.vst t.vst >/dev/null && echo whole"), 0);
    assert_string_equal(out, "there\nwhole\n");
}

TEST(a_file_of_that_name_that_is_no_window_stays)
{
    expect_bash(0, "=mine\n2\n|!cannot map ",
                "mkdir g; cd g; echo mine >t.vst.live; alone t.vst $P device >/dev/null; "
                "cat t.vst.live; $V report t.vst >/dev/null && ls | wc -l");
}

TEST(no_command_writes_over_what_is_recorded_or_not_whole)
{
    assert_int_equal(
        bash("mkdir h; cd h; $V run -q $S -o a.vst -- $P device >/dev/null; "
             "$V run -q $S -o k.vst -- $P sigkill >/dev/null; ln -s k.vst.live window; "
             "sum=$(cat k.vst k.vst.live | cksum); cp a.vst other.vst; "
             "mkfifo hold; alone t.vst $P wait <hold & exec 9>hold; recorded t.vst\n"
             "for f in t.vst k.vst; do for v in recover symbolize; do $V $v -o $f a.vst; echo $?; done; "
             "done; for f in other.vst t.vst t.vst.live k.vst.live window; do "
             "$V export -f chrome -o $f a.vst; echo $?; done; echo >&9; wait\n"
             "cmp a.vst other.vst && [ \"$sum\" = \"$(cat k.vst k.vst.live | cksum)\" ] && "
             "$V report t.vst >/dev/null && $V recover k.vst >/dev/null && "
             "$V symbolize -o k.vst a.vst >/dev/null && $V report k.vst >/dev/null"), 0);
    assert_string_equal(out, "2\n2\n2\n2\n2\n2\n2\n2\n2\n");
    assert_prints(err, "t.vst is being recorded by process ");
    assert_prints(err, "k.vst has no end, and its last events are in k.vst.live");
    assert_prints(err, "other.vst is a trace or its .live file");
}

TEST(a_link_given_to_a_command_leads_to_its_file)
{
    assert_int_equal(
        bash("mkdir -p i/disk; cd i; ln -s disk/x.vst t.vst; for i in 1 2; do "
             "$V run -q $S -o t.vst -- $P atexit >/dev/null; done; ls; ls -A disk\n"
             "ln -s disk/w.vst w.vst; $V symbolize -o w.vst t.vst >/dev/null; ls disk; test -L w.vst && "
             "test -L t.vst && ln -s nowhere/x.vst n.vst; $V run -o n.vst -- touch ran; echo $?; "
             "test ! -e ran"), 0);
    assert_string_equal(out, "disk\nt.vst\nx.vst\nw.vst\nx.vst\n125\n");
    assert_prints(err, "cannot write the trace in ");
}

TEST(an_older_trace_gives_way_where_its_name_is_known)
{
    expect_bash(0, "=2\n1\nt3.vst\n|~!stays|~!not of this run",
                "mkdir j; cd j; unset RANK OMPI_COMM_WORLD_RANK SLURM_PROCID PMI_RANK\n"
                "for m in device atexit; do RANK=3 $V run $S -o t%r.vst -- $P $m; "
                "$V run $S -o %n-%h.vst -- $P $m; done >/dev/null; ls | wc -l; "
                "$V report t3.vst | grep -c ' atexit'; "
                "RANK=3 $V run -o t%r.vst -- true; ls -A t3.vst");
}

TEST(or_it_is_said_that_it_stays)
{
    static const char begin[] = "unset RANK OMPI_COMM_WORLD_RANK SLURM_PROCID PMI_RANK; cd k; ";
    char script[1024];
    snprintf(script, sizeof script, "mkdir k; %s echo mine >t0.vst; $V run $S -o t%%r.vst -- "
             "$P device >/dev/null; cat t0.vst; ls | wc -l", begin);
    expect_bash(0, "=mine\n2\n|!t0.vst exists and is kept|!t0.vst is from an earlier run; this "
                "run's trace is ", script);
    snprintf(script, sizeof script, "%s echo mine >x5.vst; RANK=5 $V run $S -o x%%r.vst -- $P device "
             ">/dev/null; cat x5.vst; ls x5.*.vst | wc -l", begin);
    expect_bash(0, "=mine\n1\n|!x5.vst exists and is kept", script);
    snprintf(script, sizeof script, "%s for RANK in 1 2; do export RANK; $V run -q $S -o %%n.vst -- "
             /* the name of other ranks, too */
             "$P device; done >/dev/null; ls victim* | wc -l", begin);
    expect_bash(0, "=2\n", script);
    assert_int_equal(bash("mkdir r; cd r; RANK=3 $V run -q $S -- $P device >/dev/null; $V run -q $S -- $P device "
                          ">/dev/null; ls | sed 's/[0-9]*[.]vst/PID.vst/'"), 0);
    assert_int_equal(strncmp(out, "vramscope.victim", 16), 0);
    assert_non_null(strstr(out, ".rank3.PID.vst\n"));
}

/* The user's file has the name: only the message says where the trace is. */
TEST(a_quiet_run_says_where_the_trace_is)
{
    expect_bash(0, "=mine\n2\n|!t.vst is from an earlier run; this run's trace is ",
                "mkdir l; cd l; $V run -q $S -o t.vst -- bash -c 'echo mine >t.vst; $P device' "
                ">/dev/null; cat t.vst; $V report t.*.vst >/dev/null && ls | wc -l");
    expect_bash(0, "=t.vst\n|!=", "cd l; rm *; $V run -q $S -o t.vst -- $P device >/dev/null; ls");
}

/* Like torchrun: "ranks FROM TO COMMAND…" starts one process for each rank, with RANK set for it
 * alone. */
#define RANKS "unset RANK OMPI_COMM_WORLD_RANK SLURM_PROCID PMI_RANK; cat >ranks <<'.'\n" \
    "for ((r = $1; r <= $2; r++)); do RANK=$r LOCAL_RANK=$r \"${@:3}\" & done; wait\n.\n"

TEST(every_rank_s_trace_has_its_name_again)
{
    expect_bash(0, "=0.vst\n1.vst\n2.vst\n0.vst\n1.vst\n2.vst\n1\n1\n1\n|!3 processes used CUDA|"
                "~!stays|~!of this run|~!earlier run",
                "mkdir m; cd m; " RANKS "mkdir t; for m in device atexit; do\n"
                "$V run $S -o t/%r.vst -- bash ranks 0 2 $P $m >/dev/null; ls -A t; done\n"
                "for r in 0 1 2; do $V report t/$r.vst | grep -c ' atexit'; done");
    assert_int_equal(bash("cd m; $V run -q $S -o t/%r.vst -- bash ranks 1 1 $P device >/dev/null; ls -A t; "
                          "for r in 0 1; do $V report t/$r.vst | grep -c ' atexit'; done; true"), 0);
    assert_string_equal(out, "0.vst\n1.vst\n2.vst\n1\n0\n");
    assert_prints(err, "t/0.vst and the traces of 1 more ranks are from an earlier run");
}

TEST(a_rank_that_was_killed_brings_its_last_events)
{
    assert_int_equal(bash("mkdir n; cd n; " RANKS "mkdir t; for i in 1 2; do\n"
                          "$V run $S -o t/%r.vst -- bash ranks 0 1 $P sigkill >/dev/null; done; ls -A t; "
                          "$V recover t/0.vst >/dev/null && $V recover t/1.vst && ls -A t"), 0);
    assert_string_equal(strstr(out, "\n0.vst\n1.vst\n") ? "whole" : out, "whole");
    assert_int_equal(strncmp(out, "0.vst\n0.vst.live\n1.vst\n1.vst.live\n", 34), 0);
    assert_null(strstr(err, "belongs to another trace"));
}

/* The FILE.live belongs to an earlier trace, which was moved without it. */
TEST(a_killed_rank_loses_nothing_to_a_stray_live_window)
{
    assert_int_equal(
        bash("mkdir n2; cd n2; " RANKS "mkdir t; $V run -q $S -o x.vst -- $P sigkill >/dev/null; "
             "$V recover -o whole.vst x.vst >/dev/null\n"
             "$V run -q $S -o t/%r.vst -- bash ranks 0 0 $P device >/dev/null; mv x.vst.live t/0.vst.live; "
             "$V run $S -o t/%r.vst -- bash ranks 0 0 $P sigkill >/dev/null\n"
             "mv t/0.vst.live.???????? x.vst.live; ls -A t; $V recover t/0.vst >/dev/null; "
             "$V recover x.vst >/dev/null && cmp x.vst whole.vst && "
             "$V report t/0.vst | grep -c ' sigkill'"), 0);
    assert_string_equal(out, "0.vst\n0.vst.live\n1\n");
    assert_prints(err, "0.vst.live belongs to another trace");
}

/* A file being recorded elsewhere, a file that is not a trace, or a trace of this run keeps the
 * name. */
TEST(a_rank_s_name_is_taken_from_an_older_trace_alone)
{
    expect_bash(0, "=mine\n5\n2\n|!0.vst is from an earlier run; this run's trace is |!1.vst is "
                "from an earlier run; this run's trace is ",
                "mkdir o; cd o; " RANKS "mkdir t; mkfifo hold; "
                "alone t/0.vst $P wait <hold & exec 9>hold; recorded t/0.vst; echo mine >t/1.vst\n"
                "$V run $S -o t/%r.vst -- bash ranks 0 2 $P device >/dev/null; cat t/1.vst; "
                "echo >&9; wait; ls -A t | grep -c vst$; ls t/0.*.vst t/1.*.vst | wc -l; "
                "$V report t/0.vst >/dev/null");
    expect_bash(0, "=3\n1\n2\n|~!not of this run",
                "cd o; rm t/*; for i in 1 2; do $V run $S -o t/%r.vst -- bash -c "
                "'RANK=0 $P device; RANK=0 $P atexit' >/dev/null; done; ls -A t | wc -l; "
                "$V report t/0.vst | grep -c 'command.* device$'; "
                "$V report t/0.*.vst | grep -c 'exit 5'");
}

TEST(a_number_in_a_name_is_no_name_that_was_taken)
{
    expect_bash(0, "=3\n|!=",
                "mkdir p; cd p; for o in t.vst t.5.vst t.%p.vst; do "
                "$V run -q $S -o $o -- $P device >/dev/null; done; ls | wc -l");
}

/* A branch "feature/x" is often checked out as "feature%2Fx". */
TEST(a_percent_sign_of_the_present_folder_is_none_of_the_pattern)
{
    assert_int_equal(bash("for d in q%2Fx 'run%p' '100%'; do mkdir $d; cd $d; for o in t.vst x.%r.vst a%%b.vst; do\n"
                          "$V run -q $S -o $o -- $P device >/dev/null || exit; done\n"
                          "$V run -q $S -o t.vst -- $P device >/dev/null && $V run -q $S -- $P device >/dev/null; "
                          "ls | sed 's/[0-9]\\{2,\\}/PID/'; cd ..; done"), 0);
    const char *names = "a%b.vst\nt.vst\nvramscope.victim_shared.PID.vst\nx.0.vst\n";
    char expected[256];
    snprintf(expected, sizeof expected, "%s%s%s", names, names, names);
    assert_string_equal(out, expected);
    assert_string_equal(err, "");
}

TEST(links_and_recordings_are_seen_in_a_folder_with_a_percent_sign)
{
    expect_bash(125, "=x.vst\n|!r%2Fx/other exists and is not a trace",
                "mkdir r%2Fx; cd r%2Fx; mkdir 5%; ln -s 5%/x.vst t.vst; "
                "$V run -q $S -o t.vst -- $P device >/dev/null; test -L t.vst && ls 5%; "
                "echo thesis >other; $V run -q $S -o other -- $P device");
}

TEST(index_says_that_a_killed_trace_is_whole_now)
{
    assert_int_equal(bash("$V run -q $S -o killed.vst -- $P sigkill >/dev/null; $V index killed.vst; "
                          "$V index --every 1 killed.vst; test ! -e killed.vst.live"), 0);
    assert_prints(out, "killed.vst is complete now");
    char *again = strstr(out, "complete now");
    assert_null(strstr(again + 1, "complete now"));
}

TEST(the_library_is_found_without_proc)
{
    if (bash("unshare --mount umount -l /proc")) {
        print_message("not allowed to take /proc away here\n");
        skip();
    }
    assert_int_equal(bash("unshare --mount sh -c \"umount -l /proc; exec $V run -q $S -o p.vst -- $P "
                          "atexit\""), 5);
    assert_null(strstr(err, "missing from this installation"));
    assert_int_equal(bash("$V report p.vst >/dev/null"), 0);
}
