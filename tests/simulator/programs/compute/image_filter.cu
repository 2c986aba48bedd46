// SPDX-License-Identifier: Apache-2.0
// Blurs an image: pitched memory, 2-D copies, and an array that the result is kept in.
// First with the weights the program was compiled with, then with others.
#include <cmath>
#include <vector>

#include "image_filter_kernels.cuh"
#include "program.h"

static const int WIDTH = 203, HEIGHT = 121; // no multiple of anything

typedef std::vector<unsigned char> Image; // 4 bytes a pixel

static int clamped(int v, int size) { return v < 0 ? 0 : v >= size ? size - 1 : v; }

static std::vector<double> reference(const Image &in, const float *w)
{
    std::vector<double> rows((size_t)WIDTH * HEIGHT * 4), out(rows.size());
    for (int pass = 0; pass < 2; pass++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                for (int c = 0; c < 4; c++) {
                    double sum = 0;
                    for (int k = -RADIUS; k <= RADIUS; k++) {
                        int xx = pass ? x : clamped(x + k, WIDTH);
                        int yy = pass ? clamped(y + k, HEIGHT) : y;
                        size_t at = ((size_t)yy * WIDTH + xx) * 4 + c;
                        sum += w[k + RADIUS] * (pass ? rows[at] : (double)in[at]);
                    }
                    (pass ? out : rows)[((size_t)y * WIDTH + x) * 4 + c] = sum;
                }
    return out;
}

static int count_wrong(const Image &got, const std::vector<double> &right)
{
    int wrong = 0;
    for (size_t i = 0; i < got.size(); i++)
        wrong += !(fabs(got[i] - right[i]) <= 0.501); // rounded, from single precision
    return wrong;
}

int main()
{
    const size_t line = WIDTH * sizeof(uchar4);
    Image image(line * HEIGHT), result(line * HEIGHT), kept(line * HEIGHT);
    for (size_t i = 0; i < image.size(); i++)
        image[i] = (unsigned char)(noise((unsigned)i) * 255.0f);
    uchar4 *in, *out;
    float4 *between;
    size_t in_pitch, out_pitch, between_pitch;
    CUDA_CHECK(cudaMallocPitch(&in, &in_pitch, line, HEIGHT));
    CUDA_CHECK(cudaMallocPitch(&out, &out_pitch, line, HEIGHT));
    CUDA_CHECK(cudaMallocPitch(&between, &between_pitch, WIDTH * sizeof(float4), HEIGHT));
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    CUDA_CHECK(cudaMallocArray(&array, &format, WIDTH, HEIGHT));
    bool ok = in_pitch >= line && between_pitch >= WIDTH * sizeof(float4);

    float w[2 * RADIUS + 1] = {1 / 16.0f, 4 / 16.0f, 6 / 16.0f, 4 / 16.0f, 1 / 16.0f};
    for (int round = 0; round < 2; round++) {
        if (round == 1) { // sharpen a little instead
            const float sharp[] = {0.0f, -0.125f, 1.25f, -0.125f, 0.0f};
            memcpy(w, sharp, sizeof w);
            CUDA_CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
            for (unsigned char &v : image) // keep the result within a byte
                v = 64 + v / 4;
        }
        CUDA_CHECK(cudaMemcpy2D(in, in_pitch, image.data(), line, line, HEIGHT,
                                cudaMemcpyHostToDevice));
        blur_rows<<<dim3((WIDTH + ROW_BLOCK - 1) / ROW_BLOCK, HEIGHT), ROW_BLOCK>>>(
            in, in_pitch, between, between_pitch, WIDTH, HEIGHT);
        blur_columns<<<dim3((WIDTH + 31) / 32, (HEIGHT + 3) / 4), dim3(32, 4)>>>(
            between, between_pitch, out, out_pitch, WIDTH, HEIGHT);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy2DToArray(array, 0, 0, out, out_pitch, line, HEIGHT,
                                       cudaMemcpyDeviceToDevice));
        CUDA_CHECK(cudaMemset2D(out, out_pitch, 0x5a, line, HEIGHT)); // the array has the result
        CUDA_CHECK(cudaMemcpy2DFromArray(kept.data(), line, array, 0, 0, line, HEIGHT,
                                         cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaMemcpy2D(result.data(), line, out, out_pitch, line, HEIGHT,
                                cudaMemcpyDeviceToHost));
        int wrong = count_wrong(kept, reference(image, w)), cleared = 0;
        for (unsigned char v : result)
            cleared += v == 0x5a;
        unsigned sum = 0;
        for (size_t i = 0; i < kept.size(); i++)
            sum = sum * 31 + kept[i];
        printf("round %d: %d wrong, %d of %zu cleared\n", round, wrong, cleared, result.size());
        fprintf(stderr, "check sum %08x\n", sum);
        ok &= wrong == 0 && cleared == (int)result.size();
    }
    CUDA_CHECK(cudaFreeArray(array));
    CUDA_CHECK(cudaFree(in));
    CUDA_CHECK(cudaFree(out));
    CUDA_CHECK(cudaFree(between));
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
