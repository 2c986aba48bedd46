/* SPDX-License-Identifier: Apache-2.0
 *
 * Examines an existing FILE.live before another recording replaces it. */
#ifndef VS_LIVE_LOOK_H
#define VS_LIVE_LOOK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum vs_live_look {
    VS_LIVE_NONE,  /* the file does not exist */
    VS_LIVE_EMPTY, /* the file has no events */
    VS_LIVE_HOLDS, /* the file has events, perhaps their only copy */
    VS_LIVE_OTHER, /* not a live window file, or not readable */
};

/* vs_live_look: examines the FILE.live at *path*. For VS_LIVE_HOLDS, *uuid* receives the uuid of
 * the trace that it belongs to; otherwise it is not written. Opens and closes a descriptor; calls
 * no malloc. */
enum vs_live_look vs_live_look(const char *path, uint8_t uuid[16]);

/* vs_live_set_aside: renames the FILE.live at *path*, of the trace *uuid*, to *kept*: the same name
 * followed by the first bytes of *uuid*. Returns false when the rename fails or that name
 * exists. */
bool vs_live_set_aside(const char *path, const uint8_t uuid[16], char kept[PATH_MAX]);

#endif
