/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the trace of an RMM log: rmm::mr::logging_resource_adaptor writes one line for each
 * allocation and free, "Thread,Time,Action,Pointer,Size,Stream". Private to src/analysis/import. */
#ifndef VS_RMM_LOG_H
#define VS_RMM_LOG_H

#include "analysis/import/import.h"

#define VS_RMM_HEADER "Thread,Time,Action,Pointer,Size,Stream"

/* vs_rmm_log: reads *in*, from its header on, and writes its trace to *out*. Lines that are not
 * understood are counted in *result*. Errors as vs_import. */
enum vs_err vs_rmm_log(FILE *in, FILE *out, const char *name, struct vs_import_result *result,
                       char *why) VS_MUST_CHECK;

#endif
