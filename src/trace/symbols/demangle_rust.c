/* SPDX-License-Identifier: Apache-2.0
 *
 * The "v0" mangling is RFC 2603's grammar, read by recursive descent; texts go straight
 * into the output. Names are foreign bytes: depth, steps and output are bounded, for back
 * references can make a short name very long. Hashes and lifetimes are left out. */
#include "trace/symbols/demangle_rust.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 128u
#define STEPS_MAX 20000u

struct demangle_rust_reader {
    const char *start, *next; /* start: what back references count from */
    char *out;
    size_t used;
    unsigned depth, steps;
    bool failed, silent; /* silent: read on without writing */
};

static void path(struct demangle_rust_reader *r, bool in_value);
static void type(struct demangle_rust_reader *r);
static void constant(struct demangle_rust_reader *r);

static void put_bytes(struct demangle_rust_reader *r, const char *text, size_t length)
{
    if (r->silent || r->failed)
        return;
    if (length > VS_RUST_NAME_MAX - 1 - r->used)
        length = VS_RUST_NAME_MAX - 1 - r->used;
    memcpy(r->out + r->used, text, length);
    r->used += length;
    r->out[r->used] = '\0';
}

static void put(struct demangle_rust_reader *r, const char *text)
{
    put_bytes(r, text, strlen(text));
}

static bool take(struct demangle_rust_reader *r, char c)
{
    if (r->failed || *r->next != c)
        return false;
    r->next++;
    return true;
}

/* true when the descent may go on one level deeper; leave() goes back. */
static bool enter(struct demangle_rust_reader *r)
{
    if (++r->depth > DEPTH_MAX || ++r->steps > STEPS_MAX)
        r->failed = true;
    return !r->failed;
}

static void leave(struct demangle_rust_reader *r)
{
    r->depth--;
}

static uint64_t base62(struct demangle_rust_reader *r)
{
    uint64_t value = 0;
    if (take(r, '_'))
        return 0;
    while (!r->failed && *r->next != '_') {
        char c = *r->next;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 36
                                                : 62;
        if (digit == 62 || value > (UINT64_MAX - 61) / 62) {
            r->failed = true;
            return 0;
        }
        value = value * 62 + digit;
        r->next++;
    }
    take(r, '_');
    return value + 1;
}

/* What *read* makes of the text at a back reference. */
static void back_reference(struct demangle_rust_reader *r, void (*read)(struct demangle_rust_reader *))
{
    const char *here = r->next - 1; /* the B */
    uint64_t at = base62(r);
    if (r->failed || at >= (uint64_t)(here - r->start)) {
        r->failed = true;
        return;
    }
    const char *after = r->next;
    r->next = r->start + at;
    if (enter(r))
        read(r);
    leave(r);
    r->next = after;
}

static uint64_t disambiguator(struct demangle_rust_reader *r)
{
    return take(r, 's') ? base62(r) + 1 : 0;
}

/* A name without its disambiguator; not written. Punycode stays as it is. */
static void plain_identifier(struct demangle_rust_reader *r, const char **text, size_t *length)
{
    take(r, 'u');
    *length = 0;
    if (*r->next < '0' || *r->next > '9')
        r->failed = true;
    while (!r->failed && *r->next >= '0' && *r->next <= '9' && *length < VS_RUST_NAME_MAX) {
        *length = *length * 10 + (size_t)(*r->next++ - '0');
        if (*length == 0)
            break;
    }
    take(r, '_');
    *text = r->next;
    if (r->failed || strnlen(r->next, *length) < *length)
        r->failed = true;
    else
        r->next += *length;
}

static void nested(struct demangle_rust_reader *r, bool in_value)
{
    char space = *r->next, number[24];
    const char *text;
    size_t length;
    if (!space) {
        r->failed = true;
        return;
    }
    r->next++;
    path(r, in_value);
    uint64_t count = disambiguator(r);
    plain_identifier(r, &text, &length);
    if (space >= 'A' && space <= 'Z') {
        put(r, space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
        if (length)
            put(r, ":");
        put_bytes(r, text, length);
        snprintf(number, sizeof number, "#%llu}", (unsigned long long)count);
        put(r, number);
    } else if (length) {
        put(r, "::");
        put_bytes(r, text, length);
    }
}

static void impl_path(struct demangle_rust_reader *r)
{
    bool silent = r->silent;
    disambiguator(r);
    r->silent = true;
    path(r, false);
    r->silent = silent;
}

static void generic(struct demangle_rust_reader *r)
{
    if (take(r, 'L')) {
        base62(r);
        put(r, "'_");
    } else if (take(r, 'K')) {
        constant(r);
    } else {
        type(r);
    }
}

/* *one* for each, up to E, with commas between. Returns how many. */
static unsigned list(struct demangle_rust_reader *r, void (*one)(struct demangle_rust_reader *))
{
    unsigned count = 0;
    while (!r->failed && !take(r, 'E')) {
        if (count++)
            put(r, ", ");
        one(r);
    }
    return count;
}

static void type_path(struct demangle_rust_reader *r)
{
    path(r, false);
}

static void value_path(struct demangle_rust_reader *r)
{
    path(r, true);
}

static void path(struct demangle_rust_reader *r, bool in_value)
{
    const char *text;
    size_t length;
    if (!enter(r)) {
        leave(r);
        return;
    }
    switch (*r->next++) {
    case 'C':
        disambiguator(r);
        plain_identifier(r, &text, &length);
        put_bytes(r, text, length);
        break;
    case 'M':
        impl_path(r);
        put(r, "<");
        type(r);
        put(r, ">");
        break;
    case 'X':
        impl_path(r); /* and on as for Y */
        __attribute__((fallthrough));
    case 'Y':
        put(r, "<");
        type(r);
        put(r, " as ");
        path(r, false);
        put(r, ">");
        break;
    case 'N': nested(r, in_value); break;
    case 'I':
        path(r, in_value);
        put(r, in_value ? "::<" : "<");
        list(r, generic);
        put(r, ">");
        break;
    case 'B': back_reference(r, in_value ? value_path : type_path); break;
    default: r->failed = true; break;
    }
    leave(r);
}

static const char *basic_type(char c)
{
    static const char *const names[26] = {
        ['a' - 'a'] = "i8",   ['b' - 'a'] = "bool", ['c' - 'a'] = "char", ['d' - 'a'] = "f64",
        ['e' - 'a'] = "str",  ['f' - 'a'] = "f32",  ['h' - 'a'] = "u8",   ['i' - 'a'] = "isize",
        ['j' - 'a'] = "usize", ['l' - 'a'] = "i32", ['m' - 'a'] = "u32",  ['n' - 'a'] = "i128",
        ['o' - 'a'] = "u128", ['s' - 'a'] = "i16",  ['t' - 'a'] = "u16",  ['u' - 'a'] = "()",
        ['v' - 'a'] = "...",  ['x' - 'a'] = "i64",  ['y' - 'a'] = "u64",  ['z' - 'a'] = "!",
        ['p' - 'a'] = "_"};
    return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static void function_type(struct demangle_rust_reader *r)
{
    const char *text;
    size_t length;
    if (take(r, 'G'))
        base62(r);
    if (take(r, 'U'))
        put(r, "unsafe ");
    if (take(r, 'K')) {
        put(r, "extern \"");
        if (take(r, 'C')) {
            put(r, "C");
        } else {
            plain_identifier(r, &text, &length);
            put_bytes(r, text, length);
        }
        put(r, "\" ");
    }
    put(r, "fn(");
    list(r, type);
    put(r, ")");
    if (take(r, 'u'))
        return; /* returns nothing */
    put(r, " -> ");
    type(r);
}

static void dyn_type(struct demangle_rust_reader *r)
{
    const char *text;
    size_t length;
    unsigned count = 0;
    put(r, "dyn ");
    if (take(r, 'G'))
        base62(r);
    while (!r->failed && !take(r, 'E')) {
        if (count++)
            put(r, " + ");
        path(r, false);
        while (take(r, 'p')) {
            /* one more of the trait's arguments: they may have their brackets already */
            bool open = !r->silent && r->used && r->out[r->used - 1] == '>';
            if (open)
                r->used--;
            put(r, open ? ", " : "<");
            plain_identifier(r, &text, &length);
            put_bytes(r, text, length);
            put(r, " = ");
            type(r);
            put(r, ">");
        }
    }
    if (take(r, 'L'))
        base62(r);
}

static void compound_type(struct demangle_rust_reader *r, char c)
{
    switch (c) {
    case 'A':
        put(r, "[");
        type(r);
        put(r, "; ");
        constant(r);
        put(r, "]");
        break;
    case 'S':
        put(r, "[");
        type(r);
        put(r, "]");
        break;
    case 'T':
        put(r, "(");
        put(r, list(r, type) == 1 ? ",)" : ")");
        break;
    case 'R':
    case 'Q':
        if (take(r, 'L'))
            base62(r);
        put(r, c == 'R' ? "&" : "&mut ");
        type(r);
        break;
    case 'P':
    case 'O':
        put(r, c == 'P' ? "*const " : "*mut ");
        type(r);
        break;
    case 'F': function_type(r); break;
    case 'D': dyn_type(r); break;
    case 'B': back_reference(r, type); break;
    default:
        r->next--;
        path(r, false);
        break;
    }
}

static void type(struct demangle_rust_reader *r)
{
    if (enter(r)) {
        char c = *r->next;
        const char *basic = basic_type(c);
        if (!c)
            r->failed = true;
        else
            r->next++;
        if (basic)
            put(r, basic);
        else if (c)
            compound_type(r, c);
    }
    leave(r);
}

static void constant(struct demangle_rust_reader *r)
{
    char c = *r->next, number[32];
    uint64_t value = 0;
    if (take(r, 'p')) {
        put(r, "_");
        return;
    }
    if (take(r, 'B')) {
        back_reference(r, constant);
        return;
    }
    if (!c || !basic_type(c)) {
        r->failed = true;
        return;
    }
    r->next++;
    bool negative = take(r, 'n');
    const char *digits = r->next;
    for (; (*r->next >= '0' && *r->next <= '9') || (*r->next >= 'a' && *r->next <= 'f'); r->next++)
        value = value * 16 + (uint64_t)(*r->next <= '9' ? *r->next - '0' : *r->next - 'a' + 10);
    if (r->next - digits > 16) /* more than 64 bits: as it stands */
        snprintf(number, sizeof number, "0x%.27s", digits);
    else if (c == 'b')
        snprintf(number, sizeof number, "%s", value ? "true" : "false");
    else
        snprintf(number, sizeof number, "%s%llu", negative ? "-" : "", (unsigned long long)value);
    if (!take(r, '_'))
        r->failed = true;
    put(r, number);
}

bool vs_demangle_rust(const char *name, char *out)
{
    if (strncmp(name, "_R", 2) != 0)
        return false;
    struct demangle_rust_reader r = {.start = name + 2, .next = name + 2, .out = out};
    out[0] = '\0';
    path(&r, true);
    /* the crate it was made in, and what tools append, say nothing of the function */
    return !r.failed && r.used;
}
