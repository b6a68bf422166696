/* SPDX-License-Identifier: MIT */
#include "explain/fields.h"

#define TABLE(name, size, fields)                                                                                      \
    {                                                                                                                  \
        name, size, fields, sizeof(fields) / sizeof *(fields)                                                          \
    }

/* ---- V2 replies ------------------------------------------------------------------------------------------ */

static const field data_header[] = {
    {0, 4, FIELD_UNSIGNED, "dwTotalSize", "bytes of the reply"},
    {4, 4, FIELD_UNSIGNED, "dwNumCounters", "results"},
    {8, 8, FIELD_SIGNED, "PerfTimeStamp", "performance clock"},
    {16, 8, FIELD_SIGNED, "PerfTime100NSec", "100 ns since 1601-01-01 UTC"},
    {24, 8, FIELD_SIGNED, "PerfFreq", "ticks per second of the performance clock"},
    {32, 16, FIELD_SYSTEM_TIME, "SystemTime", "time of collection"},
};

static const field counter_header[] = {
    {0, 4, FIELD_STATUS, "dwStatus", "Win32 error code of the query"},
    {4, 4, FIELD_RESULT, "dwType", "kind of the result, which decides what follows"},
    {8, 4, FIELD_UNSIGNED, "dwSize", "bytes with everything inside"},
    {12, 4, FIELD_UNSIGNED, "Reserved", "not used"},
};

static const field multi_counters[] = {
    {0, 4, FIELD_UNSIGNED, "dwSize", "bytes with the ids"},
    {4, 4, FIELD_UNSIGNED, "dwCounters", "number of counter ids that follow"},
};

static const field multi_instances[] = {
    {0, 4, FIELD_UNSIGNED, "dwTotalSize", "bytes with all instances and their values"},
    {4, 4, FIELD_UNSIGNED, "dwInstances", "number of instances that follow"},
};

static const field instance_header[] = {
    {0, 4, FIELD_UNSIGNED, "Size", "bytes with name and padding, without values"},
    {4, 4, FIELD_UNSIGNED, "InstanceId", "id of the instance"},
};

static const field counter_data[] = {
    {0, 4, FIELD_UNSIGNED, "dwDataSize", "bytes of the datum"},
    {4, 4, FIELD_UNSIGNED, "dwSize", "bytes with these fields, the datum and padding"},
};

/* ---- V1 blocks ------------------------------------------------------------------------------------------- */

static const field data_block[] = {
    {0, 8, FIELD_UTF16, "Signature", "PERF in UTF-16"},
    {8, 4, FIELD_UNSIGNED, "LittleEndian", "byte order: 1 little-endian, 0 big-endian"},
    {12, 4, FIELD_UNSIGNED, "Version", "1"},
    {16, 4, FIELD_UNSIGNED, "Revision", "1"},
    {20, 4, FIELD_UNSIGNED, "TotalByteLength", "bytes of the block"},
    {24, 4, FIELD_UNSIGNED, "HeaderLength", "bytes up to the first object"},
    {28, 4, FIELD_UNSIGNED, "NumObjectTypes", "objects"},
    {32, 4, FIELD_SIGNED, "DefaultObject", "title index of the object to show first"},
    {36, 16, FIELD_SYSTEM_TIME, "SystemTime", "time of collection"},
    {52, 4, FIELD_BYTES, "", "padding"},
    {56, 8, FIELD_SIGNED, "PerfTime", "performance clock"},
    {64, 8, FIELD_SIGNED, "PerfFreq", "ticks per second of the performance clock"},
    {72, 8, FIELD_SIGNED, "PerfTime100nSec", "100 ns since 1601-01-01 UTC"},
    {80, 4, FIELD_UNSIGNED, "SystemNameLength", "bytes of the machine's name"},
    {84, 4, FIELD_UNSIGNED, "SystemNameOffset", "where it begins in the block"},
};

static const field object_type[] = {
    {0, 4, FIELD_UNSIGNED, "TotalByteLength", "bytes with everything inside"},
    {4, 4, FIELD_UNSIGNED, "DefinitionLength", "bytes up to the first instance"},
    {8, 4, FIELD_UNSIGNED, "HeaderLength", "bytes up to the first counter definition"},
    {12, 4, FIELD_TITLE, "ObjectNameTitleIndex", "title index of the name"},
    {16, 4, FIELD_HEX, "ObjectNameTitle", "not used"},
    {20, 4, FIELD_UNSIGNED, "ObjectHelpTitleIndex", "title index of the help text"},
    {24, 4, FIELD_HEX, "ObjectHelpTitle", "not used"},
    {28, 4, FIELD_UNSIGNED, "DetailLevel", "100 novice to 400 wizard"},
    {32, 4, FIELD_UNSIGNED, "NumCounters", "counter definitions"},
    {36, 4, FIELD_SIGNED, "DefaultCounter", "position of the counter to show first"},
    {40, 4, FIELD_SIGNED, "NumInstances", "instances; -1: none, one counter block"},
    {44, 4, FIELD_UNSIGNED, "CodePage", "of the instances' names; 0: UTF-16"},
    {48, 8, FIELD_SIGNED, "PerfTime", "the object's clock"},
    {56, 8, FIELD_SIGNED, "PerfFreq", "its ticks per second"},
};

static const field counter_definition[] = {
    {0, 4, FIELD_UNSIGNED, "ByteLength", "bytes of the definition"},
    {4, 4, FIELD_TITLE, "CounterNameTitleIndex", "title index of the name"},
    {8, 4, FIELD_HEX, "CounterNameTitle", "not used"},
    {12, 4, FIELD_UNSIGNED, "CounterHelpTitleIndex", "title index of the help text"},
    {16, 4, FIELD_HEX, "CounterHelpTitle", "not used"},
    {20, 4, FIELD_SIGNED, "DefaultScale", "power of ten by which charts scale it"},
    {24, 4, FIELD_UNSIGNED, "DetailLevel", "100 novice to 400 wizard"},
    {28, 4, FIELD_TYPE, "CounterType", "how values are computed"},
    {32, 4, FIELD_UNSIGNED, "CounterSize", "bytes of a value"},
    {36, 4, FIELD_UNSIGNED, "CounterOffset", "where it begins in a counter block"},
};

static const field instance_definition[] = {
    {0, 4, FIELD_UNSIGNED, "ByteLength", "bytes with name and padding"},
    {4, 4, FIELD_TITLE, "ParentObjectTitleIndex", "title index of the parent's object; 0: no parent"},
    {8, 4, FIELD_UNSIGNED, "ParentObjectInstance", "position of the parent in it"},
    {12, 4, FIELD_SIGNED, "UniqueID", "id of the instance; -1: none"},
    {16, 4, FIELD_UNSIGNED, "NameOffset", "where the name begins in this structure"},
    {20, 4, FIELD_UNSIGNED, "NameLength", "bytes of the name with its NUL"},
};

static const field counter_block[] = {
    {0, 4, FIELD_UNSIGNED, "ByteLength", "bytes with the values"},
};

/* ---- Metadata -------------------------------------------------------------------------------------------- */

static const field counterset_reg_info[] = {
    {0, 16, FIELD_GUID, "CounterSetGuid", "the counterset"},
    {16, 4, FIELD_UNSIGNED, "CounterSetType", "reserved"},
    {20, 4, FIELD_UNSIGNED, "DetailLevel", "100 novice to 400 wizard"},
    {24, 4, FIELD_UNSIGNED, "NumCounters", "counters that follow"},
    {28, 4, FIELD_HEX, "InstanceType", "single or multiple instances"},
};

static const field counter_reg_info[] = {
    {0, 4, FIELD_UNSIGNED, "CounterId", "id in replies"},
    {4, 4, FIELD_TYPE, "Type", "how values are computed"},
    {8, 8, FIELD_HEX, "Attrib", "attributes, bits"},
    {16, 4, FIELD_UNSIGNED, "DetailLevel", "100 novice to 400 wizard"},
    {20, 4, FIELD_SIGNED, "DefaultScale", "power of ten by which charts scale it"},
    {24, 4, FIELD_ID, "BaseCounterId", "counter of the base"},
    {28, 4, FIELD_ID, "PerfTimeId", "counter of the time"},
    {32, 4, FIELD_ID, "PerfFreqId", "counter of the frequency"},
    {36, 4, FIELD_ID, "MultiId", "counter of the multiplier"},
    {40, 4, FIELD_UNSIGNED, "AggregateFunc", "how instances are summed up"},
    {44, 4, FIELD_UNSIGNED, "Reserved", "not used"},
};

static const field string_buffer[] = {
    {0, 4, FIELD_UNSIGNED, "dwSize", "bytes of the block"},
    {4, 4, FIELD_UNSIGNED, "dwCounters", "entries that follow"},
};

static const field string_counter[] = {
    {0, 4, FIELD_UNSIGNED, "dwCounterId", "counter"},
    {4, 4, FIELD_ID, "dwOffset", "where its string begins in the block"},
};

static const field identifier[] = {
    {0, 16, FIELD_GUID, "CounterSetGuid", "the counterset"},
    {16, 4, FIELD_STATUS, "Status", "Win32 error code"},
    {20, 4, FIELD_UNSIGNED, "Size", "bytes with the name"},
    {24, 4, FIELD_ID, "CounterId", "counter"},
    {28, 4, FIELD_ID, "InstanceId", "instance"},
    {32, 4, FIELD_UNSIGNED, "Index", "position of its result in replies"},
    {36, 4, FIELD_UNSIGNED, "Reserved", "not used"},
};

/* ---- Captures -------------------------------------------------------------------------------------------- */

static const field chunk[] = {
    {0, 4, FIELD_ASCII, "tag", "what the chunk holds"},
    {4, 4, FIELD_UNSIGNED, "version", "1"},
    {8, 8, FIELD_UNSIGNED, "size", "bytes that follow, without padding to a multiple of 8"},
};

/* ---- All ------------------------------------------------------------------------------------------------- */

static const field_table tables[STRUCTURE_COUNT] = {
    [STRUCTURE_DATA_HEADER] = TABLE("PERF_DATA_HEADER", 48, data_header),
    [STRUCTURE_COUNTER_HEADER] = TABLE("PERF_COUNTER_HEADER", 16, counter_header),
    [STRUCTURE_MULTI_COUNTERS] = TABLE("PERF_MULTI_COUNTERS", 8, multi_counters),
    [STRUCTURE_MULTI_INSTANCES] = TABLE("PERF_MULTI_INSTANCES", 8, multi_instances),
    [STRUCTURE_INSTANCE_HEADER] = TABLE("PERF_INSTANCE_HEADER", 8, instance_header),
    [STRUCTURE_COUNTER_DATA] = TABLE("PERF_COUNTER_DATA", 8, counter_data),
    [STRUCTURE_DATA_BLOCK] = TABLE("PERF_DATA_BLOCK", 88, data_block),
    [STRUCTURE_OBJECT_TYPE] = TABLE("PERF_OBJECT_TYPE", 64, object_type),
    [STRUCTURE_COUNTER_DEFINITION] = TABLE("PERF_COUNTER_DEFINITION", 40, counter_definition),
    [STRUCTURE_INSTANCE_DEFINITION] = TABLE("PERF_INSTANCE_DEFINITION", 24, instance_definition),
    [STRUCTURE_COUNTER_BLOCK] = TABLE("PERF_COUNTER_BLOCK", 4, counter_block),
    [STRUCTURE_COUNTERSET_REG_INFO] = TABLE("PERF_COUNTERSET_REG_INFO", 32, counterset_reg_info),
    [STRUCTURE_COUNTER_REG_INFO] = TABLE("PERF_COUNTER_REG_INFO", 48, counter_reg_info),
    [STRUCTURE_STRING_BUFFER] = TABLE("PERF_STRING_BUFFER_HEADER", 8, string_buffer),
    [STRUCTURE_STRING_COUNTER] = TABLE("PERF_STRING_COUNTER_HEADER", 8, string_counter),
    [STRUCTURE_IDENTIFIER] = TABLE("PERF_COUNTER_IDENTIFIER", 40, identifier),
    [STRUCTURE_NAME_TABLE] = {.name = "Name table"},
    [STRUCTURE_GUIDS] = {.name = "GUID list"},
    [STRUCTURE_CHUNK] = TABLE("Chunk", 16, chunk),
};

const field_table *field_table_of(structure which)
{
    return &tables[which];
}
