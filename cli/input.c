/* SPDX-License-Identifier: MIT */
#include "input.h"

#include "diagnostics.h"
#include "memory.h"
#include "perfblock/capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Kinds ----------------------------------------------------------------------------------------------- */

static const char *const kind_names[] = {
    [INPUT_AUTO] = "auto",       [INPUT_DATA] = "data",
    [INPUT_STRINGS] = "strings", [INPUT_REGISTRATION] = "registration",
    [INPUT_GUIDS] = "guids",     [INPUT_IDENTIFIERS] = "identifiers",
    [INPUT_CAPTURE] = "capture", [INPUT_INSTANCES] = "instances",
};

const char *input_kind_name(input_kind kind)
{
    return kind_names[kind];
}

bool input_kind_named(const char *name, input_kind *kind)
{
    for (size_t i = 0; i < sizeof kind_names / sizeof kind_names[0]; i++) {
        if (strcmp(name, kind_names[i]) == 0) {
            *kind = (input_kind)i;
            return true;
        }
    }
    return false;
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

/* All of a stream. False and errno when reading fails. */
static bool read_stream(FILE *stream, input *in)
{
    enum { STEP = 1 << 16 };
    size_t capacity = 0;
    size_t got = 0;
    do {
        in->data = memory_grow(in->data, &capacity, in->size + STEP, 1);
        got = fread(in->data + in->size, 1, capacity - in->size, stream);
        in->size += got;
    } while (got > 0);
    return !ferror(stream);
}

/* Gives back what is not needed: reading past the end is then seen by the tools that watch for it. */
static void trim(input *in)
{
    uint8_t *data = realloc(in->data, in->size > 0 ? in->size : 1);
    if (data)
        in->data = data;
}

bool input_read(input *in, const char *name, input_kind kind)
{
    *in = (input){.name = name, .kind = kind};
    bool is_standard = strcmp(name, "-") == 0;
    FILE *stream = is_standard ? stdin : fopen(name, "rb");
    bool is_read = stream && read_stream(stream, in);
    int number = errno;
    if (stream && !is_standard)
        fclose(stream);
    if (!is_read) {
        diagnostics_file(name, number);
        input_free(in);
        return false;
    }
    trim(in);
    if (kind == INPUT_AUTO)
        in->kind = pfb_capture_recognise(in->data, in->size) ? INPUT_CAPTURE : INPUT_DATA;
    return true;
}

void input_free(input *in)
{
    free(in->data);
    in->data = NULL;
    in->size = 0;
}

/* ---- Data blocks ----------------------------------------------------------------------------------------- */

enum { DATA_HEADER_BYTES = 48 };

/* The older format begins with "PERF" in UTF-16; no sound V2 block does, for it would promise more results than fit. */
static bool is_older_format(const uint8_t *data, size_t size)
{
    static const uint8_t signature[8] = {'P', 0, 'E', 0, 'R', 0, 'F', 0};
    return size >= sizeof signature && memcmp(data, signature, sizeof signature) == 0;
}

/* Looks no further than to the first byte that is not zero. */
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
    if (is_older_format(data, left)) {
        blocks->has_ended = true;
        return INPUT_PART_UNREAD;
    }
    if (!is_first && (left < DATA_HEADER_BYTES || is_zero(data, left))) {
        blocks->has_ended = true;
        return INPUT_PART_TRAILING;
    }
    return INPUT_PART_BLOCK;
}
