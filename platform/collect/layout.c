/* SPDX-License-Identifier: MIT */
/* Makes the series of a sample: which values are chosen, and their names. */
#include "collect/layout.h"

#include "collect/collector.h"
#include "perfblock/catalog.h"
#include "perfblock/query.h"
#include "select/memory.h"
#include "select/selection.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

layout *pfb_layout_retain(layout *l)
{
    if (l)
        l->reference_count++;
    return l;
}

void pfb_layout_release(layout **link)
{
    layout *l = *link;
    *link = NULL;
    if (!l || --l->reference_count > 0)
        return;
    pfb_text_free(&l->texts);
    free(l->results);
    free(l->columns);
    free(l->rows);
    free(l->paths);
    free(l->elements);
    free(l->totals);
    free(l);
}

static layout *make_layout(const pfb_collector *c, bool is_log, bool is_v1)
{
    layout *l = calloc(1, sizeof *l);
    if (l)
        *l = (layout){.reference_count = 1,
                      .names_version = c->names_version,
                      .choice_version = c->choice_version,
                      .is_log = is_log,
                      .is_v1 = is_v1};
    return l;
}

static uint32_t bit_if(bool is_set, uint32_t bit)
{
    return is_set ? bit : 0;
}

static pfb_name row_name(const pfb_sample_row *row)
{
    return row->has_name ? row->name : (pfb_name){.bytes = NULL};
}

/* ---- What is chosen -------------------------------------------------------------------------------------- */

/* Compares the choice of a collector with the parts of a sample. */
typedef struct chooser {
    const pfb_selection *selection;
    bool is_everything; /* everything is chosen */
    bool is_recorder;   /* as in collector_options */
    bool *has_machine;  /* by term: it chooses the machine of the V1 or V2 sample */
    bool *is_exact;     /* by term: it is a path of the log that has no instance */
    size_t *terms;      /* numbers of the terms that choose the current result or path */
    size_t term_count;
    size_t *filters; /* of all columns, grouped by column: instance patterns, see pattern_at */
    size_t filter_count, filter_capacity;
    uint64_t *matches; /* by instance pattern: 2 * instance + whether it matches that instance */
    uint64_t instance; /* number of the current instance, from 1 */
} chooser;

static void free_chooser(chooser *chosen)
{
    free(chosen->has_machine);
    free(chosen->is_exact);
    free(chosen->terms);
    free(chosen->filters);
    free(chosen->matches);
}

static bool open_chooser(chooser *chosen, const pfb_collector *c)
{
    static const pfb_selection nothing = {.count = 0};
    *chosen = (chooser){.selection = c->selection ? c->selection : &nothing};
    size_t terms = chosen->selection->count;
    chosen->is_everything = chosen->selection->count == 0;
    chosen->is_recorder = c->options.is_recorder;
    chosen->has_machine = calloc(terms + 1, sizeof *chosen->has_machine);
    chosen->is_exact = calloc(terms + 1, sizeof *chosen->is_exact);
    chosen->terms = calloc(terms + 1, sizeof *chosen->terms);
    chosen->matches = calloc(terms + 1, sizeof *chosen->matches);
    if (chosen->has_machine && chosen->is_exact && chosen->terms && chosen->matches)
        return true;
    free_chooser(chosen);
    return false;
}

/* Finds the terms that choose a counterset. `machines`: those that choose its machine, or null for `machine`. */
static void choose_set(chooser *chosen, const selection_names *names, const bool *machines, const pfb_name *machine)
{
    chosen->term_count = 0;
    for (size_t i = 0; i < chosen->selection->count; i++) {
        const selection_term *term = &chosen->selection->terms[i];
        if ((machines ? machines[i] : pfb_selection_has_machine(term, machine)) && pfb_selection_has_set(term, names))
            chosen->terms[chosen->term_count++] = i;
    }
}

/* Patterns are numbered by the first term with this instance. */
static const instance_pattern *pattern_at(const chooser *chosen, size_t filter)
{
    return &chosen->selection->terms[filter].instance_pattern;
}

/* Returns true if one of `count` patterns matches the current instance. Each is compared once with an instance. */
static bool matches_filters(chooser *chosen, const size_t *filters, size_t count, const pfb_name *parent,
                            const pfb_name *name, uint32_t occurrence)
{
    bool is_match = false;
    for (size_t i = 0; i < count && !is_match; i++) {
        uint64_t *match = &chosen->matches[filters[i]];
        const instance_pattern *pattern = pattern_at(chosen, filters[i]);
        uint32_t number = chosen->is_recorder ? pattern->index : occurrence;
        if (*match >> 1 != chosen->instance)
            *match = 2 * chosen->instance + pfb_instance_matches(pattern, parent, name, number);
        is_match = (*match & 1) != 0;
    }
    return is_match;
}

/* ---- V1 and V2 ------------------------------------------------------------------------------------------- */

/* Which instances of a column are chosen: all, or those that match one of `filter_count` patterns. */
typedef struct column_choice {
    bool has_all_instances;
    size_t first_filter, filter_count; /* in chooser.filters */
} column_choice;

/* State while the layout of a V1 or V2 sample is made. */
typedef struct table_layout {
    pfb_collector *c;
    const pfb_sample *table;
    layout *l;
    chooser chosen;
    column_choice *columns;
} table_layout;

static const metadata_set *find_set(const table_layout *t, const pfb_sample_result *result)
{
    bool is_known = !t->l->is_v1 && result->has_query;
    return is_known ? pfb_metadata_find(&t->c->metadata, &result->counterset) : NULL;
}

/* Adds the names of a title index. */
static void add_titles(const table_layout *t, selection_names *names)
{
    for (unsigned language = 0; language < TITLE_LANGUAGES; language++)
        pfb_selection_add_name(names, pfb_titles_find_in(&t->c->titles, names->number, language));
}

static bool is_english(const pfb_collector *c)
{
    return c->options.language == TITLE_ENGLISH;
}

static selection_names names_of_set(const table_layout *t, const pfb_sample_result *result, const metadata_set *set)
{
    selection_names names = {.has_number = t->l->is_v1, .number = result->title_index};
    if (!t->l->is_v1)
        return result->has_query ? pfb_metadata_names_of_set(set, &result->counterset) : names;
    add_titles(t, &names);
    return names;
}

static selection_names names_of_counter(const table_layout *t, const metadata_set *set, uint32_t counter_id)
{
    selection_names names = {.has_number = true, .number = counter_id};
    if (!t->l->is_v1)
        return pfb_metadata_names_of_counter(set, counter_id);
    add_titles(t, &names);
    return names;
}

bool pfb_layout_names_totals(const char *pattern, size_t size)
{
    static const char word[] = "_TOTAL";
    size_t matched = 0;
    for (size_t i = 0; i < size && word[matched] != '\0'; i++) {
        char c = pattern[i] >= 'a' && pattern[i] <= 'z' ? (char)(pattern[i] - 'a' + 'A') : pattern[i];
        matched = c == word[matched] ? matched + 1 : c == '_';
    }
    return word[matched] == '\0';
}

bool pfb_layout_is_total(const char *name, size_t size)
{
    static const char total[] = "_Total";
    const size_t own = sizeof total - 1;
    return size >= own && memcmp(name + size - own, total, own) == 0 &&
           (size == own || name[size - own - 1] == ',' || name[size - own - 1] == '/');
}

/* Chooses a column for all instances, or for those that match a pattern. `is_individual`: the counter was named,
 * instead of all counters of its counterset; then it is not hidden. Returns false when memory is exhausted. */
static bool choose_instances(table_layout *t, uint32_t column, bool has_all, size_t filter, bool is_individual)
{
    layout_column *out = &t->l->columns[column];
    column_choice *choice = &t->columns[column];
    chooser *chosen = &t->chosen;
    if (!out->is_chosen)
        choice->first_filter = chosen->filter_count;
    out->is_chosen = true;
    out->has &= is_individual ? ~(uint32_t)PFB_SERIES_HIDDEN : UINT32_MAX;
    choice->has_all_instances = choice->has_all_instances || has_all;
    if (has_all)
        return true;
    if (!PFB_COLLECT_GROW(chosen->filters, chosen->filter_capacity, chosen->filter_count + 1))
        return false;
    chosen->filters[chosen->filter_count++] = filter;
    choice->filter_count++;
    const pfb_name *pattern = &pattern_at(chosen, filter)->pattern;
    out->has |= bit_if(pfb_layout_names_totals((const char *)pattern->bytes, pattern->size_bytes), PFB_SERIES_TOTALS);
    return true;
}

/* Sets whether a column is chosen, and for which instances. Counters with PFB_ATTRIBUTE_NO_DISPLAY are hidden unless
 * they were named. Returns false when memory is exhausted. */
static bool choose_column(table_layout *t, const metadata_set *set, uint32_t column)
{
    const chooser *chosen = &t->chosen;
    const uint32_t id = t->table->columns[column].counter_id;
    bool has_memory = true;
    if (chosen->is_everything)
        return choose_instances(t, column, true, 0, false);
    selection_names names = {.count = 0};
    if (chosen->term_count > 0)
        names = names_of_counter(t, set, id);
    for (size_t i = 0; i < chosen->term_count && has_memory; i++) {
        const selection_term *term = &chosen->selection->terms[chosen->terms[i]];
        if (pfb_selection_has_counter(term, &names))
            has_memory = choose_instances(t, column, !term->instance, term->same_instance, term->counter != NULL);
    }
    return has_memory;
}

/* Returns the unit of a counter type. The result of a formula has its unit even if there are no inputs. */
static const char *unit_of(uint32_t type, const pfb_formula_options *options)
{
    const pfb_raw_value nothing = {.type = type};
    return pfb_unit_text(pfb_formula_evaluate(NULL, &nothing, options).unit);
}

/* Describes a counter; its name only if it is chosen. Returns false when memory is exhausted. */
static bool describe_column(table_layout *t, const pfb_sample_result *result, const metadata_set *set, uint32_t column)
{
    const pfb_sample_column *input = &t->table->columns[column];
    const pfb_counter_type *type = input->has_counter ? pfb_counter_type_find(input->counter.type) : NULL;
    bool has_id = t->l->is_v1 || input->counter_id != PFB_NO_ID; /* a title index may equal PFB_NO_ID */
    layout_column *out = &t->l->columns[column];
    pfb_name name = {.bytes = NULL};
    *out =
        (layout_column){.unit = pfb_unit_text(PFB_UNIT_NONE),
                        .result = input->result,
                        .has = bit_if(has_id, PFB_SERIES_COUNTER_ID) | bit_if(input->has_counter, PFB_SERIES_TYPE) |
                               bit_if((input->counter.attributes & PFB_ATTRIBUTE_NO_DISPLAY) != 0, PFB_SERIES_HIDDEN),
                        .type = input->counter.type,
                        .counter_id = input->counter_id,
                        .position = column - result->first_column,
                        .attributes = input->counter.attributes,
                        .needs_two_samples = type && type->samples >= 2};
    if (!choose_column(t, set, column))
        return false;
    if (!out->is_chosen)
        return true;
    if (input->has_counter)
        out->unit = unit_of(input->counter.type, NULL);
    if (t->l->is_v1)
        name = pfb_titles_find(&t->c->titles, input->counter_id, t->c->options.language);
    else if (has_id)
        name = pfb_metadata_counter_name(set, input->counter_id, is_english(t->c));
    out->has |= bit_if(name.bytes != NULL, PFB_SERIES_COUNTER);
    return pfb_text_find(&t->l->texts, &name, &out->name);
}

/* Returns false for counter types without a displayed value, such as bases and texts. */
static bool is_displayed(const pfb_sample_column *column)
{
    const pfb_counter_type *type = column->has_counter ? pfb_counter_type_find(column->counter.type) : NULL;
    return !type || type->samples > 0;
}

static bool is_same_row(const pfb_sample_row *a, const pfb_sample_row *b)
{
    pfb_name left = row_name(a);
    pfb_name right = row_name(b);
    bool is_same_name = (!left.bytes && !right.bytes) || pfb_name_equal(&left, &right);
    return a->id == b->id && a->has_name == b->has_name && is_same_name;
}

/* Returns true if two V2 results are of one counterset and have the same instances in the same order, and `b` is not an
 * error. */
static bool has_same_rows(const pfb_sample *table, const pfb_sample_result *a, const pfb_sample_result *b)
{
    bool is_same = a->has_query && b->has_query && pfb_guid_equal(&a->counterset, &b->counterset) &&
                   a->row_count == b->row_count && b->kind != PFB_V2_ERROR;
    for (uint32_t n = 0; n < a->row_count && is_same; n++)
        is_same = is_same_row(&table->rows[a->first_row + n], &table->rows[b->first_row + n]);
    return is_same;
}

/* Describes a result and its columns. Returns false when memory is exhausted. */
static bool describe_result(table_layout *t, uint32_t position)
{
    const pfb_sample_result *input = &t->table->results[position];
    const metadata_set *set = find_set(t, input);
    layout_result *out = &t->l->results[position];
    pfb_name name = t->l->is_v1 ? pfb_titles_find(&t->c->titles, input->title_index, t->c->options.language)
                                : pfb_metadata_set_name(set, is_english(t->c));
    *out = (layout_result){
        .has_counterset = name.bytes != NULL, .has_set = input->has_query && !t->l->is_v1, .title = input->title_index};
    if (out->has_set)
        out->set = input->counterset;
    if (!pfb_text_find(&t->l->texts, &name, &out->counterset))
        return false;
    t->chosen.term_count = 0;
    if (t->chosen.selection->count > 0) {
        selection_names names = names_of_set(t, input, set);
        choose_set(&t->chosen, &names, t->chosen.has_machine, NULL);
    }
    out->is_chosen = t->chosen.is_everything || t->chosen.term_count > 0;
    for (uint32_t i = input->first_column; i < input->first_column + input->column_count; i++) {
        if (!describe_column(t, input, set, i))
            return false;
        bool is_chosen = t->l->columns[i].is_chosen;
        out->column_count += is_chosen;
        out->shown_column_count +=
            is_chosen && !(t->l->columns[i].has & PFB_SERIES_HIDDEN) && is_displayed(&t->table->columns[i]);
    }
    out->has_rows_of_previous =
        !t->l->is_v1 && position > 0 && has_same_rows(t->table, &t->table->results[position - 1], input);
    return true;
}

/* Appends an instance. Unique ids of V1 are signed. Returns false when memory is exhausted. */
static bool add_row(table_layout *t, uint32_t position, uint32_t number)
{
    layout *l = t->l;
    const pfb_sample_row *input = &t->table->rows[position];
    pfb_name name = row_name(input);
    if (!PFB_COLLECT_GROW(l->rows, l->row_capacity, l->row_count + 1))
        return false;
    layout_row *row = &l->rows[l->row_count];
    *row = (layout_row){.has = bit_if(name.bytes != NULL, PFB_SERIES_INSTANCE) |
                               bit_if(input->parent.bytes != NULL, PFB_SERIES_PARENT) |
                               bit_if(input->id != PFB_NO_ID, PFB_SERIES_INSTANCE_ID),
                        .occurrence = input->occurrence,
                        .number = number,
                        .table_row = position,
                        .id = l->is_v1 && input->id > INT32_MAX ? (int64_t)input->id - (INT64_C(1) << 32)
                                                                : (int64_t)input->id};
    if (!pfb_text_add(&l->texts, &name, &row->name) || !pfb_text_find(&l->texts, &input->parent, &row->parent))
        return false;
    l->row_count++;
    return true;
}

static bool add_element(layout *l, layout_element element)
{
    if (l->element_count >= UINT32_MAX || !PFB_COLLECT_GROW(l->elements, l->element_capacity, l->element_count + 1))
        return false;
    l->elements[l->element_count++] = element;
    return true;
}

/* Adds the last element to the totals. */
static bool add_total(layout *l)
{
    if (!PFB_COLLECT_GROW(l->totals, l->total_capacity, l->total_count + 1))
        return false;
    l->totals[l->total_count++] = (uint32_t)l->element_count - 1;
    return true;
}

/* Converts a name in a code page to UTF-8, so that patterns can be compared with it. Returns false when memory is
 * exhausted. */
static bool decode_instance(layout *l, pfb_name *name)
{
    text_view text;
    bool is_code_page = name->encoding != PFB_ENCODING_UTF16LE && name->encoding != PFB_ENCODING_UTF16BE;
    if (!name->bytes || !is_code_page)
        return true;
    bool has_memory = pfb_text_find(&l->texts, name, &text);
    *name = pfb_utf8_name(text.bytes, text.size);
    return has_memory;
}

/* Appends the elements of an instance, whose number among those of its result is *number. Returns false when memory is
 * exhausted. */
static bool add_row_elements(table_layout *t, const pfb_sample_result *result, layout_result *out, uint32_t row,
                             uint32_t *number)
{
    layout *l = t->l;
    const pfb_sample_row *input = &t->table->rows[row];
    pfb_name name = row_name(input);
    pfb_name parent = input->parent;
    size_t place = pfb_sample_place(t->table, row, result->first_column);
    bool is_shown = false;
    size_t first = l->element_count;
    t->chosen.instance++;
    if (t->chosen.filter_count > 0 && !(decode_instance(l, &name) && decode_instance(l, &parent)))
        return false;
    for (uint32_t i = 0; i < result->column_count; i++, place += result->stride) {
        uint32_t column = result->first_column + i;
        const column_choice *choice = &t->columns[column];
        if (!l->columns[column].is_chosen ||
            !(choice->has_all_instances || matches_filters(&t->chosen, t->chosen.filters + choice->first_filter,
                                                           choice->filter_count, &parent, &name, input->occurrence)))
            continue;
        is_shown = true;
        if (i >= input->value_count)
            break;
        if (l->element_count == first && !add_row(t, row, *number))
            return false;
        if (!add_element(l, (layout_element){place, (uint32_t)l->row_count - 1, column}) ||
            (pfb_layout_is_total(l->rows[l->row_count - 1].name.bytes, l->rows[l->row_count - 1].name.size) &&
             l->columns[column].needs_two_samples && !add_total(l)))
            return false;
    }
    out->row_count += is_shown;
    *number += l->element_count > first;
    return true;
}

static bool describe_table(table_layout *t)
{
    const pfb_sample *table = t->table;
    for (uint32_t r = 0; r < table->counts.results; r++) {
        const pfb_sample_result *result = &table->results[r];
        layout_result *out = &t->l->results[r];
        uint32_t number = 0;
        t->chosen.filter_count = 0;
        if (!describe_result(t, r))
            return false;
        if (out->column_count == 0)
            out->row_count = result->row_count;
        for (uint32_t i = result->first_row; i < result->first_row + result->row_count; i++) {
            out->has_repeated_names = out->has_repeated_names || table->rows[i].occurrence > 0;
            if (out->column_count > 0 && !add_row_elements(t, result, out, i, &number))
                return false;
        }
    }
    return true;
}

/* Compares the machines of the choice with that of the sample, or with that of the options if the sample has none, and
 * converts its name. Returns false when memory is exhausted. */
static bool describe_machine(table_layout *t, const stored_sample *sample)
{
    const char *own = t->c->machine;
    pfb_name machine = sample->machine_name;
    if (!machine.bytes && own)
        machine = pfb_utf8_name(own, strlen(own));
    for (size_t i = 0; i < t->chosen.selection->count; i++)
        t->chosen.has_machine[i] = pfb_selection_has_machine(&t->chosen.selection->terms[i], &machine);
    t->l->has_machine = machine.bytes != NULL;
    return pfb_text_add(&t->l->texts, &machine, &t->l->machine);
}

layout *pfb_layout_of_sample(pfb_collector *c, const stored_sample *sample, bool is_v1)
{
    const pfb_sample_counts *counts = &sample->table.counts;
    table_layout t = {.c = c, .table = &sample->table, .l = make_layout(c, false, is_v1)};
    if (!t.l || !open_chooser(&t.chosen, c)) {
        pfb_layout_release(&t.l);
        return NULL;
    }
    t.columns = calloc((size_t)counts->columns + 1, sizeof *t.columns);
    t.l->columns = calloc((size_t)counts->columns + 1, sizeof *t.l->columns);
    t.l->results = calloc((size_t)counts->results + 1, sizeof *t.l->results);
    t.l->column_count = counts->columns;
    t.l->result_count = counts->results;
    bool has_memory = t.columns && t.l->columns && t.l->results && describe_machine(&t, sample) && describe_table(&t);
    free(t.columns);
    free_chooser(&t.chosen);
    if (!has_memory)
        pfb_layout_release(&t.l);
    else
        pfb_text_forget(&t.l->texts);
    return t.l;
}

/* ---- Logs ------------------------------------------------------------------------------------------------ */

static uint32_t path_occurrence(const pfb_log_path *path)
{
    return path->instance_index != PFB_LOG_NONE ? path->instance_index : 0;
}

static bool has_wildcards(const char *text)
{
    const pfb_name name = pfb_utf8_name(text, strlen(text));
    return pfb_query_is_pattern(&name);
}

/* The English names of the object and the counter of a path, where name tables translate them. */
typedef struct path_titles {
    title_translations object, counter;
} path_titles;

static bool translate(pfb_collector *c, const pfb_log_path *path, path_titles *english)
{
    return pfb_titles_translate(&c->titles, &path->object, TITLE_ENGLISH, &english->object) &&
           pfb_titles_translate(&c->titles, &path->counter, TITLE_ENGLISH, &english->counter);
}

static void add_translations(selection_names *names, const title_translations *translations)
{
    for (size_t i = 0; i < translations->count; i++)
        pfb_selection_add_name(names, translations->names[i]);
}

static void add_names(const pfb_log_path *path, const path_titles *english, selection_names *set,
                      selection_names *counter)
{
    *set = *counter = (selection_names){.is_log = true};
    pfb_selection_add_name(set, path->object);
    add_translations(set, &english->object);
    pfb_selection_add_name(counter, path->counter);
    add_translations(counter, &english->counter);
}

/* Finds the paths without wildcards and without an instance that are paths of the log. Such a path chooses all
 * instances, unless it is itself a path of the log. Returns false when memory is exhausted. */
static bool find_exact_terms(chooser *chosen, pfb_collector *c)
{
    for (size_t k = 0; k < c->log.path_count; k++) {
        const pfb_log_path *path = &c->log.paths[k];
        path_titles english;
        selection_names set;
        selection_names counter;
        if (path->instance.bytes)
            continue;
        if (!translate(c, path, &english))
            return false;
        add_names(path, &english, &set, &counter);
        for (size_t i = 0; i < chosen->selection->count; i++) {
            const selection_term *term = &chosen->selection->terms[i];
            bool may_be_exact = term->is_path && !term->instance && term->counterset && term->counter &&
                                !has_wildcards(term->counterset) && !has_wildcards(term->counter);
            chosen->is_exact[i] = chosen->is_exact[i] || (may_be_exact && pfb_selection_has_set(term, &set) &&
                                                          pfb_selection_has_counter(term, &counter) &&
                                                          pfb_selection_has_machine(term, &path->machine));
        }
    }
    return true;
}

/* Returns the first of some names that is this one, without regard to the case of A to Z, or null. */
static const pfb_name *find_name(const title_translations *names, const char *text)
{
    const pfb_name wanted = pfb_utf8_name(text, strlen(text));
    for (size_t i = 0; i < names->count; i++) {
        if (pfb_query_match(&wanted, &names->names[i], PFB_MATCH_EXACT | PFB_MATCH_IGNORE_CASE))
            return &names->names[i];
    }
    return NULL;
}

/* Finds the English names of a path among those that it may have: those of a counter of the catalog, which is returned,
 * else the first ones, and null is returned. Untranslated names count as English. */
static const pfb_catalog_counter *find_english(const pfb_log_path *path, const path_titles *english, pfb_name *object,
                                               pfb_name *counter)
{
    const title_translations own[2] = {{.names = {path->object}, .count = path->object.bytes != NULL},
                                       {.names = {path->counter}, .count = path->counter.bytes != NULL}};
    const title_translations *objects = english->object.count > 0 ? &english->object : &own[0];
    const title_translations *counters = english->counter.count > 0 ? &english->counter : &own[1];
    const pfb_catalog_set *set;
    const pfb_catalog_counter *known;
    *object = objects->names[0];
    *counter = counters->names[0];
    for (size_t i = 0; (set = pfb_catalog_set_at(i)) != NULL; i++) {
        const pfb_name *set_name = find_name(objects, set->name);
        for (size_t n = 0; set_name && (known = pfb_catalog_counter_at(set, n)) != NULL; n++) {
            const pfb_name *counter_name = find_name(counters, known->name);
            if (!counter_name)
                continue;
            *object = *set_name;
            *counter = *counter_name;
            return known;
        }
    }
    return NULL;
}

/* Finds the terms that choose a path, and which instances of it: *has_all, or the patterns in chooser.filters. Returns
 * false when memory is exhausted. */
static bool choose_path(chooser *chosen, const pfb_log_path *path, const path_titles *english, bool *has_all)
{
    selection_names set;
    selection_names counter;
    *has_all = chosen->is_everything;
    chosen->filter_count = 0;
    if (*has_all || chosen->selection->count == 0)
        return true;
    add_names(path, english, &set, &counter);
    choose_set(chosen, &set, NULL, &path->machine);
    for (size_t i = 0; i < chosen->term_count && !*has_all; i++) {
        const selection_term *term = &chosen->selection->terms[chosen->terms[i]];
        bool is_other = chosen->is_exact[chosen->terms[i]] && path->instance.bytes;
        if (is_other || !pfb_selection_has_counter(term, &counter))
            continue;
        *has_all = !term->instance;
        if (*has_all)
            return true;
        if (!PFB_COLLECT_GROW(chosen->filters, chosen->filter_capacity, chosen->filter_count + 1))
            return false;
        chosen->filters[chosen->filter_count++] = term->same_instance;
    }
    return true;
}

/* Appends a path. A text log has no counter types: those of the catalog are used. Returns false when memory is
 * exhausted. */
static bool add_path(const pfb_collector *c, layout *l, const pfb_log_path *path, const path_titles *english,
                     uint32_t position)
{
    const pfb_log_value probe = {.second = 1, .time = 1};
    int32_t minutes;
    bool is_text = c->log.is_text;
    pfb_name object;
    pfb_name counter;
    const pfb_catalog_counter *known = find_english(path, english, &object, &counter);
    known = is_text ? known : NULL;
    const bool has_type = !is_text || (known && known->has_type);
    const uint32_t type = !is_text ? path->type : has_type ? known->type : 0;
    if (!PFB_COLLECT_GROW(l->paths, l->path_capacity, l->path_count + 1))
        return false;
    layout_path *out = &l->paths[l->path_count];
    *out = (layout_path){
        .unit = has_type ? unit_of(type, &c->options.formula) : "",
        .has = PFB_SERIES_LOG | bit_if(path->machine.bytes != NULL, PFB_SERIES_MACHINE) |
               bit_if(path->object.bytes != NULL, PFB_SERIES_COUNTERSET) |
               bit_if(path->instance.bytes != NULL, PFB_SERIES_INSTANCE) |
               bit_if(path->parent.bytes != NULL, PFB_SERIES_PARENT) |
               bit_if(path->counter.bytes != NULL, PFB_SERIES_COUNTER) | bit_if(has_type, PFB_SERIES_TYPE),
        .type = type,
        .occurrence = path_occurrence(path),
        .position = position,
        .has_utc = !is_text && pfb_log_utc_bias(path, &probe, &minutes),
        .has_more = !is_text && (pfb_log_raw_value(path, &probe).has & (PFB_HAS_BASE | PFB_HAS_OBJECT_FREQ)) != 0};
    if (!pfb_text_add(&l->texts, &path->machine, &out->machine) ||
        !pfb_text_add(&l->texts, is_english(c) ? &object : &path->object, &out->counterset) ||
        !pfb_text_add(&l->texts, &path->instance, &out->instance) ||
        !pfb_text_add(&l->texts, &path->parent, &out->parent) ||
        !pfb_text_add(&l->texts, is_english(c) ? &counter : &path->counter, &out->counter))
        return false;
    l->path_count++;
    return true;
}

/* Appends an instance of a path. `value` is null if it is that of the path. Returns false when memory is exhausted. */
static bool add_log_row(layout *l, const pfb_log_value *value, uint32_t number)
{
    const layout_path *path = &l->paths[l->path_count - 1];
    if (!PFB_COLLECT_GROW(l->rows, l->row_capacity, l->row_count + 1))
        return false;
    layout_row *row = &l->rows[l->row_count];
    *row = (layout_row){.name = path->instance,
                        .parent = path->parent,
                        .has = path->has & PFB_SERIES_INSTANCE,
                        .occurrence = path->occurrence,
                        .number = number};
    if (value) {
        row->has = bit_if(value->has_instance, PFB_SERIES_INSTANCE);
        row->occurrence = value->occurrence;
        if (!pfb_text_add(&l->texts, &value->instance, &row->name))
            return false;
    }
    l->row_count++;
    return true;
}

/* State while the layout of a log's sample is made. */
typedef struct log_layout {
    pfb_collector *c;
    layout *l;
    chooser chosen;
    bool has_all;        /* all instances of the current path are chosen */
    uint32_t last;       /* position of the path of the last value */
    path_titles english; /* of that path */
    uint32_t last_shown; /* position of the path of the last element */
    uint32_t number;     /* of the next element among those of its path */
} log_layout;

/* Appends the element of a value if it is chosen. `value` is null for a cell of a text log. Returns false when memory
 * is exhausted. */
static bool add_log_element(log_layout *t, uint32_t position, const pfb_log_value *value, size_t place)
{
    layout *l = t->l;
    const pfb_log_path *path = &t->c->log.paths[position];
    bool has_instances = value && (path->flags & PFB_LOG_ALL_INSTANCES) != 0;
    if (position != t->last &&
        !(translate(t->c, path, &t->english) && choose_path(&t->chosen, path, &t->english, &t->has_all)))
        return false;
    t->last = position;
    t->chosen.instance++;
    if (!t->has_all && !matches_filters(&t->chosen, t->chosen.filters, t->chosen.filter_count, &path->parent,
                                        has_instances ? &value->instance : &path->instance,
                                        has_instances ? value->occurrence : path_occurrence(path)))
        return true;
    if (position != t->last_shown) {
        if (!add_path(t->c, l, path, &t->english, position))
            return false;
        t->last_shown = position;
        t->number = 0;
    }
    bool has_row = has_instances || t->number > 0;
    if (has_row && !add_log_row(l, has_instances ? value : NULL, t->number))
        return false;
    t->number++;
    if (!add_element(
            l, (layout_element){place, has_row ? (uint32_t)l->row_count - 1 : PFB_NONE, (uint32_t)l->path_count - 1}))
        return false;
    const layout_row *row = has_instances ? &l->rows[l->row_count - 1] : NULL;
    const pfb_counter_type *type = row ? pfb_counter_type_find(path->type) : NULL;
    bool is_total = type && type->samples >= 2 && pfb_layout_is_total(row->name.bytes, row->name.size);
    return !is_total || add_total(l);
}

layout *pfb_layout_of_log(pfb_collector *c)
{
    const log_state *log = &c->log;
    const pfb_log_values *values = &log->samples[log->newer].values;
    log_layout t = {.c = c, .l = make_layout(c, true, false), .last = PFB_LOG_NONE, .last_shown = PFB_LOG_NONE};
    if (!t.l || !open_chooser(&t.chosen, c)) {
        pfb_layout_release(&t.l);
        return NULL;
    }
    bool has_memory = find_exact_terms(&t.chosen, c);
    for (size_t i = 0; i < values->count && !log->is_text && has_memory; i++) {
        if (values->values[i].path < log->path_count)
            has_memory = add_log_element(&t, values->values[i].path, &values->values[i], i);
    }
    for (size_t i = 0; i < log->cell_count && log->is_text && has_memory; i++)
        has_memory = add_log_element(&t, log->cells[i].column, NULL, i);
    free_chooser(&t.chosen);
    if (!has_memory)
        pfb_layout_release(&t.l);
    return t.l;
}

/* ---- Comparison ------------------------------------------------------------------------------------------ */

static bool is_same_name(const pfb_name *a, const pfb_name *b)
{
    return a->size_bytes == b->size_bytes && !a->bytes == !b->bytes && a->encoding == b->encoding &&
           (!a->bytes || !b->bytes || a->size_bytes == 0 || memcmp(a->bytes, b->bytes, a->size_bytes) == 0);
}

static bool has_same_result(const pfb_sample_result *a, const pfb_sample_result *b)
{
    return a->kind == b->kind && a->has_query == b->has_query && pfb_guid_equal(&a->counterset, &b->counterset) &&
           a->counter_id == b->counter_id && a->title_index == b->title_index && a->first_column == b->first_column &&
           a->column_count == b->column_count && a->first_row == b->first_row && a->row_count == b->row_count &&
           a->first_value == b->first_value && a->stride == b->stride;
}

static bool has_same_column(const pfb_sample_column *a, const pfb_sample_column *b)
{
    return a->counter_id == b->counter_id && a->has_counter == b->has_counter && a->counter.type == b->counter.type &&
           a->counter.attributes == b->counter.attributes;
}

static bool has_same_row(const pfb_sample_row *a, const pfb_sample_row *b)
{
    return a->id == b->id && a->has_name == b->has_name && a->value_count == b->value_count &&
           is_same_name(&a->name, &b->name) && is_same_name(&a->parent, &b->parent);
}

bool pfb_layout_has_same_shape(const stored_sample *a, const stored_sample *b)
{
    const pfb_sample *left = &a->table;
    const pfb_sample *right = &b->table;
    bool is_same = is_same_name(&a->machine_name, &b->machine_name) && left->counts.results == right->counts.results &&
                   left->counts.columns == right->counts.columns && left->counts.rows == right->counts.rows;
    for (uint32_t i = 0; i < left->counts.results && is_same; i++)
        is_same = has_same_result(&left->results[i], &right->results[i]);
    for (uint32_t i = 0; i < left->counts.columns && is_same; i++)
        is_same = has_same_column(&left->columns[i], &right->columns[i]);
    for (uint32_t i = 0; i < left->counts.rows && is_same; i++)
        is_same = has_same_row(&left->rows[i], &right->rows[i]);
    return is_same;
}

/* Returns true if two values, one of which is the older one of the other, have the same path and instance name. A value
 * that was found by the id of a process may have others. */
static bool has_same_instance(const pfb_log_value *older, const pfb_log_value *newer)
{
    if (older->path != newer->path || older->has_instance != newer->has_instance)
        return false;
    return newer->key == 0 ||
           (older->occurrence == newer->occurrence && older->instance.size_bytes == newer->instance.size_bytes &&
            (newer->instance.size_bytes == 0 ||
             memcmp(older->instance.bytes, newer->instance.bytes, newer->instance.size_bytes) == 0));
}

bool pfb_layout_has_same_values(const pfb_log_values *older, const pfb_log_values *newer)
{
    bool is_same = older->count == newer->count;
    bool is_like = newer->is_like && newer->like == older;
    if (is_like && older->key_count == 0 && newer->key_count == 0)
        return true;
    for (size_t i = 0; i < newer->count && is_same; i++)
        is_same = newer->values[i].older == i && (is_like || has_same_instance(&older->values[i], &newer->values[i]));
    return is_same;
}

static bool is_same_text(const text_view *a, const text_view *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static bool is_same_result(const layout_result *a, const layout_result *b)
{
    return a->has_counterset == b->has_counterset && a->has_set == b->has_set && pfb_guid_equal(&a->set, &b->set) &&
           a->title == b->title && is_same_text(&a->counterset, &b->counterset);
}

static bool is_same_column(const layout *l, uint32_t i, const layout *m, uint32_t k)
{
    const layout_column *a = &l->columns[i];
    const layout_column *b = &m->columns[k];
    return a->has == b->has && a->result == b->result && a->type == b->type && a->counter_id == b->counter_id &&
           a->position == b->position && a->attributes == b->attributes && strcmp(a->unit, b->unit) == 0 &&
           is_same_text(&a->name, &b->name) && is_same_result(&l->results[a->result], &m->results[b->result]);
}

static bool is_same_path(const layout_path *a, const layout_path *b)
{
    return a->has == b->has && a->type == b->type && a->occurrence == b->occurrence && a->position == b->position &&
           strcmp(a->unit, b->unit) == 0 && is_same_text(&a->machine, &b->machine) &&
           is_same_text(&a->counterset, &b->counterset) && is_same_text(&a->instance, &b->instance) &&
           is_same_text(&a->parent, &b->parent) && is_same_text(&a->counter, &b->counter);
}

static bool is_same_instance(const layout_row *a, const layout_row *b)
{
    return a->has == b->has && a->occurrence == b->occurrence && a->number == b->number && a->id == b->id &&
           is_same_text(&a->name, &b->name) && is_same_text(&a->parent, &b->parent);
}

bool pfb_layout_is_same(const layout *a, const layout *b)
{
    bool is_same = a->is_log == b->is_log && a->is_v1 == b->is_v1 && a->element_count == b->element_count &&
                   a->row_count == b->row_count && a->path_count == b->path_count && a->has_machine == b->has_machine &&
                   (a->is_log || is_same_text(&a->machine, &b->machine));
    for (size_t i = 0; i < a->row_count && is_same; i++)
        is_same = is_same_instance(&a->rows[i], &b->rows[i]);
    for (size_t i = 0; i < a->path_count && is_same; i++)
        is_same = is_same_path(&a->paths[i], &b->paths[i]);
    /* Each column is compared once: those of an instance follow those of the one before. */
    uint32_t *columns = is_same && !a->is_log ? calloc(a->column_count + 1, sizeof *columns) : NULL;
    is_same = is_same && (a->is_log || columns);
    for (size_t i = 0; i < a->element_count && is_same; i++) {
        const layout_element *left = &a->elements[i];
        const layout_element *right = &b->elements[i];
        is_same = left->row == right->row && (!a->is_log || left->column == right->column);
        if (!is_same || a->is_log || columns[left->column] == right->column + 1)
            continue;
        is_same = is_same_column(a, left->column, b, right->column);
        columns[left->column] = right->column + 1;
    }
    free(columns);
    return is_same;
}

/* ---- Series ---------------------------------------------------------------------------------------------- */

static void set_text(const char **text, uint32_t *size, const text_view *view)
{
    *text = view->bytes;
    *size = view->size < UINT32_MAX ? (uint32_t)view->size : UINT32_MAX;
}

static void describe_path(const layout *l, const layout_element *element, pfb_series *s)
{
    const layout_path *path = &l->paths[element->column];
    s->has = path->has;
    s->unit = path->unit;
    s->type = path->type;
    s->occurrence = path->occurrence;
    s->result = s->position = path->position;
    set_text(&s->machine, &s->machine_bytes, &path->machine);
    set_text(&s->counterset, &s->counterset_bytes, &path->counterset);
    set_text(&s->instance, &s->instance_bytes, &path->instance);
    set_text(&s->parent, &s->parent_bytes, &path->parent);
    set_text(&s->counter, &s->counter_bytes, &path->counter);
    if (element->row == PFB_NONE)
        return;
    const layout_row *row = &l->rows[element->row];
    s->has = (s->has & ~(uint32_t)PFB_SERIES_INSTANCE) | row->has;
    s->occurrence = row->occurrence;
    s->row = row->number;
    set_text(&s->instance, &s->instance_bytes, &row->name);
}

void pfb_layout_series(const layout *l, uint32_t position, pfb_series *s)
{
    const layout_element *element = &l->elements[position];
    *s = (pfb_series){.size = sizeof *s};
    if (l->is_log) {
        describe_path(l, element, s);
        return;
    }
    const layout_row *row = &l->rows[element->row];
    const layout_column *column = &l->columns[element->column];
    const layout_result *result = &l->results[column->result];
    s->has = row->has | column->has | bit_if(l->has_machine, PFB_SERIES_MACHINE) |
             bit_if(result->has_counterset, PFB_SERIES_COUNTERSET) | bit_if(result->has_set, PFB_SERIES_SET) |
             bit_if(l->is_v1, PFB_SERIES_TITLE);
    s->unit = column->unit;
    s->occurrence = row->occurrence;
    s->type = column->type;
    s->counter_id = column->counter_id;
    s->title = result->title;
    s->result = column->result;
    s->row = row->number;
    s->position = column->position;
    s->attributes = column->attributes;
    s->instance_id = row->id;
    s->set = result->set;
    set_text(&s->machine, &s->machine_bytes, &l->machine);
    set_text(&s->counterset, &s->counterset_bytes, &result->counterset);
    set_text(&s->instance, &s->instance_bytes, &row->name);
    set_text(&s->parent, &s->parent_bytes, &row->parent);
    set_text(&s->counter, &s->counter_bytes, &column->name);
}
