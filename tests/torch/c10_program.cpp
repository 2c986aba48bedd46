// Uses PyTorch's own CUDA allocator as torch does, with several sizes and two streams, runs out of
// memory once, and prints the allocator's memory_stats as JSON. Independent of vramscope. Links
// only libc10 and libc10_cuda, not torch itself.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/cuda/PeerToPeerAccess.h>
#include <cuda.h>

#include <cstdio>
#include <random>
#include <vector>

namespace c10::cuda::_internal {
void setHasPrimaryContext(bool (*)(DeviceIndex)); // libtorch_cuda's part in libc10_cuda
}

namespace allocator = c10::cuda::CUDACachingAllocator;

static bool has_primary_context(c10::DeviceIndex index)
{
    unsigned flags;
    int active = 0;
    return cuDevicePrimaryCtxGetState(index, &flags, &active) == CUDA_SUCCESS && active;
}

// Like a training loop: blocks of all size classes live for some steps.
static void allocate_and_free(c10::cuda::CUDAStream side, bool reuse)
{
    static const size_t sizes[] = {16,      512,      1000,     70000,   900000,
                                   1048577, 3 << 20,  9 << 20,  21 << 20, 47 << 20};
    std::mt19937 random(7);
    std::vector<void *> live;
    for (int i = 0; i < 400; i++) {
        size_t bytes = sizes[random() % 10] + (reuse ? 0 : random() % 512);
        live.push_back(random() % 3 ? allocator::raw_alloc(bytes)
                                    : allocator::raw_alloc_with_stream(bytes, side));
        if (live.size() > 30) {
            size_t which = random() % live.size();
            allocator::raw_delete(live[which]);
            live.erase(live.begin() + which);
        }
    }
    for (size_t i = 0; i < live.size(); i += 2) // half of them stay until the end
        allocator::raw_delete(live[i]);
}

// A block of one stream used in the other: reusable when that one has finished with it.
static void use_in_two_streams(c10::cuda::CUDAStream side)
{
    c10::DataPtr data = allocator::get()->allocate(5 << 20);
    allocator::recordStream(data, side);
    cudaMemsetAsync(data.get(), 1, 5 << 20, side);
    data.clear();
    cudaStreamSynchronize(side);
    allocator::raw_delete(allocator::raw_alloc(5 << 20));
}

static bool runs_out_of_memory()
{
    try {
        allocator::raw_alloc(size_t(1) << 40);
    } catch (const c10::OutOfMemoryError &) {
        return true;
    }
    return false;
}

template <class Stats> static void print(const char *name, const Stats &all)
{
    const auto &s = all[0]; // both pools together
    std::printf("\"%s\": {\"current\": %ld, \"peak\": %ld, \"allocated\": %ld, \"freed\": %ld},\n",
                name, long(s.current), long(s.peak), long(s.allocated), long(s.freed));
}

static void print_stats(bool out_of_memory)
{
    auto s = allocator::getDeviceStats(0);
    std::puts("{");
    print("allocated_bytes", s.allocated_bytes);
    print("reserved_bytes", s.reserved_bytes);
    print("requested_bytes", s.requested_bytes);
    print("segment", s.segment);
    print("allocation", s.allocation);
    std::printf("\"num_ooms\": %ld, \"num_alloc_retries\": %ld, \"num_device_alloc\": %ld, "
                "\"num_device_free\": %ld, \"backend\": \"%s\", \"out_of_memory\": %s}\n",
                long(s.num_ooms), long(s.num_alloc_retries), long(s.num_device_alloc),
                long(s.num_device_free), allocator::get()->name().c_str(),
                out_of_memory ? "true" : "false");
}

int main()
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices)
        return 2;
    c10::cuda::_internal::setHasPrimaryContext(has_primary_context);
    c10::cuda::detail::init_p2p_access_cache(devices);
    allocator::init(devices);
    auto side = c10::cuda::getStreamFromPool(false, 0);
    allocate_and_free(side, true);
    allocate_and_free(side, false);
    use_in_two_streams(side);
    bool out_of_memory = runs_out_of_memory(); // empties the cache as well
    allocate_and_free(side, false);
    cudaDeviceSynchronize();
    print_stats(out_of_memory);
    return 0;
}
