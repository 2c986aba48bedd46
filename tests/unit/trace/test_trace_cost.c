/* SPDX-License-Identifier: Apache-2.0
 *
 * Costs that recording must not have: a system call or an allocation for an event or a cached
 * stack, processor time of a busy machine for the background thread, or an endless wait for a
 * thread of low priority. And that thread in unusual programs: with so much thread-local data, placed
 * at the top of its stack, that little is left, and started by a thread with a real-time policy. */
#include "trace_test.h"

#include <dirent.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "support/child.h"

#define EVENTS 8000 /* fit a window */

static _Thread_local bool forbidden;
static _Thread_local unsigned allocations;

#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
/* The allocator of this program, counted while a thread must not use it. */
extern void *__libc_malloc(size_t bytes);
void *malloc(size_t bytes)
{
    allocations += forbidden;
    return __libc_malloc(bytes);
}
#endif

__attribute__((noinline)) static uint64_t stack_here(struct vs_recorder *r)
{
    uint64_t stack = vs_recorder_stack(r, 0);
    __asm__ volatile("" ::: "memory");
    return stack;
}

static void record_pair(struct vs_recorder *r, uint64_t i, uint64_t api)
{
    record_event(r, EVENT(alloc, .addr = (i % 100 + 1) << 21, .requested = 1 << 20, .size = 1 << 20,
                          .api = api, .stack = stack_here(r)));
    record_event(r, EVENT(free, .addr = (i % 100 + 1) << 21, .api = api));
}

/* The background thread of this process, 0 when there is none. */
static pid_t background_thread(void)
{
    DIR *tasks = opendir("/proc/self/task");
    pid_t found = 0;
    for (struct dirent *d; tasks && (d = readdir(tasks));) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", d->d_name);
        int fd = open(path, O_RDONLY);
        if (fd < 0)
            continue;
        if (read(fd, name, sizeof name - 1) > 0 && !strncmp(name, "vramscope-trace", 15))
            found = atoi(d->d_name);
        close(fd);
    }
    closedir(tasks);
    return found;
}

/* The thread sets its name when it runs. */
static pid_t await_background_thread(void)
{
    pid_t found = 0;
    for (int i = 0; i < 30000 && !(found = background_thread()); i++)
        usleep(1000);
    return found;
}

/* In a child: exit 0 on success. *too_many*: makes one system call at the end, which proves that
 * the filter works. */
static int record_in_silence(const char *path, bool too_many)
{
    if (child_begin()) {
        struct vs_recorder *r = open_with((struct vs_recorder_config){
            .path = path, .compression = 1, .stack_depth_max = 16, .flush_ms = 60000,
            .window_bytes = (size_t)1 << 20});
        uint64_t api = vs_recorder_string(r, "cudaMalloc", SIZE_MAX);
        for (uint64_t i = 0; i < 100; i++) /* modules, the stack, the thread's id */
            record_pair(r, i, api);
        /* the background thread sleeps: at its start it takes the lock that events need */
        pid_t tid = 0;
        for (int quiet = 0; quiet < 3; usleep(5000)) {
            char stat_path[64], text[256] = "";
            tid = tid ? tid : background_thread();
            snprintf(stat_path, sizeof stat_path, "/proc/self/task/%ld/stat", (long)tid);
            int fd = tid ? open(stat_path, O_RDONLY) : -1;
            if (fd >= 0 && read(fd, text, sizeof text - 1) < 0)
                *text = 0;
            if (fd >= 0)
                close(fd);
            quiet = strstr(text, ") S") ? quiet + 1 : 0;
        }
        /* from here on any system call of this thread except exit kills it (SIGSYS) */
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        };
        struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
            _exit(77);
        forbidden = true;
        for (uint64_t i = 0; i < EVENTS / 2; i++)
            record_pair(r, i, api);
        if (too_many)
            syscall(SYS_getppid);
        syscall(SYS_exit_group, allocations ? 3 : 0);
    }
    return child_ending();
}

TEST(an_event_and_a_known_stack_make_no_system_call_and_no_allocation)
{
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
    skip(); /* sanitizers make system calls and allocations of their own */
#endif
    int status = record_in_silence(scratch("silent.vst"), false);
    if (status == 77)
        skip(); /* seccomp is not available */
    assert_int_equal(status, 0);
    assert_int_equal(record_in_silence(scratch("loud.vst"), true), 128 + SIGSYS);
}

static void wait_until_lowered(pid_t tid)
{
    for (unsigned i = 0; i < 30000 && sched_getscheduler(tid) != SCHED_BATCH; i++)
        usleep(1000);
    assert_int_equal(sched_getscheduler(tid), SCHED_BATCH);
}

TEST(the_background_thread_gives_way)
{
    if (sched_getscheduler(0) != SCHED_OTHER)
        skip();
    int niceness = getpriority(PRIO_PROCESS, 0);
    struct vs_recorder *r = open_recorder(scratch("low.vst"), 1, 0);
    pid_t tid = await_background_thread();
    assert_int_not_equal(tid, 0);
    wait_until_lowered(tid);
    assert_true(getpriority(PRIO_PROCESS, (id_t)tid) >= 10); /* set before the policy */
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER); /* and no other thread's policy */
    assert_int_equal(getpriority(PRIO_PROCESS, 0), niceness);
    vs_recorder_flush(r); /* waits for it, which raises its priority; then it lowers it again */
    record_pair(r, 1, 0);
    vs_recorder_flush(r);
    wait_until_lowered(tid);
    vs_recorder_close(r, VS_END_EXIT, 0);
}

static _Atomic bool enough;

static void *spin(void *arg)
{
    while (!atomic_load_explicit(&enough, memory_order_relaxed))
        ;
    return arg;
}

static void assert_events(const char *name, uint64_t expected)
{
    struct vs_reader *reader = open_reader(scratch(name));
    uint64_t events = 0;
    for (struct vs_event e; next_plain(reader, &e);)
        events++;
    assert_int_equal(events, expected);
    close_reader(reader, VS_TRACE_COMPLETE);
}

/* One processor, two threads of the program that never pause, and one that fills window after
 * window: it waits for the background thread, which has a lower priority than all the others. */
TEST(a_thread_that_waits_for_it_on_a_busy_machine_goes_on)
{
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++) {
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    pthread_t busy[2];
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&busy[i], NULL, spin, NULL), 0);
    struct vs_recorder *r = open_recorder(scratch("busy.vst"), 1, 0);
    for (uint64_t i = 0; i < 120000; i++) /* some twelve windows */
        record_pair(r, i, 0);
    vs_recorder_close(r, VS_END_EXIT, 0);
    atomic_store(&enough, true);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(busy[i], NULL);
    sched_setaffinity(0, sizeof before, &before);
    assert_events("busy.vst", 240001);
}

/* More than the thread itself needs; each thread has it on its stack. */
static _Thread_local volatile char large[600 << 10];

TEST(much_thread_local_data_leaves_it_its_stack)
{
    large[0] = 1;
    struct vs_recorder *r = open_recorder(scratch("large.vst"), 1, 0);
    assert_int_not_equal(await_background_thread(), 0);
    for (uint64_t i = 0; i < 150000; i++)
        record_pair(r, i, 0);
    vs_recorder_close(r, VS_END_EXIT, 0);
    assert_events("large.vst", 300001);
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
    pid_t writer = await_background_thread();
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

/* A program may rely on the number of its next file after closing one: a recorder's threads with
 * nothing to write open none. */
TEST(no_descriptor_is_taken_meanwhile)
{
    char byte = 1, copy = 0;
    struct iovec to = {&copy, 1}, from = {&byte, 1};
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1) {
        print_message("process_vm_readv is refused here, and a file of /proc asked instead\n");
        skip();
    }
    struct vs_recorder *r = open_with((struct vs_recorder_config){.path = scratch("idle.vst"),
        .compression = 1, .flush_ms = 2});
    int mine = open("/dev/null", O_RDONLY | O_CLOEXEC);
    unsigned others = 0;
    assert_true(mine >= 0);
    for (unsigned i = 0; i < 300000; i++) {
        close(mine);
        int again = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (again == mine)
            continue;
        others++;
        dup2(again, mine);
        close(again);
    }
    close(mine);
    vs_recorder_close(r, VS_END_EXIT, 0);
    assert_int_equal(others, 0);
}
