/* SPDX-License-Identifier: Apache-2.0
 *
 * The C half of our dlsym and dlvsym; the entries are assembly (dlsym_entry.S), since
 * only a jump keeps the caller's return address for RTLD_NEXT. */
#ifndef VS_ROUTE_H
#define VS_ROUTE_H

/* The exported function that was called; dlsym_entry.S uses the numbers. */
enum vs_route_entry {
    VS_ROUTE_DLSYM = 0,
    VS_ROUTE_DLSYM_OLD = 1,
    VS_ROUTE_DLVSYM = 2,
    VS_ROUTE_DLVSYM_OLD = 3,
};

/* vs_route: decides one dlsym or dlvsym call of *caller*, its return address. Returns the address
 * to jump to with the caller's own first two arguments and *third, which holds the caller's own; or
 * NULL if *third is the result. Any thread, at any time after this library is mapped, including
 * constructors of other libraries. */
void *vs_route(void *handle, const char *name, void **third, enum vs_route_entry entry,
               const void *caller);

/* vs_route_symbol: dlsym, bypassing our own. */
void *vs_route_symbol(void *handle, const char *name);

#endif
