/* SPDX-License-Identifier: Apache-2.0
 *
 * The C API of vramscope, for programs that query or annotate their own use of GPU
 * memory. Recording does not need it: `vramscope run` works on unmodified programs.
 *
 * There are three ways to use it. Link with libvramscope (pkg-config vramscope, CMake
 * vramscope::vramscope), named after libcudart: a linker that drops unneeded libraries may
 * otherwise drop libcudart. The program then records without LD_PRELOAD. Include
 * vramscope_client.h instead, which needs nothing else: its functions do nothing while the
 * library is not loaded. Or define VRAMSCOPE_WEAK before including this header (GCC, Clang),
 * and test each function before calling it:
 *
 *     if (vramscope_get_statistic)
 *         vramscope_get_statistic(0, "reserved_bytes.all.peak", &peak);
 *
 * Threads: every function may be called from any thread at any time, before or after the
 * first CUDA call, but not from a signal handler. In the child of a fork they report no
 * memory. Only vramscope_torch_alloc makes a process use CUDA.
 *
 * Errors: functions that return int return 0 on success. On failure they return -1 and
 * write nothing. An ordinal is out of range if there is no such device; before CUDA is
 * initialised, from 64 on.
 *
 * Sizes are in bytes. Structures do not change; later versions add functions and keys. */
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

/* --- version and state --- */

/* The library's version, for example "0.1.0". Static storage. */
VRAMSCOPE_API const char *vramscope_version(void);

/* 1 while a trace is being recorded; 0 before the first CUDA call, in a forked child, or if
 * the recording failed or stopped. */
VRAMSCOPE_API int vramscope_recording(void);

/* Write the path of the trace that this process records, as it was opened, to *path*, at most
 * *bytes* with the 0 at the end. Returns the length of the whole path; -1 before the first CUDA
 * call, in a forked child, and if there is no trace. */
VRAMSCOPE_API int vramscope_trace_path(char *path, size_t bytes);

/* --- memory of a device --- */

/* Memory of one device, in bytes, over all its contexts. allocated: in live blocks, after
 * rounding; requested: as requested by the program; reserved: held from the device,
 * including cached memory. Host memory is not included. */
struct vramscope_device_stats {
    uint64_t allocated, requested, reserved;
    uint64_t allocated_peak, requested_peak, reserved_peak;
    uint64_t allocations, frees, failures; /* counts */
};

/* Get the memory figures of CUDA device *device*. -1 if the ordinal is out of range or
 * *stats* is NULL. */
VRAMSCOPE_API int vramscope_get_device_stats(int device, struct vramscope_device_stats *stats);

/* Reset all peaks of *device* to the current values: the three above, and those of
 * vramscope_get_statistic. -1 if the ordinal is out of range. */
VRAMSCOPE_API int vramscope_reset_peaks(int device);

/* Get the free and total memory of *device*, as cudaMemGetInfo returns it: memory cached
 * by the allocator counts as free. Either pointer may be NULL. -1 if the process has not
 * used the device yet or the driver returns an error. Cost: one driver call, some
 * microseconds. */
VRAMSCOPE_API int vramscope_get_memory_info(int device, uint64_t *free_bytes,
                                            uint64_t *total_bytes);

/* The last failed allocation on a device. */
struct vramscope_failure {
    uint64_t requested;
    uint64_t device_free, device_total; /* from the driver; 0: unknown */
    uint64_t allocated, reserved;       /* as in vramscope_device_stats, at that time */
    uint64_t time_ns;                   /* CLOCK_MONOTONIC */
    int64_t error;                      /* CUresult */
};

/* Get the last failed allocation. -1 if no allocation on *device* has failed, the ordinal is
 * out of range, or *failure* is NULL. */
VRAMSCOPE_API int vramscope_get_last_failure(int device, struct vramscope_failure *failure);

/* --- peak windows ---
 *
 * The peak and the net change of memory between two points of the program, on every device.
 * Windows may overlap, and any thread may read or end them. They cost nothing between the
 * calls; their peaks are exact, and independent of vramscope_reset_peaks. Nothing is written to
 * the trace: for a name there, open a range as well. Without a trace (record=off) they work
 * likewise. */

/* Figures of one device since a window began, in bytes. _begin: when it began; _end: now, or
 * when it ended; _peak: the highest in between, both ends included. allocated, requested and
 * reserved as in vramscope_device_stats; tensors: memory of PyTorch's tensors, which is inside
 * the memory that PyTorch has allocated, and 0 without PyTorch. user: what the program uses, as
 * `vramscope check` limits it: under PyTorch its tensors, and allocated memory that does not hold
 * them (of cuBLAS, NCCL, an extension); otherwise allocated. */
struct vramscope_window_stats {
    uint64_t allocated_begin, allocated_end, allocated_peak;
    uint64_t requested_begin, requested_end, requested_peak;
    uint64_t reserved_begin, reserved_end, reserved_peak;
    uint64_t tensors_begin, tensors_end, tensors_peak;
    uint64_t allocations, frees, failures;     /* counts, since it began */
    uint64_t tensor_allocations, tensor_frees; /* likewise, of tensors */
    uint64_t begin_ns, end_ns;                 /* CLOCK_MONOTONIC */
    uint64_t user_begin, user_end, user_peak;
    uint64_t user_allocations, user_frees;     /* counts, since it began */
};

/* Open a window. Returns its number, above 0; -1 in a forked child, and if 256 are open. Cost:
 * some microseconds, more with many open windows. */
VRAMSCOPE_API int64_t vramscope_window_begin(void);

/* Get the figures of an open window for *device*. -1 if the window is not open, the ordinal is
 * out of range, or *stats* is NULL. */
VRAMSCOPE_API int vramscope_window_read(int64_t window, int device,
                                        struct vramscope_window_stats *stats);

/* Get the figures, and close the window, for all devices: read those of other devices first.
 * *stats* may be NULL. -1 if the window is not open or the ordinal is out of range. */
VRAMSCOPE_API int vramscope_window_end(int64_t window, int device,
                                       struct vramscope_window_stats *stats);

/* --- statistics of the allocator ---
 *
 * Names and meanings are those of torch.cuda.memory_stats: NAME.POOL.FIELD with
 *   NAME   allocation, segment, active, inactive_split, allocated_bytes, reserved_bytes,
 *          active_bytes, inactive_split_bytes, requested_bytes
 *   POOL   all, small_pool, large_pool
 *   FIELD  current, peak, allocated, freed
 * also oversize_allocations.FIELD and oversize_segments.FIELD, and the plain counters
 * num_alloc_retries, num_ooms, num_sync_all_streams, num_device_alloc, num_device_free,
 * num_reuse_syncs (synchronisations before freed memory was reused) and max_split_size
 * (-1: unlimited). They cover memory served by vramscope's allocator; with
 * --allocator=observe all are 0. For a device with several contexts they are sums; a sum
 * of peaks is an upper bound. */

/* Get one statistic by its key. -1 if the key is unknown in this version, the ordinal is out
 * of range, or a pointer is NULL. */
VRAMSCOPE_API int vramscope_get_statistic(int device, const char *key, int64_t *value);

/* Call *visit* with every statistic, in the order above. *key* is valid until *visit*
 * returns. The values of one call are consistent with each other. No lock is held during
 * *visit*. -1 if the ordinal is out of range or *visit* is NULL. */
VRAMSCOPE_API int vramscope_visit_statistics(int device,
                                             void (*visit)(const char *key, int64_t value,
                                                           void *arg),
                                             void *arg);

/* Reset the totals since the start to 0: the fields allocated and freed, and the num_
 * counters. -1 if the ordinal is out of range. */
VRAMSCOPE_API int vramscope_reset_accumulated(int device);

/* --- segments and blocks of the allocator --- */

struct vramscope_segment {
    uint64_t address, size;
    uint64_t stream; /* handle of its stream; 0: the default stream, or none */
    int device;
    int pool;        /* 0 small, 1 large */
    int expandable;  /* 1: memory is mapped on demand; each contiguous part is a segment */
    int view;        /* 1: a second mapping of memory of other segments */
};

enum vramscope_block_state {
    VRAMSCOPE_BLOCK_FREE = 0,   /* cached */
    VRAMSCOPE_BLOCK_LIVE = 1,   /* in use by the program */
    VRAMSCOPE_BLOCK_PENDING = 2, /* freed, but a stream may still use it */
    VRAMSCOPE_BLOCK_LENT = 3     /* used by a block in a view */
};

struct vramscope_block {
    uint64_t address, size;
    uint64_t requested; /* 0 unless live or pending */
    int state;          /* enum vramscope_block_state */
};

/* Call *visit* for every segment of *device*: first with *block* NULL, then for each of its
 * blocks. The segments of one context, and the blocks of a segment, are in ascending order
 * of address; the blocks cover the whole segment. *visit* receives a copy: no lock is held,
 * and it may allocate and free. It returns 0 to continue; any other value ends the walk.
 * -1 if the ordinal is out of range, *visit* is NULL, or there is not enough host memory. */
VRAMSCOPE_API int vramscope_snapshot(int device,
                                     int (*visit)(const struct vramscope_segment *segment,
                                                  const struct vramscope_block *block, void *arg),
                                     void *arg);

/* Copy the same blocks, without their segments, to an array of the caller. Writes at most
 * *max* blocks. Returns the total number of blocks, which may be larger. -1 as above, or if
 * *blocks* is NULL and *max* is not 0. */
VRAMSCOPE_API int64_t vramscope_copy_blocks(int device, struct vramscope_block *blocks,
                                            size_t max);

/* --- annotations, like NVTX ranges and marks --- */

/* Open and close a named range on the calling thread. Ranges nest. A name such as
 * "step 12" marks step 12 of the program. The text is copied. */
VRAMSCOPE_API void vramscope_range_push(const char *name);
VRAMSCOPE_API void vramscope_range_pop(void);

/* Begin step *number* of the calling thread, for example an iteration of training: ends the step
 * that an earlier call began. Growth and leaks are judged by steps. Ranges may begin and end
 * inside of a step or around it. vramscope_step_end ends the last step. */
VRAMSCOPE_API void vramscope_step(uint64_t number);
VRAMSCOPE_API void vramscope_step_end(void);

/* Name the next allocation of the calling thread: it is recorded in a range of that name, which
 * ends with it. Under PyTorch the next allocation is that of a tensor, otherwise any that is
 * recorded. NULL or "" takes the name back. The text is copied. */
VRAMSCOPE_API void vramscope_annotate(const char *name);

/* Record a named point in time. The text is copied. */
VRAMSCOPE_API void vramscope_mark(const char *name);

/* --- an allocator of your own ---
 *
 * An allocator that takes memory from CUDA and hands out parts of it may report them. The report
 * and the page then show these blocks with their call sites, as they show PyTorch's tensors. */

/* Call before the allocator takes memory for the first time. */
VRAMSCOPE_API void vramscope_pool_begin(void);

/* The allocator has handed out *block*, *bytes* of its memory on CUDA device *device*; and is about
 * to take it back. The first block in a new piece of memory should begin where the memory does:
 * thereby it is known that the memory holds blocks. */
VRAMSCOPE_API void vramscope_pool_alloc(const void *block, size_t bytes, int device);
VRAMSCOPE_API void vramscope_pool_free(const void *block, size_t bytes, int device);

/* --- control --- */

/* Release unused cached segments of *device* to the driver. Returns the released bytes; 0 if
 * there is no cache or it is empty. May synchronise the device. */
VRAMSCOPE_API uint64_t vramscope_trim(int device);

/* Limit the memory that the allocator reserves to *fraction* (0 to 1) of the memory of
 * *device*; 0 and 1 remove the limit. Memory that is already reserved stays. Requests
 * beyond the limit fail with out of memory. Applies to cudaMalloc if it is served from the
 * cache, and to vramscope_torch_alloc. -1 if an argument is out of range or the driver
 * does not report the size of the device. */
VRAMSCOPE_API int vramscope_set_memory_fraction(int device, double fraction);

/* Stop and continue the recording of single allocations, kernels and copies. In between,
 * allocations are counted: totals and peaks stay exact, but their call sites are unknown. Frees of
 * memory that was recorded, ranges and failures are still recorded. Before the first CUDA call
 * they decide how the recording starts. Any number of times; a call without a change does nothing.
 * -1 in a forked child and if there is no trace. */
VRAMSCOPE_API int vramscope_stop_recording(void);
VRAMSCOPE_API int vramscope_start_recording(void);

/* Record kernels, copies, memsets and waits from here on, or no longer (*on* 0); memory is recorded
 * throughout. Waits for the current context's work, unless a stream is being captured, so that exactly
 * the work of the part is recorded. Before the first CUDA call it decides how the recording starts.
 * -1 in a forked child, with kernels=off and without a trace. */
VRAMSCOPE_API int vramscope_record_kernels(int on);

/* Write all recorded events to the trace file. Returns when they are written. */
VRAMSCOPE_API void vramscope_flush(void);

/* Write a complete trace of everything so far to *path*; a file of that name is replaced. The
 * recording goes on. Other threads that allocate wait until everything so far is in the trace, but
 * not for the copy. -1 with errno: ESRCH if nothing is recorded (before the first CUDA call, in a
 * forked child, without a trace, or if the trace is a pipe), EINVAL if *path* is empty, the trace
 * itself, a pipe or a device, otherwise the reason why *path* or the trace could not be written
 * (ENOSPC: a disk is full); *path* is unchanged then. If the process is killed during the call,
 * *path* is unchanged or the whole copy; PATH.*.new beside it, which only file systems without
 * O_TMPFILE such as NFS usually leave, may be deleted. */
VRAMSCOPE_API int vramscope_dump(const char *path);

/* --- stream-ordered allocator ---
 *
 * An allocator for programs that give the stream of each request, with the interface of
 * torch.cuda.memory.CUDAPluggableAllocator. Freed memory is reused immediately on the
 * same stream, and on other streams once the work on it is complete; neither waits for
 * the device. The options policy and alloc_conf apply. Allocations are recorded with
 * their streams. In Python:
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
 * *stream* is a cudaStream_t, including the default streams. A stream must outlive the
 * blocks that were allocated for it or used on it. While a stream is captured, it gets
 * memory from a private pool only, because graphs keep using their addresses. */

/* Allocate at least *bytes* on *device* for work on *stream*. Returns NULL for 0 bytes, and
 * if there is not enough memory. Inside PyTorch, which does not check for NULL, the latter
 * throws std::bad_alloc. The caller frees the block with vramscope_torch_free. */
VRAMSCOPE_API void *vramscope_torch_alloc(size_t bytes, int device, void *stream);

/* Free a block. *stream* is the last stream that used it; another stream gets the memory only
 * after the work submitted to it so far, without a wait of the host. A NULL *pointer* does
 * nothing; *bytes* and *device* are ignored. If the library intercepts CUDA, cudaFree and
 * cudaFreeAsync return cudaErrorInvalidValue for these blocks. */
VRAMSCOPE_API void vramscope_torch_free(void *pointer, size_t bytes, int device, void *stream);

/* Declare that work on *stream* uses the block as well: after a free, reuse waits for it. */
VRAMSCOPE_API void vramscope_torch_record_stream(void *pointer, void *stream);

/* Returns the device allocation that contains *pointer*, and its size (*bytes* may be NULL);
 * *pointer* itself if it is not from this allocator. For memory that the driver cannot
 * share with other processes (expandable segments, compact) it returns the block, and
 * makes later allocations shareable. */
VRAMSCOPE_API void *vramscope_torch_base_alloc(void *pointer, size_t *bytes);

/* PyTorch's empty_cache: release unused cached memory of all devices to the driver. */
VRAMSCOPE_API void vramscope_torch_reset(void);

/* vramscope_set_memory_fraction with the order of arguments of PyTorch. */
VRAMSCOPE_API void vramscope_torch_set_memory_fraction(double fraction, int device);

/* Private pools, for example for captured graphs. Between begin and end, requests go to the
 * pool: those on the streams that *streams* accepts (PyTorch's std::function of the GNU C++
 * library, which is copied), or with NULL those of the calling thread. Memory of the pool
 * is not used for other requests until release has been called once for each begin and
 * the memory is free. */
struct vramscope_torch_pool {
    unsigned long long first, second; /* not both 0 */
};
VRAMSCOPE_API void vramscope_torch_begin_allocate_to_pool(int device,
                                                          struct vramscope_torch_pool pool,
                                                          void *streams);
VRAMSCOPE_API void vramscope_torch_end_allocate_to_pool(int device,
                                                        struct vramscope_torch_pool pool);
VRAMSCOPE_API void vramscope_torch_release_pool(int device, struct vramscope_torch_pool pool);

/* Called by PyTorch with the number of devices. Does nothing. */
VRAMSCOPE_API void vramscope_torch_init(int device_count);

#ifdef __cplusplus
}
#endif
#endif
