/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of a JSON document by their path, "/devices/0/peak/bytes", where the test fails if there is
 * none; and the facts that it states, as text. */
#ifndef VS_JSON_TEST_H
#define VS_JSON_TEST_H

#include <stdbool.h>
#include <stdio.h>

#include <json-c/json.h>
#include <json-c/json_pointer.h>

#include "base/vs_size.h"
#include "support/cmocka_test.h"

static inline struct json_object *json_at(struct json_object *root, const char *path)
{
    struct json_object *value = NULL;
    if (json_pointer_get(root, path, &value) != 0)
        fail_msg("there is no %s in %s", path, json_object_to_json_string(root));
    return value;
}

static inline int64_t json_number(struct json_object *root, const char *path)
{
    return json_object_get_int64(json_at(root, path));
}

static inline const char *json_text(struct json_object *root, const char *path)
{
    return json_object_get_string(json_at(root, path));
}

static inline size_t json_length(struct json_object *root, const char *path)
{
    return json_object_array_length(json_at(root, path));
}

/* Whether *object* has the members of *text*, NAME=VALUE&NAME=VALUE. */
static inline bool json_has(struct json_object *object, const char *text)
{
    char copy[160], *rest = copy, *member;
    snprintf(copy, sizeof copy, "%s", text);
    while ((member = strsep(&rest, "&")) != NULL) {
        char *name = strsep(&member, "=");
        const char *value = json_object_get_string(json_object_object_get(object, name));
        if (!value || strcmp(value, member) != 0)
            return false;
    }
    return true;
}

/* The value at *path*, whose steps are NAME and, in an array, INDEX, last, or as in json_has;
 * NULL: none. */
static inline struct json_object *json_follow(struct json_object *at, const char *path)
{
    char step[160];
    for (size_t size; at && *path; path += size + (path[size] == '/')) {
        size = strcspn(path, "/");
        snprintf(step, sizeof step, "%.*s", (int)size, path);
        if (!json_object_is_type(at, json_type_array)) {
            at = json_object_object_get(at, step);
        } else if (!strchr(step, '=')) {
            size_t last = json_object_array_length(at) - 1;
            at = json_object_array_get_idx(at, *step == 'l' ? last : strtoul(step, NULL, 10));
        } else {
            struct json_object *array = at;
            at = NULL;
            for (size_t i = 0; !at && i < json_object_array_length(array); i++)
                if (json_has(json_object_array_get_idx(array, i), step))
                    at = json_object_array_get_idx(array, i);
        }
    }
    return at;
}

/* 20M, -5M, 20M-512, 20M+512 */
static inline int64_t json_size(const char *text)
{
    char first[32];
    uint64_t size;
    bool negative = *text == '-';
    size_t length = strcspn(text += negative, "+-");
    snprintf(first, sizeof first, "%.*s", (int)length, text);
    if (vs_size_parse(first, &size))
        fail_msg("%s is no number", text);
    int64_t more = text[length] ? json_size(text + length + 1) : 0;
    return (negative ? -(int64_t)size : (int64_t)size) + (text[length] == '-' ? -more : more);
}

static inline bool json_is(struct json_object *value, const char *wanted)
{
    if (strncmp(wanted, "not ", 4) == 0)
        return value && !json_is(value, wanted + 4);
    bool part = strncmp(wanted, "has ", 4) == 0;
    switch (json_object_get_type(value)) {
    case json_type_null:
        return strcmp(wanted, "none") == 0;
    case json_type_boolean:
        return strcmp(wanted, json_object_get_boolean(value) ? "true" : "false") == 0;
    case json_type_int:
        return json_object_get_int64(value) == json_size(wanted);
    case json_type_double: {
        char *end;
        double number = strtod(wanted, &end);
        if (end == wanted || *end)
            fail_msg("%s is no number", wanted);
        return json_object_get_double(value) == number;
    }
    case json_type_string:
        return part ? strstr(json_object_get_string(value), wanted + 4) != NULL
                    : strcmp(json_object_get_string(value), wanted) == 0;
    default:
        break;
    }
    if (!json_object_is_type(value, json_type_array) || strncmp(wanted, "none", 4) == 0)
        return false;
    size_t count = json_object_array_length(value);
    if (strncmp(wanted, "count ", 6) == 0)
        return count == strtoul(wanted + 6, NULL, 10);
    if (!part && strncmp(wanted, "is ", 3) != 0)
        fail_msg("of an array: is, has, count or none, not: %s", wanted);
    for (size_t i = 0; i < count; i++)
        if (json_is(json_object_array_get_idx(value, i), part ? wanted : wanted + 3))
            return true;
    return false;
}

/* json_expect: the facts of *text*, separated by "; ", of the document *root*. A PATH begins at *from*,
 * or with a "/" at *root*:
 *
 *     PATH VALUE              a size, true, false, or the text; none: nothing or null
 *     PATH has TEXT           a text, or one of an array, with TEXT in it
 *     PATH is TEXT | PATH count N    of an array: one is TEXT; its length
 *     PATH not ...            none of these, of something that is there
 *
 * ";;" is a ";" of the text, "~" a blank in the path. */
static inline void json_expect(struct json_object *root, struct json_object *from, const char *text)
{
    while (*(text += strspn(text, "; "))) {
        char path[160], wanted[400];
        size_t length = strcspn(text, " ");
        snprintf(path, sizeof path, "%.*s", (int)length, text);
        for (char *blank = path; (blank = strchr(blank, '~')) != NULL;)
            *blank = ' ';
        text += length + 1;
        for (length = 0; *text && (*text != ';' || text[1] == ';'); text++) {
            assert_true(length + 1 < sizeof wanted);
            wanted[length++] = *text;
            text += *text == ';';
        }
        wanted[length] = 0;
        struct json_object *value = *path == '/' ? json_follow(root, path + 1) : json_follow(from, path);
        if (!json_is(value, wanted))
            fail_msg("%s is not: %s; it is %s", path, wanted, json_object_to_json_string(value));
    }
}

#endif
