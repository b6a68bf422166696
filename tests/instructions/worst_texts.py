# SPDX-License-Identifier: MIT
"""Worst cases of texts: CPI snapshots, CPUID dumps and V1 blocks as numbers."""

from cases import case

# ---- Snapshots of CPI counters ----------------------------------------------

FIRST = b"cpi-snapshots 1\n"


def repeated(size, line):
    """Snapshots: the first line, then as many of this line as fit."""
    return FIRST + line * (size // len(line))


@case("cpi_text")
def line_ends(size):
    """Only line ends."""
    return repeated(size, b"\n")


@case("cpi_text")
def blank_lines(size):
    """Lines that consist of a tab."""
    return repeated(size, b"\t\n")


@case("cpi_text")
def comments(size):
    """Comments without a text."""
    return repeated(size, b"#\n")


@case("cpi_text")
def returns(size):
    """A line of carriage returns, which are stripped from its end."""
    return FIRST + b"\r" * size + b"\n"


@case("cpi_text")
def empty_snapshots(size):
    """Snapshots without CPUs."""
    return repeated(size, b"snapshot 0\n")


@case("cpi_text")
def snapshots_and_refusals(size):
    """Snapshots and refusals alternately."""
    return repeated(size, b"snapshot 0\nrefuse 1\n")


@case("cpi_text")
def refusals(size):
    """Refusals, the shortest steps."""
    return repeated(size, b"refuse 1\n")


@case("cpi_text")
def small_threads(size):
    """Snapshots of a thread only."""
    return repeated(size, b"snapshot 0\nthread 0 0 0\n")


@case("cpi_text", sizes=(4096, 8192, 16384))
def small_cpus(size):
    """Snapshots of 200 CPUs with the shortest counts."""
    lines = [b"cpu %d 0 0 0 0\n" % i for i in range(200)]
    one = b"snapshot 0\n" + b"".join(lines)
    return FIRST + one * (size // len(one))


@case("cpi_text")
def zeros(size):
    """A number that consists of zeros. Its line is read twice."""
    return FIRST + b"snapshot 0\nsnapshot " + b"0" * size + b"\n"


@case("cpi_text")
def long_sentence(size):
    """A refusal whose sentence takes all bytes. It is read twice, the first
    time to find the end of the snapshot before it."""
    return FIRST + b"snapshot 0\nrefuse 1 " + b"s" * size + b"\n"


@case("cpi_text")
def wide_gaps(size):
    """A line of two words with many blanks between them. It is read twice."""
    return FIRST + b"snapshot 0\nsnapshot" + b"\t" * size + b"1\n"


# ---- CPUID dumps ------------------------------------------------------------


def lines(size, line):
    """As many of this line as fit."""
    return line * (size // len(line))


@case("cpuid_text")
def empty_lines(size):
    """Only line ends."""
    return lines(size, b"\n")


@case("cpuid_text")
def returns_and_line_ends(size):
    """Empty lines of 2 bytes."""
    return lines(size, b"\r\n")


@case("cpuid_text")
def short_lines(size):
    """Lines of one character that could begin several layouts."""
    return lines(size, b"a\n")


@case("cpuid_text")
def shortest_headings(size):
    """Headings of a CPU, as short as they may be."""
    return lines(size, b"cpu0\n")


@case("cpuid_text")
def decorated_headings(size):
    """Headings just long enough that the layouts of leaves are tried first."""
    return lines(size, b"cpu006]\n")


@case("cpuid_text")
def almost_leaves(size):
    """Lines of seven characters that could begin several layouts."""
    return lines(size, b"amd_fn0\n")


@case("cpuid_text")
def almost_columns(size):
    """Lines with one column, followed by separators."""
    return lines(size, b"0x0 - -\n")


@case("cpuid_text")
def marked_leaves(size):
    """The shortest leaves that begin with "cpuid"."""
    return lines(size, b"cpuid0:0,0,0,0\n")


@case("cpuid_text")
def bare_leaves(size):
    """Leaves of the shortest columns. The columns are read twice, the first
    time to count them."""
    return lines(size, b"0x1 0x0,0x0,0x0,0x0\n")


@case("cpuid_text")
def bare_subleaves(size):
    """Leaves of the shortest columns, with a sub-leaf."""
    return lines(size, b"0x1 0x0,0x0,0x0,0x0,0x0\n")


@case("cpuid_text")
def half_columns(size):
    """Leaves whose last two registers are too short for columns."""
    return lines(size, b"0x0 0x2 0xe,6,0\n")


@case("cpuid_text")
def named_leaves(size):
    """Leaves whose registers have names and are in reverse order."""
    return lines(size, b"0x1 edx0,ecx0,ebx0,eax0\n")


@case("cpuid_text")
def array_leaves(size):
    """The shortest leaves of the layout of arrays; columns are tried first."""
    return lines(size, b"amd_fn0[0]=0,0,0,0\n")


@case("cpuid_text")
def too_many_columns(size):
    """Lines with too many columns, which are counted: the lines are no leaves."""
    return lines(size, b"0x1 0x0,0x0,0x0,0x0,0x0,0x0\n")


@case("cpuid_text")
def many_numbers(size):
    """A line of numbers that are not columns."""
    return b"0x1 " + b"1," * (size // 2) + b"\n"


@case("cpuid_text")
def many_signs(size):
    """A line of column separators."""
    return b"0x1 " + b"-" * size + b"\n"


@case("cpuid_text")
def decoration(size):
    """A line of characters that may surround a heading, without a heading."""
    return b"}" * size + b"\n"


@case("cpuid_text")
def long_function(size):
    """A function number that consists of zeros and whose base is unknown until
    its end."""
    return b"amd_fn" + b"0" * size + b"[0]=0,0,0,0\n"


@case("cpuid_text")
def longest_first_words(size):
    """Lines that end after the longest word with which a leaf can begin."""
    return lines(size, b"basic_cpuid\n")


# ---- V1 blocks as numbers ---------------------------------------------------

SIGNATURE = b"P\0E\0R\0F\0"


def numbers(size, separator, form):
    """A list of the signature, then of as many numbers as fit."""
    text = separator.join(form % byte for byte in SIGNATURE)
    more = separator + form % 255
    return text + more * (size // len(more))


@case("number_text")
def decimal_numbers(size):
    """Decimal numbers of three digits."""
    return numbers(size, b",", b"%d")


@case("number_text")
def prefixed_numbers(size):
    """Hexadecimal numbers with a prefix."""
    return numbers(size, b" ", b"0x%x")


@case("number_text")
def dumped_numbers(size):
    """Hexadecimal numbers of two digits."""
    return numbers(size, b"\n", b"%02x")


@case("number_text")
def shortest_numbers(size):
    """Numbers of one digit."""
    return numbers(0, b",", b"%d") + b",0" * (size // 2)


@case("number_text")
def blanks_between_numbers(size):
    """Blanks after the signature."""
    return numbers(0, b",", b"%d") + b" " * size
