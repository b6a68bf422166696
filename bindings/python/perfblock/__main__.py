# SPDX-License-Identifier: MIT
"""Prints the values of files: time, path, value or status, separated by tabs.

    python -m perfblock FILE... [--path PATH]...
"""

import argparse
import os
import sys

import perfblock


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m perfblock", description="Prints the values of files.")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--path", action="append", default=[], help="counter path with * and ?; repeatable")
    given = parser.parse_args()
    with perfblock.open(*given.files, paths=given.path) as reader:
        try:
            for sample in reader:
                for value in sample:
                    shown = repr(value.value) if value.status == "ok" else value.status
                    print(sample.time.isoformat() if sample.time else "", value.series.path, shown, sep="\t")
        except perfblock.Error as error:
            print(error, file=sys.stderr)
            return 1
        finally:
            for note in reader.notes:
                print(f"note: {note}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
