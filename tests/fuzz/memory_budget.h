/* SPDX-License-Identifier: Apache-2.0
 *
 * What code under a fuzzer may take from the heap, counted by the sanitizer's hooks
 * (nothing is counted in a build without them). Wrong bytes must never cost more than
 * what is promised: memory_budget_check aborts then, as any other finding does. */
#ifndef VS_FUZZ_MEMORY_BUDGET_H
#define VS_FUZZ_MEMORY_BUDGET_H

#include <stddef.h>

/* memory_budget_begin: count from here on. */
void memory_budget_begin(void);
/* memory_budget_check: abort when at any time since begin more than *bytes* were taken,
 * and with *balanced* when not everything was given back. */
void memory_budget_check(size_t bytes, int balanced);

#endif
