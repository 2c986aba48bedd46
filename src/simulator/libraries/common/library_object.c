/* SPDX-License-Identifier: Apache-2.0
 *
 * The live handles and descriptors of one library, by address: a handle that was destroyed, or
 * never created, is recognised without reading through it. */
#include <pthread.h>
#include <stdlib.h>

#include "base/vs_map.h"
#include "simulator/libraries/common/vs_library_base.h"

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct vs_map kinds; /* address to kind; guarded by mu */

void *vs_library_new(int kind, size_t bytes)
{
    void *object = calloc(1, bytes ? bytes : 1);
    if (!object || vs_library_adopt(object, kind))
        return object;
    free(object);
    return NULL;
}

bool vs_library_adopt(const void *object, int kind)
{
    pthread_mutex_lock(&mu);
    enum vs_err err = vs_map_put(&kinds, (uintptr_t)object, (uint64_t)kind);
    pthread_mutex_unlock(&mu);
    return !err;
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
