/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a Python pickle (protocols 2 to 5) that contains data only: None, bool, int, float, str,
 * bytes, list, tuple and dict. Opcodes that name a class or call a function are refused, so reading
 * a file never executes anything. Any bytes are safe: nothing recurses, a length is never trusted
 * before its bytes arrive, and memory is at most VS_PICKLE_EXPANSION times the bytes read (about 5
 * times in PyTorch's snapshots). Values may be shared and may contain themselves: a caller that
 * walks them bounds its own work. Not thread-safe. */
#ifndef VS_PICKLE_H
#define VS_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vs_arena.h"
#include "base/vs_err.h"

#define VS_PICKLE_WHY_MAX 256
#define VS_PICKLE_EXPANSION 128
/* Longest text kept; the rest of a longer one is dropped. */
#define VS_PICKLE_TEXT_MAX ((size_t)64 << 10)

enum vs_pickle_type {
    VS_PICKLE_NONE, VS_PICKLE_BOOL, VS_PICKLE_INT,
    VS_PICKLE_BIG, /* an int that does not fit in 64 bits; its value is dropped */
    VS_PICKLE_FLOAT, VS_PICKLE_TEXT,
    VS_PICKLE_BYTES, /* its contents are dropped */
    VS_PICKLE_LIST, VS_PICKLE_TUPLE, VS_PICKLE_DICT
};

struct vs_pickle_text {
    size_t length;
    uint64_t key, string; /* 0; for the caller, to look up each text once */
    char bytes[];         /* with a NUL at the end */
};

struct vs_pickle_value {
    enum vs_pickle_type type;
    union {
        int64_t integer; /* also of a bool */
        double real;
        struct vs_pickle_text *text;
        struct vs_pickle_list *list;
    };
};

/* A list or tuple; a dict has its keys at even and their values at odd places, in the order of the
 * file. */
struct vs_pickle_list {
    struct vs_pickle_value *items;
    size_t count, capacity;
    uint64_t cache; /* 0; for the caller */
};

struct vs_pickle {
    struct vs_pickle_value root;
    uint64_t bytes; /* read from the file */
    struct vs_arena arena;
};

/* vs_pickle_read: reads one pickle from *in* into *pickle*, which vs_pickle_free releases, also
 * after a failure. On failure *why* (VS_PICKLE_WHY_MAX bytes) receives the reason: VS_ERR_FORMAT,
 * not a pickle, or one that is refused; VS_ERR_VERSION, another protocol; VS_ERR_CORRUPT, damaged or
 * cut off; VS_ERR_IO (errno). */
enum vs_err vs_pickle_read(FILE *in, struct vs_pickle *pickle, char *why) VS_MUST_CHECK;

void vs_pickle_free(struct vs_pickle *pickle);

/* vs_pickle_get: the value of *key* in a dict (the last one); NULL when there is none, or *dict* is
 * NULL, not a dict, or has more than VS_PICKLE_KEYS_MAX keys. Cost: one comparison a key. */
#define VS_PICKLE_KEYS_MAX 64
const struct vs_pickle_value *vs_pickle_get(const struct vs_pickle_value *dict, const char *key);

/* vs_pickle_is_text: whether *value* (may be NULL) is the text *text*. */
bool vs_pickle_is_text(const struct vs_pickle_value *value, const char *text);

/* vs_pickle_items: the list in *value*, if it is of *type*; otherwise an empty one. */
const struct vs_pickle_list *vs_pickle_items(const struct vs_pickle_value *value,
                                             enum vs_pickle_type type);

#endif
