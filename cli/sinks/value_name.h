/* SPDX-License-Identifier: MIT */
#ifndef CLI_VALUE_NAME_H
#define CLI_VALUE_NAME_H

#include "memory/buffer.h"
#include "perfblock/collect.h"

/* Names and counter paths of displayed values. */

/* Names in tables and charts are cut after this many characters. */
enum { SINK_LONGEST_NAME = 200 };

/* Names in the keys of series (series.h) are cut after the 1024 characters that PDH allows (PDH_MAX_COUNTER_NAME,
 * PDH_MAX_INSTANCE_NAME). Each key is a copy, and many counters of a file may share the bytes of one long name: without
 * a limit, memory would be quadratic in the size of the file. */
enum { SINK_LONGEST_PART = 1024 };

/* Appends the name of the counterset or object. If it has none, appends the title index, the GUID, or the position of
 * the result. */
void sink_put_set_name(buffer *out, const pfb_series *s);

/* Appends the names of an instance and its parent. If several instances have the same name, those after the first one
 * are numbered: "parent/child#2". Appends "value" if the counterset has no instances. */
void sink_put_row_name(buffer *out, const pfb_series *s);

/* Appends the name of a counter, or its id or position if it has no name. */
void sink_put_column_name(buffer *out, const pfb_series *s);

/* Appends at most `max_characters` characters of the name of the machine. A name that does not begin with a backslash
 * is preceded by two. */
void sink_put_machine(buffer *out, const pfb_series *s, size_t max_characters);

/* Each function appends a part of the counter path, \\MACHINE\Object(parent/instance#n)\Counter. Machines, parents and
 * instances without a name are left out. Countersets and counters without a name are written as by sink_put_set_name()
 * and sink_put_column_name(); in a log, a counterset without a name is left out. Each name is cut after
 * SINK_LONGEST_PART characters. */
void sink_put_set_path(buffer *out, const pfb_series *s);      /* \\MACHINE\Object */
void sink_put_instance_path(buffer *out, const pfb_series *s); /* all but the counter */
void sink_put_counter(buffer *out, const pfb_series *s);       /* the counter */

#endif
