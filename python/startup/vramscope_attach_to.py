# SPDX-License-Identifier: Apache-2.0
"""vramscope attach: vramscope_attach_to.py PID LIBRARY [NAME=VALUE...]

Has another process of this interpreter run vramscope_attach.py on a new thread, by ptrace. One of its threads that
waits in the kernel is stopped for some milliseconds: with registers of ours it maps memory, by the very instruction at
which it waits, and calls pthread_create; then its own registers are restored, and it repeats the call that it waited in.
A thread in such a call holds no lock of the C library, except that one in futex(2) may hold a lock and wait for another:
it is used only if no thread waits in another call. Its signals wait meanwhile. The new thread waits for the interpreter's
lock like any other. (sys.remote_exec of Python 3.14 uses the main thread alone, which may wait for ever.)
"""
import ctypes
import math
import os
import platform
import re
import shutil
import signal
import stat
import struct
import sys
import tempfile
import time

SEIZE, INTERRUPT, CONT, STEP, DETACH, POKE = 0x4206, 0x4207, 7, 9, 17, 5
GETREGS, SETREGS, GETSIGMASK, SETSIGMASK = 12, 13, 0x420A, 0x420B
GETREGSET, SETREGSET, XSTATE = 0x4204, 0x4205, 0x202
WAITS = {0, 7, 23, 34, 35, 43, 45, 47, 61, 128, 202, 230, 232, 247, 270, 271, 281, 288, 441, 449}  # read, poll … futex_waitv
R10, RBX, R9, R8, RAX, RCX, RDX, RSI, RDI, CALL, RIP, FLAGS, RSP = 7, 5, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19
FUTEX, MMAP, ROOM, TEXT_AT, INTERRUPTED = 202, 9, 1 << 16, 256, 128 << 8 | signal.SIGTRAP
EINTR, NO_CALL = (1 << 64) - 4, (1 << 64) - 1
PATIENCE_S = 60
FAULTS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS, signal.SIGABRT)
libc = ctypes.CDLL(None, use_errno=True)
Registers = ctypes.c_uint64 * 27
VECTORS_MAX = 1 << 16  # bytes of the vector registers


class Region(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class Refused(Exception):
    """Why the process is not recorded."""


def ptrace(request, tid, address=0, data=0):
    pointer = data if isinstance(data, int) else ctypes.addressof(data)
    if libc.ptrace(*map(ctypes.c_long, (request, tid, address, pointer))):
        raise OSError(ctypes.get_errno(), "ptrace")


def mapped_files(pid):
    """(file, where its begin is mapped), by device and inode; and where each mapping ends."""
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as maps:
        rows = [line.split(None, 5) for line in maps]
    rows = [row for row in rows if row[4] != "0"]
    return {tuple(row[3:5]): int(row[0].split("-")[0], 16) for row in reversed(rows) if int(row[2], 16) == 0}, rows


def function_in(pid, function):
    """The address there of a C function that this process has as well."""
    own, rows = mapped_files("self")
    address = ctypes.cast(function, ctypes.c_void_p).value
    for row in rows:
        start, end = (int(word, 16) for word in row[0].split("-"))
        if start <= address < end:
            there = mapped_files(pid)[0].get(tuple(row[3:5]))
            if there is not None:
                return there + address - own[tuple(row[3:5])]
    raise Refused("it is still starting, or its program's file was replaced: try again, or start it again")


def has_ended(pid):
    """Also before its parent has waited for it."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="surrogateescape") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def stop_of(tid):
    """The signal that stopped the thread, with an event above it."""
    status = os.waitpid(tid, 0x40000000)[1]  # also threads
    return status >> 8 if status & 255 == 127 else -1


def stop_waiting(pid, registers, calls):
    """Stops a thread that waits in one of the system calls."""
    for tid in map(int, os.listdir(f"/proc/{pid}/task")):
        try:
            with open(f"/proc/{pid}/task/{tid}/syscall", encoding="ascii") as file:
                word = file.read().split()[0]
            if not word.isdigit() or int(word) not in calls:
                continue
            ptrace(SEIZE, tid)
        except (FileNotFoundError, ProcessLookupError):
            continue
        ptrace(INTERRUPT, tid)
        stop = stop_of(tid)
        if stop == INTERRUPTED:
            ptrace(GETREGS, tid, 0, registers)
            if registers[CALL] in calls:
                return tid
        if stop > 0:  # a signal was just being delivered: it is
            ptrace(DETACH, tid, 0, stop if stop < 128 else 0)
    return None


def run_until_trap(tid, how, registers):
    """Runs the thread until a breakpoint or step. SIGSTOP, which cannot be held, is sent again behind it."""
    registers[CALL] = NO_CALL  # to repeat
    ptrace(SETREGS, tid, 0, registers)
    stopped, stop = False, signal.SIGSTOP
    while stop == signal.SIGSTOP or stop >> 8 == 128:
        ptrace(how, tid)
        stop = stop_of(tid)
        stopped |= stop == signal.SIGSTOP
    if stopped:
        os.kill(tid, signal.SIGSTOP)
    if stop != signal.SIGTRAP:
        raise Refused("its thread was interrupted")
    ptrace(GETREGS, tid, 0, registers)


def thread_code(functions, room):
    """A breakpoint; then what the thread does: detaches itself, and unless the interpreter has ended meanwhile, takes its
    lock and runs the text."""
    def call(before, name):
        return before + b"\x48\xb8" + struct.pack("<Q", functions[name]) + b"\xff\xd0"  # mov $function, %rax; call *%rax

    run = (call(b"", "PyGILState_Ensure") +
           call(b"\x89\xc3\x48\xbf" + struct.pack("<Q", room + TEXT_AT), "PyRun_SimpleString") +
           call(b"\x89\xdf", "PyGILState_Release"))
    return (call(b"\xcc\x53", "pthread_self") + call(b"\x48\x89\xc7", "pthread_detach") +
            call(b"", "Py_IsInitialized") + b"\x85\xc0\x74" + bytes([len(run)]) + run +  # test %eax, %eax; je
            b"\x31\xc0\x5b\xc3")  # return 0


def write(tid, address, data):
    data += bytes(-len(data) % 8)
    for at in range(0, len(data), 8):
        ptrace(POKE, tid, address + at, struct.unpack_from("<q", data, at)[0])


def map_room(tid, own, protection):
    """Memory of the stopped thread's process. Its instruction that enters the kernel is used again."""
    entry = own[RIP]
    own[RAX], own[RDI], own[RSI], own[RDX], own[R10], own[R8], own[R9] = MMAP, 0, ROOM, protection, 0x22, NO_CALL, 0
    run_until_trap(tid, STEP, own)
    own[RIP] = entry
    if own[RAX] > (1 << 64) - 4096:
        raise Refused("it may not map memory with code")
    return own[RAX]


def create_thread(tid, own, functions, text):
    """In the stopped thread."""
    own[RIP] -= 2
    if len(text) >= ROOM - TEXT_AT:
        raise Refused("the options in VRAMSCOPE_ variables are too long")
    room, stack = map_room(tid, own, 5), map_room(tid, own, 3) + ROOM - 128  # code cannot be written by the program
    write(tid, room, thread_code(functions, room).ljust(TEXT_AT, b"\0") + text + b"\0")

    def call(name, *arguments):
        write(tid, stack - 8, struct.pack("<Q", room))  # it returns to the breakpoint
        own[RIP], own[RSP], own[RAX] = functions[name], stack - 8, 0
        own[RDI], own[RSI], own[RDX], own[RCX] = arguments
        own[FLAGS] &= ~0x400
        run_until_trap(tid, CONT, own)
        if own[RIP] != room + 1:
            raise Refused("its thread was interrupted")
        return own[RAX] & 0xffffffff

    if not call("Py_IsInitialized", 0, 0, 0, 0):
        raise Refused("its Python has not started yet, or has ended")
    if call("pthread_create", stack, 0, room + 1, 0):
        raise Refused("it cannot have another thread")


def repeat_call(pid, tid, registers, mask):
    """Some calls end with EINTR when their thread was stopped: the program never sees that, unless a signal has come."""
    with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8", errors="surrogateescape") as file:
        signals = [int(line.split()[1], 16) for line in file if line.startswith(("SigPnd:", "ShdPnd:"))]
    if registers[RAX] == EINTR and not (signals[0] | signals[1]) & ~mask:
        registers[RAX], registers[CALL] = registers[CALL], NO_CALL
        registers[RIP] -= 2


def run_there(pid, text):
    """Runs Python code in the process, on a thread of its own."""
    functions = {name: function_in(pid, getattr(ctypes.pythonapi, name))
                 for name in ("Py_IsInitialized", "PyGILState_Ensure", "PyGILState_Release", "PyRun_SimpleString",
                              "pthread_create", "pthread_self", "pthread_detach")}
    registers, mask, blocked = Registers(), ctypes.c_uint64(), ctypes.c_uint64((1 << 64) - 1)
    for fault in FAULTS:
        blocked.value &= ~(1 << fault - 1)
    vectors = ctypes.create_string_buffer(VECTORS_MAX)
    vector_region = Region(ctypes.addressof(vectors), VECTORS_MAX)
    until, tid = time.monotonic() + 5, None
    while tid is None:
        tid = stop_waiting(pid, registers, WAITS - {FUTEX}) or stop_waiting(pid, registers, WAITS)
        if tid is None and time.monotonic() > until:
            raise Refused("none of its threads waits at present; try again")
        time.sleep(0 if tid else 0.001)
    ptrace(GETSIGMASK, tid, 8, mask)
    try:
        ptrace(GETREGSET, tid, XSTATE, vector_region)
        ptrace(SETSIGMASK, tid, 8, blocked)
        create_thread(tid, Registers(*registers), functions, text)
    finally:
        repeat_call(pid, tid, registers, mask.value)
        ptrace(SETREGS, tid, 0, registers)
        if vector_region.bytes < VECTORS_MAX:
            ptrace(SETREGSET, tid, XSTATE, vector_region)
        ptrace(SETSIGMASK, tid, 8, mask)
        ptrace(DETACH, tid)


def wait(pid, ready, what, silent_s, most_s):
    """Waits until *ready* returns something, and returns that. Says so after *silent_s*, gives up after *most_s*."""
    begun, said = time.monotonic(), False
    while True:
        found, waited_s = ready(), time.monotonic() - begun
        if found:
            return found
        if has_ended(pid):
            raise Refused("it has ended")
        if waited_s > most_s:
            raise Refused(f"it {what} for {most_s} s; try again")
        if waited_s >= silent_s and not said:
            said = True
            print(f"vramscope attach: process {pid} {what} yet; waiting until it does", file=sys.stderr)
        time.sleep(0.02)


def has_cuda(pid):
    """CUPTI is found beside CUDA's libraries."""
    with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
        file.read()  # permitted where ptrace is
    return any(re.search(r"/lib(cuda|cudart|vramscope)[-.]", row[5]) for row in mapped_files(pid)[1])


def answer_in(folder):
    """The answer of vramscope_attach.py. It comes from another user's program, perhaps: root follows no link and waits
    for no pipe."""
    try:
        file = os.open("answer", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return ""
    with open(file, encoding="utf-8", errors="surrogateescape") as answer:
        line = answer.read(8192) if stat.S_ISREG(os.fstat(file).st_mode) else "no file"
    if line and line[0] not in "02":
        raise Refused("its answer cannot be read")
    return line


def main(pid, *request):
    if platform.machine() != "x86_64":
        raise Refused("attach works on x86-64 only; start it with vramscope run")
    if sys.version_info < (3, 9):
        raise Refused("attach needs Python 3.9 or later; start it with vramscope run")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    wait(pid, lambda: has_cuda(pid), "has not loaded CUDA", 0, math.inf)
    path = tempfile.mkdtemp(prefix="vramscope-attach-")
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        there = f"/proc/{pid}/root{path}"
        if not (os.path.exists(there) and os.path.samestat(os.stat(there), os.fstat(folder))) and not has_ended(pid):
            raise Refused(f"it has another {os.path.dirname(path)}: run vramscope where the program runs, or set TMPDIR to a "
                          "folder that both see")
        if os.geteuid() == 0:  # last: from then on, its user may change the folder
            owner = os.stat(f"/proc/{pid}")
            os.fchown(folder, owner.st_uid, owner.st_gid)
        part = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vramscope_attach.py")
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        # in the program's __main__, which may define `open` or `compile` itself
        run_there(pid, f"""try:
 (lambda b: b.exec(b.compile(b.open({part!r}, 'rb').read(), '<vramscope>/attach.py', 'exec'),
  {{'FOLDER': {path!r}, 'REQUEST': {request!r}}}))(
  __import__('builtins'))
except:
 try: (lambda b, s: b.open({path + "/answer"!r}, 'x').write('2its Python failed: ' + b.repr(s.exc_info()[1])[:200]))(
  __import__('builtins'), __import__('sys'))
 except: pass
""".encode(errors="surrogateescape"))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        return wait(pid, lambda: answer_in(folder), "has not answered (it runs no Python code, or imports PyTorch)", 5,
                    PATIENCE_S)
    finally:
        shutil.rmtree(path, ignore_errors=True)  # code that has not begun finds nothing to do


try:
    line = main(int(sys.argv[1]), *sys.argv[2:])
except ProcessLookupError:
    line = "2it has ended"
except PermissionError as error:
    line = "2it has ended" if has_ended(sys.argv[1]) else (
            f"2it may not be traced ({error.strerror}): run vramscope as its user, or as root where "
            "/proc/sys/kernel/yama/ptrace_scope is not 0; a container needs CAP_SYS_PTRACE")
except (OSError, Refused) as error:
    line = "2it has ended" if has_ended(sys.argv[1]) else f"2{error}"
except KeyboardInterrupt:
    line = "2interrupted"
if line[0] == "0":
    print(f"process {sys.argv[1]} is {line[1:].strip()}")
else:
    print(f"vramscope attach: process {sys.argv[1]} is not recorded: {line[1:].strip()}", file=sys.stderr)
sys.exit(int(line[0]))
