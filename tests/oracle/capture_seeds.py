# SPDX-License-Identifier: MIT
"""The seeds of captures."""

import struct

import cpi_writer
import seed_writer as w

PROCESSOR = "b4fc721a-0378-476f-89ba-a5a79f810b36"
# Countersets that are in no catalog.
PLAIN = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f"
SECOND = "7a9e2b60-11d4-4f0c-8f6d-c0ffee001122"

# (id, name, type, id of the base) of counters of Processor Information.
COUNTERS = (
    (0, "% Processor Time", 0x21510500, w.ANY),
    (1, "% User Time", 0x20510500, w.ANY),
    (3, "Interrupts/sec", 0x10410400, w.ANY),
    (7, "DPC Rate", 0x00010000, w.ANY),
    (12, "C1 Transitions/sec", 0x10410500, w.ANY),
    (21, "Average Idle Time", 0x20570500, 22),
    (22, "Average Idle Time Base", 0x40030500, w.ANY),
    (26, "% Processor Utility", 0x40020500, 27),
    (27, "% Utility Base", 0x40030402, w.ANY),
)
INFOS = [w.counter_info(ident, kind, base) for ident, _, kind, base
         in COUNTERS]

# Every type that has a name, in ascending order.
ALL_TYPES = (
    0x00000000, 0x00000100, 0x00000B00, 0x00010000, 0x00010100, 0x00400400,
    0x00400500, 0x00410400, 0x00450400, 0x00450500, 0x00550500, 0x00650500,
    0x10410400, 0x10410500, 0x20020400, 0x20020500, 0x20410500, 0x20470500,
    0x20510500, 0x20570500, 0x20610500, 0x20670500, 0x20C20400, 0x21410500,
    0x21510500, 0x22410500, 0x22510500, 0x23410500, 0x23510500, 0x30020400,
    0x30240500, 0x40000200, 0x40020500, 0x40030401, 0x40030402, 0x40030403,
    0x40030500, 0x42030500, 0x80000000)
NEED_BASE = {0x20020400: 0x40030403, 0x20020500: 0x40030500,
             0x20470500: 0x40030500, 0x20570500: 0x40030500,
             0x20C20400: 0x40030401, 0x30020400: 0x40030402,
             0x40020500: 0x40030402}
OBJECT_TIMED = (0x00650500, 0x20610500, 0x20670500, 0x30240500)
MULTI = (0x22410500, 0x22510500, 0x23410500, 0x23510500)


def stamps(number, step=10000000, freq=10000000):
    """The clocks of sample `number`; samples are about a second apart."""
    return w.clocks(1000000 + number * step, 133000000000000000 +
                    number * (step + 321), freq,
                    (2024, 5, 3, 15, 12, 30, 45 + number, 78))


def sample(number, *results, **options):
    """The DATA chunk of sample `number`."""
    return w.chunk(b"DATA", w.reply(*results,
                                    stamps=stamps(number, **options)))


def registered(guid, infos, name=None):
    """RGST chunks with the counters of a set and, if given, its name."""
    out = w.registration_chunk(guid, 1, w.counterset(guid, infos))
    if name is not None:
        out += w.registration_chunk(guid, 3, w.string(name))
    return out


def queries(*identifiers):
    """A QINF chunk with these identifiers."""
    return w.chunk(b"QINF", b"".join(identifiers))


def value_of(kind, number):
    """A raw value with the size that the type declares."""
    return (w.v8 if kind & 0x300 == 0x100 else w.v4)(number)


def processor_row(cpu, name, tick):
    """One instance of Processor Information after `tick` seconds."""
    raw = {0: 97954843750 + 6400000 * tick, 1: 777 + 1250000 * (cpu + 1) *
           tick, 3: 4294960000 + 1234 * tick, 7: 3 + tick, 12: 1 << 40 |
           987 * tick, 21: 38909643649 + 7500000 * tick,
           22: 133204146826974937 + 10000000 * tick,
           26: 500000 * cpu + 3300000000 * tick, 27: 625000 * (tick + 1)}
    return w.instance(cpu, name, *[value_of(kind, raw[ident])
                                   for ident, _, kind, _ in COUNTERS])


def processor_sample(number):
    """The DATA chunk of sample `number` of Processor Information."""
    names = ("0,0", "0,1", "0,_Total", "_Total")
    return sample(number, w.result(w.COUNTERSET, w.id_list(
        [row[0] for row in COUNTERS]) + w.instance_block(*[
            processor_row(cpu, name, number)
            for cpu, name in enumerate(names)])))


def processor_metadata():
    """The chunks before the first sample of Processor Information."""
    listed = b"".join(w.instance(cpu, name) for cpu, name in enumerate(
        ("0,0", "0,1", "0,_Total", "_Total")))
    return (w.chunk(b"NOTE", "two samples of two CPUs".encode()),
            registered(PROCESSOR, INFOS, "Processor Information"),
            w.registration_chunk(PROCESSOR, 5, w.string_block(
                [row[:2] for row in COUNTERS])),
            queries(w.identifier(PROCESSOR, name="*")),
            w.chunk(b"INST", w.guid_bytes(PROCESSOR) + listed))


def two_queries(*extra):
    """The base of a counter is in the result of another query. The results are
    not in the order of the identifiers."""
    def rows(ident, kind, factor, tick):
        return w.result(w.INSTANCES, w.instance_block(*[
            w.instance(cpu, "0,%d" % cpu, value_of(
                kind, factor * (tick * (cpu + 1) + 1))) for cpu in (0, 1)]))

    chunks = [registered(PROCESSOR, INFOS, "Processor Information"),
              queries(w.identifier(PROCESSOR, 26, name="*", index=2),
                      w.identifier(PROCESSOR, 0, name="*", index=1),
                      w.identifier(PROCESSOR, 27, name="*", index=0)), *extra]
    for tick in (0, 1):
        chunks.append(sample(tick, rows(27, 0x40030402, 625000, tick),
                             rows(0, 0x21510500, 2500000, tick),
                             rows(26, 0x40020500, 62500000, tick)))
    return w.recording(*chunks)


def base_in_own_result():
    """A counter is in three results, and its base in two of them."""
    def result(ids, factor, tick):
        return w.result(w.COUNTERSET, w.id_list(ids) + w.instance_block(
            w.instance(0, "0,0", *[value_of(
                {26: 0x40020500, 27: 0x40030402, 3: 0x10410400}[ident],
                factor * tick * (ident - 2)) for ident in ids])))

    return w.recording(
        registered(PROCESSOR, INFOS, "Processor Information"),
        queries(w.identifier(PROCESSOR, name="0,*", index=1),
                w.identifier(PROCESSOR, name="0,?", index=2),
                w.identifier(PROCESSOR, name="*", index=0)),
        *[sample(tick, result([26, 3, 27], 10, tick),
                 result([3, 26], 1000, tick), result([27, 26], 7, tick))
          for tick in (1, 2)])


def two_sets():
    """A base with the right id and instance, but of another counterset."""
    def result(kind, ident, raw):
        return w.result(w.COUNTERSET, w.id_list([ident]) + w.instance_block(
            w.instance(0, "0,0", value_of(kind, raw))))

    return w.recording(
        registered(PLAIN, INFOS, "Plain"), registered(SECOND, INFOS, "Second"),
        queries(w.identifier(PLAIN, name="*", index=0),
                w.identifier(SECOND, name="*", index=1)),
        *[sample(tick, result(0x40020500, 26, 50 * tick),
                 result(0x40030402, 27, 5 * tick)) for tick in (1, 2)])


def moving_instances():
    """Instances are added, removed, reordered and repeated."""
    def result(*rows):
        return w.result(w.COUNTERSET, w.id_list([3, 26, 27]) +
                        w.instance_block(*[
                            w.instance(ident, name, w.v4(10 * raw),
                                       w.v8(1000 * raw), w.v4(raw))
                            for ident, name, raw in rows]))

    lone_surrogate = "cpu\ud800"
    return w.recording(
        registered(PROCESSOR, INFOS, "Processor Information"),
        queries(w.identifier(PROCESSOR, name="*")),
        sample(0, result((0, "a", 1), (1, "b", 2), (2, "same", 3),
                         (2, "same", 4), (3, "same", 5),
                         (4, lone_surrogate, 6))),
        sample(1, result((4, "cpu\udfff", 9), (4, lone_surrogate, 8),
                         (1, "b", 4),
                         (2, "same", 7), (3, "same", 9), (2, "same", 9),
                         (9, "new", 1))),
        sample(2, result()),
        sample(3, result((0, "a", 20), (9, "b", 30))),
        sample(4, w.result(w.ERROR, status=0x1069)),
        sample(5, result((0, "a", 21))))


def all_types():
    """A counter of each type, with the counters that it refers to."""
    by_type = {kind: 100 + place for place, kind in enumerate(ALL_TYPES)}
    timed = dict(perf_time=by_type[0x00010100], perf_freq=by_type[0x00000100])
    infos = []
    for kind in ALL_TYPES:
        refers = {"base": by_type[NEED_BASE[kind]]} if kind in NEED_BASE else {}
        refers.update(timed if kind in OBJECT_TIMED else {})
        refers.update({"multi": by_type[0x00010000]} if kind in MULTI else {})
        infos.append(w.counter_info(by_type[kind], kind, **refers))

    def values(tick):
        special = {0x00010100: 5000000 + 700 * tick, 0x00000100: 1000,
                   0x00010000: 4, 0x40000200: None, 0x00000B00: None}
        for place, kind in enumerate(ALL_TYPES):
            raw = special.get(kind, 1000 + place + (300 + 7 * place) * tick)
            yield w.datum(b"") if raw is None else value_of(kind, raw)

    return w.recording(
        registered(PLAIN, infos), queries(w.identifier(PLAIN)),
        *[sample(tick, w.result(w.COUNTERS, w.id_list(
            sorted(by_type.values())) + b"".join(values(tick))))
          for tick in (0, 1)])


def bad_references():
    """References to missing counters, to the counter itself, and to counters
    of wrong types."""
    infos = [
        w.counter_info(1, 0x40020500, base=1), w.counter_info(2, 0x40020500),
        w.counter_info(3, 0x40020500, base=99),
        w.counter_info(4, 0x40020500, base=50),
        w.counter_info(5, 0x40020500, base=20),
        w.counter_info(6, 0x40020500, base=0),
        w.counter_info(7, 0x22510500, multi=7),
        w.counter_info(8, 0x22510500, multi=20),
        w.counter_info(9, 0x22510500, multi=30),
        w.counter_info(10, 0x30240500, perf_time=10, perf_freq=31),
        w.counter_info(11, 0x20610500, perf_time=20, perf_freq=31),
        w.counter_info(12, 0x20670500, base=22),
        w.counter_info(13, 0x20670500, perf_time=31, perf_freq=31),
        w.counter_info(14, 0x20670500),
        w.counter_info(15, 0x40020500, base=23),
        w.counter_info(0, 0x40030402), w.counter_info(20, 0x20570500, base=22),
        w.counter_info(22, 0x40030500), w.counter_info(23, 0x40030402),
        w.counter_info(30, 0x00010000), w.counter_info(31, 0x00010100),
        w.counter_info(32, 0x10510500), w.counter_info(33, 0x40030503),
        w.counter_info(34, 0x20020500, base=33),
        # 50 is registered but not in the data; 60 is in the data only.
        w.counter_info(50, 0x40030402)]
    ids = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 20, 22, 23,
           30, 31, 32, 33, 34, 60]

    def values(tick):
        for ident in ids:
            wide = ident not in (0, 30)  # 8 bytes; the type of 23 declares 4
            yield (w.v8 if wide else w.v4)(3 * ident + 10 * tick + 5)

    return w.recording(
        registered(PLAIN, infos, "Plain"), queries(w.identifier(PLAIN)),
        *[sample(tick, w.result(w.COUNTERS, w.id_list(ids) +
                                b"".join(values(tick)))) for tick in (0, 1)])


def value_widths():
    """Values with another size than that of their type."""
    infos = [w.counter_info(ident, kind) for ident, kind in enumerate(
        (0x10410400, 0x10410500, 0x00010000, 0x00010100, 0x20510500,
         0x00000000, 0x40030402, 0x00400400))]

    def values(tick):
        odd = w.datum(bytes([tick, 2, 3]))
        return (w.v8(5 + tick), w.v4(5 + tick), w.v8((1 << 53) + 1 + tick),
                w.v4(6 + tick), odd, odd, odd,
                (w.v8 if tick == 0 else w.v4)(7 + tick))

    return w.recording(
        registered(PLAIN, infos, "Plain"), queries(w.identifier(PLAIN)),
        *[sample(tick, w.result(w.COUNTERS, w.id_list(list(range(8))) +
                                b"".join(values(tick))))
          for tick in (0, 1, 2)])


def clock_faults():
    """Clocks that stop, run backwards or have no frequency; counters that
    fall."""
    infos = [w.counter_info(1, 0x10410400), w.counter_info(2, 0x21510500),
             w.counter_info(3, 0x30020400, base=4),
             w.counter_info(4, 0x40030402), w.counter_info(5, 0x20020400,
                                                           base=6),
             w.counter_info(6, 0x40030403)]

    def body(a, b, c, d, e, f):
        return w.result(w.COUNTERS, w.id_list([1, 2, 3, 4, 5, 6]) + w.v4(a) +
                        w.v8(b) + w.v4(c) + w.v4(d) + w.v4(e) + w.v4(f))

    return w.recording(
        registered(PLAIN, infos, "Plain"), queries(w.identifier(PLAIN)),
        sample(0, body(10, 10, 10, 10, 10, 0)),
        sample(0, body(20, 20, 20, 10, 10, 5)),
        sample(1, body(0xFFFFFFFF, 1 << 63, 30, 9, 10, 10), freq=0),
        sample(0, body(0xFFFFFFFF, 1 << 63, 20, 20, 3, 0xFFFFFFFF)),
        sample(2, body(5, (1 << 64) - 1, 20, 30, 0, 3), freq=-1),
        w.chunk(b"DATA", w.reply(body(6, (1 << 64) - 1, 21, 31, 1, 1),
                                 stamps=w.clocks(-(1 << 63), 1 << 62))),
        w.chunk(b"DATA", w.reply(body(7, (1 << 64) - 1, 25, 34, 1, 1),
                                 stamps=w.clocks((1 << 63) - 1, (1 << 63) - 1,
                                                 3))))


def single_values():
    """Results of kind 1, whose counters only the queries identify."""
    def results(tick):
        return [w.result(w.SINGLE, value) for value in (
            w.v4(625000 * (tick + 1)), w.v8(62500000 * (tick + 2) * tick),
            w.v4(7 + tick))]

    return w.recording(
        registered(PROCESSOR, INFOS, "Processor Information"),
        registered(SECOND, [w.counter_info(26, 0x10410400)], "Second"),
        queries(w.identifier(PROCESSOR, 26, name="_Total", index=1),
                w.identifier(SECOND, 26, index=2),
                w.identifier(PROCESSOR, 27, name="_Total", index=0)),
        *[sample(tick, *results(tick)) for tick in (0, 1)])


def replaced_queries():
    """A second QINF chunk, in which the two queries have exchanged indexes."""
    def result(value):
        return w.result(w.SINGLE, value)

    first = [w.identifier(PLAIN, 1, index=0), w.identifier(PLAIN, 2, index=1)]
    then = [w.identifier(PLAIN, 1, index=1), w.identifier(PLAIN, 2, index=0)]
    infos = [w.counter_info(1, 0x00400400), w.counter_info(2, 0x00400500)]
    return w.recording(
        registered(PLAIN, infos, "Plain"), queries(*first),
        sample(0, result(w.v4(100)), result(w.v8(5000))), queries(*then),
        sample(1, result(w.v8(5007)), result(w.v4(103))))


def with_unknown_chunks():
    """Chunks with unknown tags, and an empty NOTE chunk."""
    unknown = w.chunk(b"ZZZZ", b"\xff" * 5, version=77)
    return two_queries(unknown, w.chunk(b"\0\1\2\3"), w.chunk(b"NOTE"))


def file_chunk(number, texts=b"label\0machine\0"):
    """A FILE chunk; without texts, it ends the file."""
    return w.chunk(b"FILE", struct.pack("<I", number) + texts)


def several_files():
    """Files that alternate, end, begin again and must not be compared; the last
    one has no metadata."""
    def metadata(name):
        return (registered(PROCESSOR, INFOS, name) +
                queries(w.identifier(PROCESSOR, 3)))

    def count(seconds, number, boot=0):
        stamp = w.clocks((100 + seconds - boot) * 10000000,
                         133000000000000000 + seconds * 10000000, 10000000)
        return w.chunk(b"DATA", w.reply(w.result(w.SINGLE, w.v4(number)),
                                        stamps=stamp))

    return w.recording(
        metadata("First"), count(1, 10), count(2, 30),
        file_chunk(7), metadata("Other machine"), count(2, 1000, -50),
        file_chunk(0, b"\0\0"), count(3, 80), file_chunk(7),
        count(4, 1007, -50), file_chunk(7, b""), file_chunk(7),
        metadata("Continues 0"), count(5, 90), count(6, 97),
        file_chunk(3, b"\xff\0m\0more"), count(7, 5),
        file_chunk(3, b""), count(8, 6))


def late_metadata():
    """Registrations and query information that follow their samples. Those
    that precede a sample are used for it."""
    def count(tick):
        return sample(tick, w.result(w.SINGLE, w.v4(7 * tick * tick)))

    others = [w.counter_info(3, 0x00010000)]
    return w.recording(
        registered(PROCESSOR, INFOS), count(1), count(2),
        w.registration_chunk(PROCESSOR, 3, w.string("Late")),
        queries(w.identifier(PROCESSOR, 3)), count(3),
        registered(PROCESSOR, INFOS, "Later"), count(4), file_chunk(1),
        count(5), queries(w.identifier(PROCESSOR, 3)),
        registered(PROCESSOR, others, "Other"), count(6),
        queries(w.identifier(PROCESSOR, 7)),
        registered(PROCESSOR, INFOS, "Not this one"))


def broken_captures():
    """{name: bytes} of truncated and malformed captures."""
    whole, start = two_queries(), w.chunk(b"PFBC")
    last = sample(1, w.result(w.SINGLE, w.v8(1)))
    simple = w.recording(
        registered(PLAIN, [w.counter_info(1, 0x00010100)], "Plain"),
        queries(w.identifier(PLAIN, 1)), sample(0, w.result(w.SINGLE,
                                                            w.v8(9))))
    beyond = w.chunk(b"DATA", w.reply(w.result(w.SINGLE, w.v8(1)), total=4000))
    return {
        "broken_cut_payload": simple + last[:-8],
        "broken_cut_header": simple + last[:15],
        "broken_cut_first": start[:9],
        "broken_cut_last_sample": whole[:-100],
        "broken_no_start": whole[len(start):],
        "broken_size_max": simple + b"DATA" + struct.pack(
            "<IQ", 1, (1 << 64) - 1),
        "broken_size_wraps": simple + b"DATA" + struct.pack(
            "<IQ", 1, (1 << 64) - 16) + bytes(64),
        "broken_size_beyond": simple + w.chunk(b"DATA", bytes(48), size=49),
        "broken_reply_beyond_chunk": simple + beyond,
        "broken_reply_between": simple + beyond + last,
        "broken_file_number": simple + w.chunk(b"FILE", b"abc"),
        "broken_file_label": simple + file_chunk(1, b"label"),
        "broken_file_machine": simple + file_chunk(1, b"label\0machine"),
    }


def capture_seeds():
    """{name: bytes} of all captures."""
    seeds = {
        "valid_processor_information": w.recording(
            *processor_metadata(), processor_sample(0), processor_sample(1)),
        "valid_two_queries": two_queries(),
        "valid_base_in_own_result": base_in_own_result(),
        "valid_two_sets": two_sets(),
        "valid_moving_instances": moving_instances(),
        "valid_all_types": all_types(),
        "valid_bad_references": bad_references(),
        "valid_value_widths": value_widths(),
        "valid_clock_faults": clock_faults(),
        "valid_single_values": single_values(),
        "valid_replaced_queries": replaced_queries(),
        "valid_unknown_tags": with_unknown_chunks(),
        "valid_start_only": w.recording(),
        "valid_several_files": several_files(),
        "valid_late_metadata": late_metadata(),
        "valid_cpi_hooks": w.recording(
            w.chunk(b"CPIH", cpi_writer.second_example()),
            w.chunk(b"CPIH", cpi_writer.first_example())),
        "valid_cpi_snapshots": w.recording(
            w.chunk(b"CPIS", b"cpi-snapshots 1\nsnapshot 1\ncpu 0 1 2\n"),
            w.chunk(b"CPIS", b"cpi-snapshots 1\nwidths 40 64\n"
                             b"refuse -5 no\n")),
        "valid_no_registration": w.recording(
            queries(w.identifier(PLAIN, 1)),
            *[sample(tick, w.result(w.SINGLE, w.v8(tick)))
              for tick in (0, 1)]),
        "valid_no_queries": w.recording(
            registered(PLAIN, [w.counter_info(1, 0x00010100)], "Plain"),
            sample(0, w.result(w.COUNTERS, w.id_list([1, 2]) + w.v8(1) +
                               w.v8(2)))),
    }
    seeds.update(broken_captures())
    return seeds
