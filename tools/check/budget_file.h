/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a budget file (TOML, docs/budgets.md) into a budget. Keys of the top level apply to the whole
 * program; each [[limit]] applies to its device, phase, test or process. */
#ifndef VS_BUDGET_FILE_H
#define VS_BUDGET_FILE_H

#include "analysis/budget/budget_key.h"

/* vs_budget_file_read: adds the limits and settings of the file at *path* to *budget*; a baseline is
 * relative to the file's folder. VS_ERR_ARG, with "FILE:LINE: the error; what to do" in *why*
 * (VS_BUDGET_WHY_MAX bytes); VS_ERR_NOMEM. */
enum vs_err vs_budget_file_read(struct vs_budget *budget, const char *path, char *why)
    VS_MUST_CHECK;

#endif
