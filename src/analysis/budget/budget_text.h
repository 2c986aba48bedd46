/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a whole file that a user may have written or edited: a budget file or a baseline. */
#ifndef VS_BUDGET_TEXT_H
#define VS_BUDGET_TEXT_H

#include <stddef.h>

#include "base/vs_err.h"

/* vs_budget_text_read: the contents of *path*, *length* bytes and a NUL; the caller frees *out*.
 * Returns VS_ERR_NOT_FOUND or VS_ERR_IO with errno, VS_ERR_LIMIT for more than *max* bytes. */
VS_MUST_CHECK enum vs_err vs_budget_text_read(const char *path, size_t max, char **out, size_t *length);

#endif
