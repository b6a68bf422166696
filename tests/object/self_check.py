#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that check_objects.py and check_users.py find errors: expects a finding for each of some small incorrect
sources, and none for correct ones. Usage: self_check.py FOLDER COMPILER [OPTION...]; FOLDER is emptied and filled."""
import pathlib
import re
import shutil
import subprocess
import sys

import check_objects
import check_users

# name -> (source, part of the expected finding). The calls of pfb_out() keep the compiler from removing the recursion.
BAD_SOURCES = {
    "global": ("int pfb_count; int pfb_f(void) { return pfb_count++; }", "writable bytes in .bss"),
    "static": ("int pfb_f(void) { static int n = 7; return n++; }", "writable bytes in .data"),
    "thread": ("int pfb_f(void) { static _Thread_local int n; return n++; }", "writable bytes in .tbss"),
    "pointers": ("const char *const pfb_names[] = {\"a\", \"b\"};", "writable bytes in .data.rel.ro"),
    "malloc": ("void *malloc(unsigned long); void *pfb_f(void) { return malloc(8); }", "needs malloc"),
    "division": (
        "#ifdef __SIZEOF_INT128__\n__extension__ typedef unsigned __int128 wide;\n#else\n"
        "typedef unsigned long long wide;\n#endif\nwide pfb_f(wide a, wide b) { return a / b; }",
        "needs __udiv",
    ),
    "strlen": (
        "unsigned long pfb_f(const char *s) { unsigned long n = 0; while (s[n]) n++; return n; }"
        "unsigned long strlen(const char *); unsigned long pfb_g(const char *s) { return strlen(s); }",
        "needs strlen",
    ),
    "name": ("int helper(void) { return 1; }", "defines the global name helper"),
    "recursion": (
        "int pfb_out(int); int pfb_f(int n) { return n ? pfb_out(pfb_f(n - 1)) + pfb_f(pfb_out(n)) : 1; }"
        "int pfb_out(int n) { return n + 1; }",
        "recursion:",
    ),
    "static_recursion": (
        "void pfb_out(int *); static int __attribute__((noinline)) f(int *n)"
        "{ int m = *n; pfb_out(&m); return m ? f(&m) + f(n) : 1; }"
        "void pfb_out(int *n) { --*n; } int pfb_f(int *n) { return f(n); }",
        "recursion:",
    ),
    "cycle": (
        "void pfb_g(int *); void pfb_f(int *n) { int m = *n - 1; if (m) pfb_g(&m); *n = m; }"
        "void __attribute__((noinline, section(\".text.away\"))) pfb_g(int *n) { int m = *n - 2; pfb_f(&m); *n = m; }",
        "recursion:",
    ),
    "pointer": ("int pfb_f(int (*g)(int)) { return g(1) + 1; }", "calls through a pointer"),
    "tail_pointer": ("int pfb_f(int (*g)(int)) { return g(1); }", "through a pointer"),
    "address": ("static int g(int n) { return n; } void pfb_f(int (**p)(int)) { *p = g; }", "takes"),
}

GOOD_SOURCES = {
    "switch": """
int pfb_g(int);
static int __attribute__((noinline)) twice(int n) { return pfb_g(n) + pfb_g(n + 1); }
int pfb_f(int n)
{
    switch (n) {
    case 0: return twice(3);
    case 1: return pfb_g(5) + 2;
    case 2: return 77;
    case 3: return pfb_g(n) * 9;
    case 4: return twice(n) - 5;
    case 5: return 12;
    default: return 0;
    }
}
int __attribute__((noinline)) pfb_g(int n) { return n * 3; }
""",
    "loop": """
static const char texts[3][4] = {"abc", "de", "f"};
int pfb_f(const char *s) { int n = 0; while (s[n] == 1) n++; return n; }
int pfb_h(unsigned n, const char *s) { return n < 3 ? texts[n][0] + pfb_f(s) : 0; }
""",
}

def build(folder, name, source, command):
    path = pathlib.Path(folder, name + ".c")
    path.write_text(source, encoding="ascii")
    target = str(path.with_suffix(".o"))
    subprocess.run([*command, "-c", str(path), "-o", target], check=True)
    return target


def check_all(folder, label, command):
    wrong = []
    for name, (source, expected) in BAD_SOURCES.items():
        target = build(folder, f"{label}_{name}", source, command)
        findings = list(check_objects.check_objects([target], None, set()))
        if not any(expected in finding for finding in findings):
            wrong.append(f"{label}: {name}: expected \"{expected}\", found {findings}")
    for name, source in GOOD_SOURCES.items():
        target = build(folder, f"{label}_{name}", source, command)
        findings = list(check_objects.check_objects([target], None, set()))
        if findings:
            wrong.append(f"{label}: {name}: expected nothing, found {findings}")
    return wrong


def check_cycle_of_objects(folder, command):
    """A recursion of two functions that are in different objects, which therefore use each other."""
    sources = {
        "first": "void pfb_g(int *); void pfb_f(int *n) { int m = *n - 1; if (m) pfb_g(&m); *n = m; }",
        "second": "void pfb_f(int *); void pfb_g(int *n) { int m = *n - 2; pfb_f(&m); *n = m; }",
    }
    targets = [build(folder, f"cycle_{name}", source, command) for name, source in sources.items()]
    findings = list(check_objects.check_objects(targets, None, set())) + list(check_objects.check_files(targets))
    first, second = targets
    expected = ["recursion: pfb_f -> pfb_g -> pfb_f", f"files that use each other: {first} -> {second} -> {first}"]
    return [] if findings == expected else [f"cycle of objects: found {findings}"]


def check_whole(folder, compiler):
    """check_link must refuse an object that needs malloc, and accept one that needs memcpy."""
    needs = {"memcpy": False, "malloc": True}
    wrong = []
    for name, refused in needs.items():
        source = f"void *{name}(); void *pfb_f(void) {{ return {name}(); }}"
        target = build(folder, f"link_{name}", source, [compiler, "-w", "-ffreestanding", "-fno-stack-protector"])
        if bool(list(check_objects.check_link([check_objects.Object(target)], compiler))) != refused:
            wrong.append(f"link: {name}: expected {'a refusal' if refused else 'success'}")
    return wrong


def check_exports(folder, command):
    target = str(pathlib.Path(folder, "exports.so"))
    path = pathlib.Path(folder, "exports.c")
    path.write_text("int pfb_f(void) { return 1; } int helper(void) { return 2; }", encoding="ascii")
    subprocess.run([*command, "-shared", "-nostdlib", "-fPIC", str(path), "-o", target], check=True)
    findings = list(check_objects.check_exports(target))
    return [] if len(findings) == 1 and "helper" in findings[0] else [f"exports: found {findings}"]


def check_includes(folder):
    source_folder = pathlib.Path(folder, "core", "src", "bytes")
    source_folder.mkdir(parents=True)
    good = '#include "bytes/own.h"\n#include "perfblock/error.h"\n#include <stdint.h>\n'
    pathlib.Path(source_folder, "own.h").write_text("#include <stddef.h>\n", encoding="ascii")
    for name in ("<stdlib.h>", "<string.h>", "<stdio.h>", '"own.h"', '"perflib/own.h"', '"perfblock/formula.h"',
                 '"perfblock/cpi/cpi.h"', '"perfblock/perfblock.h"'):
        pathlib.Path(source_folder, "bad.c").write_text(good + f" # include {name} /* why */\n", encoding="ascii")
        findings = list(check_objects.check_includes(pathlib.Path(folder, "core")))
        if len(findings) != 1 or name not in findings[0]:
            return [f"includes: {name}: found {findings}"]
    return []


def check_modules(folder, command):
    """Objects of all modules; one calls a function of a module that it may not use."""
    paths = []
    for module in check_objects.MODULES:
        source = f"void pfb_{module}(void) {{ }}"
        if module == "bytes":
            source = "void pfb_sample(void); void pfb_bytes(void) { pfb_sample(); }"
        pathlib.Path(folder, module).mkdir()
        paths.append(build(pathlib.Path(folder, module), module, source, command))
    findings = list(check_objects.check_modules(paths))
    return [] if len(findings) == 1 and "pfb_sample of sample" in findings[0] else [f"modules: found {findings}"]


def check_cli_folders(folder):
    """The folders of cli. `output` may not include headers of folders that precede it in CLI_ORDER (such as commands or
    values), nor headers that are in no folder, except generated ones such as output_style.h."""
    root = pathlib.Path(folder, "cli")
    for name in check_objects.CLI_ORDER:
        pathlib.Path(root, name).mkdir(parents=True)
        text = '#include "memory/own.h"\n#include "perfblock/name.h"\n#include <stdio.h>\n'
        pathlib.Path(root, name, "own.c").write_text(text + f'#include "{name}_style.h"\n', encoding="ascii")
    found = [list(check_objects.check_cli(root))]
    for included in ("commands.h", "values/own.h", "own.h", "input_style.h"):
        pathlib.Path(root, "output", "own.h").write_text(f'#include "{included}"\n', encoding="ascii")
        found.append(list(check_objects.check_cli(root)))
    if [len(findings) for findings in found] != [0, 1, 1, 1, 1]:
        return [f"cli: found {found}"]
    pathlib.Path(root, "other.c").write_text("", encoding="ascii")
    findings = list(check_objects.check_cli(root))
    return [] if len(findings) == 2 and "other has no place" in findings[0] else [f"cli: found {findings}"]


def check_unused_functions(folder, command):
    """Functions of a program: one that no object uses, one that only its own object uses, and a static one."""
    sources = {
        "user": "int used(int); int main(void) { return used(1); }",
        "unused": "static __attribute__((noinline)) int own(int n) { return n * 3; } int alone(int n) { return own(n); }"
                  "int used(int n) { return alone(n) + 1; } int unused(void) { return 1; }",
    }
    targets = [build(folder, f"functions_{name}", source, command) for name, source in sources.items()]
    found = [finding.split()[-1] for finding in check_objects.check_unused(targets)]
    return [] if found == ["alone", "unused"] else [f"unused: found {found}"]


def check_used_functions(folder):
    """A use by the program counts; one in a comment or in the function's own layer does not."""
    root = pathlib.Path(folder, "users")
    texts = {"core/include/perfblock/a.h": "PFB_API int pfb_a(int n);\nPFB_API bool\npfb_b(void);\n",
             "platform/include/perfblock/c.h": "PFB_API void pfb_c(void);\n",
             "platform/source/c.c": "void pfb_c(void) {}\n", "cli/main.c": "/* pfb_b */ int n = pfb_a(1);\n",
             "README.md": "pfb_b\n"}
    for name, text in texts.items():
        pathlib.Path(root, name).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(root, name).write_text(text, encoding="ascii")
    entries = {"pfb_a": ["pfb_a has a user"], "pfb_b": [], r"pfb_\w": [],
               r"pfb_a\w*": [r"pfb_a\w* matches no public function without a user"],
               "pfb_d": ["pfb_d matches no public function without a user"]}
    listed = dict(check_users.WITHOUT)
    wrong = []
    for entry, expected in entries.items():
        check_users.WITHOUT.clear()
        check_users.WITHOUT[entry] = "to be checked"
        found = list(check_users.check(root))
        without = [f"{name} has no user" for name in ("pfb_b", "pfb_c") if not re.fullmatch(entry, name)]
        if sorted(finding.split(": ")[1] for finding in found) != sorted(without + expected):
            wrong.append(f"users: {entry}: found {found}")
    check_users.WITHOUT.update(listed)
    return wrong


def main():
    folder, compiler, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    shutil.rmtree(folder, ignore_errors=True)
    pathlib.Path(folder).mkdir(parents=True)
    wrong = []
    for flags in ("-O0", "-O2", "-O2 -fPIC", "-Os -ffunction-sections -fPIC"):
        command = [compiler, *options, "-std=c11", "-w", "-fno-stack-protector", *flags.split()]
        if "-fPIC" not in flags:
            command.append("-fPIE")  # Constant pointers are writable data only in position-independent code.
        label = flags.replace(" ", "")
        wrong += check_all(folder, label, command)
    wrong += check_cycle_of_objects(folder, [compiler, *options, "-O2", "-fno-stack-protector"])
    wrong += check_whole(folder, compiler)
    wrong += check_exports(folder, [compiler, *options, "-w"])
    wrong += check_includes(folder)
    wrong += check_cli_folders(folder)
    wrong += check_unused_functions(folder, [compiler, *options, "-w"])
    wrong += check_used_functions(folder)
    wrong += check_modules(folder, [compiler, *options, "-w"])
    for line in wrong:
        print(line)
    print("self-check: " + (f"{len(wrong)} failed" if wrong else f"the errors of {len(BAD_SOURCES)} sources are found"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
