/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stand-ins need of the process: host memory, threads, lines on standard error. A stand-in that gets
 * no host memory cannot go on: it prints one line and ends the process. CUDA_ERROR_OUT_OF_MEMORY is of device
 * memory, or of work that needs a thread where none may start. */
#ifndef VS_SIM_HOST_H
#define VS_SIM_HOST_H

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* vs_sim_need: *got*, unless it is NULL: then the process ends. */
static inline void *vs_sim_need(void *got)
{
    static const char line[] = "vramscope simulator: no host memory, or no thread\n";
    if (!got) {
        (void)!write(STDERR_FILENO, line, sizeof line - 1);
        abort();
    }
    return got;
}

/* vs_sim_dup: a malloc'ed copy of *bytes* bytes. */
static inline void *vs_sim_dup(const void *from, size_t bytes)
{
    return memcpy(vs_sim_need(malloc(bytes)), from, bytes);
}

/* vs_sim_room: makes room for one more of *count* elements in the malloc'ed array that the pointer
 * at *array* refers to, which has room for *max*. */
static inline void vs_sim_room(void *array, size_t count, size_t *max, size_t element)
{
    void *at;
    if (count < *max)
        return;
    *max = *max ? 2 * *max : 16;
    memcpy(&at, array, sizeof at);
    at = vs_sim_need(realloc(at, *max * element));
    memcpy(array, &at, sizeof at);
}

/* What handles point to: used again, and never returned to malloc, so that a stale handle finds its
 * old mark. Begins as {.mu = PTHREAD_MUTEX_INITIALIZER}. */
struct vs_sim_kept {
    pthread_mutex_t mu; /* guards the rest */
    void **all, **unused;
    size_t all_count, all_max, unused_count, unused_max;
};

/* vs_sim_kept_take: an object of *bytes*, the same for all of *kept*: as vs_sim_kept_give got it,
 * or (*fresh*, which may be NULL) a new one of zeroes. */
static inline void *vs_sim_kept_take(struct vs_sim_kept *kept, size_t bytes, bool *fresh)
{
    void *object;
    pthread_mutex_lock(&kept->mu);
    if (fresh)
        *fresh = !kept->unused_count;
    if (kept->unused_count) {
        object = kept->unused[--kept->unused_count];
    } else {
        object = memset(vs_sim_need(aligned_alloc(64, (bytes + 63) / 64 * 64)), 0, bytes);
        vs_sim_room(&kept->all, kept->all_count, &kept->all_max, sizeof *kept->all);
        kept->all[kept->all_count++] = object;
    }
    pthread_mutex_unlock(&kept->mu);
    return object;
}

static inline void vs_sim_kept_give(struct vs_sim_kept *kept, void *object)
{
    pthread_mutex_lock(&kept->mu);
    vs_sim_room(&kept->unused, kept->unused_count, &kept->unused_max, sizeof *kept->unused);
    kept->unused[kept->unused_count++] = object;
    pthread_mutex_unlock(&kept->mu);
}

/* vs_sim_note: appends a line to the notes of the run, if it keeps any (library_notes.c). */
static inline void vs_sim_note(const char *line)
{
    const char *path = getenv("VRAMSCOPE_SIMULATE_NOTES");
    int fd = path && *path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    ssize_t unused = write(fd, line, strlen(line));
    (void)unused; /* a note less */
    close(fd);
}

/* vs_sim_say: prints to standard error, in one write. */
__attribute__((format(printf, 1, 2))) static inline void vs_sim_say(const char *format, ...)
{
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    (void)!write(STDERR_FILENO, line, strlen(line));
}

/* vs_sim_thread_start: a detached thread on which the program's signal handlers do not run. */
static inline bool vs_sim_thread_start(void *(*run)(void *), void *arg)
{
    sigset_t all, old;
    pthread_t thread;
    sigfillset(&all);
    /* a blocked SIGSYS would kill the process in a sandbox that serves system calls by it */
    sigdelset(&all, SIGSYS);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool started = !pthread_create(&thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (started)
        pthread_detach(thread);
    return started;
}

#endif
