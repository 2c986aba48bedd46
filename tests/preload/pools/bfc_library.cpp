// SPDX-License-Identifier: Apache-2.0
// The part of TensorFlow's libtensorflow_framework that vramscope reads: tsl::BFCAllocator, whose functions are
// called through its table. It takes regions that double from the device, or from the host.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <map>
#include <string>

static int calls; // of this library's functions

namespace tsl {
struct AllocationAttributes {
    bool retry_on_failure = true;
};
class BFCAllocator {
public:
    explicit BFCAllocator(const char *name) : name_(name) {}
    virtual ~BFCAllocator() = default;
    virtual std::string Name();
    virtual void *AllocateRaw(size_t alignment, size_t bytes, const AllocationAttributes &attributes);
    virtual void DeallocateRaw(void *address);
    virtual size_t AllocatedSize(const void *address) const;

private:
    void Extend();
    std::string name_;
    std::map<const void *, size_t> sizes_;
    char *at_ = nullptr, *end_ = nullptr;
    size_t region_ = 1 << 20;
};

std::string BFCAllocator::Name() { return name_; }

static void *Driver(size_t bytes)
{
    void *address = nullptr;
    return cudaMalloc(&address, bytes) == cudaSuccess ? address : nullptr;
}

__attribute__((noinline)) static char *TakeDevice(size_t bytes) { return static_cast<char *>(Driver(bytes)); }

void BFCAllocator::Extend()
{
    at_ = name_[0] == 'G' ? TakeDevice(region_) : static_cast<char *>(std::malloc(region_));
    end_ = at_ ? at_ + region_ : nullptr;
    region_ *= 2;
}

void *BFCAllocator::AllocateRaw(size_t, size_t bytes, const AllocationAttributes &)
{
    calls++;
    if (!bytes)
        return nullptr; // as TensorFlow's
    bytes = (bytes + 255) / 256 * 256;
    if (at_ + bytes > end_ && bytes > region_)
        return nullptr; // as with a limit
    if (at_ + bytes > end_)
        Extend();
    char *address = at_;
    at_ += bytes;
    sizes_[address] = bytes;
    return address;
}

void BFCAllocator::DeallocateRaw(void *address)
{
    calls++;
    sizes_.erase(address);
}

size_t BFCAllocator::AllocatedSize(const void *address) const { return sizes_.at(address); }
} // namespace tsl

static tsl::BFCAllocator device("GPU_0_bfc"), host("gpu_host_bfc");

enum kind { DEVICE, HOST, DEVICE_OPTIONAL };

extern "C" void *bfc_allocate(kind of, size_t bytes)
{
    tsl::AllocationAttributes attributes;
    attributes.retry_on_failure = of != DEVICE_OPTIONAL;
    return (of == HOST ? host : device).AllocateRaw(64, bytes, attributes);
}
extern "C" void bfc_deallocate(void *address) { device.DeallocateRaw(address); }
extern "C" int bfc_calls() { return calls; }
