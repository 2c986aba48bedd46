/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of this folder: the state of a trace that is being written, and how finished
 * rows become frames. */
#ifndef VS_COMPOSER_INTERNAL_H
#define VS_COMPOSER_INTERNAL_H

#include "base/vs_map.h"
#include "trace/compose/composer.h"
#include "trace/output/frame_output.h"

#define VS_COMPOSER_ROWS ((size_t)1 << 20) /* bytes of a frame before compression */

struct vs_composer {
    struct vs_frame_output out;

    /* the rows of the next event frame */
    unsigned char *rows, *cursor;
    uint32_t events, definitions;
    uint64_t sequence, first_event, base_ns;
    uint64_t last_ns, last_t, last_address;
    uint32_t last_tid;

    struct vs_map string_ids, node_ids; /* by the hash of the text, of the node */
    uint64_t strings, stack_nodes;
    uint32_t modules;
};

/* vs_composer_begin_rows: starts the next event frame. */
void vs_composer_begin_rows(struct vs_composer *c);

/* vs_composer_put_header: writes the file's header. */
void vs_composer_put_header(struct vs_composer *c, const struct vs_composer_start *start);

/* vs_composer_put_rows: writes the event frame, if it has rows, and starts the next. */
void vs_composer_put_rows(struct vs_composer *c);

#endif
