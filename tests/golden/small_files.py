# SPDX-License-Identifier: MIT
"""The small files of scripts/golden: recordings of one imaginary minute in every format, whose samples overlap, continue,
repeat or contradict each other. They are written with the writers of tests/oracle and depend on no clock.

    small_files.py FOLDER       writes the files

All times are seconds after START, which is the start of the perfmon logs of tests/oracle. PAIRS names the files of which
scripts/golden reads every ordered pair, and SETS the sets of several files.
"""

import pathlib
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


def sample_text(*seconds, boot=BOOT):
    """Samples in the text form."""
    lines = ["perfblock text 1", "", f'counterset {captures.DISK} multiple "Golden Disk"',
             'counter 1 PERF_COUNTER_BULK_COUNT 8 - "Bytes/sec"', ""]
    for second in seconds:
        lines += [f"sample perf {(second - boot) * SECOND} 100ns {START + second * SECOND} frequency {SECOND}",
                  'result "Golden Disk"', f'row "sda#0" {300 * second * second}', f'row "sdb#1" {second}']
    return "\n".join(lines).encode() + b"\n"


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


def log_item(path, second, boot):
    """The item of a path at a second."""
    local, utc = log_seeds.stamp(second)
    w = log_writer
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


def log(seconds, paths=ALL_PATHS, boot=BOOT, **options):
    """A perfmon log of these paths."""
    w = log_writer
    options.setdefault("start", START + seconds[0] * SECOND if seconds else START)
    return w.log(*w.paths(*paths), *[part for second in seconds for part in w.sample(
        *[log_item(path, second, boot) for path in paths], time=log_seeds.stamp(second)[0])],
        *w.summary(len(seconds)), **options)


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
        "v2_cut_header.pfb": whole[:len(whole) // 2 // 8 * 8 + 7],
        "v2.bin": reply(2) + reply(3) + reply(5),
        "v2_one.bin": reply(7),
        "v2_cut.bin": reply(2) + reply(3)[:-9],
        "samples.txt": sample_text(1, 3, 4, 6),
        "samples_later.txt": sample_text(7, 9),
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
        "text.csv": text_log(1, 2, 4),
        "text_later.tsv": text_log(4, 5, 6, head=pdh_text_seeds.ZONE.replace("CSV", "TSV"), separator="\t"),
        "text_no_zone.csv": text_log(1, 3, 5, head="(PDH-CSV 4.0)"),
        "text_other_zone.csv": text_log(2, 4, head="(PDH-CSV 4.0) (Here)(420)", hour=19),
        "text_backwards.csv": text_log(3, 8, 5, 6),
        "text_cut.csv": text_log(1, 2, 3)[:-12],
    }


PAIRS = ["empty", "v2.pfb", "v2_overlap.pfb", "v2_other_machine.pfb", "v2_late_metadata.pfb", "v2_other_queries.pfb",
         "v2_cut.pfb", "v2.bin", "samples.txt", "v1.bin", "v1_overlap.pfb", "v1_backwards.bin", "log.blg",
         "log_later.blg", "log_no_zone.blg", "text.csv", "text_no_zone.csv"]

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
    "text": ["text.csv", "text_later.tsv", "text_other_zone.csv"],
    "all formats": ["v2.pfb", "v1.bin", "log.blg", "text.csv", "samples.txt", "v2.bin"],
    "other forms": ["v2_no_metadata.pfb", "v2_one.bin", "v2_cut.bin", "samples_later.txt", "text_backwards.csv"],
}


def lists():
    """Lists of names: every file, every ordered pair of PAIRS, and the sets: rotated, and reversed."""
    found = [[name] for name in small_files()] + [[first, second] for first in PAIRS for second in PAIRS]
    for names in SETS.values():
        found += [names[at:] + names[:at] for at in range(len(names))] + [names[::-1]]
    return found


def write_file(path, content):
    """Writes a file unless it has this content: another process may be reading it."""
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)


def write(folder):
    """Writes the files into a folder."""
    for name, content in small_files().items():
        write_file(pathlib.Path(folder) / name, content)


if __name__ == "__main__":
    write(sys.argv[1])
