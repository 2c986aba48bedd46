/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdict: the call failed with another error than out of memory, so that no amount of memory would
 * have helped. */
#include "analysis/oom/verdict.h"

#define KERNEL "an earlier kernel failed: find it with compute-sanitizer"

bool vs_oom_is_out_of_memory(const struct vs_report_failure *failure)
{
    return failure->framework || failure->error == VS_CUDA_OUT_OF_MEMORY;
}

/* What to do about ranges of CUresult values. */
static const struct {
    unsigned from, to;
    const char *kind, *text;
} advice[] = {
    {1, 1, "fix_call", "correct the arguments of the call"},
    {3, 4, "fix_context", "make the call after CUDA was initialized and before the program exits"},
    {46, 46, "restore_device", "the device is unavailable: see nvidia-smi and the kernel log "
                               "(dmesg)"},
    {100, 101, "fix_context", "check which devices the program can use (CUDA_VISIBLE_DEVICES)"},
    {201, 201, "fix_context", "make the call with a current context"},
    {214, 214, "restore_device", "the device reported a memory error: see nvidia-smi -q -d ECC"},
    {220, 220, "restore_device", "the device reported an NVLink error: see nvidia-smi nvlink -e"},
    {226, 226, "fix_kernel", KERNEL},
    {400, 400, "fix_call", "correct the arguments of the call: a handle is invalid"},
    {700, 702, "fix_kernel", KERNEL},
    {709, 709, "fix_context", "make the call before the context is destroyed"},
    {710, 710, "fix_kernel", KERNEL},
    {712, 713, "fix_call", "register each range of host memory once"},
    {714, 719, "fix_kernel", KERNEL},
    {800, 801, "fix_call", "this device or driver does not allow the call: use another kind of "
                           "memory"},
    {802, 803, "restore_device", "check the installation of the driver"},
    {805, 810, "restore_device", "check the MPS server and its log"},
    {900, 908, "fix_capture", "allocate before the stream capture begins, or stream-ordered "
                              "(cudaMallocAsync)"},
};

static bool decides(const struct vs_oom *oom)
{
    return !vs_oom_is_out_of_memory(&oom->failure);
}

static void explain(struct vs_oom *oom)
{
    char name[VS_CUDA_ERROR_TEXT_MAX];
    uint64_t error = oom->failure.error;
    const char *kind = "look_up_error";
    const char *text = "look the error up in the CUDA documentation of the call";
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (error >= advice[i].from && error <= advice[i].to) {
            kind = advice[i].kind;
            text = advice[i].text;
        }
    vs_oom_evidence(oom, "the call was refused with %s", vs_cuda_error_name(name, error));
    vs_oom_remedy(oom, kind, 0, false, "%s", text);
}

const struct vs_verdict vs_verdict_error = {
    .name = "other_error", .words = "not out of memory: the call failed with another error",
    .decides = decides, .explain = explain};
