/* SPDX-License-Identifier: MIT */
#include "input/input.h"

#include "input/file_format.h"
#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "perfblock/v1.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Kinds ----------------------------------------------------------------------------------------------- */

const char *const input_kind_names[] = {
    [INPUT_AUTO] = "auto",       [INPUT_DATA] = "data",
    [INPUT_STRINGS] = "strings", [INPUT_REGISTRATION] = "registration",
    [INPUT_GUIDS] = "guids",     [INPUT_IDENTIFIERS] = "identifiers",
    [INPUT_CAPTURE] = "capture", [INPUT_INSTANCES] = "instances",
    [INPUT_V1] = "v1",           [INPUT_NAMES] = "names",
    [INPUT_LOG] = "log",         [INPUT_PDH_TEXT] = "pdh-text",
    [INPUT_LWP] = "lwp",         [INPUT_HOOKS] = "cpi",
    [INPUT_UNKNOWN] = NULL,
};

const char *input_kind_name(input_kind kind)
{
    return kind == INPUT_UNKNOWN ? "unknown" : input_kind_names[kind];
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

#define MOST_OF_A_STREAM (UINT64_C(1) << 30) /* of pipes and devices, which may be endless */

/* The limit for reading a file. For a regular file it is the size, which may grow meanwhile. */
static uint64_t most_bytes(int file)
{
    uint64_t size = system_is_regular(file) ? system_file_size(file) : 0;
    return size > MOST_OF_A_STREAM ? size : MOST_OF_A_STREAM;
}

/* Reads all of a file. False after an error. */
static bool read_file(int file, input *in)
{
    enum { STEP = 1 << 16 };
    size_t capacity = 0;
    uint64_t most = most_bytes(file);
    long long got = 0;
    do {
        in->data = memory_grow(in->data, &capacity, in->size + STEP, 1);
        uint64_t wanted = most - in->size + 1; /* one more byte shows that the limit is exceeded */
        size_t space = capacity - in->size;
        got = system_read(file, in->data + in->size, wanted < space ? (size_t)wanted : space);
        in->size += got > 0 ? (size_t)got : 0;
        if (in->size > most)
            most = most_bytes(file);
    } while (got > 0 && in->size <= most);
    if (got < 0)
        diagnostics_file(in->name, errno);
    else if (got > 0)
        diagnostics_say(STATUS_FILE, in->name, "exceeds 1 GiB; only regular files may be larger");
    return got == 0;
}

/* Shrinks the memory to the size of the file, so that sanitizers and valgrind detect reads past the end. */
static void trim(input *in)
{
    uint8_t *data = realloc(in->data, in->size > 0 ? in->size : 1);
    if (data)
        in->data = data;
}

bool input_read_open(input *in, const char *name, int file, input_kind kind)
{
    *in = (input){.name = name, .kind = kind};
    if (!read_file(file, in)) {
        input_free(in);
        return false;
    }
    trim(in);
    if (kind == INPUT_AUTO) {
        file_format format = file_format_recognise(in->data, in->size, in->size);
        in->kind = format.kind;
        in->description = format.description;
    }
    return true;
}

bool input_read(input *in, const char *name, input_kind kind)
{
    *in = (input){.name = name, .kind = kind};
    if (strcmp(name, "-") == 0)
        return input_read_open(in, name, SYSTEM_INPUT, kind);
    int file = system_read_open(name);
    if (file < 0) {
        diagnostics_file(name, errno);
        return false;
    }
    bool is_read = input_read_open(in, name, file, kind);
    system_read_close(file);
    return is_read;
}

void input_free(input *in)
{
    free(in->data);
    in->data = NULL;
    in->size = 0;
}

void input_refusal_text(const input *in, const char *expected, buffer *out)
{
    buffer_format(out, "the file %s; expected %s", in->description, expected);
}

void input_refuse(const input *in, const char *expected)
{
    buffer sentence = {0};
    input_refusal_text(in, expected, &sentence);
    diagnostics_input(in->name, 0, pfb_code_name(PFB_UNKNOWN_FORMAT), "%s", sentence.data);
    buffer_free(&sentence);
}

/* ---- Data blocks ----------------------------------------------------------------------------------------- */

enum { DATA_HEADER_BYTES = 48 }; /* of V2, the smaller one */

/* Stops at the first byte that is not zero. */
static bool is_zero(const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (at < size && data[at] == 0)
        at++;
    return at == size;
}

input_part input_next_part(const input *in, input_blocks *blocks)
{
    size_t left = in->size - blocks->at;
    const uint8_t *data = in->data + blocks->at;
    bool is_first = blocks->at == 0;
    if (blocks->has_ended || (left == 0 && !is_first))
        return INPUT_PART_END;
    if (is_first ? in->kind == INPUT_V1 : pfb_v1_recognise(data, left))
        return INPUT_PART_V1;
    if (!is_first && (left < DATA_HEADER_BYTES || is_zero(data, left))) {
        blocks->has_ended = true;
        return INPUT_PART_TRAILING;
    }
    return INPUT_PART_BLOCK;
}
