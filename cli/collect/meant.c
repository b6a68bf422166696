/* SPDX-License-Identifier: MIT */
#include "collect/meant.h"

#include "input/suggest.h"
#include "output/diagnostics.h"
#include "perfblock/catalog.h"

#include <string.h>

enum { MOST_CHARACTERS = 128 }; /* of a name that is suggested */

static void suggest_text(suggestion *meant, pfb_name name)
{
    buffer utf8 = {0};
    name_cut(&utf8, name, MOST_CHARACTERS);
    if (utf8.size > 0)
        suggest_name(meant, utf8.data, utf8.size);
    buffer_free(&utf8);
}

/* The names that the source has for a set; the catalog's where it has none. */
static void suggest_set(suggestion *meant, const offer *f, const pfb_guid *guid)
{
    static const uint32_t requests[] = {PFB_REQUEST_COUNTERSET_NAME, PFB_REQUEST_COUNTERSET_ENGLISH_NAME};
    const pfb_catalog_set *known = pfb_catalog_find(guid);
    offer_set set = {.guid = *guid};
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        pfb_name text;
        const pfb_bytes *reply = &set.replies[requests[i]];
        if (offer_fetch(f, &set, requests[i]) &&
            pfb_registration_string(reply->data, reply->size_bytes, &text).code == PFB_OK)
            suggest_text(meant, text);
    }
    if (known)
        suggest_name(meant, known->name, strlen(known->name));
    offer_free(&set);
}

/* Prints the error and ends the suggestion. */
static void refuse(suggestion *meant, const char *subject, const char *what)
{
    buffer sentence = {0};
    buffer_format(&sentence, "no %s %s", what, meant->typed);
    suggest_put(meant, &sentence, "; perfblock countersets lists them");
    diagnostics_say(STATUS_USAGE, subject, "%s", sentence.data);
    buffer_free(&sentence);
    suggest_end(meant);
}

void meant_refuse_set(const offer *f, const pfb_guid *guids, size_t count, const char *text)
{
    suggestion meant;
    suggest_begin(&meant, text);
    for (size_t i = 0; i < count; i++)
        suggest_set(&meant, f, &guids[i]);
    refuse(&meant, f->subject, "counterset");
}

void meant_refuse_counter(const metadata *m, const choice_sets *sets, const char *text)
{
    suggestion meant;
    suggest_begin(&meant, text);
    for (size_t n = 0; n < sets->count; n++) {
        const metadata_set *set = metadata_find(m, &sets->rows[n].guid);
        pfb_counter counter;
        for (uint32_t i = 0; set && pfb_registration_counter_at(&set->registration, i, &counter); i++)
            suggest_text(&meant, metadata_counter_name(set, counter.id));
    }
    refuse(&meant, "perfblock", "counter");
}
