/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for cuFile: bytes between files and device memory, and its errors. */
#define _GNU_SOURCE
#include "sim_library.h"

#include <fcntl.h>

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cufile/vs_cufile_api.h"

VS_CUFILE_FUNCTIONS(VS_LIBRARY_DECLARE)

struct CUfileDescr_t { /* as in cufile.h */
    int type;
    union {
        int fd;
        void *handle;
    } handle;
    const void *fs_ops;
};

static char *device;

static int new_file(int flags)
{
    char path[] = "cufile_XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC | flags);
    assert_true(fd >= 0);
    unlink(path);
    return fd;
}

static void *handle_of(int fd)
{
    struct CUfileDescr_t description = {.type = CU_FILE_HANDLE_TYPE_OPAQUE_FD, .handle.fd = fd};
    void *handle;
    OK(cuFileHandleRegister(&handle, &description).err);
    FAILS(cuFileHandleRegister(&handle, &description).err, CU_FILE_HANDLE_ALREADY_REGISTERED);
    return handle;
}

static void bytes_go_to_a_file_and_back(void **state)
{
    char seen[16];
    (void)state;
    for (int direct = 0; direct < 2; direct++) {
        int fd = new_file(0);
        if (direct && fcntl(fd, F_SETFL, O_DIRECT)) /* not every file system has it */
            print_message("no O_DIRECT here\n");
        void *handle = handle_of(fd);
        OK(cudaMemcpy(device, "0123456789", 10, cudaMemcpyHostToDevice));
        FAILS(cuFileWrite(handle, device, 5, 3, 4), 5); /* "45678" behind three zeros */
        OK(cudaMemset(device, 'x', 16));
        OK(cudaDeviceSynchronize());
        FAILS(cuFileRead(handle, device, 16, 2, 1), 6); /* up to the end of the file */
        OK(cudaMemcpy(seen, device, 16, cudaMemcpyDeviceToHost));
        assert_memory_equal(seen, "x\0" "45678xxxxxxxxx", 16);
        cuFileHandleDeregister(handle);
        FAILS(cuFileRead(handle, device, 1, 0, 0), -CU_FILE_HANDLE_NOT_REGISTERED);
        close(fd);
    }
}

static void requests_run_in_the_order_of_their_stream(void **state)
{
    cudaStream_t stream;
    size_t bytes = 4;
    long at = 0, offset = 0, written = -1, count = -1;
    char seen[4];
    (void)state;
    int fd = new_file(0);
    void *handle = handle_of(fd);
    OK(cudaStreamCreate(&stream));
    OK(cuFileStreamRegister(stream, 0).err);
    OK(cudaMemsetAsync(device, 'a', 4, stream));
    OK(cuFileWriteAsync(handle, device, &bytes, &at, &offset, &written, stream).err);
    OK(cudaMemsetAsync(device, 'b', 4, stream));
    OK(cuFileReadAsync(handle, device, &bytes, &at, &offset, &count, stream).err);
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(seen, device, 4, cudaMemcpyDeviceToHost));
    assert_memory_equal(seen, "aaaa", 4);
    assert_true(written == 4 && count == 4);
    OK(cuFileStreamDeregister(stream).err);
    OK(cudaStreamDestroy(stream));
    cuFileHandleDeregister(handle);
    close(fd);
}

static void bad_arguments_have_their_errors(void **state)
{
    char host;
    void *handle;
    int pipes[2];
    (void)state;
    struct CUfileDescr_t description = {.type = CU_FILE_HANDLE_TYPE_OPAQUE_FD, .handle.fd = -1};
    FAILS(cuFileHandleRegister(&handle, &description).err, CU_FILE_INVALID_VALUE);
    OK(pipe(pipes));
    description.handle.fd = pipes[0];
    FAILS(cuFileHandleRegister(&handle, &description).err, CU_FILE_INVALID_FILE_TYPE);
    close(pipes[0]);
    close(pipes[1]);
    int fd = new_file(0);
    handle = handle_of(fd);
    FAILS(cuFileRead(handle, &host, 1, 0, 0), -CU_FILE_CUDA_POINTER_INVALID);
    FAILS(cuFileRead(&host, device, 1, 0, 0), -CU_FILE_HANDLE_NOT_REGISTERED);
    FAILS(cuFileRead(handle, device, 1, -1, 0), -CU_FILE_INVALID_VALUE);
    OK(cuFileBufRegister(device, 16, 0).err);
    FAILS(cuFileBufRegister(device, 16, 0).err, CU_FILE_MEMORY_ALREADY_REGISTERED);
    OK(cuFileBufDeregister(device).err);
    cuFileHandleDeregister(handle);
    FAILS(cuFileBufDeregister(device).err, CU_FILE_MEMORY_NOT_REGISTERED);
    FAILS(cuFileBatchIOSetUp(&handle, 4).err, CU_FILE_PLATFORM_NOT_SUPPORTED);
    FAILS(cuFileDriverClose().err, CU_FILE_DRIVER_NOT_INITIALIZED);
    OK(cuFileDriverOpen().err);
    FAILS(cuFileUseCount(), 1);
    OK(cuFileDriverClose().err);
    close(fd);
}

static int begin(void **state)
{
    (void)state;
    return cudaMalloc((void **)&device, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_to_a_file_and_back),
        cmocka_unit_test(requests_run_in_the_order_of_their_stream),
        cmocka_unit_test(bad_arguments_have_their_errors),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
