/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/common/pickle_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"

/* MemoryViz.js passes the items of an APPENDS as arguments of a function, which are limited. */
#define BATCH 1000u

/* Opcodes of Python's pickletools. */
enum {
    PROTO = 0x80, STOP = '.', MARK = '(', BININT1 = 'K', BININT2 = 'M', BININT = 'J', LONG1 = 0x8a,
    NEWTRUE = 0x88, NEWFALSE = 0x89, BINUNICODE = 'X', EMPTY_DICT = '}', SETITEMS = 'u',
    EMPTY_LIST = ']', APPENDS = 'e', LONG_BINPUT = 'r', LONG_BINGET = 'j',
    TUPLE2 = 0x86
};

/* An opcode with a little-endian number of *width* bytes. */
static void put_number(struct vs_pickle_out *p, int opcode, uint64_t value, unsigned width)
{
    unsigned char bytes[9] = {(unsigned char)opcode};
    for (unsigned i = 0; i < width; i++)
        bytes[1 + i] = (unsigned char)(value >> 8 * i);
    fwrite(bytes, 1, 1 + width, p->out);
}

void vs_pickle_begin(struct vs_pickle_out *p)
{
    put_number(p, PROTO, 2, 1);
}

void vs_pickle_end(struct vs_pickle_out *p)
{
    putc(STOP, p->out);
    vs_intern_free(&p->known);
}

void vs_pickle_uint(struct vs_pickle_out *p, uint64_t value)
{
    if (value < 1 << 8)
        put_number(p, BININT1, value, 1);
    else if (value < 1 << 16)
        put_number(p, BININT2, value, 2);
    else if (value < UINT64_C(1) << 31)
        put_number(p, BININT, value, 4);
    else {
        put_number(p, LONG1, 8, 1);
        for (unsigned i = 0; i < 8; i++)
            putc((int)(value >> 8 * i & 255), p->out);
    }
}

void vs_pickle_bool(struct vs_pickle_out *p, bool value)
{
    putc(value ? NEWTRUE : NEWFALSE, p->out);
}

void vs_pickle_pair(struct vs_pickle_out *p, uint64_t first, uint64_t second)
{
    vs_pickle_uint(p, first);
    vs_pickle_uint(p, second);
    putc(TUPLE2, p->out);
}

bool vs_pickle_again(struct vs_pickle_out *p, const void *key, size_t length, uint32_t *number)
{
    size_t before = p->known.count;
    *number = vs_intern(&p->known, key, length);
    if (*number == before)
        return false;
    put_number(p, LONG_BINGET, *number, 4);
    return true;
}

void vs_pickle_keep(struct vs_pickle_out *p, uint32_t number)
{
    put_number(p, LONG_BINPUT, number, 4);
}

void vs_pickle_text(struct vs_pickle_out *p, const char *text)
{
    uint32_t number;
    char *valid = vs_xvalid(text);
    text = valid ? valid : text;
    if (!vs_pickle_again(p, text, strlen(text), &number)) {
        put_number(p, BINUNICODE, strlen(text), 4);
        fputs(text, p->out);
        vs_pickle_keep(p, number);
    }
    free(valid);
}

void vs_pickle_begin_dict(struct vs_pickle_out *p)
{
    putc(EMPTY_DICT, p->out);
    putc(MARK, p->out);
}

void vs_pickle_end_dict(struct vs_pickle_out *p)
{
    putc(SETITEMS, p->out);
}

void vs_pickle_uint_member(struct vs_pickle_out *p, const char *key, uint64_t value)
{
    vs_pickle_text(p, key);
    vs_pickle_uint(p, value);
}

void vs_pickle_text_member(struct vs_pickle_out *p, const char *key, const char *value)
{
    vs_pickle_text(p, key);
    vs_pickle_text(p, value);
}

struct vs_pickle_items vs_pickle_begin_list(struct vs_pickle_out *p)
{
    putc(EMPTY_LIST, p->out);
    putc(MARK, p->out);
    return (struct vs_pickle_items){0};
}

void vs_pickle_item(struct vs_pickle_out *p, struct vs_pickle_items *list)
{
    if (list->count == BATCH) {
        putc(APPENDS, p->out);
        putc(MARK, p->out);
        list->count = 0;
    }
    list->count++;
}

void vs_pickle_end_list(struct vs_pickle_out *p)
{
    putc(APPENDS, p->out);
}
