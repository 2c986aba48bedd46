/* SPDX-License-Identifier: Apache-2.0
 *
 * Every way in which a process ends, with memory freed as late as programs do. Cases whose end
 * skips main's store their tally before it. */
#include <setjmp.h>

#include "victim_memory.h"

VICTIM("exit")

static void *blocks[8];

static void give_block(int i)
{
    if (blocks[i])
        give(blocks[i]);
    blocks[i] = NULL;
}

static void take_some(void)
{
    for (int i = 0; i < 4; i++)
        blocks[i] = take((size_t)(i + 1) * MIB);
    give_block(0);
    puts("some");
    fflush(stdout);
}

/* --- by calls --- */

CASE_STATUS(end_by_return, "main returns a status", 0)
{
    take_some();
    return 21;
}

static void give_1(void)
{
    give_block(1);
}

static void give_2(void)
{
    give_block(2);
}

CASE(end_by_quick_exit, "quick_exit, with handlers that free", 0)
{
    at_quick_exit(give_2); /* registered before CUDA: called after ours */
    take_some();
    at_quick_exit(give_1);
    tally_end();
    quick_exit(26);
}

static void system_call(int status)
{
    syscall(SYS_exit_group, status);
}

static void abort_here(int unused)
{
    (void)unused;
    abort();
}

/* Uses CUDA and ends: with exit handlers registered before and after, or NULL. */
static void end(void (*early)(void), void (*late)(void), void (*how)(int), int status)
{
    if (early)
        atexit(early); /* runs after ours */
    take_some();
    if (late)
        atexit(late);
    tally_end();
    how(status);
}

CASE_OF(end_by_exit, end(NULL, NULL, exit, 22), "exit", 0)
CASE_OF(end_by_underscore_exit, end(NULL, NULL, _exit, 23), "_exit", 0)
CASE_OF(end_by_capital_exit, end(NULL, NULL, _Exit, 24), "_Exit", 0)
CASE_OF(end_by_system_call, end(NULL, NULL, system_call, 25), "the exit_group system call", VF_TORN)
CASE_OF(end_by_abort, end(NULL, NULL, abort_here, 0), "abort", VF_TORN | VF_DIES)

/* --- handlers and destructors --- */

static void exit_with_30(void)
{
    give_block(1);
    exit(30);
}

static void underscore_exit_with_31(void)
{
    give_block(1);
    _exit(31);
}

static void kill_self(void)
{
    give_block(1);
    raise(SIGKILL);
}

CASE_OF(handlers_before_and_after, end(give_2, give_1, exit, 27),
        "exit handlers registered before and after the first CUDA call free memory", 0)
CASE_OF(exit_in_an_early_handler, end(exit_with_30, NULL, exit, 28),
        "exit in a handler registered before CUDA changes the status", 0)
CASE_OF(exit_in_a_late_handler, end(NULL, exit_with_30, exit, 29),
        "exit in a handler registered after CUDA changes the status", 0)
CASE_OF(underscore_exit_in_an_early_handler, end(underscore_exit_with_31, NULL, exit, 1),
        "_exit in an exit handler", 0)
CASE_OF(killed_in_a_handler, end(NULL, kill_self, exit, 1), "killed while exit handlers run",
        VF_TORN | VF_DIES)

static int destructor_status;
static int destructor_block = -1;
static int destructor_begins;

__attribute__((destructor)) static void program_destructor(void)
{
    if (destructor_begins)
        take_some();
    if (destructor_block >= 0)
        give_block(destructor_block);
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

CASE(status_of_a_destructor, "a destructor frees memory and changes the status", 0)
{
    take_some();
    destructor_block = 1;
    destructor_status = 33;
    tally_end();
}

/* --- from threads --- */

static void *exit_here(void *arg)
{
    (void)arg;
    give_block(1);
    exit(34);
}

CASE(exit_from_a_thread, "exit from another thread", 0)
{
    take_some();
    in_threads(1, exit_here, NULL);
}

static void *after_main(void *arg)
{
    usleep(50000);
    give_block(1);
    give_block(2);
    puts("last thread");
    tally_end();
    return arg;
}

CASE(main_ends_as_a_thread, "main ends with pthread_exit, other threads continue", 0, INJECTED)
{
    pthread_t t;
    take_some();
    pthread_create(&t, NULL, after_main, NULL);
    pthread_detach(t);
    pthread_exit(NULL); /* the process ends with status 0 after the last thread */
}

/* operations during the end of the process are not tallied */
CASE_STATUS(return_while_threads_run, "main returns while threads allocate (counts not compared)",
            VF_NO_TALLY)
{
    pthread_t t[3];
    start_threads(t, 3, churn_uncounted);
    usleep(30000);
    puts("main is done");
    return 35;
}

/* --- in signal handlers --- */

static void exit_in_handler(int number)
{
    give_block(1);
    exit(number == SIGUSR1 ? 36 : 1);
}

CASE(exit_in_a_quiet_signal_handler, "exit in a signal handler", 0)
{
    take_some();
    signal(SIGUSR1, exit_in_handler);
    raise(SIGUSR1);
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
        give_block(i);
        blocks[4 + i] = take((size_t)(5 + i) * MIB);
    }
    puts("came back");
    return 37;
}

static void die_by(int number)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    raise(number);
}

#define SIGNAL_CASE(name, number) \
    CASE_OF(name, end(NULL, NULL, die_by, number), "killed by " #number, VF_TORN | VF_DIES)
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

CASE(fault, "killed by a segmentation fault", VF_TORN | VF_DIES)
{
    volatile int *nowhere = forbidden();
    take_some();
    tally_end();
    *nowhere = 1;
}

CASE(cpu_time_is_up, "killed by its CPU time limit", VF_TORN | VF_DIES | VF_SHARED_ONLY)
{
    struct rlimit one = {1, 2};
    take_some();
    tally_end();
    setrlimit(RLIMIT_CPU, &one);
    for (;;)
        ;
}
