/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a recording's lifetime: process.c starts it, process_fork.c disables it in child
 * processes, process_exit.c ends it with the process, process_exec.c with the program. */
#ifndef VS_PROCESS_INTERNAL_H
#define VS_PROCESS_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"
#include "intercept/process/process.h"

/* --- process.c --- */

/* vs_process_abandon: in a child: drops the parent's trace and resets our locks. */
void vs_process_abandon(void);

/* --- process_fork.c --- */

/* vs_process_enter: before the start, with no lock of ours held: makes this process the one that
 * records, unless it is a child that no fork handler reported; such a child is only forwarded. */
void vs_process_enter(void);

/* vs_process_set_state: sets the result of vs_process_state. */
void vs_process_set_state(enum vs_process_state state);

/* vs_process_own: is this the process that entered? False in children of any kind, including those
 * of vfork, which share our memory. Signal-safe. */
bool vs_process_own(void);

/* vs_process_await_begin: this thread is about to end the process or to call exec: if another
 * thread is just starting the recording, waits until it has, so that its trace gets an end; from
 * here on other threads do not start it. Returns immediately in handlers that interrupted our own
 * work. vs_process_resume undoes it. Both signal-safe. */
void vs_process_await_begin(void);
void vs_process_resume(void);

/* --- process_exit.c --- */

/* vs_process_exit_prepare: at the start, with vs_thread.inside > 0: registers for the end of the
 * process. *libraries*: other libraries may be opened for it. */
void vs_process_exit_prepare(bool libraries);

/* vs_process_quiet: may CUPTI and the driver be called now? Not while a signal handler runs:
 * it may have interrupted them. */
bool vs_process_quiet(void);

/* --- process_exec.c --- */

/* vs_process_exec_prepare: at the start: looks up the functions that exec hooks call, so that a
 * signal handler need not. */
void vs_process_exec_prepare(void);

/* --- lineage.c: this process and its ancestors, unambiguous although process numbers are
 * reused: a number together with the start time of that process --- */

#define VS_LINEAGE_TEXT_MAX 1024
#define VS_LINEAGE_BOOT_MAX 64

struct vs_lineage {
    uint64_t born_ns, parent_born_ns; /* CLOCK_BOOTTIME, from the kernel; 0 = unknown */
    char boot[VS_LINEAGE_BOOT_MAX];   /* the kernel's id of this boot; "" = unknown */
    /* "PID@NS" for each process whose fork, at time NS, this memory went through, then "PID:NS" for
     * each live ancestor, started at NS; the nearest first */
    char text[VS_LINEAGE_TEXT_MAX];
};

/* vs_lineage_read: fills *out* for the calling process, now. Reads /proc; no malloc. Any thread. */
void vs_lineage_read(struct vs_lineage *out);

/* vs_lineage_forked: did this memory belong to another process before a fork by the C library? */
bool vs_lineage_forked(void);

/* --- trace_name.c: from the option `output`, with alternatives if that name is in use --- */

#define VS_TRACE_NAME_TRIES 110 /* the last ones are names never used before */

/* vs_trace_name: writes the name to try at *attempt*, absolute, to *path* (PATH_MAX bytes): the
 * expanded *pattern*; then NAME.PID.vst, NAME.PID.2.vst, …; at last with the time instead of the
 * number, since a container's programs all have the same pid. A link is followed if its target does
 * not exist yet. VS_ERR_LIMIT if too long; VS_ERR_ARG for an unknown percent sequence. */
enum vs_err vs_trace_name(const char *pattern, unsigned attempt, char *path) VS_MUST_CHECK;

/* --- bypass.c: objects whose CUDA calls bypass this library, and so are missing from the trace --- */

/* vs_bypass_report: reports, once per process, loaded objects that were bound past us
 * (RTLD_DEEPBIND), and whether CUDA was loaded into a namespace of its own (dlmopen). Called at the
 * end of the process, while the trace accepts notes. Cost: microseconds if CUDA is not loaded;
 * otherwise it reads each object's undefined symbols. */
void vs_bypass_report(void);

/* --- loader_wait.c --- */

/* vs_loader_waits: does another thread hold the loader's lock for as long as we wait? Then it is
 * waiting for this thread, for example in a constructor, and dlopen would never return. Once per
 * process, before it opens libraries: costs a thread if the program has several, and 5 seconds if
 * the result is true. */
bool vs_loader_waits(void);

/* --- manifest.c: messages to `vramscope run`, as lines of its manifest --- */

/* vs_manifest_append: appends *mark* ('!', '?' or 0 for none) and *text* as one line to the file
 * *manifest*; NULL or empty: there is no manifest. A newline in *text* becomes a NUL, which a path
 * cannot contain. Signal-safe. */
void vs_manifest_append(const char *manifest, char mark, const char *text);

#endif
