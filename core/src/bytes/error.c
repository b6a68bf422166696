/* SPDX-License-Identifier: MIT */
/* Names and texts of the error codes. They have their own file, so that programs that print none do not link them. */
#include "perfblock/error.h"

/* Arrays instead of pointers: the table needs no relocations and stays read-only in shared libraries. */
typedef struct code_row {
    uint16_t code;
    char name[26];
    char text[88];
} code_row;

static const code_row code_rows[] = {
    {PFB_OK, "ok", "no error"},
    {PFB_TRUNCATED_HEADER, "truncated_header", "the input ends inside its header"},
    {PFB_TRUNCATED_BLOCK, "truncated_block", "the block declares more bytes than the input holds"},
    {PFB_TRUNCATED_RESULT, "truncated_result", "the block ends before or inside the next result's header"},
    {PFB_TRUNCATED_COUNTERS, "truncated_counters", "the result ends before or inside its counter ids"},
    {PFB_TRUNCATED_INSTANCES, "truncated_instances", "the result ends before or inside its instances"},
    {PFB_TRUNCATED_INSTANCE, "truncated_instance", "the instances end before or inside the next instance's header"},
    {PFB_TRUNCATED_VALUE, "truncated_value",
     "the instances or the result end before or inside the next value's header"},
    {PFB_TRUNCATED_IDENTIFIER, "truncated_identifier", "the list ends inside an identifier block"},
    {PFB_TRUNCATED_STRING, "truncated_string", "a string has no NUL before the end of its block"},
    {PFB_TRUNCATED_CHUNK, "truncated_chunk", "the capture ends inside a chunk"},
    {PFB_TRUNCATED_LIST, "truncated_list", "the list ends with part of an element"},
    {PFB_TRUNCATED_OBJECT, "truncated_object", "the block ends before or inside the next object's header"},
    {PFB_TRUNCATED_DEFINITION, "truncated_definition",
     "the definitions end before or inside the next counter definition"},
    {PFB_TRUNCATED_COUNTER_BLOCK, "truncated_counter_block",
     "the object ends before or inside a counter block's header"},
    {PFB_TRUNCATED_CONTROL, "truncated_control", "the control block is shorter than its CPUID leaf says"},
    {PFB_TRUNCATED_RING, "truncated_ring", "the ring is shorter than its control block says"},
    {PFB_TRUNC_HEADER, "trunc_header", "fewer bytes than a record's header are left"},
    {PFB_TRUNC_RECORD, "trunc_record", "the record ends past the end of the stream"},
    {PFB_UNTERMINATED_GROUP, "unterminated_group", "the stream ends inside a group"},
    {PFB_TRUNCATED_BUFFER, "truncated_buffer", "the log ends inside a buffer"},
    {PFB_TRUNCATED_RECORD, "truncated_record", "the log ends before the last part of a record"},
    {PFB_TRUNCATED_LOG, "truncated_log", "the log has fewer buffers than its header says"},
    {PFB_TRUNCATED_EVENT, "truncated_event", "the buffer ends inside the header of an event"},
    {PFB_TRUNCATED_ITEM, "truncated_item", "the record ends inside the header of its next item or path"},
    {PFB_TRUNCATED_LINE, "truncated_line", "the text ends inside a cell or before the last cells of a row"},
    {PFB_BAD_TOTAL_SIZE, "bad_total_size", "the total size is smaller than the header"},
    {PFB_BAD_RESULT_COUNT, "bad_result_count", "more results are declared than the block can hold"},
    {PFB_BAD_RESULT_SIZE, "bad_result_size", "the result's size is smaller than its header or larger than the block"},
    {PFB_BAD_COUNTERS_SIZE, "bad_counters_size",
     "the size of the counter ids is smaller than their header or larger than the result"},
    {PFB_BAD_COUNTER_COUNT, "bad_counter_count", "more counters are declared than their block can hold"},
    {PFB_BAD_INSTANCES_SIZE, "bad_instances_size",
     "the size of the instances is smaller than their header or larger than the result"},
    {PFB_BAD_INSTANCE_COUNT, "bad_instance_count", "more instances are declared than their block can hold"},
    {PFB_BAD_INSTANCE_SIZE, "bad_instance_size",
     "the instance's size is too small for its name or larger than what is left"},
    {PFB_BAD_VALUE_SIZE, "bad_value_size", "the value's size is smaller than its header or larger than what is left"},
    {PFB_BAD_DATA_SIZE, "bad_data_size", "the value declares more data bytes than it holds"},
    {PFB_BAD_IDENTIFIER_SIZE, "bad_identifier_size",
     "the identifier's size is smaller than its header or larger than what is left"},
    {PFB_BAD_STRING_COUNT, "bad_string_count", "more strings are declared than the block can hold"},
    {PFB_BAD_STRING_OFFSET, "bad_string_offset", "a string begins outside the block's string area"},
    {PFB_BAD_CHUNK_SIZE, "bad_chunk_size", "the chunk is smaller than the fixed fields of its tag"},
    {PFB_UNALIGNED_SIZE, "unaligned_size", "a size that must be a multiple of 8 is not"},
    {PFB_TRAILING_BYTES, "trailing_bytes", "there are bytes that belong to no element"},
    {PFB_ERROR_WITHOUT_STATUS, "error_without_status", "an error result has the status of success"},
    {PFB_BAD_STRING_SIZE, "bad_string_size", "the string block's size is smaller than its header"},
    {PFB_OVERLAPPING_STRINGS, "overlapping_strings",
     "strings overlap: reading them takes more than 16 times the size of their block"},
    {PFB_BAD_BYTE_ORDER, "bad_byte_order", "the field LittleEndian contradicts the signature"},
    {PFB_BAD_HEADER_SIZE, "bad_header_size", "the header is smaller than its fixed part or larger than its block"},
    {PFB_BAD_OBJECT_COUNT, "bad_object_count", "more objects are declared than the block can hold"},
    {PFB_BAD_OBJECT_SIZE, "bad_object_size", "the object's size is smaller than its header or larger than the block"},
    {PFB_BAD_DEFINITION_LENGTH, "bad_definition_length",
     "the counter definitions end before they begin or past the end of their object"},
    {PFB_BAD_DEFINITION_SIZE, "bad_definition_size",
     "the definition's size is smaller than its fixed part or larger than what is left"},
    {PFB_BAD_COUNTER_BLOCK_SIZE, "bad_counter_block_size",
     "the counter block's size is smaller than its header or larger than what is left"},
    {PFB_BAD_COUNTER_OFFSET, "bad_counter_offset", "the value lies outside its instance's counter block"},
    {PFB_BAD_NAME, "bad_name", "the name lies outside its structure or in the structure's fixed part"},
    {PFB_EXCESSIVE_VALUES, "excessive_values", "more values are declared than one per 2 bytes of the object"},
    {PFB_BAD_PAIR, "bad_pair", "the strings do not form a pair of index and text"},
    {PFB_BAD_CPUID_LINE, "bad_cpuid_line", "the line begins as a CPUID leaf but is malformed after that"},
    {PFB_LWP_UNTRUSTED_LEAF, "lwp_untrusted_leaf", "the CPU has no LWP; its leaf is ignored"},
    {PFB_LWP_EVENT_SIZE_ZERO, "lwp_event_size_zero", "the record size is 0"},
    {PFB_LWP_EVENT_SIZE_SMALL, "lwp_event_size_small", "the record size is below 24"},
    {PFB_LWP_EVENT_SIZE_UNALIGNED, "lwp_event_size_unaligned", "the record size is not a multiple of 8"},
    {PFB_LWP_BAD_EVENT_OFFSET, "lwp_bad_event_offset", "the pairs begin below offset 72 or not at a multiple of 8"},
    {PFB_LWP_BAD_PAIRS, "lwp_bad_pairs", "the pairs end past the end of the control block"},
    {PFB_LWP_NO_BUFFER, "lwp_no_buffer", "BufferSize is 0"},
    {PFB_LWP_BUFFER_TOO_SMALL, "lwp_buffer_too_small", "the ring is too small for two records"},
    {PFB_LWP_BELOW_MINIMUM, "lwp_below_minimum", "the ring is smaller than the leaf's minimum"},
    {PFB_LWP_BAD_HEAD, "lwp_bad_head", "BufferHeadOffset is outside the ring"},
    {PFB_LWP_UNALIGNED_HEAD, "lwp_unaligned_head", "BufferHeadOffset is inside a record"},
    {PFB_LWP_BAD_TAIL, "lwp_bad_tail", "BufferTailOffset is outside the ring"},
    {PFB_LWP_UNALIGNED_TAIL, "lwp_unaligned_tail", "BufferTailOffset is inside a record"},
    {PFB_BAD_LENGTH, "bad_length", "the record's length is below its header's"},
    {PFB_BAD_MAJOR, "bad_major", "the major code is 0 or above 255"},
    {PFB_UNKNOWN_MINOR, "unknown_minor", "the minor word is of unknown kind, or has reserved bits set"},
    {PFB_BAD_TYPE, "bad_type", "the record type is invalid for its kind"},
    {PFB_LENGTH_MISMATCH, "length_mismatch", "the word count does not match the flags and the CPU count"},
    {PFB_BAD_FLAGS, "bad_flags", "the raw bit is clear, or reserved bits are set"},
    {PFB_BAD_NUM_CPUS, "bad_num_cpus", "the CPU count is 0 or too large"},
    {PFB_BAD_FRACTION, "bad_fraction", "the two words are not a valid figure"},
    {PFB_BUSY_RANGE, "busy_range", "busy is above 100 percent"},
    {PFB_BAD_LABEL, "bad_label", "the label record is malformed"},
    {PFB_BAD_ORDER, "bad_order", "a hook of this kind is not allowed here"},
    {PFB_MINOR_MISMATCH, "minor_mismatch", "the minor codes of the group differ"},
    {PFB_ELAPSED_MISMATCH, "elapsed_mismatch", "the elapsed cycles of the group differ"},
    {PFB_FLAGS_MISMATCH, "flags_mismatch", "the flags of the group differ"},
    {PFB_NUM_CPUS_MISMATCH, "num_cpus_mismatch", "the CPU counts of the group differ"},
    {PFB_SUM_MISMATCH, "sum_mismatch", "the CPUs' counts do not add up to the system's"},
    {PFB_LABEL_MISMATCH, "label_mismatch", "the labels at both ends of the group differ"},
    {PFB_BAD_CPI_LINE, "bad_cpi_line", "the line is malformed or misplaced in a text of snapshots"},
    {PFB_SIZE_WITHOUT_HEADER, "size_without_header", "the total size of the block does not count its header"},
    {PFB_BAD_BUFFER_SIZE, "bad_buffer_size", "the buffer's size is smaller than its header or no multiple of 8"},
    {PFB_BAD_BUFFER_USED, "bad_buffer_used", "the buffer's used size is below its header's or above its size"},
    {PFB_BAD_EVENT_SIZE, "bad_event_size", "the event's size is smaller than its header or larger than what is left"},
    {PFB_BAD_LOG_HEADER, "bad_log_header", "the pointer size in the header is neither 4 nor 8"},
    {PFB_BAD_RECORD_SIZE, "bad_record_size",
     "the sample declares fewer bytes than its header has or more than its record has"},
    {PFB_BAD_ITEM, "bad_item", "the item does not begin with its signature"},
    {PFB_BAD_ITEM_SIZE, "bad_item_size",
     "the size of the item or path is smaller than its header or larger than what is left"},
    {PFB_BAD_PART, "bad_part", "a part of a record is missing, repeated or out of order"},
    {PFB_BAD_TEXT_LINE, "bad_text_line", "the line does not begin with a time"},
    {PFB_UNEVEN_ROW, "uneven_row", "the row has fewer or more cells than the header"},
    {PFB_BAD_NUMBER, "bad_number", "the cell is neither blank nor a number"},
    {PFB_BAD_NUMBER_LIST, "bad_number_list", "the text is not a list of numbers from 0 to 255"},
    {PFB_NO_DATE, "no_date", "no row can be read: the times have no date"},
    {PFB_NO_ROW, "no_row", "no row can be read: none has a time of a known form and the cells of the header"},
    {PFB_UNKNOWN_FORMAT, "unknown_format", "the input is in no known format"},
    {PFB_UNKNOWN_KIND, "unknown_kind", "the result's kind is not defined"},
    {PFB_UNREAD_FORMAT, "unread_format", "the format is recognised, but this version does not read it"},
    {PFB_AMBIGUOUS_DATES, "ambiguous_dates",
     "dates may have the month or the day first: --date-order mdy or dmy decides"},
    {PFB_AMBIGUOUS_NUMBERS, "ambiguous_numbers",
     "numbers may have decimal commas or points (1,234 is 1.234 or 1234): --decimal . or ,"},
    {PFB_UNKNOWN_EVENT, "unknown_event", "the event is no part of a record"},
    {PFB_UNKNOWN_ITEM, "unknown_item", "the item is of unknown kind"},
    {PFB_CALLER_ARGUMENT, "caller_argument", "an argument is outside its documented range"},
    {PFB_CALLER_TOO_SMALL, "caller_too_small", "the memory or the window of the caller is too small"},
    {PFB_CALLER_ORDER, "caller_order", "the function was called out of order"},
    {PFB_CALLER_LIMIT, "caller_limit", "a limit that the caller set was reached"},
    {PFB_INTERNAL, "internal", "a bug in the library"},
};

#define ROW_COUNT (sizeof code_rows / sizeof code_rows[0])

static const code_row *find_row(pfb_code code)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (code_rows[i].code == (unsigned)code)
            return &code_rows[i];
    }
    return NULL;
}

const char *pfb_code_name(pfb_code code)
{
    const code_row *row = find_row(code);
    return row ? row->name : "unknown_code";
}

const char *pfb_code_text(pfb_code code)
{
    const code_row *row = find_row(code);
    return row ? row->text : "a code that this version does not know";
}
