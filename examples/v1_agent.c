/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <perfblock/perfblock.h>
#include <perfblock/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads V1 blocks as a monitoring agent does: finds an object and its counters by name, walks the instances, keeps the
 * raw values of the block before, and prints what Performance Monitor displays:
 *
 *     v1_agent recording.pfb Process "% Processor Time" "Working Set" */

enum { MAX_COUNTERS = 8, MAX_INSTANCES = 256 };

typedef struct instance_values {
    char name[64];
    pfb_raw_value counters[MAX_COUNTERS]; /* of the latest block with this instance; has == 0: none */
} instance_values;

static instance_values known[MAX_INSTANCES];

/* Returns the values of the instance with this name, or of a new one; null: too many. A real agent has a hash table. */
static instance_values *values_of(const char *name)
{
    for (size_t i = 0; i < MAX_INSTANCES; i++) {
        if (known[i].name[0] == '\0')
            snprintf(known[i].name, sizeof known[i].name, "%s", name);
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    }
    return NULL;
}

/* Returns the first title index of a name in the name table; 0: none. */
static uint32_t title_of(const pfb_name_index *titles, const char *text)
{
    const pfb_name name = pfb_utf8_name(text, strlen(text));
    uint32_t first;
    return pfb_name_index_named(titles, &name, &first) > 0 ? titles->entries[titles->by_name[first]].index : 0;
}

/* Returns what formulas need of a value. */
static pfb_raw_value raw_value(const pfb_v1_reader *block, const pfb_v1_object *object, const pfb_v1_counter *counter,
                               const pfb_v1_value *value)
{
    return (pfb_raw_value){.type = counter->type,
                           .has = PFB_HAS_VALUE | PFB_HAS_PERF_TIME | PFB_HAS_PERF_TIME_100NS | PFB_HAS_PERF_FREQ |
                                  PFB_HAS_OBJECT_TIME | PFB_HAS_OBJECT_FREQ | (value->has_base ? PFB_HAS_BASE : 0u) |
                                  (value->has_multi_count ? PFB_HAS_MULTI_COUNT : 0u),
                           .value = value->raw,
                           .base = value->base,
                           .base_type = value->base_type,
                           .multi_count = value->multi_count,
                           .perf_time = block->perf_time,
                           .perf_time_100ns = block->perf_time_100ns,
                           .perf_freq = block->perf_freq,
                           .object_time = object->perf_time,
                           .object_freq = object->perf_freq};
}

static void print_block(const pfb_bytes *bytes, const pfb_name_index *titles, char **names, int count)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counters[MAX_COUNTERS];
    pfb_v1_instance instance;
    pfb_v1_value value;
    if (!pfb_v1_open(&block, bytes->data, bytes->size_bytes, NULL) ||
        !pfb_v1_find_object(&block, title_of(titles, names[0]), &object))
        return;
    for (int i = 0; i < count; i++)
        if (!pfb_v1_find_counter(&block, title_of(titles, names[1 + i]), &counters[i]))
            count = i; /* the object does not have it, nor does this program print those after it */
    while (pfb_v1_next_instance(&block, &instance)) {
        char name[sizeof known[0].name] = "";
        name[pfb_name_to_utf8(&instance.name, name, sizeof name - 1)] = '\0';
        instance_values *before = values_of(instance.name.bytes ? name : "(none)");
        for (int i = 0; i < count && before; i++) {
            if (!pfb_v1_value_of(&block, &counters[i], &value) || !value.is_number)
                continue;
            pfb_raw_value now = raw_value(&block, &object, &counters[i], &value);
            pfb_raw_value *older = &before->counters[i];
            pfb_formula_result result = pfb_formula_evaluate(older->has ? older : NULL, &now, NULL);
            if (result.status == PFB_STATUS_OK)
                printf("%" PRId64 "\t%s\t%s\t%.17g\n", block.perf_time_100ns, before->name, names[1 + i], result.value);
            *older = now;
        }
    }
}

int main(int argc, char **argv)
{
    pfb_source_failure failure = {0};
    pfb_stream *stream = pfb_stream_new();
    pfb_name_table table;
    pfb_name_index titles;
    pfb_bytes names = {0};
    pfb_bytes block = {0};
    if (argc < 4 || argc > 3 + MAX_COUNTERS || pfb_stream_add_file(stream, argv[1]) < 0) {
        pfb_stream_close(stream);
        return 2;
    }
    pfb_source *source = pfb_source_open_stream(stream, &failure); /* on Windows also pfb_source_open_live */
    if (source && pfb_source_v1(source, "Counter 009", &names, &failure)) {
        pfb_name_table_open(&table, names.data, names.size_bytes, NULL);
        pfb_name_table rest = table;
        uint32_t count = pfb_name_table_count(&rest);
        void *memory = malloc((count + 1) * (sizeof(pfb_name_entry) + 2 * sizeof(uint32_t)));
        uint32_t *order = memory ? (uint32_t *)((pfb_name_entry *)memory + count) : NULL;
        if (memory)
            pfb_name_index_build(&titles, &table, memory, order, order + count, count);
        while (memory && pfb_source_v1(source, "Global", &block, &failure))
            print_block(&block, &titles, argv + 2, argc - 3);
        free(memory);
    }
    if (!source || failure.code != PFB_WIN32_NO_MORE_ITEMS)
        fprintf(stderr, "%s\n", failure.sentence);
    pfb_bytes_free(&names);
    pfb_bytes_free(&block);
    pfb_source_close(source);
    return failure.code != PFB_WIN32_NO_MORE_ITEMS;
}
