/* SPDX-License-Identifier: MIT */
#ifndef PFB_KERNEL_TEXT_H
#define PFB_KERNEL_TEXT_H

/* Texts of the Linux kernel: lines, words and numbers, and arithmetic that stays within 64 bits. Any bytes are allowed,
 * no NUL is needed, and work is linear in what is taken. */
#include "perfblock/source.h"

/* A reader of a text. Start with text and size, all else zero. */
typedef struct pfb_kernel_text {
    const char *text;
    size_t size;
    size_t at;
    bool has_cpu; /* kernel_files.h: a CPU was seen, in `cpu` */
    uint32_t cpu;
} pfb_kernel_text;

/* What is left of a line or of a word. */
typedef struct pfb_kernel_span {
    const char *at;
    const char *end;
} pfb_kernel_span;

/* The next line, without its newline; false at the end. */
bool pfb_kernel_take_line(pfb_kernel_text *text, pfb_kernel_span *line);

/* Blanks and tabs. */
void pfb_kernel_skip_blanks(pfb_kernel_span *s);

/* True when `word` stands next; the span then begins behind it. */
bool pfb_kernel_take_word(pfb_kernel_span *s, const char *word);

bool pfb_kernel_is_digit(char c);

/* The digits that stand next; false when there are none. Too large a number counts as the largest there is. */
bool pfb_kernel_take_number(pfb_kernel_span *s, uint64_t *number);

/* Blanks, then a number as above. */
bool pfb_kernel_take_field(pfb_kernel_span *s, uint64_t *number);

/* A file with one number. False when it does not begin with one, or something follows it on its line. */
bool pfb_kernel_number(const char *text, size_t size, uint64_t *number);

/* The number of a folder that has this prefix and is otherwise its number, up to `most`: "7" and "node0", but neither
 * "07" nor "7x". False for any other name. */
bool pfb_kernel_folder_number(const char *name, const char *prefix, uint32_t most, uint32_t *number);

/* The numbers behind words that begin a line, as in "ctxt 12" and "MemFree:  12 kB": numbers[i] is that of keys[i].
 * Returns a bit for each one found, the lowest for keys[0]; the first line of a key counts. At most 32 keys. */
uint32_t pfb_kernel_take_keys(pfb_kernel_text text, const char *const *keys, unsigned count, uint64_t *numbers);

/* a + b; the largest number when that has no room. */
uint64_t pfb_kernel_add(uint64_t a, uint64_t b);

/* a * factor / divisor, rounded down; the largest number when that has no room. Requires factor * divisor < 2^64. */
uint64_t pfb_kernel_scale(uint64_t a, uint64_t factor, uint64_t divisor);

#endif
