/* SPDX-License-Identifier: Apache-2.0
 *
 * A TOML document as a tree of C structs, each with its line. The syntax is read by toml++, a C++
 * library; without it at build time, no document can be read. Not thread-safe. */
#ifndef VS_TOML_TREE_H
#define VS_TOML_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum vs_toml_type {
    VS_TOML_STRING, VS_TOML_INTEGER, VS_TOML_BOOLEAN, VS_TOML_ARRAY, VS_TOML_TABLE,
    VS_TOML_OTHER /* numbers with a fraction, dates, times */
};

struct vs_toml {
    enum vs_toml_type type;
    unsigned line;         /* from 1 */
    char *key;             /* of a table's member; NULL otherwise */
    char *text;            /* of a string */
    int64_t integer;
    bool boolean;
    struct vs_toml *items; /* of arrays, and of tables in the order of the text */
    size_t count;
};

/* vs_toml_parse: the document *text* of *length* bytes (valid until vs_toml_free), or NULL with the
 * line and the reason (*size* bytes) of the first error. Ownership: vs_toml_free. */
struct vs_toml *vs_toml_parse(const char *text, size_t length, unsigned *line, char *why, size_t size);

void vs_toml_free(struct vs_toml *document); /* NULL does nothing */

#ifdef __cplusplus
}
#endif

#endif
