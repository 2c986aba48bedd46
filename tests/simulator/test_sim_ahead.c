/* SPDX-License-Identifier: Apache-2.0
 *
 * Data at submission, effects, and answers: the functions with which a host computes the values of
 * device memory itself. A kernel without a host function takes 100 s here, so whatever is there
 * behind one has not waited for it. */
#include "sim_test.h"

int vramscopeSimDataAtSubmit(int on);
int vramscopeSimPending(int device, CUstream stream);
void vramscopeSimSettle(int device, CUstream stream);
int vramscopeSimAnswer(const void *bytes, size_t count);
int vramscopeSimAnswersDrop(void);

static CUdeviceptr memory;

static int first_word(void) { return *(volatile int *)(uintptr_t)memory; }

TEST(memsets_and_copies_do_not_wait_for_kernels_that_change_nothing)
{
    CUstream stream = sim_stream(CU_STREAM_NON_BLOCKING);
    int source = 8;
    OK(cuLaunchKernel(sim_function("no_host_function"), 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    OK(cuMemsetD32Async(memory, 7, 1, stream));
    assert_int_equal(first_word(), 7);
    OK(cuMemcpyHtoDAsync(memory, &source, sizeof source, stream));
    assert_int_equal(first_word(), 8);
    assert_int_equal(vramscopeSimPending(0, stream), 0);
    FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
}

TEST(a_stream_behind_a_host_function_keeps_its_order)
{
    CUstream other = sim_stream(CU_STREAM_NON_BLOCKING);
    CUstream stream = sim_stream(CU_STREAM_NON_BLOCKING),
             third = sim_stream(CU_STREAM_NON_BLOCKING);
    atomic_int open = 0;
    *(int *)(uintptr_t)memory = 1;
    sim_launch_gate(other, &open);
    CUevent event = sim_event(CU_EVENT_DISABLE_TIMING);
    OK(cuEventRecord(event, other));
    OK(cuStreamWaitEvent(stream, event, 0));
    OK(cuMemsetD32Async(memory, 5, 1, stream));
    assert_int_equal(first_word(), 1);
    assert_int_equal(vramscopeSimPending(0, other), 1);
    assert_int_equal(vramscopeSimPending(0, stream), 1);
    assert_int_equal(vramscopeSimPending(0, third), 0);
    atomic_store(&open, 1);
    vramscopeSimSettle(0, stream);
    assert_int_equal(first_word(), 5);
    assert_int_equal(vramscopeSimPending(0, stream), 0);
}

TEST(the_legacy_stream_has_the_effects_of_blocking_streams)
{
    atomic_int open = 0;
    CUstream blocking = sim_stream(CU_STREAM_DEFAULT);
    sim_launch_gate(blocking, &open);
    assert_int_equal(vramscopeSimPending(0, NULL), 1);
    atomic_store(&open, 1);
    vramscopeSimSettle(0, NULL);
    assert_int_equal(vramscopeSimPending(0, NULL), 0);
}

TEST(turned_off_again_everything_waits)
{
    CUstream stream = sim_stream(CU_STREAM_NON_BLOCKING);
    atomic_int open = 0;
    *(int *)(uintptr_t)memory = 1;
    assert_int_equal(vramscopeSimDataAtSubmit(0), 1);
    sim_launch_gate(stream, &open);
    OK(cuMemsetD32Async(memory, 5, 1, stream));
    assert_int_equal(first_word(), 1);
    atomic_store(&open, 1);
    OK(cuStreamSynchronize(stream));
    assert_int_equal(first_word(), 5);
    assert_int_equal(vramscopeSimDataAtSubmit(1), 0);
}

TEST(an_answer_serves_the_next_copy_of_its_size_and_no_other)
{
    CUstream stream = sim_stream(CU_STREAM_NON_BLOCKING);
    int answer = 42, small = 0, again = 0;
    long long large = 0;
    OK(cuMemsetD32(memory, 3, 2));
    assert_int_equal(vramscopeSimAnswer(&answer, sizeof answer), 1);
    OK(cuMemcpyDtoH(&large, memory, sizeof large));
    assert_int_equal(large, INT64_C(3) << 32 | 3);
    OK(cuMemcpyDtoHAsync(&small, memory, sizeof small, stream));
    OK(cuMemcpyDtoHAsync(&again, memory, sizeof again, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(small, 42);
    assert_int_equal(again, 3);
}

TEST(answers_have_a_limit_and_are_dropped)
{
    char bytes[65] = {0};
    int value = 9, read = 0, taken = 0;
    assert_int_equal(vramscopeSimAnswer(bytes, sizeof bytes), 0);
    assert_int_equal(vramscopeSimAnswer(bytes, 0), 0);
    assert_int_equal(vramscopeSimAnswer(NULL, 4), 0);
    while (taken < 100 && vramscopeSimAnswer(&value, sizeof value))
        taken++;
    assert_in_range(taken, 1, 99);
    assert_int_equal(vramscopeSimAnswersDrop(), taken);
    assert_int_equal(vramscopeSimAnswersDrop(), 0);
    OK(cuMemsetD32(memory, 3, 1));
    OK(cuMemcpyDtoH(&read, memory, sizeof read));
    assert_int_equal(read, 3);
}

SETUP(start)
{
    sim_begin_on("t4-16g,kernel_us=100000000");
    memory = sim_alloc(64);
    assert_int_equal(vramscopeSimDataAtSubmit(1), 0);
    return 0;
}
