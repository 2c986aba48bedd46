# SPDX-License-Identifier: Apache-2.0
"""vramscope attach: vramscope_attach_to.py PID LIBRARY [NAME=VALUE...]

Has another process of this interpreter run vramscope_attach.py on a new thread, by ptrace. One of its threads that
waits in the kernel, and so holds no lock of the C library, is stopped for some milliseconds: with registers of ours
it maps memory, by the very instruction at which it waits, and calls pthread_create; then its own registers are
restored, and the kernel repeats the call that it waited in. Its signals wait meanwhile. The new thread waits for the
interpreter's lock like any other. (sys.remote_exec of Python 3.14 uses the main thread alone, which may wait for ever.)
"""
import ctypes
import os
import platform
import shutil
import signal
import struct
import sys
import tempfile
import time

SEIZE, INTERRUPT, CONT, STEP, DETACH, POKE = 0x4206, 0x4207, 7, 9, 17, 5
GETREGS, SETREGS, GETSIGMASK, SETSIGMASK = 12, 13, 0x420A, 0x420B
WAITS = {0, 7, 23, 34, 35, 43, 45, 47, 61, 128, 202, 230, 232, 247, 270, 271, 281, 288, 441, 449}  # read, poll … futex_waitv
R10, RBX, R9, R8, RAX, RCX, RDX, RSI, RDI, CALL, RIP, FLAGS, RSP = 7, 5, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19
MMAP, ROOM, TEXT_AT, INTERRUPTED = 9, 1 << 16, 256, 128 << 8 | signal.SIGTRAP
FAULTS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS, signal.SIGABRT)
libc = ctypes.CDLL(None, use_errno=True)
Registers = ctypes.c_uint64 * 27


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
    raise Refused("it is another Python than its program's file, which was replaced: start it again")


def stop_of(tid):
    """The signal that stopped the thread, with an event above it."""
    status = os.waitpid(tid, 0x40000000)[1]  # also threads
    return status >> 8 if status & 255 == 127 else -1


def stop_waiting(pid, registers):
    """Stops a thread that waits in the kernel."""
    for tid in map(int, os.listdir(f"/proc/{pid}/task")):
        try:
            with open(f"/proc/{pid}/task/{tid}/syscall", encoding="ascii") as file:
                word = file.read().split()[0]
            if not word.isdigit() or int(word) not in WAITS:
                continue
            ptrace(SEIZE, tid)
        except (FileNotFoundError, ProcessLookupError):
            continue
        ptrace(INTERRUPT, tid)
        stop = stop_of(tid)
        if stop == INTERRUPTED:
            ptrace(GETREGS, tid, 0, registers)
            if registers[CALL] in WAITS:
                return tid
        if stop > 0:  # a signal was just being delivered: it is
            ptrace(DETACH, tid, 0, stop if stop < 128 else 0)
    return None


def run_until_trap(tid, how, registers):
    """Runs the thread until a breakpoint or step. SIGSTOP, which cannot be held, is sent again behind it."""
    registers[CALL] = (1 << 64) - 1  # no call to repeat
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
    """A breakpoint; then what the thread does: detaches itself, takes the interpreter's lock and runs the text."""
    def call(before, name):
        return before + b"\x48\xb8" + struct.pack("<Q", functions[name]) + b"\xff\xd0"  # mov $function, %rax; call *%rax

    return (call(b"\xcc\x53", "pthread_self") + call(b"\x48\x89\xc7", "pthread_detach") + call(b"", "PyGILState_Ensure") +
            call(b"\x89\xc3\x48\xbf" + struct.pack("<Q", room + TEXT_AT), "PyRun_SimpleString") +
            call(b"\x89\xdf", "PyGILState_Release") + b"\x31\xc0\x5b\xc3")  # return 0


def write(tid, address, data):
    data += bytes(-len(data) % 8)
    for at in range(0, len(data), 8):
        ptrace(POKE, tid, address + at, struct.unpack_from("<q", data, at)[0])


def create_thread(tid, own, functions, text):
    """In the stopped thread."""
    own[RIP] -= 2  # the instruction that enters the kernel
    own[RAX], own[RDI], own[RSI], own[RDX], own[R10], own[R8], own[R9] = MMAP, 0, ROOM, 7, 0x22, (1 << 64) - 1, 0
    run_until_trap(tid, STEP, own)
    room = own[RAX]
    if room > (1 << 64) - 4096:
        raise Refused("it may not map memory with code")
    stack = room + ROOM - 128
    write(tid, room, thread_code(functions, room).ljust(TEXT_AT, b"\0") + text + b"\0")
    write(tid, stack - 8, struct.pack("<Q", room))  # it returns to the breakpoint
    own[RIP], own[RSP], own[RDI], own[RSI], own[RDX], own[RCX], own[RAX] = (
        functions["pthread_create"], stack - 8, stack, 0, room + 1, 0, 0)
    own[FLAGS] &= ~0x400
    run_until_trap(tid, CONT, own)
    if own[RAX] or own[RIP] != room + 1:
        raise Refused("it cannot have another thread")


def run_there(pid, text):
    """Runs Python code in the process, on a thread of its own."""
    functions = {name: function_in(pid, getattr(ctypes.pythonapi, name))
                 for name in ("PyGILState_Ensure", "PyGILState_Release", "PyRun_SimpleString", "pthread_create",
                              "pthread_self", "pthread_detach")}
    registers, mask, blocked = Registers(), ctypes.c_uint64(), ctypes.c_uint64((1 << 64) - 1)
    for fault in FAULTS:
        blocked.value &= ~(1 << fault - 1)
    until = time.monotonic() + 5
    tid = stop_waiting(pid, registers)
    while tid is None and time.monotonic() < until:
        time.sleep(0.001)
        tid = stop_waiting(pid, registers)
    if tid is None:
        raise Refused("none of its threads waits at present; try again")
    ptrace(GETSIGMASK, tid, 8, mask)
    try:
        ptrace(SETSIGMASK, tid, 8, blocked)
        create_thread(tid, Registers(*registers), functions, text)
    finally:
        ptrace(SETREGS, tid, 0, registers)
        ptrace(SETSIGMASK, tid, 8, mask)
        ptrace(DETACH, tid)


def answer_of(pid, folder):
    """Waits for the answer of vramscope_attach.py."""
    said, path = time.monotonic() + 5, os.path.join(folder, "answer")
    while not os.path.exists(path):
        os.kill(pid, 0)
        if said and time.monotonic() > said:
            said = 0
            print(f"vramscope attach: process {pid} has run no Python code for 5 s; waiting until it does", file=sys.stderr)
        time.sleep(0.02)
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def main(pid, *request):
    if platform.machine() != "x86_64":
        raise Refused("attach works on x86-64 only; start it with vramscope run")
    folder = tempfile.mkdtemp(prefix="vramscope-attach-")
    try:
        owner = os.stat(f"/proc/{pid}")
        if os.geteuid() == 0:
            os.chown(folder, owner.st_uid, owner.st_gid)
        with open(os.path.join(folder, "request"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("\n".join(request))
        os.chmod(file.name, 0o644)  # the folder is private
        part = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vramscope_attach.py")
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        run_there(pid, f"""try:
 exec(compile(open({part!r}, 'rb').read(), '<vramscope>/attach.py', 'exec'), {{'FOLDER': {folder!r}}})
except BaseException:
 pass
""".encode(errors="surrogateescape"))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        return answer_of(pid, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # code that has not begun finds nothing to do


try:
    line = main(int(sys.argv[1]), *sys.argv[2:])
except ProcessLookupError:
    line = "2it has ended"
except PermissionError as error:
    line = (f"2it may not be traced ({error.strerror}): run vramscope as its user, or as root where "
            "/proc/sys/kernel/yama/ptrace_scope is not 0; a container needs CAP_SYS_PTRACE")
except (OSError, Refused) as error:
    line = f"2{error}"
except KeyboardInterrupt:
    line = "2interrupted"
if line[0] == "0":
    print(f"process {sys.argv[1]} is {line[1:].strip()}")
else:
    print(f"vramscope attach: process {sys.argv[1]} is not recorded: {line[1:].strip()}", file=sys.stderr)
sys.exit(int(line[0]))
