/* SPDX-License-Identifier: MIT */
#include "collect/offer.h"
#include "commands.h"
#include "commands/objects.h"
#include "names/names.h"
#include "output/diagnostics.h"
#include "perfblock/capture.h"

#include <stdlib.h>

static void put_id(output *out, const char *key, uint32_t id)
{
    if (id == PFB_NO_ID)
        output_null(out, key);
    else
        output_unsigned(out, key, id);
}

static void state_counter(output *out, const metadata_set *set, const pfb_counter *counter)
{
    char guid[PFB_GUID_TEXT_BYTES];
    char type[NAMES_TYPE_BYTES];
    bool is_text = out->format == OUTPUT_TEXT;
    pfb_guid_format(&set->guid, guid);
    output_begin(out, is_text ? "    counter" : "counter", 0);
    if (!is_text) {
        output_name(out, "set", metadata_set_name(set));
        output_string(out, "guid", guid);
    }
    output_unsigned(out, "id", counter->id);
    output_name(out, "name", metadata_counter_name(set, counter->id));
    output_word(out, "type", names_of_type(counter->type, type));
    put_id(out, "base", counter->base_id);
    put_id(out, "perf_time", counter->perf_time_id);
    put_id(out, "perf_freq", counter->perf_freq_id);
    put_id(out, "multi", counter->multi_id);
    if (!is_text) {
        output_unsigned(out, "attributes", counter->attributes);
        output_unsigned(out, "detail_level", counter->detail_level);
        output_signed(out, "default_scale", counter->default_scale);
        output_unsigned(out, "aggregate", counter->aggregate);
    }
    output_end(out);
}

static void state_set(output *out, const metadata_set *set)
{
    char guid[PFB_GUID_TEXT_BYTES];
    pfb_counter counter;
    pfb_guid_format(&set->guid, guid);
    output_begin(out, "counterset", 0);
    output_word(out, "guid", guid);
    output_name(out, "name", metadata_set_name(set));
    if (set->has_counters) {
        output_unsigned(out, "instance_type", set->registration.instance_type);
        output_unsigned(out, "counters", set->registration.counter_count);
    } else {
        output_null(out, "instance_type");
        output_null(out, "counters");
    }
    output_end(out);
    for (uint32_t i = 0; !output_failed(out) && pfb_registration_counter_at(&set->registration, i, &counter); i++)
        state_counter(out, set, &counter);
}

/* What this machine offers. */
static void list_live(output *out)
{
    offer f;
    pfb_guid *guids = NULL;
    size_t count = 0;
    metadata m;
    if (!offer_open(&f, NULL))
        return;
    offer_list(&f, &guids, &count);
    metadata_open(&m, guids, count);
    for (size_t i = 0; i < count && !output_failed(out); i++) {
        offer_set set = {.guid = guids[i]};
        metadata_set *known = metadata_find(&m, &guids[i]);
        if (known->mark++ > 0) /* a list may name a set twice */
            continue;
        offer_complete(&f, &set, &m);
        state_set(out, known);
        offer_free(&set); /* nothing of it is looked at again */
    }
    metadata_free(&m);
    free(guids);
    offer_close(&f);
}

/* What a capture tells of sets, in one pass however many it has. */
static void list_sets(output *out, const input *in)
{
    metadata m;
    pfb_capture capture;
    pfb_chunk chunk;
    metadata_open_capture(&m, in->data, in->size);
    pfb_capture_open(&capture, in->data, in->size);
    while (pfb_capture_next(&capture, &chunk)) {
        if (!chunk.is_known || chunk.tag != PFB_TAG_REGISTRATION)
            continue;
        const uint8_t *body = in->data + chunk.body_offset;
        pfb_error error = metadata_add(&m, &chunk.guid, chunk.request, body, chunk.body_size_bytes, 0);
        error.offset += chunk.body_offset;
        if (error.code != PFB_OK)
            diagnostics_malformed(in->name, error);
    }
    for (size_t i = 0; i < m.set_count && !output_failed(out); i++) {
        if (!m.sets[i].is_told)
            continue;
        metadata_complete(&m, &m.sets[i]);
        state_set(out, &m.sets[i]);
    }
    if (capture.error.code != PFB_OK)
        diagnostics_malformed(in->name, capture.error);
    metadata_free(&m);
}

/* What a capture tells, V2 and V1, or a file of V1 blocks. */
static void list_file(output *out, const options *o)
{
    input in;
    titles given = {0};
    titles all = {.preferred = &given};
    titles_add_file(&given, o->names, 0);
    if (input_read(&in, o->capture, INPUT_AUTO)) {
        if (in.kind == INPUT_CAPTURE) {
            titles_add_capture(&all, in.data, in.size, 0);
            list_sets(out, &in);
        }
        if (in.kind == INPUT_CAPTURE || in.kind == INPUT_V1)
            objects_list(out, &in, &all);
        else
            input_refuse(&in, "a capture or V1 blocks");
        input_free(&in);
    }
    titles_free(&all);
    titles_free(&given);
}

void command_countersets(const options *o)
{
    output out;
    output_open(&out, o->format, options_color(o));
    if (o->capture)
        list_file(&out, o);
    else
        list_live(&out);
    output_close(&out);
}
