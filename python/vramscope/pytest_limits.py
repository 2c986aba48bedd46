# SPDX-License-Identifier: Apache-2.0
"""The limits of tests: read from their markers, compared with their figures and with the baseline."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from vramscope.pytest_baseline import Baseline
from vramscope.pytest_lines import fold, whole
from vramscope.pytest_measure import Figures, Measured
from vramscope.pytest_sizes import percent, size, size_text, two_sizes
from vramscope.pytest_steps import Steps

METRICS = ("allocated", "reserved")


@dataclass(frozen=True)
class Limit:
    """One marker of one test."""

    marker: str
    text: str  # as the test has it
    bytes: int
    device: Optional[int] = None
    metric: str = "allocated"
    warmup: int = 0
    skip: int = 1

    def same_as(self, closer: "Limit") -> bool:
        """Do both limit the same? Then the closer one counts, such as a method's before its class's."""
        return (self.marker, self.metric, self.device) == (closer.marker, closer.metric, closer.device)


def _limit_vram(size: Any, *, device: Any = None, metric: Any = "allocated",
                warmup: Any = 0) -> Dict[str, Any]:
    return {**locals()}


def _limit_vram_growth(size: Any, *, skip: Any = 1, device: Any = None, metric: Any = "allocated",
                       warmup: Any = 0) -> Dict[str, Any]:
    return {**locals()}


def _limit_vram_leaks(size: Any = 0, *, device: Any = None, metric: Any = "allocated",
                      warmup: Any = 0) -> Dict[str, Any]:
    return {**locals()}


_SIGNATURES = {"limit_vram": _limit_vram, "limit_vram_growth": _limit_vram_growth,
               "limit_vram_leaks": _limit_vram_leaks}


def _number(name: str, value: Any, highest: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= highest:
        raise ValueError(f"{name}={value!r} is not a number from 0 to {highest}")
    return value


def _limit(mark: Any) -> Limit:
    """ValueError with a text for users."""
    words = [repr(a) for a in mark.args] + [f"{k}={v!r}" for k, v in mark.kwargs.items()]
    try:
        given = _SIGNATURES[mark.name](*mark.args, **mark.kwargs)
    except TypeError as error:
        raise ValueError(str(error).replace(f"_{mark.name}()", f"{mark.name}()")) from None
    if given["metric"] not in METRICS:
        raise ValueError(f"metric={given['metric']!r} is not one of " + ", ".join(map(repr, METRICS)))
    device = given["device"]
    return Limit(mark.name, f"@pytest.mark.{mark.name}({', '.join(words)})", size(given["size"]),
                 None if device is None else _number("device", device, 63), given["metric"],
                 _number("warmup", given["warmup"], 1000),
                 _number("skip", given.get("skip", 1), Steps.KEPT - 1))


class Limits:
    """The limits of all tests of a run."""

    def __init__(self, config: Any) -> None:
        self._of: Dict[str, List[Limit]] = {}
        self._wrong: Dict[str, List[str]] = {}
        self.baseline = Baseline.of(config)
        self._compares = bool(config.option.vramscope_baseline)  # or writes it
        self._allows = config.option.vramscope_allow_uncomputed

    def read(self, item: Any) -> List[str]:
        """Read the markers of a test. Returns a text for each error in them."""
        limits: List[Limit] = []
        wrong: List[str] = []
        for name in _SIGNATURES:
            for mark in item.iter_markers(name):  # the closest first
                try:
                    limit = _limit(mark)
                except ValueError as error:
                    wrong.append(f"@pytest.mark.{name}: {error}")
                    continue
                if not any(limit.same_as(other) for other in limits):
                    limits.append(limit)
        self._of[item.nodeid], self._wrong[item.nodeid] = limits, wrong
        return wrong

    def of(self, item: Any) -> List[Limit]:
        return self._of.get(item.nodeid, [])

    def wrong(self, item: Any) -> List[str]:
        return self._wrong.get(item.nodeid, [])

    def judge(self, item: Any, measured: Measured) -> str:
        """What the test exceeded, for its report; "" if every limit held."""
        texts = []
        for limit in self.of(item):
            for device, figures in sorted(measured.devices.items()):
                if limit.device in (None, device):
                    texts += _judge(limit, device, figures, measured)
            if limit.device is not None and limit.device not in measured.devices:
                texts.append([f"{limit.text}: there is no device {limit.device}"])
        if not texts and self.baseline is not None:
            texts = self.baseline.judge(item.nodeid, measured)
        if measured.uncomputed and not self._allows and (self.of(item) or self._compares):
            texts.append(measured.uncomputed_text())
        return "\n\n".join("\n".join(text) for text in texts)


def excess_lines(what: str, device: int, value: int, allowed: int, of: str) -> List[str]:
    """The first sentence of an exceeded limit."""
    figures = two_sizes(value, allowed)
    by = value - allowed
    share = f" ({percent(by, allowed)})" if allowed else ""
    return fold(f"{what} {figures[0]} exceeds {of} {figures[1]} by {size_text(by)}{share} on device {device}")


def _judge(limit: Limit, device: int, figures: Figures, measured: Measured) -> List[List[str]]:
    if limit.marker == "limit_vram":
        return _judge_peak(limit, device, figures, measured)
    if limit.marker == "limit_vram_growth" and measured.steps.count:
        return _judge_steps(limit, device, figures, measured)
    kept = figures.kept_of(limit.metric)
    if kept <= limit.bytes:
        return []
    what = (f"{'growth' if limit.marker == 'limit_vram_growth' else 'leak'} of "
            f"{'reserved ' if limit.metric == 'reserved' else ''}GPU memory")
    return [[*excess_lines(what, device, kept, limit.bytes, "the limit of"), f"  {limit.text}",
             "  in use before the test {}, after it {}".format(
                 *two_sizes(figures.begin.of(limit.metric), figures.end.of(limit.metric))),
             *measured.sites_text("allocated by the test and still in use:", device, kept,
                                  metric=limit.metric)]]


def _judge_peak(limit: Limit, device: int, figures: Figures, measured: Measured) -> List[List[str]]:
    peak = figures.peak_of(limit.metric)
    if peak <= limit.bytes:
        return []
    reserved = limit.metric == "reserved"
    before = figures.live if reserved else figures.begin.allocated
    kind = "reserved GPU memory" if reserved else "GPU memory"
    lines = [*excess_lines(f"peak of {kind}", device, peak, limit.bytes, "the limit of"), f"  {limit.text}"]
    if before:
        lines.append(f"  beyond the {size_text(before)} in use before the test")
    if reserved and figures.cached:
        lines += fold(f"with {size_text(figures.cached)} cached before the test, in segments that hold memory in "
                      f"use and so cannot be released", "  ")
    title = "held at this peak:" if reserved else "allocated by the test and in use at its peak:"
    return [[*lines, *measured.sites_text(title, device, peak, when="reserved" if reserved else "peak",
                                          metric=limit.metric)]]


def _judge_steps(limit: Limit, device: int, figures: Figures, measured: Measured) -> List[List[str]]:
    steps = measured.steps
    if steps.count < limit.skip + 2:
        return [fold(f"{whole(limit.text)} needs at least {limit.skip + 2} steps in the test, which has {steps.count}: "
                     f"the first {limit.skip} not counted (skip), and two to compare")]
    first, last = steps.first[limit.skip].get(device), steps.last.get(device)
    if first is None or last is None:
        return []
    counted = steps.count - 1 - limit.skip
    grown = last.of(limit.metric) - first.of(limit.metric)
    each = -(-grown // counted)
    if each <= limit.bytes:
        return []
    what = f"growth of {'reserved ' if limit.metric == 'reserved' else ''}GPU memory per step"
    return [[*excess_lines(what, device, each, limit.bytes, "the limit of"),
             f"  {limit.text}",
             f"  {size_text(grown)} in {counted} steps, "
             + "from {} to {}".format(*two_sizes(first.of(limit.metric), last.of(limit.metric))),
             *measured.sites_text("allocated in these steps and still in use after them:", device, grown,
                                  (first.time_ns, last.time_ns), metric=limit.metric)]]
