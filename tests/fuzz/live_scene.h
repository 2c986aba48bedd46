/* SPDX-License-Identifier: Apache-2.0
 *
 * A recorder that does anything: FILE and FILE.live on disk, of a fuzzer's input (trace_input.h), and
 * a script, the last LIVE_SCRIPT_BYTES bytes of the input's FILE.live, by which they change while
 * they are read: between two readings, or in the middle of one (executables that use it are linked
 * with --wrap=pread). A lock on FILE stands for the recording process. One scene at a time. */
#ifndef VS_FUZZ_LIVE_SCENE_H
#define VS_FUZZ_LIVE_SCENE_H

#include <stdbool.h>

#include "fuzz/trace_input.h"

#define LIVE_SCRIPT_BYTES 256u
#define LIVE_STEP_BYTES 4u

/* live_scene_open: FILE with the bytes that the script's first step says, and all of FILE.live.
 * Returns false when the input is too short. */
bool live_scene_open(const struct trace_input *input);
const char *live_scene_path(void);

/* live_scene_step: the next step of the script; false at its end. *poll* receives whether the files
 * are read before the step after it. */
bool live_scene_step(bool *poll);

/* live_scene_end: the recording process ends. live_scene_close: removes the files. */
void live_scene_end(void);
void live_scene_close(void);

#endif
