/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and memsets: every direction, shapes with pitches and offsets, and when the call returns.
 */
#include "conf.h"

#define SYNC "API synchronization behavior: "
#define BYTES ((size_t)65536)

static struct {
    CUdeviceptr a, b;
    unsigned char *pinned, in[BYTES], out[BYTES];
    CUstream stream;
    int gate;
} p;

SETUP(setup)
{
    p.a = conf_alloc(BYTES), p.b = conf_alloc(BYTES);
    p.pinned = conf_pinned(BYTES);
    p.stream = conf_stream();
    return 0;
}

static void forget(void)
{
    for (size_t i = 0; i < BYTES; i++)
        p.in[i] = (unsigned char)(i * 7 + i / 256);
    memset(p.out, 0, BYTES);
    memset(p.pinned, 0, BYTES);
    DO(cuMemsetD8(p.a, 0, BYTES));
    DO(cuMemsetD8(p.b, 0, BYTES));
    DO(cuCtxSynchronize());
}

static bool arrived(const unsigned char *at) { return !memcmp(p.in, at, BYTES); }

TEST(named_directions)
{
    forget();
    DO(cuMemcpyHtoD(p.a, p.in, BYTES));
    DO(cuMemcpyDtoD(p.b, p.a, BYTES));
    DO(cuMemcpyDtoH(p.out, p.b, BYTES));
    FACT(arrived(p.out), "cuMemcpyDtoH: all bytes, as they were");
    DO(cuMemcpyDtoH(p.pinned, p.a, BYTES));
    FACT(arrived(p.pinned), "cuMemcpyDtoH: to pinned memory as well");
}

TEST(directions_found_by_address)
{
    forget();
    WORKS(cuMemcpy(p.a, (uintptr_t)p.in, BYTES), "infers the direction from the pointers");
    WORKS(cuMemcpy(p.b, p.a, BYTES), "infers the direction");
    WORKS(cuMemcpy((uintptr_t)p.pinned, p.b, BYTES), "infers the direction");
    FACT(arrived(p.pinned), "cuMemcpy: copies ByteCount bytes");
    WORKS(cuMemcpy((uintptr_t)p.out, (uintptr_t)p.pinned, BYTES),
          "infers the direction, within the host as well");
    FACT(arrived(p.out), "cuMemcpy: copies ByteCount bytes");
}

TEST(kinds_of_the_runtime)
{
    static const enum cudaMemcpyKind kinds[][4] = {
        {cudaMemcpyHostToDevice, cudaMemcpyDeviceToDevice, cudaMemcpyDeviceToHost,
         cudaMemcpyHostToHost},
        {cudaMemcpyDefault, cudaMemcpyDefault, cudaMemcpyDefault, cudaMemcpyDefault}};
    void *a = (void *)(uintptr_t)p.a, *b = (void *)(uintptr_t)p.b;
    for (int i = 0; i < 2; i++) {
        forget();
        WORKS(cudaMemcpy(a, p.in, BYTES, kinds[i][0]), "host to device");
        WORKS(cudaMemcpy(b, a, BYTES, kinds[i][1]), "device to device");
        WORKS(cudaMemcpy(p.pinned, b, BYTES, kinds[i][2]), "device to host");
        WORKS(cudaMemcpy(p.out, p.pinned, BYTES, kinds[i][3]), "host to host");
        FACT(arrived(p.out), "cudaMemcpy: copies count bytes");
    }
    FACT_EQ(cudaMemcpy(a, p.in, BYTES, (enum cudaMemcpyKind)99), cudaErrorInvalidMemcpyDirection,
            "kind must be one of the five");
    FACT_EQ(cudaGetLastError(), cudaErrorInvalidMemcpyDirection,
            "the last error of a runtime call");
}

TEST(parts_can_be_copied)
{
    forget();
    DO(cuMemcpyHtoD(p.a + 1001, p.in + 5, 333));
    DO(cuMemcpyDtoD(p.b + 17, p.a + 1001, 333));
    DO(cuMemcpyDtoH(p.out, p.b, BYTES));
    FACT(!memcmp(p.out + 17, p.in + 5, 333), "cuMemcpyDtoD: base addresses of any value");
    FACT_EQ(p.out[16], 0, "cuMemcpyDtoD: nothing before it");
    FACT_EQ(p.out[17 + 333], 0, "cuMemcpyDtoD: nothing after it");
    WORKS(cuMemcpyHtoD(p.a, p.in, 0), "ByteCount of 0");
    WORKS(cudaMemcpy(p.out, (void *)(uintptr_t)p.a, 0, cudaMemcpyDeviceToHost), "count of 0");
}

/* ---- synchronisation with the host ---- */

TEST(synchronous_copies_have_arrived)
{
    for (int i = 1; i <= 20; i++) {
        memset(p.in, i, BYTES);
        DO(cuMemcpyHtoD(p.a, p.in, BYTES));
        memset(p.in, 0xee, BYTES);
        DO(cuMemcpyDtoH(p.out, p.a, BYTES));
        FACT_EQ(p.out[BYTES - 1], i, SYNC "the source may change once a synchronous copy returns");
    }
}

TEST(pinned_copies_wait_for_their_turn)
{
    forget();
    conf_close(p.stream, &p.gate);
    DO(cuMemsetD8Async(p.a, 0x21, BYTES, p.stream));
    DO(cuMemcpyDtoDAsync(p.b, p.a, BYTES, p.stream));
    DO(cuMemcpyDtoHAsync(p.pinned, p.b, BYTES, p.stream));
    FACT_EQ(p.pinned[0], 0, SYNC "an asynchronous copy to pinned memory returns before it is done");
    RETURNS(cuStreamQuery(p.stream), CUDA_ERROR_NOT_READY);
    conf_open(&p.gate);
    DO(cuStreamSynchronize(p.stream));
    FACT_EQ(p.pinned[0], 0x21, "guide, streams: a stream's work is in order");
    FACT_EQ(p.pinned[BYTES - 1], 0x21, "guide, streams: in order");
}

/* ---- memsets ---- */

TEST(memsets_of_all_widths)
{
    forget();
    DO(cuMemsetD8(p.a + 1, 0x12, 7));
    DO(cuMemsetD16(p.a + 16, 0x1234, 5));
    DO(cuMemsetD32(p.a + 64, 0x12345678, 3));
    DO(cuMemcpyDtoH(p.out, p.a, 128));
    const uint16_t *halves = (const uint16_t *)(p.out + 16);
    const uint32_t *words = (const uint32_t *)(p.out + 64);
    FACT(p.out[0] == 0 && p.out[1] == 0x12 && p.out[7] == 0x12 && p.out[8] == 0,
         "cuMemsetD8: N bytes from dstDevice on");
    FACT(halves[0] == 0x1234 && halves[4] == 0x1234 && halves[5] == 0,
         "cuMemsetD16: N 16-bit values");
    FACT(words[0] == 0x12345678 && words[2] == 0x12345678 && words[3] == 0,
         "cuMemsetD32: N 32-bit values");
    DO(cudaMemset((void *)(uintptr_t)p.a, 0x1ff, 4));
    DO(cuMemcpyDtoH(p.out, p.a, 8));
    FACT(p.out[0] == 0xff && p.out[3] == 0xff && p.out[4] == 0x12,
         "cudaMemset: fills with the constant byte value");
}

TEST(memsets_of_rows)
{
    forget();
    DO(cuMemsetD2D8(p.a + 3, 64, 9, 5, 4));
    DO(cuMemsetD2D32(p.a + 1024, 256, 77, 6, 3));
    DO(cuMemcpyDtoH(p.out, p.a, 4096));
    for (int row = 0; row < 4; row++)
        FACT(p.out[row * 64 + 2] == 0 && p.out[row * 64 + 3] == 9 && p.out[row * 64 + 7] == 9 &&
                 p.out[row * 64 + 8] == 0,
             "cuMemsetD2D8: Width values in each of Height rows, dstPitch bytes apart");
    FACT_EQ(p.out[4 * 64 + 3], 0, "cuMemsetD2D8: Height rows");
    const uint32_t *words = (const uint32_t *)(p.out + 1024);
    FACT(words[0] == 77 && words[5] == 77 && words[6] == 0 && words[64] == 77 && words[133] == 77 &&
             words[192] == 0,
         "cuMemsetD2D32: Width values in each of Height rows");
    DO(cudaMemset2D((void *)(uintptr_t)p.a, 64, 1, 10, 2));
    DO(cuMemcpyDtoH(p.out, p.a, 128));
    FACT(p.out[9] == 1 && p.out[10] == 0 && p.out[73] == 1 && p.out[74] == 0,
         "cudaMemset2D: width bytes in each of height rows");
}

/* ---- boxes ---- */

TEST(rows_with_pitches_and_offsets)
{
    forget();
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = p.in, .srcPitch = 100,
                        .srcXInBytes = 7, .srcY = 2,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = p.a, .dstPitch = 512,
                        .dstXInBytes = 11, .dstY = 3,
                        .WidthInBytes = 50, .Height = 8};
    DO(cuMemcpy2D(&in));
    DO(cuMemcpyDtoH(p.out, p.a, 16384));
    for (size_t row = 0; row < 8; row++)
        FACT(!memcmp(p.out + (row + 3) * 512 + 11, p.in + (row + 2) * 100 + 7, 50),
             "cuMemcpy2D: base + y * pitch + x on both sides");
    FACT(!p.out[3 * 512 + 10] && !p.out[3 * 512 + 61], "cuMemcpy2D: WidthInBytes a row");
    FACT(!p.out[2 * 512 + 20] && !p.out[11 * 512 + 20], "cuMemcpy2D: Height rows");
    in.srcPitch = 40;
    INVALID(cuMemcpy2D(&in), "srcPitch must be at least WidthInBytes + srcXInBytes");
    in.srcPitch = 100;
    in.srcMemoryType = (CUmemorytype)77;
    RETURNS(cuMemcpy2D(&in), CUDA_ERROR_INVALID_VALUE);
}

TEST(rows_through_the_runtime)
{
    void *a = (void *)(uintptr_t)p.a;
    forget();
    DO(cudaMemcpy2D(a, 256, p.in, 100, 60, 20, cudaMemcpyHostToDevice));
    DO(cudaMemcpy2D(p.out, 64, a, 256, 60, 20, cudaMemcpyDefault));
    FACT(!memcmp(p.out + 19 * 64, p.in + 19 * 100, 60), "cudaMemcpy2D: height rows of width bytes");
    FACT_EQ(p.out[60], 0, "cudaMemcpy2D: the padding is left alone");
    FACT_EQ(cudaMemcpy2D(a, 50, p.in, 100, 60, 20, cudaMemcpyHostToDevice),
            cudaErrorInvalidPitchValue, "width must not exceed dpitch");
    FACT_EQ(cudaMemcpy2D(a, 256, p.in, 50, 60, 20, cudaMemcpyHostToDevice),
            cudaErrorInvalidPitchValue, "width must not exceed spitch");
    DO(cudaMemcpy2DAsync(p.pinned, 64, a, 256, 60, 20, cudaMemcpyDeviceToHost, p.stream));
    DO(cudaStreamSynchronize(p.stream));
    FACT(!memcmp(p.pinned + 19 * 64, p.in + 19 * 100, 60),
         "cudaMemcpy2DAsync: done with the stream's work");
}

TEST(planes_of_rows)
{
    forget();
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = p.in, .srcPitch = 40,
                         .srcHeight = 10, .srcXInBytes = 2, .srcY = 1, .srcZ = 1,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = p.a, .dstPitch = 64,
                         .dstHeight = 8, .dstXInBytes = 4, .dstY = 2, .dstZ = 1,
                         .WidthInBytes = 30, .Height = 5, .Depth = 3};
    DO(cuMemcpy3D(&box));
    DO(cuMemcpyDtoH(p.out, p.a, 8192));
    for (size_t z = 0; z < 3; z++)
        for (size_t y = 0; y < 5; y += 4)
            FACT(!memcmp(p.out + ((z + 1) * 8 + y + 2) * 64 + 4,
                         p.in + ((z + 1) * 10 + y + 1) * 40 + 2, 30),
                 "cuMemcpy3D: base + (z * height + y) * pitch + x on both sides");
    FACT(!p.out[(8 + 7) * 64 + 4], "cuMemcpy3D: Height rows of each plane");
}

TEST(planes_through_the_runtime)
{
    struct cudaMemcpy3DParms box = {0};
    forget();
    box.srcPtr = (struct cudaPitchedPtr){p.in, 32, 32, 6};
    box.dstPtr = (struct cudaPitchedPtr){(void *)(uintptr_t)p.a, 64, 64, 6};
    box.srcPos = (struct cudaPos){1, 1, 0};
    box.dstPos = (struct cudaPos){0, 2, 1};
    box.extent = (struct cudaExtent){20, 3, 2};
    box.kind = cudaMemcpyHostToDevice;
    DO(cudaMemcpy3D(&box));
    DO(cuMemcpyDtoH(p.out, p.a, 4096));
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 3; y++)
            FACT(!memcmp(p.out + ((z + 1) * 6 + y + 2) * 64, p.in + (z * 6 + y + 1) * 32 + 1, 20),
                 "cudaMemcpy3D: positions in units of unsigned char");
}
