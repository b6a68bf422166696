/* SPDX-License-Identifier: MIT */
/* Groups of instances, whose values are added. */
#include "collect/group.h"

#include "collect/collector.h"
#include "select/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void forget_members(group_state *g)
{
    g->source_layout = 0;
    g->element_count = g->member_count = g->names_size = g->result_count = 0;
}

void pfb_group_free(group_state *g)
{
    free(g->pattern);
    free(g->elements);
    free(g->members);
    free(g->names);
    free(g->row_counts);
    free(g->values);
    free(g->statuses);
    free(g->flag_bits);
    free(g->raw);
    free(g->times);
    *g = (group_state){.how = PFB_GROUP_SUM};
}

/* ---- Patterns -------------------------------------------------------------------------------------------- */

static const char part[] = "(*)"; /* what members of a group share */

enum { PART_SIZE = sizeof part - 1 };

static bool is_part(const char *pattern, size_t size)
{
    return size >= PART_SIZE && memcmp(pattern, part, PART_SIZE) == 0;
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Returns the size of the character at `text`, whose size is not 0: of a sequence of UTF-8. */
static size_t character_size(const char *text, size_t size)
{
    size_t count = 1;
    while (count < size && ((unsigned char)text[count] & 0xC0) == 0x80)
        count++;
    return count;
}

/* The text that each * of a pattern matched, in the order of the pattern. */
typedef struct pattern_match {
    size_t begin[PFB_GROUP_PATTERN_BYTES], end[PFB_GROUP_PATTERN_BYTES];
    size_t count;
} pattern_match;

/* Matches a whole text. Each * matches as little as possible, from the first one on: so it is enough to go back to the
 * last one. The work is at most the product of both sizes. */
static bool match_text(const group_state *g, const char *text, size_t size, pattern_match *m)
{
    size_t p = 0;
    size_t at = 0;
    size_t after_star = 0; /* position in the pattern after the last * that was reached */
    m->count = 0;
    while (p < g->pattern_size || at < size) {
        const char *pattern = g->pattern + p;
        size_t left = g->pattern_size - p;
        bool is_star = left > 0 && (*pattern == '*' || is_part(pattern, left));
        if (is_star) {
            p += *pattern == '*' ? 1 : PART_SIZE;
            after_star = p;
            m->begin[m->count] = m->end[m->count] = at;
            m->count++;
        } else if (left > 0 && at < size && *pattern == '?') {
            p++;
            at += character_size(text + at, size - at);
        } else if (left > 0 && at < size && upper(*pattern) == upper(text[at])) {
            p++;
            at++;
        } else {
            size_t *end = m->count > 0 ? &m->end[m->count - 1] : NULL;
            if (!end || *end >= size)
                return false;
            *end += character_size(text + *end, size - *end);
            at = *end;
            p = after_star;
        }
    }
    return true;
}

/* Appends bytes to the names. Returns false when memory is exhausted. */
static bool add_text(group_state *g, const char *text, size_t size)
{
    if (size >= SIZE_MAX - g->names_size || !PFB_COLLECT_GROW(g->names, g->names_capacity, g->names_size + size + 1))
        return false;
    memcpy(g->names + g->names_size, text, size);
    g->names_size += size;
    g->names[g->names_size] = '\0';
    return true;
}

/* Appends the name of a group, with a NUL: the pattern with the matched text in the place of each part. */
static bool add_name(group_state *g, const char *text, const pattern_match *m)
{
    size_t star = 0;
    bool has_memory = true;
    for (size_t p = 0; p < g->pattern_size && has_memory;) {
        bool is_shared = is_part(g->pattern + p, g->pattern_size - p);
        if (is_shared && star < m->count)
            has_memory = add_text(g, text + m->begin[star], m->end[star] - m->begin[star]);
        else
            has_memory = add_text(g, g->pattern + p, 1);
        star += is_shared || g->pattern[p] == '*';
        p += is_shared ? PART_SIZE : 1;
    }
    has_memory = has_memory && add_text(g, "", 0);
    g->names_size++;
    return has_memory;
}

/* ---- Rows and columns ------------------------------------------------------------------------------------ */

/* An instance that belongs to a group, or a counter of such instances. */
typedef struct group_part {
    pfb_series series;
    size_t name, name_bytes; /* of the group; not of counters */
    const char *names;       /* group_state.names, when parts are compared */
    uint32_t number;         /* of the part, from 0 */
} group_part;

typedef struct group_parts {
    group_part *parts;
    size_t count, capacity;
    uint32_t *classes; /* by number of a part: equal for equal parts */
} group_parts;

/* A member of a group while groups are made. */
typedef struct grouped_element {
    uint64_t place; /* of the counter in the frame */
    uint32_t element, row, column;
} grouped_element;

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_bytes(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t size = a_size < b_size ? a_size : b_size;
    int order = size > 0 ? memcmp(a, b, size) : 0;
    return order != 0 ? order : compare_numbers(a_size, b_size);
}

/* Compares the countersets of two instances, with their machines. */
static int compare_sets(const pfb_series *a, const pfb_series *b)
{
    const uint32_t names = PFB_SERIES_COUNTERSET | PFB_SERIES_SET | PFB_SERIES_TITLE | PFB_SERIES_LOG;
    const uint32_t bits = names | PFB_SERIES_MACHINE;
    int order = compare_numbers(a->has & bits, b->has & bits);
    if (order == 0)
        order = compare_bytes(a->machine, a->machine_bytes, b->machine, b->machine_bytes);
    if (order == 0)
        order = compare_bytes(a->counterset, a->counterset_bytes, b->counterset, b->counterset_bytes);
    if (order == 0)
        order = memcmp(a->set.bytes, b->set.bytes, sizeof a->set.bytes);
    if (order == 0)
        order = compare_numbers(a->title, b->title);
    return order != 0 || (a->has & names) != 0 ? order : compare_numbers(a->result, b->result);
}

static int compare_rows(const void *left, const void *right)
{
    const group_part *a = left;
    const group_part *b = right;
    int order = compare_sets(&a->series, &b->series);
    return order != 0 ? order : compare_bytes(a->names + a->name, a->name_bytes, b->names + b->name, b->name_bytes);
}

/* Counters are the same if they have the same name, id and type. In V1 and V2 they also have the same position, because
 * a result may have several counters with the same id. */
static int compare_columns(const void *left, const void *right)
{
    const pfb_series *a = &((const group_part *)left)->series;
    const pfb_series *b = &((const group_part *)right)->series;
    const uint32_t bits = PFB_SERIES_COUNTER | PFB_SERIES_COUNTER_ID | PFB_SERIES_TYPE | PFB_SERIES_LOG;
    int order = compare_numbers(a->has & bits, b->has & bits);
    if (order == 0)
        order = compare_bytes(a->counter, a->counter_bytes, b->counter, b->counter_bytes);
    if (order == 0)
        order = compare_numbers(a->counter_id, b->counter_id);
    if (order == 0)
        order = compare_numbers(a->type, b->type);
    return order != 0 || (a->has & PFB_SERIES_LOG) ? order : compare_numbers(a->position, b->position);
}

/* Adds the series as a part. Returns null when memory is exhausted. */
static group_part *add_part(group_parts *all, const pfb_series *s)
{
    if (all->count >= UINT32_MAX || !PFB_COLLECT_GROW(all->parts, all->capacity, all->count + 1))
        return NULL;
    group_part *added = &all->parts[all->count];
    *added = (group_part){.series = *s, .number = (uint32_t)all->count++};
    return added;
}

/* Gives equal parts the same class, and sorts the parts by it. Returns false when memory is exhausted. */
static bool classify(group_parts *all, const char *names, int (*compare)(const void *, const void *))
{
    uint32_t class = 0;
    all->classes = calloc(all->count + 1, sizeof *all->classes);
    for (size_t i = 0; i < all->count; i++)
        all->parts[i].names = names;
    if (!all->classes)
        return false;
    if (all->count > 0)
        qsort(all->parts, all->count, sizeof *all->parts, compare);
    for (size_t i = 0; i < all->count; i++) {
        class += i > 0 && compare(&all->parts[i - 1], &all->parts[i]) != 0;
        all->classes[all->parts[i].number] = class;
    }
    return true;
}

/* ---- Groups ---------------------------------------------------------------------------------------------- */

/* State while the groups of a layout are made. */
typedef struct grouping {
    pfb_collector *c;
    group_state *g;
    group_parts rows, columns;
    grouped_element *members;
    size_t member_count, member_capacity;
    char *text; /* a name that is matched */
    size_t text_size, text_capacity;
} grouping;

static bool append(grouping *t, const char *text, size_t size)
{
    if (size >= SIZE_MAX - t->text_size || !PFB_COLLECT_GROW(t->text, t->text_capacity, t->text_size + size + 1))
        return false;
    memcpy(t->text + t->text_size, text, size);
    t->text_size += size;
    return true;
}

/* Matches an instance: its name, after that of its parent and a slash if it has one; if the pattern does not match, the
 * same with # and its number among the instances of this name. Returns false when memory is exhausted. */
static bool match_instance(grouping *t, const pfb_series *s, pattern_match *m, bool *is_match)
{
    char number[16];
    t->text_size = 0;
    *is_match = false;
    if (!(s->has & PFB_SERIES_INSTANCE) ||
        (pfb_layout_is_total(s->instance, s->instance_bytes) && !t->g->may_have_totals))
        return true;
    if ((s->has & PFB_SERIES_PARENT) && !(append(t, s->parent, s->parent_bytes) && append(t, "/", 1)))
        return false;
    if (!append(t, s->instance, s->instance_bytes))
        return false;
    *is_match = match_text(t->g, t->text, t->text_size, m);
    if (*is_match)
        return true;
    int size = snprintf(number, sizeof number, "#%u", (unsigned)s->occurrence);
    if (!append(t, number, (size_t)size))
        return false;
    *is_match = match_text(t->g, t->text, t->text_size, m);
    return true;
}

/* Adds an element of the source as one of its own. */
static bool add_single(group_state *g, uint32_t element, uint32_t anchor)
{
    if (!PFB_COLLECT_GROW(g->elements, g->element_capacity, g->element_count + 1) ||
        !PFB_COLLECT_GROW(g->members, g->member_capacity, g->member_count + 1))
        return false;
    g->elements[g->element_count++] = (group_element){
        .first_member = (uint32_t)g->member_count, .member_count = 1, .first = element, .anchor = anchor};
    g->members[g->member_count++] = element;
    return true;
}

/* Finds the elements that belong to groups, and their rows; adds the others. Returns false when memory is exhausted. */
static bool find_members(grouping *t)
{
    pfb_series s = {.size = sizeof s};
    pattern_match m;
    bool has_row = false;
    bool is_match = false;
    uint32_t result = 0, row = 0, anchor = 0;
    bool is_log = false;
    for (uint32_t i = 0; pfb_collect_source_series(t->c, i, &s); i++) {
        bool is_same = has_row && s.result == result && s.row == row && is_log == ((s.has & PFB_SERIES_LOG) != 0);
        has_row = true;
        result = s.result;
        row = s.row;
        is_log = (s.has & PFB_SERIES_LOG) != 0;
        if (!is_same) {
            anchor = i;
            if (!match_instance(t, &s, &m, &is_match))
                return false;
        }
        if (!is_match) {
            if (!add_single(t->g, i, anchor))
                return false;
            continue;
        }
        if (!is_same) {
            group_part *added = add_part(&t->rows, &s);
            if (!added)
                return false;
            added->name = t->g->names_size;
            if (!add_name(t->g, t->text, &m))
                return false;
            added->name_bytes = t->g->names_size - added->name - 1;
        }
        if (!PFB_COLLECT_GROW(t->members, t->member_capacity, t->member_count + 1))
            return false;
        t->members[t->member_count++] =
            (grouped_element){.place = is_log ? UINT64_MAX << 63 | s.position : (uint64_t)result << 32 | s.position,
                              .element = i,
                              .row = (uint32_t)t->rows.count - 1};
    }
    return true;
}

static int compare_places(const void *left, const void *right)
{
    const grouped_element *a = left;
    const grouped_element *b = right;
    int order = compare_numbers(a->place, b->place);
    return order != 0 ? order : compare_numbers(a->element, b->element);
}

static int compare_members(const void *left, const void *right)
{
    const grouped_element *a = left;
    const grouped_element *b = right;
    if (a->row != b->row)
        return compare_numbers(a->row, b->row);
    if (a->column != b->column)
        return compare_numbers(a->column, b->column);
    return compare_numbers(a->element, b->element);
}

/* Finds the counters of the members. Returns false when memory is exhausted. */
static bool find_columns(grouping *t)
{
    pfb_series s = {.size = sizeof s};
    if (t->member_count > 0)
        qsort(t->members, t->member_count, sizeof *t->members, compare_places);
    for (size_t i = 0; i < t->member_count; i++) {
        bool is_new = i == 0 || t->members[i].place != t->members[i - 1].place;
        if (is_new && !(pfb_collect_source_series(t->c, t->members[i].element, &s) && add_part(&t->columns, &s)))
            return false;
        t->members[i].column = (uint32_t)t->columns.count - 1;
    }
    return true;
}

/* The name of a group. */
typedef struct group_name {
    size_t name, name_bytes;
} group_name;

/* Returns the names of groups by class; free with free(). Returns null when memory is exhausted. */
static group_name *name_groups(const grouping *t)
{
    group_name *names = calloc(t->rows.count + 1, sizeof *names);
    for (size_t i = 0; i < t->rows.count && names; i++) {
        const group_part *row = &t->rows.parts[i];
        names[t->rows.classes[row->number]] = (group_name){row->name, row->name_bytes};
    }
    return names;
}

/* Adds an element for each group and counter. Members are sorted by group, then by counter. */
static bool add_groups(grouping *t)
{
    group_state *g = t->g;
    group_name *names = name_groups(t);
    bool has_memory = names != NULL;
    for (size_t i = 0; i < t->member_count && has_memory; i++) {
        const grouped_element *member = &t->members[i];
        if (i > 0 && member->row == member[-1].row && member->column == member[-1].column) {
            has_memory = PFB_COLLECT_GROW(g->members, g->member_capacity, g->member_count + 1);
            if (has_memory)
                g->members[g->member_count++] = member->element;
            g->elements[g->element_count - 1].member_count++;
            continue;
        }
        has_memory = add_single(g, member->element, member->element);
        if (has_memory) {
            group_element *added = &g->elements[g->element_count - 1];
            added->is_group = true;
            added->name = names[member->row].name;
            added->name_bytes = names[member->row].name_bytes;
        }
    }
    free(names);
    return has_memory;
}

static int compare_elements(const void *left, const void *right)
{
    const group_element *a = left;
    const group_element *b = right;
    return a->anchor != b->anchor ? compare_numbers(a->anchor, b->anchor) : compare_numbers(a->first, b->first);
}

/* Orders by group, then by the first member. Groups are known by their names, whose positions differ. */
static int compare_in_groups(const void *left, const void *right)
{
    const group_element *a = left;
    const group_element *b = right;
    return a->name != b->name ? compare_numbers(a->name, b->name) : compare_numbers(a->first, b->first);
}

/* Sets the anchors of groups: the first element of the group in the result of the first member. Elements of a group may
 * belong to several results, such as the answers to queries for one counter each. */
static bool anchor_groups(grouping *t, size_t first_group)
{
    group_state *g = t->g;
    pfb_series s = {.size = sizeof s};
    uint32_t result = 0;
    bool is_log = false;
    if (g->element_count > first_group)
        qsort(g->elements + first_group, g->element_count - first_group, sizeof *g->elements, compare_in_groups);
    for (size_t i = first_group; i < g->element_count; i++) {
        group_element *e = &g->elements[i];
        if (!pfb_collect_source_series(t->c, e->first, &s))
            return false;
        bool is_same =
            i > first_group && e->name == e[-1].name && s.result == result && is_log == ((s.has & PFB_SERIES_LOG) != 0);
        e->anchor = is_same ? e[-1].anchor : e->first;
        result = s.result;
        is_log = (s.has & PFB_SERIES_LOG) != 0;
    }
    return true;
}

/* Sorts the elements as those of other frames are: results in their order, in each the rows by their first elements,
 * and the elements of a row together. Numbers the rows of each result. Returns false when memory is exhausted. */
static bool number_rows(grouping *t)
{
    group_state *g = t->g;
    pfb_series s = {.size = sizeof s};
    bool has_before = false;
    bool is_log = false;
    uint32_t result = 0;
    if (g->element_count > 0)
        qsort(g->elements, g->element_count, sizeof *g->elements, compare_elements);
    for (size_t i = 0; i < g->element_count; i++) {
        group_element *e = &g->elements[i];
        if (!pfb_collect_source_series(t->c, e->first, &s))
            return false;
        bool is_same = has_before && s.result == result && is_log == ((s.has & PFB_SERIES_LOG) != 0);
        bool is_same_row = is_same && e->anchor == e[-1].anchor;
        e->row = !is_same ? 0 : e[-1].row + !is_same_row;
        has_before = true;
        result = s.result;
        is_log = (s.has & PFB_SERIES_LOG) != 0;
        if (is_log)
            continue;
        if (!PFB_COLLECT_GROW(g->row_counts, g->result_capacity, (size_t)result + 1))
            return false;
        while (g->result_count <= result)
            g->row_counts[g->result_count++] = 0;
        g->row_counts[result] = e->row + 1;
    }
    return true;
}

/* Makes the groups of the current layout. Returns false when memory is exhausted. */
static bool make_groups(pfb_collector *c)
{
    grouping t = {.c = c, .g = &c->group};
    forget_members(&c->group);
    bool has_memory = find_members(&t) && find_columns(&t) && classify(&t.rows, c->group.names, compare_rows) &&
                      classify(&t.columns, NULL, compare_columns);
    for (size_t i = 0; i < t.member_count && has_memory; i++) {
        t.members[i].row = t.rows.classes[t.members[i].row];
        t.members[i].column = t.columns.classes[t.members[i].column];
    }
    if (has_memory && t.member_count > 0)
        qsort(t.members, t.member_count, sizeof *t.members, compare_members);
    size_t first_group = c->group.element_count;
    has_memory = has_memory && add_groups(&t) && anchor_groups(&t, first_group) && number_rows(&t);
    free(t.rows.parts);
    free(t.rows.classes);
    free(t.columns.parts);
    free(t.columns.classes);
    free(t.members);
    free(t.text);
    if (!has_memory)
        forget_members(&c->group);
    return has_memory;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* Sums, and the largest, of the values of a group. */
typedef struct aggregate {
    uint32_t count;
    double sum, correction, largest; /* correction: the sum of the rounding errors of `sum` */
    bool is_integer, is_largest_integer;
    uint64_t integer_sum, largest_integer;
} aggregate;

/* Neumaier's variant of Kahan's summation. */
static void add_double(aggregate *a, double value)
{
    double sum = a->sum + value;
    a->correction += fabs(a->sum) >= fabs(value) ? (a->sum - sum) + value : (value - sum) + a->sum;
    a->sum = sum;
}

static void add_value(aggregate *a, const pfb_value *v)
{
    bool is_integer = (v->has & PFB_VALUE_INTEGER) != 0;
    a->is_integer = (a->count == 0 || a->is_integer) && is_integer && v->integer <= UINT64_MAX - a->integer_sum;
    a->integer_sum += a->is_integer ? v->integer : 0;
    if (a->count == 0 || v->value > a->largest ||
        (v->value == a->largest && is_integer && v->integer > a->largest_integer)) {
        a->largest = v->value;
        a->is_largest_integer = is_integer;
        a->largest_integer = is_integer ? v->integer : 0;
    }
    add_double(a, v->value);
    a->count++;
}

/* Stores the value of a group in *out, which is that of the first member with a value. */
static void put_aggregate(const group_state *g, const aggregate *a, bool is_percentage, pfb_value *out)
{
    bool is_sum = g->how == PFB_GROUP_SUM;
    bool is_max = g->how == PFB_GROUP_MAX;
    double sum = a->is_integer ? (double)a->integer_sum : a->sum + a->correction;
    bool is_integer = is_max ? a->is_largest_integer : is_sum && a->is_integer;
    out->value = is_max ? a->largest : is_sum ? sum : sum / a->count;
    out->has = (out->has & ~(uint32_t)PFB_VALUE_INTEGER) | (is_integer ? (uint32_t)PFB_VALUE_INTEGER : 0);
    out->integer = !is_integer ? 0 : is_max ? a->largest_integer : a->integer_sum;
    if (is_sum && is_percentage && a->count > 1 && out->value > 100)
        out->flags |= PFB_FLAG_SUM;
    if (!(out->value - out->value == 0)) /* past the range of double */
        *out = (pfb_value){.size = sizeof *out,
                           .has = out->has & ~(uint32_t)PFB_VALUE_INTEGER,
                           .time = out->time,
                           .status = PFB_STATUS_NO_DATA};
}

/* A text log has no types. Where the catalog does not know the type either, percentages are the counters with a percent
 * sign in their names. */
static bool is_percentage(const pfb_series *s)
{
    return (s->has & PFB_SERIES_TYPE) ? strcmp(s->unit, "%") == 0
                                      : s->counter_bytes > 0 && memchr(s->counter, '%', s->counter_bytes) != NULL;
}

bool pfb_group_value(pfb_collector *c, uint32_t element, pfb_value *value)
{
    const group_state *g = &c->group;
    const uint32_t of_one = PFB_VALUE_RAW | PFB_VALUE_BASE | PFB_VALUE_OBJECT_FREQ; /* members have their own */
    const uint32_t no_instance = 0x800007D1;                                        /* PDH_CSTATUS_NO_INSTANCE */
    pfb_value v = {.size = sizeof v};
    pfb_value out = {.size = sizeof out};
    pfb_series s = {.size = sizeof s};
    aggregate all = {.count = 0};
    uint32_t flags = 0;
    bool is_partial = false;
    if (element >= g->element_count)
        return false;
    const group_element *e = &g->elements[element];
    if (!e->is_group)
        return pfb_collect_source_value(c, e->first, value);
    for (uint32_t i = 0; i < e->member_count; i++) {
        if (!pfb_collect_source_value(c, g->members[e->first_member + i], &v))
            return false;
        if (i == 0 || (v.status == PFB_STATUS_OK && all.count == 0))
            out = v;
        is_partial = is_partial || (v.status != PFB_STATUS_OK && v.source_status != no_instance);
        if (v.status != PFB_STATUS_OK)
            continue;
        flags |= v.flags;
        add_value(&all, &v);
    }
    out.has &= ~of_one;
    out.raw = out.base = 0;
    out.object_freq = 0;
    out.flags = flags | (is_partial && all.count > 0 ? PFB_FLAG_PARTIAL : 0);
    if (all.count > 0)
        put_aggregate(g, &all, pfb_collect_source_series(c, e->first, &s) && is_percentage(&s), &out);
    *value = out;
    return true;
}

bool pfb_group_series(pfb_collector *c, uint32_t element, pfb_series *series)
{
    const uint32_t of_one = PFB_SERIES_PARENT | PFB_SERIES_INSTANCE_ID;
    const group_state *g = &c->group;
    if (element >= g->element_count)
        return false;
    const group_element *e = &g->elements[element];
    if (!pfb_collect_source_series(c, e->first, series))
        return false;
    series->row = e->row;
    if (!e->is_group)
        return true;
    series->has = (series->has & ~of_one) | PFB_SERIES_INSTANCE | PFB_SERIES_GROUP;
    series->instance = g->names + e->name;
    series->instance_bytes = e->name_bytes < UINT32_MAX ? (uint32_t)e->name_bytes : UINT32_MAX;
    series->parent = "";
    series->parent_bytes = 0;
    series->occurrence = 0;
    series->instance_id = 0;
    return true;
}

bool pfb_group_inputs(pfb_collector *c, uint32_t element, pfb_raw_value inputs[2])
{
    const group_state *g = &c->group;
    if (element >= g->element_count)
        return false;
    const group_element *e = &g->elements[element];
    if (!e->is_group)
        return pfb_collect_source_inputs(c, e->first, inputs);
    inputs[0] = inputs[1] = (pfb_raw_value){.has = 0};
    return true;
}

uint32_t pfb_group_row_count(const group_state *g, uint32_t result)
{
    return result < g->result_count ? g->row_counts[result] : 0;
}

/* ---- Frames ---------------------------------------------------------------------------------------------- */

static bool reserve_values(group_state *g, size_t count)
{
    return PFB_COLLECT_GROW(g->values, g->value_capacity, count) &&
           PFB_COLLECT_GROW(g->statuses, g->status_capacity, count) &&
           PFB_COLLECT_GROW(g->flag_bits, g->flag_capacity, count) &&
           PFB_COLLECT_GROW(g->raw, g->raw_capacity, count) && PFB_COLLECT_GROW(g->times, g->time_capacity, count);
}

bool pfb_group_frame(pfb_collector *c)
{
    group_state *g = &c->group;
    const pfb_frame *source = &c->frame.frame;
    if (!g->pattern)
        return true;
    if (g->source_layout != source->layout && !make_groups(c))
        return false;
    g->source_layout = source->layout;
    if (!reserve_values(g, g->element_count))
        return false;
    for (size_t i = 0; i < g->element_count; i++) {
        pfb_value v = {.size = sizeof v};
        pfb_group_value(c, (uint32_t)i, &v);
        g->values[i] = v.status == PFB_STATUS_OK ? v.value : (double)NAN;
        g->statuses[i] = (uint8_t)v.status;
        g->flag_bits[i] = (uint8_t)v.flags;
        g->raw[i] = v.raw;
        g->times[i] = v.time;
    }
    g->frame = *source;
    g->frame.count = (uint32_t)g->element_count;
    g->frame.values = g->values;
    g->frame.statuses = g->statuses;
    g->frame.flag_bits = g->flag_bits;
    g->frame.raw = g->raw;
    g->frame.times = source->times ? g->times : NULL;
    return true;
}

bool pfb_collector_group(pfb_collector *c, const char *pattern, uint32_t how)
{
    size_t size = pattern ? strlen(pattern) : 0;
    char *copy = pattern ? malloc(size + 1) : NULL;
    if (size > PFB_GROUP_PATTERN_BYTES || how > PFB_GROUP_AVG || (pattern && !copy)) {
        free(copy);
        return false;
    }
    pfb_collect_end_sample(c);
    pfb_collect_forget_frame(c); /* so that the next layout has a new identifier: its elements are other series */
    c->choice_version++;
    pfb_group_free(&c->group);
    if (!pattern)
        return true;
    memcpy(copy, pattern, size + 1);
    c->group.pattern = copy;
    c->group.pattern_size = size;
    c->group.how = how;
    c->group.may_have_totals = pfb_layout_names_totals(copy, size);
    return true;
}
