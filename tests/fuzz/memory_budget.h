/* SPDX-License-Identifier: Apache-2.0
 *
 * A limit of the heap memory that fuzzed code may allocate, counted by the sanitizer's hooks
 * (builds without them count nothing). Invalid bytes must never cost more than documented:
 * memory_budget_check aborts then, like any other finding. */
#ifndef VS_FUZZ_MEMORY_BUDGET_H
#define VS_FUZZ_MEMORY_BUDGET_H

#include <stddef.h>

/* memory_budget_begin: starts counting. */
void memory_budget_begin(void);
/* memory_budget_check: aborts when at any time since begin more than *bytes* were allocated, and
 * with *balanced* when not everything was freed. */
void memory_budget_check(size_t bytes, int balanced);

#endif
