/* SPDX-License-Identifier: Apache-2.0
 *
 * A text has at most TEXT_BYTES of columns, so that a browser never has to hold a
 * longer one and several threads can compress; the columns run on from one text to the next. */
#define _GNU_SOURCE
#include "viewer/html/page_column.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/reading/vs_vec.h"

#define PIECE_BYTES ((size_t)256 << 10)
#define TEXT_BYTES ((size_t)2800 << 10) /* at most 3.3 MB of text */
#define LEVEL 4 /* the first that finds out whether a match is worth it; 1 % larger than at level 6 */
#define PROBE_PART 4 /* of a piece, to see whether matches help */
#define MEMORY 8
#define PACKERS_MAX 8

struct vs_column_piece {
    struct vs_column_piece *next;
    size_t used; /* of all but the newest */
    unsigned char bytes[PIECE_BYTES];
};

const char *vs_column_type_name(enum vs_column_type type)
{
    static const char *const names[VS_COLUMN_TYPES] = {"u8", "varint", "delta", "planes", "planes_signed",
                                                       "planes_delta", "planes_freed"};
    return names[type];
}

static size_t used_of(const struct vs_column *column, const struct vs_column_piece *piece)
{
    return piece == column->newest ? (size_t)(column->next - piece->bytes) : piece->used;
}

void vs_column_room(struct vs_column *column)
{
    struct vs_column_piece *piece = vs_xrealloc(NULL, 1, sizeof *piece);
    piece->next = NULL;
    if (column->newest) {
        column->newest->used = used_of(column, column->newest);
        column->bytes += column->newest->used;
        column->newest->next = piece;
    } else {
        column->first = piece;
    }
    column->newest = piece;
    column->next = piece->bytes;
    column->end = piece->bytes + PIECE_BYTES - VS_VARINT_MAX + 1;
}

void vs_column_planes(struct vs_column *column, uint64_t value)
{
    uint64_t before = column->count++;
    if (value && !column->planes)
        column->planes = vs_xcalloc(VS_PLANES_MAX, sizeof *column->planes);
    for (struct vs_column *plane = column->planes; value; value >>= 8, plane++) {
        while ((value & 0xff) && plane->count < before)
            vs_column_add(plane, 0);
        if (value & 0xff)
            vs_column_add(plane, value & 0xff);
    }
}

struct vs_column *vs_section_column(struct vs_section *section, enum vs_column_type type,
                                    const char *format, ...)
{
    va_list args;
    vs_vec_room(&section->columns, &section->column_capacity, section->column_count + 1,
                sizeof *section->columns);
    struct vs_column *column = &section->columns[section->column_count++];
    column->type = type;
    va_start(args, format);
    vsnprintf(column->name, sizeof column->name, format, args);
    va_end(args);
    return column;
}

/* --- packing --- */

/* A text of a section: some pieces of its columns in a row. */
struct pack_job {
    struct vs_section *section;
    struct vs_column_piece *first; /* linked; freed when they are compressed */
    size_t bytes;
    size_t text; /* its index */
};

struct pack_jobs {
    struct pack_job *items;
    size_t count, capacity;
    atomic_size_t next;
};

/* Characters that would not survive as text of an element, or that programs on the way may change: NUL, controls, line
 * ends, quotes, markup. */
static const unsigned char escaped[14] = {0x00, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1a, 0x1b, '"', '&', '<', '>', 0x7f};

/* Writes the count and the bytes, 7 bits in each character; a value that is escaped and the one after it are one
 * character of U+0100 to U+07FF, whose two bytes hold both. Base64 would be a sixth longer. Returns the length. */
static size_t put_text(char *out, const unsigned char *bytes, size_t count)
{
    unsigned char number[128] = {0};
    unsigned char *p = (unsigned char *)out;
    uint64_t bits = count;
    unsigned have = 32, waiting = 0; /* waiting: number + 1 of the escaped value before */
    for (size_t i = 0; i < sizeof escaped; i++)
        number[escaped[i]] = (unsigned char)(i + 1);
    for (size_t i = 0; have || i < count || waiting;) {
        for (; have < 7 && i < count; have += 8)
            bits = bits << 8 | bytes[i++];
        if (have < 7) {
            bits <<= 7 - have;
            have = 7;
        }
        unsigned value = (unsigned)(bits >> (have -= 7)) & 127;
        if (waiting) {
            value += 0x100 + (waiting - 1) * 128;
            waiting = 0;
            *p++ = (unsigned char)(0xc0 | value >> 6);
            *p++ = (unsigned char)(0x80 | (value & 63));
        } else if (number[value]) {
            waiting = number[value];
        } else {
            *p++ = (unsigned char)value;
        }
    }
    return (size_t)(p - (unsigned char *)out);
}

/* The job that a piece of *bytes* of *section* is added to: the last one, if it has room. */
static struct pack_job *job_for(struct pack_jobs *jobs, struct vs_section *section, size_t bytes)
{
    struct pack_job *last = jobs->count ? &jobs->items[jobs->count - 1] : NULL;
    if (last && last->section == section && last->bytes + bytes <= TEXT_BYTES)
        return last;
    size_t text = section->text_count++;
    vs_vec_room(&section->texts, &section->text_capacity, text + 1, sizeof *section->texts);
    vs_vec_room(&section->lengths, &section->length_capacity, text + 1, sizeof *section->lengths);
    vs_vec_room(&jobs->items, &jobs->capacity, jobs->count + 1, sizeof *jobs->items);
    last = &jobs->items[jobs->count++];
    *last = (struct pack_job){.section = section, .text = text};
    return last;
}

/* Moves the pieces of *column* to jobs. */
static void split_column(struct pack_jobs *jobs, struct vs_section *section,
                         struct vs_column *column)
{
    struct vs_column_piece **end = NULL;
    struct pack_job *job = NULL;
    if (column->newest) {
        column->newest->used = used_of(column, column->newest);
        column->bytes += column->newest->used;
    }
    column->newest = NULL;
    column->next = column->end = NULL;
    while (column->first) {
        struct vs_column_piece *piece = column->first;
        size_t before = jobs->count;
        job = job_for(jobs, section, piece->used);
        if (!end || jobs->count != before)
            for (end = &job->first; *end;)
                end = &(*end)->next;
        column->first = piece->next;
        piece->next = NULL;
        *end = piece;
        end = &piece->next;
        job->bytes += piece->used;
    }
}

/* Bits that *bytes* need without matches, at least: by how often each value occurs. */
static double plain_bits(const unsigned char *bytes, size_t count)
{
    uint32_t times[256] = {0};
    double bits = 0;
    for (size_t i = 0; i < count; i++)
        times[bytes[i]]++;
    for (int i = 0; i < 256; i++)
        bits -= times[i] ? times[i] * log2((double)times[i] / (double)count) : 0;
    return bits;
}

static bool deflate_part(z_stream *stream, unsigned char *bytes, size_t count, int flush)
{
    stream->next_in = bytes;
    stream->avail_in = (uInt)count;
    int code = count || flush == Z_FINISH ? deflate(stream, flush) : Z_OK;
    return (code == Z_OK || code == Z_STREAM_END) && !stream->avail_in;
}

/* Compresses a piece; without matches where its first part becomes larger by them: in noise they cost more than the
 * bytes that they stand for, and most of the time. */
static bool deflate_piece(z_stream *stream, struct vs_column_piece *piece)
{
    size_t probe = piece->used / PROBE_PART, before = stream->total_out;
    bool good = deflateParams(stream, LEVEL, Z_DEFAULT_STRATEGY) == Z_OK &&
                deflate_part(stream, piece->bytes, probe, Z_BLOCK);
    double plain = plain_bits(piece->bytes, probe);
    if (good && plain && (double)(stream->total_out - before) * 8 > plain)
        good = deflateParams(stream, LEVEL, Z_HUFFMAN_ONLY) == Z_OK;
    return good && deflate_part(stream, piece->bytes + probe, piece->used - probe, Z_NO_FLUSH);
}

/* Compresses the pieces of *job* to its text. */
static void pack_job(struct pack_job *job)
{
    size_t room = job->bytes + job->bytes / 64 + 4096;
    unsigned char *out = vs_xrealloc(NULL, room, 1);
    z_stream stream = {.next_out = out, .avail_out = (uInt)room};
    bool good = deflateInit2(&stream, LEVEL, Z_DEFLATED, -MAX_WBITS, MEMORY,
                             Z_DEFAULT_STRATEGY) == Z_OK;
    while (good && job->first) {
        struct vs_column_piece *piece = job->first;
        good = deflate_piece(&stream, piece);
        job->first = piece->next;
        free(piece);
    }
    if (!good || !deflate_part(&stream, NULL, 0, Z_FINISH))
        vs_out_of_memory();
    char *text = vs_xcalloc(1, (stream.total_out + 4) / 7 * 8 + 16);
    job->section->lengths[job->text] = put_text(text, out, stream.total_out);
    job->section->texts[job->text] = text;
    deflateEnd(&stream);
    free(out);
}

static void *pack_some(void *context)
{
    struct pack_jobs *jobs = context;
    for (size_t i; (i = atomic_fetch_add(&jobs->next, 1)) < jobs->count;)
        pack_job(&jobs->items[i]);
    return NULL;
}

void vs_sections_pack(struct vs_section *sections, size_t count)
{
    struct pack_jobs jobs = {0};
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < sections[i].column_count; c++) {
            struct vs_column *column = &sections[i].columns[c];
            split_column(&jobs, &sections[i], column);
            for (int k = 0; column->planes && k < VS_PLANES_MAX; k++) {
                split_column(&jobs, &sections[i], &column->planes[k]);
                column->bytes += column->planes[k].bytes;
            }
        }
    /* Also on further threads, where there are processors and enough to do. */
    pthread_t threads[PACKERS_MAX - 1];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = processors > 1 ? (size_t)processors : 1, started = 0;
    if (wanted > jobs.count)
        wanted = jobs.count;
    while (started + 1 < wanted && started < PACKERS_MAX - 1 &&
           !pthread_create(&threads[started], NULL, pack_some, &jobs))
        started++;
    pack_some(&jobs);
    while (started)
        pthread_join(threads[--started], NULL);
    free(jobs.items);
}

static void free_pieces(struct vs_column *column)
{
    for (struct vs_column_piece *piece = column->first, *next; piece; piece = next) {
        next = piece->next;
        free(piece);
    }
}

void vs_section_free(struct vs_section *section)
{
    for (size_t i = 0; i < section->column_count; i++) {
        struct vs_column *column = &section->columns[i];
        free_pieces(column);
        for (int k = 0; column->planes && k < VS_PLANES_MAX; k++)
            free_pieces(&column->planes[k]);
        free(column->planes);
    }
    for (size_t i = 0; i < section->text_count; i++)
        free(section->texts[i]);
    free(section->columns);
    free(section->texts);
    free(section->lengths);
}
