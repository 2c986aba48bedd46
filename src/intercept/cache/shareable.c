/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A file of its own is identified by its inode. The descriptors that NVIDIA's
 * driver exports all belong to one device node, and no query of them identifies the memory: nor
 * does their number, since programs close it after sending, and the next descriptor from another
 * process may get the same number. */
#include "intercept/cache/shareable.h"

#include <sys/stat.h>

#include "base/vs_text.h"

#define FABRIC_BYTES 64 /* CUmemFabricHandle, since CUDA 12.3 */
#define FABRIC_TYPE 8u

uint64_t vs_shareable_identity(const void *fabric, int fd, unsigned type)
{
    struct stat file;
    if (type == FABRIC_TYPE)
        return fabric ? vs_text_hash_bytes(VS_TEXT_HASH_START, fabric, FABRIC_BYTES) : 0;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || fstat(fd, &file) ||
        !S_ISREG(file.st_mode))
        return 0;
    uint64_t id = vs_text_hash_bytes(VS_TEXT_HASH_START, &file.st_dev, sizeof file.st_dev);
    return vs_text_hash_bytes(id, &file.st_ino, sizeof file.st_ino);
}
