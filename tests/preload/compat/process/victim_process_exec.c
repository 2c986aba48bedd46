/* SPDX-License-Identifier: Apache-2.0
 *
 * exec without fork: the process becomes another program after it has used CUDA, by every exec
 * function, or tries to and continues. */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

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

static const char *own_path(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    CHECK(n > 0);
    return path;
}

#define BY(function, ...)                                              \
    CASE_STATUS(by_##function, "exec by " #function, VF_CHILDREN)      \
    {                                                                  \
        before();                                                      \
        function(__VA_ARGS__);                                         \
        return 1;                                                      \
    }
BY(execv, own_path(), argv_plain)
BY(execve, "/proc/self/exe", argv_plain, environ)
BY(execvp, own_path(), argv_plain)
BY(execvpe, own_path(), argv_plain, environ)
BY(execl, own_path(), "victim", "plain", (char *)NULL)
BY(execlp, own_path(), "victim", "plain", (char *)NULL)
BY(execle, own_path(), "victim", "plain", (char *)NULL, environ)
BY(fexecve, open(own_path(), O_RDONLY | O_CLOEXEC), argv_plain, environ)
BY(execveat, AT_FDCWD, own_path(), argv_plain, environ, 0)

CASE_STATUS(by_system_call, "exec by the system call", VF_CHILDREN | VF_TORN)
{
    before();
    syscall(SYS_execve, own_path(), argv_plain, environ);
    return 1;
}

CASE_STATUS(by_path_search, "exec of a shell by execlp", 0)
{
    before();
    execlp("sh", "sh", "-c", "echo shell; exit 6", (char *)NULL);
    return 1;
}

static void *exec_here(void *arg)
{
    (void)arg;
    execv(own_path(), argv_plain);
    return NULL;
}

CASE_STATUS(from_a_thread, "exec from another thread", VF_CHILDREN)
{
    pthread_t t;
    before();
    pthread_create(&t, NULL, exec_here, NULL);
    pthread_join(t, NULL);
    return 1;
}

static _Atomic int going = 1;

static void *churn(void *arg)
{
    (void)arg;
    void *p;
    while (going) {
        if (cudaMalloc(&p, KIB) == cudaSuccess)
            cudaFree(p);
    }
    return NULL;
}

CASE_STATUS(while_others_allocate, "exec while other threads allocate (counts not compared)",
            VF_CHILDREN | VF_NO_TALLY)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, churn, NULL);
    usleep(20000);
    execv(own_path(), argv_plain);
    return 1;
}

/* Each child's thread makes its first CUDA call while the child calls exec, or ends: a little later
 * from child to child. */
CASE(while_another_begins, "exec while a thread makes the first CUDA call (counts not compared)",
     VF_CHILDREN | VF_NO_TALLY)
{
    for (int i = 0; i < 40; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            pthread_t t;
            pthread_create(&t, NULL, churn, NULL);
            usleep(150 * (useconds_t)(i / 2));
            if (i % 2)
                execv(own_path(), argv_plain);
            _exit(6);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (i % 2 ? 5 : 6));
    }
}

static void exec_in_handler(int number)
{
    (void)number;
    execv(own_path(), argv_plain);
    _exit(1);
}

CASE_STATUS(in_a_signal_handler, "exec in a signal handler", VF_CHILDREN)
{
    before();
    signal(SIGUSR1, exec_in_handler);
    raise(SIGUSR1);
    return 1;
}

CASE_STATUS(in_an_exit_handler, "exec in an exit handler", VF_CHILDREN)
{
    before();
    signal(SIGUSR1, exec_in_handler);
    atexit((void (*)(void))by_execv);
    return 1;
}

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

/* one that looks as if it would succeed */
CASE_STATUS(failed_exec_of_an_executable_file, "exec fails although the file is executable", 0)
{
    char *argv[] = {(char *)"x", NULL};
    char path[] = "not-a-program-XXXXXX";
    before();
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, "\177ELF nothing", 12) == 12 && !fchmod(fd, 0755));
    close(fd);
    char name[64];
    snprintf(name, sizeof name, "./%s", path);
    for (int i = 0; i < 10; i++) {
        void *p = take(KIB);
        int r = execve(name, argv, environ);
        printf("%d %s\n", r, strerror(errno));
        give(p);
    }
    unlink(path);
    return 8;
}

CASE_STATUS(failed_execs_while_others_allocate,
            "exec fails while other threads allocate (counts not compared)", VF_NO_TALLY)
{
    char *argv[] = {(char *)"x", NULL};
    char path[] = "not-a-program-XXXXXX", name[64];
    pthread_t t[2];
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, "\177ELF nothing", 12) == 12 && !fchmod(fd, 0755));
    close(fd);
    snprintf(name, sizeof name, "./%s", path);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, churn, NULL);
    for (int i = 0; i < 30; i++) {
        void *p = NULL;
        OK(cudaMalloc(&p, KIB));
        execve(name, argv, environ);
        OK(cudaFree(p));
    }
    going = 0;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    unlink(path);
    return 9;
}

CASE_STATUS(failed_exec_then_exec, "exec fails, then succeeds", VF_CHILDREN)
{
    before();
    execl("/etc/passwd", "x", (char *)NULL);
    execl("/nonexistent/a", "x", (char *)NULL);
    execv(own_path(), argv_plain);
    return 1;
}

/* --- environments --- */

CASE_STATUS(into_an_empty_environment, "exec with an environment without LD_PRELOAD", 0,
            STDERR_HAS("without LD_PRELOAD in its environment: recording ends here"))
{
    char *none[] = {NULL};
    before();
    execle("/bin/sh", "sh", "-c", "echo alone; exit 4", (char *)NULL, none);
    return 1;
}

CASE_STATUS(preload_removed_by_the_program, "unsets LD_PRELOAD, then exec", 0)
{
    unsetenv("LD_PRELOAD");
    before();
    execl("/bin/sh", "sh", "-c", "echo alone; exit 4", (char *)NULL);
    return 1;
}

CASE(environment_cleared_before_cuda, "clears its environment before CUDA: default options",
     VF_OBSERVE_ONLY)
{
    char tally[4096];
    snprintf(tally, sizeof tally, "%s", getenv("VICTIM_TALLY"));
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
