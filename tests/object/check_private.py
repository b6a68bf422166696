#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the private fields of the structs in OWNERS are used only by the sources that own them.

check_private.py --source ROOT --folder FOLDER --compiler CC

The fields below the dashed line of a struct are private. The public headers of core are copied to FOLDER with the name
of each private field of these structs inside a macro. When a C file is compiled, the macro changes the names of the
fields that the file must not use. Exit status 1 if a file uses such a field; each finding is a line.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

# The files that may use the private fields of a struct.
OWNERS = {
    "pfb_v2_reader": ["core/src/perflib/v2.c"],
    "pfb_v1_reader": ["core/src/perflib/v1.c"],
    "pfb_name_table": ["core/src/perflib/name_table.c"],
    "pfb_registration": ["core/src/perflib/metadata.c"],
    "pfb_registration_strings": ["core/src/perflib/metadata.c"],
    "pfb_list": ["core/src/perflib/metadata.c"],
    "pfb_capture": ["core/src/perflib/capture.c"],
    "pfb_log_reader": ["core/src/perflib/log.c"],
    "pfb_log_record": ["core/src/perflib/log.c"],
    "pfb_log_path_reader": ["core/src/perflib/log_record.c"],
    "pfb_log_sample_reader": ["core/src/perflib/log_record.c"],
    "pfb_number_text": ["core/src/perflib/number_text.c"],
    "pfb_pdh_text_reader": ["core/src/perflib/pdh_text.c", "core/src/perflib/pdh_text_cells.c",
                            "core/src/perflib/pdh_text_form.c"],
    "pfb_writer": ["core/src/perflib/write.c", "core/src/perflib/write_v1.c"],
}
FOLDERS = ["core/src", "core/cpi/src", "core/lwp/src", "cli", "platform", "examples", "fuzz", "tests/unit"]
INCLUDES = ["core/include", "core/src", "core/cpi/include", "core/cpi/src", "core/lwp/include", "core/lwp/src",
            "platform/include", "platform", "platform/compat", "cli", "fuzz", "tests", "tests/unit", "tests/criterion"]
# Paths of the sources for Windows and of the one that uses SQLite. They are not checked, because this machine may not have
# the headers.
UNCHECKED_PATHS = re.compile(r"windows|sqlite", re.IGNORECASE)

LINE = re.compile(r"^\s*/\* -{20,} \*/\s*$")
STRUCT = re.compile(r"typedef struct (\w+) \{\n(.*?)\n\} \1;", re.DOTALL)
FIELD = re.compile(r"^(\s*(?:const )?\w+[ *]+)(\w+(?:\[\w+\])?(?:, \*?\w+(?:\[\w+\])?)*);", re.MULTILINE)


def hide(name, private):
    """The private part of a struct with each field name inside the macro of the struct, the number of fields, and the
    number of declarations."""
    plain = re.sub(r"/\*.*?\*/", "", private, flags=re.DOTALL)
    count = 0

    def rename(match):
        nonlocal count
        fields = re.findall(r"(\*?)(\w+)(\[\w+\])?", match[2])
        count += len(fields)
        return match[1] + ", ".join(f"{star}HIDE_{name}({field}){size}" for star, field, size in fields) + ";"

    hidden = FIELD.sub(rename, plain)
    return hidden, count, plain.count(";")


def copy_headers(source, folder):
    """Copies the headers of core. Returns the number of private fields of each struct of OWNERS."""
    found = {}
    for header in sorted((source / "core/include/perfblock").glob("*.h")):
        def replace(match):
            lines = match[2].split("\n")
            dashes = [i for i, line in enumerate(lines) if LINE.match(line)]
            if match[1] not in OWNERS or not dashes:
                return match[0]
            private = "\n".join(lines[dashes[0] + 1:])
            hidden, count, declarations = hide(match[1], private)
            if len(re.findall(r"HIDE_\w+\(\w+\)[^;]*;", hidden)) != declarations:
                raise SystemExit(f"{header.name}: a private field of {match[1]} is not recognised")
            found[match[1]] = count
            return f"typedef struct {match[1]} {{\n" + "\n".join(lines[:dashes[0]]) + f"\n{hidden}\n}} {match[1]};"

        text = STRUCT.sub(replace, header.read_text(encoding="utf-8"))
        copy = folder / "perfblock" / header.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
    missing = sorted(set(OWNERS) - set(found))
    if missing:
        raise SystemExit(f"no private fields found in {', '.join(missing)}")
    return found


def check(source, folder, compiler, includes, file):
    """The compiler's messages about hidden fields in a file, and whether it stopped because a header is missing."""
    relative = file.relative_to(source).as_posix()
    defines = [f"-DHIDE_{name}(field)={'field' if relative in owners else 'hidden_' + chr(35) + chr(35) + 'field'}"
               for name, owners in OWNERS.items()]
    done = subprocess.run(
        [compiler, "-std=gnu11", "-fsyntax-only", "-w", f"-I{folder}", *defines,
         "-DPERFBLOCK_SOURCE_DIR=\"\"", "-DPERFBLOCK_REAL_DATA=\"\"", "-D_GNU_SOURCE", *(f"-I{source / path}" for path in INCLUDES),
         *(f"-I{path}" for path in includes), file],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    findings = [line for line in done.stderr.splitlines() if "no member named" in line or "hidden_" in line]
    return findings, "fatal error:" in done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[], help="a folder of generated headers")
    arguments = parser.parse_args()
    source = arguments.source.resolve()
    fields = copy_headers(source, arguments.folder)
    files = [file for folder in FOLDERS for file in sorted((source / folder).rglob("*.c"))
             if not UNCHECKED_PATHS.search(file.relative_to(source).as_posix())]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda file: check(source, arguments.folder, arguments.compiler, arguments.include,
                                                   file), files))
    findings = [line for lines, _ in results for line in lines]
    stopped = [file for file, (_, is_stopped) in zip(files, results) if is_stopped]
    for file in stopped:
        findings.append(f"{file}: cannot be compiled, a header is missing")
    print(*findings, f"{len(files)} files, {sum(fields.values())} private fields, {len(findings)} findings", sep="\n")
    return 1 if findings or not files else 0


if __name__ == "__main__":
    sys.exit(main())
