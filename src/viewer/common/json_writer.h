/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes JSON to a stream: it handles commas, escapes and indentation, the caller handles nesting. The
 * stream has all of it when the outermost value ends. Text is converted to valid UTF-8 (each invalid byte
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
    bool lines;  /* of an array that the caller began, at depth 1: each element on a line of its own */
    unsigned depth;
    bool used[VS_JSON_DEPTH_MAX]; /* the level has a member already */
    uint64_t flushed; /* bytes that the stream has, */
    size_t length;    /* and of *text*, which it does not have yet */
    char text[1024];
};

/* vs_json_document: a pretty document of *schema*: its object is begun, and vs_json_end_object ends it. */
struct vs_json vs_json_document(FILE *out, const char *schema);

/* For all functions: *key* is the member's name inside an object, NULL inside an array and for the
 * outermost value. Write errors show in ferror(out). */
void vs_json_begin_object(struct vs_json *json, const char *key);
/* vs_json_begin_object_if: unless *has*, null takes its place, and false is returned. */
bool vs_json_begin_object_if(struct vs_json *json, const char *key, bool has);
void vs_json_end_object(struct vs_json *json);
void vs_json_begin_array(struct vs_json *json, const char *key);
void vs_json_end_array(struct vs_json *json);
/* vs_json_next: the condition of a loop that writes an array of *count* elements: true for each *i* from 0, which
 * begins the array, to *count*, which ends it. vs_json_next_object: each element is an object, whose members the body
 * writes. Such a loop is never left early. */
bool vs_json_next(struct vs_json *json, const char *key, size_t i, size_t count);
bool vs_json_next_object(struct vs_json *json, const char *key, size_t i, size_t count);
void vs_json_string(struct vs_json *json, const char *key, const char *text); /* NULL: null */
void vs_json_uint(struct vs_json *json, const char *key, uint64_t value);
/* vs_json_known_uint: null unless *known*. */
void vs_json_known_uint(struct vs_json *json, const char *key, bool known, uint64_t value);
void vs_json_int(struct vs_json *json, const char *key, int64_t value);
void vs_json_bool(struct vs_json *json, const char *key, bool value);
/* vs_json_member: the comma and the key of a value that the caller writes to *out* itself. vs_json_flush: the stream has
 * everything written so far. */
void vs_json_member(struct vs_json *json, const char *key);
void vs_json_flush(struct vs_json *json);
/* vs_json_ratio: a number with six decimals; null if it is not finite. */
void vs_json_ratio(struct vs_json *json, const char *key, double value);

/* vs_json_members: several members at once, each one of VS_J_*.
 * vs_json_object: an object of them. vs_json_begin: the same, whose further members follow. */
#define vs_json_members(json, ...)                                                                 \
    vs_json_put_members(json, (const struct vs_json_item[]){__VA_ARGS__, {.key = NULL}})
#define vs_json_begin(json, name, ...)                                                             \
    (vs_json_begin_object(json, name), vs_json_members(json, __VA_ARGS__))
#define vs_json_object(json, name, ...)                                                            \
    vs_json_put_object(json, name, (const struct vs_json_item[]){__VA_ARGS__, {.key = NULL}})

/* vs_json_object_if: null unless *has*; the values are evaluated all the same. */
#define vs_json_object_if(json, name, has, ...)                                                    \
    vs_json_put_object(json, name, (has) ? (const struct vs_json_item[]){__VA_ARGS__, {.key = NULL}} : NULL)

#define VS_J_KEY(name) .key = name, .quoted = "\"" name "\":", .quoted_length = sizeof name + 2
/* A member, by its type; *name* is a literal. VS_J_KNOWN: a number, null unless *is_known*. Those with a
 * condition are left out unless it holds; their value is evaluated all the same. */
#define VS_J_UINT(name, of) VS_J_UINT_IF(true, name, of)
#define VS_J_INT(name, of) {VS_J_KEY(name), .type = VS_JSON_INT, .sint = (of)}
#define VS_J_BOOL(name, of) {VS_J_KEY(name), .type = VS_JSON_BOOL, .uint = (of)}
#define VS_J_TEXT(name, of) VS_J_TEXT_IF(true, name, of)
#define VS_J_RATIO(name, of) {VS_J_KEY(name), .type = VS_JSON_RATIO, .ratio = (of)}
#define VS_J_REAL(name, of) {VS_J_KEY(name), .type = VS_JSON_REAL, .ratio = (of)} /* nine digits */
#define VS_J_DIGITS(name, of) {VS_J_KEY(name), .type = VS_JSON_DIGITS, .uint = (of)} /* a number as text */
#define VS_J_US_IF(when, name, ns) /* as µs, with three decimals */                                \
    {VS_J_KEY(name), .type = (when) ? VS_JSON_US : VS_JSON_ABSENT, .uint = (ns)}
#define VS_J_TRIPLE(name, of) {VS_J_KEY(name), .type = VS_JSON_TRIPLE, .triple = (of)} /* an array */
#define VS_J_KNOWN(name, is_known, of)                                                             \
    {VS_J_KEY(name), .type = (is_known) ? VS_JSON_UINT : VS_JSON_NULL, .uint = (of)}
#define VS_J_KNOWN_INT(name, is_known, of)                                                         \
    {VS_J_KEY(name), .type = (is_known) ? VS_JSON_INT : VS_JSON_NULL, .sint = (of)}
#define VS_J_UINT_IF(when, name, of)                                                               \
    {VS_J_KEY(name), .type = (when) ? VS_JSON_UINT : VS_JSON_ABSENT, .uint = (of)}
#define VS_J_TEXT_IF(when, name, of)                                                               \
    {VS_J_KEY(name), .type = (when) ? VS_JSON_TEXT : VS_JSON_ABSENT, .text = (of)}

struct vs_json_item {
    const char *key; /* NULL: the end */
    const char *quoted; /* the same as in JSON */
    enum { VS_JSON_ABSENT, VS_JSON_UINT, VS_JSON_INT, VS_JSON_BOOL, VS_JSON_TEXT, VS_JSON_RATIO,
           VS_JSON_REAL, VS_JSON_DIGITS, VS_JSON_US, VS_JSON_TRIPLE, VS_JSON_NULL } type : 8;
    uint32_t quoted_length : 24;
    union {
        uint64_t uint; /* and bool, ns */
        int64_t sint;
        const char *text;
        double ratio;
        const uint64_t *triple;
    };
};
void vs_json_put_members(struct vs_json *json, const struct vs_json_item *members);
void vs_json_put_object(struct vs_json *json, const char *key, const struct vs_json_item *members);

/* vs_json_command: the text "*verb* PATH *options*", with PATH as a shell reads it. */
void vs_json_command(struct vs_json *json, const char *key, const char *verb, const char *path,
                     const char *options);

/* vs_json_text: *text* as a JSON string with its quotes. */
void vs_json_text(FILE *out, const char *text);

#endif
