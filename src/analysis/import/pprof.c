/* SPDX-License-Identifier: Apache-2.0
 *
 * A heap profile of pprof (profile.proto, compressed by gzip): what is in use at one instant, by call stack, as JAX
 * writes it of its arrays. Each sample becomes as many blocks of equal size as it counts, at addresses without a
 * meaning. Tables may follow the samples that need them, so the file is read twice. */
#define _GNU_SOURCE /* strcasestr */
#include "analysis/import/import_writer.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/reading/vs_vec.h"
#include "base/vs_arena.h"
#include "trace/format/format.h"

#define UNPACKED_MAX ((size_t)32 << 20)
#define READ_BYTES 65536
#define NUMBERS_PER_BYTE 100 /* of the file: a frame of one byte takes about 40 */
#define FRAMES_MAX 127
#define FRAMES_ALL_MAX 2000000 /* of all samples: each may be a node of the trace */
#define TEXT_MAX 1024 /* a text may be read for each frame */
#define BLOCKS_MAX 1000000
#define ADDRESS_FIRST (UINT64_C(1) << 40)
#define ADDRESS_MAX (UINT64_C(1) << 62) /* so do sums of sizes stay below it */
#define DEVICES 64

/* Fields of profile.proto: of a profile, then of the messages in it. */
enum { TYPE = 1, SAMPLE = 2, LOCATION = 4, FUNCTION = 5, STRING = 6 };
enum { ID = 1, TYPE_NAME = 1, SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABEL = 3, LABEL_KEY = 1,
       LABEL_TEXT = 2, LOCATION_LINE = 4, LINE_FUNCTION = 1, LINE_NUMBER = 2, FUNCTION_NAME = 2, FUNCTION_FILE = 4 };

struct pprof_bytes {
    const unsigned char *at, *end;
};

/* The locations or functions, sorted by id: ids that the file chooses make no tree or hash table slow. */
struct pprof_table {
    struct pprof_row {
        uint64_t id;
        struct pprof_bytes message;
    } *rows;
    size_t count, capacity;
};

struct pprof_import {
    struct vs_import_writer *writer;
    struct vs_import_result *result;
    struct pprof_bytes file;
    struct vs_arena texts;
    const char **strings;
    size_t string_count, string_capacity;
    struct pprof_table locations, functions;
    unsigned types, space; /* values of a sample; which one has the bytes in use, from 1 on */
    uint64_t address, frames;
    uint64_t numbers_left; /* to be read: a few bytes can refer to a large message many times */
    bool damaged;
};

/* The next of packed numbers. */
static bool next_number(struct pprof_import *p, struct pprof_bytes *packed, uint64_t *value)
{
    bool more = packed->at != packed->end;
    bool read = more && p->numbers_left-- > 0 && vs_get_varint(&packed->at, packed->end, value);
    p->damaged |= more && !read;
    return read && !p->damaged;
}

/* The number of the next field of *message*, 0 at its end. *bytes*: its contents; of a number, what encodes it. */
static uint64_t next_field(struct pprof_import *p, struct pprof_bytes *message, struct pprof_bytes *bytes)
{
    uint64_t tag, length = 0;
    if (!next_number(p, message, &tag))
        return 0;
    unsigned type = tag % 8;
    *bytes = *message;
    if ((type == 0 || type == 2) && next_number(p, message, &length) && type == 2)
        *bytes = *message;
    length = type == 0 ? (uint64_t)(message->at - bytes->at) : type == 1 ? 8 : type == 5 ? 4 : length;
    p->damaged |= tag < 8 || type == 3 || type == 4 || type > 5 || length > (uint64_t)(bytes->end - bytes->at);
    if (p->damaged)
        return 0;
    bytes->end = message->at = bytes->at + length;
    return tag / 8;
}

/* The number in the field *wanted* of *message*, or 0. string_in: the text that it is the index of. */
static uint64_t number_in(struct pprof_import *p, struct pprof_bytes message, uint64_t wanted)
{
    uint64_t value = 0, field;
    for (struct pprof_bytes bytes; (field = next_field(p, &message, &bytes)) != 0;)
        if (field == wanted)
            next_number(p, &bytes, &value);
    return value;
}

static const char *string_in(struct pprof_import *p, struct pprof_bytes message, uint64_t wanted)
{
    uint64_t index = number_in(p, message, wanted);
    return index < p->string_count ? p->strings[index] : "";
}

/* The message of *id*, of several the last; without one, no bytes. */
static struct pprof_bytes message_of(const struct pprof_import *p, const struct pprof_table *table, uint64_t id)
{
    size_t i = VS_VEC_BELOW(table->rows, table->count, id, id);
    bool found = i < table->count && table->rows[i].id == id;
    return found ? table->rows[i].message : (struct pprof_bytes){p->file.at, p->file.at};
}

static void read_tables(struct pprof_import *p)
{
    struct pprof_bytes profile = p->file, bytes;
    for (uint64_t field, id; (field = next_field(p, &profile, &bytes)) != 0;)
        if (field == STRING) {
            size_t length = (size_t)(bytes.end - bytes.at);
            length = length < TEXT_MAX ? length : TEXT_MAX;
            char *text = vs_xarena(&p->texts, length + 1);
            memcpy(text, bytes.at, length);
            VS_VEC_ADD(p->strings, p->string_count, p->string_capacity, text);
        } else if ((field == LOCATION || field == FUNCTION) && (id = number_in(p, bytes, ID)) != 0) {
            struct pprof_table *table = field == LOCATION ? &p->locations : &p->functions;
            VS_VEC_ADD(table->rows, table->count, table->capacity, (struct pprof_row){id, bytes});
        }
    VS_SORT(p->locations.rows, p->locations.count, VS_UP(id), VS_DOWN(message.at));
    VS_SORT(p->functions.rows, p->functions.count, VS_UP(id), VS_DOWN(message.at));
}

static void read_sample(struct pprof_import *p, struct pprof_bytes sample)
{
    struct pprof_bytes lines[FRAMES_MAX + 1], bytes; /* the innermost first, in a location as well */
    uint64_t field, id, device = 0, count = 1, size = 1;
    unsigned depth = 0, values = 0;
    bool host = false, labelled = false;
    while ((field = next_field(p, &sample, &bytes)) != 0)
        if (field == SAMPLE_LOCATIONS) { /* packed, or one of several fields with one number; so are the values */
            while (depth <= FRAMES_MAX && next_number(p, &bytes, &id))
                for (struct pprof_bytes line, location = message_of(p, &p->locations, id);
                     depth <= FRAMES_MAX && (field = next_field(p, &location, &line)) != 0;)
                    if (field == LOCATION_LINE)
                        lines[depth++] = line;
        } else if (field == SAMPLE_VALUES) {
            for (uint64_t value; values < p->space && next_number(p, &bytes, &value); values++) {
                count = size; /* the value before */
                size = value;
            }
        } else if (field == SAMPLE_LABEL && strcmp(string_in(p, bytes, LABEL_KEY), "device") == 0) {
            const char *text = string_in(p, bytes, LABEL_TEXT); /* "cuda:1" */
            const char *digits = strpbrk(text, "0123456789");
            host = strcasestr(text, "cpu") != NULL;
            labelled = true;
            device = digits ? strtoull(digits, NULL, 10) : 0;
        }
    if (!p->space || values < p->space || !size || p->damaged)
        return;
    if (host) {
        p->result->skipped++;
        return;
    }
    count = count && count < size ? count : 1;
    if (device >= DEVICES || size > ADDRESS_MAX - p->address || count > BLOCKS_MAX - p->result->start_blocks ||
        depth > FRAMES_ALL_MAX - p->frames) {
        p->result->beyond++;
        return;
    }
    p->frames += depth;
    p->writer->gpu_name = labelled ? NULL : "memory without a device (the profile names none)";
    vs_import_device(p->writer, (unsigned)device);
    uint64_t stack = depth > FRAMES_MAX ? vs_composer_more(p->writer->composer) : 0;
    for (depth -= depth > FRAMES_MAX; depth-- > 0;) {
        struct pprof_bytes function = message_of(p, &p->functions, number_in(p, lines[depth], LINE_FUNCTION));
        stack = vs_import_named_frame(&p->writer->stacks, stack, string_in(p, function, FUNCTION_NAME),
                                      string_in(p, function, FUNCTION_FILE), number_in(p, lines[depth], LINE_NUMBER));
    }
    uint64_t api = vs_import_string(p->writer, VS_HEAP_PROFILE_API);
    p->result->start_bytes += size;
    p->result->start_blocks += count;
    for (uint64_t block; count; p->address += block, size -= block, count--) {
        block = size / count;
        VS_IMPORT(p->writer, alloc, .addr = p->address, .requested = block, .size = block, .device = device,
                  .family = VS_FAMILY_DEVICE, .context = 1 + device, .stack = stack, .api = api);
    }
}

static bool unpack(struct pprof_import *p, FILE *in, uint64_t seed[2])
{
    unsigned char chunk[READ_BYTES], *file = NULL;
    size_t capacity = 0;
    z_stream z = {.avail_in = 0};
    int code = inflateInit2(&z, 16 + MAX_WBITS); /* with a header of gzip */
    while (code == Z_OK && z.total_out <= UNPACKED_MAX) {
        if (!z.avail_in)
            z.avail_in = (unsigned)fread(z.next_in = chunk, 1, READ_BYTES, in);
        vs_vec_room(&file, &capacity, z.total_out + READ_BYTES, 1);
        z.next_out = file + z.total_out;
        z.avail_out = READ_BYTES;
        code = inflate(&z, Z_NO_FLUSH);
    }
    p->file = (struct pprof_bytes){file, file + z.total_out};
    p->numbers_left = z.total_out * NUMBERS_PER_BYTE;
    p->result->bytes_read = z.total_in;
    seed[0] = z.adler; /* the file's checksum */
    seed[1] = z.total_out;
    inflateEnd(&z);
    return code == Z_STREAM_END;
}

enum vs_err vs_pprof(struct vs_import_writer *w)
{
    struct pprof_import p = {.writer = w, .result = w->result, .address = ADDRESS_FIRST};
    uint64_t seed[2], field;
    bool gzip = ungetc(getc(w->in), w->in) == 0x1f;
    p.damaged = !unpack(&p, w->in, seed);
    enum vs_err err = vs_import_begin(w, "pprof", 0, seed);
    if (!err && !p.damaged) {
        vs_import_note(w, false, "imported from %.300s, a heap profile: what was in use when it was written. Earlier "
                       "peaks, frees and the memory of a pool around these blocks are not in it", w->name);
        read_tables(&p);
        for (struct pprof_bytes profile = p.file, bytes; (field = next_field(&p, &profile, &bytes)) != 0;) {
            const char *type = field == TYPE ? string_in(&p, bytes, TYPE_NAME) : "";
            p.types += field == TYPE;
            if (strcmp(type, "inuse_space") == 0 || strcmp(type, "space") == 0)
                p.space = p.types;
            if (field == SAMPLE)
                read_sample(&p, bytes);
        }
        if (p.result->beyond)
            vs_import_note(w, true, "samples left out: %llu, outside the limits (man vramscope-import)",
                           (unsigned long long)p.result->beyond);
    }
    if (ferror(w->in))
        snprintf(w->why, VS_IMPORT_WHY_MAX, "%s", strerror(errno));
    else if (p.damaged && !gzip)
        snprintf(w->why, VS_IMPORT_WHY_MAX, "not compressed by gzip; if it is a heap profile of pprof, gzip it first");
    else if (p.damaged)
        snprintf(w->why, VS_IMPORT_WHY_MAX, "not a heap profile of pprof (at most 32 MiB unpacked), or damaged; if "
                 "another file was compressed, gunzip it first");
    else if (!err && !p.result->start_blocks)
        snprintf(w->why, VS_IMPORT_WHY_MAX, "a heap profile of pprof with nothing in use on a device, within the limits; "
                 "if another file was compressed, gunzip it first");
    free((void *)(uintptr_t)p.file.at);
    free(p.strings);
    vs_arena_free_all(&p.texts);
    free(p.locations.rows);
    free(p.functions.rows);
    return err || !*w->why ? err : ferror(w->in) ? VS_ERR_IO : VS_ERR_FORMAT;
}
