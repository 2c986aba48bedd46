/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals and cancellation in and around CUDA calls, thread-local data that outlives ours, and
 * programs that handle faults themselves. */
#include "victim_memory.h"

VICTIM("signals")

/* --- storms --- */

static volatile sig_atomic_t storm;

static void count(int number)
{
    (void)number;
    storm++;
}

/* A signal every *us* microseconds, also during the first call. */
static void work_in_a_storm(int which, int number, int flags, long us)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = flags}; /* without SA_RESTART */
    struct itimerval timer = {{0, us}, {0, us}}, none = {{0, 0}, {0, 0}};
    sigaction(number, &action, NULL);
    setitimer(which, &timer, NULL);
    for (int i = 0; i < 30000; i++)
        give(take((size_t)(i % 100 + 1) * KIB));
    setitimer(which, &none, NULL);
    printf("storm %d\n", storm > 0);
}

CASE_OF(storm_of_profiling, work_in_a_storm(ITIMER_PROF, SIGPROF, 0, 1000),
        "a SIGPROF every millisecond", 0)
CASE_OF(storm_of_alarms, work_in_a_storm(ITIMER_REAL, SIGALRM, 0, 300),
        "a SIGALRM every 300 microseconds, also during the first call", 0)

/* the handlers' own small stack must be sufficient */
CASE(storm_on_a_small_alternate_stack, "handlers on an alternate stack of 8 KiB", 0)
{
    static char stack[8192];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    CHECK(!sigaltstack(&alternate, NULL));
    work_in_a_storm(ITIMER_REAL, SIGALRM, SA_ONSTACK, 500);
}

/* --- CUDA in handlers, while the program waits outside of CUDA --- */

static void *of_handler;

static void allocate_in_handler(int number)
{
    (void)number;
    if (of_handler)
        give(of_handler);
    of_handler = take(64 * KIB);
    storm++;
}

CASE(handlers_allocate, "signal handlers allocate and free", 0)
{
    sigset_t all, before;
    give(take(KIB));
    signal(SIGUSR1, allocate_in_handler);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    for (int i = 0; i < 100; i++) {
        raise(SIGUSR1);
        sigset_t none = before;
        sigsuspend(&none); /* here, and nowhere else */
        give(take((size_t)(i + 1) * KIB));
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    printf("handled %d\n", (int)storm);
}

/* --- faults that the program handles itself --- */

static char *guarded;

static void open_page(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    CHECK(info->si_addr == guarded);
    mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
    storm++;
}

CASE(faults_of_its_own, "has its own handlers for SIGSEGV and SIGBUS", 0)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = open_page;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 100; i++) {
        void *p = take((size_t)(i + 1) * KIB);
        mprotect(guarded, 4096, PROT_NONE);
        guarded[0] = 1;
        give(p);
    }
    printf("faults %d\n", (int)storm);
}

/* --- masks and names --- */

CASE(masks_are_the_programs, "the signal mask is unchanged", 0)
{
    sigset_t own, now;
    sigemptyset(&own);
    sigaddset(&own, SIGUSR2);
    sigaddset(&own, SIGRTMIN + 3);
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    give(take(KIB));
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    int different = 0;
    for (int n = 1; n < 64; n++)
        different += sigismember(&now, n) == 1 ? sigismember(&own, n) != 1 : sigismember(&own, n) == 1;
    printf("different %d\n", different);
}

/* a signal to the process must be delivered to the program's thread and not to ours */
static pthread_t main_thread;
static volatile sig_atomic_t elsewhere;

static void where(int number)
{
    (void)number;
    storm++;
    elsewhere += !pthread_equal(pthread_self(), main_thread);
}

CASE(signals_find_the_programs_thread,
     "signals to the process are delivered to the program's thread", 0)
{
    main_thread = pthread_self();
    signal(SIGUSR1, where);
    give(take(KIB));
    for (int i = 0; i < 200; i++) {
        kill(getpid(), SIGUSR1);
        give(take(KIB));
    }
    printf("handled %d elsewhere %d\n", storm > 0, (int)elsewhere);
}

CASE(names_are_the_programs, "the thread's name is unchanged", 0)
{
    char name[16] = "";
    prctl(PR_SET_NAME, "my own name");
    give(take(KIB));
    prctl(PR_GET_NAME, name);
    puts(name);
}

/* --- cancellation --- */

static _Atomic int started;

static void clean_up(void *block)
{
    give(*(void **)block);
}

static void *cancelled(void *arg)
{
    void *kept = take(7 * KIB);
    pthread_cleanup_push(clean_up, &kept);
    started++;
    for (;;) {
        give(take(((size_t)arg + 1) * KIB));
        pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

/* *count* threads at once, later from round to round. */
static void cancel(unsigned rounds, int count, void *(*run)(void *))
{
    for (unsigned round = 0; round < rounds; round++) {
        pthread_t t[3];
        void *results[3];
        int now = started;
        start_threads(t, count, run);
        while (started < now + count)
            usleep(100);
        usleep(round * 100);
        for (int i = 0; i < count; i++)
            pthread_cancel(t[i]);
        join_threads(t, count, results);
        for (int i = 0; i < count; i++)
            CHECK(results[i] == PTHREAD_CANCELED);
    }
    give(take(KIB));
}

CASE_OF(cancelled_threads, cancel(20, 3, cancelled),
        "threads cancelled between CUDA calls free memory in cleanup handlers", 0)

/* cancelled before the first call: the start of recording is full of cancellation points */
static void *cancelled_at_the_first_call(void *arg)
{
    int before;
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    give(take(KIB));
    pthread_setcancelstate(before, NULL);
    give(take(64 * KIB)); /* with the cancellation pending */
    pthread_testcancel();
    return arg;
}

CASE(cancelled_first_call, "a cancelled thread makes the first CUDA call", 0)
{
    void *result;
    in_threads(1, cancelled_at_the_first_call, &result);
    printf("cancelled %d\n", result == PTHREAD_CANCELED);
    give(take(KIB));
}

/* asynchronous cancellation, where the program may enable it: outside of CUDA */
static void *cancelled_asynchronously(void *arg)
{
    int before;
    void *kept = take(3 * KIB);
    pthread_cleanup_push(clean_up, &kept);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    started++;
    for (;;)
        ;
    pthread_cleanup_pop(0);
    return arg;
}

CASE_OF(asynchronous_cancellation, cancel(10, 1, cancelled_asynchronously),
        "threads cancelled asynchronously, outside of CUDA", 0)

/* --- thread-local data --- */

static pthread_key_t key;

static void late_free(void *block)
{
    static _Thread_local int rounds;
    give(block);
    if (rounds++ < 3) /* again, after all other destructors */
        pthread_setspecific(key, take(2 * KIB));
}

static void *with_thread_data(void *arg)
{
    pthread_setspecific(key, take(KIB));
    return arg;
}

CASE(thread_data_is_freed_late, "destructors of thread data free and allocate", 0)
{
    give(take(KIB));
    CHECK(!pthread_key_create(&key, late_free));
    for (int i = 0; i < 30; i++)
        in_threads(1, with_thread_data, NULL);
    for (int i = 0; i < 10; i++)
        in_threads(8, with_thread_data, NULL);
}

CASE(thread_data_from_before_us, "destructors of thread data created before CUDA free memory", 0)
{
    CHECK(!pthread_key_create(&key, late_free)); /* its destructor runs before ours */
    for (int i = 0; i < 30; i++)
        in_threads(1, with_thread_data, NULL);
}
