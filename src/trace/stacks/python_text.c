/* SPDX-License-Identifier: Apache-2.0
 *
 * The name and place of a Python frame: the name and file of its code object, and the line from the
 * object's own table, each decoded in place. Called only for frames that are not cached. The thread
 * may have released the GIL, and another thread may shut the interpreter down at any time: the
 * kernel copies the bytes, so that freed memory gives an error instead of a fault. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "trace/stacks/python.h"

#define CODE_BYTES_MAX 256u
#define HEAD_BYTES 56u /* of a str, with its state */
#define TABLE_BYTES_MAX (16u << 20)
#define PIECE 512u
#define CODE_UNIT 2

/* Set when a sandbox forbids a process to read itself: then a plain copy is used. */
static atomic_bool forbidden;

__attribute__((no_sanitize("address", "thread"))) static void
copy_plainly(uint64_t at, void *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((volatile unsigned char *)to)[i] = ((const volatile unsigned char *)(uintptr_t)at)[i];
}

static bool copy(uint64_t at, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)at, bytes};
    if (at < 4096 || at >= UINT64_C(1) << 47)
        return false;
    if (!atomic_load_explicit(&forbidden, memory_order_relaxed)) {
        if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes)
            return true;
        if (errno != EPERM && errno != ENOSYS)
            return false;
        atomic_store_explicit(&forbidden, true, memory_order_relaxed);
    }
    copy_plainly(at, to, bytes);
    return true;
}

static uint64_t word_in(const unsigned char *object, uint32_t offset)
{
    uint64_t value;
    memcpy(&value, object + offset, sizeof value);
    return value;
}

/* --- text --- */

static size_t put_utf8(char *out, uint32_t c)
{
    if (c >= 0xdc80 && c <= 0xdcff) { /* a byte of a file name that is not UTF-8 */
        out[0] = (char)(c - 0xdc00);
        return 1;
    }
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
        c = 0xfffd;
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(n == 2 ? 0xc0 | c : n == 3 ? 0xe0 | c : 0xf0 | c);
    return n;
}

/* The str at *text* as UTF-8; longer ones are truncated. */
static bool read_text(const struct vs_python *python, uint64_t text, char *out, size_t *bytes)
{
    const struct vs_python_layout *l = &python->layout;
    unsigned char head[HEAD_BYTES];
    uint32_t state;
    *bytes = 0;
    if (!copy(text, head, sizeof head) || word_in(head, l->object_type) != python->text_type)
        return false;
    memcpy(&state, head + l->text_state, sizeof state);
    state >>= l->text_shift;
    uint32_t kind = VS_PYTHON_KIND(state);
    if (!(state & VS_PYTHON_COMPACT) || (kind != 1 && kind != 2 && kind != 4))
        return false;
    uint64_t length = word_in(head, l->length), n = 0;
    uint64_t from = text + (state & VS_PYTHON_ASCII ? l->text_ascii : l->text_compact);
    unsigned char piece[PIECE];
    for (uint64_t done = 0; done < length;) {
        uint64_t some = length - done < PIECE / kind ? length - done : PIECE / kind;
        if (!copy(from + done * kind, piece, some * kind))
            return false;
        for (size_t i = 0; i < some && n + 4 <= VS_PYTHON_TEXT_MAX; i++) {
            uint32_t c = 0;
            memcpy(&c, piece + i * kind, kind);
            n += put_utf8(out + n, c);
        }
        if (n + 4 > VS_PYTHON_TEXT_MAX)
            break;
        done += some;
    }
    *bytes = n;
    return true;
}

/* --- lines --- */

/* A bytes object, read in pieces. */
struct python_text_table {
    uint64_t next, left; /* not read yet */
    unsigned at, have;
    bool failed;
    unsigned char piece[PIECE];
};

/* The next byte; -1 at the end. */
static int next(struct python_text_table *t)
{
    if (t->at == t->have) {
        t->have = (unsigned)(t->left < PIECE ? t->left : PIECE);
        t->at = 0;
        if (!t->have || !copy(t->next, t->piece, t->have)) {
            t->failed = t->left != 0;
            t->have = 0;
            t->left = 0;
            return -1;
        }
        t->next += t->have;
        t->left -= t->have;
    }
    return t->piece[t->at++];
}

/* 3.9: each pair holds a number of bytes and the line increment after them. */
static int64_t line_by_lnotab(struct python_text_table *t, int64_t line, int64_t at)
{
    int64_t address = 0;
    for (;;) {
        int bytes = next(t), lines = next(t);
        address += bytes;
        if (lines < 0 || address > at)
            return line;
        line += (int8_t)lines;
    }
}

/* 3.10: each pair holds a number of bytes and their line increment; -128: no line. */
static int64_t line_by_linetable(struct python_text_table *t, int64_t line, int64_t at)
{
    int64_t end = 0;
    for (;;) {
        int bytes = next(t), lines = next(t);
        if (lines < 0)
            return line;
        end += bytes;
        if ((int8_t)lines != -128)
            line += (int8_t)lines;
        if (end > at)
            return line;
    }
}

/* Six bits a byte, least significant first, 0x40 set on all but the last. */
static uint64_t varint(struct python_text_table *t)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 60; shift += 6) {
        int b = next(t);
        if (b < 0)
            break;
        value |= (uint64_t)(b & 0x3f) << shift;
        if (!(b & 0x40))
            break;
    }
    return value;
}

enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NO_LOCATION = 15 };

/* 3.11: entries with a form, a length in code units, and data that depends on the form. */
static int64_t line_by_locations(struct python_text_table *t, int64_t line, int64_t at)
{
    int64_t end = 0;
    for (;;) {
        int first = next(t);
        if (first < 0)
            return line;
        int form = first >> 3 & 15;
        end += ((first & 7) + 1) * CODE_UNIT;
        if (form == LONG || form == NO_COLUMNS) { /* zigzag */
            uint64_t value = varint(t);
            line += value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
        } else if (form >= ONE_LINE && form < NO_COLUMNS)
            line += form - ONE_LINE;
        if (end > at)
            return line;
        if (form == LONG) { /* last line, first and last column */
            varint(t);
            varint(t);
            varint(t);
        } else if (form < NO_COLUMNS) {
            next(t);
            if (form >= ONE_LINE)
                next(t);
        }
    }
}

static int64_t line_of(const struct vs_python_layout *l, const struct vs_python_step *step,
                       uint64_t lines, int64_t first)
{
    struct python_text_table t;
    uint64_t length;
    int64_t at = (int32_t)step->instr;
    if (l->lines == VS_PYTHON_LINETABLE)
        at *= CODE_UNIT;
    else if (l->lines == VS_PYTHON_LOCATION_TABLE)
        at = (int64_t)(step->instr - step->code - l->code_code);
    if (at < 0 || !copy(lines + l->length, &length, sizeof length) || length > TABLE_BYTES_MAX)
        return first; /* below 0: it has not started */
    t.at = t.have = 0;
    t.failed = false;
    t.next = lines + l->bytes_data;
    t.left = length;
    if (l->lines == VS_PYTHON_LNOTAB)
        return line_by_lnotab(&t, first, at);
    if (l->lines == VS_PYTHON_LINETABLE)
        return line_by_linetable(&t, first, at);
    return line_by_locations(&t, first, at);
}

bool vs_python_place(const struct vs_python *python, const struct vs_python_step *step,
                     struct vs_python_place *place)
{
    const struct vs_python_layout *l = &python->layout;
    unsigned char code[CODE_BYTES_MAX]; /* up to the table of lines, the last field used */
    uint32_t first;
    if (!copy(step->code, code, l->code_lines + sizeof(uint64_t)) ||
        word_in(code, l->object_type) != python->code_type)
        return false;
    memcpy(&first, code + l->code_first_line, sizeof first);
    int64_t line = line_of(l, step, word_in(code, l->code_lines), (int32_t)first);
    place->line = line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
    if (!read_text(python, word_in(code, l->code_name), place->function, &place->function_bytes))
        return false;
    if (!place->function_bytes) { /* a frame without a function name is recorded as native */
        static const char nameless[] = "<nameless>";
        place->function_bytes = sizeof nameless - 1;
        memcpy(place->function, nameless, sizeof nameless - 1);
    }
    return read_text(python, word_in(code, l->code_file), place->file, &place->file_bytes);
}
