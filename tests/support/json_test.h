/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of a JSON document by their path: "/devices/0/peak/bytes". The test fails where there is
 * none. */
#ifndef VS_JSON_TEST_H
#define VS_JSON_TEST_H

#include <json-c/json.h>
#include <json-c/json_pointer.h>

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

#endif
