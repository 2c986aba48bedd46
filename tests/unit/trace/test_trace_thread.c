/* SPDX-License-Identifier: Apache-2.0
 *
 * The background thread in unusual programs: with so much thread-local data, placed at the top of
 * its stack, that little is left, and started by a thread with a real-time policy. */
#include "trace_test.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>

#define EVENTS 300000u

/* More than the thread itself needs; each thread has it on its stack. */
static _Thread_local volatile char large[600 << 10];

static pid_t writer_thread(void)
{
    pid_t found = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *e; (e = readdir(tasks));) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        int fd = open(path, O_RDONLY);
        if (fd >= 0 && read(fd, name, sizeof name - 1) > 0 &&
            strcmp(name, "vramscope-trace\n") == 0)
            found = (pid_t)strtol(e->d_name, NULL, 10);
        if (fd >= 0)
            close(fd);
    }
    closedir(tasks);
    return found;
}

/* The thread sets its name when it runs. */
static pid_t await_writer_thread(void)
{
    pid_t found = 0;
    for (int i = 0; i < 30000 && !(found = writer_thread()); i++)
        usleep(1000);
    return found;
}

static void record(struct vs_recorder *r, unsigned count)
{
    uint64_t state = 1;
    for (unsigned i = 0; i < count; i++) {
        struct vs_event e = {.kind = VS_EVENT_alloc,
                             .alloc = {.addr = random_next(&state), .size = i}};
        vs_recorder_event(r, &e);
    }
}

TEST(much_thread_local_data_leaves_it_its_stack)
{
    const char *path = scratch("large.vst");
    struct vs_event event;
    unsigned seen = 0;
    large[0] = 1;
    struct vs_recorder *r = open_recorder(path, 1, 0);
    assert_int_not_equal(await_writer_thread(), 0);
    record(r, EVENTS);
    vs_recorder_close(r, VS_END_EXIT, 0);
    struct vs_reader *reader = open_reader(path);
    while (next_plain(reader, &event))
        seen += event.kind == VS_EVENT_alloc;
    assert_int_equal(seen, EVENTS);
    close_reader(reader, VS_TRACE_COMPLETE);
}

struct real_time {
    int refused, policy;
};

static void *record_in_real_time(void *arg)
{
    struct real_time *out = arg;
    const struct sched_param param = {.sched_priority = 1};
    out->refused = pthread_setschedparam(pthread_self(), SCHED_RR, &param);
    if (out->refused)
        return NULL;
    struct vs_recorder *r = open_recorder(scratch("real_time.vst"), 1, 0);
    pid_t writer = await_writer_thread();
    out->policy = writer ? sched_getscheduler(writer) : -1;
    vs_recorder_close(r, VS_END_EXIT, 0);
    return NULL;
}

TEST(a_real_time_policy_stays_the_programs)
{
    struct real_time found = {.refused = -1};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, record_in_real_time, &found), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (found.refused)
        skip(); /* without the privilege such threads cannot be created */
    assert_true(found.policy == SCHED_OTHER || found.policy == SCHED_BATCH);
}
