/* SPDX-License-Identifier: MIT */
#include "support_faults.h"

static const struct {
    const char *name;
    pfb_code code;
} faults[PFB_FAULT_COUNT] = {
    [PFB_FAULT_NONE] = {"", PFB_OK},
    [PFB_FAULT_TOTAL_SIZE_ZERO] = {"total_size_zero", PFB_BAD_TOTAL_SIZE},
    [PFB_FAULT_TOTAL_SIZE_HUGE] = {"total_size_huge", PFB_TRUNCATED_BLOCK},
    [PFB_FAULT_RESULT_COUNT_HUGE] = {"result_count_huge", PFB_BAD_RESULT_COUNT},
    [PFB_FAULT_RESULT_KIND_UNKNOWN] = {"result_kind_unknown", PFB_OK},
    [PFB_FAULT_RESULT_SIZE_ZERO] = {"result_size_zero", PFB_BAD_RESULT_SIZE},
    [PFB_FAULT_RESULT_SIZE_HUGE] = {"result_size_huge", PFB_BAD_RESULT_SIZE},
    [PFB_FAULT_COUNTERS_SIZE_ZERO] = {"counters_size_zero", PFB_BAD_COUNTERS_SIZE},
    [PFB_FAULT_COUNTERS_SIZE_HUGE] = {"counters_size_huge", PFB_BAD_COUNTERS_SIZE},
    [PFB_FAULT_COUNTER_COUNT_HUGE] = {"counter_count_huge", PFB_BAD_COUNTER_COUNT},
    [PFB_FAULT_INSTANCES_SIZE_ZERO] = {"instances_size_zero", PFB_BAD_INSTANCES_SIZE},
    [PFB_FAULT_INSTANCES_SIZE_HUGE] = {"instances_size_huge", PFB_BAD_INSTANCES_SIZE},
    [PFB_FAULT_INSTANCE_COUNT_HUGE] = {"instance_count_huge", PFB_BAD_INSTANCE_COUNT},
    [PFB_FAULT_INSTANCE_SIZE_ZERO] = {"instance_size_zero", PFB_BAD_INSTANCE_SIZE},
    [PFB_FAULT_INSTANCE_SIZE_HUGE] = {"instance_size_huge", PFB_BAD_INSTANCE_SIZE},
    [PFB_FAULT_NAME_UNTERMINATED] = {"name_unterminated", PFB_TRUNCATED_STRING},
    [PFB_FAULT_VALUE_SIZE_ZERO] = {"value_size_zero", PFB_BAD_VALUE_SIZE},
    [PFB_FAULT_VALUE_SIZE_HUGE] = {"value_size_huge", PFB_BAD_VALUE_SIZE},
    [PFB_FAULT_DATA_SIZE_HUGE] = {"data_size_huge", PFB_BAD_DATA_SIZE},
    [PFB_FAULT_REGISTERED_COUNT_HUGE] = {"registered_count_huge", PFB_BAD_COUNTER_COUNT},
    [PFB_FAULT_STRINGS_SIZE_ZERO] = {"strings_size_zero", PFB_BAD_STRING_SIZE},
    [PFB_FAULT_STRINGS_SIZE_HUGE] = {"strings_size_huge", PFB_TRUNCATED_BLOCK},
    [PFB_FAULT_STRING_COUNT_HUGE] = {"string_count_huge", PFB_BAD_STRING_COUNT},
    [PFB_FAULT_STRING_OFFSET_ZERO] = {"string_offset_zero", PFB_BAD_STRING_OFFSET},
    [PFB_FAULT_STRING_OFFSET_HUGE] = {"string_offset_huge", PFB_BAD_STRING_OFFSET},
    [PFB_FAULT_IDENTIFIER_SIZE_ZERO] = {"identifier_size_zero", PFB_BAD_IDENTIFIER_SIZE},
    [PFB_FAULT_IDENTIFIER_SIZE_HUGE] = {"identifier_size_huge", PFB_BAD_IDENTIFIER_SIZE},
    [PFB_FAULT_SIGNATURE_WRONG] = {"signature_wrong", PFB_UNKNOWN_FORMAT},
    [PFB_FAULT_BYTE_ORDER_UNKNOWN] = {"byte_order_unknown", PFB_BAD_BYTE_ORDER},
    [PFB_FAULT_HEADER_SIZE_ZERO] = {"header_size_zero", PFB_BAD_HEADER_SIZE},
    [PFB_FAULT_HEADER_SIZE_HUGE] = {"header_size_huge", PFB_BAD_HEADER_SIZE},
    [PFB_FAULT_OBJECT_COUNT_HUGE] = {"object_count_huge", PFB_BAD_OBJECT_COUNT},
    [PFB_FAULT_OBJECT_COUNT_MORE] = {"object_count_more", PFB_TRUNCATED_OBJECT},
    [PFB_FAULT_SYSTEM_NAME_HUGE] = {"system_name_huge", PFB_OK},
    [PFB_FAULT_OBJECT_SIZE_ZERO] = {"object_size_zero", PFB_BAD_OBJECT_SIZE},
    [PFB_FAULT_OBJECT_SIZE_HUGE] = {"object_size_huge", PFB_BAD_OBJECT_SIZE},
    [PFB_FAULT_OBJECT_HEADER_ZERO] = {"object_header_zero", PFB_BAD_HEADER_SIZE},
    [PFB_FAULT_OBJECT_HEADER_HUGE] = {"object_header_huge", PFB_BAD_HEADER_SIZE},
    [PFB_FAULT_DEFINITION_LENGTH_ZERO] = {"definition_length_zero", PFB_BAD_DEFINITION_LENGTH},
    [PFB_FAULT_DEFINITION_LENGTH_HUGE] = {"definition_length_huge", PFB_BAD_DEFINITION_LENGTH},
    [PFB_FAULT_OBJECT_INSTANCES_HUGE] = {"object_instances_huge", PFB_BAD_INSTANCE_COUNT},
    [PFB_FAULT_OBJECT_INSTANCES_MINUS] = {"object_instances_minus", PFB_BAD_INSTANCE_COUNT},
    [PFB_FAULT_OBJECT_INSTANCES_MORE] = {"object_instances_more", PFB_TRUNCATED_INSTANCE},
    [PFB_FAULT_METADATA_WITH_VALUES] = {"metadata_with_values", PFB_TRUNCATED_COUNTER_BLOCK},
    [PFB_FAULT_DEFINITION_SIZE_ZERO] = {"definition_size_zero", PFB_BAD_DEFINITION_SIZE},
    [PFB_FAULT_DEFINITION_SIZE_HUGE] = {"definition_size_huge", PFB_BAD_DEFINITION_SIZE},
    [PFB_FAULT_DEFINITION_SIZE_MORE] = {"definition_size_more", PFB_TRUNCATED_DEFINITION},
    [PFB_FAULT_VALUE_OFFSET_ZERO] = {"value_offset_zero", PFB_BAD_COUNTER_OFFSET},
    [PFB_FAULT_VALUE_OFFSET_HUGE] = {"value_offset_huge", PFB_BAD_COUNTER_OFFSET},
    [PFB_FAULT_INSTANCE_NAME_HUGE] = {"instance_name_huge", PFB_BAD_NAME},
    [PFB_FAULT_COUNTER_BLOCK_ZERO] = {"counter_block_zero", PFB_BAD_COUNTER_BLOCK_SIZE},
    [PFB_FAULT_COUNTER_BLOCK_HUGE] = {"counter_block_huge", PFB_BAD_COUNTER_BLOCK_SIZE},
    [PFB_FAULT_INDEX_NOT_NUMERIC] = {"index_not_numeric", PFB_OK},
};

const char *fault_name(pfb_fault fault)
{
    return faults[fault].name;
}

pfb_code fault_code(pfb_fault fault)
{
    return faults[fault].code;
}
