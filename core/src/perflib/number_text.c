/* SPDX-License-Identifier: MIT */
/* V1 blocks as numbers in a text. docs/v1.md has the grammar. */
#include "perfblock/number_text.h"

#include "bytes/line.h"
#include "perfblock/v1.h"

enum { NUMBERS_EXAMINED_BYTES = 1024, NUMBERS_MARK_BYTES = 3 };

/* What was read last, besides blanks. */
enum {
    NUMBERS_NOTHING,
    NUMBERS_OPENED, /* the opening bracket */
    NUMBERS_DIGIT,  /* a part of a number, without a blank after it */
    NUMBERS_NUMBER, /* a whole number */
    NUMBERS_COMMA,
    NUMBERS_CLOSED, /* the closing bracket */
    NUMBERS_SEMICOLON
};

/* Blanks between numbers. */
#define NUMBERS_BLANKS (BLANKS | CHARACTER('\r') | CHARACTER('\n'))

/* Returns true for the characters of which a number may consist, and for all other letters. */
static bool numbers_is_word(unsigned c)
{
    unsigned lower = c | 0x20;
    return is_digit(c) || (lower >= 'a' && lower <= 'z');
}

/* Returns the value of a hexadecimal digit; 16 for any other letter. */
static unsigned numbers_digit_value(unsigned c)
{
    unsigned lower = c | 0x20;
    if (is_digit(c))
        return c - (unsigned)'0';
    return lower <= 'f' ? lower - (unsigned)'a' + 10 : 16;
}

/* Adds a letter or digit to the current number. Returns false if the number cannot continue with it. */
static bool numbers_add_digit(pfb_number_text *text, unsigned c)
{
    bool is_radix_16 = text->is_dump || text->is_hex;
    unsigned radix = is_radix_16 ? 16 : 10;
    unsigned most_digits = is_radix_16 ? 2 : 3;
    unsigned digit = numbers_digit_value(c);
    if ((c | 0x20) == 'x' && !is_radix_16 && text->digits == 1 && text->value == 0) {
        text->is_hex = true;
        text->digits = 0;
        return true;
    }
    unsigned value = text->value * radix + digit;
    if (digit >= radix || text->digits == most_digits || value > UINT8_MAX)
        return false;
    text->value = (uint16_t)value;
    text->digits++;
    return true;
}

/* Moves over a character that is not part of a number, or starts a number with it. Returns false if the grammar does
 * not allow it here. */
static bool numbers_take(pfb_number_text *text, unsigned c)
{
    bool may_close = text->state == NUMBERS_NUMBER || text->state == NUMBERS_COMMA;
    if (is_one_of(c, NUMBERS_BLANKS))
        return true;
    if (text->state <= NUMBERS_COMMA && numbers_is_word(c)) {
        text->state = NUMBERS_DIGIT;
        text->is_hex = false;
        text->digits = 0;
        text->value = 0;
        return numbers_add_digit(text, c);
    }
    if ((c == '{' || c == '[') && text->state == NUMBERS_NOTHING) {
        text->bracket = (uint8_t)(c + 2); /* in ASCII */
        text->state = NUMBERS_OPENED;
    } else if (c == ',' && text->state == NUMBERS_NUMBER) {
        text->state = NUMBERS_COMMA;
    } else if (c != 0 && c == text->bracket && may_close) {
        text->state = NUMBERS_CLOSED;
    } else if (c == ';' && text->state == NUMBERS_CLOSED) {
        text->state = NUMBERS_SEMICOLON;
    } else {
        return false;
    }
    return true;
}

size_t pfb_number_text_read(pfb_number_text *text, const void *data, size_t size, bool is_last, uint8_t *out,
                            size_t capacity)
{
    const uint8_t *bytes = data;
    size_t count = 0;
    size_t at = 0;
    bool is_valid = true;
    if (text->error.code != PFB_OK)
        return 0;
    if (!bytes)
        size = 0;
    for (; at < size && text->skipped > 0; at++)
        text->skipped--;
    /* A blank that follows the last window ends a number there. */
    while (at < size || (is_last && text->state == NUMBERS_DIGIT)) {
        unsigned c = at < size ? bytes[at] : ' ';
        if (text->state != NUMBERS_DIGIT) {
            is_valid = numbers_take(text, c);
        } else if (numbers_is_word(c)) {
            is_valid = numbers_add_digit(text, c);
        } else if (text->digits < (text->is_dump ? 2 : 1)) {
            is_valid = false;
        } else if (count == capacity) {
            break;
        } else {
            out[count++] = (uint8_t)text->value;
            text->state = NUMBERS_NUMBER;
            continue; /* with the same character */
        }
        if (!is_valid)
            break;
        at++;
    }
    bool is_unclosed = text->bracket != 0 && text->state < NUMBERS_CLOSED;
    if (is_last && at == size && text->state != NUMBERS_DIGIT && is_unclosed)
        is_valid = false;
    text->window_offset += text->used;
    text->used = at;
    if (!is_valid)
        text->error = (pfb_error){PFB_BAD_NUMBER_LIST, at};
    return count;
}

/* Returns true if the first eight numbers are the signature of a V1 block. */
static bool numbers_have_signature(pfb_number_text text, const void *data, size_t size)
{
    uint8_t signature[8];
    size_t examined = size < NUMBERS_EXAMINED_BYTES ? size : NUMBERS_EXAMINED_BYTES;
    return pfb_number_text_read(&text, data, examined, true, signature, sizeof signature) == sizeof signature &&
           pfb_v1_recognise(signature, sizeof signature);
}

bool pfb_number_text_open(pfb_number_text *text, const void *data, size_t size)
{
    static const uint8_t mark[NUMBERS_MARK_BYTES] = {0xEF, 0xBB, 0xBF};
    const uint8_t *bytes = data;
    size_t same = 0;
    while (bytes && same < size && same < NUMBERS_MARK_BYTES && bytes[same] == mark[same])
        same++;
    *text = (pfb_number_text){.skipped = same == NUMBERS_MARK_BYTES ? NUMBERS_MARK_BYTES : 0};
    if (numbers_have_signature(*text, data, size))
        return true;
    text->is_dump = true;
    if (numbers_have_signature(*text, data, size))
        return true;
    text->error = (pfb_error){PFB_UNKNOWN_FORMAT, 0};
    return false;
}

bool pfb_number_text_recognise(const void *data, size_t size)
{
    pfb_number_text text;
    return pfb_number_text_open(&text, data, size);
}
