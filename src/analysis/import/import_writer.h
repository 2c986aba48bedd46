/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace that an import writes: its head, the events of one thread and one program, its notes and
 * its end. What the file does not tell (program, pid, the device's name and size, which thread) is
 * left unknown. Private to src/analysis/import. */
#ifndef VS_IMPORT_WRITER_H
#define VS_IMPORT_WRITER_H

#include <stdint.h>

#include "analysis/import/import.h"
#include "analysis/import/pickle.h"
#include "base/vs_map.h"
#include "trace/compose/composer.h"
#include "trace/symbols/symbol_set.h"

#define VS_IMPORT_TID 1u
#define VS_IMPORT_START_NS UINT64_C(1000000000) /* the first instant, on the trace's clock */

/* The stacks of a PyTorch snapshot as stacks of the trace: Python frames as recorded ones, native
 * frames with the names that PyTorch looked up, in modules by their file or, where PyTorch gives
 * none, by the namespace of the function. Not thread-safe. */

struct vs_import_frame;

struct vs_import_stacks {
    struct vs_composer *composer;
    struct vs_import_frame *frames; /* each distinct one; a frame's dict caches its place + 1 */
    size_t frame_count, frame_capacity;
    struct vs_map modules; /* by path and function -> index + 1 */
    struct vs_symbol_set names;
};

/* What is imported, and the trace that is made of it. */
struct vs_import_writer {
    FILE *in, *out;
    const char *name; /* of the file */
    uint64_t process; /* as vs_import */
    struct vs_import_result *result;
    char *why;
    struct vs_composer *composer; /* NULL: not begun */
    struct vs_import_stacks stacks;
    uint64_t now_ns; /* of the next event, since the first instant */
    uint32_t tid;    /* of the next event */
    uint64_t devices; /* bit of each that was described */
    const struct vs_event_device *gpus; /* by number; NULL: the file does not describe them */
    const char *gpu_name;               /* then their name; NULL: the file has none */
};

/* vs_import_begin: begins the trace of the file, which stands for the program, from *realtime_ns* on
 * (0: unknown). *seed*: a hash of the file's contents, from which the trace's identity follows. *source*: the
 * format's name. */
enum vs_err vs_import_begin(struct vs_import_writer *writer, const char *source, uint64_t realtime_ns,
                            const uint64_t seed[2]) VS_MUST_CHECK;

/* vs_import_close: completes the trace, if it was begun and *err* is VS_OK: its end and the names. Returns *err*, or
 * what failed here. */
enum vs_err vs_import_close(struct vs_import_writer *writer, enum vs_err err) VS_MUST_CHECK;

/* vs_import_event: writes *event* at the writer's time, by its thread. */
void vs_import_event(struct vs_import_writer *writer, struct vs_event *event);
/* VS_IMPORT: likewise an event of *name* with the fields that follow. */
#define VS_IMPORT(writer, name, ...) \
    vs_import_event(writer, &(struct vs_event){.kind = VS_EVENT_##name, .name = {__VA_ARGS__}})

/* vs_import_device: describes a device, before its first event. */
void vs_import_device(struct vs_import_writer *writer, unsigned device);

uint64_t vs_import_string(struct vs_import_writer *writer, const char *text);
void vs_import_option(struct vs_import_writer *writer, const char *name, uint64_t value);
void vs_import_note(struct vs_import_writer *writer, bool warning, const char *format, ...)
    VS_PRINTF(3, 4);

void vs_import_stacks_open(struct vs_import_stacks *stacks, struct vs_composer *composer);

/* vs_import_stack: the id of the stack with *frames* (innermost first; NULL: none). 0 for none. Each
 * list is read once. */
uint64_t vs_import_stack(struct vs_import_stacks *stacks, struct vs_pickle_list *frames);

/* vs_import_named_frame: the stack that is in *function* of *path*, called from *parent*. *path* (NULL: unknown): the
 * object, or with *line* (not 0) the source file. */
uint64_t vs_import_named_frame(struct vs_import_stacks *stacks, uint64_t parent, const char *function,
                               const char *path, uint64_t line);

/* vs_import_text: the string id of *text*; NULL: 0. */
uint64_t vs_import_text(struct vs_composer *composer, struct vs_pickle_text *text);

/* vs_import_stacks_close: writes the names to the trace, after its last event. */
enum vs_err vs_import_stacks_close(struct vs_import_stacks *stacks) VS_MUST_CHECK;

/* The formats: each begins the trace and writes its events. Errors as vs_import, with their reason in *why*. */

#define VS_RMM_HEADER "Thread,Time,Action,Pointer,Size,Stream"

/* vs_rmm_log: rmm::mr::logging_resource_adaptor writes one line for each allocation and free. Lines that are not
 * understood are counted in the result. */
enum vs_err vs_rmm_log(struct vs_import_writer *writer) VS_MUST_CHECK;

/* vs_nsys: the SQLite export of Nsight Systems, a regular file. VS_ERR_UNSUPPORTED: this build lacks SQLite. */
enum vs_err vs_nsys(struct vs_import_writer *writer) VS_MUST_CHECK;

/* vs_pprof: a heap profile of pprof: the state at one instant. */
enum vs_err vs_pprof(struct vs_import_writer *writer) VS_MUST_CHECK;

#endif
