/* SPDX-License-Identifier: Apache-2.0
 *
 * A small recursive-descent parser over a copy of the text without white space; see the header. Two
 * passes, because the smallest allowed max_split_size_mb depends on large_segment_size_mb, which
 * may come later. Numbers are parsed here and not by the C library, whose decimal point depends on
 * the host program's locale. */
#include "allocator/core/alloc_conf.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "allocator/core/placement.h"

#define TOKEN_SHOWN 48
#define MIB_MAX (UINT64_MAX / VS_MIB)

struct token {
    const char *text;
    size_t length; /* 0: the end */
};

struct alloc_conf_reader {
    const char *at, *end;
    struct vs_alloc_conf conf;
    struct vs_alloc_conf_messages *messages;
    const char *key; /* the present key */
    bool native_only; /* an option that only the native backend has was set */
};

/* --- tokens --- */

static bool is_mark(char c)
{
    return c == ',' || c == ':' || c == '[' || c == ']';
}

static struct token peek(const struct alloc_conf_reader *r)
{
    struct token t = {r->at, 0};
    if (r->at == r->end)
        return t;
    do
        t.length++;
    while (!is_mark(*r->at) && r->at + t.length < r->end && !is_mark(r->at[t.length]));
    return t;
}

static struct token next(struct alloc_conf_reader *r)
{
    struct token t = peek(r);
    r->at += t.length;
    return t;
}

static bool is(struct token t, const char *text)
{
    return t.length == strlen(text) && memcmp(t.text, text, t.length) == 0;
}

static bool take(struct alloc_conf_reader *r, const char *mark)
{
    bool found = is(peek(r), mark);
    if (found)
        next(r);
    return found;
}

/* For a message: printable, and truncated. */
static const char *show(struct token t, char shown[TOKEN_SHOWN + 4])
{
    size_t n = t.length < TOKEN_SHOWN ? t.length : TOKEN_SHOWN;
    for (size_t i = 0; i < n; i++)
        shown[i] = t.text[i] >= ' ' && t.text[i] <= '~' ? t.text[i] : '?';
    strcpy(shown + n, t.length > n ? "..." : "");
    return shown;
}

/* --- messages --- */

static void warn(const struct alloc_conf_reader *r, struct token t, const char *what)
{
    char shown[TOKEN_SHOWN + 4], message[VS_ALLOC_CONF_MESSAGE_MAX];
    if (!r->messages->warn)
        return;
    snprintf(message, sizeof message, "%s: '%s' %s", r->key, show(t, shown), what);
    r->messages->warn(r->messages->ctx, message);
}

static enum vs_err refuse(const struct alloc_conf_reader *r, struct token value, const char *allowed)
{
    char shown[TOKEN_SHOWN + 4];
    if (!value.length)
        snprintf(r->messages->error, sizeof r->messages->error, "%s: a value is missing; allowed: %s",
                 r->key, allowed);
    else
        snprintf(r->messages->error, sizeof r->messages->error, "%s: '%s' is not allowed; allowed: %s",
                 r->key, show(value, shown), allowed);
    return VS_ERR_ARG;
}

/* --- values --- */

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* PyTorch parses a number up to the first other character. */
static void warn_of_rest(const struct alloc_conf_reader *r, struct token t, size_t read)
{
    if (read < t.length)
        warn(r, t, "is read up to the end of the number");
}

static enum vs_err number(struct alloc_conf_reader *r, uint64_t *out, const char *allowed)
{
    struct token t = next(r);
    uint64_t n = 0;
    size_t i = t.length && *t.text == '+';
    size_t first = i;
    for (; i < t.length && digit(t.text[i]); i++) {
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(t.text[i] - '0'), &n))
            return refuse(r, t, allowed);
    }
    if (i == first)
        return refuse(r, t, allowed);
    warn_of_rest(r, t, i);
    *out = n;
    return VS_OK;
}

/* 10 to the power of *n*; exact up to 22. */
static double power_of_ten(int n)
{
    double power = 1;
    while (n-- > 0)
        power *= 10;
    return power;
}

/* Parses digits with a point and an exponent, as in 0.8 or 8e-1; returns the bytes read, 0 when it
 * is not a number. Up to 15 digits and small exponents the result is the closest. */
static size_t decimal(struct token t, double *out)
{
    size_t i = t.length && *t.text == '+', digits = 0;
    uint64_t n = 0;
    int scale = 0;
    bool point = false;
    for (; i < t.length && (digit(t.text[i]) || (t.text[i] == '.' && !point)); i++) {
        if (t.text[i] == '.') {
            point = true;
            continue;
        }
        digits++;
        if (n < UINT64_C(1000000000000000)) {
            n = 10 * n + (uint64_t)(t.text[i] - '0');
            scale -= point;
        } else {
            scale += !point;
        }
    }
    if (!digits)
        return 0;
    size_t e = i + 1;
    if (i < t.length && (t.text[i] == 'e' || t.text[i] == 'E')) {
        bool negative = e < t.length && t.text[e] == '-';
        e += negative || (e < t.length && t.text[e] == '+');
        int exponent = 0;
        size_t first = e;
        for (; e < t.length && digit(t.text[e]); e++)
            exponent = exponent < 1000 ? 10 * exponent + (t.text[e] - '0') : exponent;
        if (e > first) {
            scale += negative ? -exponent : exponent;
            i = e;
        }
    }
    scale = scale > 400 ? 400 : scale < -400 ? -400 : scale;
    *out = scale < 0 ? (double)n / power_of_ten(-scale) : (double)n * power_of_ten(scale);
    return i;
}

/* Reads into the bool at *offset* of r->conf. */
static enum vs_err flag(struct alloc_conf_reader *r, size_t offset)
{
    struct token t = next(r);
    if (!is(t, "True") && !is(t, "False"))
        return refuse(r, t, "True or False");
    *(bool *)((char *)&r->conf + offset) = is(t, "True");
    return VS_OK;
}

/* --- keys --- */

static enum vs_err number_within(struct alloc_conf_reader *r, uint64_t min, uint64_t max,
                                 const char *allowed, uint64_t *out)
{
    struct token t = peek(r);
    enum vs_err err = number(r, out, allowed);
    return !err && (*out < min || *out > max) ? refuse(r, t, allowed) : err;
}

static enum vs_err large_segment_size(struct alloc_conf_reader *r)
{
    uint64_t mib;
    enum vs_err err =
        number_within(r, VS_LARGE_EXACT_MIN / VS_MIB + 1, VS_ALLOCATOR_REQUEST_MAX / VS_MIB,
                      "a whole number of MiB above 10", &mib);
    if (!err)
        r->conf.config.large_segment_size = mib * VS_MIB;
    return err;
}

static enum vs_err at_least_a_large_segment(struct alloc_conf_reader *r, uint64_t bytes_max, uint64_t *out)
{
    uint64_t large = r->conf.config.large_segment_size, mib;
    char allowed[80];
    large = large ? large : VS_LARGE_SEGMENT;
    snprintf(allowed, sizeof allowed, "a whole number of MiB, at least %llu",
             (unsigned long long)(large / VS_MIB));
    enum vs_err err = number_within(r, large / VS_MIB, UINT64_MAX, allowed, &mib);
    if (err)
        return err;
    mib = mib > MIB_MAX ? MIB_MAX : mib;
    *out = mib * VS_MIB < bytes_max ? mib * VS_MIB : bytes_max;
    return VS_OK;
}

static enum vs_err max_split_size(struct alloc_conf_reader *r)
{
    return at_least_a_large_segment(r, UINT64_MAX, &r->conf.config.max_split_size);
}

static enum vs_err max_non_split_rounding(struct alloc_conf_reader *r)
{
    return at_least_a_large_segment(r, VS_ALLOCATOR_REQUEST_MAX,
                                    &r->conf.config.max_non_split_rounding);
}

/* From 0 to 1; *ends*: these are allowed too. */
static enum vs_err share(struct alloc_conf_reader *r, bool ends, double *out)
{
    const char *allowed = ends ? "a number from 0 to 1" : "a number between 0 and 1, both excluded";
    struct token t = next(r);
    double share;
    size_t read = decimal(t, &share);
    if (!read)
        return refuse(r, t, allowed);
    warn_of_rest(r, t, read);
    if (!(ends ? share >= 0 && share <= 1 : share > 0 && share < 1))
        return refuse(r, t, allowed);
    *out = share;
    return VS_OK;
}

static enum vs_err garbage_collection_threshold(struct alloc_conf_reader *r)
{
    return share(r, false, &r->conf.config.garbage_collection_threshold);
}

static enum vs_err memory_fraction(struct alloc_conf_reader *r)
{
    enum vs_err err = share(r, true, &r->conf.config.memory_fraction);
    /* in PyTorch 0 forbids all allocations; in a configuration it would mean no limit */
    if (!err && r->conf.config.memory_fraction == 0)
        r->conf.config.memory_fraction = 1e-30;
    return err;
}

/* Our own option: PyTorch has none, it switched from one order to the other. */
static enum vs_err vramscope_tie(struct alloc_conf_reader *r)
{
    struct token t = next(r);
    bool oldest = is(t, "oldest_segment");
    if (!oldest && !is(t, "lowest_address"))
        return refuse(r, t, "lowest_address or oldest_segment");
    r->conf.config.tie = oldest ? VS_TIE_OLDEST_SEGMENT : VS_TIE_LOWEST_ADDRESS;
    return VS_OK;
}

static enum vs_err backend(struct alloc_conf_reader *r)
{
    struct token t = next(r);
    bool async = is(t, "cudaMallocAsync") || is(t, "hipMallocAsync");
    if (!async && !is(t, "native"))
        return refuse(r, t, "native or cudaMallocAsync");
    r->conf.backend = async ? VS_BACKEND_MALLOC_ASYNC : VS_BACKEND_NATIVE;
    return VS_OK;
}

static bool power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

#define DIVISIONS_ALLOWED "powers of two up to 2147483648"

static enum vs_err divisions(struct alloc_conf_reader *r, bool zero_allowed, uint32_t *out)
{
    const char *allowed = zero_allowed ? "0 or " DIVISIONS_ALLOWED : DIVISIONS_ALLOWED;
    struct token t = peek(r);
    uint64_t n;
    enum vs_err err = number(r, &n, allowed);
    if (err)
        return err;
    if (!(power_of_two(n) || (zero_allowed && n == 0)) || n > UINT64_C(1) << 31)
        return refuse(r, t, allowed);
    *out = (uint32_t)n;
    return VS_OK;
}

static void fill(uint32_t *slots, size_t from, size_t to, uint32_t value)
{
    for (size_t i = from; i < to; i++)
        slots[i] = value;
}

/* One bound:value of the list; *last* is the slot of the previous bound, -1 at first. */
static enum vs_err roundup_entry(struct alloc_conf_reader *r, uint32_t *slots, int *last)
{
    const char *allowed = "[BOUND:DIVISIONS,...] with bounds that are powers of two in MiB, or >";
    struct token t = peek(r);
    bool rest = is(t, ">");
    uint64_t bound = 1;
    uint32_t value;
    enum vs_err err = VS_OK;
    if (rest)
        next(r);
    else
        err = number(r, &bound, allowed);
    if (err)
        return err;
    if (!power_of_two(bound))
        return refuse(r, t, allowed);
    if (!take(r, ":"))
        return refuse(r, peek(r), allowed);
    err = divisions(r, true, &value);
    if (err)
        return err;
    if (rest) {
        fill(slots, (size_t)(*last < 0 ? 1 : *last + 1), VS_ROUNDUP_SLOTS, value);
        return VS_OK;
    }
    int slot = (int)vs_floor_log2(bound);
    slot = slot < VS_ROUNDUP_SLOTS ? slot : VS_ROUNDUP_SLOTS - 1;
    if (*last < 0)
        fill(slots, 0, (size_t)slot, value);
    slots[slot] = value;
    *last = slot;
    return VS_OK;
}

static enum vs_err roundup_power2_divisions(struct alloc_conf_reader *r)
{
    uint32_t *slots = r->conf.config.roundup_power2_divisions, all;
    if (!take(r, "[")) {
        enum vs_err err = divisions(r, false, &all);
        if (!err)
            fill(slots, 0, VS_ROUNDUP_SLOTS, all);
        return err;
    }
    int last = -1;
    while (!take(r, "]")) {
        enum vs_err err = roundup_entry(r, slots, &last);
        if (err)
            return err;
        if (!take(r, ",") && !is(peek(r), "]"))
            return refuse(r, peek(r), "',' or ']' after each BOUND:DIVISIONS");
    }
    return VS_OK;
}

/* A share of the device's memory as in 0.5, or GiB as in 40G. For any other value PyTorch uses its
 * default, and so does this parser. */
static enum vs_err expandable_segments_reserve(struct alloc_conf_reader *r)
{
    struct token t = next(r);
    if (!t.length || is_mark(*t.text))
        return refuse(r, t, "a share of the device's memory, or GiB as in 40G");
    double value;
    size_t read = decimal(t, &value);
    bool gib = read && read + 1 == t.length && (t.text[read] == 'G' || t.text[read] == 'g');
    if (!read || (read < t.length && !gib) || !(value > 0 && value < 1e9)) {
        warn(r, t, "is neither a share nor GiB as in 40G: ignored");
        return VS_OK;
    }
    r->conf.config.expandable_reserve_fraction = gib ? 0 : value;
    r->conf.config.expandable_reserve_bytes = gib ? (uint64_t)(value * (double)(VS_MIB << 10)) : 0;
    return VS_OK;
}

static enum vs_err pinned_num_register_threads(struct alloc_conf_reader *r)
{
    const char *allowed = "powers of two up to 128";
    struct token t = peek(r);
    uint64_t n;
    enum vs_err err = number(r, &n, allowed);
    if (err)
        return err;
    if (!power_of_two(n) || n > 128)
        return refuse(r, t, allowed);
    r->conf.pinned_num_register_threads = (uint32_t)n;
    return VS_OK;
}

static enum vs_err pinned_reserve_segment_size(struct alloc_conf_reader *r)
{
    uint64_t n;
    enum vs_err err = number_within(r, 1, UINT64_MAX, "a whole number of MiB, at least 1", &n);
    if (!err)
        r->conf.pinned_reserve_segment_size_mb = n;
    return err;
}

/* Skips the value, if any, of an unknown key: a word or a bracketed list. */
static enum vs_err skip(struct alloc_conf_reader *r)
{
    if (!take(r, "[")) {
        if (!is(peek(r), ","))
            next(r);
        return VS_OK;
    }
    while (!take(r, "]")) {
        if (!next(r).length)
            return refuse(r, (struct token){"[", 1}, "a list that ends with ']'");
    }
    return VS_OK;
}

static enum vs_err reserve_by_class(struct alloc_conf_reader *r)
{
    struct token t = peek(r);
    enum vs_err err = skip(r);
    if (!err)
        warn(r, t, "is ignored: streams have no classes here");
    return err;
}

#define FLAG(member) NULL, true, offsetof(struct vs_alloc_conf, member)
static const struct key {
    const char *name;
    enum vs_err (*read)(struct alloc_conf_reader *r); /* NULL: a flag */
    bool native_only;
    size_t flag; /* offset in struct vs_alloc_conf */
} keys[] = {
    {"large_segment_size_mb", large_segment_size, true, 0},
    {"max_split_size_mb", max_split_size, true, 0},
    {"max_non_split_rounding_mb", max_non_split_rounding, true, 0},
    {"garbage_collection_threshold", garbage_collection_threshold, true, 0},
    {"roundup_power2_divisions", roundup_power2_divisions, true, 0},
    {"expandable_segments", FLAG(config.expandable_segments)},
    {"expandable_segments_reserve", expandable_segments_reserve, true, 0},
    {"expandable_segments_reserve_by_class", reserve_by_class, true, 0},
    {"per_process_memory_fraction", memory_fraction, true, 0},
    {"vramscope_tie", vramscope_tie, true, 0},
    {"backend", backend, false, 0},
    {"release_lock_on_cudamalloc", FLAG(release_lock_on_cudamalloc)},
    {"release_lock_on_hipmalloc", FLAG(release_lock_on_cudamalloc)},
    {"graph_capture_record_stream_reuse", FLAG(graph_capture_record_stream_reuse)},
    {"throw_on_cudamalloc_oom", FLAG(throw_on_cudamalloc_oom)},
    {"pinned_use_cuda_host_register", FLAG(pinned_use_cuda_host_register)},
    {"pinned_use_hip_host_register", FLAG(pinned_use_cuda_host_register)},
    {"pinned_num_register_threads", pinned_num_register_threads, true, 0},
    {"pinned_reserve_segment_size_mb", pinned_reserve_segment_size, true, 0},
    {"pinned_use_background_threads", FLAG(pinned_use_background_threads)},
    {"pinned_free_catch_all", FLAG(pinned_free_catch_all)},
};

/* --- the text --- */

const char *vs_alloc_conf_key(size_t index)
{
    return index < sizeof keys / sizeof *keys ? keys[index].name : NULL;
}

_Static_assert(TOKEN_SHOWN + 4 <= VS_ALLOC_CONF_KEY_MAX, "a shown name fits");

/* One key with its value; the first pass uses only large_segment_size_mb. */
static enum vs_err entry(struct alloc_conf_reader *r, bool first_pass)
{
    struct token name = next(r);
    const struct key *key = keys;
    while (key < keys + sizeof keys / sizeof *keys && !is(name, key->name))
        key++;
    key = key < keys + sizeof keys / sizeof *keys ? key : NULL;
    r->key = key ? key->name : "unknown key";
    bool colon = take(r, ":");
    if (key && !colon)
        return refuse(r, peek(r), "':' and a value");
    enum vs_err err;
    if (first_pass ? key == &keys[0] : key && key != &keys[0]) {
        err = key->read ? key->read(r) : flag(r, key->flag);
        r->native_only |= key->native_only;
    } else {
        if (!key && !first_pass) {
            char shown[TOKEN_SHOWN + 4];
            warn(r, name, "is ignored");
            if (!*r->messages->unknown)
                strcpy(r->messages->unknown, show(name, shown));
        }
        err = colon ? skip(r) : VS_OK;
    }
    r->key = NULL;
    return err;
}

static enum vs_err pass(struct alloc_conf_reader *r, bool first_pass)
{
    while (peek(r).length) {
        if (take(r, ","))
            continue;
        enum vs_err err = entry(r, first_pass);
        if (err)
            return err;
        struct token t = peek(r);
        if (t.length && !is(t, ",")) {
            r->key = "after a value";
            return refuse(r, t, "',' and the next key");
        }
    }
    return VS_OK;
}

enum vs_err vs_alloc_conf_parse(const char *text, size_t length, struct vs_alloc_conf *conf,
                                struct vs_alloc_conf_messages *messages)
{
    char packed[VS_ALLOC_CONF_MAX];
    size_t used = 0;
    messages->error[0] = messages->unknown[0] = '\0';
    for (size_t i = 0; i < length; i++) {
        if (text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r'))
            continue;
        if (used == sizeof packed) {
            snprintf(messages->error, sizeof messages->error, "longer than %d bytes",
                     VS_ALLOC_CONF_MAX);
            return VS_ERR_ARG;
        }
        packed[used++] = text[i];
    }
    struct alloc_conf_reader r = {.at = packed, .end = packed + used, .conf = *conf, .messages = messages};
    enum vs_err err = pass(&r, true);
    r.at = packed;
    if (!err)
        err = pass(&r, false);
    if (err)
        return err;
    if (r.conf.config.expandable_segments && r.conf.config.large_segment_size % VS_PAGE_BYTES) {
        r.key = "large_segment_size_mb";
        return refuse(&r, (struct token){"an odd number", 13},
                      "even numbers with expandable_segments");
    }
    r.key = "backend";
    if (r.conf.backend == VS_BACKEND_MALLOC_ASYNC && r.native_only)
        warn(&r, (struct token){"cudaMallocAsync", 15}, "ignores the options of the native one");
    *conf = r.conf;
    return VS_OK;
}
