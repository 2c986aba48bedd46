// Compares our allocator with PyTorch's own library, step by step: random requests, frees, uses on
// other streams, private pools, releases. PyTorch's allocator works on the simulated GPU; ours
// receives the same calls and the same device memory, so that every event (kind, address, size,
// stream) and every statistic must be equal after each step. Both read the same PYTORCH_ALLOC_CONF.
//
// Our allocator beside PyTorch's own library, step by step: random requests, frees,
// uses on other streams, private pools, releases. PyTorch's allocator works on the
// simulated GPU; ours gets the same calls and the addresses that PyTorch got, so that
// every event (kind, address, size, stream) and every statistic has to be equal after
// each step. Both read the same PYTORCH_ALLOC_CONF.
//
// Of equally large free blocks PyTorch took the lowest address, and takes
// one of the oldest segment in 2.15. Our device
// therefore gives addresses that rise with the age of a segment, at which both rules
// say the same; events are compared in those addresses.
//
//   c10_differential SEED STEPS [tight|pools]
//
// tight: little memory, so that requests fail and caches are released; streams are never busy then,
// because PyTorch would wait for them. pools: private pools are created and removed, without uses
// on other streams: 2.15 counts only a stream's own capture, our allocator the active pools. Exit
// 0: all equal; 1: not.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/cuda/PeerToPeerAccess.h>
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

extern "C" {
#include "allocator/core/alloc_conf.h"
#include "allocator/core/allocator.h"
}

namespace c10::cuda::_internal {
void setHasPrimaryContext(bool (*)(DeviceIndex)); // libtorch_cuda's part in libc10_cuda
}

namespace torch_allocator = c10::cuda::CUDACachingAllocator;
using c10::CachingDeviceAllocator::TraceEntry;

struct Event {
    int kind; // enum vs_allocator_event_kind
    uint64_t addr, size, stream;
    bool operator==(const Event &o) const
    {
        return kind == o.kind && addr == o.addr && size == o.size && stream == o.stream;
    }
};

static std::vector<Event> theirs, ours;

// Addresses of PyTorch's segments and ranges, and the addresses of ours.
struct Place {
    uint64_t bytes, ours;
};
static std::map<uint64_t, Place> places; // by PyTorch's address
static uint64_t next_place = UINT64_C(1) << 40;

static const std::pair<const uint64_t, Place> *place_of(uint64_t addr)
{
    auto after = places.upper_bound(addr);
    if (after == places.begin())
        return nullptr;
    auto at = std::prev(after);
    return addr - at->first < at->second.bytes ? &*at : nullptr;
}

static uint64_t translate(uint64_t addr)
{
    const auto *place = place_of(addr);
    return place ? place->second.ours + (addr - place->first) : 0;
}

static void new_place(uint64_t addr, uint64_t bytes)
{
    places.insert_or_assign(addr, Place{bytes, next_place});
    next_place += bytes + (UINT64_C(64) << 20); // ours are rounded up to a handle
}
static uint64_t range_bytes; // address space of a range, without the last handle
static bool undecidable; // the result of PyTorch's device cannot be determined from its events

static const char *name_of(int kind)
{
    static const char *names[] = {"alloc", "free", "free_completed", "segment_alloc", "segment_free",
                                  "oom", "segment_map", "segment_unmap"};
    return kind >= 0 && kind < 8 ? names[kind] : "?";
}

static void note_theirs(const TraceEntry &e)
{
    static const std::map<int, int> kinds = {
        {TraceEntry::ALLOC, VS_ALLOCATOR_ALLOC},
        {TraceEntry::FREE_REQUESTED, VS_ALLOCATOR_FREE},
        {TraceEntry::FREE_COMPLETED, VS_ALLOCATOR_FREE_COMPLETED},
        {TraceEntry::SEGMENT_ALLOC, VS_ALLOCATOR_SEGMENT_ALLOC},
        {TraceEntry::SEGMENT_FREE, VS_ALLOCATOR_SEGMENT_FREE},
        {TraceEntry::SEGMENT_MAP, VS_ALLOCATOR_SEGMENT_MAP},
        {TraceEntry::SEGMENT_UNMAP, VS_ALLOCATOR_SEGMENT_UNMAP},
        {TraceEntry::OOM, VS_ALLOCATOR_OOM}};
    auto kind = kinds.find(e.action_);
    if (kind == kinds.end())
        return;
    if (e.action_ == TraceEntry::SEGMENT_ALLOC)
        new_place(e.addr_, e.size_);
    if (e.action_ == TraceEntry::SEGMENT_MAP && !place_of(e.addr_))
        new_place(e.addr_, range_bytes);
    uint64_t addr = e.action_ == TraceEntry::OOM ? e.addr_ : translate(e.addr_);
    theirs.push_back({kind->second, addr, e.size_, reinterpret_cast<uintptr_t>(e.stream_)});
    if (e.action_ == TraceEntry::SEGMENT_FREE)
        places.erase(e.addr_);
}

static void note_ours(void *, const struct vs_allocator_event *e)
{
    bool block = e->kind == VS_ALLOCATOR_ALLOC || e->kind == VS_ALLOCATOR_FREE ||
                 e->kind == VS_ALLOCATOR_FREE_COMPLETED;
    ours.push_back({e->kind, e->addr, block ? e->requested : e->size, e->stream});
}

// --- our device: repeats the results of PyTorch's ---

static const Event *next_theirs()
{
    return ours.size() < theirs.size() ? &theirs[ours.size()] : nullptr;
}

static enum vs_err segment_alloc(void *, size_t bytes, uint64_t *addr)
{
    const Event *e = next_theirs();
    if (!e || e->kind != VS_ALLOCATOR_SEGMENT_ALLOC || e->size != bytes)
        return VS_ERR_DEVICE_OOM;
    *addr = e->addr;
    return VS_OK;
}
static enum vs_err segment_free(void *, uint64_t, size_t) { return VS_OK; }
static enum vs_err range_release(void *, uint64_t addr, uint64_t)
{
    for (auto at = places.begin(); at != places.end(); ++at) {
        if (at->second.ours == addr) {
            places.erase(at); // PyTorch may reserve there again
            break;
        }
    }
    return VS_OK;
}
static enum vs_err memory_release(void *, uint64_t, uint64_t) { return VS_OK; }
static enum vs_err memory_unmap(void *, uint64_t, uint64_t) { return VS_OK; }
static enum vs_err stream_synchronize(void *, uint64_t) { return VS_OK; }

static enum vs_err range_reserve(void *, uint64_t, uint64_t *addr)
{
    const Event *e = next_theirs();
    if (!e || e->kind != VS_ALLOCATOR_SEGMENT_MAP) {
        undecidable = true; // reserved somewhere, but nothing was mapped there
        return VS_ERR_DEVICE_OOM;
    }
    *addr = e->addr;
    return VS_OK;
}
static enum vs_err memory_create(void *, uint64_t, uint64_t *handle)
{
    const Event *e = next_theirs();
    *handle = 1;
    return e && e->kind == VS_ALLOCATOR_SEGMENT_MAP ? VS_OK : VS_ERR_DEVICE_OOM;
}
static enum vs_err memory_map(void *, uint64_t, uint64_t, const uint64_t *, size_t)
{
    return VS_OK;
}
static enum vs_err memory_info(void *, uint64_t *free_bytes, uint64_t *total)
{
    size_t f, t;
    if (cudaMemGetInfo(&f, &t) != cudaSuccess)
        return VS_ERR_DEVICE;
    *free_bytes = f, *total = t;
    return VS_OK;
}

// --- streams: the last one uses blocks of the others, and may be busy ---

#define STREAMS 4
static cudaStream_t streams[STREAMS];
static std::atomic<bool> gate;
static bool busy;
static uint64_t busy_turn; // number of times it was made busy

static void wait_at_gate(void *)
{
    while (!gate)
        std::this_thread::yield();
}

static void make_busy()
{
    gate = false;
    busy = true;
    busy_turn++;
    cudaLaunchHostFunc(streams[STREAMS - 1], wait_at_gate, nullptr);
}

static void make_idle()
{
    gate = true;
    busy = false;
    cudaStreamSynchronize(streams[STREAMS - 1]);
}

static enum vs_err event_record(void *, uint64_t, uint64_t *event)
{
    *event = busy ? busy_turn : 0;
    return VS_OK;
}
static enum vs_err event_query(void *, uint64_t event, bool *ready)
{
    *ready = !busy || event != busy_turn;
    return VS_OK;
}
static enum vs_err event_synchronize(void *, uint64_t) { return VS_OK; }
static void event_release(void *, uint64_t) {}

static struct vs_device_ops device_ops()
{
    struct vs_device_ops ops = {};
    ops.segment_alloc = segment_alloc, ops.segment_free = segment_free;
    ops.event_record = event_record, ops.event_query = event_query;
    ops.event_synchronize = event_synchronize, ops.event_release = event_release;
    ops.memory_info = memory_info;
    ops.range_reserve = range_reserve, ops.range_release = range_release;
    ops.memory_create = memory_create, ops.memory_release = memory_release;
    ops.memory_map = memory_map, ops.memory_unmap = memory_unmap;
    ops.stream_synchronize = stream_synchronize;
    return ops;
}

// --- comparison ---

static int wrong;

template <class Theirs> static void same(const char *what, const Theirs &t, const struct vs_stat &o)
{
    if (uint64_t(t.current) == o.current && uint64_t(t.peak) == o.peak &&
        uint64_t(t.allocated) == o.allocated && uint64_t(t.freed) == o.freed)
        return;
    wrong++;
    std::printf("  %s: theirs %ld %ld %ld %ld, ours %lu %lu %lu %lu\n", what, long(t.current),
                long(t.peak), long(t.allocated), long(t.freed), o.current, o.peak, o.allocated,
                o.freed);
}

static void same(const char *what, int64_t t, int64_t o)
{
    if (t == o)
        return;
    wrong++;
    std::printf("  %s: theirs %ld, ours %ld\n", what, long(t), long(o));
}

static void compare_statistics(struct vs_allocator *allocator)
{
    auto t = torch_allocator::getDeviceStats(0);
    struct vs_allocator_stats o;
    vs_allocator_stats(allocator, &o);
#define SAME(name)                                                                      \
    for (int pool = 0; pool < VS_STAT_POOLS; pool++)                                    \
        same(pool == 0 ? #name " all" : pool == 1 ? #name " small" : #name " large",    \
             t.name[pool], o.name[pool]);
    VS_ALLOCATOR_POOL_STATS(SAME)
    same("oversize_allocations", t.oversize_allocations, o.oversize_allocations);
    same("oversize_segments", t.oversize_segments, o.oversize_segments);
    same("num_alloc_retries", t.num_alloc_retries, o.num_alloc_retries);
    same("num_ooms", t.num_ooms, o.num_ooms);
    same("num_sync_all_streams", t.num_sync_all_streams, o.num_sync_all_streams);
    same("num_device_alloc", t.num_device_alloc, o.num_device_alloc);
    same("num_device_free", t.num_device_free, o.num_device_free);
    same("max_split_size", t.max_split_size, o.max_split_size);
}

static void print_events(const char *whose, const std::vector<Event> &events)
{
    for (const Event &e : events)
        std::printf("  %s: %s 0x%lx %lu stream 0x%lx\n", whose, name_of(e.kind), e.addr, e.size,
                    e.stream);
}

// PyTorch releases several pools without users in hash order.
static void sort_releases(std::vector<Event> &events)
{
    auto release = [](const Event &e) {
        return e.kind == VS_ALLOCATOR_SEGMENT_FREE || e.kind == VS_ALLOCATOR_SEGMENT_UNMAP;
    };
    for (auto from = events.begin(); from != events.end();) {
        auto to = std::find_if_not(from, events.end(), release);
        std::sort(from, to, [](const Event &a, const Event &b) { return a.addr < b.addr; });
        from = to == events.end() ? to : to + 1;
    }
}

static void compare_events(bool with_pools)
{
    if (with_pools)
        sort_releases(theirs), sort_releases(ours);
    if (theirs == ours)
        return;
    wrong++;
    print_events("theirs", theirs);
    print_events("ours", ours);
}

// --- the random program ---

struct Block {
    uint64_t theirs, ours; // addresses
};

struct Pool {
    struct vs_pool_id id;
    int users;
    bool open;
};

struct Program {
    std::mt19937_64 random;
    struct vs_allocator *allocator;
    bool tight, with_pools;
    std::vector<Block> live;
    std::vector<Pool> pools;
    uint64_t next_pool = 1;
    char step[160];

    uint64_t draw(uint64_t below) { return random() % below; }
    bool capturing() const
    {
        return std::any_of(pools.begin(), pools.end(), [](const Pool &p) { return p.open; });
    }
    void expect(bool holds, const char *what)
    {
        if (holds)
            return;
        wrong++;
        std::printf("  %s\n", what);
    }
    void request();
    void free_at(size_t i);
    void use(size_t i);
    void pool_step();
    void one_step();
};

static uint64_t draw_bytes(Program &p)
{
    switch (p.draw(6)) {
    case 0: return 1 + p.draw(2048);
    case 1: return 1 + p.draw(1 << 20);
    case 2: return (1 << 20) + p.draw(10 << 20);
    case 3: return 512 * (1 + p.draw(64));
    case 4: return (1 + p.draw(40)) << 20;
    default: return p.draw(20) ? 1 + p.draw(30 << 20) : 1 + p.draw(500 << 20);
    }
}

void Program::request()
{
    uint64_t bytes = draw_bytes(*this);
    cudaStream_t stream = streams[draw(STREAMS - 1)];
    std::snprintf(step, sizeof step, "malloc %lu on %p", bytes, (void *)stream);
    uint64_t addr = 0;
    try {
        addr = reinterpret_cast<uintptr_t>(torch_allocator::raw_alloc_with_stream(bytes, stream));
    } catch (const c10::OutOfMemoryError &) {
    }
    struct vs_allocation got = {};
    enum vs_err err =
        vs_allocator_malloc(allocator, bytes, reinterpret_cast<uintptr_t>(stream), &got);
    expect(err == (addr ? VS_OK : VS_ERR_DEVICE_OOM) && got.addr == (addr ? translate(addr) : 0),
           "results differ");
    if (addr)
        live.push_back({addr, got.addr});
}

void Program::free_at(size_t i)
{
    std::snprintf(step, sizeof step, "free 0x%lx", live[i].ours);
    torch_allocator::raw_delete(reinterpret_cast<void *>(live[i].theirs));
    expect(vs_allocator_free(allocator, live[i].ours) == VS_OK, "our free failed");
    live[i] = live.back();
    live.pop_back();
}

void Program::use(size_t i)
{
    std::snprintf(step, sizeof step, "use of 0x%lx", live[i].ours);
    void *ptr = reinterpret_cast<void *>(live[i].theirs);
    c10::DataPtr data(ptr, ptr, torch_allocator::get()->raw_deleter(), c10::Device(c10::kCUDA, 0));
    torch_allocator::recordStream(data,
                                  c10::cuda::getStreamFromExternal(streams[STREAMS - 1], 0));
    data.release_context();
    expect(vs_allocator_record_stream(allocator, live[i].ours,
                                      reinterpret_cast<uintptr_t>(streams[STREAMS - 1])) == VS_OK,
           "our record_stream failed");
}

static bool takes_stream(void *ctx, uint64_t stream)
{
    return reinterpret_cast<uintptr_t>(ctx) == 0 || reinterpret_cast<uintptr_t>(ctx) == stream;
}

void Program::pool_step()
{
    if (pools.size() < 3 && draw(3) == 0) {
        Pool pool = {{0, next_pool++}, 1, false};
        std::snprintf(step, sizeof step, "pool %lu", pool.id.second);
        torch_allocator::createOrIncrefPool(0, {pool.id.first, pool.id.second});
        expect(vs_allocator_pool_retain(allocator, pool.id, nullptr) == VS_OK, "no pool");
        unsigned flags = unsigned(draw(8));
        if (flags == VS_POOL_NO_SPLIT)
            torch_allocator::setNoSplit(0, {pool.id.first, pool.id.second});
        bool one_on_oom = flags == VS_POOL_USE_ON_OOM && next_pool == 2;
        if (one_on_oom)
            torch_allocator::setUseOnOOM(0, {pool.id.first, pool.id.second}, true);
        if (flags == VS_POOL_NO_SPLIT || one_on_oom)
            expect(vs_allocator_pool_set(allocator, pool.id, flags) == VS_OK, "no flags");
        pools.push_back(pool);
        return;
    }
    if (pools.empty())
        return;
    size_t i = draw(pools.size());
    Pool &pool = pools[i];
    c10::MempoolId_t id = {pool.id.first, pool.id.second};
    if (!pool.open && draw(2)) {
        uintptr_t stream = draw(2) ? reinterpret_cast<uintptr_t>(streams[draw(STREAMS - 1)]) : 0;
        std::snprintf(step, sizeof step, "begin of pool %lu for 0x%lx", pool.id.second, stream);
        torch_allocator::beginAllocateToPool(0, id, [stream](cudaStream_t s) {
            return takes_stream(reinterpret_cast<void *>(stream), reinterpret_cast<uintptr_t>(s));
        });
        expect(vs_allocator_pool_begin(allocator, pool.id, takes_stream,
                                       reinterpret_cast<void *>(stream)) == VS_OK, "no begin");
        pool.open = true, pool.users++;
    } else if (pool.open) {
        std::snprintf(step, sizeof step, "end of pool %lu", pool.id.second);
        torch_allocator::endAllocateToPool(0, id);
        expect(vs_allocator_pool_end(allocator, pool.id) == VS_OK, "no end");
        torch_allocator::releasePool(0, id);
        expect(vs_allocator_pool_release(allocator, pool.id) == VS_OK, "no release after end");
        pool.open = false, pool.users--;
    } else if (draw(3) == 0) {
        std::snprintf(step, sizeof step, "release of pool %lu", pool.id.second);
        torch_allocator::releasePool(0, id);
        expect(vs_allocator_pool_release(allocator, pool.id) == VS_OK, "no release");
        pools.erase(pools.begin() + long(i));
    }
}

void Program::one_step()
{
    uint64_t what = draw(100);
    step[0] = '\0';
    if (what < 2) {
        if (capturing())
            return;
        std::snprintf(step, sizeof step, "empty cache");
        if (busy)
            make_idle();
        torch_allocator::emptyCache();
        vs_allocator_empty_cache(allocator, nullptr);
    } else if (what < 3) {
        torch_allocator::resetPeakStats(0);
        vs_allocator_reset_peaks(allocator);
    } else if (what < 4) {
        torch_allocator::resetAccumulatedStats(0);
        vs_allocator_reset_accumulated(allocator);
    } else if (what < 8 && with_pools) {
        pool_step();
    } else if (what < 12 && !tight) {
        std::snprintf(step, sizeof step, busy ? "idle" : "busy");
        busy ? make_idle() : make_busy();
    } else if (what < 18 && !live.empty() && !with_pools) {
        use(draw(live.size()));
    } else if (!live.empty() && (what < 55 || live.size() > 60)) {
        free_at(draw(live.size()));
    } else {
        request();
    }
    if (!busy)
        cudaStreamSynchronize(streams[STREAMS - 1]);
}

static bool has_primary_context(c10::DeviceIndex index)
{
    unsigned flags;
    int active = 0;
    return cuDevicePrimaryCtxGetState(index, &flags, &active) == CUDA_SUCCESS && active;
}

static void warn(void *, const char *message) { std::printf("conf: %s\n", message); }

static struct vs_allocator *our_allocator()
{
    struct vs_alloc_conf conf = {};
    struct vs_alloc_conf_messages messages = {};
    messages.warn = warn;
    const char *text = std::getenv("PYTORCH_ALLOC_CONF");
    if (text && vs_alloc_conf_parse(text, std::strlen(text), &conf, &messages)) {
        std::printf("PYTORCH_ALLOC_CONF: %s\n", messages.error);
        return nullptr;
    }
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess)
        return nullptr;
    conf.config.total_memory = properties.totalGlobalMem;
    range_bytes = (conf.config.total_memory + conf.config.total_memory / 8) & ~UINT64_C(0x1fffff);
    static const struct vs_event_sink sink = {note_ours, 0};
    const struct vs_device_ops ops = device_ops();
    struct vs_allocator *allocator;
    return vs_allocator_create(&conf.config, &ops, nullptr, &sink, nullptr, &allocator) ? nullptr
                                                                                      : allocator;
}

static bool start()
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices || cudaSetDevice(0) != cudaSuccess)
        return false;
    for (int i = 1; i < STREAMS; i++) { // stream 0 is the default one
        if (cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking) != cudaSuccess)
            return false;
    }
    c10::cuda::_internal::setHasPrimaryContext(has_primary_context);
    c10::cuda::detail::init_p2p_access_cache(devices);
    torch_allocator::init(devices);
    torch_allocator::attachAllocatorTraceTracker(note_theirs);
    return true;
}

int main(int argc, char **argv)
try {
    if (argc < 3 || !start())
        return 2;
    Program p = {};
    p.random.seed(std::strtoull(argv[1], nullptr, 10));
    p.tight = argc > 3 && !std::strcmp(argv[3], "tight");
    p.with_pools = argc > 3 && !std::strcmp(argv[3], "pools");
    p.allocator = our_allocator();
    if (!p.allocator)
        return 2;
    long steps = std::strtol(argv[2], nullptr, 10), done = 0, events = 0;
    for (; done < steps && !wrong && !undecidable; done++) {
        theirs.clear(), ours.clear();
        p.one_step();
        if (undecidable)
            break;
        compare_events(p.with_pools);
        compare_statistics(p.allocator);
        if (vs_allocator_check(p.allocator))
            wrong++;
        events += long(ours.size());
        if (wrong)
            std::printf("at step %ld: %s\n", done, p.step);
    }
    if (busy)
        make_idle();
    std::printf("%ld steps, %ld events, %s\n", done, events,
                wrong ? "DIFFERENT" : undecidable ? "equal as far as could be seen" : "equal");
    std::fflush(stdout);
    std::_Exit(wrong ? 1 : 0);
} catch (const std::exception &e) {
    std::printf("PyTorch: %s\n", e.what());
    return 3;
}
