/* SPDX-License-Identifier: Apache-2.0
 *
 * The C half of our dlsym and dlvsym; the entries are assembly (dlsym_entry.S), since
 * only a jump keeps the caller's return address for RTLD_NEXT. */
#ifndef VS_ROUTE_H
#define VS_ROUTE_H

/* Which of the exported functions was called; dlsym_entry.S has the numbers. */
enum vs_route_entry {
    VS_ROUTE_DLSYM = 0,
    VS_ROUTE_DLSYM_OLD = 1,
    VS_ROUTE_DLVSYM = 2,
    VS_ROUTE_DLVSYM_OLD = 3,
};

/* vs_route: decide one dlsym or dlvsym call of *caller*, its return address. Returns the
 * address to jump to with the caller's own first two arguments and *third, which holds
 * the caller's own; or NULL when *third is the answer. Any thread, at any time after
 * this library is mapped, constructors of others included. */
void *vs_route(void *handle, const char *name, void **third, enum vs_route_entry entry,
               const void *caller);

/* vs_route_symbol: dlsym itself, past our own. */
void *vs_route_symbol(void *handle, const char *name);

#endif
