/* SPDX-License-Identifier: MIT */
#include "mutator.h"

#include "perfblock/perfblock.h"

#include <string.h>

enum {
    MAX_COUNTERS = 64, /* of a result or object; further ones are dropped */
    MAX_DATUM_BYTES = 256,
    FAULT_ATTEMPTS = 6
};

/* ---- Random choices -------------------------------------------------------------------------------------- */

typedef struct chooser {
    uint64_t state;
    uint32_t rate; /* on average, one of `rate` possible edits is made */
} chooser;

/* Returns the next number of the generator splitmix64. */
static uint64_t random_number(chooser *c)
{
    uint64_t z = c->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint32_t random_below(chooser *c, uint32_t limit)
{
    return (uint32_t)(random_number(c) >> 32) % limit;
}

/* Decides at random whether to make an edit. */
static bool is_edit(chooser *c)
{
    return random_below(c, c->rate) == 0;
}

static chooser make_chooser(uint64_t seed)
{
    static const uint32_t rates[4] = {2, 6, 20, 60};
    chooser c = {.state = seed, .rate = 1};
    c.rate = rates[random_below(&c, 4)];
    return c;
}

/* Returns a changed number: an extreme value, one near the old value, or a random one. */
static uint64_t change(chooser *c, uint64_t value)
{
    switch (random_below(c, 8)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return value + 1;
    case 3:
        return value - 1;
    case 4:
        return value ^ UINT64_C(1) << random_below(c, 64);
    case 5:
        return UINT64_C(1) << random_below(c, 64);
    case 6:
        return random_below(c, 100);
    default:
        return random_number(c);
    }
}

static uint32_t change_32(chooser *c, uint32_t value)
{
    return (uint32_t)change(c, value);
}

static uint64_t maybe_64(chooser *c, uint64_t value)
{
    return is_edit(c) ? change(c, value) : value;
}

static uint32_t maybe_32(chooser *c, uint32_t value)
{
    return is_edit(c) ? change_32(c, value) : value;
}

/* Returns how often a part of the input is written: usually once, but sometimes not at all or twice. */
static uint32_t repetitions(chooser *c)
{
    return is_edit(c) ? 2 * random_below(c, 2) : 1;
}

static void change_times(chooser *c, pfb_write_times *times)
{
    times->perf_time = (int64_t)maybe_64(c, (uint64_t)times->perf_time);
    times->perf_time_100ns = (int64_t)maybe_64(c, (uint64_t)times->perf_time_100ns);
    times->perf_freq = (int64_t)maybe_64(c, (uint64_t)times->perf_freq);
}

/* The name of a new instance. */
static const pfb_name new_name = {(const uint8_t *)"new#1", 5, PFB_ENCODING_ASCII};

/* A raw value: a number, or bytes of the input. */
typedef struct raw_value {
    const uint8_t *bytes; /* null: a number */
    uint64_t raw;
    uint32_t size_bytes; /* 4 or 8 for a number */
} raw_value;

static raw_value make_value(chooser *c, uint32_t size_bytes)
{
    return (raw_value){.raw = change(c, 1000), .size_bytes = size_bytes};
}

static void change_value(chooser *c, raw_value *value)
{
    if (!is_edit(c))
        return;
    if (!value->bytes && random_below(c, 4) == 0)
        value->size_bytes = 12 - value->size_bytes;
    else if (!value->bytes)
        value->raw = change(c, value->raw);
    else if (random_below(c, 2) == 0)
        value->size_bytes = random_below(c, value->size_bytes + 1);
    else
        *value = make_value(c, 8);
}

/* ---- Faults ---------------------------------------------------------------------------------------------- */

/* The fault to plant. It replaces the first field to which it applies, in this part or a later one. */
typedef struct plan {
    pfb_fault fault;
    uint32_t part; /* number of the result or object */
} plan;

/* Requests the fault from the writer if `part` is the planned one. */
static void maybe_break(pfb_writer *writer, const plan *p, uint32_t part)
{
    if (part == p->part)
        pfb_write_break(writer, p->fault);
}

typedef void write_function(pfb_writer *writer, const uint8_t *data, size_t size, const plan *p, chooser *c);

/* A format: how it is written, and its faults. */
typedef struct format {
    write_function *write;
    const pfb_fault *faults;
    uint32_t fault_count;
} format;

/* Writes a changed version of the input, with a fault of the format if `seed` is odd. If the output has no field to
 * which the fault applies, tries other faults, and finally that of the total size, a field that every output has. */
static mutation write_mutation(const format *f, const uint8_t *data, size_t size, uint8_t *out, size_t capacity,
                               uint64_t seed)
{
    chooser choice = make_chooser(~seed);
    bool is_broken = seed & 1;
    for (int attempt = 0; attempt <= FAULT_ATTEMPTS; attempt++) {
        plan p = {.fault = PFB_FAULT_NONE};
        if (is_broken && attempt < FAULT_ATTEMPTS)
            p = (plan){.fault = f->faults[random_below(&choice, f->fault_count)], .part = random_below(&choice, 3)};
        else if (is_broken)
            p.fault = PFB_FAULT_TOTAL_SIZE_HUGE;
        pfb_writer writer;
        chooser c = make_chooser(seed);
        pfb_write_init(&writer, out, capacity);
        f->write(&writer, data, size, &p, &c);
        if (writer.error.code == PFB_OK && writer.fault_planted == is_broken)
            return (mutation){.size_bytes = writer.size_bytes, .is_broken = is_broken, .fault = p.fault};
    }
    return (mutation){.size_bytes = 0};
}

/* ---- V2 replies -------------------------------------------------------------------------------------------- */

static const pfb_fault v2_faults[] = {
    PFB_FAULT_TOTAL_SIZE_ZERO,     PFB_FAULT_TOTAL_SIZE_HUGE,     PFB_FAULT_RESULT_COUNT_HUGE,
    PFB_FAULT_RESULT_KIND_UNKNOWN, PFB_FAULT_RESULT_SIZE_ZERO,    PFB_FAULT_RESULT_SIZE_HUGE,
    PFB_FAULT_COUNTERS_SIZE_ZERO,  PFB_FAULT_COUNTERS_SIZE_HUGE,  PFB_FAULT_COUNTER_COUNT_HUGE,
    PFB_FAULT_INSTANCES_SIZE_ZERO, PFB_FAULT_INSTANCES_SIZE_HUGE, PFB_FAULT_INSTANCE_COUNT_HUGE,
    PFB_FAULT_INSTANCE_SIZE_ZERO,  PFB_FAULT_INSTANCE_SIZE_HUGE,  PFB_FAULT_NAME_UNTERMINATED,
    PFB_FAULT_VALUE_SIZE_ZERO,     PFB_FAULT_VALUE_SIZE_HUGE,     PFB_FAULT_DATA_SIZE_HUGE,
};

static const uint32_t v2_kinds[] = {PFB_V2_ERROR, PFB_V2_SINGLE_COUNTER, PFB_V2_MULTIPLE_COUNTERS,
                                    PFB_V2_MULTIPLE_INSTANCES, PFB_V2_COUNTERSET};

/* The layout of the result to write. */
typedef struct v2_shape {
    uint32_t kind, status;
    uint32_t ids[MAX_COUNTERS];
    uint32_t id_count;
    bool has_instances;
    uint32_t value_count; /* of each instance */
} v2_shape;

static v2_shape make_shape(chooser *c, uint32_t kind, uint32_t status, const uint32_t *ids, uint32_t id_count)
{
    v2_shape shape = {.kind = maybe_32(c, kind), .status = maybe_32(c, status)};
    bool is_known = false;
    for (size_t i = 0; i < sizeof v2_kinds / sizeof v2_kinds[0]; i++)
        is_known = is_known || shape.kind == v2_kinds[i];
    if (!is_known)
        shape.kind = v2_kinds[random_below(c, 5)];
    if (shape.kind == PFB_V2_ERROR && shape.status == 0)
        shape.status = 0x106A; /* strict readers refuse an error without status */
    bool has_ids = shape.kind == PFB_V2_MULTIPLE_COUNTERS || shape.kind == PFB_V2_COUNTERSET;
    for (uint32_t i = 0; has_ids && i < id_count; i++) {
        for (uint32_t n = repetitions(c); n > 0 && shape.id_count < MAX_COUNTERS; n--)
            shape.ids[shape.id_count++] = maybe_32(c, ids[i]);
    }
    if (has_ids && is_edit(c) && shape.id_count < MAX_COUNTERS)
        shape.ids[shape.id_count++] = random_below(c, 40);
    shape.has_instances = shape.kind == PFB_V2_MULTIPLE_INSTANCES || shape.kind == PFB_V2_COUNTERSET;
    if (shape.kind != PFB_V2_ERROR)
        shape.value_count = has_ids ? shape.id_count : 1;
    return shape;
}

/* An instance to write. */
typedef struct v2_item {
    uint32_t id;
    pfb_name name;
    raw_value values[MAX_COUNTERS];
    uint32_t value_count;
} v2_item;

/* Writes an instance with its values, and new values if the shape has more of them. */
static void write_v2_item(pfb_writer *writer, chooser *c, const v2_shape *shape, const v2_item *item)
{
    if (shape->has_instances)
        pfb_write_instance(writer, maybe_32(c, item->id), &item->name);
    for (uint32_t i = 0; i < shape->value_count; i++) {
        raw_value value = i < item->value_count ? item->values[i] : make_value(c, 8);
        change_value(c, &value);
        if (value.bytes)
            pfb_write_datum(writer, value.bytes, value.size_bytes);
        else
            pfb_write_value(writer, value.raw, value.size_bytes);
    }
}

static uint32_t read_v2_values(pfb_v2_reader *reader, const uint8_t *data, raw_value *values)
{
    uint32_t count = 0;
    pfb_v2_value value;
    while (count < MAX_COUNTERS && pfb_v2_next_value(reader, &value)) {
        const uint8_t *bytes = data + value.offset + PFB_V2_VALUE_HEADER_BYTES;
        values[count++] =
            (raw_value){.bytes = value.is_number ? NULL : bytes, .raw = value.raw, .size_bytes = value.data_size_bytes};
    }
    return count;
}

static void write_v2_result(pfb_writer *writer, pfb_v2_reader *reader, const uint8_t *data, const pfb_v2_result *result,
                            chooser *c)
{
    uint32_t ids[MAX_COUNTERS];
    uint32_t id_count = 0;
    while (id_count < MAX_COUNTERS && pfb_v2_counter_id(reader, result, id_count, &ids[id_count]))
        id_count++;
    v2_shape shape = make_shape(c, result->kind, result->status, ids, id_count);
    pfb_write_begin_result(writer, shape.kind, shape.status, shape.ids, shape.id_count);
    v2_item item = {.value_count = 0};
    pfb_v2_instance instance;
    uint32_t count = 0;
    while (shape.kind != PFB_V2_ERROR && (shape.has_instances || count == 0) &&
           pfb_v2_next_instance(reader, &instance)) {
        item.id = instance.id;
        item.name = instance.name;
        item.value_count = read_v2_values(reader, data, item.values);
        for (uint32_t n = shape.has_instances ? repetitions(c) : 1; n > 0; n--, count++)
            write_v2_item(writer, c, &shape, &item);
    }
    if (shape.has_instances ? is_edit(c) : count == 0) {
        item.id = count;
        item.name = new_name;
        write_v2_item(writer, c, &shape, &item);
    }
    pfb_write_end_result(writer);
}

static void write_new_result(pfb_writer *writer, chooser *c)
{
    static const uint32_t ids[3] = {0, 1, 2};
    v2_shape shape = make_shape(c, v2_kinds[random_below(c, 5)], 0, ids, random_below(c, 4));
    pfb_write_begin_result(writer, shape.kind, shape.status, shape.ids, shape.id_count);
    uint32_t count = shape.has_instances ? random_below(c, 4) : 1;
    v2_item item = {.name = new_name};
    for (; shape.kind != PFB_V2_ERROR && item.id < count; item.id++)
        write_v2_item(writer, c, &shape, &item);
    pfb_write_end_result(writer);
}

static void write_v2(pfb_writer *writer, const uint8_t *data, size_t size, const plan *p, chooser *c)
{
    pfb_v2_reader reader;
    bool is_readable = pfb_v2_open(&reader, data, size, NULL);
    pfb_write_times times = {.perf_freq = 10000000};
    if (is_readable)
        times = (pfb_write_times){reader.perf_time, reader.perf_time_100ns, reader.perf_freq, reader.system_time};
    change_times(c, &times);
    pfb_write_begin_v2(writer, &times);
    uint32_t part = 0;
    pfb_v2_result result;
    while (is_readable && writer->error.code == PFB_OK && pfb_v2_next_result(&reader, &result)) {
        pfb_v2_reader before = reader;
        for (uint32_t n = repetitions(c); n > 0; n--) {
            reader = before;
            maybe_break(writer, p, part++);
            write_v2_result(writer, &reader, data, &result, c);
        }
    }
    if (part == 0 || is_edit(c)) {
        maybe_break(writer, p, part);
        write_new_result(writer, c);
    }
    if (p->part > part) /* no such part: the fault is planted in a field that is written at the end */
        pfb_write_break(writer, p->fault);
    pfb_write_end_v2(writer);
}

mutation mutate_v2(const uint8_t *data, size_t size, uint8_t *out, size_t capacity, uint64_t seed)
{
    static const format f = {write_v2, v2_faults, sizeof v2_faults / sizeof v2_faults[0]};
    return write_mutation(&f, data, size, out, capacity, seed);
}

mutation mutate_v2_values(const uint8_t *data, size_t size, uint8_t *out, size_t capacity, uint64_t seed)
{
    enum { HEAD_BYTES = 4 }; /* the bytes before the reply, see v2_values_fuzzer.c */
    uint8_t head[HEAD_BYTES] = {0};
    if (capacity < HEAD_BYTES)
        return (mutation){.size_bytes = 0};
    size_t head_size = size < HEAD_BYTES ? size : HEAD_BYTES;
    memcpy(head, data, head_size);
    chooser c = make_chooser(seed + 1);
    for (size_t i = 0; i < HEAD_BYTES; i++)
        out[i] = (uint8_t)maybe_32(&c, head[i]);
    mutation m = mutate_v2(data + head_size, size - head_size, out + HEAD_BYTES, capacity - HEAD_BYTES, seed);
    m.size_bytes += m.size_bytes > 0 ? HEAD_BYTES : 0;
    return m;
}

/* ---- V1 blocks ----------------------------------------------------------------------------------------------- */

static const pfb_fault v1_faults[] = {
    PFB_FAULT_TOTAL_SIZE_ZERO,      PFB_FAULT_TOTAL_SIZE_HUGE,        PFB_FAULT_SIGNATURE_WRONG,
    PFB_FAULT_BYTE_ORDER_UNKNOWN,   PFB_FAULT_HEADER_SIZE_ZERO,       PFB_FAULT_HEADER_SIZE_HUGE,
    PFB_FAULT_OBJECT_COUNT_HUGE,    PFB_FAULT_OBJECT_COUNT_MORE,      PFB_FAULT_SYSTEM_NAME_HUGE,
    PFB_FAULT_OBJECT_SIZE_ZERO,     PFB_FAULT_OBJECT_SIZE_HUGE,       PFB_FAULT_OBJECT_HEADER_ZERO,
    PFB_FAULT_OBJECT_HEADER_HUGE,   PFB_FAULT_DEFINITION_LENGTH_ZERO, PFB_FAULT_DEFINITION_LENGTH_HUGE,
    PFB_FAULT_COUNTER_COUNT_HUGE,   PFB_FAULT_OBJECT_INSTANCES_HUGE,  PFB_FAULT_OBJECT_INSTANCES_MINUS,
    PFB_FAULT_DEFINITION_SIZE_ZERO, PFB_FAULT_DEFINITION_SIZE_HUGE,   PFB_FAULT_VALUE_OFFSET_ZERO,
    PFB_FAULT_VALUE_OFFSET_HUGE,    PFB_FAULT_INSTANCE_SIZE_ZERO,     PFB_FAULT_INSTANCE_SIZE_HUGE,
    PFB_FAULT_INSTANCE_NAME_HUGE,   PFB_FAULT_COUNTER_BLOCK_ZERO,     PFB_FAULT_COUNTER_BLOCK_HUGE,
};

/* The counter definitions of the object to write. Each is a copy of a definition of the input, or new. */
typedef struct v1_shape {
    struct {
        uint32_t source; /* position of the copied definition in its object; UINT32_MAX: new */
        uint32_t offset; /* where the writer has placed the value */
        uint32_t size_bytes;
    } counters[MAX_COUNTERS];
    uint32_t count;
} v1_shape;

static void write_v1_definition(pfb_writer *writer, chooser *c, v1_shape *shape, const pfb_v1_counter *counter,
                                uint32_t source)
{
    pfb_v1_counter written = *counter;
    written.title_index = maybe_32(c, counter->title_index);
    written.default_scale = (int32_t)maybe_32(c, (uint32_t)counter->default_scale);
    written.type = maybe_32(c, counter->type);
    if (is_edit(c))
        written.size_bytes = 4 * random_below(c, 3);
    if (written.size_bytes > MAX_DATUM_BYTES)
        written.size_bytes = MAX_DATUM_BYTES;
    written.value_offset = 0;
    uint32_t i = shape->count++;
    shape->counters[i].source = source;
    shape->counters[i].size_bytes = written.size_bytes;
    shape->counters[i].offset = pfb_write_definition(writer, &written);
}

static void write_v1_values(pfb_writer *writer, chooser *c, const v1_shape *shape, const raw_value *values,
                            uint32_t value_count)
{
    for (uint32_t i = 0; i < shape->count; i++) {
        uint32_t size = shape->counters[i].size_bytes;
        uint32_t offset = shape->counters[i].offset;
        raw_value value = make_value(c, 8);
        if (shape->counters[i].source < value_count)
            value = values[shape->counters[i].source];
        if (value.bytes && value.size_bytes > size)
            value.size_bytes = size;
        if (value.bytes && size > 0)
            pfb_write_v1_datum(writer, offset, value.bytes, value.size_bytes);
        else if (size == 4 || size == 8)
            pfb_write_v1_value(writer, offset, maybe_64(c, value.raw), size);
    }
}

/* Cuts a name to MAX_DATUM_BYTES. */
static pfb_name cut_name(pfb_name name)
{
    if (name.size_bytes > MAX_DATUM_BYTES)
        name.size_bytes = MAX_DATUM_BYTES;
    return name;
}

static uint32_t read_v1_values(pfb_v1_reader *reader, const uint8_t *data, raw_value *values)
{
    uint32_t count = 0;
    pfb_v1_value value;
    while (count < MAX_COUNTERS && pfb_v1_next_value(reader, &value)) {
        const uint8_t *bytes = data + value.offset;
        values[count++] =
            (raw_value){.bytes = value.is_number ? NULL : bytes, .raw = value.raw, .size_bytes = value.size_bytes};
    }
    return count;
}

/* Returns true for a fault in the offset of a value. Readers detect it only if there is a value. */
static bool needs_values(const plan *p)
{
    return p->fault == PFB_FAULT_VALUE_OFFSET_ZERO || p->fault == PFB_FAULT_VALUE_OFFSET_HUGE;
}

static void write_v1_object(pfb_writer *writer, pfb_v1_reader *reader, const uint8_t *data, const pfb_v1_object *object,
                            const plan *p, chooser *c)
{
    pfb_v1_object written = *object;
    written.title_index = maybe_32(c, object->title_index);
    written.perf_time = (int64_t)maybe_64(c, (uint64_t)object->perf_time);
    written.perf_freq = (int64_t)maybe_64(c, (uint64_t)object->perf_freq);
    if (written.instance_count < PFB_V1_METADATA_NO_INSTANCES || is_edit(c))
        written.instance_count = (int32_t)random_below(c, 4) - 3;
    if (written.instance_count < PFB_V1_NO_INSTANCES && needs_values(p))
        written.instance_count = 0;
    pfb_write_begin_object(writer, &written);
    v1_shape shape = {.count = 0};
    pfb_v1_counter counter;
    for (uint32_t source = 0; pfb_v1_next_counter(reader, &counter); source++) {
        for (uint32_t n = repetitions(c); n > 0 && shape.count < MAX_COUNTERS; n--)
            write_v1_definition(writer, c, &shape, &counter, source);
    }
    raw_value values[MAX_COUNTERS];
    bool has_instances = written.instance_count >= 0;
    uint32_t count = 0;
    pfb_v1_instance instance;
    while (written.instance_count >= PFB_V1_NO_INSTANCES && pfb_v1_next_instance(reader, &instance)) {
        uint32_t value_count = read_v1_values(reader, data, values);
        pfb_v1_instance copy = instance;
        copy.name = cut_name(instance.name);
        for (uint32_t n = has_instances ? repetitions(c) : 1; n > 0; n--, count++) {
            copy.unique_id = (int32_t)maybe_32(c, (uint32_t)instance.unique_id);
            copy.parent_title = maybe_32(c, instance.parent_title);
            copy.parent_position = maybe_32(c, instance.parent_position);
            if (has_instances)
                pfb_write_v1_instance(writer, &copy);
            write_v1_values(writer, c, &shape, values, value_count);
        }
        if (!has_instances)
            break;
    }
    if (has_instances && count == 0 && needs_values(p)) {
        pfb_v1_instance added = {.name = new_name, .unique_id = PFB_V1_NO_UNIQUE_ID};
        pfb_write_v1_instance(writer, &added);
    }
    pfb_write_end_object(writer);
}

static void write_new_object(pfb_writer *writer, chooser *c)
{
    pfb_v1_object object = {
        .title_index = 238, .perf_freq = 10000000, .instance_count = (int32_t)random_below(c, 2) - 1};
    pfb_v1_counter counter = {.title_index = 6, .type = 0x10410400, .size_bytes = 4}; /* PERF_COUNTER_COUNTER */
    pfb_v1_instance instance = {.name = new_name, .unique_id = PFB_V1_NO_UNIQUE_ID};
    pfb_write_begin_object(writer, &object);
    v1_shape shape = {.count = 0};
    for (uint32_t n = random_below(c, 4); n > 0; n--)
        write_v1_definition(writer, c, &shape, &counter, UINT32_MAX);
    if (object.instance_count == 0)
        pfb_write_v1_instance(writer, &instance);
    write_v1_values(writer, c, &shape, NULL, 0);
    pfb_write_end_object(writer);
}

static void write_v1(pfb_writer *writer, const uint8_t *data, size_t size, const plan *p, chooser *c)
{
    pfb_v1_reader reader;
    bool is_readable = pfb_v1_open(&reader, data, size, NULL);
    pfb_write_times times = {.perf_freq = 10000000};
    pfb_name name = {0};
    if (is_readable)
        times = (pfb_write_times){reader.perf_time, reader.perf_time_100ns, reader.perf_freq, reader.system_time};
    if (is_readable)
        name = cut_name(reader.system_name);
    change_times(c, &times);
    if (p->part == 0)
        pfb_write_break(writer, p->fault);
    pfb_write_begin_v1(writer, &times, &name, is_readable ? reader.is_big_endian != is_edit(c) : is_edit(c));
    uint32_t part = 0;
    pfb_v1_object object;
    while (is_readable && writer->error.code == PFB_OK && pfb_v1_next_object(&reader, &object)) {
        pfb_v1_reader before = reader;
        for (uint32_t n = repetitions(c); n > 0; n--) {
            reader = before;
            maybe_break(writer, p, part++);
            write_v1_object(writer, &reader, data, &object, p, c);
        }
    }
    if (part == 0 || is_edit(c)) {
        maybe_break(writer, p, part);
        write_new_object(writer, c);
    }
    if (p->part > part) /* no such part: the fault is planted in a field that is written at the end */
        pfb_write_break(writer, p->fault);
    pfb_write_end_v1(writer);
}

mutation mutate_v1(const uint8_t *data, size_t size, uint8_t *out, size_t capacity, uint64_t seed)
{
    static const format f = {write_v1, v1_faults, sizeof v1_faults / sizeof v1_faults[0]};
    return write_mutation(&f, data, size, out, capacity, seed);
}

/* ---- Captures -------------------------------------------------------------------------------------------------- */

/* The capture to write. */
typedef struct capture_output {
    uint8_t *data;
    size_t capacity, at;
    mutation broken; /* the mutation of the body that got a fault, if any */
} capture_output;

/* Appends a chunk; false if it does not fit. */
static bool append_chunk(capture_output *o, const pfb_chunk *chunk, const uint8_t *body, size_t size)
{
    size_t left = o->capacity - o->at;
    size_t written = pfb_capture_write(chunk, body, size, o->data + o->at, left);
    if (written == 0 || written > left)
        return false;
    o->at += written;
    return true;
}

/* Returns the mutator of a chunk's body; null if it has none. */
static mutator *find_mutator(const pfb_chunk *chunk)
{
    if (!chunk->is_known)
        return NULL;
    return chunk->tag == PFB_TAG_DATA ? mutate_v2 : chunk->tag == PFB_TAG_V1 ? mutate_v1 : NULL;
}

/* Appends a chunk with a mutated body, or the unchanged chunk if the mutated one does not fit. The body is written
 * first, directly into the output. Its size is then stored in the header, which pfb_capture_write wrote for an empty
 * body. */
static bool append_mutated(capture_output *o, const pfb_chunk *chunk, const uint8_t *body, size_t size, uint64_t seed)
{
    if (o->capacity - o->at < PFB_CHUNK_HEADER_BYTES)
        return false;
    uint8_t *header = o->data + o->at;
    uint8_t *place = header + PFB_CHUNK_HEADER_BYTES;
    size_t left = o->capacity - o->at - PFB_CHUNK_HEADER_BYTES;
    mutation m = find_mutator(chunk)(body, size, place, left, seed);
    size_t padding = (8 - m.size_bytes % 8) % 8;
    if (m.size_bytes == 0 || padding > left - m.size_bytes)
        return append_chunk(o, chunk, body, size);
    pfb_capture_write(chunk, NULL, 0, header, PFB_CHUNK_HEADER_BYTES);
    for (size_t i = 0; i < 8; i++)
        header[8 + i] = (uint8_t)((uint64_t)m.size_bytes >> 8 * i);
    memset(place + m.size_bytes, 0, padding);
    o->at += PFB_CHUNK_HEADER_BYTES + m.size_bytes + padding;
    if (m.is_broken)
        o->broken = m;
    return true;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): all mutators have this signature */
mutation mutate_capture(const uint8_t *data, size_t size, uint8_t *out, size_t capacity, uint64_t seed)
{
    chooser c = make_chooser(seed);
    bool is_broken = seed & 1;
    uint32_t broken_chunk = is_broken ? random_below(&c, 4) : UINT32_MAX; /* among chunks with a mutator */
    capture_output o = {.data = out, .capacity = capacity};
    pfb_capture capture;
    pfb_chunk chunk = {.tag = PFB_TAG_CAPTURE};
    bool is_readable = pfb_capture_open(&capture, data, size, true, NULL);
    bool fits = append_chunk(&o, &chunk, NULL, 0);
    uint32_t changeable = 0;
    while (fits && is_readable && pfb_capture_next_chunk(&capture, &chunk)) {
        const uint8_t *body = data + chunk.body_offset;
        for (uint32_t n = repetitions(&c); fits && n > 0; n--) {
            bool is_breaking = find_mutator(&chunk) && changeable++ == broken_chunk;
            uint64_t inner = (random_number(&c) & ~UINT64_C(1)) + is_breaking;
            if (find_mutator(&chunk) && (is_breaking || is_edit(&c)))
                fits = append_mutated(&o, &chunk, body, chunk.body_size_bytes, inner);
            else
                fits = append_chunk(&o, &chunk, body, chunk.body_size_bytes);
        }
    }
    if (!fits)
        return (mutation){.size_bytes = 0};
    /* If no body was broken, the last chunk is truncated. */
    if (is_broken && !o.broken.is_broken)
        o.at -= 1 + random_below(&c, PFB_CHUNK_HEADER_BYTES - 1);
    return (mutation){.size_bytes = o.at, .is_broken = is_broken, .fault = o.broken.fault};
}
