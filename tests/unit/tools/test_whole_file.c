/* SPDX-License-Identifier: Apache-2.0
 *
 * Files written by `export -o` are complete or do not exist. */
#define _GNU_SOURCE

#include "support/shell_folder.h"
#include "support/trace_text.h"

static struct vs_builder trace;

/* Its export is larger than the 8 KiB that a file may have in "full". */
SETUP(make_trace)
{
    vs_builder_open(&trace, "observe");
    vs_trace(&trace, "device 1G Test GPU; repeat 200 { alloc 4i 4M }");
    vs_builder_close(&trace, VS_END_EXIT, 0);
    return 0;
}

/* $V is the command, $T the trace; "chrome FILE" exports, "full" does so on a disk that fills
 * up. */
static int bash(const char *script)
{
    char before[1024];
    snprintf(before, sizeof before,
             "V='%s' T='%s'\n"
             "chrome() { $V export -f chrome --all-points --min-bytes 1MiB -o \"$@\" \"$T\"; }\n"
             "full() { (trap '' XFSZ; ulimit -f 8; \"$@\"); }\n"
             "whole() { python3 -c 'import json,sys; json.load(open(sys.argv[1]))' \"$1\"; }",
             VS_TEST_COMMAND, trace.path);
    return run_script(before, script);
}

static void assert_prints(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

TEST(a_full_disk_leaves_what_was_there)
{
    assert_int_equal(bash("mkdir a; cd a; echo old >t.json; full chrome t.json; echo $?; cat t.json; "
                          "ls -A"), 0);
    assert_string_equal(out, "2\nold\nt.json\n");
    assert_prints(err, "cannot write t.json: File too large");
    assert_prints(err, "t.json is unchanged");
    assert_int_equal(bash("cd a; full chrome new.json; echo $?; ls -A"), 0);
    assert_string_equal(out, "2\nt.json\n");
    assert_null(strstr(err, "as it was"));
}

TEST(a_trace_that_is_refused_leaves_what_was_there)
{
    assert_int_equal(bash("mkdir b; cd b; echo old >t.json; head -c -100 \"$T\" >cut.vst; T=cut.vst\n"
                          "chrome t.json; echo $?; cat t.json; ls -A"), 0);
    assert_string_equal(out, "2\nold\ncut.vst\nt.json\n");
    assert_prints(err, "add --partial");
}

TEST(links_and_permissions_stay)
{
    assert_int_equal(bash("mkdir -p c/disk; cd c; umask 027; echo old >disk/x.json; "
                          "chmod 604 disk/x.json; ln -s disk/x.json t.json; chmod 644 \"$T\"\n"
                          "chrome t.json && test -L t.json && whole disk/x.json && "
                          "chrome new.json && stat -c %a disk/x.json new.json; ls -A . disk"), 0);
    assert_string_equal(out, "604\n640\n.:\ndisk\nnew.json\nt.json\n\ndisk:\nx.json\n");
    assert_int_equal(bash("cd c; ln -s disk/y.json later.json; chrome later.json && "
                          "test -L later.json && whole disk/y.json"), 0);
    assert_string_equal(err, "");
}

/* A trace is private to its user; what was made from it was readable by everyone. */
TEST(a_new_file_has_the_permissions_of_its_trace)
{
    assert_int_equal(bash("mkdir h; cd h; umask 022; chmod 600 \"$T\"; cp \"$T\" u.vst; chmod 644 u.vst\n"
                          "for t in \"$T\" u.vst; do for f in chrome csv sqlite; do $V export -f $f -o x \"$t\" && "
                          "stat -c %a x; rm -f x; done; $V view -o x.html \"$t\" >/dev/null && "
                          "stat -c %a x.html; rm x.html; done\n"
                          "$V view -o x.html u.vst \"$T\" >/dev/null && stat -c %a x.html"), 0);
    bool sqlite = !strstr(err, "not in this build");
    assert_string_equal(out, sqlite ? "600\n600\n600\n600\n644\n644\n644\n644\n600\n"
                                    : "600\n600\n600\n644\n644\n644\n600\n");
}

TEST(an_imported_trace_has_the_permissions_of_its_file)
{
    assert_int_equal(bash("mkdir i; cd i; umask 022\n"
                          "echo 7,00:00:01.0,allocate,0x7f0000000000,512,0x0 >a.csv; cp a.csv b.csv\n"
                          "V=\"$V import -q --format rmm-csv\"\n"
                          "chmod 600 a.csv; $V a.csv && $V b.csv && stat -c %a a.vst b.vst\n"
                          "$V -o c.vst - <b.csv && stat -c %a c.vst"), 0);
    assert_string_equal(out, "600\n644\n600\n");
}

TEST(pipes_devices_and_open_files_are_written_to)
{
    assert_int_equal(bash("mkdir d; cd d; mkfifo p; cat p >copy & chrome p && wait && whole copy && "
                          "chrome /dev/null && chrome - >stdout && whole stdout && "
                          "ls -l /dev/null | cut -c1; ls -A"), 0);
    assert_string_equal(out, "c\ncopy\np\nstdout\n");
    assert_int_equal(bash("cd d; (chrome /dev/stdout; echo more) >>both; tail -n 1 both; wc -l <both"),
                     0);
    assert_int_equal(strncmp(out, "more\n", 5), 0); /* and not to a file without a name */
    assert_true(atoi(out + 5) > 200);
}

TEST(what_may_not_be_written_is_refused)
{
    assert_int_equal(bash("mkdir e; cd e; chrome nowhere/t.json; echo $?; chrome .; echo $?; "
                          "ln -s loop loop; chrome loop; echo $?; ls -A"), 0);
    assert_string_equal(out, "2\n2\n2\nloop\n");
    assert_prints(err, "cannot write nowhere/t.json: No such file or directory; create the folder nowhere first");
    assert_prints(err, "cannot write .: Is a directory; give the name of a file");
    assert_prints(err, "cannot write loop: Too many levels of symbolic links");
    if (geteuid() == 0)
        return;
    assert_int_equal(bash("cd e; echo old >t.json; chmod 444 t.json; chrome t.json; echo $?; "
                          "cat t.json; rm t.json"), 0);
    assert_string_equal(out, "2\nold\n");
    assert_int_equal(bash("mkdir e/shut; cd e/shut; touch t.json; chmod 555 .; chrome t.json && "
                          "whole t.json; echo $?; chmod 755 ."), 0);
    assert_string_equal(out, "0\n"); /* no file can be created beside it */
}

TEST(an_interrupt_leaves_what_was_there)
{
    /* at any time: sometimes too late, or when only the process's exit is left */
    assert_int_equal(bash("mkdir f; cd f; echo old >t.json; for i in {1..8}; do\n"
                          "(exec $V export -f chrome --all-points --min-bytes 1MiB -o t.json \"$T\") &\n"
                          "until ls -A | grep -q new || ! kill -0 $! 2>/dev/null; do :; done\n"
                          "kill -INT $! 2>/dev/null; wait $!; ls -A\n"
                          "[ \"$(cat t.json)\" = old ] || whole t.json && echo old; echo old >t.json; "
                          "done"), 0);
    for (const char *line = out; *line; line += strlen("t.json\nold\n"))
        assert_int_equal(strncmp(line, "t.json\nold\n", strlen("t.json\nold\n")), 0);
}
