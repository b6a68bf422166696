# SPDX-License-Identifier: MIT
"""Compares how the program and the Python readers of this folder read perfmon
logs, binary and text.

The inputs are the seeds and mutations of them, which are random but the same in
each run. They are read by `check`, and every eighth by `show`. Records must
agree in their order and in each key, doubles to the last bit, and the first
error in code and offset. If PERFBLOCK_REAL_DATA names the folder of captured
data, its logs are compared too.
"""

import glob
import os

import compare_v1
import log_reader
import pdh_text_reader
import v1
from comparison import (load, name_problem, object_problem, run, same, save,
                        scratch)

MUTANTS = {"log": 64, "pdh_text": 128}  # of each seed
TYPES = {log_reader.PATHS: "paths", log_reader.SAMPLE: "sample",
         log_reader.SUMMARY: "summary", log_reader.NAMES: "names"}
STATUSES = {
    0: "valid_data", 1: "new_data", 0x800007D0: "no_machine",
    0x800007D1: "no_instance", 0x800007D3: "item_not_validated",
    0x800007D4: "retry", 0x800007D5: "no_data",
    0x800007D6: "negative_denominator", 0x800007D7: "negative_timebase",
    0x800007D8: "negative_value", 0x800007DB: "query_timeout",
    0xC0000BB8: "no_object", 0xC0000BB9: "no_counter",
    0xC0000BBA: "invalid_data", 0xC0000BBF: "no_counter_name",
    0xC0000BC0: "bad_counter_name", 0xC0000BC3: "cannot_connect",
    0xC0000BDB: "access_denied"}
# The output of `show` for V1 blocks is compared by compare_v1.py.
V1_RECORDS = {"data", "object", "counter", "value"}

compare_v1.CHANGES.update(
    log=[compare_v1.set_number] * 10 + [
        compare_v1.copy_number, compare_v1.set_byte, compare_v1.flip_bit,
        compare_v1.flip_bit, compare_v1.cut_end, compare_v1.cut_out,
        compare_v1.put_in, compare_v1.append],
    pdh_text=[compare_v1.set_byte] * 6 + [
        compare_v1.flip_bit, compare_v1.flip_bit, compare_v1.cut_end,
        compare_v1.cut_out, compare_v1.put_in, compare_v1.append])


# What is expected -----------------------------------------------------------

def with_status(line):
    """A line with the name of its status, and with null for values that this
    status does not have."""
    out = dict(line, status=STATUSES.get(
        line["status"], "unknown_status_0x%08X" % line["status"]))
    if "first" in line and not log_reader.has_value(line["status"]):
        out.update(first=None, second=None)
    return out


def content_lines(content):
    """The records that `show` must print of a record's content."""
    for line in content.lines:
        line = log_reader.public(line)
        if line["record"] == "path":
            line["type_value"] = line.pop("type")
        elif "status" in line:
            line = with_status(line)
        yield line


def content_errors(kind, content):
    """(code, offset in the record) of the errors of a record, in order."""
    for line in content.lines:
        found, base = None, 0
        if "_block" in line:
            found = v1.verdict(v1.decode_block(line["_block"]))
            base = line["offset"] + 8
        elif "_table" in line:
            found = v1.Names(line["_table"]).error
            base = len(content.raw) - len(line["_table"])
        if found:
            yield found[0], base + found[1]
    if content.error:
        yield content.error


def log_expectation(data):
    """The records that `show` prints, and the first error."""
    log = log_reader.Log(data)
    lines, errors = [], []
    if log.header:
        lines.append(dict(log.header, record="log", offset=0))
    for kind, offset, time, parts in log.records:
        raw = b"".join(part for _, part in parts)
        lines.append({"record": "record", "offset": offset, "time": time,
                      "type": TYPES[kind], "size": len(raw),
                      "parts": len(parts)})
        content = log_reader.read_record(kind, raw)
        lines += content_lines(content)
        errors += [(code, log_reader.place(parts, at))
                   for code, at in content_errors(kind, content)]
    if log.error:
        errors.append(log.error)
    return lines, errors[0] if errors else None


def is_sound_log(data):
    """Whether a log is valid; V1 blocks and name tables in it are not checked."""
    log = log_reader.Log(data)
    return log.error is None and not any(
        log_reader.read_record(kind, b"".join(
            part for _, part in parts)).error
        for kind, _, _, parts in log.records)


def text_expectation(data):
    """The records that `show` prints, and the first error."""
    text = pdh_text_reader.Text(data)
    lines = []
    for kind, offset, first, second in text.lines if text.is_open else []:
        if kind == "header":
            lines.append(dict(first, record="text_log", offset=offset))
            lines += [{"record": "column", "offset": at, "column": column}
                      for column, (at, _) in enumerate(second)]
            continue
        lines.append({"record": "row", "offset": offset, "time": first})
        lines += [{"record": "value", "offset": at, "column": column,
                   "value": value} for column, (at, value) in enumerate(second)]
    return lines, text.error


def is_of_log(record):
    """Whether a printed record is one of the log itself, and not of a V1 block
    or of a name table in it."""
    if record["record"] == "instance":
        return "object" not in record
    return record["record"] not in V1_RECORDS and record[
        "record"] not in ("name", "note", "error")


def is_of_text(record):
    """Whether a printed record is one of the text log."""
    return record["record"] not in ("note", "error")


# (--kind, function that returns the expected records and error, function that
# selects the printed records to compare, function that says whether a file is
# valid) of each folder of the corpus.
KINDS = {"log": ("log", log_expectation, is_of_log, is_sound_log),
         "pdh_text": ("log", text_expectation, is_of_text,
                      lambda data: pdh_text_reader.Text(data).error is None)}


# Comparing ------------------------------------------------------------------

def show_problem(program, subject, path, lines, error):
    """Compares `show` of an input."""
    kind, _, is_compared, _ = KINDS[subject]
    status, objects, problem, _ = run(program, "show", "--kind", kind, path)
    if problem:
        return problem
    if status != (1 if error else 0):
        return "exit %s, expected %s" % (status, error)
    actual = [item for item in objects if is_compared(item)]
    for expected, printed in zip(lines, actual):
        found = object_problem(expected, printed)
        if found:
            return found
    if len(lines) != len(actual):
        return "%d records, expected %d" % (len(actual), len(lines))
    return None


def check_problem(error, line):
    """Compares a verdict of `check`."""
    if line.get("valid") is not (error is None):
        return "%s, expected %s" % (line, error)
    if error and (not same(error[0], line["code"]) or
                  not same(error[1], line["offset"])):
        return "%s at %s, expected %s" % (line["code"], line["offset"], error)
    return None


def compare_inputs(program, subject, batch):
    """(label, problem) of `check` for all inputs, and of `show` for some."""
    kind, expect, _, _ = KINDS[subject]
    with scratch() as folder:
        paths = save(folder, batch)
        _, objects, problem, _ = run(program, "check", "--kind", kind, *paths)
        if problem or len(objects) != len(paths):
            return [(batch[0][0], problem or "%d verdicts" % len(objects))]
        out = []
        for number, ((label, data), path) in enumerate(zip(batch, paths)):
            lines, error = expect(data)
            out.append((label + " (check)",
                        check_problem(error, objects[number])))
            if number % 8 == 0:
                out.append((label + " (show)", show_problem(
                    program, subject, path, lines, error)))
        return out


def is_read_as(subject, data):
    """Whether --kind log reads data as this format. It reads data as a binary
    log if there are no bytes or one of the first four is 0."""
    is_text = data != b"" and (0 not in data[:4] or
                               pdh_text_reader.is_recognised(data))
    return is_text == (subject == "pdh_text")


def compare_seed_name(_, path, valid):
    """(label, problem) for the name of a seed; `valid` is whether the seed is
    valid."""
    return [(path, name_problem(path, valid))]


def jobs(corpus, step):
    """Comparisons of all seeds and one mutation in `step`: (function,
    arguments after `program`...)."""
    for subject, suffix in (("log", ".blg"), ("pdh_text", ".csv")):
        count = MUTANTS[subject] // step
        seeds = list(load(corpus, subject, suffix))
        if not seeds:
            raise FileNotFoundError("seeds are missing: " + subject)
        for path, seed in seeds:
            name = os.path.basename(path)
            yield (compare_seed_name, path, KINDS[subject][3](seed))
            inputs = [(name, seed)] + list(
                compare_v1.mutants(subject, name, seed, count))
            inputs = [(label, data) for label, data in inputs
                      if is_read_as(subject, data)]
            if inputs:
                yield compare_inputs, subject, inputs
    folder = os.environ.get("PERFBLOCK_REAL_DATA")
    for path in sorted(glob.glob(os.path.join(folder or "", "blg", "*.blg"))
                       if folder else []):
        with open(path, "rb") as file:
            data = file.read()
        subject = "pdh_text" if os.path.basename(path).startswith(
            "text") else "log"
        yield (compare_inputs, subject, [(os.path.basename(path), data)])
