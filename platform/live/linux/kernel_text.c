/* SPDX-License-Identifier: MIT */
#include "live/linux/kernel_text.h"

#include <string.h>

bool pfb_kernel_take_line(pfb_kernel_text *text, pfb_kernel_span *line)
{
    if (text->at >= text->size)
        return false;
    line->at = text->text + text->at;
    const char *newline = memchr(line->at, '\n', text->size - text->at);
    line->end = newline ? newline : text->text + text->size;
    text->at = (size_t)(line->end - text->text) + (newline ? 1 : 0);
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void pfb_kernel_skip_blanks(pfb_kernel_span *s)
{
    while (s->at < s->end && is_blank(*s->at))
        s->at++;
}

bool pfb_kernel_take_word(pfb_kernel_span *s, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(s->end - s->at) < size || memcmp(s->at, word, size) != 0)
        return false;
    s->at += size;
    return true;
}

bool pfb_kernel_is_word(pfb_kernel_span s, const char *word)
{
    return pfb_kernel_take_word(&s, word) && s.at == s.end;
}

pfb_kernel_span pfb_kernel_next_word(pfb_kernel_span *s)
{
    pfb_kernel_skip_blanks(s);
    pfb_kernel_span word = *s;
    while (s->at < s->end && !is_blank(*s->at))
        s->at++;
    word.end = s->at;
    return word;
}

/* Returns the byte for an escape such as "\040", or 0 if there is none. */
static char escaped_byte(pfb_kernel_span text)
{
    unsigned byte = 0;
    if (text.end - text.at < 4 || *text.at != '\\')
        return 0;
    for (int i = 1; i < 4; i++) {
        unsigned digit = (unsigned)text.at[i] - '0';
        if (digit > 7)
            return 0;
        byte = byte * 8 + digit;
    }
    return (char)(byte & 0xFF);
}

size_t pfb_kernel_take_name(pfb_kernel_span *s, char *name, size_t capacity)
{
    size_t size = 0;
    pfb_kernel_span word = pfb_kernel_next_word(s);
    while (word.at < word.end) {
        char byte = escaped_byte(word);
        word.at += byte ? 4 : 1;
        name[size++] = byte ? byte : word.at[-1];
        if (size == capacity || name[size - 1] == '\0') {
            size = 0;
            break;
        }
    }
    name[size] = '\0';
    return size;
}

bool pfb_kernel_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool pfb_kernel_take_number(pfb_kernel_span *s, uint64_t *number)
{
    if (s->at == s->end || !pfb_kernel_is_digit(*s->at))
        return false;
    uint64_t value = 0;
    for (; s->at < s->end && pfb_kernel_is_digit(*s->at); s->at++) {
        uint64_t digit = (uint64_t)(*s->at - '0');
        value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
    }
    *number = value;
    return true;
}

bool pfb_kernel_take_field(pfb_kernel_span *s, uint64_t *number)
{
    pfb_kernel_skip_blanks(s);
    return pfb_kernel_take_number(s, number);
}

bool pfb_kernel_number(const char *text, size_t size, uint64_t *number)
{
    pfb_kernel_span line = {text, text + size};
    if (size == 0 || !pfb_kernel_take_number(&line, number))
        return false;
    pfb_kernel_skip_blanks(&line);
    return line.at == line.end || *line.at == '\n';
}

bool pfb_kernel_folder_number(const char *name, const char *prefix, uint32_t max, uint32_t *number)
{
    uint64_t value;
    pfb_kernel_span rest = {name, name + strlen(name)};
    if (!pfb_kernel_take_word(&rest, prefix))
        return false;
    const char *first = rest.at;
    if (!pfb_kernel_take_number(&rest, &value) || rest.at != rest.end || value > max ||
        (*first == '0' && rest.end - first > 1))
        return false;
    *number = (uint32_t)value;
    return true;
}

/* Parses "key number", followed by a blank or the end of the line. */
static bool parse_keyed(pfb_kernel_span line, const char *key, uint64_t *number)
{
    uint64_t found;
    if (!pfb_kernel_take_word(&line, key) || line.at == line.end || !is_blank(*line.at) ||
        !pfb_kernel_take_field(&line, &found) || (line.at < line.end && !is_blank(*line.at)))
        return false;
    *number = found;
    return true;
}

uint32_t pfb_kernel_take_keys(pfb_kernel_text text, const char *const *keys, unsigned count, uint64_t *numbers)
{
    uint32_t found = 0;
    pfb_kernel_span line;
    while (pfb_kernel_take_line(&text, &line)) {
        for (unsigned i = 0; i < count; i++) {
            uint32_t bit = UINT32_C(1) << i;
            if (!(found & bit) && parse_keyed(line, keys[i], &numbers[i]))
                found |= bit;
        }
    }
    return found;
}

uint64_t pfb_kernel_add(uint64_t a, uint64_t b)
{
    return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

uint64_t pfb_kernel_scale(uint64_t a, uint64_t factor, uint64_t divisor)
{
    uint64_t whole = a / divisor;
    return whole > UINT64_MAX / factor ? UINT64_MAX : pfb_kernel_add(whole * factor, a % divisor * factor / divisor);
}
