/* SPDX-License-Identifier: Apache-2.0
 *
 * The recording process of a trace, found by a lock on one byte that is never read; and the owner
 * of a trace that is rewritten in place. */
#include "unit/trace/trace_test.h"

#include <errno.h>
#include <grp.h>

#include "support/child.h"
#include "trace/read/rewrite.h"

#define LOCKED_BYTE ((off_t)1 << 62)
#define NOBODY 65534u
#define SOME_GROUP 54321u

/* Records a few events; the recorder stays open. */
static struct vs_recorder *begin(const char *path)
{
    struct vs_recorder *r = open_recorder(path, 1, 0);
    for (uint64_t i = 1; i <= 100; i++)
        record_event(r, EVENT(free, .addr = i << 12));
    return r;
}

/* Returns the result of *look* in another process: a lock does not block its holder, and is
 * released when the holder closes any descriptor of the file. */
static int in_a_child(int (*look)(const char *), const char *path)
{
    if (child_begin())
        _exit(look(path));
    return child_ending();
}

/* --- the recording process --- */

static int is_recorded_by_parent(const char *path)
{
    return vs_reader_recorded_by(path) == (uint64_t)getppid();
}

static int is_recorded(const char *path)
{
    return vs_reader_recorded_by(path) != 0;
}

static int one_byte_is_locked(const char *path)
{
    struct flock any = {.l_type = F_WRLCK, .l_whence = SEEK_SET}, *found = &any;
    int fd = open(path, O_RDONLY);
    return fd >= 0 && !fcntl(fd, F_GETLK, found) && found->l_type == F_WRLCK &&
           found->l_pid == getppid() && found->l_start == LOCKED_BYTE && found->l_len == 1;
}

/* As on a file system with mandatory locks: no byte of the trace's possible contents may be
 * locked. */
static int contents_can_be_locked(const char *path)
{
    struct flock all = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = LOCKED_BYTE};
    int fd = open(path, O_RDWR);
    bool read = fd >= 0 && !fcntl(fd, F_SETLK, &all);
    all.l_type = F_WRLCK;
    return read && !fcntl(fd, F_SETLK, &all);
}

static int is_refused(const char *path)
{
    char why[VS_READER_WHY_MAX] = "", said[128];
    struct vs_rewrite *rewrite;
    snprintf(said, sizeof said, "is being recorded by process %ld", (long)getppid());
    return vs_rewrite_open(path, NULL, 0, &rewrite, why) == VS_ERR_STATE && strstr(why, said);
}

TEST(the_lock_is_on_a_byte_that_nobody_reads)
{
    const char *path = scratch("locked.vst");
    struct vs_recorder *r = begin(path);
    assert_int_equal(in_a_child(is_recorded_by_parent, path), 1);
    assert_int_equal(in_a_child(one_byte_is_locked, path), 1);
    assert_int_equal(in_a_child(contents_can_be_locked, path), 1);
    assert_int_equal(in_a_child(is_refused, path), 1);
    assert_int_equal(unlink(live_of(path)), 0); /* only the lock is left */
    assert_int_equal(in_a_child(is_recorded_by_parent, path), 1);
    vs_recorder_close(r, VS_END_EXIT, 0);
    assert_int_equal(in_a_child(is_recorded, path), 0);
}

TEST(without_the_lock_the_mapping_decides)
{
    const char *path = scratch("unlocked.vst");
    struct vs_recorder *r = begin(path);
    close(open(path, O_RDONLY)); /* as any program may do: this releases the lock */
    assert_int_equal(in_a_child(one_byte_is_locked, path), 0);
    assert_int_equal(in_a_child(is_recorded_by_parent, path), 1);
    assert_int_equal(in_a_child(is_refused, path), 1);
    vs_recorder_close(r, VS_END_EXIT, 0);
    assert_int_equal(in_a_child(is_recorded, path), 0);
}

/* --- the file's owner --- */

static void skip_unless_root(void)
{
    if (geteuid() == 0)
        return;
    print_message("only root can give files away\n");
    skip();
}

static void make_owned(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
    vs_recorder_close(begin(path), VS_END_EXIT, 0);
    if (chown(path, uid, gid)) {
        print_message("not allowed to give files away: %s\n", strerror(errno));
        skip();
    }
    assert_int_equal(chmod(path, mode), 0);
}

/* 0, or the error. */
static int write_anew(const char *path, const char *to)
{
    char why[VS_READER_WHY_MAX];
    struct vs_rewrite *rewrite;
    enum vs_err err = vs_rewrite_open(path, to, 0, &rewrite, why);
    return err ? (int)err : (int)vs_rewrite_commit(rewrite, why);
}

static void assert_owned(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid, uid);
    assert_int_equal(st.st_gid, gid);
    assert_int_equal(st.st_mode & 07777, mode);
}

static ino_t inode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

TEST(a_trace_written_anew_in_place_stays_its_owners)
{
    skip_unless_root();
    const char *path = scratch("theirs.vst"), *to = scratch("copy.vst");
    make_owned(path, NOBODY, SOME_GROUP, 0640);
    ino_t before = inode_of(path);
    assert_int_equal(write_anew(path, NULL), 0);
    assert_int_not_equal(inode_of(path), before);
    assert_owned(path, NOBODY, SOME_GROUP, 0640);
    assert_int_equal(write_anew(path, to), 0); /* a new file belongs to its creator */
    assert_owned(to, geteuid(), getegid(), 0640);
    assert_int_equal(write_anew(to, to), 0);
    assert_owned(to, geteuid(), getegid(), 0640);
}

static void become_nobody(void)
{
    if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
        _exit(99);
}

static int rewrite_as_nobody(const char *path)
{
    become_nobody();
    return write_anew(path, NULL);
}

static int is_refused_to_nobody(const char *path)
{
    char why[VS_READER_WHY_MAX] = "";
    struct vs_rewrite *rewrite;
    become_nobody();
    return vs_rewrite_open(path, NULL, 0, &rewrite, why) == VS_ERR_STATE &&
           strstr(why, "belongs to another user") && strstr(why, "-o");
}

TEST(anothers_trace_is_not_taken_over)
{
    skip_unless_root();
    const char *path = scratch("ours.vst");
    size_t bytes;
    make_owned(path, geteuid(), getegid(), 0644);
    assert_int_equal(chmod(scratch_dir, 0777), 0);
    ino_t before = inode_of(path);
    unsigned char *was = slurp(path, &bytes);
    assert_int_equal(in_a_child(is_refused_to_nobody, path), 1);
    assert_int_equal(inode_of(path), before);
    assert_holds(path, was, bytes);
    free(was);
}

/* One's own file, of a group one is not in: its rights must not go to another group. */
TEST(a_group_that_cannot_be_kept_leaves_no_rights_to_another)
{
    skip_unless_root();
    const char *path = scratch("group.vst");
    make_owned(path, NOBODY, SOME_GROUP, 0664);
    assert_int_equal(chmod(scratch_dir, 0777), 0);
    assert_int_equal(in_a_child(rewrite_as_nobody, path), 0);
    assert_owned(path, NOBODY, NOBODY, 0604);
}
