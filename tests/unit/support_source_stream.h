/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_SOURCE_STREAM_H
#define PFB_TEST_SUPPORT_SOURCE_STREAM_H

/* Shared by the tests of streams of sources. */
#include "perfblock/collect.h"

/* Displayed values, one a line; the caller frees them. */
typedef struct text_rows {
    char *bytes;
    size_t size;
} text_rows;

/* Store the values of up to `sample_count` samples of the counters of these paths, of which null is the last one: what
 * a collector displays of a query for everything that the source has, and what it displays of the stream of the source.
 * Close the source. */
void source_values(text_rows *rows, pfb_source *source, bool is_v1, const char *const *paths, size_t sample_count);
void stream_values(text_rows *rows, pfb_source *source, bool is_v1, const char *const *paths, size_t sample_count);

#endif
