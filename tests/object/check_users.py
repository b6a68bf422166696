#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that each public function has a user: the program, the platform layer (for functions of core), an example, or
C code in README.md and docs/.

check_users.py ROOT

WITHOUT lists the functions that have no user, with the reason why they are public. Exit status 1 if a function that is
not listed has no user, or if an entry of WITHOUT is superfluous: every function that it matches has a user, or, if the
pattern has no wildcard, one of them. Each finding is a line.
"""
import pathlib
import re
import sys

# Regular expression -> why the function is public. A pattern with \w matches several functions, some of which may have
# users.
WITHOUT = {
    # Functions of interfaces that other projects defined: the Windows SDK, compilers, and Performance Inspector.
    r"pfb_Perf[A-Z]\w+": "perflib.h has a function of PerfLib for each",
    r"pfb_Pdh[A-Z]\w+": "pdh.h has a function of PDH for each",
    r"pfb_Reg[A-Z]\w+": "registry.h has a function of the registry for each",
    r"pfb_event_\w+": "events for PdhCollectQueryDataEx, as CreateEvent",
    r"pfb_sleep": "Sleep of the compat headers",
    r"pfb_pdh_use": "the source of real-time data of PDH's functions",
    r"pfb_lwp_thread_\w+": "lwp_intrinsics.h has an intrinsic of the compilers for each",
    r"pfb_cpi_(get_current_mode|is_supported|set_trace_hook_id|start)": "perfutil.h has a documented name for each",
    # The interface of sources, which streams and perflib.h call, and callers implement.
    r"pfb_source_\w+": "called inside the platform layer",
    # Streams and selections, of which the program uses what its formats need.
    r"pfb_(selection|stream)_\w+": "a caller's choices and questions for each",
    # Test input.
    r"pfb_write_\w+": "the writer, which makes valid and broken test input",
    r"pfb_lwp_model_count": "the model of a processor, which makes test input",
    # Functions that other readers have, too.
    r"pfb_cpi_hooks_finish": "reads the rest and returns the error",
    # Single functions.
    r"pfb_perflib_error_text": "returns why a function of perflib.h failed",
}
HEADERS = ["core/include/perfblock", "core/cpi/include", "core/lwp/include", "platform/include"]
USERS = ["cli", "platform", "examples"]


def read(path):
    """The text of a source without comments."""
    return re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)


def words_of(texts):
    return {word for text in texts for word in re.findall(r"\bpfb_\w+", text)}


def declared(root):
    """function -> its header, for all public functions."""
    functions = {}
    for folder in HEADERS:
        for path in sorted(pathlib.Path(root, folder).rglob("*.h")):
            for name in re.findall(r"\bPFB_API\s[^;{]*?\b(pfb_\w+)\s*\(", read(path)):
                functions[name] = path
    return functions


def used(root):
    """(names that the program, the platform layer, examples and pages use, the same without the platform layer)"""
    pages = [pathlib.Path(root, "README.md"), *sorted(pathlib.Path(root, "docs").glob("*.md"))]
    code = [block for page in pages
            for block in re.findall(r"^```c\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)]
    words = {}
    for folder in USERS:
        paths = sorted(pathlib.Path(root, folder).rglob("*.[ch]"))
        words[folder] = words_of(read(path) for path in paths if "include" not in path.parts)
    outside = words["cli"] | words["examples"] | words_of(code)
    return outside | words["platform"], outside


def check(root):
    """The findings."""
    functions = declared(root)
    if not functions:
        yield f"{root}: no public functions"
    everywhere, outside = used(root)
    needed = set()
    for name, path in sorted(functions.items()):
        reasons = [pattern for pattern in WITHOUT if re.fullmatch(pattern, name)]
        users = outside if pathlib.Path(root, "platform") in path.parents else everywhere
        if name not in users:
            needed.update(reasons)
            if not reasons:
                yield f"{path}: {name} has no user"
        elif any(r"\w" not in pattern for pattern in reasons):
            needed.update(reasons)
            yield f"WITHOUT: {name} has a user"
    for pattern in sorted(set(WITHOUT) - needed):
        yield f"WITHOUT: {pattern} matches no public function without a user"


def main():
    findings = list(check(pathlib.Path(sys.argv[1])))
    for finding in findings:
        print(finding)
    print(f"{len(declared(pathlib.Path(sys.argv[1])))} public functions, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
