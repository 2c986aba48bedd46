/* SPDX-License-Identifier: Apache-2.0
 *
 * The live handles and descriptors of one library, by address: a handle that was destroyed, or
 * never created, is recognised without reading through it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_map.h"
#include "simulator/libraries/common/vs_library_base.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct vs_map kinds; /* address to kind; guarded by mu */

void *vs_library_new(int kind, size_t bytes)
{
    void *object = vs_sim_need(calloc(1, bytes ? bytes : 1));
    vs_library_adopt(object, kind);
    return object;
}

void vs_library_adopt(const void *object, int kind)
{
    pthread_mutex_lock(&mu);
    enum vs_err err = vs_map_put(&kinds, (uintptr_t)object, (uint64_t)kind);
    vs_sim_need(err ? NULL : &kinds);
    pthread_mutex_unlock(&mu);
}

void *vs_library_object(const void *handle, int kind)
{
    if (!handle)
        return NULL;
    pthread_mutex_lock(&mu);
    uint64_t *found = vs_map_get(&kinds, (uintptr_t)handle);
    bool live = found && *found == (uint64_t)kind;
    pthread_mutex_unlock(&mu);
    return live ? (void *)handle : NULL;
}

bool vs_library_forget(const void *handle, int kind)
{
    if (!handle)
        return false;
    pthread_mutex_lock(&mu);
    uint64_t *found = vs_map_get(&kinds, (uintptr_t)handle);
    bool live = found && *found == (uint64_t)kind;
    if (live)
        vs_map_remove(&kinds, (uintptr_t)handle, NULL);
    pthread_mutex_unlock(&mu);
    return live;
}

bool vs_library_delete(const void *handle, int kind)
{
    bool live = vs_library_forget(handle, kind);
    if (live)
        free((void *)handle);
    return live;
}

/* ---- rows ---- */

#define HANDLE 1

static int absent(const void *object, int kind)
{
    return vs_library_object(object, kind) ? 0 : kind == HANDLE ? vs_library.no_handle : vs_library.no_object;
}

int vs_library_make(void *to, const struct vs_library_access *a)
{
    if (!to)
        return vs_library.wrong;
    if (a->kind == HANDLE && !vs_library_driver())
        return vs_library.no_handle;
    void *object = vs_library_new(a->kind, a->bytes);
    memcpy(to, &object, sizeof object);
    return 0;
}

int vs_library_destroy(void *object, const struct vs_library_access *a)
{
    int e = absent(object, a->kind);
    vs_library_delete(object, a->kind);
    return e;
}

int vs_library_set(void *object, const struct vs_library_access *a)
{
    int e = absent(object, a->kind);
    if (!e && !a->bad)
        memcpy((char *)object + a->at, a->from, a->bytes);
    return e ? e : a->bad ? vs_library.wrong : 0;
}

int vs_library_get(const void *object, const struct vs_library_access *a)
{
    int e = absent(object, a->kind);
    if (!e && a->to)
        memcpy(a->to, (const char *)object + a->at, a->bytes);
    return e ? e : a->to ? 0 : vs_library.wrong;
}
