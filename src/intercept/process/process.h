/* SPDX-License-Identifier: Apache-2.0
 *
 * The recording's lifetime in the host process: started by the first call that makes it a CUDA
 * process, ended at exit, abandoned in a forked child. */
#ifndef VS_PROCESS_H
#define VS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vs_option.h"
#include "trace/record/recorder.h"

/* The sums of this process: written with the order of the trace held (vs_recorder_acquire), so that
 * a sum and its peak match the events at that point; read at any time. */
extern struct vs_book vs_process_book;

enum vs_process_state {
    VS_PROCESS_IDLE,     /* no CUDA call seen yet */
    VS_PROCESS_ACTIVE,   /* recording */
    VS_PROCESS_EXITING,  /* exit handlers run: record, but make no CUDA call of our own */
    VS_PROCESS_SILENT,   /* forward everything, record nothing */
};

/* vs_process_state: present state; any thread. */
enum vs_process_state vs_process_state(void);

/* vs_process_records: ACTIVE or EXITING. */
static inline bool vs_process_records(void)
{
    enum vs_process_state state = vs_process_state();
    return state == VS_PROCESS_ACTIVE || state == VS_PROCESS_EXITING;
}

/* vs_process_begin: starts the recording if that has not happened yet. Returns true if the
 * recording is on. Any thread; racing threads wait for the first. Cost after the first call: one
 * atomic load. */
bool vs_process_begin(void);

/* vs_process_inject: CUPTI will report calls instead of our hooks, so this process can only be
 * observed. Called before the recording starts. */
void vs_process_inject(void);

/* vs_process_attach: the options of a process that runs already, a line NAME=VALUE each; before the recording
 * starts. *options* is valid until the next call, which has NULL. Until that one, vs_process_refuse only keeps the
 * reason, and the process can be recorded later. */
void vs_process_attach(const char *options);

/* vs_process_attached: it ran already, so it may hold memory that no call told of. */
bool vs_process_attached(void);

/* vs_process_refusal: why `vramscope attach` was refused; "" if it was not called. */
const char *vs_process_refusal(void);

/* vs_process_refuse: this process cannot be recorded through CUPTI: logs once *what* is missing, and informs
 * `vramscope run`. Does nothing after the recording has started. */
void vs_process_refuse(const char *what);

/* vs_process_recorder: while the state is ACTIVE or EXITING; NULL with record=off, with which every
 * function of the recorder does nothing. */
struct vs_recorder *vs_process_recorder(void);

/* Records an event of *kind* with the given fields. */
#define VS_RECORD(kind_, ...)                                                       \
    vs_recorder_event(vs_process_recorder(),                                        \
                      &(struct vs_event){.kind = VS_EVENT_##kind_, .kind_ = {__VA_ARGS__}})

/* vs_process_pause: stops or continues the recording of single allocations; before the recording
 * has started, decides how it starts. False if this process is not recorded. Any thread. */
bool vs_process_pause(bool pause);

/* vs_process_options: as parsed at the start; immutable afterwards. */
const struct vs_options *vs_process_options(void);

/* vs_process_caching: does cuMemAlloc go to our allocator? Decided at the start. */
bool vs_process_caching(void);

/* vs_process_serving: does any allocator of ours serve memory: the cache, or the stream-ordered
 * entry points since vs_process_serve? */
bool vs_process_serving(void);
void vs_process_serve(void);

/* vs_process_entered: was vs_process_serve called? */
bool vs_process_entered(void);

/* vs_process_forked: is this the child of a fork, where CUDA is unusable and our locks are in an
 * unknown state? */
bool vs_process_forked(void);

/* vs_process_note: records a `note` event for the reader of the report. *severity* is a VS_LOG_
 * level. */
void vs_process_note(int severity, const char *text);

/* vs_process_stack: the id of the program's stack at this call; of its caller alone without native
 * stacks. */
uint64_t vs_process_stack(void);
/* If not 0, the stack of what this thread records. */
extern _Thread_local uint64_t vs_process_stack_given __attribute__((tls_model("initial-exec")));

/* vs_process_api: the id of an entry point's name, which must be static text. Cost after the first
 * call for a name: no lock. */
uint64_t vs_process_api(const char *name);

/* vs_process_string: vs_recorder_string of a NUL-terminated text. */
uint64_t vs_process_string(const char *text);

#endif
