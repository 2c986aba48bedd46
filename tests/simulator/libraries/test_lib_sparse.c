/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-ins for cuSPARSE and cuSPARSELt: descriptors, index arrays that are computed for real,
 * the pattern of sparse products, and compressed sizes. */
#include "sim_library.h"
#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cusparse/vs_cusparse_api.h"
#include "simulator/libraries/cusparselt/vs_cusparselt_api.h"

VS_CUSPARSE_FUNCTIONS(VS_LIBRARY_DECLARE)
VS_CUSPARSELT_FUNCTIONS(VS_LIBRARY_DECLARE)

#define WRONG CUSPARSE_STATUS_INVALID_VALUE
#define INDEX32 CUSPARSE_INDEX_32I

static struct cusparseContext *sparse;

static int *to_device(const int *values, size_t count)
{
    int *memory;
    OK(cudaMalloc((void **)&memory, count * sizeof *memory));
    OK(cudaMemcpy(memory, values, count * sizeof *memory, cudaMemcpyHostToDevice));
    return memory;
}

static void expect(const int *memory, const int *values, size_t count)
{
    int found[16];
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(found, memory, count * sizeof *found, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(found[i], values[i]);
}

#define COUNT(...) (sizeof((const int[]){__VA_ARGS__}) / sizeof(int))
#define DEVICE(...) to_device((const int[]){__VA_ARGS__}, COUNT(__VA_ARGS__))
#define EXPECT(memory, ...) expect(memory, (const int[]){__VA_ARGS__}, COUNT(__VA_ARGS__))

static struct cusparseSpMatDescr *csr(int64_t rows, int64_t columns, int64_t nnz, int *offsets, int *indices)
{
    struct cusparseSpMatDescr *m;
    OK(cusparseCreateCsr(&m, rows, columns, nnz, offsets, indices, offsets, INDEX32, INDEX32, 0, CUDA_R_32F));
    return m;
}

TEST(descriptors_are_checked)
{
    struct cusparseSpMatDescr *m;
    long rows, columns, nnz;
    FAILS(cusparseCreateCsr(&m, -1, 3, 3, NULL, NULL, NULL, INDEX32, INDEX32, 0, CUDA_R_32F), WRONG);
    FAILS(cusparseCreateCsr(&m, 3, 3, 3, NULL, NULL, NULL, 9, INDEX32, 0, CUDA_R_32F), WRONG);
    m = csr(2, 3, 4, NULL, NULL);
    OK(cusparseSpMatGetSize(m, &rows, &columns, &nnz));
    assert_int_equal(rows * 100 + columns * 10 + nnz, 234);
    OK(cusparseDestroySpMat(m));
    FAILS(cusparseDestroySpMat(m), WRONG);
    FAILS(cusparseSpMatGetSize(m, &rows, &columns, &nnz), WRONG);
    FAILS(cusparseSetStream(NULL, NULL), CUSPARSE_STATUS_NOT_INITIALIZED);
}

TEST(row_indices_become_offsets_and_back)
{
    int *rows = DEVICE(0, 1, 1, 3, 3, 3), *offsets = DEVICE(9, 9, 9, 9, 9), *back = DEVICE(9, 9, 9, 9, 9, 9);
    OK(cusparseXcoo2csr(sparse, rows, 6, 4, offsets, 0));
    EXPECT(offsets, 0, 1, 3, 3, 6);
    OK(cusparseXcsr2coo(sparse, offsets, 6, 4, back, 0));
    EXPECT(back, 0, 1, 1, 3, 3, 3);
    OK(cusparseXcoo2csr(sparse, rows, 6, 4, offsets, 1)); /* one-based: row 0 is out of range */
    EXPECT(offsets, 1, 4, 4, 7, 7);
}

TEST(sorts_move_the_permutation_along)
{
    int *rows = DEVICE(2, 0, 1, 0), *columns = DEVICE(1, 3, 0, 2), *permutation = DEVICE(9, 9, 9, 9);
    OK(cusparseCreateIdentityPermutation(sparse, 4, permutation));
    OK(cusparseXcoosortByRow(sparse, 3, 4, 4, rows, columns, permutation, NULL));
    EXPECT(rows, 0, 0, 1, 2);
    EXPECT(columns, 2, 3, 0, 1);
    EXPECT(permutation, 3, 1, 2, 0);
}

/* The matrix (0,2) (1,0) (1,2) of 3 × 3: its square has one entry, (1,2). */
TEST(a_sparse_product_has_its_true_size)
{
    int *offsets = DEVICE(0, 1, 3, 3), *indices = DEVICE(2, 0, 2), *values = DEVICE(0, 0, 0);
    int *c_offsets = DEVICE(9, 9, 9, 9), *c_indices = DEVICE(9);
    struct cusparseSpMatDescr *a = csr(3, 3, 3, offsets, indices), *c = csr(3, 3, 0, NULL, NULL);
    struct cusparseSpGEMMDescr *gemm;
    unsigned long bytes;
    long rows, columns;
    lib_notes_begin();
    OK(cusparseSpGEMM_createDescr(&gemm));
    OK(cusparseSpGEMM_workEstimation(sparse, 0, 0, NULL, a, a, NULL, c, CUDA_R_32F, 0, gemm, &bytes, NULL));
    OK(cusparseSpGEMM_compute(sparse, 0, 0, NULL, a, a, NULL, c, CUDA_R_32F, 0, gemm, &bytes, NULL));
    OK(cusparseSpGEMM_compute(sparse, 0, 0, NULL, a, a, NULL, c, CUDA_R_32F, 0, gemm, &bytes, values));
    assert_int_equal(GOT(long, cusparseSpMatGetSize(c, &rows, &columns, &got)), 1);
    OK(cusparseCsrSetPointers(c, c_offsets, c_indices, values));
    OK(cusparseSpGEMM_copy(sparse, 0, 0, NULL, a, a, NULL, c, CUDA_R_32F, 0, gemm));
    EXPECT(c_offsets, 0, 0, 1, 1);
    EXPECT(c_indices, 2);
    assert_int_equal(lib_notes("assumed", "cusparseSpGEMM"), 0);
    /* indices that were never computed: the largest possible result, noted */
    OK(cudaMemset(indices, 0xee, 3 * sizeof(int)));
    OK(cusparseSpGEMM_compute(sparse, 0, 0, NULL, a, a, NULL, c, CUDA_R_32F, 0, gemm, &bytes, values));
    assert_int_equal(GOT(long, cusparseSpMatGetSize(c, &rows, &columns, &got)), 9);
    assert_int_equal(lib_notes("assumed", "cusparseSpGEMM"), 1);
    OK(cusparseSpGEMM_destroyDescr(gemm));
}

TEST(a_sparse_sum_has_its_true_size)
{
    int *a_offsets = DEVICE(0, 1, 3), *a_indices = DEVICE(0, 1, 2);
    int *b_offsets = DEVICE(0, 2, 3), *b_indices = DEVICE(0, 2, 2), *c_offsets = DEVICE(9, 9, 9);
    struct cusparseMatDescr *general;
    int total = -1;
    OK(cusparseCreateMatDescr(&general));
    OK(cusparseXcsrgeam2Nnz(sparse, 2, 3, general, 3, a_offsets, a_indices, general, 3, b_offsets,
                            b_indices, general, c_offsets, &total, NULL));
    assert_int_equal(total, 4); /* (0,0) (0,2), (1,1) (1,2) */
    EXPECT(c_offsets, 0, 2, 4);
}

TEST(products_check_their_shapes)
{
    int *offsets = DEVICE(0, 1, 2), *indices = DEVICE(0, 1);
    struct cusparseSpMatDescr *a = csr(2, 3, 2, offsets, indices);
    struct cusparseDnMatDescr *b, *c, *narrow;
    float one = 1;
    unsigned long bytes;
    OK(cusparseCreateDnMat(&b, 3, 4, 3, offsets, CUDA_R_32F, CUSPARSE_ORDER_COL));
    OK(cusparseCreateDnMat(&c, 2, 4, 2, offsets, CUDA_R_32F, CUSPARSE_ORDER_COL));
    OK(cusparseCreateDnMat(&narrow, 2, 3, 2, offsets, CUDA_R_32F, CUSPARSE_ORDER_COL));
    OK(cusparseSpMM_bufferSize(sparse, 0, 0, &one, a, b, &one, c, CUDA_R_32F, 0, &bytes));
    OK(cusparseSpMM(sparse, 0, 0, &one, a, b, &one, c, CUDA_R_32F, 0, NULL));
    FAILS(cusparseSpMM(sparse, 0, 0, &one, a, b, &one, narrow, CUDA_R_32F, 0, NULL), WRONG);
    OK(cusparseDestroyDnMat(narrow));
    FAILS(cusparseCreateDnMat(&narrow, 4, 3, 2, offsets, CUDA_R_32F, CUSPARSE_ORDER_COL), WRONG);
    OK(cudaDeviceSynchronize());
}

TEST(half_of_a_structured_matrix_is_kept)
{
    static cusparseLtHandle_t lt;
    int version, minor;
    static cusparseLtMatDescriptor_t half, narrow, dense;
    unsigned long bytes, buffer;
    FAILS(cusparseLtStructuredDescriptorInit(&lt, &half, 64, 64, 64, 16, CUDA_R_16F, CUSPARSE_ORDER_ROW, 0),
          CUSPARSE_STATUS_NOT_INITIALIZED);
    OK(cusparseLtInit(&lt));
    OK(cusparseLtStructuredDescriptorInit(&lt, &half, 64, 128, 128, 16, CUDA_R_16F, CUSPARSE_ORDER_ROW,
                                          CUSPARSELT_SPARSITY_50_PERCENT));
    OK(cusparseLtSpMMACompressedSize2(&lt, &half, &bytes, &buffer));
    assert_int_equal(bytes, 64 * 128 * 2 * 9 / 16);
    OK(cusparseLtStructuredDescriptorInit(&lt, &narrow, 64, 128, 128, 16, CUDA_R_8I, CUSPARSE_ORDER_ROW,
                                          CUSPARSELT_SPARSITY_50_PERCENT));
    OK(cusparseLtSpMMACompressedSize2(&lt, &narrow, &bytes, &buffer));
    assert_int_equal(bytes, 64 * 128 * 10 / 16);
    OK(cusparseLtDenseDescriptorInit(&lt, &dense, 128, 64, 64, 16, CUDA_R_16F, CUSPARSE_ORDER_ROW));
    FAILS(cusparseLtSpMMACompressedSize2(&lt, &dense, &bytes, &buffer), WRONG);
    OK(cusparseLtGetProperty(MINOR_VERSION, &minor));
    OK(cusparseLtGetVersion(&lt, &version));
    assert_int_equal(version / 100 % 10, minor % 10);
    OK(cusparseLtDestroy(&lt));
    FAILS(cusparseLtGetVersion(&lt, &version), CUSPARSE_STATUS_NOT_INITIALIZED);
}

SETUP(begin)
{
    return cusparseCreate(&sparse);
}
