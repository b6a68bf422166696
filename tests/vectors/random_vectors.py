# SPDX-License-Identifier: MIT
"""Rows of random types, options and samples; the same for the same seed.

Counters and clocks mostly rise, frequencies are mostly positive, and a few
inputs are absent. So most rows have a value, and each status occurs.
"""

import random

from vector_rows import (HEADER, TWO32, TWO63, TWO64, formula, is_large,
                         row_text)

LARGE_EDGES = (0, 1, 2, TWO32 - 1, TWO32, (1 << 53) - 1, 1 << 53,
               (1 << 53) + 1, TWO63 - 1, TWO63, TWO64 - 1)
SMALL_EDGES = (0, 1, 2, 1 << 31, TWO32 - 1)
BASE_TYPES = (0, 0, 0, 0x40030402, 0x40030402, 0x40030500, 0x40030503,
              0x42030500, 0x40030401, 0x00010000)
LAST = ["", "", "random", "exact rational arithmetic"]


def random_mode(source):
    """Random options, by their names."""
    names = [name for name in formula.Options._fields[:-1]
             if source.random() < 0.3]
    if source.random() < 0.4:
        limit = 127 if source.random() < 0.05 else 10
        names.append("scale=%d" % source.randint(-limit, limit))
    return " ".join(names)


def unnamed_types(source, count):
    """Random unnamed types, most of which have a formula."""
    kinds = []
    while len(kinds) < count:
        kind = source.getrandbits(32) & 0x73FF0500 | 0x400
        if source.random() < 0.05:
            kind ^= 1 << source.randrange(32)
        if not formula.find_type(kind) and (
                formula.derive(kind) or source.random() < 0.001):
            kinds.append(kind)
    return kinds


def all_types(source):
    """Types to choose from: about half of them named ones."""
    named = sorted(formula.TYPES)
    shown = [kind for kind in named if formula.TYPES[kind].form]
    return shown * 9 + named + unnamed_types(source, 300)


class Numbers:
    """Random numbers of any length; all lengths are equally likely."""

    def __init__(self, source):
        self.bits = source.getrandbits
        self.chance = source.random

    def number(self, width):
        """A number below 2**width, sometimes an edge or a power of two. Only
        the edges of width 6 may be greater."""
        chance = self.chance()
        if chance < 0.85:
            return self.bits(1 + int(chance * 1e6) % width)
        if chance < 0.93:
            return 1 << self.bits(6) % width
        edges = SMALL_EDGES if width == 32 else LARGE_EDGES
        return edges[int(chance * 1e6) % len(edges)] >> (width == 63)

    def pair(self, width):
        """A number and a later one, which is rarely equal or smaller."""
        older, newer = self.number(width), self.number(width)
        chance = self.chance()
        if chance < 0.02:
            return older, older
        if older > newer and chance < (0.8 if width == 32 else 0.94):
            return newer, older
        return older, newer

    def clocks(self):
        """Two signed readings; the later one is mostly greater."""
        if self.chance() < 0.6:
            return self.pair(63)
        older, newer = self.pair(64)
        return older - TWO63, newer - TWO63

    def frequency(self):
        """A frequency, mostly positive."""
        if self.chance() < 0.98:
            return self.number(63) or 1
        return -self.number(63)


def random_samples(numbers, kind):
    """Two samples with inputs of any size."""
    width = 64 if is_large(kind) or numbers.chance() < 0.02 else 32
    older, newer = {"type": kind}, {"type": kind}
    older["value"], newer["value"] = numbers.pair(width)
    older["base"], newer["base"] = numbers.pair(
        64 if numbers.chance() < 0.5 else 32)
    for key in ("perf_time", "perf_time_100ns", "object_time"):
        older[key], newer[key] = numbers.clocks()
    older["multi"], newer["multi"] = 5, numbers.number(
        6 if numbers.chance() < 0.5 else 64)
    for key in ("perf_freq", "object_freq"):
        older[key], newer[key] = 1, numbers.frequency()
    return older, newer


def approach_tie(numbers, form, older, newer):
    """Raw values whose quotient is next to a number halfway between two
    doubles, if the form and the other inputs allow it."""
    d = (1 << 62) - 57
    if form.denominator != "time":
        older["base"], d = 0, newer["base"]
    first, bottom = form.quotient(0, d, newer["perf_freq"], newer["multi"])
    step = form.quotient(1, d, newer["perf_freq"], newer["multi"])[0] - first
    tie = numbers.bits(54) | 1 << 53 | 1
    n = ((tie * bottom >> 54) - first) // step if step else -1
    if 0 <= n < TWO64:
        older["value"], newer["value"] = 0, n
    if form.denominator == "time":
        for key in ("perf_time", "perf_time_100ns", "object_time"):
            older[key], newer[key] = -5, d - 5


def disturb(source, older, newer, kinds):
    """Removes inputs, or changes types; returns the older sample, or None to
    leave it out."""
    chance = source.random()
    if chance < 0.7:
        base_type = source.choice(BASE_TYPES)
        older["base_type"] = newer["base_type"] = base_type
    elif chance < 0.8:
        older["base_type"] = source.choice(BASE_TYPES)
        newer["base_type"] = source.choice(BASE_TYPES)
    elif chance < 0.85:
        older["type"] = source.choice(kinds)
    elif chance < 0.95:
        del source.choice((older, newer))[source.choice(formula.INPUTS)]
    else:
        return None
    return older


def mode_pools(source):
    """Modes with their options: plain, mixed, and for unnamed types."""
    texts = [random_mode(source) for _ in range(60)]
    bits = ["generic"] * 30 + [
        text if "generic" in text else ("generic " + text).strip()
        for text in texts] + texts[:10]
    return [[(text, formula.read_options(text)) for text in pool]
            for pool in ([""], texts, bits)]


def random_rows(count, seed, in_pdh_order=False):
    """The header line and `count` rows. In PDH's order of operations they have
    named types only."""
    source = random.Random(seed)
    numbers, chance = Numbers(source), source.random
    kinds = all_types(source)
    if in_pdh_order:
        kinds = [kind for kind in kinds if kind in formula.TYPES]
    dividing = {kind for kind, known in formula.TYPES.items()
                if known.form and known.form.denominator}
    plain, mixed, bits = mode_pools(source)
    yield HEADER
    for number in range(count):
        kind = kinds[int(chance() * len(kinds))]
        pool = plain if chance() < 0.5 else mixed
        if kind not in formula.TYPES:
            pool = bits
        mode, options = pool[int(chance() * len(pool))]
        older, newer = random_samples(numbers, kind)
        if kind in dividing and chance() < 0.1:
            approach_tie(numbers, formula.TYPES[kind].form, older, newer)
        if chance() < 0.2:
            older = disturb(source, older, newer, kinds)
        if in_pdh_order:
            result = formula.evaluate_pdh(older, newer, options)
            mode = (mode + " pdh_order").strip()
        else:
            result = formula.evaluate(older, newer, options)
        yield row_text("random-%s-%d" % (seed, number), mode, (older, newer),
                       result, LAST)
