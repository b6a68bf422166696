/* SPDX-License-Identifier: MIT */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include "memory/buffer.h"

/* Finds the name that is most similar to one that was typed wrongly: "recrod" -> "record", "Procesor" -> "Processor
 * Information".
 *
 * A name matches if the whole name, or its first words, can be made from the typed bytes by a few insertions,
 * deletions, replacements and swaps of adjacent bytes: none for 1 or 2 typed bytes, at most 1 for up to 5 bytes, 2 for
 * up to 9, and 3 for more. The case of A to Z is ignored. Of several names that match, the one with the fewest
 * differences is suggested; for equal numbers a name that matches as a whole, then the one that was considered first.
 * The number of bytes of a name that are compared is bounded; nothing is suggested for more than 64 typed bytes. */
typedef struct suggestion {
    const char *typed; /* UTF-8; valid while the suggestion is used */
    /* ------------------------------------------------------------------------------------------ */
    size_t typed_size;
    size_t max_differences;
    size_t best_score;
    buffer best;
} suggestion;

void suggest_begin(suggestion *s, const char *typed);

/* Considers a name in UTF-8, which may have any content. It is copied if it is the best one so far. */
void suggest_name(suggestion *s, const char *name, size_t size);

void suggest_end(suggestion *s);

/* Appends "; did you mean NAME?" if a name matched, otherwise the string `otherwise`. */
void suggest_put(const suggestion *s, buffer *out, const char *otherwise);

#endif
