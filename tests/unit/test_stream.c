/* SPDX-License-Identifier: MIT */
/* Streams of files, memory and read callbacks. Compiled with allocations that can fail. */
#include <criterion/criterion.h>

#include "perfblock/capture.h"
#include "perfblock/catalog.h"
#include "perfblock/stream.h"
#include "support.h"
#include "support_allocations.h"
#include "support_capture.h"
#include "support_log.h"
#include "support_numbers.h"
#include "support_v1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined(_WIN32)
#include <signal.h>
#include <sys/file.h>
#include <sys/time.h>
#include <unistd.h>
#endif

/* ---- Transcripts ----------------------------------------------------------------------------------------- */

/* What a stream returned. */
typedef struct transcript {
    char kinds[256]; /* a letter for each record: see letter_of(); then a digit for the file, if there are several */
    size_t size;
    uint64_t hash;        /* of all records, their places and their contents */
    uint64_t samples;     /* hash of the contents of samples, without their places */
    uint64_t count;       /* of records */
    char problems[2048];  /* "file@offset code sentence;" */
    int32_t last;         /* PFB_NEXT_ */
    bool has_wrong_place; /* a byte of a record is not at its place in the file */
} transcript;

static char letter_of(const pfb_record *record)
{
    static const char letters[] = "?brqnip21lwoxe"; /* by kind */
    bool is_lower = (record->flags & (PFB_RECORD_EARLY | PFB_RECORD_GIVEN)) != 0;
    char letter = record->kind < sizeof letters - 1 ? letters[record->kind] : '?';
    return is_lower ? (char)(letter - 'a' + 'A') : letter;
}

static uint64_t mix(uint64_t hash, uint64_t number)
{
    return (hash ^ number) * UINT64_C(0x9E3779B97F4A7C15) ^ hash >> 29;
}

static uint64_t mix_bytes(uint64_t hash, const uint8_t *data, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        hash = mix(hash, data[i]);
    return mix(hash, size);
}

/* Adds a record. `file` has the bytes of its file, or is null. */
static void add_record(transcript *t, const pfb_stream *stream, const pfb_record *record, bool has_files,
                       const uint8_t *file, size_t file_size)
{
    unsigned radix = file ? numbers_radix(file, file_size) : 0;
    char place = record->flags & (PFB_RECORD_EARLY | PFB_RECORD_GIVEN | PFB_RECORD_CONVERTED) ? 0 : 1;
    if (t->size + 3 < sizeof t->kinds) {
        t->kinds[t->size++] = letter_of(record);
        if (has_files)
            t->kinds[t->size++] = (char)('0' + record->file);
    }
    t->hash = mix(mix(mix(t->hash, record->kind), record->file), record->part);
    t->hash = mix(mix(mix(t->hash, record->offset), record->flags), (uint64_t)record->time);
    t->hash = mix(mix(mix(t->hash, record->request), record->language), (uint64_t)(int64_t)record->bias_minutes);
    t->hash = mix_bytes(t->hash, record->bytes, record->byte_count);
    bool is_sample = record->kind >= PFB_RECORD_V2 && record->kind <= PFB_RECORD_ROW;
    if (is_sample)
        t->samples = mix_bytes(t->samples, record->bytes, record->byte_count);
    for (uint64_t i = 0; file && place && i < record->byte_count; i++)
        t->has_wrong_place |=
            byte_at_place(file, file_size, radix, pfb_stream_offset(stream, record, i)) != record->bytes[i];
    t->count++;
}

static void add_problems(transcript *t, pfb_stream *stream)
{
    pfb_problem problem = {.size = sizeof problem};
    size_t at = strlen(t->problems);
    while (pfb_stream_problem(stream, &problem)) {
        if (at < sizeof t->problems - 1)
            at += (size_t)snprintf(
                t->problems + at, sizeof t->problems - at, "%d@%d %s %s;",
                problem.file == PFB_NONE ? -1 : (int)problem.file, problem.has_offset ? (int)problem.offset : -1,
                problem.kind == PFB_PROBLEM_ERROR ? pfb_code_name((pfb_code)problem.code) : "-", problem.sentence);
    }
}

/* Reads everything. */
static transcript read_stream(pfb_stream *stream, bool has_files, const uint8_t *file, size_t file_size)
{
    transcript t = {.last = 0};
    pfb_record record = {.size = sizeof record};
    while ((t.last = pfb_stream_next(stream, &record)) == PFB_NEXT_RECORD)
        add_record(&t, stream, &record, has_files, file, file_size);
    add_problems(&t, stream);
    return t;
}

static bool is_same(const transcript *a, const transcript *b)
{
    return a->hash == b->hash && a->count == b->count && a->last == b->last && strcmp(a->problems, b->problems) == 0 &&
           strcmp(a->kinds, b->kinds) == 0;
}

/* ---- Inputs ---------------------------------------------------------------------------------------------- */

/* Bytes that a callback reads in pieces. */
typedef struct pieces {
    const uint8_t *data;
    size_t size;
    size_t piece;        /* largest size that one call returns */
    uint64_t next;       /* offset after the latest read; only bytes from there on may be read if is_pipe */
    uint64_t read;       /* number of bytes that were read */
    size_t failing_call; /* number of the call that fails, from 1; 0: none */
    size_t calls;
    bool is_pipe, has_failed, is_closed;
} pieces;

static int64_t read_piece(void *context, uint64_t offset, void *to, uint64_t byte_count)
{
    pieces *p = context;
    p->has_failed = p->has_failed || ++p->calls == p->failing_call;
    if (p->has_failed)
        return -1;
    cr_expect(!p->is_pipe || offset == p->next, "a pipe is read in order");
    size_t left = offset < p->size ? p->size - (size_t)offset : 0;
    size_t count = byte_count < left ? (size_t)byte_count : left;
    count = count < p->piece ? count : p->piece;
    if (count > 0)
        memcpy(to, p->data + offset, count);
    p->next = offset + count;
    p->read += count;
    return (int64_t)count;
}

static void close_pieces(void *context)
{
    ((pieces *)context)->is_closed = true;
}

static int32_t add_pieces(pfb_stream *stream, pieces *p, const char *label)
{
    const pfb_input input = {.size = sizeof input,
                             .label = label,
                             .context = p,
                             .read = read_piece,
                             .close = close_pieces,
                             .can_seek = !p->is_pipe};
    return pfb_stream_add(stream, &input);
}

static int32_t add_memory(pfb_stream *stream, const void *data, size_t size, uint32_t kind)
{
    const pfb_input input = {.size = sizeof input, .kind = kind, .label = "memory", .data = data, .byte_count = size};
    return pfb_stream_add(stream, &input);
}

static transcript read_memory(const void *data, size_t size, uint32_t kind)
{
    pfb_stream *stream = pfb_stream_new();
    cr_assert_not_null(stream);
    add_memory(stream, data, size, kind);
    transcript t = read_stream(stream, false, data, size);
    pfb_stream_close(stream);
    return t;
}

static transcript read_in_pieces(const uint8_t *data, size_t size, size_t piece, bool is_pipe)
{
    pieces p = {.data = data, .size = size, .piece = piece, .is_pipe = is_pipe};
    pfb_stream *stream = pfb_stream_new();
    cr_assert_not_null(stream);
    add_pieces(stream, &p, "memory");
    transcript t = read_stream(stream, false, NULL, 0);
    pfb_stream_close(stream);
    cr_expect(p.is_closed);
    return t;
}

/* ---- Contents -------------------------------------------------------------------------------------------- */

/* A V2 reply without results, with these clocks: 48 bytes. */
static void put_reply(bytes *b, int64_t time, uint64_t mark)
{
    put_u32(b, 48);
    put_u32(b, 0);
    put_u64(b, mark);
    put_u64(b, (uint64_t)time);
    put_u64(b, 1000);
    static const uint16_t moment[8] = {2024, 1, 1, 1, 0, 0, 0, 0};
    for (size_t i = 0; i < 8; i++)
        put_u16(b, moment[i]);
}

static void put_tag(pfb_bytes *capture, uint32_t tag, const void *body, size_t size)
{
    const pfb_chunk chunk = {.tag = tag, .request = 1, .language = 9};
    append_chunk(capture, &chunk, body, size);
}

static void put_sample(pfb_bytes *capture, int64_t time, uint64_t mark)
{
    bytes b = {.size = 0};
    put_reply(&b, time, mark);
    put_tag(capture, PFB_TAG_DATA, b.data, b.size);
}

static void put_file(pfb_bytes *capture, uint32_t number, bool is_end)
{
    const pfb_chunk chunk = {.tag = PFB_TAG_FILE, .file = number};
    append_chunk(capture, &chunk, "a\0b", is_end ? 0 : 4);
}

static const char text_log[] = "\"(PDH-CSV 4.0) (Zone)(60)\",\"\\\\PC\\A\\B\"\r\n"
                               "\"05/29/2008 11:36:51.794\",\"1\"\r\nskipped\r\n\"05/29/2008 11:36:52.794\",\"2\"\r\n";

/* ---- A table of small inputs ----------------------------------------------------------------------------- */

typedef struct small_input {
    const char *what;
    const char *text; /* the content, or null: made by `make` */
    size_t size;      /* of text; 0: strlen */
    void (*make)(pfb_bytes *content);
    uint32_t kind;
    const char *kinds, *problems;
} small_input;

#define EXPECTED "; expected a capture, a perfmon log, V1 blocks or V2 data;"

static void make_every_chunk(pfb_bytes *c)
{
    put_tag(c, PFB_TAG_CAPTURE, NULL, 0);
    put_tag(c, PFB_TAG_NOTE, "note", 4);
    put_tag(c, PFB_TAG_REGISTRATION, "reply", 5);
    put_tag(c, PFB_TAG_QUERY_INFO, "info", 4);
    put_tag(c, PFB_TAG_NAMES, "names", 5);
    put_tag(c, PFB_TAG_INSTANCES, "list", 4);
    put_tag(c, PFB_TAG_HOOKS, "hooks", 5);
    put_tag(c, PFB_TAG('Z', 'Z', 'Z', 'Z'), "unknown", 7);
    put_sample(c, 1000, 0);
    put_tag(c, PFB_TAG_V1, "not a block", 11);
}

static void make_late_metadata(pfb_bytes *c)
{
    put_tag(c, PFB_TAG_CAPTURE, NULL, 0);
    put_tag(c, PFB_TAG_NAMES, "early", 5);
    put_sample(c, 1000, 0);
    put_tag(c, PFB_TAG_REGISTRATION, "late 1", 6);
    put_sample(c, 1001, 0);
    put_tag(c, PFB_TAG_NAMES, "late 2", 6);
}

static void make_parts(pfb_bytes *c)
{
    put_tag(c, PFB_TAG_CAPTURE, NULL, 0);
    put_file(c, 1, false);
    put_sample(c, 1000, 0);
    put_file(c, 2, false);
    put_sample(c, 1001, 0);
    put_tag(c, PFB_TAG_NAMES, "of 2", 4);
    put_file(c, 1, true);
    put_file(c, 1, false);
    put_sample(c, 1002, 0);
}

static void make_cut(pfb_bytes *c)
{
    put_tag(c, PFB_TAG_CAPTURE, NULL, 0);
    put_sample(c, 1000, 0);
    put_sample(c, 1001, 0);
    c->size_bytes -= 8;
}

static void make_later_version(pfb_bytes *c)
{
    put_tag(c, PFB_TAG_CAPTURE, NULL, 0);
    put_sample(c, 1000, 0);
    c->data[16 + 4] = 2;
}

static void make_no_samples(pfb_bytes *c)
{
    put_tag(c, PFB_TAG_CAPTURE, NULL, 0);
    put_tag(c, PFB_TAG_NOTE, "note", 4);
}

static void make_replies(pfb_bytes *c)
{
    bytes b = {.size = 0};
    put_reply(&b, 1000, 0);
    put_reply(&b, 1001, 1);
    put_fill(&b, 0, 100);
    cr_assert(pfb_bytes_append(c, b.data, b.size));
}

static void make_damaged_reply(pfb_bytes *c)
{
    bytes b = {.size = 0};
    put_reply(&b, 1000, 0);
    put_reply(&b, 1001, 1);
    b.data[48] = 40;
    cr_assert(pfb_bytes_append(c, b.data, b.size));
}

static void make_both_versions(pfb_bytes *c)
{
    pfb_writer writer;
    uint8_t block[EVERYTHING_BYTES];
    bytes b = {.size = 0};
    pfb_write_init(&writer, block, sizeof block);
    v1_everything(&writer, false);
    put_raw(&b, block, sizeof block);
    put_reply(&b, 1001, 1);
    put_fill(&b, 1, 7);
    cr_assert(pfb_bytes_append(c, b.data, b.size));
}

/* Appends `count` blocks as numbers. */
static void put_numbers(pfb_bytes *c, const uint8_t *block, size_t size, size_t count, const char *form)
{
    char number[16];
    for (size_t i = 0; i < count * size; i++) {
        snprintf(number, sizeof number, form, block[i % size]);
        cr_assert(pfb_bytes_append(c, number, strlen(number)));
    }
}

/* The same for a block of EVERYTHING_BYTES, with texts around the numbers. */
static void put_everything(pfb_bytes *c, size_t count, const char *before, const char *form, const char *after)
{
    uint8_t block[EVERYTHING_BYTES];
    pfb_writer writer;
    pfb_write_init(&writer, block, sizeof block);
    v1_everything(&writer, false);
    cr_assert(pfb_bytes_append(c, before, strlen(before)));
    put_numbers(c, block, sizeof block, count, form);
    cr_assert(pfb_bytes_append(c, after, strlen(after)));
}

enum { SMALL_BLOCK_BYTES = 200 };

/* A block with an empty object. Returns its size. */
static size_t make_small_block(uint8_t block[SMALL_BLOCK_BYTES])
{
    pfb_writer writer;
    v1_begin(&writer, block, SMALL_BLOCK_BYTES, true);
    v1_object(&writer, 2, 0);
    v1_end(&writer);
    return writer.size_bytes;
}

static void make_small_dump(pfb_bytes *c)
{
    uint8_t block[SMALL_BLOCK_BYTES];
    put_numbers(c, block, make_small_block(block), 3, "%02X\n");
}

static void make_small_initialiser(pfb_bytes *c)
{
    uint8_t block[SMALL_BLOCK_BYTES];
    cr_assert(pfb_bytes_append(c, " [ ", 3));
    put_numbers(c, block, make_small_block(block), 2, "0x%x, ");
    cr_assert(pfb_bytes_append(c, "] ; ", 4));
}

static void make_initialiser(pfb_bytes *c)
{
    put_everything(c, 1, "\xEF\xBB\xBF {", "0x%02X, ", "};\n");
}

static void make_decimal(pfb_bytes *c)
{
    put_everything(c, 3, "", "%u,\r\n", "");
}

static void make_dump(pfb_bytes *c)
{
    put_everything(c, 2, "", "%02x ", "01 02 03 04 05 06 07 08 09");
}

static void make_unclosed(pfb_bytes *c)
{
    put_everything(c, 2, "[", "%03u,", "");
}

static void make_broken_number(pfb_bytes *c)
{
    put_everything(c, 1, "", "%02x ", "50 00 45 00 52 00 46 00 123");
}

static void make_no_block_between(pfb_bytes *c)
{
    put_everything(c, 1, "{", "%03u,", "1,2,");
    put_everything(c, 1, "", "%u,", "}");
}

static void make_log(pfb_bytes *c)
{
    small_log log = make_small_log();
    cr_assert(pfb_bytes_append(c, log.b.data, log.b.size));
}

enum { CIRCULAR_SAMPLES = 5, CIRCULAR_BUFFER_BYTES = 1024 };

/* Appends a log of which the buffers with samples 0 and 1 come last. */
static void make_circular_log(pfb_bytes *c)
{
    static const unsigned order[CIRCULAR_SAMPLES] = {2, 3, 4, 0, 1};
    small_log log = make_small_log();
    size_t at = log.samples[0] - log.buffers[2];
    uint8_t *buffer = log.b.data + log.buffers[2];
    uint64_t event_bytes = buffer[at] | (uint64_t)buffer[at + 1] << 8;
    uint64_t used = at + event_bytes;
    cr_assert_eq(log.buffers[3] - log.buffers[2], CIRCULAR_BUFFER_BYTES);
    cr_assert(pfb_bytes_append(c, log.b.data, log.buffers[2]));
    for (size_t i = 0; i < CIRCULAR_SAMPLES; i++) {
        uint64_t time = 0;
        for (unsigned k = 0; k < 8; k++)
            time |= (uint64_t)log.b.data[log.paths + 0x10 + k] << 8 * k;
        time += UINT64_C(10000000) * (order[i] + 1);
        for (unsigned k = 0; k < 8; k++)
            buffer[at + 0x10 + k] = (uint8_t)(time >> 8 * k);
        for (unsigned k = 0; k < 4; k++)
            buffer[0x30 + k] = (uint8_t)(used >> 8 * k);
        cr_assert(pfb_bytes_append(c, buffer, CIRCULAR_BUFFER_BYTES));
    }
}

static const small_input small_inputs[] = {
    {"empty", "", 0, NULL, 0, "", "0@0 unknown_format the file is empty" EXPECTED},
    {"zeros", "\0\0\0\0", 4, NULL, 0, "", "0@0 unknown_format the file contains only zeros" EXPECTED},
    {"an image", "\x89PNG\r\n\x1a\n", 0, NULL, 0, "", "0@0 unknown_format the file looks like a PNG image" EXPECTED},
    {"text", "hello\n", 0, NULL, 0, "", "0@0 unknown_format the file looks like text" EXPECTED},
    {"JSON", "{\"a\":1}", 0, NULL, 0, "", "0@0 unknown_format the file looks like JSON" EXPECTED},
    {"samples as text", "\xef\xbb\xbfperfblock text 1\r\n", 0, NULL, 0, "",
     "0@0 unknown_format the file is the text form of samples: perfblock-fixture converts it" EXPECTED},
    {"CPI text", "cpi-snapshots 1\n", 0, NULL, 0, "",
     "0@0 unknown_format the file is a text of CPI snapshots" EXPECTED},
    {"names", "1\n4242\n2\nSystem\n", 0, NULL, 0, "", "0@-1 - is a name table, which is given with --names;"},
    {"every chunk", NULL, 0, make_every_chunk, 0, "borqnix21e", ""},
    {"metadata after samples", NULL, 0, make_late_metadata, 0, "bnRN2r2e", ""},
    {"parts", NULL, 0, make_parts, 0, "bb2bN2eb2eee", ""},
    {"a cut chunk", NULL, 0, make_cut, 0, "b2e", "0@80 truncated_chunk the capture ends inside a chunk;"},
    {"a later version", NULL, 0, make_later_version, 0, "be", "0@16 - chunks of a later version were skipped: 1;"},
    {"no samples", NULL, 0, make_no_samples, 0, "boe", "0@0 - the file has no samples;"},
    {"replies and zeros", NULL, 0, make_replies, 0, "b22e", "0@96 - the bytes from here on belong to no block;"},
    {"a damaged header", NULL, 0, make_damaged_reply, 0, "b2e",
     "0@48 bad_total_size the total size is smaller than the header;"},
    {"both versions", NULL, 0, make_both_versions, 0, "b12e",
     "0@944 - the bytes from here on belong to no block;"
     "0@896 - samples that are earlier than the one before them: 1;"},
    {"numbers", NULL, 0, make_initialiser, 0, "b1e", ""},
    {"numbers of several blocks", NULL, 0, make_decimal, 0, "b111e", ""},
    {"a small dump", NULL, 0, make_small_dump, 0, "b111e", ""},
    {"a small initialiser", NULL, 0, make_small_initialiser, 0, "b11e", ""},
    {"numbers and a rest", NULL, 0, make_dump, 0, "b11e", "0@5376 - the bytes from here on belong to no block;"},
    {"numbers between blocks", NULL, 0, make_no_block_between, 0, "b1e",
     "0@3585 - the bytes from here on belong to no block;"},
    {"numbers without end", NULL, 0, make_unclosed, 0, "b11e",
     "0@7169 bad_number_list the text is not a list of numbers from 0 to 255;"},
    {"a broken number", NULL, 0, make_broken_number, 0, "b1e",
     "0@2714 bad_number_list the text is not a list of numbers from 0 to 255;"},
    {"a number that is too large", "80 0 69 0 82 0 70 0 256", 0, NULL, 0, "be",
     "0@22 bad_number_list the text is not a list of numbers from 0 to 255;"},
    {"numbers of a cut block", "50 00 45 00 52 00 46 00 01", 0, NULL, 0, "be",
     "0@0 truncated_header the input ends inside its header;"},
    {"numbers without a signature", "50 00 45 00 52 00 47 00", 0, NULL, 0, "",
     "0@0 unknown_format the file looks like text" EXPECTED},
    {"numbers as a forced block", NULL, 0, make_initialiser, PFB_RECORD_V1, "b1e", ""},
    {"a log", NULL, 0, make_log, 0, "bnpllxe", ""},
    {"a text log", text_log, 0, NULL, 0, "bpwwe", "0@-1 - 1 lines that are no rows were skipped, the first in line 3;"},
    {"a forced recording", NULL, 0, make_every_chunk, PFB_RECORD_BEGIN, "borqnix21e", ""},
    {"another format as a recording", text_log, 0, NULL, PFB_RECORD_BEGIN, "",
     "0@0 unknown_format the input is in no known format;"},
    {"a forced log", "x", 0, NULL, PFB_RECORD_LOG, "", "0@0 unknown_format the input is in no known format;"},
    {"a forced reply", "x", 0, NULL, PFB_RECORD_V2, "be", "0@0 truncated_header the input ends inside its header;"},
};

/* Expectations of a pipe, where they differ: metadata that follows its samples is found too late. */
static const char *kinds_of_pipe(const small_input *row)
{
    return row->make == make_late_metadata ? "bn2r2ne" : row->make == make_parts ? "bb2b2neb2eee" : row->kinds;
}

static void get_content(const small_input *row, pfb_bytes *content)
{
    *content = (pfb_bytes){.data = NULL};
    cr_assert(pfb_bytes_reserve(content, 1));
    if (row->make)
        row->make(content);
    else
        cr_assert(pfb_bytes_append(content, row->text, row->size > 0 ? row->size : strlen(row->text)));
}

Test(stream, small_inputs_have_their_records_and_problems)
{
    for (size_t i = 0; i < sizeof small_inputs / sizeof small_inputs[0]; i++) {
        const small_input *row = &small_inputs[i];
        pfb_bytes content;
        get_content(row, &content);
        transcript t = read_memory(content.data, content.size_bytes, row->kind);
        cr_expect_eq(t.last, PFB_NEXT_END, "%s", row->what);
        cr_expect_str_eq(t.kinds, row->kinds, "%s: %s", row->what, t.kinds);
        cr_expect_str_eq(t.problems, row->problems, "%s: %s", row->what, t.problems);
        cr_expect_not(t.has_wrong_place, "%s", row->what);
        if (row->kind == 0) {
            transcript pipe = read_in_pieces(content.data, content.size_bytes, 10, true);
            cr_expect_str_eq(pipe.kinds, kinds_of_pipe(row), "%s: %s", row->what, pipe.kinds);
        }
        pfb_bytes_free(&content);
    }
}

/* ---- Properties of all seeds ------------------------------------------------------------------------------ */

static const char *const subjects[] = {"capture", "collect",    "log",  "pdh_text",    "v1",
                                       "v2",      "name_table", "text", "number_text", "stream"};

static void visit_all(seed_visitor *visit)
{
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        cr_expect_gt(visit_seeds(subjects[i], visit), 0);
}

static void check_places(const char *name, const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    cr_assert_not_null(copy);
    memcpy(copy, data, size);
    transcript t = read_memory(copy, size, 0);
    cr_expect_not(t.has_wrong_place, "%s", name);
    free(copy);
}

Test(stream, bytes_of_records_are_at_their_places)
{
    visit_all(check_places);
}

static void check_windows(const char *name, const uint8_t *data, size_t size)
{
    static const size_t sizes[] = {1, 2, 3, 7, 64, 1000, 1 << 20};
    transcript whole = read_memory(data, size, 0);
    transcript pipe = read_in_pieces(data, size, SIZE_MAX, true);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        transcript t = read_in_pieces(data, size, sizes[i], false);
        cr_expect(is_same(&t, &whole), "%s in pieces of %zu bytes: %s %s, not %s %s", name, sizes[i], t.kinds,
                  t.problems, whole.kinds, whole.problems);
        t = read_in_pieces(data, size, sizes[i], true);
        cr_expect(is_same(&t, &pipe), "%s from a pipe in pieces of %zu bytes", name, sizes[i]);
    }
    cr_expect_eq(pipe.samples, whole.samples, "%s from a pipe", name);
}

Test(stream, sizes_of_windows_do_not_matter)
{
    visit_all(check_windows);
}

/* What is left of a file that was cut has the records before the cut; a text may lose digits of the last one. */
static void check_prefixes(const char *name, const uint8_t *data, size_t size)
{
    enum { MAX_SIZE = 1500 };
    transcript whole = read_memory(data, size, 0);
    for (size_t cut = 0; cut < size && size < MAX_SIZE; cut++) {
        uint8_t *exact = malloc(cut > 0 ? cut : 1);
        cr_assert_not_null(exact);
        memcpy(exact, data, cut);
        transcript t = read_memory(exact, cut, 0);
        transcript parts = read_in_pieces(exact, cut, 5, false);
        size_t common = t.size > 0 && t.kinds[t.size - 1] == 'e' ? t.size - 1 : t.size;
        bool is_other = t.size > 1 && whole.size > 1 && t.kinds[1] != whole.kinds[1] && t.kinds[1] != 'e';
        cr_expect_eq(t.last, PFB_NEXT_END);
        cr_expect(is_other || strncmp(t.kinds, whole.kinds, common) == 0, "%s cut at %zu: %s, not %s", name, cut,
                  t.kinds, whole.kinds);
        cr_expect(is_same(&t, &parts), "%s cut at %zu in pieces: %s %s, not %s %s", name, cut, parts.kinds,
                  parts.problems, t.kinds, t.problems);
        free(exact);
    }
}

Test(stream, files_that_are_cut_have_the_records_before_the_cut)
{
    for (size_t i = 0; i < sizeof small_inputs / sizeof small_inputs[0]; i++) {
        pfb_bytes content;
        if (small_inputs[i].make == make_late_metadata || small_inputs[i].make == make_parts)
            continue; /* metadata after the cut is not returned in advance */
        get_content(&small_inputs[i], &content);
        check_prefixes(small_inputs[i].what, content.data, content.size_bytes);
        pfb_bytes_free(&content);
    }
}

static void check_rewind(const char *name, const uint8_t *data, size_t size)
{
    pfb_stream *stream = pfb_stream_new();
    cr_assert_not_null(stream);
    add_memory(stream, data, size, 0);
    transcript first = read_stream(stream, false, NULL, 0);
    cr_assert(pfb_stream_rewind(stream));
    transcript second = read_stream(stream, false, NULL, 0);
    cr_expect(is_same(&first, &second), "%s", name);
    pfb_stream_close(stream);
}

Test(stream, rewinding_returns_the_same_again)
{
    visit_all(check_rewind);
}

/* ---- Several files --------------------------------------------------------------------------------------- */

/* Samples are dealt to several captures by turns, in any way; merged, they are one sequence again. */
Test(stream, samples_of_several_files_are_merged_by_time)
{
    for (unsigned seed = 1; seed <= 50; seed++) {
        pfb_bytes files[4] = {{.data = NULL}};
        pfb_bytes all = {.data = NULL};
        unsigned random = seed;
        pfb_stream *stream = pfb_stream_new();
        for (size_t i = 0; i < 4; i++)
            put_tag(&files[i], PFB_TAG_CAPTURE, NULL, 0);
        put_tag(&all, PFB_TAG_CAPTURE, NULL, 0);
        for (unsigned i = 0; i < 40; i++) {
            random = random * 1103515245 + 12345;
            put_sample(&files[random >> 16 & 3], 1000 + i, i);
            put_sample(&all, 1000 + i, i);
        }
        for (size_t i = 0; i < 4; i++)
            cr_expect_eq(add_memory(stream, files[i].data, files[i].size_bytes, 0), (int32_t)i);
        transcript merged = read_stream(stream, false, NULL, 0);
        transcript whole = read_memory(all.data, all.size_bytes, 0);
        cr_expect_eq(merged.samples, whole.samples, "%u: %s", seed, merged.kinds);
        cr_expect_eq(merged.last, PFB_NEXT_END);
        pfb_stream_close(stream);
        for (size_t i = 0; i < 4; i++)
            pfb_bytes_free(&files[i]);
        pfb_bytes_free(&all);
    }
}

static transcript read_files(const pfb_bytes *files, size_t count, uint32_t option, int64_t value)
{
    pfb_stream *stream = pfb_stream_new();
    cr_assert_not_null(stream);
    if (option > 0)
        cr_assert_eq(pfb_stream_set(stream, option, value), PFB_OK);
    for (size_t i = 0; i < count; i++)
        add_memory(stream, files[i].data, files[i].size_bytes, 0);
    transcript t = read_stream(stream, true, NULL, 0);
    pfb_stream_close(stream);
    return t;
}

Test(stream, files_are_ordered_and_opened_by_their_first_time)
{
    pfb_bytes files[3] = {{.data = NULL}};
    static const int64_t times[3][3] = {{30, 31, 32}, {10, 11, 30}, {12, 5, 40}};
    for (size_t i = 0; i < 3; i++) {
        put_tag(&files[i], PFB_TAG_CAPTURE, NULL, 0);
        for (unsigned n = 0; n < 3; n++)
            put_sample(&files[i], times[i][n], 10 * i + n);
    }
    transcript t = read_files(files, 3, 0, 0);
    /* Time 5 follows 12 of its file at once; of two samples at 30, that of the first file comes first. */
    cr_expect_str_eq(t.kinds, "b12121b22222b02021e12020e022e2", "%s", t.kinds);
    for (size_t i = 0; i < 3; i++)
        pfb_bytes_free(&files[i]);
}

/* Times of malformed files may be any number. */
Test(stream, extreme_times_are_ordered)
{
    pfb_bytes files[4] = {{.data = NULL}};
    static const int64_t times[4] = {INT64_MAX, INT64_MAX - 1, INT64_MIN + 1, INT64_MIN};
    for (size_t i = 0; i < 4; i++) {
        put_tag(&files[i], PFB_TAG_CAPTURE, NULL, 0);
        put_sample(&files[i], times[i], (unsigned)i);
    }
    transcript t = read_files(files, 4, 0, 0);
    cr_expect_str_eq(t.kinds, "b323e3b222e2b121e1b020e0", "%s", t.kinds);
    for (size_t i = 0; i < 4; i++)
        pfb_bytes_free(&files[i]);
}

Test(stream, samples_that_files_share_are_returned_once)
{
    pfb_bytes files[2] = {{.data = NULL}};
    for (size_t i = 0; i < 2; i++) {
        put_tag(&files[i], PFB_TAG_CAPTURE, NULL, 0);
        for (unsigned n = 0; n < 4; n++)
            put_sample(&files[i], 1000 + (int64_t)(i + n) / 2, i + n); /* pairs with one time */
    }
    transcript t = read_files(files, 2, 0, 0);
    pfb_bytes all = {.data = NULL};
    put_tag(&all, PFB_TAG_CAPTURE, NULL, 0);
    for (unsigned n = 0; n < 5; n++)
        put_sample(&all, 1000 + n / 2, n);
    transcript whole = read_memory(all.data, all.size_bytes, 0);
    cr_expect_eq(t.samples, whole.samples, "%s", t.kinds);
    cr_expect_str_eq(t.problems, "1@32 - samples that another file has as well were left out: 3;", "%s", t.problems);
    t = read_files(files, 2, PFB_STREAM_REPEATED, 1);
    cr_expect_eq(t.count, 12);
    cr_expect_str_eq(t.problems, "");
    pfb_bytes_free(&files[0]);
    pfb_bytes_free(&files[1]);
    pfb_bytes_free(&all);
}

Test(stream, unreadable_files_leave_the_others)
{
    pfb_bytes content = {.data = NULL};
    pieces failing = {.has_failed = true};
    pfb_stream *stream = pfb_stream_new();
    make_every_chunk(&content);
    cr_expect_eq(pfb_stream_add_file(stream, PERFBLOCK_SOURCE_DIR "/no such file"), 0);
    cr_expect_eq(add_pieces(stream, &failing, "failing"), 1);
    cr_expect_eq(add_memory(stream, content.data, content.size_bytes, 0), 2);
    transcript t = read_stream(stream, true, NULL, 0);
    cr_expect_str_eq(t.kinds, "b2o2r2q2n2i2x22212e2", "%s", t.kinds);
    /* The second file is read first, to find its time. */
    cr_expect_str_eq(t.problems, "1@-1 - the bytes cannot be read;0@-1 - No such file or directory;", "%s", t.problems);
    cr_expect_str_eq(pfb_stream_label(stream, 1), "failing");
    cr_expect_str_eq(pfb_stream_label(stream, 3), "");
    pfb_stream_close(stream);
    pfb_bytes_free(&content);
}

static void check_failing_reads(const char *name, const pfb_bytes *content, size_t piece)
{
    bool has_failed = true;
    for (size_t call = 1; has_failed; call++) {
        pieces p = {.data = content->data, .size = content->size_bytes, .piece = piece, .failing_call = call};
        pfb_stream *stream = pfb_stream_new();
        add_pieces(stream, &p, "failing");
        transcript t = read_stream(stream, false, NULL, 0);
        has_failed = p.has_failed;
        const char *problem = strstr(t.problems, "the bytes cannot be read;");
        cr_expect(has_failed ? problem && !strstr(problem + 1, "the bytes cannot be read;") : !problem,
                  "%s, pieces of %zu, call %zu: %s", name, piece, call, t.problems);
        pfb_stream_close(stream);
    }
}

/* Wherever reading fails, also in the search for metadata that follows samples, the file ends with one problem. */
Test(stream, failing_reads_end_a_file)
{
    for (size_t i = 0; i < sizeof small_inputs / sizeof small_inputs[0]; i++) {
        pfb_bytes content = {.data = NULL};
        get_content(&small_inputs[i], &content);
        for (size_t piece = 30; piece < 80; piece += 3)
            check_failing_reads(small_inputs[i].what, &content, piece);
        pfb_bytes_free(&content);
    }
}

/* ---- Given metadata -------------------------------------------------------------------------------------- */

Test(stream, given_metadata_follows_the_begin_of_each_file)
{
    static const char names[] = "1\n4242\n2\nSystem\n";
    pfb_bytes content = {.data = NULL};
    pfb_stream *stream = pfb_stream_new();
    make_parts(&content);
    cr_expect_eq(add_memory(stream, names, strlen(names), PFB_RECORD_NAMES), 0);
    cr_expect_eq(add_memory(stream, "", 0, PFB_RECORD_QUERY_INFO), 1);
    cr_expect_eq(add_memory(stream, "no reply", 8, PFB_RECORD_REGISTRATION), 2);
    cr_expect_eq(add_memory(stream, text_log, strlen(text_log), 0), 3);
    cr_expect_eq(add_memory(stream, content.data, content.size_bytes, 0), 4);
    cr_expect_eq(add_memory(stream, "", 0, PFB_RECORD_NOTE), -1, "a kind that is not read");
    transcript t = read_stream(stream, false, NULL, 0);
    cr_expect_str_eq(t.kinds, "bNQbNQ2bNQN2ebNQ2eeebNpwwe", "%s", t.kinds);
    cr_expect_str_eq(t.problems,
                     "2@0 truncated_header the input ends inside its header;"
                     "3@-1 - 1 lines that are no rows were skipped, the first in line 3;",
                     "%s", t.problems);
    pfb_stream_close(stream);
    pfb_bytes_free(&content);
}

/* Only the reply with code 1 contains the counterset. If it cannot be read, names after it belong to no earlier one. */
Test(stream, names_do_not_belong_to_a_registration_before_an_unreadable_one)
{
    static uint8_t set[1 << 14];
    pieces failing = {.has_failed = true};
    pfb_stream *stream = pfb_stream_new();
    pfb_writer writer;
    pfb_write_init(&writer, set, sizeof set);
    cr_assert(pfb_catalog_registration(pfb_catalog_set_at(0), PFB_REQUEST_COUNTERSET, &writer));
    cr_assert(writer.size_bytes <= sizeof set);
    pfb_input input = {.size = sizeof input, .kind = PFB_RECORD_REGISTRATION, .label = "set"};
    input.data = set;
    input.byte_count = writer.size_bytes;
    cr_expect_eq(pfb_stream_add(stream, &input), 0);
    input.data = NULL;
    input.context = &failing;
    input.read = read_piece;
    cr_expect_eq(pfb_stream_add(stream, &input), 1);
    input.read = NULL;
    input.data = "n\0\0";
    input.byte_count = 4;
    input.request = PFB_REQUEST_COUNTERSET_NAME;
    cr_expect_eq(pfb_stream_add(stream, &input), 2);
    cr_expect_eq(add_memory(stream, text_log, strlen(text_log), 0), 3);
    transcript t = read_stream(stream, false, NULL, 0);
    cr_expect(strstr(t.problems, "2@-1 - has no counterset: give the --registration of its counterset with code 1"),
              "%s", t.problems);
    pfb_stream_close(stream);
}

/* ---- Limits ---------------------------------------------------------------------------------------------- */

Test(stream, chunks_of_unknown_tags_are_not_read)
{
    enum { UNKNOWN_BYTES = 20 << 20 };
    pfb_bytes content = {.data = NULL};
    uint8_t *body = calloc(UNKNOWN_BYTES, 1);
    cr_assert_not_null(body);
    put_tag(&content, PFB_TAG_CAPTURE, NULL, 0);
    put_sample(&content, 1000, 0);
    put_tag(&content, PFB_TAG('Z', 'Z', 'Z', 'Z'), body, UNKNOWN_BYTES);
    put_sample(&content, 1001, 0);
    for (int is_pipe = 0; is_pipe <= 1; is_pipe++) {
        pieces p = {.data = content.data, .size = content.size_bytes, .piece = SIZE_MAX, .is_pipe = is_pipe};
        pfb_stream *stream = pfb_stream_new();
        cr_expect_eq(pfb_stream_set(stream, PFB_STREAM_MEMORY, 1 << 20), PFB_OK);
        add_pieces(stream, &p, "unknown");
        transcript t = read_stream(stream, false, NULL, 0);
        cr_expect_str_eq(t.kinds, "b22e");
        cr_expect_str_eq(t.problems, "");
        cr_expect(is_pipe || p.read < 1 << 20, "%llu", (unsigned long long)p.read);
        pfb_stream_close(stream);
    }
    free(body);
    pfb_bytes_free(&content);
}

/* A capture, V1 blocks, or V2 replies that are followed by very many zeros. */
static int64_t read_zeros(void *context, uint64_t offset, void *to, uint64_t byte_count)
{
    const bytes *start = context;
    const uint64_t total = UINT64_C(64) << 20;
    if (offset >= total)
        return 0;
    memset(to, 0, byte_count);
    if (offset < start->size)
        memcpy(to, start->data + offset,
               (size_t)(start->size - offset < byte_count ? start->size - offset : byte_count));
    return (int64_t)byte_count;
}

Test(stream, zeros_are_skipped_in_constant_memory)
{
    bytes start = {.size = 0};
    put_reply(&start, 1000, 0);
    pfb_stream *stream = pfb_stream_new();
    const pfb_input input = {.size = sizeof input, .label = "zeros", .context = &start, .read = read_zeros};
    cr_expect_eq(pfb_stream_set(stream, PFB_STREAM_MEMORY, 1 << 16), PFB_OK);
    pfb_stream_add(stream, &input);
    transcript t = read_stream(stream, false, NULL, 0);
    cr_expect_str_eq(t.kinds, "b2e");
    cr_expect_str_eq(t.problems, "0@48 - the bytes from here on belong to no block;", "%s", t.problems);
    pfb_stream_close(stream);
}

Test(stream, a_record_that_exceeds_the_memory_ends_its_file)
{
    enum { NOTE_BYTES = 100000, MEMORY = 80000 };
    pfb_bytes large = {.data = NULL};
    pfb_bytes small = {.data = NULL};
    uint8_t *body = calloc(NOTE_BYTES, 1);
    cr_assert_not_null(body);
    put_tag(&large, PFB_TAG_CAPTURE, NULL, 0);
    put_sample(&large, 1000, 0);
    put_tag(&large, PFB_TAG_NOTE, body, NOTE_BYTES);
    put_tag(&small, PFB_TAG_CAPTURE, NULL, 0);
    put_sample(&small, 1001, 0);
    pieces a = {.data = large.data, .size = large.size_bytes, .piece = SIZE_MAX};
    pieces b = {.data = small.data, .size = small.size_bytes, .piece = SIZE_MAX};
    pfb_stream *stream = pfb_stream_new();
    cr_expect_eq(pfb_stream_set(stream, PFB_STREAM_MEMORY, MEMORY), PFB_OK);
    add_pieces(stream, &a, "large");
    add_pieces(stream, &b, "small");
    transcript t = read_stream(stream, true, NULL, 0);
    cr_expect_str_eq(t.kinds, "b020e0b121e1", "%s", t.kinds);
    cr_expect_str_eq(
        t.problems,
        "0@80 - the rest of the file is left out: what begins here needs more than is left of the 0 MiB of "
        "memory that all files have;",
        "%s", t.problems);
    pfb_stream_close(stream);
    free(body);
    pfb_bytes_free(&large);
    pfb_bytes_free(&small);
}

/* Zeros that follow the header of a chunk of any size. Counts the calls. */
typedef struct endless {
    const pfb_bytes *start;
    size_t calls;
} endless;

static int64_t read_endless(void *context, uint64_t offset, void *to, uint64_t byte_count)
{
    endless *e = context;
    const pfb_bytes *start = e->start;
    e->calls++;
    memset(to, 0, byte_count);
    if (offset < start->size_bytes)
        memcpy(to, start->data + offset,
               (size_t)(start->size_bytes - offset < byte_count ? start->size_bytes - offset : byte_count));
    return (int64_t)byte_count;
}

/* When the budget does not suffice for twice the window, the window still grows in few steps. */
Test(stream, the_rest_of_the_memory_is_used_in_few_steps)
{
    enum { MAX_CALLS = 100 };
    static const uint8_t header[] = {'N', 'O', 'T', 'E', 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}; /* 2^40 bytes */
    pfb_bytes start = {.data = NULL};
    put_tag(&start, PFB_TAG_CAPTURE, NULL, 0);
    cr_assert(pfb_bytes_append(&start, header, sizeof header));
    for (int64_t memory = 1 << 20; memory < (1 << 20) + 5; memory++) {
        endless e = {.start = &start};
        const pfb_input input = {.size = sizeof input, .label = "endless", .context = &e, .read = read_endless};
        pfb_stream *stream = pfb_stream_new();
        cr_expect_eq(pfb_stream_set(stream, PFB_STREAM_MEMORY, memory + 1000), PFB_OK);
        pfb_stream_add(stream, &input);
        transcript t = read_stream(stream, false, NULL, 0);
        cr_expect_eq(strncmp(t.problems, "0@16 - the rest", 15), 0, "%s", t.problems);
        cr_expect(e.calls < MAX_CALLS, "%zu calls", e.calls);
        pfb_stream_close(stream);
    }
    pfb_bytes_free(&start);
}

/* Numbers are decoded one by one: neither their blocks nor the blanks between them are in memory at the same time. */
Test(stream, numbers_are_read_in_constant_memory)
{
    enum { COUNT = 4000, BLANK_BYTES = 1 << 20, MEMORY = 1 << 16 };
    uint8_t block[SMALL_BLOCK_BYTES];
    size_t size = make_small_block(block);
    pfb_bytes content = {.data = NULL};
    uint8_t *blanks = malloc(BLANK_BYTES);
    cr_assert_not_null(blanks);
    memset(blanks, ' ', BLANK_BYTES);
    put_numbers(&content, block, size, COUNT / 2, "%u,");
    cr_assert(pfb_bytes_append(&content, blanks, BLANK_BYTES));
    put_numbers(&content, block, size, COUNT / 2, "%u ");
    for (int is_pipe = 0; is_pipe <= 1; is_pipe++) {
        pieces p = {.data = content.data, .size = content.size_bytes, .piece = 5000, .is_pipe = is_pipe};
        pfb_stream *stream = pfb_stream_new();
        cr_expect_eq(pfb_stream_set(stream, PFB_STREAM_MEMORY, MEMORY), PFB_OK);
        add_pieces(stream, &p, "numbers");
        transcript t = read_stream(stream, false, content.data, content.size_bytes);
        cr_expect_eq(t.count, COUNT + 2);
        cr_expect_str_eq(t.problems, "");
        cr_expect_not(t.has_wrong_place);
        pfb_stream_close(stream);
    }
    free(blanks);
    pfb_bytes_free(&content);
}

Test(stream, numbers_that_exceed_the_memory_end_their_file)
{
    enum { BLOCK_BYTES = 20000, MEMORY = 80000 };
    uint8_t *block = calloc(BLOCK_BYTES, 1);
    cr_assert_not_null(block);
    size_t size = make_small_block(block);
    pfb_bytes content = {.data = NULL};
    put_numbers(&content, block, size, 1, "%u ");
    store_ordered(block + 20, true, BLOCK_BYTES);
    put_numbers(&content, block, BLOCK_BYTES, 1, "%u ");
    pieces p = {.data = content.data, .size = content.size_bytes, .piece = SIZE_MAX};
    pfb_stream *stream = pfb_stream_new();
    cr_expect_eq(pfb_stream_set(stream, PFB_STREAM_MEMORY, MEMORY), PFB_OK);
    add_pieces(stream, &p, "numbers");
    add_memory(stream, text_log, strlen(text_log), 0);
    transcript t = read_stream(stream, true, NULL, 0);
    cr_expect_str_eq(t.kinds, "b010e0b1p1w1w1e1", "%s", t.kinds);
    cr_expect_str_eq(
        t.problems,
        "0@367 - the rest of the file is left out: what begins here needs more than is left of the 0 MiB of "
        "memory that all files have;1@-1 - 1 lines that are no rows were skipped, the first in line 3;",
        "%s", t.problems);
    pfb_stream_close(stream);
    free(block);
    pfb_bytes_free(&content);
}

/* ---- Control --------------------------------------------------------------------------------------------- */

Test(stream, options_are_checked)
{
    pfb_stream *stream = pfb_stream_new();
    static const struct {
        uint32_t option;
        int64_t value;
        pfb_code code;
    } rows[] = {
        {PFB_STREAM_STRICT, 1, PFB_OK},
        {PFB_STREAM_STRICT, 2, PFB_CALLER_ARGUMENT},
        {PFB_STREAM_FOLLOW, -1, PFB_CALLER_ARGUMENT},
        {PFB_STREAM_NO_WAIT, 1, PFB_OK},
        {PFB_STREAM_INTERVAL, -1, PFB_CALLER_ARGUMENT},
        {PFB_STREAM_INTERVAL, INT64_MAX, PFB_OK},
        {PFB_STREAM_MEMORY, -1, PFB_CALLER_ARGUMENT},
        {PFB_STREAM_MEMORY, 1, PFB_OK},
        {PFB_STREAM_BIAS, 1440, PFB_OK},
        {PFB_STREAM_BIAS, -1441, PFB_CALLER_ARGUMENT},
        {PFB_STREAM_VERSION, 2, PFB_OK},
        {PFB_STREAM_VERSION, 3, PFB_CALLER_ARGUMENT},
        {PFB_STREAM_METADATA, 2, PFB_OK},
        {PFB_STREAM_METADATA, 3, PFB_CALLER_ARGUMENT},
        {PFB_STREAM_REPEATED, 1, PFB_OK},
        {PFB_STREAM_DATE_ORDER, 3, PFB_OK},
        {PFB_STREAM_DATE_ORDER, 4, PFB_CALLER_ARGUMENT},
        {PFB_STREAM_DECIMAL, ',', PFB_OK},
        {PFB_STREAM_DECIMAL, ';', PFB_CALLER_ARGUMENT},
        {PFB_STREAM_CODE_PAGE, 874, PFB_OK},
        {PFB_STREAM_CODE_PAGE, 1258, PFB_OK},
        {PFB_STREAM_CODE_PAGE, 65001, PFB_OK},
        {PFB_STREAM_CODE_PAGE, 0, PFB_OK},
        {PFB_STREAM_CODE_PAGE, 437, PFB_CALLER_ARGUMENT},
        {PFB_STREAM_CODE_PAGE, -1, PFB_CALLER_ARGUMENT},
        {PFB_STREAM_CODE_PAGE, (INT64_C(1) << 32) + 932, PFB_CALLER_ARGUMENT},
        {0, 0, PFB_CALLER_ARGUMENT},
        {PFB_STREAM_FORCE_BIAS, 1, PFB_OK},
        {PFB_STREAM_FORCE_BIAS, 2, PFB_CALLER_ARGUMENT},
        {14, 0, PFB_CALLER_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(pfb_stream_set(stream, rows[i].option, rows[i].value), rows[i].code, "row %zu", i);
    pfb_stream_close(stream);
    pfb_stream_close(NULL);
}

Test(stream, a_stopped_stream_returns_nothing_more)
{
    pfb_record record = {.size = sizeof record};
    pfb_bytes content = {.data = NULL};
    pfb_stream *stream = pfb_stream_new();
    make_every_chunk(&content);
    add_memory(stream, content.data, content.size_bytes, 0);
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_RECORD);
    pfb_stream_stop(stream);
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_END);
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_END);
    pfb_stream_close(stream);
    pfb_bytes_free(&content);
}

Test(stream, a_smaller_struct_of_an_older_caller_is_kept_inside)
{
    struct {
        uint32_t size, kind, file, after;
    } record = {12, 0, 7, 0xAAAAAAAA};
    pfb_stream *stream = pfb_stream_new();
    add_memory(stream, text_log, strlen(text_log), 0);
    cr_expect_eq(pfb_stream_next(stream, (pfb_record *)(void *)&record), PFB_NEXT_RECORD);
    cr_expect(record.size == 12 && record.kind == PFB_RECORD_BEGIN && record.file == 0 && record.after == 0xAAAAAAAA);
    pfb_stream_close(stream);
}

Test(stream, a_pipe_cannot_be_rewound_after_it_was_read)
{
    pieces p = {.data = (const uint8_t *)text_log, .size = strlen(text_log), .piece = SIZE_MAX, .is_pipe = true};
    pfb_record record = {.size = sizeof record};
    pfb_stream *stream = pfb_stream_new();
    add_pieces(stream, &p, "pipe");
    cr_expect(pfb_stream_rewind(stream), "nothing was read");
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_RECORD);
    cr_expect_not(pfb_stream_rewind(stream));
    pfb_stream_close(stream);
}

Test(stream, progress_ends_at_the_size_of_the_file)
{
    uint64_t done = 0;
    uint64_t total = 0;
    uint64_t before = 0;
    pfb_record record = {.size = sizeof record};
    pfb_stream *stream = pfb_stream_new();
    add_memory(stream, text_log, strlen(text_log), 0);
    while (pfb_stream_next(stream, &record) == PFB_NEXT_RECORD) {
        pfb_stream_progress(stream, 0, &done, &total);
        cr_expect(done >= before && done <= total && total == strlen(text_log));
        before = done;
    }
    cr_expect_eq(before, total);
    pfb_stream_progress(stream, 1, &done, &total);
    cr_expect(done == 0 && total == 0);
    pfb_stream_close(stream);
}

/* ---- Files that grow ------------------------------------------------------------------------------------- */

Test(stream, a_followed_file_is_read_as_it_grows)
{
    char path[256];
    pfb_bytes content = {.data = NULL};
    pfb_record record = {.size = sizeof record};
    put_tag(&content, PFB_TAG_CAPTURE, NULL, 0);
    put_sample(&content, 1000, 0);
    size_t half = content.size_bytes;
    put_sample(&content, 1001, 0);
    snprintf(path, sizeof path, "stream_followed_%p.pfb", (void *)&content);
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    fwrite(content.data, 1, half + 20, file);
    fflush(file);
    pfb_stream *stream = pfb_stream_new();
    pfb_stream_set(stream, PFB_STREAM_FOLLOW, 1);
    pfb_stream_set(stream, PFB_STREAM_NO_WAIT, 1);
    pfb_stream_add_file(stream, path);
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_RECORD);
    cr_expect(pfb_stream_next(stream, &record) == PFB_NEXT_RECORD && record.kind == PFB_RECORD_V2);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_WAIT);
    cr_expect_gt(pfb_stream_wait(stream), 0);
    fwrite(content.data + half + 20, 1, content.size_bytes - half - 20, file);
    fflush(file);
    cr_expect(pfb_stream_next(stream, &record) == PFB_NEXT_RECORD && record.time == 1001);
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_WAIT);
    pfb_stream_stop(stream);
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_END);
    pfb_stream_close(stream);
    fclose(file);
    remove(path);
    pfb_bytes_free(&content);
}

#if !defined(_WIN32)

/* A recorder locks the file that it writes. */
Test(stream, a_file_that_is_being_written_ends_at_its_present_end)
{
    char path[256];
    pfb_bytes content = {.data = NULL};
    put_tag(&content, PFB_TAG_CAPTURE, NULL, 0);
    put_sample(&content, 1000, 0);
    put_sample(&content, 1001, 0);
    snprintf(path, sizeof path, "stream_locked_%p.pfb", (void *)&content);
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(flock(fileno(file), LOCK_EX), 0);
    for (int is_locked = 1; is_locked >= 0; is_locked--) {
        pfb_stream *stream = pfb_stream_new();
        pfb_stream_add_file(stream, path);
        transcript t = read_stream(stream, false, NULL, 0);
        cr_expect_str_eq(t.kinds, is_locked ? "be" : "b2e", "%s", t.kinds);
        cr_expect_str_eq(t.problems, is_locked ? "" : "0@80 truncated_chunk the capture ends inside a chunk;", "%s",
                         t.problems);
        pfb_stream_close(stream);
        fwrite(content.data, 1, content.size_bytes - 8, file);
        fflush(file);
        flock(fileno(file), LOCK_UN);
    }
    fclose(file);
    remove(path);
    pfb_bytes_free(&content);
}

/* A file that is followed is complete when the recorder has released its lock. */
Test(stream, a_followed_file_ends_when_its_recorder_ends)
{
    char path[256];
    pfb_bytes content = {.data = NULL};
    pfb_record record = {.size = sizeof record};
    put_tag(&content, PFB_TAG_CAPTURE, NULL, 0);
    put_sample(&content, 1000, 0);
    snprintf(path, sizeof path, "stream_ended_%p.pfb", (void *)&content);
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(flock(fileno(file), LOCK_EX), 0);
    pfb_stream *stream = pfb_stream_new();
    pfb_stream_set(stream, PFB_STREAM_FOLLOW, 1);
    pfb_stream_set(stream, PFB_STREAM_NO_WAIT, 1);
    pfb_stream_add_file(stream, path);
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_WAIT);
    fwrite(content.data, 1, content.size_bytes, file);
    fflush(file);
    cr_expect(pfb_stream_next(stream, &record) == PFB_NEXT_RECORD && record.kind == PFB_RECORD_BEGIN);
    cr_expect(pfb_stream_next(stream, &record) == PFB_NEXT_RECORD && record.kind == PFB_RECORD_V2);
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_WAIT);
    flock(fileno(file), LOCK_UN);
    cr_expect(pfb_stream_next(stream, &record) == PFB_NEXT_RECORD && record.kind == PFB_RECORD_END);
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_END);
    pfb_stream_close(stream);
    fclose(file);
    remove(path);
    pfb_bytes_free(&content);
}

/* A pipe without bytes is not waited for, and a stopped stream does not wait. */
Test(stream, a_pipe_is_read_as_bytes_arrive)
{
    char path[64];
    int ends[2];
    pfb_record record = {.size = sizeof record};
    cr_assert_eq(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    pfb_stream *stream = pfb_stream_new();
    pfb_stream_set(stream, PFB_STREAM_NO_WAIT, 1);
    pfb_stream_add_file(stream, path);
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_WAIT);
    cr_assert_eq(write(ends[1], text_log, strlen(text_log)), (ssize_t)strlen(text_log));
    static const uint32_t kinds[] = {PFB_RECORD_BEGIN, PFB_RECORD_PATHS, PFB_RECORD_ROW, PFB_RECORD_ROW};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        cr_expect(pfb_stream_next(stream, &record) == PFB_NEXT_RECORD && record.kind == kinds[i], "%zu", i);
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_WAIT);
    pfb_stream_set(stream, PFB_STREAM_NO_WAIT, 0);
    close(ends[1]);
    cr_expect(pfb_stream_next(stream, &record) == PFB_NEXT_RECORD && record.kind == PFB_RECORD_END);
    pfb_stream_close(stream);
    close(ends[0]);
}

static pfb_stream *signalled_stream;

static void stop_stream(int number)
{
    (void)number;
    pfb_stream_stop(signalled_stream);
}

/* A signal handler may stop a stream that sleeps or waits for a pipe. */
Test(stream, a_signal_stops_a_stream_that_waits)
{
    char path[64];
    int ends[2];
    pfb_record record = {.size = sizeof record};
    const struct itimerval soon = {.it_value = {.tv_usec = 100000}};
    cr_assert_eq(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    pfb_stream *stream = signalled_stream = pfb_stream_new();
    signal(SIGALRM, stop_stream);
    pfb_stream_add_file(stream, path);
    cr_assert_eq(setitimer(ITIMER_REAL, &soon, NULL), 0);
    cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_END);
    pfb_stream_close(stream);
    close(ends[0]);
    close(ends[1]);
}

/* Offsets have 64 bits, also where size_t has 32: of records, of metadata that was read in advance, and of problems.
 * The file takes little space, because most of it is a hole. */
Test(stream, offsets_above_4_gib)
{
    const uint64_t skipped = UINT64_C(5) << 30;
    const uint64_t after = 16 + 64 + 16 + skipped; /* offset after PFBC, DATA and the chunk that is skipped */
    uint8_t unknown[16] = {'Z', 'Z', 'Z', 'Z', 1, 0, 0, 0, 0, 0, 0, 0x40, 1, 0, 0, 0};
    static const uint8_t cut[16] = {'D', 'A', 'T', 'A', 1, 0, 0, 0, 100};
    static const uint8_t query[8] = {0};
    const struct {
        uint32_t kind;
        uint64_t offset;
    } expected[] = {
        {PFB_RECORD_BEGIN, 0},       {PFB_RECORD_QUERY_INFO, after + 80}, {PFB_RECORD_V2, 32},
        {PFB_RECORD_V2, after + 16}, {PFB_RECORD_QUERY_INFO, after + 80}, {PFB_RECORD_END, 0},
    };
    const size_t count = sizeof expected / sizeof expected[0];
    pfb_bytes head = {.data = NULL};
    pfb_bytes tail = {.data = NULL};
    char path[] = "/tmp/perfblock-XXXXXX";
    pfb_record record = {.size = sizeof record};
    pfb_problem problem = {.size = sizeof problem};
    put_tag(&head, PFB_TAG_CAPTURE, NULL, 0);
    put_sample(&head, 1000, 0);
    cr_assert(pfb_bytes_append(&head, unknown, sizeof unknown));
    put_sample(&tail, 1001, 0);
    put_tag(&tail, PFB_TAG_QUERY_INFO, query, sizeof query);
    cr_assert(pfb_bytes_append(&tail, cut, sizeof cut));
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    bool is_made = write(file, head.data, head.size_bytes) == (ssize_t)head.size_bytes &&
                   pwrite(file, tail.data, tail.size_bytes, (off_t)after) == (ssize_t)tail.size_bytes;
    close(file);
    pfb_stream *stream = pfb_stream_new();
    pfb_stream_add_file(stream, path);
    for (size_t i = 0; is_made && i < count; i++) {
        cr_assert_eq(pfb_stream_next(stream, &record), PFB_NEXT_RECORD, "record %zu", i);
        uint64_t offset = expected[i].offset;
        cr_expect(record.kind == expected[i].kind && record.offset == offset, "record %zu of kind %u at %llu", i,
                  (unsigned)record.kind, (unsigned long long)record.offset);
        if (record.byte_count > 0)
            cr_expect_eq(pfb_stream_offset(stream, &record, 3), offset + 3, "record %zu", i);
    }
    cr_expect(pfb_stream_problem(stream, &problem) && problem.code == PFB_TRUNCATED_CHUNK &&
              problem.offset == after + tail.size_bytes - sizeof cut);
    pfb_stream_close(stream);
    unlink(path);
    cr_expect(is_made);
    pfb_bytes_free(&head);
    pfb_bytes_free(&tail);
}

#endif

/* ---- Circular logs --------------------------------------------------------------------------------------- */

/* Reads the log. Returns the number of samples whose time is that of their place in the order of time, and whose bytes
 * are at their places in the file. */
static size_t count_in_order(pfb_stream *stream, const pfb_bytes *content)
{
    pfb_record record = {.size = sizeof record};
    int64_t previous = 0;
    size_t count = 0;
    while (pfb_stream_next(stream, &record) == PFB_NEXT_RECORD) {
        bool is_in_place = true;
        for (uint64_t i = 0; i < record.byte_count; i++)
            is_in_place = is_in_place && content->data[pfb_stream_offset(stream, &record, i)] == record.bytes[i];
        if (record.kind == PFB_RECORD_LOG) {
            count += is_in_place && (count == 0 || record.time == previous + 10000000);
            previous = record.time;
        }
        cr_expect(is_in_place || record.kind == PFB_RECORD_BEGIN || record.kind == PFB_RECORD_END);
    }
    return count;
}

Test(stream, circular_logs_are_read_in_the_order_of_time)
{
    static const size_t sizes[] = {1, 7, 1000, 1 << 20};
    pfb_bytes content = {.data = NULL};
    make_circular_log(&content);
    for (size_t i = 0; i <= sizeof sizes / sizeof sizes[0]; i++) {
        pieces p = {.data = content.data, .size = content.size_bytes};
        pfb_stream *stream = pfb_stream_new();
        if (i < sizeof sizes / sizeof sizes[0]) {
            p.piece = sizes[i];
            add_pieces(stream, &p, "pieces");
        } else {
            add_memory(stream, content.data, content.size_bytes, 0);
        }
        for (int again = 0; again < 2; again++) {
            transcript t = {.size = 0};
            cr_expect_eq(count_in_order(stream, &content), CIRCULAR_SAMPLES, "case %zu", i);
            add_problems(&t, stream);
            cr_expect_str_eq(t.problems, "0@-1 - the log is circular: its samples are read in the order of time;", "%s",
                             t.problems);
            cr_expect(pfb_stream_rewind(stream));
        }
        pfb_stream_close(stream);
    }
    transcript pipe = read_in_pieces(content.data, content.size_bytes, 100, true);
    /* The payload after the headers of buffer 5 and of its event. */
    cr_expect_str_eq(pipe.problems, "0@5264 - samples that are earlier than the one before them: 1;", "%s",
                     pipe.problems);
    pfb_bytes_free(&content);
}

/* ---- Lack of memory -------------------------------------------------------------------------------------- */

/* Reads several files with given metadata. Returns false if memory was exhausted, which must be reported. */
static bool work_with_little_memory(const pfb_bytes *content, const pfb_bytes *log, const pfb_bytes *numbers)
{
    static const char names[] = "1\n4242\n2\nSystem\n";
    pfb_record record = {.size = sizeof record};
    pieces p = {.data = content->data, .size = content->size_bytes, .piece = 50};
    pieces q = {.data = log->data, .size = log->size_bytes, .piece = 1000};
    int32_t step = PFB_NEXT_FAILED;
    pfb_stream *stream = pfb_stream_new();
    bool is_added = stream && add_memory(stream, names, strlen(names), PFB_RECORD_NAMES) >= 0 &&
                    add_pieces(stream, &p, "pieces") >= 0 && add_pieces(stream, &q, "log") >= 0 &&
                    add_memory(stream, numbers->data, numbers->size_bytes, 0) >= 0 &&
                    add_memory(stream, content->data, content->size_bytes, 0) >= 0 &&
                    add_memory(stream, "garbage", 7, 0) >= 0 && pfb_stream_select(stream, NULL);
    while (is_added && (step = pfb_stream_next(stream, &record)) == PFB_NEXT_RECORD)
        continue;
    if (is_added && step == PFB_NEXT_FAILED) {
        pfb_problem problem = {.size = sizeof problem};
        uint32_t kind = UINT32_MAX;
        while (pfb_stream_problem(stream, &problem))
            kind = problem.kind;
        cr_expect_eq(kind, PFB_PROBLEM_MEMORY);
        cr_expect_eq(pfb_stream_next(stream, &record), PFB_NEXT_FAILED);
    }
    pfb_stream_close(stream);
    return step == PFB_NEXT_END;
}

Test(stream, exhausted_memory_is_reported)
{
    pfb_bytes content = {.data = NULL};
    pfb_bytes log = {.data = NULL};
    pfb_bytes numbers = {.data = NULL};
    make_late_metadata(&content);
    make_circular_log(&log);
    make_decimal(&numbers);
    bool is_done = false;
    for (size_t failing = 1; !is_done; failing++) {
        allocations = 0;
        failing_allocation = failing;
        is_done = work_with_little_memory(&content, &log, &numbers);
        is_done = is_done && allocations < failing;
        cr_assert_lt(failing, 1000);
    }
    failing_allocation = 0;
    pfb_bytes_free(&content);
    pfb_bytes_free(&log);
    pfb_bytes_free(&numbers);
}
