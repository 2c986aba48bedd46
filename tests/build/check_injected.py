#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every hook of a driver function is replayed when calls are only reported
(src/intercept/cupti/inject_table.h), or has a reason here why it need not be.

  check_injected.py SOURCE-DIR"""

import re
import sys

ANSWERS = "answers for the cache, which an injected process has not"
ROOM = "records nothing: only lets the cache give way"
EXEMPT = {
    "cuGetProcAddress": "how calls arrive at hooks", "cuGetProcAddress_v2": "how calls arrive at hooks",
    "cuMemGetInfo_v2": ANSWERS,
    "cuDeviceTotalMem_v2": ANSWERS, "cuMemGetAddressRange_v2": ANSWERS,
    "cuPointerGetAttribute": ANSWERS, "cuPointerGetAttributes": ANSWERS, "cuPointerSetAttribute": ANSWERS,
    "cuMemGetAccess": ANSWERS, "cuIpcGetMemHandle": ANSWERS, "cuMemGetHandleForAddressRange": ANSWERS,
    "cuMemAddressFree": ANSWERS, "cuCtxSynchronize": ANSWERS, "cuCtxEnablePeerAccess": ANSWERS,
    "cuMemSetAccess": ROOM, "cuImportExternalMemory": ROOM, "cuGraphicsMapResources": ROOM,
    "cuGraphicsMapResources_ptsz": ROOM, "cuModuleGetFunction": ROOM,
    "cuModuleGetGlobal_v2": ROOM, "cuLibraryGetModule": ROOM, "cuLibraryGetGlobal": ROOM,
    "cuLibraryGetManaged": ROOM, "cuKernelGetFunction": ROOM, "cuFuncLoad": ROOM, "cuLaunchKernel": ROOM,
    "cuLaunchKernel_ptsz": ROOM, "cuLaunchKernelEx": ROOM, "cuLaunchKernelEx_ptsz": ROOM,
    "cuLaunchCooperativeKernel": ROOM, "cuLaunchCooperativeKernel_ptsz": ROOM,
    "cuCtxSetLimit": "its memory is measured before and after the call, but only the end of the call is reported",
    "cuLibraryLoadData": "shows in the device's figures only, at the next event",
    "cuLibraryLoadFromFile": "shows in the device's figures only, at the next event",
    "cuLibraryUnload": "shows in the device's figures only, at the next event",
    "cuMulticastBindMem_v2": "newer than the parameters that CUPTI 13.0 describes",
    "cuMulticastBindAddr_v2": "newer than the parameters that CUPTI 13.0 describes",
}


def names(folder, file, macro):
    with open(f"{folder}/src/intercept/{file}", encoding="utf-8") as f:
        return re.findall(rf"^{macro}\((\w+),", f.read(), re.M)


def main():
    hooks = names(sys.argv[1], "route/hook_table.h", "VS_(?!RUNTIME)[A-Z]+_HOOK")
    replayed = names(sys.argv[1], "cupti/inject_table.h", "VS_INJECT")
    wrong = [f"{h}: no line in inject_table.h, and no reason here" for h in hooks
             if h not in replayed and h not in EXEMPT]
    wrong += [f"{r}: replayed, but no hook" for r in replayed if r not in hooks]
    wrong += [f"{e}: replayed and exempt" for e in EXEMPT if e in replayed]
    print(*wrong, f"{len(hooks)} hooks, {len(replayed)} replayed", sep="\n")
    return 1 if wrong or not replayed else 0


if __name__ == "__main__":
    sys.exit(main())
