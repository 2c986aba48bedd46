/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes JSON directly to a stream, never held in memory: it handles commas, escapes and
 * indentation, the caller handles nesting. Text is converted to valid UTF-8 (each invalid byte
 * becomes U+FFFD). Not thread-safe. */
#ifndef VS_JSON_WRITER_H
#define VS_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define VS_JSON_DEPTH_MAX 32

struct vs_json {
    FILE *out;
    bool pretty; /* one member per line, two spaces a level */
    bool brief;  /* of a report: call sites without their frames */
    unsigned depth;
    bool used[VS_JSON_DEPTH_MAX]; /* the level has a member already */
};

/* For all functions: *key* is the member's name inside an object, NULL inside an array and for the
 * outermost value. Write errors show in ferror(out). */
void vs_json_begin_object(struct vs_json *json, const char *key);
void vs_json_end_object(struct vs_json *json);
void vs_json_begin_array(struct vs_json *json, const char *key);
void vs_json_end_array(struct vs_json *json);
void vs_json_string(struct vs_json *json, const char *key, const char *text); /* NULL: null */
void vs_json_uint(struct vs_json *json, const char *key, uint64_t value);
/* vs_json_known_uint: null unless *known*. */
void vs_json_known_uint(struct vs_json *json, const char *key, bool known, uint64_t value);
void vs_json_int(struct vs_json *json, const char *key, int64_t value);
void vs_json_bool(struct vs_json *json, const char *key, bool value);
/* vs_json_member: the comma and the key of a value that the caller writes to *out* itself. */
void vs_json_member(struct vs_json *json, const char *key);
/* vs_json_ratio: a number with six decimals; null if it is not finite. */
void vs_json_ratio(struct vs_json *json, const char *key, double value);

/* vs_json_command: the text "*verb* PATH *options*", with PATH as a shell reads it. */
void vs_json_command(struct vs_json *json, const char *key, const char *verb, const char *path,
                     const char *options);

/* vs_json_text: *text* as a JSON string with its quotes. */
void vs_json_text(FILE *out, const char *text);

#endif
