/* SPDX-License-Identifier: Apache-2.0
 *
 * The less frequent operations on the accounts of a process; the frequent ones are in the header. */
#include "ledger/book.h"

/* From here on the levels differ. *peak*: the highest so far. */
static void split(struct vs_book *book, uint32_t device, uint64_t peak)
{
    book->user[device].split = book->split = true;
    book->user[device].peak = peak;
}

void vs_book_user_split(struct vs_book *book, uint32_t device)
{
    split(book, device, book->account[device].peak.allocated);
}

void vs_book_user_holds(struct vs_book *book, uint32_t device, uint64_t allocs, uint64_t frees,
                        uint64_t bytes)
{
    struct vs_book_user *user = &book->user[device];
    if (!user->split)
        vs_book_user_split(book, device);
    user->holding += bytes;
    user->allocs += allocs;
    user->frees += frees;
}

void vs_book_user_raise(struct vs_book *book, uint32_t device)
{
    if (book->user[device].split)
        vs_sum_raise(&book->user[device].peak, vs_book_user_now(book, device));
}

void vs_book_holds(struct vs_book *book, uint32_t device, uint64_t bytes)
{
    struct vs_book_user *user = &book->user[device];
    const struct vs_ledger *account = &book->account[device];
    user->holding += bytes;
    user->allocs++;
    bool earlier = account->peak.allocated > account->now.allocated; /* than these bytes */
    if (!user->split)
        split(book, device, earlier ? account->peak.allocated : vs_book_user_now(book, device));
}

void vs_book_restart_peaks(struct vs_book *book, uint32_t device)
{
    vs_ledger_restart_peaks(&book->account[device]);
    vs_ledger_restart_peaks(&book->account[VS_BOOK_HOST + 1 + device]);
    book->user[device].peak = vs_book_user_now(book, device);
}
