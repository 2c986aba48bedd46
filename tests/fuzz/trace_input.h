/* SPDX-License-Identifier: Apache-2.0
 *
 * The input of every fuzzer that reads a trace: a byte of flags, a 32-bit length, that many bytes
 * of FILE.live, the rest is the file. The flags make the harness correct fields that a fuzzer would
 * practically never guess, so that the code after their checks is reached. */
#ifndef VS_FUZZ_TRACE_INPUT_H
#define VS_FUZZ_TRACE_INPUT_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_INPUT_RIGHT 1u  /* checksums, and the window's uuid */
#define TRACE_INPUT_ORDER 2u  /* event frames' sequence numbers; the last frame's length */
#define TRACE_INPUT_END 4u    /* a final index frame and a trailer after the last frame */
#define TRACE_INPUT_DIRECTORY 8u /* with END: the last frame of type 5 is the directory */
#define TRACE_INPUT_HEAD 5u   /* bytes before FILE.live */

struct trace_input {
    uint8_t *file, *live; /* live: NULL when there is none */
    size_t file_bytes, live_bytes;
    unsigned flags;
};

/* trace_input_make: returns 0 when *data* is too short. Free with trace_input_free. */
int trace_input_make(const uint8_t *data, size_t size, struct trace_input *out);
void trace_input_free(struct trace_input *input);

/* trace_input_budget: memory limit for reading it: 64 MiB, and 32 times its bytes. */
size_t trace_input_budget(const struct trace_input *input);

#endif
