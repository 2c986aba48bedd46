/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/import/pickle.h"
#include "analysis/import/import_writer.h"
#include "analysis/import/snapshot.h"
#include "base/reading/vs_xalloc.h"

enum vs_err vs_import(FILE *in, FILE *out, const char *name, enum vs_import_format format,
                      uint64_t process, struct vs_import_result *result, char *why)
{
    int first = getc(in); /* stays unread */
    if (first != EOF)
        ungetc(first, in);
    *result = (struct vs_import_result){
        .format = format != VS_IMPORT_AUTO       ? format
                  : first == 0x80                ? VS_IMPORT_TORCH_SNAPSHOT
                  : first == VS_RMM_HEADER[0]    ? VS_IMPORT_RMM_CSV
                  : first == 'S'                 ? VS_IMPORT_NSYS_SQLITE
                  : first == 0x1f                ? VS_IMPORT_PPROF
                                                 : VS_IMPORT_AUTO};
    why[0] = 0;
    if (result->format == VS_IMPORT_TORCH_SNAPSHOT) {
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
    if (result->format == VS_IMPORT_RMM_CSV)
        return vs_rmm_log(in, out, name, result, why);
    if (result->format == VS_IMPORT_NSYS_SQLITE)
        return vs_nsys(in, out, name, process, result, why);
    if (result->format == VS_IMPORT_PPROF)
        return vs_pprof(in, out, name, result, why);
    snprintf(why, VS_IMPORT_WHY_MAX, "%s",
             ferror(in)      ? strerror(errno)
             : first == EOF  ? "the file is empty"
             : first == 0x89 ? "a vramscope trace already: the other verbs read it as it is"
                             : "neither a PyTorch memory snapshot (a pickle that "
                               "torch.cuda.memory._dump_snapshot writes), nor a log of RMM "
                               "(" VS_RMM_HEADER "), nor Nsight Systems' SQLite (of a .nsys-rep: nsys export "
                               "--type sqlite), nor a heap profile of pprof");
    return ferror(in) ? VS_ERR_IO : VS_ERR_FORMAT;
}
