# SPDX-License-Identifier: Apache-2.0
"""Run inside a program by `vramscope attach`, on a thread of its own: loads the library, which records from there on,
and tells it what PyTorch holds already.

REQUEST is the library's path, then options NAME=VALUE. The answer is the file "answer" in FOLDER, in one line: the
exit code of attach, and words for it. No exception reaches the program.
"""
import ctypes
import os
import sys

KNOWN = "attached to a running program: of what it had allocated before, only PyTorch's memory is known"
MAPPED = "; {:.1f} MiB of it, in expandable segments, stay counted, also if PyTorch unmaps them"
UNKNOWN = "attached to a running program: what it had allocated before is not known: "


def loaded_library():
    """The file of a libvramscope.so that the program has loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = ["/" + line.rstrip("\n").partition("/")[2] for line in maps]
    return next((path for path in paths if path.endswith("/libvramscope.so")), None)


def stack_of(library, block):
    """Where PyTorch's own history has it."""
    stack = 0
    for frame in reversed(block.get("frames") or ()):
        if frame["filename"].endswith(".py"):
            stack = library.vramscope_attach_frame(stack, frame["name"].encode(), frame["filename"].encode(),
                                                   frame["line"])
    return stack


def record_device(library, device, segments):
    """Segments of a device with their blocks."""
    reserved, allocated = sum(segment["total_size"] for segment in segments), 0
    for segment in segments:
        address = segment["address"]
        library.vramscope_attach_segment(address, segment["total_size"], device)
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                allocated += block["size"]
                library.vramscope_attach_block(address, block["size"], device, allocated, reserved,
                                               stack_of(library, block))
            address += block["size"]


def record_held(library):
    """What PyTorch holds. Returns a note for the reader of the report."""
    torch = sys.modules.get("torch")
    if not hasattr(torch, "cuda"):
        return UNKNOWN + "it has not imported PyTorch"
    try:
        segments = torch.cuda.memory_snapshot() if torch.cuda.is_initialized() else []
        for device in sorted({segment["device"] for segment in segments}):
            record_device(library, device, [segment for segment in segments if segment["device"] == device])
    except Exception as error:  # another allocator is in use
        return UNKNOWN + " ".join(str(error).split())[:200]
    mapped = sum(segment["total_size"] for segment in segments if segment.get("is_expandable"))
    return KNOWN + (MAPPED.format(mapped / (1 << 20)) if mapped else "")


def attach(path, options):
    output = next((o.partition("=")[2] for o in options if o.startswith("output=")), "x")
    folder = os.path.dirname(os.path.abspath(output))
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"2it cannot write in {folder}; give the trace another folder with -o"
    library, u64, text = ctypes.CDLL(loaded_library() or path), ctypes.c_uint64, ctypes.create_string_buffer(4096)
    library.vramscope_attach_frame.argtypes = [u64, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint]
    library.vramscope_attach_frame.restype = u64
    library.vramscope_attach_segment.argtypes = [u64, u64, ctypes.c_int]
    library.vramscope_attach_block.argtypes = [u64, u64, ctypes.c_int, u64, u64, u64]
    begun = library.vramscope_attach(os.fsencode("\n".join(options)), text, len(text))
    if begun < 0:
        return "2" + os.fsdecode(text.value)
    if begun == 0:
        library.vramscope_attach_end(record_held(library).encode())
        library.vramscope_flush()
    if library.vramscope_trace_path(text, len(text)) < 0:
        return "0recorded from its first CUDA call on: it was started with vramscope"
    return ("0already recorded: " if begun else "0recorded: ") + os.fsdecode(text.value)


def main():
    try:
        if "torch" in sys.modules:
            import torch  # noqa: F401 - another thread may be doing it: wait until all of its libraries are there
    except Exception:
        pass  # so it failed
    if os.lstat(FOLDER).st_uid != os.geteuid():  # noqa: F821
        return  # attach gave up and removed it, and another user made one of its name
    try:
        line = attach(REQUEST[0], REQUEST[1:])  # noqa: F821
    except Exception as error:
        line = "2" + " ".join(f"{type(error).__name__}: {error}".split())
    answer = os.path.join(FOLDER, "answer")  # noqa: F821
    with open(answer + ".new", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(line + "\n")
    os.rename(answer + ".new", answer)


main()
