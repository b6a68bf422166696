/* SPDX-License-Identifier: MIT */
/* Reads the input as a stream: from memory, by a callback that returns pieces of any size, and from a pipe that does
 * so; split into two files that are merged; with little memory, and in strict mode. Checks that memory and callback
 * have the same records, that each byte of a record is at its place in the file, and that files and parts begin before
 * their records and end after them. */
#include "perfblock/stream.h"
#include "steady.h"
#include "support_numbers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Bytes that are read in pieces. */
typedef struct pieces {
    const uint8_t *data;
    size_t size;
    uint64_t random;
    uint64_t next; /* offset after the latest read */
    bool is_pipe;
} pieces;

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

static int64_t read_piece(void *context, uint64_t offset, void *to, uint64_t byte_count)
{
    pieces *p = context;
    require(!p->is_pipe || offset == p->next);
    uint64_t left = offset < p->size ? p->size - offset : 0;
    uint64_t count = 1 + next_random(&p->random) % (next_random(&p->random) % 4 == 0 ? 4096 : 16);
    count = count < byte_count ? count : byte_count;
    count = count < left ? count : left;
    if (count > 0)
        memcpy(to, p->data + offset, (size_t)count);
    p->next = offset + count;
    return (int64_t)count;
}

static uint64_t mix(uint64_t hash, uint64_t number)
{
    return (hash ^ number) * UINT64_C(0x9E3779B97F4A7C15) ^ hash >> 29;
}

/* Reads a whole stream and returns a hash of its records. `file` has the bytes of its only file, or is null. */
static uint64_t read_records(pfb_stream *stream, const uint8_t *file, size_t file_size)
{
    enum { MAX_PARTS = 64 };
    uint64_t hash = 0;
    unsigned radix = file ? numbers_radix(file, file_size) : 0;
    bool is_open[2][MAX_PARTS] = {{false}};
    int32_t step;
    pfb_record record = {.size = sizeof record};
    pfb_problem problem = {.size = sizeof problem};
    while ((step = pfb_stream_next(stream, &record)) == PFB_NEXT_RECORD) {
        require(record.file < 2 && record.kind >= PFB_RECORD_BEGIN && record.kind <= PFB_RECORD_END);
        if (record.part < MAX_PARTS) {
            bool *part = &is_open[record.file][record.part];
            require(*part == (record.kind != PFB_RECORD_BEGIN));
            *part = record.kind != PFB_RECORD_END;
        }
        hash = mix(mix(hash, record.kind), record.part);
        hash = mix(mix(hash, record.offset), (uint64_t)record.time);
        hash = mix(mix(hash, record.flags), record.byte_count);
        for (uint64_t i = 0; i < record.byte_count; i++) {
            hash = mix(hash, record.bytes[i]);
            require(!file || (record.flags & (PFB_RECORD_EARLY | PFB_RECORD_CONVERTED)) ||
                    byte_at_place(file, file_size, radix, pfb_stream_offset(stream, &record, i)) == record.bytes[i]);
        }
    }
    require(step == PFB_NEXT_END);
    while (pfb_stream_problem(stream, &problem)) {
        require(problem.sentence[0] != '\0' && pfb_stream_label(stream, problem.file)[0] != '\0');
        hash = mix(mix(hash, problem.code), problem.offset);
    }
    for (size_t i = 0; i < MAX_PARTS; i++)
        require(!is_open[0][i] && !is_open[1][i]);
    return hash;
}

static void add_memory(pfb_stream *stream, const uint8_t *data, size_t size)
{
    const pfb_input input = {.size = sizeof input, .label = "memory", .data = data, .byte_count = size};
    require(pfb_stream_add(stream, &input) >= 0);
}

static uint64_t read_memory(const uint8_t *data, size_t size, bool is_strict)
{
    pfb_stream *stream = open_steady_stream();
    require(stream && pfb_stream_set(stream, PFB_STREAM_STRICT, is_strict) == PFB_OK);
    add_memory(stream, data, size);
    uint64_t hash = read_records(stream, data, size);
    require(pfb_stream_rewind(stream) && read_records(stream, data, size) == hash);
    pfb_stream_close(stream);
    return hash;
}

static uint64_t read_pieces(const uint8_t *data, size_t size, bool is_pipe, int64_t memory)
{
    pieces p = {.data = data, .size = size, .random = size, .is_pipe = is_pipe};
    const pfb_input input = {
        .size = sizeof input, .label = "pieces", .context = &p, .read = read_piece, .can_seek = !is_pipe};
    pfb_stream *stream = open_steady_stream();
    require(stream && pfb_stream_set(stream, PFB_STREAM_MEMORY, memory) == PFB_OK);
    require(pfb_stream_add(stream, &input) == 0);
    uint64_t hash = read_records(stream, data, size);
    pfb_stream_close(stream);
    return hash;
}

static void merge_halves(const uint8_t *data, size_t size)
{
    size_t half = size / 2;
    pfb_stream *stream = open_steady_stream();
    require(stream != NULL);
    add_memory(stream, data, half);
    add_memory(stream, data + half, size - half);
    read_records(stream, NULL, 0);
    pfb_stream_close(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t none = 0;
    data = size > 0 ? data : &none;
    uint64_t hash = read_memory(data, size, false);
    read_memory(data, size, true);
    require(read_pieces(data, size, false, 0) == hash);
    read_pieces(data, size, true, 0);
    read_pieces(data, size, false, 5000);
    merge_halves(data, size);
    return 0;
}
