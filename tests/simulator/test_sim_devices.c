/* SPDX-License-Identifier: Apache-2.0
 *
 * Several simulated devices: selection by CUDA_VISIBLE_DEVICES (each case in a process of its own,
 * since cuInit reads it once), and waits for peers. */
#include "sim_test.h"

#include <stdio.h>
#include <sys/wait.h>

/* The bus numbers of the devices of a process with this list, as digits; "none" if cuInit finds no
 * device. */
static const char *visible(const char *list)
{
    static char out[64];
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (!pid) {
        char text[64] = "none";
        int count, bus, n = 0;
        setenv("CUDA_VISIBLE_DEVICES", list, 1);
        if (cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&count) == CUDA_SUCCESS)
            for (int i = 0; i < count; i++)
                if (!cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, i))
                    n += sprintf(text + n, "%d", bus);
        _exit(write(fds[1], text, strlen(text) + 1) < 0);
    }
    close(fds[1]);
    ssize_t got = read(fds[0], out, sizeof out - 1);
    out[got > 0 ? got : 0] = 0;
    close(fds[0]);
    waitpid(pid, NULL, 0);
    return out;
}

TEST(lists_choose_and_order)
{
    assert_string_equal(visible("0,1,2,3"), "1234");
    assert_string_equal(visible("3,1"), "42");
    assert_string_equal(visible(" 2 , 0"), "31");
    assert_string_equal(visible("2,4,0"), "3");
    assert_string_equal(visible("0,-1,1"), "1");
    assert_string_equal(visible("1,x,0"), "2");
    assert_string_equal(visible("1,1"), "2");
    assert_string_equal(visible("1,"), "2");
    assert_string_equal(visible(""), "none");
    assert_string_equal(visible("-1"), "none");
    assert_string_equal(visible("NoDevFiles"), "none");
    assert_string_equal(visible("99999999999999999999"), "none");
}

TEST(uuids_choose_while_they_are_unique)
{
    /* "vramscope-sim02" and a zero */
    assert_string_equal(visible("GPU-7672616d-7363-6f70-652d-73696d303200"), "3");
    assert_string_equal(visible("GPU-7672616d-7363-6f70-652d-73696D3032,0"), "31");
    assert_string_equal(visible("GPU-7672616d"), "none"); /* all begin so */
    assert_string_equal(visible("GPU-1234"), "none");
    assert_string_equal(visible("MIG-7672616d"), "none");
}

TEST(a_free_waits_for_peers_with_access)
{
    atomic_int open = 0;
    CUcontext zero = sim_start(), one;
    OK(cuDevicePrimaryCtxRetain(&one, 1));
    CUdeviceptr p = sim_alloc(4096);
    OK(cuCtxSetCurrent(one));
    OK(cuCtxEnablePeerAccess(zero, 0));
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    sim_register_kernels();
    for (int i = 0; i < 20; i++)
        OK(cuMemsetD8Async(p, (unsigned char)i, 4096, s));
    sim_launch_gate(s, &open);
    OK(cuMemsetD8Async(p, 9, 4096, s));
    atomic_store(&open, 1);
    OK(cuCtxSetCurrent(zero));
    OK(cuMemFree(p));
    OK(cuCtxSetCurrent(one));
    OK(cuStreamSynchronize(s)); /* no illegal address */
    OK(cuDevicePrimaryCtxRelease(1));
    OK(cuDevicePrimaryCtxRelease(0));
}

TEST(access_ends_with_either_context)
{
    CUcontext zero = sim_start(), one, other;
    OK(cuDevicePrimaryCtxRetain(&one, 1));
    OK(cuCtxCreate(&other, NULL, 0, 1));
    OK(cuCtxSetCurrent(zero));
    OK(cuCtxEnablePeerAccess(one, 0));
    OK(cuCtxEnablePeerAccess(other, 0)); /* by context, not by device */
    OK(cuCtxDestroy(other));
    FAILS(cuCtxDisablePeerAccess(other), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxReset(1));
    OK(cuDevicePrimaryCtxRelease(1));
    OK(cuDevicePrimaryCtxRetain(&one, 1));
    FAILS(cuCtxDisablePeerAccess(one), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    OK(cuCtxEnablePeerAccess(one, 0));
    OK(cuDevicePrimaryCtxRelease(1));
    OK(cuDevicePrimaryCtxRelease(0));
}

SETUP(begin)
{
    setenv("VRAMSCOPE_SIMULATE", "a100-40g,devices=4", 1);
    return 0;
}
