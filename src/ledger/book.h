/* SPDX-License-Identifier: Apache-2.0
 *
 * The accounts of a process: each device, the host, and each device as a framework sees it; and the
 * account of a change. Of each device also the user's level (docs/internals/trace-format.md): the blocks of a
 * framework, and memory of the device that does not hold them. */
#ifndef VS_BOOK_H
#define VS_BOOK_H

#include "ledger/ledger.h"

#define VS_BOOK_DEVICES 64u
#define VS_BOOK_HOST VS_BOOK_DEVICES
#define VS_BOOK_ACCOUNTS (2u * VS_BOOK_DEVICES + 1u)

/* The user's level of a device. Kept from the first sign of a framework on; until then it is the
 * account of the device. */
struct vs_book_user {
    bool split;            /* there was such a sign */
    uint64_t holding;      /* live bytes of the device that hold the framework's blocks */
    uint64_t allocs, frees; /* of such memory */
    uint64_t peak;
};

struct vs_book {
    struct vs_ledger account[VS_BOOK_ACCOUNTS];
    bool split; /* of any device */
    struct vs_book_user user[VS_BOOK_DEVICES];
};

/* vs_book_has: whether sums are kept for the device of *change*. */
static inline bool vs_book_has(const struct vs_change *change)
{
    return change->device < VS_BOOK_DEVICES;
}

/* vs_book_index: the account of *change*, for which vs_book_has is true. */
static inline unsigned vs_book_index(const struct vs_change *change)
{
    if (change->level == VS_LEVEL_FRAMEWORK)
        return VS_BOOK_HOST + 1 + change->device;
    return vs_family_on_host(change->family) ? VS_BOOK_HOST : change->device;
}

/* vs_book_user_now, _peak: the bytes of *device* at the user's level, and the highest since the
 * peaks of its accounts were restarted. */
static inline uint64_t vs_book_user_now(const struct vs_book *book, uint32_t device)
{
    return book->account[device].now.allocated + book->account[VS_BOOK_HOST + 1 + device].now.allocated -
           book->user[device].holding;
}

static inline uint64_t vs_book_user_peak(const struct vs_book *book, uint32_t device)
{
    return book->user[device].split ? book->user[device].peak : book->account[device].peak.allocated;
}

/* vs_book_apply: vs_ledger_apply of a change of *book*, and of the user's level. Cost of that without a
 * framework: a load. The others are its slow paths. */
void vs_book_user_split(struct vs_book *book, uint32_t device);
void vs_book_user_holds(struct vs_book *book, uint32_t device, uint64_t allocs, uint64_t frees,
                        uint64_t bytes);
void vs_book_user_raise(struct vs_book *book, uint32_t device);

VS_ALWAYS_INLINE static inline unsigned vs_book_apply(struct vs_book *book,
                                                      const struct vs_change *change)
{
    if (!vs_book_has(change))
        return 0;
    if (change->level == VS_LEVEL_FRAMEWORK && __builtin_expect(!book->user[change->device].split, 0))
        vs_book_user_split(book, change->device);
    if (__builtin_expect(change->holds, 0)) /* by value: see vs_recorder_change */
        vs_book_user_holds(book, change->device, change->allocs, change->frees,
                           change->size - change->freed_size);
    unsigned rose = vs_ledger_apply(&book->account[vs_book_index(change)], change);
    if (change->allocs && __builtin_expect(book->split, 0))
        vs_book_user_raise(book, change->device);
    return rose;
}

/* vs_book_holds: a live allocation of *bytes*, entered without vs_change.holds, holds blocks of a
 * framework. */
void vs_book_holds(struct vs_book *book, uint32_t device, uint64_t bytes);

/* vs_book_restart_peaks: of *device*, at all levels; another thread may read them. */
void vs_book_restart_peaks(struct vs_book *book, uint32_t device);

#endif
