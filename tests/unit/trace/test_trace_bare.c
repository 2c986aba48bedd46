/* SPDX-License-Identifier: Apache-2.0
 *
 * A recorder without its helpers: no zstd, no libunwind, no thread, no room for FILE.live, a device
 * that accepts little at a time. This program overrides the C library's functions to make them
 * fail. */
#include "unit/trace/trace_test.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "base/vs_log.h"

#define EXPORT __attribute__((visibility("default")))

static bool refuse_libraries, refuse_thread, refuse_room, write_little;

EXPORT void *dlopen(const char *name, int flags);
void *dlopen(const char *name, int flags)
{
    if (refuse_libraries && name && (strstr(name, "libzstd") || strstr(name, "libunwind")))
        return NULL;
    void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return real(name, flags);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                          void *arg);
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    if (refuse_thread)
        return EAGAIN;
    __typeof__(&pthread_create) real =
        (__typeof__(&pthread_create))dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attr, start, arg);
}

EXPORT int posix_fallocate(int fd, off_t offset, off_t bytes);
int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    if (refuse_room)
        return ENOSPC;
    __typeof__(&posix_fallocate) real =
        (__typeof__(&posix_fallocate))dlsym(RTLD_NEXT, "posix_fallocate");
    return real(fd, offset, bytes);
}

EXPORT ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset);
ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset)
{
    static _Atomic unsigned turn;
    __typeof__(&pwrite) real = (__typeof__(&pwrite))dlsym(RTLD_NEXT, "pwrite");
    if (write_little && turn++ % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    return real(fd, from, write_little && bytes > 1000 ? 1000 : bytes, offset);
}

static char log_name[512];
static int stderr_before;

/* Standard error goes to a file until release_log. */
static void capture_log(void)
{
    stderr_before = dup(STDERR_FILENO);
    int fd = open(log_name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(fd, STDERR_FILENO);
    close(fd);
    vs_log_remember();
}

static void release_log(void)
{
    dup2(stderr_before, STDERR_FILENO);
    close(stderr_before);
}

SETUP(setup)
{
    snprintf(log_name, sizeof log_name, "%s", scratch("log.txt"));
    capture_log();
    vs_log(VS_LOG_ERROR, "log begins");
    release_log();
    return 0;
}

static unsigned times_printed(const char *part)
{
    size_t bytes;
    char *text = (char *)slurp(log_name, &bytes);
    unsigned n = (unsigned)vs_times(text, part);
    free(text);
    return n;
}

#define EVENTS 300000

static void record_some(const char *path, unsigned depth)
{
    capture_log();
    struct vs_recorder *r = open_recorder(path, 1, depth);
    for (uint64_t i = 0; i < EVENTS; i++) {
        record_event(r, EVENT(free, .addr = i, .stack = i < 2 ? vs_recorder_stack(r, 0) : 0));
        if (i == EVENTS / 2)
            vs_recorder_flush(r);
    }
    vs_recorder_close(r, VS_END_EXIT, 0);
    release_log();
}

static uint64_t check_some(const char *path)
{
    struct vs_reader *reader = open_reader(path);
    struct vs_event got;
    uint64_t stacks = 0;
    for (uint64_t i = 0; i < EVENTS; i++) {
        assert_true(next_plain(reader, &got));
        assert_int_equal(got.free.addr, i);
        stacks += got.free.stack != 0;
    }
    assert_int_equal(vs_reader_next(reader, &got), VS_OK);
    assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
    close_reader(reader, VS_TRACE_COMPLETE);
    return stacks;
}

/* Must run first: the libraries are searched once per process. */
TEST(without_zstd_and_libunwind_it_stores_plainly_and_says_so_once)
{
    const char *path = scratch("bare.vst");
    refuse_libraries = true;
    record_some(path, 16);
    record_some(path, 16);
    refuse_libraries = false;
    assert_int_equal(check_some(path), 0);
    assert_int_equal(times_printed("libzstd.so.1 was not found"), 1);
    assert_int_equal(times_printed("libunwind.so.8 was not found"), 1);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > EVENTS * 3); /* no compression */
}

TEST(without_a_thread_the_recording_threads_write)
{
    const char *path = scratch("alone.vst");
    refuse_thread = true;
    record_some(path, 0);
    refuse_thread = false;
    check_some(path);
    assert_int_equal(times_printed("cannot start the thread that writes the trace"), 1);
}

TEST(without_room_for_the_live_window_it_records_all_the_same)
{
    const char *path = scratch("roomless.vst");
    refuse_room = true;
    capture_log();
    struct vs_recorder *r = open_recorder(path, 1, 0);
    release_log();
    assert_int_equal(access(scratch("roomless.vst.live"), F_OK), -1);
    vs_recorder_close(r, VS_END_EXIT, 0);
    record_some(path, 0);
    refuse_room = false;
    check_some(path);
    assert_int_equal(times_printed("No space left on device"), 2); /* once per trace */
}

TEST(short_and_interrupted_writes_are_continued)
{
    const char *path = scratch("little.vst");
    write_little = true;
    record_some(path, 0);
    write_little = false;
    check_some(path);
}
