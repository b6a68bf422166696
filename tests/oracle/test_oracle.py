# SPDX-License-Identifier: MIT
"""Tests of the second implementation of V2, captures and formulas.

Run with: python3 -m unittest
"""

import os
import struct
import unittest
from fractions import Fraction

import blocks
import capture_seeds
import cook
import formula
import make_seeds
import seed_writer as w

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                      "corpus")
RATE, AVERAGE, ELAPSED = 0x10410400, 0x40020500, 0x30240500
LISTS = {11: blocks.decode_guids, 12: blocks.decode_identifiers,
         13: blocks.decode_instance_list}


def read_registration(seed):
    """The items of a metadata seed, read by the decoder that its first byte
    selects."""
    if seed[0] in LISTS:
        return LISTS[seed[0]](seed[1:])
    return blocks.decode_registration(seed[1:], seed[0])


class Seeds(unittest.TestCase):
    """Seeds are valid or broken as their names say."""

    def check(self, seeds, decode):
        """Asserts that a decoder accepts the seeds named valid_* and no others."""
        for name, seed in seeds.items():
            _, error = blocks.collect(decode(seed))
            with self.subTest(name):
                self.assertEqual(name.startswith("valid_"), error is None)
                if error:
                    self.assertTrue(0 <= error.offset <= len(seed))

    def test_data_blocks(self):
        """The decoder accepts the V2 replies named valid_* and no others."""
        self.check(make_seeds.v2_seeds(), blocks.decode_file)

    def test_registrations(self):
        """The decoders accept the metadata named valid_* and no other."""
        self.check(make_seeds.registration_seeds(), read_registration)

    def test_identifiers(self):
        """The decoder accepts the identifiers named valid_* and no others."""
        seeds = {name: seed for name, seed in make_seeds.query_seeds().items()
                 if seed[0] % 2 == 0}
        self.check(seeds, lambda seed: blocks.decode_identifiers(seed[1:]))

    def test_captures(self):
        """cook.py accepts the captures named valid_* and no others."""
        for name, seed in capture_seeds.capture_seeds().items():
            with self.subTest(name):
                self.assertEqual(name.startswith("valid_"),
                                 not cook.cook(seed)[1])

    def test_truncated_captures_raise_no_exception(self):
        """Truncated captures raise no exception; cook() returns their errors."""
        for seed in capture_seeds.capture_seeds().values():
            for size in range(0, len(seed), 7):
                cook.cook(seed[:size])

    def test_corpus_is_current(self):
        """The folders of make_seeds.py have the files that it writes, and no
        others."""
        expected = {}  # {subject: {name of a file: bytes}}
        for subject, seeds, suffix in make_seeds.all_seeds():
            expected.setdefault(subject, {}).update(
                (name + suffix, seed) for name, seed in seeds.items())
        for subject, files in expected.items():
            folder = os.path.join(CORPUS, subject, "seeds")
            self.assertEqual(sorted(os.listdir(folder)), sorted(files))
            for name, seed in files.items():
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertEqual(seed, file.read(), (subject, name))


class Blocks(unittest.TestCase):
    """What blocks.py reads from replies, names and captures."""

    def test_one_named_instance(self):
        """The records of a reply with one instance and one value."""
        data = struct.pack("<II", 104, 1) + bytes(40)
        data += struct.pack("<IIII", 0, 4, 56, 0) + struct.pack("<II", 40, 1)
        data += struct.pack("<II", 16, 7) + b"a\0b\0\0\0\0\0"
        data += struct.pack("<III", 4, 16, 42) + bytes(4)
        items, error = blocks.collect(blocks.decode_data(data))
        self.assertIsNone(error)
        self.assertEqual([(item["record"], item["offset"]) for item in items],
                         [("data", 0), ("result", 48), ("instance", 72),
                          ("value", 88)])
        self.assertEqual((items[2]["name"], items[3]["raw"]), ("ab", 42))

    def test_items_before_an_error_are_returned(self):
        """The records before an error are returned with it."""
        reply = make_seeds.v2_seeds()["broken_second_result"]
        items, error = blocks.collect(blocks.decode_data(reply))
        self.assertEqual([item["record"] for item in items],
                         ["data", "result", "value", "result"])
        self.assertIsNotNone(error)

    def test_surrogates(self):
        """Pairs of surrogates are one character, lone ones U+FFFD."""
        self.assertEqual(blocks.text(b"\x00\xd8a\0\x3d\xd8\0\xde\0\xdc"),
                         "\ufffda\U0001f600\ufffd")

    def test_unfinished_padding(self):
        """A chunk whose padding is truncated is not returned."""
        data = w.recording(w.chunk(b"NOTE", b"abc"))[:-1]
        items, error = blocks.collect(blocks.decode_capture(data))
        self.assertEqual(len(items), 1)
        self.assertIsNotNone(error)


def rate(value0, value1, time0=0, time1=10, freq=10, mode="", kind=RATE):
    """The result of a rate."""
    older = {"type": kind, "value": value0, "perf_time": time0}
    newer = {"type": kind, "value": value1, "perf_time": time1,
             "perf_freq": freq}
    return formula.evaluate(older, newer, formula.read_options(mode))


def evaluate(kind, older, newer, mode=""):
    """The result of a type with these inputs."""
    return formula.evaluate(older and dict(older, type=kind),
                            dict(newer, type=kind),
                            formula.read_options(mode))


class Formulas(unittest.TestCase):
    """formula.py: statuses, their precedence, options, unnamed types."""

    def test_order(self):
        """Of several reasons for having no value, the documented one is
        reported."""
        self.assertEqual(rate(2, 1, 5, 5, 0).status, "negative_delta")
        self.assertEqual(rate(1, 2, 5, 5, 0).status, "bad_frequency")
        self.assertEqual(rate(1, 2, 5, 5).status, "zero_denominator")
        self.assertEqual(rate(1, 2, 5, 4).status, "negative_denominator")
        self.assertEqual(rate(None, 2).status, "missing_input")
        self.assertEqual(rate(1, 2, freq=None).status, "missing_input")

    def test_wrap(self):
        """A 4-byte count that fell has wrapped only with wrap32."""
        self.assertEqual(rate(0xFFFFFF80, 0xC0).status, "negative_delta")
        result = rate(0xFFFFFF80, 0xC0, mode="wrap32")
        self.assertEqual((result.exact, result.flags), (0x140, ["wrapped"]))
        wide = rate(2, 1, mode="wrap32", kind=0x10410500)
        self.assertEqual(wide.status, "negative_delta")
        # A value of 2^32 does not fit in 4 bytes, so it cannot have wrapped.
        beyond = rate(1 << 32, 1, mode="wrap32")
        self.assertEqual(beyond.status, "negative_delta")

    def test_bases_wrap_by_their_own_width(self):
        """The type of a base decides whether it wraps."""
        def average(older, newer):
            result = evaluate(
                AVERAGE, {"value": 1, "base": 0xFFFFFFFE, "base_type": older},
                {"value": 9, "base": 2, "base_type": newer}, "wrap32")
            return result.exact or result.status
        self.assertEqual(average(None, None), 2)
        self.assertEqual(average(0x40030402, 0x40030402), 2)
        self.assertEqual(average(0x40030500, 0x40030500),
                         "negative_denominator")
        self.assertEqual(average(None, 0x40030500), "negative_denominator")

    def test_clocks_are_signed(self):
        """Clocks are signed numbers of 64 bits."""
        result = rate(0, 1, (1 << 64) - 5, 5)
        self.assertEqual(result.exact, 1)
        far = rate(0, (1 << 32) - 1, -(1 << 63), (1 << 63) - 1, 1)
        self.assertEqual(far.exact, Fraction((1 << 32) - 1, (1 << 64) - 1))

    def test_bases(self):
        """Missing, equal and falling bases have their statuses."""
        def average(base0, base1):
            return formula.evaluate(
                {"type": AVERAGE, "value": 1, "base": base0},
                {"type": AVERAGE, "value": 9, "base": base1}).status
        self.assertEqual(average(1, 2), "ok")
        self.assertEqual(average(2, 2), "zero_denominator")
        self.assertEqual(average(3, 2), "negative_denominator")
        self.assertEqual(average(None, 2), "missing_base")

    def test_elapsed(self):
        """A wrong start, clock or frequency of an elapsed time has its status."""
        def elapsed(value, now, freq=2):
            return formula.evaluate(None, {
                "type": ELAPSED, "value": value, "object_time": now,
                "object_freq": freq}).status
        self.assertEqual(elapsed(3, 7), "ok")
        self.assertEqual(elapsed(0, -1), "no_data")
        self.assertEqual(elapsed(3, 2), "negative_delta")
        self.assertEqual(elapsed(3, (1 << 64) - 1), "negative_delta")
        self.assertEqual(elapsed(3, 7, -1), "bad_frequency")
        self.assertEqual(elapsed(3, None), "missing_input")

    def test_precision_object(self):
        """Without a base, a precision timer of an object uses the object's
        clock."""
        def precision(**extra):
            samples = [dict({"type": 0x20670500, "value": number},
                            **{key: number * scale for key, scale
                               in extra.items()}) for number in (1, 2)]
            return formula.evaluate(*samples)
        self.assertEqual(precision().status, "missing_base")
        self.assertEqual(precision(object_time=4).exact, 25)
        self.assertEqual(precision(object_time=4, base=2).exact, 50)

    def test_flags(self):
        """A negative percentage has a flag; a rate above 100 has none."""
        inverse = formula.evaluate(
            {"type": 0x23510500, "value": 0, "perf_time_100ns": 0},
            {"type": 0x23510500, "value": 9, "perf_time_100ns": 3,
             "multi": 2})
        self.assertEqual((inverse.exact, inverse.flags),
                         (-100, ["below_zero"]))
        self.assertEqual(rate(0, 1000).flags, [])

    def test_limits_and_scale(self):
        """Limits apply before the scale."""
        def share(taken, mode):
            result = evaluate(0x20410500, {"value": 0, "perf_time": 0},
                              {"value": taken, "perf_time": 8}, mode)
            return result.exact, result.flags
        self.assertEqual(share(9, ""), (Fraction(225, 2), ["above_100"]))
        self.assertEqual(share(9, "cap_100"), (100, ["above_100"]))
        self.assertEqual(share(9, "scale=-2 cap_100"), (1, ["above_100"]))
        self.assertEqual(share(8, "cap_100"), (100, []))
        self.assertEqual(share(1, "scale=3"), (12500, []))
        for mode, exact in (("", -50), ("clamp_0", 0), ("scale=1", -500)):
            inverse = evaluate(0x21410500, {"value": 0, "perf_time": 0},
                               {"value": 3, "perf_time": 2}, mode)
            self.assertEqual((inverse.exact, inverse.flags),
                             (exact, ["below_zero"]))
        self.assertEqual(rate(2, 1, mode="scale=11").status, "bad_scale")
        self.assertEqual(evaluate(0xB00, None, {}, "scale=11").status,
                         "not_displayed")

    def test_items(self):
        """per_item_inverse divides inverse multi timers by the multi count;
        server_2003 ignores the frequency of PERF_COUNTER_MULTI_TIMER."""
        older, newer = {"value": 0, "perf_time": 0}, {
            "value": 3, "perf_time": 4, "multi": 2}
        for kind, mode, expected in (
                (0x23410500, "", 125),
                (0x23410500, "per_item_inverse", Fraction(125, 2)),
                (0x23410400, "per_item_inverse generic", Fraction(125, 2)),
                (0x22410500, "", "missing_input"),
                (0x22410500, "server_2003", Fraction(75, 2)),
                (0x22410400, "generic", Fraction(75, 2)),
                (0x12410400, "server_2003 generic", "missing_input")):
            with self.subTest("%08X %s" % (kind, mode)):
                result = evaluate(kind, older, newer, mode)
                self.assertEqual(result.exact or result.status, expected)

    def test_unnamed(self):
        """A type without a name is evaluated by its bits with the option
        generic only."""
        ticks = {"value": 3, "perf_time_100ns": 20000000}
        start = {"value": 1, "perf_time_100ns": 0}
        self.assertEqual(evaluate(0x10510500, start, ticks).status,
                         "unknown_type")
        for kind, exact in ((0x10510500, 1), (0x00510400, 1),
                            (0x40510500, Fraction(1, 10 ** 7)),
                            (0x20510400, Fraction(1, 10 ** 5)),
                            (0x10400500, 2), (0x10000500, 3),
                            (0x30140500, Fraction(19999997, 10 ** 7)),
                            (0x11510500, 0)):
            with self.subTest("%08X" % kind):
                self.assertEqual(evaluate(kind, start, ticks, "generic").exact,
                                 exact)
        for kind in (0x10510501, 0x14510500, 0x10710500, 0x50510500,
                     0x21120500, 0x10D10500, 0x02520500, 0x00020000):
            self.assertEqual(evaluate(kind, start, ticks, "generic").status,
                             "unknown_type")
        for kind in (0x10530500, 0x10560400, 0x10510600, 0x10510700):
            self.assertEqual(evaluate(kind, start, ticks, "generic").status,
                             "not_displayed")

    def test_named_types_follow_their_bits(self):
        # Exceptions: two averages lack the bit for a difference, and one timer
        # multiplies by the frequency although it is a percentage.
        exceptions = (0x30020400, AVERAGE, 0x22410500)
        for kind, known in formula.TYPES.items():
            derived = formula.derive(kind)
            if derived is None or kind in exceptions:
                continue
            with self.subTest(known.name):
                self.assertEqual(known.unit, derived.unit)
                self.assertEqual(known.form is None, derived.form is None)
                if known.form:
                    self.assertEqual(known.form[:4], derived.form[:4])
                    self.assertEqual(known.form.quotient(3, 5, 7, 11),
                                     derived.form.quotient(3, 5, 7, 11))
                if known.clock:
                    self.assertEqual(known.clock, derived.clock)

    def test_modes(self):
        """Unknown and repeated options are refused."""
        options = formula.read_options("wrap32 scale=-3")
        self.assertEqual((options.wrap32, options.scale, options.generic),
                         (True, -3, False))
        for text in ("wrap", "scale", "wrap32=1", "wrap32 wrap32", "scale=x"):
            with self.assertRaises(ValueError):
                formula.read_options(text)

    def test_types(self):
        """All 39 named types exist; the alias of a base is not displayed."""
        alias = formula.evaluate(None, {"type": 0x40030503, "value": 1})
        self.assertEqual(alias.status, "not_displayed")
        self.assertEqual(len(formula.TYPES), 39)


if __name__ == "__main__":
    unittest.main()
