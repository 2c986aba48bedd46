# SPDX-License-Identifier: Apache-2.0
#
# Allocations in the child processes of a Python program, started in every way: each has its own
# trace and output file. CUDA does not work in a child that was forked after its parent had used it,
# so those come first. Arguments: see python_report.py.
import concurrent.futures
import multiprocessing
import os
import sys
import threading
import warnings

from python_report import plain, recurse


def work(case):
    recurse(3, plain, case)
    list(map(lambda _: plain("mapped, " + case), range(2)))
    thread = threading.Thread(target=recurse, args=(2, plain, "thread, " + case))
    thread.start()
    thread.join()


def serve(tasks, results, case):
    """Like a data loader's worker: until the queue is empty."""
    for task in iter(tasks.get, None):
        recurse(task, plain, case)
        results.put(task)


def a_loader(context, case, used):
    tasks, results = context.Queue(), context.Queue()
    workers = [context.Process(target=serve, args=(tasks, results, case)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for task in range(6):
        tasks.put(task)
    for _ in range(6):
        results.get(timeout=600)
        used and plain("loader")
    for _ in workers:
        tasks.put(None)
    for worker in workers:
        worker.join()


def forked_beside_threads():
    """The threads do not exist in the child, but Python's data about them does."""
    stop = threading.Event()
    threads = [threading.Thread(target=stop.wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        child = os.fork()
        if not child:
            work("forked beside threads")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    stop.set()
    for thread in threads:
        thread.join()


def children(method, used):
    context = multiprocessing.get_context(method)
    process = context.Process(target=work, args=(method,))
    process.start()
    process.join()
    assert process.exitcode == 0, (method, process.exitcode)
    a_loader(context, "loader, " + method, used)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        list(pool.map(work, ["pool, " + method] * 2))


def forked_after_use():
    child = os.fork()
    if not child:
        plain("not recorded")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    os.remove("%s.%d" % (sys.argv[2], child))
    plain("after a fork")


def main():
    children("fork", False)
    forked_beside_threads()
    work("parent")
    children("spawn", True)
    children("forkserver", True)
    forked_after_use()
    plain("at the end")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # newer versions warn about forks with threads
    main()
