/* SPDX-License-Identifier: Apache-2.0
 *
 * Child processes of every kind. A child may use CUDA if its parent never did, and otherwise only
 * ends or calls exec. */
#include <link.h>
#include <linux/sched.h>
#include <spawn.h>

#include "victim_memory.h"

VICTIM("fork and exec")

extern char **environ;

/* a new image of this program, with a tally of its own */
static char *const plain_again[] = {(char *)"victim", (char *)"plain", NULL};

CASE_STATUS(plain, "the program started by the fork and spawn cases", 0)
{
    void *p = take(10 * KIB);
    take(20 * KIB);
    give(p);
    puts("plain");
    return 5;
}

static pid_t raw_clone(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static pid_t clone3(void)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

/* A child by *make* exits with what *run* returns; the parent uses CUDA before and after. */
static void parent_continues(pid_t (*make)(void), int (*run)(void))
{
    void *p = take(KIB);
    fflush(stdout);
    pid_t pid = make();
    if (!pid)
        exit(run());
    print_child(pid);
    give(p);
    give(take(2 * KIB));
}

/* --- children that use no CUDA --- */

static int nothing(void)
{
    return 11;
}

CASE_OF(child_of_fork, parent_continues(fork, nothing),
        "fork; the child exits, the parent continues", 0)
CASE_OF(raw_clone_child_exits, parent_continues(raw_clone, nothing),
        "the clone system call; the child exits", 0)

static int generations(void)
{
    pid_t inner = fork();
    if (!inner) {
        pid_t innermost = fork();
        if (!innermost)
            _exit(3);
        _exit(status_of(innermost) + 1);
    }
    _exit(status_of(inner) + 1);
}

CASE_OF(nested_forks, parent_continues(fork, generations), "three generations of children", 0)

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
    pid_t pid = new_child();
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
        print_child(pid);
    }
    sem_post(&walked);
    pthread_join(walker, NULL);
    give(take(KIB));
}

static void *fork_often(void *arg)
{
    intptr_t failed = 0;
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
    (void)arg;
    return (void *)failed;
}

CASE_STATUS(fork_from_a_thread_while_others_allocate, "fork from a thread while others allocate", 0)
{
    pthread_t churning[3];
    void *failed;
    take(KIB);
    fflush(stdout);
    start_threads(churning, 3, churn);
    in_threads(1, fork_often, &failed);
    going = 0;
    join_threads(churning, 3, NULL);
    printf("failed %d\n", (int)(intptr_t)failed);
    return (int)(intptr_t)failed;
}

/* the first use of CUDA and the forks at the same time: a child finds locks taken or free */
static void *first_use(void *arg)
{
    give(take(KIB));
    return arg;
}

CASE_STATUS(fork_during_the_first_call, "fork while the first CUDA call runs", 0)
{
    pthread_t t;
    int failed = 0;
    fflush(stdout);
    start_threads(&t, 1, first_use);
    for (int i = 0; i < 60; i++) {
        pid_t pid = fork();
        if (!pid)
            exit(7);
        failed += status_of(pid) != 7;
    }
    join_threads(&t, 1, NULL);
    printf("failed %d\n", failed);
    return failed;
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

CASE_OF(cuda_in_a_forked_child, parent_continues(fork, calls_in_child),
        "CUDA in a child after fork fails", 0)
CASE_OF(cuda_in_a_clone3_child, parent_continues(clone3, calls_in_child),
        "CUDA in a child of the clone3 system call", 0)

CASE(cuda_in_a_raw_clone_child, "CUDA in a child of the clone system call", 0)
{
    void *p = take(KIB);
    fflush(stdout);
    pid_t pid = raw_clone();
    if (!pid) {
        int status = calls_in_child();
        for (int i = 0; i < 1000; i++)
            calls_in_child();
        exit(status);
    }
    int status;
    pid_t ended;
    while (!(ended = waitpid(pid, &status, WNOHANG))) { /* both at once */
        for (int i = 0; i < 20; i++)
            give(take(KIB));
    }
    CHECK(ended == pid);
    printf("child %d\n", WEXITSTATUS(status));
    give(p);
}

/* --- children that use CUDA for themselves --- */

static void child_begins(pid_t (*make)(void))
{
    fflush(stdout);
    pid_t pid = make();
    if (!pid) {
        victim_tally_open();
        give(take(3 * KIB));
        take(4 * KIB);
        tally_end();
        exit(14);
    }
    print_child(pid);
    give(take(KIB));
}

CASE_OF(child_first, child_begins(fork),
        "a child forked before the first CUDA call uses CUDA, then the parent", VF_CHILDREN)
CASE_OF(raw_clone_child_first, child_begins(raw_clone),
        "a child of clone before the first CUDA call uses CUDA, then the parent", VF_CHILDREN)

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
        print_child(pids[i]);
}

CASE(double_fork_daemon, "a daemon uses CUDA", 0)
{
    int done[2];
    char byte;
    CHECK(!pipe(done));
    pid_t pid = new_child();
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
    pid_t pid = new_child();
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
    print_child(pid);
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

static void by_vfork(int program)
{
    void *p = take(KIB);
    char *argv[] = {(char *)"nothing", NULL};
    fflush(stdout);
    pid_t pid = vfork();
    if (!pid) {
        if (program) {
            execve("/nonexistent/program", argv, environ);
            execv("/etc/passwd", argv);
            execvp("no-such-program-anywhere", argv);
        }
        _exit(16 + program);
    }
    print_child(pid);
    give(p);
    give(take(KIB));
}

CASE_OF(vfork_and_exit, by_vfork(0), "vfork and _exit", 0)
CASE_OF(vfork_and_failed_exec, by_vfork(1), "vfork, exec fails, _exit", 0)

CASE(spawned_children_use_cuda, "posix_spawn of CUDA programs", VF_CHILDREN)
{
    pid_t pid;
    take(KIB);
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        CHECK(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, plain_again, environ));
        print_child(pid);
        fflush(stdout);
    }
}

CASE(system_and_popen, "system and popen of CUDA programs", VF_CHILDREN)
{
    char command[8192], line[64] = "", *exe = own_path();
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
    for (int i = 0; i < 2; i++) {
        pid_t pid = new_child();
        if (!pid) {
            execv("/proc/self/exe", plain_again);
            _exit(99);
        }
        print_child(pid);
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
    print_child(pid);
}
