# SPDX-License-Identifier: MIT
"""The small files of scripts/golden: recordings of one imaginary minute in every format, whose samples overlap, continue,
repeat or contradict each other. They are written with the writers of tests/oracle and depend on no clock.

    small_files.py FOLDER       writes the files

All times are seconds after START, which is the start of the perfmon logs of tests/oracle. PAIRS names the files of which
scripts/golden reads every ordered pair, and SETS the sets of several files.
"""

import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent / "cli")]

# pylint: disable=wrong-import-position
import captures  # noqa: E402 (in a folder that was just added to sys.path)
import log_seeds  # noqa: E402
import log_writer  # noqa: E402
import pdh_text_seeds  # noqa: E402
import seed_writer as v2  # noqa: E402
import v1_writer  # noqa: E402

SECOND = 10000000
START = log_writer.UTC
BOOT = -1000  # the second in which the machines started

# ---- V2 ----------------------------------------------------------------------------------------------

AVERAGE, BASE = 0x40020500, 0x40030500
PROCESS = "5f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e01"
COUNTERS = [(1, captures.BULK, "IO Bytes/sec"), (2, captures.TIMER, "% Processor Time"),
            (3, AVERAGE, "Avg. Bytes/Read", 4), (4, BASE, "Avg. Bytes/Read Base"), (5, captures.LARGE_RAW, "Handles")]
TYPES = [(1, captures.LARGE_RAW, "IO Bytes/sec"), (2, captures.TIMER, "% Processor Time"),
         (3, AVERAGE, "Avg. Bytes/Read", 5), (4, BASE, "Avg. Bytes/Read Base"), (5, BASE, "Handles")]


def with_related(position, *related):
    """COUNTERS with other related counters for one counter: base, performance time, frequency, multiplier."""
    changed = list(COUNTERS)
    changed[position] = changed[position][:3] + related
    return changed


def clocks(second, boot=BOOT, frequency=SECOND):
    """The clocks of a V2 reply at a second, on a machine that started at the second `boot`."""
    return v2.clocks((second - boot) * frequency, START + second * SECOND, frequency,
                     (2013, 2, 3, 20, 2, 50, 17 + second, 844))


def processes(second):
    """(id, name) of the processes at a second: some end, others start, and several have the same name."""
    rows = [(4, "System"), (100, "svchost"), (101, "svchost"), (102, "svchost"), (200 + second, "short"), (0, "_Total")]
    if second % 3 == 0:
        del rows[2]
    if second >= 4:
        rows.insert(1, (103, "svchost"))
    if second % 2:
        rows.append((300, "odd"))
    return rows


def numbers(second, process):
    """The raw values of COUNTERS for a process."""
    return [1000 * second * second + process, 2500000 * second + 1000 * process, 4096 * second * (process + 1),
            second * (process % 7 + 1), 50 + process]


def result(second, rows, ids=(1, 2, 3, 4, 5)):
    """The result of a query for these counters of processes."""
    return captures.instances_result(list(ids), [(process, name, [numbers(second, process)[n - 1] for n in ids])
                                                 for process, name in rows])


def memory(second):
    """The result of a query for a counterset without instances."""
    return captures.single_result([1, 2], [1 << 30 | second, 700 * second + second % 3])


def reply(second, **options):
    """A V2 reply with both countersets."""
    return v2.reply(result(second, processes(second)), memory(second), stamps=clocks(second, **options))


def metadata(counters=None):
    """The registrations of both countersets."""
    return captures.metadata(PROCESS, "Golden Process", counters or COUNTERS) + captures.metadata(
        captures.MEMORY, "Golden Memory", [(1, captures.LARGE_RAW, "Free Bytes"), (2, captures.RATE, "Faults/sec")],
        instance_type=0)


QUERIES = v2.chunk(b"QINF", v2.identifier(PROCESS, name="*") + v2.identifier(captures.MEMORY, index=1))


def data(*seconds, **options):
    """The DATA chunks of these seconds."""
    return b"".join(v2.chunk(b"DATA", reply(second, **options)) for second in seconds)


def capture(*seconds, counters=None, **options):
    """A recording of both countersets."""
    return v2.recording(metadata(counters), QUERIES, data(*seconds, **options))


def asked(seconds, *queries):
    """A recording of queries for some instances and counters: (instance or "*", counter id or None for all)."""
    blocks, chunks = [], []
    for number, (name, counter) in enumerate(queries):
        blocks.append(v2.identifier(PROCESS, v2.ANY if counter is None else counter, name=name, index=number))
    for second in seconds:
        results = []
        for name, counter in queries:
            rows = [row for row in processes(second) if name in ("*", row[1])]
            if counter is None:
                results.append(result(second, rows))
            else:
                body = [v2.instance(*row, v2.v8(numbers(second, row[0])[counter - 1])) for row in rows]
                results.append(v2.result(v2.INSTANCES, v2.instance_block(*body)))
        chunks.append(v2.chunk(b"DATA", v2.reply(*results, stamps=clocks(second))))
    return v2.recording(metadata(), v2.chunk(b"QINF", b"".join(blocks)), *chunks)


def reversed_ids(*seconds):
    """A recording whose results have the counters in another order, without Handles."""
    return v2.recording(metadata(COUNTERS[::-1]), QUERIES, *[v2.chunk(b"DATA", v2.reply(
        result(second, processes(second), (4, 2, 3, 1)), memory(second), stamps=clocks(second))) for second in seconds])


def empty_reply(number, second):
    """A V2 reply with one result without values."""
    return v2.reply(v2.result(v2.ERROR, status=number), stamps=clocks(second))


def with_time(raw, offset, time):
    """The bytes with another 8-byte time at an offset."""
    return raw[:offset] + struct.pack("<Q", time & (1 << 64) - 1) + raw[offset + 8:]


def disks(*seconds):
    """A recording of another counterset."""
    rows = [v2.chunk(b"DATA", v2.reply(captures.instances_result([1], [(0, "sda", [300 * second * second]), (1, "sdb", [second])]),
                                       stamps=clocks(second))) for second in seconds]
    return v2.recording(captures.metadata(captures.DISK, "Golden Disk", [(1, captures.BULK, "Bytes/sec")]),
                        v2.chunk(b"QINF", v2.identifier(captures.DISK, name="*")), *rows)


# ---- V1 ----------------------------------------------------------------------------------------------

V1_PROCESS, V1_SYSTEM, V1_THREAD, PROCESS_ID = 230, 2, 232, 784
V1_NAMES = [(2, "System"), (6, "% Processor Time"), (10, "File Reads/sec"), (230, "Process"), (232, "Thread"),
            (784, "ID Process"), (180, "Working Set")]


def v1_rows(w, second):
    """The instances of Process in V1."""
    return [w.instance(name, w.values(w.v8(1500000 * second + 7 * process), w.v4(process), w.v4(4096 * second)))
            for process, name in processes(second)]


def v1_process(w, second):
    """The object Process, whose instances are known by their process ids."""
    return w.object(V1_PROCESS, [w.counter(6, captures.TIMER, 8, 4), w.counter(PROCESS_ID, captures.RAW, 4, 12),
                                 w.counter(180, captures.RAW, 4, 16)], v1_rows(w, second),
                    clock=(second * SECOND, SECOND))


def v1_threads(w, second):
    """An object whose instances have parents in Process, and no ids."""
    rows = [w.instance(str(n % 2), w.values(w.v4(900 * second * (n + 1))), parent=(V1_PROCESS, n // 2)) for n in range(6)]
    return w.object(V1_THREAD, [w.counter(10, captures.RATE, 4, 4)], rows)


def v1_system(w, second):
    """An object without instances."""
    return w.single(V1_SYSTEM, [w.counter(10, captures.RATE, 4, 4)], w.v4(100 * second * second))


def v1_blocks(second, order="<", system="GOLDEN", boot=BOOT, joined=False, frequency=SECOND):
    """The V1 blocks of a second: three objects in one block or two."""
    w = v1_writer.Writer(order)
    options = {"system": system, "clock": ((second - boot) * frequency, frequency, START + second * SECOND)}
    objects = v1_process(w, second), v1_threads(w, second), v1_system(w, second)
    return [w.block(*objects, **options)] if joined else [w.block(*objects[:2], **options), w.block(objects[2], **options)]


def v1_file(*seconds, **options):
    """V1 blocks one after the other."""
    return b"".join(block for second in seconds for block in v1_blocks(second, **options))


def v1_capture(*seconds, **options):
    """A recording of V1 blocks with a name table."""
    table = v1_writer.multi_string(*[word for index, name in V1_NAMES for word in (str(index), name)])
    return v2.recording(v2.chunk(b"NAME", (9).to_bytes(4, "little") + table), *[
        v2.chunk(b"V1DT", block) for second in seconds for block in v1_blocks(second, **options)])


# ---- Logs --------------------------------------------------------------------------------------------

FREQUENCY = log_seeds.FREQUENCY
MEMORY_PATH = log_writer.path(log_seeds.RAW, 0, "\\\\PC", "Memory", None, "Available Bytes")
OTHER_MACHINE = log_writer.path(log_seeds.RATE, FREQUENCY, "\\\\OTHER", "Memory", None, "Pages/sec")
OTHER_FREQUENCY = log_writer.path(log_seeds.RATE, FREQUENCY + 1, "\\\\PC", "Memory", None, "Pages/sec")
PROCESSES = log_writer.path(captures.TIMER, SECOND, "\\\\PC", "Process", "*", "% Processor Time", flags=log_seeds.ALL)
THREAD = log_writer.path(log_seeds.RATE, FREQUENCY, "\\\\PC", "Thread", "1", "Switches/sec", parent="idle", index=1)


def rate_path(machine="\\\\PC", thing="Thing", instance="a", counter="Rate", parent="p", index=1, kind=log_seeds.RATE,
              frequency=FREQUENCY):
    """A path whose values are compared only with those of the same path."""
    return log_writer.path(kind, frequency, machine, thing, instance, counter, parent=parent, index=index)


# Paths that differ in one respect each, and from those in VARIED only in one.
VARIANTS = [rate_path(counter="A"), rate_path(counter="B"), rate_path(counter="C"), rate_path(counter="D"),
            rate_path(counter="E", instance=None), rate_path(counter="F", parent=None), rate_path(counter="G"),
            rate_path(counter="H"), rate_path(counter="I", machine="\\\\OTHER"), rate_path(counter="J", instance="")]
VARIED = [rate_path(counter="J", instance=None), rate_path(counter="I"), rate_path(counter="H"), rate_path(counter="A", index=2),
          rate_path(counter="B", parent="q"), rate_path(counter="C", instance="b"),
          rate_path(counter="D", kind=log_seeds.TIMER_INV), rate_path(counter="E"), rate_path(counter="F"),
          rate_path(counter="G", thing="Other")]
ELAPSED = log_writer.path(log_seeds.ELAPSED, SECOND, "\\\\PC", "System", None, "System Up Time")
ELSEWHERE = log_writer.path(captures.TIMER, SECOND, "\\\\OTHER", "Process", "x", "% Processor Time")
ONE_TIMER = log_writer.path(captures.TIMER, SECOND, "\\\\PC", "Process", "x", "% Processor Time")
CLOCK_PATHS = (ELAPSED, ELSEWHERE, log_seeds.RATE_PATH, MEMORY_PATH)


def log_item(path, second, boot, behind):
    """The item of a path at a second. The clocks of ELAPSED and of timers are `behind` seconds late."""
    local, utc = log_seeds.stamp(second)
    utc -= behind * SECOND
    w = log_writer
    if path is ELAPSED:
        return w.counter(START - 500 * SECOND, utc, time=local)
    if path in (ELSEWHERE, ONE_TIMER):
        return w.counter(2000000 * second, utc, time=local)
    if path is log_seeds.DISK:
        return w.counter(4096 * second * second, 3 * second, time=local)
    if path is PROCESSES:
        return w.instances(*[(name, 1000000 * second + 10 * process, utc) for process, name in processes(second)],
                           time=local)
    if path is log_seeds.CPUS:
        return log_seeds.cpus(second, ("0", 4000000 * second), ("1", 9000000 * second), ("_Total", 6500000 * second))
    if path is MEMORY_PATH:
        return w.counter(900000 - second, 0, time=local)
    return w.counter(70 * second * second, FREQUENCY * (second - boot), time=local)


ALL_PATHS = (log_seeds.DISK, log_seeds.RATE_PATH, log_seeds.CPUS, PROCESSES)


def log(seconds, paths=ALL_PATHS, boot=BOOT, behind=0, **options):
    """A perfmon log of these paths."""
    w = log_writer
    options.setdefault("start", START + seconds[0] * SECOND if seconds else START)
    return w.log(*w.paths(*paths), *[part for second in seconds for part in w.sample(
        *[log_item(path, second, boot, behind) for path in paths], time=log_seeds.stamp(second)[0])],
        *w.summary(len(seconds)), **options)


def log_sample(paths, second):
    """The events of a sample of a perfmon log."""
    return log_writer.sample(*[log_item(path, second, BOOT, 0) for path in paths], time=log_seeds.stamp(second)[0])


def log_of_objects(*seconds):
    """A perfmon log of V1 blocks with a name table."""
    return log_seeds.objects(*[part for second in seconds for part in log_writer.sample(
        log_writer.block(log_seeds.memory_block(second)), time=log_seeds.stamp(second)[0])],
        start=START + seconds[0] * SECOND)


def circular(raw):
    """A log whose first buffers were overwritten by the last ones."""
    size = log_writer.SIZE
    buffers = [raw[at:at + size] for at in range(0, len(raw), size)]
    last = buffers[-1] + b"\xff" * (size - len(buffers[-1]))
    middle = len(buffers) // 2
    return buffers[0] + buffers[1] + last + b"".join(buffers[middle:-1])


# ---- Text logs ---------------------------------------------------------------------------------------

def text_rows(seconds, hour=18):
    """(times, cells) of a text log."""
    times = ["02/19/2013 %d:50:%02d.844" % (hour, 17 + second) for second in seconds]
    return times, [(" " if second == seconds[0] else "%d.5" % (second * second), "0.%02d" % second, "4")
                   for second in seconds]


def text_log(*seconds, head=pdh_text_seeds.ZONE, hour=18, **options):
    """A text log as perfmon writes it."""
    times, rows = text_rows(seconds, hour)
    return pdh_text_seeds.text(head=head, rows=rows, times=times, **options)


# ---- All files ---------------------------------------------------------------------------------------

def small_files():
    """{name: bytes} of all files."""
    whole, cut = capture(4, 5, 6), capture(2, 3, 5)
    note = v2.chunk(b"NOTE", b"n" * 70001)
    changed_type = log_writer.paths(rate_path(), log_seeds.CPUS)
    return {
        "empty": b"",
        "v2.pfb": capture(1, 2, 3, 4, 5),
        "v2_overlap.pfb": capture(4, 5, 6, 7),
        "v2_other_machine.pfb": capture(2, 4, 6, boot=-77),
        "v2_restarted.pfb": capture(9, 11, 12, boot=8),
        "v2_backwards.pfb": capture(3, 8, 5, 6),
        "v2_other_types.pfb": capture(6, 8, counters=TYPES),
        "v2_other_frequency.pfb": capture(6, 7, frequency=SECOND + 1),
        "v2_late_metadata.pfb": v2.recording(QUERIES, data(6, 7, 8), metadata()),
        "v2_no_metadata.pfb": v2.recording(data(6, 7, 8)),
        "v2_two_queries.pfb": asked((6, 7), ("*", 1), ("svchost", None), ("System", 3), ("System", 4)),
        "v2_other_queries.pfb": asked((8, 9), ("System", 4), ("System", 3), ("*", 1)),
        "v2_same_times.pfb": capture(3, 3, 3, 4, 4),
        "v2_new_metadata.pfb": whole + metadata(TYPES) + QUERIES + data(7, 8),
        "v2_no_samples.pfb": v2.recording(metadata(), QUERIES),
        "v2_cut.pfb": cut[:-333],
        "v2_base.pfb": capture(6, 8, counters=with_related(2, 5)),
        "v2_perf_time.pfb": capture(6, 8, counters=with_related(2, 4, 5)),
        "v2_perf_frequency.pfb": capture(6, 8, counters=with_related(2, 4, v2.ANY, 5)),
        "v2_multiplier.pfb": capture(6, 8, counters=with_related(2, 4, v2.ANY, v2.ANY, 5)),
        "v2_reversed.pfb": reversed_ids(6, 8),
        "v2_ahead.pfb": capture(5, 6, boot=BOOT - 1),
        "v2_far_ahead.pfb": capture(5, 6, boot=BOOT - 2),
        "v2_behind.pfb": capture(6, 7, boot=BOOT + 1),
        "v2_far_behind.pfb": capture(7, 8, boot=BOOT + 2),
        "v2_much_later.pfb": capture(3005, 3006, boot=BOOT - 3),
        "v2_no_frequency.pfb": capture(2, 3, frequency=0),
        "v2_no_frequency_later.pfb": capture(5, 6, frequency=0),
        "v2_long_note.pfb": v2.recording(note, v2.chunk(b"NOTE", b"n" * 65521), metadata(), note, QUERIES, data(2, 4)),
        "v2_unknown_chunks.pfb": v2.recording(metadata(), QUERIES, v2.chunk(b"DATA", reply(1), version=2), v2.chunk(b"NEW!", b"x"),
                                              data(3, 4)),
        "v2_bad_sample.pfb": v2.recording(metadata(), QUERIES, data(2), v2.chunk(b"DATA", b"\x01" * 60), data(4)),
        "v2_long_chunk.pfb": v2.recording(metadata(), QUERIES, v2.chunk(b"DATA", reply(4) + b"tail and more"), data(5)),
        "v2_huge_chunk.pfb": v2.recording(metadata(), v2.chunk(b"NEW!", size=(1 << 64) - 3), data(5)),
        "v2_equal_times.bin": b"".join(empty_reply(number, 3) for number in range(4200)),
        "v2_before_1601.bin": with_time(reply(2), 16, -5) + reply(3),
        "v2_after_9999.bin": reply(2) + with_time(reply(3), 16, (1 << 63) - 1),
        "v2_zeros.bin": reply(2) + bytes(100),
        "v2_cut_header.pfb": whole[:len(whole) // 2 // 8 * 8 + 7],
        "v2.bin": reply(2) + reply(3) + reply(5),
        "v2_one.bin": reply(7),
        "v2_cut.bin": reply(2) + reply(3)[:-9],
        "disks.pfb": disks(1, 3, 4, 6),
        "disks_later.pfb": disks(7, 9),
        "v1.bin": v1_file(2, 3, 4, 6),
        "v1_overlap.pfb": v1_capture(4, 6, 7, 8),
        "v1_joined.pfb": v1_capture(5, 7, 9, joined=True),
        "v1_other_machine.bin": v1_file(2, 3, 5, system="ELSE", boot=-5),
        "v1_restarted.bin": v1_file(10, 11, boot=8),
        "v1_backwards.bin": v1_file(3, 8, 5, 6, joined=True),
        "v1_big_endian.bin": v1_file(7, 8, order=">"),
        "v1_no_machine.bin": v1_file(1, 3, system=""),
        "v1_other_frequency.bin": v1_file(7, 8, frequency=SECOND + 1),
        "v1_cut.bin": v1_file(1, 2, 3)[:-11],
        "v1_short.bin": v1_file(1)[:75],
        "v1_ahead.bin": v1_file(6, 7, boot=BOOT - 9),
        "v1_behind.bin": v1_file(7, 8, boot=BOOT + 1),
        "v1_far_behind.bin": v1_file(7, 8, boot=BOOT + 2),
        "v1_before_1601.bin": with_time(v1_file(2, joined=True), 72, -5) + v1_file(3),
        "v1_other_order.bin": v1_file(2, 3).replace(b"P\0E\0R\0F\0\1", b"P\0E\0R\0F\0\0"),
        "log.blg": log((1, 2, 3, 4)),
        "log_later.blg": log((4, 5, 7), ALL_PATHS[::-1] + (MEMORY_PATH, OTHER_MACHINE)),
        "log_no_zone.blg": log((2, 4, 6), bias=0, daylight=0, start=log_seeds.stamp(2)[0]),
        "log_daylight.blg": log((5, 6), bias=540, daylight=-60),
        "log_bad_zone.blg": log((5, 6), bias=9999),
        "log_restarted.blg": log((9, 10), boot=8),
        "log_backwards.blg": log((3, 8, 5, 6)),
        "log_other_frequency.blg": log((6, 7), (OTHER_FREQUENCY, log_seeds.DISK)),
        "log_other_paths.blg": log((6, 8), (THREAD, OTHER_MACHINE, MEMORY_PATH, log_seeds.CPUS)),
        "log_objects.blg": log_of_objects(1, 2, 4),
        "log_circular.blg": circular(log((1, 2, 3, 4, 5, 6))),
        "log_cut.blg": log((1, 2, 3, 4))[:-300],
        "log_no_samples.blg": log(()),
        "log_variants.blg": log((1, 2), VARIANTS),
        "log_varied.blg": log((4, 5), VARIED),
        "log_one_path.blg": log((6, 7), (THREAD,)),
        "log_clocks.blg": log((1, 2, 3), CLOCK_PATHS),
        "log_clocks_later.blg": log((5, 6), CLOCK_PATHS[::-1]),
        "log_clocks_behind.blg": log((5, 6), CLOCK_PATHS[::-1], behind=9),
        "log_timer_behind.blg": log((5, 6), (ELSEWHERE, MEMORY_PATH, log_seeds.RATE_PATH), behind=9),
        "log_clocks_equal.blg": log((5, 6), CLOCK_PATHS, behind=2),
        "log_ahead.blg": log((4, 5), (log_seeds.RATE_PATH, MEMORY_PATH), boot=BOOT - 9),
        "log_behind.blg": log((5, 6), (log_seeds.RATE_PATH, MEMORY_PATH), boot=BOOT + 3),
        "log_other_zone.blg": log((4, 5), (MEMORY_PATH, log_seeds.RATE_PATH), bias=420, daylight=0, start=START - 3600 * SECOND),
        "log_one_zone.blg": log((5, 6), (log_seeds.RATE_PATH, THREAD), daylight=0),
        "log_two_lists.blg": log_writer.log(
            *log_writer.paths(rate_path(), log_seeds.CPUS, log_seeds.DISK), *log_sample(
                (rate_path(), log_seeds.CPUS, log_seeds.DISK), 1), *changed_type, *log_sample((rate_path(), log_seeds.CPUS), 2),
            *log_sample((rate_path(), log_seeds.CPUS), 3), start=START + SECOND),
        "log_lists_of_one.blg": log_writer.log(
            *log_writer.paths(MEMORY_PATH), *log_sample((MEMORY_PATH,), 1), *log_writer.paths(log_seeds.DISK),
            *log_sample((log_seeds.DISK,), 2), *log_writer.paths(MEMORY_PATH, log_seeds.DISK),
            *log_sample((MEMORY_PATH, log_seeds.DISK), 3), start=START + SECOND),
        "log_far_bias.blg": log((5, 6), bias=1500, daylight=-1500),
        "log_east.blg": log((5, 6), bias=-1441, daylight=-60),
        "log_bad_daylight.blg": log((5, 6), bias=480, daylight=1441),
        "log_no_start.blg": log((2, 4), start=(1 << 64) - 1),
        "log_late_start.blg": log((2, 4), start=START + 3600 * SECOND),
        "log_times.blg": log_writer.log(*log_writer.paths(log_seeds.DISK), *log_writer.sample(
            log_writer.counter(1, 1), time=1 << 63), *log_writer.sample(log_writer.counter(2, 2), time=1 << 62), start=START),
        "text.csv": text_log(1, 2, 4),
        "text_later.tsv": text_log(4, 5, 6, head=pdh_text_seeds.ZONE.replace("CSV", "TSV"), separator="\t"),
        "text_no_zone.csv": text_log(1, 3, 5, head="(PDH-CSV 4.0)"),
        "text_other_zone.csv": text_log(2, 4, head="(PDH-CSV 4.0) (Here)(420)", hour=19),
        "text_backwards.csv": text_log(3, 8, 5, 6),
        "text_cut.csv": text_log(1, 2, 3)[:-12],
        "text_long_header.csv": text_log(2, 4, paths=pdh_text_seeds.PATHS[:2] + ("\\\\PC\\" + "long " * 30000,)),
        "text_header_only.csv": pdh_text_seeds.text(rows=()),
    }


def many_files():
    """{name: bytes} of more files than are merged at a time, whose samples overlap."""
    def one(number, second):
        body = v2.id_list([1]) + v2.instance_block(v2.instance(0, "a", v2.v8(number * second)))
        return v2.reply(v2.result(v2.COUNTERSET, body), stamps=clocks(second, boot=-100 * number))
    return {"many_%03d.bin" % number: one(number, 1 + number % 2) + one(number, 5 + number) for number in range(203)}


PAIRS = ["empty", "v2.pfb", "v2_overlap.pfb", "v2_other_machine.pfb", "v2_late_metadata.pfb", "v2_other_queries.pfb",
         "v2_cut.pfb", "v2.bin", "disks.pfb", "v1.bin", "v1_overlap.pfb", "v1_backwards.bin", "log.blg",
         "log_later.blg", "log_no_zone.blg", "text.csv", "text_no_zone.csv"]

# Every file is also read after these two, whose samples are before and after those of most others, so that the time found
# in it matters.
AROUND = ["v2.pfb", "v2_restarted.pfb"]

# Sets of files, each in several orders.
SETS = {
    "v2": ["v2.pfb", "v2_overlap.pfb", "v2_restarted.pfb"],
    "v2 and another machine": ["v2.pfb", "v2_other_machine.pfb", "v2_other_queries.pfb"],
    "v2 with other types": ["v2.pfb", "v2_other_types.pfb", "v2_late_metadata.pfb"],
    "v2 queries": ["v2.pfb", "v2_two_queries.pfb", "v2_other_queries.pfb"],
    "v2 frequency": ["v2.pfb", "v2_other_frequency.pfb", "v2_new_metadata.pfb"],
    "v1": ["v1.bin", "v1_overlap.pfb", "v1_restarted.bin"],
    "v1 and another machine": ["v1.bin", "v1_other_machine.bin", "v1_joined.pfb"],
    "v1 byte order": ["v1.bin", "v1_big_endian.bin", "v1_other_frequency.bin"],
    "v1 without machine": ["v1_no_machine.bin", "v1_overlap.pfb", "v1_cut.bin"],
    "logs": ["log.blg", "log_later.blg", "log_restarted.blg"],
    "logs with other paths": ["log.blg", "log_other_paths.blg", "log_other_frequency.blg"],
    "logs with other zones": ["log_no_zone.blg", "log_daylight.blg", "log_bad_zone.blg"],
    "logs with errors": ["log_cut.blg", "log_circular.blg", "log_objects.blg"],
    "v2 changed": ["v2.pfb", "v2_base.pfb", "v2_reversed.pfb"],
    "v2 related": ["v2_multiplier.pfb", "v2.pfb", "v2_perf_time.pfb", "v2_perf_frequency.pfb"],
    "v2 clocks": ["v2.pfb", "v2_ahead.pfb", "v2_behind.pfb"],
    "v2 far clocks": ["v2.pfb", "v2_far_ahead.pfb", "v2_far_behind.pfb", "v2_much_later.pfb"],
    "v2 without frequency": ["v2_no_frequency.pfb", "v2_no_frequency_later.pfb", "v2_overlap.pfb"],
    "v2 times": ["v2_equal_times.bin", "v2_equal_times.bin", "v2_after_9999.bin"],
    "v2 bad times": ["v2_before_1601.bin", "v2_after_9999.bin", "v2_bad_sample.pfb"],
    "v1 clocks": ["v1.bin", "v1_ahead.bin", "v1_behind.bin", "v1_far_behind.bin"],
    "logs of other paths": ["log.blg", "log_one_path.blg", "log_varied.blg", "log_later.blg"],
    "log paths": ["log_variants.blg", "log_varied.blg", "log_lists_of_one.blg"],
    "log clocks": ["log_clocks.blg", "log_clocks_later.blg", "log_one_path.blg"],
    "log clocks behind": ["log_clocks.blg", "log_clocks_behind.blg", "log_ahead.blg"],
    "log timer behind": ["log_clocks.blg", "log_timer_behind.blg", "log_behind.blg"],
    "log clocks equal": ["log_clocks.blg", "log_clocks_equal.blg", "log_two_lists.blg"],
    "log zones": ["log_clocks.blg", "log_other_zone.blg", "log_one_zone.blg"],
    "log other zones": ["log_one_zone.blg", "log_other_zone.blg", "log_late_start.blg"],
    "text": ["text.csv", "text_later.tsv", "text_other_zone.csv"],
    "all formats": ["v2.pfb", "v1.bin", "log.blg", "text.csv", "disks.pfb", "v2.bin"],
    "other forms": ["v2_no_metadata.pfb", "v2_one.bin", "v2_cut.bin", "disks_later.pfb", "text_backwards.csv"],
}


def lists():
    """Lists of names: every file alone and after AROUND, every ordered pair of PAIRS, and the sets: rotated, and reversed.
    """
    found = [[name] for name in small_files()] + [[first, second] for first in PAIRS for second in PAIRS]
    found += [AROUND + [name] for name in small_files()]
    for names in SETS.values():
        found += [names[at:] + names[:at] for at in range(len(names))] + [names[::-1]]
    return found + [list(many_files())]


def write_file(path, content):
    """Writes a file unless it has this content: another process may be reading it."""
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)


def write(folder):
    """Writes the files into a folder."""
    for name, content in {**small_files(), **many_files()}.items():
        write_file(pathlib.Path(folder) / name, content)


if __name__ == "__main__":
    write(sys.argv[1])
