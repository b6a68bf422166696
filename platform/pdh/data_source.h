/* SPDX-License-Identifier: MIT */
#ifndef PFB_PDH_DATA_SOURCE_H
#define PFB_PDH_DATA_SOURCE_H

/* Where a query or a list has its data from: this machine, another real-time source, or files. */
#include "pdh/catalog.h"
#include "source/lock.h"

enum { PDH_MAX_FILES = 32, PDH_SIZINGS = 16 };

/* The catalog that a sizing call saw: the call that follows it on the same thread with the same question sees it, too.
 */
typedef struct pdh_sizing {
    const void *thread;
    uint64_t question;
    pdh_catalog *catalog;
} pdh_sizing;

typedef struct pdh_data_source {
    size_t users; /* protected by the lock of handles.h */
    char *files;  /* strings with their NULs; null: real-time data */
    size_t file_count;
    bool is_live;      /* catalogs become old, and there is no last sample */
    bool is_real_time; /* not a log: also the recording of PERFBLOCK_CAPTURE */
    pfb_pdh_open_function *open;
    void *context;
    pfb_lock lock; /* held while a catalog is made; protects what follows */
    pdh_catalog *catalog;
    pdh_sizing sizings[PDH_SIZINGS]; /* the latest, in a ring */
    size_t next_sizing;
} pdh_data_source;

/* Returns the source of real-time data with one more user, or null with the code in *code. */
pdh_data_source *pfb_pdh_real_time(uint32_t *code);

/* Makes a source of files and reads their catalog; `names` are strings with their NULs, which the source owns, also on
 * failure. */
pdh_data_source *pfb_pdh_open_files(char *names, size_t count, uint32_t *code);

/* A file name of the caller, or real-time data if it is null. */
pdh_data_source *pfb_pdh_open_named(pdh_text name, uint32_t *code);

void pfb_pdh_use_source(pdh_data_source *source);     /* one more user */
void pfb_pdh_release_source(pdh_data_source *source); /* one less; may be null */

/* Returns a new stream of the source; null: memory is exhausted or it cannot be opened. */
pfb_stream *pfb_pdh_open_stream(const pdh_data_source *source);

/* How current a catalog must be. */
enum {
    PDH_CATALOG_ANY = 0,    /* as it is; made if there is none */
    PDH_CATALOG_RECENT = 1, /* of a live source at most 1 s old */
    PDH_CATALOG_NEW = 2     /* of a live source made now */
};

/* Returns the catalog with one more user, or null with the code in *code. */
pdh_catalog *pfb_pdh_catalog(pdh_data_source *source, uint32_t age, uint32_t *code);

/* The same for a list whose size may be asked first. What a sizing call sees is kept for one call of the same thread
 * that follows with the same question, of which `question` is a hash. Otherwise the catalog is recent, or new if
 * `is_refresh`.
 */
pdh_catalog *pfb_pdh_list_catalog(pdh_data_source *source, bool is_sizing, bool is_refresh, uint64_t question,
                                  uint32_t *code);
void pfb_pdh_release_catalog(pdh_catalog *catalog); /* may be null */

#endif
