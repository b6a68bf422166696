/* SPDX-License-Identifier: MIT */
/* Finds the values of perfmon logs in the previous sample: by name and position, and by the ids of processes. */
#include "perfblock/log.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"

static int log_compare_numbers(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

static uint32_t log_fold(uint32_t unit)
{
    return unit >= 'A' && unit <= 'Z' ? unit - 'A' + 'a' : unit;
}

/* Compares names in UTF-16LE by size and, ignoring the case of A to Z, by their units: users write them, too. */
static int log_compare_folded(const pfb_name *left, const pfb_name *right)
{
    int difference = log_compare_numbers(left->size_bytes, right->size_bytes);
    const uint8_t *a = left->bytes;
    const uint8_t *b = right->bytes;
    for (size_t i = 0; difference == 0 && i + 1 < left->size_bytes; i += 2)
        difference = log_compare_numbers(log_fold(load_le16(a + i)), log_fold(load_le16(b + i)));
    return difference;
}

static int log_compare_objects(const pfb_log_path *left, const pfb_log_path *right)
{
    int difference = log_compare_folded(&left->machine, &right->machine);
    return difference != 0 ? difference : log_compare_folded(&left->object, &right->object);
}

/* Compares the counters of one object, and what their formulas need. */
static int log_compare_counters(const pfb_log_path *left, const pfb_log_path *right)
{
    int difference = log_compare_folded(&left->counter, &right->counter);
    if (difference == 0)
        difference = log_compare_numbers(left->type, right->type);
    return difference != 0 ? difference : log_compare_numbers(left->frequency, right->frequency);
}

static int log_compare_paths(const pfb_log_path *paths, uint32_t left, uint32_t right)
{
    int difference = log_compare_objects(&paths[left], &paths[right]);
    if (difference == 0)
        difference = log_compare_counters(&paths[left], &paths[right]);
    return difference != 0 ? difference : log_compare_numbers(left, right);
}

/* ---- Instances of a sample --------------------------------------------------------------------------------------- */

/* The values of a sample and their paths. */
typedef struct log_table {
    const pfb_log_path *paths;
    size_t path_count;
    pfb_log_value *values;
} log_table;

/* An instance of an object: its name is "parent/name" if it has a parent. */
typedef struct log_place {
    uint32_t object_class;
    pfb_name parent, name;
    uint32_t index;
    uint32_t role;
} log_place;

static const pfb_log_path *log_path_of(const log_table *t, const pfb_log_value *value)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): `value` is an element of an array that is not empty */
    return value->path < t->path_count ? &t->paths[value->path] : NULL;
}

static uint32_t log_class(const log_table *t, const pfb_log_value *value)
{
    const pfb_log_path *path = log_path_of(t, value);
    return path ? path->object_class : 0;
}

static uint32_t log_unit(const uint8_t *bytes)
{
    return load_le16(bytes);
}

/* Moves a number at the end of the name to the index: "a#1" is the second instance called "a". As in paths, more than 9
 * digits are part of the name. */
static void log_split_index(log_place *place)
{
    const uint8_t *bytes = place->name.bytes;
    size_t size = place->name.size_bytes & ~(size_t)1; /* names have an even size */
    size_t digits = size;
    uint32_t index = 0;
    uint32_t power = 1;
    for (; digits > 0 && size - digits < 18 && log_unit(bytes + digits - 2) - '0' < 10; digits -= 2) {
        index += power * (log_unit(bytes + digits - 2) - '0');
        power *= 10;
    }
    if (digits < size && digits > 0 && log_unit(bytes + digits - 2) == '#') {
        place->name.size_bytes = digits - 2;
        place->index += index;
    }
}

static log_place log_place_of(const log_table *t, uint32_t position)
{
    const pfb_log_value *value = &t->values[position];
    const pfb_log_path *path = &t->paths[value->path]; /* its object has ids, so it exists */
    log_place place = {path->object_class, path->parent, path->instance, path->instance_index, (uint32_t)path->role};
    if (value->has_instance) {
        place.parent = (pfb_name){NULL, 0, PFB_ENCODING_UTF16LE};
        place.name = value->instance;
        place.index = value->occurrence;
    }
    log_split_index(&place);
    return place;
}

static size_t log_full_size(const log_place *place)
{
    return place->parent.bytes ? place->parent.size_bytes + 2 + place->name.size_bytes : place->name.size_bytes;
}

/* Returns a byte of "parent/name". */
static uint8_t log_full_byte(const log_place *place, size_t i)
{
    size_t parent = place->parent.size_bytes;
    const uint8_t *bytes = place->name.bytes;
    if (!place->parent.bytes)
        return bytes[i];
    if (i < parent)
        return ((const uint8_t *)place->parent.bytes)[i];
    return i == parent ? '/' : i == parent + 1 ? 0 : bytes[i - parent - 2];
}

/* Compares by object, size and bytes of the full name, and index. The instances of an item are in this order. */
static int log_compare_places(const log_place *left, const log_place *right)
{
    int difference = log_compare_numbers(left->object_class, right->object_class);
    size_t size = log_full_size(left);
    if (difference == 0)
        difference = log_compare_numbers(size, log_full_size(right));
    if (difference == 0 && size > 0 && !left->parent.bytes && !right->parent.bytes)
        difference = memcmp(left->name.bytes, right->name.bytes, size);
    else
        for (size_t i = 0; difference == 0 && i < size; i++)
            difference = log_compare_numbers(log_full_byte(left, i), log_full_byte(right, i));
    return difference != 0 ? difference : log_compare_numbers(left->index, right->index);
}

static int log_compare_instances(const log_table *t, uint32_t left, uint32_t right)
{
    log_place a = log_place_of(t, left);
    log_place b = log_place_of(t, right);
    int difference = log_compare_places(&a, &b);
    if (difference == 0)
        difference = log_compare_numbers(a.role, b.role);
    return difference != 0 ? difference : log_compare_numbers(left, right);
}

/* Compares by object and key. */
static int log_compare_ids(const log_table *t, uint32_t left, uint32_t right)
{
    int difference = log_compare_numbers(log_class(t, &t->values[left]), log_class(t, &t->values[right]));
    if (difference == 0)
        difference = log_compare_numbers(t->values[left].key, t->values[right].key);
    return difference != 0 ? difference : log_compare_numbers(left, right);
}

/* The sort key of by_key. */
typedef struct log_key {
    uint32_t family; /* of paths with the same counter */
    uint64_t key;
    uint32_t path;
} log_key;

static log_key log_key_of(const log_table *t, const pfb_log_value *value)
{
    const pfb_log_path *path = log_path_of(t, value);
    return (log_key){path ? path->family : PFB_LOG_NONE, value->key, value->path};
}

static int log_compare_key_places(const log_key *left, const log_key *right)
{
    int difference = log_compare_numbers(left->family, right->family);
    if (difference == 0)
        difference = log_compare_numbers(left->key, right->key);
    return difference != 0 ? difference : log_compare_numbers(left->path, right->path);
}

static int log_compare_keys(const log_table *t, uint32_t left, uint32_t right)
{
    log_key a = log_key_of(t, &t->values[left]);
    log_key b = log_key_of(t, &t->values[right]);
    int difference = log_compare_key_places(&a, &b);
    return difference != 0 ? difference : log_compare_numbers(left, right);
}

/* ---- Sorting ----------------------------------------------------------------------------------------------------- */

typedef enum log_ordering {
    LOG_BY_PATH,     /* of paths: object, counter, position */
    LOG_BY_INSTANCE, /* of values: instance, role, position */
    LOG_BY_ID,       /* object, key, position */
    LOG_BY_KEY       /* counter, key, path, position */
} log_ordering;

typedef struct log_sorting {
    log_table table;
    log_ordering by;
} log_sorting;

static int log_compare(const log_sorting *sorting, uint32_t left, uint32_t right)
{
    switch (sorting->by) {
    case LOG_BY_PATH:
        return log_compare_paths(sorting->table.paths, left, right);
    case LOG_BY_INSTANCE:
        return log_compare_instances(&sorting->table, left, right);
    case LOG_BY_ID:
        return log_compare_ids(&sorting->table, left, right);
    default:
        return log_compare_keys(&sorting->table, left, right);
    }
}

#define SORT_CONTEXT log_sorting
#define SORT_COMPARE log_compare
#define SORT_PREFIX(name) log_match_##name
#include "bytes/sort.h"

/* ---- Linking paths ----------------------------------------------------------------------------------------------- */

/* Returns true if the name is this text of ASCII. */
static bool log_is_named(const pfb_name *name, const char *text, size_t length)
{
    uint8_t units[32] = {0};
    pfb_name wanted = {units, 2 * length, PFB_ENCODING_UTF16LE};
    for (size_t i = 0; i < length; i++)
        units[2 * i] = (uint8_t)text[i];
    return log_compare_folded(name, &wanted) == 0;
}

static pfb_log_role log_role(const pfb_log_path *path)
{
    static const char process[] = "ID Process";
    static const char thread[] = "ID Thread";
    if (log_is_named(&path->counter, process, sizeof process - 1))
        return PFB_LOG_PROCESS_ID;
    return log_is_named(&path->counter, thread, sizeof thread - 1) ? PFB_LOG_THREAD_ID : PFB_LOG_NO_ID;
}

bool pfb_log_link_paths(pfb_log_path *paths, size_t count, uint32_t *order)
{
    bool has_ids = false;
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
        if (paths[i].role == PFB_LOG_NO_ID)
            paths[i].role = log_role(&paths[i]);
        has_ids = has_ids || paths[i].role != PFB_LOG_NO_ID;
    }
    if (!has_ids)
        return false;
    log_match_sort(&(log_sorting){{paths, count, NULL}, LOG_BY_PATH}, order, count);
    size_t end = 0;
    for (size_t begin = 0; begin < count; begin = end) { /* each pass: one object */
        uint32_t roles = 0;
        uint32_t family = 0;
        for (end = begin; end < count && log_compare_objects(&paths[order[begin]], &paths[order[end]]) == 0; end++) {
            if (end == begin || log_compare_counters(&paths[order[end - 1]], &paths[order[end]]) != 0)
                family = (uint32_t)end;
            paths[order[end]].family = family;
            roles |= (uint32_t)paths[order[end]].role;
        }
        for (size_t i = begin; i < end; i++) {
            paths[order[i]].object_class = roles != 0 ? (uint32_t)begin + 1 : 0;
            paths[order[i]].has_thread = (roles & PFB_LOG_THREAD_ID) != 0;
        }
    }
    return true;
}

/* ---- Ids of a sample --------------------------------------------------------------------------------------------- */

/* Lists the values of ids, one for each instance, whose key it stores. Returns their number. */
static size_t log_list_ids(const log_table *t, const pfb_log_values *sample, uint32_t *list)
{
    size_t count = 0;
    for (size_t i = 0; i < sample->count; i++) {
        const pfb_log_value *value = &t->values[sample->order[i]];
        const pfb_log_path *path = log_path_of(t, value);
        if (path && path->role != PFB_LOG_NO_ID && pfb_pdh_has_value(value->status) && value->first - 1 < UINT32_MAX)
            list[count++] = sample->order[i];
    }
    log_match_sort(&(log_sorting){*t, LOG_BY_INSTANCE}, list, count);
    size_t kept = 0;
    size_t end = 0;
    for (size_t begin = 0; begin < count; begin = end) { /* each pass: one instance */
        log_place first = log_place_of(t, list[begin]);
        uint64_t found[3] = {0}; /* by role */
        bool is_contradicted = false;
        for (end = begin; end < count; end++) {
            log_place next = log_place_of(t, list[end]);
            if (log_compare_places(&first, &next) != 0)
                break;
            uint64_t id = t->values[list[end]].first;
            is_contradicted = is_contradicted || (found[next.role] != 0 && found[next.role] != id);
            found[next.role] = id;
        }
        bool is_known =
            !is_contradicted && (found[PFB_LOG_THREAD_ID] != 0 || !t->paths[t->values[list[begin]].path].has_thread);
        uint32_t position = list[begin];
        t->values[position].key = is_known ? found[PFB_LOG_PROCESS_ID] << 32 | found[PFB_LOG_THREAD_ID] : 0;
        if (is_known)
            list[kept++] = position;
    }
    return kept;
}

/* Removes the ids that several instances of an object have. Returns the number of the others. */
static size_t log_remove_repeated(const log_table *t, uint32_t *list, size_t count)
{
    size_t kept = 0;
    size_t end = 0;
    log_match_sort(&(log_sorting){*t, LOG_BY_ID}, list, count);
    for (size_t begin = 0; begin < count; begin = end) {
        const pfb_log_value *first = &t->values[list[begin]];
        for (end = begin + 1; end < count && t->values[list[end]].key == first->key &&
                              log_class(t, &t->values[list[end]]) == log_class(t, first);
             end++)
            continue;
        if (end == begin + 1)
            list[kept++] = list[begin];
    }
    log_match_sort(&(log_sorting){*t, LOG_BY_INSTANCE}, list, kept);
    return kept;
}

/* Returns the first place in the list, which is sorted, that is not before this one. */
static size_t log_find_place(const log_table *t, const uint32_t *list, size_t count, const log_place *place)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        log_place candidate = log_place_of(t, list[middle]);
        if (log_compare_places(&candidate, place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool log_is_at(const log_table *t, const uint32_t *list, size_t count, size_t at, const log_place *place)
{
    if (at >= count)
        return false;
    log_place found = log_place_of(t, list[at]);
    return log_compare_places(&found, place) == 0;
}

/* Takes over the keys of sample->like. Returns false if the sample is not like it, or has other ids. */
static bool log_copy_keys(const log_table *t, pfb_log_values *sample)
{
    const pfb_log_values *like = sample->like;
    if (!sample->is_like)
        return false;
    for (size_t i = 0; i < sample->count; i++) {
        const pfb_log_value *value = &sample->values[i];
        const pfb_log_value *old = &like->values[i];
        const pfb_log_path *path = log_path_of(t, value);
        if (path && path->role != PFB_LOG_NO_ID &&
            (value->first != old->first || pfb_pdh_has_value(value->status) != pfb_pdh_has_value(old->status)))
            return false;
    }
    for (size_t i = 0; i < sample->count; i++)
        sample->values[i].key = like->values[i].key;
    for (size_t i = 0; i < like->key_count; i++)
        sample->by_key[i] = like->by_key[i];
    sample->key_count = like->key_count;
    return true;
}

void pfb_log_identify(const pfb_log_path *paths, size_t path_count, pfb_log_values *sample)
{
    log_table t = {paths, path_count, sample->values};
    uint32_t *list = sample->by_key;
    if (log_copy_keys(&t, sample))
        return;
    for (size_t i = 0; i < sample->count; i++)
        sample->values[i].key = 0;
    size_t count = log_remove_repeated(&t, list, log_list_ids(&t, sample, list));
    /* Instances are mostly those of the item before, in the same order, so the next one is tried before a search. Keys
     * are stored after all of them are found, because those of the list are read meanwhile. */
    size_t at = 0;
    for (size_t i = 0; i < sample->count; i++) {
        uint32_t position = sample->order[i];
        sample->values[position].older = PFB_LOG_NONE;
        if (log_class(&t, &sample->values[position]) == 0)
            continue;
        log_place place = log_place_of(&t, position);
        if (!log_is_at(&t, list, count, at, &place))
            at = log_find_place(&t, list, count, &place);
        if (log_is_at(&t, list, count, at, &place))
            sample->values[position].older = list[at++];
    }
    for (size_t i = 0; i < count; i++)
        sample->values[list[i]].older = list[i];
    sample->key_count = 0;
    for (uint32_t i = 0; i < sample->count; i++) {
        pfb_log_value *value = &sample->values[i];
        value->key = value->older != PFB_LOG_NONE ? sample->values[value->older].key : 0;
        value->older = PFB_LOG_NONE;
        if (value->key != 0)
            list[sample->key_count++] = i;
    }
}

/* ---- Matching ---------------------------------------------------------------------------------------------------- */

static int log_compare_names(const pfb_name *left, const pfb_name *right)
{
    int difference = log_compare_numbers(left->size_bytes, right->size_bytes);
    return difference == 0 && left->size_bytes > 0 ? memcmp(left->bytes, right->bytes, left->size_bytes) : difference;
}

/* The order of pfb_log_values.order: path, name, occurrence. */
static int log_compare_positions(const pfb_log_value *left, const pfb_log_value *right)
{
    int difference = log_compare_numbers(left->path, right->path);
    if (difference == 0)
        difference = log_compare_numbers(left->has_instance, right->has_instance);
    if (difference == 0)
        difference = log_compare_names(&left->instance, &right->instance);
    return difference != 0 ? difference : log_compare_numbers(left->occurrence, right->occurrence);
}

/* Returns the first place in by_key, which is sorted, that is not before this key. */
static size_t log_first_key(const log_table *t, const pfb_log_values *sample, const log_key *key)
{
    size_t low = 0;
    size_t high = sample->key_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        log_key candidate = log_key_of(t, &t->values[sample->by_key[middle]]);
        if (log_compare_key_places(&candidate, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the value of this counter and key: of this path if possible, else of the first one. PFB_LOG_NONE: there is
 * none. */
static uint32_t log_find_key(const log_table *t, const pfb_log_values *sample, log_key key)
{
    for (int round = 0; round < 2; round++) {
        size_t at = log_first_key(t, sample, &key);
        if (at < sample->key_count) {
            log_key found = log_key_of(t, &t->values[sample->by_key[at]]);
            if (round == 1)
                key.path = found.path;
            if (log_compare_key_places(&found, &key) == 0)
                return sample->by_key[at];
        }
        key.path = 0;
    }
    return PFB_LOG_NONE;
}

/* Returns a UTF-16 unit of "parent/name". */
static uint32_t log_full_unit(const log_place *place, size_t i)
{
    return log_full_byte(place, i) | (uint32_t)log_full_byte(place, i + 1) << 8;
}

/* Returns the size in bytes of the part of the full name that a process or thread keeps: of a thread that of its
 * parent, because threads have numbers for names. */
static size_t log_owner_size(const log_place *place, bool is_thread)
{
    size_t size = log_full_size(place) & ~(size_t)1; /* names have an even size */
    while (is_thread && size > 0 && log_full_unit(place, size - 2) != '/')
        size -= 2;
    return size;
}

/* Returns true if values with equal keys are of the same process or thread. */
static bool log_is_same_owner(const log_table *before, uint32_t older, const log_table *now, uint32_t newer)
{
    bool is_thread = (uint32_t)now->values[newer].key != 0;
    log_place a = log_place_of(before, older);
    log_place b = log_place_of(now, newer);
    size_t size = log_owner_size(&a, is_thread);
    bool is_same = size == log_owner_size(&b, is_thread);
    for (size_t i = 0; is_same && i < size; i++)
        is_same = log_full_byte(&a, i) == log_full_byte(&b, i);
    return is_same;
}

/* Both samples are sorted by path, name and occurrence, so one pass over both orders finds all matches by position. */
static void log_match_positions(const pfb_log_values *older, pfb_log_values *newer)
{
    size_t at = 0;
    for (size_t i = 0; i < newer->count; i++) {
        pfb_log_value *value = &newer->values[newer->order[i]];
        int difference = -1;
        value->older = PFB_LOG_NONE;
        while (at < older->count && (difference = log_compare_positions(&older->values[older->order[at]], value)) < 0)
            at++;
        if (at < older->count && difference == 0)
            value->older = older->order[at++];
    }
}

void pfb_log_match(const pfb_log_path *paths, size_t path_count, pfb_log_values *older, pfb_log_values *newer)
{
    log_table before = {paths, path_count, older->values};
    log_table now = {paths, path_count, newer->values};
    bool is_sorted = false;
    if (newer->is_like && newer->like == older) {
        for (uint32_t i = 0; i < newer->count; i++)
            newer->values[i].older = i;
    } else {
        log_match_positions(older, newer);
    }
    if ((older->key_count | newer->key_count) == 0)
        return;
    for (uint32_t i = 0; i < newer->count; i++) {
        pfb_log_value *value = &newer->values[i];
        const pfb_log_value *same_place = value->older != PFB_LOG_NONE ? &older->values[value->older] : NULL;
        uint64_t key = same_place ? same_place->key : 0;
        if (value->key == key)
            continue;
        if (!is_sorted) { /* rarely: an instance began, ended or moved */
            log_match_sort(&(log_sorting){before, LOG_BY_KEY}, older->by_key, older->key_count);
            log_match_sort(&(log_sorting){now, LOG_BY_KEY}, newer->by_key, newer->key_count);
            is_sorted = true;
        }
        uint32_t found = PFB_LOG_NONE;
        if (value->key != 0)
            found = log_find_key(&before, older, log_key_of(&now, value));
        if (found != PFB_LOG_NONE && log_is_same_owner(&before, found, &now, i))
            value->older = found;
        else if (key != 0 &&
                 (value->key != 0 || log_find_key(&now, newer, log_key_of(&before, same_place)) != PFB_LOG_NONE))
            value->older = PFB_LOG_NONE;
    }
}
