# SPDX-License-Identifier: MIT
"""Worst cases of the texts that are read line by line: CPI snapshots and CPUID
dumps.
"""

from cases import case

# ---- Snapshots of CPI counters ----------------------------------------------

FIRST = b"cpi-snapshots 1\n"


def repeated(size, line):
    """As many of them as fit, after the first line."""
    return FIRST + line * (size // len(line))


@case("cpi_text")
def no_lines(size):
    """Nothing but line ends."""
    return repeated(size, b"\n")


@case("cpi_text")
def blank_lines(size):
    """Lines of a tab."""
    return repeated(size, b"\t\n")


@case("cpi_text")
def comments(size):
    """Lines of 2 bytes."""
    return repeated(size, b"#\n")


@case("cpi_text")
def returns(size):
    """A line that is all blanks, of the kind that is at the end."""
    return FIRST + b"\r" * size + b"\n"


@case("cpi_text")
def empty_snapshots(size):
    """Snapshots of nothing: each is seen by the one before, too."""
    return repeated(size, b"snapshot 0\n")


@case("cpi_text")
def snapshots_and_refusals(size):
    """By turns."""
    return repeated(size, b"snapshot 0\nrefuse 1\n")


@case("cpi_text")
def refusals(size):
    """Steps of 9 bytes."""
    return repeated(size, b"refuse 1\n")


@case("cpi_text")
def small_threads(size):
    """Snapshots of a thread."""
    return repeated(size, b"snapshot 0\nthread 0 0 0\n")


@case("cpi_text", sizes=(4096, 8192, 16384))
def small_cpus(size):
    """CPUs with the shortest counts, as many as a snapshot may have."""
    lines = [b"cpu %d 0 0 0 0\n" % i for i in range(200)]
    one = b"snapshot 0\n" + b"".join(lines)
    return FIRST + one * (size // len(one))


@case("cpi_text")
def zeros(size):
    """A number that is all zeros, read twice."""
    return FIRST + b"snapshot 0\nsnapshot " + b"0" * size + b"\n"


@case("cpi_text")
def long_sentence(size):
    """A refusal that is all sentence, seen by a snapshot, too."""
    return FIRST + b"snapshot 0\nrefuse 1 " + b"s" * size + b"\n"


@case("cpi_text")
def wide_gaps(size):
    """Blanks between two words, passed over twice."""
    return FIRST + b"snapshot 0\nsnapshot" + b"\t" * size + b"1\n"


# ---- CPUID dumps ------------------------------------------------------------


def lines(size, line):
    """As many of them as fit."""
    return line * (size // len(line))


@case("cpuid_text")
def empty_lines(size):
    """Nothing but line ends."""
    return lines(size, b"\n")


@case("cpuid_text")
def returns_and_line_ends(size):
    """Empty lines of 2 bytes."""
    return lines(size, b"\r\n")


@case("cpuid_text")
def short_lines(size):
    """Lines of a character that could begin any layout."""
    return lines(size, b"a\n")


@case("cpuid_text")
def lines_as_short_as_headings(size):
    """Four characters."""
    return lines(size, b"cpu0\n")


@case("cpuid_text")
def decorated_headings(size):
    """As long as the shortest leaves, tried by each layout before."""
    return lines(size, b"cpu006]\n")


@case("cpuid_text")
def almost_leaves(size):
    """Seven characters, tried by each layout that they could belong to."""
    return lines(size, b"amd_fn0\n")


@case("cpuid_text")
def almost_columns(size):
    """A column with nothing after it."""
    return lines(size, b"0x0 - -\n")


@case("cpuid_text")
def marked_leaves(size):
    """The shortest there are."""
    return lines(size, b"cpuid0:0,0,0,0\n")


@case("cpuid_text")
def bare_leaves(size):
    """Leaf and registers, seen once to count them and once to read them."""
    return lines(size, b"0x1 0x0,0x0,0x0,0x0\n")


@case("cpuid_text")
def bare_subleaves(size):
    """The same with a sub-leaf."""
    return lines(size, b"0x1 0x0,0x0,0x0,0x0,0x0\n")


@case("cpuid_text")
def half_columns(size):
    """The last two registers are no columns, so that all are read again."""
    return lines(size, b"0x0 0x2 0xe,6,0\n")


@case("cpuid_text")
def named_leaves(size):
    """Registers in the opposite order of their letters."""
    return lines(size, b"0x1 edx0,ecx0,ebx0,eax0\n")


@case("cpuid_text")
def array_leaves(size):
    """Numbered functions, tried as columns before."""
    return lines(size, b"amd_fn0[0]=0,0,0,0\n")


@case("cpuid_text")
def too_many_columns(size):
    """Counted, and then no leaf."""
    return lines(size, b"0x1 0x0,0x0,0x0,0x0,0x0,0x0\n")


@case("cpuid_text")
def many_numbers(size):
    """A line of numbers that are no columns, to its end."""
    return b"0x1 " + b"1," * (size // 2) + b"\n"


@case("cpuid_text")
def many_signs(size):
    """A line of column separators."""
    return b"0x1 " + b"-" * size + b"\n"


@case("cpuid_text")
def decoration(size):
    """A heading that is all decoration."""
    return b"}" * size + b"\n"


@case("cpuid_text")
def long_function(size):
    """A function's number that is all zeros, of no base until its end."""
    return b"amd_fn" + b"0" * size + b"[0]=0,0,0,0\n"


@case("cpuid_text")
def long_names_of_functions(size):
    """The longest beginnings, and then no leaf."""
    return lines(size, b"basic_cpuid\n")
