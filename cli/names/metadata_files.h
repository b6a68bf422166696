/* SPDX-License-Identifier: MIT */
#ifndef CLI_METADATA_FILES_H
#define CLI_METADATA_FILES_H

#include "input/input.h"
#include "input/options.h"
#include "perfblock/collect.h"

/* The metadata of bare V2 replies, in files of their own: --registration and --query-info. */

typedef struct metadata_file {
    input in;         /* without data: could not be read, or is not used */
    pfb_guid set;     /* of a registration reply */
    uint32_t request; /* 0: query information */
} metadata_file;

typedef struct metadata_files {
    metadata_file *files;
    size_t count;
    bool is_reported; /* the errors in the files */
} metadata_files;

/* Reads the files that the options name, and reports those that cannot be used. */
void metadata_files_open(metadata_files *m, const options *o);
void metadata_files_close(metadata_files *m);

/* Gives the metadata to a collector, after pfb_collector_begin_file. Reports errors in the files the first time. */
void metadata_files_put(metadata_files *m, pfb_collector *collector);

#endif
