/* SPDX-License-Identifier: Apache-2.0
 *
 * Completes the parts of a file that have a checksum (docs/internals/trace-format.md §2): header, frames and
 * trailer. All writers of traces use it. No state; callable where malloc is not. */
#ifndef VS_FRAME_SEAL_H
#define VS_FRAME_SEAL_H

#include "trace/format/format.h"

/* vs_header_seal: sets the checksum of the file's header. */
void vs_header_seal(struct vs_file_header *header);

/* vs_frame_seal: sets sync word, header bytes and checksum of *h*, whose other fields are set;
 * *extension*: what follows the header, may be NULL; *payload*: h->stored_bytes, as in the file. */
void vs_frame_seal(struct vs_frame_header *h, const struct vs_index_extension *extension, const void *payload);

/* vs_trailer_seal: sets the checksum of the trailer. */
void vs_trailer_seal(struct vs_trailer *trailer);

#endif
