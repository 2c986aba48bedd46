/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical memory as sparse memory files, and the address space they are mapped to. The name of a
 * file contains its kind and the device of its memory, for processes that receive its descriptor.
 * Pages exist from the first touch until their hole is punched; the content of a file lives as long
 * as any process has it open or mapped. */
#define _GNU_SOURCE /* memfd_create, MAP_FIXED_NOREPLACE */
#include "simulator/driver/vs_sim_driver.h"
#include "simulator/memory/vs_sim_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "vramscope-sim-memory-"
#define HIGH_FD 400 /* the driver's descriptors start here, out of the program's way */

int vs_sim_store_new(enum vs_sim_store_kind kind, int device, uint64_t bytes)
{
    char name[sizeof NAME + 16];
    struct rlimit limit; /* applies to memory files too; exceeding it kills the program */
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < bytes)
        return -1;
    if (device >= 0) /* the physical number: other processes may number devices differently */
        device = vs_sim_devices[device].physical;
    snprintf(name, sizeof name, NAME "%c%d", (char)kind, device);
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes)) {
        close(fd);
        return -1;
    }
    if (fd < 0 || kind == VS_SIM_STORE_ONE || kind == VS_SIM_STORE_POOL)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

bool vs_sim_store_of(int fd, enum vs_sim_store_kind kind, int *device, uint64_t *bytes)
{
    char path[32], link[64];
    struct stat st;
    char letter;
    int number;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, link, sizeof link - 1);
    if (n < 0 || fstat(fd, &st))
        return false;
    link[n] = 0;
    if (sscanf(link, "/memfd:" NAME "%c%d", &letter, &number) != 2 || letter != (char)kind)
        return false;
    if (device)
        *device = number < 0 ? number : vs_sim_device_seen(number);
    if (bytes)
        *bytes = (uint64_t)st.st_size;
    return true;
}

uintptr_t vs_sim_store_reserve(size_t bytes, size_t align, uintptr_t hint)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    size_t all;
    if (hint && !(hint & (align - 1))) {
        void *at = mmap((void *)hint, bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
        if (at == (void *)hint)
            return hint;
        if (at != MAP_FAILED) /* an old kernel without this flag treats it as a hint */
            munmap(at, bytes);
    }
    if (__builtin_add_overflow(bytes, align, &all))
        return 0;
    void *got = mmap(NULL, all, PROT_NONE, flags, -1, 0);
    if (got == MAP_FAILED)
        return 0;
    uintptr_t at = (uintptr_t)got, base = (at + align - 1) & ~(uintptr_t)(align - 1);
    if (base > at)
        munmap(got, base - at);
    if (at + align > base)
        munmap((void *)(base + bytes), at + align - base);
    return base;
}

bool vs_sim_store_map(uintptr_t address, size_t bytes, int fd, uint64_t offset, int access)
{
    int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0);
    return mmap((void *)address, bytes, access, flags, fd, (off_t)offset) != MAP_FAILED;
}

uintptr_t vs_sim_store_open(size_t bytes, size_t reserved, int fd, uint64_t offset)
{
    uintptr_t at = vs_sim_store_reserve(reserved, VS_SIM_PAGE_BYTES, 0);
    if (!at || vs_sim_store_map(at, bytes, fd, offset, PROT_READ | PROT_WRITE))
        return at;
    vs_sim_store_unreserve(at, reserved);
    return 0;
}

void vs_sim_store_unmap(uintptr_t address, size_t bytes)
{
    mmap((void *)address, bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void vs_sim_store_unreserve(uintptr_t address, size_t bytes) { munmap((void *)address, bytes); }
