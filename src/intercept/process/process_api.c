/* SPDX-License-Identifier: Apache-2.0
 *
 * The ids of entry points' names in the trace, one per name, found without a lock by the address of
 * the text. */
#include <stdatomic.h>
#include <stddef.h>

#include "intercept/process/process.h"

#define API_SLOTS 64

struct api_slot {
    _Atomic(const char *) name; /* release pairs with acquire: id was stored before */
    _Atomic uint64_t id;
};
static struct api_slot api_slots[API_SLOTS];

/* A name that is not in its slot. */
static __attribute__((noinline)) uint64_t find_api(struct api_slot *slot, const char *name)
{
    uint64_t id = vs_process_string(name);
    /* a slot never changes its name, so that name and id always match */
    if (atomic_load_explicit(&slot->name, memory_order_relaxed) == NULL) {
        static atomic_flag filling = ATOMIC_FLAG_INIT;
        if (!atomic_flag_test_and_set_explicit(&filling, memory_order_acquire)) {
            if (atomic_load_explicit(&slot->name, memory_order_relaxed) == NULL) {
                atomic_store_explicit(&slot->id, id, memory_order_relaxed);
                atomic_store_explicit(&slot->name, name, memory_order_release);
            }
            atomic_flag_clear_explicit(&filling, memory_order_release);
        }
    }
    return id;
}

inline uint64_t vs_process_api(const char *name) /* inline: see vs_recorder_acquire */
{
    /* the names are literals: their addresses identify them */
    struct api_slot *slot = &api_slots[((uintptr_t)name >> 3 ^ (uintptr_t)name >> 9) % API_SLOTS];
    if (atomic_load_explicit(&slot->name, memory_order_acquire) == name)
        return atomic_load_explicit(&slot->id, memory_order_relaxed);
    return find_api(slot, name);
}
