/* SPDX-License-Identifier: MIT */
#ifndef CLI_EVAL_ROW_H
#define CLI_EVAL_ROW_H

#include "input/csv.h"
#include "output/text.h"
#include "perfblock/formula.h"

/* The columns of eval, and a row: two samples, the options of the formula, and the expected result. A table in
 * eval_row.c has the names of the columns and the functions that read or check their cells. */

/* ---- Columns --------------------------------------------------------------------------------------------- */

#define EVAL_NO_COLUMN SIZE_MAX

/* The column with this name, or EVAL_NO_COLUMN. Blanks around the name are ignored. */
size_t eval_column_named(csv_cell name);

/* The name of a column; "" for EVAL_NO_COLUMN. */
const char *eval_column_name(size_t column);

/* ---- Rows ------------------------------------------------------------------------------------------------ */

typedef struct eval_row {
    csv_cell id;
    pfb_formula_options options;
    pfb_raw_value samples[2]; /* the older one, the newer one */
    bool has_older;
    /* For eval_row.c only. */
    uint64_t present;     /* a bit for each input column whose cell is not empty */
    int64_t clocks[2][2]; /* by sample: the cells of the columns time and frequency. The counter type decides to which
                             clock they belong */
} eval_row;

/* Reads a cell into a row, which the caller has initialised with zeros. Returns null, or what is wrong with the cell
 * ("is not a number"); *cell is then the part of the cell that is wrong. Skips columns with expected results and
 * comments. */
const char *eval_row_read_cell(eval_row *row, size_t column, csv_cell *cell);

/* Call after the last cell: makes the checks that need the whole row. Returns null, or what is wrong with the cell of
 * *column. */
const char *eval_row_finish(eval_row *row, size_t *column);

pfb_formula_result eval_row_evaluate(const eval_row *row);

/* ---- Expectations ---------------------------------------------------------------------------------------- */

typedef enum eval_verdict {
    EVAL_HOLDS,
    EVAL_DIFFERS,   /* `actual` is what the cell would have to be; empty for no value, no flags or no unit */
    EVAL_UNREADABLE /* the cell is not a valid expectation */
} eval_verdict;

/* Compares the result with a cell of an expected_ column. An empty cell expects that there is no value or integer, no
 * flags, or no unit, by column. For columns that are not compared returns EVAL_HOLDS. */
eval_verdict eval_row_check(const pfb_formula_result *result, size_t column, csv_cell expected, buffer *actual);

#endif
