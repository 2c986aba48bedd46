/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints: places in a trace where reading can begin, because the definitions before them and
 * the program's state are stored. They are frames of type 3, in the trace itself or in a cache
 * file; docs/internals/trace-format.md §2.8. The contents of the state belong to src/analysis:
 * here it is bytes. Private to src/trace and the code that makes and uses checkpoints. Not
 * thread-safe. */
#ifndef VS_CHECKPOINT_H
#define VS_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

/* --- frame_list.c: the positions of a trace's event frames, found without reading the frames, from the
 * index or, where the trace does not end with one, from the frames' headers. Frames of FILE.live are not
 * in it. Memory: 56 bytes a frame --- */

struct vs_source;
struct vs_frame_header;

struct vs_frame_place {
    uint64_t offset, sequence, first_event;
    uint64_t base_ns, last_ns;
    uint32_t events, definitions;
};

/* Zero-initialise. Sequences count up from 1, events are contiguous and times never decrease. */
struct vs_frame_list {
    struct vs_frame_place *items;
    size_t count, capacity;
    bool loaded;
    bool from_index; /* else from the frames' headers */
};

/* vs_frame_list_load: *first* is the offset of the first frame. An inconsistent frame ends the
 * list; payloads are not checked. Cost: one read for each 1024 frames, or one for each frame. */
void vs_frame_list_load(struct vs_frame_list *list, const struct vs_source *file, uint64_t first);

/* vs_frame_list_event: the frame of event number *event*; count when there is none. */
size_t vs_frame_list_event(const struct vs_frame_list *list, uint64_t event);

/* vs_frame_list_fingerprint: checksum of the first *count* frames' numbers and times. */
uint64_t vs_frame_list_fingerprint(const struct vs_frame_list *list, size_t count);

void vs_frame_list_free(struct vs_frame_list *list);

/* Zero-initialise; released by vs_frame_scratch_free. */
struct vs_frame_scratch {
    unsigned char *stored;
    size_t capacity;
    void *zstd;
};

/* vs_frame_header_read: reads the header of the frame at *offset*. NULL, or the problem: not a
 * whole frame (*cut*: the end of the file is missing). Checks no checksum. vs_frame_fetch:
 * likewise, and reads its extension and stored payload into *scratch*, checked. vs_frame_stored:
 * that payload. vs_frame_payload: likewise, decompressed into *raw*, which has room for *room*
 * bytes. VS_ERR_CORRUPT when there is no good frame or it is larger than *room*. */
const char *vs_frame_header_read(const struct vs_source *file, uint64_t offset,
                                 struct vs_frame_header *header, bool *cut);
const char *vs_frame_fetch(const struct vs_source *file, uint64_t offset,
                           struct vs_frame_scratch *scratch, struct vs_frame_header *header,
                           bool *cut);
const unsigned char *vs_frame_stored(const struct vs_frame_scratch *scratch,
                                     const struct vs_frame_header *header);
enum vs_err vs_frame_payload(const struct vs_source *file, uint64_t offset,
                             struct vs_frame_scratch *scratch, struct vs_frame_header *header,
                             void *raw, size_t room) VS_MUST_CHECK;
void vs_frame_scratch_free(struct vs_frame_scratch *scratch);

/* --- checkpoint.c --- */

#define VS_CHECKPOINT_VERSION 1u /* version of the state's meaning: raised when a replay's state
                                  * changes */

enum vs_checkpoint_what {
    VS_CHECKPOINT_DEFINITIONS = 1,
    VS_CHECKPOINT_STATE = 2,
    VS_CHECKPOINT_TABLE = 3,
};

/* At the start of the payload of every frame of type 3. */
struct vs_checkpoint_head {
    uint32_t version, what;
};
_Static_assert(sizeof(struct vs_checkpoint_head) == 8, "on-disk size");

/* One checkpoint: before the event frame *sequence*. */
struct vs_checkpoint {
    uint64_t sequence;
    uint64_t event;   /* events in the frames before */
    uint64_t shown;   /* of these, events of kinds that the writer had */
    uint64_t time_ns; /* of the last event before */
    uint64_t strings, stack_nodes; /* defined before */
    uint32_t definition_frames;    /* since the previous checkpoint */
    uint32_t state_frames;
    uint64_t reserved;
};
_Static_assert(sizeof(struct vs_checkpoint) == 64, "on-disk size");

/* The table, the last frame of type 3: this, then *count* struct vs_checkpoint. */
struct vs_checkpoint_table {
    struct vs_checkpoint_head head;
    uint64_t known_kinds; /* bit per event code that the writer had */
    uint64_t unknown;     /* events of other kinds in the trace */
    uint64_t fingerprint; /* of the first *frames* event frames */
    uint64_t frames;
    uint64_t events;      /* in the trace */
    uint64_t first_ns, last_ns; /* times of its first and last event */
    uint32_t count;
    uint32_t spare_frames; /* of definitions, between the last checkpoint and the table */
};
_Static_assert(sizeof(struct vs_checkpoint_table) == 72, "on-disk size");

struct vs_source;
struct vs_frame_list;
struct vs_reader;
struct vs_checkpoints;

/* vs_checkpoints_open: opens the checkpoints whose frames of type 3 are at *offsets* in *source*,
 * in order, and checks them against the event frames that they refer to. *close_fd*: the source's
 * file is closed with them. VS_ERR_NOT_FOUND without any; VS_ERR_CORRUPT, VS_ERR_VERSION (not for
 * this build) close nothing. */
enum vs_err vs_checkpoints_open(const struct vs_source *source, bool close_fd,
                                const uint64_t *offsets, size_t offset_count,
                                const struct vs_frame_list *frames,
                                struct vs_checkpoints **out) VS_MUST_CHECK;

const struct vs_checkpoint_table *vs_checkpoints_table(const struct vs_checkpoints *checkpoints);
const struct vs_checkpoint *vs_checkpoints_item(const struct vs_checkpoints *checkpoints,
                                                size_t index);

/* vs_checkpoints_before: the last one at or before event number *event* (from 0), or whose
 * last event is before *time_ns*; SIZE_MAX when there is none. */
size_t vs_checkpoints_before_event(const struct vs_checkpoints *checkpoints, uint64_t event);
size_t vs_checkpoints_before_time(const struct vs_checkpoints *checkpoints, uint64_t time_ns);

/* vs_checkpoints_each: passes the frames of checkpoint *index*, of kind *what*, to *take* without
 * their heads, in order, until it returns an error, which is returned. VS_ERR_CORRUPT when a frame
 * is damaged or unpacks to more than 64 MiB and 64 times its size. */
typedef enum vs_err vs_checkpoint_take(void *context, const unsigned char *bytes, size_t count);
enum vs_err vs_checkpoints_each(struct vs_checkpoints *checkpoints, size_t index,
                                enum vs_checkpoint_what what, vs_checkpoint_take *take,
                                void *context) VS_MUST_CHECK;

void vs_checkpoints_close(struct vs_checkpoints *checkpoints); /* NULL does nothing */

/* vs_checkpoint_known_kinds: the bit set of this build's event kinds. */
uint64_t vs_checkpoint_known_kinds(void);

/* --- checkpoint_cache.c: of traces that have none of their own ---
 *
 * Cached in XDG_CACHE_HOME/vramscope/checkpoints (~/.cache without it), one file for each trace and size.
 * The files are not trusted: they are checked like a trace, and made again when they do not match. Their
 * total size stays below VS_CACHE_BYTES_MAX; the least recently used are removed first. Several processes
 * may use the cache at once. */

#define VS_CACHE_BYTES_MAX ((uint64_t)1 << 30)

struct vs_cache_writer;

/* vs_checkpoint_cache_attach: uses the cached checkpoints of *reader*'s trace. VS_ERR_NOT_FOUND
 * when none match. */
enum vs_err vs_checkpoint_cache_attach(struct vs_reader *reader) VS_MUST_CHECK;

/* vs_cache_writer_open: creates a new file, invisible until it is committed. VS_ERR_IO when it
 * cannot be created. */
enum vs_err vs_cache_writer_open(struct vs_reader *reader, struct vs_cache_writer **out)
    VS_MUST_CHECK;
/* vs_cache_writer_add: writes a frame of type 3. */
enum vs_err vs_cache_writer_add(struct vs_cache_writer *writer, uint64_t time_ns,
                                uint64_t sequence, const void *payload, size_t bytes)
    VS_MUST_CHECK;
/* vs_cache_writer_bytes: bytes written so far. */
uint64_t vs_cache_writer_bytes(const struct vs_cache_writer *writer);
/* vs_cache_writer_commit: puts the file in place and removes the least recently used ones. Frees
 * *writer*, as does vs_cache_writer_cancel, which leaves no file. */
enum vs_err vs_cache_writer_commit(struct vs_cache_writer *writer) VS_MUST_CHECK;
void vs_cache_writer_cancel(struct vs_cache_writer *writer); /* NULL does nothing */

#endif
