/* SPDX-License-Identifier: MIT */
#ifndef CLI_EVAL_ROW_H
#define CLI_EVAL_ROW_H

#include "input/csv.h"
#include "output/text.h"
#include "perfblock/formula.h"

/* The columns of eval, and a row of them: samples and options to evaluate, and the expected result. One table has the
 * names of the columns and the functions that read their cells. */

/* ---- Columns --------------------------------------------------------------------------------------------- */

#define EVAL_NO_COLUMN SIZE_MAX

/* The column of this name, blanks around it aside, or EVAL_NO_COLUMN. */
size_t eval_column_named(csv_cell name);

/* EVAL_NO_COLUMN has the name "". */
const char *eval_column_name(size_t column);

/* ---- Rows ------------------------------------------------------------------------------------------------ */

typedef struct eval_row {
    csv_cell id;
    pfb_formula_options options;
    pfb_raw_value samples[2]; /* the older one, the newer one */
    bool has_older;
    /* ------------------------------------------------------------------------------------------ */
    uint64_t given;       /* columns whose cell is not empty, as bits */
    int64_t clocks[2][2]; /* time and frequency of each sample whose clock follows from the type */
} eval_row;

/* Reads a cell into a row that was zeroed first. Returns null, or a sentence about the cell ("is not a number"); the
 * cell is then narrowed to the words at fault. Expectations and comments are skipped. */
const char *eval_row_take(eval_row *row, size_t column, csv_cell *cell);

/* Checks that need the whole row. Returns null, or a sentence about the cell of *column. */
const char *eval_row_finish(eval_row *row, size_t *column);

pfb_formula_result eval_row_evaluate(const eval_row *row);

/* ---- Expectations ---------------------------------------------------------------------------------------- */

typedef enum eval_verdict {
    EVAL_HOLDS,
    EVAL_DIFFERS,   /* `got` is what the result has instead, and empty for nothing */
    EVAL_UNREADABLE /* the cell is not a valid expectation */
} eval_verdict;

/* Compares a cell with the result. Columns without expectations always agree. An empty cell expects no value. */
eval_verdict eval_row_check(const pfb_formula_result *result, size_t column, csv_cell expected, buffer *got);

#endif
