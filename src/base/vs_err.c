/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and texts of the error codes. */
#include "base/vs_err.h"

#include <stddef.h>

static const struct {
    const char *name, *text;
} table[] = {
    [VS_OK] = {"ok", "success"},
    [VS_ERR_ARG] = {"arg", "invalid argument"},
    [VS_ERR_NOMEM] = {"nomem", "out of host memory"},
    [VS_ERR_IO] = {"io", "input/output error"},
    [VS_ERR_FORMAT] = {"format", "not in the expected format"},
    [VS_ERR_CORRUPT] = {"corrupt", "damaged data"},
    [VS_ERR_VERSION] = {"version", "written by an incompatible version"},
    [VS_ERR_END] = {"end", "no more records"},
    [VS_ERR_NOT_FOUND] = {"not_found", "not found"},
    [VS_ERR_FOREIGN] = {"foreign", "not owned by vramscope"},
    [VS_ERR_STATE] = {"state", "not allowed in the current state"},
    [VS_ERR_DEVICE_OOM] = {"device_oom", "out of device memory"},
    [VS_ERR_DEVICE] = {"device", "device or driver failure"},
    [VS_ERR_UNSUPPORTED] = {"unsupported", "not supported here"},
    [VS_ERR_LIMIT] = {"limit", "a configured limit was reached"},
};

const char *vs_err_name(enum vs_err err)
{
    size_t i = (size_t)err;
    return i < sizeof table / sizeof *table ? table[i].name : "unknown";
}

const char *vs_err_text(enum vs_err err)
{
    size_t i = (size_t)err;
    return i < sizeof table / sizeof *table ? table[i].text : "unknown error";
}
