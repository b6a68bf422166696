/* SPDX-License-Identifier: MIT */
#include "perfblock/registry.h"

#include "pdh/handles.h"
#include "registry/reader.h"
#include "source/source_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The signatures are those of Windows. */
/* NOLINTBEGIN(readability-non-const-parameter,readability-function-size) */

#define WIDE(name) ((pdh_text){(name), true})
#define NARROW(name) ((pdh_text){(name), false})

/* Codes that sources do not have, and types of values; programs have their names from windows.h. */
enum { BAD_NETPATH = 53, TYPE_BINARY = 3, TYPE_DWORD = 4, TYPE_MULTI_SZ = 7, BASE_INDEX = 1847 };

static pfb_lock registry_lock = PFB_LOCK_INIT;

/* Protected by the lock. */
static registry_source shared_source;

/* ---- Keys ----------------------------------------------------------------------------------------------- */

enum {
    USERS,   /* HKEY_USERS, which has nothing */
    ROOT,    /* HKEY_LOCAL_MACHINE */
    PERFLIB, /* its key Perflib */
    DATA,    /* HKEY_PERFORMANCE_DATA */
    TEXT,    /* HKEY_PERFORMANCE_TEXT, which Perflib\009 is, too */
    NLSTEXT  /* HKEY_PERFORMANCE_NLSTEXT, which Perflib\CurrentLanguage is, too */
};

typedef struct registry_key {
    uint32_t kind;
    char machine[256]; /* "": this one */
} registry_key;

#define PERFLIB_PATH "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"
static const char *const perflib_keys[] = {"009", "CurrentLanguage"};
static const char *const value_names[][5] = {/* by kind */
                                             [PERFLIB] = {"Base Index", "Last Counter", "Last Help",
                                                          "Supports Metadata", "Version"},
                                             [DATA] = {"Global", "Foreign", "Costly"},
                                             [TEXT] = {"Counter", "Help"},
                                             [NLSTEXT] = {"Counter", "Help"}};
enum { PERFLIB_KEYS = 2, MAX_VALUES = 5 };

/* Returns the number of a predefined key, or 0. The upper half of it is a sign or zero. */
static uint32_t predefined(HKEY key)
{
    uint64_t number = (uintptr_t)key;
    bool has_sign = (intptr_t)key < 0 && (number | UINT32_MAX) == UINTPTR_MAX;
    uint32_t low = (uint32_t)number;
    return (number == low || has_sign) && low >= UINT32_C(0x80000000) && low <= UINT32_C(0x800000FF) ? low : 0;
}

/* Stores the key of a handle in *key. Returns false if it is none. */
static bool find_key(HKEY handle, registry_key *key)
{
    static const struct {
        uint32_t number, kind;
    } known[] = {
        {0x80000002, ROOT}, {0x80000003, USERS}, {0x80000004, DATA}, {0x80000050, TEXT}, {0x80000060, NLSTEXT}};
    uint32_t number = predefined(handle);
    *key = (registry_key){.kind = USERS};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].number != number)
            continue;
        key->kind = known[i].kind;
        return true;
    }
    pfb_lock_acquire(&pfb_pdh_lock);
    const registry_key *found = pfb_pdh_find_handle((HANDLE)handle, PDH_KIND_KEY);
    if (found)
        *key = *found;
    pfb_lock_release(&pfb_pdh_lock);
    return found != NULL;
}

/* Opens a handle of a key. Returns the Win32 code. */
static uint32_t add_key(const registry_key *key, HKEY *result)
{
    registry_key *copy = malloc(sizeof *copy);
    HANDLE handle = NULL;
    if (copy) {
        *copy = *key;
        pfb_lock_acquire(&pfb_pdh_lock);
        handle = pfb_pdh_add_handle(PDH_KIND_KEY, copy);
        pfb_lock_release(&pfb_pdh_lock);
    }
    *result = (HKEY)handle;
    if (!handle)
        free(copy);
    return handle ? PFB_WIN32_SUCCESS : PFB_WIN32_OUTOFMEMORY;
}

static uint32_t close_key(HKEY key)
{
    if (predefined(key) != 0) {
        pfb_lock_acquire(&registry_lock);
        pfb_registry_close_live(&shared_source);
        pfb_lock_release(&registry_lock);
        return PFB_WIN32_SUCCESS;
    }
    pfb_lock_acquire(&pfb_pdh_lock);
    registry_key *found = pfb_pdh_remove_handle((HANDLE)key, PDH_KIND_KEY);
    pfb_lock_release(&pfb_pdh_lock);
    free(found);
    return found ? PFB_WIN32_SUCCESS : PFB_WIN32_INVALID_HANDLE;
}

/* Returns what follows the path of Perflib and a backslash; "" at its end, null if it is another path. */
static const char *skip_perflib(const char *path)
{
    if (!pfb_pdh_matches(PERFLIB_PATH "*", path))
        return NULL;
    path += sizeof PERFLIB_PATH - 1;
    return *path == '\\' ? path + 1 : *path == '\0' ? path : NULL;
}

/* Finds the key with this path below another one. Returns the Win32 code. */
static uint32_t find_path(registry_key *key, const char *path)
{
    if (key->kind == USERS && *path)
        return PFB_WIN32_FILE_NOT_FOUND;
    if (key->kind == ROOT && *path) {
        path = skip_perflib(path);
        key->kind = PERFLIB;
    }
    if (path && *path && pfb_pdh_equal(path, perflib_keys[0]))
        key->kind = TEXT;
    else if (path && *path && pfb_pdh_equal(path, perflib_keys[1]))
        key->kind = NLSTEXT;
    else if (!path || *path)
        return PFB_WIN32_FILE_NOT_FOUND;
    return PFB_WIN32_SUCCESS;
}

static uint32_t open_key(HKEY parent, pdh_text name, HKEY *result)
{
    registry_key key;
    if (!result)
        return PFB_WIN32_INVALID_PARAMETER;
    *result = NULL;
    if (!find_key(parent, &key) || key.kind > PERFLIB)
        return PFB_WIN32_INVALID_HANDLE;
    char *path = pfb_pdh_copy_text(name);
    uint32_t code = path ? find_path(&key, path) : PFB_WIN32_OUTOFMEMORY;
    free(path);
    return code == PFB_WIN32_SUCCESS ? add_key(&key, result) : code;
}

/* ---- The source ----------------------------------------------------------------------------------------- */

/* Opens the source, and finds the machine of a key in it. Returns the Win32 code. */
static uint32_t open_machine(const registry_key *key, uint32_t *machine)
{
    uint32_t code = pfb_registry_open_source(&shared_source);
    if (code != PFB_WIN32_SUCCESS)
        return code;
    *machine = pfb_pdh_find_machine(shared_source.catalog, key->machine, true);
    return *machine != PDH_NONE ? PFB_WIN32_SUCCESS : BAD_NETPATH;
}

static uint32_t connect_machine(pdh_text machine, HKEY from, HKEY *result)
{
    registry_key key;
    uint32_t place;
    if (!result)
        return PFB_WIN32_INVALID_PARAMETER;
    *result = NULL;
    if (predefined(from) == 0 || !find_key(from, &key) || key.kind > DATA)
        return PFB_WIN32_INVALID_HANDLE;
    char *name = pfb_pdh_copy_text(machine);
    if (!name)
        return PFB_WIN32_OUTOFMEMORY;
    bool fits = strlen(name) < sizeof key.machine;
    if (fits)
        memcpy(key.machine, name, strlen(name) + 1);
    free(name);
    pfb_lock_acquire(&registry_lock);
    uint32_t code = fits ? open_machine(&key, &place) : BAD_NETPATH;
    pfb_lock_release(&registry_lock);
    return code == PFB_WIN32_SUCCESS ? add_key(&key, result) : code;
}

/* ---- Values --------------------------------------------------------------------------------------------- */

/* A buffer of the caller. */
typedef struct out_value {
    DWORD *type;
    void *data;
    DWORD *size;
} out_value;

/* Stores the size that a value other than performance data needs. Returns the Win32 code. */
static uint32_t finish_value(const out_value *out, uint32_t type, uint64_t needed)
{
    DWORD given = out->size ? *out->size : 0;
    if (out->type)
        *out->type = type;
    if (needed > UINT32_MAX)
        return PFB_WIN32_OUTOFMEMORY;
    if (out->size)
        *out->size = (DWORD)needed;
    return out->data && given < needed ? PFB_WIN32_MORE_DATA : PFB_WIN32_SUCCESS;
}

static int compare_rows(const void *left, const void *right)
{
    const pdh_title *a = *(const pdh_title *const *)left;
    const pdh_title *b = *(const pdh_title *const *)right;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void put_row(pdh_writer *w, uint32_t index, const char *text)
{
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, index);
    pfb_pdh_put(w, number);
    pfb_pdh_put_nul(w);
    pfb_pdh_put(w, text);
    pfb_pdh_put_nul(w);
}

/* Returns the text of a row in a table. Without a help text it is the name: readers take an empty one for the end. */
static const char *text_of(const pdh_title *row, bool is_help, bool is_english)
{
    if (is_help && row->help)
        return row->help;
    return is_english ? row->english : row->name;
}

/* Writes a table. Returns false when memory is exhausted. */
static bool put_table(pdh_writer *w, bool is_help, bool is_english)
{
    const pdh_titles *t = &shared_source.titles;
    const pdh_title **rows = malloc((t->count + 1) * sizeof(const pdh_title *));
    uint32_t last = 1; /* the first row of names has it */
    if (!rows)
        return false;
    for (size_t i = 0; i < t->count; i++)
        rows[i] = &t->rows[i];
    qsort((void *)rows, t->count, sizeof(const pdh_title *), compare_rows);
    if (!is_help)
        put_row(w, 1, "1847");
    for (size_t i = 0; i < t->count; i++) {
        const char *text = text_of(rows[i], is_help, is_english);
        if (rows[i]->index > last && *text)
            put_row(w, rows[i]->index + is_help, text);
        last = rows[i]->index > last ? rows[i]->index : last;
    }
    pfb_pdh_put_nul(w);
    free((void *)rows);
    return true;
}

/* Answers with a name or help table. Returns the Win32 code. */
static uint32_t answer_table(const registry_key *key, const registry_value *value, const out_value *out, bool is_wide)
{
    const uint32_t english = 9;
    const uint32_t unit = is_wide ? 2 : 1;
    uint32_t primary = value->language & 0x3FF;
    bool is_english = value->has_language ? primary == english : key->kind != NLSTEXT;
    if (value->has_language && !is_english && (primary == 0 || primary != shared_source.catalog->language))
        return PFB_WIN32_FILE_NOT_FOUND;
    DWORD capacity = out->size ? *out->size / unit : 0;
    pdh_writer w = pfb_pdh_writer(out->data, &capacity, is_wide);
    if (!put_table(&w, value->kind == VALUE_HELP, is_english))
        return PFB_WIN32_OUTOFMEMORY;
    return finish_value(out, TYPE_MULTI_SZ, (uint64_t)w.used * unit);
}

/* Answers with a block. Returns the Win32 code. */
static uint32_t answer_data(uint32_t machine, const registry_value *value, const out_value *out)
{
    uint32_t code;
    const pfb_bytes *sample = pfb_registry_next_sample(&shared_source, machine, value, &code);
    if (!sample)
        return code;
    if (sample->size_bytes > *out->size)
        return PFB_WIN32_MORE_DATA;
    memcpy(out->data, sample->data, sample->size_bytes);
    *out->size = (DWORD)sample->size_bytes;
    pfb_registry_consume(&shared_source);
    return PFB_WIN32_SUCCESS;
}

/* Asks only for the type of performance data: the size is not known before it is collected. */
static uint32_t refuse_sizing(const out_value *out)
{
    if (out->size)
        *out->size = 0;
    return PFB_WIN32_MORE_DATA;
}

/* Answers a query of the performance keys while the lock is held. Returns the Win32 code. */
static uint32_t answer_performance(const registry_key *key, const char *name, const out_value *out, bool is_wide)
{
    registry_value value;
    uint32_t machine = 0;
    uint32_t code = pfb_registry_read_name(name, &value) ? PFB_WIN32_SUCCESS : PFB_WIN32_OUTOFMEMORY;
    bool is_table = value.kind == VALUE_NAMES || value.kind == VALUE_HELP;
    if (!is_table && out->type)
        *out->type = TYPE_BINARY;
    if (code == PFB_WIN32_SUCCESS && !is_table && !out->data)
        code = refuse_sizing(out);
    if (code == PFB_WIN32_SUCCESS)
        code = open_machine(key, &machine);
    if (code == PFB_WIN32_SUCCESS)
        code = is_table ? answer_table(key, &value, out, is_wide) : answer_data(machine, &value, out);
    free(value.titles);
    return code;
}

/* Returns the highest title index of a name. */
static uint32_t last_index(void)
{
    uint32_t last = 0;
    for (size_t i = 0; i < shared_source.titles.count; i++)
        last = shared_source.titles.rows[i].index > last ? shared_source.titles.rows[i].index : last;
    return last;
}

/* Answers a query of Perflib while the lock is held. Returns the Win32 code. */
static uint32_t answer_perflib(const registry_key *key, const char *name, const out_value *out)
{
    uint32_t machine;
    size_t i = 0;
    while (i < MAX_VALUES && !pfb_pdh_equal(name, value_names[PERFLIB][i]))
        i++;
    if (i == MAX_VALUES)
        return PFB_WIN32_FILE_NOT_FOUND;
    uint32_t code = open_machine(key, &machine);
    if (code != PFB_WIN32_SUCCESS)
        return code;
    const uint32_t numbers[MAX_VALUES] = {BASE_INDEX, last_index(), last_index() + 1, 0, 0x10001};
    code = finish_value(out, TYPE_DWORD, sizeof numbers[i]);
    if (code == PFB_WIN32_SUCCESS && out->data)
        memcpy(out->data, &numbers[i], sizeof numbers[i]);
    return code;
}

/* Answers a query of a value while the lock is held. Returns the Win32 code. */
static uint32_t answer(const registry_key *key, const char *name, const out_value *out, bool is_wide)
{
    if (key->kind < PERFLIB)
        return PFB_WIN32_FILE_NOT_FOUND;
    return key->kind == PERFLIB ? answer_perflib(key, name, out) : answer_performance(key, name, out, is_wide);
}

static uint32_t query_value(HKEY handle, pdh_text name_text, const DWORD *reserved, const out_value *out)
{
    registry_key key;
    if (!find_key(handle, &key))
        return PFB_WIN32_INVALID_HANDLE;
    if (reserved || (out->data && !out->size))
        return PFB_WIN32_INVALID_PARAMETER;
    char *name = pfb_pdh_copy_text(name_text);
    if (!name)
        return PFB_WIN32_OUTOFMEMORY;
    pfb_lock_acquire(&registry_lock);
    uint32_t code = answer(&key, name, out, name_text.is_wide);
    pfb_lock_release(&registry_lock);
    free(name);
    return code;
}

/* ---- Lists ---------------------------------------------------------------------------------------------- */

/* Writes a name whose size is in characters, without the NUL once it was written. Returns the Win32 code. */
static uint32_t put_name(const char *name, void *out, DWORD *size, bool is_wide)
{
    pdh_writer w = pfb_pdh_writer(out, size, is_wide);
    pfb_pdh_put(&w, name);
    pfb_pdh_put_nul(&w);
    if (w.used > *size)
        return PFB_WIN32_MORE_DATA;
    *size = (DWORD)w.used - 1;
    return PFB_WIN32_SUCCESS;
}

/* Writes an empty class, where one is asked for. */
static void put_class(void *out, DWORD *size, bool is_wide)
{
    if (out && size && *size > 0)
        memset(out, 0, is_wide ? 2 : 1);
    if (size)
        *size = 0;
}

/* Returns a time that depends on the names of the source, in 100 ns since 1601: from 2000 on. */
static uint64_t time_of_names(void)
{
    const uint64_t year_2000 = UINT64_C(125911584000000000);
    uint64_t hash = 0;
    for (size_t i = 0; i < shared_source.titles.count; i++) {
        const pdh_title *row = &shared_source.titles.rows[i];
        hash = hash * 31 + row->index;
        for (const char *at = row->name; *at; at++)
            hash = hash * 31 + (uint8_t)*at;
    }
    return year_2000 + hash % (UINT64_C(1) << 51); /* within 8 years */
}

/* Stores the time of a key. Returns the Win32 code. */
static uint32_t put_time(const registry_key *key, FILETIME *time)
{
    uint32_t machine;
    if (!time)
        return PFB_WIN32_SUCCESS;
    pfb_lock_acquire(&registry_lock);
    uint32_t code = open_machine(key, &machine);
    uint64_t value = code == PFB_WIN32_SUCCESS ? time_of_names() : 0;
    pfb_lock_release(&registry_lock);
    *time = (FILETIME){(DWORD)value, (DWORD)(value >> 32)};
    return code;
}

/* What RegEnumKeyEx and RegEnumValue get beside the name. */
typedef struct enumeration {
    HKEY handle;
    DWORD index;
    void *name;
    DWORD *size;
    const DWORD *reserved;
    bool is_wide;
} enumeration;

/* Checks the arguments and finds the key. Returns the Win32 code. */
static uint32_t begin_enumeration(const enumeration *e, registry_key *key)
{
    if (!find_key(e->handle, key))
        return PFB_WIN32_INVALID_HANDLE;
    return e->reserved || !e->name || !e->size ? PFB_WIN32_INVALID_PARAMETER : PFB_WIN32_SUCCESS;
}

static uint32_t enum_key(const enumeration *e, void *class_name, DWORD *class_size, FILETIME *time)
{
    registry_key key;
    uint32_t code = begin_enumeration(e, &key);
    if (code != PFB_WIN32_SUCCESS)
        return code;
    if (key.kind == DATA)
        return PFB_WIN32_INVALID_HANDLE;
    if (key.kind != PERFLIB || e->index >= PERFLIB_KEYS)
        return PFB_WIN32_NO_MORE_ITEMS;
    put_class(class_name, class_size, e->is_wide);
    code = put_time(&key, time);
    return code == PFB_WIN32_SUCCESS ? put_name(perflib_keys[e->index], e->name, e->size, e->is_wide) : code;
}

static uint32_t enum_value(const enumeration *e, const out_value *out)
{
    registry_key key;
    uint32_t code = begin_enumeration(e, &key);
    if (code == PFB_WIN32_SUCCESS && out->data && !out->size)
        code = PFB_WIN32_INVALID_PARAMETER;
    if (code != PFB_WIN32_SUCCESS)
        return code;
    const char *name = e->index < MAX_VALUES ? value_names[key.kind][e->index] : NULL;
    if (!name)
        return PFB_WIN32_NO_MORE_ITEMS;
    DWORD size = *e->size;
    code = put_name(name, e->name, &size, e->is_wide);
    if (code != PFB_WIN32_SUCCESS || key.kind == DATA) /* performance data has the name, but this code all the same */
        return PFB_WIN32_MORE_DATA;
    pfb_lock_acquire(&registry_lock);
    code = answer(&key, name, out, e->is_wide);
    pfb_lock_release(&registry_lock);
    *e->size = code == PFB_WIN32_SUCCESS ? size : *e->size;
    return code;
}

/* What RegQueryInfoKey stores; any may be null. */
typedef struct key_info {
    DWORD *key_count, *max_key_size, *max_class_size, *value_count, *max_name_size, *max_value_size, *security_size;
    FILETIME *time;
} key_info;

static void put_number(DWORD *out, size_t number)
{
    if (out)
        *out = (DWORD)number;
}

/* Returns the size of the largest value, in bytes, or 0 if it cannot be read. */
static DWORD max_value(const registry_key *key, bool is_wide)
{
    DWORD largest = 0;
    for (size_t i = 0; key->kind > DATA && i < MAX_VALUES && value_names[key->kind][i]; i++) {
        DWORD size = 0;
        const out_value out = {.size = &size};
        answer(key, value_names[key->kind][i], &out, is_wide);
        largest = size > largest ? size : largest;
    }
    return key->kind == PERFLIB ? sizeof(DWORD) : largest;
}

static void put_values(const registry_key *key, const key_info *info, bool is_wide)
{
    size_t count = 0;
    size_t longest = 0;
    while (count < MAX_VALUES && value_names[key->kind][count]) {
        size_t size = key->kind == DATA ? 0 : strlen(value_names[key->kind][count]);
        longest = size > longest ? size : longest;
        count++;
    }
    put_number(info->value_count, count);
    put_number(info->max_name_size, longest);
    if (!info->max_value_size)
        return;
    pfb_lock_acquire(&registry_lock);
    *info->max_value_size = max_value(key, is_wide);
    pfb_lock_release(&registry_lock);
}

static uint32_t query_info(HKEY handle, const DWORD *reserved, const key_info *info, bool is_wide)
{
    registry_key key;
    if (!find_key(handle, &key))
        return PFB_WIN32_INVALID_HANDLE;
    if (reserved)
        return PFB_WIN32_INVALID_PARAMETER;
    put_number(info->key_count, key.kind == PERFLIB ? PERFLIB_KEYS : 0);
    put_number(info->max_key_size, key.kind == PERFLIB ? strlen(perflib_keys[1]) : 0);
    put_number(info->max_class_size, 0);
    put_number(info->security_size, 0);
    put_values(&key, info, is_wide);
    return put_time(&key, info->time);
}

/* ---- The functions -------------------------------------------------------------------------------------- */

LSTATUS pfb_RegQueryValueExA(HKEY key, LPCSTR name, DWORD *reserved, DWORD *type, BYTE *data, DWORD *size)
{
    return (LSTATUS)query_value(key, NARROW(name), reserved, &(out_value){type, data, size});
}

LSTATUS pfb_RegQueryValueExW(HKEY key, LPCWSTR name, DWORD *reserved, DWORD *type, BYTE *data, DWORD *size)
{
    return (LSTATUS)query_value(key, WIDE(name), reserved, &(out_value){type, data, size});
}

LSTATUS pfb_RegCloseKey(HKEY key)
{
    return (LSTATUS)close_key(key);
}

LSTATUS pfb_RegOpenKeyExA(HKEY key, LPCSTR name, DWORD options, REGSAM access, HKEY *result)
{
    (void)options;
    (void)access;
    return (LSTATUS)open_key(key, NARROW(name), result);
}

LSTATUS pfb_RegOpenKeyExW(HKEY key, LPCWSTR name, DWORD options, REGSAM access, HKEY *result)
{
    (void)options;
    (void)access;
    return (LSTATUS)open_key(key, WIDE(name), result);
}

LSTATUS pfb_RegOpenKeyA(HKEY key, LPCSTR name, HKEY *result)
{
    return (LSTATUS)open_key(key, NARROW(name), result);
}

LSTATUS pfb_RegOpenKeyW(HKEY key, LPCWSTR name, HKEY *result)
{
    return (LSTATUS)open_key(key, WIDE(name), result);
}

LSTATUS pfb_RegConnectRegistryA(LPCSTR machine, HKEY key, HKEY *result)
{
    return (LSTATUS)connect_machine(NARROW(machine), key, result);
}

LSTATUS pfb_RegConnectRegistryW(LPCWSTR machine, HKEY key, HKEY *result)
{
    return (LSTATUS)connect_machine(WIDE(machine), key, result);
}

LSTATUS pfb_RegQueryInfoKeyA(HKEY key, LPSTR class_name, DWORD *class_size, DWORD *reserved, DWORD *key_count,
                             DWORD *max_key_size, DWORD *max_class_size, DWORD *value_count, DWORD *max_name_size,
                             DWORD *max_value_size, DWORD *security_size, FILETIME *write_time)
{
    put_class(class_name, class_size, false);
    return (LSTATUS)query_info(key, reserved,
                               &(key_info){key_count, max_key_size, max_class_size, value_count, max_name_size,
                                           max_value_size, security_size, write_time},
                               false);
}

LSTATUS pfb_RegQueryInfoKeyW(HKEY key, LPWSTR class_name, DWORD *class_size, DWORD *reserved, DWORD *key_count,
                             DWORD *max_key_size, DWORD *max_class_size, DWORD *value_count, DWORD *max_name_size,
                             DWORD *max_value_size, DWORD *security_size, FILETIME *write_time)
{
    put_class(class_name, class_size, true);
    return (LSTATUS)query_info(key, reserved,
                               &(key_info){key_count, max_key_size, max_class_size, value_count, max_name_size,
                                           max_value_size, security_size, write_time},
                               true);
}

LSTATUS pfb_RegEnumKeyExA(HKEY key, DWORD index, LPSTR name, DWORD *name_size, DWORD *reserved, LPSTR class_name,
                          DWORD *class_size, FILETIME *write_time)
{
    return (LSTATUS)enum_key(&(enumeration){key, index, name, name_size, reserved, false}, class_name, class_size,
                             write_time);
}

LSTATUS pfb_RegEnumKeyExW(HKEY key, DWORD index, LPWSTR name, DWORD *name_size, DWORD *reserved, LPWSTR class_name,
                          DWORD *class_size, FILETIME *write_time)
{
    return (LSTATUS)enum_key(&(enumeration){key, index, name, name_size, reserved, true}, class_name, class_size,
                             write_time);
}

LSTATUS pfb_RegEnumValueA(HKEY key, DWORD index, LPSTR name, DWORD *name_size, DWORD *reserved, DWORD *type, BYTE *data,
                          DWORD *size)
{
    return (LSTATUS)enum_value(&(enumeration){key, index, name, name_size, reserved, false},
                               &(out_value){type, data, size});
}

LSTATUS pfb_RegEnumValueW(HKEY key, DWORD index, LPWSTR name, DWORD *name_size, DWORD *reserved, DWORD *type,
                          BYTE *data, DWORD *size)
{
    return (LSTATUS)enum_value(&(enumeration){key, index, name, name_size, reserved, true},
                               &(out_value){type, data, size});
}

/* NOLINTEND(readability-non-const-parameter,readability-function-size) */
