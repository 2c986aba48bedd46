/* SPDX-License-Identifier: Apache-2.0
 *
 * Framework of the victim programs. A victim does not depend on vramscope: it uses CUDA in one way
 * per case, keeps its own tally of allocations and frees, and describes its cases, so that
 * compat.py can run each of them alone, observed and with the caching allocator, and compare. One
 * source file is one program:
 *
 *   VICTIM("group", SETTING...)                          for all cases, whose own settings win
 *   CASE(name, "description for the table", flags, SETTING...) { ... }
 *   CASE_STATUS(name, ...) { ... return status; }          another exit status than 0
 *   CASE_OF(name, call, "description", flags, SETTING...)  one call is all that it does
 *   AGAIN(name, other, ...)                                the case *other* with other settings
 *
 * `PROGRAM --list` prints the rows in the order of the file, `PROGRAM CASE` runs one. The tally is
 * in a mapped file, so that it is current however the program ends. */
#ifndef VS_VICTIM_H
#define VS_VICTIM_H

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* Families, with the values of enum vs_family. */
enum {
    VT_DEVICE, VT_ASYNC, VT_MANAGED, VT_PINNED, VT_ARRAY, VT_VMM, VT_IPC, VT_GRAPH, VT_REGISTERED,
    VT_FAMILIES
};

enum {
    VF_SHARED_ONLY = 1,   /* built against the shared runtime only */
    VF_STATIC_ONLY = 2,
    VF_NO_TRACE = 4,      /* no process of it may leave a trace */
    VF_NO_TALLY = 8,      /* counts are not compared; the title says why */
    VF_OBSERVE_ONLY = 16, /* not run with the caching allocator */
    VF_CACHING_ONLY = 32,
    VF_ANY_ORDER = 64,    /* lines of the output may come in any order */
    VF_CHILDREN = 128,    /* several traces: their sums are compared */
    VF_TORN = 256,        /* the trace may lack its end: the program is killed */
    /* a signal ends it, also without vramscope; a signal in any other case is a failure */
    VF_DIES = 512,
    /* opened memory of other processes may be part of a larger opened range */
    VF_LARGER = 1024,
    /* a sanitizer's runtime must come first, and supports neither RTLD_DEEPBIND nor auditors nor
     * interposed dlsym */
    VF_NOT_SANITIZED = 2048,
    VF_COMPACT = 4096, /* again as NAME_compact, with the caching allocator's policy compact */
};

/* How a case is run, or what is expected of it: see the macros below. */
struct victim_setting {
    const char *kind, *text;
};

/* One per process image; compat.py unpacks it: keep both in step. */
struct victim_tally {
    int64_t magic, allocs[VT_FAMILIES], frees[VT_FAMILIES], failed[VT_FAMILIES], bytes[VT_FAMILIES];
    int64_t fds, threads; /* at the end of main or at tally_end; -1: not reached */
};
#define VICTIM_MAGIC 0x7461000000000001

static struct victim_tally victim_unnamed, *victim_tally = &victim_unnamed;

__attribute__((unused)) static void tally_alloc_many(int family, int64_t count, int64_t bytes)
{
    __atomic_fetch_add(&victim_tally->allocs[family], count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&victim_tally->bytes[family], bytes, __ATOMIC_RELAXED);
}

/* tally_alloc: the program allocated *bytes*. Any thread. */
__attribute__((unused)) static void tally_alloc(int family, int64_t bytes)
{
    tally_alloc_many(family, 1, bytes);
}

/* tally_free: it was freed, or destroyed with its context. */
__attribute__((unused)) static void tally_free(int family)
{
    __atomic_fetch_add(&victim_tally->frees[family], 1, __ATOMIC_RELAXED);
}

/* tally_failed: the allocation failed. */
__attribute__((unused)) static void tally_failed(int family)
{
    __atomic_fetch_add(&victim_tally->failed[family], 1, __ATOMIC_RELAXED);
}

/* Without those of the simulated driver, which has a file for each kind of its memory. */
static int64_t victim_entries(const char *folder)
{
    int64_t n = 0;
    DIR *d = opendir(folder);
    if (!d)
        return -1;
    for (struct dirent *e; (e = readdir(d));) {
        char link[64] = "";
        if (readlinkat(dirfd(d), e->d_name, link, sizeof link - 1) >= 0 &&
            strstr(link, "memfd:vramscope-sim-"))
            continue;
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

/* Threads of this process; one that was joined is listed until it has ended in the kernel as well. */
static int64_t victim_threads(void)
{
    enum { EXITING = 4 }; /* PF_EXITING of the kernel */
    char path[300], text[512];
    int64_t n = 0;
    DIR *d = opendir("/proc/self/task");
    if (!d)
        return -1;
    for (struct dirent *e; (e = readdir(d));) {
        unsigned flags = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", e->d_name);
        FILE *f = e->d_name[0] != '.' ? fopen(path, "re") : NULL;
        size_t length = f ? fread(text, 1, sizeof text - 1, f) : 0;
        text[length] = 0;
        if (f)
            fclose(f);
        const char *after = strrchr(text, ')');
        if (after && sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1)
            n += !(flags & EXITING);
    }
    closedir(d);
    return n;
}

/* tally_end: counts descriptors and threads now; for an end that skips main's. A detached thread may
 * end a little later, and threads that still run may have a file open briefly. */
__attribute__((unused)) static void tally_end(void)
{
    int64_t threads = victim_threads(), fds = victim_entries("/proc/self/fd");
    for (int same = 0, tries = 0; same < 5 && tries < 500; tries++) {
        usleep(2000);
        int64_t now = victim_threads(), open = victim_entries("/proc/self/fd");
        same = now < threads ? 0 : same + 1;
        threads = now < threads ? now : threads;
        fds = open < fds ? open : fds;
    }
    victim_tally->fds = fds - 1; /* without the folder's own */
    victim_tally->threads = threads;
}

static void victim_tally_open(void)
{
    const char *folder = getenv("VICTIM_TALLY");
    char path[4096];
    if (!folder)
        return;
    snprintf(path, sizeof path, "%s/tally.XXXXXX", folder); /* an exec keeps the pid */
    int fd = mkstemp(path);
    if (fd < 0 || ftruncate(fd, sizeof *victim_tally) != 0)
        exit(98);
    void *map = mmap(NULL, sizeof *victim_tally, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        exit(98);
    victim_tally = (struct victim_tally *)map;
    victim_tally->magic = VICTIM_MAGIC;
    victim_tally->fds = victim_tally->threads = -1;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VICTIM_SANITIZED 1
#else
#define VICTIM_SANITIZED 0
#endif

static struct victim_case {
    const char *name, *title;
    void (*run)(void);
    int (*run_status)(void); /* one of the two */
    unsigned flags;
    int order; /* in the file */
    const struct victim_setting *settings;
    size_t setting_count;
} victim_cases[64];
static size_t victim_case_count;
static const char *victim_name; /* of the case that is run */

/* Compilers do not keep the order of constructors. */
__attribute__((unused)) static void victim_add(struct victim_case added)
{
    size_t i = victim_case_count;
    if (VICTIM_SANITIZED && (added.flags & VF_NOT_SANITIZED))
        return;
    if (i == sizeof victim_cases / sizeof *victim_cases)
        abort();
    for (; i && victim_cases[i - 1].order > added.order; i--)
        victim_cases[i] = victim_cases[i - 1];
    victim_cases[i] = added;
    victim_case_count++;
}

static void victim_list(const struct victim_case *c, const char *group,
                        const struct victim_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%s\t%s\t%s\t0\t%s\n", settings[i].kind, c->name, settings[i].text, group);
}

/* The first entry of each array of settings is empty: no array is. */
static int victim_main(int argc, char **argv, const char *group,
                       const struct victim_setting *settings, size_t count)
{
    for (size_t i = 0; argc == 2 && i < victim_case_count; i++) {
        const struct victim_case *c = &victim_cases[i];
        if (strcmp(argv[1], "--list") == 0) {
            printf("case\t%s\t%s\t%u\t%s\n", c->name, c->title, c->flags, group);
            victim_list(c, group, settings + 1, count - 1);
            victim_list(c, group, c->settings + 1, c->setting_count - 1);
            continue;
        }
        if (strcmp(c->name, argv[1]) != 0)
            continue;
        victim_name = c->name;
        victim_tally_open();
        int status = 0;
        if (c->run)
            c->run();
        else
            status = c->run_status();
        if (victim_tally->fds < 0)
            tally_end();
        return status;
    }
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return 0;
    fprintf(stderr, "no such case; --list shows them\n");
    return 97;
}

#define VICTIM(group, ...)                                                                       \
    static const struct victim_setting victim_settings[] = {{NULL, NULL}, ##__VA_ARGS__};        \
    int main(int argc, char **argv)                                                              \
    {                                                                                            \
        return victim_main(argc, argv, group, victim_settings,                                   \
                           sizeof victim_settings / sizeof *victim_settings);                    \
    }

#define VICTIM_ADD(name, title, run, run_status, flags, ...)                                     \
    __attribute__((constructor)) static void victim_add_##name(void)                             \
    {                                                                                            \
        static const struct victim_setting settings[] = {{NULL, NULL}, ##__VA_ARGS__};           \
        struct victim_case c = {#name, title, run, run_status, flags, __COUNTER__,                \
                                settings, sizeof settings / sizeof *settings};                   \
        victim_add(c);                                                                           \
    }
#define CASE(name, title, flags, ...)                                                            \
    static void name(void);                                                                      \
    VICTIM_ADD(name, title, name, NULL, flags, ##__VA_ARGS__)                                    \
    static void name(void)
#define CASE_STATUS(name, title, flags, ...)                                                     \
    static int name(void);                                                                       \
    VICTIM_ADD(name, title, NULL, name, flags, ##__VA_ARGS__)                                    \
    static int name(void)
/* A case that is one call. */
#define CASE_OF(name, call, title, flags, ...)                                                   \
    static void name(void) { call; }                                                             \
    VICTIM_ADD(name, title, name, NULL, flags, ##__VA_ARGS__)
#define AGAIN(name, other, title, flags, ...)                                                    \
    VICTIM_ADD(name, title, other, NULL, flags, ##__VA_ARGS__)

/* a value that begins with @/ names a file beside the program */
#define ENV(setting) {"env", setting}
#define SIMULATE(device) {"simulate", device}
/* a library that is preloaded as well, in all runs: by its name beside the program */
#define PRELOAD_BEFORE(library) {"before", library}
#define PRELOAD_AFTER(library) {"after", library}
/* our message, which must be printed once; any other message of ours is a failure */
#define STDERR_HAS(message) {"stderr", message}
/* also run with the library loaded by the driver (CUDA_INJECTION64_PATH) instead of preloaded */
#define INJECTED {"injected", ""}
/* an intended difference: OBSERVE, CACHING or INJECTION, and the table's text */
#define REFUSED(front, why) {"refused-" #front, why}

/* CHECK: ends the program with 99, which is a failure in any run. */
#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition)) {                                                  \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);   \
            fflush(stdout);                                                  \
            _exit(99);                                                       \
        }                                                                    \
    } while (0)

/* OK: a CUDA call, of either layer, that must succeed. */
#define OK(call)                                                                        \
    do {                                                                                \
        int victim_result = (int)(call);                                                \
        if (victim_result) {                                                            \
            printf("%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, victim_result);    \
            fflush(stdout);                                                             \
            _exit(99);                                                                  \
        }                                                                               \
    } while (0)

/* The program's own file. */
static inline char *own_path(void)
{
    static char path[4200];
    ssize_t n = readlink("/proc/self/exe", path, 4096);
    CHECK(n > 0);
    path[n] = 0;
    return path;
}

/* The file *name* beside the program. */
static inline const char *beside(const char *name)
{
    char *path = own_path();
    strcpy(strrchr(path, '/') + 1, name);
    return path;
}

/* The exit status of a child, or the negative number of the signal that ended it. */
static inline int status_of(pid_t pid)
{
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        ;
    CHECK(ended == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A child that repeats no output of its parent. */
static inline pid_t new_child(void)
{
    fflush(stdout);
    return fork();
}

static inline void print_child(pid_t pid)
{
    printf("child %d\n", status_of(pid));
}

/* *work* in a child, with a socket to this process, which is returned. */
static inline int in_a_peer(void (*work)(int socket), pid_t *pid)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    *pid = fork();
    CHECK(*pid >= 0);
    if (!*pid) {
        work(ends[1]);
        exit(0);
    }
    return ends[0];
}

/* Memory of the process in KiB: the resident part, or all of its address space. */
static inline long memory_kib(int resident)
{
    long pages[2] = {0, 0};
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld", &pages[0], &pages[1]) == 2);
    fclose(f);
    return pages[resident] * 4;
}

/* *run* in each of the threads, with its number as the argument. */
static inline void start_threads(pthread_t *threads, int count, void *(*run)(void *))
{
    for (intptr_t i = 0; i < count; i++)
        CHECK(!pthread_create(&threads[i], NULL, run, (void *)i));
}

static inline void join_threads(const pthread_t *threads, int count, void **results)
{
    for (int i = 0; i < count; i++)
        CHECK(!pthread_join(threads[i], results ? &results[i] : NULL));
}

static inline void in_threads(int count, void *(*run)(void *), void **results)
{
    pthread_t threads[32];
    start_threads(threads, count, run);
    join_threads(threads, count, results);
}

/* A function of an opened library. */
static inline void *find(void *library, const char *name)
{
    void *fn = library ? dlsym(library, name) : NULL;
    if (!fn)
        printf("%s: %s\n", name, dlerror());
    CHECK(fn);
    return fn;
}

/* Prints what dlsym finds, and dlerror's text. */
static inline void print_lookup(const char *way, void *handle, const char *name)
{
    dlerror();
    void *fn = dlsym(handle, name);
    const char *why = dlerror();
    const char *last = why ? strrchr(why, '/') : NULL; /* the folders differ by machine */
    printf("%s %s: %s (%s)\n", way, name, fn ? "found" : "none", last ? last : why ? why : "no error");
    printf("reported again: %s\n", dlerror() ? "yes" : "no");
}

/* A CUDA call that must succeed and allocates *bytes* of *family*, or frees memory of it. */
#define ALLOCATES(family, bytes, call)           \
    do {                                         \
        OK(call);                                \
        tally_alloc(family, (int64_t)(bytes));   \
    } while (0)
#define FREES(family, call)                      \
    do {                                         \
        OK(call);                                \
        tally_free(family);                      \
    } while (0)

#endif
