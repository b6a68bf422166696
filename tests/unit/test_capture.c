/* SPDX-License-Identifier: MIT */
/* Captures: reading and writing of chunks. */
#include "support.h"

#include <criterion/criterion.h>

#include "perfblock/capture.h"

#include <stdlib.h>
#include <string.h>

static const pfb_guid guid = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};

/* ---- Helpers ------------------------------------------------------------------------------------------- */

/* Writes the header of a chunk, field by field. */
static void put_header(bytes *b, const char tag[5], uint32_t version, uint64_t size)
{
    put_raw(b, tag, 4);
    put_u32(b, version);
    put_u64(b, size);
}

static void put_start(bytes *b)
{
    put_header(b, "PFBC", 1, 0);
}

/* Writes a chunk, field by field: a payload of `size` bytes 1, 2, 3 ..., and padding. */
static void put_chunk(bytes *b, const char tag[5], uint32_t version, size_t size)
{
    put_header(b, tag, version, size);
    for (size_t i = 0; i < size; i++)
        put_fill(b, (uint8_t)(i + 1), 1);
    put_fill(b, 0, (8 - size % 8) % 8);
}

static bool open_bytes(pfb_capture *capture, const bytes *b)
{
    return pfb_capture_open(capture, b->data, b->size, true, NULL);
}

/* Reads to the end; returns the number of chunks after the first one, and the error. */
static size_t count_chunks(const uint8_t *data, size_t size, pfb_error *error)
{
    pfb_capture capture;
    pfb_chunk chunk;
    size_t count = 0;
    pfb_capture_open(&capture, data, size, true, NULL);
    while (pfb_capture_next_chunk(&capture, &chunk))
        count++;
    *error = capture.error;
    cr_expect(!pfb_capture_next_chunk(&capture, &chunk), "no chunk is returned after the end");
    return count;
}

/* Makes a capture with chunks of every kind. Stores the offsets at which they end in `ends`; returns their number. */
static size_t put_all_kinds(bytes *b, size_t ends[20])
{
    static const struct {
        const char *tag;
        size_t size;
    } kinds[] = {{"NOTE", 5}, {"RGST", 24}, {"RGST", 31}, {"QINF", 40}, {"INST", 16}, {"DATA", 48},
                 {"V1DT", 9}, {"NAME", 11}, {"NAME", 4},  {"WHAT", 3},  {"CPIH", 1},  {"CPIS", 2},
                 {"LWPC", 8}, {"FILE", 6},  {"FILE", 4},  {"DATA", 0}};
    size_t count = 0;
    put_start(b);
    ends[count++] = b->size;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        put_chunk(b, kinds[i].tag, 1, kinds[i].size);
        ends[count++] = b->size;
    }
    return count;
}

/* ---- Opening ------------------------------------------------------------------------------------------- */

Test(capture, an_empty_capture_is_valid)
{
    bytes b = {.size = 0};
    put_start(&b);
    cr_expect(pfb_capture_recognise(b.data, b.size));
    pfb_error error;
    cr_expect_eq(count_chunks(b.data, b.size, &error), 0);
    expect_error(error, PFB_OK, 0, "an empty capture");
}

Test(capture, a_capture_is_recognised_by_its_first_tag)
{
    cr_expect(pfb_capture_recognise("PFBC", 4));
    cr_expect(pfb_capture_recognise("PFBC and anything", 17));
    cr_expect(!pfb_capture_recognise("PFB", 3));
    cr_expect(!pfb_capture_recognise("CBFP", 4));
    cr_expect(!pfb_capture_recognise("pfbc", 4));
    cr_expect(!pfb_capture_recognise(NULL, 0));
    cr_expect(!pfb_capture_recognise(NULL, 4));
}

Test(capture, files_that_are_not_captures_are_refused)
{
    pfb_capture capture;
    pfb_chunk chunk;
    cr_expect(!pfb_capture_open(&capture, NULL, 16, true, NULL));
    expect_error(capture.error, PFB_UNKNOWN_FORMAT, 0, "a null pointer");
    cr_expect(!pfb_capture_open(&capture, "", 0, true, NULL));
    expect_error(capture.error, PFB_UNKNOWN_FORMAT, 0, "an empty file");
    bytes b = {.size = 0};
    put_chunk(&b, "DATA", 1, 8);
    cr_expect(!open_bytes(&capture, &b));
    expect_error(capture.error, PFB_UNKNOWN_FORMAT, 0, "a file that begins with a DATA chunk");
    cr_expect(!pfb_capture_next_chunk(&capture, &chunk), "no chunk is returned after an error");
    b.size = 0;
    put_header(&b, "PFBC", 2, 0);
    cr_expect(!open_bytes(&capture, &b));
    expect_error(capture.error, PFB_UNREAD_FORMAT, 4, "a PFBC chunk of version 2");
    b.size = 0;
    put_header(&b, "PFBC", 1, 8);
    cr_expect(!open_bytes(&capture, &b));
    expect_error(capture.error, PFB_TRUNCATED_CHUNK, 0, "a first chunk that extends past the end");
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

Test(capture, the_fields_of_chunks_are_read)
{
    static const struct {
        const char *tag;
        size_t size, prefix;
        bool is_known, has_guid;
        uint32_t request, language, file;
    } rows[] = {
        {"DATA", 11, 0, true, false, 0, 0, 0},
        {"QINF", 11, 0, true, false, 0, 0, 0},
        {"V1DT", 11, 0, true, false, 0, 0, 0},
        {"NOTE", 11, 0, true, false, 0, 0, 0},
        {"RGST", 29, 24, true, true, 0x14131211, 0x18171615, 0},
        {"INST", 29, 16, true, true, 0, 0, 0},
        {"NAME", 29, 4, true, false, 0, 0x04030201, 0},
        {"PFBC", 0, 0, true, false, 0, 0, 0}, /* two concatenated files */
        {"CPIH", 29, 0, true, false, 0, 0, 0},
        {"CPIS", 29, 0, true, false, 0, 0, 0},
        {"FILE", 29, 4, true, false, 0, 0, 0x04030201},
        {"data", 29, 0, false, false, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bytes b = {.size = 0};
        put_start(&b);
        put_chunk(&b, rows[i].tag, 1, rows[i].size);
        pfb_capture capture;
        pfb_chunk c;
        cr_assert(open_bytes(&capture, &b) && pfb_capture_next_chunk(&capture, &c), "%s", rows[i].tag);
        cr_expect_eq(c.offset, 16, "%s", rows[i].tag);
        cr_expect_eq(c.is_known, rows[i].is_known, "%s", rows[i].tag);
        cr_expect_eq(c.tag, PFB_TAG(rows[i].tag[0], rows[i].tag[1], rows[i].tag[2], rows[i].tag[3]), "%s", rows[i].tag);
        cr_expect_eq(c.version, 1, "%s", rows[i].tag);
        cr_expect_eq(c.body_offset, 32 + rows[i].prefix, "%s", rows[i].tag);
        cr_expect_eq(c.body_size_bytes, rows[i].size - rows[i].prefix, "%s", rows[i].tag);
        cr_expect_eq(c.has_guid, rows[i].has_guid, "%s", rows[i].tag);
        cr_expect(!c.has_guid || pfb_guid_equal(&c.guid, &guid), "%s", rows[i].tag);
        cr_expect_eq(c.request, rows[i].request, "%s", rows[i].tag);
        cr_expect_eq(c.language, rows[i].language, "%s", rows[i].tag);
        cr_expect_eq(c.file, rows[i].file, "%s", rows[i].tag);
        cr_expect(!pfb_capture_next_chunk(&capture, &c) && capture.error.code == PFB_OK, "%s", rows[i].tag);
    }
}

/* A chunk with a known tag and a higher version is returned as unknown, without reading its prefix. */
Test(capture, higher_versions_are_unknown)
{
    bytes b = {.size = 0};
    put_start(&b);
    put_chunk(&b, "RGST", 2, 3);
    put_chunk(&b, "RGST", UINT32_MAX, 24);
    put_chunk(&b, "DATA", 1, 8);
    pfb_capture capture;
    pfb_chunk c;
    cr_assert(open_bytes(&capture, &b) && pfb_capture_next_chunk(&capture, &c));
    cr_expect(!c.is_known && !c.has_guid && c.body_size_bytes == 3 && c.version == 2);
    cr_assert(pfb_capture_next_chunk(&capture, &c));
    cr_expect(!c.is_known && !c.has_guid && c.request == 0 && c.body_size_bytes == 24);
    cr_assert(pfb_capture_next_chunk(&capture, &c));
    cr_expect(c.is_known && c.tag == PFB_TAG_DATA);
    cr_expect(!pfb_capture_next_chunk(&capture, &c) && capture.error.code == PFB_OK);
}

Test(capture, chunks_too_small_for_their_tag_are_refused)
{
    static const struct {
        const char *tag;
        size_t min_size;
    } rows[] = {{"RGST", 24}, {"INST", 16}, {"NAME", 4}, {"FILE", 4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t size = 0; size <= rows[i].min_size; size++) {
            bytes b = {.size = 0};
            put_start(&b);
            put_chunk(&b, "DATA", 1, 8);
            size_t at = b.size;
            put_chunk(&b, rows[i].tag, 1, size);
            put_chunk(&b, "DATA", 1, 8);
            pfb_error error;
            size_t count = count_chunks(b.data, b.size, &error);
            bool fits = size == rows[i].min_size;
            cr_expect_eq(count, fits ? 3 : 1, "%s of %zu", rows[i].tag, size);
            expect_error(error, fits ? PFB_OK : PFB_BAD_CHUNK_SIZE, fits ? 0 : at + 8, rows[i].tag);
        }
    }
}

/* Sizes that extend past the end, some of which would overflow in an addition of 32 or 64 bits. */
Test(capture, chunks_that_extend_past_the_end_are_refused)
{
    static const uint64_t sizes[] = {9,
                                     16,
                                     UINT32_MAX,
                                     UINT64_C(0x100000000),
                                     UINT64_C(0x100000008),
                                     INT64_MAX,
                                     UINT64_C(0x8000000000000000),
                                     UINT64_MAX - 47,
                                     UINT64_MAX - 15,
                                     UINT64_MAX - 7,
                                     UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        bytes b = {.size = 0};
        put_start(&b);
        put_chunk(&b, "NOTE", 1, 3);
        size_t at = b.size;
        put_header(&b, "DATA", 1, sizes[i]);
        put_fill(&b, 1, 8);
        pfb_error error;
        uint8_t *copy = exact_copy(&b);
        cr_expect_eq(count_chunks(copy, b.size, &error), 1, "row %zu", i);
        expect_error(error, PFB_TRUNCATED_CHUNK, at, "a chunk that extends past the end");
        free(copy);
    }
}

/* Reads a capture in windows. The first window ends at offset `first`, each later one `step` bytes further. Returns the
 * number of chunks after the first one. Their offsets in the file must be those in `ends`. */
static size_t count_in_windows(const bytes *b, size_t size, size_t first, size_t step, const size_t *ends,
                               pfb_error *error)
{
    pfb_capture capture;
    pfb_chunk chunk;
    size_t count = 0;
    size_t window_end = first < size ? first : size;
    while (!pfb_capture_open(&capture, b->data, window_end, window_end == size, NULL) &&
           capture.error.code == PFB_CALLER_TOO_SMALL) {
        cr_expect_eq(capture.error.offset, 0);
        window_end = window_end + step < size ? window_end + step : size;
    }
    do {
        while (pfb_capture_next_chunk(&capture, &chunk))
            cr_expect_eq(capture.window_offset + chunk.offset, ends[count++]);
        size_t start = (size_t)capture.window_offset + capture.resume_offset;
        window_end = window_end + step < size ? window_end + step : size;
        if (!capture.needs_more)
            break;
        cr_assert(pfb_capture_continue(&capture, b->data + start, window_end - start, window_end == size));
    } while (true);
    *error = capture.error;
    error->offset += error->code != PFB_OK ? (size_t)capture.window_offset : 0;
    return count;
}

/* A capture that is read in windows of any size, complete or truncated, gives the same chunks and the same error as a
 * capture that is read at once. */
Test(capture, windows_give_the_chunks_of_the_whole_capture)
{
    bytes b = {.size = 0};
    size_t ends[20];
    put_all_kinds(&b, ends);
    for (size_t size = 4; size <= b.size; size++) {
        pfb_error whole;
        pfb_error error;
        size_t expected = count_chunks(b.data, size, &whole);
        for (size_t first = 0; first < 80; first += 7) {
            size_t count = count_in_windows(&b, size, first, 1 + first % 19, ends, &error);
            cr_assert_eq(count, expected, "%zu of %zu bytes", first, size);
            expect_error(error, whole.code, whole.offset, "a capture read in windows");
        }
    }
}

Test(capture, a_growing_capture_is_continued)
{
    bytes b = {.size = 0};
    pfb_capture capture;
    pfb_chunk chunk;
    put_start(&b);
    put_chunk(&b, "DATA", 1, 8);
    size_t size = b.size;
    put_chunk(&b, "NOTE", 1, 3);
    cr_assert(pfb_capture_open(&capture, b.data, size, false, NULL));
    cr_expect(pfb_capture_next_chunk(&capture, &chunk) && chunk.tag == PFB_TAG_DATA);
    cr_expect(!pfb_capture_next_chunk(&capture, &chunk) && capture.needs_more && capture.resume_offset == size);
    cr_expect(!pfb_capture_next_chunk(&capture, &chunk), "no chunk is returned until the capture is continued");
    cr_assert(pfb_capture_continue(&capture, b.data + size, b.size - size, false));
    cr_expect(pfb_capture_next_chunk(&capture, &chunk) && chunk.tag == PFB_TAG_NOTE && chunk.offset == 0);
    cr_expect(!pfb_capture_next_chunk(&capture, &chunk) && capture.needs_more);
    cr_assert(pfb_capture_continue(&capture, NULL, 0, true));
    cr_expect(!pfb_capture_next_chunk(&capture, &chunk) && !capture.needs_more && capture.error.code == PFB_OK);
    cr_expect(!pfb_capture_continue(&capture, NULL, 0, true));
    expect_error(capture.error, PFB_CALLER_ORDER, 0, "a continuation after the end");
}

/* For every length of the file, all complete chunks are returned, and the error has the offset of the truncated one. */
Test(capture, complete_chunks_of_truncated_files_are_returned)
{
    bytes b = {.size = 0};
    size_t ends[20];
    size_t chunks = put_all_kinds(&b, ends);
    for (size_t size = 0; size <= b.size; size++) {
        uint8_t *copy = malloc(size);
        if (size > 0)
            memcpy(copy, b.data, size);
        size_t whole = 0;
        while (whole < chunks && ends[whole] <= size)
            whole++;
        size_t last_end = whole > 0 ? ends[whole - 1] : 0;
        pfb_error error;
        size_t count = count_chunks(copy, size, &error);
        cr_expect_eq(count, whole > 0 ? whole - 1 : 0, "a file truncated to %zu bytes", size);
        if (size < 4)
            expect_error(error, PFB_UNKNOWN_FORMAT, 0, "a file truncated inside the first tag");
        else if (last_end < size)
            expect_error(error, PFB_TRUNCATED_CHUNK, last_end, "a file truncated inside a chunk");
        else
            expect_error(error, PFB_OK, 0, "a file truncated between chunks");
        free(copy);
    }
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

Test(capture, chunks_are_written_byte_by_byte_as_documented)
{
    bytes expected = {.size = 0};
    put_header(&expected, "RGST", 1, 24 + 3);
    put_raw(&expected, guid.bytes, 16);
    put_u32(&expected, 5);
    put_u32(&expected, 0x409);
    put_raw(&expected, "abc", 3);
    put_fill(&expected, 0, 5);
    pfb_chunk chunk = {.tag = PFB_TAG_REGISTRATION, .guid = guid, .request = 5, .language = 0x409};
    uint8_t out[64];
    memset(out, 0xAA, sizeof out);
    cr_assert_eq(pfb_capture_write(&chunk, "abc", 3, out, sizeof out), expected.size);
    cr_expect_eq(memcmp(out, expected.data, expected.size), 0);
    cr_expect_eq(out[expected.size], 0xAA, "no byte after the chunk is written");

    expected.size = 0;
    put_header(&expected, "NAME", 1, 4 + 8);
    put_u32(&expected, 9);
    put_raw(&expected, "12345678", 8);
    put_fill(&expected, 0, 4);
    chunk = (pfb_chunk){.tag = PFB_TAG_NAMES, .language = 9, .request = 77, .version = 99, .is_known = false};
    cr_assert_eq(pfb_capture_write(&chunk, "12345678", 8, out, sizeof out), expected.size);
    cr_expect_eq(memcmp(out, expected.data, expected.size), 0);

    expected.size = 0;
    put_start(&expected);
    chunk = (pfb_chunk){.tag = PFB_TAG_CAPTURE};
    cr_assert_eq(pfb_capture_write(&chunk, NULL, 0, out, sizeof out), expected.size);
    cr_expect_eq(memcmp(out, expected.data, expected.size), 0);
}

Test(capture, nothing_is_written_if_the_capacity_is_too_small)
{
    static const uint32_t tags[] = {PFB_TAG_CAPTURE, PFB_TAG_DATA, PFB_TAG_REGISTRATION,        PFB_TAG_INSTANCES,
                                    PFB_TAG_NAMES,   PFB_TAG_NOTE, PFB_TAG('o', 'w', 'n', '1'), PFB_TAG_QUERY_INFO,
                                    PFB_TAG_V1};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        pfb_chunk chunk = {.tag = tags[i], .guid = guid};
        for (size_t body = 0; body < 20; body++) {
            size_t size = pfb_capture_write(&chunk, "bytes of the body ...", body, NULL, 0);
            cr_expect(size % 8 == 0 && size >= 16 + body, "%zu bytes of body", body);
            guarded memory = guarded_make(size);
            for (size_t capacity = 0; capacity < size; capacity++) {
                uint8_t *out = memory.end - capacity;
                memset(memory.begin, 0x55, (size_t)(memory.end - memory.begin));
                cr_expect_eq(pfb_capture_write(&chunk, "bytes of the body ...", body, out, capacity), size,
                             "%zu bytes of body, capacity %zu", body, capacity);
                for (size_t k = 0; k < capacity; k++)
                    cr_assert_eq(out[k], 0x55, "%zu bytes of body, capacity %zu", body, capacity);
            }
            cr_expect_eq(pfb_capture_write(&chunk, "bytes of the body ...", body, memory.end - size, size), size,
                         "%zu bytes of body", body);
            guarded_free(&memory);
        }
    }
}

Test(capture, sizes_that_overflow_are_refused)
{
    pfb_chunk chunk = {.tag = PFB_TAG_REGISTRATION};
    uint8_t out[16];
    for (size_t less = 0; less < 47; less++)
        cr_expect_eq(pfb_capture_write(&chunk, NULL, SIZE_MAX - less, out, sizeof out), 0, "%zu", less);
    cr_expect_eq(pfb_capture_write(&chunk, NULL, SIZE_MAX - 47, out, sizeof out), SIZE_MAX - 7);
}

/* Chunks of several tags, with bodies of 0 to 12 bytes, are read back as they were written. */
Test(capture, written_chunks_are_read_back)
{
    static const uint32_t tags[] = {PFB_TAG_REGISTRATION, PFB_TAG_QUERY_INFO, PFB_TAG_DATA,
                                    PFB_TAG_NAMES,        PFB_TAG_INSTANCES,  PFB_TAG('?', '?', '?', '?')};
    bytes b = {.size = 0};
    put_start(&b);
    for (size_t n = 0; n < 60; n++) {
        pfb_chunk chunk = {.tag = tags[n % 6], .guid = guid, .request = 10 + (uint32_t)n, .language = 20 + (uint32_t)n};
        b.size += pfb_capture_write(&chunk, b.data, n % 13, b.data + b.size, sizeof b.data - b.size);
    }
    pfb_capture capture;
    pfb_chunk c;
    cr_assert(open_bytes(&capture, &b));
    for (size_t n = 0; n < 60; n++) {
        cr_assert(pfb_capture_next_chunk(&capture, &c), "chunk %zu", n);
        cr_expect_eq(c.tag, tags[n % 6], "chunk %zu", n);
        cr_expect_eq(c.is_known, n % 6 != 5, "chunk %zu", n);
        cr_expect_eq(c.body_size_bytes, n % 13, "chunk %zu", n);
        cr_expect_eq(memcmp(b.data + c.body_offset, b.data, n % 13), 0, "chunk %zu", n);
        cr_expect_eq(c.request, c.tag == PFB_TAG_REGISTRATION ? 10 + n : 0, "chunk %zu", n);
        cr_expect_eq(c.language, c.tag == PFB_TAG_REGISTRATION || c.tag == PFB_TAG_NAMES ? 20 + n : 0, "chunk %zu", n);
    }
    cr_expect(!pfb_capture_next_chunk(&capture, &c) && capture.error.code == PFB_OK);
}

/* After an error a reader returns nothing more, and its error does not change. */
Test(capture, an_error_is_not_replaced)
{
    pfb_capture capture;
    pfb_chunk chunk;
    cr_expect(!pfb_capture_open(&capture, NULL, 4096, true, NULL) && capture.error.code == PFB_UNKNOWN_FORMAT);
    cr_expect(!pfb_capture_next_chunk(&capture, &chunk) && !pfb_capture_continue(&capture, NULL, 0, true));
    cr_expect_eq(capture.error.code, PFB_UNKNOWN_FORMAT);
}

/* A program that seeks from header to header finds the chunks of the reader. */
Test(capture, headers_lead_to_all_chunks)
{
    bytes b = {.size = 0};
    size_t ends[20];
    size_t count = put_all_kinds(&b, ends);
    size_t at = ends[0];
    pfb_capture capture;
    pfb_chunk expected, found;
    uint64_t size;
    cr_assert(open_bytes(&capture, &b));
    for (size_t i = 1; i < count; i++) {
        cr_assert(pfb_capture_next_chunk(&capture, &expected));
        cr_assert(pfb_capture_read_header(b.data + at, 16, &found, &size));
        cr_expect(found.tag == expected.tag && found.version == expected.version);
        cr_expect_eq(found.is_known, expected.is_known);
        cr_expect_eq(at + size, ends[i]);
        cr_expect_eq(at + found.body_offset, expected.body_offset);
        cr_expect_eq(found.body_size_bytes, expected.body_size_bytes);
        size_t given = (size_t)size < PFB_CHUNK_PREFIX_BYTES ? (size_t)size : PFB_CHUNK_PREFIX_BYTES;
        cr_assert(pfb_capture_read_header(b.data + at, given, &found, &size));
        cr_expect(found.has_guid == expected.has_guid && pfb_guid_equal(&found.guid, &expected.guid));
        cr_expect(found.request == expected.request && found.language == expected.language &&
                  found.file == expected.file);
        cr_assert(pfb_capture_read_chunk(b.data + at, (size_t)size, &found));
        cr_expect_eq(at + found.body_offset, expected.body_offset);
        cr_expect(found.body_size_bytes == expected.body_size_bytes && found.request == expected.request &&
                  found.language == expected.language && found.file == expected.file);
        cr_expect(!pfb_capture_read_chunk(b.data + at, (size_t)size - 1, &found), "a cut chunk");
        cr_expect(!pfb_capture_read_header(b.data + at, 15, &found, &size), "a cut header");
        at = ends[i];
    }
    b.size = 0;
    put_header(&b, "NOTE", 1, UINT64_MAX - 23);
    cr_expect(pfb_capture_read_header(b.data, 16, &found, &size) && size == UINT64_MAX - 7);
    b.size = 0;
    put_header(&b, "NOTE", 2, UINT64_MAX - 22);
    cr_expect(!pfb_capture_read_header(b.data, 16, &found, &size), "a size that would wrap");
    b.size = 0;
    put_header(&b, "RGST", 1, 8);
    put_fill(&b, 0, 8);
    cr_expect(!pfb_capture_read_chunk(b.data, b.size, &found), "a chunk that is too small for its tag");
    cr_expect(!pfb_capture_read_header(b.data, b.size, &found, &size), "its header");
}

/* ---- Files ---------------------------------------------------------------------------------------------- */

static bool is_text(const pfb_name *name, const char *text)
{
    return name->bytes && name->encoding == PFB_ENCODING_UTF8 && name->size_bytes == strlen(text) &&
           memcmp(name->bytes, text, name->size_bytes) == 0;
}

Test(capture, the_texts_of_a_file_are_read)
{
    static const struct {
        const char *body;
        size_t size;
        const char *label, *machine;
        pfb_code code;
        size_t offset;
    } rows[] = {
        {"", 0, "", "", PFB_OK, 0},
        {"\0\0", 2, "", "", PFB_OK, 0},
        {"a\0\0", 3, "a", "", PFB_OK, 0},
        {"\0HOST\0", 6, "", "HOST", PFB_OK, 0},
        {"a.pfb\0HOST\0", 11, "a.pfb", "HOST", PFB_OK, 0},
        {"a\0b\0c", 5, "a", "b", PFB_OK, 0},
        {"a", 1, "", "", PFB_TRUNCATED_STRING, 0},
        {"a\0", 2, "a", "", PFB_TRUNCATED_STRING, 2},
        {"a\0HOST", 6, "a", "", PFB_TRUNCATED_STRING, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t *body = malloc(rows[i].size);
        pfb_capture_file file;
        if (rows[i].size > 0)
            memcpy(body, rows[i].body, rows[i].size);
        pfb_error error = pfb_capture_read_file(body, rows[i].size, &file);
        expect_error(error, rows[i].code, rows[i].offset, rows[i].body);
        cr_expect(is_text(&file.label, rows[i].label) && is_text(&file.machine, rows[i].machine), "row %zu", i);
        free(body);
    }
    pfb_capture_file file;
    cr_expect_eq(pfb_capture_read_file(NULL, 5, &file).code, PFB_OK, "a null pointer is an empty body");
}

Test(capture, the_texts_of_a_file_are_written)
{
    uint8_t out[16];
    const pfb_capture_file file = {pfb_utf8_name("ab\0c", 4), pfb_utf8_name("HOST", 4)};
    const pfb_capture_file none = {.label = {.bytes = NULL}};
    memset(out, 0xAA, sizeof out);
    cr_expect_eq(pfb_capture_write_file(&file, out, 7), 8);
    cr_expect_eq(out[0], 0xAA, "nothing is written if the capacity is too small");
    cr_expect_eq(pfb_capture_write_file(&file, out, 8), 8);
    cr_expect(memcmp(out, "ab\0HOST\0\xAA", 9) == 0, "a text ends at its first NUL");
    cr_expect_eq(pfb_capture_write_file(&none, out, 2), 2);
    cr_expect(memcmp(out, "\0\0", 2) == 0);
}

/* Reads a sequence of chunks, one letter each, and compares the steps. D is DATA, P is PFBC, a digit is a FILE chunk of
 * this number, and e followed by a digit one that ends the file. In `steps`, b and e followed by a digit mean that the
 * file with this serial number begins or has ended; a digit alone means that a D belongs to it. */
static void expect_steps(const char *chunks, const char *steps)
{
    char found[64] = "";
    size_t size = 0;
    pfb_capture_files files;
    pfb_capture_files_open(&files);
    for (const char *c = chunks; *c; c++) {
        pfb_chunk chunk = {.tag = PFB_TAG_FILE, .is_known = true, .body_size_bytes = *c != 'e' ? 2 : 0};
        pfb_capture_step step;
        c += *c == 'e';
        if (*c == 'D' || *c == 'P')
            chunk.tag = *c == 'D' ? PFB_TAG_DATA : PFB_TAG_CAPTURE;
        else
            chunk.file = (uint32_t)(*c - '0');
        while ((step = pfb_capture_files_next(&files, &chunk)) != PFB_CAPTURE_CHUNK) {
            found[size++] = step == PFB_CAPTURE_BEGIN ? 'b' : 'e';
            found[size++] = (char)('0' + files.file);
        }
        if (*c == 'D')
            found[size++] = (char)('0' + files.file);
    }
    cr_expect_str_eq(found, steps, "%s", chunks);
}

Test(capture, chunks_belong_to_files)
{
    expect_steps("DDPD", "111");          /* without FILE chunks there is one file, even in concatenated captures */
    expect_steps("D0D", "11");            /* what precedes the first FILE chunk belongs to file 0 */
    expect_steps("D1D2D", "1b22b33");     /* each new number begins a file */
    expect_steps("1D2D1D0D", "b22b3321"); /* a number that occurred before returns to its file */
    expect_steps("1De11D", "b22e2b33");   /* an ended number begins another file */
    expect_steps("1D2De1D", "b22b33e23"); /* the end of a file that is not current */
    expect_steps("1De1De1", "b22e2b33");  /* chunks after the end belong to a file that cannot be ended by number */
    expect_steps("e5De0D", "1e1b22");     /* a file that did not begin cannot end */
    expect_steps("1D2DPDP", "b22b33e1e2e3b44"); /* a capture that follows one with FILE chunks */
    expect_steps("1PD1D0D", "b2e1e2b33b443");   /* ... has files of its own */
}

Test(capture, unknown_file_chunks_are_skipped)
{
    pfb_capture_files files;
    const pfb_chunk chunk = {.tag = PFB_TAG_FILE, .file = 1};
    pfb_capture_files_open(&files);
    cr_expect_eq(pfb_capture_files_next(&files, &chunk), PFB_CAPTURE_CHUNK);
    cr_expect_eq(files.file, 1);
}

Test(capture, the_first_of_too_many_files_ends)
{
    pfb_capture_files files;
    pfb_chunk chunk = {.tag = PFB_TAG_FILE, .is_known = true, .body_size_bytes = 2};
    pfb_capture_files_open(&files);
    for (uint32_t i = 1; i < PFB_CAPTURE_MAX_FILES; i++) {
        chunk.file = i;
        cr_expect_eq(pfb_capture_files_next(&files, &chunk), PFB_CAPTURE_BEGIN);
        cr_expect_eq(pfb_capture_files_next(&files, &chunk), PFB_CAPTURE_CHUNK);
        cr_expect(files.file == i + 1 && files.slot == i && files.number == i && files.open_count == i + 1);
    }
    chunk.file = PFB_CAPTURE_MAX_FILES;
    cr_expect_eq(pfb_capture_files_next(&files, &chunk), PFB_CAPTURE_END);
    cr_expect_eq(files.file, 1);
    cr_expect_eq(pfb_capture_files_next(&files, &chunk), PFB_CAPTURE_BEGIN);
    cr_expect(files.file == PFB_CAPTURE_MAX_FILES + 1 && files.slot == 0, "the slot of an ended file is used again");
    cr_expect_eq(pfb_capture_files_next(&files, &chunk), PFB_CAPTURE_CHUNK);
    for (uint64_t i = 2; i <= PFB_CAPTURE_MAX_FILES + 1; i++) {
        cr_expect(pfb_capture_files_end(&files));
        cr_expect_eq(files.file, i);
    }
    cr_expect(!pfb_capture_files_end(&files));
}

/* Reads all chunks with windows that begin with each chunk's header and have `window` bytes. Skips those with the tag
 * ZZZZ. Returns the sum of the sizes of the others. */
static size_t sum_without_skipped(const bytes *b, size_t window)
{
    pfb_capture capture;
    pfb_chunk chunk;
    size_t sum = 0;
    uint64_t size;
    size_t count = PFB_CHUNK_HEADER_BYTES;
    pfb_capture_open(&capture, b->data, count, false, NULL);
    while (true) {
        if (pfb_capture_next_chunk(&capture, &chunk)) {
            sum += chunk.is_known ? chunk.body_size_bytes : 0; /* a small one may be whole */
            continue;
        }
        if (!capture.needs_more)
            return sum;
        const uint8_t *rest = b->data + capture.window_offset + capture.resume_offset;
        bool has_header = pfb_capture_read_header(rest, count - capture.resume_offset, &chunk, &size);
        bool is_skipped = has_header && chunk.tag == PFB_TAG('Z', 'Z', 'Z', 'Z');
        uint64_t skipped = is_skipped ? size : 0;
        size_t needed = has_header && !is_skipped ? (size_t)size : window;
        size_t at = (size_t)(capture.window_offset + capture.resume_offset + skipped);
        cr_expect(!has_header || chunk.is_known != is_skipped);
        cr_expect_leq(at, b->size);
        size_t left = b->size - at;
        count = needed < left ? needed : left;
        pfb_capture_continue_after(&capture, skipped, b->data + at, count, count == left);
    }
}

Test(capture, chunks_can_be_skipped_by_their_header)
{
    bytes b = {0};
    put_start(&b);
    for (size_t i = 0; i < 20; i++) {
        put_chunk(&b, "DATA", 1, 100 + i);
        put_chunk(&b, "ZZZZ", 1, 20 * (i % 3) + i);
    }
    for (size_t window = PFB_CHUNK_HEADER_BYTES; window < 40; window++)
        cr_expect_eq(sum_without_skipped(&b, window), 20 * 100 + 190, "%zu", window);
}
