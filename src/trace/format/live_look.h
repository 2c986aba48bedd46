/* SPDX-License-Identifier: Apache-2.0
 *
 * What a FILE.live holds, for who is about to put another in its place. */
#ifndef VS_LIVE_LOOK_H
#define VS_LIVE_LOOK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum vs_live_look {
    VS_LIVE_NONE,  /* there is none */
    VS_LIVE_EMPTY, /* nothing was ever recorded into it */
    VS_LIVE_HOLDS, /* events, perhaps the only copy of them */
    VS_LIVE_OTHER, /* this is no live window, or cannot be read */
};

/* vs_live_look: at *path*, a FILE.live; *uuid* is of the trace it belongs to, written for
 * VS_LIVE_HOLDS alone. Opens and closes a descriptor; no malloc. */
enum vs_live_look vs_live_look(const char *path, uint8_t uuid[16]);

/* vs_live_set_aside: rename the FILE.live at *path*, of the trace *uuid*, to *kept*: its name
 * with the first bytes of *uuid* behind it. false when that fails or something is there. */
bool vs_live_set_aside(const char *path, const uint8_t uuid[16], char kept[PATH_MAX]);

#endif
