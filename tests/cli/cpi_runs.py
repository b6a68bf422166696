# SPDX-License-Identifier: MIT
"""Common parts of the tests of `perfblock cpi run`: snapshots as text, the
worked examples with their expected output, and a command to measure.

The measured command is the program itself, which exists on every system.
Expected figures come from exact fractions."""

import os

from program import Case, bytes_of, own_program, seed

import cpi_figures as f


def snapshot(clock, *cpus):
    """A snapshot; each CPU is (number, instr, cycles, busy, elapsed)."""
    return f.Snapshot(clock, tuple(f.Cpu(*cpu) for cpu in cpus))


def text(*steps, widths=None):
    """The text form of snapshots, and of refusals (code, sentence)."""
    lines = ["cpi-snapshots 1"]
    if widths:
        lines.append("widths %d %d" % widths)
    for step in steps:
        if not isinstance(step, f.Snapshot):
            lines.append("refuse %d %s" % step)
            continue
        lines.append("snapshot %d" % step.clock)
        lines += ["cpu %d %d %d %d %d" % cpu for cpu in step.cpus]
    return ("\n".join(lines) + "\n").encode()


# Two snapshots of one CPU, as text.
SNAPSHOTS = (b"cpi-snapshots 1\nsnapshot 0\ncpu 0 0 0 0 0\n"
             b"snapshot 9\ncpu 0 3 6 9 9\n")


# ---- The worked examples, and the tables that cpi run prints for them -----

# Two CPUs that are busy for 75 % and 20 % of the time.
TWO = (snapshot(1000, (0, 0, 1000, 0, 1000), (1, 5000, 1000, 0, 1000)),
       snapshot(3001000, (0, 1500000, 3001000, 2250000, 3001000),
                (1, 3005120, 3001000, 600000, 3001000)))
TWO_PRINTED = """\
cpi:  1.33  cpi_wb:  0.63  idle: 52.50%  busy: 47.50%
       System   CPU0   CPU1
cpi      1.33   2.00   1.00
cpi_wb   0.63   1.50   0.20
idle%   52.50  25.00  80.00
busy%   47.50  75.00  20.00
"""
# Clocks of more than 32 bits, without a busy clock: there are raw figures
# only, and cpi run refuses the text.
LARGE = b"""cpi-snapshots 1
snapshot 68719476736
cpu 0 7000000000 68719476736
thread 4242 100 200
snapshot 80719476737
cpu 0 16000000000 80719476737
thread 4242 8000000100 10500000200
"""
# The same counts with a busy clock, by which CPU 0 was always idle.
LARGE_BUSY = (snapshot(68719476736, (0, 7000000000, 68719476736, 5, 5)),
              snapshot(80719476737,
                       (0, 16000000000, 80719476737, 5, 12000000006)))
LARGE_BUSY_PRINTED = """\
cpi:  1.33  cpi_wb:  0.00  idle: 100.00%  busy:  0.00%
       System   CPU0
cpi      1.33   1.33
cpi_wb   0.00   0.00
idle%  100.00 100.00
busy%    0.00   0.00
"""
# The instructions of CPU 0 wrap at 40 bits; the second snapshot lacks CPU 3.
PHASE = (snapshot(500, (0, 1099511626776, 10, 0, 0), (1, 777, 10, 5, 0),
                  (3, 1, 1, 1, 1)),
         snapshot(8500, (0, 3000, 8010, 6000, 8000), (1, 777, 8010, 5, 8000)))
PHASE_WIDTHS = (40, 64)
PHASE_PRINTED = """\
cpi:  4.00  cpi_wb:  1.50  idle: 62.50%  busy: 37.50%
       System   CPU0   CPU1   CPU3
cpi      4.00   2.00    n/a    n/a
cpi_wb   1.50   1.50    n/a    n/a
idle%   62.50  25.00 100.00    n/a
busy%   37.50  75.00   0.00    n/a
"""
# No instruction was executed, and the busy clock of one CPU did not advance.
IDLE = (snapshot(0, (0, 7, 0, 0, 0), (12, 9, 0, 0, 0)),
        snapshot(50, (0, 7, 40, 10, 40), (12, 9, 40, 0, 0)))
IDLE_PRINTED = """\
cpi:   n/a  cpi_wb:   n/a  idle: 75.00%  busy: 25.00%
       System   CPU0  CPU12
cpi       n/a    n/a    n/a
cpi_wb    n/a    n/a    n/a
idle%   75.00  75.00    n/a
busy%   25.00  25.00    n/a
"""


def figures_json(figures):
    """The JSON keys that records of a CPU and of the system share."""
    def or_none(value, divisor):
        return value if divisor else None
    return {"status": figures.status,
            "raw_cpi": or_none(figures.raw_cpi, figures.instr),
            "scaled_cpi": or_none(figures.scaled_cpi, figures.instr),
            "busy_percent": or_none(figures.busy_percent, figures.elapsed),
            "instr": figures.instr, "cycles": figures.cycles,
            "scaled_cycles": figures.scaled, "busy": figures.busy,
            "elapsed": figures.elapsed, "busy_clamped": figures.clamped}


def expected_json(start, end, widths=(64, 64), status=0):
    """The JSON records that cpi run prints for an interval; none if the
    figures cannot be computed."""
    _, result = f.compute(start, end, widths, f.RAW | f.SCALED)
    if result is None:
        return []
    return [{"record": "cpi", "elapsed_cycles": result.elapsed,
             "cpus_changed": result.changed, "num_cpus": len(result.cpus),
             "system": figures_json(result.system), "command_status": status,
             "command_signal": None}] + [
                 {"record": "cpu", "cpu": cpu.cpu, **figures_json(cpu),
                  "unhalted_cycles": None} for cpu in result.cpus]


class RunCase(Case):
    """A test that measures a command. The default command prints nothing."""

    def setUp(self):
        super().setUp()
        self.command = own_program()
        self.made = os.path.join(self.folder, "made.pfb")
        self.quiet = [self.command, "cpi", "show", self.file("empty", b"")]
        # A command that creates the file self.made.
        self.creating = [self.command, "convert", seed(
            "capture", "valid_single_values.pfb"), "-o", self.made]

    def source(self, data, name="source"):
        """Writes snapshots, or bytes, to a file and returns its path."""
        return self.file(name, data if isinstance(data, bytes)
                         else text(*data))

    def measure(self, data, *options, command=None):
        """Measures a command with these snapshots as the source."""
        return self.run_program("cpi", "run", "--source", self.source(data),
                                *options, "--", *(command or self.quiet))

    def chunks(self, path):
        """(tag, body) of a capture after its first chunk."""
        data = bytes_of(path)
        return [(item["tag"], data[item["offset"] + 16:][:item["size"]])
                for item in self.run_json("show", path)
                if item["record"] == "chunk"][1:]
