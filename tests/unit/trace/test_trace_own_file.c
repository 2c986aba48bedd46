/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that a recording creates: an existing file of that name stays unchanged (also
 * tests/preload/test_run_names.cases). */
#include "unit/trace/trace_test.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/vs_link.h"
#include "trace/record/own_file.h"

TEST(a_pipe_that_nobody_reads_is_refused)
{
    const char *pipe_path = scratch("pipe"), *link = scratch("to-pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(symlink(pipe_path, link), 0);
    assert_int_equal(vs_own_file_create(link, true), -1);
    assert_int_equal(errno, ENXIO);
    int reader = open(pipe_path, O_RDONLY | O_NONBLOCK), fd = vs_own_file_create(link, true);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    close(reader);
    close(fd);
}

TEST(only_that_file_is_removed)
{
    const char *path = scratch("ours");
    struct stat st;
    spit(path, "1", 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(rename(path, scratch("moved")), 0);
    spit(path, "theirs", 6);
    vs_own_file_remove(path, (uint64_t)st.st_dev, (uint64_t)st.st_ino);
    assert_holds(path, "theirs", 6);
    vs_own_file_remove(scratch("moved"), (uint64_t)st.st_dev, (uint64_t)st.st_ino);
    assert_int_equal(access(scratch("moved"), F_OK), -1);
}

TEST(links_are_followed_to_what_is_not_there_yet)
{
    char path[600], expected[600];
    assert_int_equal(symlink("b", scratch("a")), 0);
    assert_int_equal(symlink("new.vst", scratch("b")), 0);
    snprintf(path, sizeof path, "%s/a", scratch_dir);
    snprintf(expected, sizeof expected, "%s/new.vst", scratch_dir);
    assert_true(vs_link_follow(path, sizeof path));
    assert_string_equal(path, expected);
    assert_int_equal(symlink("loop", scratch("loop")), 0);
    snprintf(path, sizeof path, "%s/loop", scratch_dir);
    assert_false(vs_link_follow(path, sizeof path));
    assert_int_equal(errno, ELOOP);
    snprintf(path, sizeof path, "%s/a", scratch_dir);
    assert_false(vs_link_follow(path, strlen(path) + 1)); /* no room for the link's target */
    assert_int_equal(errno, ENAMETOOLONG);
    if (geteuid() == 0 && !lchown(scratch("b"), 65534, 65534)) {
        snprintf(path, sizeof path, "%s/a", scratch_dir);
        assert_false(vs_link_follow(path, sizeof path));
        assert_int_equal(errno, EPERM);
    }
}

/* --- copies that the program asks for --- */

TEST(only_plain_files_are_replaced_by_a_copy)
{
    struct vs_recorder *r = open_recorder(scratch("whole.vst"), 1, 0);
    const char *pipe_path = scratch("copy-pipe"), *link = scratch("to-copy"), *gone = scratch("to-none");
    struct stat st;
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(vs_recorder_copy(r, pipe_path), VS_ERR_ARG);
    assert_int_equal(stat(pipe_path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(vs_recorder_copy(r, "/dev/null"), VS_ERR_ARG);
    assert_int_equal(vs_recorder_copy(r, scratch("whole.vst")), VS_ERR_ARG);
    assert_int_equal(vs_recorder_copy(r, scratch_dir), VS_ERR_IO);
    assert_int_equal(errno, EISDIR);
    /* links lead to the file, which is replaced, or made */
    spit(scratch("copy.vst"), "old", 3);
    assert_int_equal(symlink("copy.vst", link), 0);
    assert_int_equal(symlink("made.vst", gone), 0);
    assert_int_equal(vs_recorder_copy(r, link), VS_OK);
    assert_int_equal(vs_recorder_copy(r, gone), VS_OK);
    vs_recorder_close(r, VS_END_EXIT, 0);
    assert_true(!lstat(link, &st) && S_ISLNK(st.st_mode) && !lstat(gone, &st) && S_ISLNK(st.st_mode));
    assert_true(!stat(scratch("copy.vst"), &st) && st.st_size > 100);
    assert_true(!stat(scratch("made.vst"), &st) && st.st_size > 100);
}

/* The limit on the size of files: a write past it would raise SIGXFSZ, which ends the program. */
TEST(a_copy_past_the_limit_of_file_sizes_fails_alone)
{
    struct rlimit before, small;
    char copy_text[256];
    memset(copy_text, 'x', sizeof copy_text);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = 64, .rlim_max = before.rlim_max};
    struct vs_own_copy copy;
    int fd = open(scratch("grows"), O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0 && write(fd, copy_text, sizeof copy_text) == (ssize_t)sizeof copy_text);
    assert_int_equal(vs_own_copy_begin(&copy, fd, 200, copy_text, 30), VS_OK);
    assert_int_equal(pwrite(fd, "changed", 7, 200), 7); /* behind the part that is copied */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum vs_err err = vs_own_copy_write(&copy, scratch("past"));
    int error = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(err, VS_ERR_IO);
    assert_int_equal(error, EFBIG);
    assert_int_equal(access(scratch("past"), F_OK), -1);
    assert_int_equal(vs_own_copy_write(&copy, scratch("past")), VS_OK);
    vs_own_copy_close(&copy);
    close(fd);
    assert_holds(scratch("past"), copy_text, 230);
}
