/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope's C API, for programs that want to ask about or annotate their own
 * GPU memory. Nothing here is needed to be profiled: `vramscope run` works on
 * programs that know nothing of it.
 *
 * Link with libvramscope (pkg-config vramscope, CMake vramscope::vramscope); the
 * program then carries the profiler in front of CUDA without LD_PRELOAD.
 *
 * Every function may be called from any thread, at any time, CUDA used or not;
 * none from a signal handler. */
#ifndef VRAMSCOPE_H
#define VRAMSCOPE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VRAMSCOPE_VERSION "0.1.0"

/* --- simple: what is it, and is it on --- */

/* The library's version, such as "0.1.0". Static storage. */
const char *vramscope_version(void);

/* 1 while a trace is being recorded, else 0 (no CUDA call yet, a forked child, or
 * recording failed). */
int vramscope_recording(void);

/* --- statistics --- */

/* Bytes of one device, all its contexts together. allocated: live blocks;
 * requested: what the program asked for in them; reserved: taken from the device,
 * cached free memory included. Host memory is not counted. */
struct vramscope_device_stats {
    uint64_t allocated, requested, reserved;
    uint64_t allocated_peak, requested_peak, reserved_peak;
    uint64_t allocations, frees, failures; /* counts */
};

/* Fill *stats* for CUDA device *device*. 0; -1 when the ordinal is out of range
 * or *stats* is NULL (then unwritten). */
int vramscope_get_device_stats(int device, struct vramscope_device_stats *stats);

/* Set the three peaks of *device* to the present values. 0, or -1 as above. */
int vramscope_reset_peaks(int device);

/* --- annotations, as NVTX ranges are --- */

/* Open and close a named range on the calling thread; they nest. A name such as
 * "step 12" starts iteration 12. The text is copied. */
void vramscope_range_push(const char *name);
void vramscope_range_pop(void);

/* A point in time. */
void vramscope_mark(const char *name);

/* --- control --- */

/* Give free cached segments of *device* back to the driver. Returns the bytes
 * released; 0 when the cache is off or holds none. May synchronise the device. */
uint64_t vramscope_trim(int device);

/* Write everything recorded so far to the trace file. Blocks for that long. */
void vramscope_flush(void);

#ifdef __cplusplus
}
#endif
#endif
