/* SPDX-License-Identifier: MIT */
#include "source/source_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory ------------------------------------------------------------------------------------------- */

void pfb_bytes_free(pfb_bytes *bytes)
{
    free(bytes->data);
    *bytes = (pfb_bytes){0};
}

bool pfb_bytes_reserve(pfb_bytes *bytes, size_t capacity)
{
    if (capacity <= bytes->capacity_bytes)
        return true;
    void *grown = pfb_source_grow(bytes->data, &bytes->capacity_bytes, capacity, 1);
    if (!grown)
        return false;
    bytes->data = grown;
    return true;
}

bool pfb_bytes_append(pfb_bytes *bytes, const void *data, size_t size)
{
    if (size == 0)
        return true;
    if (size > SIZE_MAX - bytes->size_bytes || !pfb_bytes_reserve(bytes, bytes->size_bytes + size))
        return false;
    memcpy(bytes->data + bytes->size_bytes, data, size);
    bytes->size_bytes += size;
    return true;
}

/* ---- Opening ------------------------------------------------------------------------------------------- */

struct pfb_source {
    const pfb_source_operations *operations;
    void *context;
};

struct pfb_source_query {
    const pfb_source_operations *operations;
    void *query;
};

pfb_source *pfb_source_make(const pfb_source_operations *operations, void *context, pfb_source_failure *failure)
{
    pfb_source *source = malloc(sizeof *source);
    if (!source) {
        operations->close(context);
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *source = (pfb_source){.operations = operations, .context = context};
    return source;
}

void pfb_source_close(pfb_source *source)
{
    if (!source)
        return;
    source->operations->close(source->context);
    free(source);
}

bool pfb_source_is_recorded(const pfb_source *source)
{
    return source->operations->is_recorded && source->operations->is_recorded(source->context);
}

uint64_t pfb_source_file(const pfb_source *source)
{
    return source->operations->file ? source->operations->file(source->context) : 1;
}

/* ---- Dispatch ------------------------------------------------------------------------------------------- */

bool pfb_source_countersets(pfb_source *source, pfb_bytes *bytes, pfb_source_failure *failure)
{
    bytes->size_bytes = 0;
    return source->operations->countersets(source->context, bytes, failure);
}

bool pfb_source_registration(pfb_source *source, const pfb_guid *counterset, uint32_t request, uint32_t language,
                             pfb_bytes *bytes, pfb_source_failure *failure)
{
    bytes->size_bytes = 0;
    return source->operations->registration(source->context, counterset, request, language, bytes, failure);
}

bool pfb_source_instances(pfb_source *source, const pfb_guid *counterset, pfb_bytes *bytes, pfb_source_failure *failure)
{
    bytes->size_bytes = 0;
    return source->operations->instances(source->context, counterset, bytes, failure);
}

pfb_source_query *pfb_source_query_open(pfb_source *source, pfb_source_failure *failure)
{
    pfb_source_query *query = malloc(sizeof *query);
    if (!query) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *query = (pfb_source_query){.operations = source->operations,
                                .query = source->operations->query_open(source->context, failure)};
    if (!query->query) {
        free(query);
        return NULL;
    }
    return query;
}

void pfb_source_query_close(pfb_source_query *query)
{
    if (!query)
        return;
    query->operations->query_close(query->query);
    free(query);
}

bool pfb_source_query_add(pfb_source_query *query, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return query->operations->query_add(query->query, blocks, size, failure);
}

bool pfb_source_query_remove(pfb_source_query *query, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return query->operations->query_remove(query->query, blocks, size, failure);
}

bool pfb_source_query_info(pfb_source_query *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    bytes->size_bytes = 0;
    return query->operations->query_info(query->query, bytes, failure);
}

bool pfb_source_query_collect(pfb_source_query *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    bytes->size_bytes = 0;
    return query->operations->query_collect(query->query, bytes, failure);
}

/* Returns true if the query is printable ASCII and not empty, which implementations rely on. */
static bool is_v1_query(const char *query)
{
    const char *at = query;
    while (*at >= ' ' && *at <= '~')
        at++;
    return *at == '\0' && at != query;
}

bool pfb_source_v1(pfb_source *source, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    bytes->size_bytes = 0;
    if (!is_v1_query(query))
        return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "a V1 query is printable ASCII, and not empty");
    return source->operations->v1(source->context, query, bytes, failure);
}
