/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs with few resources: little address space, few descriptors, small files, few threads,
 * small stacks; and programs in a sandbox that forbids system calls. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#include "victim_memory.h"

VICTIM("limits")

static void print_work(void)
{
    some_work();
    puts("worked");
    fflush(stdout);
}

static void limit(int what, rlim_t most)
{
    struct rlimit r = {most, most};
    CHECK(!setrlimit(what, &r));
}

/* initialises the simulated device, without starting our recording */
static void bring_up_cuda(void)
{
    int count;
    OK(cudaGetDeviceCount(&count));
}

CASE(little_address_space, "RLIMIT_AS leaves 4 MiB", 0)
{
    give(take(KIB));
    limit(RLIMIT_AS, (rlim_t)(memory_kib(0) + 4096) * KIB);
    print_work();
}

/* too little address space to start recording: the attempt must leave nothing behind */
CASE(no_address_space_for_us, "RLIMIT_AS leaves 256 KiB at the start: no recording, one message",
     VF_NO_TRACE, STDERR_HAS("the program continues without recording"))
{
    bring_up_cuda();
    limit(RLIMIT_AS, (rlim_t)(memory_kib(0) + 256) * KIB);
    void *p = NULL;
    printf("%d\n", cudaMalloc(&p, KIB) != cudaSuccess);
}

CASE(no_descriptors_left, "no free descriptor after the first call", 0)
{
    bring_up_cuda();
    give(take(KIB));
    struct rlimit r;
    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = 64; /* descriptors above it stay open */
    CHECK(!setrlimit(RLIMIT_NOFILE, &r));
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    printf("%s\n", strerror(errno));
    print_work();
}

CASE(few_descriptors, "RLIMIT_NOFILE of 40", 0)
{
    limit(RLIMIT_NOFILE, 40);
    print_work();
}

/* SIGXFSZ would kill */
CASE(small_files, "RLIMIT_FSIZE of 200 KiB: recording stops with one message (counts not compared)",
     VF_NO_TALLY | VF_TORN, STDERR_HAS("recording has stopped, the program continues"))
{
    signal(SIGXFSZ, SIG_DFL);
    limit(RLIMIT_FSIZE, 200 << 10);
    print_work();
    for (int i = 0; i < 200000; i++)
        give(take(((size_t)i % 1000 + 1) * 16));
    puts("still here");
}

/* not for the program's own output either: its exit status shows that it survived */
CASE_STATUS(no_files, "RLIMIT_FSIZE of 0, also for messages: no recording", VF_NO_TRACE)
{
    signal(SIGXFSZ, SIG_DFL);
    limit(RLIMIT_FSIZE, 0);
    some_work();
    return 41;
}

CASE(locked_memory, "RLIMIT_MEMLOCK of 0", 0)
{
    limit(RLIMIT_MEMLOCK, 0);
    print_work();
}

/* --- small stacks --- */

static void *work_on_a_small_stack(void *arg)
{
    for (int i = 0; i < 10; i++)
        give(take(KIB));
    return arg;
}

static void in_a_thread_with_a_stack_of(size_t bytes, void *(*run)(void *))
{
    pthread_attr_t attr;
    pthread_t t;
    pthread_attr_init(&attr);
    CHECK(!pthread_attr_setstacksize(&attr, bytes));
    CHECK(!pthread_create(&t, &attr, run, NULL));
    pthread_join(t, NULL);
}

CASE(small_stacks, "threads with stacks of 32 KiB", 0)
{
    give(take(KIB));
    for (int i = 0; i < 4; i++)
        in_a_thread_with_a_stack_of(32 * KIB, work_on_a_small_stack);
    puts("small stacks");
}

/* measures the stack of a call that does all work: new stack, new stream, new thread */
#define PAINTED (256 * KIB)
static size_t deepest;

static void *measure(void *arg)
{
    volatile unsigned char *low = (volatile unsigned char *)__builtin_frame_address(0) - PAINTED;
    for (size_t i = 0; i < PAINTED - 512; i++)
        low[i] = 0xa5;
    work_on_a_small_stack(arg);
    size_t untouched = 0;
    while (untouched < PAINTED && low[untouched] == 0xa5)
        untouched++;
    deepest = PAINTED - untouched;
    return NULL;
}

CASE(stack_of_a_call, "a call needs less than 16 KiB of stack in the worst case", 0)
{
    give(take(KIB));
    in_a_thread_with_a_stack_of(4 * PAINTED, measure);
    fprintf(stderr, "stack used: %zu bytes\n", deepest);
    printf("within bounds %d\n", deepest < 16 * KIB);
}

/* --- sandboxes --- */

struct rule {
    int number;
    unsigned action;
};

static void forbid(const struct rule *rules, size_t count)
{
    struct sock_filter filter[64];
    unsigned short n = 0;
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)rules[i].number, 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, rules[i].action);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, filter};
    CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

#ifdef __SANITIZE_ADDRESS__ /* which needs this itself */
#define NOT_IN_SANITIZERS
#else
#define NOT_IN_SANITIZERS {SYS_sched_getaffinity, DENY},
#endif
#define DENY (SECCOMP_RET_ERRNO | EPERM)
#define FORBID(...)                                             \
    do {                                                        \
        static const struct rule rules[] = {__VA_ARGS__};       \
        forbid(rules, sizeof rules / sizeof *rules);            \
    } while (0)

/* files that were not open before cannot be opened */
CASE(no_new_files, "a sandbox without open: no recording, one message", VF_NO_TRACE,
     STDERR_HAS("the program continues without recording"))
{
    bring_up_cuda();
    FORBID({SYS_openat, DENY}, {SYS_open, DENY}, {SYS_creat, DENY});
    print_work();
}

CASE(no_new_threads, "a sandbox without new threads", 0,
     STDERR_HAS("the program's own threads write it"))
{
    bring_up_cuda();
    FORBID({SYS_clone3, DENY}, {SYS_clone, DENY});
    print_work();
}

/* system calls that we can do without */
CASE(no_conveniences, "a sandbox without fallocate, madvise, getrandom, fchmod, unlink, prctl", 0)
{
    FORBID({SYS_fallocate, DENY}, {SYS_madvise, DENY}, {SYS_getrandom, DENY}, {SYS_fchmod, DENY},
           {SYS_sysinfo, DENY}, NOT_IN_SANITIZERS {SYS_uname, DENY}, {SYS_getcwd, DENY},
           {SYS_readlink, DENY}, {SYS_unlink, DENY}, {SYS_prctl, DENY}, {SYS_dup, DENY});
    print_work();
}

/* after the first call: only memory, waiting and the program's own calls */
CASE(a_sandbox_once_cuda_runs, "a sandbox entered after the first call", 0)
{
    give(take(KIB));
    print_work();
    FORBID({SYS_openat, DENY}, {SYS_clone3, DENY}, {SYS_clone, DENY}, {SYS_socket, SECCOMP_RET_KILL_PROCESS},
           {SYS_ptrace, SECCOMP_RET_KILL_PROCESS}, {SYS_execve, SECCOMP_RET_KILL_PROCESS},
           {SYS_fork, SECCOMP_RET_KILL_PROCESS}, {SYS_ftruncate, DENY});
    print_work();
    tally_end();
}

/* a system call that the program's own handler serves, as browsers do */
static volatile sig_atomic_t served;

static void serve(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    served++;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -EPERM;
}

CASE(a_sandbox_with_a_broker, "a sandbox whose SIGSYS handler serves system calls", 0)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    action.sa_sigaction = serve;
    sigaction(SIGSYS, &action, NULL);
    bring_up_cuda();
    FORBID({SYS_fallocate, SECCOMP_RET_TRAP}, {SYS_prctl, SECCOMP_RET_TRAP}, {SYS_getrandom, SECCOMP_RET_TRAP});
    print_work();
}
