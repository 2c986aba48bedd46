/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that reads and decompresses the next frames of a file into slots of the reader that are
 * not in use. It changes nothing else of the reader and decodes no events. The reader gets each frame,
 * or the error in it, exactly as vs_frame_unpack returns them. The thread ends at the first error. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "trace/read/reader_internal.h"

/* A shorter rest of the file is not worth a thread. */
#define AHEAD_BYTES_MIN ((uint64_t)64 << 10)

struct vs_read_ahead {
    pthread_t thread;
    bool running;
    struct vs_source file;
    struct vs_frame_scratch scratch; /* the thread's */
    struct vs_frame_bytes *slots;    /* the reader's; number n is in slot n modulo their count */
    uint64_t offset;                 /* of the next frame to read; the thread's while it runs */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t read, given; /* frames; guarded by mutex, as the next */
    bool stop, ended; /* the thread shall end; it has ended */
};

static void *run(void *context)
{
    struct vs_read_ahead *a = context;
    pthread_mutex_lock(&a->mutex);
    for (const char *problem = NULL; !problem && a->offset < a->file.size;) {
        while (!a->stop && a->read - a->given >= VS_FRAMES_AHEAD - 1) /* one is the reader's */
            pthread_cond_wait(&a->changed, &a->mutex);
        if (a->stop)
            break;
        struct vs_frame_bytes *frame = &a->slots[a->read % VS_FRAMES_AHEAD];
        pthread_mutex_unlock(&a->mutex);
        vs_frame_unpack(&a->file, a->offset, &a->scratch, frame);
        a->offset += (uint64_t)frame->header.header_bytes + frame->header.stored_bytes;
        problem = frame->problem;
        pthread_mutex_lock(&a->mutex);
        a->read++;
        pthread_cond_signal(&a->changed);
    }
    a->ended = true;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    return NULL;
}

/* Signals go to the command's own threads. */
static void start(struct vs_read_ahead *a, const struct vs_reader *r)
{
    sigset_t all, before;
    a->file = r->file;
    a->offset = r->offset;
    a->read = a->given = r->slot + 1;
    a->stop = a->ended = false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    a->running = !pthread_create(&a->thread, NULL, run, a);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop(struct vs_read_ahead *a)
{
    if (!a->running)
        return;
    pthread_mutex_lock(&a->mutex);
    a->stop = true;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    pthread_join(a->thread, NULL);
    a->running = false;
}

const struct vs_frame_bytes *vs_read_ahead_next(struct vs_reader *r)
{
    struct vs_read_ahead *a = r->ahead;
    if (!a)
        return NULL;
    if (!a->running && r->next_sequence > 1 && r->file.size - r->offset >= AHEAD_BYTES_MIN)
        start(a, r);
    if (!a->running)
        return NULL;
    pthread_mutex_lock(&a->mutex);
    while (a->read == a->given && !a->ended)
        pthread_cond_wait(&a->changed, &a->mutex);
    unsigned slot = (unsigned)(a->given % VS_FRAMES_AHEAD);
    bool here = a->read > a->given && a->slots[slot].offset == r->offset;
    a->given += here;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    if (!here || a->slots[slot].problem)
        stop(a);
    if (!here) /* the reader was moved */
        return NULL;
    r->slot = slot;
    return &a->slots[slot];
}

void vs_reader_read_ahead(struct vs_reader *r, bool on)
{
    if (on && !r->ahead && r->file.fd >= 0) {
        r->ahead = vs_xcalloc(1, sizeof *r->ahead);
        r->ahead->slots = r->loaded;
        pthread_mutex_init(&r->ahead->mutex, NULL);
        pthread_cond_init(&r->ahead->changed, NULL);
    } else if (!on && r->ahead) {
        stop(r->ahead);
        vs_frame_scratch_free(&r->ahead->scratch);
        pthread_mutex_destroy(&r->ahead->mutex);
        pthread_cond_destroy(&r->ahead->changed);
        free(r->ahead);
        r->ahead = NULL;
    }
}
