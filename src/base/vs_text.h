/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions about text that every module asks: the file name of a path, whether two texts are equal,
 * how a text begins and ends, and a hash of it; and a number as hexadecimal text. Nothing here allocates or changes its arguments; any
 * thread may call it, also in a signal handler. */
#ifndef VS_TEXT_H
#define VS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VS_TEXT_HASH_START UINT64_C(0xcbf29ce484222325)

/* vs_text_base_name: the part of *path* after its last slash, which is empty where the path ends in
 * one; *path* itself without a slash. Unlike basename(3) it removes no slash at the end. */
static inline const char *vs_text_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* vs_text_same: whether both are NULL, or equal texts. */
static inline bool vs_text_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static inline bool vs_text_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static inline bool vs_text_ends(const char *text, const char *with)
{
    size_t length = strlen(text), n = strlen(with);
    return length >= n && memcmp(text + length - n, with, n) == 0;
}

/* vs_text_hash, vs_text_hash_bytes: continue *hash*, at first VS_TEXT_HASH_START, with a text
 * without its end, or with *count* bytes: FNV-1a, for tables; anyone can make two texts of one
 * hash. The result may be 0. */
static inline uint64_t vs_text_hash(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static inline uint64_t vs_text_hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* vs_text_hex: "0x1f" in *out*, of VS_TEXT_HEX_MAX bytes; returns its end. */
#define VS_TEXT_HEX_MAX 19
static inline char *vs_text_hex(char *out, uint64_t value)
{
    *out++ = '0';
    *out++ = 'x';
    for (int i = value ? (63 - __builtin_clzll(value)) / 4 : 0; i >= 0; i--)
        *out++ = "0123456789abcdef"[value >> 4 * i & 15];
    *out = '\0';
    return out;
}

#endif
