/* SPDX-License-Identifier: Apache-2.0
 *
 * nvJPEG's decoder of one image: the header of its file gives the sizes, pixels are not computed. A state allocates on
 * the device what the coefficients of its largest image need. */
#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/nvjpeg/vs_nvjpeg_api.h"

VS_NVJPEG_FUNCTIONS(VS_LIBRARY_DECLARE)

enum { STATE = 2 };
struct nvjpegJpegState {
    size_t bytes;
    CUdeviceptr coefficients;
};

int nvjpegGetImageInfo(struct nvjpegHandle *handle, unsigned char *data, size_t length, int *components,
                       int *subsampling, int *widths, int *heights)
{
    static const signed char of_samples[5][3] = {[1] = {-1, NVJPEG_CSS_444, NVJPEG_CSS_440},
                                                 {-1, NVJPEG_CSS_422, NVJPEG_CSS_420},
                                                 {-1, -1, -1}, {-1, NVJPEG_CSS_411, NVJPEG_CSS_410}};
    if (!vs_library_object(handle, 1) || !data || !components || !subsampling || !widths || !heights)
        return NVJPEG_STATUS_INVALID_PARAMETER;
    for (size_t at = 2; at + 20 <= length && data[at] == 0xff; at += 2u + (unsigned)(data[at + 2] << 8 | data[at + 3])) {
        const unsigned char *frame = data + at, *samples = frame + 11;
        int width = frame[7] << 8 | frame[8], height = frame[5] << 8 | frame[6], count = frame[9];
        int across = samples[0] >> 4, down = samples[0] & 15; /* no other component has more */
        if (frame[1] < 0xc0 || frame[1] > 0xcf || frame[1] == 0xc4 || frame[1] == 0xc8 || frame[1] == 0xcc)
            continue; /* no begin of a frame */
        if (count < 1 || count > 4 || !across || !down || at + 10 + 3 * (size_t)count > length)
            break;
        for (int i = 0; i < 4; i++) {
            widths[i] = i < count ? (width * (samples[3 * i] >> 4) + across - 1) / across : 0;
            heights[i] = i < count ? (height * (samples[3 * i] & 15) + down - 1) / down : 0;
        }
        *components = count;
        *subsampling = count == 1 ? NVJPEG_CSS_GRAY : across > 4 || down > 2 ? -1 : of_samples[across][down];
        return NVJPEG_STATUS_SUCCESS;
    }
    return NVJPEG_STATUS_BAD_JPEG;
}

int nvjpegDecode(struct nvjpegHandle *handle, struct nvjpegJpegState *state, unsigned char *data, size_t length,
                 int format, nvjpegImage_t *to, struct CUstream_st *stream)
{
    int components, subsampling, widths[4], heights[4];
    int e = nvjpegGetImageInfo(handle, data, length, &components, &subsampling, widths, heights);
    bool interleaved = format == NVJPEG_OUTPUT_RGBI || format == NVJPEG_OUTPUT_BGRI;
    if (!e && (!vs_library_object(state, STATE) || !to || !to->channel[0] ||
               to->pitch[0] < (size_t)widths[0] * (interleaved ? 3 : 1)))
        e = NVJPEG_STATUS_INVALID_PARAMETER;
    size_t bytes = 0;
    for (int i = 0; i < components && !e; i++)
        bytes += (size_t)(widths[i] + 7) / 8 * ((size_t)(heights[i] + 7) / 8) * 64 * 2;
    if (!e && bytes > state->bytes) {
        vs_library_driver()->cuMemFree_v2(state->coefficients);
        *state = (struct nvjpegJpegState){bytes, 0};
        if (vs_library_driver()->cuMemAlloc_v2(&state->coefficients, bytes))
            state->bytes = 0, e = NVJPEG_STATUS_ALLOCATOR_FAILURE;
        vs_library_assume("nvjpegDecode", bytes, "16 bits for each sample of the image");
    }
    struct vs_sim_work work = {"nvjpegDecode", VS_SIM_FP32, .bytes = 3.0 * (double)bytes, .blocks = bytes >> 14};
    return e ? e : vs_library_submit(stream, &work) ? NVJPEG_STATUS_EXECUTION_FAILED : NVJPEG_STATUS_SUCCESS;
}

int nvjpegJpegStateCreate(struct nvjpegHandle *handle, struct nvjpegJpegState **state)
{
    struct vs_library_access made = {.kind = STATE, .bytes = sizeof **state};
    return vs_library_object(handle, 1) ? vs_library_make(state, &made) : NVJPEG_STATUS_NOT_INITIALIZED;
}

int nvjpegJpegStateDestroy(struct nvjpegJpegState *state)
{
    if (vs_library_object(state, STATE))
        vs_library_driver()->cuMemFree_v2(state->coefficients);
    return vs_library_destroy(state, &(struct vs_library_access){.kind = STATE});
}
