# SPDX-License-Identifier: MIT
"""Compares how the program and the Python readers of this folder read V1 blocks
and name tables.

The inputs are the seeds, mutations of them, which are random but the same in
each run, and the sequences of v1_sequences.py. They are read by `show`, by
`check` and, if they are blocks, as consecutive samples by `cook`. Records and
lines must agree in their order and in each key, doubles to the last bit, and
errors in code and offset. If PERFBLOCK_REAL_DATA names the folder of captured
data, its blocks and name tables are compared too.
"""

import glob
import os
import random
import re
import struct
from collections import defaultdict

import v1
import v1_cook
import v1_sequences
from comparison import (list_problem, load, name_problem, object_problem, run,
                        save, scratch)

MUTANTS = {"v1": 64, "name_table": 64}  # of each seed
MAX_FILES = 400  # per `check`, because command lines of Windows are limited
SHUFFLES = 16  # orders of all blocks as consecutive samples
NAMES_SEED = "valid_text.bin"  # the name table used with blocks
# The blocks that name tables are used with, consecutively.
NAMED_SEEDS = ("valid_instances.bin", "valid_two_objects.bin")
# Numbers that mutations write to fields.
NUMBERS = (0, 1, 2, 3, 4, 8, 24, 40, 64, 88, 0x100, 0x7FFFFFFF, 0x80000000,
           0xFFFFFFFC, 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF,
           # Types: with a base, a base, with a multi count, a multi count,
           # elapsed, text.
           0x40020500, 0x40030402, 0x22410500, 0x42030500, 0x30240500, 0xB00,
           # Code pages.
           437, 932, 1200, 1201, 1252, 20127, 28591, 65001)
NEAR = (-8, -4, -2, -1, 1, 2, 4, 8)  # that mutations add to fields
# Bytes with a meaning in a name or in its encoding.
LETTERS = b"\0\t\n\r 019A\"\\\x7f\x80\x81\x9f\xa0\xc3\xd8\xdf\xe2\xed\xf0\xff"
ERROR_LINE = re.compile(r"(.*): offset ([0-9]+): ([a-z][a-z0-9_]*): .+")


# Mutations ------------------------------------------------------------------

def set_number(draw, copy):
    """Sets a 32-bit field to one of NUMBERS or adds one of NEAR to it."""
    if len(copy) < 4:
        return
    at, order = draw.randrange(len(copy) // 4) * 4, draw.choice("<<<>")
    old, = struct.unpack_from(order + "I", copy, at)
    new = draw.choice((draw.choice(NUMBERS), old + draw.choice(NEAR)))
    struct.pack_into(order + "I", copy, at, new & 0xFFFFFFFF)


def copy_number(draw, copy):
    """Copies a 32-bit field to another place."""
    if len(copy) >= 4:
        source, target = (draw.randrange(len(copy) // 4) * 4 for _ in "12")
        copy[target:target + 4] = copy[source:source + 4]


def set_byte(draw, copy):
    """Sets a byte to one of LETTERS."""
    if copy:
        copy[draw.randrange(len(copy))] = draw.choice(LETTERS)


def flip_bit(draw, copy):
    """Flips a bit."""
    if copy:
        copy[draw.randrange(len(copy))] ^= 1 << draw.randrange(8)


def cut_end(draw, copy):
    """Removes the last bytes."""
    del copy[draw.randrange(len(copy) + 1):]


def cut_out(draw, copy):
    """Removes some bytes."""
    at = draw.randrange(len(copy) + 1)
    del copy[at:at + draw.choice((1, 2, 4, 8))]


def put_in(draw, copy):
    """Inserts bytes of LETTERS."""
    at = draw.randrange(len(copy) + 1)
    copy[at:at] = bytes(draw.choice(LETTERS)
                        for _ in range(draw.choice((1, 2, 4, 8))))


def append(draw, copy):
    """Appends nothing, zeros, a digit and zeros, or the whole input again."""
    copy += draw.choice((b"", bytes(60), bytes(7), b"\x30" + bytes(59),
                         bytes(copy)))


CHANGES = {
    "v1": [set_number] * 10 + [
        copy_number, set_byte, flip_bit, flip_bit, cut_end, cut_out, put_in,
        append],
    "name_table": [set_byte] * 6 + [
        flip_bit, flip_bit, cut_end, cut_out, put_in, append],
}


def mutants(subject, name, seed, count):
    """(label, bytes) of mutations of a seed, the same in each run."""
    draw = random.Random(name)
    for number in range(count):
        copy = bytearray(seed)
        for _ in range(draw.choice((1, 1, 2, 4))):
            draw.choice(CHANGES[subject])(draw, copy)
        yield "%s mutation %d" % (name, number), bytes(copy)


# What is expected -----------------------------------------------------------

def block_records(data, titles):
    """The records that `show` must print of a block."""
    for record in v1.decode_file(data):
        if record["record"] == "object":
            record = dict(record, name=titles.get(record["object"]))
        elif record["record"] == "counter":
            record = dict(record, name=titles.get(record["counter"]))
        yield record


def table_records(data):
    """The records that `show` must print of a name table."""
    table = v1.Names(data)
    for index, name, offset in table.pairs:
        yield {"record": "name", "offset": offset, "index": index,
               "name": name}
    if table.notes:
        yield {"record": "note", "offset": 0, "tolerated": sorted(table.notes)}
    if table.error:
        yield {"record": "error", "code": table.error[0],
               "offset": table.error[1]}


def titles_of(table):
    """{index: name} of a table; of equal indexes the first is used."""
    return {index: name for index, name, _ in reversed(table.pairs)}


# Comparing ------------------------------------------------------------------

def stream_problems(parts, actual):
    """(label, problem) of each input. `actual` has the records of all inputs
    one after the other. After the first disagreement it is not known where
    those of the next input begin, so the comparison ends."""
    at = 0
    for label, expected in parts:
        for wanted in expected:
            if at == len(actual):
                yield label, "the output ends before %s" % wanted
                return
            problem = object_problem(wanted, actual[at])
            if problem:
                yield label, problem
                return
            at += 1
        yield label, None
    if at < len(actual):
        yield parts[-1][0], "more than expected: %s" % actual[at]


def status_problem(status, is_broken):
    """A problem if the exit status is not 1 for broken inputs or not 0 for
    others."""
    if status != (1 if is_broken else 0):
        return "exit %s, expected %d" % (status, is_broken)
    return None


def show_problems(program, kind, inputs, names=None):
    """(label, problem) of `show` for inputs (path, label, bytes)."""
    titles = titles_of(names[1]) if names else {}
    parts = [(label + " (show)", list(
        table_records(data) if kind == "names" else
        block_records(data, titles))) for _, label, data in inputs]
    extra = ["--names", names[0]] if names else []
    status, objects, problem, _ = run(program, "show", "--kind", kind, *extra,
                                      *(path for path, _, _ in inputs))
    if problem:
        return [(parts[0][0], problem)]
    if kind == "v1":  # v1.decode_file() returns no notes
        objects = [item for item in objects if item.get("record") != "note"]
    broken = any(record["record"] == "error"
                 for _, records in parts for record in records)
    return list(stream_problems(parts, objects)) + [
        (parts[0][0] + " exit", status_problem(status, broken))]


def check_problem(kind, line, data):
    """Compares a verdict of `check`."""
    if kind == "names":
        table = v1.Names(data)
        found, tolerated = table.error, sorted(table.notes)
    else:
        found, tolerated = v1.verdict(v1.decode_file(data)), None
    expected = {"kind": kind, "size": len(data), "valid": found is None}
    if tolerated is not None:
        expected["tolerated"] = tolerated
    if found and found[0]:
        expected.update(code=found[0], offset=found[1])
    if found is None and ("code" in line or "offset" in line):
        return "a valid file with a code or an offset: %s" % line
    return object_problem(expected, line)


def check_problems(program, kind, inputs):
    """(label, problem) of `check` for inputs, MAX_FILES per run."""
    if len(inputs) > MAX_FILES:
        return (check_problems(program, kind, inputs[:MAX_FILES]) +
                check_problems(program, kind, inputs[MAX_FILES:]))
    status, objects, problem, _ = run(program, "check", "--kind", kind,
                                      *(path for path, _, _ in inputs))
    if problem is None and [item.get("file") for item in objects] != [
            path for path, _, _ in inputs]:
        problem = "the output does not have one verdict for each file"
    if problem:
        return [(inputs[0][1] + " (check)", problem)]
    broken = any(item.get("valid") is not True for item in objects)
    return [(label + " (check)", check_problem(kind, line, data))
            for line, (_, label, data) in zip(objects, inputs)] + [
        (inputs[0][1] + " (check) exit", status_problem(status, broken))]


def stderr_problem(inputs, errors, stderr):
    """Compares the errors on standard error: all those of each file, in their
    order. The order of the files is not specified."""
    printed = defaultdict(list)
    for line in stderr.splitlines():
        if ": note: " in line:
            continue
        match = ERROR_LINE.fullmatch(line)
        if not match:
            return "%r is no error of a file" % line
        printed[match[1]].append({"record": "error", "code": match[3],
                                  "offset": int(match[2])})
    for number, (path, _, _) in enumerate(inputs):
        problem = list_problem([error for error in errors
                                if error["_file"] == number],
                               printed.pop(path, []))
        if problem:
            return "errors of %s: %s" % (path, problem)
    return "errors of other files: %s" % printed if printed else None


def cook_problems(program, inputs, names=None):
    """(label, problem) of `cook` for blocks that are consecutive samples."""
    lines, errors = v1_cook.cook_files(
        [data for _, _, data in inputs], names and names[1])
    labels = "%s and the following (cook)" % inputs[0][1]
    extra = ["--names", names[0]] if names else []
    status, objects, problem, stderr = run(program, "cook", "--kind", "v1",
                                           *extra,
                                           *(path for path, _, _ in inputs))
    if problem:
        return [(labels, problem)]
    printed = [item for item in objects if "record" not in item]
    parts = defaultdict(list)
    for line in lines:
        parts["%s sample %d" % (labels, line["sample"])].append(line)
    return list(stream_problems(list(parts.items()) or [(labels, [])],
                                printed)) + [
        (labels + " exit", status_problem(status, bool(errors))),
        (labels + " errors", stderr_problem(inputs, errors, stderr))]


# Jobs -----------------------------------------------------------------------

def saved(directory, batch):
    """Writes a batch (label, bytes) to files: (path, label, bytes) each."""
    return [(path, label, data) for path, (label, data)
            in zip(save(directory, batch), batch)]


def compare_blocks(program, batch, table):
    """(label, problem) for blocks that are consecutive samples."""
    path, names = table
    names = (path, v1.Names(names))
    with scratch() as directory:
        inputs = saved(directory, batch)
        return (show_problems(program, "v1", inputs, names) +
                check_problems(program, "v1", inputs) +
                cook_problems(program, inputs, names))


def compare_tables(program, batch):
    """(label, problem) for name tables."""
    with scratch() as directory:
        inputs = saved(directory, batch)
        return (show_problems(program, "names", inputs) +
                check_problems(program, "names", inputs))


def compare_use(program, label, table, block):
    """(label, problem) for a block that is shown and cooked with the names of a
    table. If the table has an error, only that error is compared."""
    with scratch() as directory:
        (path, _, _), item = saved(directory, [("", table), (label, block)])
        names = v1.Names(table)
        if not names.error:
            return (show_problems(program, "v1", [item], (path, names)) +
                    cook_problems(program, [item], (path, names)))
        status, _, problem, stderr = run(program, "show", "--kind", "v1",
                                         "--names", path, item[0])
        error = {"record": "error", "code": names.error[0],
                 "offset": names.error[1], "_file": 0}
        return [(label, problem or status_problem(status, True) or
                 stderr_problem([(path, "", table)], [error], stderr))]


def compare_name(_, path, valid):
    """(label, problem) for the name of a seed; `valid` is whether the seed is
    valid."""
    return [(path + " (name)", name_problem(path, valid))]


def block_jobs(blocks, table, count):
    """Comparisons of blocks: each with its mutations as consecutive samples.
    """
    for path, seed in blocks:
        name = os.path.basename(path)
        yield (compare_name, path,
               v1.verdict(v1.decode_file(seed)) is None)
        yield (compare_blocks, [(name, seed), (name + " again", seed)] + list(
            mutants("v1", name, seed, count)), table)


def shuffled_jobs(blocks, table):
    """Comparisons of all blocks as consecutive samples in random order, in
    which objects and instances are added, removed and moved."""
    for number in range(SHUFFLES):
        batch = [("order %d: %s" % (number, os.path.basename(path)), data)
                 for path, data in blocks]
        random.Random(number).shuffle(batch)
        yield compare_blocks, batch, table


def sequence_jobs(table):
    """Comparisons of the sequences of v1_sequences."""
    for name, blocks in v1_sequences.sequences().items():
        yield compare_blocks, [(name, data) for data in blocks], table


def table_jobs(tables, block, count):
    """Comparisons of name tables."""
    for path, seed in tables:
        name = os.path.basename(path)
        changed = list(mutants("name_table", name, seed, count))
        yield (compare_name, path, v1.Names(seed).error is None)
        yield (compare_tables, [(name, seed)] + changed)
        for label, data in [(name, seed)] + changed[:1]:
            yield (compare_use, label + " (names)", data, block)


def real_jobs(folder):
    """Comparisons of captured name tables, and of captured blocks, separately
    for each object."""
    groups, tables = defaultdict(list), []
    for path in sorted(glob.glob(os.path.join(folder, "v1", "*"))):
        name = os.path.basename(path)
        with open(path, "rb") as file:
            if name.endswith(".bin"):
                groups[name.split("-")[-1]].append((name, file.read()))
            elif name.startswith("names-"):
                tables.append((path, file.read()))
    if not groups or not tables:
        raise FileNotFoundError("no V1 blocks, or no names, in " + folder)
    yield (compare_tables, tables)
    for batch in groups.values():
        yield (compare_blocks, batch, tables[0])


def jobs(corpus, step):
    """Comparisons of all seeds and one mutation in `step`: (function,
    arguments after `program`...)."""
    blocks = list(load(corpus, "v1", ".bin"))
    tables = list(load(corpus, "name_table", ".bin"))
    named = [(path, data) for path, data in tables
             if os.path.basename(path) == NAMES_SEED]
    if not blocks or not named:
        raise FileNotFoundError("V1 seeds are missing in " + corpus)
    counts = {subject: count // step for subject, count in MUTANTS.items()}
    block = b"".join(data for path, data in blocks
                     if os.path.basename(path) in NAMED_SEEDS)
    yield from block_jobs(blocks, named[0], counts["v1"])
    yield from shuffled_jobs(blocks, named[0])
    yield from sequence_jobs(named[0])
    yield from table_jobs(tables, block, counts["name_table"])
    folder = os.environ.get("PERFBLOCK_REAL_DATA")
    if folder:
        yield from real_jobs(folder)
