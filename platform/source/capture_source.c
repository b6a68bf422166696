/* SPDX-License-Identifier: MIT */
#include "perfblock/capture.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

/* Index entry: a request, and the first chunk of the capture that answers it. */
typedef struct answer {
    pfb_guid counterset; /* all zero for name tables */
    uint32_t tag;
    uint32_t request;  /* for registration, may be ANY_REQUEST; otherwise 0 */
    uint64_t language; /* for registration, may be ANY_LANGUAGE; for name tables, the language; otherwise 0 */
    size_t body_offset;
    size_t body_size_bytes;
} answer;

#define ANY_REQUEST UINT32_C(0)          /* not a valid request code */
#define ANY_LANGUAGE (UINT64_C(1) << 32) /* greater than every language and counter id */

/* Replays a capture: every reply is the payload of a chunk. */
typedef struct fixture {
    uint8_t *data;
    size_t size;
    answer *answers; /* sorted by compare_requests, without duplicates */
    size_t answer_count;
    size_t answer_capacity;
    pfb_capture v1_at; /* after the last V1 block that was returned */
} fixture;

/* Each query handle replays the capture from the beginning. */
typedef struct fixture_query {
    const fixture *source;
    pfb_capture at;  /* after the last sample that was returned */
    bool has_sample; /* at least one sample was returned */
    pfb_chunk info;  /* the QINF chunk that applies to it; body_size_bytes is 0 if there is none */
} fixture_query;

static pfb_capture start(const fixture *source)
{
    pfb_capture capture;
    pfb_capture_open(&capture, source->data, source->size); /* succeeded when the fixture was opened */
    return capture;
}

static bool copy_body(const fixture *source, size_t offset, size_t size, pfb_bytes *bytes, pfb_source_failure *failure)
{
    bytes->size_bytes = 0;
    return pfb_bytes_append(bytes, source->data + offset, size) || pfb_source_fail_memory(failure);
}

static void close_context(void *context)
{
    fixture *source = context;
    free(source->answers);
    free(source->data);
    free(source);
}

/* ---- The index ------------------------------------------------------------------------------------------- */

static int compare_requests(const void *left, const void *right)
{
    const answer *a = left;
    const answer *b = right;
    int order = memcmp(a->counterset.bytes, b->counterset.bytes, sizeof a->counterset.bytes);
    if (order != 0)
        return order;
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    if (a->request != b->request)
        return a->request < b->request ? -1 : 1;
    return (a->language > b->language) - (a->language < b->language);
}

/* Orders equal requests by the position of their chunks. */
static int compare_answers(const void *left, const void *right)
{
    const answer *a = left;
    const answer *b = right;
    int order = compare_requests(a, b);
    return order != 0 ? order : (a->body_offset > b->body_offset) - (a->body_offset < b->body_offset);
}

/* Returns the index entry of a request, or NULL. */
static const answer *find_answer(const fixture *source, uint32_t tag, const pfb_guid *counterset, uint32_t request,
                                 uint64_t language)
{
    answer request_key = {.counterset = *counterset, .tag = tag, .request = request, .language = language};
    if (source->answer_count == 0)
        return NULL;
    return bsearch(&request_key, source->answers, source->answer_count, sizeof request_key, compare_requests);
}

static bool add_answer(fixture *source, const pfb_chunk *chunk, const pfb_guid *counterset, uint32_t request,
                       uint64_t language)
{
    answer *answers =
        pfb_source_grow(source->answers, &source->answer_capacity, source->answer_count + 1, sizeof *answers);
    if (!answers)
        return false;
    source->answers = answers;
    answers[source->answer_count++] = (answer){.counterset = *counterset,
                                               .tag = chunk->tag,
                                               .request = request,
                                               .language = language,
                                               .body_offset = chunk->body_offset,
                                               .body_size_bytes = chunk->body_size_bytes};
    return true;
}

/* Adds a registration under its language, under ANY_LANGUAGE, and under ANY_REQUEST. PFB_REQUEST_COUNTER is not added
 * under ANY_LANGUAGE: its "language" is the counter id, and the reply for another counter would be wrong. */
static bool add_registration(fixture *source, const pfb_chunk *chunk)
{
    return add_answer(source, chunk, &chunk->guid, chunk->request, chunk->language) &&
           (chunk->request == PFB_REQUEST_COUNTER ||
            add_answer(source, chunk, &chunk->guid, chunk->request, ANY_LANGUAGE)) &&
           add_answer(source, chunk, &chunk->guid, ANY_REQUEST, ANY_LANGUAGE);
}

/* Adds query information under each counterset it names. */
static bool add_queries(fixture *source, const pfb_chunk *chunk)
{
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, source->data + chunk->body_offset, chunk->body_size_bytes, 0);
    while (pfb_list_next_identifier(&list, &identifier)) {
        if (!add_answer(source, chunk, &identifier.counterset, 0, 0))
            return false;
    }
    return true;
}

static bool add_chunk(fixture *source, const pfb_chunk *chunk)
{
    if (!chunk->is_known)
        return true;
    switch (chunk->tag) {
    case PFB_TAG_REGISTRATION:
        return add_registration(source, chunk);
    case PFB_TAG_QUERY_INFO:
        return add_queries(source, chunk);
    case PFB_TAG_INSTANCES:
    case PFB_TAG_NAMES:
        return add_answer(source, chunk, &chunk->guid, 0, chunk->language);
    default:
        return true;
    }
}

/* Builds the index; of several chunks for the same request the first is kept. A chunk has at most three entries, or one
 * per identifier block. Chunks of the first kind and identifier blocks have at least 40 bytes, so the index grows at
 * most linearly with the capture. */
static bool make_index(fixture *source)
{
    pfb_capture capture = start(source);
    pfb_chunk chunk;
    while (pfb_capture_next(&capture, &chunk)) {
        if (!add_chunk(source, &chunk))
            return false;
    }
    size_t kept = 0;
    if (source->answer_count > 0)
        qsort(source->answers, source->answer_count, sizeof *source->answers, compare_answers);
    for (size_t i = 0; i < source->answer_count; i++) {
        if (i == 0 || compare_requests(&source->answers[i], &source->answers[kept - 1]) != 0)
            source->answers[kept++] = source->answers[i];
    }
    source->answer_count = kept;
    return true;
}

/* ---- Enumerating and registration ------------------------------------------------------------------------- */

/* Lists each counterset once, in the order of their first registrations. */
static bool countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const fixture *source = context;
    pfb_capture capture = start(source);
    pfb_chunk chunk;
    while (pfb_capture_next(&capture, &chunk)) {
        if (chunk.tag != PFB_TAG_REGISTRATION || !chunk.is_known)
            continue;
        const answer *first = find_answer(source, chunk.tag, &chunk.guid, ANY_REQUEST, ANY_LANGUAGE);
        if (first && first->body_offset == chunk.body_offset &&
            !pfb_bytes_append(bytes, chunk.guid.bytes, sizeof chunk.guid.bytes))
            return pfb_source_fail_memory(failure);
    }
    return true;
}

/* Returns true if the capture has the registration, the instance list or a query of the counterset. A capture without
 * registration still has its queries. */
static bool has_counterset(const fixture *source, const pfb_guid *counterset)
{
    return find_answer(source, PFB_TAG_REGISTRATION, counterset, ANY_REQUEST, ANY_LANGUAGE) ||
           find_answer(source, PFB_TAG_INSTANCES, counterset, 0, 0) ||
           find_answer(source, PFB_TAG_QUERY_INFO, counterset, 0, 0);
}

/* Reports that the counterset, or this information about it, is not in the capture. */
static bool fail_missing(const fixture *source, const pfb_guid *counterset, const char *what,
                         pfb_source_failure *failure)
{
    char text[PFB_GUID_TEXT_BYTES];
    pfb_guid_format(counterset, text);
    if (!has_counterset(source, counterset))
        return pfb_source_fail(failure, PFB_WIN32_COUNTERSET_NOT_FOUND, "the capture has no counterset %s", text);
    return pfb_source_fail(failure, PFB_WIN32_NOT_FOUND, "the capture has no %s of counterset %s", what, text);
}

/* Returns the first chunk in the requested language, or else the first in any language. */
static bool registration(void *context, const pfb_guid *counterset, uint32_t request, uint32_t language,
                         pfb_bytes *bytes, pfb_source_failure *failure)
{
    const fixture *source = context;
    if (request < PFB_REQUEST_COUNTERSET || request > PFB_REQUEST_COUNTER_ENGLISH_NAMES)
        return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "there is no registration request code %u",
                               (unsigned)request);
    const answer *found = find_answer(source, PFB_TAG_REGISTRATION, counterset, request, language);
    if (!found)
        found = find_answer(source, PFB_TAG_REGISTRATION, counterset, request, ANY_LANGUAGE);
    return found ? copy_body(source, found->body_offset, found->body_size_bytes, bytes, failure)
                 : fail_missing(source, counterset, "such registration", failure);
}

static bool instances(void *context, const pfb_guid *counterset, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const fixture *source = context;
    const answer *found = find_answer(source, PFB_TAG_INSTANCES, counterset, 0, 0);
    return found ? copy_body(source, found->body_offset, found->body_size_bytes, bytes, failure)
                 : fail_missing(source, counterset, "instance list", failure);
}

/* ---- Queries ---------------------------------------------------------------------------------------------- */

static void *query_open(void *context, pfb_source_failure *failure)
{
    fixture_query *query = malloc(sizeof *query);
    if (!query) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *query = (fixture_query){.source = context, .at = start(context)};
    return query;
}

static void query_close(void *context)
{
    free(context);
}

/* Adding and removing have no effect, since the samples are already recorded. Sets the Status of each block: success,
 * or `refusal` if its counterset is not in the capture. */
static bool set_statuses(const fixture_query *query, uint8_t *blocks, size_t size, uint32_t refusal,
                         pfb_source_failure *failure)
{
    if (!pfb_source_check_blocks(blocks, size, failure))
        return false;
    pfb_list list;
    pfb_identifier identifier;
    pfb_list_open(&list, blocks, size, 0);
    while (pfb_list_next_identifier(&list, &identifier)) {
        bool is_known = has_counterset(query->source, &identifier.counterset);
        pfb_source_set_status(blocks, &identifier, is_known ? PFB_WIN32_SUCCESS : refusal);
    }
    return true;
}

static bool query_add(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return set_statuses(context, blocks, size, PFB_WIN32_COUNTERSET_NOT_FOUND, failure);
}

static bool query_remove(void *context, uint8_t *blocks, size_t size, pfb_source_failure *failure)
{
    return set_statuses(context, blocks, size, PFB_WIN32_INVALID_PARAMETER, failure);
}

/* Advances to the next sample and keeps the query information on the way. Returns false at the end. */
static bool advance(fixture_query *query, pfb_chunk *sample)
{
    pfb_chunk chunk;
    while (pfb_capture_next(&query->at, &chunk)) {
        if (!chunk.is_known)
            continue;
        if (chunk.tag == PFB_TAG_QUERY_INFO)
            query->info = chunk;
        if (chunk.tag == PFB_TAG_DATA) {
            query->has_sample = true;
            *sample = chunk;
            return true;
        }
    }
    return false;
}

/* Returns the query information for the last sample, or for the first one if none was collected. */
static bool query_info(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const fixture_query *query = context;
    fixture_query ahead = *query;
    pfb_chunk sample;
    if (!query->has_sample)
        advance(&ahead, &sample);
    if (ahead.info.body_size_bytes == 0)
        return pfb_source_fail(failure, PFB_WIN32_NOT_FOUND, "the capture has no query information for this sample");
    return copy_body(query->source, ahead.info.body_offset, ahead.info.body_size_bytes, bytes, failure);
}

/* The code is the same at the end of a whole and of a damaged capture; the sentence differs. */
static bool fail_at_end(const pfb_error *error, pfb_source_failure *failure)
{
    if (error->code == PFB_OK)
        return pfb_source_fail(failure, PFB_WIN32_NO_MORE_ITEMS, "the capture has no further sample");
    return pfb_source_fail(failure, PFB_WIN32_NO_MORE_ITEMS, "the capture is broken off at offset %zu: %s",
                           error->offset, pfb_code_text(error->code));
}

static bool query_collect(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    fixture_query *query = context;
    fixture_query ahead = *query; /* at the end of the capture the state of the last sample is kept */
    pfb_chunk sample;
    if (!advance(&ahead, &sample))
        return fail_at_end(&ahead.at.error, failure);
    if (!copy_body(query->source, sample.body_offset, sample.body_size_bytes, bytes, failure))
        return false;
    *query = ahead;
    return true;
}

/* ---- V1 ------------------------------------------------------------------------------------------------------ */

/* Returns true if the query starts with this word, ignoring case, followed by a space or the end. Sets *rest to the
 * text after the word. */
static bool skip_word(const char *query, const char *word, const char **rest)
{
    for (; *word; word++, query++) {
        char letter = *query >= 'A' && *query <= 'Z' ? (char)(*query - 'A' + 'a') : *query;
        if (letter != *word)
            return false;
    }
    *rest = query;
    return *query == ' ' || *query == '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Parses a space and the language: one to eight hexadecimal digits up to the end. */
static bool read_language(const char *text, uint32_t *language)
{
    size_t digits = 0;
    *language = 0;
    if (*text++ != ' ')
        return false;
    for (; digits < 8 && hex_digit(text[digits]) >= 0; digits++)
        *language = *language << 4 | (uint32_t)hex_digit(text[digits]);
    return digits > 0 && text[digits] == '\0';
}

/* Returns the first name table in exactly this language. */
static bool copy_names(const fixture *source, uint32_t language, pfb_bytes *bytes, pfb_source_failure *failure)
{
    static const pfb_guid none = {{0}};
    const answer *found = find_answer(source, PFB_TAG_NAMES, &none, 0, language);
    if (found)
        return copy_body(source, found->body_offset, found->body_size_bytes, bytes, failure);
    return pfb_source_fail(failure, PFB_WIN32_NOT_FOUND, "the capture has no V1 names of language %03X",
                           (unsigned)language);
}

static bool copy_next_block(fixture *source, pfb_bytes *bytes, pfb_source_failure *failure)
{
    pfb_capture ahead = source->v1_at;
    pfb_chunk chunk;
    while (pfb_capture_next(&ahead, &chunk)) {
        if (chunk.tag != PFB_TAG_V1 || !chunk.is_known)
            continue;
        if (!copy_body(source, chunk.body_offset, chunk.body_size_bytes, bytes, failure))
            return false;
        source->v1_at = ahead;
        return true;
    }
    return fail_at_end(&ahead.error, failure);
}

/* The capture does not record which objects were queried, so any query for data returns the next block. */
static bool v1(void *context, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    const char *rest;
    uint32_t language;
    bool is_help = skip_word(query, "help", &rest) || skip_word(query, "explain", &rest);
    if (!is_help && !skip_word(query, "counter", &rest))
        return copy_next_block(context, bytes, failure);
    if (!read_language(rest, &language))
        return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER,
                               "names are asked for with a language in hexadecimal, as in \"Counter 009\"");
    if (is_help)
        return pfb_source_fail(failure, PFB_WIN32_NOT_FOUND, "a capture has no V1 help texts");
    return copy_names(context, language, bytes, failure);
}

/* ---- Opening ------------------------------------------------------------------------------------------------ */

static const pfb_source_operations operations = {.close = close_context,
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

/* Checks that the header and the first chunk, if any, can be read. */
static bool check_capture(const void *data, size_t size, pfb_source_failure *failure)
{
    pfb_capture capture;
    pfb_chunk chunk;
    if (pfb_capture_open(&capture, data, size)) {
        pfb_capture_next(&capture, &chunk);
        if (capture.error.code == PFB_OK) /* an empty capture is valid */
            return true;
    }
    return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "the capture cannot be read at offset %zu: %s",
                           capture.error.offset, pfb_code_text(capture.error.code));
}

pfb_source *pfb_source_open_capture(const void *data, size_t size, pfb_source_failure *failure)
{
    if (!check_capture(data, size, failure))
        return NULL;
    fixture *source = malloc(sizeof *source);
    uint8_t *copy = malloc(size);
    if (!source || !copy) {
        free(source);
        free(copy);
        pfb_source_fail_memory(failure);
        return NULL;
    }
    memcpy(copy, data, size);
    *source = (fixture){.data = copy, .size = size};
    source->v1_at = start(source);
    if (!make_index(source)) {
        close_context(source);
        pfb_source_fail_memory(failure);
        return NULL;
    }
    return pfb_source_make(&operations, source, failure);
}
