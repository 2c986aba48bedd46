/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace that an import writes: its head, the events of one thread and one program, its notes and
 * its end. What the file does not tell (program, pid, the device's name and size, which thread) is
 * left unknown. Private to src/analysis/import. */
#ifndef VS_IMPORT_WRITER_H
#define VS_IMPORT_WRITER_H

#include "analysis/import/import.h"
#include "trace/compose/composer.h"

#define VS_IMPORT_TID 1u
#define VS_IMPORT_START_NS UINT64_C(1000000000) /* the first instant, on the trace's clock */

struct vs_import_writer {
    struct vs_composer *composer;
    uint64_t now_ns; /* of the next event, since the first instant */
    uint32_t tid;    /* of the next event */
    uint64_t devices; /* bit of each that was described */
};

/* vs_import_begin: begins the trace of the file *name*, which stands for the program, from
 * *realtime_ns* on (0: unknown). *seed*: a hash of the file's contents, from which the trace's
 * identity follows. */
enum vs_err vs_import_begin(struct vs_import_writer *writer, FILE *out, const char *name,
                            uint64_t realtime_ns, const uint64_t seed[2]) VS_MUST_CHECK;

/* vs_import_event: writes *event* at the writer's time, by its thread. */
void vs_import_event(struct vs_import_writer *writer, struct vs_event *event);

/* vs_import_device: describes a device, before its first event. */
void vs_import_device(struct vs_import_writer *writer, unsigned device);

uint64_t vs_import_string(struct vs_import_writer *writer, const char *text);
void vs_import_option(struct vs_import_writer *writer, const char *name, uint64_t value);
void vs_import_note(struct vs_import_writer *writer, bool warning, const char *format, ...)
    VS_PRINTF(3, 4);

/* vs_import_end: writes the end of the history; no event follows. */
void vs_import_end(struct vs_import_writer *writer);

#endif
