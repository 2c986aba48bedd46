/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors: their names and texts, and the last error of each thread in the runtime. */
#include "conf.h"

#include <pthread.h>

TEST(the_last_error_stays_until_it_is_taken)
{
    (void)cudaGetLastError();
    WORKS(cudaPeekAtLastError(), "cudaGetLastError: resets it");
    RETURNS(cudaSetDevice(-1), cudaErrorInvalidDevice);
    FACT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice, "the last error produced");
    FACT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice, "does not reset it");
    DO(cudaDeviceSynchronize());
    FACT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice, "a call that succeeds changes nothing");
    FACT_EQ(cudaGetLastError(), cudaErrorInvalidDevice, "the last error produced");
    WORKS(cudaGetLastError(), "resets it");
}

TEST(a_newer_error_replaces_an_older_one)
{
    int local;
    (void)cudaSetDevice(-1);
    (void)cudaFree(&local);
    INVALID(cudaGetLastError(), "the last error produced");
}

static void *other_thread(void *error)
{
    *(cudaError_t *)error = cudaPeekAtLastError();
    (void)cudaSetDevice(-1);
    return NULL;
}

TEST(each_thread_has_a_last_error)
{
    cudaError_t there = cudaErrorUnknown;
    int local;
    pthread_t thread;
    (void)cudaGetLastError();
    (void)cudaFree(&local);
    DO(pthread_create(&thread, NULL, other_thread, &there));
    pthread_join(thread, NULL);
    FACT_EQ(there, cudaSuccess, "cudaPeekAtLastError: of the host thread");
    INVALID(cudaGetLastError(), "of the host thread");
}

TEST(driver_errors_are_not_the_runtimes)
{
    CUdeviceptr memory;
    (void)cudaGetLastError();
    DO(cuMemAlloc(&memory, 0) == CUDA_ERROR_INVALID_VALUE ? 0 : 1);
    WORKS(cudaGetLastError(), "errors of runtime calls");
}

TEST(most_errors_leave_everything_usable)
{
    void *memory = NULL;
    (void)cudaSetDevice(-1);
    (void)cudaMemcpy(NULL, &memory, 8, (enum cudaMemcpyKind)99);
    (void)cudaGetLastError();
    WORKS(cudaMalloc(&memory, 4096),
          "guide, error checking: an error that is returned and no more");
    WORKS(cudaMemset(memory, 0, 4096), "guide, error checking");
    WORKS(cudaDeviceSynchronize(), "guide, error checking");
    WORKS(cudaFree(memory), "guide, error checking");
}

TEST(names_are_those_of_the_enumerations)
{
#define NAMED(error) {error, #error}
    static const struct {
        cudaError_t error;
        const char *name;
    } runtime[] = {
        NAMED(cudaSuccess), NAMED(cudaErrorInvalidValue), NAMED(cudaErrorMemoryAllocation),
        NAMED(cudaErrorInvalidDevice), NAMED(cudaErrorInvalidMemcpyDirection),
        NAMED(cudaErrorNotReady), NAMED(cudaErrorIllegalAddress),
        NAMED(cudaErrorInvalidResourceHandle), NAMED(cudaErrorNotSupported)};
    static const struct {
        CUresult error;
        const char *name;
    } driver[] = {
        NAMED(CUDA_SUCCESS), NAMED(CUDA_ERROR_INVALID_VALUE), NAMED(CUDA_ERROR_OUT_OF_MEMORY),
        NAMED(CUDA_ERROR_NOT_INITIALIZED), NAMED(CUDA_ERROR_INVALID_CONTEXT),
        NAMED(CUDA_ERROR_INVALID_HANDLE), NAMED(CUDA_ERROR_NOT_READY),
        NAMED(CUDA_ERROR_CONTEXT_IS_DESTROYED), NAMED(CUDA_ERROR_DEVICE_UNAVAILABLE),
        NAMED(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE),
        NAMED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED), NAMED(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED),
        NAMED(CUDA_ERROR_STREAM_CAPTURE_MERGE), NAMED(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED),
        NAMED(CUDA_ERROR_STREAM_CAPTURE_UNJOINED), NAMED(CUDA_ERROR_STREAM_CAPTURE_ISOLATION),
        NAMED(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT), NAMED(CUDA_ERROR_CAPTURED_EVENT),
        NAMED(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD), NAMED(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE),
        NAMED(CUDA_ERROR_INVALID_RESOURCE_TYPE), NAMED(CUDA_ERROR_EXTERNAL_DEVICE)};
    for (size_t i = 0; i < sizeof runtime / sizeof runtime[0]; i++)
        FACT(!strcmp(cudaGetErrorName(runtime[i].error), runtime[i].name),
             "cudaGetErrorName: the enumerator's name");
    for (size_t i = 0; i < sizeof driver / sizeof driver[0]; i++) {
        const char *name = NULL, *text = NULL;
        DO(cuGetErrorName(driver[i].error, &name));
        FACT(!strcmp(name, driver[i].name), "cuGetErrorName: the enumerator's name");
        DO(cuGetErrorString(driver[i].error, &text));
        FACT(text && *text, "cuGetErrorString: a description");
    }
}

TEST(unknown_errors_have_no_name)
{
    const char *name = "x";
    INVALID(cuGetErrorName((CUresult)123456, &name),
            "an invalid value if the error is not recognised");
    FACT(!name, "cuGetErrorName: NULL if the error is not recognised");
    name = "x";
    INVALID(cuGetErrorString((CUresult)123456, &name),
            "an invalid value if the error is not recognised");
    FACT(!name, "cuGetErrorString: NULL if the error is not recognised");
    FACT(!strcmp(cudaGetErrorName((cudaError_t)123456), "unrecognized error code"),
         "cudaGetErrorName: this text if the error is not recognised");
    FACT(!strcmp(cudaGetErrorString((cudaError_t)123456), "unrecognized error code"),
         "cudaGetErrorString: this text if the error is not recognised");
}
