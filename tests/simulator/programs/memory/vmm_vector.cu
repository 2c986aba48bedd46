// SPDX-License-Identifier: Apache-2.0
// A vector in device memory that grows without moving: addresses are reserved once,
// physical memory is mapped behind the existing memory. When the reservation is full, the
// same physical memory is mapped again in a larger one.
#include "program.h"
#include "vmm_vector_kernels.cuh"

class GrowingVector {
public:
    explicit GrowingVector(size_t reserve_bytes)
    {
        prop_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        prop_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        prop_.location.id = 0;
        CU_CHECK(cuMemGetAllocationGranularity(&granularity_, &prop_,
                                               CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
        reserved_ = round_up(reserve_bytes);
        CU_CHECK(cuMemAddressReserve(&base_, reserved_, 0, 0, 0));
    }

    ~GrowingVector()
    {
        if (mapped_)
            CU_CHECK(cuMemUnmap(base_, mapped_));
        for (Piece &p : pieces_)
            CU_CHECK(cuMemRelease(p.handle));
        CU_CHECK(cuMemAddressFree(base_, reserved_));
    }

    void grow(size_t bytes)
    {
        if (bytes <= mapped_)
            return;
        size_t more = round_up(bytes - mapped_);
        if (mapped_ + more > reserved_)
            move_to(round_up(2 * (mapped_ + more)));
        Piece p = {0, more};
        CU_CHECK(cuMemCreate(&p.handle, more, &prop_, 0));
        CU_CHECK(cuMemMap(base_ + mapped_, more, 0, p.handle, 0));
        allow(base_ + mapped_, more);
        pieces_.push_back(p);
        mapped_ += more;
    }

    unsigned *data() const { return (unsigned *)base_; }
    size_t pieces() const { return pieces_.size(); }
    size_t mapped() const { return mapped_; }
    int moves = 0;

private:
    struct Piece {
        CUmemGenericAllocationHandle handle;
        size_t bytes;
    };

    size_t round_up(size_t n) const { return (n + granularity_ - 1) / granularity_ * granularity_; }

    void allow(CUdeviceptr at, size_t bytes)
    {
        CUmemAccessDesc access = {};
        access.location = prop_.location;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        CU_CHECK(cuMemSetAccess(at, bytes, &access, 1));
    }

    void move_to(size_t bytes)
    {
        CUdeviceptr to, at;
        CU_CHECK(cuMemAddressReserve(&to, bytes, 0, 0, 0));
        at = to;
        for (Piece &p : pieces_) {
            CU_CHECK(cuMemMap(at, p.bytes, 0, p.handle, 0));
            at += p.bytes;
        }
        allow(to, mapped_);
        CUDA_CHECK(cudaDeviceSynchronize()); // nothing uses the old addresses any more
        CU_CHECK(cuMemUnmap(base_, mapped_));
        CU_CHECK(cuMemAddressFree(base_, reserved_));
        base_ = to;
        reserved_ = bytes;
        moves++;
    }

    CUmemAllocationProp prop_ = {};
    size_t granularity_ = 0, reserved_ = 0, mapped_ = 0;
    CUdeviceptr base_ = 0;
    std::vector<Piece> pieces_;
};

int main()
{
    int supported = 0;
    CUDA_CHECK(cudaFree(0)); // the driver calls use the runtime's context
    CU_CHECK(cuDeviceGetAttribute(&supported,
                                  CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    if (!supported) {
        printf("no virtual memory management on this device\n");
        return 77;
    }
    size_t before, after, device;
    unsigned sum = 0, expected = 0;
    bool ok = true;
    Device<unsigned> d_sum(1);
    CUDA_CHECK(cudaMemGetInfo(&before, &device));
    {
        GrowingVector v(4u << 20);
        size_t size = 0;
        for (int round = 0; round < 10; round++) {
            size_t larger = size + 150000 + 10000 * round;
            v.grow(larger * sizeof(unsigned));
            append<<<64, 256>>>(v.data(), size, larger);
            d_sum.clear();
            check_sum<<<64, 256>>>(v.data(), larger, d_sum);
            CUDA_CHECK(cudaGetLastError());
            sum = d_sum.get()[0];
            for (size_t i = size; i < larger; i++)
                expected ^= (unsigned)(i * 2654435761u) + (unsigned)i;
            ok &= sum == expected;
            size = larger;
        }
        std::vector<unsigned> back(size);
        CUDA_CHECK(cudaMemcpy(back.data(), v.data(), size * sizeof(unsigned), cudaMemcpyDeviceToHost));
        size_t wrong = 0;
        for (size_t i = 0; i < size; i++)
            wrong += back[i] != (unsigned)(i * 2654435761u);
        printf("%zu numbers, %zu wrong, check sum %08x\n", size, wrong, sum);
        fprintf(stderr, "%zu pieces, %zu MiB, moved %d times\n", v.pieces(), v.mapped() >> 20, v.moves);
        CUDA_CHECK(cudaMemGetInfo(&after, &device));
        ok &= wrong == 0 && v.moves > 0 && before - after >= v.mapped();
    }
    CUDA_CHECK(cudaMemGetInfo(&after, &device));
    ok &= after == before; // all of it went back
    printf("%s\n", ok ? "ok" : "WRONG");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
