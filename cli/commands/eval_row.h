/* SPDX-License-Identifier: MIT */
#ifndef CLI_EVAL_ROW_H
#define CLI_EVAL_ROW_H

#include "input/csv.h"
#include "output/text.h"
#include "perfblock/formula.h"

/* The columns that eval knows, and what a row of them means: samples and options to evaluate, and what is expected of
 * the result. One table says which names there are and what becomes of their cells. */

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

/* Takes a cell into a row that began as all zero. Null, or a sentence on the cell ("is not a number"), which is then
 * narrowed to the words that are to blame. Expectations and commentary are passed over. */
const char *eval_row_take(eval_row *row, size_t column, csv_cell *cell);

/* What only the whole row tells. Null, or a sentence on the cell of *column. */
const char *eval_row_finish(eval_row *row, size_t *column);

pfb_formula_result eval_row_evaluate(const eval_row *row);

/* ---- Expectations ---------------------------------------------------------------------------------------- */

typedef enum eval_verdict {
    EVAL_HOLDS,
    EVAL_DIFFERS,   /* `got` is what the result has instead, and empty for nothing */
    EVAL_UNREADABLE /* the cell is nothing to compare with */
} eval_verdict;

/* Holds a cell against the result; columns that expect nothing hold. An empty cell expects that there is nothing. */
eval_verdict eval_row_check(const pfb_formula_result *result, size_t column, csv_cell expected, buffer *got);

#endif
