# SPDX-License-Identifier: MIT
"""Cases with options, and types without a name.

option_cases and unnamed_cases each yield the cases of one file of
corpus/formula.
"""

import itertools
import random

from edge_vectors import SHOWN, forms_of
from vector_rows import (Case, INT64_MAX, TWO32, TWO53, TWO63, TWO64, clock_of,
                         divider, formula, is_large, spell, usual_samples,
                         vary)

SMALL, LARGE = {"base_type": 0x40030402}, {"base_type": 0x40030500}
INVERSES = (0x21410500, 0x21510500, 0x23410500, 0x23510500)
MULTI_TIMERS = (0x22410500, 0x22510500, 0x23410500, 0x23510500)
ALL_OPTIONS = ("wrap32 per_item_inverse server_2003 generic cap_100 clamp_0 "
               "scale=0")


# Wrapping --------------------------------------------------------------------

def counter_wraps():
    """Raw values that decrease: a 4-byte counter may have wrapped through
    2^32."""
    for kind in SHOWN:
        if not forms_of(kind)[1].delta:
            continue
        falls = ((TWO32 - 128, 192), (TWO32 - 1, 0), (1, 0),
                 (TWO32 - 1, TWO32 - 2), (1 << 31, (1 << 31) - 1))
        if is_large(kind):
            falls += ((TWO32, 1), (TWO64 - 1, 0))
        for old, new in falls:
            yield Case("wrap", *vary(kind, {"value": old}, value=new),
                       "the %d-byte counter falls from %s to %s" % (
                           8 if is_large(kind) else 4, spell(old), spell(new)),
                       "wrap32")
        yield Case("wrap_none", *vary(kind), "no value falls, so none wraps",
                   "wrap32")


def base_wraps():
    """Bases that decrease, of each possible width."""
    for kind in SHOWN:
        known, form = forms_of(kind)
        if form.denominator not in ("base_delta", "base_or_time"):
            continue
        for types, what in (({}, "as listed"), (SMALL, "of 4 bytes"),
                            (LARGE, "of 8 bytes")):
            for old, new in ((TWO32 - 100, 900), (TWO32 - 1, 0), (1, 0)):
                yield Case("wrap_base", *vary(
                    kind, {"base": old, **types}, base=new, **types),
                    "a base %s falls from %s to %s" % (what, spell(old),
                                                       spell(new)), "wrap32")
            yield Case("fall_base", *vary(kind, {"base": TWO32 - 100, **types},
                                          base=900, **types),
                       "a base %s that falls, without the option" % what)
        yield Case("wrap_both", *vary(
            kind, {"base": TWO32 - 1000, "value": TWO32 - 500, **SMALL},
            base=1000, value=500, **SMALL),
            "counter and base of 4 bytes fall together", "wrap32")
        yield Case("wrap_mixed", *vary(
            kind, {"base": TWO32 - 100, **SMALL}, base=900, **LARGE),
            "the base falls, and only the older one has 4 bytes",
            "wrap32")
        yield Case("wrap_mixed", *vary(
            kind, {"base": TWO32 - 100, **LARGE}, base=900, **SMALL),
            "the base falls, and only the newer one has 4 bytes",
            "wrap32")
    yield Case("utility", *vary(
        0x20470500, {"value": 10 ** 12, "base": TWO32 - 3 * 10 ** 6, **SMALL},
        value=10 ** 12 + 5 * 10 ** 6, base=7 * 10 ** 6, **SMALL),
        "a utility base of 625,000 ticks a second, which wraps in 6872 s",
        "wrap32")


def clock_wraps():
    """Clocks, gauges and multi counts never wrap."""
    for kind in (0x10410400, 0x00450400):
        key = clock_of(kind)[0]
        yield Case("wrap_clock", *vary(kind, {key: TWO32 - 1}, **{key: 5}),
                   "a clock that falls below 2^32 has not wrapped", "wrap32")
    for kind in (0x00010000, 0x20020400):
        yield Case("wrap_gauge", *vary(kind, {"value": TWO32 - 1, "base": 9},
                                       value=5, base=8),
                   "only the newer sample is used, so nothing wraps", "wrap32")
    yield Case("wrap_items", *vary(0x22410500, {"multi": 9}, multi=8),
               "a multi count may fall: only the newer one is used", "wrap32")


# Multi timers ----------------------------------------------------------------

def item_options():
    """The inverse multi timers per item, and the multi timer of Server 2003.
    """
    for mode, kinds in (("per_item_inverse", MULTI_TIMERS),
                        ("server_2003", MULTI_TIMERS)):
        for kind in kinds:
            key = clock_of(kind)[0]
            for items, taken in ((1, 250), (2, 250), (3, 3000), (3, 3001),
                                 (7, 1), (0, 1), (TWO64 - 1, 5),
                                 (TWO53 + 1, TWO64 - 1)):
                yield Case(mode, *vary(kind, {key: 0, "value": 0}, **{
                    key: 1000, "value": taken, "multi": items}),
                    "%s ticks of 1000 used by %s items" % (
                        spell(taken), spell(items)), mode)
            yield Case(mode, *vary(kind, {key: 0, "value": 0}, **{
                key: INT64_MAX, "value": TWO63 + 5, "multi": 3}),
                "a product that does not fit into 64 bits", mode)
    kind = 0x22410500
    for ticks in (None, 0, -1, 1):
        yield Case("server_2003", *vary(kind, perf_freq=ticks),
                   "the frequency, %s, is not needed" % ticks, "server_2003")
    for kind, mode in itertools.product((0x20410500, 0x21410500, 0x10410400),
                                        ("per_item_inverse", "server_2003")):
        yield Case("not_multi", *vary(kind), "the option has no effect: not a multi timer",
                   mode)


# Limits ----------------------------------------------------------------------

def limit_cases():
    """Caps at 100 % and clamps at 0."""
    for kind in SHOWN:
        known, form = forms_of(kind)
        if form.denominator:
            older, newer = divider(kind, 1000)
        else:
            older, newer = {}, {}
        if form is formula.ELAPSED:
            newer = {"object_time": 10 ** 9, "object_freq": 1}
        for top in (999, 1000, 1001, TWO32 - 1):
            yield Case("cap", *vary(kind, {"value": 0, **older}, **{
                "value": top, "multi": 1, "perf_freq": 1, **newer}),
                "%s of 1000%s" % (spell(top), "" if known.unit == "%" else
                                  ": not a percentage, so not capped"), "cap_100")
    for kind, mode in itertools.product(
            INVERSES, ("clamp_0", "cap_100 clamp_0")):
        older, newer = divider(kind, 1000)
        for taken, items in ((0, 1), (999, 1), (1000, 1), (1001, 1),
                             (TWO64 - 1, 1), (999, 2), (2000, 2), (2001, 2)):
            if items > 1 and not forms_of(kind)[1].items:
                continue
            yield Case("clamp", *vary(kind, {"value": 0, **older}, **{
                "value": taken, "multi": items, **newer}),
                "%s of 1000 ticks used by %d items" % (spell(taken), items),
                mode)
    for taken, mode in itertools.product(
            (TWO53, TWO53 + 1), ("cap_100", "cap_100 scale=-2",
                                 "cap_100 scale=2")):
        older, newer = divider(0x20410500, TWO53)
        yield Case("cap_exact", *vary(0x20410500, {"value": 0, **older},
                                      **{"value": taken, **newer}),
                   "%s by less than the precision of a double" % (
                       "above 100 %" if taken > TWO53 else "not above 100 %, not even"),
                   mode)


# Scale -----------------------------------------------------------------------

def scaled_twice(kind, scale):
    """Inputs for which scaling the rounded value gives a wrong result."""
    source = random.Random(scale)
    while True:
        taken, whole = source.randrange(1, 10 ** 9), source.randrange(
            10 ** 9, 10 ** 10)
        top, bottom = forms_of(kind)[1].quotient(taken, whole, None, None)
        factor = 10 ** abs(scale)
        once = (top * factor / bottom if scale > 0 else
                top / (bottom * factor))
        wrong = (top / bottom * factor if scale > 0 else
                 top / bottom / factor)
        if once != wrong:
            return taken, whole, wrong


def scale_cases():
    """Every power of ten with every kind of value."""
    for scale in range(-10, 11):
        mode = "scale=%d" % scale
        for kind in (0x00010000, 0x10410400, 0x20410500, 0x21510500,
                     0x30020400, 0x30240500):
            older, newer = usual_samples(kind)
            yield Case("scale", older, newer, "times 10^%d" % scale, mode)
        for number in (10 ** 10, TWO53 + 1, TWO64 // 10 ** 9, TWO64 - 1):
            yield Case("scale", None, vary(0x00010100, value=number)[1],
                       "%s times 10^%d: is it an integer of 64 bits?" % (
                           spell(number), scale), mode)
        if scale:
            taken, whole, wrong = scaled_twice(0x20410500, scale)
            older, newer = divider(0x20410500, whole)
            yield Case("scale_once", *vary(0x20410500, {"value": 0, **older},
                                           **{"value": taken, **newer}),
                       "scaling the rounded value would give %r" % wrong, mode)
        older, newer = divider(0x21410500, 1000)
        for taken in (0, 3001):
            yield Case("scale_inverse", *vary(
                0x21410500, {"value": 0, **older}, **{"value": taken,
                                                      **newer}),
                "limits apply to the value before it is scaled",
                "cap_100 clamp_0 " + mode)
        yield Case("scale_negative", *vary(
            0x21410500, {"value": 0, **older}, value=3001, **newer),
            "a negative value is never reported as an integer", mode)
    for scale in (-10, 10):
        older, newer = divider(0x10410500, 1)
        yield Case("scale_most", *vary(
            0x10410500, {"value": 0, **older}, value=TWO64 - 1,
            perf_freq=INT64_MAX, **newer), "the largest value, scaled",
            "scale=%d" % scale)


def bad_scales():
    """A scale out of range is reported after the type and before the samples.
    """
    for scale in (11, -11, 127, -128):
        mode = "scale=%d" % scale
        for kind in (0x00010000, 0x10410400, 0x20020400, 0x30240500):
            yield Case("bad_scale", *vary(kind), "only the scale is wrong", mode)
        yield Case("bad_scale", None, vary(0x10410400)[1],
                   "the second sample is missing, too", mode)
        yield Case("bad_scale", {"type": 0x10410500}, {"type": 0x10410400},
                   "everything else is wrong, too", mode)
        yield Case("bad_scale", *vary(0x40030402), "the type has no formula", mode)
        yield Case("bad_scale", *vary(0x10510500), "an unknown type", mode)
        yield Case("bad_scale", *vary(0x10510500), "a type evaluated by its bits",
                   "generic " + mode)


def option_cases():
    """Every option, alone and with others."""
    yield from itertools.chain(counter_wraps(), base_wraps(), clock_wraps(),
                               item_options(), limit_cases(), scale_cases(),
                               bad_scales())
    for kind in sorted(formula.TYPES):
        yield Case("all", *vary(kind), "all options with usual numbers",
                   ALL_OPTIONS)
        yield Case("generic", *vary(kind), "a named type is not evaluated by its bits",
                   "generic")


# Types without a name --------------------------------------------------------

SUBTYPES = ("value", "rate", "fraction", "base", "elapsed", "queue length",
            "histogram", "precision")
TIMERS = ("performance clock", "100 ns clock", "object's clock")
DISPLAYS = ("no suffix", "/sec", "%", "secs", "not shown")
DELTA, DELTA_BASE, INVERSE, MULTI = 0x400000, 0x800000, 0x1000000, 0x2000000


def spelled_types():
    """Well-formed types, each with a description of its bits."""
    for subtype, timer, display in itertools.product(range(8), range(3),
                                                     range(5)):
        flags = [0, DELTA]
        if subtype == 1:
            flags = [DELTA | one | two for one in (0, INVERSE)
                     for two in (0, MULTI)]
        elif subtype == 2:
            flags = [0, DELTA, DELTA_BASE, DELTA | DELTA_BASE]
        elif subtype == 3:
            flags = [0, MULTI]
        # Fewer combinations where bits do not change the formula: one timer for
        # each display, or two displays for each timer.
        if subtype in (0, 3, 6) and timer != display % 3:
            continue
        if subtype in (4, 5, 7) and display not in (timer, 4):
            continue
        for bits in flags:
            kind = (0x400 | (0x100 if (display + timer) % 2 else 0)
                    | subtype << 16 | timer << 20 | display << 28 | bits)
            words = [SUBTYPES[subtype], TIMERS[timer], DISPLAYS[display]]
            words += [word for bit, word in (
                (DELTA, "difference"), (DELTA_BASE, "difference of the base"),
                (INVERSE, "inverse"), (MULTI, "multi")) if bits & bit]
            yield kind, ", ".join(words)


def derived_cases():
    """Types evaluated by their bits; without the option they stay unknown."""
    for number, (kind, words) in enumerate(spelled_types()):
        if kind in formula.TYPES:
            continue
        yield Case("bits", *vary(kind), words, "generic")
        yield Case("bits_one", None, vary(kind)[1], "one sample: " + words,
                   "generic")
        if number % 10 == 0:
            yield Case("unknown", *vary(kind), "without the option: " + words)


def malformed_cases():
    """Inconsistent bits have no formula, even with the option generic."""
    for kind, what in (
            (0x10510501, "bit 0 is reserved"), (0x10510480, "bit 7 is reserved"),
            (0x10511500, "bit 12 is reserved"), (0x10518500, "bit 15 is reserved"),
            (0x14510500, "bit 26 is reserved"), (0x18510500, "bit 27 is reserved"),
            (0x10580500, "subtype 8"), (0x105F0500, "subtype 15"),
            (0x10710500, "timer 3"),
            (0x10D10500, "a rate with the difference of a base"),
            (0x11500500, "an inverse value"), (0x21120500, "an inverse share"),
            (0x02520500, "a fraction of several items"),
            (0x02540500, "an elapsed time of several items"),
            (0x23430500, "an inverse base"),
            (0x50510500, "display 5"), (0x80410500, "display 8"),
            (0xF0410500, "display 15"), (0x00020000, "a number in thousands"),
            (0x00030100, "a number of subtype 3"), (0x10010000, "a number "
                                                    "with a suffix"),
            (0x00000B01, "a text with a reserved bit"), (0x00010B00, "a text "
                                                         "of bytes"),
            (0x00000C00, "class zero"), (0x00012000, "PERF_DOUBLE_RAW"),
            (0xFFFFFFFF, "every bit")):
        yield Case("malformed", *vary(kind), what, "generic")


def derived_edges():
    """Special cases of types evaluated by their bits."""
    for bits in (0x200, 0x300):
        for kind in (0x10510400, 0x20010400, 0x00440400, 0x00020400):
            yield Case("no_size", *vary(kind & ~0x300 | bits),
                       "a size without a number", "generic")
    for ticks in (None, 0, -5):
        yield Case("ns_clock", *vary(0x10510500, perf_freq=ticks,
                                     object_freq=ticks),
                   "the 100 ns clock needs no frequency", "generic")
    for ticks in (None, 0, -5):
        yield Case("frequency", *vary(0x10610500, object_freq=ticks),
                   "the object's frequency is " + str(ticks), "generic")
    for kind, what in ((0x20470400, "performance"), (0x20570400, "100 ns"),
                       (0x20670400, "object's")):
        yield Case("no_base", *vary(kind, base=None),
                   "a precision timer of the %s clock without base" % what,
                   "generic")
    # Inputs that the formula does not use may be absent.
    yield Case("half", *vary(0x00820400, {"value": None}),
               "N over dB: the older raw value is not used", "generic")
    yield Case("half", *vary(0x00420400, {"base": None}),
               "dN over B: the older base is not used", "generic")
    for key in ("value", "base"):
        for kind in (0x00820400, 0x00420400):
            yield Case("half", *vary(kind, **{key: None}),
                       "the newer %s is used" % key, "generic")
    yield Case("half", *vary(0x00820400, {"value": 9999}),
               "N over dB: the raw value may fall", "generic")
    yield Case("half", *vary(0x00420400, {"base": 9999}),
               "dN over B: the base may fall", "generic")
    yield Case("half", *vary(0x00820400, {"base": 1900}),
               "N over dB, which is 0", "generic")
    yield Case("half", *vary(0x00420400, base=0), "dN over B, which is 0",
               "generic")


def derived_options():
    """Other options together with generic."""
    for kind in (0x00420400, 0x10510400, 0x00820400, 0x20470400):
        fall = {"value": TWO32 - 9, "base": TWO32 - 7}
        for types, what in (({}, "the width of the base is unknown"),
                            (SMALL, "the base has 4 bytes"),
                            (LARGE, "the base has 8 bytes")):
            yield Case("wrap", *vary(kind, {**fall, **types}, **types),
                       "counter and base fall, and " + what,
                       "wrap32 generic")
    for kind in (0x13610500, 0x23610500, 0x33510400, 0x12610500):
        for items in (0, 1, 5):
            yield Case("items", *vary(kind, multi=items),
                       "%d items of an unnamed multi timer" % items,
                       "per_item_inverse generic")
    for kind in (0x22410400, 0x12410500):
        yield Case("kit", *vary(kind),
                   "the formula of Server 2003 is for one named type only",
                   "server_2003 generic")
    for kind, top in itertools.product((0x20400400, 0x20000400, 0x00410500),
                                       (1100, 1101)):
        yield Case("cap", *vary(kind, {"value": 1000}, value=top),
                   "only percentages are capped", "cap_100 generic")
    for mode in ("generic", "clamp_0 generic", "clamp_0 generic scale=3"):
        yield Case("below", *vary(0x11510500),
                   "an inverse rate whose counter advances more than its clock", mode)
    for scale in (-10, 10):
        yield Case("scale", *vary(0x00020400), "a fraction, scaled",
                   "generic scale=%d" % scale)


def unnamed_cases():
    """Types that have no name."""
    yield from itertools.chain(derived_cases(), malformed_cases(),
                               derived_edges(), derived_options())
