/* SPDX-License-Identifier: Apache-2.0
 *
 * The devices of the simulated GPU, as its driver knows them: it is loaded and asked, so that the
 * command has no list of its own. */
#ifndef VS_SIMULATED_H
#define VS_SIMULATED_H

#include <stdint.h>

#include "base/vs_err.h"

#define VS_SIMULATED_WHY_MAX 4352

/* vs_simulated_check: whether *spec* ("h100-80g,devices=2") describes a device. Otherwise *why*
 * (VS_SIMULATED_WHY_MAX bytes) receives a sentence: VS_ERR_ARG with the accepted values,
 * VS_ERR_NOT_FOUND when this installation has no simulated GPU or it cannot be loaded. */
enum vs_err vs_simulated_check(const char *spec, char *why) VS_MUST_CHECK;

/* vs_simulated_memory: the bytes of a device that *spec* describes: all of it, and the part that a
 * program cannot use (its context, other processes). *why* and errors as of vs_simulated_check. */
enum vs_err vs_simulated_memory(const char *spec, uint64_t *total_bytes, uint64_t *taken_bytes,
                                char *why) VS_MUST_CHECK;

/* vs_simulated_names: writes the names of the devices, "t4-16g, rtx4090-24g", to *names*
 * (VS_SIMULATED_WHY_MAX bytes); why there are none where the driver cannot be asked. */
void vs_simulated_names(char *names);

#endif
