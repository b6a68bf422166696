/* SPDX-License-Identifier: MIT */
/* Values rounded for people. docs/perfblock.md has the rules. */
#include "output/text.h"
#include "sinks/sink.h"

#include <inttypes.h>
#include <string.h>

/* Counters whose values are bytes although their names do not have the word "Bytes". */
static const char *const byte_counters[] = {
    "Commit Limit",    "Dedicated Usage", "Local Usage",           "Non Local Usage",  "Shared Usage",
    "Total Committed", "Working Set",     "Working Set - Private", "Working Set Peak",
};

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Returns true if the name contains the word, other than after a slash: "Errors/Bytes" is not an amount of bytes. */
static bool has_word(const char *name, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = strstr(name, word); at; at = strstr(at + 1, word)) {
        char before = at == name ? ' ' : at[-1];
        if (!is_letter(before) && before != '/' && !is_letter(at[size]))
            return true;
    }
    return false;
}

static bool is_in_bytes(const element *e)
{
    if (strchr(e->series.counter, '%') || strcmp(e->series.unit, "%") == 0 || strcmp(e->series.unit, "sec") == 0)
        return false;
    for (size_t i = 0; i < sizeof byte_counters / sizeof byte_counters[0]; i++) {
        if (strcmp(e->series.counter, byte_counters[i]) == 0)
            return true;
    }
    return has_word(e->series.counter, "Bytes");
}

static bool is_hexadecimal(const element *e)
{
    return (e->series.type & ~PFB_TYPE_SIZE_MASK) == 0 || (e->series.attributes & PFB_ATTRIBUTE_AS_HEX) != 0;
}

/* Returns true for counts and differences of counts. Quotients are shown with decimals even if they are integers. */
static bool is_whole(const element *e)
{
    const pfb_counter_type *type = (e->series.has & PFB_SERIES_TYPE) ? pfb_counter_type_find(e->series.type) : NULL;
    return (e->value.has & PFB_VALUE_INTEGER) && type && type->denominator == PFB_DENOMINATOR_ONE &&
           !(type->terms & PFB_TERM_OVER_FREQUENCY);
}

void sink_put_readable(buffer *out, const element *e)
{
    const uint64_t large = UINT64_C(1000000000000000);
    bool is_count = is_whole(e);
    if (is_count && is_hexadecimal(e))
        buffer_format(out, "0x%" PRIX64, e->value.integer);
    else if (is_in_bytes(e))
        text_bytes(out, e->value.value);
    else if (is_count && has_word(e->series.counter, "ID"))
        buffer_unsigned(out, e->value.integer);
    else if (is_count && e->value.integer < large)
        text_count(out, e->value.integer);
    else
        text_double_short(out, e->value.value);
}
