#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target interfaces:
`make_interfaces_seeds.py CORPUS`.

Each one has a file of the targets collect and stream, which it reads from
CORPUS, texts, and calls (fuzz/interfaces_fuzzer.c). Every run writes the same
bytes.
"""

import pathlib
import re
import struct
import sys

from seed_files import write_seeds

TARGET = pathlib.Path(__file__).resolve().parents[2] / "fuzz/interfaces_fuzzer.c"
OPERATIONS = {(sized if sized != "NULL" else plain): number
              for number, (sized, plain) in enumerate(re.findall(
                  r"^    \{(\w+), \w+, (\w+)\},$", TARGET.read_text(), re.M))}
WIDE = 128
NO_TEXT, FOUND = 255, 128
REAL_TIME = 7  # as the number that chooses a source
TEXTS = (r"\*(*)\*", r"\*\*", r"\Processor(_Total)\% Processor Time",
         "Processor", r"\\localhost\Processor Information(0,0#0)\% Idle Time",
         "a/b#1", "% Processor Time", r"\Proc*(*)\*", "")

# What the calls do: (operation, handle, text, number, buffer), each with W or A
# functions.
COUNTERS = (
    ("open_query", 0, 0, REAL_TIME, 0), ("expand", 0, 0, REAL_TIME, 0),
    ("add_counter", 0, 2, 1, 0), ("add_counter", 0, FOUND, 0, 0),
    ("add_counter", 0, FOUND + 1, 1, 0), ("add_counter", 0, 0, 1, 0),
    ("formatted_value", 2, 0, 0, 0), ("collect", 0, 1, 1, 0),
    ("formatted_value", 2, 0, 3, 0), ("formatted_array", 1, 0, 0, 0),
    ("raw_array", 2, 0, 0, 4), ("counter_info", 1, 0, 1, 0),
    ("raw_value", 1, 3, 0, 0), ("scale", 1, 0, 13, 0),
    ("statistics", 1, 0, 5, 0), ("collect", 0, 0, 0, 0),
    ("formatted_array", 3, 0, 0, 4), ("remove_counter", 1, 0, 0, 0),
    ("close_query", 0, 0, 0, 0), ("formatted_value", 1, 0, 0, 0))
LISTS = (
    ("bind_sources", 0, 0, 1, 0), ("machines_of_log", 0, 0, 0, 0),
    ("objects_of_log", 0, NO_TEXT, 50, 0), ("expand_of_log", 0, 0, 0, 0),
    ("instances_of_object", 0, FOUND + 1, 50, 0),
    ("counters_of_object", 0, FOUND + 1, 0, 0), ("objects", 50, NO_TEXT, 23, 0),
    ("default_object", 0, NO_TEXT, 7, 0), ("default_counter", 0, 3, 0, 0),
    ("name_of_index", 0, NO_TEXT, 118, 0), ("index_of_name", 0, 3, 0, 0),
    ("translate", 0, 2, 1, 0), ("validate", 0, FOUND + 2, 0, 0),
    ("parse_path", 0, 4, 0, 0), ("instance_name", 0, 5, 1, 0),
    ("make_path", 3, 3, 6, 0), ("expand_path", 0, 7, 0, 0),
    ("machines", 0, 0, 0, 0), ("close_log", 0, 0, 0, 0))
LOGS = (
    ("bind_sources", 0, 0, 2, 0), ("open_query_of_log", 0, 0, 0, 0),
    ("expand_of_log", 0, 0, 0, 0), ("add_counter", 1, FOUND, 1, 0),
    ("add_counter", 1, FOUND + 3, 1, 0), ("time_range_of_log", 0, 0, 0, 0),
    ("time_range", 0, 0, 0, 0), ("set_range", 1, 0, 0, 0),
    ("collect", 1, 1, 3, 0), ("formatted_value", 2, 0, 3, 0),
    ("raw_record", 0, 240, 0, 0), ("about_log", 0, 0, 0, 0),
    ("open_log", 1, 1, 0, 0), ("log_sets", 0, 0, 0, 0),
    ("no_function", 0, 0, 0, 0), ("make_event", 0, 0, 0, 0),
    ("start_thread", 1, 0, 5, 0), ("use_event", 5, 0, 1, 0),
    ("format_raw", 10, 0, 33, 1), ("use_event", 5, 0, 2, 0))
# The handle is a key: 0 to 2 the performance keys, 3 HKEY_LOCAL_MACHINE, from 128
# on a handle. The text is the name of a value or key.
KEYS = (
    ("read_key", 0, 0, 0, 0), ("read_key", 0, 1, 0, 0), ("read_key", 0, 0, 0, 2),
    ("read_key", 1, 2, 0, 0), ("read_key", 2, 3, 0, 0), ("read_key", 5, 4, 3, 3),
    ("read_key", 0, 0, 255, 2), ("read_key", 0, 8, 0, 0),
    ("open_key", 3, 0, 0, 0), ("read_key", 128, 7, 0, 0),
    ("list_key", 128, 0, 3, 41), ("list_key", 128, 0, 3, 40),
    ("open_key", 128, 3, 0, 0), ("read_key", 129, 4, 0, 0),
    ("open_key", 3, 1, 0, 0), ("list_key", 1, 1, 1, 80),
    ("connect_key", 0, NO_TEXT, 0, 0), ("read_key", 131, 0, 0, 0),
    ("list_key", 0, 0, 0, 41), ("close_key", 129, 0, 0, 0),
    ("read_key", 129, 4, 0, 0), ("close_key", 0, 0, 0, 0),
    ("read_key", 0, 0, 0, 0))
FILES = (
    ("collect/seeds/valid_moving_instances.pfb", COUNTERS, LISTS, KEYS),
    ("collect/seeds/valid_two_queries.pfb", COUNTERS, LOGS),
    ("collect/seeds/valid_v1.pfb", COUNTERS, LISTS, LOGS, KEYS),
    ("stream/seeds/valid_parts.bin", COUNTERS),
    ("stream/seeds/valid_counters.blg", COUNTERS, LISTS, LOGS, KEYS),
    ("stream/seeds/valid_objects.blg", LOGS, KEYS),
    ("stream/seeds/valid_csv.csv", COUNTERS, LOGS),
    ("stream/seeds/broken_zeros_before_block.bin", LISTS),
)


def seed(source, content, calls, wide):
    texts = "\0".join(TEXTS).encode()
    return struct.pack("<BHH", source, len(content), len(texts)) + content + texts + b"".join(
        bytes([OPERATIONS[name] + wide, *arguments]) for name, *arguments in calls)


def main():
    """Command line."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    seeds = []
    for name, *scripts in FILES:
        path = pathlib.Path(sys.argv[1]) / name
        for number, calls in enumerate(scripts):
            for wide in (0, WIDE):
                is_recording = path.suffix in (".pfb", ".bin")
                source = int(not is_recording or number % 2 == 1)
                seeds.append((f"{path.stem}_{number}{'_wide' if wide else ''}",
                              seed(source, path.read_bytes(), calls, wide)))
    return write_seeds(__doc__, {"interfaces": seeds})


if __name__ == "__main__":
    sys.exit(main())
