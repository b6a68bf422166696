/* SPDX-License-Identifier: MIT */
#include "input/suggest.h"

#include <stdbool.h>
#include <string.h>

enum {
    MAX_TYPED = 64, /* bytes */
    MAX_DIFFERENCES = 3,
    COLUMNS = MAX_TYPED + MAX_DIFFERENCES + 1
};

void suggest_begin(suggestion *s, const char *typed)
{
    size_t size = strlen(typed);
    *s = (suggestion){.typed = typed, .typed_size = size, .best_score = SIZE_MAX};
    s->max_differences = size <= 2 ? 0 : size <= 5 ? 1 : size <= 9 ? 2 : MAX_DIFFERENCES;
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80);
}

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Stores in row[n] the number of differences between the typed bytes and the first n bytes of the name, for n from 0 to
 * `size`. This is the last row of the Damerau-Levenshtein matrix (optimal string alignment). */
static void count_differences(const suggestion *s, const char *name, size_t size, size_t row[COLUMNS])
{
    size_t above[COLUMNS] = {0}; /* row i - 1 */
    size_t above_that[COLUMNS];  /* row i - 2 */
    for (size_t j = 0; j <= size; j++)
        row[j] = j;
    for (size_t i = 1; i <= s->typed_size; i++) {
        memcpy(above_that, above, sizeof above_that);
        memcpy(above, row, sizeof above);
        row[0] = i;
        for (size_t j = 1; j <= size; j++) {
            bool is_same = lower(s->typed[i - 1]) == lower(name[j - 1]);
            row[j] = min_of(above[j - 1] + !is_same, min_of(above[j], row[j - 1]) + 1);
            bool is_swap = i > 1 && j > 1 && lower(s->typed[i - 1]) == lower(name[j - 2]) &&
                           lower(s->typed[i - 2]) == lower(name[j - 1]);
            if (is_swap)
                row[j] = min_of(row[j], above_that[j - 2] + 1);
        }
    }
}

void suggest_name(suggestion *s, const char *name, size_t size)
{
    size_t row[COLUMNS] = {0};
    if (s->typed_size == 0 || s->typed_size > MAX_TYPED || size + s->max_differences < s->typed_size)
        return;
    size_t compared = min_of(size, s->typed_size + s->max_differences);
    count_differences(s, name, compared, row);
    for (size_t end = 1; end <= compared; end++) {
        bool is_whole = end == size;
        bool is_boundary = is_whole || (is_word_byte(name[end - 1]) && !is_word_byte(name[end]));
        size_t score = 2 * row[end] + !is_whole; /* with equal differences, a match of the whole name is better */
        if (!is_boundary || row[end] > s->max_differences || score >= s->best_score)
            continue;
        s->best_score = score;
        buffer_clear(&s->best);
        buffer_bytes(&s->best, name, size);
    }
}

void suggest_end(suggestion *s)
{
    buffer_free(&s->best);
}

void suggest_put(const suggestion *s, buffer *out, const char *otherwise)
{
    if (s->best.data)
        buffer_format(out, "; did you mean %s?", s->best.data);
    else
        buffer_string(out, otherwise);
}
