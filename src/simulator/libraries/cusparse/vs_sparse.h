/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the stand-in for cuSPARSE share: handle, matrix descriptors, work on a stream,
 * assumed buffer sizes, and access to small index arrays on the device. Values of matrices are not
 * computed; index arrays that later decide sizes are, because device memory of the simulated GPU is
 * host memory. */
#ifndef VS_SPARSE_H
#define VS_SPARSE_H

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cusparse/vs_cusparse_api.h"

enum {
    VS_SPARSE_HANDLE = 1,
    VS_SPARSE_MATRIX,  /* struct cusparseSpMatDescr */
    VS_SPARSE_DENSE,   /* struct cusparseDnMatDescr */
    VS_SPARSE_VECTOR,  /* struct cusparseDnVecDescr */
    VS_SPARSE_LEGACY,  /* struct cusparseMatDescr */
    VS_SPARSE_SPSV,
    VS_SPARSE_SPSM,
    VS_SPARSE_SPGEMM,
    VS_SPARSE_BSRSV,
    VS_SPARSE_BSRSM,
};

struct cusparseContext {
    CUstream stream;
    int pointer_mode;
};

struct cusparseSpMatDescr {
    int format, type, offset_type, index_type, base;
    int64_t rows, columns, nnz; /* BSR: of blocks */
    int64_t block_rows, block_columns;
    void *offsets, *indices, *values; /* COO: offsets are the row indices; CSC: of columns */
    int batch, fill, diagonal, order;
    int64_t offset_stride, value_stride;
};

struct cusparseDnMatDescr {
    int64_t rows, columns, ld, stride;
    void *values;
    int type, order, batch;
};

struct cusparseDnVecDescr {
    int64_t size;
    void *values;
    int type;
};

struct cusparseMatDescr {
    int type, fill, diagonal, base;
};

/* vs_sparse_handle: the handle's stream, or false if *handle* is none. */
bool vs_sparse_handle(const struct cusparseContext *handle, CUstream *stream);

/* vs_sparse_bytes: size of an element of a cudaDataType; 0 for one that cuSPARSE does not have. */
unsigned vs_sparse_bytes(int type);
/* vs_sparse_index_bytes: size of a CUSPARSE_INDEX_ type; 0 for another value. */
unsigned vs_sparse_index_bytes(int type);

/* vs_sparse_run: work of *operations* multiply-adds (of numbers of *type*) that moves *bytes*.
 * Returns a status. */
int vs_sparse_run(const struct cusparseContext *handle, const char *name, int type,
                  double operations, double bytes);

/* vs_sparse_buffer: stores an assumed buffer size in **bytes*, noted under *name*. Returns a status:
 * *bytes* NULL and a wrong handle are errors. */
int vs_sparse_buffer(const struct cusparseContext *handle, const char *name, uint64_t assumed,
                     size_t *bytes);

/* vs_sparse_matrix: the operand, or NULL if it is not a live descriptor. */
struct cusparseSpMatDescr *vs_sparse_matrix(const struct cusparseSpMatDescr *m);
struct cusparseDnMatDescr *vs_sparse_dense(const struct cusparseDnMatDescr *m);
struct cusparseDnVecDescr *vs_sparse_vector(const struct cusparseDnVecDescr *v);

/* vs_sparse_index: element *i* of an index array of *bytes* (4 or 8) in device memory, whose stream
 * has been synchronised. */
int64_t vs_sparse_index(const void *array, int64_t i, unsigned bytes);

/* vs_sparse_in_order: calls *run(data)* in the order of the handle's stream, and then frees *data*
 * (of malloc), except where the stream is being captured: then it is called at each launch of the
 * graph, and kept. Returns a status; on failure *data* is freed. */
int vs_sparse_in_order(const struct cusparseContext *handle, void (*run)(void *data), void *data);

#endif
