/* SPDX-License-Identifier: Apache-2.0
 *
 * Child processes of every kind. A child may use CUDA if its parent never did, and otherwise only
 * ends or calls exec. */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <errno.h>
#include <link.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "victim_memory.h"

VICTIM("fork and exec")

extern char **environ;

static int status_of(pid_t pid)
{
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* a new image of this program, with a tally of its own */
static char **again(const char *name)
{
    static char *argv[3];
    argv[0] = (char *)"victim";
    argv[1] = (char *)name;
    return argv;
}

CASE_STATUS(plain, "the program started by the fork and spawn cases", 0)
{
    void *p = take(10 * KIB);
    take(20 * KIB);
    give(p);
    puts("plain");
    return 5;
}

/* --- children that use no CUDA --- */

CASE(child_of_fork, "fork; the child exits, the parent continues", 0)
{
    void *p = take(KIB);
    fflush(stdout);
    pid_t pid = fork();
    if (!pid)
        exit(11);
    printf("child %d\n", status_of(pid));
    give(p);
    give(take(2 * KIB));
}

CASE(nested_forks, "three generations of children", 0)
{
    void *p = take(KIB);
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        pid_t inner = fork();
        if (!inner) {
            pid_t innermost = fork();
            if (!innermost)
                _exit(3);
            _exit(status_of(innermost) + 1);
        }
        _exit(status_of(inner) + 1);
    }
    printf("child %d\n", status_of(pid));
    give(p);
}

/* --- children in which the lock of the loader's list stays taken --- */

static sem_t walking, walked;

static int stand_still(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)info, (void)size, (void)arg;
    sem_post(&walking);
    while (sem_wait(&walked) && errno == EINTR)
        ;
    return 1;
}

static void *walk_libraries(void *arg)
{
    dl_iterate_phdr(stand_still, arg);
    return NULL;
}

/* as at an exception in another thread; before the first CUDA call */
CASE(forks_while_libraries_are_walked, "fork while another thread runs dl_iterate_phdr", 0)
{
    pthread_t walker;
    CHECK(!sem_init(&walking, 0, 0) && !sem_init(&walked, 0, 0));
    CHECK(!pthread_create(&walker, NULL, walk_libraries, NULL));
    while (sem_wait(&walking) && errno == EINTR)
        ;
    for (int how = 0; how < 4; how++) {
        fflush(stdout);
        pid_t pid = fork();
        if (!pid) {
            alarm(250);
            if (how == 0)
                exit(7);
            if (how == 1)
                execl("/bin/true", "true", (char *)NULL);
            else if (how == 2)
                execvp("true", (char *[]){(char *)"true", NULL});
            _exit(9);
        }
        printf("child %d\n", status_of(pid));
    }
    sem_post(&walked);
    pthread_join(walker, NULL);
    give(take(KIB));
}

static _Atomic int going = 1;

static void *churn(void *arg)
{
    long count = 0;
    while (going) {
        void *p = take(KIB);
        give(p);
        count++;
    }
    (void)arg;
    return count ? (void *)1 : NULL;
}

static void *fork_often(void *arg)
{
    int failed = 0;
    for (int i = 0; i < 40; i++) {
        pid_t pid = fork();
        if (!pid) {
            if (i % 2)
                exit(i);
            execl("/bin/true", "true", (char *)NULL);
            _exit(99);
        }
        failed += status_of(pid) != (i % 2 ? i : 0);
    }
    *(int *)arg = failed;
    return NULL;
}

CASE_STATUS(fork_from_a_thread_while_others_allocate, "fork from a thread while others allocate", 0)
{
    pthread_t churning[3], forking;
    int failed = -1;
    take(KIB);
    fflush(stdout);
    for (int i = 0; i < 3; i++)
        pthread_create(&churning[i], NULL, churn, NULL);
    pthread_create(&forking, NULL, fork_often, &failed);
    pthread_join(forking, NULL);
    going = 0;
    for (int i = 0; i < 3; i++)
        pthread_join(churning[i], NULL);
    printf("failed %d\n", failed);
    return failed;
}

/* the first use of CUDA and the forks at the same time: a child finds locks taken or free */
static void *first_use(void *arg)
{
    (void)arg;
    give(take(KIB));
    return NULL;
}

CASE_STATUS(fork_during_the_first_call, "fork while the first CUDA call runs", 0)
{
    pthread_t t;
    int failed = 0;
    fflush(stdout);
    for (int round = 0; round < 1; round++) {
        pthread_create(&t, NULL, first_use, NULL);
        for (int i = 0; i < 60; i++) {
            pid_t pid = fork();
            if (!pid)
                exit(7);
            failed += status_of(pid) != 7;
        }
        pthread_join(t, NULL);
    }
    printf("failed %d\n", failed);
    return failed;
}

static long raw_clone(unsigned long flags)
{
    return syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
}

CASE(raw_clone_child_exits, "the clone system call; the child exits", 0)
{
    void *p = take(KIB);
    fflush(stdout);
    long pid = raw_clone(0);
    if (!pid)
        exit(12);
    printf("child %d\n", status_of((pid_t)pid));
    give(p);
    give(take(KIB));
}

/* --- children that call CUDA although the parent has used it: an error of CUDA's --- */

static int calls_in_child(void)
{
    void *p = NULL;
    cudaError_t a = cudaMalloc(&p, KIB), b = cudaMalloc(&p, 40 * KIB);
    size_t free_bytes = 0, total = 0;
    cudaError_t c = cudaMemGetInfo(&free_bytes, &total);
    printf("%s %s %s\n", cudaGetErrorName(a), cudaGetErrorName(b), cudaGetErrorName(c));
    fflush(stdout);
    return a && b && c ? 13 : 0;
}

CASE(cuda_in_a_forked_child, "CUDA in a child after fork fails", 0)
{
    void *p = take(KIB);
    fflush(stdout);
    pid_t pid = fork();
    if (!pid)
        _exit(calls_in_child());
    printf("child %d\n", status_of(pid));
    give(p);
    give(take(KIB));
}

CASE(cuda_in_a_raw_clone_child, "CUDA in a child of the clone system call", 0)
{
    void *p = take(KIB);
    fflush(stdout);
    long pid = raw_clone(0);
    if (!pid) {
        int status = calls_in_child();
        for (int i = 0; i < 1000; i++)
            calls_in_child();
        exit(status);
    }
    int status;
    pid_t ended;
    while (!(ended = waitpid((pid_t)pid, &status, WNOHANG))) { /* both at once */
        for (int i = 0; i < 20; i++)
            give(take(KIB));
    }
    CHECK(ended == pid);
    printf("child %d\n", WEXITSTATUS(status));
    give(p);
}

CASE(cuda_in_a_clone3_child, "CUDA in a child of the clone3 system call", 0)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    void *p = take(KIB);
    fflush(stdout);
    long pid = syscall(SYS_clone3, &args, sizeof args);
    if (!pid)
        _exit(calls_in_child());
    printf("child %d\n", status_of((pid_t)pid));
    give(p);
    give(take(KIB));
}

/* --- children that use CUDA for themselves --- */

CASE(child_first, "a child forked before the first CUDA call uses CUDA, then the parent",
     VF_CHILDREN)
{
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        victim_tally_open();
        give(take(3 * KIB));
        take(4 * KIB);
        tally_end();
        exit(14);
    }
    printf("child %d\n", status_of(pid));
    give(take(KIB));
}

CASE(raw_clone_child_first,
     "a child of clone before the first CUDA call uses CUDA, then the parent", VF_CHILDREN)
{
    fflush(stdout);
    long pid = raw_clone(0);
    if (!pid) {
        victim_tally_open();
        give(take(3 * KIB));
        tally_end();
        exit(15);
    }
    printf("child %d\n", status_of((pid_t)pid));
    give(take(KIB));
}

CASE(children_at_once, "five children use CUDA at once", VF_CHILDREN)
{
    pid_t pids[5];
    fflush(stdout);
    for (int i = 0; i < 5; i++) {
        pids[i] = fork();
        if (pids[i])
            continue;
        victim_tally_open();
        for (int k = 0; k < 50; k++)
            give(take((size_t)(k + 1) * KIB));
        tally_end();
        exit(i);
    }
    for (int i = 0; i < 5; i++)
        printf("child %d\n", status_of(pids[i]));
}

CASE(double_fork_daemon, "a daemon uses CUDA", 0)
{
    int done[2];
    char byte;
    CHECK(!pipe(done));
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        if (daemon(1, 0))
            _exit(1);
        victim_tally_open();
        give(take(KIB));
        tally_end();
        exit(0);
    }
    close(done[1]);
    printf("first child %d\n", status_of(pid));
    printf("daemon ended %zd\n", read(done[0], &byte, 1));
}

/* a daemon that has used CUDA closes its terminal output: a reader of it sees its end */
CASE(daemon_lets_go_of_its_output, "a program closes its output and continues", 0)
{
    int out[2], seen[2];
    char text[256] = "", byte;
    CHECK(!pipe(out) && !pipe(seen));
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        dup2(out[1], 1);
        dup2(out[1], 2);
        close(out[0]);
        close(out[1]);
        close(seen[1]);
        victim_tally_open();
        give(take(KIB));
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        close(null);
        CHECK(read(seen[0], &byte, 1) == 0); /* it stays until its reader has seen the end */
        close(seen[0]);
        give(take(KIB));
        tally_end();
        exit(0);
    }
    close(out[1]);
    ssize_t n = read(out[0], text, sizeof text);
    siginfo_t info = {0};
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    close(seen[0]);
    close(seen[1]);
    printf("read %zd, still there %d\n", n, info.si_pid == 0);
    printf("child %d\n", status_of(pid));
}

/* --- children of vfork, which run in the parent's memory --- */

CASE(vfork_and_exec, "vfork and exec, twenty times", 0)
{
    void *p = take(KIB);
    fflush(stdout);
    for (int i = 0; i < 20; i++) {
        pid_t pid = vfork();
        if (!pid) {
            execl("/bin/false", "false", (char *)NULL);
            _exit(99);
        }
        CHECK(status_of(pid) == 1);
        give(p);
        p = take((size_t)(i + 1) * KIB);
    }
    puts("20 children");
}

CASE(vfork_and_exit, "vfork and _exit", 0)
{
    void *p = take(KIB);
    fflush(stdout);
    pid_t pid = vfork();
    if (!pid)
        _exit(16);
    printf("child %d\n", status_of(pid));
    give(p);
    give(take(KIB));
}

CASE(vfork_and_failed_exec, "vfork, exec fails, _exit", 0)
{
    void *p = take(KIB);
    char *argv[] = {(char *)"nothing", NULL};
    fflush(stdout);
    pid_t pid = vfork();
    if (!pid) {
        execve("/nonexistent/program", argv, environ);
        execv("/etc/passwd", argv);
        execvp("no-such-program-anywhere", argv);
        _exit(17);
    }
    printf("child %d\n", status_of(pid));
    give(p);
    give(take(KIB));
}

CASE(spawned_children_use_cuda, "posix_spawn of CUDA programs", VF_CHILDREN)
{
    pid_t pid;
    take(KIB);
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        CHECK(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, again("plain"), environ));
        printf("child %d\n", status_of(pid));
        fflush(stdout);
    }
}

CASE(system_and_popen, "system and popen of CUDA programs", VF_CHILDREN)
{
    char command[8192], line[64] = "", exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    CHECK(n > 0);
    exe[n] = 0;
    take(KIB);
    fflush(stdout);
    snprintf(command, sizeof command, "%s plain", exe);
    printf("system %d\n", WEXITSTATUS(system(command)));
    fflush(stdout);
    snprintf(command, sizeof command, "%s plain | cat; exit 3", exe);
    FILE *f = popen(command, "r");
    CHECK(f && fgets(line, sizeof line, f));
    printf("popen %s", line);
    printf("status %d\n", WEXITSTATUS(pclose(f)));
}

CASE(fork_and_exec_again, "fork and exec of CUDA programs", VF_CHILDREN)
{
    take(KIB);
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork();
        if (!pid) {
            execv("/proc/self/exe", again("plain"));
            _exit(99);
        }
        printf("child %d\n", status_of(pid));
        fflush(stdout);
    }
}

/* an exec'd child finds only the descriptors that the program left open */
CASE(nothing_is_inherited, "a started program inherits no descriptor of vramscope", 0)
{
    take(KIB);
    fflush(stdout);
    pid_t pid = vfork();
    if (!pid) {
        execl("/bin/sh", "sh", "-c", "ls /proc/self/fd | wc -l", (char *)NULL);
        _exit(99);
    }
    printf("child %d\n", status_of(pid));
}
