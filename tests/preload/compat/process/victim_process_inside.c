/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA calls, children and ends inside callbacks: handlers of fork, of exit and of signals,
 * callbacks of the loader and of the driver. */
#include <link.h>
#include <setjmp.h>

#include "victim_memory.h"

VICTIM("inside of calls")

extern char **environ;

/* --- handlers of fork --- */

static void *across;

static void give_before_fork(void)
{
    if (across)
        give(across);
    across = NULL;
}

static void take_after_fork(void)
{
    across = take(7 * KIB);
}

static int forks(int count)
{
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        pid_t pid = new_child();
        if (!pid)
            exit(i);
        wrong += status_of(pid) != i;
    }
    return wrong;
}

static void with_fork_handlers(void *first)
{
    across = first;
    CHECK(!pthread_atfork(give_before_fork, take_after_fork, NULL));
    printf("wrong %d\n", forks(10));
    give_before_fork();
}

CASE_OF(fork_handlers_before_cuda, with_fork_handlers(NULL),
        "fork handlers registered before CUDA free and allocate", 0)
CASE_OF(fork_handlers_after_cuda, with_fork_handlers(take(KIB)),
        "fork handlers registered after CUDA free and allocate", 0)

/* like multiprocessing's children: the driver refuses CUDA calls, whatever the program does */
static void give_at_exit(void)
{
    cudaError_t error = cudaFree(across);
    if (!error)
        tally_free(VT_DEVICE);
    printf("%s\n", error ? "not freed" : "freed");
    fflush(stdout);
}

CASE(child_frees_in_exit_handlers, "exit handlers free memory, also in children", 0)
{
    across = take(KIB);
    atexit(give_at_exit);
    printf("wrong %d\n", forks(3));
}

/* --- children of signal handlers --- */

#define CHILDREN 60

static volatile sig_atomic_t children, wrong_children;

/* Once: if a handler takes longer than the interval between two signals, the program makes no
 * progress. */
static void alarm_in_3_ms(void)
{
    struct itimerval once = {.it_value = {0, 3000}};
    if (setitimer(ITIMER_REAL, &once, NULL))
        wrong_children++;
}

static void count_child(int right)
{
    wrong_children += !right;
    if (++children < CHILDREN)
        alarm_in_3_ms();
}

static void fork_here(int number)
{
    int saved_errno = errno;
    (void)number;
    pid_t pid = _Fork();
    if (!pid)
        _exit(21);
    count_child(pid > 0 && status_of(pid) == 21);
    errno = saved_errno;
}

static void become_another_here(int number)
{
    int saved_errno = errno;
    (void)number;
    pid_t pid = vfork();
    if (!pid) {
        char *argv[] = {(char *)"true", NULL};
        execve("/bin/true", argv, environ);
        _exit(22);
    }
    count_child(pid > 0 && status_of(pid) == 0);
    errno = saved_errno;
}

static void children_of(void (*handler)(int))
{
    struct sigaction action = {.sa_flags = SA_RESTART};
    action.sa_handler = handler;
    CHECK(!sigaction(SIGALRM, &action, NULL));
    fflush(stdout);
    alarm_in_3_ms();
    for (size_t i = 0; children < CHILDREN; i++)
        give(take((i % 100 + 1) * KIB));
    printf("wrong %d\n", (int)wrong_children);
}

CASE_OF(forks_in_signal_handlers, children_of(fork_here),
        "signal handlers create children with _Fork", 0)
CASE_OF(vforks_in_signal_handlers, children_of(become_another_here),
        "signal handlers start programs with vfork", 0)

/* --- children that share our memory --- */

static int end_here(void *arg)
{
    _exit(*(int *)arg);
}

static int become_true(void *arg)
{
    char *argv[] = {(char *)"true", NULL};
    execve("/bin/true", argv, environ);
    _exit(*(int *)arg);
}

static char child_stack[64 << 10] __attribute__((aligned(16)));

CASE(children_in_the_same_memory, "children of clone with shared memory exit and exec", 0)
{
    int status = 31;
    static const int flags[] = {CLONE_VM | CLONE_VFORK | SIGCHLD, CLONE_VM | SIGCHLD};
    void *p = take(KIB);
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        pid_t ends = clone(end_here, child_stack + sizeof child_stack, flags[i], &status);
        printf("%d\n", status_of(ends));
        give(take(2 * KIB));
        pid_t becomes = clone(become_true, child_stack + sizeof child_stack, flags[i], &status);
        printf("%d\n", status_of(becomes));
        give(take(3 * KIB));
    }
    give(p);
}

/* --- callbacks of the loader --- */

static int use_cuda_there(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)info, (void)size;
    give(take(KIB));
    ++*(int *)arg;
    return 0;
}

CASE(calls_while_libraries_are_listed,
     "CUDA calls, including the first, in a callback of dl_iterate_phdr", 0)
{
    int seen = 0;
    dl_iterate_phdr(use_cuda_there, &seen);
    printf("some %d\n", seen > 3);
}

/* --- callbacks of the driver --- */

static void CUDART_CB exit_there(void *status)
{
    tally_end();
    exit((int)(intptr_t)status);
}

static void CUDART_CB underscore_exit_there(void *status)
{
    tally_end();
    _exit((int)(intptr_t)status);
}

static void end_in_a_stream(cudaHostFn_t end)
{
    take(KIB);
    cudaStream_t stream = new_stream(0);
    OK(cudaLaunchHostFunc(stream, end, (void *)(intptr_t)19));
    for (;;)
        pause();
}

CASE_OF(exit_in_a_host_function, end_in_a_stream(exit_there),
        "exit in a host function of a stream", 0)
CASE_OF(underscore_exit_in_a_host_function, end_in_a_stream(underscore_exit_there),
        "_exit in a host function of a stream", 0)

/* --- ends inside of ends --- */

static void end_calmly(int number)
{
    (void)number;
    _exit(23);
}

CASE(exit_where_abort_is_handled, "_exit in a SIGABRT handler", 0)
{
    take(KIB);
    signal(SIGABRT, end_calmly);
    abort();
}

static sigjmp_buf out;

static void jump_out(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

CASE(leave_abort, "siglongjmp out of a SIGABRT handler", 0)
{
    void *p = take(KIB);
    signal(SIGABRT, jump_out);
    if (!sigsetjmp(out, 1))
        abort();
    give(p);
    puts("left");
}

CASE(abort_with_open_cuda, "abort in an exit handler", VF_TORN | VF_DIES)
{
    take(KIB);
    atexit(abort);
}

static pthread_t churning[3];

static void stop_churning(void)
{
    going = 0;
    join_threads(churning, 1, NULL);
    give(take(2 * KIB));
}

CASE_STATUS(exit_handler_awaits_a_thread, "an exit handler waits for a thread that allocates", 0)
{
    take(KIB);
    atexit(stop_churning);
    start_threads(churning, 1, churn);
    usleep(20000);
    return 8;
}

static void fork_at_exit(void)
{
    pid_t pid = new_child();
    if (!pid)
        _exit(9);
    print_child(pid);
    pid = fork();
    if (!pid)
        exit(10);
    print_child(pid);
}

CASE_STATUS(exit_handler_forks, "an exit handler creates children", 0)
{
    atexit(fork_at_exit);
    take(KIB);
    return 6;
}

static pthread_barrier_t start_line;

static void *end_at_once(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&start_line);
    exit(24);
}

CASE(threads_exit_at_once, "eight threads call exit at once", VF_TORN)
{
    pthread_t threads[8];
    take(KIB);
    tally_end();
    pthread_barrier_init(&start_line, NULL, 9);
    start_threads(threads, 8, end_at_once);
    pthread_barrier_wait(&start_line);
    for (;;)
        pause();
}

static void *quick_end(void *arg)
{
    (void)arg;
    usleep(20000);
    quick_exit(25);
}

CASE(quick_exit_while_threads_allocate, "quick_exit while threads allocate (counts not compared)",
     VF_NO_TALLY)
{
    take(KIB);
    tally_end();
    start_threads(churning, 3, churn);
    in_threads(1, quick_end, NULL);
}
