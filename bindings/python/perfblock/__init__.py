# SPDX-License-Identifier: MIT
"""Reads Windows performance data: .blg, perfmon's CSV and TSV, recordings, V1 and V2 data.

    import perfblock

    with perfblock.open("day.blg", paths=[r"\\Processor(*)\\% Processor Time"]) as reader:
        for sample in reader:
            for value in sample:
                print(sample.time, value.series.path, value.value, value.status)

    table = perfblock.open("day.blg").table()  # NumPy arrays: one column per counter
    table.to_pandas()

    perfblock.evaluate("PERF_RAW_FRACTION", newer={"value": 108980, "base": 238472}).value
"""

from __future__ import annotations

import dataclasses
import datetime
import os
import struct
import typing

from perfblock._binding import ffi, lib

__all__ = ["Error", "Options", "Problem", "Reader", "Result", "Sample", "Series", "Table", "Value", "evaluate", "open", "version"]

_EPOCH = datetime.datetime(1601, 1, 1, tzinfo=datetime.timezone.utc)
_TO_UNIX = 116444736000000000  # 100 ns from 1601 to 1970
_HAS = {"value": lib.PFB_HAS_VALUE, "base": lib.PFB_HAS_BASE, "multi_count": lib.PFB_HAS_MULTI_COUNT,
        "perf_time": lib.PFB_HAS_PERF_TIME, "perf_time_100ns": lib.PFB_HAS_PERF_TIME_100NS,
        "object_time": lib.PFB_HAS_OBJECT_TIME, "perf_freq": lib.PFB_HAS_PERF_FREQ, "object_freq": lib.PFB_HAS_OBJECT_FREQ}
_NUMBERS = struct.Struct("=9I")  # of a description of a series
_DATE_ORDERS = {"mdy": lib.PFB_DATE_MDY, "dmy": lib.PFB_DATE_DMY, "ymd": lib.PFB_DATE_YMD}
_IDENTITIES = {"process": lib.PFB_IDENTITY_PROCESS, "windows": lib.PFB_IDENTITY_WINDOWS}
_Input = typing.Union[str, bytes, "os.PathLike[str]"]
_SIZES = ("base_type", "value_size", "base_size")
_NO_SERIES = 2 ** 32 - 1  # the number of an element without a displayed value


def _text(pointer: typing.Any) -> str:
    return ffi.string(pointer).decode("utf-8", "replace")


_STATUSES = [_text(lib.pfb_status_name(number)) for number in range(16)]
_FLAGS = {1 << bit: _text(lib.pfb_flag_name(1 << bit)) for bit in range(8)}


def version() -> str:
    """The version of the library."""
    return _text(lib.pfb_version())


def _flag_names(bits: int) -> typing.Tuple[str, ...]:
    return tuple(name for bit, name in _FLAGS.items() if bits & bit and name)


@dataclasses.dataclass(frozen=True)
class Problem:
    """What was wrong with an input, and where."""

    label: str  # of the input
    code: str  # "truncated_block", ...; "ok" if it is not about the input's bytes
    offset: typing.Optional[int]  # in the file
    sentence: str

    def __str__(self) -> str:
        where = "" if self.offset is None else f"offset {self.offset}: "
        return f"{self.label}: {where}{self.sentence}"


class Error(Exception):
    """An input is malformed or cannot be read. What was read before the error is right."""

    def __init__(self, problem: Problem):
        super().__init__(str(problem))
        self.problem, self.code, self.offset, self.sentence = problem, problem.code, problem.offset, problem.sentence


@dataclasses.dataclass(frozen=True)
class Series:
    """What values belong to. Strings are empty for what is absent."""

    machine: str
    counterset: str
    instance: str
    parent: str
    occurrence: int  # among instances of equal names, from 0
    counter: str
    unit: str  # "%", "/sec", "sec" or ""
    type: typing.Optional[int]  # counter type; None: unknown

    @property
    def path(self) -> str:
        """The counter path."""
        instance = f"{self.parent}/{self.instance}" if self.parent else self.instance
        if self.occurrence:
            instance += f"#{self.occurrence}"
        machine = self.machine if self.machine.startswith("\\") or not self.machine else "\\\\" + self.machine
        return f"{machine}\\{self.counterset}" + (f"({instance})" if instance else "") + f"\\{self.counter}"


def _series_of(described: bytes) -> Series:
    """The series of a description, see build_binding.py."""
    has_type, counter_type, occurrence, *sizes = _NUMBERS.unpack_from(described)
    at, texts = _NUMBERS.size, []
    for size in sizes:
        texts.append(described[at:at + size].decode("utf-8", "replace"))
        at += size
    machine, counterset, instance, parent, counter, unit = texts
    return Series(machine, counterset, instance, parent, occurrence, counter, unit, counter_type if has_type else None)


@dataclasses.dataclass(frozen=True)
class Value:
    """One displayed value."""

    series: Series
    value: float  # NaN unless the status is "ok"
    status: str  # "ok", or why there is no value
    flags: typing.Tuple[str, ...]
    raw: int


class Sample:
    """The values of one time: a sequence of Value without those that are never displayed."""

    def __init__(self, frame: typing.Any, series: typing.List[typing.Tuple[int, Series]]):
        self.time_100ns: typing.Optional[int] = frame.time if frame.flags & lib.PFB_RECORD_HAS_TIME else None
        self.is_local = bool(frame.flags & lib.PFB_RECORD_LOCAL_TIME)  # the offset from UTC is unknown
        self.number: int = frame.number
        self._series = series
        self._values = ffi.unpack(frame.values, frame.count) if frame.count else []
        self._statuses = ffi.buffer(frame.statuses, frame.count)[:] if frame.count else b""
        self._flags = ffi.buffer(frame.flag_bits, frame.count)[:] if frame.count else b""
        self._raw = ffi.unpack(frame.raw, frame.count) if frame.count else []

    @property
    def time(self) -> typing.Optional[datetime.datetime]:
        """With the zone UTC; without one if the offset of the log is unknown. None: no time, or none of datetime."""
        if self.time_100ns is None:
            return None
        try:
            time = _EPOCH + datetime.timedelta(microseconds=self.time_100ns // 10)
        except OverflowError:
            return None
        return time.replace(tzinfo=None) if self.is_local else time

    def __len__(self) -> int:
        return len(self._series)

    def __iter__(self) -> typing.Iterator[Value]:
        for at, series in self._series:
            yield Value(series, self._values[at], _STATUSES[self._statuses[at]], _flag_names(self._flags[at]), self._raw[at])


class Table:
    """All values as NumPy arrays. Row i belongs to times[i], column j to series[j]."""

    def __init__(self, times: typing.Any, is_local: bool, series: typing.List[Series], values: typing.Any, statuses: typing.Any):
        self.times = times  # datetime64[ns]; NaT: unknown
        self.is_local = is_local  # the offset of a log from UTC is unknown
        self.series = series
        self.values = values  # float64, NaN where there is none
        self.statuses = statuses  # uint8: 0 is "ok", 255 where the sample lacks the series; see status_names

    status_names = tuple(_STATUSES)

    def column(self, path: str) -> typing.Any:
        """The values of a series by its path, with or without the machine."""
        for at, series in enumerate(self.series):
            if path.lower() in (series.path.lower(), "\\" + series.path.lower().lstrip("\\").partition("\\")[2]):
                return self.values[:, at]
        raise KeyError(path)

    def to_pandas(self) -> typing.Any:
        """A pandas.DataFrame with the paths as columns and the times as index."""
        import pandas  # pylint: disable=import-outside-toplevel,import-error
        return pandas.DataFrame(self.values, columns=[series.path for series in self.series], index=self.times)


class Options(typing.TypedDict, total=False):
    """Policies of formulas; all are off by default."""

    wrap32: bool
    per_item_inverse: bool
    server_2003_multi_timer: bool
    generic: bool
    cap_100: bool
    clamp_0: bool
    scale: int


def _formula_options(options: typing.Mapping[str, typing.Any]) -> typing.Any:
    unknown = set(options) - set(Options.__annotations__)
    if unknown:
        raise TypeError(f"unknown options: {', '.join(sorted(unknown))}")
    return ffi.new("pfb_formula_options *", dict(options))


class Reader:
    """Iterates over the samples of files, merged by time. `notes` has what was tolerated or left out, `failure` what Error
    says, or None."""

    def __init__(self, inputs: typing.Sequence[_Input], paths: typing.Iterable[str] = (), strict: bool = False,
                 bias: typing.Optional[int] = None, names: typing.Optional[_Input] = None, date_order: typing.Optional[str] = None,
                 decimal: typing.Optional[str] = None, code_page: typing.Optional[int] = None, identity: str = "process",
                 **options: typing.Any):
        self.notes: typing.List[Problem] = []
        self._failure: typing.Optional[Problem] = None
        self._data: typing.List[typing.Any] = []
        self._found: typing.List[Series] = []  # in the order of their numbers
        self._layout: typing.Optional[int] = None
        self._numbers = ffi.new("uint32_t[]", 0)  # of the series of each element of the frame
        self._list = self._made(lib.open_series(int.from_bytes(os.urandom(8), "little")), lib.close_series)
        self._stream = self._made(lib.pfb_stream_new(), lib.pfb_stream_close)
        self._collector = self._made(lib.pfb_collector_new(), lib.pfb_collector_close)
        formula = _formula_options(options)
        lib.pfb_collector_set_formula(self._collector, formula)
        lib.pfb_stream_set(self._stream, lib.PFB_STREAM_STRICT, int(strict))
        lib.pfb_collector_set(self._collector, lib.PFB_COLLECT_STRICT, int(strict))
        if bias is not None and (lib.pfb_stream_set(self._stream, lib.PFB_STREAM_BIAS, bias) != 0
                                 or lib.pfb_collector_set(self._collector, lib.PFB_COLLECT_BIAS, bias) != 0):
            raise ValueError(f"bias {bias}: not from -1440 to 1440 minutes")
        if identity not in _IDENTITIES:
            raise ValueError(f"identity {identity!r}: not process or windows")
        lib.pfb_collector_set(self._collector, lib.PFB_COLLECT_IDENTITY, _IDENTITIES[identity])
        self._set_form(date_order, decimal, code_page)
        self._select(paths)
        if names is not None:
            self._add(names, kind=lib.PFB_RECORD_NAMES, language=9)
        for given in inputs:
            self._add(given)

    def _set_form(self, date_order: typing.Optional[str], decimal: typing.Optional[str], code_page: typing.Optional[int]) -> None:
        if date_order is not None and date_order not in _DATE_ORDERS:
            raise ValueError(f"date_order {date_order!r}: not mdy, dmy or ymd")
        if decimal not in (None, ".", ","):
            raise ValueError(f"decimal {decimal!r}: not . or ,")
        lib.pfb_stream_set(self._stream, lib.PFB_STREAM_DATE_ORDER, _DATE_ORDERS[date_order] if date_order else 0)
        lib.pfb_stream_set(self._stream, lib.PFB_STREAM_DECIMAL, ord(decimal) if decimal else 0)
        if code_page is not None and (not 0 <= code_page < 2 ** 32
                                      or lib.pfb_stream_set(self._stream, lib.PFB_STREAM_CODE_PAGE, code_page) != 0
                                      or lib.pfb_collector_set(self._collector, lib.PFB_COLLECT_CODE_PAGE, code_page) != 0):
            raise ValueError(f"code_page {code_page}: unknown")

    @staticmethod
    def _made(handle: typing.Any, close: typing.Any) -> typing.Any:
        if handle == ffi.NULL:
            raise MemoryError
        return ffi.gc(handle, close)

    def _select(self, paths: typing.Iterable[str]) -> None:
        paths = [paths] if isinstance(paths, str) else list(paths)
        if not paths:
            return
        selection = self._made(lib.pfb_selection_new(), lib.pfb_selection_close)
        for path in paths:
            added = lib.pfb_selection_add(selection, path.encode())
            if added == -1:
                raise ValueError(f"{path!r} is not a counter path")
            if added < 0:
                raise MemoryError
        if not (lib.pfb_stream_select(self._stream, selection) and lib.pfb_collector_select(self._collector, selection)):
            raise MemoryError

    def _add(self, given: _Input, **fields: int) -> None:
        described = ffi.new("pfb_input *", {"size": ffi.sizeof("pfb_input"), **fields})
        if isinstance(given, (bytes, bytearray, memoryview)):
            data, label = ffi.from_buffer(given), ffi.new("char[]", b"memory")
            self._data.append((data, given))
            described.data, described.byte_count = data, len(data)
        else:
            label = ffi.new("char[]", os.fsencode(given))
        described.label = label
        if lib.pfb_stream_add(self._stream, described) < 0:
            raise MemoryError

    @property
    def failure(self) -> typing.Optional[Problem]:
        """The problem that ended a file, if one was found so far."""
        return self._failure

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends reading, and closes the files."""
        if self._stream is not None:
            ffi.release(self._collector)
            ffi.release(self._stream)
            self._stream = self._collector = None

    def _take_problems(self) -> None:
        problem = ffi.new("pfb_problem *", {"size": ffi.sizeof("pfb_problem")})
        while lib.pfb_stream_problem(self._stream, problem) or lib.pfb_collector_take_problem(self._collector, problem):
            label = _text(lib.pfb_stream_label(self._stream, problem.file))
            taken = Problem(label, _text(lib.pfb_code_name(problem.code)), problem.offset if problem.has_offset else None,
                            _text(problem.sentence))
            if problem.kind == lib.PFB_PROBLEM_NOTE:
                self.notes.append(taken)
            else:
                self._failure = self._failure or taken

    def _frames(self, partial: bool = False) -> typing.Iterator[typing.Any]:
        """The frames; each is valid until the next one. Raises Error at their end, unless what was read may be a part."""
        frame = ffi.new("pfb_frame *", {"size": ffi.sizeof("pfb_frame")})
        while self._stream is not None:
            step = lib.pfb_collector_read(self._collector, self._stream)
            self._take_problems()
            if step != lib.PFB_NEXT_RECORD:
                if self._failure and not partial:
                    raise Error(self._failure)
                if step == lib.PFB_NEXT_FAILED:
                    raise MemoryError
                return
            if lib.pfb_collector_frame(self._collector, frame):
                if frame.layout != self._layout:
                    self._layout = frame.layout
                    self._number_series(frame)
                yield frame
        raise ValueError("the reader is closed")

    def _number_series(self, frame: typing.Any) -> None:
        """Finds the series of a frame."""
        self._numbers = ffi.new("uint32_t[]", frame.count)
        if not lib.number_series(self._list, self._collector, frame, self._numbers):
            raise MemoryError
        size = ffi.new("size_t *")
        while len(self._found) < self._list.count:
            described = lib.description_of_series(self._list, len(self._found), size)
            self._found.append(_series_of(ffi.buffer(described, size[0])[:]))

    def __iter__(self) -> typing.Iterator[Sample]:
        layout: typing.Optional[int] = None
        series: typing.List[typing.Tuple[int, Series]] = []
        for frame in self._frames():
            if frame.layout != layout:
                layout = frame.layout
                series = [(element, self._found[number]) for element, number
                          in enumerate(ffi.unpack(self._numbers, frame.count) if frame.count else []) if number != _NO_SERIES]
            yield Sample(frame, series)

    def table(self, partial: bool = False) -> Table:
        """Reads the rest as arrays, and closes the reader. Parts of a sample that have the same number and file are one row.

        partial: a malformed input does not raise Error. The table has what can be read, and `failure` the problem.
        """
        import numpy  # pylint: disable=import-outside-toplevel
        columns = numpy.full(0, -1)  # by number of the series
        found: typing.List[Series] = []
        rows: typing.List[typing.List[typing.Tuple[typing.Any, typing.Any, typing.Any]]] = []
        times: typing.List[typing.Optional[int]] = []
        layout, key, is_local = None, None, False
        elements, places = numpy.empty(0, int), numpy.empty(0, int)
        for frame in self._frames(partial):
            if frame.layout != layout:
                layout = frame.layout
                numbers = numpy.frombuffer(ffi.buffer(self._numbers), numpy.uint32)
                elements = numpy.flatnonzero(numbers != _NO_SERIES)
                numbers = numbers[elements].astype(int)
                columns = numpy.concatenate((columns, numpy.full(len(self._found) - len(columns), -1)))
                new = numbers[columns[numbers] < 0]
                columns[new] = numpy.arange(len(found), len(found) + len(new))
                found += [self._found[number] for number in new]
                places = columns[numbers]
            if key != (frame.file, frame.number):
                key = (frame.file, frame.number)
                rows.append([])
                times.append(frame.time if frame.flags & lib.PFB_RECORD_HAS_TIME else None)
                is_local = is_local or bool(frame.flags & lib.PFB_RECORD_LOCAL_TIME)
            if frame.count:
                values = numpy.frombuffer(ffi.buffer(frame.values, 8 * frame.count), float)[elements]
                statuses = numpy.frombuffer(ffi.buffer(frame.statuses, frame.count), numpy.uint8)[elements]
                rows[-1].append((places, values, statuses))
        self.close()
        all_values = numpy.full((len(rows), len(found)), numpy.nan)
        all_statuses = numpy.full((len(rows), len(found)), 255, numpy.uint8)
        for row, parts in enumerate(rows):
            for places, values, statuses in parts:
                all_values[row, places] = values
                all_statuses[row, places] = statuses
        return Table(self._times(numpy, times), is_local, found, all_values, all_statuses)

    @staticmethod
    def _times(numpy: typing.Any, times: typing.List[typing.Optional[int]]) -> typing.Any:
        lowest, highest = -(2 ** 63 - 1) // 100 + _TO_UNIX + 1, (2 ** 63 - 1) // 100 + _TO_UNIX  # what nanoseconds can hold
        return numpy.array([numpy.datetime64("NaT", "ns") if time is None or not lowest <= time <= highest
                            else numpy.datetime64((time - _TO_UNIX) * 100, "ns") for time in times], "datetime64[ns]")


def open(*inputs: _Input, paths: typing.Iterable[str] = (), strict: bool = False,  # pylint: disable=redefined-builtin
         bias: typing.Optional[int] = None, names: typing.Optional[_Input] = None, date_order: typing.Optional[str] = None,
         decimal: typing.Optional[str] = None, code_page: typing.Optional[int] = None, identity: str = "process",
         **options: typing.Any) -> Reader:
    """Opens files (str or PathLike) and data in memory (bytes).

    paths: counter paths with * and ?; none: all. strict: deviations that real providers are known for are errors.
    bias: minutes, UTC = local time + bias, for logs that do not say. names: the table "Counter 009" for V1 blocks.
    date_order ("mdy", "dmy", "ymd"), decimal ("." or ","), code_page: of text logs whose form is not clear; code_page also of
    names in V1 blocks. identity: which earlier value one of V1 data and .blg files is compared with: of the same "process" or
    thread by its id, where the data has ids, or of the same name and position, as Performance Monitor does ("windows").
    options: those of Options.
    Raises Error while reading, after all samples that can be read.
    """
    return Reader(inputs, paths, strict, bias, names, date_order, decimal, code_page, identity, **options)


@dataclasses.dataclass(frozen=True)
class Result:
    """What a formula gives."""

    status: str
    value: typing.Optional[float]  # None unless the status is "ok"
    integer: typing.Optional[int]  # the exact value, where it is an integer from 0 to 2**64 - 1
    unit: str
    flags: typing.Tuple[str, ...]


_TYPES: typing.Dict[str, int] = {}
while True:
    _row = lib.pfb_counter_type_at(len(_TYPES))
    if _row == ffi.NULL:
        break
    _TYPES[_text(_row.name)] = _row.value


def _raw_value(counter_type: int, fields: typing.Mapping[str, int]) -> typing.Any:
    unknown = set(fields) - set(_HAS) - set(_SIZES) - {"type"}
    if unknown:
        raise TypeError(f"unknown inputs: {', '.join(sorted(unknown))}")
    has = sum(bit for name, bit in _HAS.items() if name in fields)
    return ffi.new("pfb_raw_value *", {"type": counter_type, "has": has, **fields})


def evaluate(counter_type: typing.Union[int, str], newer: typing.Mapping[str, int],
             older: typing.Optional[typing.Mapping[str, int]] = None, **options: typing.Any) -> Result:
    """Computes one value. Samples have any of: value, base, multi_count, perf_time, perf_time_100ns, object_time, perf_freq,
    object_freq, base_type, value_size, base_size, and type if it differs. options: those of Options."""
    number = _TYPES[counter_type] if isinstance(counter_type, str) else counter_type
    first = ffi.NULL if older is None else _raw_value(number, older)
    found = lib.pfb_formula_evaluate(first, _raw_value(number, newer), _formula_options(options))
    is_ok = found.status == lib.PFB_STATUS_OK
    return Result(_STATUSES[found.status], found.value if is_ok else None, found.integer if found.is_integer else None,
                  _text(lib.pfb_unit_text(found.unit)), _flag_names(found.flags))
