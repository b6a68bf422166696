/* SPDX-License-Identifier: MIT */
#ifndef CLI_VALUE_NAME_H
#define CLI_VALUE_NAME_H

#include "memory/buffer.h"
#include "perfblock/collect.h"

/* Names and counter paths of displayed values. */

/* Names in tables and charts are cut after this many characters. */
enum { VALUES_LONGEST_NAME = 200 };

/* Names in the keys of series (series.h) are cut after the 1024 characters that PDH allows (PDH_MAX_COUNTER_NAME,
 * PDH_MAX_INSTANCE_NAME): each key is a copy, and in a file many counters may share the bytes of one long name. */
enum { VALUES_LONGEST_PART = 1024 };

/* Appends the name of a result's counterset or object. `position` is that of the result. */
void values_put_set_name(buffer *out, const pfb_collected_result *result, uint32_t position);

/* Appends the name of an instance after that of its parent. If several instances have the same name, those after the
 * first are numbered: "parent/child#2". */
void values_put_row_name(buffer *out, const pfb_collected_value *v);

/* Appends the name of a counter. */
void values_put_column_name(buffer *out, const pfb_collected_value *v);

/* Appends at most `max_characters` characters of the name of the value's machine. Two backslashes are put before a name
 * that does not begin with one. */
void values_put_machine(buffer *out, const pfb_collected_value *v, size_t max_characters);

/* Appends a part of the counter path of a value, \\MACHINE\Object(parent/instance#n)\Counter. Names that do not exist
 * are left out. A counter without a name is written as its number; so is a counterset, but in a log (is_log) it is left
 * out. Each name is cut after VALUES_LONGEST_PART characters. */
void values_put_set_path(buffer *out, const pfb_collected_value *v, bool is_log);      /* \\MACHINE\Object */
void values_put_instance_path(buffer *out, const pfb_collected_value *v, bool is_log); /* all before the counter */
void values_put_counter(buffer *out, const pfb_collected_value *v);

#endif
