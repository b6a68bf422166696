/* SPDX-License-Identifier: MIT */
#ifndef CLI_METADATA_FILES_H
#define CLI_METADATA_FILES_H

#include "input/input.h"
#include "input/options.h"
#include "perfblock/collect.h"

/* The files of --registration and --query-info: metadata for V2 replies that are stored without it. */

typedef struct metadata_file {
    input in;         /* in.data is null if the file cannot be used; metadata_files_open() has reported why */
    pfb_guid set;     /* the counterset of a registration reply */
    uint32_t request; /* the request code of a registration reply; 0: query information */
} metadata_file;

typedef struct metadata_files {
    metadata_file *files;
    size_t count;
    bool is_reported; /* errors in the files were reported */
} metadata_files;

/* Reads the files that the options name, and reports those that cannot be used. */
void metadata_files_open(metadata_files *m, const options *o);
void metadata_files_close(metadata_files *m);

/* The header of a chunk that stores the content of the file. */
pfb_chunk metadata_file_chunk(const metadata_file *file);

/* Returns true if a file contains the metadata that the chunk contains, which need not have the same content. */
bool metadata_files_have(const metadata_files *m, const pfb_chunk *chunk);

/* Adds the metadata to a collector. Call it after each pfb_collector_begin_file(). The first call reports errors in the
 * files. */
void metadata_files_put(metadata_files *m, pfb_collector *collector);

#endif
