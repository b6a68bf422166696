/* SPDX-License-Identifier: MIT */
#include "registry/written.h"

#include "registry/block.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- What is written ------------------------------------------------------------------------------------ */

static void object_key(pdh_map *map, const char *name)
{
    pfb_pdh_begin_key(map);
    pfb_pdh_add_key(map, "o", false);
    pfb_pdh_add_key(map, name, true);
}

static void column_key(pdh_map *map, uint32_t object, const char *name)
{
    pfb_pdh_begin_key(map);
    pfb_pdh_add_key(map, "c", false);
    pfb_pdh_add_key_number(map, object);
    pfb_pdh_add_key(map, name, true);
}

/* Returns the bytes of a value of a type; UINT32_MAX: of any size. */
static uint32_t size_of_type(uint32_t type)
{
    static const uint32_t sizes[] = {
        [PFB_RAW_DWORD] = 4, [PFB_RAW_LARGE] = 8, [PFB_RAW_ZERO] = 0, [PFB_RAW_VARIABLE] = UINT32_MAX};
    return sizes[(type & PFB_TYPE_SIZE_MASK) >> 8];
}

/* Returns true if the counter has a place in V1 blocks of its own. Bases are with their counters. */
static bool is_written(const pdh_counter_entry *entry)
{
    return entry->has_type && !entry->is_base && size_of_type(entry->type) != UINT32_MAX;
}

static written_column make_column(const pdh_catalog *c, uint32_t entry)
{
    uint32_t type = c->counters[entry].type;
    const pfb_counter_type *row = pfb_counter_type_find(type);
    uint32_t base = row ? row->base : 0;
    return (written_column){.entry = entry,
                            .size_bytes = size_of_type(type),
                            .base_type = base,
                            .base_bytes = base == 0 ? 0 : size_of_type(base)};
}

/* Adds the columns of an object. Returns false when memory is exhausted. */
static bool plan_columns(written_plan *plan, uint32_t number)
{
    written_object *object = &plan->objects[number];
    const pdh_object_entry *o = &plan->catalog->objects[object->place];
    object->columns = calloc(o->counter_count + 1, sizeof *object->columns);
    for (size_t i = 0; object->columns && i < o->counter_count; i++) {
        const pdh_counter_entry *entry = &plan->catalog->counters[o->counters[i]];
        if (!is_written(entry))
            continue;
        column_key(&plan->names, number, entry->name);
        if (pfb_pdh_map_add(&plan->names, (uint32_t)object->column_count) == PDH_NONE)
            return false;
        object->columns[object->column_count++] = make_column(plan->catalog, o->counters[i]);
    }
    return object->columns != NULL;
}

bool pfb_registry_plan_object(written_plan *plan, uint32_t place)
{
    const char *name = plan->catalog->objects[place].name;
    object_key(&plan->names, name);
    if (pfb_pdh_map_find(&plan->names) != PDH_NONE)
        return true;
    written_object *grown =
        pfb_source_grow(plan->objects, &plan->object_capacity, plan->object_count + 1, sizeof *plan->objects);
    if (!grown)
        return false;
    plan->objects = grown;
    plan->objects[plan->object_count] = (written_object){.place = place};
    uint32_t number = (uint32_t)plan->object_count++;
    return pfb_pdh_map_add(&plan->names, number) != PDH_NONE && plan_columns(plan, number);
}

void pfb_registry_free_plan(written_plan *plan)
{
    for (size_t i = 0; i < plan->object_count; i++)
        free(plan->objects[i].columns);
    free(plan->objects);
    free(plan->rows);
    free(plan->cells);
    pfb_pdh_free_map(&plan->names);
    pfb_pdh_free_map(&plan->row_names);
}

/* ---- The values of a frame ------------------------------------------------------------------------------ */

static void row_key(pdh_map *map, uint32_t object, const char *parent, const char *name, uint32_t occurrence)
{
    pfb_pdh_begin_key(map);
    pfb_pdh_add_key_number(map, object);
    pfb_pdh_add_key_number(map, occurrence);
    pfb_pdh_add_key(map, parent, false);
    pfb_pdh_add_key(map, name, false);
}

/* Returns the position in `rows` of the row that the series belongs to, or PDH_NONE when memory is exhausted. */
static uint32_t get_row(written_plan *plan, uint32_t object, const pfb_series *s)
{
    bool has_name = (s->has & PFB_SERIES_INSTANCE) && (s->instance_bytes > 0 || !(s->has & PFB_SERIES_LOG));
    row_key(&plan->row_names, object, s->parent, has_name ? s->instance : "", s->occurrence);
    uint32_t row = pfb_pdh_map_add(&plan->row_names, (uint32_t)plan->row_count);
    if (row != plan->row_count)
        return row;
    written_row *grown = pfb_source_grow(plan->rows, &plan->row_capacity, plan->row_count + 1, sizeof *plan->rows);
    if (!grown)
        return PDH_NONE;
    plan->rows = grown;
    plan->rows[plan->row_count++] = (written_row){.object = object,
                                                  .position = plan->objects[object].row_count++,
                                                  .occurrence = s->occurrence,
                                                  .name = has_name ? s->instance : NULL,
                                                  .parent = s->parent};
    return row;
}

/* Takes the clocks of a value, unless they are known. */
static void take_clocks(written_plan *plan, written_object *object, const pfb_raw_value *raw)
{
    uint32_t new_bits = raw->has & ~plan->has;
    if (new_bits & PFB_HAS_PERF_TIME)
        plan->times.perf_time = raw->perf_time;
    if (new_bits & PFB_HAS_PERF_FREQ)
        plan->times.perf_freq = raw->perf_freq;
    if (new_bits & PFB_HAS_PERF_TIME_100NS)
        plan->times.perf_time_100ns = raw->perf_time_100ns;
    plan->has |= raw->has;
    if (object->frequency == 0 && (raw->has & PFB_HAS_OBJECT_TIME) && (raw->has & PFB_HAS_OBJECT_FREQ)) {
        object->time = raw->object_time;
        object->frequency = raw->object_freq;
    }
}

/* Sizes and the type of the base are those of the first value. */
static void take_sizes(written_column *column, const pfb_raw_value *raw)
{
    if (column->has_sizes)
        return;
    column->has_sizes = true;
    if (raw->value_size != 0 && column->size_bytes != 0)
        column->size_bytes = raw->value_size;
    if ((raw->has & PFB_HAS_BASE) && raw->base_type != 0 && raw->base_size != 0) {
        column->base_type = raw->base_type;
        column->base_bytes = raw->base_size;
    }
}

/* Adds the value of an element, if there is one. Returns false when memory is exhausted. */
static bool take_element(written_plan *plan, pfb_collector *collector, uint32_t element, const pfb_series *s)
{
    pfb_raw_value inputs[2] = {{.has = 0}, {.has = 0}};
    bool is_base = (s->has & PFB_SERIES_TYPE) && pfb_pdh_is_base(s->type);
    if (is_base || !pfb_pdh_equal(pfb_pdh_bare_machine(s->machine), plan->machine))
        return true;
    object_key(&plan->names, s->counterset);
    uint32_t object = pfb_pdh_map_find(&plan->names);
    if (object == PDH_NONE)
        return !plan->names.lacks_memory;
    column_key(&plan->names, object, s->counter);
    uint32_t column = pfb_pdh_map_find(&plan->names);
    if (column == PDH_NONE)
        return !plan->names.lacks_memory;
    pfb_collector_inputs(collector, element, inputs);
    const pfb_raw_value *raw = &inputs[1];
    if (!(raw->has & PFB_HAS_VALUE))
        return true;
    uint32_t row = get_row(plan, object, s);
    written_cell *grown = pfb_source_grow(plan->cells, &plan->cell_capacity, plan->cell_count + 1, sizeof *plan->cells);
    plan->cells = grown ? grown : plan->cells;
    if (row == PDH_NONE || !grown)
        return false;
    take_clocks(plan, &plan->objects[object], raw);
    take_sizes(&plan->objects[object].columns[column], raw);
    plan->cells[plan->cell_count++] = (written_cell){.object = object,
                                                     .row = plan->rows[row].position,
                                                     .column = column,
                                                     .value = raw->value,
                                                     .base = raw->type & PFB_TYPE_MULTI ? raw->multi_count : raw->base};
    return true;
}

/* Takes which objects have results, and which of these are errors. Returns false when memory is exhausted. */
static bool take_results(written_plan *plan, pfb_collector *collector)
{
    pfb_collected_result result = {.size = sizeof result};
    for (uint32_t i = 0; pfb_collector_result(collector, i, &result); i++) {
        if (!result.has_counterset)
            continue;
        object_key(&plan->names, result.counterset);
        uint32_t place = pfb_pdh_map_find(&plan->names);
        if (place == PDH_NONE)
            continue;
        written_object *object = &plan->objects[place];
        object->has_result = object->has_result || result.has_values;
        object->has_failed = object->has_failed || !result.has_values;
        bool has_instances = plan->catalog->objects[object->place].has_instances;
        plan->has_objects = plan->has_objects || (result.has_values && has_instances && object->column_count > 0);
    }
    return !plan->names.lacks_memory;
}

/* Values of a log have only the clock that their formulas need. Without the performance clock, no value needs it; then
 * it is that of 100 ns, because readers divide by its frequency, and .NET takes 0 for the lack of a sample. */
static void complete_clocks(written_plan *plan)
{
    const int64_t second = 10000000;
    if (plan->has & (PFB_HAS_PERF_TIME | PFB_HAS_PERF_FREQ))
        return;
    plan->times.perf_time = plan->times.perf_time_100ns;
    plan->times.perf_freq = second;
}

bool pfb_registry_take_frame(written_plan *plan, pfb_collector *collector)
{
    pfb_series s = {.size = sizeof s};
    pfb_frame frame = {.size = sizeof frame};
    pfb_pdh_free_map(&plan->row_names);
    plan->row_count = plan->cell_count = 0;
    plan->has_objects = false;
    plan->has = 0;
    for (size_t i = 0; i < plan->object_count; i++) {
        plan->objects[i].row_count = 0;
        plan->objects[i].has_result = plan->objects[i].has_failed = false;
        plan->objects[i].time = plan->objects[i].frequency = 0;
    }
    if (!pfb_collector_frame(collector, &frame))
        return true;
    plan->times =
        (pfb_write_times){.perf_time = frame.perf_time, .perf_freq = frame.perf_freq, .perf_time_100ns = frame.time};
    bool has_memory = take_results(plan, collector);
    for (uint32_t i = 0; has_memory && i < frame.count && pfb_collector_series(collector, i, &s); i++)
        has_memory = take_element(plan, collector, i, &s);
    plan->has_objects = plan->has_objects || plan->cell_count > 0;
    if (frame.kind == PFB_RECORD_LOG)
        complete_clocks(plan);
    plan->times.system_time = pfb_registry_system_time(plan->times.perf_time_100ns);
    return has_memory;
}

/* ---- Parents -------------------------------------------------------------------------------------------- */

uint32_t pfb_registry_parent_of(uint32_t title)
{
    enum { PROCESS = 230, THREAD = 232, PHYSICAL_DISK = 234, LOGICAL_DISK = 236 };
    return title == THREAD ? PROCESS : title == LOGICAL_DISK ? PHYSICAL_DISK : 0;
}

/* Returns the row of a parent in the object with a title index, or PDH_NONE. `nth` is its number among those with its
 * name; without so many, it is the first. */
static uint32_t find_parent(written_plan *plan, uint32_t title, const char *name, uint32_t nth)
{
    uint32_t found = PDH_NONE;
    for (size_t k = 0; title != 0 && k < plan->object_count && found == PDH_NONE; k++) {
        if (plan->titles->indexes[plan->objects[k].place] != title)
            continue;
        row_key(&plan->row_names, (uint32_t)k, "", name, nth);
        found = pfb_pdh_map_find(&plan->row_names);
        if (found != PDH_NONE)
            continue;
        row_key(&plan->row_names, (uint32_t)k, "", name, 0);
        found = pfb_pdh_map_find(&plan->row_names);
    }
    return found;
}

/* Finds the parents of the rows. Names of those that are not in the block are joined with their parents'. Returns false
 * when memory is exhausted. */
static bool find_parents(written_plan *plan, pdh_arena *names)
{
    const written_row *before = NULL;
    uint32_t nth = 0;
    for (size_t i = 0; i < plan->row_count; i++) {
        written_row *row = &plan->rows[i];
        uint32_t title = pfb_registry_parent_of(plan->titles->indexes[plan->objects[row->object].place]);
        if (!row->name || row->parent[0] == '\0')
            continue;
        /* Children of one parent follow each other, so that another one of its name begins where a name repeats. */
        bool is_next = before && before->object == row->object && pfb_pdh_equal(before->parent, row->parent);
        nth = is_next && nth > row->occurrence ? nth : row->occurrence;
        before = row;
        uint32_t found = find_parent(plan, title, row->parent, nth);
        if (found != PDH_NONE) {
            row->parent_title = title;
            row->parent_position = plan->rows[found].position;
            continue;
        }
        row->name = pfb_pdh_keep_joined(names, row->parent, row->name);
        if (!row->name)
            return false;
    }
    return !plan->row_names.lacks_memory;
}

/* ---- Writing -------------------------------------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right)
{
    const written_row *a = left;
    const written_row *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static int compare_cells(const void *left, const void *right)
{
    const written_cell *a = left;
    const written_cell *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

/* The places in the rows and cells up to which a pass has written. */
typedef struct written_pass {
    pfb_writer *writer;
    size_t row, cell;
} written_pass;

static uint32_t detail_or_novice(uint32_t detail)
{
    return detail != 0 ? detail : 100;
}

/* Writes a definition, whose value follows those that end at *end. Returns the offset of the value; 0: it has no bytes.
 * Average times have 8 bytes on Windows, although their type says 4, and programs read as many whatever the definition
 * says. So 4 bytes of zeros follow one of 4 bytes. */
static uint32_t write_definition(pfb_writer *writer, pfb_v1_counter *counter, uint32_t *end)
{
    const uint32_t average_timer = UINT32_C(0x30020400);
    uint32_t room = counter->type == average_timer && counter->size_bytes == 4 ? 8 : counter->size_bytes;
    counter->value_offset = room < 8 ? *end : (*end + 7) & ~UINT32_C(7);
    if (room == 0)
        counter->value_offset = 0;
    else
        *end = counter->value_offset + room;
    return pfb_write_definition(writer, counter);
}

/* Writes the definitions of an object. Returns the end of its values in a counter block. */
static uint32_t write_definitions(const written_plan *plan, written_object *object, pfb_writer *writer)
{
    uint32_t end = 4;
    for (size_t i = 0; i < object->column_count; i++) {
        written_column *column = &object->columns[i];
        const pdh_counter_entry *entry = &plan->catalog->counters[column->entry];
        uint32_t title = plan->titles->indexes[plan->catalog->object_count + column->entry];
        pfb_v1_counter counter = {.title_index = title,
                                  .help_index = title + 1,
                                  .default_scale = entry->scale,
                                  .detail_level = detail_or_novice(entry->detail),
                                  .type = entry->type,
                                  .size_bytes = column->size_bytes};
        column->offset = write_definition(writer, &counter, &end);
        if (column->base_type == 0)
            continue;
        counter.type = column->base_type;
        counter.size_bytes = column->base_bytes;
        column->base_offset = write_definition(writer, &counter, &end);
    }
    return end;
}

/* Writes the values of a row. */
static void write_cells(const written_plan *plan, written_pass *pass, const written_object *object,
                        const written_row *row)
{
    for (; pass->cell < plan->cell_count; pass->cell++) {
        const written_cell *cell = &plan->cells[pass->cell];
        if (cell->object != row->object || cell->row != row->position)
            return;
        const written_column *column = &object->columns[cell->column];
        if (column->size_bytes > 0)
            pfb_write_v1_value(pass->writer, column->offset, cell->value, column->size_bytes);
        if (column->base_type != 0)
            pfb_write_v1_value(pass->writer, column->base_offset, cell->base, column->base_bytes);
    }
}

static void write_row(const written_plan *plan, written_pass *pass, const written_object *object, uint32_t block_bytes)
{
    const written_row *row = &plan->rows[pass->row++];
    if (plan->catalog->objects[object->place].has_instances) {
        const char *name = row->name ? row->name : "";
        pfb_v1_instance instance = {.name = pfb_utf8_name(name, strlen(name)),
                                    .unique_id = PFB_V1_NO_UNIQUE_ID,
                                    .parent_title = row->parent_title,
                                    .parent_position = row->parent_position};
        pfb_write_v1_instance(pass->writer, &instance);
    }
    pfb_write_counter_block(pass->writer, block_bytes);
    write_cells(plan, pass, object, row);
}

static int32_t default_counter(const written_plan *plan, const written_object *object)
{
    int32_t position = 0;
    for (size_t i = 0; i < object->column_count; i++) {
        if (object->columns[i].entry == plan->catalog->objects[object->place].default_counter)
            return position;
        position += 1 + (object->columns[i].base_type != 0);
    }
    return -1;
}

/* Returns true if the object is written. One without instances has one row; only one with instances, whose provider has
 * not failed, may have none now. */
static bool is_whole(const written_plan *plan, const written_object *object)
{
    bool may_be_empty = plan->catalog->objects[object->place].has_instances;
    bool has_failed = object->has_failed && !object->has_result;
    return object->column_count > 0 && (object->row_count > 0 || (may_be_empty && !has_failed));
}

/* Writes the object with this number. */
static void write_object(const written_plan *plan, written_pass *pass, uint32_t number)
{
    const uint32_t behind = 8; /* consumers read 8 bytes behind each value */
    written_object *object = &plan->objects[number];
    const pdh_object_entry *o = &plan->catalog->objects[object->place];
    uint32_t title = plan->titles->indexes[object->place];
    if (is_whole(plan, object)) {
        pfb_v1_object header = {.title_index = title,
                                .help_index = title + 1,
                                .detail_level = detail_or_novice(o->detail),
                                .default_counter = default_counter(plan, object),
                                .instance_count = o->has_instances ? 0 : PFB_V1_NO_INSTANCES,
                                .perf_time = object->time,
                                .perf_freq = object->frequency};
        pfb_write_begin_object(pass->writer, &header);
        uint32_t block_bytes = write_definitions(plan, object, pass->writer) + behind;
        for (uint32_t i = 0; i < object->row_count && (i == 0 || o->has_instances); i++)
            write_row(plan, pass, object, block_bytes);
        pfb_write_end_object(pass->writer);
    }
    while (pass->row < plan->row_count && plan->rows[pass->row].object == number)
        pass->row++;
    while (pass->cell < plan->cell_count && plan->cells[pass->cell].object == number)
        pass->cell++;
}

static void write_all(const written_plan *plan, const char *machine, pfb_writer *writer)
{
    written_pass pass = {.writer = writer};
    pfb_registry_begin(writer, &plan->times, machine, false);
    for (size_t i = 0; i < plan->object_count; i++)
        write_object(plan, &pass, (uint32_t)i);
    pfb_write_end_v1(writer);
}

/* Returns true if the rows times the columns are not too much. */
static bool fits(const written_plan *plan)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->object_count; i++)
        bytes += (uint64_t)plan->objects[i].row_count * 16 * (plan->objects[i].column_count + 2);
    return bytes <= REGISTRY_MAX_BLOCK;
}

uint32_t pfb_registry_write_frame(written_plan *plan, const char *machine, pfb_bytes *out)
{
    pfb_writer writer;
    pdh_arena names = {.blocks = NULL};
    out->size_bytes = 0;
    if (!fits(plan))
        return PFB_WIN32_NO_SYSTEM_RESOURCES;
    bool has_memory = find_parents(plan, &names);
    if (plan->row_count > 0)
        qsort(plan->rows, plan->row_count, sizeof *plan->rows, compare_rows);
    if (plan->cell_count > 0)
        qsort(plan->cells, plan->cell_count, sizeof *plan->cells, compare_cells);
    pfb_write_init(&writer, NULL, 0);
    if (has_memory)
        write_all(plan, machine, &writer);
    size_t needed = writer.size_bytes;
    has_memory = has_memory && pfb_bytes_reserve(out, needed);
    if (has_memory) {
        pfb_write_init(&writer, out->data, needed);
        write_all(plan, machine, &writer);
        out->size_bytes = needed;
        pfb_registry_set_default(out->data, false);
    }
    pfb_pdh_free_arena(&names);
    return has_memory ? PFB_WIN32_SUCCESS : PFB_WIN32_OUTOFMEMORY;
}
