# SPDX-License-Identifier: Apache-2.0
#
# Allocations from unusual places of Python code: code objects with unusual contents, other
# interpreters in the process, other entries into the eval loop, garbage collections in between,
# threads started by C code. Runs under Python 3.9 and later. Arguments: see python_report.py, and
# the extension's path.
import asyncio
import contextlib
import contextvars
import ctypes
import faulthandler
import functools
import gc
import sys
import threading
import types
import weakref

from python_report import extension, in_threads, interpreter_module, plain, recurse, run_in_interpreter


def odd_names():
    """Names of files and functions of any length and any characters."""
    for name in ("", "a\nb\tc", "x" * 10000, "ä" * 600, "日" * 400, "\U0001f40d" * 300, "nul\0nul",
                 "\ud800alone", "/" * 1025, "y" * 1020 + "é", "y" * 1021, "\x1b[31m",
                 "<vramscope>/own.py", "<vramscope"):
        with contextlib.suppress(ValueError):  # null characters, in some versions
            exec(compile("plain('odd file')", name, "exec"), {"plain": plain})
        code = (lambda: plain("odd name")).__code__
        more = {"co_qualname": name} if hasattr(code, "co_qualname") else {}
        types.FunctionType(code.replace(co_name=name, **more), globals())()

    class Text(str):
        pass

    code = compile("plain('derived')", "<d>", "exec")
    exec(code.replace(co_filename="somewhere else"), {"plain": plain})


def odd_lines():
    for line in (1, 127, 128, 65536, 1 << 24, (1 << 31) - 1):
        code = (lambda: plain("odd line")).__code__.replace(co_firstlineno=line)
        types.FunctionType(code, globals())()
    body = "\n" * 300 + "plain(\n" + "\n" * 300 + "'far')\n" * 1
    exec(compile(body, "<far>", "exec"), {"plain": plain})
    exec(compile("x = 1; " * 3000 + "plain('wide')", "<wide>", "exec"), {"plain": plain})
    exec(compile("x = [\n" + "0,\n" * 500 + "plain('in a list')]", "<list>", "exec"),
         {"plain": plain})


def big_code():
    """Instructions with arguments of several bytes, before the call."""
    names = "\n".join("v%d = %d.5" % (i, i) for i in range(1500))
    body = names + "\nfor i in range(2):\n" + "".join("  v%d\n" % i for i in range(1500))
    exec(compile(body + "  plain('after much')\n", "<much>", "exec"), {"plain": plain})


def short_lived():
    """The addresses of code objects are reused repeatedly."""
    for i in range(200):
        source = "def f():\n%s  return plain('short %d')\nf()" % ("  0\n" * (i % 5), i % 3)
        exec(compile(source, "<short %d>" % (i % 7), "exec"), {"plain": plain})
        if i % 50 == 0:
            gc.collect()


def collected():
    """Functions called by the garbage collector, wherever it runs."""
    class Node:
        def __del__(self):
            plain("__del__ in a collection")

    def suspended():
        try:
            yield 1
        finally:
            plain("a generator closed by the collector")

    async def waiting():
        try:
            await asyncio.sleep(0)
        finally:
            plain("a coroutine closed")

    def cycle(thing):
        ring = [thing]
        ring.append(ring)

    for depth in (0, 5):
        node, generator, coroutine = Node(), suspended(), waiting()
        next(generator)
        coroutine.send(None)
        cycle(node), cycle(generator), cycle(coroutine)
        reference = weakref.ref(node, lambda _: plain("a weak reference's callback"))
        del node, generator, coroutine
        recurse(depth, gc.collect)
        del reference

    def watch(phase, info):
        plain("the collector's callback")

    gc.callbacks.append(watch)
    gc.collect()
    gc.callbacks.remove(watch)
    gc.set_threshold(1)
    for _ in range(50):
        cycle(Node())
    gc.set_threshold(700)
    gc.collect()


async def nap(depth):
    if depth:
        return await nap(depth - 1)
    plain("before a nap")
    await asyncio.sleep(0)
    plain("after a nap")


async def ticks():
    try:
        while True:
            yield plain("tick")
            await asyncio.sleep(0)
    finally:
        plain("the last tick")


async def tasks():
    loop = asyncio.get_running_loop()
    if hasattr(asyncio, "eager_task_factory"):
        loop.set_task_factory(asyncio.eager_task_factory)
        await asyncio.gather(*(nap(i) for i in range(4)))
        await asyncio.create_task(nap(7))
        loop.set_task_factory(None)
    await asyncio.wait([asyncio.ensure_future(nap(i)) for i in range(3)])
    await loop.run_in_executor(None, plain, "executor")
    loop.call_soon(plain, "call_soon")
    context = contextvars.copy_context()
    context.run(plain, "in a context")
    async for _ in ticks():
        break
    left = ticks()
    await left.__anext__()
    await left.aclose()
    forgotten = ticks()
    await forgotten.__anext__()
    del forgotten  # another task frees it
    await asyncio.sleep(0)
    task = asyncio.ensure_future(nap(2))
    await asyncio.sleep(0)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def watched():
    """Tools that call Python from within the eval loop."""
    busy = []

    def once(*_):
        if not busy:
            busy.append(1)
            plain("in a callback of a tool")
            busy.pop()

    def profile(frame, event, arg):
        once()

    def work():
        plain("watched")
        recurse(4, lambda: plain("watched recursion"))
        return [plain("watched comprehension") for _ in range(2)]

    for set_tool in (sys.setprofile, threading.setprofile):
        set_tool(profile)
        work()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        set_tool(None)

    def jump(frame, event, arg):
        frame.f_trace_opcodes = True
        if event == "opcode":
            once()
        return jump

    sys.settrace(jump)
    work()
    sys.settrace(None)
    monitoring = getattr(sys, "monitoring", None)
    if monitoring:
        events = monitoring.events
        monitoring.use_tool_id(2, "victim")
        for event in (events.PY_START, events.PY_RETURN, events.CALL, events.LINE):
            monitoring.register_callback(2, event, once)
        monitoring.set_events(2, events.PY_START | events.PY_RETURN | events.CALL | events.LINE)
        work()
        monitoring.set_events(2, 0)
        monitoring.free_tool_id(2)


def trampolines():
    """Trampoline code of the interpreter's own between its runs."""
    if not hasattr(sys, "activate_stack_trampoline"):
        return
    try:
        sys.activate_stack_trampoline("perf")
    except (OSError, ValueError):
        return

    def fresh(depth):
        return fresh(depth - 1) if depth else plain("with a trampoline")

    fresh(3)
    list(map(lambda _: plain("trampoline, lambda"), [1]))
    sys.deactivate_stack_trampoline()
    fresh(2)


def hot():
    """Long enough for code that the interpreter specialises after a while."""
    def inner(i):
        if i % 1000 == 0:
            plain("hot")
        return i + 1

    total = 0
    for i in range(5000):
        total += inner(i)
        if i == 4500:
            plain("hot loop")


def c_threads():
    """A thread that Python did not start, which calls Python repeatedly."""
    start = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    libc = ctypes.CDLL(None)

    def work(_):
        plain("in a C thread")
        recurse(10, lambda: plain("deep in a C thread"))

    callback = start(work)
    for _ in range(3):
        thread = ctypes.c_ulong()
        libc.pthread_create(ctypes.byref(thread), None, callback, None)
        libc.pthread_join(thread, None)


def crowd():
    """Threads that create functions, run them and drop them, all at the same time."""
    def made(n, i):
        source = "def made_%d():\n%s  return plain('crowd')\nmade_%d()" % (n, "  0\n" * (i % 9), n)
        exec(compile(source, "<crowd %d>" % n, "exec"), {"plain": plain})

    def shared(depth):
        return shared(depth - 1) if depth else list(plain("crowd, shared") for _ in range(2))

    def work(n):
        for i in range(25):
            made(n, i)
            shared(i % 12)
            if i % 10 == n:
                gc.collect()

    in_threads(6, work)


def interpreters():
    module = interpreter_module()
    if not module:
        return
    for i in range(6):  # one after the other: at the same addresses
        run_in_interpreter(module, "name_%d" % i)
        plain("between interpreters")
    if sys.version_info >= (3, 13):  # earlier _ctypes does not support several locks
        for i in range(3):
            run_in_interpreter(module, "isolated_%d" % i, True)
        threads = [threading.Thread(target=run_in_interpreter, args=(module, "thread_%d" % i, True))
                   for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            plain("beside threads with interpreters")
            thread.join()


def own_evaluation(ext):
    ext.evaluate(True)  # each frame is run by a function of the extension, as in JIT compilers
    try:
        plain("own eval")
        recurse(6, lambda: plain("own eval, deep"))
        list(plain("own eval, generator") for _ in range(2))
        ext.call(lambda: plain("own eval, called"))
        list(map(functools.partial(recurse, 3), [lambda: plain("own eval, map")]))
    finally:
        ext.evaluate(False)
    plain("after own eval")
    ext.thread(lambda: recurse(3, lambda: plain("nested")))
    ext.call(lambda: ext.thread(lambda: ext.call(lambda: plain("a thread of a call"))))


def main():
    odd_names()
    odd_lines()
    big_code()
    short_lived()
    collected()
    asyncio.run(tasks())
    faulthandler.enable()
    faulthandler.dump_traceback_later(1000)
    plain("with a fault handler")
    faulthandler.cancel_dump_traceback_later()
    watched()
    trampolines()
    hot()
    c_threads()
    crowd()
    ext = extension()
    if ext:
        own_evaluation(ext)
    interpreters()
    plain("at the end")


main()
