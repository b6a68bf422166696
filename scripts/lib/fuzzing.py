# SPDX-License-Identifier: MIT
"""Common parts of scripts/fuzz, scripts/corpus, scripts/mutate and scripts/coverage: fuzz targets, engines, and runs
of an engine."""

import csv
import ctypes
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Tests set these variables to other folders, so that they do not change the project's results and corpus.
RESULTS = pathlib.Path(os.environ.get("PERFBLOCK_FUZZING", ROOT / "build" / "fuzzing"))
CORPUS = pathlib.Path(os.environ.get("PERFBLOCK_CORPUS", ROOT / "corpus"))
CHECKS = ("empty", "planted")  # targets of fuzz/check, never part of --all
MAX_SECONDS = 10              # for one input, before it counts as a hang
MAX_OVERTIME = 600            # seconds of a run beyond its planned time, before it is terminated. AFL++ first runs each
                              # input of its corpus eight times, even if that exceeds the time
MAX_BYTES = 4096              # of an input that is measured or kept in corpus/TARGET/found
MAX_AFL_BYTES = 1 << 20       # of an input that AFL++ accepts


def targets():
    return sorted(path.name.removesuffix("_fuzzer.c") for path in (ROOT / "fuzz").glob("*_fuzzer.c"))


def seed_folders(target):
    folders = (CORPUS / target / name for name in ("seeds", "found", "regress"))
    return [folder for folder in folders if folder.is_dir()]


def dictionary(target):
    path = ROOT / "fuzz" / f"{target}.dict"
    return path if path.is_file() else None


def quietly(command, **options):
    """Runs a command and shows its output only if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        sys.stderr.write(done.stdout)
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return done.stdout


def build(preset, names):
    """Builds targets of a CMake preset."""
    quietly(["cmake", "--preset", preset], cwd=ROOT)
    selected = [argument for name in names for argument in ("--target", name)]
    quietly(["cmake", "--build", "--preset", preset, *selected], cwd=ROOT)


def program(preset, target):
    return ROOT / "build" / preset / "fuzz" / f"{target}_fuzzer"


def shown(path):
    """A path as it is printed: relative to the project's folder if it is inside."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def content_name(path):
    """A name that is computed from the contents of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def keep_copy(path, folder, prefix=""):
    """Copies a file to a folder under `prefix` and its content_name(); returns whether it was not there yet."""
    copy = folder / (prefix + content_name(path))
    if copy.exists():
        return False
    shutil.copyfile(path, copy)
    return True


# ---- Processes that AFL++ does not end ---------------------------------------------------------------------


def adopt_orphans():
    """Makes this process, instead of init, the parent of descendants whose parent ends."""
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def kill_orphans(executable):
    """Kills the processes with this executable that this process has adopted. AFL++ sometimes ends without
    killing the process that runs the target; this process is stopped and never ends by itself."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[1])
            is_orphan = parent == os.getpid() and (folder / "exe").samefile(executable)
        except OSError:
            continue  # the process has ended
        if is_orphan:
            os.kill(int(folder.name), signal.SIGKILL)
            os.waitpid(int(folder.name), 0)


# ---- Runs ----------------------------------------------------------------------------------------


class Run:
    """One process of an engine on one target. When poll() returns an exit status, the process has ended, and executions,
    speed, edges and problems are final."""

    def __init__(self, target, seconds, number=0, jobs=1):
        self.target = target
        self.seconds = seconds
        self.number = number
        self.jobs = jobs
        self.executions = 0
        self.speed = 0     # executions per second
        self.edges = 0
        self.cpu_seconds = 0  # of the process and its children
        self.problems = []  # problems other than findings
        self.folder = RESULTS / target
        self.corpus = self.folder / "corpus"
        self.findings = self.folder / "findings"
        for folder in (self.corpus, self.findings):
            folder.mkdir(parents=True, exist_ok=True)
        if number == 0:
            self.move_earlier_findings()
        self.log_path = self.folder / f"{self.name}-{number}.log"
        self.process = None

    def move_earlier_findings(self):
        """Moves the findings of earlier runs to a separate folder, so that only new ones are reported."""
        earlier = self.findings / "earlier"
        earlier.mkdir(exist_ok=True)
        for path in self.findings.glob(f"{self.name}-*"):
            path.replace(earlier / path.name)

    def spawn(self, command, **environment):
        """Starts the process; its output is written to the log."""
        self.begin = time.monotonic()
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            cwd=self.folder, env={**os.environ, **environment})

    def log(self):
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def poll(self):
        """The exit status, in the first call after the process has ended; None in all other calls. Terminates a process
        that runs too long. Methods of Popen that wait are not used, because they do not return the CPU time."""
        if self.process is None:
            return None
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid == 0 and time.monotonic() - self.begin > self.seconds + MAX_OVERTIME:
            self.problems.append("did not end on its own")
            os.kill(self.process.pid, signal.SIGTERM)
            pid, status, usage = os.wait4(self.process.pid, 0)
        if pid == 0:
            return None
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        status = self.process.returncode = os.waitstatus_to_exitcode(status)
        self.process = None
        self.collect(status)
        return status

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait()

    def progress(self):
        self.measure()
        if self.executions == 0:
            return "no figures yet"  # AFL++ writes its first after a minute
        return f"{self.speed:,.0f} runs/s, {self.executions:,} runs, {self.edges:,} edges"

    def replay(self, finding):
        """The command that runs the target on a finding."""
        return f"{shown(program(self.preset, self.target))} {shown(finding)}"


class LibFuzzer(Run):
    name = "libfuzzer"
    preset = "fuzz"

    @staticmethod
    def prepare(names):
        build(LibFuzzer.preset, [f"{name}_fuzzer" for name in names])

    def options(self):
        path = dictionary(self.target)
        return [f"-max_total_time={self.seconds}", f"-timeout={MAX_SECONDS}", "-print_final_stats=1",
                *([f"-dict={path}"] if path else [])]

    def start(self):
        self.spawn([program(self.preset, self.target), *self.options(), "-use_value_profile=1", f"-reload={self.jobs > 1:d}",
                    f"-artifact_prefix={self.findings}/{self.name}-", self.corpus, *seed_folders(self.target)])

    def measure(self):
        for line in self.log().splitlines():
            match = re.match(r"#(\d+)\s.*?(?:cov: (\d+))?.*?exec/s: (\d+)", line)
            if match:
                self.executions = int(match[1])
                self.speed = int(match[3])
            match = re.search(r" cov: (\d+)", line)
            if match:
                self.edges = int(match[1])
            match = re.match(r"stat::(number_of_executed_units|average_exec_per_sec):\s+(\d+)", line)
            if match and match[1] == "number_of_executed_units":
                self.executions = int(match[2])
            elif match:
                self.speed = int(match[2])

    def collect(self, status):
        self.measure()
        if status != 0 and not any(self.findings.glob(f"{self.name}-*")):
            self.problems.append(f"exit status {status}, see {shown(self.log_path)}")


class MemorySanitizer(LibFuzzer):
    name = "msan"
    preset = "fuzz-msan"

    @staticmethod
    def prepare(names):
        build(MemorySanitizer.preset, [f"{name}_fuzzer" for name in names])


class Afl(Run):
    """AFL++ in persistent mode. Its main process also uses CMPLOG, which logs the operands of comparisons.

    CMPLOG uses the same executable, because AFL++ 4.04 is no better with a separate one. The executable is built without
    the pointer-overflow check, which compares addresses: these differ from run to run, so that AFL++ would report an
    unstable target.
    """
    name = "afl"
    preset = "fuzz-afl"

    @staticmethod
    def prepare(names):
        adopt_orphans()
        build(Afl.preset, [f"{name}_fuzzer" for name in names])
        build("fuzz-mutators", ["all"])

    def start(self):
        self.out = self.folder / "afl"
        inputs = self.folder / "afl-in"
        if self.number == 0:
            shutil.rmtree(self.out, ignore_errors=True)
            shutil.rmtree(inputs, ignore_errors=True)
            inputs.mkdir()
            for folder in (*seed_folders(self.target), self.corpus):
                for path in folder.iterdir():
                    if 0 < path.stat().st_size <= MAX_AFL_BYTES:
                        keep_copy(path, inputs)
            if not any(inputs.iterdir()):
                (inputs / "zero").write_bytes(bytes(8))
        dictionary_path = dictionary(self.target)
        role = ["-M", "main"] if self.number == 0 else ["-S", f"other{self.number}"]
        mutator = ROOT / "build" / "fuzz-mutators" / "fuzz" / f"{self.target}_mutator.so"
        custom = {"AFL_CUSTOM_MUTATOR_LIBRARY": str(mutator)} if mutator.exists() else {}
        cmplog = ["-c", "0", "-l", "2"] if self.number == 0 else []
        self.spawn(["afl-fuzz", *role, "-i", inputs, "-o", self.out, "-V", self.seconds, "-m", "none",
                    "-t", f"{1000 * MAX_SECONDS}+", *cmplog, *(["-x", dictionary_path] if dictionary_path else []),
                    "--", program(self.preset, self.target)],
                   AFL_SKIP_CPUFREQ="1", AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES="1", AFL_NO_UI="1", AFL_NO_AFFINITY="1",
                   AFL_BENCH_UNTIL_CRASH="1", AFL_FORKSRV_INIT_TMOUT="60000", AFL_HANG_TMOUT=str(1000 * MAX_SECONDS),
                   **custom)

    def state(self):
        return self.out / ("main" if self.number == 0 else f"other{self.number}")

    def measure(self):
        try:
            with open(self.state() / "plot_data", encoding="utf-8") as file:
                rows = list(csv.reader(file, skipinitialspace=True))
        except FileNotFoundError:
            return
        if len(rows) > 1 and len(rows[-1]) == len(rows[0]):
            row = dict(zip((name.lstrip("# ") for name in rows[0]), rows[-1]))
            self.executions = int(row["total_execs"])
            self.speed = float(row["execs_per_sec"])
            self.edges = int(row["edges_found"])

    def collect(self, status):
        kill_orphans(program(self.preset, self.target))
        try:
            text = (self.state() / "fuzzer_stats").read_text(encoding="utf-8")
        except FileNotFoundError:
            self.problems.append(f"did not start (exit status {status}), see {shown(self.log_path)}")
            return
        stats = dict(re.split(r"\s*:\s*", line, maxsplit=1) for line in text.splitlines() if ":" in line)
        self.executions = int(stats["execs_done"])
        self.speed = float(stats["execs_per_sec"])
        self.edges = int(stats["edges_found"])
        if status != 0:
            self.problems.append(f"exit status {status}, see {shown(self.log_path)}")
        if stats["stability"] != "100.00%":
            self.problems.append(f"stability is {stats['stability']}: the target is not deterministic")
        for path in sorted((self.state() / "queue").glob("id:*")):
            if ",orig:" not in path.name:
                keep_copy(path, self.corpus)
        for kind in ("crashes", "hangs"):
            for path in sorted((self.state() / kind).glob("id:*")):
                keep_copy(path, self.findings, f"{self.name}-{kind}-")


ENGINES = {"libfuzzer": {"address": LibFuzzer, "memory": MemorySanitizer}, "afl": {"address": Afl}}
