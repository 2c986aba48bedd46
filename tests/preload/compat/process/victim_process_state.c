/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs in an unusual state when they call CUDA: unusual stacks, code or floating point
 * settings, an unshared descriptor table, few rights, a debugger; or very many threads or
 * libraries. */
#include <fenv.h>
#include <grp.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <ucontext.h>

#include "victim_memory.h"

VICTIM("odd states")

/* --- stacks and code --- */

static ucontext_t main_context, fiber;

static void on_a_fiber(void)
{
    for (int i = 0; i < 10; i++) {
        give(take(KIB));
        swapcontext(&fiber, &main_context);
    }
}

CASE(fibers, "coroutines on stacks of 64 KiB between unmapped pages", 0)
{
    size_t bytes = 64 * KIB;
    char *map = mmap(NULL, bytes + 8 * KIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED);
    CHECK(!mprotect(map + 4 * KIB, bytes, PROT_READ | PROT_WRITE));
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = map + 4 * KIB;
    fiber.uc_stack.ss_size = bytes;
    fiber.uc_link = &main_context;
    makecontext(&fiber, on_a_fiber, 0);
    for (int i = 0; i < 10; i++) {
        swapcontext(&main_context, &fiber);
        give(take(2 * KIB));
    }
}

#if defined(__x86_64__)
/* code that no table describes, with an invalid frame pointer: push rbp; mov rbp, imm; mov rax,
 * rdi; call rax; pop rbp; ret */
static void call_work(void)
{
    give(take(5 * KIB));
}

CASE(code_without_tables, "code generated at run time, with an invalid frame pointer", 0)
{
    static const unsigned char code[] = {0x55, 0x48, 0xbd, 0xef, 0xbe, 0xad, 0xde, 0, 0, 0, 0,
                                         0x48, 0x89, 0xf8, 0xff, 0xd0, 0x5d, 0xc3};
    void *map = mmap(NULL, 4 * KIB, PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED);
    memcpy(map, code, sizeof code);
    void (*run)(void (*)(void));
    memcpy(&run, &map, sizeof run);
    for (int i = 0; i < 20; i++)
        run(call_work);
}
#endif

/* --- the state of the thread --- */

CASE(strict_arithmetic, "floating point exceptions trap, rounding is upward", 0)
{
    int traps = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW;
    feenableexcept(traps);
    fesetround(FE_UPWARD);
    some_work();
    printf("still %d %d\n", fegetexcept() == traps, fegetround() == FE_UPWARD);
}

CASE(errno_stays, "errno after calls that succeed", 0)
{
    int changed = 0;
    for (size_t i = 0; i < 20000; i++) {
        errno = 77;
        void *p = take((i % 50 + 1) * KIB);
        changed += errno != 77;
        errno = 78;
        give(p);
        changed += errno != 78;
    }
    printf("changed %d\n", changed);
}

/* --- many --- */

static void *short_life(void *arg)
{
    give(take(KIB));
    return arg;
}

CASE(threads_one_after_another, "3000 threads, one after another: memory does not grow", 0)
{
    long early = 0;
    for (int i = 0; i < 3000; i++) {
        in_threads(1, short_life, NULL);
        if (i == 1000)
            early = memory_kib(1);
    }
    long late = memory_kib(1);
    fprintf(stderr, "resident: %ld, then %ld KiB\n", early, late);
    printf("grows %d\n", late > early + 6 * 1024);
}

static pthread_barrier_t all_there;

static void *long_life(void *arg)
{
    void *p = take(KIB);
    pthread_barrier_wait(&all_there);
    give(p);
    return arg;
}

CASE(many_threads_at_once, "1000 threads at once", 0)
{
    enum { THREADS = 1000 };
    static pthread_t threads[THREADS];
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 * KIB);
    pthread_barrier_init(&all_there, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], &attr, long_life, NULL));
    join_threads(threads, THREADS, NULL);
}

/* --- descriptors --- */

CASE(own_table_of_descriptors, "a thread with its own descriptor table, all closed", 0)
{
    some_work();
    CHECK(!syscall(SYS_close_range, 3, ~0u, 2 /* CLOSE_RANGE_UNSHARE */));
    FILE *f = fopen("mine", "w+");
    CHECK(f && fileno(f) == 3);
    some_work();
    fputs("mine", f);
    fflush(f);
    struct stat st;
    CHECK(!fstat(3, &st));
    printf("%d\n", (int)st.st_size);
    fclose(f);
}

CASE(no_descriptors_at_all, "RLIMIT_NOFILE of 0", 0)
{
    struct rlimit none = {0, 0};
    int count;
    OK(cudaGetDeviceCount(&count));
    give(take(KIB));
    CHECK(!setrlimit(RLIMIT_NOFILE, &none));
    some_work();
    puts("worked");
}

/* --- rights --- */

static void become_nobody(void)
{
    if (!geteuid())
        CHECK(!setgroups(0, NULL) && !setresgid(65534, 65534, 65534) &&
              !setresuid(65534, 65534, 65534));
}

/* from then on no memory can be mapped */
CASE(new_memory_is_locked, "mlockall for new memory, with a small limit", 0)
{
    struct rlimit little = {16 * KIB, 16 * KIB};
    some_work();
    CHECK(!setrlimit(RLIMIT_MEMLOCK, &little));
    become_nobody();
    CHECK(!mlockall(MCL_FUTURE));
    void *map = mmap(NULL, 64 * KIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("mapped %d\n", map != MAP_FAILED);
    some_work();
}

CASE(not_dumpable, "a program that is not dumpable", 0)
{
    some_work();
    become_nobody();
    CHECK(!prctl(PR_SET_DUMPABLE, 0));
    some_work();
    usleep(700000); /* longer than the interval of our thread */
    some_work();
}

CASE(other_namespaces, "a child in its own namespaces, as PID 1", VF_CHILDREN,
     STDERR_HAS("the program's own threads write it"))
{
    int all = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS;
    if (unshare(all) && unshare(CLONE_NEWUSER | all)) { /* without privileges, in a namespace of the user */
        puts("cannot");
        give(take(KIB));
        return;
    }
    pid_t pid = new_child();
    if (!pid) {
        victim_tally_open();
        printf("pid %d\n", (int)getpid());
        some_work();
        tally_end();
        exit(3);
    }
    print_child(pid);
    some_work();
}

/* --- signals and debuggers --- */

CASE(children_are_ignored, "SIGCHLD is ignored", 0)
{
    int status = 0;
    signal(SIGCHLD, SIG_IGN);
    some_work();
    printf("system %d\n", system("exit 3"));
    pid_t pid = waitpid(-1, &status, __WALL);
    printf("%d %s\n", (int)pid, strerror(errno));
}

static char state_of(pid_t pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    close(fd);
    const char *name = strrchr(text, ')');
    return name && name[1] ? name[2] : '?';
}

CASE(stopped_and_continued, "stopped and continued", 0)
{
    give(take(KIB));
    pid_t pid = new_child();
    if (!pid) {
        pid_t me = getppid();
        while (state_of(me) != 'T') /* however late it is */
            usleep(1000);
        kill(me, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    some_work();
    print_child(pid);
}

CASE(all_signals_by_a_descriptor, "receives all signals from a signalfd", 0)
{
    sigset_t all;
    struct signalfd_siginfo info;
    sigfillset(&all);
    CHECK(!sigprocmask(SIG_SETMASK, &all, NULL));
    int fd = signalfd(-1, &all, SFD_CLOEXEC);
    CHECK(fd >= 0);
    some_work();
    for (int i = 0; i < 3; i++) {
        kill(getpid(), SIGUSR1 + i % 2);
        CHECK(read(fd, &info, sizeof info) == sizeof info);
        printf("%u\n", info.ssi_signo);
        some_work();
    }
    close(fd);
}

/* a tracer sees the signals of its child, and none of ours */
CASE(traced_by_its_parent, "a child traced by its parent (ptrace)", VF_CHILDREN)
{
    int status, signals = 0;
    pid_t pid = new_child();
    if (!pid) {
        CHECK(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
        victim_tally_open();
        some_work();
        raise(SIGUSR1);
        some_work();
        tally_end();
        exit(17);
    }
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        signals++;
        CHECK(!ptrace(PTRACE_CONT, pid, NULL, NULL));
    }
    printf("%d signals, status %d\n", signals, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}
