/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that change the file state of a process: descriptors, folders, umasks, users, full
 * disks. */
#include <sys/mount.h>

#include "victim_memory.h"

VICTIM("files")

/* Fills the recorder's four windows of 256 KiB, and the first one again. */
static void much_work(void)
{
    for (size_t i = 0; i < 60000; i++)
        give(take((i * 7919 % 1000 + 1) * 16));
}

/* The files of the folder whose name has that end: calls *change*; returns the number of those for
 * which it is not 0. */
static int each_file(const char *end, int (*change)(const char *))
{
    int count = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(e->d_name), length = strlen(end);
        if (n > length && !strcmp(e->d_name + n - length, end))
            count += change(e->d_name) != 0;
    }
    closedir(d);
    return count;
}

/* --- descriptors --- */

/* Opens a file of the program's, with five bytes. */
static int own_file(char *path)
{
    int data = mkstemp(path);
    CHECK(data >= 0 && write(data, "mine\n", 5) == 5);
    return data;
}

static long size_of(int fd)
{
    struct stat st;
    CHECK(!fstat(fd, &st));
    return (long)st.st_size;
}

CASE(standard_streams_closed_before_cuda,
     "descriptors 0, 1 and 2 are closed before CUDA and stay closed", 0)
{
    int out = dup(1);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    some_work();
    int open_ones = 0;
    for (int fd = 0; fd < 3; fd++)
        open_ones += fcntl(fd, F_GETFD) >= 0;
    int next = open("/dev/null", O_RDWR);
    dprintf(out, "open %d next %d\n", open_ones, next);
    close(next);
}

CASE(all_descriptors_closed, "closes all descriptors", 0)
{
    some_work();
    int out = fcntl(1, F_DUPFD, 500);
    for (int fd = 3; fd < 500; fd++)
        close(fd);
    much_work();
    dprintf(out, "closed\n");
}

CASE(own_files_in_our_places, "replaces all descriptors by its own files", 0)
{
    char path[] = "data-XXXXXX", text[64] = "";
    some_work();
    int data = own_file(path);
    for (int fd = 90; fd < 500; fd++)
        dup2(data, fd);
    much_work();
    printf("%ld bytes in the program's own file\n", size_of(data));
    CHECK(pread(data, text, sizeof text, 0) == 5);
    unlink(path);
    for (int fd = 90; fd < 500; fd++)
        close(fd);
}

/* closes all descriptors that we could have open, and opens files of the program in their place */
static void new_place(int depth)
{
    if (depth)
        new_place(depth - 1);
    else
        some_work();
}

CASE(own_files_in_low_places, "closes all descriptors and opens its own files", 0)
{
    char path[] = "data-XXXXXX", text[64] = "";
    some_work();
    for (int fd = 3; fd < 500; fd++)
        close(fd);
    int data = own_file(path);
    for (int fd = data + 1; fd < 20; fd++)
        dup2(data, fd);
    for (int i = 0; i < 20; i++)
        new_place(i);
    void *handle = dlopen("libm.so.6", RTLD_NOW); /* stacks are unwound with new tables */
    for (int i = 0; i < 20; i++)
        new_place(i);
    CHECK(handle);
    printf("%ld bytes at %ld: %s", size_of(data), (long)lseek(data, 0, SEEK_CUR),
           pread(data, text, sizeof text, 0) > 0 ? text : "");
    unlink(path);
    for (int fd = data; fd < 20; fd++)
        close(fd);
}

/* a data file as descriptor 2, and then an event that we would log */
CASE(data_file_as_stderr,
     "a data file as descriptor 2: no message is written to it (the trace is deleted)", VF_NO_TRACE)
{
    char path[] = "data-XXXXXX";
    some_work();
    close(2);
    int data = mkstemp(path);
    CHECK(data == 2);
    each_file(".vst", unlink); /* the trace is deleted, which is reported at the end */
    each_file(".vst.live", unlink);
    fflush(stdout);
    pid_t pid = vfork(); /* our last messages must not be lost */
    if (!pid)
        _exit(0);
    status_of(pid);
    printf("%ld\n", size_of(data));
}

/* --- folders --- */

CASE(folder_left, "changes its working directory", 0)
{
    some_work();
    CHECK(!chdir("/"));
    much_work();
}

static int shorten(const char *name)
{
    return truncate(name, 0);
}

/* truncates it, as a user short of disk space might: its mapping is no longer valid */
CASE(live_file_shortened,
     "FILE.live is shortened: recording stops with one message (counts not compared)",
     VF_NO_TALLY | VF_TORN | VF_NOT_SANITIZED, STDERR_HAS("the file was truncated"))
{
    some_work();
    CHECK(!each_file(".vst.live", shorten));
    some_work();
    much_work();
}

CASE(folder_deleted, "the trace's folder is deleted: one message", VF_NO_TRACE,
     STDERR_HAS("was deleted while it was being recorded"))
{
    char command[] = "rm -rf gone";
    CHECK(!mkdir("gone", 0700) && !chdir("gone"));
    char *cwd = getcwd(NULL, 0), setting[4300];
    snprintf(setting, sizeof setting, "VRAMSCOPE_OUTPUT=%s/it.vst", cwd);
    putenv(setting);
    some_work();
    CHECK(!chdir("..") && !system(command));
    much_work();
    free(cwd);
    unsetenv("VRAMSCOPE_OUTPUT");
}

CASE(folder_read_only, "a folder without write permission: one message", VF_NO_TRACE,
     STDERR_HAS("cannot write the trace /proc/nothing-can-be-written-here.vst"))
{
    setenv("VRAMSCOPE_OUTPUT", "/proc/nothing-can-be-written-here.vst", 1);
    some_work();
}

CASE(root_changed, "changes its root directory", 0)
{
    some_work();
    if (chroot("/usr") || chdir("/"))
        errno = 0; /* needs privilege; otherwise the folder is the same */
    much_work();
}

static int mode_is_odd(const char *name)
{
    struct stat st;
    return !stat(name, &st) && (st.st_mode & 0777) != 0600;
}

/* with a strict umask, the trace's owner can read it */
CASE(mode_of_the_trace, "a umask of 0777: the owner can read the trace", 0)
{
    umask(0777);
    some_work();
    umask(022);
    printf("odd %d\n", each_file(".vst", mode_is_odd));
}

CASE(without_proc, "no /proc", 0)
{
    if (!unshare(CLONE_NEWNS)) {
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
        mount("none", "/proc", "tmpfs", 0, NULL);
    }
    some_work();
}

CASE_STATUS(other_user, "changes its effective user and group", 0)
{
    some_work();
    if (!geteuid() && (setegid(65534) || seteuid(65534)))
        return 1;
    much_work();
    if (seteuid(getuid()))
        return 1;
    return 0;
}

CASE_STATUS(other_user_for_good, "changes its user and group permanently", 0)
{
    some_work();
    if (!geteuid() && (setgid(65534) || setuid(65534)))
        return 1;
    much_work();
    return 0;
}

/* --- disks --- */

CASE(full_disk, "a full disk: one message", VF_NO_TRACE,
     STDERR_HAS("the program continues without recording"))
{
    setenv("VRAMSCOPE_OUTPUT", "/dev/full", 1);
    some_work();
}
