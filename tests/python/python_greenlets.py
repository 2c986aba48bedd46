# SPDX-License-Identifier: Apache-2.0
#
# Allocations from greenlets: each has its own frames, in C as in Python, and all of them take turns
# on one stack. Arguments: see python_report.py.
import ctypes
import gc
import sys

import gevent
import gevent.pool
import gevent.queue
import greenlet
from greenlet import getcurrent

from python_report import in_threads, plain, recurse


def through_c(depth, then):
    return list(map(lambda n: through_c(n, then), [depth - 1])) if depth else then()


def ping_pong():
    """Two greenlets that switch to each other at many depths; one's stack lies on the other's."""
    def left(n):
        for i in range(n):
            plain("left %d" % i)
            recurse(i * 3, b.switch)
            plain("left, back")

    def right(n=8):
        for i in range(n):
            through_c(i, lambda: plain("right %d" % i))
            through_c(i, a.switch)

    a, b = greenlet.greenlet(left), greenlet.greenlet(right)
    through_c(2, lambda: a.switch(8))
    plain("after left")
    while not b.dead:
        b.switch()


def nested(depth):
    plain("nested %d" % depth)
    if depth:
        inner = greenlet.greenlet(nested)
        recurse(depth, lambda: inner.switch(depth - 1))
    plain("nested, back %d" % depth)
    getcurrent().parent.switch()
    plain("nested, again %d" % depth)


def started_at_one_depth_and_resumed_at_another():
    def work():
        for i in range(6):
            plain("moved %d" % i)
            recurse(40, lambda: plain("moved, deep"))
            getcurrent().parent.switch()

    g = greenlet.greenlet(work)
    recurse(30, g.switch)
    g.switch()
    through_c(20, g.switch)
    plain("beside the moved")
    while not g.dead:
        g.switch()


def thrown_and_killed():
    def work():
        try:
            plain("before the kill")
            getcurrent().parent.switch()
        finally:
            plain("killed")

    def caught():
        try:
            getcurrent().parent.switch()
        except KeyError:
            plain("thrown")

    g = greenlet.greenlet(work)
    g.switch()
    del g  # GreenletExit is raised in it
    g = greenlet.greenlet(work)
    g.switch()
    g.cycle = g
    del g
    gc.collect()
    g = greenlet.greenlet(caught)
    g.switch()
    g.throw(KeyError)


def generators():
    def values():
        for i in range(3):
            plain("in a generator")
            getcurrent().parent.switch()
            plain("in a generator, back")
            yield i

    def work():
        for _ in values():
            plain("between")

    g = greenlet.greenlet(work)
    while not g.dead:
        recurse(3, g.switch)
        plain("outside")


def in_callbacks():
    """Switches within Python code that C code called."""
    compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    sort = ctypes.CDLL(None).qsort

    def work():
        calls = []

        def compare(a, b):
            if not calls:
                calls.append(1)
                plain("in qsort")
                getcurrent().parent.switch()
                plain("in qsort, back")
            return 0

        numbers = (ctypes.c_int * 4)(3, 1, 2, 0)
        sort(numbers, 4, 4, compare_type(compare))
        plain("after qsort")

    many = [greenlet.greenlet(work) for _ in range(3)]
    for g in many:
        g.switch()
        plain("outside qsort")
    for g in many:
        through_c(2, g.switch)


def traced():
    greenlet.settrace(lambda event, args: plain("trace function of greenlets"))
    g = greenlet.greenlet(lambda: plain("traced greenlet"))
    g.switch()
    greenlet.settrace(None)
    sys.settrace(lambda frame, event, arg: None)
    g = greenlet.greenlet(lambda: plain("in a greenlet, traced"))
    g.switch()
    sys.settrace(None)


def events():
    def work(n):
        for i in range(3):
            plain("gevent %d" % n)
            recurse(n * 4, lambda: gevent.sleep(0))

    gevent.joinall([gevent.spawn(work, n) for n in range(6)])
    gevent.pool.Pool(3).map(work, range(5))
    gevent.get_hub().threadpool.apply(work, (1,))
    gevent.get_hub().loop.run_callback(plain, "hub callback")
    queue = gevent.queue.Queue()

    def taker():
        for _ in range(5):
            queue.get()
            plain("taken from a queue")

    g = gevent.spawn(taker)
    for i in range(5):
        queue.put(i)
        plain("put into a queue")
        gevent.sleep(0)
    g.join()
    with gevent.Timeout(0.01, False):
        try:
            gevent.sleep(30)
        finally:
            plain("timed out")


def main():
    for depth in (0, 10, 200):
        recurse(depth, ping_pong)
    g = greenlet.greenlet(nested)
    g.switch(6)
    g.switch()
    started_at_one_depth_and_resumed_at_another()
    thrown_and_killed()
    generators()
    in_callbacks()
    traced()
    in_threads(3, lambda _: (ping_pong(), greenlet.greenlet(nested).switch(3)))
    events()
    plain("at the end")


main()
