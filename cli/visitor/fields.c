/* SPDX-License-Identifier: MIT */
#include "visitor/fields.h"

#include "names/names.h"
#include "perfblock/cpi/hooks.h"
#include "perfblock/log.h"
#include "perfblock/metadata.h"

#include <inttypes.h>
#include <string.h>

/* ---- V2 replies ------------------------------------------------------------------------------------------ */

static const field data_header[] = {
    {0, 4, FIELD_UNSIGNED, "dwTotalSize", "size", "bytes of the reply", "48 up to the input's size"},
    {4, 4, FIELD_UNSIGNED, "dwNumCounters", "queries", "results", "at most (total size - 48) / 16"},
    {8, 8, FIELD_SIGNED, "PerfTimeStamp", "perf_time", "performance clock", ""},
    {16, 8, FIELD_SIGNED, "PerfTime100NSec", "perf_time_100ns", "100 ns since 1601-01-01 UTC", ""},
    {24, 8, FIELD_SIGNED, "PerfFreq", "perf_freq", "ticks per second of the performance clock", ""},
    {32, 16, FIELD_SYSTEM_TIME, "SystemTime", "system_time", "time of collection", ""},
};

static const field counter_header[] = {
    {0, 4, FIELD_STATUS, "dwStatus", "status", "Win32 error code of the query", "not 0 for kind 0, else noted"},
    {4, 4, FIELD_RESULT, "dwType", "kind", "kind of the result, which decides what follows",
     "0, 1, 2, 4 or 6, else skipped and noted"},
    {8, 4, FIELD_UNSIGNED, "dwSize", "size", "bytes with everything inside", "16 up to what is left"},
    {12, 4, FIELD_UNSIGNED, "Reserved", "", "not used", ""},
};

static const field multi_counters[] = {
    {0, 4, FIELD_UNSIGNED, "dwSize", "", "bytes, ids included", "8 up to what is left"},
    {4, 4, FIELD_UNSIGNED, "dwCounters", "", "number of counter ids that follow", "at most (size - 8) / 4"},
    {8, 0, FIELD_BYTES, "ids", "", "a u32 each", ""},
};

static const field multi_instances[] = {
    {0, 4, FIELD_UNSIGNED, "dwTotalSize", "", "bytes with all instances and their values", "8 up to what is left"},
    {4, 4, FIELD_UNSIGNED, "dwInstances", "", "number of instances that follow", "at most (size - 8) / 8"},
    {8, 0, FIELD_BYTES, "instances", "", "each with its values", ""},
};

static const field instance_header[] = {
    {0, 4, FIELD_UNSIGNED, "Size", "", "bytes with name and padding, without values",
     "10 up to what is left; the name's NUL inside"},
    {4, 4, FIELD_UNSIGNED, "InstanceId", "id", "id of the instance", ""},
    {8, 0, FIELD_BYTES, "name", "", "UTF-16 with NUL", ""},
};

static const field counter_data[] = {
    {0, 4, FIELD_UNSIGNED, "dwDataSize", "bytes", "bytes of the datum", "at most dwSize - 8"},
    {4, 4, FIELD_UNSIGNED, "dwSize", "", "bytes of these fields, the datum and padding", "8 up to what is left"},
    {8, 0, FIELD_BYTES, "data", "", "dwDataSize bytes", ""},
};

/* ---- V1 blocks ------------------------------------------------------------------------------------------- */

static const field data_block[] = {
    {0, 8, FIELD_UTF16, "Signature", "", "PERF in UTF-16", "in either byte order"},
    {8, 4, FIELD_UNSIGNED, "LittleEndian", "", "byte order: 1 little-endian, 0 big-endian", "as in the signature"},
    {12, 4, FIELD_UNSIGNED, "Version", "version", "1", ""},
    {16, 4, FIELD_UNSIGNED, "Revision", "revision", "1", ""},
    {20, 4, FIELD_UNSIGNED, "TotalByteLength", "", "bytes of the block", "88 up to the input's size"},
    {24, 4, FIELD_UNSIGNED, "HeaderLength", "", "bytes up to the first object", "88 up to the total size"},
    {28, 4, FIELD_UNSIGNED, "NumObjectTypes", "objects", "objects", "at most (total size - header) / 64"},
    {32, 4, FIELD_SIGNED, "DefaultObject", "default_object", "title index of the object to show first", ""},
    {36, 16, FIELD_SYSTEM_TIME, "SystemTime", "system_time", "time of collection", ""},
    {52, 4, FIELD_BYTES, "", "", "padding", ""},
    {56, 8, FIELD_SIGNED, "PerfTime", "perf_time", "performance clock", ""},
    {64, 8, FIELD_SIGNED, "PerfFreq", "perf_freq", "ticks per second of the performance clock", ""},
    {72, 8, FIELD_SIGNED, "PerfTime100nSec", "perf_time_100ns", "100 ns since 1601-01-01 UTC", ""},
    {80, 4, FIELD_UNSIGNED, "SystemNameLength", "", "bytes of the machine's name", "inside the block, else noted"},
    {84, 4, FIELD_UNSIGNED, "SystemNameOffset", "", "where it begins in the block", "inside the block, else noted"},
};

static const field object_type[] = {
    {0, 4, FIELD_UNSIGNED, "TotalByteLength", "size", "bytes with everything inside", "64 up to what is left"},
    {4, 4, FIELD_UNSIGNED, "DefinitionLength", "", "bytes up to the first instance", "HeaderLength up to the size"},
    {8, 4, FIELD_UNSIGNED, "HeaderLength", "", "bytes up to the first counter definition", "64 up to DefinitionLength"},
    {12, 4, FIELD_TITLE, "ObjectNameTitleIndex", "object", "title index of the name", ""},
    {16, 4, FIELD_HEX, "ObjectNameTitle", "", "not used", ""},
    {20, 4, FIELD_UNSIGNED, "ObjectHelpTitleIndex", "help", "title index of the help text", ""},
    {24, 4, FIELD_HEX, "ObjectHelpTitle", "", "not used", ""},
    {28, 4, FIELD_UNSIGNED, "DetailLevel", "detail_level", "100 novice to 400 wizard", ""},
    {32, 4, FIELD_UNSIGNED, "NumCounters", "counters", "counter definitions", "at most the space for definitions / 40"},
    {36, 4, FIELD_SIGNED, "DefaultCounter", "default_counter", "position of the counter to show first", ""},
    {40, 4, FIELD_SIGNED, "NumInstances", "instances", "instances; -1: none, one counter block",
     "-3 up to the space for instances / 28"},
    {44, 4, FIELD_UNSIGNED, "CodePage", "code_page", "of the instances' names; 0: UTF-16", ""},
    {48, 8, FIELD_SIGNED, "PerfTime", "perf_time", "the object's clock", ""},
    {56, 8, FIELD_SIGNED, "PerfFreq", "perf_freq", "its ticks per second", ""},
};

static const field counter_definition[] = {
    {0, 4, FIELD_UNSIGNED, "ByteLength", "", "bytes of the definition", "40 up to what is left"},
    {4, 4, FIELD_TITLE, "CounterNameTitleIndex", "counter", "title index of the name", ""},
    {8, 4, FIELD_HEX, "CounterNameTitle", "", "not used", ""},
    {12, 4, FIELD_UNSIGNED, "CounterHelpTitleIndex", "help", "title index of the help text", ""},
    {16, 4, FIELD_HEX, "CounterHelpTitle", "", "not used", ""},
    {20, 4, FIELD_SIGNED, "DefaultScale", "default_scale", "power of ten by which charts scale it", ""},
    {24, 4, FIELD_UNSIGNED, "DetailLevel", "detail_level", "100 novice to 400 wizard", ""},
    {28, 4, FIELD_TYPE, "CounterType", "type_value", "counter type: how values are computed", ""},
    {32, 4, FIELD_UNSIGNED, "CounterSize", "bytes", "bytes of a value", "the value inside each counter block"},
    {36, 4, FIELD_UNSIGNED, "CounterOffset", "value_offset", "where it begins in a counter block",
     "4 or more; the value inside each counter block"},
};

static const field instance_definition[] = {
    {0, 4, FIELD_UNSIGNED, "ByteLength", "", "bytes with name and padding", "24 up to what is left"},
    {4, 4, FIELD_TITLE, "ParentObjectTitleIndex", "parent_object", "title index of the parent's object; 0: no parent",
     ""},
    {8, 4, FIELD_UNSIGNED, "ParentObjectInstance", "parent_instance", "position of the parent in it", ""},
    {12, 4, FIELD_SIGNED, "UniqueID", "unique_id", "id of the instance; -1: none", ""},
    {16, 4, FIELD_UNSIGNED, "NameOffset", "", "where the name begins in this structure",
     "24 or more; the name inside the instance"},
    {20, 4, FIELD_UNSIGNED, "NameLength", "", "bytes of the name with its NUL", "the name inside the instance"},
    {24, 0, FIELD_BYTES, "name", "", "at NameOffset", ""},
};

static const field counter_block[] = {
    {0, 4, FIELD_UNSIGNED, "ByteLength", "", "bytes, values included", "4 up to what is left"},
    {4, 0, FIELD_BYTES, "values", "", "at the CounterOffset of each definition", ""},
};

/* ---- Metadata -------------------------------------------------------------------------------------------- */

static const field counterset_reg_info[] = {
    {0, 16, FIELD_GUID, "CounterSetGuid", "guid", "the counterset", ""},
    {16, 4, FIELD_UNSIGNED, "CounterSetType", "", "reserved", ""},
    {20, 4, FIELD_UNSIGNED, "DetailLevel", "detail_level", "100 novice to 400 wizard", ""},
    {24, 4, FIELD_UNSIGNED, "NumCounters", "counters", "counters that follow", "at most (bytes - 32) / 48"},
    {28, 4, FIELD_BITS, "InstanceType", "instance_type", "single or multiple instances", ""},
    {32, 0, FIELD_BYTES, "counters", "", "a PERF_COUNTER_REG_INFO each", ""},
};

static const field counter_reg_info[] = {
    {0, 4, FIELD_UNSIGNED, "CounterId", "counter", "id in replies", ""},
    {4, 4, FIELD_TYPE, "Type", "type_value", "counter type: how values are computed", ""},
    {8, 8, FIELD_BITS, "Attrib", "attributes", "attributes, bits", ""},
    {16, 4, FIELD_UNSIGNED, "DetailLevel", "detail_level", "100 novice to 400 wizard", ""},
    {20, 4, FIELD_SIGNED, "DefaultScale", "default_scale", "power of ten by which charts scale it", ""},
    {24, 4, FIELD_ID, "BaseCounterId", "base", "counter of the base", ""},
    {28, 4, FIELD_ID, "PerfTimeId", "perf_time", "counter of the time", ""},
    {32, 4, FIELD_ID, "PerfFreqId", "perf_freq", "counter of the frequency", ""},
    {36, 4, FIELD_ID, "MultiId", "multi", "counter of the multiplier", ""},
    {40, 4, FIELD_UNSIGNED, "AggregateFunc", "aggregate", "how instances are summed up", ""},
    {44, 4, FIELD_UNSIGNED, "Reserved", "", "not used", ""},
};

static const field string_buffer[] = {
    {0, 4, FIELD_UNSIGNED, "dwSize", "", "bytes of the block", "8 up to the input's size"},
    {4, 4, FIELD_UNSIGNED, "dwCounters", "", "entries that follow", "at most (size - 8) / 8"},
    {8, 0, FIELD_BYTES, "entries", "", "then the strings: UTF-16 with NUL", ""},
};

static const field string_counter[] = {
    {0, 4, FIELD_UNSIGNED, "dwCounterId", "", "counter", ""},
    {4, 4, FIELD_ID, "dwOffset", "", "where its string begins in the block",
     "after the entries; the string's NUL in the block"},
};

static const field identifier[] = {
    {0, 16, FIELD_GUID, "CounterSetGuid", "guid", "the counterset", ""},
    {16, 4, FIELD_STATUS, "Status", "status", "Win32 error code", ""},
    {20, 4, FIELD_UNSIGNED, "Size", "size", "bytes, name included", "40 up to what is left; the name's NUL inside"},
    {24, 4, FIELD_ID, "CounterId", "counter", "counter", ""},
    {28, 4, FIELD_ID, "InstanceId", "instance", "instance", ""},
    {32, 4, FIELD_UNSIGNED, "Index", "index", "position of its result in replies", ""},
    {36, 4, FIELD_UNSIGNED, "Reserved", "", "not used", ""},
    {40, 0, FIELD_BYTES, "name", "", "UTF-16 with NUL", ""},
};

/* ---- Captures -------------------------------------------------------------------------------------------- */

static const field chunk[] = {
    {0, 4, FIELD_ASCII, "tag", "tag", "what the chunk holds", "PFBC first; unknown ones are skipped"},
    {4, 4, FIELD_UNSIGNED, "version", "version", "1", "at most 1, else skipped; of PFBC an error"},
    {8, 8, FIELD_UNSIGNED, "size", "size", "bytes that follow, without padding to a multiple of 8",
     "the chunk with its padding inside the file"},
    {16, 0, FIELD_BYTES, "payload", "", "see the tags", ""},
};

/* ---- Perfmon logs ---------------------------------------------------------------------------------------- */

/* Microsoft publishes no names for the fields of log records. The names here are those of docs/log.md. */

static const field log_buffer[] = {
    {0, 4, FIELD_UNSIGNED, "size", "", "bytes of the buffer; 65,536 in all captured logs",
     "72 or more, a multiple of 8"},
    {4, 44, FIELD_BYTES, "", "", "ignored", ""},
    {48, 4, FIELD_UNSIGNED, "used", "", "bytes of this header and the events", "72 up to the size; inside the file"},
    {52, 20, FIELD_BYTES, "", "", "ignored", ""},
    {72, 0, FIELD_BYTES, "events", "", "in the first buffer the log header before them", ""},
};

static const field log_header[] = {
    {0, 2, FIELD_BYTES, "", "", "ignored", ""},
    {2, 2, FIELD_HEX, "marker", "", "0xC001 or 0xC002", "0xC001 or 0xC002"},
    {4, 2, FIELD_UNSIGNED, "event size", "", "bytes of this event", "its header up to what is left"},
    {6, 10, FIELD_BYTES, "", "", "ignored", ""},
    {16, 8, FIELD_TIME, "start", "start_time", "UTC", ""},
    {24, 8, FIELD_BYTES, "", "", "ignored", ""},
    {32, 4, FIELD_UNSIGNED, "buffer size", "", "bytes of each buffer", "that of the first buffer"},
    {36, 1, FIELD_UNSIGNED, "major", "", "major version of Windows", ""},
    {37, 1, FIELD_UNSIGNED, "minor", "", "minor version of Windows", ""},
    {38, 2, FIELD_BYTES, "", "", "ignored", ""},
    {40, 4, FIELD_UNSIGNED, "build", "build", "build of Windows", ""},
    {44, 4, FIELD_BYTES, "", "", "ignored", ""},
    {48, 8, FIELD_TIME, "end", "end_time", "UTC", ""},
    {56, 12, FIELD_BYTES, "", "", "ignored", ""},
    {68, 4, FIELD_UNSIGNED, "buffers", "buffers", "number of buffers in the log", "at most those of the file"},
    {72, 4, FIELD_BYTES, "", "", "ignored", ""},
    {76, 4, FIELD_UNSIGNED, "pointer size", "pointer_size", "P: 4 or 8 bytes; the time zone is at 88 + 2 P", "4 or 8"},
};

static const field log_zone[] = {
    {0, 4, FIELD_SIGNED, "Bias", "bias", "minutes: UTC = local time + bias + that of standard or daylight saving time",
     ""},
    {4, 64, FIELD_UTF16, "StandardName", "standard_name", "name of standard time", ""},
    {68, 16, FIELD_SYSTEM_TIME, "StandardDate", "", "when it begins", ""},
    {84, 4, FIELD_SIGNED, "StandardBias", "standard_bias", "minutes", ""},
    {88, 64, FIELD_UTF16, "DaylightName", "daylight_name", "name of daylight saving time", ""},
    {152, 16, FIELD_SYSTEM_TIME, "DaylightDate", "", "when it begins", ""},
    {168, 4, FIELD_SIGNED, "DaylightBias", "daylight_bias", "minutes", ""},
};

static const field log_event[] = {
    {0, 2, FIELD_UNSIGNED, "event size", "", "bytes, payload included; the next event begins at a multiple of 8",
     "72 up to what is left"},
    {2, 2, FIELD_HEX, "marker", "", "0xC014 or 0xC00A",
     "0xC014 or 0xC00A, else the rest of the buffer is skipped and noted"},
    {4, 2, FIELD_HEX, "type", "", "of the record: 0x20 paths, 0x22 sample, 0x23 summary, 0x24 names",
     "0x20, 0x22, 0x23 or 0x24, else skipped and noted"},
    {6, 10, FIELD_BYTES, "", "", "ignored", ""},
    {16, 8, FIELD_TIME, "time", "time", "local time", ""},
    {24, 16, FIELD_GUID, "GUID", "", "of perfmon's events: 933f3bb3-943e-490d-9ced-3cbb14c14479",
     "that of perfmon's events, else skipped and noted"},
    {40, 24, FIELD_BYTES, "", "", "ignored", ""},
    {64, 4, FIELD_UNSIGNED, "part", "", "number of the part in its record, from 1",
     "1, or one more than in the previous event"},
    {68, 4, FIELD_UNSIGNED, "parts", "parts", "number of parts of the record",
     "1 or more; the same in all parts of a record"},
    {72, 0, FIELD_BYTES, "payload", "", "a part of a record", ""},
};

static const field log_paths[] = {
    {0, 8, FIELD_BYTES, "", "", "meaning unknown", ""},
    {8, 0, FIELD_BYTES, "paths", "", "entries", ""},
};

static const field log_path[] = {
    {0, 4, FIELD_UNSIGNED, "size", "", "bytes, strings included", "52 up to what is left"},
    {4, 4, FIELD_HEX, "flags", "flags", "1 all instances, 0x10 all counters", ""},
    {8, 4, FIELD_UNSIGNED, "user data", "user_data", "number that the recording program gave the counter", ""},
    {12, 4, FIELD_TYPE, "type", "type_value", "counter type: how values are computed", ""},
    {16, 8, FIELD_UNSIGNED, "frequency", "frequency", "ticks per second of the clock that the type divides by", ""},
    {24, 4, FIELD_SIGNED, "default scale", "default_scale", "power of ten by which charts scale it", ""},
    {28, 4, FIELD_ID, "machine", "", "offset of the string from byte 52 of the path", "inside the entry, with NUL"},
    {32, 4, FIELD_ID, "object", "", "the same", "inside the entry, with NUL"},
    {36, 4, FIELD_ID, "instance", "", "the same", "inside the entry, with NUL"},
    {40, 4, FIELD_ID, "parent", "", "the same", "inside the entry, with NUL"},
    {44, 4, FIELD_ID, "instance index", "", "among instances of one name", ""},
    {48, 4, FIELD_ID, "counter", "", "offset of the string", "inside the entry, with NUL"},
    {52, 0, FIELD_BYTES, "strings", "", "UTF-16 with NUL", ""},
};

static const field log_sample[] = {
    {0, 4, FIELD_HEX, "signature", "", "\"BL\" 03 00", "bytes 42 4C 03 00"},
    {4, 4, FIELD_UNSIGNED, "size", "", "bytes of the sample", "8 up to the record's size"},
    {8, 0, FIELD_BYTES, "items", "", "the n-th belongs to the n-th path", ""},
};

static const field log_item[] = {
    {0, 2, FIELD_ASCII, "signature", "", "BL", "BL"},
    {2, 1, FIELD_UNSIGNED, "version", "", "3", "3"},
    {3, 1, FIELD_UNSIGNED, "kind", "kind", "1 counter, 2 instances, 5 a V1 block with one object",
     "1, 2 or 5, else skipped and noted"},
    {4, 4, FIELD_UNSIGNED, "size", "", "bytes of the item", "that of its kind up to what is left"},
    {8, 0, FIELD_BYTES, "content", "", "by kind; of kind 5 a V1 block", ""},
};

static const field log_counter[] = {
    {8, 4, FIELD_PDH_STATUS, "status", "status", "whether there is a value", ""},
    {12, 8, FIELD_TIME, "time", "time", "local time", ""},
    {20, 4, FIELD_BYTES, "", "", "meaning unknown", ""},
    {24, 8, FIELD_UNSIGNED, "first value", "first", "raw value", ""},
    {32, 8, FIELD_UNSIGNED, "second value", "second", "clock, or base", ""},
    {40, 4, FIELD_UNSIGNED, "multi count", "multi_count", "of multi counters", ""},
    {44, 4, FIELD_BYTES, "", "", "meaning unknown", ""},
};

static const field log_instances[] = {
    {8, 4, FIELD_UNSIGNED, "content size", "", "bytes from here on; not read, because the item has its size", ""},
    {12, 4, FIELD_UNSIGNED, "instances", "instances", "number of instances that follow", "they fit the item"},
    {16, 4, FIELD_PDH_STATUS, "status", "status", "whether there are values", ""},
    {20, 4, FIELD_BYTES, "", "", "meaning unknown", ""},
    {24, 8, FIELD_TIME, "time", "time", "local time", ""},
    {32, 0, FIELD_BYTES, "content", "", "instances, then their names", ""},
};

static const field log_instance[] = {
    {0, 4, FIELD_UNSIGNED, "name", "", "offset of the name from byte 8 of the item",
     "after the instances, with NUL in the item"},
    {4, 4, FIELD_PDH_STATUS, "status", "status", "whether there is a value", ""},
    {8, 8, FIELD_UNSIGNED, "first value", "first", "raw value", ""},
    {16, 8, FIELD_UNSIGNED, "second value", "second", "clock, or base", ""},
};

static const field log_summary[] = {
    {0, 8, FIELD_TIME, "first time", "first_time", "local time", ""},
    {8, 8, FIELD_TIME, "last time", "last_time", "local time", ""},
    {16, 4, FIELD_UNSIGNED, "samples", "samples", "number of samples", ""},
};

/* ---- Lightweight Profiling ------------------------------------------------------------------------------- */

static const field lwp_snapshot[] = {
    {0, 4, FIELD_HEX, "EAX", "", "of CPUID leaf 8000001C", ""},
    {4, 4, FIELD_HEX, "EBX", "", "the same", "record size 24 or more, a multiple of 8"},
    {8, 4, FIELD_HEX, "ECX", "", "the same", ""},
    {12, 4, FIELD_HEX, "EDX", "", "the same", "bit 0 is set"},
    {16, 8, FIELD_UNSIGNED, "size", "", "bytes of the control block, which follows", "at most what is left"},
};

static const field lwp_control[] = {
    {0, 4, FIELD_HEX, "Flags", "flags",
     "bit n enables EventId n; 29 continuous mode, 30 time stamps, 31 threshold interrupt", "other bits are noted"},
    {4, 4, FIELD_HEX, "BufferSize", "",
     "bits 27:0 bytes of the ring; Random, bits 31:28: low bits of a counter that are random after a reload",
     "two records or more, inside the ring"},
    {8, 8, FIELD_HEX, "BufferBase", "buffer_base", "address of the ring", "a ring past the address space is noted"},
    {16, 4, FIELD_UNSIGNED, "BufferHeadOffset", "head", "where the next record goes; written by the processor",
     "inside the ring, at a record, else adjusted and noted"},
    {20, 4, FIELD_HEX, "", "", "reserved", "0, else noted"},
    {24, 8, FIELD_UNSIGNED, "MissedEvents", "missed", "records lost to a full ring; written by the processor", ""},
    {32, 4, FIELD_UNSIGNED, "Threshold", "threshold_bytes", "bytes in use that raise the interrupt",
     "whole records inside the ring, else noted"},
    {36, 4, FIELD_HEX, "Filters", "filters", "which events are recorded", ""},
    {40, 8, FIELD_HEX, "BaseIP", "base_ip", "first address of the filter range (recalled)", ""},
    {48, 8, FIELD_HEX, "LimitIP", "limit_ip", "last one (recalled)", ""},
    {56, 8, FIELD_HEX, "", "", "reserved", "0, else noted"},
    {64, 4, FIELD_UNSIGNED, "BufferTailOffset", "tail", "the oldest unread record; written by the reader",
     "inside the ring, at a record"},
    {68, 4, FIELD_HEX, "", "", "reserved", "0, else noted"},
    {72, 0, FIELD_BYTES, "", "", "for software, up to the leaf's event_offset (recalled)", ""},
    {72, 0, FIELD_BYTES, "pairs", "",
     "from the leaf's event_offset on: interval and counter of each EventId from 1, a u32 each, bits 25:0 signed; "
     "counters are also written by the processor",
     ""},
};

static const field lwp_event[] = {
    {0, 1, FIELD_UNSIGNED, "EventId", "id", "kind of the record", "255, or 1 to 6 and in EDX; else noted"},
    {1, 1, FIELD_UNSIGNED, "CoreId", "core", "the processor's number, as its system set it", ""},
    {2, 2, FIELD_HEX, "flags", "flags", "by EventId", "reserved bits are noted"},
    {4, 4, FIELD_BITS, "data 1", "data1", "by EventId", "reserved bits are noted"},
    {8, 8, FIELD_HEX, "address", "address", "of the instruction", ""},
    {16, 8, FIELD_HEX, "data 2", "data2", "by EventId", "reserved bits are noted"},
    {24, 8, FIELD_UNSIGNED, "time stamp", "stamp", "if Flags enables it and the leaf supports it; else reserved",
     "0 if reserved, else noted"},
};

/* ---- Cycles per instruction ------------------------------------------------------------------------------ */

static const field cpi_hook[] = {
    {0, 2, FIELD_HEX, "length and type", "",
     "bytes of the record, a multiple of 4, or'ed with the type in bits 1:0: 0 words, 2 words and a string",
     "12 up to what is left; 2 for labels, 0 for others"},
    {2, 2, FIELD_HEX, "major", "", "code 0xC0; records with other codes are skipped", "1 to 255"},
    {4, 4, FIELD_HEX, "minor", "",
     "bits 31:28 kind: 0 label at start, 1 summary, 2 thread, 4 processors, 8 system, F label at end; 27:8 zero; 7:0 "
     "the writer's own code",
     "kind 0, 1, 2, 4, 8 or F; the code is that of the group"},
    {8, 4, FIELD_UNSIGNED, "time stamp", "stamp", "low 32 bits; 0 when there is none",
     "a warning if smaller than that of the previous hook with one"},
    {12, 0, FIELD_BYTES, "words", "", "of 32 bits, by kind", ""},
};

static const field cpi_label[] = {
    {12, 4, FIELD_UNSIGNED, "integers", "", "2", "2"},
    {16, 8, FIELD_HIGH_LOW, "elapsed", "", "cycles, the same in all hooks of a group", "that of the group"},
    {24, 4, FIELD_UNSIGNED, "length", "", "bytes of the label", "1 to 255, of exactly this record"},
    {28, 0, FIELD_BYTES, "label", "", "without NUL; zeros up to a multiple of 4", ""},
};

static const field cpi_summary[] = {
    {12, 4, FIELD_HEX, "flags", "", "1 raw, always set; 2 scaled; 4 thread", "bit 0 set, bits 31:3 clear"},
    {16, 4, FIELD_UNSIGNED, "n", "num_cpus", "number of CPUs", "1 to 1024; the length follows from n and the flags"},
    {20, 8, FIELD_HIGH_LOW, "elapsed", "", "cycles", "that of the group"},
    {28, 0, FIELD_BYTES, "figures", "",
     "n times CPI, that of the system; scaled: n times scaled CPI and busy, those of the system; thread: its CPI", ""},
};

static const field cpi_system[] = {
    {12, 4, FIELD_HEX, "flags", "", "1 raw, always set; 2 scaled",
     "bit 0 set, bits 31:2 clear; scaled as in the summary"},
    {16, 8, FIELD_HIGH_LOW, "elapsed", "", "cycles", "that of the group"},
    {24, 0, FIELD_BYTES, "counts", "", "of the system; scaled: followed by its scaled counts", ""},
};

static const field cpi_processors[] = {
    {12, 4, FIELD_HEX, "flags", "", "1 raw, always set; 2 scaled", "those of the system hook"},
    {16, 4, FIELD_UNSIGNED, "n", "num_cpus", "number of CPUs",
     "1 to 1024, that of the summary; the length follows from n and the flags"},
    {20, 8, FIELD_HIGH_LOW, "elapsed", "", "cycles", "that of the group"},
    {28, 0, FIELD_BYTES, "counts", "", "n times; scaled: each followed by its scaled counts",
     "instructions, cycles and scaled cycles add up to those of the system"},
};

static const field cpi_thread[] = {
    {12, 4, FIELD_UNSIGNED, "thread id", "tid", "the operating system's number of the thread", ""},
    {16, 8, FIELD_HIGH_LOW, "elapsed", "", "cycles", "that of the group"},
    {24, 0, FIELD_BYTES, "counts", "", "of the thread", ""},
};

static const field cpi_counts[] = {
    {0, 8, FIELD_HIGH_LOW, "instructions", "", "retired", ""},
    {8, 8, FIELD_HIGH_LOW, "cycles", "", "those of CPUs and of the system include idle cycles", ""},
    {16, 8, FIELD_FIGURE, "CPI", "", "cycles / instructions", "a figure; a warning if it differs by more than 0.0001"},
};

static const field cpi_scaled_counts[] = {
    {0, 8, FIELD_HIGH_LOW, "scaled cycles", "", "those that were not idle", ""},
    {8, 8, FIELD_FIGURE, "scaled CPI", "", "scaled cycles / instructions",
     "a figure; a warning if it differs by more than 0.0001"},
    {16, 8, FIELD_FIGURE, "busy", "", "percent", "a figure, at most 100"},
};

static const field no_fields[] = {{0, 0, FIELD_BYTES, "", "", "", ""}};

#define TABLE(id, name, size, fields, colour) {name, size, fields, sizeof(fields) / sizeof *(fields), colour},

const field_table field_tables[STRUCTURE_COUNT] = {FIELD_STRUCTURES(TABLE)};

/* ---- Values ---------------------------------------------------------------------------------------------- */

uint64_t field_unsigned(const uint8_t *data, size_t size, bool is_big_endian)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)data[is_big_endian ? size - 1 - i : i] << 8 * i;
    return value;
}

/* A number in two's complement. */
static int64_t read_signed(const uint8_t *data, size_t size, bool is_big_endian)
{
    uint64_t value = field_unsigned(data, size, is_big_endian);
    uint64_t greatest = size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX; /* all bits set, which means -1 */
    return value <= greatest / 2 ? (int64_t)value : -(int64_t)(greatest - value) - 1;
}

static void write_system_time(output *out, const char *key, const uint8_t *data, bool is_big_endian)
{
    char text[NAMES_TIME_BYTES];
    uint16_t p[8];
    for (size_t i = 0; i < 8; i++)
        p[i] = (uint16_t)field_unsigned(data + 2 * i, 2, is_big_endian);
    output_word(out, key, names_of_time(&(pfb_system_time){p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]}, text));
}

/* Writes UTF-16 up to the first NUL; all of it if there is no NUL. */
static void write_text(output *out, const char *key, const uint8_t *data, size_t size, bool is_big_endian)
{
    size_t used = 0;
    while (used + 1 < size && (data[used] != 0 || data[used + 1] != 0))
        used += 2;
    output_name(out, key, (pfb_name){data, used, is_big_endian ? PFB_ENCODING_UTF16BE : PFB_ENCODING_UTF16LE});
}

/* Words that are not a valid figure are written as two numbers. */
static void write_figure(output *out, const char *key, uint32_t integral, uint32_t fraction)
{
    enum { PLACES = 10000 };
    char text[24];
    bool is_figure = integral != PFB_CPI_UNDEFINED && fraction < PLACES;
    snprintf(text, sizeof text, is_figure ? "%" PRIu32 ".%04" PRIu32 : "%" PRIu32 ", %" PRIu32, integral, fraction);
    output_word(out, key, integral == PFB_CPI_UNDEFINED && fraction == PFB_CPI_UNDEFINED ? "undefined" : text);
}

static void write_guid(output *out, const char *key, const uint8_t *data)
{
    pfb_guid guid;
    char text[PFB_GUID_TEXT_BYTES];
    memcpy(guid.bytes, data, sizeof guid.bytes);
    pfb_guid_format(&guid, text);
    output_word(out, key, text);
}

void field_write(output *out, const char *key, field_kind kind, const uint8_t *data, size_t size, bool is_big_endian)
{
    uint64_t value = size <= 8 ? field_unsigned(data, size, is_big_endian) : 0;
    char status[NAMES_STATUS_BYTES];
    switch (kind) {
    case FIELD_UNSIGNED:
    case FIELD_BITS:
    case FIELD_STATUS:
    case FIELD_TYPE:
    case FIELD_TITLE:
    case FIELD_TIME:
        output_unsigned(out, key, value);
        break;
    case FIELD_SIGNED:
        output_signed(out, key, read_signed(data, size, is_big_endian));
        break;
    case FIELD_HEX:
        output_hex(out, key, value);
        break;
    case FIELD_ID:
        if (value == PFB_NO_ID)
            output_null(out, key);
        else
            output_unsigned(out, key, value);
        break;
    case FIELD_RESULT:
        output_word(out, key, names_of_kind((uint32_t)value));
        break;
    case FIELD_GUID:
        write_guid(out, key, data);
        break;
    case FIELD_SYSTEM_TIME:
        write_system_time(out, key, data, is_big_endian);
        break;
    case FIELD_PDH_STATUS:
        output_word(out, key, names_of_pdh_status((uint32_t)value, status));
        break;
    case FIELD_HIGH_LOW:
        output_unsigned(out, key, value << 32 | value >> 32);
        break;
    case FIELD_FIGURE:
        write_figure(out, key, (uint32_t)value, (uint32_t)(value >> 32));
        break;
    case FIELD_ASCII:
        output_bytes(out, key, (const char *)data, size);
        break;
    case FIELD_UTF16:
        write_text(out, key, data, size, is_big_endian);
        break;
    case FIELD_BYTES:
        break;
    }
}
