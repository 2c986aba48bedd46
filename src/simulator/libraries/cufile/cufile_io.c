/* SPDX-License-Identifier: Apache-2.0
 *
 * cuFile: reading and writing files from device memory, which is host memory here, so pread and
 * pwrite do it. Files opened with O_DIRECT are opened once more without, because device memory and
 * offsets need no alignment. Batches, parameters and statistics are not supported. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/vs_map.h"
#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cufile/vs_cufile_api.h"

VS_CUFILE_FUNCTIONS(VS_LIBRARY_DECLARE)

enum { FILE_HANDLE = 1 };

/* As in cufile.h; the table leaves out structures with unions. */
struct CUfileDescr_t {
    int type;
    union {
        int fd;
        void *handle;
    } handle;
    const void *fs_ops;
};

struct cufile_file {
    int program_fd, fd; /* the program's; ours, without O_DIRECT */
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static long opened;              /* cuFileDriverOpen; guarded by mu, as the maps */
static struct vs_map buffers;    /* registered: address to size */
static struct vs_map registered; /* the program's descriptor + 1 to 1 */

static struct CUfileError answer_with(int error, CUresult cuda)
{
    return (struct CUfileError){error, (int)cuda};
}

static struct CUfileError ok(void)
{
    return answer_with(CU_FILE_SUCCESS, CUDA_SUCCESS);
}

/* ---- driver ---- */

struct CUfileError cuFileDriverOpen(void)
{
    if (!vs_library_driver())
        return answer_with(CU_FILE_CUDA_DRIVER_ERROR, CUDA_ERROR_NOT_INITIALIZED);
    pthread_mutex_lock(&mu);
    opened++;
    pthread_mutex_unlock(&mu);
    return ok();
}

struct CUfileError cuFileDriverClose_v2(void)
{
    pthread_mutex_lock(&mu);
    bool open = opened > 0;
    opened -= open;
    pthread_mutex_unlock(&mu);
    return open ? ok() : answer_with(CU_FILE_DRIVER_NOT_INITIALIZED, CUDA_SUCCESS);
}

struct CUfileError cuFileDriverClose(void)
{
    return cuFileDriverClose_v2();
}

long cuFileUseCount(void)
{
    pthread_mutex_lock(&mu);
    long count = opened;
    pthread_mutex_unlock(&mu);
    return count;
}

/* ---- files ---- */

static int open_again(int fd)
{
    char path[64];
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || !(flags & O_DIRECT))
        return flags < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, (flags & O_ACCMODE) | O_CLOEXEC);
}

struct CUfileError cuFileHandleRegister(void **handle, struct CUfileDescr_t *description)
{
    struct stat status;
    if (!handle || !description)
        return answer_with(CU_FILE_INVALID_VALUE, CUDA_SUCCESS);
    if (description->type != CU_FILE_HANDLE_TYPE_OPAQUE_FD)
        return answer_with(vs_library_unsupported("cuFileHandleRegister",
                                                  "with another handle than a file descriptor"),
                           CUDA_SUCCESS);
    int program_fd = description->handle.fd;
    if (program_fd < 0 || fstat(program_fd, &status))
        return answer_with(CU_FILE_INVALID_VALUE, CUDA_SUCCESS);
    if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode))
        return answer_with(CU_FILE_INVALID_FILE_TYPE, CUDA_SUCCESS);
    uint64_t key = (uint64_t)program_fd + 1;
    pthread_mutex_lock(&mu);
    bool known = vs_map_get(&registered, key) != NULL;
    bool kept = !known && vs_map_put(&registered, key, 1) == VS_OK;
    pthread_mutex_unlock(&mu);
    if (!kept)
        return answer_with(known ? CU_FILE_HANDLE_ALREADY_REGISTERED : CU_FILE_NOMEM_ERROR, CUDA_SUCCESS);
    struct cufile_file *file = vs_library_new(FILE_HANDLE, sizeof *file);
    int fd = file ? open_again(program_fd) : -1;
    if (fd >= 0) {
        *file = (struct cufile_file){program_fd, fd};
        *handle = file;
        return ok();
    }
    vs_library_delete(file, FILE_HANDLE);
    pthread_mutex_lock(&mu);
    vs_map_remove(&registered, key, NULL);
    pthread_mutex_unlock(&mu);
    return answer_with(CU_FILE_GETNEWFD_FAILED, CUDA_SUCCESS);
}

void cuFileHandleDeregister(void *handle)
{
    struct cufile_file *file = vs_library_object(handle, FILE_HANDLE);
    if (!file)
        return;
    pthread_mutex_lock(&mu);
    vs_map_remove(&registered, (uint64_t)file->program_fd + 1, NULL);
    pthread_mutex_unlock(&mu);
    close(file->fd);
    vs_library_delete(file, FILE_HANDLE);
}

/* ---- buffers ---- */

static int check_memory(const void *base)
{
    CUmemorytype type;
    const struct vs_library_driver *d = vs_library_driver();
    if (!d)
        return CU_FILE_CUDA_DRIVER_ERROR;
    if (!base || d->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)base))
        return CU_FILE_CUDA_POINTER_INVALID;
    return CU_FILE_SUCCESS;
}

struct CUfileError cuFileBufRegister(const void *base, size_t bytes, int flags)
{
    (void)flags;
    int e = bytes ? check_memory(base) : CU_FILE_INVALID_VALUE;
    if (e)
        return answer_with(e, CUDA_SUCCESS);
    pthread_mutex_lock(&mu);
    if (vs_map_get(&buffers, (uintptr_t)base))
        e = CU_FILE_MEMORY_ALREADY_REGISTERED;
    else if (vs_map_put(&buffers, (uintptr_t)base, bytes))
        e = CU_FILE_NOMEM_ERROR;
    pthread_mutex_unlock(&mu);
    return answer_with(e, CUDA_SUCCESS);
}

struct CUfileError cuFileBufDeregister(const void *base)
{
    pthread_mutex_lock(&mu);
    bool known = base && vs_map_remove(&buffers, (uintptr_t)base, NULL);
    pthread_mutex_unlock(&mu);
    return answer_with(known ? CU_FILE_SUCCESS : CU_FILE_MEMORY_NOT_REGISTERED, CUDA_SUCCESS);
}

/* ---- reading and writing ---- */

/* Bytes moved; -1 with errno after a system error. Bad memory is EFAULT, not a signal. */
static ssize_t move(int fd, unsigned char *memory, size_t bytes, off_t at, bool writing)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = writing ? pwrite(fd, memory + done, bytes - done, at + (off_t)done)
                            : pread(fd, memory + done, bytes - done, at + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return done ? (ssize_t)done : -1;
        if (n == 0)
            break; /* the end of the file */
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static ssize_t transfer(void *handle, const void *base, size_t bytes, off_t file_offset,
                        off_t memory_offset, bool writing)
{
    struct cufile_file *file = vs_library_object(handle, FILE_HANDLE);
    if (!file)
        return -CU_FILE_HANDLE_NOT_REGISTERED;
    int e = check_memory(base);
    if (!e && (file_offset < 0 || memory_offset < 0 || bytes > PTRDIFF_MAX))
        e = CU_FILE_INVALID_VALUE;
    if (e)
        return -e;
    return move(file->fd, (unsigned char *)base + memory_offset, bytes, file_offset, writing);
}

long cuFileRead(void *handle, void *base, size_t bytes, long file_offset, long memory_offset)
{
    return transfer(handle, base, bytes, file_offset, memory_offset, false);
}

long cuFileWrite(void *handle, const void *base, size_t bytes, long file_offset, long memory_offset)
{
    return transfer(handle, base, bytes, file_offset, memory_offset, true);
}

static long transfer_list(void *handle, const struct CUfileIOVec *list, size_t count, off_t at,
                          bool writing)
{
    long done = 0;
    if (!list && count)
        return -CU_FILE_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        ssize_t n = transfer(handle, list[i].base, list[i].len, at + done, 0, writing);
        if (n < 0)
            return done ? done : n;
        done += n;
        if ((size_t)n < list[i].len)
            break;
    }
    return done;
}

long cuFileReadv(void *handle, const struct CUfileIOVec *list, size_t count, long at, unsigned flags)
{
    (void)flags;
    return transfer_list(handle, list, count, at, false);
}

long cuFileWritev(void *handle, const struct CUfileIOVec *list, size_t count, long at, unsigned flags)
{
    (void)flags;
    return transfer_list(handle, list, count, at, true);
}

/* ---- in the order of a stream ---- */

struct cufile_request { /* the values behind the pointers are read when it runs, as cufile.h says */
    int fd;
    unsigned char *base;
    size_t *bytes;
    off_t *file_offset, *memory_offset;
    ssize_t *done;
    bool writing;
};

static void run_request(void *argument)
{
    struct cufile_request *r = argument;
    ssize_t n = move(r->fd, r->base + *r->memory_offset, *r->bytes, *r->file_offset, r->writing);
    *r->done = n < 0 ? -errno : n;
    close(r->fd);
    free(r);
}

static struct CUfileError queue_request(void *handle, void *base, unsigned long *bytes, long *file_offset,
                                        long *memory_offset, long *done, CUstream stream, bool writing)
{
    struct cufile_file *file = vs_library_object(handle, FILE_HANDLE);
    int e = file ? check_memory(base) : CU_FILE_HANDLE_NOT_REGISTERED;
    if (!e && (!bytes || !file_offset || !memory_offset || !done))
        e = CU_FILE_INVALID_VALUE;
    if (e)
        return answer_with(e, CUDA_SUCCESS);
    CUstreamCaptureStatus capture;
    CUresult cuda = vs_library_driver()->cuStreamIsCapturing(stream, &capture);
    if (cuda || capture != CU_STREAM_CAPTURE_STATUS_NONE)
        return answer_with(CU_FILE_ASYNC_NOT_SUPPORTED, cuda);
    struct cufile_request *r = malloc(sizeof *r);
    if (!r)
        return answer_with(CU_FILE_NOMEM_ERROR, CUDA_SUCCESS);
    *r = (struct cufile_request){fcntl(file->fd, F_DUPFD_CLOEXEC, 0), base, bytes, file_offset,
                                 memory_offset, done, writing};
    cuda = r->fd < 0 ? CUDA_SUCCESS : vs_library_driver()->cuLaunchHostFunc(stream, run_request, r);
    if (r->fd >= 0 && !cuda)
        return ok();
    e = r->fd < 0 ? CU_FILE_GETNEWFD_FAILED : CU_FILE_CUDA_DRIVER_ERROR;
    if (r->fd >= 0)
        close(r->fd);
    free(r);
    return answer_with(e, cuda);
}

struct CUfileError cuFileReadAsync(void *handle, void *base, unsigned long *bytes, long *file_offset,
                                   long *memory_offset, long *done, CUstream stream)
{
    return queue_request(handle, base, bytes, file_offset, memory_offset, done, stream, false);
}

struct CUfileError cuFileWriteAsync(void *handle, void *base, unsigned long *bytes, long *file_offset,
                                    long *memory_offset, long *done, CUstream stream)
{
    return queue_request(handle, base, bytes, file_offset, memory_offset, done, stream, true);
}

struct CUfileError cuFileStreamRegister(CUstream stream, unsigned flags)
{
    (void)stream;
    return answer_with(flags > 0xf ? CU_FILE_INVALID_VALUE : CU_FILE_SUCCESS, CUDA_SUCCESS);
}

struct CUfileError cuFileStreamDeregister(CUstream stream)
{
    (void)stream;
    return ok();
}
