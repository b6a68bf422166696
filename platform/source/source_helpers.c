/* SPDX-License-Identifier: MIT */
/* Compiled into perfblock::collect and into perfblock::platform: a shared library does not export private functions. */
#include "source/source_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *pfb_source_grow(void *array, size_t *capacity, size_t needed, size_t element_bytes)
{
    if (array && needed <= *capacity)
        return array;
    size_t limit = SIZE_MAX / 2 / element_bytes; /* larger objects cannot be indexed with ptrdiff_t */
    if (needed > limit)
        return NULL;
    size_t half_more = *capacity <= limit / 2 ? *capacity + *capacity / 2 : limit;
    size_t wanted = needed > half_more ? needed : half_more;
    void *grown = realloc(array, (wanted > 0 ? wanted : 1) * element_bytes);
    if (grown)
        *capacity = wanted;
    return grown;
}

/* Removes an incomplete UTF-8 character from the end. */
static void cut_between_characters(char *text)
{
    size_t length = strlen(text);
    size_t begin = length;
    while (begin > 0 && length - begin < 3 && ((uint8_t)text[begin - 1] & 0xC0) == 0x80)
        begin--;
    if (begin == 0)
        return;
    uint32_t lead = (uint8_t)text[begin - 1];
    size_t size = lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (length - (begin - 1) < size)
        text[begin - 1] = '\0';
}

void pfb_source_format_sentence(char *sentence, size_t capacity, const char *format, va_list arguments)
{
    int length = vsnprintf(sentence, capacity, format, arguments);
    if (length < 0)
        sentence[0] = '\0';
    else if ((size_t)length >= capacity)
        cut_between_characters(sentence);
}

bool pfb_source_fail(pfb_source_failure *failure, uint32_t code, const char *format, ...)
{
    if (!failure)
        return false;
    failure->code = code;
    va_list arguments;
    va_start(arguments, format);
    pfb_source_format_sentence(failure->sentence, sizeof failure->sentence, format, arguments);
    va_end(arguments);
    return false;
}

bool pfb_source_fail_memory(pfb_source_failure *failure)
{
    return pfb_source_fail(failure, PFB_WIN32_NOT_ENOUGH_MEMORY, "memory is exhausted");
}

static uint32_t first_capacity(const pfb_source_capacity *capacity, const pfb_bytes *bytes)
{
    size_t available = bytes->capacity_bytes / capacity->unit_bytes;
    if (available >= capacity->initial_limit)
        return capacity->initial_limit;
    return available > capacity->initial ? (uint32_t)available : capacity->initial;
}

static uint32_t larger_capacity(const pfb_source_capacity *capacity, uint32_t units, uint32_t needed)
{
    uint32_t twice = units <= capacity->limit / 2 ? 2 * units : capacity->limit;
    return needed > twice ? needed : twice;
}

bool pfb_source_next_capacity(const pfb_source_capacity *capacity, pfb_bytes *bytes, uint32_t needed, uint32_t *units,
                              pfb_source_failure *failure)
{
    *units = *units == 0 ? first_capacity(capacity, bytes) : larger_capacity(capacity, *units, needed);
    size_t size = (size_t)*units * capacity->unit_bytes;
    if (bytes->capacity_bytes < size)
        pfb_bytes_free(bytes);
    return pfb_bytes_reserve(bytes, size) || pfb_source_fail_memory(failure);
}

bool pfb_source_build(pfb_bytes *bytes, pfb_source_write_function *write, const void *context,
                      pfb_source_failure *failure)
{
    bytes->size_bytes = 0;
    for (int attempt = 0; attempt < 2; attempt++) {
        pfb_writer writer;
        pfb_write_init(&writer, bytes->data, bytes->capacity_bytes);
        write(context, &writer);
        if (writer.error.code == PFB_OK) {
            bytes->size_bytes = writer.size_bytes;
            return true;
        }
        if (writer.error.code != PFB_CALLER_TOO_SMALL)
            return pfb_source_fail(failure, 0, "a reply cannot be written: %s", pfb_code_text(writer.error.code));
        if (!pfb_bytes_reserve(bytes, writer.size_bytes))
            break;
    }
    return pfb_source_fail_memory(failure);
}

bool pfb_source_check_blocks(const uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, blocks, size, &(pfb_read_options){.is_strict = true});
    while (pfb_list_next_identifier(&list, &identifier)) {
    }
    if (list.error.code == PFB_OK)
        return true;
    return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER,
                           "the identifier blocks are malformed at offset %zu: %s", list.error.offset,
                           pfb_code_text(list.error.code));
}

uint32_t pfb_source_result_kind(bool has_counter_id, bool is_pattern)
{
    if (is_pattern)
        return has_counter_id ? PFB_V2_MULTIPLE_INSTANCES : PFB_V2_COUNTERSET;
    return has_counter_id ? PFB_V2_SINGLE_COUNTER : PFB_V2_MULTIPLE_COUNTERS;
}

void pfb_source_write_error(pfb_writer *writer, uint32_t status)
{
    pfb_write_begin_result(writer, PFB_V2_ERROR, status, NULL, 0);
    pfb_write_end_result(writer);
}

bool pfb_source_has_values(uint32_t kind)
{
    return kind == PFB_V2_SINGLE_COUNTER || kind == PFB_V2_MULTIPLE_COUNTERS || kind == PFB_V2_MULTIPLE_INSTANCES ||
           kind == PFB_V2_COUNTERSET;
}

void pfb_source_set_status(uint8_t *blocks, const pfb_identifier *identifier, uint32_t status)
{
    enum { STATUS_AT = 16 };
    uint8_t *field = blocks + identifier->offset + STATUS_AT;
    for (unsigned i = 0; i < 4; i++)
        field[i] = (uint8_t)(status >> 8 * i);
}
