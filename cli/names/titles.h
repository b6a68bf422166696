/* SPDX-License-Identifier: MIT */
#ifndef CLI_TITLES_H
#define CLI_TITLES_H

#include "input/input.h"
#include "input/options.h"
#include "output/name.h"
#include "perfblock/capture.h"
#include "perfblock/collect.h"

/* Names of V1 title indexes. They come from the name tables of a capture or log, and from the file of --names; a
 * collector stores them. If both have a name for an index, that of --names is used. */

typedef struct title_names {
    pfb_collector *collector;
    /* ---- Private, of the names of files that are visited ------------------------------------- */
    input *tables; /* of --names; `data` is null if it cannot be read */
    const options *o;
    pfb_stream *stream;      /* reads a capture a second time, to have names that follow their samples; may be null */
    uint64_t sample_offset;  /* of the latest sample that it returned */
    bool has_sample;         /* a V1 block was visited */
    pfb_capture_files files; /* of a capture that is read only once */
} title_names;

/* Reads the tables of --names. Reports errors in them. */
void title_names_open(title_names *t, const options *o);

void title_names_close(title_names *t);

/* Begins a file: forgets the names of the previous one, but not those of --names. */
void title_names_begin(title_names *t);

/* Adds a name table of the file. Does not report errors in the table. */
void title_names_add(title_names *t, const uint8_t *data, size_t size);

/* Call it for each chunk of a capture. At a V1 block, has the names of the file in the capture that the block belongs
 * to: also those in tables that follow it, unless the capture is a pipe. */
void title_names_follow(title_names *t, const input *in, const pfb_chunk *chunk);

/* Reports that a name on the command line matches a title of V1 blocks only because of a name table that follows the
 * blocks in standard input or a pipe: the command compared the blocks before it had the name, and left them out. Prints
 * a note if the command has output values of later blocks (`has_values`), otherwise an error with exit status 2. */
void title_names_report_late(const char *subject, bool has_values);

/* The name of a title index; `bytes` is null if there is none. `t` may be null. */
pfb_name title_names_find(const title_names *t, uint32_t index);

/* The local name (0) or the English one (1) of a title index; `bytes` is null if there is none. */
enum { TITLE_NAMES = 2 };
pfb_name title_names_find_in(const title_names *t, uint32_t index, unsigned language);

/* Stores what this name is called in the other language, English or local. Returns the number of names. */
enum { TITLE_OTHERS = 16 };
size_t title_names_others(const title_names *t, pfb_name name, pfb_name others[TITLE_OTHERS]);

#endif
