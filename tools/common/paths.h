/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the parts of an installation relative to the command's own path, so that a build tree,
 * /usr/local and a copied folder all work. */
#ifndef VS_PATHS_H
#define VS_PATHS_H

#include <stddef.h>

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

#endif
