/* SPDX-License-Identifier: MIT */
/* A simulated machine: a live source that is linked into the program instead of that of the system. Its data comes from
 * the capture that the environment variable PERFBLOCK_MACHINE names: V2 data if the capture has any, and V1 blocks,
 * from which it returns the requested objects as HKEY_PERFORMANCE_DATA does. */
#include "../unit/support_replay.h"
#include "perfblock/capture.h"
#include "perfblock/live.h"
#include "perfblock/source.h"
#include "perfblock/v1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* On Windows the query "Global" excludes costly objects. Here those are the objects with a title index from COSTLY on.
 */
enum { COSTLY = 1000 };

/* Offsets in PERF_DATA_BLOCK. */
enum { TOTAL_OFFSET = 20, HEADER_OFFSET = 24, COUNT_OFFSET = 28 };

typedef struct machine {
    pfb_bytes file;
    pfb_source *v2;   /* null if the capture has no V2 data */
    bool has_no_list; /* no list of countersets, and no registrations */
    pfb_capture at;   /* position after the last V1 block that was returned */
} machine;

static bool refuse(pfb_source_failure *failure, uint32_t code, const char *sentence)
{
    if (failure) {
        failure->code = code;
        snprintf(failure->sentence, sizeof failure->sentence, "%s", sentence);
    }
    return false;
}

/* ---- V1 ----------------------------------------------------------------------------------------------------- */

static bool is_requested(const char *query, uint32_t title)
{
    if (strcmp(query, "Global") == 0)
        return title < COSTLY;
    for (const char *at = query; *at != '\0';) {
        char *end;
        if (strtoul(at, &end, 10) == title)
            return true;
        at = *end == ' ' ? end + 1 : end + strlen(end);
    }
    return false;
}

static void put_le32(uint8_t *at, size_t value)
{
    for (size_t i = 0; i < sizeof(uint32_t); i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* Appends the block with only those objects that the query requests. Appends a malformed block unchanged. */
static bool append_requested(const uint8_t *block, size_t size, const char *query, pfb_bytes *bytes)
{
    pfb_v1_reader reader;
    pfb_v1_object object;
    uint32_t count = 0;
    pfb_v1_open(&reader, block, size, NULL);
    while (pfb_v1_next_object(&reader, &object))
        continue;
    if (reader.error.code != PFB_OK)
        return pfb_bytes_append(bytes, block, size);
    size_t header = block[HEADER_OFFSET] | (size_t)block[HEADER_OFFSET + 1] << 8;
    bool has_memory = pfb_bytes_append(bytes, block, header);
    pfb_v1_open(&reader, block, size, NULL);
    while (has_memory && pfb_v1_next_object(&reader, &object)) {
        if (!is_requested(query, object.title_index))
            continue;
        has_memory = pfb_bytes_append(bytes, block + object.offset, object.size_bytes);
        count++;
    }
    put_le32(bytes->data + TOTAL_OFFSET, bytes->size_bytes);
    put_le32(bytes->data + COUNT_OFFSET, count);
    return has_memory;
}

static bool append_names(const machine *m, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    pfb_capture capture;
    pfb_chunk chunk;
    uint32_t language = (uint32_t)strtoul(query + strlen("Counter "), NULL, 16);
    pfb_capture_open(&capture, m->file.data, m->file.size_bytes, true, NULL);
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        if (chunk.tag == PFB_TAG_NAMES && chunk.language == language)
            return pfb_bytes_append(bytes, m->file.data + chunk.body_offset, chunk.body_size_bytes);
    }
    return refuse(failure, PFB_WIN32_FILE_NOT_FOUND, "there is no such name table");
}

static bool v1(void *context, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    machine *m = context;
    pfb_chunk chunk;
    if (getenv("PERFBLOCK_MACHINE_WITHOUT_V1"))
        return refuse(failure, PFB_WIN32_NOT_SUPPORTED, "the machine has no V1 data");
    if (strncmp(query, "Counter ", strlen("Counter ")) == 0)
        return append_names(m, query, bytes, failure);
    while (pfb_capture_next_chunk(&m->at, &chunk)) {
        if (chunk.tag == PFB_TAG_V1)
            return append_requested(m->file.data + chunk.body_offset, chunk.body_size_bytes, query, bytes);
    }
    return refuse(failure, PFB_WIN32_READ_FAULT, "the machine has no further V1 block");
}

/* ---- V2 ----------------------------------------------------------------------------------------------------- */

static bool countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const machine *m = context;
    return m->v2 && !m->has_no_list
               ? pfb_source_countersets(m->v2, bytes, failure)
               : refuse(failure, PFB_WIN32_NOT_SUPPORTED, "the machine has no list of countersets");
}

static bool registration(void *context, const pfb_guid *set, uint32_t request, uint32_t language, pfb_bytes *bytes,
                         pfb_source_failure *failure)
{
    const machine *m = context;
    return m->v2 && !m->has_no_list ? pfb_source_registration(m->v2, set, request, language, bytes, failure)
                                    : refuse(failure, PFB_WIN32_NOT_SUPPORTED, "the machine has no registrations");
}

static bool instances(void *context, const pfb_guid *set, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const machine *m = context;
    return m->v2 ? pfb_source_instances(m->v2, set, bytes, failure)
                 : refuse(failure, PFB_WIN32_NOT_SUPPORTED, "the machine has no V2 data");
}

static void *query_open(void *context, pfb_source_failure *failure)
{
    const machine *m = context;
    if (m->v2)
        return pfb_source_query_open(m->v2, failure);
    refuse(failure, PFB_WIN32_NOT_SUPPORTED, "the machine has no V2 data");
    return NULL;
}

static void query_close(void *query)
{
    pfb_source_query_close(query);
}

static bool query_add(void *query, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return pfb_source_query_add(query, blocks, size, failure);
}

static bool query_remove(void *query, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return pfb_source_query_remove(query, blocks, size, failure);
}

static bool query_info(void *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    return pfb_source_query_info(query, bytes, failure);
}

static bool query_collect(void *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    return pfb_source_query_collect(query, bytes, failure);
}

/* ---- Opening ------------------------------------------------------------------------------------------------ */

static void close_machine(void *context)
{
    machine *m = context;
    pfb_source_close(m->v2);
    pfb_bytes_free(&m->file);
    free(m);
}

static const pfb_source_operations operations = {.close = close_machine,
                                                 .countersets = countersets,
                                                 .registration = registration,
                                                 .instances = instances,
                                                 .query_open = query_open,
                                                 .query_close = query_close,
                                                 .query_add = query_add,
                                                 .query_remove = query_remove,
                                                 .query_info = query_info,
                                                 .query_collect = query_collect,
                                                 .v1 = v1};

static bool read_file(const char *path, pfb_bytes *bytes)
{
    uint8_t part[4096];
    size_t size;
    FILE *file = fopen(path, "rb");
    bool is_read = file != NULL;
    while (is_read && (size = fread(part, 1, sizeof part, file)) > 0)
        is_read = pfb_bytes_append(bytes, part, size);
    if (file)
        fclose(file);
    return is_read;
}

static bool has_data(const pfb_bytes *file)
{
    pfb_capture capture;
    pfb_chunk chunk;
    pfb_capture_open(&capture, file->data, file->size_bytes, true, NULL);
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        if (chunk.tag == PFB_TAG_DATA || chunk.tag == PFB_TAG_REGISTRATION)
            return true;
    }
    return false;
}

pfb_source *pfb_source_open_live(pfb_source_failure *failure)
{
    const char *path = getenv("PERFBLOCK_MACHINE");
    machine *m = calloc(1, sizeof *m);
    if (!m || !path || !read_file(path, &m->file) ||
        !pfb_capture_open(&m->at, m->file.data, m->file.size_bytes, true, NULL)) {
        refuse(failure, 0, "PERFBLOCK_MACHINE is not the name of a capture");
        if (m)
            close_machine(m);
        return NULL;
    }
    m->has_no_list = getenv("PERFBLOCK_MACHINE_WITHOUT_LIST") != NULL;
    if (has_data(&m->file))
        m->v2 = replay_bytes(m->file.data, m->file.size_bytes, failure);
    return pfb_source_make(&operations, m, failure);
}

/* The only other machine is called "other". */
pfb_source *pfb_source_open_remote(const char *name, pfb_source_failure *failure)
{
    if (strcmp(name, "other") == 0)
        return pfb_source_open_live(failure);
    refuse(failure, PFB_WIN32_INVALID_PARAMETER, "there is no such machine");
    return NULL;
}

pfb_source *pfb_source_open_linux(const char *root, pfb_source_failure *failure)
{
    (void)root;
    refuse(failure, PFB_WIN32_NOT_SUPPORTED, "this machine is not Linux");
    return NULL;
}
