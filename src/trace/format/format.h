/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of a trace, as docs/internals/trace-format.md describes them: fixed headers,
 * definition records, and the varint functions used by the recorder and the reader. Private to
 * src/trace. All integers are little-endian; the structs below match the file's bytes on the
 * little-endian machines that vramscope runs on. */
#ifndef VS_FORMAT_H
#define VS_FORMAT_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "trace structs are the file's bytes");

#define VS_FORMAT_MAJOR 2u
#define VS_FORMAT_MINOR 0u
#define VS_FILE_MAGIC "\x89VST\r\n\x1a\n"
#define VS_LIVE_MAGIC "\x89VSL\r\n\x1a\n"
#define VS_END_MAGIC "VSTEND\r\n"
#define VS_MAGIC_BYTES 8
#define VS_BYTE_ORDER UINT32_C(0x01020304)
/* Flag of a file: `module` events count among the definitions of a frame, so that readers can skip
 * frames without definitions. */
#define VS_FILE_COUNTS_MODULES 1u
#define VS_FRAME_SYNC UINT32_C(0x465356f5) /* bytes f5 'V' 'S' 'F' */

/* Maximum size of a frame's payload before compression. */
#define VS_FRAME_RAW_MAX ((size_t)4 << 20)
/* Longest text of one string definition. */
#define VS_STRING_MAX ((size_t)64 << 10)

struct vs_file_header {
    char magic[VS_MAGIC_BYTES];
    uint16_t major, minor;
    uint32_t byte_order;
    uint8_t uuid[16];
    uint64_t created_realtime_ns; /* the same instant on both clocks */
    uint64_t created_ns;
    uint32_t header_bytes;
    uint32_t flags;    /* VS_FILE_COUNTS_MODULES */
    uint64_t checksum; /* XXH64 of the bytes before it */
};
_Static_assert(sizeof(struct vs_file_header) == 64, "on-disk size");

enum vs_frame_type {
    VS_FRAME_EVENTS = 1,
    VS_FRAME_INDEX = 2,
    VS_FRAME_CHECKPOINT = 3, /* state checkpoint */
    VS_FRAME_SYMBOLS = 4,    /* resolved names */
    VS_FRAME_DIRECTORY = 5,  /* positions of the frames of the two types above */
};
enum vs_frame_codec {
    VS_STORED = 0,
    VS_ZSTD = 1,
    VS_COLUMNS = 2, /* event frames: u32 size, then the columns (columns.h) as zstd frames */
};

struct vs_frame_header {
    uint32_t sync;
    uint8_t type, codec;
    uint16_t header_bytes;
    uint32_t raw_bytes, stored_bytes;
    uint64_t sequence;    /* event frames: 1, 2, 3 …; other types: 0 */
    uint64_t first_event; /* events in the frames before this one */
    uint64_t base_ns;     /* every time in the frame lies in base_ns … last_ns */
    uint64_t last_ns;
    uint32_t events, definitions;
    uint64_t checksum; /* XXH64 of the header before it and the stored payload */
};
_Static_assert(sizeof(struct vs_frame_header) == 64, "on-disk size");

/* Payload of an index frame: this, then `entries` times struct vs_index_entry. */
struct vs_index_header {
    uint64_t previous_offset; /* of the index frame before this one; 0 = none */
    uint64_t first_sequence;  /* number of the first entry's frame */
    uint32_t entries;
    uint32_t flags; /* VS_INDEX_FINAL */
    uint64_t events, strings, stack_nodes; /* totals so far */
};
_Static_assert(sizeof(struct vs_index_header) == 48, "on-disk size");
#define VS_INDEX_FINAL 1u

/* Follows the header of a final index frame when the trace has a directory. */
struct vs_index_extension {
    uint64_t directory_offset;
};
/* An entry of a directory frame; the frame holds only entries. */
struct vs_directory_entry {
    uint32_t type, reserved;
    uint64_t offset, time_ns, sequence;
};
_Static_assert(sizeof(struct vs_directory_entry) == 32, "on-disk size");
#define VS_INDEX_ENTRIES_MAX 1024u

struct vs_index_entry {
    uint64_t offset, first_event, base_ns, last_ns;
    uint32_t events, definitions;
};
_Static_assert(sizeof(struct vs_index_entry) == 40, "on-disk size");

struct vs_trailer {
    uint64_t index_offset; /* of the final index frame */
    uint64_t file_bytes;   /* trailer included */
    uint64_t checksum;     /* XXH64 of the bytes before it */
    char magic[VS_MAGIC_BYTES];
};
_Static_assert(sizeof(struct vs_trailer) == 32, "on-disk size");

/* FILE.live: one page of header, the counts of unrecorded changes if any, then `windows` windows of
 * window_bytes each. */
#define VS_LIVE_HEADER_BYTES 4096u
#define VS_LIVE_WINDOWS_MAX 16u

struct vs_live_window {
    _Atomic uint64_t sequence; /* number of the frame that this window becomes; 0 = never used */
    _Atomic uint64_t used;     /* bytes of complete records; stored after the record */
    _Atomic uint64_t first_event, base_ns;
    uint64_t reserved[4];
};
_Static_assert(sizeof(struct vs_live_window) == 64, "on-disk size; one cache line");

struct vs_live_header {
    char magic[VS_MAGIC_BYTES];
    uint16_t major, minor;
    uint32_t byte_order;
    uint8_t uuid[16];
    uint32_t header_bytes, windows;
    uint64_t window_bytes;
    uint64_t pid;
    uint32_t end_kind, end_status; /* enum vs_outcome; written by the parent process */
    struct vs_live_window window[VS_LIVE_WINDOWS_MAX];
};
_Static_assert(offsetof(struct vs_live_header, window) == 64, "on-disk layout");
/* Counts that are in no `unrecorded` event yet, delivered by a reader after a crash. Each cell
 * exists twice: a change overwrites the older copy of each cell that it modifies, and takes effect
 * once `version` is updated. */
struct vs_live_counts {
    uint32_t offset, cells;    /* struct vs_live_cell[cells] begin at offset; 0: none */
    _Atomic uint64_t version;  /* of the latest change in effect */
    _Atomic uint64_t written;  /* changes up to this one have events */
    _Atomic uint64_t writing;  /* 1 + the number of events before those being written; 0: none is
                                * being written */
    uint64_t reserved[4];
};
_Static_assert(sizeof(struct vs_live_counts) == 64, "on-disk size");

#define VS_LIVE_COUNT_FIELDS 16u /* fields of `unrecorded`, in the same order */
struct vs_live_count {
    _Atomic uint64_t version; /* of the change that wrote it; all ones: being written */
    uint64_t events;          /* number of events recorded before it took effect */
    uint64_t tid, time_ns;
    uint64_t fields[VS_LIVE_COUNT_FIELDS];
};
struct vs_live_cell {
    struct vs_live_count copy[2];
};
_Static_assert(sizeof(struct vs_live_cell) == 320, "on-disk size");
#define VS_LIVE_CELLS_MAX 256u
#define VS_LIVE_COUNTS_BYTES ((size_t)16 << 10) /* size of this version's cells */

_Static_assert(sizeof(struct vs_live_header) == 1088, "vs_live_counts stands behind it");
_Static_assert(sizeof(struct vs_live_header) + sizeof(struct vs_live_counts) <=
                   VS_LIVE_HEADER_BYTES,
               "fits its page");

/* First byte of a record: a code, and for events two flags. */
#define VS_RECORD_CODE 0x3fu
#define VS_RECORD_TID 0x40u       /* a varint thread id follows */
#define VS_RECORD_SAME_TIME 0x80u /* the time is that of the previous record */

/* Definition records. They have no time, no thread and no flags. */
enum vs_definition {
    VS_DEFINE_STRING = 56, /* length U, bytes; ids count up from 1 */
    VS_DEFINE_STACK = 57,  /* id - parent U, module + 1 U, pc - base U; ids count up from 1 */
    VS_DEFINE_KIND = 58,   /* code U, fields U, a codec byte each, name, field names */
    VS_DEFINE_RESERVED = 59,
};
#define VS_KIND_FIELDS_MAX 64u /* maximum in one kind description */

#define VS_VARINT_MAX 10u
/* longest event: first byte, thread, time, fields */
#define VS_EVENT_BYTES_MAX (1u + 2u * VS_VARINT_MAX + VS_EVENT_FIELDS_MAX * VS_VARINT_MAX)
#define VS_STACK_NODE_BYTES_MAX (1u + 3u * VS_VARINT_MAX)

/* The pc of an outermost node without a module; it replaces missing frames. */
#define VS_STACK_MORE UINT64_C(0) /* omitted: the stack is deeper than the recorded depth */
#define VS_STACK_LOST UINT64_C(1) /* the caller of the previous frame could not be determined */

static inline uint64_t vs_zigzag(uint64_t difference)
{
    return (difference << 1) ^ (0 - (difference >> 63));
}

static inline uint64_t vs_unzigzag(uint64_t coded)
{
    return (coded >> 1) ^ (0 - (coded & 1));
}

/* vs_put_varint: writes *value* at *p* (VS_VARINT_MAX bytes of room); returns the byte after it.
 * May overwrite the rest of that room. */
static inline unsigned char *vs_put_varint(unsigned char *p, uint64_t value)
{
    if (__builtin_expect(value < 0x80, 1)) {
        *p = (unsigned char)value;
        return p + 1;
    }
    if (value < 0x4000) { /* true for most times and stacks */
        uint16_t w = (uint16_t)(0x80 | (value & 0x7f) | (value & 0x3f80) << 1);
        memcpy(p, &w, sizeof w);
        return p + 2;
    }
    if (value < 1 << 28) { /* most sizes: as below, with half the steps */
        uint32_t w = (uint32_t)((value & 0x3fff) | (value & 0x0fffc000) << 2);
        w = (w & 0x007f007f) | (w & 0x3f803f80) << 1;
        unsigned last = 2 + (value >= 1 << 21);
        w |= UINT32_C(0x808080) >> (24 - 8 * last);
        memcpy(p, &w, sizeof w);
        return p + last + 1;
    }
    if (value < UINT64_C(1) << 56) {
        /* one byte per seven bits: halves, then quarters, then eighths */
        uint64_t w = (value & UINT64_C(0x000000000fffffff)) |
                     (value & UINT64_C(0x00fffffff0000000)) << 4;
        w = (w & UINT64_C(0x00003fff00003fff)) | (w & UINT64_C(0x0fffc0000fffc000)) << 2;
        w = (w & UINT64_C(0x007f007f007f007f)) | (w & UINT64_C(0x3f803f803f803f80)) << 1;
        /* index of the last byte: the highest bit's number divided by seven, for numbers up to
         * 63 */
        unsigned last = ((63 ^ (unsigned)__builtin_clzll(value)) * 9 + 9) / 64;
        w |= UINT64_C(0x0080808080808080) >> (56 - 8 * last);
        memcpy(p, &w, sizeof w);
        return p + last + 1;
    }
    while (value >= 0x80) {
        *p++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *p++ = (unsigned char)value;
    return p;
}

/* vs_varint_word: the varint at the start of the eight bytes *word*, if it ends within them.
 * Returns its length; 0 when it does not end there. */
static inline unsigned vs_varint_word(uint64_t word, uint64_t *value)
{
    uint64_t ends = ~word & UINT64_C(0x8080808080808080);
    if (!ends)
        return 0;
    uint64_t w = word & (ends ^ (ends - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
    w -= (w & UINT64_C(0x7f007f007f007f00)) >> 1; /* halves of two bytes, then of four, then of eight */
    w = (w & UINT64_C(0x00003fff00003fff)) | (w & UINT64_C(0x3fff00003fff0000)) >> 2;
    *value = (w & UINT64_C(0x000000000fffffff)) | w >> 32 << 28;
    return ((unsigned)__builtin_ctzll(ends) + 1) / 8;
}

/* vs_get_varint: reads one at **p* and advances **p*. Returns false, with **p* unchanged, when it
 * does not end before *end* or does not fit 64 bits. (_by_bytes: a long one, or near the end.) */
__attribute__((noinline, unused)) static bool
vs_get_varint_by_bytes(const unsigned char **p, const unsigned char *end, uint64_t *value)
{
    const unsigned char *q = *p;
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (q == end)
            return false;
        unsigned char byte = *q++;
        if (shift == 63 && byte > 1)
            return false;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *value = v;
            *p = q;
            return true;
        }
    }
    return false;
}
static inline bool vs_get_varint(const unsigned char **p, const unsigned char *end, uint64_t *value)
{
    const unsigned char *q = *p;
    uint64_t word;
    if (__builtin_expect(end - q >= 8, 1)) {
        if (!(*q & 0x80)) {
            *value = *q;
            *p = q + 1;
            return true;
        }
        if (!(q[1] & 0x80)) {
            *value = (*q & 0x7fu) | (uint64_t)q[1] << 7;
            *p = q + 2;
            return true;
        }
        memcpy(&word, q, sizeof word);
        unsigned length = vs_varint_word(word, value);
        *p = q + length;
        if (length)
            return true;
    }
    return vs_get_varint_by_bytes(p, end, value);
}

/* --- frame_seal.c: completes the parts of a file that have a checksum; all writers of traces use it;
 * callable where malloc is not --- */

/* vs_header_seal: sets the checksum of the file's header. */
void vs_header_seal(struct vs_file_header *header);

/* vs_frame_seal: sets sync word, header bytes and checksum of *h*, whose other fields are set;
 * *extension*: what follows the header, may be NULL; *payload*: h->stored_bytes, as in the file. */
void vs_frame_seal(struct vs_frame_header *h, const struct vs_index_extension *extension, const void *payload);

/* vs_trailer_seal: sets the checksum of the trailer. */
void vs_trailer_seal(struct vs_trailer *trailer);

/* --- live_look.c: an existing FILE.live before another recording replaces it --- */

enum vs_live_look {
    VS_LIVE_NONE,  /* the file does not exist */
    VS_LIVE_EMPTY, /* the file has no events */
    VS_LIVE_HOLDS, /* the file has events, perhaps their only copy */
    VS_LIVE_OTHER, /* not a live window file, or not readable */
};

/* vs_live_look: examines the FILE.live at *path*. For VS_LIVE_HOLDS, *uuid* receives the uuid of
 * the trace that it belongs to; otherwise it is not written. Opens and closes a descriptor; calls
 * no malloc. */
enum vs_live_look vs_live_look(const char *path, uint8_t uuid[16]);

/* vs_live_set_aside: renames the FILE.live at *path*, of the trace *uuid*, to *kept*: the same name
 * followed by the first bytes of *uuid*. Returns false when the rename fails or that name
 * exists. */
bool vs_live_set_aside(const char *path, const uint8_t uuid[16], char kept[PATH_MAX]);

#endif
