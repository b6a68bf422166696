# SPDX-License-Identifier: MIT
"""The seeds of PDH text logs."""

ZONE = "(PDH-CSV 4.0) (Pacific Standard Time)(480)"
PATHS = ("\\\\PC\\Memory\\Pages/sec", "\\\\PC\\Processor(_Total)\\% Processor "
         "Time", "\\\\PC\\Process(a#1)\\ID")
TIMES = ("02/20/2013 05:43:37.844", "02/20/2013 05:43:38.844",
         "02/20/2013 05:43:39.845")
ROWS = ((" ", "99.5", "4"), ("0.25", "4.6153846153846096", "4"),
        ("11980.986682813664", "-1.5e-3", " "))


def line(cells, separator=",", quote='"'):
    """A line with these cells."""
    return separator.join(quote + cell + quote for cell in cells)


def text(head=ZONE, paths=PATHS, rows=ROWS, times=TIMES, separator=",",
         quote='"', end="\r\n", first="", last=None, encoding="utf-8"):
    """The bytes of a log."""
    lines = [line((head,) + tuple(paths), separator, quote)] + [
        line((time,) + tuple(row), separator, quote)
        for time, row in zip(times, rows)]
    out = first + end.join(lines) + (end if last is None else last)
    return out.encode(encoding)


def pdh_text_seeds():
    """{name: bytes} of all logs. Those named valid_* are accepted, some of them
    only without strict mode."""
    whole = text()
    return {
        "valid_csv": whole,
        "valid_tsv": text(head=ZONE.replace("CSV", "TSV"), separator="\t"),
        "valid_typeperf": text(head="(PDH-CSV 4.0)", first="\r\n",
                               last="\r\n\r\nExiting, please wait...\r\n"
                               "The command completed successfully.\r\n"),
        "valid_no_version": text(head="(Pacific Daylight Time)(420)"),
        "valid_line_feeds": text(end="\n", last=""),
        "valid_unquoted": text(quote=""),
        "valid_mark": b"\xef\xbb\xbf" + whole,
        "valid_ansi": text(paths=("\\\\PC\\Sp\u00e9cial(\u00fc)\\%",),
                           rows=(("1",), ("2",)), encoding="cp1252"),
        "valid_utf8": text(paths=("\\\\PC\\\u4e2d(\U0001f600)\\%",),
                           rows=(("1",), ("2",))),
        "valid_header_only": text(rows=()),
        "valid_no_counters": text(paths=(), rows=((), ())),
        "valid_quotes": text(paths=('a"b', 'c""d', "e,f"), head="(X)(-60)"),
        "valid_doubled_quotes": text(paths=('a"",b', 'c""', "e"),
                                     head="(X)(-60)"),
        "valid_quoted_separators": text(paths=('a"",""b', 'c"",', "e"),
                                        head="(X)(-60)"),
        "valid_zone_brackets": text(head="(PDH-CSV 4.0) ((UTC+01:00) B)(-60)"),
        "valid_uneven": text(rows=(("1", "2"), ("1", "2", "3", "4"), ())),
        "valid_numbers": text(rows=(("1.#INF", "1e400", "x"),
                                    ("-0", "1e38", "1e-39"),
                                    ("12345678901234567890123", ".5", "5."))),
        "valid_extreme_numbers": text(rows=(
            ("1.7976931348623159e308", "2.4703282292062328e-324", "-1e-400"),
            ("1.7976931348623157e308", "5e-324", "9007199254740993." + "0" *
             99 + "1"))),
        "valid_times": text(times=("2/9/2013 5:4:3", "02/29/2012 23:59:59.9999",
                                   "02/29/2013 00:00:00.000")),
        "valid_unclosed": text(rows=(("1", "2"),)).replace(b'"2"', b'"2'),
        "broken_empty": b"", "broken_other": b"time,value\r\n1,2\r\n",
        "broken_version": text(head="(PDH-CSV 5.0)"),
        "broken_zone": text(head="(Zone)(x)"),
        "broken_header_cut": whole[:100],
        "broken_row_cut": whole[:-24], "broken_cell_cut": whole[:-4],
        "broken_time_cut": whole[:-50],
        "broken_cells_missing": text(rows=(("1", "2"),), last=""),
    }
