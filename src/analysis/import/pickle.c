/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine that a pickle is a program for (Python's Lib/pickletools.py describes the opcodes): a
 * stack of values, marks in it, and a memo of values by number. Input passes through one buffer. */
#include "analysis/import/pickle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"

#define BUFFER ((size_t)256 << 10)

struct machine {
    FILE *in;
    struct vs_pickle *pickle;
    char *why;
    enum vs_err err;
    unsigned char *buffer;
    size_t at, end;     /* unread bytes of the buffer */
    uint64_t consumed;  /* bytes of the file before the buffer */
    struct vs_pickle_value *stack, *memo;
    size_t depth, stack_capacity, memo_count, memo_capacity;
    size_t *marks; /* depths */
    size_t mark_count, mark_capacity;
};

static uint64_t position(const struct machine *m)
{
    return m->consumed + m->at;
}

/* Keeps the first failure. */
static void fail(struct machine *m, enum vs_err err, const char *what)
{
    if (m->err)
        return;
    m->err = err;
    snprintf(m->why, VS_PICKLE_WHY_MAX, "at byte %" PRIu64 ": %s", position(m), what);
}

/* --- input --- */

static bool refill(struct machine *m, size_t bytes)
{
    memmove(m->buffer, m->buffer + m->at, m->end - m->at);
    m->consumed += m->at;
    m->end -= m->at;
    m->at = 0;
    while (m->end < bytes) {
        size_t n = fread(m->buffer + m->end, 1, BUFFER - m->end, m->in);
        if (!n) {
            if (ferror(m->in)) {
                m->err = VS_ERR_IO;
                snprintf(m->why, VS_PICKLE_WHY_MAX, "%s", strerror(errno));
            } else {
                fail(m, VS_ERR_CORRUPT, "the file ends in the middle of the pickle");
            }
            return false;
        }
        m->end += n;
    }
    return true;
}

/* The next *bytes* (at most BUFFER) of the file; NULL after a failure. */
static inline const unsigned char *take(struct machine *m, size_t bytes)
{
    if (m->end - m->at < bytes && !refill(m, bytes))
        return NULL;
    const unsigned char *p = m->buffer + m->at;
    m->at += bytes;
    return p;
}

/* A little-endian number; 0 after a failure. */
static inline uint64_t number(struct machine *m, size_t bytes)
{
    const unsigned char *p = take(m, bytes);
    uint64_t value = 0;
    for (size_t i = 0; p && i < bytes; i++)
        value |= (uint64_t)p[i] << 8 * i;
    return value;
}

static void skip(struct machine *m, uint64_t bytes)
{
    while (bytes && !m->err) {
        size_t part = bytes < BUFFER ? (size_t)bytes : BUFFER;
        take(m, part);
        bytes -= part;
    }
}

/* --- the stack --- */

static inline void push(struct machine *m, struct vs_pickle_value value)
{
    VS_VEC_ADD(m->stack, m->depth, m->stack_capacity, value);
}

static void push_integer(struct machine *m, enum vs_pickle_type type, int64_t value)
{
    push(m, (struct vs_pickle_value){.type = type, .integer = value});
}

/* The top *count* values, which leave the stack but stay valid until the next push; NULL when there
 * are not so many above the last mark. */
static struct vs_pickle_value *pop(struct machine *m, size_t count)
{
    size_t floor = m->mark_count ? m->marks[m->mark_count - 1] : 0;
    if (m->depth - floor < count) {
        fail(m, VS_ERR_CORRUPT, "an operation has no operands");
        return NULL;
    }
    m->depth -= count;
    return m->stack + m->depth;
}

/* Likewise the values above the last mark, which ends. */
static struct vs_pickle_value *pop_mark(struct machine *m, size_t *count)
{
    if (!m->mark_count) {
        fail(m, VS_ERR_CORRUPT, "an operation has no mark");
        return NULL;
    }
    size_t mark = m->marks[--m->mark_count];
    *count = m->depth - mark;
    m->depth = mark;
    return m->stack + mark;
}

/* --- texts and numbers --- */

static void push_text(struct machine *m, uint64_t length)
{
    size_t kept = length < VS_PICKLE_TEXT_MAX ? (size_t)length : VS_PICKLE_TEXT_MAX;
    const unsigned char *bytes = m->err ? NULL : take(m, kept);
    if (!bytes)
        return;
    struct vs_pickle_text *text = vs_xarena(&m->pickle->arena, sizeof *text + kept + 1);
    text->length = kept;
    memcpy(text->bytes, bytes, kept);
    skip(m, length - kept);
    push(m, (struct vs_pickle_value){.type = VS_PICKLE_TEXT, .text = text});
}

static void push_bytes(struct machine *m, uint64_t length)
{
    skip(m, length);
    push_integer(m, VS_PICKLE_BYTES, 0);
}

/* Two's complement, little-endian. */
static void push_long(struct machine *m, uint64_t length)
{
    uint64_t value = 0;
    if (length > 8) {
        skip(m, length);
        push_integer(m, VS_PICKLE_BIG, 0);
        return;
    }
    const unsigned char *p = take(m, (size_t)length);
    for (size_t i = 0; p && i < length; i++)
        value |= (uint64_t)p[i] << 8 * i;
    if (p && length && length < 8 && p[length - 1] & 0x80)
        value |= ~UINT64_C(0) << 8 * length;
    push_integer(m, VS_PICKLE_INT, (int64_t)value);
}

/* Big-endian, unlike everything else. */
static void push_float(struct machine *m)
{
    const unsigned char *p = take(m, 8);
    uint64_t bits = 0;
    for (size_t i = 0; p && i < 8; i++)
        bits = bits << 8 | p[i];
    struct vs_pickle_value value = {.type = VS_PICKLE_FLOAT};
    memcpy(&value.real, &bits, sizeof value.real);
    push(m, value);
}

/* --- lists --- */

static void append(struct machine *m, struct vs_pickle_list *list,
                   const struct vs_pickle_value *values, size_t count)
{
    if (!count)
        return;
    if (list->count + count > list->capacity) {
        size_t capacity = list->count + count;
        if (list->count && capacity < 2 * list->count)
            capacity = 2 * list->count;
        struct vs_pickle_value *items =
            vs_xarena(&m->pickle->arena, capacity * sizeof *items);
        if (list->count)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->capacity = capacity;
    }
    memcpy(list->items + list->count, values, count * sizeof *values);
    list->count += count;
}

static void push_list(struct machine *m, enum vs_pickle_type type,
                      const struct vs_pickle_value *values, size_t count)
{
    if (m->err)
        return;
    struct vs_pickle_list *list = vs_xarena(&m->pickle->arena, sizeof *list);
    append(m, list, values, count);
    push(m, (struct vs_pickle_value){.type = type, .list = list});
}

/* Appends *count* values to the list or dict below them. */
static void extend(struct machine *m, enum vs_pickle_type type,
                   const struct vs_pickle_value *values, size_t count)
{
    if (!values)
        return;
    size_t floor = m->mark_count ? m->marks[m->mark_count - 1] : 0;
    struct vs_pickle_value *below = m->depth > floor ? &m->stack[m->depth - 1] : NULL;
    if (!below || below->type != type || (type == VS_PICKLE_DICT && count % 2))
        fail(m, VS_ERR_CORRUPT, "values are added to something that is not a list or a dict");
    else
        append(m, below->list, values, count);
}

static void extend_marked(struct machine *m, enum vs_pickle_type type)
{
    size_t count = 0;
    const struct vs_pickle_value *values = pop_mark(m, &count);
    extend(m, type, values, count);
}

static void collect_marked(struct machine *m, enum vs_pickle_type type)
{
    size_t count = 0;
    const struct vs_pickle_value *values = pop_mark(m, &count);
    if (values && type == VS_PICKLE_DICT && count % 2)
        fail(m, VS_ERR_CORRUPT, "a dict has a key without a value");
    else if (values)
        push_list(m, type, values, count);
}

static void push_tuple(struct machine *m, size_t count)
{
    const struct vs_pickle_value *values = pop(m, count);
    if (values)
        push_list(m, VS_PICKLE_TUPLE, values, count);
}

/* --- the memo --- */

static void memo_put(struct machine *m, uint64_t index)
{
    size_t floor = m->mark_count ? m->marks[m->mark_count - 1] : 0;
    if (m->depth == floor)
        fail(m, VS_ERR_CORRUPT, "the memo is given nothing");
    else if (index > position(m)) /* each value took a byte at least */
        fail(m, VS_ERR_CORRUPT, "a number of the memo is higher than the number of values");
    if (m->err)
        return;
    vs_vec_room(&m->memo, &m->memo_capacity, (size_t)index + 1, sizeof *m->memo);
    while (m->memo_count <= index) /* numbers without a value */
        m->memo[m->memo_count++] = (struct vs_pickle_value){.type = VS_PICKLE_NONE};
    m->memo[index] = m->stack[m->depth - 1];
}

static void memo_get(struct machine *m, uint64_t index)
{
    if (index >= m->memo_count)
        fail(m, VS_ERR_CORRUPT, "a value is referred to before it is defined");
    else
        push(m, m->memo[index]);
}

/* --- opcodes --- */

/* Refuses an opcode that this reader does not have. */
static void refuse(struct machine *m, unsigned code)
{
    static const struct {
        unsigned char code;
        const char *name;
    } calls[] = {{'c', "GLOBAL"}, {'R', "REDUCE"}, {'b', "BUILD"}, {'i', "INST"}, {'o', "OBJ"},
                 {0x81, "NEWOBJ"}, {0x92, "NEWOBJ_EX"}, {0x93, "STACK_GLOBAL"}, {0x82, "EXT1"},
                 {0x83, "EXT2"}, {0x84, "EXT4"}, {'P', "PERSID"}, {'Q', "BINPERSID"}};
    char text[160];
    snprintf(text, sizeof text, "opcode 0x%02x, which the data of a snapshot does not need", code);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].code == code)
            snprintf(text, sizeof text, "opcode %s, which makes Python import or call something: "
                     "refused, only plain data is read", calls[i].name);
    m->at--; /* where it stands */
    fail(m, VS_ERR_FORMAT, text);
}

static void protocol(struct machine *m)
{
    unsigned version = (unsigned)number(m, 1);
    char text[80];
    if (m->err || (version >= 2 && version <= 5))
        return;
    snprintf(text, sizeof text, "pickle protocol %u; protocols 2 to 5 are read", version);
    fail(m, VS_ERR_VERSION, text);
}

static void text_or_number(struct machine *m, unsigned code)
{
    switch (code) {
    case 'J': push_integer(m, VS_PICKLE_INT, (int32_t)(uint32_t)number(m, 4)); break;
    case 0x8a: push_long(m, number(m, 1)); break;
    case 0x8b: push_long(m, number(m, 4)); break;
    case 'G': push_float(m); break;
    case 'U': push_text(m, number(m, 1)); break;
    case 'T':
    case 'X': push_text(m, number(m, 4)); break;
    case 0x8d: push_text(m, number(m, 8)); break;
    case 'C': push_bytes(m, number(m, 1)); break;
    case 'B': push_bytes(m, number(m, 4)); break;
    case 0x8e:
    case 0x96: push_bytes(m, number(m, 8)); break;
    case 0x80: protocol(m); break;
    case 0x95: skip(m, 8); break; /* FRAME: the length of the next part */
    default: refuse(m, code);
    }
}

/* Executes one opcode; the most frequent ones first. */
static void step(struct machine *m, unsigned code)
{
    switch (code) {
    case 'h': memo_get(m, number(m, 1)); break;
    case 'j': memo_get(m, number(m, 4)); break;
    case 0x94: memo_put(m, m->memo_count); break;
    case 'q': memo_put(m, number(m, 1)); break;
    case 'r': memo_put(m, number(m, 4)); break;
    case 'K': push_integer(m, VS_PICKLE_INT, (int64_t)number(m, 1)); break;
    case 'M': push_integer(m, VS_PICKLE_INT, (int64_t)number(m, 2)); break;
    case 0x8c: push_text(m, number(m, 1)); break;
    case '(':
        *(size_t *)vs_vec_push(&m->marks, &m->mark_count, &m->mark_capacity, sizeof *m->marks) =
            m->depth;
        break;
    case '}': push_list(m, VS_PICKLE_DICT, NULL, 0); break;
    case ']': push_list(m, VS_PICKLE_LIST, NULL, 0); break;
    case ')': push_list(m, VS_PICKLE_TUPLE, NULL, 0); break;
    case 'u': extend_marked(m, VS_PICKLE_DICT); break;
    case 'e': extend_marked(m, VS_PICKLE_LIST); break;
    case 's': extend(m, VS_PICKLE_DICT, pop(m, 2), 2); break;
    case 'a': extend(m, VS_PICKLE_LIST, pop(m, 1), 1); break;
    case 'l': collect_marked(m, VS_PICKLE_LIST); break;
    case 'd': collect_marked(m, VS_PICKLE_DICT); break;
    case 't': collect_marked(m, VS_PICKLE_TUPLE); break;
    case 0x85:
    case 0x86:
    case 0x87: push_tuple(m, code - 0x84); break;
    case 'N': push_integer(m, VS_PICKLE_NONE, 0); break;
    case 0x88:
    case 0x89: push_integer(m, VS_PICKLE_BOOL, code == 0x88); break;
    default: text_or_number(m, code);
    }
}

static void run(struct machine *m)
{
    const unsigned char *first = take(m, 1);
    if (!first || *first != 0x80) {
        m->err = m->err == VS_ERR_CORRUPT ? VS_OK : m->err;
        fail(m, VS_ERR_FORMAT, "not a pickle of protocol 2 or later");
        return;
    }
    m->at = 0;
    for (const unsigned char *code; !m->err && (code = take(m, 1)) && *code != '.';)
        step(m, *code);
    if (!m->err && (m->depth != 1 || m->mark_count))
        fail(m, VS_ERR_CORRUPT, "the pickle does not end with one value");
    if (!m->err)
        m->pickle->root = m->stack[0];
}

enum vs_err vs_pickle_read(FILE *in, struct vs_pickle *pickle, char *why)
{
    struct machine m = {.in = in, .pickle = pickle, .why = why, .buffer = vs_xcalloc(1, BUFFER)};
    *pickle = (struct vs_pickle){.bytes = 0};
    why[0] = 0;
    run(&m);
    pickle->bytes = position(&m);
    free(m.buffer);
    free(m.stack);
    free(m.memo);
    free(m.marks);
    return m.err;
}

void vs_pickle_free(struct vs_pickle *pickle)
{
    vs_arena_free_all(&pickle->arena);
    pickle->root = (struct vs_pickle_value){.type = VS_PICKLE_NONE};
}

/* --- access --- */

bool vs_pickle_is_text(const struct vs_pickle_value *value, const char *text)
{
    size_t length = strlen(text);
    return value && value->type == VS_PICKLE_TEXT && value->text->length == length &&
           memcmp(value->text->bytes, text, length) == 0;
}

const struct vs_pickle_list *vs_pickle_items(const struct vs_pickle_value *value,
                                             enum vs_pickle_type type)
{
    static const struct vs_pickle_list empty;
    return value && value->type == type ? value->list : &empty;
}

const struct vs_pickle_value *vs_pickle_get(const struct vs_pickle_value *dict, const char *key)
{
    const struct vs_pickle_list *list = vs_pickle_items(dict, VS_PICKLE_DICT);
    for (size_t i = list->count <= 2 * VS_PICKLE_KEYS_MAX ? list->count : 0; i >= 2; i -= 2)
        if (vs_pickle_is_text(&list->items[i - 2], key))
            return &list->items[i - 1];
    return NULL;
}
