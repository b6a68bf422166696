/* SPDX-License-Identifier: MIT */
#include "values/printer.h"

#include "output/diagnostics.h"
#include "values/value_name.h"

bool values_is_shown(const pfb_collected_value *v)
{
    const pfb_counter_type *type = v->has_type ? pfb_counter_type_find(v->type) : NULL;
    return !v->is_hidden && (!type || type->samples > 0);
}

void values_count(values_printer *p, pfb_status status)
{
    bool is_single = status == PFB_STATUS_NEED_TWO_SAMPLES;
    p->has_any = true;
    p->has_single = p->has_single || is_single;
    p->has_other = p->has_other || (!is_single && status != PFB_STATUS_NOT_DISPLAYED);
}

const char *values_status_name(const pfb_collected_value *v)
{
    return v->log_status != 0 ? pfb_pdh_status_name(v->log_status) : pfb_status_name(v->status);
}

void values_put_name(output *out, const char *key, bool exists, const char *name, size_t size)
{
    if (exists)
        output_bytes(out, key, name, size);
    else
        output_null(out, key);
}

void values_put_number(output *out, const char *key, bool exists, uint64_t number)
{
    if (exists)
        output_unsigned(out, key, number);
    else
        output_null(out, key);
}

void values_put_guid(output *out, bool exists, const pfb_guid *guid)
{
    char text[PFB_GUID_TEXT_BYTES];
    if (exists) {
        pfb_guid_format(guid, text);
        output_string(out, "guid", text);
    } else {
        output_null(out, "guid");
    }
}

/* ---- Sorting --------------------------------------------------------------------------------------------- */

void values_arrange(values_printer *p, const char *sort, uint64_t top)
{
    p->sort = sort;
    p->top = top;
    if (sort)
        suggest_begin(&p->closest, sort);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool values_is_sort_counter(values_printer *p, const char *name, size_t size)
{
    size_t at = 0;
    while (at < size && p->sort[at] != '\0' && lower(p->sort[at]) == lower(name[at])) /* a name may contain NULs */
        at++;
    bool is_same = at == size && p->sort[at] == '\0';
    p->has_sort_counter = p->has_sort_counter || is_same;
    if (!p->has_sort_counter)
        suggest_name(&p->closest, name, size);
    return is_same;
}

void values_find_sort_counter(values_printer *p, pfb_collector *collector)
{
    pfb_collected_value v;
    buffer name = {0};
    while (p->sort && !p->has_sort_counter && pfb_collector_next(collector, &v)) {
        if (!values_is_shown(&v))
            continue;
        buffer_clear(&name);
        values_put_column_name(&name, &v);
        values_is_sort_counter(p, name.data, name.size);
    }
    pfb_collector_rewind(collector);
    buffer_free(&name);
}

bool values_check_sort_counter(const values_printer *p, const char *subject)
{
    buffer sentence = {0};
    if (!p->sort || p->has_sort_counter)
        return true;
    buffer_format(&sentence, "no counter %s to sort by", p->sort);
    suggest_put(&p->closest, &sentence, "");
    diagnostics_say(STATUS_USAGE, subject, "%s", sentence.data);
    buffer_free(&sentence);
    return false;
}
