/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_PDH_TEXT_H
#define PERFBLOCK_PDH_TEXT_H

#include "perfblock/error.h"
#include "perfblock/query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* PDH text logs: the CSV and TSV files of Performance Monitor, logman, relog and typeperf, also after other programs
 * have saved them. They contain displayed values without their counter types and raw values. docs/log.md has the
 * layout.
 *
 *     pfb_pdh_text_reader text;
 *     pfb_pdh_text_path path;
 *     pfb_pdh_text_row row;
 *     pfb_pdh_text_value value;
 *     pfb_pdh_text_open(&text, file, file_size, true, 0);
 *     do {
 *         while (pfb_pdh_text_next_path(&text, &path))
 *             columns[path.column] = path.name;
 *         while (pfb_pdh_text_next_row(&text, &row))
 *             while (pfb_pdh_text_next_value(&text, &value))
 *                 if (value.has_value)
 *                     use(row.time, columns[value.column], value.value);
 *     } while (text.is_header);
 *     if (text.error.code != PFB_OK)
 *         report(pfb_code_name(text.error.code), text.window_offset + text.error.offset);
 *
 * The text may be hostile: nothing outside of it is read, nothing is allocated, and the work is linear in its size. If
 * another thread changes the bytes meanwhile, values are unspecified but these guarantees hold. */

/* How dates are written: the order and what else is the same in all rows. 0: as perfmon writes them, MM/DD/YYYY
 * HH:MM:SS.mmm. */
enum {
    PFB_DATE_MDY = 1,
    PFB_DATE_DMY = 2,
    PFB_DATE_YMD = 3,
    PFB_DATE_ORDER = 3, /* mask of the order */
    PFB_DATE_DOTS = 4,  /* between the numbers are dots; neither dots nor dashes: slashes */
    PFB_DATE_DASHES = 8,
    PFB_DATE_HALF_DAYS = 16, /* AM or PM follows the time */
    PFB_DATE_ZONES = 32,     /* Z or the offset from UTC follows the time */
    PFB_DATE_DIGITS = 64     /* the numbers have as many digits as perfmon writes */
};

/* Reads a text in memory, or window by window: a window is the part of the text that is in memory. Callers may read the
 * fields above the line; those below are private. */
typedef struct pfb_pdh_text_reader {
    pfb_error error;        /* the first failure; its offset counts from the start of the window */
    uint32_t notes;         /* PFB_NOTE_ bits: deviations tolerated so far */
    uint64_t window_offset; /* offset of the window in the text */
    bool needs_more;        /* reading continues with the next window: see pfb_pdh_text_continue */
    size_t resume_offset;   /* if needs_more: offset in this window at which the next window must begin */

    uint64_t line;             /* number of the current line, from 1 */
    uint64_t rows;             /* that were returned */
    uint64_t skipped_lines;    /* lines after the header that are neither rows, empty nor headers */
    uint64_t unreadable_cells; /* of the rows whose values were read: cells that are neither blank nor numbers */
    uint64_t uneven_rows;      /* rows with fewer or more cells than the header */
    uint64_t first_skipped_line, first_unreadable_line, first_uneven_line; /* their numbers; 0: there is none */

    /* The form of the text, the same in all lines; the separator is that of the latest header. */
    char separator;       /* ',', ';' or '\t' */
    char decimal;         /* '.' or ',' */
    char thousands;       /* '.' or ',': it separates thousands also in 1,234, if options say so; 0: neither does */
    uint8_t dates;        /* PFB_DATE_ */
    bool is_form_certain; /* false: a larger window may show another decimal sign. Open it again with up to 1 MiB of
                             rows if that is possible without waiting */

    /* The latest header. */
    bool is_header;        /* next_row has found it: its paths are read next */
    bool has_version;      /* the header begins with "(PDH-CSV 4.0)" or "(PDH-TSV 4.0)" */
    bool has_bias;         /* the header holds the time zone, or times have one; typeperf writes none */
    int32_t bias_minutes;  /* UTC = local time + bias, daylight saving time included */
    pfb_name zone_name;    /* valid as long as the window; may contain NULs */
    uint32_t encoding;     /* of names: UTF-16 if the text is; else UTF-8 if it has a byte order mark; else that of the
                              options; else UTF-8 if the header is valid UTF-8, else Windows-1252, which is a guess */
    bool has_bare_machine; /* the paths have one backslash before their machine, which is the same in all of them:
                              \machine\object\counter */
    uint32_t column_count; /* number of counters, at most UINT32_MAX: those after it are not returned */
    size_t header_offset, header_size_bytes; /* the header's line without its end, in its window. The line alone is a
                                              * text that can be opened, too */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    bool is_strict;
    bool is_last;
    uint32_t code_page;   /* of names; 0: found in the header */
    bool is_wide;         /* UTF-16 */
    bool is_big_endian;   /* of UTF-16 */
    pfb_code skipped_row; /* why the first skipped line that resembles a row cannot be read; PFB_OK: there is none */
    size_t next_line;     /* offset of the line after the current one */
    size_t path_at, path_end; /* the rest of the header */
    uint32_t paths_read;
    size_t cell_at, row_end; /* the rest of the current row */
    bool has_blank_end;      /* a blank cell follows row_end: the line ends with the separator before it */
    uint32_t cells_read;
} pfb_pdh_text_reader;

/* A counter: "\\machine\object(instance)\counter". Paths may repeat. */
typedef struct pfb_pdh_text_path {
    size_t offset;   /* in the window */
    uint32_t column; /* from 0 */
    pfb_name name;   /* valid as long as the window; may contain NULs. Doubled quotation marks in the file remain
                        doubled */
} pfb_pdh_text_path;

/* A line of values and their time. */
typedef struct pfb_pdh_text_row {
    size_t offset;     /* in the window */
    size_t size_bytes; /* of the line without its end */
    uint64_t time;     /* local, in 100 ns since 1601-01-01 */
} pfb_pdh_text_row;

/* A cell of a row, below the path of the same column. */
typedef struct pfb_pdh_text_value {
    size_t offset; /* in the window */
    uint32_t column;
    bool has_value; /* false: the cell is blank or not a number */
    double value;   /* finite */
} pfb_pdh_text_value;

/* Returns true if the first line that is neither empty nor "sep=" begins like the header of a PDH text log: with the
 * version, or with a time zone and its bias. Reads at most the first 1024 bytes. */
PFB_API bool pfb_pdh_text_recognise(const void *data, size_t size);

/* Opens a text of which `data` is the first window, reads its header, and finds the form of its rows. `is_last`: the
 * text ends with this window. Null options are defaults. A byte order mark, empty lines and a line "sep=" may precede
 * the header. Returns false with
 *   PFB_UNKNOWN_FORMAT     there is no header
 *   PFB_TRUNCATED_LINE     the header ends inside a cell
 *   PFB_CALLER_TOO_SMALL   this is not the last window, and it lacks the end of the header, the first line after it,
 *                          or, if the rows are not as perfmon writes them, the first MiB of them
 *   PFB_AMBIGUOUS_DATES    no date, or two that contradict each other, shows whether the month or the day is first
 *   PFB_AMBIGUOUS_NUMBERS  the same of decimal signs
 *
 * The last two do not occur if options decide. Rows of another form than the one found are unreadable. */
PFB_API bool pfb_pdh_text_open(pfb_pdh_text_reader *text, const void *data, size_t size, bool is_last,
                               const pfb_read_options *options);

/* Continues with the next window after needs_more: `data` is the text from resume_offset of the previous window on.
 * Unless `is_last` is true, it must be longer than the rest of the previous window from there; double it until
 * needs_more is false. Returns false on error; the error is PFB_CALLER_ORDER if needs_more is false. */
PFB_API bool pfb_pdh_text_continue(pfb_pdh_text_reader *text, const void *data, size_t size, bool is_last);

/* Returns the next counter of the latest header in *path; false at the end. Works only in the window of the header:
 * call it before pfb_pdh_text_continue() and pfb_pdh_text_next_row(). */
PFB_API bool pfb_pdh_text_next_path(pfb_pdh_text_reader *text, pfb_pdh_text_path *path);

/* Splits the name of a path, in any encoding but UTF-16BE, as pfb_path_parse does; with has_bare_machine the machine
 * is split off, too. Returns false if it is no path. */
PFB_API bool pfb_pdh_text_split_path(const pfb_pdh_text_reader *text, const pfb_name *name, pfb_path *path);

/* Moves to the next row. Returns false at the end, on error, if more is needed, and with is_header at a line that
 * begins with "(PDH-CSV" or "(PDH-TSV", or with a time zone as the first of several cells: the rows after it have its
 * columns and its bias. Empty lines are skipped, and other lines, such as those that typeperf appends, are skipped with
 * PFB_NOTE_TEXT_LINE; so is a row that such a header follows in the same line. The error is
 * PFB_UNKNOWN_FORMAT if such a header cannot be read; PFB_TRUNCATED_LINE if the last line has no line feed and ends
 * inside its first cell, or is a row that ends inside a cell or lacks cells; and at the end of a text PFB_NO_DATE or
 * PFB_NO_ROW if it has no row, but lines that resemble rows: they have several cells, and begin with a digit or end
 * with a number. */
PFB_API bool pfb_pdh_text_next_row(pfb_pdh_text_reader *text, pfb_pdh_text_row *row);

/* Reads one line, without its end, as a row of the text whose header `text` has opened: for callers that keep lines
 * apart from their file. Uses the form, the encoding, the bias and the column count of the reader, which the caller may
 * change, and forgets its window and its error. Offsets then count from the start of the line. Returns false if the
 * line is no row, and on error. */
PFB_API bool pfb_pdh_text_open_row(pfb_pdh_text_reader *text, const void *line, size_t size, pfb_pdh_text_row *row);

/* Returns the next value of the row in *value; false after the last one and on error. Rows with fewer or more cells
 * than the header give PFB_NOTE_UNEVEN_ROW; cells past the last column are not returned. Numbers of any number of
 * digits, of 1024 characters in UTF-16, with a decimal comma or separators, become the nearest double. A cell that is
 * neither blank nor a number, or whose number is too large for a double, has no value and gives PFB_NOTE_BAD_NUMBER. */
PFB_API bool pfb_pdh_text_next_value(pfb_pdh_text_reader *text, pfb_pdh_text_value *value);

#ifdef __cplusplus
}
#endif

#endif
