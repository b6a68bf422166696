/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_MATCH_H
#define PFB_COLLECT_MATCH_H

#include "collect/titles.h"
#include "perfblock/name.h"

/* Compares the patterns of a choice with names in the data. Patterns are UTF-8 with * and ?; the case of A to Z is
 * ignored. */

/* Returns true if the name exists and the pattern matches it. A name of more than 2048 bytes, which is PDH's limit of
 * 1024 UTF-16 units, matches only "*": hostile input can give one long name to many counters, and each of them would be
 * compared with the whole name. */
bool pfb_match_name(const char *pattern, const pfb_name *name);

/* Returns true if the pattern matches a string in ASCII. */
bool pfb_match_ascii(const char *pattern, const char *text);

/* Like pfb_match_name, but "*" also matches an absent name: paths of logs may lack one. */
bool pfb_match_log_name(const char *pattern, const pfb_name *name);

/* Returns true if the pattern of a machine, with two backslashes, matches a name with or without them. */
bool pfb_match_machine(const char *pattern, const pfb_name *machine);

/* Returns true if the pattern matches the name of a V1 title index or is this index in decimal. If the index has no
 * name, a pattern with wildcards may also match its digits. */
bool pfb_match_title(titles *t, const char *pattern, uint32_t title);

/* Returns the catalog's name if the text is the GUID of a catalog counterset, else the text. For V1 data and logs,
 * which have no GUIDs. */
const char *pfb_match_catalog_name(const char *requested);

#endif
