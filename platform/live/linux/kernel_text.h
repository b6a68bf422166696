/* SPDX-License-Identifier: MIT */
#ifndef PFB_KERNEL_TEXT_H
#define PFB_KERNEL_TEXT_H

/* Parsing of kernel texts: lines, words and numbers, and arithmetic that saturates at 64 bits. A text may be any
 * bytes and needs no NUL. Work is linear in the bytes parsed. */
#include "perfblock/source.h"

/* A text and the position in it. Initialise text and size, and the other members to zero. */
typedef struct pfb_kernel_text {
    const char *text;
    size_t size;
    size_t at;    /* position */
    bool has_cpu; /* for kernel_files.c: a CPU was parsed, and `cpu` is the last one */
    uint32_t cpu;
} pfb_kernel_text;

/* A line or a word, or the rest of it during parsing. */
typedef struct pfb_kernel_span {
    const char *at;
    const char *end;
} pfb_kernel_span;

/* Parses the next line, without its newline. Returns false at the end. */
bool pfb_kernel_take_line(pfb_kernel_text *text, pfb_kernel_span *line);

/* Skips spaces and tabs. */
void pfb_kernel_skip_blanks(pfb_kernel_span *s);

/* Returns true if `word` is next, and skips it. */
bool pfb_kernel_take_word(pfb_kernel_span *s, const char *word);

/* Returns true if the span is this word. */
bool pfb_kernel_is_word(pfb_kernel_span s, const char *word);

/* Skips blanks, then returns the next word, which ends before a blank. It is empty at the end of the line. */
pfb_kernel_span pfb_kernel_next_word(pfb_kernel_span *s);

/* Like pfb_kernel_next_word for the name of a file, in which the kernel writes "\040" for a blank. Copies the name with
 * a NUL and returns its size. Returns 0 with an empty name if it does not fit into `capacity` bytes or has a NUL. */
size_t pfb_kernel_take_name(pfb_kernel_span *s, char *name, size_t capacity);

bool pfb_kernel_is_digit(char c);

/* Parses a decimal number. Returns false if the next character is not a digit. A number that does not fit is read as
 * UINT64_MAX. */
bool pfb_kernel_take_number(pfb_kernel_span *s, uint64_t *number);

/* Skips spaces and tabs, then parses a number. */
bool pfb_kernel_take_field(pfb_kernel_span *s, uint64_t *number);

/* Parses a text with one number. Returns false if it does not begin with a number, or if anything but blanks follows on
 * the line. */
bool pfb_kernel_number(const char *text, size_t size, uint64_t *number);

/* Parses the name of a directory: `prefix` and a number up to `max`. Accepts "7" with the prefix "", and "node0" with
 * the prefix "node", but not "07" or "7x". */
bool pfb_kernel_folder_number(const char *name, const char *prefix, uint32_t max, uint32_t *number);

/* Parses lines such as "ctxt 12" and "MemFree:  12 kB": numbers[i] becomes the number after keys[i] in the first line
 * that has both. Returns a bit mask of the keys found, the lowest bit for keys[0]. At most 32 keys. */
uint32_t pfb_kernel_take_keys(pfb_kernel_text text, const char *const *keys, unsigned count, uint64_t *numbers);

/* a + b, or UINT64_MAX if that does not fit. */
uint64_t pfb_kernel_add(uint64_t a, uint64_t b);

/* a * factor / divisor, rounded down, or UINT64_MAX if that does not fit. Requires 0 < factor * divisor < 2^64. */
uint64_t pfb_kernel_scale(uint64_t a, uint64_t factor, uint64_t divisor);

#endif
