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

VS_CUSPARSE_FUNCTIONS(VS_LIBRARY_DECLARE)

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
    int64_t rows, columns, nnz;
    void *offsets, *indices, *values; /* COO: offsets are the row indices; CSC: of columns */
    int batch, fill, diagonal;
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

/* vs_sparse_in_order: vs_library_in_order on the handle's stream, if *ok*, the check of other arguments. */
int vs_sparse_in_order(const struct cusparseContext *handle, bool ok, void (*run)(void *data),
                       const void *data, size_t bytes);

/* ---- rows of cusparse.calls: a function hands one of these structures to its runner ---- */

enum vs_sparse_operation { VS_SPARSE_MV, VS_SPARSE_SV, VS_SPARSE_MM, VS_SPARSE_SM, VS_SPARSE_DDMM };
enum vs_sparse_step { VS_SPARSE_SIZE, VS_SPARSE_PREPARE, VS_SPARSE_RUN };
struct vs_sparse_product {
    const char *name;
    enum vs_sparse_operation operation;
    enum vs_sparse_step step;
    int op, op_b, type;
    const struct cusparseSpMatDescr *sparse;
    const struct cusparseDnVecDescr *x, *y;          /* of SpMV and SpSV */
    const struct cusparseDnMatDescr *first, *second; /* of the others, in the order of arguments */
    const void *descr;                               /* of SpSV and SpSM */
    size_t *size;
};
int vs_sparse_product(struct cusparseContext *handle, const struct vs_sparse_product *product);

struct vs_sparse_blocks { /* *blocks* blocks of *dim* x *dim* numbers, for *columns* right-hand sides */
    const char *name;
    int type, rows, blocks, dim, columns;
    const struct cusparseMatDescr *descr;
    const void *info; /* of *kind*; kind 0: none */
    int kind;
    bool is_size;
    int *bytes;
};
int vs_sparse_blocks(struct cusparseContext *handle, const struct vs_sparse_blocks *blocks);

struct vs_sparse_sum {
    const char *name;
    int type, m, n, nnz_a, nnz_b;
    const struct cusparseMatDescr *descr_a, *descr_b;
    const int *offsets_a, *offsets_b, *indices_a, *indices_b;
    int *indices_c;
    bool is_size;
    size_t *bytes;
};
int vs_sparse_sum(struct cusparseContext *handle, const struct vs_sparse_sum *sum);

int vs_sparse_no_pivot(struct cusparseContext *handle, int kind, const void *info, int *position);

struct vs_sparse_matrix_new {
    struct cusparseSpMatDescr **matrix, content;
};
int vs_sparse_matrix_new(const struct vs_sparse_matrix_new *given);
struct vs_sparse_matrix_get {
    const struct cusparseSpMatDescr *matrix;
    int format; /* that it must have; -1: any */
    bool incomplete;
    long *rows, *columns, *nnz;
    void **offsets, **indices, **values;
    int *offset_type, *index_type, *base, *type, *format_to, *batch;
};
int vs_sparse_matrix_get(const struct vs_sparse_matrix_get *to);
struct vs_sparse_matrix_set {
    const struct cusparseSpMatDescr *matrix;
    int format, batch;
    bool sets_batch; /* or else its pointers */
    void *offsets, *indices, *values;
    int64_t offset_stride, value_stride;
};
int vs_sparse_matrix_set(const struct vs_sparse_matrix_set *from);
struct vs_sparse_dense_new {
    struct cusparseDnMatDescr **matrix, content;
};
int vs_sparse_dense_new(const struct vs_sparse_dense_new *given);
struct vs_sparse_vector_new {
    struct cusparseDnVecDescr **vector, content;
};
int vs_sparse_vector_new(const struct vs_sparse_vector_new *given);

#endif
