/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stand-ins for cuBLAS, cuDNN, NCCL and the other libraries that frameworks link have in
 * common: the description of the library, work on a stream, checked handles, notes of what was
 * assumed or is not supported, and calls of the simulated driver. Every stand-in links a copy of
 * its own of these functions. Its functions are defined in its C files, or rows of its NAME.calls; those
 * of its unsupported.txt return its "not supported" (vs_library_fallback.h). All functions may be called
 * from any thread. */
#ifndef VS_LIBRARY_BASE_H
#define VS_LIBRARY_BASE_H

#include <cuda.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulator/driver/vs_sim_host.h"
#include "simulator/driver/vs_sim_work.h"
#include "vramscope_simulator.h"

#define VS_LIBRARY_EXPORT __attribute__((visibility("default")))
/* The declarations of a library's functions: VS_NAME_FUNCTIONS(VS_LIBRARY_DECLARE), which the build writes. */
#define VS_LIBRARY_DECLARE(result, name, parameters) VS_LIBRARY_EXPORT result name parameters;

struct vs_library_version {
    int major, minor, patch;
};
struct vs_library {
    const char *name;               /* in messages: "cuBLAS" */
    const char *package;            /* in VRAMSCOPE_SIMULATE_LIBRARIES: "cublas" */
    int not_supported;              /* the status, and its name */
    const char *not_supported_name;
    int no_handle, no_object, wrong; /* statuses; the others are of NAME.calls */
    struct vs_library_version newest, newest_of_12; /* that it has; with the runtime of CUDA 12 */
};
extern const struct vs_library vs_library; /* each library has its own: cmake/library_calls.py */

/* vs_library_cuda_major: the major release of the CUDA runtime in this process: 12 or 13. */
int vs_library_cuda_major(void);

/* ---- version ---- */

/* vs_library_version: the version to report: that of VRAMSCOPE_SIMULATE_LIBRARIES
 * ("cudnn=9.20.0,nccl=2.29.3") if it names the library, else the newest. */
struct vs_library_version vs_library_version(void);
/* vs_library_get_version: stores it as one number. vs_library_get_property: the part that a
 * libraryPropertyType names. Both return 0, or the status of a wrong argument. */
int vs_library_get_version(int *to, int major_scale, int minor_scale);
int vs_library_get_property(int type, int *to);

/* vs_library_cubin: writes an image without code for architecture *arch* (90: sm_90) into *to*, in
 * which the simulated driver finds kernels of every name, and the variables of *ptx* (NULL: none).
 * vs_library_cubin_bytes: its size. */
size_t vs_library_cubin_bytes(const char *ptx);
void vs_library_cubin(int arch, const char *ptx, void *to);

/* ---- types of elements (library_type.c) ---- */

/* vs_library_bits: size of an element of cudaDataType *type* in bits; 0 if it is none. */
int vs_library_bits(int type);
bool vs_library_is_complex(int type);
/* vs_library_number: the arithmetic that multiplies elements of *type*, without TF32. */
enum vs_sim_number vs_library_number(int type);

/* A format of 8 or 16 bits: bits of the mantissa and the exponent, bias of the exponent, largest finite
 * value, whether the largest exponent stands for infinity (else only all ones are a NaN), and whether
 * values beyond the range become the largest one. */
struct vs_library_narrow {
    int mantissa, exponent, bias;
    double largest;
    bool infinity, saturate;
};
extern const struct vs_library_narrow vs_library_half, vs_library_bfloat;
double vs_library_widen(const struct vs_library_narrow *format, unsigned bits);
/* vs_library_narrow: *value* rounded to nearest even. */
unsigned vs_library_narrow(const struct vs_library_narrow *format, double value);

/* ---- the simulated driver (library_driver.c) ---- */

/* Functions of libcuda.so.1, found by dlsym, so that whatever stands in front of the driver sees
 * the library's calls as it sees those of NVIDIA's libraries. */
#define VS_LIBRARY_DRIVER(F)                                                                       \
    F(cuCtxGetCurrent) F(cuCtxGetDevice) F(cuCtxPopCurrent_v2) F(cuCtxPushCurrent_v2)              \
    F(cuCtxSetCurrent) F(cuDeviceGetAttribute) F(cuDeviceGetPCIBusId) F(cuDevicePrimaryCtxRetain)  \
    F(cuEventCreate) F(cuEventDestroy_v2) F(cuEventRecord) F(cuGetErrorName)                       \
    F(cuGraphRetainUserObject) F(cuInit) F(cuLaunchHostFunc) F(cuMemAlloc_v2)                      \
    F(cuMemcpy2DAsync_v2) F(cuMemcpyDtoDAsync_v2) F(cuMemFree_v2) F(cuMemsetD2D32Async)            \
    F(cuMemsetD32Async) F(cuMemsetD8Async) F(cuModuleLoadData) F(cuPointerGetAttribute)            \
    F(cuStreamGetCaptureInfo_v3) F(cuStreamIsCapturing) F(cuStreamSynchronize)                     \
    F(cuStreamWaitEvent) F(cuThreadExchangeStreamCaptureMode) F(cuUserObjectCreate)
struct vs_library_driver {
#define VS_LIBRARY_POINTER(name) __typeof__(name) *name;
    VS_LIBRARY_DRIVER(VS_LIBRARY_POINTER)
#undef VS_LIBRARY_POINTER
    vramscope_sim_library_work_fn *work;
    int (*register_kernel)(const char *name, vramscope_sim_kernel fn, const size_t *arg_bytes,
                           unsigned arg_count);
};
/* vs_library_driver: its table. NULL, with one line on standard error, if the process runs on
 * another driver than the simulated one. */
const struct vs_library_driver *vs_library_driver(void);

/* vs_library_attribute: an attribute of the current context's device; 0 without a context. */
int vs_library_attribute(CUdevice_attribute attribute);

/* vs_library_use_device: makes the primary context of device 0 current if the calling thread has no
 * context, as a library does when it is the first to use CUDA there. false if that fails. */
bool vs_library_use_device(void);

/* vs_library_submit: queues work on *stream* (CUDA's streams of the runtime and of the driver are
 * the same handles). Returns what cuLaunchKernel would. */
CUresult vs_library_submit(CUstream stream, const struct vs_sim_work *work);

/* vs_library_compute: the same, and *fn* runs once on the CPU when the work is reached, in the order
 * of the stream and in every launch of a graph that captured it: its only argument, args[0], is a
 * copy of *bytes* bytes at *data*. work->name belongs to *fn* and to this size alone. The work takes
 * the time that *fn* takes. CUDA_ERROR_OUT_OF_MEMORY. */
CUresult vs_library_compute(CUstream stream, const struct vs_sim_work *work,
                            vramscope_sim_kernel fn, const void *data, size_t bytes);

/* vs_library_in_order: *run* gets a copy of the *bytes* at *data* once *stream* has reached the call, and
 * in every launch of a graph that captured it. On a thread on which no CUDA function may be called. */
CUresult vs_library_in_order(CUstream stream, void (*run)(void *data), const void *data, size_t bytes);

/* vs_library_computes: may results be computed in the order of the stream? false in a process with a
 * Python interpreter, where the Python part computes values of small tensors when the program calls
 * an operation: a result that is written later could replace them. */
bool vs_library_computes(void);

/* vs_library_zero: sets *bytes* at a device or host address to 0 in the order of *stream*: for
 * small outputs such as the status of a factorisation. */
CUresult vs_library_zero(CUstream stream, void *address, size_t bytes);

/* ---- objects: handles, descriptors, plans (library_object.c) ---- */

/* vs_library_new: zeroed memory of *bytes* bytes, known as an object of *kind* (> 0, the library's
 * own numbers). */
void *vs_library_new(int kind, size_t bytes);
/* vs_library_object: *handle* if it is a live object of *kind*, else NULL. Never reads through it. */
void *vs_library_object(const void *handle, int kind);
/* vs_library_delete: frees a live object of *kind*; false if it is none. */
bool vs_library_delete(const void *handle, int kind);
/* vs_library_adopt, vs_library_forget: the same for memory that something else allocates and frees. */
void vs_library_adopt(const void *object, int kind);
bool vs_library_forget(const void *object, int kind);

/* Rows of a NAME.calls about one object, which is their handle. They return 0 or a status of vs_library;
 * kind 1 is a library's handle. */
struct vs_library_access {
    int kind;
    size_t at, bytes; /* of a member; the bytes of an object that is made */
    const void *from; /* the member's new value */
    void *to;         /* receives the member's value */
    bool bad;         /* the value is wrong */
};
/* vs_library_make: makes an object, whose address *to* receives; a handle needs the simulated driver. */
int vs_library_make(void *to, const struct vs_library_access *access);
int vs_library_destroy(void *object, const struct vs_library_access *access);
int vs_library_set(void *object, const struct vs_library_access *access);
int vs_library_get(const void *object, const struct vs_library_access *access);

/* ---- notes (library_notes.c) ---- */

/* vs_library_unsupported: prints once for each function that it is not supported, writes the same
 * to VRAMSCOPE_SIMULATE_NOTES, and returns the library's status for it. *why*: NULL, or what of the
 * function is not supported ("with packed weights"). */
int vs_library_unsupported(const char *function, const char *why);
/* vs_library_measured: notes the source of a size that was measured. vs_library_assume: notes that a
 * size without a measured row was assumed to be *bytes*.
 * *name*: the function or operation; *why*: in plain words. The same note is written once. */
void vs_library_measured(const char *name, uint64_t bytes, const char *source);
void vs_library_assume(const char *name, uint64_t bytes, const char *why);

#endif
