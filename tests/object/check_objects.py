#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks properties of compiled objects and libraries (x86 ELF, 32 and 64 bits), and what the sources include.

  objects LIST     the object files named in LIST, one per line:
                     - need no functions except memcpy, memmove, memset, memcmp and those that one of them defines
                     - define only global names that begin with pfb_
                     - have no writable data
                     - contain no recursion, direct or indirect, and no call through a pointer
                     - with --compiler: can be linked if only those four functions are added
  exports LIBRARY  the names that a shared library exports, or the global names of a static one, begin with pfb_
  includes FOLDER  the sources of core, cpi and lwp include only each other, as MODULES allows, and freestanding headers
  platform FOLDER  the folders of platform include only each other, as FOLDERS allows, and public headers
  cli FOLDER       the folders of cli include only themselves and those that follow in CLI_ORDER, and public headers
  modules LIST     each object of LIST calls only into the modules that MODULES allows
  files LIST       no two objects of LIST use functions or data of each other, directly or through other objects
  unused LIST      each global function of the objects of LIST, which make a program, is used by another of them

Exit status 1 if a check fails; each finding is a line.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
from collections import namedtuple

MEMORY_FUNCTIONS = {"memcpy", "memmove", "memset", "memcmp"}
# Symbols that the linker defines, for position-independent code.
LINKER_NAMES = {"_GLOBAL_OFFSET_TABLE_"}
# Functions that gcc adds to position-independent code of 32-bit x86.
COMPILER_PREFIX = "__x86.get_pc_thunk."
SYSTEM_HEADERS = {"stdint.h", "stddef.h", "stdbool.h", "limits.h", "float.h"}

Symbol = namedtuple("Symbol", "value size type bind section name")


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


# ---- Reading one object file -----------------------------------------------------------------------


class Object:
    def __init__(self, path):
        self.path = path
        self.name = pathlib.Path(path).name
        self.sections = self._read_sections()
        self.symbols = self._read_symbols()

    def _read_sections(self):
        """index -> (name, size, flags)"""
        row = re.compile(r"^\s*\[\s*(\d+)\] (\S*)\s+[A-Z_]+\S*\s+[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +([A-Za-z]*) ")
        sections = {}
        for line in run("readelf", "-SW", self.path).splitlines():
            match = row.match(line)
            if match:
                sections[int(match[1])] = (match[2], int(match[3], 16), match[4])
        if not sections:
            raise SystemExit(f"{self.path}: no sections found; is it an object file?")
        return sections

    def _read_symbols(self):
        symbols = []
        for line in run("readelf", "-sW", self.path).splitlines():
            part = line.split()
            if len(part) < 7 or not part[0].rstrip(":").isdigit():
                continue
            # Num: Value Size Type Bind Vis Ndx [Name]; a section's own symbol may have no name
            name = part[7] if len(part) > 7 else ""
            symbols.append(Symbol(int(part[1], 16), int(part[2], 0), part[3], part[4], part[6], name))
        return symbols

    def undefined(self):
        return {s.name for s in self.symbols if s.section == "UND" and s.name}

    def defined(self):
        return {s.name for s in self.symbols if s.section != "UND" and s.bind != "LOCAL" and s.name}

    def writable(self):
        return [(name, size) for name, size, flags in self.sections.values() if "W" in flags and size > 0]

    def function_key(self, symbol):
        """The name of a function in the call graph: a global name of the function, or else the name of the object and
        the static name, which other objects may have, too. Aliases and the part that the compiler moved to
        NAME.cold have the same key as the function."""
        whole = re.sub(r"\.cold(\.\d+)?$", "", symbol.name)
        symbol = next((s for s in self.symbols if s.name == whole and s.type == "FUNC"), symbol)
        place = (symbol.section, symbol.value)
        for other in self.symbols:
            if other.bind != "LOCAL" and other.section != "UND" and (other.section, other.value) == place:
                return other.name
        return f"{self.name}:{symbol.name}"

    def function_at(self, section, offset):
        """The function that contains this offset of a section, and whether the offset is its start."""
        for symbol in self.symbols:
            if symbol.type == "FUNC" and symbol.section.isdigit() and self.sections[int(symbol.section)][0] == section:
                if symbol.value <= offset < symbol.value + max(symbol.size, 1):
                    return symbol, offset == symbol.value
        return None, False

    def symbol_named(self, name):
        for symbol in self.symbols:
            if symbol.name == name and symbol.type in ("FUNC", "NOTYPE"):
                return symbol
        return None


# ---- Calls -----------------------------------------------------------------------------------------

# objdump -dr prints "  88:\tcall   27 <load_le32>", followed on the same line by a relocation such as
# "135: R_X86_64_PLT32\tpfb_cursor_make-0x4" if the linker sets the target.
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(?:(?:bnd|notrack|rep|repz|lock|data16|cs|ds|addr32) )*([a-z0-9]+)\s*(.*)$")
RELOCATION = re.compile(r"\t([0-9a-f]+): (R_\w+)\t(\S+)")
PLACE = re.compile(r"^(\S+?)(?:([+-])0x([0-9a-f]+))?$")


def split_place(place):
    """name+0x1f -> (name, 31)"""
    name, sign, number = PLACE.match(place).groups()
    offset = int(number, 16) if number else 0
    return name, -offset if sign == "-" else offset


class CallReader:
    """Reads one object's disassembly into calls, a set of (caller, callee), and findings."""

    def __init__(self, obj):
        self.obj = obj
        self.calls = set()
        self.findings = []
        self.table_users = set()
        self.table_jumps = set()
        section = ""
        for line in run("objdump", "-drw", "--no-show-raw-insn", obj.path).splitlines():
            if line.startswith("Disassembly of section "):
                section = line[len("Disassembly of section ") : -1]
            instruction = INSTRUCTION.match(RELOCATION.sub("", line))
            if instruction:
                self._read_instruction(section, instruction, RELOCATION.findall(line))
        self._read_data_relocations()
        # An indirect jump is allowed in a function that uses a table in .rodata: it belongs to a switch. Tables of
        # functions are found by _read_data_relocations.
        for caller in self.table_jumps - self.table_users:
            self.findings.append(f"{obj.name}: {caller} jumps through a pointer")

    def _read_instruction(self, section, instruction, relocations):
        address, mnemonic, operand = instruction.groups()
        symbol, _ = self.obj.function_at(section, int(address, 16))
        caller = self.obj.function_key(symbol) if symbol else f"{self.obj.name}:{section}"
        is_call = mnemonic.startswith("call")
        is_jump = mnemonic.startswith(("j", "loop"))
        if (is_call or is_jump) and "*" not in operand:
            self._read_branch(section, caller, is_call, operand, relocations)
            return
        if is_call:
            self.findings.append(f"{self.obj.name}: {caller} calls through a pointer")
        elif is_jump:
            self.table_jumps.add(caller)
        self._note_addresses(caller, operand, relocations)

    def _read_branch(self, section, caller, is_call, operand, relocations):
        callee = self._callee(section, operand, relocations)
        if callee is None:
            self.findings.append(f"{self.obj.name}: {caller}: a branch to {operand}, which is not understood")
        elif is_call or callee != caller:  # a jump inside one function is a loop, and uses no stack
            self.calls.add((caller, callee))

    def _callee(self, section, operand, relocations):
        offset = int(operand.split()[0], 16)
        if relocations:
            place, kind, target = relocations[0]
            name, addend = split_place(target)
            if name not in (text for text, _, _ in self.obj.sections.values()):
                symbol = self.obj.symbol_named(name)
                return self.obj.function_key(symbol) if symbol and symbol.section != "UND" else name
            section = name
            # 64 bits: the relocation has the addend. It counts from the field, which ends 4 bytes later, at the end of
            # the instruction. 32 bits: the addend is in the field, and objdump has printed place + addend + 4.
            offset = offset - int(place, 16) if kind.startswith("R_386_") else addend + 4
        symbol, _ = self.obj.function_at(section, offset)
        return self.obj.function_key(symbol) if symbol else None

    def _note_addresses(self, caller, operand, relocations):
        if not relocations and re.search(r"# [0-9a-f]+ <", operand):
            # The assembler resolved the address, so it is in the same section, which contains code.
            self.findings.append(f"{self.obj.name}: {caller} takes the address of {operand.split('<')[-1].rstrip('>')}")
        for _, kind, target in relocations:
            name, addend = split_place(target)
            symbol = self.obj.symbol_named(name)
            if name.startswith((".rodata", ".L")):
                self.table_users.add(caller)
            elif symbol and symbol.type == "FUNC":
                self.findings.append(f"{self.obj.name}: {caller} takes the address of {name}")
            elif name.startswith(".text"):
                self.findings.append(f"{self.obj.name}: {caller} takes an address in {name}")

    def _read_data_relocations(self):
        """Finds tables of functions in data: absolute addresses of starts of functions. The table of a switch has
        addresses inside functions, or differences (PC-relative, GOT-relative)."""
        section = ""
        for line in run("objdump", "-rw", self.obj.path).splitlines():
            if line.startswith("RELOCATION RECORDS FOR ["):
                section = line.split("[")[1].split("]")[0]
            part = line.split()
            if not section.startswith((".rodata", ".data")) or len(part) != 3 or not part[1].startswith("R_"):
                continue
            if part[1] not in ("R_X86_64_64", "R_X86_64_32", "R_X86_64_32S", "R_386_32"):
                continue
            name, addend = split_place(part[2])
            symbol = self.obj.symbol_named(name)
            begins = symbol is not None and symbol.type == "FUNC" and addend == 0
            if name.startswith(".text"):
                symbol, begins = self.obj.function_at(name, addend)
            if begins:
                self.findings.append(f"{self.obj.name}: {section} holds the address of {symbol.name}")


def find_cycle(calls):
    """A cycle of callers as a list of names, or None. A depth-first search without recursion."""
    callees = {}
    for caller, callee in sorted(calls):
        callees.setdefault(caller, []).append(callee)
    done = set()
    for start in sorted(callees):
        path, on_path = [start], {start}
        todo = [iter(callees[start])]
        while todo:
            callee = next(todo[-1], None)
            if callee is None:
                todo.pop()
                done.add(path[-1])
                on_path.discard(path.pop())
            elif callee in on_path:
                return path[path.index(callee) :] + [callee]
            elif callee not in done:
                path.append(callee)
                on_path.add(callee)
                todo.append(iter(callees.get(callee, [])))
    return None


# ---- The checks ------------------------------------------------------------------------------------


def check_symbols(objects, allowed):
    defined = set().union(*(obj.defined() for obj in objects))
    for obj in objects:
        for name in sorted(obj.undefined() - defined - MEMORY_FUNCTIONS - LINKER_NAMES - allowed):
            yield f"{obj.name}: needs {name}"
    for obj in objects:
        for name in sorted(obj.defined()):
            if not name.startswith(("pfb_", COMPILER_PREFIX)):
                yield f"{obj.name}: defines the global name {name}, which is not pfb_*"


def check_data(objects):
    for obj in objects:
        for name, size in obj.writable():
            yield f"{obj.name}: {size} writable bytes in {name}"


def check_calls(objects):
    calls = set()
    for obj in objects:
        reader = CallReader(obj)
        calls |= reader.calls
        yield from sorted(set(reader.findings))
    if not calls and len(objects) > 1:
        yield "no call found at all: the disassembly was not understood"
    cycle = find_cycle(calls)
    if cycle:
        yield "recursion: " + " -> ".join(cycle)


def check_link(objects, compiler):
    """Links the objects with the four memory functions only: without start files, C library and compiler library."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "memory.c")
        source.write_text(MEMORY_SOURCE, encoding="ascii")
        flags = ["-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-O1", "-nostdlib", "-static", "-Wl,-e,start"]
        paths = [obj.path for obj in objects]
        command = [compiler, *flags, "-o", str(pathlib.Path(folder, "whole")), str(source), *paths]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            yield f"does not link with the four memory functions alone:\n{done.stdout}"


# An empty asm statement in each loop prevents the compiler from replacing the loop by a call of the same function.
MEMORY_SOURCE = r"""
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void start(void);
#define NO_CALL __asm__ volatile("")
void *memcpy(void *to, const void *from, size_t n)
{ for (size_t i = 0; i < n; i++) { ((char *)to)[i] = ((const char *)from)[i]; NO_CALL; } return to; }
void *memmove(void *to, const void *from, size_t n)
{ if ((char *)to < (const char *)from) return memcpy(to, from, n);
  while (n-- > 0) { ((char *)to)[n] = ((const char *)from)[n]; NO_CALL; } return to; }
void *memset(void *to, int value, size_t n)
{ for (size_t i = 0; i < n; i++) { ((char *)to)[i] = (char)value; NO_CALL; } return to; }
int memcmp(const void *a, const void *b, size_t n)
{ const unsigned char *p = a, *q = b; for (; n > 0; n--, p++, q++) { if (*p != *q) return *p - *q; NO_CALL; } return 0; }
void start(void) { for (;;) NO_CALL; }
"""


def check_objects(paths, compiler, allowed):
    objects = [Object(path) for path in paths]
    yield from check_symbols(objects, allowed)
    yield from check_data(objects)
    yield from check_calls(objects)
    if compiler:
        yield from check_link(objects, compiler)


def check_exports(library):
    which = "-g" if library.endswith(".a") else "-D"
    names = run("nm", which, "--defined-only", "--format=posix", library).splitlines()
    names = [line.split()[0] for line in names if " " in line]  # lines without a space name members of an archive
    if not names:
        yield f"{library}: exports nothing"
    for name in names:
        if not name.startswith("pfb_"):
            yield f"{library}: exports {name}"


# ---- Modules ---------------------------------------------------------------------------------------

# The modules that each module may use. There is no cycle: a module comes after those it uses.
MODULES = {
    "bytes": set(),
    "formula": {"bytes"},
    "perflib": {"bytes", "formula"},
    "sample": {"bytes", "formula", "perflib"},
    "cpi": {"bytes"},
    "lwp": {"bytes"},
}
# The modules of the public headers of core; perflib has those that are not listed. perfblock.h includes all of them,
# and nothing includes it.
HEADERS = {
    "bytes": {"error", "export", "name", "version"},
    "formula": {"formula"},
    "sample": {"sample"},
}


def module_of(path):
    """The module of a source, a header, an object, or the name in an #include; None for perfblock.h."""
    parts = pathlib.PurePath(path).parts
    for part in reversed(parts):  # the innermost: a folder above the project may have any name
        if part in MODULES:
            return part
    stem = parts[-1].split(".")[0]
    if stem == "perfblock":
        return None
    return next((name for name, stems in HEADERS.items() if stem in stems), "perflib")


def check_includes(folder):
    directive = re.compile(r"^\s*#\s*include\s+(.*?)\s*(?:/\*.*)?$")
    sources = sorted(pathlib.Path(folder).rglob("*.[ch]"))
    if not sources:
        yield f"{folder}: no sources"
    for path in sources:
        own = module_of(path.relative_to(folder))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = directive.match(line)
            if not match or match[1] in {f"<{name}>" for name in SYSTEM_HEADERS}:
                continue
            used = module_of(match[1].strip('"<>'))
            if match[1][0] != '"' or "/" not in match[1] or used is None:
                yield f"{path}:{number}: includes {match[1]}"
            elif own and used != own and used not in MODULES[own]:
                yield f"{path}:{number}: {own} includes {match[1]} of {used}"


# The other folders that each folder of platform may include; compat and include are not checked. A source includes
# headers of its own folder by their path.
FOLDERS = {
    "source": set(),
    "live": {"source"},
    "lwp": {"source", "live"},
    "cpi": {"source", "live", "lwp"},
    "collect": {"source", "select", "stream"},
    "select": {"source"},
    "stream": {"source", "select"},
    "replay": {"source"},
    "pdh": {"source"},
    "perflib": {"source", "pdh"},
    "registry": {"source", "pdh", "perflib"},
}
# Public headers of platform that a folder may include; a folder that is not listed may include all of them. Public
# headers of core are always allowed.
PUBLIC = {"collect": {"collect", "source", "stream"}, "select": {"code_page", "source", "stream"},
          "stream": {"source", "stream"}, "replay": {"source", "stream"}}


def check_platform(folder):
    directive = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
    folder = pathlib.Path(folder)
    own_headers = {path.stem for path in folder.glob("include/perfblock/*.h")}
    count = 0
    for path in folder.iterdir():
        if path.is_dir() and path.name not in FOLDERS.keys() | {"compat", "include"}:
            yield f"{path} has no place in FOLDERS"
    for own, allowed in FOLDERS.items():
        for path in sorted((folder / own).rglob("*.[ch]")):
            count += 1
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = directive.match(line)
                if not match:
                    continue
                parts = pathlib.PurePath(match[1]).parts
                stem = parts[-1].split(".")[0]
                if parts[0] == "perfblock":
                    is_allowed = stem not in own_headers or stem in PUBLIC.get(own, own_headers)
                else:
                    is_allowed = len(parts) > 1 and (parts[0] == own or parts[0] in allowed)
                if not is_allowed:
                    yield f"{path}:{number}: {own} includes {match[1]}"
    if not count:
        yield f"{folder}: no sources"


# The folders of cli from the top to the bottom. A file of cli itself belongs to the folder of its name.
CLI_ORDER = ["main", "help", "commands", "collect", "visitor", "sinks", "report", "names", "input", "output", "os",
             "memory"]


def check_cli(folder):
    directive = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
    folder = pathlib.Path(folder)
    found = set()
    for path in sorted(folder.rglob("*.[ch]")):
        own = path.relative_to(folder).parts[0].split(".")[0]
        found.add(own)
        if own not in CLI_ORDER:
            yield f"{path}: {own} has no place in CLI_ORDER"
            continue
        allowed = CLI_ORDER[CLI_ORDER.index(own):]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = directive.match(line)
            if not match:
                continue
            used = match[1].split("/")[0].split(".")[0]
            is_embedded = "/" not in match[1] and used.startswith(own + "_")  # generated from a file next to the source
            if used not in ["perfblock", *allowed] and not is_embedded:
                yield f"{path}:{number}: {own} includes {match[1]}"
    for name in CLI_ORDER:
        if name not in found:
            yield f"CLI_ORDER: no sources of {name}"


def check_unused(paths):
    objects = [Object(path) for path in paths]
    for obj in objects:
        used = set().union({"main"}, *(other.undefined() for other in objects if other is not obj))
        functions = {s.name for s in obj.symbols if s.type == "FUNC" and s.section != "UND" and s.bind != "LOCAL"}
        for name in sorted(functions - used):
            if name.startswith(COMPILER_PREFIX):
                continue
            yield f"{obj.name}: no other object uses {name}"



# Objects with tables of functions that they do not call.
TABLES = {"commands.c.o"}


def unit_of(path):
    """The path of an object in its target. cli/os/system_posix.c and system_windows.c count as cli/os/system.c."""
    return re.sub(r"/system_(posix|windows)\.", "/system.", path.split(".dir/")[-1])


def check_files(paths):
    objects = [(unit_of(path), Object(path)) for path in paths]
    home = {name: unit for unit, obj in objects for name in obj.defined()}
    uses = {(unit, home[name]) for unit, obj in objects if obj.name not in TABLES
            for name in obj.undefined() & set(home)}
    cycle = find_cycle({(unit, used) for unit, used in uses if unit != used})
    if cycle:
        yield "files that use each other: " + " -> ".join(cycle)


def check_modules(paths):
    objects = [(module_of(path), Object(path)) for path in paths]
    missing = set(MODULES) - {module for module, _ in objects}
    if missing:
        yield f"no objects of {', '.join(sorted(missing))}"
    home = {name: module for module, obj in objects for name in obj.defined()}
    for module, obj in objects:
        for name in sorted(obj.undefined() & set(home)):
            if home[name] != module and home[name] not in MODULES[module]:
                yield f"{obj.name}: {module} uses {name} of {home[name]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["objects", "exports", "includes", "platform", "cli", "modules", "unused", "files"])
    parser.add_argument("path")
    parser.add_argument("--compiler", help="links the objects with the four functions alone")
    parser.add_argument("--allow", action="append", default=[], help="one more name the objects may need")
    arguments = parser.parse_args()
    if arguments.what in ("objects", "modules", "unused", "files"):
        paths = pathlib.Path(arguments.path).read_text(encoding="utf-8").split("\n")
        paths = [path for path in paths if path]
        if not paths:
            raise SystemExit(f"{arguments.path}: names no objects")
        if arguments.what == "objects":
            findings = list(check_objects(paths, arguments.compiler, set(arguments.allow)))
        else:
            check = {"modules": check_modules, "unused": check_unused, "files": check_files}[arguments.what]
            findings = list(check(paths))
        summary = f"{len(paths)} objects"
    elif arguments.what == "exports":
        findings, summary = list(check_exports(arguments.path)), arguments.path
    elif arguments.what == "platform":
        findings, summary = list(check_platform(arguments.path)), arguments.path
    elif arguments.what == "cli":
        findings, summary = list(check_cli(arguments.path)), arguments.path
    else:
        findings, summary = list(check_includes(arguments.path)), arguments.path
    for finding in findings:
        print(finding)
    print(f"{summary}: {'ok' if not findings else f'{len(findings)} findings'}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
