/* SPDX-License-Identifier: Apache-2.0
 *
 * The request log of a what-if: entries of a few bytes each, in the order of the trace. The first
 * 96 MiB are in memory, the rest in a temporary file without a name. Written once, then read by any
 * number of cursors, each with its own position and buffer. Internal to this folder. */
#ifndef VS_REQUEST_STORE_H
#define VS_REQUEST_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

enum vs_request_kind {
    VS_REQUEST_END,       /* no more entries */
    VS_REQUEST_ALLOC,     /* *slot*: of the block; *bytes*: requested; *lane*; *site* */
    VS_REQUEST_FREE,      /* *slot* */
    VS_REQUEST_FAILED,    /* failed when recorded; *bytes*, *lane*, *site* */
    VS_REQUEST_EMPTY,     /* the program released the cache */
    VS_REQUEST_STEP,      /* a step ended, *bytes* in all so far; 0: the first one begins */
    VS_REQUEST_CONTEXT,   /* the context ended, and its cache with it */
    /* Levels of memory that is not replayed: *bytes* is the new one. */
    VS_REQUEST_OTHER,     /* the program's other device memory, in the driver's pages */
    VS_REQUEST_LIMITED,   /* the same and stream-ordered memory in use, without rounding: as the
                           * option limit counts it */
    VS_REQUEST_MANAGED,   /* managed memory: in the report's sums, its place is unknown */
    VS_REQUEST_OUTSIDE,   /* contexts, modules, the unexplained rest */
    VS_REQUEST_OTHERS,    /* other processes */
    VS_REQUEST_POOL_LIVE, /* stream-ordered memory in use */
    VS_REQUEST_POOL_HELD, /* reserved by its pools */
    VS_REQUEST_OTHER_FAILED, /* other memory of *bytes* could not be had when recorded */
};

struct vs_request_entry {
    enum vs_request_kind kind;
    uint64_t event; /* number of the event, from 1 */
    uint64_t bytes;
    uint32_t slot;  /* number of a live block; used again after its free */
    uint32_t lane;  /* the stream, in order of first use; the highest bit: VS_LANE_ORDERED */
    uint32_t site;  /* number of the call site, in order of first use */
};

#define VS_REQUEST_CHUNK (UINT64_C(1) << 20)
#define VS_REQUEST_CHUNKS_HELD 96

struct vs_request_store {
    uint8_t *held[VS_REQUEST_CHUNKS_HELD]; /* chunks in memory */
    size_t chunks;                         /* complete ones, the file's included */
    uint8_t *open;                         /* the chunk being written */
    size_t used;                           /* bytes of it */
    int file;                              /* -1: none */
    uint64_t last_event, entries;
    enum vs_err err;                       /* the first failure: no entry follows */
};

void vs_request_store_init(struct vs_request_store *store);
void vs_request_store_free(struct vs_request_store *store);
/* vs_request_add: *entry*'s event must not be below the previous one. */
void vs_request_add(struct vs_request_store *store, const struct vs_request_entry *entry);
/* vs_request_store_seal: no more entries. VS_ERR_IO: the file could not be written. */
enum vs_err vs_request_store_seal(struct vs_request_store *store) VS_MUST_CHECK;

struct vs_request_cursor {
    const struct vs_request_store *store;
    const uint8_t *at;
    uint8_t *buffer; /* of chunks from the file */
    size_t chunk;    /* the next one */
    uint64_t event;
};

/* vs_request_rewind: to the first entry; *cursor* zero-initialised before the first use. */
void vs_request_rewind(struct vs_request_cursor *cursor, const struct vs_request_store *store);
/* vs_request_next: the next entry; VS_REQUEST_END at the end. VS_ERR_IO. */
enum vs_err vs_request_next(struct vs_request_cursor *cursor, struct vs_request_entry *out)
    VS_MUST_CHECK;
void vs_request_cursor_free(struct vs_request_cursor *cursor);

#endif
