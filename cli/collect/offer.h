/* SPDX-License-Identifier: MIT */
#ifndef CLI_OFFER_H
#define CLI_OFFER_H

#include "input/input.h"
#include "names/metadata.h"
#include "perfblock/source.h"

/* What a source offers: this machine's, or a capture that stands in for it. */

typedef struct offer {
    pfb_source *source;
    const char *subject; /* for messages: "live", or the capture's name */
    input file;          /* of a capture */
} offer;

/* Opens the live source, or the capture `path` when it is not null. False after a sentence on standard error: status 4
 * where the machine has no live source, 3 for a file that cannot be read, 1 for one that is no capture. */
bool offer_open(offer *f, const char *path);
void offer_close(offer *f);

/* A capture that is cut short is offered up to the cut; this tells about it, once all was taken. */
void offer_tell_cut(const offer *f);

/* The GUIDs of all countersets (free); false after a sentence, status 4. */
bool offer_list(const offer *f, pfb_guid **guids, size_t *count);

/* ---- The metadata of a set ------------------------------------------------------------------------------- */

enum { OFFER_REQUESTS = 10 };

/* The replies to request codes; `data` is null where there is none. */
typedef struct offer_set {
    pfb_guid guid;
    pfb_bytes replies[OFFER_REQUESTS + 1];
} offer_set;

/* Asks for one request code unless that was done; true when there is a reply. */
bool offer_fetch(const offer *f, offer_set *set, uint32_t request);

/* Asks for all that is displayed (codes 1, 3, 9, 5, 10, and 6 where help texts are taken) and hands it to the metadata;
 * malformed replies are told. The set must stay as long as the metadata. */
void offer_complete(const offer *f, offer_set *set, metadata *m);
void offer_free(offer_set *set);

#endif
