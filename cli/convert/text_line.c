/* SPDX-License-Identifier: MIT */
#include "convert/text_line.h"

#include "memory/memory.h"

#include <stdbool.h>
#include <stdlib.h>

void text_line_free(text_line *line)
{
    buffer_free(&line->text);
    buffer_free(&line->word);
}

/* Appends line->word to the line. */
static void put_word(text_line *line)
{
    enum { LONGEST_LINE = 118 }; /* bytes; only a line of one word may be longer */
    size_t used = line->text.size - line->start;
    if (used > 0 && used + 1 + line->word.size > LONGEST_LINE) {
        buffer_string(&line->text, "\n    ");
        line->start = line->text.size - 4;
    } else if (used > 0) {
        buffer_string(&line->text, " ");
    }
    buffer_bytes(&line->text, line->word.data, line->word.size);
    buffer_clear(&line->word);
}

void text_line_word(text_line *line, const char *word)
{
    buffer_clear(&line->word);
    buffer_string(&line->word, word);
    put_word(line);
}

void text_line_format(text_line *line, const char *format, ...)
{
    va_list arguments;
    buffer_clear(&line->word);
    va_start(arguments, format);
    buffer_format_list(&line->word, format, arguments);
    va_end(arguments);
    put_word(line);
}

void text_line_end(text_line *line)
{
    buffer_string(&line->text, "\n");
    line->start = line->text.size;
}

void text_line_cut(text_line *line, size_t size)
{
    line->text.size = size;
    line->start = size;
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

static bool is_decoded(uint32_t encoding)
{
    return encoding == PFB_ENCODING_UTF16LE || encoding == PFB_ENCODING_UTF16BE || encoding == PFB_ENCODING_UTF8 ||
           encoding == PFB_ENCODING_WINDOWS_1252 || encoding == PFB_ENCODING_ASCII || encoding == PFB_ENCODING_LATIN_1;
}

/* Returns the UTF-16 units of a name. Free with free(). In a code page that is not decoded, bytes above 127 become lone
 * surrogates, so that different names remain different. */
static uint8_t *copy_units(const pfb_name *name, size_t *count)
{
    enum { SURROGATE = 0xDC }; /* high byte */
    uint8_t *units = memory_get(2 * name->size_bytes + 2, 1);
    if (is_decoded(name->encoding)) {
        *count = pfb_name_to_utf16(name, units, name->size_bytes);
        return units;
    }
    for (size_t i = 0; i < name->size_bytes; i++) {
        units[2 * i] = name->bytes[i];
        units[2 * i + 1] = name->bytes[i] > 127 ? SURROGATE : 0;
    }
    *count = name->size_bytes;
    return units;
}

/* Characters that are invisible or change the text around them. */
static bool is_escaped(unsigned c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
           (c >= 0xFFF0 && c <= 0xFFFB) || c >= 0xFFFE;
}

static bool is_surrogate(unsigned unit)
{
    return unit >= 0xD800 && unit <= 0xDFFF;
}

/* Appends the first character of `unit_count` UTF-16 units. Returns the number of its units. */
static size_t put_character(buffer *out, const uint8_t *units, size_t unit_count)
{
    enum { NUL_UNIT = 0xDC00 };
    unsigned unit = units[0] | (unsigned)units[1] << 8;
    unsigned next = unit_count > 1 ? units[2] | (unsigned)units[3] << 8 : 0;
    bool is_pair = unit >= 0xD800 && unit <= 0xDBFF && next >= 0xDC00 && next <= 0xDFFF;
    size_t count = is_pair ? 2 : 1;
    char utf8[5];
    if (unit == '"' || unit == '\\') {
        buffer_format(out, "\\%c", (char)unit);
    } else if (unit == 0) {
        buffer_format(out, "\\u%04x", (unsigned)NUL_UNIT); /* the text form has no \u0000 */
    } else if (!is_pair && (is_surrogate(unit) || is_escaped(unit))) {
        buffer_format(out, "\\u%04x", unit);
    } else {
        const pfb_name character = pfb_utf16_name(units, count);
        buffer_bytes(out, utf8, pfb_name_to_utf8(&character, utf8, sizeof utf8));
    }
    return count;
}

static void put_name(buffer *out, const pfb_name *name)
{
    size_t count = 0;
    uint8_t *units = name->bytes ? copy_units(name, &count) : NULL;
    for (size_t i = 0; i < count;)
        i += put_character(out, units + 2 * i, count - i);
    free(units);
}

void text_line_name(text_line *line, const pfb_name *name)
{
    buffer_clear(&line->word);
    buffer_string(&line->word, name->bytes ? "\"" : "-");
    put_name(&line->word, name);
    buffer_string(&line->word, name->bytes ? "\"" : "");
    put_word(line);
}

void text_line_instance(text_line *line, const pfb_name *name, long long id)
{
    const char *quote = name->bytes ? "\"" : "";
    buffer_clear(&line->word);
    buffer_string(&line->word, name->bytes ? quote : "-");
    put_name(&line->word, name);
    buffer_format(&line->word, "#%lld%s", id, quote);
    put_word(line);
}

void text_line_bytes(text_line *line, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    buffer_clear(&line->word);
    buffer_string(&line->word, "hex:");
    for (size_t i = 0; i < size; i++) {
        const char pair[] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        buffer_bytes(&line->word, pair, sizeof pair);
    }
    put_word(line);
}
