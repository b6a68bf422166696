# SPDX-License-Identifier: MIT
"""A second implementation of CPI figures (docs/cpi.md), computed with
fractions."""

from fractions import Fraction
from typing import NamedTuple, Optional

RAW, SCALED, ON_THREAD, THREAD_ONLY = 1, 2, 4, 0x80000000
MAX_CPUS = 1024
COMPUTED, NO_DATA, CLOCK_BACKWARD, BAD_ARGUMENT = range(4)
COUNTS = ("instr", "cycles", "busy", "elapsed")
UINT64_MAX = (1 << 64) - 1


class Cpu(NamedTuple):
    """The counters of one CPU."""
    cpu: int
    instr: int = 0
    cycles: int = 0
    busy: int = 0
    elapsed: int = 0


class Thread(NamedTuple):
    """The counters of a thread."""
    tid: int
    instr: int = 0
    cycles: int = 0


class Snapshot(NamedTuple):
    """All counters at one time; `cpus` are Cpu."""
    clock: int
    cpus: tuple = ()
    thread: Optional[Thread] = None


class Figures(NamedTuple):
    """Counts and figures of a CPU, of the system or of a thread."""
    status: str
    instr: int = 0
    cycles: int = 0
    busy: int = 0
    elapsed: int = 0
    scaled: int = 0
    raw_cpi: float = 0.0
    scaled_cpi: float = 0.0
    busy_percent: float = 0.0
    cpu: int = 0
    clamped: bool = False


class Result(NamedTuple):
    """The result for an interval."""
    mode: int
    elapsed: int
    changed: bool
    tid: Optional[int]
    system: Figures
    thread: Figures
    cpus: list


def delta(start, end, width):
    """(status, growth or None) of a counter with this number of bits."""
    modulus = 1 << width
    if not (start < modulus and end < modulus):
        return "invalid", None
    if end >= start:
        return "ok", end - start
    if width < 64 and (end - start) % modulus < Fraction(modulus, 2):
        return "wrapped", (end - start) % modulus
    return "backward", None


def ratio(above, below):
    """The double nearest to the quotient; 0 if `below` is 0."""
    return float(Fraction(above, below)) if below else 0.0


def fits_hook(above, below):
    """Whether a hook can store the quotient, rounded to 4 decimal places."""
    places = int(Fraction(10000 * above, below) + Fraction(1, 2))
    return places // 10000 <= 0xFFFFFFFE


def figures(status, counts, cpu=0, clamped=False):
    """The Figures of counts (instr, cycles, busy, elapsed, scaled)."""
    instr, cycles, busy, elapsed, scaled = counts
    if instr == 0:
        status = "no_instr"
    elif not fits_hook(cycles, instr) or max(counts) > UINT64_MAX:
        status = "overflow"
    return Figures(status, *(min(count, UINT64_MAX) for count in counts),
                   ratio(cycles, instr), ratio(scaled, instr),
                   ratio(100 * busy, elapsed), cpu, clamped)


def measure(start, end, widths, scaled):
    """The Figures of a CPU that both snapshots contain."""
    deltas = [delta(getattr(start, name), getattr(end, name), width)
              for name, width in zip(COUNTS[:4 if scaled else 2],
                                     widths + (64, 64))]
    for status, number in deltas:
        if number is None:
            return Figures(status, cpu=start.cpu)
    instr, cycles, busy, elapsed = ([number for _, number in deltas] +
                                    [0, 0])[:4]
    if scaled and elapsed == 0:
        return Figures("no_elapsed", cpu=start.cpu)
    share = min(Fraction(busy, elapsed), Fraction(1)) if scaled else 0
    wrapped = any(status == "wrapped" for status, _ in deltas)
    return figures("wrapped" if wrapped else "ok", (
        instr, cycles, min(busy, elapsed), elapsed, int(cycles * share)),
                   start.cpu, busy > elapsed)


def measure_cpus(start, end, widths, mode):
    """The Figures of each CPU of the first snapshot."""
    after = {cpu.cpu: cpu for cpu in end.cpus}
    narrow = min(widths)
    ambiguous = narrow < 64 and end.clock - start.clock >= 1 << narrow
    for cpu in start.cpus:
        if cpu.cpu not in after:
            yield Figures("offline", cpu=cpu.cpu)
        elif ambiguous:
            yield Figures("ambiguous", cpu=cpu.cpu)
        else:
            yield measure(cpu, after[cpu.cpu], widths, bool(mode & SCALED))


def true_sums(cpus):
    """The sums of the counts, which may exceed 64 bits."""
    return tuple(sum(getattr(cpu, name) for cpu in cpus)
                 for name in COUNTS + ("scaled",))


def is_refused(start, end, widths, mode):
    """Whether the arguments are invalid."""
    if mode & ~(RAW | SCALED | ON_THREAD | THREAD_ONLY):
        return True
    if any(not 1 <= width <= 64 for width in widths):
        return True
    if mode & THREAD_ONLY and mode & SCALED:
        return True
    if mode & (ON_THREAD | THREAD_ONLY) and (
            start.thread is None or end.thread is None or
            start.thread.tid != end.thread.tid):
        return True
    if mode & THREAD_ONLY:
        return False
    numbers = [[cpu.cpu for cpu in each.cpus] for each in (start, end)]
    return any(len(each) > MAX_CPUS or each != sorted(set(each))
               for each in numbers)


def compute(start, end, widths, mode):
    """(verdict, Result or None) for two snapshots. `widths` are the bits of
    the counters of instructions and of cycles."""
    if is_refused(start, end, widths, mode):
        return BAD_ARGUMENT, None
    if end.clock < start.clock:
        return CLOCK_BACKWARD, None
    mode |= RAW | (ON_THREAD if mode & THREAD_ONLY else 0)
    tid, thread = None, Figures("ok")
    if mode & ON_THREAD:
        tid = start.thread.tid
        thread = measure(*(Cpu(0, each.thread.instr, each.thread.cycles)
                           for each in (start, end)), (64, 64), False)
    elapsed = end.clock - start.clock
    if mode & THREAD_ONLY:
        return COMPUTED, Result(mode, elapsed, False, tid,
                                Figures("invalid"), thread, [])
    cpus = list(measure_cpus(start, end, widths, mode))
    system = figures("ok", true_sums(cpus),
                     clamped=any(cpu.clamped for cpu in cpus))
    changed = {cpu.cpu for cpu in start.cpus} != {cpu.cpu for cpu in end.cpus}
    verdict = NO_DATA if system.status == "no_instr" else COMPUTED
    return verdict, Result(mode, elapsed, changed, tid, system, thread, cpus)
