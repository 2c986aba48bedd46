/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the commands that read traces. When memory is short, the command ends with one line on
 * standard error, so these functions never fail. Never in the preloaded library, the simulator, the
 * allocator or the ledger (tests/build/check_includes.py). Any thread. */
#ifndef VS_XALLOC_H
#define VS_XALLOC_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct vs_arena;
struct vs_map;

/* vs_xalloc_begin: the name in the line ("vramscope report"; not copied) and the exit status, which
 * are "vramscope" and 2 before. `run` sets the status of the program that it ran. */
void vs_xalloc_begin(const char *command, int status);

/* vs_out_of_memory: prints the line and ends the process. For memory that another library
 * allocates. */
_Noreturn void vs_out_of_memory(void);

/* Zeroed memory for *count* elements of *size* bytes; vs_xrealloc keeps what was there and zeroes
 * nothing. free() frees it. */
void *vs_xcalloc(size_t count, size_t size);
void *vs_xrealloc(void *old, size_t count, size_t size);
char *vs_xstrdup(const char *text);
char *vs_xstrndup(const char *text, size_t length);

/* vs_xvalid: *text* with U+FFFD for each byte that is not UTF-8, which free() frees; NULL if there is none. */
char *vs_xvalid(const char *text);

/* vs_xprintf: the formatted text; free() frees it. */
char *vs_xprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* vs_xstream: open_memstream. vs_xstream_end closes it; **text* is then complete. */
FILE *vs_xstream(char **text, size_t *bytes);
void vs_xstream_end(FILE *stream);

/* vs_xarena: vs_arena_alloc. vs_xarena_text: a copy of *text* in the arena; NULL for NULL.
 * vs_xarena_printf: the formatted text there. */
void *vs_xarena(struct vs_arena *arena, size_t bytes);
const char *vs_xarena_text(struct vs_arena *arena, const char *text);
const char *vs_xarena_printf(struct vs_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* vs_xmap_put: vs_map_put. vs_xmap_value: vs_map_add. vs_xmap_number: its value: numbers things in the order
 * in which they first appear. */
void vs_xmap_put(struct vs_map *map, uint64_t key, uint64_t value);
uint64_t *vs_xmap_value(struct vs_map *map, uint64_t key, uint64_t fresh);
static inline uint64_t vs_xmap_number(struct vs_map *map, uint64_t key, uint64_t fresh)
{
    return *vs_xmap_value(map, key, fresh);
}

#endif
