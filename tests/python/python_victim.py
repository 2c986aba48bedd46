# SPDX-License-Identifier: Apache-2.0
#
# A program that allocates from every kind of Python code, see python_report.py. Runs under Python
# 3.9 and later. Arguments: the CUDA runtime, the file for the lines, and the extension's path if
# there is one.
import atexit
import asyncio
import ctypes
import functools
import os
import signal
import sys

from python_report import (extension, in_threads, interpreter_module, plain, recurse, report,
                           run_in_interpreter, runtime_locked, take_size)


def simple_cases():
    plain("plain")
    plain("gil held", runtime_locked)
    for i in range(3):
        plain("loop %d" % i)  # the same line repeatedly
        plain("loop, next line")
    (lambda: plain("lambda"))()
    [plain("list comprehension %d" % i) for i in range(2)]
    {plain("set comprehension") for i in range(1)}
    list(plain("generator expression") for i in range(2))
    sorted([3, 1, 2], key=lambda x: plain("sort key") or x)
    list(map(plain, ["map"]))
    functools.partial(plain, "partial")()
    max([1, 2], key=functools.cmp_to_key(lambda a, b: plain("compare") or 0))
    print("%s" % Formatted())


class Formatted:
    def __str__(self):
        plain("__str__")
        return ""

    def __getattr__(self, name):
        plain("__getattr__ " + name)
        return name

    @property
    def prop(self):
        return plain("property")

    @staticmethod
    def static():
        plain("static method")

    @classmethod
    def of_class(cls):
        plain("class method")

    def __enter__(self):
        plain("__enter__")

    def __exit__(self, *_):
        plain("__exit__")

    def __init__(self):
        plain("__init__")

    def __del__(self):
        plain("__del__")

    def __add__(self, other):
        plain("__add__")
        return self

    def __getitem__(self, i):
        plain("__getitem__")
        if i > 1:
            raise IndexError

    def __call__(self, *args, **kwargs):
        plain("__call__")


def decorated(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)
    return wrapper


@decorated
@decorated
def decorated_function(*args):
    plain("decorated")


def classes():
    class Inner(Formatted):
        plain("class body")

        class Innermost:
            plain("nested class body")

            def method(self):
                def local():
                    plain("local function")
                local()

    a = Inner()
    a.something
    a.prop
    a.static()
    a.of_class()
    with a:
        plain("with")
    a + a
    list(a)
    a(1, x=2)
    Inner.Innermost().method()
    for _ in range(20):  # the interpreter specialises the call after a while
        Inner()
    del a
    decorated_function(1)


def generators():
    def inner(n):
        for i in range(n):
            yield plain("generator")

    def outer(n):
        plain("before yield from")
        yield from inner(n)
        plain("after yield from")

    for _ in outer(2):
        plain("between")
    g = inner(5)
    next(g), next(g)
    g.close()

    def thrown():
        try:
            yield
        except ValueError:
            plain("throw")
            yield
        finally:
            plain("generator's finally")

    g = thrown()
    next(g)
    g.throw(ValueError())
    del g


def exceptions():
    def thrower():
        try:
            raise KeyError("x")
        finally:
            plain("finally")

    try:
        thrower()
    except KeyError:
        plain("except")


async def coroutine(depth):
    if depth:
        await coroutine(depth - 1)
    else:
        await asyncio.sleep(0)
        plain("coroutine")

    async def ticks():
        for i in range(2):
            await asyncio.sleep(0)
            yield plain("async generator")

    async for _ in ticks():
        pass
    [x async for x in ticks()]


async def several():
    await asyncio.gather(coroutine(3), coroutine(1))


def executed():
    exec("plain('exec')\n\n\nplain('exec, line 4')", globals())
    eval("plain('eval')", globals())
    # the same structure with other names: code objects at the same addresses
    for i in range(30):
        source = "def generated_%02d():\n%s    plain('generated %d')\ngenerated_%02d()\n" % (
            i, "\n" * (i % 7), i, i)
        scope = {"plain": plain}
        exec(compile(source, "<cell %02d>" % i, "exec"), scope)
        del scope
    for i in range(30):
        scope = {"plain": plain}
        exec(compile("%splain('moved')" % ("\n" * i), "<moved>", "exec"), scope)
    for i in range(10):
        name = "/somewhere/plugins/number_%d/lib/python/site-packages/plugin.py" % i
        exec(compile("plain('plugin')", name, "exec"), {"plain": plain})
    for name in ("<größe>", "<日本語>", "<\U0001f40d>", "<a\udcffb>"):
        exec(compile("def größe():\n  plain('unicode')\ngröße()", name, "exec"), {"plain": plain})
    exec(compile("def 関数():\n  plain('unicode')\n関数()", "<x>", "exec"), {"plain": plain})


def through_c(depth):
    """Recursion where every second step goes through C code."""
    if depth:
        return list(map(through_c, [depth - 1]))
    return plain("through C")


def callbacks():
    compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    libc = ctypes.CDLL(None)
    calls = []

    def compare(a, b):
        if not calls:
            calls.append(1)
            plain("qsort")
        return 0

    numbers = (ctypes.c_int * 4)(3, 1, 2, 0)
    libc.qsort(numbers, 4, 4, compare_type(compare))


def threads():
    def work(n):
        for i in range(3):
            plain("thread %d" % n)

    in_threads(4, work)
    with __import__("concurrent.futures").futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda n: plain("pool"), range(4)))


def signals():
    def handler(number, frame):
        plain("signal handler")

    signal.signal(signal.SIGUSR1, handler)
    os.kill(os.getpid(), signal.SIGUSR1)
    for _ in range(100):
        pass
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)


def traced():
    seen = []

    def trace(frame, event, arg):
        if event == "call" and frame.f_code.co_name == "plain" and not seen:
            seen.append(1)
            plain("in a trace function")
        return trace

    sys.settrace(trace)
    try:
        plain("traced")
        recurse(5, plain, "traced recursion")
        list(plain("traced generator") for _ in range(1))
    finally:
        sys.settrace(None)
    sys.setprofile(lambda *_: None)
    plain("profiled")
    sys.setprofile(None)
    monitoring = getattr(sys, "monitoring", None)
    if monitoring:
        monitoring.use_tool_id(3, "victim")
        monitoring.register_callback(3, monitoring.events.LINE, lambda *_: None)
        monitoring.set_events(3, monitoring.events.LINE | monitoring.events.INSTRUCTION)
        plain("monitored")
        recurse(5, plain, "monitored recursion")
        monitoring.set_events(3, 0)
        monitoring.free_tool_id(3)


def imported():
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        with open(os.path.join(folder, "imported_module.py"), "w") as f:
            f.write("import __main__\n\n__main__.plain('import')\n")
        import imported_module  # noqa: F401
        sys.path.pop(0)


def calls_of_an_extension(ext):
    def call(function, case):
        size = take_size()
        function(size), report(size, case)

    call(ext.alloc, "extension")
    call(ext.alloc_released, "extension, GIL released")
    ext.call(lambda: plain("called by an extension"))
    ext.call(lambda: ext.call(lambda: call(ext.alloc_released, "called twice")))
    ext.thread(lambda: plain("in an extension's thread"))
    ext.call(functools.partial(recurse, 20, plain, "recursion below an extension"))


def interpreters():
    module = interpreter_module()
    if module:
        run_in_interpreter(module, "deeper", depth=3)
        plain("after an interpreter")


class AtTheEnd:
    def __del__(self):
        plain("__del__ at the end")


def forked():
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    plain("after a fork")


def main():
    simple_cases()
    classes()
    generators()
    exceptions()
    asyncio.run(several())
    executed()
    recurse(20, plain, "recursion")
    recurse(20, plain, "recursion")
    sys.setrecursionlimit(5000)
    recurse(1000, plain, "deep recursion")
    through_c(12)
    callbacks()
    threads()
    signals()
    traced()
    imported()
    ext = extension()
    if ext:
        calls_of_an_extension(ext)
    interpreters()
    forked()
    atexit.register(plain, "atexit")


main()
at_the_end = AtTheEnd()
at_the_end.cycle = at_the_end
