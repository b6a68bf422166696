#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the binary interface of the libraries with tests/object/abi.txt: sizes and members of the structures of the
public headers, enumerators, macros with a value, and functions. Also checks that the libraries export just the functions
that the headers declare, and that macros are literals, which tools such as bindgen and cffi read. The compiler says what the
headers contain: in its debug information and preprocessed text.

Usage: abi.py --compiler GCC [--write] [LIBRARY...]; --write stores the interface.
"""
import argparse
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = pathlib.Path(__file__).with_name("abi.txt")
FOLDERS = [ROOT / name for name in ("core/include", "core/cpi/include", "core/lwp/include", "platform/include")]
ENTRY = re.compile(r"^ <(\d+)><([0-9a-f]+)>: Abbrev Number: \d+(?: \(DW_TAG_(\w+)\))?|^    <[0-9a-f]+> +DW_AT_(\w+) *: (.*)$")
REFERENCE = re.compile(r"<0x([0-9a-f]+)>")
# Macros that are no interface: guards, the version, and the attributes of declarations.
NO_INTERFACE = re.compile(r"PERFBLOCK_\w+|PFB_(API|INLINE|\w+_H)$")

# A constant that tools understand which read headers without calling macros, such as bindgen and cffi.
LITERAL = re.compile(r'macro \w+ ("[^"]*"|(0x[0-9A-F]+|\d+)(u|U|ull)?|\(-\d+\))$')
NO_CONSTANT = re.compile(r"macro PFB_(PDH_\w+ __|PDH_BROWSE_FLAGS |PERFUTIL )")


def run(*command):
    done = subprocess.run([str(part) for part in command], check=False, text=True, capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


class Entry:
    """An entry of the debug information."""

    def __init__(self, tag):
        self.tag = tag
        self.attributes = {}
        self.children = []

    def text(self, name):
        return self.attributes.get(name, "").rpartition("): ")[2].strip()

    def number(self, name):
        return int(self.attributes[name].split()[0], 0) if name in self.attributes else 0


class Types:
    """The types of an object file."""

    def __init__(self, path):
        self.entries = {}
        parents = []
        for line in run("objdump", "--dwarf=info", path).splitlines():
            found = ENTRY.match(line)
            if not found:
                continue
            depth, offset, tag, attribute, value = found.groups()
            if attribute:
                entry.attributes[attribute] = value
            elif tag:
                entry = Entry(tag)
                self.entries[int(offset, 16)] = entry
                del parents[int(depth):]
                if parents:
                    parents[-1].children.append(entry)
                parents.append(entry)

    def target(self, entry):
        found = REFERENCE.match(entry.attributes.get("type", ""))
        return self.entries[int(found[1], 16)] if found else None

    def name(self, entry):
        """A type as text."""
        if entry is None:
            return "void"
        inner = self.name(self.target(entry)) if entry.tag in ("pointer_type", "array_type", "const_type", "volatile_type") else ""
        if entry.tag == "pointer_type":
            return f"{inner}*"
        if entry.tag == "array_type":
            return inner + "".join(f"[{child.number('upper_bound') + 1}]" for child in entry.children)
        if entry.tag in ("const_type", "volatile_type"):
            return f"{entry.tag[:-5]} {inner}"
        return entry.text("name") or entry.tag.removesuffix("_type")

    def describe_members(self, entry, indent):
        for member in entry.children:
            if member.tag != "member":
                continue
            target = self.target(member)
            offset = member.attributes.get("data_member_location", "0").split()[0]
            yield f"{indent}{offset} {self.name(target)} {member.text('name')}".rstrip()
            while target and target.tag == "array_type":
                target = self.target(target)
            if target and target.tag in ("structure_type", "union_type") and not target.text("name"):
                yield from self.describe_members(target, indent + "    ")

    def structures(self):
        """name -> lines"""
        found = {}
        for entry in self.entries.values():
            target = self.target(entry) if entry.tag == "typedef" else entry
            name = entry.text("name")
            if target and target.tag in ("structure_type", "union_type") and name and "byte_size" in target.attributes:
                size = target.number("byte_size")
                found[name] = [f"{target.tag[:-5]} {name} {size}", *self.describe_members(target, "    ")]
        return found

    def enumerators(self):
        return {entry.text("name"): [f"enumerator {entry.text('name')} {entry.number('const_value')}"]
                for entry in self.entries.values() if entry.tag == "enumerator"}


def is_ours(name):
    return not name.startswith("_") and name != "max_align_t"


def read_headers(compiler):
    """The interface as lines, and the names of the functions."""
    headers = sorted(str(path.relative_to(folder)) for folder in FOLDERS for path in folder.rglob("*.h"))
    include = [f"-I{folder}" for folder in FOLDERS]
    with tempfile.TemporaryDirectory() as folder:
        source, compiled = pathlib.Path(folder, "abi.c"), pathlib.Path(folder, "abi.o")
        source.write_text("".join(f"#include <{header}>\n" for header in headers), encoding="ascii")
        run(compiler, "-std=c11", "-g", "-fno-eliminate-unused-debug-types", *include, "-c", source, "-o", compiled)
        types = Types(compiled)
        text = run(compiler, "-std=c11", "-DPFB_API=PFB_EXPORTED", "-E", "-P", *include, source)
        macros = run(compiler, "-std=c11", "-E", "-dM", *include, source)
    lines = []
    for found in (types.structures(), types.enumerators()):
        for name in sorted(filter(is_ours, found)):
            lines += found[name]
    for name, value in sorted(re.findall(r"^#define (PFB_\w+) (.+)$", macros, re.MULTILINE)):
        if not NO_INTERFACE.match(name):
            lines.append(f"macro {name} {value}")
    functions = {re.search(r"(\w+)\(", declaration)[1]: " ".join(declaration.split())
                 for declaration in re.findall(r"PFB_EXPORTED ([^;]+);", text)}
    return lines + [f"function {functions[name]}" for name in sorted(functions)], set(functions)


def exported(libraries):
    """The symbols that shared libraries of these objects export."""
    symbols = run("readelf", "--symbols", "--wide", *libraries)
    return set(re.findall(r" (?:FUNC|OBJECT) +GLOBAL +DEFAULT +\d+ (\w+)$", symbols, re.MULTILINE))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("libraries", nargs="*")
    arguments = parser.parse_args()
    lines, functions = read_headers(arguments.compiler)
    text = "".join(line + "\n" for line in lines)
    if arguments.write:
        GOLDEN.write_text(text, encoding="ascii")
    stored = GOLDEN.read_text(encoding="ascii")
    sys.stdout.writelines(difflib.unified_diff(stored.splitlines(True), text.splitlines(True), GOLDEN.name, "headers", n=2))
    problems = ["abi.txt differs; after a deliberate change run tests/object/abi.py --write"] if stored != text else []
    problems += [f"{line}: not a literal, so bindings lack it" for line in lines
                 if line.startswith("macro ") and not LITERAL.match(line) and not NO_CONSTANT.match(line)]
    if arguments.libraries:
        found = exported(arguments.libraries)
        problems += [f"{name} is declared and not exported" for name in sorted(functions - found)]
        problems += [f"{name} is exported and not declared" for name in sorted(found - functions)]
    if problems:
        raise SystemExit("\n".join(problems))
    print(f"the interface is that of abi.txt: {len(lines)} lines, {len(functions)} functions")


if __name__ == "__main__":
    main()
