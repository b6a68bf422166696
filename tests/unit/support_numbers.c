/* SPDX-License-Identifier: MIT */
#include "support_numbers.h"

#include "perfblock/number_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 4 };

static size_t skip_others(const uint8_t *file, size_t size, size_t at)
{
    while (at < size && !isalnum(file[at]))
        at++;
    return at;
}

/* Copies the letters and digits at an offset, at most MAX_DIGITS. Returns their number. */
static size_t copy_word(const uint8_t *file, size_t size, size_t at, char word[MAX_DIGITS + 1])
{
    size_t length = 0;
    while (length < MAX_DIGITS && at + length < size && isalnum(file[at + length])) {
        word[length] = (char)file[at + length];
        length++;
    }
    word[length] = '\0';
    return length;
}

unsigned numbers_radix(const uint8_t *file, size_t size)
{
    char first[MAX_DIGITS + 1];
    char second[MAX_DIGITS + 1];
    if (!pfb_number_text_recognise(file, size))
        return 0;
    size_t at = skip_others(file, size, 0);
    at += copy_word(file, size, at, first);
    copy_word(file, size, skip_others(file, size, at), second);
    return strcmp(first, "50") == 0 || strcmp(second, "50") == 0 ? 16 : 10; /* P: 0x50, which is 80 */
}

int byte_at_place(const uint8_t *file, size_t size, unsigned radix, uint64_t offset)
{
    char word[MAX_DIGITS + 1];
    if (offset >= size)
        return -1;
    if (radix == 0)
        return file[offset];
    if (!isalnum(file[offset]) || (offset > 0 && isalnum(file[offset - 1])))
        return -1;
    copy_word(file, size, (size_t)offset, word);
    return (int)strtoul(word, NULL, word[1] == 'x' || word[1] == 'X' ? 16 : (int)radix);
}
