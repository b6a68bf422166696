/* SPDX-License-Identifier: MIT */
#include "pdh/titles.h"

#include <stdlib.h>
#include <string.h>

typedef struct known_title {
    const char *name;
    uint32_t index;
} known_title;

static const known_title known_titles[] = {
    {"System", 2},      {"Memory", 4},         {"% Processor Time", 6}, {"Processor Queue Length", 44},
    {"Process", 230},   {"Thread", 232},       {"PhysicalDisk", 234},   {"LogicalDisk", 236},
    {"Processor", 238}, {"% Free Space", 408}, {"Free Megabytes", 410}, {"Network Interface", 510},
    {"TCPv4", 638},     {"UDPv4", 658},        {"System Up Time", 674}, {"Paging File", 700},
    {"% Usage", 702},   {"UDPv6", 1532}};
enum { KNOWN_COUNT = sizeof known_titles / sizeof known_titles[0], FIRST_INVENTED = 10000 };

static int compare_titles(const void *left, const void *right)
{
    const pdh_title *a = left;
    const pdh_title *b = right;
    int order = strcmp(a->english, b->english);
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

/* Returns the number of Windows of a name, or 0. */
static uint32_t find_known(const char *name)
{
    uint32_t index = 0;
    for (size_t i = 0; i < KNOWN_COUNT && index == 0; i++)
        index = pfb_pdh_equal(known_titles[i].name, name) ? known_titles[i].index : 0;
    return index;
}

static pdh_title object_title(const pdh_catalog *c, size_t i)
{
    const pdh_object_entry *o = &c->objects[i];
    return (pdh_title){.name = o->name,
                       .english = o->english ? o->english : o->name,
                       .help = o->help,
                       .index = o->has_title ? o->title : 0,
                       .place = (uint32_t)i};
}

static pdh_title counter_title(const pdh_catalog *c, size_t i)
{
    const pdh_counter_entry *entry = &c->counters[i];
    return (pdh_title){.name = entry->name,
                       .english = entry->english ? entry->english : entry->name,
                       .help = entry->help,
                       .index = entry->title,
                       .place = (uint32_t)(c->object_count + i)};
}

/* Adds the rows of objects and counters: those with a number, or those without. */
static void add_rows(const pdh_catalog *c, pdh_titles *t, bool has_number)
{
    for (size_t place = 0; place < c->object_count + c->counter_count; place++) {
        bool is_object = place < c->object_count;
        pdh_title row = is_object ? object_title(c, place) : counter_title(c, place - c->object_count);
        if ((row.index != 0) != has_number)
            continue;
        t->rows[t->count++] = row;
        t->indexes[place] = row.index;
    }
}

/* Returns the first number that is invented: above those of V1 data, where these are larger. */
static uint32_t first_invented(const pdh_titles *t)
{
    uint32_t next = FIRST_INVENTED;
    for (size_t i = 0; i < t->count; i++)
        if (t->rows[i].index >= next && t->rows[i].index < UINT32_MAX / 2)
            next = t->rows[i].index / 2 * 2 + 2;
    return next;
}

/* Numbers the rows from `first` on. */
static void number_rows(pdh_titles *t, size_t first, uint32_t next)
{
    qsort(t->rows + first, t->count - first, sizeof *t->rows, compare_titles);
    for (size_t i = first; i < t->count; i++) {
        pdh_title *row = &t->rows[i];
        uint32_t known = find_known(row->english);
        bool is_same = i > first && strcmp(row->english, row[-1].english) == 0;
        row->index = known != 0 ? known : is_same ? row[-1].index : next;
        next += row->index == next ? 2U : 0;
        t->indexes[row->place] = row->index;
    }
}

bool pfb_pdh_make_titles(const pdh_catalog *c, pdh_titles *t)
{
    size_t places = c->object_count + c->counter_count;
    *t = (pdh_titles){.rows = malloc((KNOWN_COUNT + places) * sizeof *t->rows),
                      .indexes = calloc(places + 1, sizeof *t->indexes)};
    if (!t->rows || !t->indexes) {
        pfb_pdh_free_titles(t);
        return false;
    }
    add_rows(c, t, true);
    size_t first = t->count;
    uint32_t next = first_invented(t);
    add_rows(c, t, false);
    number_rows(t, first, next);
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        t->rows[t->count++] = (pdh_title){.name = known_titles[i].name,
                                          .english = known_titles[i].name,
                                          .index = known_titles[i].index,
                                          .place = PDH_NONE};
    return true;
}

void pfb_pdh_free_titles(pdh_titles *t)
{
    free(t->rows);
    free(t->indexes);
    *t = (pdh_titles){.rows = NULL};
}
