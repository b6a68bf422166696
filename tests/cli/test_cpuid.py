# SPDX-License-Identifier: MIT
"""perfblock cpuid, with text dumps and on this machine.

The registers in MACHINES are those of published dumps of real machines. The
expected fields were decoded by hand from AMD's specification of LWP."""

import ctypes
import errno
import platform
import re
import struct
import sys
import unittest

from program import ON_WINDOWS, Case

# EAX, EBX, ECX and EDX of leaf 0 for both vendors; EBX, ECX and EDX of leaf 1.
AMD = (0x0000000D, 0x68747541, 0x444D4163, 0x69746E65)
INTEL = (0x0000000D, 0x756E6547, 0x6C65746E, 0x49656E69)
BASIC = (0x00080800, 0x1E98220B, 0x178BFBFF)
FAMILY_15H = {"version": 1, "cb_bytes": 152, "event_bytes": 32,
              "max_events": 3, "event_offset": 128, "min_buffer_bytes": 1024}
VERSION_2 = {"version": 2, "cb_bytes": 192, "event_bytes": 32,
             "max_events": 8, "event_offset": 128, "min_buffer_bytes": 1024}
NOTHING = dict.fromkeys(FAMILY_15H, 0)
# LWP features of the earlier and the later processors of Family 15h, and the
# registers of leaf 8000001C that report them.
EARLY = ["val", "ire", "bre", "int"]
LATER = ["val", "ire", "bre", "cont", "ptsc", "int"]
EARLY_LEAF = (0, 0x80032013, 0x00010200, 0x8000000F)
LATER_LEAF = (0, 0x80032013, 0x00010200, 0xE000000F)

# Name; (family, model, stepping); EAX of leaves 1 and 80000000; ECX of leaf
# 80000001; leaf 8000001C; then what must be printed: the code of the reason
# why LWP is not available, fields of leaf 8000001C, features of the hardware.
MACHINES = [
    ("FX-8150", (21, 1, 2), 0x00600F12, 0x8000001E, 0x01C9BFFF, EARLY_LEAF,
     "not_enabled", FAMILY_15H, EARLY),
    ("FX-8350", (21, 2, 0), 0x00600F20, 0x8000001E, 0x01EBBFFF, EARLY_LEAF,
     "not_enabled", FAMILY_15H, EARLY),
    ("A10-6800K", (21, 19, 1), 0x00610F31, 0x8000001E, 0x01EBBFFF, EARLY_LEAF,
     "not_enabled", FAMILY_15H, EARLY),
    ("A10-7850K", (21, 48, 1), 0x00630F01, 0x8000001E, 0x0FEBBFFF, LATER_LEAF,
     "not_enabled", FAMILY_15H, LATER),
    ("A12-9800", (21, 101, 1), 0x00660F51, 0x8000001E, 0x2FABBFFF, LATER_LEAF,
     "not_enabled", FAMILY_15H, LATER),
    ("4700S", (23, 71, 0), 0x00840F70, 0x80000020, 0xF5C2B7FF,
     (0, 0x80082018, 0xD0010430, 0xE000019F), "not_enabled", VERSION_2,
     ["val", "ire", "bre", "dme", "bit7", "bit8", "cont", "ptsc", "int"]),
    ("Opteron 6380, even CPU", (21, 2, 0), 0x00600F20, 0x8000001E, 0x01EB3FFF,
     EARLY_LEAF, "no_lwp", FAMILY_15H, EARLY),
    ("Phenom II X6", (16, 10, 0), 0x00100FA0, 0x8000001B, 0x000037FF, None,
     "no_leaf", None, None),
    ("A4-5000", (22, 0, 1), 0x00700F01, 0x8000001E, 0x154037FF, (0, 0, 0, 0),
     "no_lwp", NOTHING, []),
    ("Ryzen 5 3600", (23, 113, 0), 0x00870F10, 0x80000020, 0x75C237FF,
     (0, 0, 0, 0), "no_lwp", NOTHING, []),
]
REASONS = {
    "not_x86": "LWP needs an x86 processor; this build has none",
    "not_amd": "LWP is not supported by this hardware (vendor is not "
               "AuthenticAMD)",
    "no_leaf": "LWP is not supported by this hardware (CPUID leaf 8000001C is "
               "absent)",
    "no_lwp": "LWP is not supported by this hardware",
    "partial": "the processors of this machine differ in LWP; pin the thread",
    "no_xstate": "OS has not made LWP available (XCR0 bit 62 is clear)",
    "not_enabled": "OS has not made LWP available",
}


def rows(signature, highest, features, lwp, vendor=AMD, basic=BASIC):
    """[(leaf, registers)] of the leaves that decide about LWP."""
    leaves = [(0, vendor), (1, (signature, *basic)),
              (0x80000000, (highest, 0, 0, 0)),
              (0x80000001, (signature, 0, features, 0))]
    return leaves + ([(0x8000001C, lwp)] if lwp else [])


def marked(leaves):
    """A dump in the layout "CPUID 8000001C: ..." with hyphens."""
    return "".join("CPUID %08X: %08X-%08X-%08X-%08X [SL 00]\n" % (leaf, *regs)
                   for leaf, regs in leaves)


def named(leaves):
    """A dump in the layout with register names."""
    return "".join("   0x%08x 0x00: eax=0x%08x ebx=0x%08x ecx=0x%08x "
                   "edx=0x%08x\n" % (leaf, *regs) for leaf, regs in leaves)


def columns(leaves):
    """A dump in the layout of numbers only."""
    return "".join("%08X %08X %08X %08X %08X\n" % (leaf, *regs)
                   for leaf, regs in leaves)


def arrays(leaves):
    """A dump in the layout of libcpuid."""
    return "".join("%s[%d]=%08x %08x %08x %08x\n" % (
        "ext_cpuid" if leaf >> 31 else "basic_cpuid", leaf & 0x7FFFFFFF, *regs)
        for leaf, regs in leaves)


def dump_with_name(name):
    """A dump of the first machine with the 48 bytes of a processor name, and
    with the XSAVE state components that include LWP."""
    words = struct.unpack("<12I", name)
    leaves = rows(*MACHINES[0][2:6])
    leaves += [(0x80000002 + i, words[4 * i:4 * i + 4]) for i in range(3)]
    leaves += [(0x0000000D, (7, 0x340, 0x3C0, 0x40000000))]
    return marked(leaves) + ("CPUID 0000000D: 00000080-00000340-00000000-"
                             "00000000 [SL 3E]\n")


class Dumps(Case):
    """Text dumps."""

    def ask(self, dump):
        """The JSON objects of a dump, one per CPU."""
        return self.run_json("cpuid", "-", stdin=dump.encode())

    def test_real_machines_in_every_layout(self):
        """The fields of known processors are the same in every layout of
        dumps."""
        for name, model, *machine, code, fields, hardware in MACHINES:
            for layout in (marked, named, columns, arrays):
                with self.subTest(machine=name, layout=layout.__name__):
                    (cpu,) = self.ask(layout(rows(*machine)))
                    self.assertEqual((cpu["vendor"], cpu["cpu"]),
                                     ("AuthenticAMD", 0))
                    self.assertEqual((cpu["family"], cpu["model"],
                                      cpu["stepping"]), model)
                    self.assertEqual((cpu["reason_code"], cpu["reason"]),
                                     (code, REASONS[code]))
                    self.check_leaf(cpu["lwp"], code, machine[3], fields,
                                    hardware)

    def check_leaf(self, lwp, code, registers, fields, hardware):
        """Asserts what the JSON key `lwp` contains. `fields` is None if there
        is no leaf 8000001C."""
        self.assertIs(lwp["supported"], code == "not_enabled")
        self.assertIs(lwp["available"], False)
        if fields is None:
            self.assertEqual(set(lwp), {"supported", "available"})
            return
        self.assertEqual({key: lwp[key] for key in fields}, fields)
        self.assertEqual((lwp["hardware"], lwp["enabled"]), (hardware, []))
        self.assertEqual(lwp["registers"], "%08X-%08X-%08X-%08X" % registers)

    def test_capabilities_of_version_2(self):
        """The capabilities that version 2 of LWP reports in leaf 8000001C."""
        (cpu,) = self.ask(marked(rows(*MACHINES[5][2:6])))
        expected = {"latency_bits": 16, "latency_rounding": 0,
                    "data_address": True, "branch_prediction": True,
                    "ip_filtering": False, "cache_levels": True,
                    "cache_latency": True}
        self.assertEqual({key: cpu["lwp"][key] for key in expected}, expected)

    def test_name_and_state_components(self):
        """The processor name and the XSAVE state components are decoded."""
        (cpu,) = self.ask(dump_with_name(
            b"  AMD FX(tm)-8150 Eight-Core Processor".ljust(48, b" ")))
        expected = {"name": "AMD FX(tm)-8150 Eight-Core Processor",
                    "highest_leaf": 13, "highest_extended": 0x8000001E,
                    "osxsave": True, "components": 1 << 62 | 7, "xcr0": None,
                    "lwp_component": True, "lwp_component_bytes": 128,
                    "lwp_component_offset": 832}
        self.assertEqual({key: cpu[key] for key in expected}, expected)

    def test_cpus_with_different_leaves(self):
        """If some CPUs have LWP and others do not, the reason of those that do
        is "partial"."""
        even = named(rows(*MACHINES[6][2:6]))
        odd = named(rows(*MACHINES[1][2:6]))
        cpus = self.ask("".join("CPU %d:\n" % n + (odd if n % 2 else even)
                                for n in range(4)))
        self.assertEqual([c["cpu"] for c in cpus], [0, 1, 2, 3])
        self.assertEqual([c["reason_code"] for c in cpus],
                         ["no_lwp", "partial", "no_lwp", "partial"])
        self.assertEqual([c["lwp"]["supported"] for c in cpus],
                         [False, True, False, True])
        self.assertEqual(cpus[1]["reason"], REASONS["partial"])
        self.assertEqual([c["reason_code"] for c in self.ask(odd + odd)],
                         ["not_enabled", "not_enabled"])
        # CPUs that have LWP, but different leaves, count as partial as well.
        later = named(rows(*MACHINES[3][2:6]))
        self.assertEqual([c["reason_code"] for c in self.ask(odd + later)],
                         ["partial", "partial"])

    def test_a_truncated_dump_affects_its_last_cpu_only(self):
        whole = rows(*MACHINES[1][2:6])
        for count in range(1, len(whole)):
            codes = [c["reason_code"] for c in self.ask(
                "".join("CPU %d:\n" % n + named(whole) for n in range(2)) +
                "CPU 2:\n" + named(whole[:count]))]
            self.assertEqual(codes[:2], ["not_enabled"] * 2, count)
            self.assertEqual(codes[2], "no_leaf", count)
        # A CPU whose dump is complete without the leaf makes the others partial.
        lacking = rows(*MACHINES[7][2:6])
        self.assertEqual([c["reason_code"] for c in self.ask(
            named(whole) + named(lacking))], ["partial", "no_leaf"])

    def test_a_line_with_a_missing_column(self):
        dump = ("00000000 00000000 %08X %08X %08X %08X\n" % AMD +
                "8000001C 00000000 00000000 80032013 00010200\n")
        done = self.run_program("cpuid", "-", stdin=dump.encode())
        self.assert_error(done, 1, "-", 54, "bad_cpuid_line")

    def test_a_dump_of_many_cpus(self):
        cpus = self.ask(20000 * columns(rows(*MACHINES[0][2:6])))
        self.assertEqual([cpu["cpu"] for cpu in cpus], list(range(20000)))
        self.assertEqual({cpu["reason_code"] for cpu in cpus},
                         {"not_enabled"})

    def test_leaf_8000001c_of_another_vendor(self):
        """Intel's processors return other data for this leaf; it is not
        interpreted."""
        for leaf in ((0x07280202, 0, 0, 0x503), (7, 0x340, 0x340, 0)):
            (cpu,) = self.ask(marked(rows(0x000006FB, 0x80000008, 1, leaf,
                                          INTEL)))
            self.assertEqual((cpu["vendor"], cpu["family"], cpu["model"]),
                             ("GenuineIntel", 6, 15))
            self.assertEqual(cpu["lwp"],
                             {"supported": False, "available": False})
            self.assertEqual(cpu["reason_code"], "not_amd")

    def test_features_enabled_by_the_system(self):
        """LWP is available if the system enabled XSAVE (leaf 1) and LWP (EAX
        of leaf 8000001C)."""
        leaf = (0x80000003, *LATER_LEAF[1:])
        machine = (0x00630F01, 0x8000001E, 0x0FEBBFFF, leaf)
        (cpu,) = self.ask(marked(rows(*machine)))
        self.assertEqual((cpu["lwp"]["supported"], cpu["lwp"]["available"]),
                         (True, True))
        self.assertEqual(cpu["lwp"]["enabled"], ["val", "int"])
        self.assertEqual((cpu["reason_code"], cpu["reason"]), (None, None))
        without = (BASIC[0], BASIC[1] & ~(1 << 27), BASIC[2])
        (cpu,) = self.ask(marked(rows(*machine, basic=without)))
        self.assertEqual((cpu["lwp"]["supported"], cpu["lwp"]["available"]),
                         (True, False))
        self.assertEqual((cpu["reason_code"], cpu["reason"]),
                         ("no_xstate", REASONS["no_xstate"]))

    def test_lines_before_a_broken_one_are_read(self):
        """The CPUs before a malformed line are printed; the error has the
        offset of the line."""
        dump = marked(rows(*MACHINES[0][2:6]))
        path = self.file("dump.txt", (dump + "CPUID 0000000D: 00000007-340\n" +
                                      dump).encode())
        done = self.run_program("cpuid", "--format", "json", path)
        self.assert_error(done, 1, path, len(dump), "bad_cpuid_line")
        (cpu,) = done.objects()
        self.assertEqual(cpu["lwp"]["version"], 1)
        text = "the line begins as a CPUID leaf but is malformed after that"
        self.assertTrue(done.err.endswith(": " + text + "\n"), done.err)

    def test_files_that_are_not_dumps(self):
        """Text that is no dump, an empty file and a missing file are refused.
        """
        for data in (b"hello\n", b""):
            done = self.run_program("cpuid", "-", stdin=data)
            self.assert_error(done, 1, "-", 0, "unknown_format")
            self.assertEqual(done.out, "")
        missing = self.run_program("cpuid", self.folder + "/missing")
        self.assertEqual((missing.status, missing.out), (3, ""))

    def text(self, dump, columns=100):
        """The lines of text output, with one blank between words."""
        out = self.run_fine("cpuid", "-", stdin=dump.encode(),
                            columns=columns)
        self.assertLessEqual(max(map(len, out.lines())), columns)
        return [" ".join(line.split()) for line in out.lines()]

    def test_text(self):
        """All lines of the text output for a CPU with LWP."""
        self.assertEqual(self.text(marked(rows(*MACHINES[0][2:6]))), [
            "CPU 0", "vendor AuthenticAMD",
            "model family 21, model 1, stepping 2",
            "XSAVE enabled by the system",
            "leaves to 0000000D, extended ones to 8000001E",
            "LWP supported, not available: %s (not_enabled)" %
            REASONS["not_enabled"],
            "LWP version 1", "features val programmed values (LWPVAL)",
            "ire instructions retired", "bre branches retired",
            "int threshold interrupt", "filters none",
            "LWP memory control block of 152 bytes, intervals of 3 events "
            "from offset 128; records of 32",
            "bytes in a ring of at least 1024 bytes",
            "8000001C EAX 00000000, EBX 80032013, ECX 00010200, EDX "
            "8000000F"])
        lines = self.text(marked(rows(*MACHINES[5][2:6])))
        for line in ("bit7 unknown", "dme data-cache misses",
                     "filters branch prediction, cache level, cache latency",
                     "cache misses latency of 16 bits, address of the data"):
            self.assertIn(line, lines)

    def test_text_without_lwp(self):
        """If leaf 8000001C is absent, zero or not AMD's, the only line about
        LWP is the reason."""
        for machine, code in ((MACHINES[7], "no_leaf"),
                              (MACHINES[9], "no_lwp")):
            lines = self.text(marked(rows(*machine[2:6])), 200)
            self.assertEqual(lines[5:], [
                "LWP not supported: %s (%s)" % (REASONS[code], code)])
        lines = self.text(marked(rows(0x6FB, 0x80000008, 1, (7, 7, 7, 7),
                                      INTEL)), 200)
        self.assertEqual(lines[1:3], ["vendor GenuineIntel",
                                      "model family 6, model 15, stepping "
                                      "11"])
        self.assertEqual(lines[-1], "LWP not supported: %s (not_amd)" %
                         REASONS["not_amd"])

    def test_text_of_several_cpus(self):
        """CPUs with equal fields are described once, with their numbers as
        ranges."""
        lacking = named(rows(*MACHINES[6][2:6]))
        having = named(rows(*MACHINES[1][2:6]))
        lines = self.text("".join(
            "CPU %d:\n" % n + (having if n in (1, 2, 3, 7) else lacking)
            for n in range(8)), 200)
        self.assertEqual([line for line in lines if line.startswith("CPU")],
                         ["CPUs 0, 4-6", "CPUs 1-3, 7"])
        self.assertEqual(sum("(partial)" in line for line in lines), 1)
        self.assertEqual(sum("(no_lwp)" in line for line in lines), 1)

    def test_text_name_and_components(self):
        """Text shows the name, with "?" for a control character, and the XSAVE
        state of LWP."""
        lines = self.text(dump_with_name(b"A \x1b[1m".ljust(48, b"\0")))
        self.assertEqual(lines[0], "CPU 0: A ?[1m")
        self.assertIn("XSAVE state 0x4000000000000007: x87, SSE, AVX, LWP",
                      lines)
        self.assertIn("LWP state 128 bytes at offset 832 of the XSAVE area",
                      lines)

    def test_text_fits(self):
        """Narrow output has the same words as wide output."""
        dump = marked(rows(*MACHINES[5][2:6]))
        wide = " ".join(self.text(dump, 200))
        for columns in (30, 40, 80):
            self.assertEqual(" ".join(self.text(dump, columns)), wide)


def forbid_pinning():
    """Makes sched_setaffinity fail with EPERM in this process (x86_64)."""
    # Opcodes of BPF: load a word, jump if it equals, return.
    load, equal, return_ = 0x20, 0x15, 0x06
    errno_, allow, sched_setaffinity = 0x00050000, 0x7FFF0000, 203
    code = b"".join(struct.pack("=HBBI", *one) for one in (
        (load, 0, 0, 0), (equal, 0, 1, sched_setaffinity),
        (return_, 0, 0, errno_ | errno.EPERM), (return_, 0, 0, allow)))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_seccomp, by_filter = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or \
            libc.prctl(set_seccomp, by_filter, program, 0, 0):
        raise OSError(ctypes.get_errno(), "no filter of system calls")


class Live(Case):
    """cpuid of this machine, which may have another processor than x86."""

    IS_X86 = platform.machine().lower() in ("x86_64", "amd64", "i386", "i486",
                                            "i586", "i686")

    def test_this_machine(self):
        """The CPUs are as /proc/cpuinfo describes them; other processors than
        x86 are refused."""
        if not self.IS_X86:
            done = self.run_program("cpuid")
            self.assertEqual((done.status, done.out, done.err), (
                4, "", "live: not_x86: %s\n" % REASONS["not_x86"]))
            return
        cpus = self.run_json("cpuid")
        self.assertGreater(len(cpus), 0)
        self.assertEqual(len({cpu["cpu"] for cpu in cpus}), len(cpus))
        expected = self.kernel_description()
        for cpu in cpus:
            self.assertEqual(cpu["reason_code"] is None,
                             cpu["lwp"]["available"])
            for key, value in expected.get(cpu["cpu"], {}).items():
                self.assertEqual(str(cpu[key]), value, key)

    @staticmethod
    def kernel_description():
        """The CPUs as /proc/cpuinfo describes them; empty if it does not
        exist."""
        keys = {"vendor_id": "vendor", "cpu family": "family",
                "model": "model", "stepping": "stepping"}
        try:
            with open("/proc/cpuinfo", encoding="utf-8",
                      errors="replace") as file:
                parts = file.read().split("\n\n")
        except OSError:
            parts = []
        expected = {}
        for part in parts:
            lines = dict(re.findall(r"^(\w[\w ]*?)\s*: (.*)$", part, re.M))
            if "processor" in lines:
                expected[int(lines["processor"])] = {
                    keys[key]: value for key, value in lines.items()
                    if key in keys and value.strip() != "unknown"}
        return expected

    def test_profiling_is_refused_with_the_same_reason(self):
        codes = {"not_x86"}
        if self.IS_X86:
            codes = {cpu["reason_code"] for cpu in self.run_json("cpuid")}
        done = self.run_program("lwp", "show")
        if None in codes:
            self.assertEqual(done.status, 0, done.err)
            self.assertEqual(done.out.count("lwpins"), 9)
            return
        code = "partial" if "partial" in codes else codes.pop()
        self.assertEqual((done.status, done.out, done.err),
                         (4, "", "live: %s: %s\n" % (code, REASONS[code])))

    @unittest.skipUnless((sys.platform, platform.machine(), ON_WINDOWS) ==
                         ("linux", "x86_64", False),
                         "the filter of system calls is for Linux on x86_64")
    def test_cpus_that_cannot_be_pinned(self):
        """If a thread cannot be pinned to a CPU, that is reported instead of
        values of another CPU."""
        done = self.run_program("cpuid", begin=forbid_pinning)
        self.assertEqual((done.status, done.out, done.err), (
            4, "", "live: sched_setaffinity failed with error %d\n" %
            errno.EPERM))
        done = self.run_program("lwp", "show", begin=forbid_pinning)
        self.assertEqual((done.status, done.out), (4, ""))
        self.assertNotIn("not_x86", done.err)


if __name__ == "__main__":
    unittest.main()
