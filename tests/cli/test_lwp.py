# SPDX-License-Identifier: MIT
"""perfblock lwp, and LWP snapshots in show and check.

A snapshot consists of the four registers of CPUID leaf 8000001C, the size of
the control block (at offset 16), the block (at 24), the size of the ring, and
the ring. tests/vectors/make_lwp_seeds.py writes the snapshots.
"""

import os
import re
import sys
import unittest

from program import ROOT, Case, writer as v2

sys.path.insert(0, os.path.join(ROOT, "tests", "vectors"))
import make_lwp_seeds as lwp  # noqa: E402 (its folder was just added)

NOTE = re.compile(r"^(?P<file>.*): offset (?P<offset>\d+): note: .* "
                  r"\((?P<value>\d+)\)$")
REGISTERS, CONTROL = 0, 24
# Offset of the first snapshot in a capture: after the first chunk and the
# header of the second.
CHUNK = 32
RING = CONTROL + 176 + 8  # the control block has six pairs


def capture(*snapshots):
    """A capture with these snapshots, each followed by a note."""
    note = v2.chunk(b"NOTE", b"a remark")
    return v2.recording(*(v2.chunk(b"LWPC", snapshot) + note
                          for snapshot in snapshots))


def records(objects, kind):
    """The records of one kind."""
    return [item for item in objects if item["record"] == kind]


class Snapshots(Case):
    """lwp show: snapshots as files and in captures."""

    def ask(self, data, *more):
        """Runs lwp show with these bytes as standard input."""
        return self.run_program("lwp", "show", "--format", "json", *more, "-",
                                stdin=data)

    def fine(self, data, *more):
        """The JSON objects of a run without notes and errors."""
        done = self.ask(data, *more)
        self.assertEqual((done.status, done.err), (0, ""))
        return done.objects()

    def notes(self, done):
        """Offsets and values of the notes of a successful run."""
        self.assertEqual(done.status, 0, done.err)
        return [(int(note["offset"]), int(note["value"])) for note in
                map(NOTE.match, done.err.splitlines())]

    def test_control_and_pairs(self):
        """The control block and its pairs of interval and counter are decoded,
        in files and captures."""
        data = lwp.simple(
            records=[lwp.record(255)], first=2, random=5, missed=1 << 40,
            base=0x7F0000002000, threshold=64, filters=0x38000000,
            base_ip=0x400000, limit_ip=1 << 63, flags=2 | lwp.INT,
            pairs=[(99, 7), (-1 & 0x3FFFFFF, 0x2000000)])
        for objects, at in ((self.ask(data).objects(), 0),
                            (self.ask(capture(data)).objects(), CHUNK)):
            self.assertEqual(objects[0], {
                "record": "control", "offset": at + CONTROL,
                "registers": "E000007F-80062016-00000200-E000007F",
                "flags": 0x80000002, "wanted": ["val", "int"],
                "buffer_bytes": 128, "random_bits": 5,
                "buffer_base": 0x7F0000002000, "head": 96, "tail": 64,
                "missed": 1 << 40, "threshold_bytes": 64,
                "filters": 0x38000000, "filter_names": ["nab", "ncb", "nrb"],
                "base_ip": 0x400000, "limit_ip": 1 << 63, "event_bytes": 32,
                "slots": 4, "unread": 1})
            pairs = [(p["offset"], p["id"], p["name"], p["interval"],
                      p["counter"]) for p in records(objects, "pair")]
            self.assertEqual(pairs[:3], [
                (at + CONTROL + 128, 1, "lwpval", 99, 7),
                (at + CONTROL + 136, 2, "ire", -1, -33554432),
                (at + CONTROL + 144, 3, "bre", 0, 0)])
            self.assertEqual([p[2] for p in pairs[3:]], ["dme", "cnh", "rnh"])

    def test_every_event(self):
        """Each kind of event is decoded, also where the ring continues at its
        start."""
        # The records start two slots before the end of the ring and continue
        # at its beginning; one slot stays free.
        rows = [(1, 2, 3, 4), (2, 0, 0, 0), (3, 0, 0x402000, 0xF000),
                (4, 0x155, 0x7FFF0000, 0x8000), (5, 0, 0, 0), (6, 0, 0, 0),
                (255, 9, 8, 7)]
        data = lwp.simple(records=[lwp.record(*row, core=3, address=1 << 63)
                                   for row in rows], slots=8, first=6)
        events = records(self.fine(data), "event")
        names = ["lwpval", "ire", "bre", "dme", "cnh", "rnh", "lwpins"]
        for n, (event, row) in enumerate(zip(events, rows)):
            slot = (6 + n) % 8
            self.assertEqual(
                [event[key] for key in ("offset", "slot", "name", "core", "id",
                                        "data1", "data2", "flags", "address",
                                        "stamp")],
                [RING + 32 * slot, slot, names[n], 3, *row, 1 << 63, None])
        self.assertEqual(len(events), len(rows))
        self.assertEqual(events[2]["provisional"], ["tkn", "prd", "prv",
                                                    "fus"])
        self.assertEqual(events[3]["provisional"], ["dav"])
        self.assertEqual(records(self.fine(data), "summary")[0]["by_id"],
                         {str(row[0]): 1 for row in rows})

    def test_stamps_and_latencies(self):
        """Time stamps and latencies are decoded if the processor reports them.
        """
        stamps = lwp.simple(flags=0x7E | lwp.PTSC, records=[
            lwp.record(255, stamp=n) for n in (7, (1 << 64) - 1, 0)])
        self.assertEqual([event["stamp"] for event in
                          records(self.fine(stamps), "event")],
                         [7, (1 << 64) - 1, 0])
        wide = lwp.leaf(latency_bits=16, data_address=1)
        (event,) = records(self.fine(lwp.simple(
            wide, [lwp.record(4, 0x12345)])), "event")
        self.assertEqual((event["data1"], event["latency"]), (0x12345, 0x2345))

    def test_all_written_slots_of_a_continuous_ring_are_records(self):
        # Eight slots of which three were written; head is after them.
        partly_written = lwp.simple(
            flags=0x7E | lwp.CONT, slots=8, head=96, tail=96,
            records=[lwp.record(255, n) for n in range(3)])
        # All slots were written: the oldest record is at head.
        full = lwp.simple(flags=0x7E | lwp.CONT, slots=8, head=96, tail=96,
                          records=[lwp.record(255, n) for n in range(8)])
        for data, order in ((partly_written, [0, 1, 2]),
                            (full, [3, 4, 5, 6, 7, 0, 1, 2])):
            done = self.ask(data)
            self.assertEqual([offset for offset, _ in self.notes(done)],
                             [CONTROL])
            objects = done.objects()
            self.assertEqual([(e["slot"], e["data1"]) for e in
                              records(objects, "event")],
                             [(n, n) for n in order])
            self.assertIsNone(objects[0]["unread"])
            self.assertEqual(records(objects, "summary")[0]["entries"],
                             len(order))

    def test_reserved_bits_are_shown(self):
        """If reserved bits are set, the raw numbers are printed as well."""
        data = lwp.simple(records=[lwp.record(200, stamp=1 << 63),
                                   lwp.record(255, stamp=7),
                                   lwp.record(255)],
                          pairs=[(1 << 31 | 5, 6), (7, 0xFFFFFFFF), (8, 9)])
        objects = self.ask(data).objects()
        self.assertEqual([(e["stamp"], e.get("raw_stamp")) for e in
                          records(objects, "event")],
                         [(None, 1 << 63), (None, 7), (None, None)])
        self.assertEqual(
            [(p["interval"], p["counter"], p.get("raw_interval"),
              p.get("raw_counter")) for p in records(objects, "pair")[:3]],
            [(5, 6, 1 << 31 | 5, 6), (7, -1, 7, 0xFFFFFFFF),
             (8, 9, None, None)])

    def test_a_rejected_control_block_is_not_shown(self):
        """If the CPU has no LWP or the control block is too short, only the
        error is printed."""
        short = lwp.snapshot(lwp.leaf(control_bytes=184), *self.WHOLE[1:])
        for data in (lwp.simple(lwp.leaf(edx=lwp.ALL & ~1)), short):
            done = self.ask(data)
            self.assertEqual(done.status, 1)
            self.assertEqual([item["record"] for item in done.objects()],
                             ["error"])
        objects = self.ask(lwp.simple(tail=4)).objects()
        self.assertEqual([item["record"] for item in objects],
                         ["control"] + ["pair"] * 6 + ["summary", "error"])

    def test_check_lists_tolerated_deviations(self):
        data = lwp.simple(records=[lwp.record(200)], head=33,
                          flags=0x7F)
        for kind, whole in (("lwp", data), ("capture", capture(data))):
            path = self.file(kind, whole)
            (verdict,) = self.run_json("check", "--kind", kind, path)
            self.assertEqual((verdict["valid"], verdict["tolerated"]),
                             (True, ["head_adjusted", "reserved_flags",
                                     "unknown_event"]))
            self.assertIn("tolerated: head_adjusted, reserved_flags, "
                          "unknown_event",
                          self.run_fine("check", "--kind", kind, path).out)

    def test_unknown_events_are_shown_as_numbers(self):
        done = self.ask(lwp.simple(records=[
            lwp.record(200, 0xFFFFFFFF, 1 << 63, 0xFFFF), lwp.record(0)]))
        events = records(done.objects(), "event")
        self.assertEqual([(e["id"], e["name"], e["data1"], e["data2"],
                           e["flags"]) for e in events],
                         [(200, "unknown", 0xFFFFFFFF, 1 << 63, 0xFFFF),
                          (0, "invalid", 0, 0, 0)])
        self.assertEqual(sorted(self.notes(done)),
                         [(RING, 200), (RING + 32, 0)])

    def test_files_and_captures(self):
        """Snapshots of several files and chunks are shown in order, with
        offsets of their files."""
        one = lwp.simple(records=[lwp.record(255, 1)])
        two = lwp.simple(records=[lwp.record(255, 2), lwp.record(255, 3)])
        paths = [self.file("a", capture(one, two)), self.file("b", one)]
        objects = self.run_json("lwp", "show", *paths)
        self.assertEqual([e["data1"] for e in records(objects, "event")],
                         [1, 2, 3, 1])
        self.assertEqual([s["entries"] for s in records(objects, "summary")],
                         [1, 2, 1])
        self.assertEqual({item["record"] for item in objects},
                         {"control", "pair", "event", "summary"})
        shown = self.run_json("show", paths[0])
        self.assertEqual(
            [(c["offset"], c["tag"]) for c in records(shown, "chunk")[-4:]],
            [(16, "LWPC"), (CHUNK + 336, "NOTE"), (CHUNK + 360, "LWPC"),
             (CHUNK + 360 + 16 + 336, "NOTE")])
        self.assertEqual([e["offset"] for e in records(shown, "event")],
                         [CHUNK + RING] + [CHUNK + 376 + RING + 32 * n
                                           for n in range(2)])
        self.assertEqual(self.run_json("show", "--kind", "lwp", paths[1]),
                         self.run_json("lwp", "show", paths[1]))
        for path, kind in zip(paths, ("capture", "lwp")):
            (verdict,) = self.run_json("check", "--kind", kind, path)
            self.assertEqual((verdict["kind"], verdict["valid"],
                              verdict["unread_chunks"]), (kind, True, 0))

    def test_text(self):
        """Text has the names of events and the summary."""
        text = self.run_fine("lwp", "show", "-", stdin=lwp.simple(
            records=[lwp.record(1, 77), lwp.record(255)], missed=5)).out
        for part in ("wanted val ire bre dme cnh rnh", "name lwpval",
                     "data1 77", "entries 2", "missed 5", "lwpins 1"):
            self.assertIn(part, text)

    WHOLE = (lwp.leaf(), lwp.control(176, buffer=64), bytes(64))
    # Snapshots with their errors: (bytes, code, offset).
    BROKEN = [
        (b"", "truncated_header", 0),
        (lwp.snapshot(*WHOLE, cut=1), "truncated_block", CONTROL + 176),
        (lwp.snapshot(*WHOLE, cut=100), "truncated_block", 16),
        (lwp.simple(lwp.leaf(edx=lwp.ALL & ~1)), "lwp_untrusted_leaf", 12),
        (lwp.simple(lwp.leaf(event_bytes=16)), "lwp_event_size_small", 4),
        (lwp.simple(lwp.leaf(event_bytes=36)), "lwp_event_size_unaligned", 4),
        (lwp.snapshot(lwp.leaf(event_offset=64), *WHOLE[1:]),
         "lwp_bad_event_offset", 4),
        (lwp.snapshot(lwp.leaf(control_bytes=168), *WHOLE[1:]),
         "lwp_bad_pairs", 4),
        (lwp.simple(buffer=0), "lwp_no_buffer", CONTROL + 4),
        (lwp.simple(buffer=63), "lwp_buffer_too_small", CONTROL + 4),
        (lwp.simple(buffer=160), "truncated_ring", CONTROL + 4),
        (lwp.simple(tail=128), "lwp_bad_tail", CONTROL + 64),
        (lwp.simple(tail=4), "lwp_unaligned_tail", CONTROL + 64),
    ]

    def test_broken_snapshots(self):
        """Each defect has its code and offset; the snapshots after it are
        shown."""
        for data, code, offset in self.BROKEN:
            with self.subTest(code=code):
                for command in (("lwp", "show"), ("show", "--kind", "lwp"),
                                ("check", "--kind", "lwp")):
                    done = self.run_program(*command, "-", stdin=data)
                    self.assertEqual(done.status, 1)
                    self.assertRegex(
                        done.err, r"(?m)^-: .*offset %d: %s: " % (offset,
                                                                  code))
                path = self.file("c.pfb", capture(data, lwp.simple()))
                for command in (("lwp", "show"), ("show",)):
                    done = self.run_program(*command, "--format", "json", path)
                    self.assert_error(done, 1, path, CHUNK + offset, code)
                    self.assertTrue(any(
                        item["offset"] > CHUNK + len(data) for item in
                        records(done.objects(), "control")),
                        "the snapshot after the broken one is not shown")

    def test_tolerated_deviations(self):
        """A deviation is a note, and an error with --strict."""
        for data, offset, value, code in (
                (lwp.simple(records=[lwp.record(255)], head=63), CONTROL + 16,
                 63, "lwp_unaligned_head"),
                (lwp.simple(records=[lwp.record(255)], first=3, head=1 << 31),
                 CONTROL + 16, 1 << 31, "lwp_bad_head"),
                (lwp.simple(lwp.leaf(min_buffer=2)), CONTROL + 4, 128,
                 "lwp_below_minimum")):
            self.assertEqual(self.notes(self.ask(data)), [(offset, value)])
            done = self.ask(data, "--strict")
            self.assert_error(done, 1, "-", offset, code)
            done = self.run_program("check", "--strict", "--kind", "lwp",
                                    "--format", "json", "-", stdin=data)
            self.assertEqual((done.status, done.objects()[0]["code"]),
                             (1, code))

    def test_captures_without_snapshots(self):
        """A capture without snapshots is an error, which says whether there
        are later versions."""
        done = self.ask(v2.recording(v2.chunk(b"NOTE", b"nothing")))
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn("no LWP snapshot", done.err)
        later = v2.chunk(b"LWPC", b"anything", version=2)
        done = self.ask(v2.recording(later))
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn("of a later version", done.err)
        self.assertNotIn("no LWP snapshot", done.err)
        done = self.ask(v2.recording(later, v2.chunk(b"LWPC", lwp.simple(
            records=[lwp.record(255)]))))
        self.assertEqual((done.status, done.err), (0, (
            "-: offset 16: note: LWP snapshots of a later version were "
            "skipped: 1 chunk\n")))
        self.assertEqual(len(records(done.objects(), "event")), 1)
        cut = capture(lwp.simple(records=[lwp.record(255)]))[:-8]
        done = self.ask(cut)
        self.assertEqual(done.status, 1)
        self.assertEqual(len(records(done.objects(), "event")), 1)
        missing = self.run_program("lwp", "show", self.folder + "/missing")
        self.assertEqual((missing.status, missing.out), (3, ""))


if __name__ == "__main__":
    unittest.main()
