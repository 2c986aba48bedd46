# SPDX-License-Identifier: Apache-2.0
"""The blocks in the pool of CuPy, by its memory hooks, for `vramscope run --pools`.

CuPy calls a hook for every block that its pool hands out and takes back, on the threads that have entered the
hook: it is entered on the thread that imports CuPy and on each that is started later. Memory that CuPy's
asynchronous pool allocates, or an allocator that the program sets, passes through no hook.
"""
import ctypes
import os
import threading


def start(cupy):
    library = ctypes.PyDLL(None)  # the lock stays taken: the calls are short
    library.vramscope_pool_begin()
    allocated, freed = library.vramscope_pool_alloc, library.vramscope_pool_free
    for function in allocated, freed:
        function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int), None

    class Hook(cupy.cuda.MemoryHook):
        name = "vramscope"

        def malloc_postprocess(self, **block):
            if block["mem_ptr"]:  # 0: the pool had no memory
                allocated(block["mem_ptr"], block["mem_size"], block["device_id"])

        def free_preprocess(self, **block):  # afterwards another thread may have the block
            freed(block["mem_ptr"], block["mem_size"], block["device_id"])

    hook, begin = Hook(), threading.Thread._bootstrap_inner

    def _bootstrap_inner(thread):
        try:
            hook.__enter__()
        except Exception as error:  # the program's thread runs all the same
            threading.Thread._bootstrap_inner = begin
            os.write(2, f"vramscope[{os.getpid()}]: arrays of new threads are not recorded: {error!r}\n".encode())
        begin(thread)

    hook.__enter__()
    threading.Thread._bootstrap_inner = _bootstrap_inner
