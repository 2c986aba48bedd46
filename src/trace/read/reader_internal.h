/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader's internals, shared by reader.c (API, records), frame.c (bytes to checked frames),
 * columns_place.c (where columns lie), read_ahead.c (the next frames), recovery.c (FILE.live) and
 * reader_table.c (strings, stacks, modules), and used by follower.c (a trace that grows), by the code
 * that rewrites a trace (rewrite_internal.h) and by directory.c (frames added later). Private to
 * src/trace and its tests.
 *
 * Every length is checked against the available bytes before it is used, and tables draw on a
 * budget that grows with the bytes really present. */
#ifndef VS_READER_INTERNAL_H
#define VS_READER_INTERNAL_H

#include "base/vs_arena.h"
#include "trace/format/columns.h"
#include "trace/format/format.h"
#include "trace/read/checkpoint.h"
#include "trace/read/reader.h"

/* A source of bytes: a file, or memory (fuzzing, tests). */
struct vs_source {
    int fd;                     /* -1: memory */
    const unsigned char *bytes; /* not owned */
    uint64_t size;
};

/* vs_source_read: reads up to *bytes* at *offset*; fewer at the end or on an error. */
size_t vs_source_read(const struct vs_source *source, uint64_t offset, void *to, size_t bytes);

struct vs_recovered_window {
    uint64_t sequence, first_event, base_ns;
    unsigned char *data; /* owned */
    size_t used;
    bool cut; /* its end is missing: no record follows it */
};

/* Counts of FILE.live that had not been recorded as events when it was read. */
struct vs_recovered_counts {
    struct vs_live_counts header;
    struct vs_live_cell *cells; /* owned; NULL: there are none, or they changed during the read */
    unsigned char *records;     /* owned */
};

struct vs_recovery {
    bool found; /* FILE.live belongs to this trace */
    struct vs_recovered_counts counts;
    struct vs_reader_outcome outcome;
    unsigned count;
    struct vs_recovered_window windows[VS_LIVE_WINDOWS_MAX];
};

/* vs_recovery_fits: whether *header* is that of a live file of the trace with *uuid*. */
bool vs_recovery_fits(const struct vs_live_header *header, const uint8_t *uuid);
/* vs_recovery_load: copies the windows of the live file *source*, if it belongs to the trace with
 * *uuid*. Called before the size of the trace is read: a window that is reused in between is then
 * in the trace. */
void vs_recovery_load(struct vs_recovery *recovery, const struct vs_source *source,
                      const uint8_t *uuid);
/* vs_recovery_find: the window that becomes frame *sequence*; NULL when there is none. */
const struct vs_recovered_window *vs_recovery_find(const struct vs_recovery *recovery,
                                                   uint64_t sequence);
/* vs_recovery_newest: the highest sequence among the windows; 0 when there is none. */
uint64_t vs_recovery_newest(const struct vs_recovery *recovery);
/* vs_recovery_oldest: the lowest sequence at or above *sequence*; 0 when there is none. */
uint64_t vs_recovery_oldest(const struct vs_recovery *recovery, uint64_t sequence);
void vs_recovery_free(struct vs_recovery *recovery);

/* vs_recovered_counts_load: copies the counts of the live file *source*, whose header is *live*.
 * Called before its windows are copied. */
void vs_recovered_counts_load(struct vs_recovered_counts *counts, const struct vs_source *source,
                              const struct vs_live_header *live);
/* vs_recovered_counts_confirm: discards the counts if they have changed. Called after the windows
 * and the size of the trace were read. */
void vs_recovered_counts_confirm(struct vs_recovered_counts *counts,
                                 const struct vs_source *source);
/* vs_recovered_counts_records: the counts as the records of a frame that follows the last event and
 * begins at its time; NULL when there are none or they would be wrong. */
struct vs_reader;
const unsigned char *vs_recovered_counts_records(struct vs_reader *reader, size_t *bytes);
void vs_recovered_counts_free(struct vs_recovered_counts *counts);

struct vs_stack_node {
    uint64_t pc;
    uint32_t parent, module;
};

/* Definitions so far. Counts start at 0, ids at 1. */
struct vs_reader_table {
    struct vs_arena text;
    char **strings; /* index: id - 1 */
    size_t string_count, string_capacity;
    struct vs_stack_node *nodes; /* index: id - 1 */
    size_t node_count, node_capacity;
    struct vs_module *modules;
    size_t module_count, module_capacity;
    uint64_t budget; /* bytes that may still be spent */
};

/* Each returns VS_ERR_LIMIT when the budget is spent. */
enum vs_err vs_reader_table_add_string(struct vs_reader_table *table, const unsigned char *text,
                                       size_t length) VS_MUST_CHECK;
enum vs_err vs_reader_table_add_node(struct vs_reader_table *table, uint64_t pc, uint32_t parent,
                                     uint32_t module) VS_MUST_CHECK;
/* vs_reader_table_set_module: adds a `module` event. Indexes count up; an event whose index is
 * neither in use nor the next is ignored. */
enum vs_err vs_reader_table_set_module(struct vs_reader_table *table,
                                       const struct vs_event *event) VS_MUST_CHECK;
const char *vs_reader_table_string(const struct vs_reader_table *table, uint64_t id);
void vs_reader_table_free(struct vs_reader_table *table);

/* Bytes that are read from front to back: the rows of a frame, or one of its columns. */
struct vs_lane {
    const unsigned char *next, *end;
};

/* The columns of a frame of codec 2 (columns.h), and the addresses in it. */
struct vs_columns {
    struct vs_lane fixed[VS_COLUMNS_FIXED];
    struct vs_kind_columns {
        unsigned count; /* 0: the frame has no events of the kind */
        struct vs_lane lanes[VS_KIND_FIELDS_MAX];
        size_t bytes[VS_KIND_FIELDS_MAX];
        unsigned char flags[VS_KIND_FIELDS_MAX];
    } kinds[VS_EVENT_CODE_MAX + 1];
    uint32_t addresses; /* so far */
    uint64_t recent[VS_COLUMN_DISTANCE_END];
};

/* vs_columns_place: finds the columns in *size* bytes at *p*. False when they are inconsistent. */
bool vs_columns_place(struct vs_columns *columns, const unsigned char *p, size_t size);

/* Layout of a kind in this file, and which part of it this build has. */
struct vs_reader_kind {
    bool defined;
    bool known;            /* in our event table */
    unsigned field_count;  /* in the file */
    unsigned known_fields; /* of these, fields this build has */
    unsigned char codecs[VS_KIND_FIELDS_MAX];
    unsigned address_count, difference_count; /* fields of codec A, and of T and S */
    unsigned char addresses[VS_KIND_FIELDS_MAX], differences[VS_KIND_FIELDS_MAX];
    bool plain; /* its events need nothing after their fields and ids were read */
    /* how its events are put together in the frame begun as number *plan*: its columns, if it has any */
    uint64_t plan;
    struct vs_event constants; /* with the numbers that never change, as in a row */
    unsigned step_count;       /* the others */
    struct vs_reader_step {
        struct vs_lane *lane;
        unsigned char field;
        bool distance, constant;
    } steps[VS_KIND_FIELDS_MAX];
    unsigned id_count; /* fields that refer to definitions */
    struct vs_reader_id {
        unsigned field;
        const uint64_t *defined; /* so many are defined: the reader's strings_seen or nodes_seen */
    } ids[VS_KIND_FIELDS_MAX];
};

/* A frame, decompressed: its rows, or its columns. */
struct vs_frame_bytes {
    struct vs_frame_header header;
    uint64_t offset;
    const char *problem; /* NULL, or why it cannot be used (*cut*: bytes are missing) */
    bool cut;
    unsigned char *data; /* owned */
    size_t bytes, capacity;
};
#define VS_FRAMES_AHEAD 3u /* kept at once: the present one, and those after it */

struct vs_read_ahead; /* read_ahead.c */

enum vs_record {
    VS_RECORD_IS_FRAME, /* no record: a frame was started */
    VS_RECORD_IS_DEFINITION,
    VS_RECORD_IS_EVENT,
    VS_RECORD_IS_UNKNOWN, /* an event of a kind unknown to this build */
};

struct vs_reader {
    struct vs_source file;
    char *path;
    char *live_path; /* NULL: not searched yet */
    struct vs_file_header header;
    struct vs_recovery recovery;

    /* position */
    uint64_t offset;        /* of the next frame */
    uint64_t next_sequence; /* of the next event frame */

    /* present frame */
    struct vs_frame_header frame;
    uint64_t frame_offset;
    bool frame_recovered; /* from FILE.live */
    struct vs_frame_bytes loaded[VS_FRAMES_AHEAD];
    unsigned slot; /* of these, the one that was loaded last */
    struct vs_frame_scratch scratch;
    struct vs_read_ahead *ahead; /* NULL: each frame is read when it is needed */
    /* where its records are read: fixed[] are the columns, or all of them the rows */
    struct vs_lane rows, *fixed[VS_COLUMNS_FIXED];
    struct vs_columns *columns; /* NULL before the first frame with columns */
    uint64_t plan;              /* frames begun so far */
    /* the latest definition, or event of one of *row_kinds* (bits), as its row; 0: none is kept */
    uint64_t row_kinds;
    unsigned char *row;
    size_t row_bytes, row_capacity;

    /* decoding; reset at each frame. time_ns never decreases */
    uint64_t time_ns, last_address, last_t;
    uint32_t tid, frame_events;

    struct vs_reader_kind kinds[VS_EVENT_CODE_MAX + 1];
    struct vs_reader_table table;
    uint64_t strings_seen, nodes_seen; /* since the start or the last rewind */
    uint64_t events, events_recovered, events_unknown;

    struct vs_reader_outcome outcome;
    bool alone;   /* without a recorded outcome: no process on another machine records it */
    bool end_seen;    /* the latest event was an `end` */
    bool counts_delivered; /* the counts of FILE.live were delivered as events */
    bool stopped; /* an `end` event reported that recording stopped; stopped_error: with this errno
                   * or 0 */
    uint64_t stopped_error;

    /* seeking: see seek.h */
    struct vs_frame_list frames;        /* loaded at the first seek */
    struct vs_checkpoints *checkpoints; /* owned; NULL: none */
    size_t checkpoints_defined;         /* number of these whose definitions were read since the
                                         * start or the last rewind */
    bool held;                          /* held_event is returned next */
    struct vs_event held_event;
    bool single;                        /* vs_reader_next returns after one record */
    enum vs_record record;              /* the latest */

    bool ended;
    enum vs_condition condition;
    char text[VS_READER_WHY_MAX];
};

/* vs_reader_open_bytes: like vs_reader_open, from memory that belongs to the caller and must stay
 * valid until close. *live* may be NULL. *name* replaces the path in messages. */
enum vs_err vs_reader_open_bytes(const void *file, size_t bytes, const void *live,
                                 size_t live_bytes, const char *name, struct vs_reader **out,
                                 char *why) VS_MUST_CHECK;

/* vs_reader_record: like vs_reader_next, in single steps. */
enum vs_err vs_reader_record(struct vs_reader *reader, struct vs_event *event,
                             enum vs_record *what) VS_MUST_CHECK;

/* vs_reader_live_path: path of the FILE.live of the trace at *path*: beside it, or, if *path* is a
 * link, beside the file that it points to. malloc'ed; NULL when out of memory. */
char *vs_reader_live_path(const char *path);

/* vs_reader_holder: as vs_reader_recorded_by, for an open trace and its open FILE.live (-1:
 * none). */
uint64_t vs_reader_holder(int fd, int live);

/* vs_reader_find_outcome: see vs_reader_outcome. The trace is a file. */
void vs_reader_find_outcome(struct vs_reader *reader);
/* vs_reader_ending_text: writes to *out* why the trace has no end, or not the program's own.
 * Returns out. */
#define VS_ENDING_TEXT_MAX 160
const char *vs_reader_ending_text(const struct vs_reader *reader, char *out);
/* vs_reader_readable_text: "the 60 events before it are readable"; *out* likewise. */
const char *vs_reader_readable_text(const struct vs_reader *reader, char *out);

/* vs_reader_point: the next records are the *bytes* of rows at *rows* (NULL: there are none), or
 * those of the reader's columns. vs_reader_at_end: whether all of them were read.
 * vs_reader_left_over: whether the columns have bytes that no record used: each must have one
 * meaning. */
void vs_reader_point(struct vs_reader *reader, const unsigned char *rows, size_t bytes,
                     bool columns);
bool vs_reader_left_over(const struct vs_reader *reader);
static inline bool vs_reader_at_end(const struct vs_reader *r)
{
    return r->fixed[VS_COLUMN_HEADS]->next == r->fixed[VS_COLUMN_HEADS]->end;
}

/* vs_frame_load: makes the next event frame (from the file or FILE.live) the present one.
 * VS_ERR_END when there is none, with condition and text set. */
enum vs_err vs_frame_load(struct vs_reader *reader) VS_MUST_CHECK;
/* vs_frame_begin: makes *bytes* at *data*, of times from *base_ns*, the present frame. */
void vs_frame_begin(struct vs_reader *reader, const unsigned char *data, size_t bytes,
                    uint64_t base_ns, bool columns);
/* vs_frame_unpack: reads the frame at *offset* into *out*, and checks it. */
void vs_frame_unpack(const struct vs_source *file, uint64_t offset,
                     struct vs_frame_scratch *scratch, struct vs_frame_bytes *out);
/* vs_frame_read: reads the frame at the reader's offset into its *frame* and *loaded*, and finds
 * its columns. NULL, or the problem (*cut*: bytes are missing). */
const char *vs_frame_read(struct vs_reader *reader, bool *cut);

/* --- read_ahead.c: a thread that reads and decompresses the next frames of a file --- */

/* vs_read_ahead_next: the frame at the reader's offset, as vs_frame_unpack returns it. The first
 * call after a frame was read starts the thread. NULL: there is no thread, or the thread is at
 * another offset. */
const struct vs_frame_bytes *vs_read_ahead_next(struct vs_reader *reader);

/* vs_frame_has_trailer: whether the file ends as vs_recorder_close leaves it. */
bool vs_frame_has_trailer(const struct vs_source *file);

/* vs_directory_final_index: reads the trailer of a finished trace and its final index frame:
 * header, and **rest*, malloc'ed, with the bytes after it. Returns false when there is none. */
bool vs_directory_final_index(const struct vs_source *file, struct vs_trailer *trailer,
                              struct vs_frame_header *header, unsigned char **rest);

/* vs_directory_check: whether the frame of *entry* exists, is sound and has its type; *bytes*
 * receives its size in the file. */
bool vs_directory_check(const struct vs_source *file, const struct vs_directory_entry *entry,
                        uint64_t *bytes);

/* vs_reader_define: decodes *bytes* at *payload*, the payload of a frame with only definitions and
 * `module` events; the present frame is left. VS_ERR_CORRUPT when it has other records or is
 * invalid. */
enum vs_err vs_reader_define(struct vs_reader *reader, const unsigned char *payload, size_t bytes)
    VS_MUST_CHECK;

/* vs_reader_finish: ends the events; the condition's text is built from *fmt*. */
void vs_reader_finish(struct vs_reader *reader, enum vs_condition condition, const char *fmt, ...)
    VS_PRINTF(3, 4);

#endif
