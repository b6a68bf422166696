# SPDX-License-Identifier: MIT
"""The sample programs in the documentation of PerfLib, of the CPI facility and
of Lightweight Profiling, compiled unmodified with this library.

PERFBLOCK_SAMPLES is the folder of their sources; without it their tests are
skipped. PERFBLOCK_CC and PERFBLOCK_CXX are compilers with their flags,
PERFBLOCK_LINK the libraries to link, and PERFBLOCK_RUN the command that runs
the result (an emulator such as Wine, or empty). PERFBLOCK_TOOLCHAIN is the
toolchain file with which DLLs are built.
"""

import csv
import glob
import io
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import unittest

from program import ON_WINDOWS, ROOT, Case

SAMPLES = os.environ.get("PERFBLOCK_SAMPLES", "")
CC = shlex.split(os.environ.get("PERFBLOCK_CC", ""))
CXX = shlex.split(os.environ.get("PERFBLOCK_CXX", ""))
LINK = shlex.split(os.environ.get("PERFBLOCK_LINK", ""))
RUN = shlex.split(os.environ.get("PERFBLOCK_RUN", ""))
TOOLCHAIN = os.environ.get("PERFBLOCK_TOOLCHAIN", "")
COMPAT = os.path.join(ROOT, "platform", "compat")
HELPERS = os.path.join(ROOT, "tests", "compat")
FIXTURE = os.path.join(ROOT, "fixtures", "processor_information.pfb")
INCLUDES = ["-I" + COMPAT] + ["-I" + os.path.join(ROOT, *folders) for folders in (
    ("platform", "include"), ("core", "include"), ("core", "cpi", "include"),
    ("core", "lwp", "include"))]
WIDE = [] if ON_WINDOWS else ["-fshort-wchar"]
# The ids of Processor Information, which has no counter 29.
COUNTERS = [number for number in range(32) if number != 29]
# Faults that tests/compat/faults.c injects: (operation, number of the call,
# kind, value, offset), the status that the sample must print, and the start of
# the verdict of this library (None: any but "ok").
FAULTS = (
    ((3, 1, 0, 1450, 0), 1450, "1450 "),
    ((4, 1, 0, 5, 0), 5, "5 "),
    ((4, 1, 4, 4200, 0), 4200, "status 4200"),
    ((7, 1, 0, 5, 0), 5, "5 "),
    ((7, 1, 1, 40, 0), 13, "truncated"),
    ((7, 1, 1, 100, 0), 13, None),
    ((7, 1, 3, 0, 0), 13, None),            # dwTotalSize
    ((7, 1, 3, 0xFFFFFFF8, 0), 13, None),
    ((7, 1, 3, 2, 4), 13, None),            # dwNumCounters
    ((7, 1, 3, 0xFFFFFFF8, 56), 13, None),  # dwSize of the result
    ((7, 1, 3, 8, 56), 13, None),
    ((7, 1, 3, 7, 52), 13, None),           # dwType
    ((7, 1, 3, 4, 64), 13, None),           # size of the counter ids
    ((7, 1, 3, 0x40000000, 68), 13, None),  # number of the counter ids
    ((7, 1, 3, 0x7FFFFFFF, 200), 13, None),  # size of the instances
    ((7, 1, 3, 4, 208), 13, None),          # size of the first instance
    ((7, 1, 3, 0x7FFFFFFF, 208), 13, None),
    ((7, 1, 3, 0x7FFFFFFF, 224), 13, None),  # data size of its first value
    ((7, 1, 3, 0x7FFFFFFF, 228), 13, None),  # size of its first value
)
HARMLESS = (  # faults after which the output is the same as without them
    (7, 1, 2, 64, 0),                       # bytes after dwTotalSize
    # Faults of identifiers without a name or with an empty one; the sample has
    # neither.
    (4, 0, 5, 87, 0), (4, 0, 6, 87, 0),
)


HAS_SAMPLES = os.path.isdir(SAMPLES) and bool(CXX)
MISSING = "PERFBLOCK_SAMPLES names no folder, or there is no C++ compiler"
needs_samples = unittest.skipUnless(HAS_SAMPLES, MISSING)


class Compiled(Case):
    """Programs that a test compiles and runs."""

    def build(self, *sources, flags=(), libraries=LINK):
        """Compiles and links a program; returns its path."""
        objects = []
        for number, source in enumerate(sources):
            is_cxx = source.endswith(".cpp")
            target = os.path.join(self.folder, f"{number}.o")
            is_own = source.startswith(HELPERS)
            self.command(*(CXX if is_cxx else CC), *WIDE, *INCLUDES,
                         "-I" + SAMPLES, *flags,
                         *(["-Wall", "-Werror"] if is_own else ["-w"]),
                         *([] if is_cxx else ["-std=gnu11" if is_own else "-std=gnu99"]),
                         "-c", source, "-o", target)
            objects.append(target)
        program = os.path.join(self.folder, "program.exe")
        self.command(*(CXX or CC), *objects, *libraries, "-o", program)
        return program

    def command(self, *words, **options):
        """Runs a command that must succeed; returns its output."""
        done = subprocess.run(words, stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT, timeout=120, **options)
        text = done.stdout.decode("utf-8", "replace").replace("\r", "")
        self.assertEqual(done.returncode, 0, (words, text[:3000]))
        return text

    def run_built(self, program, status=0, given=b"", **variables):
        """Runs a built program with this input and these environment variables.
        It must end with `status`; returns its output."""
        environment = dict(os.environ, **variables)
        done = subprocess.run([*RUN, program], stdout=subprocess.PIPE, input=given,
                              stderr=subprocess.STDOUT, check=False,
                              timeout=120, env=environment)
        text = done.stdout.decode("utf-8", "replace").replace("\r", "")
        self.assertEqual(done.returncode, status, text)
        return text


def helper(name):
    """The path of a source in tests/compat."""
    return os.path.join(HELPERS, name)


def sample(name):
    """The path of a source of the samples."""
    return os.path.join(SAMPLES, name)


def recorded_values(path):
    """[(clocks, [(instance, {counter id: value})])] of the samples of a
    capture with one counterset, read without this library."""
    with open(path, "rb") as file:
        data = file.read()
    at, found = 0, []
    while at < len(data):
        tag, (_, size) = data[at:at + 4], struct.unpack_from("<IQ", data, at + 4)
        body = data[at + 16:at + 16 + size]
        at += 16 + size + -size % 8
        if tag != b"DATA":
            continue
        ids_size, count = struct.unpack_from("<II", body, 64)
        ids = struct.unpack_from(f"<{count}I", body, 72)
        place = 64 + ids_size
        instances = []
        _, instance_count = struct.unpack_from("<II", body, place)
        place += 8
        for _ in range(instance_count):
            header, _ = struct.unpack_from("<II", body, place)
            name = body[place + 8:place + header].decode("utf-16-le")
            place += header
            values = {}
            for ident in ids:
                width, whole = struct.unpack_from("<II", body, place)
                values[ident] = int.from_bytes(
                    body[place + 8:place + 8 + width], "little")
                place += whole
            instances.append((name.split("\0")[0], values))
        found.append((struct.unpack_from("<qqq", body, 8), instances))
    return found


class Wide(Compiled):
    """platform/compat's replacements of Windows' wide-character functions."""

    @unittest.skipIf(ON_WINDOWS or not CC, "Windows has the functions itself, or there is no C compiler")
    def test_printing(self):
        """Each replacement prints and compares as on Windows."""
        program = self.build(helper("wide.c"), flags=["-Wno-format"])
        self.assertEqual(self.run_built(program).split("\n"), [
            "80 [abcdefg] 34 [] 0 [abc]",
            "3 3 6",
            "[     wxy] [é😀     ] [wide] [x   ]",
            "[a\ufffdb] [(null)]",
            "1    -2 3    | 00004 +5 abc ABC 10 4294967295 6 7 "
            "18446744073709551615 1 1 4",
            "-1 ffffffff 4294967295 -7",
            " 3.14|1.000000e+03|0.5|2.500|x|narrow|     right|l   |cu|%|  42|2.2",
            "file narrow",
            "wide narrow long w 7",
            "other s  | h l 7",
            "h l 7",
            "21510500",
            "0 1 1 1", "0 1 0", "0 1 1",
            "[ab] [abcd] [cd] 1 1",
            "7 10 [é€😀] 5 [a\ufffdb] 0 0 0",
            "4 5 [é€😀] 6 [a" + 5 * "\ufffd" + "] 0 0",
            "-1 0 1",
            "[] [xyd]", "3 4 0",
            "1601-01-01, day 1, 00:00:00.000",
            "2007-08-14, day 2, 19:40:38.659", "no time",
            "1 2024-12-31, day 2, 23:00:00.000",
            "1 2007-08-14, day 2, 17:40:38.659", ""])

    @unittest.skipIf(ON_WINDOWS or not CC, "Windows has the functions itself, or there is no C compiler")
    def test_other_functions_of_the_c_library_give_a_warning(self):
        """They would read 32-bit characters."""
        for call in ("wcsstr(text, text)", "wcstol(text, NULL, 10)"):
            path = os.path.join(self.folder, "other.c")
            with open(path, "w", encoding="utf-8") as file:
                file.write("#include <windows.h>\n"
                           "int main(int argc, char **argv)\n{\n"
                           "    WCHAR text[2] = {(WCHAR)argc, 0};\n"
                           f"    return argv && {call} != 0;\n}}\n")
            done = subprocess.run(
                [*CC, *WIDE, *INCLUDES, "-c", path, "-o", path + ".o"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                timeout=120)
            text = done.stdout.decode()
            self.assertEqual(done.returncode, 0, text)
            self.assertRegex(text, "warning: .*16-bit")


@unittest.skipUnless(CC, "there is no C compiler")
class Dumps(Compiled):
    """Replies that an agent stores in one file each, read by cook."""

    def build_agent(self):
        """Builds the agent, tests/compat/dump.c. On Windows it uses the DLLs of
        this library."""
        if not ON_WINDOWS:
            return self.build(helper("dump.c"))
        build = os.path.join(self.folder, "dll")
        self.command("cmake", "-G", "Ninja", "-S", ROOT, "-B", build,
                     "-DCMAKE_TOOLCHAIN_FILE=" + TOOLCHAIN,
                     "-DBUILD_SHARED_LIBS=ON", "-DPERFBLOCK_TESTS=OFF",
                     "-DPERFBLOCK_CLI=OFF", "-DPERFBLOCK_EXAMPLES=OFF",
                     "-DPERFBLOCK_PLATFORM=ON")
        self.command("cmake", "--build", build)
        program = self.build(
            helper("dump.c"),
            flags=["-DPFB_PERFLIB_OVER_SOURCE", "-DPERFBLOCK_SHARED"],
            libraries=[os.path.join(build, "platform", "libperfblock_" + name + ".dll.a")
                       for name in ("platform", "collect")] + ["-static"])
        for path in glob.glob(os.path.join(build, "*", "*.dll")):
            shutil.copy(path, self.folder)
        return program

    def dump(self, program, fixture):
        """Runs the agent on a fixture; returns the arguments with which cook
        reads the files that it stored."""
        folder = os.path.join(self.folder, "replies")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        self.run_built(program, PERFBLOCK_CAPTURE=fixture, DUMP_FOLDER=folder)
        names = sorted(os.listdir(folder))
        arguments = ["--query-info", os.path.join(folder, "query.bin")]
        for name in names:
            code = re.match(r"\d+-(\d+)\.bin", name)
            if code:
                arguments += ["--registration",
                              code[1] + ":" + os.path.join(folder, name)]
        samples = [os.path.join(folder, name) for name in names
                   if name.startswith("sample-")]
        self.assertGreater(len(samples), 4)
        return arguments + samples

    def test_the_values_of_the_recording(self):
        """The stored replies give the values of the recording, directly and
        converted."""
        program = self.build_agent()
        names = ["machine_wraps", "processor_information",
                 "gpu_engine"]
        for name in names[:1 if ON_WINDOWS else 3]:
            fixture = os.path.join(ROOT, "fixtures", name + ".pfb")
            expected = self.run_json("cook", fixture)
            self.assertGreater(len({r.get("counter") for r in expected}), 1)
            dump = self.dump(program, fixture)
            self.assertEqual(self.run_json("cook", *dump), expected)
            made = os.path.join(self.folder, "made.pfb")
            self.run_fine("convert", "-q", *dump, "-o", made)
            self.assertEqual(self.run_json("cook", made), expected)


@needs_samples
class PerfLib(Compiled):
    """Microsoft's sample CpuPerfCounters."""

    def build_sample(self, *more):
        """Builds the sample with its main function."""
        return self.build(sample("CpuPerfCounters.cpp"),
                          sample("CpuPerfCountersConsumer.cpp"), *more,
                          flags=["-DPFB_PERFLIB_OVER_SOURCE"])

    @unittest.skipIf(ON_WINDOWS, "Wine has no countersets")
    def test_live(self):
        """The sample reads ten samples of this machine."""
        text = self.run_built(self.build_sample(), PERFBLOCK_CAPTURE="")
        reads = re.findall(r"^ReadData\d used=(\d+), status=(\d+)$", text, re.M)
        self.assertEqual(len(reads), 10, text)
        if reads[0][1] == "234":
            self.skipTest("this machine has more than 30 instances")
        self.assertEqual({status for _, status in reads}, {"0"}, text)
        self.assertGreaterEqual(int(reads[0][0]), 2)
        shown = re.findall(r"^  (\S+)/(\S+) = (-?\d+\.\d+)$", text, re.M)
        self.assertEqual(len(shown), 9, text)
        for before, now, percent in shown:
            self.assertEqual(before, now)
            self.assertRegex(now, r"^\d+,(\d+|_Total)$|^_Total$")
            self.assertTrue(-5 <= float(percent) <= 105, text)

    def test_capture(self):
        """The output is that computed from the bytes of the capture."""
        more = [] if ON_WINDOWS else [helper("faults.c")]
        text = self.run_built(self.build_sample(*more), PERFBLOCK_CAPTURE=FIXTURE)
        samples = recorded_values(FIXTURE)[:10]
        expected = ["ReadData0 used=4, status=0"]
        for number in range(1, 10):
            (_, before, _), old = samples[number - 1]
            (_, now, _), new = samples[number]
            ratio = (new[0][1][0] - old[0][1][0]) / (now - before)
            expected += [f"ReadData{number} used=4, status=0",
                         f"  {old[0][0]}/{new[0][0]} = {100 * (1 - ratio):f}"]
        self.assertEqual(text.split("\n")[:-1], expected)

    def test_raw_values(self):
        """The class of the sample reads the raw values of the capture."""
        program = self.build(sample("CpuPerfCounters.cpp"),
                             helper("raw_counters.cpp"),
                             flags=["-DPFB_PERFLIB_OVER_SOURCE"])
        lines = self.run_built(program, PERFBLOCK_CAPTURE=FIXTURE).split("\n")
        expected = [" ".join(str(word) for word in (
            *clocks, name, *(values[ident] for ident in COUNTERS)))
            for clocks, instances in recorded_values(FIXTURE)
            for name, values in instances]
        self.assertEqual(lines, expected + ["259", ""])

    @unittest.skipIf(ON_WINDOWS, "the code is the same on all systems")
    def test_faults(self):
        """With each fault the sample ends with an error, and the library
        reports the reason."""
        program = self.build_sample(helper("faults.c"))
        for fault, status, verdict in FAULTS:
            text = self.run_built(program, PERFBLOCK_CAPTURE=FIXTURE,
                                  PERFBLOCK_FAULT=" ".join(map(str, fault)))
            with self.subTest(fault=fault, text=text[:200]):
                self.assertRegex(text, rf"\nReadData0 used=\d+, status={status}\n")
                reported = re.match(r"verdict (.*)\n", text)[1]
                self.assertNotEqual(reported, "ok")
                if verdict:
                    self.assertTrue(reported.startswith(verdict), reported)
        whole = self.run_built(program, PERFBLOCK_CAPTURE=FIXTURE)
        for fault in HARMLESS:
            self.assertEqual(
                self.run_built(program, PERFBLOCK_CAPTURE=FIXTURE,
                               PERFBLOCK_FAULT=" ".join(map(str, fault))),
                "verdict ok\n" + whole, fault)


@needs_samples
@unittest.skipIf(ON_WINDOWS, "built for this system only")
class Others(Compiled):
    """The samples of the CPI facility and of Lightweight Profiling."""

    def test_cpi(self):
        """The CPI sample prints the figures of the worked example."""
        program = self.build(sample("cpi_sample.c"))
        text = self.run_built(program, PERFBLOCK_NO_SLEEP="1", PERFBLOCK_CPI_SNAPSHOTS=os.path.join(
            ROOT, "fixtures", "two_cpus.cpi"))
        self.assertIn("cpi:  1.33 cpi_wb:  0.63 idle: 52.50% busy: 47.50%"
                      " System CPU0 CPU1\n"
                      "cpi   1.33   2.00   1.00\n"
                      "cpi_wb   0.63   1.50   0.20\n"
                      "idle%  52.50  25.00  80.00\n"
                      "busy%  47.50  75.00  20.00", text)

    # Type: both raw values, both times or bases, frequency, multi count, and
    # what the sample prints after the value. "-": it takes one sample.
    ROWS = (
        (0x10410400, 4000, 9000, 100, 20100, 10000, 1, "/sec"),
        (0x00410400, 4000, 9001, 100, 20100, 10000, 1, ""),
        (0x10410500, 1 << 40, (1 << 40) + 77777, 5, 30005, 10000, 1, "/sec"),
        (0x00450400, 100, 900, 1000, 1300, 1, 1, ""),
        (0x00550500, 100, 901, 1000, 1300, 1, 1, ""),
        (0x00650500, 0, 77, 0, 1300, 1, 1, ""),
        (0x00450500, 0, 7, 0, 1300, 1, 1, ""),
        (0x20610500, 100, 400, 1000, 1900, 1, 1, "%"),
        (0x20410500, 100, 200, 1000, 1300, 1, 1, "%"),
        (0x20510500, 2500000, 12500000, 0, 70000000, 1, 1, "%"),
        (0x20470500, 100, 400, 1000, 1900, 1, 1, "%"),
        (0x20570500, 100, 300, 1000, 1900, 1, 1, "%"),
        (0x20670500, 0, 1, 1000, 1003, 1, 1, "%"),
        (0x20C20400, 3, 12, 40, 85, 1, 1, "%"),
        (0x21410500, 100, 400, 1000, 1900, 1, 1, "%"),
        (0x21510500, 97954843750, 97964843750, 0, 100002140, 1, 1, "%"),
        (0x22410500, 10, 22, 0, 30000, 10000, 8, "%"),
        (0x22510500, 100, 400, 1000, 1900, 1, 4, "%"),
        (0x23410500, 100, 400, 1000, 1900, 1, 4, "%"),
        (0x23510500, 100, 4000, 1000, 1900, 1, 8, "%"),
        (0x00010000, 4294967295, "-", 0, 0, 1, 1, ""),
        (0x00010100, (1 << 64) - 1, "-", 0, 0, 1, 1, ""),
        (0x00000000, 0xABCDEF, "-", 0, 0, 1, 1, ""),
        (0x00000100, 0xFEDCBA9876543210, "-", 0, 0, 1, 1, ""),
        (0x00400400, 100, 2100, 0, 0, 1, 1, ""),
        (0x00400500, 1 << 50, 1 << 60, 0, 0, 1, 1, ""),
        (0x20020400, 108980, "-", 238472, 0, 1, 1, "%"),
        (0x20020500, 3, "-", 7, 0, 1, 1, "%"),
        (0x30020400, 2816721409, 2817390068, 997724, 997938, 3579545, 1, " seconds"),
        (0x30240500, 131983188065000000, "-", 131983336220258827, 0, 10000000,
         1, " seconds"),
    )
    RATES = (0x10410400, 0x00410400, 0x10410500)
    WHOLE = (0x00010000, 0x00010100, 0x00400400, 0x00400500)
    HEX = (0x00000000, 0x00000100)
    BASES = (0x20020400, 0x20020500, 0x30020400, 0x20C20400, 0x20470500,
             0x20570500, 0x20670500)

    def test_formulas(self):
        """The function on Microsoft's page of counter types prints the values
        that eval has for the same samples."""
        program = self.build(sample("calculate.c"), helper("calculate.c"))
        names = ["type", "value0", "value1", "time0", "time1", "base0", "base1",
                 "frequency1", "multi1"]
        cells, lines = [names], []
        for kind, old, new, time0, time1, frequency, multi, _ in self.ROWS:
            lines.append((kind, old, new, time0, time1, frequency, multi))
            clocks = ["", "", time0, time1] if kind in self.BASES else [time0, time1, "", ""]
            row = [hex(kind), old, new, *clocks, frequency, multi]
            if new == "-":  # eval takes the newer one of two samples, this function the older one
                row = [hex(kind), "", old, "", clocks[0], "", clocks[2], frequency, multi]
            cells.append(row)
        table = "".join(",".join(map(str, row)) + "\n" for row in cells)
        found = list(csv.DictReader(io.StringIO(
            self.run_fine("eval", stdin=table.encode()).out)))
        expected = []
        for row, values in zip(self.ROWS, found):
            kind, suffix = row[0], row[7]
            self.assertEqual(values["status"], "ok", row)
            text = f"{float(values['value']):f}"
            if kind in self.WHOLE:
                text = values["integer"]
            elif kind in self.HEX:
                text = f"{int(values['integer']):#x}"
            elif kind in self.RATES:  # which the function converts to DWORD
                text = str(int(float(values["value"])))
            expected += [f"Display value is: {text}{suffix}", "1"]
        text = "".join(" ".join(map(str, line)) + "\n" for line in lines)
        self.assertEqual(self.run_built(program, given=text.encode()).split("\n"),
                         expected + [""])

    def test_lwp(self):
        """The LWP sample prints the documented numbers of records."""
        bits = struct.calcsize("P") * 8
        count = {64: "17 entries in ring buffer\n7 LWPVAL instructions, "
                     "10 LWPINS instructions\n",
                 32: "9 entries in ring buffer\n4 LWPVAL instructions, "
                     "5 LWPINS instructions\n"}
        # The sample writes to an element before the start of an array.
        program = self.build(sample("lwp_sample.c"),
                             flags=["-fno-sanitize=all"])
        self.assertEqual(self.run_built(program),
                         f"{bits}-bit compiler\n{count[bits]}")


if __name__ == "__main__":
    if "PerfLib" in sys.argv and not HAS_SAMPLES:
        print("skipped: " + MISSING)  # recognised by CTest
    unittest.main()
