# SPDX-License-Identifier: MIT
"""The faults that can be planted in the sources, and a build into which they are planted; used by mutate.py and checks.py.
"""

import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import coverage
import fuzzing

ROOT = fuzzing.ROOT
FOLDER = ROOT / "build" / "mutate"
COPY = FOLDER / "source"

# ---- Faults ------------------------------------------------------------------------------------------

# (name of the kind of fault, pattern, replacement). Patterns are searched in each indented line of code, of which
# comments, strings and preprocessor lines were blanked.
OPERATORS = [
    ("comparison", re.compile(r"(?<=[\w)\]] )<(?= )"), "<="),
    ("comparison", re.compile(r"(?<=[\w)\]] )<=(?= )"), "<"),
    ("comparison", re.compile(r"(?<=[\w)\]] )>(?= )"), ">="),
    ("comparison", re.compile(r"(?<=[\w)\]] )>=(?= )"), ">"),
    ("comparison", re.compile(r"(?<= )==(?= )"), "!="),
    ("comparison", re.compile(r"(?<= )!=(?= )"), "=="),
    ("logic", re.compile(r"(?<= )&&(?= |$)"), "||"),
    ("logic", re.compile(r"(?<= )\|\|(?= |$)"), "&&"),
    ("arithmetic", re.compile(r"(?<=[\w)\]] )\+(?= )"), "-"),
    ("arithmetic", re.compile(r"(?<=[\w)\]] )-(?= )"), "+"),
    ("constant", re.compile(r"(?<![\w.\"'\[])(\d+)(?![\w.\]xX])"), lambda m: str(int(m[1]) + 1)),
    ("size", re.compile(r"\b([A-Z][A-Z_]*_BYTES)\b(?! =)"), r"(\1 + 1)"),
    ("size", re.compile(r"\b([A-Z][A-Z_]*_BYTES)\b(?! =)"), r"(\1 - 1)"),
    ("return", re.compile(r"(?<=\breturn )true(?=;)"), "false"),
    ("return", re.compile(r"(?<=\breturn )false(?=;)"), "true"),
    ("statement removed", re.compile(r"(?<=^)(\s+)(?!return\b|break\b|continue\b|case\b)[\w.>\-\[\]]+ [|&+\-^]?= [^;{}]*;$"), r"\1;"),
    ("statement removed", re.compile(r"(?<=^)(\s+)(?!return\b|sizeof\b)\w+\([^;{}]*\);$"), r"\1;"),
    ("early return", re.compile(r"(?<=^)(\s+)(break|continue);$"), r"\1return 0;"),
]


def blank(text):
    """The text with comments, strings, characters and preprocessor lines replaced by spaces of the same length."""
    pattern = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^#(?:[^\n]*\\\n)*[^\n]*', re.S | re.M)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def left_out(path, code):
    """The numbers of the lines in which no faults are planted: enumerations, whose constants the tests use as well,
    lines with PFB_NEVER or PFB_ALWAYS, and what an `if (PFB_NEVER(...))` controls, which nothing can reach."""
    lines = coverage.never_reached(path)
    for match in re.finditer(r"\benum\b[^;{]*\{[^}]*\}", code):
        first = code.count("\n", 0, match.start()) + 1
        lines.update(range(first, first + match[0].count("\n") + 1))
    for match in re.finditer(r"\bPFB_(?:NEVER|ALWAYS)\(", code):
        lines.add(code.count("\n", 0, match.start()) + 1)
    return lines


def squeezed(text):
    """The text with one space between words."""
    return " ".join(text.split())


class Fault:
    """A fault that replaces text[start:end] of a file by `new`."""

    def __init__(self, path, text, operator, start, end, new):
        self.path, self.operator = path, operator
        self.line = text.count("\n", 0, start) + 1
        begin = text.rfind("\n", 0, start) + 1
        stop = text.find("\n", end - 1)
        shown = coverage.without_comments(text)
        self.before = squeezed(shown[begin:stop])
        self.after = squeezed(shown[begin:start] + new + shown[end:stop])
        self.mutated = (start, end, new)
        self.text = text
        self.number = 0  # among the faults of the file with the same identity

    def identity(self):
        """The line without and with the fault. Results are stored by it: it does not change with comments and other lines.
        """
        return f"{self.path}: {self.before} -> {self.after}"

    def key(self):
        return hashlib.sha256(f"{self.identity()} {self.number}".encode()).hexdigest()[:16]

    def __str__(self):
        return f"{self.path}:{self.line}: {self.operator}: {self.before} -> {self.after}"


def numbered(faults):
    """Sorts faults by position and numbers those with the same identity."""
    counts = {}
    faults = sorted(faults, key=lambda fault: fault.mutated)
    for fault in faults:
        fault.number = counts.get(fault.identity(), 0)
        counts[fault.identity()] = fault.number + 1
    return faults


def conditions(code):
    """(start, end) of the condition of each `if`, with its parentheses."""
    for match in re.finditer(r"\bif (\()", code):
        yield match.start(1), coverage.closing(code, match.start(1), "()") + 1


def faults_of(path):
    """All faults of a file."""
    text = (ROOT / path).read_text(encoding="utf-8")
    code = blank(text)
    skipped = left_out(path, code)
    found = []
    at = 0
    for number, line in enumerate(code.splitlines(), 1):
        if number not in skipped and line.startswith(" "):
            for operator, pattern, replacement in OPERATORS:
                for match in pattern.finditer(line):
                    new = match.expand(replacement) if isinstance(replacement, str) else replacement(match)
                    found.append(Fault(path, text, operator, at + match.start(), at + match.end(), new))
        at += len(line) + 1
    for start, end in conditions(code):
        if code.count("\n", 0, start) + 1 not in skipped:
            found.append(Fault(path, text, "check removed", start, end, f"(0 && {text[start:end]})"))
            found.append(Fault(path, text, "check forced", start, end, f"(1 || {text[start:end]})"))
    return numbered(found)


def all_files():
    """The sources of core, cpi and lwp."""
    files = [path for pattern in ("src/*/*.[ch]", "*/src/*.[ch]") for path in (ROOT / "core").glob(pattern)]
    return sorted(str(path.relative_to(ROOT)) for path in files)


# ---- A build with faults ------------------------------------------------------------------------------


def copy_sources():
    """Copies the files that Git does not ignore, so that work on them does not disturb a run."""
    listed = fuzzing.quietly(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        source, copy = ROOT / name, COPY / name
        if source.is_file() and (not copy.exists() or copy.read_bytes() != source.read_bytes()):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)


def run(command, **options):
    """Whether a command succeeds; its output is discarded."""
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False, **options).returncode == 0


class Build:
    """A build of the copied sources with shared libraries. To plant a fault, only the objects that contain the changed file
    are compiled, and only the libraries and programs that contain these objects are linked, in a separate folder. Programs
    find the changed libraries through LD_LIBRARY_PATH."""

    def __init__(self, folder, flags, options):
        self.folder = folder
        linker = "-Wl,--enable-new-dtags"  # so that LD_LIBRARY_PATH precedes the paths in the programs
        # The build type Faults has no flags of its own.
        fuzzing.quietly(["cmake", "-S", COPY, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Faults",
                         "-DCMAKE_C_COMPILER=clang", f"-DCMAKE_C_FLAGS={flags} -w", "-DBUILD_SHARED_LIBS=ON",
                         "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                         f"-DCMAKE_SHARED_LINKER_FLAGS={linker}", f"-DCMAKE_EXE_LINKER_FLAGS={linker}",
                         "-DPERFBLOCK_CLI=OFF", *options])
        fuzzing.quietly(["cmake", "--build", folder])
        self.compilations = {}  # {object: command}
        for entry in json.loads((folder / "compile_commands.json").read_text(encoding="utf-8")):
            command = shlex.split(entry["command"])
            self.compilations[command[command.index("-o") + 1]] = command
        self.objects = {}       # {file: [object]}
        name = ""
        for line in fuzzing.quietly(["ninja", "-C", folder, "-t", "deps"]).splitlines():
            if not line.startswith(" "):
                name = line.partition(":")[0]
            elif name in self.compilations:
                path = os.path.relpath(os.path.join(folder, line.strip()), COPY)
                if not path.startswith(".."):
                    self.objects.setdefault(path, []).append(name)
        self.links = {}         # {program or library: its objects}
        rules = (folder / "build.ninja").read_text(encoding="utf-8")
        for match in re.finditer(r"^build ([^ :]+)[^:]*: C_(?:EXECUTABLE|SHARED_LIBRARY)_LINKER\S* ([^|\n]*)", rules, re.M):
            self.links[match[1]] = match[2].split()

    def tests(self):
        """{name: (command, environment, {property: patterns})} of CTest."""
        listed = json.loads(fuzzing.quietly(["ctest", "--test-dir", self.folder, "--show-only=json-v1"]))
        tests = {}
        for test in listed["tests"]:
            properties = {item["name"]: item["value"] for item in test["properties"]}
            environment = dict(item.split("=", 1) for item in properties.get("ENVIRONMENT", []))
            tests[test["name"]] = (test["command"], environment,
                                   {kind: properties.get(f"{kind}_REGULAR_EXPRESSION", []) for kind in ("PASS", "FAIL", "SKIP")})
        return tests

    def plant(self, fault, folder):
        """Builds what the fault changes in `folder`. Returns {path of a program or library: path of the changed one}, or
        None if that fails."""
        shutil.rmtree(folder, ignore_errors=True)
        start, end, new = fault.mutated
        changed = folder / fault.path
        changed.parent.mkdir(parents=True)
        changed.write_text(fault.text[:start] + new + fault.text[end:], encoding="utf-8")
        objects = self.objects.get(fault.path, [])
        for name in objects:
            if not self.compile(fault.path, name, folder / name, folder):
                return None
        replaced = {}
        for target, parts in self.links.items():
            if not any(name in objects for name in parts):
                continue
            command = fuzzing.quietly(["ninja", "-C", self.folder, "-t", "commands", "-s", target]).strip()
            soname = re.search(r"-soname,(\S+)", command)
            output = folder / (soname[1] if soname else f"programs/{pathlib.Path(target).name}")
            output.parent.mkdir(exist_ok=True)
            for name in objects:
                command = command.replace(f" {name} ", f" {folder / name} ")
            if not run(command.replace(f" -o {target} ", f" -o {output} "), shell=True, cwd=self.folder):
                return None
            replaced[str(self.folder / target)] = str(output)
        return replaced

    def compile(self, path, name, output, folder, optimised=False):
        """Compiles an object, with the changed file in `folder` if that is not None. By default this is without
        optimisation, which would take much longer than the tests."""
        command = list(self.compilations[name])
        command[command.index("-o") + 1] = str(output)
        if folder:
            command = [str(folder / path) if part == str(COPY / path) else part for part in command]
            top = path.partition("/")[0]
            command.insert(1, f"-I{folder / top / 'src' if top == 'core' else folder / top}")
        if optimised:
            command = [part for part in command if not re.match(r"-f(no-)?sanitize", part)]
        command.append("-O2" if optimised else "-O0")
        output.parent.mkdir(parents=True, exist_ok=True)
        return run(command, cwd=self.folder, env={**os.environ, "CCACHE_DISABLE": "1"})

    def is_same(self, fault, folder):
        """Whether the optimised objects are the same with and without the fault."""
        for name in self.objects.get(fault.path, []):
            if "/perfblock_" not in name:
                continue
            before, after = folder / "before.o", folder / "after.o"
            self.compile(fault.path, name, before, None, optimised=True)
            self.compile(fault.path, name, after, folder, optimised=True)
            if before.read_bytes() != after.read_bytes():
                return False
        return True
