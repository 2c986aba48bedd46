/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the new file that are copied: its header, and frames of the old trace as they are. */
#include <errno.h>
#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "trace/format/frame_seal.h"
#include "trace/read/rewrite_internal.h"

#define ADDED_SINCE_MINOR 3u /* minor version of version 1 that introduced the added frames */
#define COPY_BYTES ((size_t)1 << 20)

enum vs_err vs_rewrite_copy(struct vs_rewrite *w, uint64_t from, uint64_t to)
{
    unsigned char *part = vs_xcalloc(1, COPY_BYTES);
    while (from < to && !w->out.err) {
        size_t want = to - from < COPY_BYTES ? (size_t)(to - from) : COPY_BYTES;
        size_t got = vs_source_read(&w->reader->file, from, part, want);
        if (!got) {
            errno = EIO;
            vs_frame_output_fail(&w->out, VS_ERR_IO);
        }
        vs_frame_output_bytes(&w->out, part, got);
        from += got;
    }
    free(part);
    return w->out.err;
}

enum vs_err vs_rewrite_put_header(struct vs_rewrite *w)
{
    struct vs_file_header header = w->reader->header;
    if (header.major == 1 && header.minor < ADDED_SINCE_MINOR)
        header.minor = ADDED_SINCE_MINOR;
    vs_header_seal(&header);
    vs_frame_output_bytes(&w->out, &header, sizeof header);
    return vs_rewrite_copy(w, sizeof header, header.header_bytes);
}
