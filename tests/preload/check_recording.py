#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Victim programs under observe and under caching: same output, same exit status, and a trace that agrees
with the victim's own tally; memory served by the cache, under every kind of placement; the public C interface
in programs. The cases of compat/ are other programs, each run in all ways.

    check_recording.py CONFIG TESTS GROUP    CONFIG: compat.json; TESTS: the folder of the victims; GROUP: below
"""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "compat"))
import compat  # noqa: E402

MIB = 1 << 20
DEVICE = "VRAMSCOPE_SIMULATE=t4-16g,capacity=1GiB,context=400MiB"
TWO_DEVICES, CHECKED = DEVICE + ",devices=2", DEVICE + ",check=fail"
COMPACT, PYTORCH = "VRAMSCOPE_POLICY=compact", "VRAMSCOPE_POLICY=pytorch"
EXPANDABLE = "VRAMSCOPE_ALLOC_CONF=expandable_segments:True"
IPC_ALWAYS = "VRAMSCOPE_IPC=always"
ALONE, OBSERVE, CACHING = None, "observe", "caching"
END_EXIT, END_COPY = "0", "5"


class Victims:
    def __init__(self, config, folder):
        with open(config, encoding="utf-8") as file:
            self.config = json.load(file)
        self.folder = folder
        # a program that is linked with the library; a second copy of it is not preloaded
        self.not_preloaded = "LD_PRELOAD=" + self.config["sanitizer_preload"]
        self.cpp = os.path.exists(os.path.join(folder, "victim_entry"))  # there is a C++ compiler

    def run(self, front, victim, mode="", *settings, out=None, err=None, status=0, traces=None, **figures):
        """The run of a victim with its end: *out*, and *err*, a text in the one line on its standard error ("":
        there is none; None: there may be any). *figures*: those of its first trace."""
        folder, name = os.path.split(victim)
        case = compat.Case(os.path.join(self.folder, folder, "victim_" + name), "", mode, "", 0, "")
        case.settings["env"] += settings
        run = compat.Run(self.config, case, front)
        run.out = run.out.decode()
        said = (victim, mode, front, settings, run.status, run.out, run.err)
        assert status is None or run.status == status, said
        assert out is None or run.out == out, said
        assert err is None or (err in run.err and run.err.count("\n") == 1 if err else not run.err), said
        assert traces is None or len(run.traces) == traces, (said, run.traces)
        for trace in run.traces:
            assert not trace["condition"].startswith("9"), (said, trace)
            assert not trace["stray"] and not trace["wrong"], (said, trace)
        run.trace = run.traces[0] if run.traces else None
        for name, value in figures.items():
            assert run.trace[name] == value, (said, name, run.trace)
        return run

    def everywhere(self, mode, **figures):
        """With both runtimes, in both ways, as alone: the runs, by runtime and way."""
        runs = {}
        for victim in ("shared", "static"):
            alone = self.run(ALONE, victim, mode, status=None, traces=0)
            for front in (OBSERVE, CACHING):
                run = runs[victim, front] = self.run(front, victim, mode, status=None, **figures)
                same(run, alone)
                assert run.traces
        return runs

    def allocations(self, trace):
        return trace["families"][0]


def same(run, alone):
    assert (run.out, run.status, run.err) == (alone.out, alone.status, alone.err), (run.out, run.err, alone.out)


# --- recording ---

def device_counts_equal_the_programs_own_in_both_builds_and_both_ways(victims):
    alone = victims.run(ALONE, "shared", "device")
    allocations, frees, live, peak = map(int, re.findall(r"\d+", alone.out))
    runs = victims.everywhere("device", requested_live=live, requested_peak=peak, complete=True, frees=frees)
    for (_, front), run in runs.items():
        assert victims.allocations(run.trace) == allocations and run.trace["end"], run.trace
        assert (run.trace["segments"] > 0) == (front == CACHING), run.trace
    assert "cudaMalloc" in runs["shared", OBSERVE].trace["apis"]
    assert "cuMemAlloc" in runs["static", OBSERVE].trace["apis"]


def nvtx_ranges_arrive_also_those_opened_before_cuda(victims):
    victims.everywhere("nvtx", phases=["before cuda", "step 0", "forward", "half", "step 1", "step 2"])


def nvtx_ranges_of_other_threads_that_were_open_are_known_too(victims):
    victims.everywhere("nvtx-threads", phases=["of another thread", "of its domain", "of no thread"])


def what_was_collected_before_another_profiler_came_is_kept(victims):
    run = victims.run(OBSERVE, "compat/profilers_shared", "comes_later",
                      copies=30, sets=60, live=0)  # its own 20, and the 10 after it, are not in our trace
    assert "another tool in this process uses CUPTI" in run.err, run.err
    assert "gets the kernels and copies" in "".join(run.trace["notes"]), run.trace


def copies_between_devices_are_collected(victims):
    victims.run(OBSERVE, "compat/profilers_shared", "peer_copies", TWO_DEVICES, copies=5, copy_bytes=5 * MIB)


def copies_and_memsets_are_collected_with_their_bytes(victims):
    victims.everywhere("copies", copies=40, copy_bytes=40 * MIB, sets=20)


def calls_that_wait_are_recorded(victims):
    runs = victims.everywhere("waits", event_waits=2, stream_waits=3, copy_waits=4, context_waits=5,
                              async_copy_waits=2)
    assert all(run.trace["free_waits"] == (front == OBSERVE) for (_, front), run in runs.items()), runs


def without_cupti_memory_is_recorded_and_it_is_said_once(victims):
    """On a simulated GPU without its CUPTI: the driver and the runtime alone."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("libcuda.so.1", "libcudart.so.13"):
            os.symlink(os.path.join(victims.config["simulator"], name), os.path.join(folder, name))
        alone = victims.run(ALONE, "shared", "copies")
        run = victims.run(OBSERVE, "shared", "copies", "LD_LIBRARY_PATH=" + folder, out=alone.out, copies=0, kernels=0)
    assert run.err.count("libcupti was not found") == 1, run.err
    assert victims.allocations(run.trace) == 1, run.trace


def programs_that_end_in_signal_handlers_end(victims):
    """Flushing CUPTI and recording took locks that the interrupted thread held."""
    for i in range(20):
        victims.run(CACHING if i % 4 >= 2 else OBSERVE, "shared", ("handler-_exit", "handler-exit")[i % 2],
                    err="", status=11, traces=1)


def processes_given_one_name_lose_no_trace(victims):
    for _ in range(5):
        victims.run(OBSERVE, "static", "fork-race", "VRAMSCOPE_OUTPUT=one.vst", out="failed 0\n", traces=6)


# --- the cache ---

def memory_that_the_driver_has_is_given_also_where_no_segment_fits(victims):
    trace = victims.everywhere("nearly-full")["shared", CACHING].trace
    assert (victims.allocations(trace), trace["frees"], trace["failed"]) == (2, 2, 0), trace


def memory_in_stream_order_is_served_in_front_of_cuda_and_behind_it(victims):
    for more in ((), (victims.not_preloaded,), (COMPACT,)) if victims.cpp else ():
        trace = victims.run(OBSERVE, "entry", "", CHECKED, *more, out="ok\n",
                            requested_live=1).trace  # left live on purpose
        assert "vramscope_torch_alloc" in trace["apis"], trace
        assert trace["segments"] > 0 and trace["segment_frees"] > 0 and trace["failed"] >= 1, trace
    if victims.cpp:
        victims.run(OBSERVE, "entry", os.path.join(victims.folder, "libc10.so"), status=None, out="ok\n")


ORDINARY = (("shared", "device"), ("static", "families"), ("shared", "oom"), ("answers_queries", "attributes"),
            ("contexts_many", "reset_in_mid_run"), ("contexts_many", "destroyed_with_every_family"),
            ("injection", "threads"), ("shared", "atexit"), ("static", "destructor"),
            ("process_exit", "end_by_underscore_exit"), ("process_fork", "child_of_fork"), ("shared", "copies"),
            ("static", "nearly-full"), ("process_fork", "raw_clone_child_exits"))


def placements_by_mapped_memory_look_the_same_to_programs(victims):
    """Modes of victim.c, and cases of compat's programs."""
    for victim, mode in ORDINARY:
        program = victim if victim in ("shared", "static") else f"compat/{victim}_shared"
        alone = victims.run(ALONE, program, mode, status=None)
        for placement in (EXPANDABLE, COMPACT):
            run = victims.run(CACHING, program, mode, placement, status=None, segments=0)
            same(run, alone)
            assert run.trace["maps"] > 0, run.trace


def mapped_memory_goes_back_with_its_context(victims):
    victims.run(CACHING, "shared", "resets", COMPACT, out="12 resets\n", reserved=0)
    victims.run(CACHING, "shared", "resets", EXPANDABLE, out="12 resets\n", reserved=0, maps=12, unmaps=12)


def wrong_calls_to_the_cache_cost_a_line(victims):
    run = victims.run(CACHING, "shared", "device", EXPANDABLE.replace("=", "=no_such_key:1,"), err="no_such_key")
    assert run.trace["maps"] > 0, run.trace
    run = victims.run(CACHING, "shared", "device", "VRAMSCOPE_ALLOC_CONF=max_split_size_mb:many", maps=0,
                      err="max_split_size_mb")
    assert run.trace["segments"] > 0, run.trace


def cached_memory_may_be_freed_in_stream_order(victims):
    victims.run(CACHING, "shared", "free-async", out="served again\n", requested_live=0, segments=1)


def blocks_are_shared_between_processes(victims):
    """With --ipc=always as they are; without it inside segments, and mapped memory is refused once and never wrong."""
    for mode, err, *settings in (("all", "", IPC_ALWAYS, PYTORCH), ("all", "", IPC_ALWAYS, COMPACT),
                                 ("all", "", PYTORCH), ("base", "", PYTORCH), ("late", "--ipc=always", COMPACT)):
        victims.run(CACHING, "ipc", mode, *settings, out="ok\n", err=err)


def memory_in_stream_order_is_not_freed_by_cudas_own_functions(victims):
    """The driver freed the whole segment, including other blocks in it."""
    unwritable = "VRAMSCOPE_OUTPUT=/nonexistent-folder/trace.vst"
    for front in (OBSERVE, CACHING) if victims.cpp else ():
        for more in ((), (victims.not_preloaded,), (COMPACT,), (EXPANDABLE,), (unwritable,)):
            victims.run(front, "entry", "frees", CHECKED, *more, out="ok\n")


def pytorchs_variable_is_for_its_entry_points_alone(victims):
    variable = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
    victims.run(CACHING, "shared", "device", variable, maps=0)
    if victims.cpp:
        assert victims.run(CACHING, "entry", "streams", variable, out="ok\n").trace["maps"] > 0


def libraries_get_the_drivers_answers_about_cached_memory(victims):
    exported = "exported {0} {0} then 0\n".format
    alone = victims.run(ALONE, "driver", "questions")
    assert alone.err == exported(0), alone.err
    assert victims.run(CACHING, "driver", "questions", out=alone.out).err == exported(0)
    run = victims.run(CACHING, "driver", "questions", EXPANDABLE, status=None, out=alone.out)
    assert exported(801) in run.err and "--ipc=always" in run.err, run.err


def mapped_memory_is_open_to_peers_let_in_before_and_after(victims):
    victims.run(CACHING, "driver", "peers", EXPANDABLE, TWO_DEVICES, out="access 0 then 3, of new memory 3\n")


# --- the public interface ---

WITHOUT_A_TRACE = "VRAMSCOPE_RECORD=off"
INTERFACE = (  # api_victim.c says what each mode compares
    (CACHING, "statistics"), (CACHING, "snapshot"), (CACHING, "fraction"), (CACHING, "windows"),
    (CACHING, "window-threads"), (CACHING, "one-device"), (OBSERVE, "one-device"), (CACHING, "two-devices", TWO_DEVICES),
    (OBSERVE, "windows"), (OBSERVE, "window-threads"),
    # whether a lost free was recorded was read while another thread stopped the recording
    (OBSERVE, "lost"),
    (CACHING, "fork"), (CACHING, "limited", "VRAMSCOPE_ALLOC_CONF=per_process_memory_fraction:0.125"))


def the_interface_keeps_its_word_in_every_mode(victims):
    victims.run(ALONE, "api_weak", out="absent\n", err="")
    for front, mode, *settings in INTERFACE:
        victims.run(front, "api_weak", mode, *settings, out="ok\n", err="")
    victims.run(CACHING, "api_weak", "windows", WITHOUT_A_TRACE, out="ok\n", err="", traces=0)
    # it returned that it recorded, and that there was nothing to copy (ESRCH)
    victims.run(OBSERVE, "api_weak", "failed", out="ok\n", err="recording has stopped")


def threads_may_use_all_of_the_interface_at_once(victims):
    """Threads that annotate, allocate, open windows, stop, start, copy and read, from before the first CUDA call
    on. The trace and the copy made after all of that are complete."""
    for front in (OBSERVE, CACHING):
        run = victims.run(front, "api_weak", "control-threads", out="ok\n", err="", traces=1)
        copy, = run.copies
        for trace, reason in ((run.trace, END_EXIT), (copy, END_COPY)):
            assert trace["end"].split()[0] == reason and trace["complete"], trace
            assert trace["requested_live"] == 0 and trace["families"][0] == run.trace["families"][0], trace
    victims.run(CACHING, "api_weak", "control-threads", WITHOUT_A_TRACE, out="ok\n", err="")


def the_public_interface_serves_programs_linked_with_it(victims):
    for mode in ("statistics", "snapshot", "fraction"):
        victims.run(CACHING, "api_linked", mode, victims.not_preloaded, out="ok\n", traces=1)


def a_program_that_links_the_library_is_recorded_wherever_it_stands(victims):
    """linked_victim.c: 3 allocations by the runtime, 5 by the driver if it is linked, 7 by a pointer."""
    if victims.config["sanitizer_preload"]:  # its runtime must be the first library
        return
    for place, allocations in (("first", 10), ("behind", 10), ("static", 10), ("before_driver", 15), ("behind_driver", 10)):
        for front in (CACHING, OBSERVE):
            run = victims.run(front, "linked_" + place, "", victims.not_preloaded, out="done\n", err="", status=4, traces=1,
                              frees=allocations)
            assert victims.allocations(run.trace) == allocations, run.trace
    victims.run(OBSERVE, "linked_dropped", "", victims.not_preloaded, err="the CUDA runtime is not loaded", status=1)
    for scope in ("local", "global"):
        victims.run(OBSERVE, "linked_not", scope, victims.not_preloaded, "LINKED_LIBRARY=" + victims.config["preload"],
                    out="recording 0\n", err="", traces=0)


def the_public_interface_is_usable_from_cpp(victims):
    if victims.cpp:
        victims.run(ALONE, "api_cpp", out="absent\n")
        victims.run(CACHING, "api_cpp", out="ok\n", traces=0)


GROUPS = {
    "recording": (
        device_counts_equal_the_programs_own_in_both_builds_and_both_ways, nvtx_ranges_arrive_also_those_opened_before_cuda,
        nvtx_ranges_of_other_threads_that_were_open_are_known_too, what_was_collected_before_another_profiler_came_is_kept,
        copies_between_devices_are_collected, copies_and_memsets_are_collected_with_their_bytes,
        calls_that_wait_are_recorded,
        without_cupti_memory_is_recorded_and_it_is_said_once, programs_that_end_in_signal_handlers_end,
        processes_given_one_name_lose_no_trace),
    "cache": (
        memory_that_the_driver_has_is_given_also_where_no_segment_fits,
        memory_in_stream_order_is_served_in_front_of_cuda_and_behind_it,
        placements_by_mapped_memory_look_the_same_to_programs, mapped_memory_goes_back_with_its_context,
        wrong_calls_to_the_cache_cost_a_line, cached_memory_may_be_freed_in_stream_order,
        blocks_are_shared_between_processes, memory_in_stream_order_is_not_freed_by_cudas_own_functions,
        pytorchs_variable_is_for_its_entry_points_alone, libraries_get_the_drivers_answers_about_cached_memory,
        mapped_memory_is_open_to_peers_let_in_before_and_after),
    "interface": (
        the_interface_keeps_its_word_in_every_mode, threads_may_use_all_of_the_interface_at_once,
        the_public_interface_serves_programs_linked_with_it,
        a_program_that_links_the_library_is_recorded_wherever_it_stands, the_public_interface_is_usable_from_cpp),
}


def main():
    victims = Victims(*sys.argv[1:3])
    for test in GROUPS[sys.argv[3]]:
        test(victims)
        print("ok", test.__name__, flush=True)


main()
