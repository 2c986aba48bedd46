/* SPDX-License-Identifier: Apache-2.0
 *
 * The installation: its parts, relative to the command's own path, so that a build tree,
 * /usr/local and a copied folder all work; and the devices of the simulated GPU as its driver
 * knows them, which is loaded and asked. */
#ifndef VS_PATHS_H
#define VS_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

/* vs_path_preload: writes the absolute path of libvramscope.so to *out* (*max* bytes).
 * VS_ERR_NOT_FOUND when this installation has none (built without CUDA headers). */
enum vs_err vs_path_preload(char *out, size_t max) VS_MUST_CHECK;

/* vs_path_simulator: the folder with the simulated GPU's libraries. */
enum vs_err vs_path_simulator(char *out, size_t max) VS_MUST_CHECK;

/* vs_path_audit: the library that makes a program's loader prefer that folder. */
enum vs_err vs_path_audit(char *out, size_t max) VS_MUST_CHECK;

/* vs_path_python_startup: the folder whose sitecustomize.py starts vramscope's Python part. */
enum vs_err vs_path_python_startup(char *out, size_t max) VS_MUST_CHECK;

/* --- simulated.c --- */

#define VS_SIMULATED_WHY_MAX 4352
#define VS_SIMULATED_MAX 64 /* devices */

/* vs_simulated_check: whether *spec* ("h100-80g,devices=2") describes a device. Otherwise *why*
 * (VS_SIMULATED_WHY_MAX bytes) receives a sentence: VS_ERR_ARG with the accepted values,
 * VS_ERR_NOT_FOUND when this installation has no simulated GPU or it cannot be loaded. */
enum vs_err vs_simulated_check(const char *spec, char *why) VS_MUST_CHECK;

/* vs_simulated_memory: the bytes of a device that *spec* describes: all of it, and the part that a
 * program cannot use (its context, other processes). *why* and errors as of vs_simulated_check. */
enum vs_err vs_simulated_memory(const char *spec, uint64_t *total_bytes, uint64_t *taken_bytes,
                                char *why) VS_MUST_CHECK;

/* vs_simulated_names: writes the names of the devices, "t4-16g, rtx4090-24g", to *names*
 * (VS_SIMULATED_WHY_MAX bytes); why there are none where the driver cannot be asked. The last one,
 * "custom", stands for a description.
 * vs_simulated_split: cuts them apart, into *list* (VS_SIMULATED_MAX); returns their number. */
void vs_simulated_names(char *names);
size_t vs_simulated_split(char *names, const char **list);

struct vs_simulated_gpu {
    const char *name;
    int sm, sms; /* compute capability (89), multiprocessors */
    uint64_t total_bytes, board_bytes; /* as cudaMemGetInfo and as NVML report it */
    uint64_t context_bytes;
    const char *context_kind, *context_source; /* measured, assumed, rule or given; by whom */
    unsigned memory_gbps;
    char line[768]; /* owns the strings */
};

/* vs_simulated_describe: the device of *spec*; errors as of vs_simulated_check. */
enum vs_err vs_simulated_describe(const char *spec, struct vs_simulated_gpu *gpu, char *why) VS_MUST_CHECK;

#endif
