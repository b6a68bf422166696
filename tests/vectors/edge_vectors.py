# SPDX-License-Identifier: MIT
"""Edge cases: raw values, clocks, bases, factors and missing inputs.

Each function in FAMILIES of make_vectors.py yields the cases of one file of
corpus/formula.
"""

import itertools

from vector_rows import (Case, INT64_MAX, INT64_MIN, TWO31, TWO32, TWO53,
                         TWO63, TWO64, clock_of, divider, formula, is_large,
                         spell, usual_samples, vary)

DWORD_EDGES = (0, 1, 2, TWO31 - 1, TWO31, TWO32 - 2, TWO32 - 1)
LARGE_EDGES = (0, 1, TWO32 - 1, TWO32, TWO53 - 1, TWO53 + 1, TWO63, TWO64 - 1)
# Pairs of clock readings, older first: equal, reversed and advancing, up to the
# largest distance.
CLOCK_PAIRS = (
    (0, 0, "does not advance from 0"), (5, 5, "does not advance from 5"),
    (INT64_MAX, INT64_MAX, "does not advance from its maximum"),
    (6, 5, "runs backwards by 1"),
    (0, -1, "runs backwards below 0"), (TWO53 + 1, TWO53, "runs backwards by 1 at 2^53"),
    (INT64_MAX, INT64_MIN, "runs backwards by the largest distance"),
    (0, INT64_MIN, "runs backwards by 2^63"), (0, 1, "advances by 1"),
    (-1, 1, "advances across 0"), (INT64_MIN, INT64_MAX, "advances by the largest distance"),
    (INT64_MIN, 0, "advances by 2^63"),
    (-1, INT64_MAX, "advances by 2^63, across 0"),
    (0, INT64_MAX, "advances by 2^63-1"),
    (TWO53 - 1, TWO53 + 2, "advances by 3 at 2^53"),
    (133000000000000000, 133000000010000321, "is a file time, 1 s apart"))
FREQUENCIES = (INT64_MIN, -1, 0, 1, 3, 10000000, TWO32 + 1, TWO53 + 1,
               INT64_MAX)
ITEMS = (0, 1, 3, TWO32 - 1, TWO32, TWO53 + 1, TWO63, TWO64 - 1)
STARTS = (0, 1, TWO32 - 1, TWO32, TWO53 - 1, TWO53 + 1, TWO63 - 1, TWO63,
          TWO64 - 1)

SHOWN = sorted(kind for kind, known in formula.TYPES.items() if known.form)
HIDDEN = sorted(set(formula.TYPES) - set(SHOWN))
# Values that are not in the table; some are types of other programs.
UNNAMED = (0x00012000, 0x00020000, 0x00510500, 0x10510500, 0x40030400,
           0x60410400, 0x20410400, 0x80000001, 0xFFFFFFFF)
ALIAS = 0x40030503
INPUT_NAMES = {
    "value": "raw value", "base": "base", "multi": "item count",
    "perf_time": "performance clock", "perf_time_100ns": "100 ns clock",
    "object_time": "object's clock", "perf_freq": "performance frequency",
    "object_freq": "object's frequency"}


def forms_of(kind):
    """The type's row and form."""
    known = formula.find_type(kind)
    return known, known.form


# Types -----------------------------------------------------------------------

def type_cases():
    """Every type with all inputs present and with one sample; those that are
    not displayed also without inputs and with an older sample of another type.
    """
    for kind in SHOWN + HIDDEN + [ALIAS] + list(UNNAMED):
        older, newer = usual_samples(kind)
        known = formula.find_type(kind)
        what = "an unnamed type" if known is None else (
            "a type" if known.form else "a type without a formula")
        yield Case("usual", older, newer, what + " with all inputs")
        yield Case("one", None, newer, what + " with one sample")
    for kind in HIDDEN + [ALIAS] + list(UNNAMED):
        yield Case("bare", None, {"type": kind},
                   "the type is checked before the inputs")
        yield Case("other", {"type": 0}, {"type": kind},
                   "the type is checked before that of the older sample")


# Raw values ------------------------------------------------------------------

def pairs_of(edges):
    """Pairs of numbers, older first, with a description."""
    last = edges[-1]
    for edge, following in zip(edges, edges[1:] + (last,)):
        yield 0, edge, "rises from 0 to " + spell(edge)
        yield edge, edge, "stays at " + spell(edge)
        yield edge, last, "rises from %s to its maximum" % spell(edge)
        yield edge, following, "rises from %s to %s" % (spell(edge),
                                                        spell(following))
        yield following, edge, "falls from %s to %s" % (spell(following),
                                                        spell(edge))
        if edge < last:
            yield edge + 1, edge, "falls by 1 to " + spell(edge)


def value_cases():
    """Pairs of raw values, and single ones."""
    for kind in SHOWN:
        edges = LARGE_EDGES if is_large(kind) else DWORD_EDGES
        if forms_of(kind)[1].delta:
            for old, new, what in pairs_of(edges):
                yield Case("value", *vary(kind, {"value": old}, value=new),
                           "the counter " + what)
            continue
        # Providers use either size for raw counts.
        if forms_of(kind)[1] is formula.RAW:
            edges = LARGE_EDGES
        for edge in edges:
            newer = vary(kind, value=edge)[1]
            yield Case("value", None, newer, "the raw value is " + spell(edge))
        yield Case("value", *vary(kind, {"value": 1751}),
                   "a gauge may fall: only the newer sample is used",
                   decision="the newer sample alone")


# Clocks ----------------------------------------------------------------------

def clock_cases():
    """Readings of the clock that a type uses, and of other clocks."""
    for kind in SHOWN:
        known, form = forms_of(kind)
        if form.denominator == "time" or form is formula.PRECISION_TIME:
            yield from own_clock(kind, known)
        if form is formula.ELAPSED:
            yield from elapsed_cases(kind)
        yield from other_clocks(kind, form)


def own_clock(kind, known):
    """Readings of the clock in the denominator, with small and large steps."""
    key = formula.CLOCKS[known.clock][0]
    no_base = {"base": None} if known.form is formula.PRECISION_TIME else {}
    for number, (old, new, what) in enumerate(CLOCK_PAIRS):
        raw = TWO32 - 1 if number % 2 else 1750
        yield Case("clock", *vary(kind, {key: old, "value": 3, **no_base},
                                  **{key: new, "value": raw}, **no_base),
                   "the clock " + what)


def elapsed_cases(kind):
    """The time and the start: the former is signed, the latter is not."""
    nows = (INT64_MIN, -1, 0, 1, TWO32, TWO53 + 1, INT64_MAX)
    for start, now in itertools.product(STARTS, nows):
        newer = vary(kind, value=start, object_time=now)[1]
        yield Case("elapsed", None, newer, "started at %s, now is %s" % (
            spell(start), spell(now)))


def other_clocks(kind, form):
    """Clocks that a type does not use may have any value."""
    used = clock_of(kind)
    keys = [key for clock in formula.CLOCKS.values() for key in clock
            if key and key not in used]
    if form.denominator != "time" and not form.frequency:
        keys = [key for clock in formula.CLOCKS.values() for key in clock
                if key]
    yield Case("unused", *vary(kind, dict.fromkeys(keys, 9),
                               **dict.fromkeys(keys, 3)),
               "the clocks it does not use run backwards")
    yield Case("unused", *vary(kind, dict.fromkeys(keys, INT64_MIN),
                               **dict.fromkeys(keys, -1)),
               "the clocks and frequencies it does not use are negative")


# Bases -----------------------------------------------------------------------

def base_cases():
    """Pairs of bases, single bases, and bases of 8 bytes for an average."""
    for kind in SHOWN:
        known, form = forms_of(kind)
        edges = LARGE_EDGES if is_large(known.base or 0) else DWORD_EDGES
        if form.denominator == "base":
            for edge in edges:
                yield Case("base", *vary(kind, base=edge),
                           "the base is " + spell(edge))
            yield Case("base", *vary(kind, value=0, base=0), "0 over 0")
            yield Case("base", *vary(kind, {"base": 1901}),
                       "a base may fall: only the newer sample is used",
                       decision="the newer sample alone")
        if form.denominator in ("base_delta", "base_or_time"):
            for old, new, what in pairs_of(edges):
                yield Case("base", *vary(kind, {"base": old}, base=new),
                           "the base " + what)
    large = {"base_type": formula.LARGE_RAW_BASE}
    for old, new, what in pairs_of(LARGE_EDGES):
        yield Case("large_base", *vary(0x40020500, {"base": old, **large},
                                       base=new, **large),
                   "an average over a base of 8 bytes, which " + what)


# Flags -----------------------------------------------------------------------

def flag_cases():
    """Percentages below, at and above 100, and 0."""
    for kind in SHOWN:
        known, form = forms_of(kind)
        if known.unit != formula.PERCENT:
            continue
        for top, whole, what in (
                (999999, 1000000, "a millionth below 100 %"),
                (1000000, 1000000, "exactly 100 %"),
                (1000001, 1000000, "a millionth above 100 %"),
                (0, 1000000, "0 %"),
                (1, 1, "100 %, of 1 tick"), (2, 1, "200 %, of 1 tick"),
                (TWO32 - 1, TWO32 - 2, "one of 2^32-2 above 100 %"),
                (TWO53, TWO53 + 1, "less below 100 % than the precision of a double"),
                (TWO53 + 1, TWO53, "less above 100 % than the precision of a double"),
                (INT64_MAX - 1, INT64_MAX, "one of 2^63-1 below 100 %"),
                (TWO64 - 1, INT64_MAX, "about 200 %")):
            if top >= TWO32 and not is_large(kind):
                continue
            below = divider(kind, whole)
            yield Case("whole", *vary(kind, dict(below[0], value=0), value=top,
                                      multi=1, perf_freq=1, **below[1]),
                       "the counter's share is " + what)
        if form.items:
            below = divider(kind, 1000)
            for top in (2999, 3000, 3001, 4001):
                yield Case("items", *vary(
                    kind, dict(below[0], value=0), value=top, multi=3,
                    perf_freq=1, **below[1]),
                    "three items, which use %d of their 3000 ticks" % top)


# Factors ---------------------------------------------------------------------

def factor_cases():
    """Frequencies and multi counts, with small and large differences."""
    for kind in SHOWN:
        form = forms_of(kind)[1]
        frequency = clock_of(kind)[1]
        if form.frequency:
            yield from frequency_cases(kind, frequency)
        for number, items in enumerate(ITEMS if form.items else ()):
            raw = 1750 if number % 2 else TWO64 - 1
            yield Case("items", *vary(kind, {"multi": 77}, multi=items,
                                      value=raw),
                       "%s items in the newer sample, 77 in the older" % spell(
                           items))


def ticking(kind, clock, ticks):
    """Inputs that put `ticks` where the formula converts them to seconds."""
    form = forms_of(kind)[1]
    if form is formula.ELAPSED:
        return {}, {"value": 1, clock: ticks + 1}
    if form.denominator == "time":
        return {clock: 0}, {clock: ticks}
    return {"value": 0}, {"value": ticks}


def frequency_cases(kind, key):
    """Only the newer frequency is used, and it is a factor."""
    clock, large = key.replace("freq", "time"), is_large(kind)
    for number, frequency in enumerate(FREQUENCIES):
        raw = 1750 if number % 2 else TWO32 - 1
        if forms_of(kind)[1] is formula.ELAPSED:
            raw = 70001
        yield Case("frequency", *vary(kind, {key: 77}, **{key: frequency,
                                                          "value": raw}),
                   "the frequency is %s, in the older sample 77" % spell(
                       frequency))
    for tenths in (1, 5, 15, 19):
        older, newer = ticking(kind, clock, tenths * 1000000)
        yield Case("seconds", *vary(kind, older, **{key: 10000000, **newer}),
                   "%d.%d s at 10 MHz: no integer divides by the frequency" %
                   divmod(tenths, 10), decision="frequency is a factor")
    for ticks in (1, 3, 0x123456789ABCDEF, INT64_MAX - 1):
        ticks = ticks if large or clock != "perf_time" else min(ticks,
                                                                TWO32 - 1)
        older, newer = ticking(kind, clock, ticks)
        raw = {"value": TWO64 - 59 if large else TWO32 - 5}
        yield Case("huge", *vary(kind, {"value": 0, "base": 0, **older}, **{
            **raw, "base": TWO32 - 5, key: INT64_MAX - 24, "multi": 7,
            **newer}),
            "%s ticks of a clock with 2^63-25 a second" % spell(ticks))


# Missing inputs --------------------------------------------------------------

def missing_cases():
    """Inputs that are missing in both samples or in one, and older samples of
    another type."""
    for kind in SHOWN:
        older, newer = usual_samples(kind)
        usual, unused = formula.evaluate(older, newer), []
        for name in formula.INPUTS:
            what = "no " + INPUT_NAMES[name]
            both = vary(kind, {name: None}, **{name: None})
            if formula.evaluate(*both) == usual:
                unused.append(name)
                continue
            yield Case("no_" + name, *both, what)
            yield Case("no_new_" + name, *vary(kind, **{name: None}),
                       what + " in the newer sample")
            yield Case("no_old_" + name, *vary(kind, {name: None}),
                       what + " in the older sample")
        yield Case("no_unused", *vary(kind, dict.fromkeys(unused),
                                      **dict.fromkeys(unused)),
                   "only the inputs that the formula uses are present")
        yield Case("nothing", {"type": kind}, {"type": kind},
                   "two samples without any input")
        yield Case("nothing_one", None, {"type": kind},
                   "one sample without any input")
        yield Case("mismatch", dict(older, type=kind ^ 0x00010000), newer,
                   "the older sample is of another type",
                   decision="" if formula.needs_two(formula.TYPES[kind])
                   else "an unused older sample of another type")
        yield Case("mismatch", {"type": kind ^ 0x100}, newer,
                   "an older sample of another size without any input",
                   decision="an unused older sample of another type"
                   if not formula.needs_two(formula.TYPES[kind]) else "")


# Order of tests --------------------------------------------------------------

def faults_of(kind):
    """Possible faults, in the order of the tests.

    A fault has a name and the changes that it makes to the samples. The fault
    "no base" has no effect on a type that then uses its clock.
    """
    known, form = forms_of(kind)
    clock, frequency = clock_of(kind)
    elapsed = form is formula.ELAPSED
    yield "the types differ", {"type": kind ^ 0x00010000}, {}
    yield "no raw value", {}, {"value": None}
    if form.denominator == "time" or elapsed:
        yield "no clock", {}, {clock: None}
    if form.frequency:
        yield "no frequency", {}, {frequency: None}
    if known.base and form.denominator != "time":
        yield "no base", {}, {"base": None}
    if form.items:
        yield "no item count", {}, {"multi": None}
    if form.delta:
        yield "the counter falls", {"value": 1751}, {}
    if elapsed:
        yield "the start is later than the time", {}, {"value": 71001}
    if form.frequency:
        yield "the frequency is 0", {}, {frequency: 0}
    if form.items:
        yield "the item count is 0", {}, {"multi": 0}
    if form.denominator:
        still, back = ({clock: 9}, {clock: 9}), ({clock: 9}, {clock: 8})
        if known.base and form.denominator != "time":
            still, back = ({"base": 9}, {"base": 9}), ({"base": 9},
                                                       {"base": 8})
        if form.denominator == "base":
            still = {}, {"base": 0}
        yield "the denominator is 0", *still
        if form.denominator != "base":
            yield "the denominator is negative", *back


def order_cases():
    """Pairs of failing tests, and all of them: the first one decides."""
    for kind in SHOWN:
        faults = list(faults_of(kind))
        for one, two in itertools.combinations(faults, 2):
            if set(one[1]) & set(two[1]) or set(one[2]) & set(two[2]):
                continue  # they would cancel each other
            yield Case("order", *vary(kind, {**one[1], **two[1]},
                                      **one[2], **two[2]),
                       "%s, and %s" % (one[0], two[0]),
                       decision="order of tests")
        for number in range(len(faults)):
            older, newer = usual_samples(kind)
            for _, old, new in reversed(faults[number:]):
                older.update(old)
                newer.update(new)
            yield Case("order_all", older, newer,
                       "%s, and every fault that is tested later" % faults[number][0],
                       decision="order of tests")
