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
        "valid_german": text(
            head="(PDH-CSV 4.0) (Mitteleurop\u00e4ische Sommerzeit)(-120)",
            paths=("\\\\SRV\\Prozessor(_Total)\\Prozessorzeit (%)",
                   "\\\\SRV\\Arbeitsspeicher\\Verf\u00fcgbare MB"),
            rows=(("3,526", "2048"), ("4,75", "2049")), separator=";", quote="",
            times=("30.04.2019 18:41:05", "30.04.2019 18:41:20"),
            encoding="cp1252"),
        "valid_decimal_commas": text(rows=(("2048", "3,5", " "),
                                           ("2049", "12,25", "1,250"),
                                           ("3.500", "1,2,3", "1,5e3"))),
        "valid_thousands": text(rows=(
            ("1'234", "12\u00a0345,5", "-1\u202f234\u202f567"),
            ("1\u2019234", "1.234,5", "1.234.567"),
            ("1\u200923", "1.234", "1.234'567"))),
        "valid_thousands_ansi": text(quote="", paths=PATHS[:2], rows=(
            ("1\u2019234", "12\u00a0345.5"), ("1'234'567", "1234")),
            encoding="cp1252"),
        "valid_joined": whole[:-5] + text(paths=PATHS[1:2], rows=(
            ("1500",), ("2",))) + text(head="(Zone)(60)", paths=PATHS[:2],
                                       quote="", separator=";",
                                       rows=(("1", "2"), ("3", "4"))),
        "valid_no_line_end": text(quote="", last=""),
        "valid_two_headers": whole + text(
            head="(PDH-CSV 4.0) (Pacific Daylight Time)(420)",
            paths=PATHS[1:2], rows=(("1500",), ("x",))) + text(
                head=ZONE.replace("CSV", "TSV"), separator="\t"),
        "valid_wide": b"\xff\xfe" + text(
            paths=("\\\\PC\\\u4e2d(\U0001f600)\\%",), rows=(("1.5",), ("x" * 70,)),
            encoding="utf-16-le"),
        "valid_wide_big": b"\xfe\xff" + text(encoding="utf-16-be", end="\n"),
        "valid_wide_no_mark": text(first="sep=;\r\n", separator=";", quote="",
                                   encoding="utf-16-le"),
        "valid_wide_big_no_mark": text(encoding="utf-16-be"),
        "valid_half_days": text(times=("5/15/2018 2:13:06 PM",
                                       "5/15/2018 12:13 am",
                                       "5/15/2018 13:13:06 PM")),
        "valid_days_first": text(times=("05/06/2018 14:13", "13/06/2018 14:13",
                                        "06/05/2018 14:13:20.123")),
        "valid_iso": text(head="(PDH-CSV 4.0)",
                          times=("2017-01-10T16:49:51.250Z",
                                 "2017-01-10 16:49:52,5+05:30",
                                 "2017-01-10 16:49:53 -0300")),
        "valid_dots": text(times=("2018. 5. 15. 14:13", "2018.05.15. 2.13.06",
                                  "2018.05.16 2:13:07")),
        "valid_excel_line": text(first="sep=,\r\n", end="\r\r\n"),
        "valid_mark_in_name": text(paths=('\\\\A\\VM(vm "q", 2)\\CPU', "b"),
                                   rows=(("1", "2"), ("3", "4"))),
        "valid_loose_commas": text(quote="", paths=PATHS[:2], rows=(
            ("1", "2"), ("1", "5", "2"), ("3", "4"))),
        "broken_no_date": text(quote="", times=("18:41.5", "18:56.5",
                                                "18:57")),
        "broken_no_row": text(times=("2018/15", "1 May 2018", "99")),
        "broken_dates": text(times=("05/06/2018 14:13", "06/06/2018 14:13",
                                    "07/06/2018 14:13")),
        "broken_contrary_dates": text(times=(
            "5/16/2018 14:13", "16/5/2018 14:13", "07/06/2018 14:13")),
        "broken_numbers": text(rows=(("1,234", "2", "3"), ("4", "5", "6"))),
        "broken_mixed_numbers": text(rows=(("1.5", "2", "3"), ("4,5", "5", "6")),
                                     times=("5/16/2018 14:13",
                                            "5/17/2018 14:13")),
        "broken_second_header": whole + text(head="(PDH-CSV 5.0)"),
        "broken_second_header_cut": whole + whole[:100],
        "broken_empty": b"", "broken_other": b"time,value\r\n1,2\r\n",
        "broken_version": text(head="(PDH-CSV 5.0)"),
        "broken_zone": text(head="(Zone)(x)"),
        "broken_header_cut": whole[:100],
        "broken_row_cut": whole[:-24], "broken_cell_cut": whole[:-4],
        "broken_time_cut": whole[:-50],
        "broken_cells_missing": text(rows=(("1", "2"),), last=""),
    }
