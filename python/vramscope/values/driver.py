# SPDX-License-Identifier: Apache-2.0
"""The functions that the simulated driver offers to this package, besides CUDA.

Data of copies and memsets moves when they are submitted, not when the stream reaches them
(vramscopeSimDataAtSubmit), so that values computed by the host are in order with them. Work whose
effect cannot be moved ahead (host functions, collectives) is waited for: vramscopeSimSettle. An
answer replaces the bytes that the next copy to the host would read (vramscopeSimAnswer), so that a
CUDA operation that reads back a count gets the true one. What a value decides that was not computed is
recorded in the trace (vramscopeSimDecided). An older simulator has none of these:
then each computation waits for the device, and shapes that depend on data are assumed.
"""
import ctypes
import os
import struct

_settle = _answer = _drop = _decided = None
present = False


def load():
    """Finds the simulated driver, which torch has loaded. Returns False on a real GPU."""
    global _settle, _answer, _drop, _decided, present
    try:
        library = ctypes.PyDLL("libcuda.so.1")  # keeps the interpreter lock: the calls are short
        library.vramscopeSimRegisterKernel
    except (OSError, AttributeError):
        return False
    try:
        library.vramscopeSimDataAtSubmit.argtypes = [ctypes.c_int]
        _answer = library.vramscopeSimAnswer
        _answer.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        _drop = library.vramscopeSimAnswersDrop
        waiting = ctypes.CDLL("libcuda.so.1")  # releases it: this one may wait for other threads
        _settle = (library.vramscopeSimPending, waiting.vramscopeSimSettle)
        for function in _settle:
            function.argtypes = [ctypes.c_int, ctypes.c_void_p]
        _settle[1].restype = None
        _decided = library.vramscopeSimDecided
        _decided.argtypes = [ctypes.c_char_p]
        library.vramscopeSimDataAtSubmit(1)
        present = True
    except AttributeError:
        _settle = _answer = _drop = _decided = None
    return True


def give_up():
    """Values are off: the simulator records reads of what no kernel computed, as in other programs."""
    if present:
        ctypes.PyDLL("libcuda.so.1").vramscopeSimDataAtSubmit(0)


def data_is_small():
    """Do large copies and memsets leave the memory as it is (data=small)?"""
    return "data=small" in os.environ.get("VRAMSCOPE_SIMULATE", "").split(",")


def settle(torch, device):
    """Waits for the work before the end of the current stream that still has to change memory."""
    stream = torch._C._cuda_getCurrentRawStream(device)
    if _settle is None:
        torch.cuda.current_stream(device).synchronize()
    elif _settle[0](device, stream):
        _settle[1](device, stream)


def answer(count):
    """The next copies of 4 and 8 bytes from the device to the host by this thread read *count*."""
    for layout in "<i", "<q":
        if _answer is not None:
            _answer(struct.pack(layout, count), struct.calcsize(layout))


def drop_answers():
    """Forgets the answers of this thread that were not read. Returns their number."""
    return _drop() if _drop is not None else 0


def decided(text):
    """A value that was not computed decided something: recorded with the call stack of now."""
    if _decided is not None:
        _decided(text.encode(errors="replace"))
