/* SPDX-License-Identifier: Apache-2.0
 *
 * exec without fork: the process becomes another program after it has used CUDA, by every exec
 * function, or tries to and continues. */
#include "victim_memory.h"

VICTIM("fork and exec")

extern char **environ;

static char *argv_plain[] = {(char *)"victim", (char *)"plain", NULL};

CASE_STATUS(plain, "the program started by the exec cases", 0)
{
    void *p = take(10 * KIB);
    take(20 * KIB);
    give(p);
    puts("plain");
    return 5;
}

static void before(void)
{
    void *p = take(KIB);
    take(2 * KIB);
    give(p);
    puts("before");
    fflush(stdout);
    tally_end();
}

/* A case that uses CUDA and then makes a call that does not return. */
#define BEFORE(name, call, title, flags, ...) \
    CASE_OF(name, (before(), (void)(call)), title, flags, ##__VA_ARGS__)
#define BY(function, ...) \
    BEFORE(by_##function, function(__VA_ARGS__), "exec by " #function, VF_CHILDREN)
BY(execv, own_path(), argv_plain)
BY(execve, "/proc/self/exe", argv_plain, environ)
BY(execvp, own_path(), argv_plain)
BY(execvpe, own_path(), argv_plain, environ)
BY(execl, own_path(), "victim", "plain", (char *)NULL)
BY(execlp, own_path(), "victim", "plain", (char *)NULL)
BY(execle, own_path(), "victim", "plain", (char *)NULL, environ)
BY(fexecve, open(own_path(), O_RDONLY | O_CLOEXEC), argv_plain, environ)
BY(execveat, AT_FDCWD, own_path(), argv_plain, environ, 0)
BEFORE(by_system_call, syscall(SYS_execve, own_path(), argv_plain, environ),
       "exec by the system call", VF_CHILDREN | VF_TORN)
BEFORE(by_path_search, execlp("sh", "sh", "-c", "echo shell; exit 6", (char *)NULL),
       "exec of a shell by execlp", 0)

static void *exec_here(void *arg)
{
    execv(own_path(), argv_plain);
    return arg;
}

BEFORE(from_a_thread, (in_threads(1, exec_here, NULL), 0), "exec from another thread", VF_CHILDREN)

CASE(while_others_allocate, "exec while other threads allocate (counts not compared)",
     VF_CHILDREN | VF_NO_TALLY)
{
    pthread_t t[3];
    start_threads(t, 3, churn_uncounted);
    usleep(20000);
    execv(own_path(), argv_plain);
}

/* Each child's thread makes its first CUDA call while the child calls exec, or ends: a little later
 * from child to child. */
CASE(while_another_begins, "exec while a thread makes the first CUDA call (counts not compared)",
     VF_CHILDREN | VF_NO_TALLY)
{
    for (int i = 0; i < 40; i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t t;
            start_threads(&t, 1, churn_uncounted);
            usleep(150 * (useconds_t)(i / 2));
            if (i % 2)
                execv(own_path(), argv_plain);
            _exit(6);
        }
        CHECK(status_of(child) == (i % 2 ? 5 : 6));
    }
}

static void exec_in_handler(int number)
{
    (void)number;
    execv(own_path(), argv_plain);
    _exit(1);
}

BEFORE(in_a_signal_handler, (signal(SIGUSR1, exec_in_handler), raise(SIGUSR1)),
       "exec in a signal handler", VF_CHILDREN)
BEFORE(in_an_exit_handler, atexit(by_execv), "exec in an exit handler", VF_CHILDREN)

/* --- failures --- */

CASE_STATUS(failed_exec_goes_on, "exec fails", 0)
{
    char *argv[] = {(char *)"x", NULL};
    before();
    for (int i = 0; i < 20; i++) {
        void *p = take((size_t)(i + 1) * KIB);
        int r = i % 4 == 0   ? execve("/nonexistent", argv, environ)
                : i % 4 == 1 ? execve("/etc", argv, environ)
                : i % 4 == 2 ? execvp("surely-not-a-program", argv)
                             : execl("/dev/null", "x", (char *)NULL);
        printf("%d %s\n", r, strerror(errno));
        give(p);
    }
    return 7;
}

static char not_a_program[] = "./not-a-program-XXXXXX", *argv_x[] = {(char *)"x", NULL};

/* one that looks as if it would succeed */
static void make_not_a_program(void)
{
    int fd = mkstemp(not_a_program);
    CHECK(fd >= 0 && write(fd, "\177ELF nothing", 12) == 12 && !fchmod(fd, 0755));
    close(fd);
}

CASE_STATUS(failed_exec_of_an_executable_file, "exec fails although the file is executable", 0)
{
    before();
    make_not_a_program();
    for (int i = 0; i < 10; i++) {
        void *p = take(KIB);
        int r = execve(not_a_program, argv_x, environ);
        printf("%d %s\n", r, strerror(errno));
        give(p);
    }
    unlink(not_a_program);
    return 8;
}

CASE_STATUS(failed_execs_while_others_allocate,
            "exec fails while other threads allocate (counts not compared)", VF_NO_TALLY)
{
    pthread_t t[2];
    make_not_a_program();
    start_threads(t, 2, churn_uncounted);
    for (int i = 0; i < 30; i++) {
        void *p = NULL;
        OK(cudaMalloc(&p, KIB));
        execve(not_a_program, argv_x, environ);
        OK(cudaFree(p));
    }
    going = 0;
    join_threads(t, 2, NULL);
    unlink(not_a_program);
    return 9;
}

CASE(failed_exec_then_exec, "exec fails, then succeeds", VF_CHILDREN)
{
    before();
    execl("/etc/passwd", "x", (char *)NULL);
    execl("/nonexistent/a", "x", (char *)NULL);
    execv(own_path(), argv_plain);
}

/* --- environments --- */

static char *none[] = {NULL};

BEFORE(into_an_empty_environment,
       execle("/bin/sh", "sh", "-c", "echo alone; exit 4", (char *)NULL, none),
       "exec with an environment without LD_PRELOAD", 0,
       STDERR_HAS("without LD_PRELOAD in its environment: recording ends here"))

CASE(preload_removed_by_the_program, "unsets LD_PRELOAD, then exec", 0)
{
    unsetenv("LD_PRELOAD");
    before();
    execl("/bin/sh", "sh", "-c", "echo alone; exit 4", (char *)NULL);
}

CASE(environment_cleared_before_cuda, "clears its environment before CUDA: default options",
     VF_OBSERVE_ONLY)
{
    clearenv();
    give(take(KIB));
    printf("environment %d\n", environ ? environ[0] != NULL : 0);
}

CASE(options_of_the_program_itself, "sets an option of vramscope before CUDA", 0)
{
    static char setting[] = "VRAMSCOPE_OUTPUT=chosen-by-the-program.vst";
    putenv(setting); /* read at the first CUDA call */
    give(take(KIB));
}
