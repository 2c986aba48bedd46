// SPDX-License-Identifier: Apache-2.0
//
// Ends specific to C++: static objects and thread-local objects that free memory, and uncaught
// exceptions.
#include <cuda_runtime_api.h>

#include <exception>
#include <stdexcept>
#include <thread>

#include "victim.h"

VICTIM("exit")

namespace {

struct Block {
    void *ptr = nullptr;
    void take(size_t bytes)
    {
        ALLOCATES(VT_DEVICE, bytes, cudaMalloc(&ptr, bytes));
    }
    ~Block()
    {
        if (!ptr)
            return;
        FREES(VT_DEVICE, cudaFree(ptr));
    }
};

Block global;

Block &local_static()
{
    static Block block;
    return block;
}

thread_local Block of_thread;

CASE_STATUS(static_objects, "destructors of static objects free memory", 0)
{
    global.take(1000);
    local_static().take(2000);
    return 41;
}

CASE_STATUS(thread_local_objects, "destructors of thread-local objects free memory", 0)
{
    for (int i = 0; i < 8; i++) {
        std::thread([] { of_thread.take(5000); }).join();
    }
    of_thread.take(6000);
    return 42;
}

CASE(main_throws, "an exception leaves main", VF_TORN | VF_DIES)
{
    global.take(1000);
    tally_end();
    throw std::runtime_error("out of main");
}

CASE(thread_throws, "an exception leaves a thread", VF_TORN | VF_DIES)
{
    global.take(1000);
    tally_end();
    std::thread([] { throw 3; }).join();
}

CASE(terminate_handler_exits, "the terminate handler calls exit", 0)
{
    global.take(1000);
    std::set_terminate([] { exit(43); });
    tally_end();
    throw 1;
}

} // namespace
