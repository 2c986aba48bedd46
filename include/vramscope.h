/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope's C API, for programs that want to ask about or annotate their own
 * GPU memory. Nothing here is needed to be profiled: `vramscope run` works on
 * programs that know nothing of it.
 *
 * Link with libvramscope (pkg-config vramscope, CMake vramscope::vramscope); the
 * program then carries the profiler in front of CUDA without LD_PRELOAD. Or do not
 * link with it and use it where it happens to be in front: define VRAMSCOPE_WEAK before
 * this header is included (GCC, Clang), and ask before each call:
 *
 *     if (vramscope_get_statistic)
 *         vramscope_get_statistic(0, "reserved_bytes.all.peak", &peak);
 *
 * or look the function up: dlsym(RTLD_DEFAULT, "vramscope_get_statistic").
 *
 * Every function may be called from any thread, at any time, CUDA used or not;
 * none from a signal handler. In the child of a fork they tell of no memory. None of them makes a process use CUDA, except
 * vramscope_torch_alloc. Sizes are bytes. Functions that return int return 0, or -1
 * and then write nothing. An ordinal is out of range when there is no such device; as long
 * as CUDA is not initialised, from 64 on. Structures keep their fields: what later versions know more
 * comes by further functions and keys. */
#ifndef VRAMSCOPE_H
#define VRAMSCOPE_H

#include <stddef.h>
#include <stdint.h>

#if defined VRAMSCOPE_WEAK && defined __GNUC__
#define VRAMSCOPE_API __attribute__((weak))
#else
#define VRAMSCOPE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define VRAMSCOPE_VERSION "0.1.0"

/* --- simple: what is it, and is it on --- */

/* The library's version, such as "0.1.0". Static storage. */
VRAMSCOPE_API const char *vramscope_version(void);

/* 1 while a trace is being recorded, else 0 (no CUDA call yet, a forked child, or
 * recording failed). */
VRAMSCOPE_API int vramscope_recording(void);

/* --- figures of a device --- */

/* Bytes of one device, all its contexts together. allocated: live blocks;
 * requested: what the program asked for in them; reserved: taken from the device,
 * cached free memory included. Host memory is not counted. */
struct vramscope_device_stats {
    uint64_t allocated, requested, reserved;
    uint64_t allocated_peak, requested_peak, reserved_peak;
    uint64_t allocations, frees, failures; /* counts */
};

/* Fill *stats* for CUDA device *device*. -1 when the ordinal is out of range or *stats*
 * is NULL. */
VRAMSCOPE_API int vramscope_get_device_stats(int device, struct vramscope_device_stats *stats);

/* Set every peak of *device* to its present value: the three above, and those of
 * vramscope_get_statistic. -1 when the ordinal is out of range. */
VRAMSCOPE_API int vramscope_reset_peaks(int device);

/* Free and total memory of *device* as the program should see it: as cudaMemGetInfo,
 * memory that the cache holds free counted as free. Either pointer may be NULL. -1 when
 * the process has not used the device yet, or the driver does not say. Costs a driver
 * call: microseconds. */
VRAMSCOPE_API int vramscope_get_memory_info(int device, uint64_t *free_bytes,
                                            uint64_t *total_bytes);

/* The last allocation on a device that failed. */
struct vramscope_failure {
    uint64_t requested;
    uint64_t device_free, device_total; /* as the driver had it; 0: it did not say */
    uint64_t allocated, reserved;       /* as in vramscope_device_stats, at that moment */
    uint64_t time_ns;                   /* CLOCK_MONOTONIC */
    int64_t error;                      /* CUresult */
};

/* Fill *failure*. -1 when no allocation on *device* has failed, the ordinal is out of
 * range, or *failure* is NULL. */
VRAMSCOPE_API int vramscope_get_last_failure(int device, struct vramscope_failure *failure);

/* --- statistics of the allocator ---
 *
 * Names and meanings are those of torch.cuda.memory_stats: NAME.POOL.FIELD with
 *   NAME   allocation, segment, active, inactive_split, allocated_bytes, reserved_bytes,
 *          active_bytes, inactive_split_bytes, requested_bytes
 *   POOL   all, small_pool, large_pool
 *   FIELD  current, peak, allocated, freed
 * then oversize_allocations.FIELD and oversize_segments.FIELD, and the plain counters
 * num_alloc_retries, num_ooms, num_sync_all_streams, num_device_alloc, num_device_free,
 * num_reuse_syncs (synchronisations before freed memory was handed out again) and
 * max_split_size (-1: unlimited). They cover the memory that vramscope's allocator
 * serves; with --allocator=observe it serves none and every figure is 0. A device with
 * several contexts has the sum of theirs; a sum of peaks is an upper bound then. */

/* One figure by its key. -1 for a key that this version does not know, an ordinal out
 * of range, or NULL. */
VRAMSCOPE_API int vramscope_get_statistic(int device, const char *key, int64_t *value);

/* Every figure, in the order above. *key* lives until *visit* returns. The figures of
 * one call belong together. No lock is held while *visit* runs. -1 when the ordinal is
 * out of range or *visit* is NULL. */
VRAMSCOPE_API int vramscope_visit_statistics(int device,
                                             void (*visit)(const char *key, int64_t value,
                                                           void *arg),
                                             void *arg);

/* Zero what counts since the start: FIELD allocated and freed, and the num_ counters.
 * -1 when the ordinal is out of range. */
VRAMSCOPE_API int vramscope_reset_accumulated(int device);

/* --- what the allocator holds --- */

struct vramscope_segment {
    uint64_t address, size;
    uint64_t stream; /* handle of the stream it was made for; 0: the default one, or none */
    int device;
    int pool;        /* 0 small, 1 large */
    int expandable;  /* 1: memory mapped as it is needed; each mapped run counts as one */
    int view;        /* 1: memory of other segments, mapped here as well; not reserved again */
};

enum vramscope_block_state {
    VRAMSCOPE_BLOCK_FREE = 0,   /* cached */
    VRAMSCOPE_BLOCK_LIVE = 1,   /* the program has it */
    VRAMSCOPE_BLOCK_PENDING = 2, /* freed, but a stream may still use it */
    VRAMSCOPE_BLOCK_LENT = 3     /* used by a block in a view */
};

struct vramscope_block {
    uint64_t address, size;
    uint64_t requested; /* 0 unless live or pending */
    int state;          /* enum vramscope_block_state */
};

/* Call *visit* for every segment of *device*, first with *block* NULL and then for each
 * of its blocks; segments of one context and blocks come by rising address, and blocks
 * tile their segment. It is a copy: no lock is held while *visit* runs, which may
 * allocate and free. *visit* returns 0 to go on, anything else to end the walk. -1 when
 * the ordinal is out of range, *visit* is NULL, or there is no host memory for the
 * copy. */
VRAMSCOPE_API int vramscope_snapshot(int device,
                                     int (*visit)(const struct vramscope_segment *segment,
                                                  const struct vramscope_block *block, void *arg),
                                     void *arg);

/* The same blocks without their segments, into the caller's array: at most *max* are
 * written, and the number there are is returned, which may be more. -1 as above, or when
 * *blocks* is NULL and *max* is not 0. */
VRAMSCOPE_API int64_t vramscope_copy_blocks(int device, struct vramscope_block *blocks,
                                            size_t max);

/* --- annotations, as NVTX ranges are --- */

/* Open and close a named range on the calling thread; they nest. A name such as
 * "step 12" starts iteration 12. The text is copied. */
VRAMSCOPE_API void vramscope_range_push(const char *name);
VRAMSCOPE_API void vramscope_range_pop(void);

/* A point in time. */
VRAMSCOPE_API void vramscope_mark(const char *name);

/* --- control --- */

/* Give free cached segments of *device* back to the driver. Returns the bytes
 * released; 0 when the cache is off or holds none. May synchronise the device. */
VRAMSCOPE_API uint64_t vramscope_trim(int device);

/* Let the allocator reserve at most *fraction* of the memory of *device*, 0 to 1; 0 and
 * 1: no limit. Holds from now on; what is reserved already stays. Requests beyond it
 * are answered as out of memory. It limits cudaMalloc while the cache serves it, and
 * vramscope_torch_alloc. -1 when an argument is out of range or the driver does not say
 * how much memory there is. */
VRAMSCOPE_API int vramscope_set_memory_fraction(int device, double fraction);

/* Write everything recorded so far to the trace file. Blocks for that long. */
VRAMSCOPE_API void vramscope_flush(void);

/* --- memory in stream order ---
 *
 * An allocator for programs that name the stream of each request, of the kind that
 * torch.cuda.memory.CUDAPluggableAllocator takes. Freed memory serves the same stream
 * again at once, and other streams once their work on it is known to be done; neither
 * waits for the device. The options policy and alloc_conf apply. Allocations are
 * recorded with their streams. In Python:
 *
 *     import ctypes, torch
 *     path = "libvramscope.so"
 *     lib = ctypes.CDLL(path)
 *     def address(name):
 *         return ctypes.cast(getattr(lib, name), ctypes.c_void_p).value
 *     wrapper = torch.cuda.memory.CUDAPluggableAllocator(
 *         path, "vramscope_torch_alloc", "vramscope_torch_free")
 *     a = wrapper.allocator()
 *     a.set_init_fn(address("vramscope_torch_init"))
 *     a.set_reset_fn(address("vramscope_torch_reset"))
 *     a.set_memory_fraction_fn(address("vramscope_torch_set_memory_fraction"))
 *     a.set_base_alloc_fn(address("vramscope_torch_base_alloc"))
 *     a.set_record_stream_fn(address("vramscope_torch_record_stream"))
 *     a.set_begin_allocate_to_pool(address("vramscope_torch_begin_allocate_to_pool"))
 *     a.set_end_allocate_to_pool_fn(address("vramscope_torch_end_allocate_to_pool"))
 *     a.set_release_pool(address("vramscope_torch_release_pool"))
 *     torch.cuda.memory.change_current_allocator(wrapper)  # before the first tensor
 *
 * *stream* is a cudaStream_t, the default streams included; a stream must outlive the
 * blocks that were allocated for it or used on it. While a stream is captured into a graph it gets
 * memory from a private pool alone, for what a graph uses must stay its own. */

/* A block of at least *bytes* on *device* for work on *stream*; NULL for 0 bytes, and
 * when there is no memory. Inside PyTorch, which does not look for NULL, the latter is
 * thrown as std::bad_alloc instead. */
VRAMSCOPE_API void *vramscope_torch_alloc(size_t bytes, int device, void *stream);

/* Give a block back. *stream*: the last one to use it, whose work so far is waited for
 * (without the host waiting) before another stream gets the memory. NULL as *pointer*
 * does nothing; *bytes* and *device* are not needed. cudaFree and cudaFreeAsync refuse these
 * blocks (cudaErrorInvalidValue) where the library is in front of CUDA. */
VRAMSCOPE_API void vramscope_torch_free(void *pointer, size_t bytes, int device, void *stream);

/* Work on *stream* uses the block as well: once freed, it waits for that too. */
VRAMSCOPE_API void vramscope_torch_record_stream(void *pointer, void *stream);

/* The device allocation that *pointer* lies in, and its size (may be NULL); *pointer*
 * itself when it is not from here. Asked about memory that the driver cannot share with
 * other processes (expandable segments, compact), it gives the block and makes later
 * allocations shareable. */
VRAMSCOPE_API void *vramscope_torch_base_alloc(void *pointer, size_t *bytes);

/* empty_cache: free cached memory of all devices goes back to the driver. */
VRAMSCOPE_API void vramscope_torch_reset(void);

/* vramscope_set_memory_fraction, in PyTorch's order of arguments. */
VRAMSCOPE_API void vramscope_torch_set_memory_fraction(double fraction, int device);

/* Private pools, as for captured graphs. From begin to end requests go to the pool:
 * those on the streams that *streams* accepts, PyTorch's std::function (of the GNU C++
 * library), copied; or with NULL those of the calling thread. Memory of the pool serves
 * nobody else until release has been called once for each begin and it is free. */
struct vramscope_torch_pool {
    unsigned long long first, second; /* not both 0 */
};
VRAMSCOPE_API void vramscope_torch_begin_allocate_to_pool(int device,
                                                          struct vramscope_torch_pool pool,
                                                          void *streams);
VRAMSCOPE_API void vramscope_torch_end_allocate_to_pool(int device,
                                                        struct vramscope_torch_pool pool);
VRAMSCOPE_API void vramscope_torch_release_pool(int device, struct vramscope_torch_pool pool);

/* Called by PyTorch with the number of devices; nothing is to be done. */
VRAMSCOPE_API void vramscope_torch_init(int device_count);

#ifdef __cplusplus
}
#endif
#endif
