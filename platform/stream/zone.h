/* SPDX-License-Identifier: MIT */
#ifndef PFB_STREAM_ZONE_H
#define PFB_STREAM_ZONE_H

/* The name of a time zone in the header of a log. */
#include "select/code_page.h"

#include <string.h>

/* Names of Windows have at most 32 UTF-16 units. */
enum { PFB_ZONE_NAME_BYTES = 128 };

typedef struct zone_name {
    const char *text; /* in `bytes`; null: none */
    char bytes[PFB_ZONE_NAME_BYTES];
} zone_name;

/* Copies a name as UTF-8. One that is empty, longer or contains NULs is none. */
static inline void pfb_zone_name_set(zone_name *zone, const pfb_name *name)
{
    size_t size = name->bytes ? pfb_code_page_to_utf8(name, zone->bytes, sizeof zone->bytes) : 0;
    zone->text = NULL;
    if (size == 0 || size >= sizeof zone->bytes || memchr(zone->bytes, 0, size))
        return;
    zone->text = zone->bytes;
}

#endif
