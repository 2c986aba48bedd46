/* SPDX-License-Identifier: Apache-2.0
 *
 * The accounts of a process: each device, the host, and each device as a framework sees it; and the
 * account of a change. */
#ifndef VS_BOOK_H
#define VS_BOOK_H

#include "ledger/ledger.h"

#define VS_BOOK_DEVICES 64u
#define VS_BOOK_HOST VS_BOOK_DEVICES
#define VS_BOOK_ACCOUNTS (2u * VS_BOOK_DEVICES + 1u)

struct vs_book {
    struct vs_ledger account[VS_BOOK_ACCOUNTS];
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

VS_ALWAYS_INLINE static inline unsigned vs_book_apply(struct vs_book *book,
                                                      const struct vs_change *change)
{
    return vs_book_has(change) ? vs_ledger_apply(&book->account[vs_book_index(change)], change) : 0;
}

#endif
