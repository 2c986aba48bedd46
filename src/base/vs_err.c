/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of the error codes. */
#include "base/vs_err.h"

#include <stddef.h>

static const char *const texts[] = {
    [VS_OK] = "success",
    [VS_ERR_ARG] = "invalid argument",
    [VS_ERR_NOMEM] = "out of host memory",
    [VS_ERR_IO] = "input/output error",
    [VS_ERR_FORMAT] = "not in the expected format",
    [VS_ERR_CORRUPT] = "damaged data",
    [VS_ERR_VERSION] = "written by an incompatible version",
    [VS_ERR_END] = "no more records",
    [VS_ERR_NOT_FOUND] = "not found",
    [VS_ERR_FOREIGN] = "not owned by vramscope",
    [VS_ERR_STATE] = "not allowed in the current state",
    [VS_ERR_DEVICE_OOM] = "out of device memory",
    [VS_ERR_DEVICE] = "device or driver failure",
    [VS_ERR_UNSUPPORTED] = "not supported here",
    [VS_ERR_LIMIT] = "a configured limit was reached",
};

const char *vs_err_text(enum vs_err err)
{
    size_t i = (size_t)err;
    return i < sizeof texts / sizeof *texts ? texts[i] : "unknown error";
}
