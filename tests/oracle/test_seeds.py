# SPDX-License-Identifier: MIT
"""The corpus has the seeds of the writers in this folder, and the readers of
this folder accept exactly the seeds named valid_*.

Run with: python3 -m unittest test_seeds. compare.py and the vectors compare
what the readers return with what the library returns.
"""

import os
import unittest

import blocks
import capture_seeds
import compare_log
import cook
import log_seeds
import make_seeds
import pdh_text_reader
import pdh_text_seeds
import v1
import v1_cook
import v1_seeds

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                      "corpus")
LISTS = {11: blocks.decode_guids, 12: blocks.decode_identifiers,
         13: blocks.decode_instance_list}


def decode_registration(seed):
    """The items of a metadata seed, read by the decoder that its first byte
    selects."""
    if seed[0] in LISTS:
        return LISTS[seed[0]](seed[1:])
    return blocks.decode_registration(seed[1:], seed[0])


def problem(items):
    """Whether blocks.py finds an error in these items."""
    return blocks.collect(items)[1]


# (subject, seeds, function that returns the error of a seed, or None)
READERS = (
    ("v2", make_seeds.v2_seeds(),
     lambda seed: problem(blocks.decode_file(seed))),
    ("metadata", make_seeds.registration_seeds(),
     lambda seed: problem(decode_registration(seed))),
    ("query", {name: seed for name, seed in make_seeds.query_seeds().items()
               if seed[0] % 2 == 0},
     lambda seed: problem(blocks.decode_identifiers(seed[1:]))),
    ("capture", capture_seeds.capture_seeds(),
     lambda seed: cook.cook(seed)[1] or None),
    ("v1", v1_seeds.v1_seeds(), lambda seed: v1.verdict(v1.decode_file(seed))),
    ("name_table", v1_seeds.name_table_seeds(),
     lambda seed: v1.Names(seed).error),
    ("log", log_seeds.log_seeds(),
     lambda seed: None if compare_log.is_sound_log(seed) else
     compare_log.log_expectation(seed)[1] or "an object that is no V1 block"),
    ("pdh_text", pdh_text_seeds.pdh_text_seeds(),
     lambda seed: pdh_text_reader.Text(seed).error))
# The errors that the seeds of a subject must have, all of them.
CODES = {
    "v1": {
        "truncated_header", "truncated_block", "truncated_object",
        "truncated_definition", "truncated_instance",
        "truncated_counter_block", "unknown_format", "bad_total_size",
        "bad_byte_order", "bad_header_size", "bad_object_count",
        "bad_object_size", "bad_definition_length", "bad_counter_count",
        "bad_instance_count", "bad_definition_size", "bad_instance_size",
        "bad_counter_block_size", "bad_counter_offset", "bad_name",
        "excessive_values"},
    "log": {
        "truncated_header", "truncated_string", "truncated_buffer",
        "truncated_record", "truncated_log", "truncated_event",
        "truncated_item", "bad_string_offset", "overlapping_strings",
        "bad_instance_count", "bad_buffer_size", "bad_buffer_used",
        "bad_event_size", "bad_log_header", "bad_record_size", "bad_item",
        "bad_item_size", "unknown_format"}}


class Seeds(unittest.TestCase):
    """Seeds are valid or broken as their names say."""

    def test_valid_seeds_are_accepted(self):
        """A reader accepts the seeds named valid_* and no others."""
        for subject, seeds, error_of in READERS:
            codes = set()
            for name, seed in seeds.items():
                error = error_of(seed)
                with self.subTest(subject, name=name):
                    self.assertEqual(name.startswith("valid_"), error is None)
                if isinstance(error, tuple):
                    codes.add(error[0])
                    self.assertTrue(0 <= error[1] <= len(seed), name)
            self.assertLessEqual(CODES.get(subject, set()), codes)

    def test_truncated_seeds_raise_no_exception(self):
        """Truncated captures, blocks and name tables have an error at most."""
        for seed in capture_seeds.capture_seeds().values():
            for size in range(0, len(seed), 7):
                cook.cook(seed[:size])
        for seed in v1_seeds.v1_seeds().values():
            for size in range(0, len(seed), 7):
                v1_cook.cook_files([seed[:size], seed])
        for seed in v1_seeds.name_table_seeds().values():
            for size in range(len(seed)):
                v1.Names(seed[:size])

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


if __name__ == "__main__":
    unittest.main()
