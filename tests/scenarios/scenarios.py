# SPDX-License-Identifier: Apache-2.0
"""Scenarios for `scenario.c`, each with the cause that was planted in it.

generate(seed) returns about 40 of them: every cause alone, pairs, near misses, and programs without
a failure to blame. Sizes, rates, order, streams, marks and other allocations depend on the seed.
"""
import random

MIB = 1 << 20
TEMPORARY = ("stage_batch", "make_activation", "scratch_buffer", "resize_image", "tokenize")
KEEPING = ("append_history", "remember_result", "cache_response", "write_log", "grow_table")
ONE_OFF = ("evaluate_whole_set", "build_index", "attention_scores")


class Scenario:
    """A program as lines for scenario.c, how to run it, and the truth about its failure.

    verdicts: the names of which one is right; None among them: no failed allocation.
    site: the function to name, or a tuple of them; None: not compared.
    causes: names that must be among the shares. together: the verdict and the second one.
    """

    def __init__(self, name, rng):
        self.name, self.rng = name, rng
        self.capacity = rng.randrange(1400, 4000) * MIB
        self.context = rng.randrange(120, 300) * MIB
        self.others, self.fail, self.limit = 0, None, None
        self.way = rng.choice(("observe", "caching"))
        self.program = "plain"
        self.family = rng.choice(("device", "device", "async"))
        self.marks = rng.random() < 0.4
        self.lines, self.slots, self.step = [], 0, 0
        self.verdicts, self.site, self.causes, self.together = (), None, (), ()

    def tensors(self):
        self.program, self.family, self.way = "tensors", "tensor", "observe"
        return self

    def through_a_cache(self):
        if self.rng.random() < 0.5:
            self.tensors()
        else:
            self.way, self.family = "caching", "device"

    def larger_than_the_device(self):
        """The verdict for steps that become larger: a cache also has holes of earlier sizes."""
        return ("true_capacity", "fragmentation") if self.way == "caching" else "true_capacity"

    def in_place(self):
        """No pool of the driver, whose free pieces would be a cause of their own."""
        if self.family == "async":
            self.family = "device"

    @property
    def room(self):
        return self.capacity - self.context - self.others

    def gpu(self):
        text = "t4-16g,capacity=%dMiB,context=%dMiB" % (self.capacity // MIB, self.context // MIB)
        if self.others:
            text += ",others=%dMiB" % (self.others // MIB)
        return text + (",fail=" + self.fail if self.fail else "")

    def say(self, *words):
        self.lines.append(" ".join(str(w) for w in words))

    def alloc(self, site, size, family=None, probe=False):
        self.slots += 1
        self.say("t" if probe else "a", site, family or self.family, max(int(size), 256), self.slots)
        return self.slots

    def fill(self, site, low, high, family=None, of=None, count=60):
        """Requests of *low* to *high* of the room, or *of* so many bytes."""
        for _ in range(count):
            self.alloc(site, self.rng.uniform(low, high) * (of or self.room), family)

    def free(self, slot):
        self.say("f", slot)

    def weights(self, share, family=None):
        total, count = self.room * share, self.rng.randrange(3, 12)
        for _ in range(count):
            self.alloc("load_weights", total / count, family)

    def iterate(self, share, keep=None, keep_bytes=0, keep_family=None, inner=()):
        """One step: temporaries of *share* of the room together, something kept in between."""
        rng, step = self.rng, self.step
        if self.marks:
            self.say("push step", step)
        sizes = [rng.uniform(0.5, 1.5) for _ in range(rng.randrange(3, 7))]
        sizes = [s / sum(sizes) * share * self.room for s in sizes]
        held = [self.alloc(rng.choice(TEMPORARY[:3]), s) for s in sizes[:-1]]
        brief = self.alloc("scratch_buffer", sizes[-1])
        self.free(brief)
        if keep:
            self.alloc(keep, keep_bytes, keep_family)
        for line in inner:
            line()
        if rng.random() < 0.5:
            held.reverse()
        for slot in held:
            self.free(slot)
        if self.family == "async" and rng.random() < 0.5:
            self.say("sync")
        if self.marks:
            self.say("pop")
        self.step += 1

    def noise(self):
        for _ in range(self.rng.randrange(0, 6)):
            self.alloc("tokenize", self.rng.randrange(1, 900) * 1024, "device")

    def end(self, verdicts, site=None, causes=(), together=()):
        self.verdicts = (verdicts,) if isinstance(verdicts, (str, type(None))) else tuple(verdicts)
        self.site, self.causes, self.together = site, causes, together
        return self


# --- one cause each ---

def growth(s, late=False, every=1, share=None):
    rng = s.rng
    s.noise()
    s.weights(rng.uniform(0.1, 0.4))
    site = rng.choice(KEEPING)
    family = rng.choice((s.family, s.family, "vmm")) if s.program == "plain" else s.family
    rate = share or rng.uniform(0.008, 0.05)
    start = rng.randrange(5, 15) if late else 0
    varied, work, ring = rng.uniform(0, 0.5), rng.uniform(0.05, 0.2), []
    for i in range(int(1.4 / rate * every) + start + 5):
        keeps = i >= start and i % every == 0
        if rng.random() < 0.3:  # a cache of fixed size beside it
            ring.append(s.alloc("lookup_tables", 0.004 * s.room))
            if len(ring) > 6:
                s.free(ring.pop(0))
        s.iterate(work * rng.uniform(0.8, 1.2), site if keeps else None,
                  rate * s.room * rng.uniform(1 - varied, 1 + varied), family)
    return s.end("growth", site)


def growth_in_two_sites(s):
    s.in_place()
    rng = s.rng
    sites = rng.sample(KEEPING, 2)
    s.weights(0.2)
    for i in range(80):
        s.iterate(0.1, sites[0], 0.02 * s.room)
        s.alloc(sites[1], 0.01 * s.room)
    return s.end("growth", sites[0])


def growth_of_a_queue(s):
    """Every block is freed one day, but more are added than removed."""
    s.in_place()
    queue, rate = [], s.rng.uniform(0.008, 0.02)
    s.weights(s.rng.uniform(0.1, 0.3))
    for i in range(200):
        queue += [s.alloc("fill_queue", rate * s.room) for _ in range(2)]
        if i >= 3:
            s.free(queue.pop(0))
        s.iterate(0.1)
    return s.end("growth", "fill_queue")


def spike_request(s):
    rng = s.rng
    s.weights(rng.uniform(0.1, 0.25))
    s.noise()
    for _ in range(rng.randrange(12, 25)):
        s.iterate(rng.uniform(0.1, 0.3))
    site = rng.choice(ONE_OFF)
    if s.marks and rng.random() < 0.5:
        s.say("push step", s.step)
    s.alloc(site, rng.uniform(0.95, 1.6) * s.room)
    return s.end("single_spike", site)


def spike_live(s):
    rng = s.rng
    weights, work = rng.uniform(0.1, 0.2), rng.uniform(0.2, 0.3)
    s.weights(weights)
    for _ in range(rng.randrange(12, 25)):
        s.iterate(work)
    site = rng.choice(ONE_OFF)
    s.alloc(site, (1 - weights - work * rng.uniform(0.3, 0.5)) * s.room * 0.97)
    for _ in range(30):
        s.iterate(work)
    return s.end("single_spike", site)


def kept_pool(s, share=None, request=None):
    rng = s.rng
    s.marks, s.family, pool = False, "device", rng.choice(("async", "pool0"))
    share = share or rng.uniform(0.35, 0.6)
    s.weights(rng.uniform(0.05, 0.2))
    s.say("threshold", 2 ** 64 - 1)
    count = rng.randrange(1, 5)
    for _ in range(rng.randrange(1, 4)):
        held = [s.alloc("resize_image", share * s.room / count, pool) for _ in range(count)]
        for slot in held:
            s.free(slot)
        s.say("sync")
    for i in range(60):
        s.alloc("load_weights" if request is None else "build_index",
                (request or rng.uniform(0.03, 0.06)) * s.room, "device")
    return s.end("kept_pool", "resize_image")


def fill_segments(s, share, live_site, dead_site):
    """Segments of 20 MiB with four blocks each, of which *live_site* keeps one or two."""
    rng, dead = s.rng, []
    size = rng.uniform(4.0, 4.6) * MIB
    for _ in range(int(share * s.room / (20 * MIB))):
        pattern = [dead_site, live_site, dead_site, live_site if rng.random() < 0.3 else dead_site]
        for site in pattern:
            slot = s.alloc(site, size)
            if site == dead_site:
                dead.append(slot)
    for slot in dead:
        s.free(slot)


def other_stream(s, private=False):
    s.marks = False
    s.tensors()
    if s.rng.random() < 0.5:
        s.program, s.way = "plain", "caching"
    s.weights(s.rng.uniform(0.1, 0.2))
    s.say("private 1" if private else "stream 1")
    fill_segments(s, s.rng.uniform(0.5, 0.7), "lookup_tables", "resize_image")
    s.say("private 0" if private else "stream 0")
    for _ in range(900):
        s.alloc("make_activation", s.rng.uniform(2.0, 3.5) * MIB)
    return s.end("other_cache", "lookup_tables")


def fragmentation(s):
    s.marks = False
    s.through_a_cache()
    s.weights(s.rng.uniform(0.1, 0.2))
    fill_segments(s, s.rng.uniform(0.55, 0.7), "lookup_tables", "make_activation")
    s.fill("stage_batch", 0.08, 0.12, count=30)
    return s.end("fragmentation", "lookup_tables")


def sizes_that_grow(s):
    """Longer sequences in every step: cached segments are too small for the next one, and results
    that outlive their step keep them from being released."""
    rng = s.rng
    s.through_a_cache()
    results, size, ring = [], 0.006 * s.room, rng.randrange(50, 100)
    grows = rng.uniform(1.05, 1.12)
    for i in range(200):
        if s.marks:
            s.say("push step", i)
        held = []
        for _ in range(6):
            held.append(s.alloc("make_activation", size))
            results.append(s.alloc("remember_result", rng.uniform(1.1, 2) * MIB))
        for slot in held + results[:-ring]:
            s.free(slot)
        del results[:-ring]
        if s.marks:
            s.say("pop")
        if 6 * i > 2 * ring:  # the ring is in use
            size *= grows
    return s.end("fragmentation", "remember_result")


def rounding(s, share=None):
    s.way, s.marks, s.family = "observe", False, "device"
    share = share or s.rng.uniform(0.6, 0.75)
    size = s.rng.uniform(1.02, 1.2) * MIB
    for _ in range(int(share * s.room / (2 * MIB))):
        s.alloc("lookup_tables", size, "device")
    s.fill("stage_batch", 0.03, 0.05, "device")
    return s.end("rounding", "lookup_tables")


def one_huge_context(s):
    s.context = int(s.capacity * s.rng.uniform(0.75, 0.99)) // MIB * MIB
    s.context = max(s.context, 1300 * MIB)
    s.capacity = max(s.capacity, s.context + 20 * MIB)
    s.fill("load_weights", 0.1, 0.3, "device")
    return s.end("contexts")


def many_contexts(s):
    count = s.rng.randrange(2, 5)
    s.context = int(s.capacity * 0.6 / (count + 1)) // MIB * MIB
    for _ in range(count):
        s.say("context")
    s.fill("load_weights", 0.03, 0.05, "device", of=s.capacity)
    return s.end("contexts", "one_more_context")


def other_processes(s):
    s.in_place()
    s.others = int(s.capacity * s.rng.uniform(0.35, 0.65)) // MIB * MIB
    s.weights(s.rng.uniform(0.2, 0.5))
    s.fill("make_activation", 0.05, 0.1)
    return s.end("other_process")


def libraries(s):
    s.marks = False
    if s.rng.random() < 0.5:
        s.tensors()
    for _ in range(s.rng.randrange(2, 8)):
        s.alloc("collective_buffers", s.rng.uniform(0.06, 0.09) * s.capacity, "library")
    s.alloc("collective_buffers", s.rng.uniform(0.1, 0.3) * s.capacity, "library")
    s.fill("load_weights", 0.03, 0.05)
    return s.end("outside_libraries", "collective_buffers")


def limited(s):
    s.in_place()
    s.limit = "%dMiB" % (s.room * s.rng.uniform(0.2, 0.6) // MIB)
    s.weights(s.rng.uniform(0.1, 0.2))
    s.fill("make_activation", 0.05, 0.1)
    return s.end("imposed_limit", ("make_activation", "load_weights"))


def absurd(s):
    s.weights(0.2)
    for _ in range(s.rng.randrange(0, 9)):
        s.iterate(0.1)
    site = s.rng.choice(ONE_OFF)
    s.alloc(site, s.rng.choice((2 ** 64 - 4096, 2 ** 48, 2 ** 62, 700 * 2 ** 30)))
    return s.end("absurd_request", site)


def host(s):
    s.fail = "host:%d+" % s.rng.randrange(2, 20)
    s.weights(0.2)
    for _ in range(30):
        s.iterate(0.1)
        s.alloc("fill_queue", s.rng.randrange(1, 64) * MIB, "host")
    return s.end("host_memory", "fill_queue")


def refused(s):
    s.way, s.family = "observe", "device"
    s.fail = "device:%d" % s.rng.randrange(20, 40)
    s.weights(0.1)
    for _ in range(40):
        s.iterate(0.1)
    return s.end("refused")


# --- true capacity ---

def capacity_of_data(s):
    s.in_place()
    s.marks = False
    s.fill("load_weights", 0.02, 0.08)
    return s.end("true_capacity", "load_weights")


def capacity_in_the_first_step(s):
    s.in_place()
    if s.rng.random() < 0.4:
        s.tensors()
    s.weights(s.rng.uniform(0.2, 0.4))
    s.marks = s.marks or s.rng.random() < 0.5
    if s.marks:
        s.say("push step 0")
    for _ in range(60):
        s.alloc("make_activation", s.rng.uniform(0.04, 0.08) * s.room)
        if s.marks:
            s.free(s.alloc("scratch_buffer", 0.01 * s.room))
    return s.end("true_capacity", ("make_activation", "load_weights"))


def capacity_of_a_larger_step(s):
    """The steps become larger, as with longer sequences; nothing is kept."""
    s.in_place()
    s.weights(s.rng.uniform(0.3, 0.5))
    work = s.rng.uniform(0.2, 0.3)
    for _ in range(60):
        s.iterate(work)
        work *= s.rng.uniform(1.0, 1.1)
    return s.end(s.larger_than_the_device())


# --- pairs ---

def growth_and_pool(s):
    s.family, s.way = "device", "observe"
    site = s.rng.choice(KEEPING)
    s.say("threshold", 2 ** 64 - 1)
    s.free(s.alloc("resize_image", s.rng.uniform(0.3, 0.4) * s.room, "async"))
    s.say("sync")
    for _ in range(90):
        s.iterate(0.1, site, 0.02 * s.room)
    return s.end(("growth", "kept_pool"), causes=("growth", "kept_pool"))


def growth_beside_others(s):
    s.others = int(s.capacity * s.rng.uniform(0.3, 0.45)) // MIB * MIB
    site = s.rng.choice(KEEPING)
    for _ in range(90):
        s.iterate(0.1, site, 0.02 * s.room)
    return s.end(("growth", "other_process"), causes=("growth", "other_process"))


def two_together(s):
    """A request that fits without both, and with neither alone."""
    s.marks, s.way, s.family = False, "observe", "device"
    s.others = int(s.capacity * 0.3) // MIB * MIB
    whole = s.capacity - s.context
    s.say("threshold", 2 ** 64 - 1)
    s.free(s.alloc("resize_image", s.rng.uniform(0.3, 0.35) * whole, "async"))
    s.say("sync")
    s.alloc("load_weights", 0.05 * whole)
    s.alloc("build_index", s.rng.uniform(0.8, 0.9) * whole)
    return s.end(("kept_pool", "other_process"), causes=("kept_pool", "other_process"),
                 together=("kept_pool", "other_process"))


def rounding_and_contexts(s):
    s.way, s.marks = "observe", False
    s.context = int(s.capacity * 0.12) // MIB * MIB
    for _ in range(3):
        s.say("context")
    whole = s.capacity - s.context
    for _ in range(int(0.6 * (s.capacity - 4 * s.context) / (2 * MIB))):
        s.alloc("lookup_tables", 1.05 * MIB, "device")
    s.alloc("build_index", s.rng.uniform(0.75, 0.8) * whole, "device")
    return s.end(("rounding", "contexts"), causes=("rounding", "contexts"),
                 together=("rounding", "contexts"))


# --- near misses ---

def a_full_ring_is_not_growth(s):
    s.in_place()
    ring, site = [], s.rng.choice(KEEPING)
    s.weights(s.rng.uniform(0.2, 0.3))
    work = 0.2
    for _ in range(70):
        ring.append(s.alloc(site, 0.01 * s.room))
        if len(ring) > 12:
            s.free(ring.pop(0))
        s.iterate(work)
        work *= 1.04
    return s.end(s.larger_than_the_device())


def a_loader_is_not_growth(s):
    """Weights are copied from a buffer that is freed after each; then the steps do not fit."""
    s.in_place()
    s.marks = False
    for _ in range(s.rng.randrange(10, 20)):
        staging = s.alloc("stage_batch", 0.02 * s.room)
        s.alloc("load_weights", 0.03 * s.room)
        s.free(staging)
    work = 0.15
    for _ in range(60):
        s.iterate(work)
        work *= 1.06
    return s.end(s.larger_than_the_device())


def a_small_leak_is_not_the_cause(s):
    s.in_place()
    s.marks = True
    s.weights(s.rng.uniform(0.3, 0.4))
    for _ in range(s.rng.randrange(8, 16)):
        s.iterate(0.15, "write_log", 20 * 1024)
    s.say("push step", s.step)
    s.fill("make_activation", 0.04, 0.06)
    if s.way == "caching":
        return s.end(s.larger_than_the_device())
    return s.end("true_capacity", ("make_activation", "load_weights"))


def a_repeated_large_request_is_not_a_spike(s):
    s.in_place()
    s.weights(s.rng.uniform(0.3, 0.4))
    work = 0.2
    for i in range(60):
        s.iterate(work)
        if i % 4 == 0:
            s.free(s.alloc("evaluate_whole_set", 0.4 * s.room))
        work *= 1.05
    return s.end(s.larger_than_the_device())


def a_small_pool_is_not_the_cause(s):
    s.marks, s.family = False, "device"
    s.say("threshold", 2 ** 64 - 1)
    s.free(s.alloc("resize_image", 0.03 * s.room, "async"))
    s.say("sync")
    s.fill("load_weights", 0.08, 0.12)
    return s.end("true_capacity", "load_weights")


# --- nothing to blame ---

def probe(s):
    s.weights(0.1)
    size, freed = s.room * 4, []
    while size > s.room / 8:
        slot = s.alloc("probe_memory", size, "device", probe=True)
        freed.append(slot)
        size /= 2
        if size < s.room * 0.6:
            break
    for slot in freed:
        s.free(slot)
    for _ in range(10):
        s.iterate(0.1)
    s.say("exit 0")
    return s.end("recovered")


def benign(s):
    s.weights(0.25)
    for _ in range(20):
        s.iterate(0.15, *(("write_log", 4096) if s.rng.random() < 0.5 else ()))
    s.say("exit 0")
    return s.end(None)


ALL = (
    ("growth", growth), ("growth_late", lambda s: growth(s, late=True)),
    ("growth_every_third", lambda s: growth(s, every=3)),
    ("growth_by_thousandths", lambda s: growth(s, share=0.004)),
    ("growth_of_tensors", lambda s: growth(s.tensors())),
    ("growth_of_tensors_late", lambda s: growth(s.tensors(), late=True)),
    ("growth_in_two_sites", growth_in_two_sites), ("growth_of_a_queue", growth_of_a_queue),
    ("spike_request", spike_request), ("spike_live", spike_live),
    ("spike_request_of_tensors", lambda s: spike_request(s.tensors())),
    ("spike_live_of_tensors", lambda s: spike_live(s.tensors())),
    ("kept_pool", kept_pool),
    ("kept_pool_and_a_large_request", lambda s: kept_pool(s, 0.6, 0.5)),
    ("other_stream", other_stream), ("private_pool", lambda s: other_stream(s, private=True)),
    ("fragmentation", fragmentation), ("sizes_that_grow", sizes_that_grow), ("rounding", rounding),
    ("one_huge_context", one_huge_context), ("many_contexts", many_contexts),
    ("other_processes", other_processes), ("libraries", libraries), ("limited", limited),
    ("absurd", absurd), ("host", host), ("refused", refused),
    ("capacity_of_data", capacity_of_data),
    ("capacity_in_the_first_step", capacity_in_the_first_step),
    ("capacity_of_a_larger_step", capacity_of_a_larger_step),
    ("growth_and_pool", growth_and_pool), ("growth_beside_others", growth_beside_others),
    ("two_together", two_together), ("rounding_and_contexts", rounding_and_contexts),
    ("a_full_ring_is_not_growth", a_full_ring_is_not_growth),
    ("a_loader_is_not_growth", a_loader_is_not_growth),
    ("a_small_leak_is_not_the_cause", a_small_leak_is_not_the_cause),
    ("a_repeated_large_request_is_not_a_spike", a_repeated_large_request_is_not_a_spike),
    ("a_small_pool_is_not_the_cause", a_small_pool_is_not_the_cause),
    ("probe", probe), ("benign", benign),
)


def generate(seed):
    """One scenario of each kind."""
    return [make(Scenario("%s/%d" % (name, seed), random.Random("%s %d" % (name, seed))))
            for name, make in ALL]
