/* SPDX-License-Identifier: MIT */
/* Returns the values of a sample of a log one by one. */
#include "collect/collector.h"
#include "collect/match.h"

/* In units of 100 ns, as in FILETIME. */
#define UNITS_PER_MINUTE INT64_C(600000000)

void pfb_collect_set_log_time(pfb_collected_value *v, uint64_t local_time, bool has_bias, int32_t bias_minutes)
{
    const uint64_t max = INT64_MAX / 2;
    v->has_time = local_time <= max;
    v->is_local_time = !has_bias;
    v->time = v->has_time ? (int64_t)local_time + (has_bias ? bias_minutes * UNITS_PER_MINUTE : 0) : 0;
}

/* Returns the number of the path's instance among the instances with its name. */
static uint32_t path_occurrence(const pfb_log_path *path)
{
    return path->instance_index != PFB_LOG_NONE ? path->instance_index : 0;
}

static void set_path(pfb_collector *c, pfb_collected_value *v, const pfb_log_path *path)
{
    const struct {
        const pfb_name *name;
        unsigned scratch;
        const char **text;
        size_t *size;
        bool *exists;
    } parts[] = {
        {&path->machine, SCRATCH_MACHINE, &v->machine, &v->machine_size, &v->has_machine},
        {&path->object, SCRATCH_COUNTERSET, &v->counterset, &v->counterset_size, &v->has_counterset},
        {&path->instance, SCRATCH_INSTANCE, &v->instance, &v->instance_size, &v->has_instance},
        {&path->parent, SCRATCH_PARENT, &v->parent, &v->parent_size, &v->has_parent},
        {&path->counter, SCRATCH_COUNTER, &v->counter, &v->counter_size, &v->has_counter},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        text_view view = pfb_text_find(&c->texts, &c->scratch[parts[i].scratch], parts[i].name);
        *parts[i].text = view.bytes;
        *parts[i].size = view.size;
        *parts[i].exists = parts[i].name->bytes != NULL;
    }
    v->occurrence = path_occurrence(path);
}

/* Sets the members that all values of a path share, and the row. */
static void begin_value(pfb_collector *c, pfb_collected_value *v, uint32_t position)
{
    log_state *l = &c->log;
    bool is_next_row = l->has_last && l->last_path == position;
    l->row = is_next_row ? l->row + 1 : 0;
    l->last_path = position;
    l->has_last = true;
    *v =
        (pfb_collected_value){.unit = "", .sample = l->number, .result = position, .position = position, .row = l->row};
    set_path(c, v, &l->paths[position]);
}

/* Sets the displayed value, and the raw values that it was computed from. */
static void set_formula(const pfb_collector *c, pfb_collected_value *v, const pfb_log_value *value)
{
    const log_state *l = &c->log;
    const pfb_log_path *path = &l->paths[value->path];
    const pfb_log_values *older = &l->samples[!l->newer].values;
    pfb_raw_value now = pfb_log_raw_value(path, value);
    pfb_raw_value before = {.has = 0};
    if (value->older != PFB_LOG_NONE)
        before = pfb_log_raw_value(path, &older->values[value->older]);
    pfb_formula_result result = pfb_formula_evaluate(before.has ? &before : NULL, &now, &c->options.formula);
    v->unit = pfb_unit_text(result.unit);
    v->has_type = true;
    v->type = path->type;
    if (!pfb_pdh_has_value(value->status)) {
        v->status = PFB_STATUS_NO_DATA;
        v->log_status = value->status;
        return;
    }
    v->status = result.status;
    v->flags = result.flags;
    v->value = result.value;
    v->is_integer = result.is_integer;
    v->integer = result.integer;
    v->has_raw = true;
    v->raw = value->first;
    v->has_base = (now.has & PFB_HAS_BASE) != 0;
    v->base = now.base;
    v->has_object_freq = (now.has & PFB_HAS_OBJECT_FREQ) != 0;
    v->object_freq = now.object_freq;
}

/* Returns true if the choice includes the machine, the object and the counter of a path. */
static bool has_path(const named_choice *named, const pfb_log_path *path)
{
    bool has_object = false;
    bool has_counter = named->counter_count == 0;
    for (size_t i = 0; i < named->counterset_count && !has_object; i++)
        has_object = pfb_match_log_name(pfb_match_catalog_name(named->names[i]), &path->object);
    for (size_t i = 0; i < named->counter_count && !has_counter; i++)
        has_counter = pfb_match_log_name(named->names[named->counterset_count + i], &path->counter);
    return has_object && has_counter && (!named->machine || pfb_match_machine(named->machine, &path->machine));
}

/* Returns true if the instance of a path is chosen. Machine, object and counter are compared only when the path
 * changes: the values of a path follow each other. */
static bool is_chosen(pfb_collector *c, uint32_t position, const pfb_name *instance, uint32_t occurrence)
{
    log_state *l = &c->log;
    const counter_choice *choice = &c->choice;
    const pfb_log_path *path = &l->paths[position];
    bool is_shown = choice->named_count == 0;
    if (!is_shown && (!l->has_matches || l->matches_path != position)) {
        for (size_t i = 0; i < choice->named_count; i++)
            choice->named[i].is_match = has_path(&choice->named[i], path);
        l->has_matches = true;
        l->matches_path = position;
    }
    for (size_t i = 0; i < choice->named_count && !is_shown; i++) {
        const named_choice *named = &choice->named[i];
        is_shown = named->is_match &&
                   (named->filter == ALL_INSTANCES ||
                    pfb_choice_matches(&choice->filters[named->filter], &path->parent, instance, occurrence));
    }
    return is_shown;
}

static bool is_value_chosen(pfb_collector *c, const pfb_log_value *value)
{
    const pfb_log_path *path = &c->log.paths[value->path];
    bool has_instance = (path->flags & PFB_LOG_ALL_INSTANCES) != 0;
    return is_chosen(c, value->path, has_instance ? &value->instance : &path->instance,
                     has_instance ? value->occurrence : path_occurrence(path));
}

/* Returns the next chosen value of a sample of a .blg; false after the last one. */
static bool next_blg_value(pfb_collector *c, pfb_collected_value *v)
{
    log_state *l = &c->log;
    const pfb_log_values *values = &l->samples[l->newer].values;
    while (l->next < values->count &&
           (values->values[l->next].path >= l->path_count || !is_value_chosen(c, &values->values[l->next])))
        l->next++;
    if (l->next >= values->count)
        return false;
    const pfb_log_value *value = &values->values[l->next++];
    int32_t minutes = l->bias_minutes;
    begin_value(c, v, value->path);
    if (l->paths[value->path].flags & PFB_LOG_ALL_INSTANCES) {
        text_view text = pfb_text_convert(&c->scratch[SCRATCH_INSTANCE], &value->instance);
        v->instance = text.bytes;
        v->instance_size = text.size;
        v->has_instance = value->has_instance;
        v->occurrence = value->occurrence;
    }
    /* The machines of a log may be in different time zones: a bias derived from the value itself takes precedence. */
    bool has_own_bias = pfb_log_utc_bias(&l->paths[value->path], value, &minutes);
    pfb_collect_set_log_time(v, value->time, l->has_bias || has_own_bias, minutes);
    set_formula(c, v, value);
    return true;
}

/* Returns the next chosen value of a row of a text log; false after the last one. */
static bool next_text_value(pfb_collector *c, pfb_collected_value *v)
{
    static const double exact_limit = 9007199254740992.0; /* 2^53: a double has all integers below it */
    log_state *l = &c->log;
    while (l->next < l->cell_count) {
        const pfb_log_path *path = &l->paths[l->cells[l->next].column];
        if (is_chosen(c, l->cells[l->next].column, &path->instance, path_occurrence(path)))
            break;
        l->next++;
    }
    if (l->next >= l->cell_count)
        return false;
    const log_cell *cell = &l->cells[l->next++];
    begin_value(c, v, cell->column);
    pfb_collect_set_log_time(v, l->local_time, l->has_bias, l->bias_minutes);
    v->status = cell->has_value ? PFB_STATUS_OK : PFB_STATUS_NO_DATA;
    v->value = cell->has_value ? cell->value : 0;
    v->is_integer = v->value >= 0 && v->value < exact_limit && v->value == (double)(uint64_t)v->value;
    v->integer = v->is_integer ? (uint64_t)v->value : 0;
    if (!cell->has_value)
        v->is_integer = false;
    return true;
}

bool pfb_collect_next_of_log(pfb_collector *c, pfb_collected_value *value)
{
    return c->log.is_text ? next_text_value(c, value) : next_blg_value(c, value);
}

pfb_collected_sample pfb_collect_log_sample(const pfb_collector *c)
{
    const log_state *l = &c->log;
    pfb_collected_value v;
    pfb_collect_set_log_time(&v, l->local_time, l->has_bias, l->bias_minutes);
    return (pfb_collected_sample){.number = l->number,
                                  .is_log = true,
                                  .is_local_time = v.is_local_time,
                                  .perf_time_100ns = v.time,
                                  .machine = ""};
}
