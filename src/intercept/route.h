/* SPDX-License-Identifier: Apache-2.0
 *
 * The C half of our dlsym; the entry itself is assembly (dlsym_entry.S), since
 * only a jump keeps the caller's return address for RTLD_NEXT. */
#ifndef VS_ROUTE_H
#define VS_ROUTE_H

/* vs_route_dlsym: decide one dlsym call. Returns the address to jump to with the
 * caller's own arguments, or NULL when *result holds the answer. Any thread, at
 * any time after this library is mapped, constructors of others included. */
void *vs_route_dlsym(void *handle, const char *name, void **result);

/* vs_route_symbol: dlsym itself, past our own. */
void *vs_route_symbol(void *handle, const char *name);

#endif
