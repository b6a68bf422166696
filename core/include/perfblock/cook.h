/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_PAIRING_H
#define PERFBLOCK_PAIRING_H

#include "perfblock/formula.h"
#include "perfblock/sample.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The same counter of the same instance in two samples; bases, item counts and object clocks; displayed values.
 *
 *     pfb_sample_match(&older, &newer);                          fills rows[].older_row
 *     pfb_sample_cook_value(&older, &newer, row, column, NULL, NULL); status, value, flags
 *
 * The identity of an instance is its id and its name together, and, where both repeat, its occurrence among the equal
 * ones. A different id under the same name is a different instance (a process that came back), and so is a different
 * name under the same id: pairing them would be a guess. V1 instances have a unique id, a key counter's value, or their
 * name and their parent's. docs/sample.md has the rules and the reasons.
 *
 * Matching is linear while instances keep their order, n log n otherwise. Nothing is allocated. */

/* Finds each newer row's older row. Results correspond when they answer the same counterset and counter: the one at the
 * same position, else, where queries were added or removed in between, the first with the same instance (at most 64
 * candidates are tried). Rows that are new have older_row PFB_NONE. */
PFB_API void pfb_sample_match(pfb_sample *older, pfb_sample *newer);

/* Finds the older rows of these results of the newer snapshot only, given by their positions; other rows are not
 * changed. For samples whose V1 objects have their latest older samples in several blocks: each object is matched with
 * its own, which is then `older` when its values are evaluated. */
PFB_API void pfb_sample_match_results(pfb_sample *older, pfb_sample *newer, const uint32_t *results, size_t count);

/* What went into a displayed value. */
typedef struct pfb_cook_inputs {
    pfb_raw_value older; /* has == 0 when there is none */
    pfb_raw_value newer;
} pfb_cook_inputs;

/* Evaluates the value of a newer row (position in rows) and column (position in columns, of the same result). `older`
 * is the snapshot that was matched, or null: one sample only. `options` and `inputs` may be null.
 * Base, item count and object clock are looked up by the ids of the registration: in the same row, else in another
 * result of the same counterset that holds the same instance (the first; at most 64 candidates are tried). Statuses
 * beyond the formula's own: unknown_type when the counter has no registration, type_mismatch when the datum's size is
 * not the type's, missing_input when it is neither 4 nor 8 bytes, missing_base when the base is absent, the counter
 * itself, not of a base type or of the wrong size. Plain numbers, and all values of V1, may have either size. In V1 the
 * next definition is the base or the item count. */
PFB_API pfb_formula_result pfb_sample_cook_value(const pfb_sample *older, const pfb_sample *newer, uint32_t row,
                                                 uint32_t column, const pfb_formula_options *options,
                                                 pfb_cook_inputs *inputs);

/* ---- Whole samples ------------------------------------------------------------------------------------------- */

/* How many values a sample has: for each result its rows times its columns. */
PFB_API uint64_t pfb_sample_value_count(const pfb_sample *newer);

/* Evaluates every value of a sample, as pfb_sample_cook_value does, into the caller's arrays: each value and its mark
 * (formula.h) at its place (pfb_sample_place), column by column. Between columns some places may be left alone.
 * False, with nothing written, when `capacity` is less than newer->counts.values. `older` and `options` may be null. */
PFB_API bool pfb_sample_cook(const pfb_sample *older, const pfb_sample *newer, const pfb_formula_options *options,
                             double *values, uint8_t *status_bytes, size_t capacity);

/* Two replies, and the values displayed of them. */
typedef struct pfb_cooked_replies {
    pfb_sample older, newer;            /* matched */
    pfb_error older_error, newer_error; /* the verdicts; what precedes an error is there */
    double *values;                     /* of the newer sample, as pfb_sample_cook places them ... */
    uint8_t *status_bytes;              /* ... with their statuses and flags: PFB_STATUS_BYTE_ bits */
    size_t needed_bytes;                /* of memory; 0 when they do not fit a size_t */
} pfb_cooked_replies;

/* All of it in one call: measures and loads two inputs, matches them and evaluates every value of the newer one, in
 * `memory` (aligned as malloc does). False when that is less than `needed_bytes`: then nothing else is told, and a call
 * without memory asks what is needed. Who keeps the older snapshot loads, matches and evaluates by the functions above,
 * which is half the work. */
PFB_API bool pfb_cook_replies(pfb_cooked_replies *display, const pfb_sample_input *older, const pfb_sample_input *newer,
                              const pfb_formula_options *options, void *memory, size_t memory_size_bytes);

#ifdef __cplusplus
}
#endif

#endif
