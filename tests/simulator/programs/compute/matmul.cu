// SPDX-License-Identifier: Apache-2.0
// Tiled matrix multiplication in single and double precision, checked against the host.
#include <cmath>
#include <vector>

#include "matmul_kernels.cuh"
#include "program.h"

template <typename T>
static std::vector<double> reference(const std::vector<T> &a, const std::vector<T> &b, int rows,
                                     int inner, int columns)
{
    std::vector<double> c((size_t)rows * columns);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < inner; k++)
            for (int j = 0; j < columns; j++)
                c[(size_t)i * columns + j] +=
                    (double)a[(size_t)i * inner + k] * b[(size_t)k * columns + j];
    return c;
}

template <typename T, int TILE>
static bool multiply(const char *name, int rows, int inner, int columns, double tolerance)
{
    std::vector<T> a((size_t)rows * inner), b((size_t)inner * columns), c((size_t)rows * columns);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = T(noise((unsigned)i)) - T(0.5);
    for (size_t i = 0; i < b.size(); i++)
        b[i] = T(noise((unsigned)i + 7919u)) - T(0.5);

    Device<T> d_a(a), d_b(b), d_c(c.size());
    Event start, stop;
    dim3 block(TILE, TILE), grid((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    CUDA_CHECK(cudaEventRecord(start));
    matmul<T, TILE><<<grid, block>>>(d_a, d_b, d_c, rows, inner, columns);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(stop));
    c = d_c.get();
    float ms = ms_between(start, stop);
    fprintf(stderr, "%s: %.3f ms, %.2f GFLOP/s\n", name, ms, 2e-6 * rows * inner * columns / ms);

    std::vector<double> expected = reference(a, b, rows, inner, columns);
    double worst = 0;
    for (size_t i = 0; i < c.size(); i++)
        worst = fmax(worst, fabs(c[i] - expected[i]));
    printf("%s %dx%dx%d: %s\n", name, rows, inner, columns, worst <= tolerance ? "ok" : "WRONG");
    if (worst > tolerance)
        fprintf(stderr, "%s: largest error %g\n", name, worst);
    return worst <= tolerance;
}

int main()
{
    cudaDeviceProp prop;
    CUDA_CHECK(cudaGetDeviceProperties(&prop, 0));
    printf("on %s\n", prop.name);
    bool ok = multiply<float, 16>("float", 192, 200, 208, 1e-4);
    ok &= multiply<float, 16>("float, ragged", 33, 17, 65, 1e-4);
    ok &= multiply<double, 8>("double", 100, 90, 110, 1e-11);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
