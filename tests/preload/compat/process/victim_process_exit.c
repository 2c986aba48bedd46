/* SPDX-License-Identifier: Apache-2.0
 *
 * Every way in which a process ends, with memory freed as late as programs do. Cases whose end
 * skips main's store their tally before it. */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "victim.h"

VICTIM("exit")

static void *blocks[8];

static void take(int i)
{
    ALLOCATES(VT_DEVICE, ((size_t)(i + 1) * MIB), cudaMalloc(&blocks[i], (size_t)(i + 1) * MIB));
}

static void give(int i)
{
    if (!blocks[i])
        return;
    OK(cudaFree(blocks[i]));
    blocks[i] = NULL;
    tally_free(VT_DEVICE);
}

static void take_some(void)
{
    for (int i = 0; i < 4; i++)
        take(i);
    give(0);
    puts("some");
    fflush(stdout);
}

/* --- by calls --- */

CASE_STATUS(end_by_return, "main returns a status", 0)
{
    take_some();
    return 21;
}

CASE(end_by_exit, "exit", 0)
{
    take_some();
    exit(22);
}

CASE(end_by_underscore_exit, "_exit", 0)
{
    take_some();
    tally_end();
    _exit(23);
}

CASE(end_by_capital_exit, "_Exit", 0)
{
    take_some();
    tally_end();
    _Exit(24);
}

CASE(end_by_system_call, "the exit_group system call", VF_TORN)
{
    take_some();
    tally_end();
    syscall(SYS_exit_group, 25);
}

static void give_1(void)
{
    give(1);
}

static void give_2(void)
{
    give(2);
}

CASE(end_by_quick_exit, "quick_exit, with handlers that free", 0)
{
    at_quick_exit(give_2); /* registered before CUDA: called after ours */
    take_some();
    at_quick_exit(give_1);
    tally_end();
    quick_exit(26);
}

CASE(end_by_abort, "abort", VF_TORN | VF_DIES)
{
    take_some();
    tally_end();
    abort();
}

/* --- handlers and destructors --- */

CASE_STATUS(handlers_before_and_after,
            "exit handlers registered before and after the first CUDA call free memory", 0)
{
    atexit(give_2);
    take_some();
    atexit(give_1);
    return 27;
}

static void exit_with_30(void)
{
    give(1);
    exit(30);
}

CASE_STATUS(exit_in_an_early_handler, "exit in a handler registered before CUDA changes the status",
            0)
{
    atexit(exit_with_30); /* registered before CUDA: runs after ours */
    take_some();
    return 28;
}

CASE_STATUS(exit_in_a_late_handler, "exit in a handler registered after CUDA changes the status", 0)
{
    take_some();
    atexit(exit_with_30);
    return 29;
}

static void underscore_exit_with_31(void)
{
    give(1);
    tally_end();
    _exit(31);
}

CASE_STATUS(underscore_exit_in_an_early_handler, "_exit in an exit handler", 0)
{
    atexit(underscore_exit_with_31);
    take_some();
    return 1;
}

static int destructor_status;
static int destructor_block = -1;
static int destructor_begins;

__attribute__((destructor)) static void program_destructor(void)
{
    if (destructor_begins)
        take_some();
    if (destructor_block >= 0)
        give(destructor_block);
    if (destructor_status)
        _exit(destructor_status);
}

CASE_STATUS(free_in_a_destructor, "a destructor of the program frees memory", 0)
{
    take_some();
    destructor_block = 1;
    return 32;
}

/* as when main returns during another thread's first call: our handler is registered after exit began */
CASE_STATUS(first_call_in_a_destructor, "the first CUDA call is in a destructor", VF_NO_TALLY)
{
    destructor_begins = 1;
    return 37;
}

CASE_STATUS(status_of_a_destructor, "a destructor frees memory and changes the status", 0)
{
    take_some();
    destructor_block = 1;
    destructor_status = 33;
    tally_end();
    return 1;
}

static void kill_self(void)
{
    give(1);
    raise(SIGKILL);
}

CASE(killed_in_a_handler, "killed while exit handlers run", VF_TORN | VF_DIES)
{
    take_some();
    atexit(kill_self);
    tally_end();
}

/* --- from threads --- */

static void *exit_here(void *status)
{
    give(1);
    exit((int)(size_t)status);
}

CASE_STATUS(exit_from_a_thread, "exit from another thread", 0)
{
    pthread_t t;
    take_some();
    pthread_create(&t, NULL, exit_here, (void *)34);
    pthread_join(t, NULL);
    return 1;
}

static void *after_main(void *arg)
{
    (void)arg;
    usleep(50000);
    give(1);
    give(2);
    puts("last thread");
    tally_end();
    return NULL;
}

CASE(main_ends_as_a_thread, "main ends with pthread_exit, other threads continue", 0, INJECTED)
{
    pthread_t t;
    take_some();
    pthread_create(&t, NULL, after_main, NULL);
    pthread_detach(t);
    pthread_exit(NULL); /* the process ends with status 0 after the last thread */
}

static _Atomic int going = 1;

static void *allocate_and_free(void *arg)
{
    (void)arg;
    void *p;
    while (going) {
        if (cudaMalloc(&p, 1000) == cudaSuccess)
            cudaFree(p);
    }
    return NULL;
}

/* operations during the end of the process are not tallied */
CASE_STATUS(return_while_threads_run, "main returns while threads allocate (counts not compared)",
            VF_NO_TALLY)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, allocate_and_free, NULL);
    usleep(30000);
    puts("main is done");
    return 35;
}

/* --- in signal handlers --- */

static void exit_in_handler(int number)
{
    give(1);
    exit(number == SIGUSR1 ? 36 : 1);
}

CASE_STATUS(exit_in_a_quiet_signal_handler, "exit in a signal handler", 0)
{
    take_some();
    signal(SIGUSR1, exit_in_handler);
    raise(SIGUSR1);
    return 1;
}

static sigjmp_buf back;

static void jump(int number)
{
    siglongjmp(back, number);
}

/* a page that faults; a null pointer would be reported by the sanitizer */
static volatile int *forbidden(void)
{
    void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    return page;
}

CASE_STATUS(jump_out_of_a_handler, "siglongjmp out of a SIGSEGV handler, repeatedly", 0)
{
    volatile int *nowhere = forbidden();
    struct sigaction action = {.sa_handler = jump};
    sigaction(SIGSEGV, &action, NULL);
    take_some();
    for (int i = 0; i < 3; i++) {
        if (!sigsetjmp(back, 1))
            *nowhere = 1;
        give(i);
        take(4 + i);
    }
    puts("came back");
    return 37;
}

static int die_by(int number)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    take_some();
    tally_end();
    raise(number);
    return 1;
}

#define SIGNAL_CASE(name, number)                                                          \
    CASE_STATUS(name, "killed by " #number, VF_TORN | VF_DIES)                             \
    {                                                                                      \
        return die_by(number);                                                             \
    }
SIGNAL_CASE(sigterm, SIGTERM)
SIGNAL_CASE(sigint, SIGINT)
SIGNAL_CASE(sighup, SIGHUP)
SIGNAL_CASE(sigkill, SIGKILL)
SIGNAL_CASE(sigpipe, SIGPIPE)
SIGNAL_CASE(sigxcpu, SIGXCPU)
SIGNAL_CASE(sigsys, SIGSYS)
SIGNAL_CASE(sigbus, SIGBUS)
SIGNAL_CASE(sigalrm, SIGALRM)
SIGNAL_CASE(sigquit, SIGQUIT)

CASE_STATUS(fault, "killed by a segmentation fault", VF_TORN | VF_DIES)
{
    volatile int *nowhere = forbidden();
    take_some();
    tally_end();
    *nowhere = 1;
    return 1;
}

CASE(cpu_time_is_up, "killed by its CPU time limit", VF_TORN | VF_DIES)
{
    struct rlimit one = {1, 2};
    take_some();
    tally_end();
    setrlimit(RLIMIT_CPU, &one);
    for (;;)
        ;
}
