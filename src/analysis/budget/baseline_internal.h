/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a baseline keeps what. Private to this folder. */
#ifndef VS_BASELINE_INTERNAL_H
#define VS_BASELINE_INTERNAL_H

#include <json-c/json.h>

#include "analysis/budget/baseline.h"

#define VS_DEVICE_KEY_MAX 24

struct vs_baseline {
    struct json_object *root;
};

/* vs_baseline_key: the member of a device for *quantity*: "allocated", "copies h2d per step". *out*
 * has 64 bytes. Returns out. */
char *vs_baseline_key(const struct vs_quantity *quantity, char *out);

/* vs_baseline_member: the member *key* of type *type*, or NULL. */
struct json_object *vs_baseline_member(struct json_object *object, const char *key, enum json_type type);

/* vs_baseline_child: the member *key* that is an object, or NULL. */
static inline struct json_object *vs_baseline_child(struct json_object *object, const char *key)
{
    return vs_baseline_member(object, key, json_type_object);
}

/* VS_EACH_MEMBER: for each member *at* of *object*, if that is one: lh_entry_k(at), lh_entry_v(at).
 * json-c before 0.16 has no functions for the first and the next entry. */
#define VS_EACH_MEMBER(object, at) \
    for (struct lh_entry *at = vs_baseline_first(object); at; at = at->next)
static inline struct lh_entry *vs_baseline_first(const struct json_object *object)
{
    return json_object_is_type(object, json_type_object)
               ? json_object_get_object(object)->head : NULL;
}

/* vs_baseline_number: the member *key*; false without one and for numbers below 0. */
bool vs_baseline_number(struct json_object *object, const char *key, uint64_t *out);

/* vs_baseline_values: the object with a device's quantities, of the whole program or of a phase, or
 * NULL. */
struct json_object *vs_baseline_values(const struct vs_baseline *baseline, const char *process,
                                       const struct vs_quantity *quantity);

/* vs_baseline_object: the object below *object* with that key, made where there is none. */
struct json_object *vs_baseline_object(struct json_object *object, const char *key);

/* vs_baseline_put: sets a number. */
void vs_baseline_put(struct json_object *object, const char *key, uint64_t number);

/* vs_baseline_put_sites: the call sites of all quantities of *taken* that have some stored, into the
 * object of their process; *readings*: also of the device. Cost: reads each trace once. */
void vs_baseline_put_sites(struct json_object *process, const struct vs_taken *taken,
                           bool readings);

/* vs_baseline_process: the object of *process*, or NULL. */
struct json_object *vs_baseline_process(const struct vs_baseline *baseline, const char *process);

#endif
