/* SPDX-License-Identifier: MIT */
#include "sinks/metric_value.h"

#include <string.h>

/* ---- Numbers --------------------------------------------------------------------------------------------- */

metric_number metric_number_of(metric_kind kind, metric_scale scale, const metric_input *input)
{
    bool is_base_unit = scale.times == scale.over;
    switch (kind) {
    case METRIC_RATIO:
        return (metric_number){.real = (double)input->raw / (double)input->base};
    case METRIC_ELAPSED:
        return (metric_number){.real = input->value};
    case METRIC_DISPLAYED:
        return (metric_number){.real = is_base_unit ? input->value : input->value * scale.times / scale.over};
    case METRIC_TIME:
    case METRIC_INACTIVE_TIME:
    case METRIC_TIMES:
        return (metric_number){.real = (double)input->raw / input->ticks_per_second};
    default:
        return (metric_number){
            .is_integer = is_base_unit, .integer = input->raw, .real = (double)input->raw * scale.times / scale.over};
    }
}

void metric_put_number(buffer *out, const metric_number *number)
{
    if (number->is_integer)
        buffer_unsigned(out, number->integer);
    else
        text_double(out, number->real);
}

/* ---- Text ------------------------------------------------------------------------------------------------ */

void metric_put_escaped(buffer *out, const char *utf8, size_t size, bool escapes_quotes)
{
    buffer safe = {0};
    for (size_t from = 0; from <= size;) {
        const char *end = memchr(utf8 + from, '\n', size - from);
        size_t to = end ? (size_t)(end - utf8) : size;
        buffer_clear(&safe);
        text_safe(&safe, utf8 + from, to - from);
        for (size_t i = 0; i < safe.size; i++) {
            if (safe.data[i] == '\\' || (escapes_quotes && safe.data[i] == '"'))
                buffer_string(out, "\\");
            buffer_bytes(out, &safe.data[i], 1);
        }
        if (end)
            buffer_string(out, "\\n");
        from = to + 1;
    }
    buffer_free(&safe);
}

/* ---- Totals of 4 bytes ----------------------------------------------------------------------------------- */

void long_total_continue(long_total *total, const long_total *previous, uint64_t older)
{
    const uint64_t wrap = UINT64_C(1) << 32;
    if (previous->value >= wrap || total->value >= wrap)
        return;
    if (total->value >= previous->value)
        total->carry = previous->carry;
    else if (older == previous->value && wrap - previous->value + total->value < wrap / 2)
        total->carry = previous->carry + wrap;
}
