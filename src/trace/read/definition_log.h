/* SPDX-License-Identifier: Apache-2.0
 *
 * The definitions of a trace without its events: the records that define strings, stacks and kinds,
 * as in the file, and `module` events without thread and time. They are collected while a reader
 * passes over them, and stored in checkpoints. Private to src/trace. */
#ifndef VS_DEFINITION_LOG_H
#define VS_DEFINITION_LOG_H

#include "trace/read/reader_internal.h"

/* Zero-initialise. */
struct vs_definition_log {
    unsigned char *bytes;
    size_t used, capacity;
    size_t *cuts; /* ends of whole records, so that the bytes between two cuts fit a frame */
    size_t cut_count, cut_capacity;
    bool failed; /* a module event cannot be copied: unusable from here */
};

/* vs_definition_log_next: like vs_reader_next; definitions on the way are added to *log*. *frame*:
 * set to true when it returns VS_OK at the first record of an event frame instead, without an
 * event. */
enum vs_err vs_definition_log_next(struct vs_definition_log *log, struct vs_reader *reader,
                                   struct vs_event *event, bool *frame) VS_MUST_CHECK;

/* vs_definition_log_piece: the next bytes for one frame, from *at*, which starts at 0 and is
 * advanced; 0 when there are no more. vs_definition_log_clear: discards them. */
size_t vs_definition_log_piece(const struct vs_definition_log *log, size_t *at,
                               const unsigned char **bytes);
void vs_definition_log_clear(struct vs_definition_log *log);

void vs_definition_log_free(struct vs_definition_log *log);

#endif
