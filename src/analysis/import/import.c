/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/import/pickle.h"
#include "analysis/import/import_writer.h"
#include "analysis/import/snapshot.h"
#include "base/reading/vs_xalloc.h"

static enum vs_err read_snapshot(struct vs_import_writer *w)
{
    struct vs_pickle pickle;
    struct vs_snapshot *snapshot = vs_xcalloc(1, sizeof *snapshot);
    enum vs_err err = vs_pickle_read(w->in, &pickle, w->why);
    w->result->bytes_read = pickle.bytes;
    if (!err)
        err = vs_snapshot_take(&pickle.root, snapshot, w->why);
    if (!err)
        err = vs_snapshot_trace(snapshot, w);
    vs_snapshot_free(snapshot);
    free(snapshot);
    vs_pickle_free(&pickle);
    return err;
}

static enum vs_err refuse(FILE *in, int first, char *why)
{
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
    struct vs_import_writer w = {.in = in, .out = out, .name = name, .process = process, .result = result, .why = why};
    enum vs_err err = result->format == VS_IMPORT_TORCH_SNAPSHOT ? read_snapshot(&w)
                      : result->format == VS_IMPORT_RMM_CSV      ? vs_rmm_log(&w)
                      : result->format == VS_IMPORT_NSYS_SQLITE  ? vs_nsys(&w)
                      : result->format == VS_IMPORT_PPROF        ? vs_pprof(&w)
                                                                 : refuse(in, first, why);
    return vs_import_close(&w, err);
}
