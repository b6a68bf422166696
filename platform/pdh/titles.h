/* SPDX-License-Identifier: MIT */
#ifndef PFB_PDH_TITLES_H
#define PFB_PDH_TITLES_H

/* Title indexes of the names of a catalog. V1 data has its own; other names have the numbers of Windows where they are
 * known, and all others, in the order of their English names, numbers from 10,000, or above those of V1 data. They are
 * even; those of help texts follow them. Equal catalogs have equal numbers. */
#include "pdh/catalog.h"

typedef struct pdh_title {
    const char *name; /* local */
    const char *english;
    const char *help; /* null: unknown */
    uint32_t index;
    uint32_t place; /* of the object in the catalog, or the number of objects and the place of the counter; of a known
                     * name PDH_NONE */
} pdh_title;

typedef struct pdh_titles {
    pdh_title *rows; /* in order of precedence, where several have a name or an index */
    size_t count;
    uint32_t *indexes; /* by place; 0: a base of V1 data */
} pdh_titles;

/* Returns false when memory is exhausted. The strings are those of the catalog. */
bool pfb_pdh_make_titles(const pdh_catalog *catalog, pdh_titles *titles);
void pfb_pdh_free_titles(pdh_titles *titles);

#endif
