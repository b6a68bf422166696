#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the layout tables of docs/ from the descriptions of fields in
cli/visitor/fields.c and fields.h, which the command show uses as well.

    scripts/make_layouts.py [--check]

A layout table of a page is a table that begins with HEAD. With --check nothing
is written; the exit status is 1 if a page is out of date."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = "| structure, bytes | offset | type | field | key in show | meaning |\n|---|---|---|---|---|---|\n"
# {page: names of the structures in each of its layout tables}
PAGES = {
    "v2": [["data_header", "counter_header", "multi_counters", "multi_instances", "instance_header", "counter_data"]],
    "v1": [["data_block", "object_type", "counter_definition", "instance_definition", "counter_block"]],
    "metadata": [["counterset_reg_info", "counter_reg_info", "string_buffer", "string_counter", "identifier",
                 "instance_header"]],
    "capture": [["chunk"]],
    "log": [["log_buffer", "log_header", "log_zone", "log_event", "log_paths", "log_path", "log_sample", "log_item",
            "log_counter", "log_instances", "log_instance", "log_summary"]],
    "lwp": [["lwp_control"], ["lwp_event"]],
    "cpi": [["cpi_hook"],
            ["cpi_label", "cpi_summary", "cpi_system", "cpi_processors", "cpi_thread", "cpi_counts",
             "cpi_scaled_counts"]],
}
TABLE_IN_PAGE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)*")
ARRAY = re.compile(r"static const field (\w+)\[\] = \{\n(.*?)\n\};", re.S)
ROW = re.compile(r'\{(\d+), (\d+), FIELD_(\w+), "([^"]*)",\s*"([^"]*)",\s*"((?:[^"\\]|\\.|"\s*")*)",\s*"[^"]*"\}')
TABLE = re.compile(r'X\(\w+, "([^"]+)", (\d+), (\w+), \d+\)')


def type_of(kind, size):
    """How the tables write the type of a field."""
    if size == 0:
        return ""
    if kind in ("GUID", "ASCII", "BYTES"):
        return {"GUID": "GUID", "ASCII": "%d x char" % size, "BYTES": "%d bytes" % size}[kind]
    if kind in ("SYSTEM_TIME", "UTF16"):
        return "%d x u16" % (size // 2)
    if kind in ("HIGH_LOW", "FIGURE"):
        return {"HIGH_LOW": "H L", "FIGURE": "I F"}[kind]
    return "%s%d" % ("s" if kind == "SIGNED" else "u", 8 * size)


def layout(text, names):
    """The table of these structures."""
    rows = {name: ROW.findall(body) for name, body in ARRAY.findall(text)}
    structures = {array: (name, size) for name, size, array in TABLE.findall(text)}
    lines = []
    for name in names:
        is_sdk = structures[name][0].startswith(("PERF_", "TIME_"))
        title = ("`%s`, %s" if is_sdk else "%s, %s") % structures[name]
        end = int(rows[name][0][0])
        for offset, size, kind, field, key, meaning in rows[name]:
            meaning = re.sub(r'"\s*"', "", meaning)
            if int(offset) != end:
                sys.exit("%s: no field at %d" % (name, end))
            end += int(size)
            field = "`%s`" % field if is_sdk and size != "0" and field else field
            meaning = meaning.replace('\\"', '"').replace("|", "\\|")
            cells = (title, offset, type_of(kind, int(size)), field, key and "`%s`" % key, meaning)
            lines.append("|%s\n" % "".join(" %s |" % cell if cell else " |" for cell in cells))
            title = ""
        if end != int(structures[name][1]):
            sys.exit("%s: fields end at %d" % (name, end))
    return HEAD + "".join(lines)


def main():
    """Writes the tables, or compares them with --check."""
    is_check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not is_check:
        sys.exit(__doc__)
    text = "".join((ROOT / "cli/visitor" / name).read_text(encoding="utf-8") for name in ("fields.h", "fields.c"))
    status = 0
    for page, tables in PAGES.items():
        path = ROOT / "docs" / (page + ".md")
        old = path.read_text(encoding="utf-8")
        names = iter(tables)
        new, count = TABLE_IN_PAGE.subn(lambda _: layout(text, next(names, [])), old)
        if count != len(tables):
            sys.exit("%s: expected %d layouts" % (path, len(tables)))
        if new != old and is_check:
            print("%s: out of date; run scripts/make_layouts.py" % path.relative_to(ROOT))
            status = 1
        elif new != old:
            path.write_text(new, encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
