/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The hooks are the sanitizer runtime's, found at link time if there is one.
 * Single-threaded, like the fuzzers. */
#include "fuzz/memory_budget.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

extern int __sanitizer_install_malloc_and_free_hooks(
    void (*malloc_hook)(const volatile void *, size_t), void (*free_hook)(const volatile void *))
    __attribute__((weak));
extern size_t __sanitizer_get_allocated_size(const volatile void *p) __attribute__((weak));

static bool counting;
static long long held, most;

static void on_malloc(const volatile void *p, size_t bytes)
{
    if (!counting || !p)
        return;
    held += (long long)bytes;
    if (held > most)
        most = held;
}

static void on_free(const volatile void *p)
{
    if (counting && p)
        held -= (long long)__sanitizer_get_allocated_size(p);
}

void memory_budget_begin(void)
{
    static bool installed;
    if (!installed && __sanitizer_install_malloc_and_free_hooks && __sanitizer_get_allocated_size)
        __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
    installed = true;
    held = most = 0;
    counting = true;
}

void memory_budget_check(size_t bytes, int balanced)
{
    counting = false;
    if (most > (long long)bytes) {
        fprintf(stderr, "memory: %lld bytes taken at once, %zu allowed\n", most, bytes);
        abort();
    }
    if (balanced && held > 0) {
        fprintf(stderr, "memory: %lld bytes not given back\n", held);
        abort();
    }
}
