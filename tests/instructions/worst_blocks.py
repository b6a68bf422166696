# SPDX-License-Identifier: MIT
"""Worst cases of V2 replies and V1 blocks."""

from cases import case, filled
import v1_writer as v1
import seed_writer as w

# ---- V2 replies -------------------------------------------------------------

V2 = ("v2", "finish", "bulk", "bulk_columns", "bulk_single")
EMPTY_VALUE = w.datum(b"")
TINY_NAME = b"\0\0"


@case(*V2)
def error_results(size):
    """Results of 16 bytes without contents."""
    return w.reply(*filled(size, w.result(w.ERROR, status=5)))


@case(*V2)
def errors_without_status(size):
    """Error results with status 0; each causes a note."""
    return w.reply(*filled(size, w.result(w.ERROR)))


@case(*V2)
def unknown_kinds(size):
    """Results of unknown kinds, which are skipped."""
    return w.reply(*filled(size, w.result(9)))


@case(*V2)
def empty_single_counters(size):
    """Results of 24 bytes with an empty value."""
    return w.reply(*filled(size, w.result(w.SINGLE, EMPTY_VALUE)))


@case(*V2)
def single_counters(size):
    """Results of one number."""
    return w.reply(*filled(size, w.result(w.SINGLE, w.v4(1))))


@case(*V2)
def results_without_ids(size):
    """Results of kind 2 with an empty list of counter ids."""
    return w.reply(*filled(size, w.result(w.COUNTERS, w.id_list([]))))


@case(*V2)
def results_without_instances(size):
    """Results of kind 6 with empty lists of counter ids and instances."""
    one = w.result(w.COUNTERSET, w.id_list([]) + w.instance_block())
    return w.reply(*filled(size, one))


@case(*V2)
def empty_values(size):
    """A result of kind 2 with the smallest value, of 8 bytes, for each id."""
    count = size // 12 // 2 * 2
    return w.reply(w.result(w.COUNTERS, w.id_list(range(count)) +
                            EMPTY_VALUE * count))


@case(*V2)
def unaligned_values(size):
    """A result of kind 2 with values of 9 bytes; each causes a note."""
    count = size // 13 // 2 * 2
    one = w.datum(b"", block_size=9, fill=b"") + b"\0"
    return w.reply(w.result(w.COUNTERS, w.id_list(range(count)) + one * count))


@case(*V2)
def tiny_instances(size):
    """A result of kind 4 with the smallest instances: headers of 10 bytes and
    values of 8 bytes."""
    one = w.instance(1, "", EMPTY_VALUE, size=10, raw_name=TINY_NAME)
    return w.reply(w.result(w.INSTANCES, w.instance_block(*filled(size, one))))


@case(*V2)
def instances_without_values(size):
    """A result of kind 6 without counters, with instances of 10 bytes."""
    one = w.instance(1, "", size=10, raw_name=TINY_NAME)
    return w.reply(w.result(w.COUNTERSET, w.id_list([]) + w.instance_block(
        *filled(size, one))))


@case(*V2)
def aligned_instances(size):
    """A result of kind 6 with one counter: headers of 16 bytes and a number."""
    one = w.instance(1, "ab", w.v8(1))
    return w.reply(w.result(w.COUNTERSET, w.id_list([1]) + w.instance_block(
        *filled(size, one))))


@case(*V2)
def one_long_name(size):
    """An instance whose name takes all bytes."""
    one = w.instance(1, "n" * (size // 2), w.v8(1))
    return w.reply(w.result(w.INSTANCES, w.instance_block(one)))


@case(*V2)
def name_without_end(size):
    """An instance whose name takes all bytes and has no NUL at its end."""
    one = w.instance(1, "", raw_name=b"n\0" * (size // 2))
    return w.reply(w.result(w.INSTANCES, w.instance_block(one)))


@case(*V2)
def sizes_change(size):
    """Data of 4, 8, 0 and 5 bytes in turn: successive values have different
    sizes."""
    values = [w.v4(1), w.v8(2), EMPTY_VALUE, w.datum(b"12345")]
    return w.reply(w.result(w.COUNTERSET, w.id_list(range(4)) +
                            w.instance_block(*filled(size, w.instance(
                                1, "n", *values)))))


@case(*V2)
def every_16th_instance_irregular(size):
    """Every 16th instance has a value of another size than the others."""
    def one(number):
        value = w.datum(b"12345") if number % 16 == 15 else w.v8(1)
        return w.instance(number, "name", *[w.v8(1)] * 7, value)
    return w.reply(w.result(w.COUNTERSET, w.id_list(range(8)) +
                            w.instance_block(*filled(size, one))))


# ---- V1 blocks --------------------------------------------------------------

LARGE, MULTI, MULTI_BASE = 0x00010100, 0x22410500, 0x42030500
L = v1.little


@case("v1")
def empty_objects(size):
    """Objects of 64 bytes."""
    return L.block(*filled(size, L.object(2, [], [])))


@case("v1")
def metadata(size):
    """Counter definitions without instances."""
    counters = filled(size, L.counter(2, LARGE, 8, 8))
    return L.block(L.object(2, counters, [], instances=v1.METADATA_INSTANCES))


@case("v1")
def instances_without_counters(size):
    """Instances of 28 bytes without names."""
    one = L.instance(None, L.values())
    return L.block(L.object(2, [], filled(size, one)))


@case("v1")
def instances_with_short_names(size):
    """Instances without counters, with names of two characters."""
    one = L.instance("ab", L.values())
    return L.block(L.object(2, [], filled(size, one)))


@case("v1")
def long_names(size):
    """Instances with names of 2 KB in UTF-16."""
    one = L.instance("n" * 1000, L.values())
    return L.block(L.object(2, [], filled(size, one)))


@case("v1")
def long_narrow_names(size):
    """Instances with names of 2 KB in a code page."""
    one = L.instance(None, L.values(), raw=b"n" * 2000 + b"\0", name_offset=24)
    return L.block(L.object(2, [], filled(size, one), code_page=1252))


def shared_values(size, writer, kind, width, share):
    """An object whose counter definitions refer to the same bytes of a counter
    block. Definitions take `share` of its bytes, instances the rest."""
    count = max(int(size * share) // 40, 1)
    counters = [writer.counter(2, kind, width, 8)] * count
    one = writer.instance(None, writer.values(bytes(20)))
    return writer.block(writer.object(2, counters, filled(
        size, one, 40 * count)))


@case("v1")
def shared_values_many_instances(size):
    """Shared values with few definitions and many instances."""
    return shared_values(size, L, LARGE, 8, 0.05)


@case("v1")
def shared_values_many_definitions(size):
    """Shared values with as many bytes of definitions as of instances."""
    return shared_values(size, L, LARGE, 8, 0.5)


@case("v1")
def shared_values_big_endian(size):
    """shared_values_many_definitions in big-endian byte order."""
    return shared_values(size, v1.big, LARGE, 8, 0.5)


@case("v1")
def shared_multi_counts(size):
    """Multi counters whose multi counts are the bytes after their values."""
    return shared_values(size, L, MULTI, 8, 0.5)


@case("v1")
def shared_multi_counts_of_few_instances(size):
    """Multi counters as in shared_multi_counts, but with few instances and many
    definitions."""
    return shared_values(size, L, MULTI, 8, 0.98)


def bases(size, counter, base, writer=L):
    """Pairs of a counter and a base that share the bytes of their values; half
    of the bytes are definitions."""
    count = max(size // 2 // len(counter + base), 1)
    one = writer.instance(None, writer.values(bytes(20)))
    return writer.block(writer.object(2, [counter, base] * count, filled(
        size, one, count * len(counter + base))))


AVERAGE, LARGE_BASE = 0x40020500, 0x40030500


@case("v1")
def shared_bases(size):
    """Counters with shared values, each followed by its base."""
    return bases(size, L.counter(2, AVERAGE, 8, 8),
                 L.counter(2, LARGE_BASE, 8, 8))


@case("v1")
def shared_multi_bases(size):
    """Multi counters with shared values, each followed by its multi count."""
    return bases(size, L.counter(2, MULTI, 8, 8),
                 L.counter(2, MULTI_BASE, 8, 8))


def longer_bases(size, writer, kind, base, sizes=(8, 4), extra=(1, 1)):
    """bases() with values of these sizes, and with definitions that are longer
    than their fixed part by `extra` bytes."""
    return bases(size, *(writer.counter(2, one, width, 8, extra=bytes(more))
                         for one, width, more in zip((kind, base), sizes, extra)),
                 writer)


@case("v1")
def longer_definitions(size):
    """Longer definitions, whose sizes are loaded for each value."""
    return longer_bases(size, L, AVERAGE, LARGE_BASE)


@case("v1")
def longer_definitions_big_endian(size):
    """Longer definitions in big-endian byte order."""
    return longer_bases(size, v1.big, AVERAGE, LARGE_BASE)


@case("v1")
def longer_definitions_alternate(size):
    """Only the definitions of counters are longer, not those of bases."""
    return longer_bases(size, v1.big, AVERAGE, LARGE_BASE, extra=(8, 0))


@case("v1")
def longer_definitions_wide_base(size):
    """Longer definitions of bases of 8 bytes."""
    return longer_bases(size, v1.big, AVERAGE, LARGE_BASE, (8, 8))


@case("v1")
def longer_definitions_narrow(size):
    """Longer definitions of counters and bases of 4 bytes."""
    return longer_bases(size, v1.big, AVERAGE, LARGE_BASE, (4, 4))


@case("v1")
def longer_definitions_without_numbers(size):
    """Longer definitions of counters of 2 bytes, which are not numbers."""
    return longer_bases(size, v1.big, AVERAGE, LARGE_BASE, (2, 4))


@case("v1")
def longer_definitions_of_multi_counters(size):
    """Longer definitions of multi counters, whose values count twice towards
    the limit of values per object."""
    return longer_bases(size, v1.big, MULTI, MULTI_BASE)


@case("v1")
def longer_definitions_of_both(size):
    """Longer definitions of multi counters with a base, for which the reader
    also searches the multi count after the value."""
    return longer_bases(size, v1.big, MULTI, LARGE_BASE)


@case("v1")
def shared_bases_big_endian(size):
    """Big-endian definitions of the fixed size, and values of 8 and 4 bytes.
    """
    return longer_bases(size, v1.big, AVERAGE, LARGE_BASE, extra=(0, 0))


@case("v1")
def broken_objects(size):
    """Objects whose first definition is too long."""
    one = L.object(2, [L.counter(2, LARGE, 8, 8, length=41)], [], instances=0)
    return L.block(*filled(size, one))


@case("v1")
def long_system_name(size):
    """A system name that takes all bytes."""
    return L.block(system="m" * (size // 2))
