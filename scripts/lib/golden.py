# SPDX-License-Identifier: MIT
"""Compares what two programs print and write for a matrix of inputs and commands; run by scripts/golden.

An input is a list of files, a cell one command with its options. What is compared of a cell is its text: exit status,
standard output, standard error and the file written. All names of files are relative to a folder of links, so texts do
not depend on where the sources are.
"""

import argparse
import collections
import difflib
import fnmatch
import hashlib
import json
import multiprocessing
import multiprocessing.util
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "golden"))

import small_files  # noqa: E402 (in the folder that was just added to sys.path)

BUILDS = ROOT / "build" / "golden"
TABLE = ROOT / "tests" / "golden" / "differences.tsv"
SECONDS = 60       # for one run of a program
MEMORY_BYTES, FILE_BYTES = 4 << 30, 256 << 20  # limits of a run
MAX_LINES = 24     # of one difference that is printed
VALUES = "values"  # the name of the comparison of values in the table of differences
# The program must not depend on the machine's settings. The zone has daylight saving time.
ENVIRONMENT = {"TZ": "CET-1CEST,M3.5.0,M10.5.0/3", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin", "COLUMNS": "200",
               "HOME": "/nonexistent"}

# ---- Cells -------------------------------------------------------------------------------------------

# A command and its options, separated by "|"; out.* is the file that it writes. The names of the files follow. A cell
# that begins with "<" reads the only file of an input from standard input.
JSON = "cook|-f|json"
COMMANDS = [
    JSON, "cook|-f|text", "cook|-f|csv", "cook|-f|pdh-csv", "cook|-f|pdh-tsv", "cook|-f|prometheus",
    "cook|--summary", "cook|--summary|-f|json", "cook|--strict|-f|csv", "cook|--every|2|-f|csv",
    "cook|--from|00:00:01|--utc|-f|json", "cook|--to|18:50:21.844Z|-f|csv", r"cook|--path|\Proc*(*)\% *|-f|csv",
    "cook|--set|*|--instance|_Total|-f|json", "convert|-o|out.pfb", "convert|-o|out.csv", "convert|-o|out.json",
    "convert|--every|2|-o|out.pfb", r"convert|--path|\Proc*(*)\% *|-o|out.pfb", "report|-o|out.html", "show",
    "show|-f|json", "check", "check|-f|json", "countersets|--source"]
PIPED = ["<|cook|-f|csv|-", "<|cook|-f|pdh-csv|-", "<|show|-", "<|convert|-o|out.pfb|-"]
SINGLE = [*COMMANDS, *PIPED]
FEW = [JSON, "show|-f|json", "check|-f|json"]
# One of each kind of output: sees most differences in less time.
# Of the cells for which a fault of mutate.py is judged, each reads its input differently.
PLANTED = [JSON, "cook|-f|pdh-csv", "cook|--every|2|-f|csv", "cook|--to|18:50:21.844Z|-f|csv", r"cook|--path|\Proc*(*)\% *|-f|csv",
           "convert|-o|out.pfb", "check|-f|json", "<|cook|-f|csv|-"]
QUICK = {JSON, "cook|-f|pdh-csv", "cook|--every|2|-f|csv", "convert|-o|out.pfb", "report|-o|out.html", "show", "check|-f|json",
         "<|cook|-f|csv|-"}

# Folders of the corpus whose files are parts of inputs of fuzz targets, which no command reads.
PARTS = {"calls", "changing", "cpi", "cpi_facility", "cpuid_text", "formula", "interfaces", "metadata", "model", "name",
         "query", "sample", "v2_values"}
# Folders whose files are read with --kind.
KINDS = {"name_table": "names", "lwp": "lwp", "hooks": "cpi", "text": "snapshots"}


def cells_with_kind(kind):
    """The cells of a file that is not recognised by its contents."""
    return [f"{command}|--kind|{kind}" for command in ("show|-f|json", "show", "check|-f|json", "check|--strict|-f|csv")]


# ---- Inputs ------------------------------------------------------------------------------------------

# An input: the names of its files, and its cells.
Input = collections.namedtuple("Input", "files cells")


def corpus_inputs():
    """Each file of the corpus."""
    for path in sorted((ROOT / "corpus").glob("*/*/*")):
        subject = path.relative_to(ROOT / "corpus").parts[0]
        cells = FEW if subject in PARTS else FEW + cells_with_kind(KINDS[subject]) if subject in KINDS else SINGLE
        yield Input([str(path.relative_to(ROOT))], cells)
    for path in sorted((ROOT / "corpus" / "formula").rglob("*.csv")):
        yield Input([str(path.relative_to(ROOT))], ["eval"])
    yield Input([], ["types|-f|json", "types|-f|csv", "types"])


def fixture_inputs():
    """The fixtures, alone and together."""
    captures = sorted(path.name for path in (ROOT / "fixtures").glob("*.pfb"))
    for name in sorted(path.name for path in (ROOT / "fixtures").glob("*.txt")) + captures:
        yield Input([f"fixtures/{name}"], SINGLE)
    yield Input(["fixtures/processor.pfb"] * 2, COMMANDS)
    yield Input([f"fixtures/{name}" for name in captures], COMMANDS)
    logs = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "corpus").glob("log/seeds/valid*"))
    texts = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "corpus").glob("pdh_text/seeds/valid*"))
    yield Input(logs, COMMANDS)
    yield Input(texts, COMMANDS)


def captured_inputs():
    """The files captured on real machines: each alone, and those of one machine together."""
    if "PERFBLOCK_REAL_DATA" not in os.environ:
        return
    folder = pathlib.Path(os.environ["PERFBLOCK_REAL_DATA"])
    names = sorted(f"real/{path.relative_to(folder)}" for path in folder.rglob("*")
                   if path.suffix in (".bin", ".blg", ".pfb", ".tsv") and path.is_file())
    for name in names:
        is_table = name.endswith((".tsv", "names.bin"))
        yield Input([name], cells_with_kind("names") if is_table else SINGLE)
    blocks = [name for name in names if "-obj" in name]
    if blocks:
        yield Input(blocks, COMMANDS)
        yield Input(blocks[::-1], COMMANDS)
    logs = [name for name in names if name.endswith(".blg")]
    if logs:
        yield Input([logs[-1], "corpus/log/seeds/valid_counters.blg", "fixtures/processor.pfb"], COMMANDS)


def small_inputs():
    """The small files: each alone, pairs and sets."""
    for names in small_files.lists():
        yield Input([f"small/{name}" for name in names], SINGLE if len(names) == 1 else COMMANDS)


def mutant_inputs(count):
    """Mutated V2 and V1 blocks, 25 files in each input."""
    for first in range(0, count, 25):
        yield Input([f"mutants/{number}.bin" for number in range(first, min(first + 25, count))], FEW)


def all_inputs(mutants=0):
    """The whole matrix."""
    return [*small_inputs(), *corpus_inputs(), *fixture_inputs(), *captured_inputs(), *mutant_inputs(mutants)]


def quick_inputs():
    """A part of the matrix that takes less time: a quarter of the corpus, and a part of the cells."""
    chosen = [*small_inputs(), *list(corpus_inputs())[::4], *fixture_inputs(), *captured_inputs()]
    chosen = [Input(files, [cell for cell in cells if cell in QUICK] or cells[:1]) for files, cells in chosen]
    return [entry for entry in chosen if sum(map(file_size, entry.files)) < 1 << 18]


def planted_inputs():
    """The inputs and cells by which a fault is judged: the small files."""
    return [Input(files, [cell for cell in PLANTED if cell in cells]) for files, cells in small_inputs()]


def file_size(name):
    path = BUILDS / "files" / name
    return path.stat().st_size if path.exists() else 0


# ---- Mutated blocks ----------------------------------------------------------------------------------

NUMBERS = (0, 1, 2, 3, 4, 7, 8, 16, 24, 40, 48, 64, 88, 0x100, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFE,
           0xFFFFFFFF)


def mutate(rng, seed):
    """A copy of a block with one to four changes."""
    copy = bytearray(seed)
    for _ in range(rng.choice((1, 1, 2, 4))):
        change = rng.randrange(8)
        if change < 5 and len(copy) >= 4:
            at = rng.randrange(len(copy) // 4) * 4
            old, = struct.unpack_from("<I", copy, at)
            near = old + rng.choice((-8, -4, -2, -1, 1, 2, 4, 8))
            struct.pack_into("<I", copy, at, 0xFFFFFFFF & rng.choice((rng.choice(NUMBERS), near)))
        elif change == 5 and copy:
            copy[rng.randrange(len(copy))] ^= 1 << rng.randrange(8)
        elif change == 6:
            del copy[rng.randrange(len(copy) + 1):]
        elif copy:
            at = rng.randrange(len(copy))
            copy[at:at] = bytes(rng.choice((1, 4, 8)))
    return bytes(copy)


def write_mutants(folder, count):
    """Writes mutated blocks, the same in each run."""
    seeds = [path.read_bytes() for subject in ("v1", "v2") for path in sorted((ROOT / "corpus" / subject).glob("*/*"))]
    seeds = [seed for seed in seeds if 0 < len(seed) <= 16384]
    rng = random.Random(1)
    for number in range(count):
        small_files.write_file(folder / f"{number}.bin", mutate(rng, rng.choice(seeds)))


def prepare_files(mutants=0):
    """Makes the folder in which programs run: links to the files of the project and of real machines, and the small
    files."""
    folder = BUILDS / "files"
    for name in ("small", "mutants"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    links = {"corpus": ROOT / "corpus", "fixtures": ROOT / "fixtures"}
    if "PERFBLOCK_REAL_DATA" in os.environ:
        links["real"] = pathlib.Path(os.environ["PERFBLOCK_REAL_DATA"]).resolve()
    for name, target in links.items():
        if not (folder / name).is_symlink() or (folder / name).resolve() != target:
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(target)
    small_files.write(folder / "small")
    write_mutants(folder / "mutants", mutants)


# ---- Programs ----------------------------------------------------------------------------------------


def build(source, name):
    """Builds the program of a source tree; returns its path."""
    folder = BUILDS / name
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DPERFBLOCK_TESTS=OFF", "-DPERFBLOCK_FUZZ=OFF", "-DPERFBLOCK_EXAMPLES=OFF"], **quiet)
    subprocess.run(["cmake", "--build", folder], **quiet)
    return folder / "cli" / "perfblock"


def build_revision(revision):
    """Builds a revision in a separate checkout."""
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--verify", revision + "^{commit}"],
                            stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
    source = BUILDS / ("source-" + commit)
    if not source.exists():
        source.mkdir(parents=True)
        with subprocess.Popen(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE) as archive:
            subprocess.run(["tar", "-x", "-C", source], stdin=archive.stdout, check=True)
    return build(source, commit)


class Runner:
    """Runs programs in a folder of its own."""

    def __init__(self, seconds=SECONDS):
        self.seconds = seconds
        self.folder = BUILDS / f"run-{os.getpid()}"
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "out").mkdir(parents=True)
        for name in os.listdir(BUILDS / "files"):
            (self.folder / "out" / name).symlink_to(BUILDS / "files" / name)
        self.links = set(os.listdir(BUILDS / "files"))

    def close(self):
        """Deletes the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def text(self, program, files, cell, libraries=None):
        """The text of a cell; `libraries` is a folder with other versions of the program's shared libraries."""
        environment = {**ENVIRONMENT, "LD_LIBRARY_PATH": libraries} if libraries else ENVIRONMENT
        words = cell.split("|")
        stdin = os.devnull
        if words[0] == "<":
            words, stdin = words[1:], files[0]
            files = []
        out, err = self.folder / "stdout", self.folder / "stderr"
        writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.chdir(self.folder / "out")
        child = os.posix_spawn(program, [program, *words, *files], environment, file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, out, writing, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, err, writing, 0o600)])
        signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
        signal.alarm(self.seconds)
        _, status = os.waitpid(child, 0)
        signal.alarm(0)
        parts = [b"exit status %d\n" % os.waitstatus_to_exitcode(status), out.read_bytes(), b"\n-- errors\n",
                 err.read_bytes()]
        for name in sorted(os.listdir(".")):
            if name not in self.links:
                written = pathlib.Path(name)
                parts += [b"\n-- file %s\n" % name.encode(), written.read_bytes()]
                written.unlink()
        return b"".join(parts)


def hash_of(text):
    return hashlib.sha256(text).hexdigest()[:16]


def values_of(text):
    """The lines of values, sorted, from the text of the cell JSON."""
    keys = ("sample", "machine", "set", "object", "instance", "occurrence", "counter", "counter_id", "status", "value")
    lines = []
    for line in text.partition(b"\n-- errors\n")[0].splitlines():
        try:
            item = json.loads(line)
            lines.append(json.dumps([item.get(key) for key in keys]))
        except (ValueError, AttributeError):
            pass
    return "\n".join(sorted(lines)).encode() + b"\n"


# ---- Intended differences ----------------------------------------------------------------------------


class Row:
    """A row of the table of intended differences: patterns of the names of inputs and cells, as in a shell, a reason, and
    optionally REGEX=>REPLACEMENT, which is applied to both texts before they are compared. Without it, any difference of
    the cell is intended."""

    def __init__(self, line, number):
        fields = line.split("\t")
        if len(fields) not in (3, 4):
            sys.exit(f"line {number} of the table: expected input, cell, reason and optionally a rewrite, separated by tabs")
        self.input, self.cell, self.reason = fields[:3]
        self.number, self.used = number, 0
        self.pattern = self.replacement = None
        if len(fields) == 4:
            pattern, _, replacement = fields[3].partition("=>")
            self.pattern, self.replacement = re.compile(pattern.encode(), re.M), replacement.encode()

    def matches(self, name, cell):
        """Whether the row is about this cell. Values need a row of their own."""
        if (cell == VALUES) != (self.cell == VALUES):
            return False
        return fnmatch.fnmatchcase(name, self.input) and fnmatch.fnmatchcase(cell, self.cell)


def read_table(path):
    """The rows of a table."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return [Row(line, number) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]


def explain(rows, name, cell, texts):
    """The rows that account for the difference of two texts, or None if they do not."""
    matching = [row for row in rows if row.matches(name, cell)]
    whole = [row for row in matching if row.pattern is None]
    used = []
    for row in matching:
        if row.pattern is not None:
            changed = [row.pattern.sub(row.replacement, text) for text in texts]
            used += [row] if changed != texts else []
            texts = changed
    if texts[0] == texts[1]:
        return used
    return whole[:1] or None


# ---- Comparing ---------------------------------------------------------------------------------------


def name_of(entry):
    return "+".join(entry.files) or "(none)"


def shown(cell):
    """The name of a cell as it is printed and in the table."""
    return cell.replace("|", " ")


def key_of(entry):
    """A hash of the names and contents of an input's files."""
    digest = hashlib.sha256(repr(entry.files).encode())
    for name in entry.files:
        digest.update(hashlib.sha256((BUILDS / "files" / name).read_bytes()).digest())
    return digest.hexdigest()[:24]


class Reference:
    """The hashes of the texts of the reference program, stored between runs."""

    def __init__(self, program, libraries=()):
        content = b"".join(pathlib.Path(path).read_bytes() for path in (program, *libraries))
        self.path = BUILDS / f"reference-{hash_of(content)}.json"
        self.known, self.added = self.load(), {}  # {key of an input: {cell: hash}}

    def load(self):
        """What is stored."""
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def find(self, entry):
        """{cell: hash} of an input, with the cells that are known."""
        return self.known.get(key_of(entry), {})

    def add(self, entry, hashes):
        """Adds hashes of cells of an input."""
        key = key_of(entry)
        if not hashes.keys() <= self.known.get(key, {}).keys():
            self.known.setdefault(key, {}).update(hashes)
            self.added[key] = self.known[key]

    def save(self):
        """Stores what was added. Other runs may have added some, too."""
        if self.added:
            stored = self.load()
            for key, hashes in self.added.items():
                stored.setdefault(key, {}).update(hashes)
            written = self.path.with_suffix(f".{os.getpid()}")
            written.write_text(json.dumps(stored), encoding="utf-8")
            written.replace(self.path)
            self.added = {}


STATE = {}  # of a worker


def start_worker(programs, rows, seconds=SECONDS):
    """Prepares a worker process."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    STATE.update(runner=Runner(seconds), programs=programs, rows=rows)
    multiprocessing.util.Finalize(None, STATE["runner"].close, exitpriority=1)


def compare_input(work):
    """Compares an input. Returns its position; {cell: hash} of the reference; the cells whose texts differ, and those whose
    values differ, each as (cell, numbers of the rows that account for it, or None, and the difference)."""
    position, entry, hashes = work
    runner, (reference, program) = STATE["runner"], STATE["programs"]
    hashes = hash_cells((entry, hashes))
    found = []
    for cell, expected in hashes.items():
        text = runner.text(program, entry.files, cell)
        if hash_of(text) == expected:
            continue
        texts = [runner.text(reference, entry.files, cell), text]
        found.append(judge(entry, cell, texts))
        values = [values_of(text) for text in texts] if cell == JSON else []
        if values and values[0] != values[1]:
            found.append(judge(entry, VALUES, values))
    return position, hashes, found


def hash_cells(work):
    """{cell: hash} of the reference, of an input of which some are known."""
    entry, hashes = work
    return {cell: hashes.get(cell) or hash_of(STATE["runner"].text(STATE["programs"][0], entry.files, cell))
            for cell in entry.cells}


def first_difference(program, libraries, cells):
    """The position of the first of these (files, cell, hash) whose text has another hash, or None."""
    for position, (files, cell, expected) in enumerate(cells):
        if hash_of(STATE["runner"].text(program, files, cell, libraries)) != expected:
            return position
    return None


def judge(entry, cell, texts):
    """(cell, numbers of rows or None, difference)."""
    used = explain(STATE["rows"], name_of(entry), shown(cell), texts)
    if used is not None:
        return cell, [row.number for row in used], ""
    lines = [text.decode("utf-8", "backslashreplace").split("\n") for text in texts]
    # Of long outputs only a part is shown: to find all differences would take long.
    first = next((n for n, (old, new) in enumerate(zip(*lines)) if old != new), min(map(len, lines)))
    parts = [part[max(0, first - 1):first + 200] for part in lines]
    difference = [line[:500] for line in difflib.unified_diff(*parts, "reference", "program", lineterm="", n=1)]
    if len(difference) > MAX_LINES:
        difference[MAX_LINES:] = ["..."]
    return cell, None, f"from line {first + 1}:\n" + "\n".join(difference)


def compare(inputs, programs, rows, jobs):
    """Compares two programs; yields (input, cells whose texts differ) and stores the hashes of the reference."""
    reference = Reference(programs[0])
    work = [(n, entry, reference.find(entry)) for n, entry in enumerate(inputs)]
    with multiprocessing.Pool(jobs, start_worker, ([str(program) for program in programs], rows)) as pool:
        try:
            for position, hashes, found in pool.imap(compare_input, work, chunksize=4):
                reference.add(inputs[position], hashes)
                yield inputs[position], found
        finally:
            reference.save()
        pool.close()
        pool.join()


def report(inputs, programs, arguments):
    """Compares two programs and prints the result; returns the exit status."""
    rows = read_table(arguments.table)
    by_number = {row.number: row for row in rows}
    counts, by_cell = collections.Counter(), collections.Counter()
    for entry, found in compare(inputs, programs, rows, arguments.jobs):
        counts["compared"] += len(entry.cells)
        for cell, used, difference in found:
            kind = "values" if cell == VALUES else "cells"
            counts[kind, used is not None] += 1
            for number in used or ():
                by_number[number].used += 1
            if used is None:
                if cell not in by_cell and len(by_cell) < arguments.show:
                    print(f"==== {name_of(entry)}: {shown(cell)}\n{difference}\n", flush=True)
                elif arguments.list:
                    print(f"==== {name_of(entry)}: {shown(cell)}", flush=True)
                by_cell[cell] += 1
    differ = counts["cells", False] + counts["cells", True]
    print(f"{len(inputs)} inputs, {counts['compared']} cells: {counts['compared'] - differ} equal, "
          f"{counts['cells', True]} differ as intended, {counts['cells', False]} differ")
    for cell, count in by_cell.most_common():
        print(f"  {count} differ in {shown(cell)}")
    print(f"inputs whose values differ: {counts['values', False]}, and {counts['values', True]} as intended")
    for row in rows:
        if row.used:
            print(f"  {row.used} cells by line {row.number} of the table: {row.reason}")
        elif not arguments.is_partial:
            print(f"  line {row.number} of the table matches no difference: {row.reason}")
    return 1 if counts["cells", False] + counts["values", False] else 0


def parse_part(text):
    """(K, N) from K/N."""
    number, count = map(int, text.split("/"))
    return number, count


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/golden", description="Compares what the program of the working tree prints and writes with an earlier "
        "revision, for a matrix of inputs and commands. tests/golden/differences.tsv lists the intended differences. Exit "
        "status 1 if anything else differs.")
    parser.add_argument("revision", nargs="?", help="the revision to compare with; it is built")
    parser.add_argument("--reference", metavar="FILE", help="a program to compare with, instead of a revision")
    parser.add_argument("--program", metavar="FILE", help="the program to compare; default: that of the working tree")
    parser.add_argument("--table", metavar="FILE", default=TABLE, help="the intended differences")
    parser.add_argument("--part", type=parse_part, default=(0, 1), metavar="K/N",
                        help="every N-th input only, from the K-th, which is 0 to N - 1")
    parser.add_argument("--quick", action="store_true", help="a part of the matrix")
    parser.add_argument("--inputs", metavar="PATTERN", help="only inputs whose names match, as in a shell")
    parser.add_argument("--mutants", type=int, default=0, metavar="N", help="also compare N mutated blocks")
    parser.add_argument("--show", type=int, default=10, metavar="N", help="print the first difference of each of the first N cells")
    parser.add_argument("--list", action="store_true", help="name every input and cell that differs")
    parser.add_argument("--jobs", type=int, default=2, help="the number of processes")
    arguments = parser.parse_args()
    if (arguments.revision is None) == (arguments.reference is None):
        parser.error("give a revision or --reference")
    return arguments


def main():
    arguments = parse_arguments()
    prepare_files(arguments.mutants)
    programs = [pathlib.Path(arguments.reference) if arguments.reference else build_revision(arguments.revision),
                pathlib.Path(arguments.program) if arguments.program else build(ROOT, "tree")]
    for program in programs:
        if not os.access(program, os.X_OK):
            sys.exit(f"{program} is no program")
    programs = [program.resolve() for program in programs]
    inputs = quick_inputs() if arguments.quick else all_inputs(arguments.mutants)
    first, step = arguments.part
    inputs = inputs[first::step]
    if arguments.inputs:
        inputs = [entry for entry in inputs if fnmatch.fnmatchcase(name_of(entry), arguments.inputs)]
    arguments.is_partial = arguments.quick or step > 1 or arguments.inputs
    return report(inputs, programs, arguments)


if __name__ == "__main__":
    sys.exit(main())
