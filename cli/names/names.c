/* SPDX-License-Identifier: MIT */
#include "names/names.h"

#include "perfblock/collect.h"
#include "perfblock/formula.h"
#include "perfblock/log.h"
#include "perfblock/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *names_of_kind(uint32_t kind)
{
    static const char *const names[] = {
        [PFB_V2_ERROR] = "error",
        [PFB_V2_SINGLE_COUNTER] = "single_counter",
        [PFB_V2_MULTIPLE_COUNTERS] = "multiple_counters",
        [PFB_V2_MULTIPLE_INSTANCES] = "multiple_instances",
        [PFB_V2_COUNTERSET] = "counterset",
    };
    bool is_known = kind < sizeof names / sizeof names[0] && names[kind];
    return is_known ? names[kind] : "unknown";
}

const char *names_of_win32(uint32_t code)
{
    const pfb_win32_code *row = pfb_win32_find(code);
    return row ? row->text : NULL;
}

const char *names_of_clock(unsigned clock)
{
    static const char *const names[] = {"none", "perf", "100ns", "object"};
    return clock < sizeof names / sizeof names[0] ? names[clock] : "none";
}

const char *names_of_type(uint32_t type, char memory[NAMES_TYPE_BYTES])
{
    const pfb_counter_type *row = pfb_counter_type_find(type);
    if (row)
        return row->name;
    snprintf(memory, NAMES_TYPE_BYTES, "0x%08" PRIX32, type);
    return memory;
}

const char *names_of_pdh_status(uint32_t status, char memory[NAMES_STATUS_BYTES])
{
    static const char unknown[] = "unknown_status";
    const char *name = pfb_pdh_status_name(status);
    if (strcmp(name, unknown) != 0)
        return name;
    snprintf(memory, NAMES_STATUS_BYTES, "%s_0x%08" PRIX32, unknown, status);
    return memory;
}

const char *names_of_time(const pfb_system_time *time, char memory[NAMES_TIME_BYTES])
{
    snprintf(memory, NAMES_TIME_BYTES, "%04u-%02u-%02uT%02u:%02u:%02u.%03u", time->year, time->month, time->day,
             time->hour, time->minute, time->second, time->millisecond);
    return memory;
}

size_t names_of_notes(uint32_t notes, const char *names[NAMES_MAX_BITS])
{
    static const struct {
        uint32_t note;
        const char *name;
    } rows[] = {
        {PFB_NOTE_UNALIGNED_SIZE, "unaligned_size"},
        {PFB_NOTE_TRAILING_BYTES, "trailing_bytes"},
        {PFB_NOTE_UNKNOWN_KIND, "unknown_kind"},
        {PFB_NOTE_ERROR_WITHOUT_STATUS, "error_without_status"},
        {PFB_NOTE_BAD_PAIR, "bad_pair"},
        {PFB_NOTE_UNTERMINATED, "unterminated"},
        {PFB_NOTE_BAD_SYSTEM_NAME, "bad_system_name"},
        {PFB_NOTE_SIZE_WITHOUT_HEADER, "size_without_header"},
        {PFB_NOTE_UNKNOWN_EVENT, "unknown_event"},
        {PFB_NOTE_INCOMPLETE_RECORD, "incomplete_record"},
        {PFB_NOTE_UNKNOWN_ITEM, "unknown_item"},
        {PFB_NOTE_TEXT_LINE, "text_line"},
        {PFB_NOTE_UNEVEN_ROW, "uneven_row"},
        {PFB_NOTE_BAD_NUMBER, "bad_number"},
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (notes & rows[i].note)
            names[count++] = rows[i].name;
    }
    return count;
}

/* Returns the name of a flag of collect.h or formula.h; "" for other bits. */
static const char *name_of_flag(uint32_t flag)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } rows[] = {
        {PFB_FLAG_INCOMPLETE_TOTAL, "incomplete_total"},
        {PFB_FLAG_MAY_BE_NEGATIVE, "may_be_negative"},
        {PFB_FLAG_SUM, "sum"},
        {PFB_FLAG_PARTIAL, "partial"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].flag == flag)
            return rows[i].name;
    }
    return pfb_flag_name(flag);
}

size_t names_of_flags(uint32_t flags, const char *names[NAMES_MAX_BITS])
{
    size_t count = 0;
    for (uint32_t bit = 1; bit < 1u << NAMES_MAX_BITS; bit <<= 1) {
        const char *name = flags & bit ? name_of_flag(bit) : "";
        if (*name != '\0')
            names[count++] = name;
    }
    return count;
}
