/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/import/pickle.h"
#include "analysis/import/rmm_log.h"
#include "analysis/import/snapshot.h"
#include "analysis/import/snapshot_trace.h"
#include "base/reading/vs_xalloc.h"

static enum vs_err import_snapshot(FILE *in, FILE *out, const char *name,
                                   struct vs_import_result *result, char *why)
{
    struct vs_pickle pickle;
    char reason[VS_PICKLE_WHY_MAX] = "";
    struct vs_snapshot *snapshot = vs_xcalloc(1, sizeof *snapshot);
    enum vs_err err = vs_pickle_read(in, &pickle, reason);
    result->bytes_read = pickle.bytes;
    if (!err)
        err = vs_snapshot_take(&pickle.root, snapshot, reason);
    snprintf(why, VS_IMPORT_WHY_MAX, "%s", reason);
    if (!err)
        err = vs_snapshot_trace(snapshot, out, name, result, why);
    int saved_errno = errno;
    vs_snapshot_free(snapshot);
    free(snapshot);
    vs_pickle_free(&pickle);
    errno = saved_errno;
    return err;
}

/* The format by the first byte, which stays unread. */
static enum vs_import_format guess(FILE *in, int *first)
{
    *first = getc(in);
    if (*first != EOF)
        ungetc(*first, in);
    return *first == 0x80 ? VS_IMPORT_TORCH_SNAPSHOT
           : *first == VS_RMM_HEADER[0] ? VS_IMPORT_RMM_CSV : VS_IMPORT_AUTO;
}

static enum vs_err unknown(FILE *in, int first, char *why)
{
    if (ferror(in)) {
        snprintf(why, VS_IMPORT_WHY_MAX, "%s", strerror(errno));
        return VS_ERR_IO;
    }
    snprintf(why, VS_IMPORT_WHY_MAX, "%s",
             first == EOF    ? "the file is empty"
             : first == 0x1f ? "compressed with gzip: unpack it first (gunzip)"
             : first == 0x89 ? "a vramscope trace already: the other verbs read it as it is"
                             : "neither a PyTorch memory snapshot (a pickle that "
                               "torch.cuda.memory._dump_snapshot writes) nor a log of RMM "
                               "(" VS_RMM_HEADER ")");
    return VS_ERR_FORMAT;
}

enum vs_err vs_import(FILE *in, FILE *out, const char *name, enum vs_import_format format,
                      struct vs_import_result *result, char *why)
{
    int first;
    *result = (struct vs_import_result){.format = guess(in, &first)};
    why[0] = 0;
    if (format != VS_IMPORT_AUTO)
        result->format = format;
    switch (result->format) {
    case VS_IMPORT_TORCH_SNAPSHOT: return import_snapshot(in, out, name, result, why);
    case VS_IMPORT_RMM_CSV: return vs_rmm_log(in, out, name, result, why);
    default: return unknown(in, first, why);
    }
}
