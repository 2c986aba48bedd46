/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries in a known call chain. INNER and ROOM differ between two that use the same addresses
 * one after the other: the same return address with another frame. */
#include "chain_victim.h"

#ifdef INNER

APART static void INNER(void (*f)(void *), void *arg)
{
    volatile char room[ROOM];
    room[0] = 0;
    IN_USE(room);
    f(arg);
    IN_USE(room);
}

__attribute__((visibility("default"))) void library_call(void (*f)(void *), void *arg);
void library_call(void (*f)(void *), void *arg)
{
    INNER(f, arg);
    NO_TAIL_CALL();
}

#else

__attribute__((visibility("default"))) void linked_call(void (*f)(void *), void *arg);
void linked_call(void (*f)(void *), void *arg)
{
    f(arg);
    NO_TAIL_CALL();
}

#endif
