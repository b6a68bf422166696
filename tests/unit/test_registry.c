/* SPDX-License-Identifier: MIT */
/* The registry functions over the fixtures: displayed values of the blocks are those of fixtures/machine.tsv, which
 * come from the model of fixtures/machine.py. */
#include <criterion/criterion.h>

#include "perfblock/capture.h"
#include "perfblock/collect.h"
#include "perfblock/registry.h"
#include "perfblock/v1.h"
#include "perfblock/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIXTURE(name) PERFBLOCK_SOURCE_DIR "/fixtures/" name
#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"

enum {
    SUCCESS = 0,
    NOT_FOUND = 2,
    HANDLE_BAD = 6,
    CORRUPT = 1392,
    BUSY = 170,
    BAD_PATH = 53,
    BAD_ARGUMENT = 87,
    MORE_DATA = 234,
    NO_MORE = 259
};

static union {
    uint8_t bytes[1 << 20];
    char text[1];
    int64_t alignment;
} buffer;

/* Makes a file the source. */
static void use_file(const char *path)
{
    cr_assert_eq(setenv("PERFBLOCK_CAPTURE", path, 1), 0);
    cr_assert_eq(pfb_pdh_use(NULL, NULL), 0);
}

/* Makes this machine the source. */
static void use_machine(void)
{
    cr_assert_eq(unsetenv("PERFBLOCK_CAPTURE"), 0);
    cr_assert_eq(pfb_pdh_use(NULL, NULL), 0);
}

/* A handle that never was one. */
static HKEY foreign(void)
{
    static int object;
    return (HKEY)(void *)&object;
}

/* Reads a value into the buffer. Returns the code. */
static LSTATUS query(HKEY key, const char *name, DWORD *size)
{
    DWORD type = 99;
    *size = sizeof buffer;
    LSTATUS code = RegQueryValueExA(key, name, NULL, &type, buffer.bytes, size);
    cr_expect(code != 0 || type == REG_BINARY || type == REG_MULTI_SZ || type == REG_DWORD);
    return code;
}

/* Reads a block into the buffer. Returns its header. */
static pfb_v1_reader query_block(const char *name)
{
    static const pfb_read_options strict = {.is_strict = true};
    pfb_v1_reader reader = {0};
    DWORD size = 0;
    cr_assert_eq(query(HKEY_PERFORMANCE_DATA, name, &size), 0, "%s", name);
    cr_assert(pfb_v1_open(&reader, buffer.bytes, size, &strict), "%s", name);
    cr_expect_eq(reader.total_size_bytes, size);
    cr_expect_eq(reader.default_object, 238);
    return reader;
}

/* The title indexes of the objects in a block, as text. */
static const char *titles(pfb_v1_reader reader)
{
    static char text[256];
    pfb_v1_object object;
    size_t at = 0;
    text[0] = '\0';
    while (pfb_v1_next_object(&reader, &object))
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%u", at > 0 ? " " : "", object.title_index);
    cr_expect_eq(reader.error.code, PFB_OK);
    return text;
}

/* ---- Sizes and codes ------------------------------------------------------------------------------------ */

Test(registry, sizes_of_data)
{
    static const char *const names[] = {"Global", "Costly", "238 2", NULL, "", "Foreign", "OLD_Global", "unknown", "7"};
    static const HKEY keys[] = {HKEY_PERFORMANCE_DATA, HKEY_PERFORMANCE_TEXT, HKEY_PERFORMANCE_NLSTEXT};
    use_file(FIXTURE("machine_v1.pfb"));
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) { /* T22 */
            DWORD size = 0xDEADBEEF;
            DWORD type = 99;
            cr_expect_eq(RegQueryValueExA(keys[k], names[i], NULL, &type, NULL, &size), MORE_DATA);
            cr_expect(size == 0 && type == REG_BINARY, "%zu: %u %u", i, size, type);
            cr_expect_eq(RegQueryValueExA(keys[k], names[i], NULL, NULL, NULL, NULL), MORE_DATA);
            size = 87;
            cr_expect_eq(RegQueryValueExA(keys[k], names[i], NULL, &type, buffer.bytes, &size), MORE_DATA);
            cr_expect(size == 87 && type == REG_BINARY);
            cr_expect_eq(RegQueryValueExA(keys[k], names[i], NULL, &type, buffer.bytes, NULL), BAD_ARGUMENT);
            cr_expect_eq(RegQueryValueExA(keys[k], names[i], &size, &type, NULL, &size), BAD_ARGUMENT);
        }
    }
    cr_expect_eq(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
    cr_expect_eq(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
}

Test(registry, too_small_keeps_the_sample)
{
    DWORD needed = 0;
    use_file(FIXTURE("machine_v1.pfb"));
    cr_assert_eq(query(HKEY_PERFORMANCE_DATA, "2", &needed), 0);
    pfb_v1_reader first = query_block("2");
    DWORD size = needed - 1;
    cr_expect_eq(RegQueryValueExA(HKEY_PERFORMANCE_DATA, "2", NULL, NULL, buffer.bytes, &size), MORE_DATA);
    cr_expect_eq(size, needed - 1);
    size = needed;
    cr_expect_eq(RegQueryValueExA(HKEY_PERFORMANCE_DATA, "2", NULL, NULL, buffer.bytes, &size), 0);
    pfb_v1_reader second;
    cr_assert(pfb_v1_open(&second, buffer.bytes, size, NULL));
    cr_expect_eq(second.perf_time_100ns - first.perf_time_100ns, 100000000);
}

Test(registry, unknown_names) /* T23 */
{
    use_file(FIXTURE("machine_v1.pfb"));
    DWORD size = 344;
    cr_assert_eq(RegQueryValueExA(HKEY_PERFORMANCE_DATA, "invalid counter", NULL, NULL, buffer.bytes, &size), 0);
    pfb_v1_reader reader;
    cr_assert(pfb_v1_open(&reader, buffer.bytes, size, NULL));
    uint32_t header[22];
    memcpy(header, buffer.bytes, sizeof header);
    cr_expect(reader.object_count == 0 && header[21] == 88 && header[5] == size);
    cr_expect(header[6] == size && size == (88 + header[20] + 7) / 8 * 8);
    cr_expect(header[2] == 1 && header[3] == 1 && header[4] == 1 && reader.default_object == 238);
    cr_expect(reader.perf_time_100ns > INT64_C(125911584000000000) && reader.system_time.year > 2020);
    static const char *const empty[] = {"Costly", "Foreign", "Foreign PC 2", "9999", "99999999999", "MetadataGlobal"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++)
        cr_expect_eq(query_block(empty[i]).object_count, 0);
}

Test(registry, objects_and_their_order)
{
    static const struct {
        const char *name, *titles;
    } rows[] = {{"2", "2"},
                {"238 2", "238 2"},
                {" 2  238 ", "2 238"},
                {"2 2 9999 x 2x 4", "2 4"},
                {"global", "238 230 234 236 510 4 2 638"},
                {NULL, "238 230 234 236 510 4 2 638"},
                {"OLD_GLOBAL", "238 230 234 236 510 4 2 638"}};
    use_file(FIXTURE("machine_v1.pfb"));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_str_eq(titles(query_block(rows[i].name)), rows[i].titles, "%zu", i);
}

Test(registry, end_of_a_recording)
{
    DWORD size = 0;
    use_file(FIXTURE("machine_names_v1.pfb"));
    int count = 0;
    while (query(HKEY_PERFORMANCE_DATA, "230", &size) == 0)
        count++;
    cr_expect_gt(count, 1);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "230", &size), NO_MORE);
    cr_expect_eq(RegCloseKey(HKEY_PERFORMANCE_DATA), 0); /* does not begin again */
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "230", &size), NO_MORE);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "Global", &size), 0); /* has its own position */
}

/* ---- Values --------------------------------------------------------------------------------------------- */

/* A row of machine.tsv. */
typedef struct table_row {
    char path[128];
    double values[30];
    bool has[30];
    bool is_seen;
} table_row;

static table_row table[512];
static size_t table_count;
static char logged[4096]; /* the paths of the log; "": all are compared */

static void read_table(void)
{
    char line[4096];
    FILE *file = fopen(FIXTURE("machine.tsv"), "r");
    cr_assert_not_null(file);
    table_count = 0;
    cr_assert_not_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        table_row *row = &table[table_count++];
        char *at = strchr(line, '\t');
        cr_assert(at && at - line < (long)sizeof row->path);
        *row = (table_row){.path = ""};
        memcpy(row->path, line, (size_t)(at - line));
        for (int i = 0; i < 30; i++) {
            at++; /* a tab */
            row->has[i] = *at != '\t' && *at != '\n';
            row->values[i] = row->has[i] ? strtod(at, &at) : 0;
        }
    }
    fclose(file);
}

static table_row *find_row(const char *path)
{
    for (size_t i = 0; i < table_count; i++)
        if (strcmp(table[i].path, path) == 0)
            return &table[i];
    return NULL;
}

static void put(pfb_collector *collector, uint32_t kind, DWORD size)
{
    pfb_record record = {.size = sizeof record, .kind = kind, .bytes = buffer.bytes, .byte_count = size, .language = 9};
    cr_assert_geq(pfb_collector_put(collector, &record), 0);
}

/* Compares the displayed values of the collector's frame with a column of the table. Returns their number. */
static size_t compare_frame(pfb_collector *collector, size_t sample)
{
    pfb_frame frame = {.size = sizeof frame};
    pfb_series s = {.size = sizeof s};
    size_t count = 0;
    cr_assert(pfb_collector_frame(collector, &frame));
    for (uint32_t i = 0; i < frame.count; i++) {
        char path[256];
        cr_assert(pfb_collector_series(collector, i, &s));
        snprintf(path, sizeof path, s.has & PFB_SERIES_INSTANCE ? "\\%s(%s)\\%s" : "\\%s%s\\%s", s.counterset,
                 s.instance, s.counter);
        table_row *row = !*logged || strstr(logged, path) ? find_row(path) : NULL;
        if (frame.statuses[i] == PFB_STATUS_NOT_DISPLAYED || !row)
            continue;
        cr_expect_eq(frame.statuses[i] == PFB_STATUS_OK, row->has[sample], "%s %zu", path, sample);
        cr_expect(!row->has[sample] || frame.values[i] == row->values[sample], "%s %zu: %.17g %.17g", path, sample,
                  frame.values[i], row->values[sample]);
        row->is_seen = true;
        count += row->has[sample];
    }
    return count;
}

/* Reads all samples of a file through the registry. Returns the number of values that were compared. */
static size_t compare_file(const char *path, const char *name)
{
    DWORD size = 0;
    size_t sample = 0;
    size_t count = 0;
    pfb_collector *collector = pfb_collector_new();
    cr_assert_not_null(collector);
    read_table();
    use_file(path);
    cr_assert_eq(query(HKEY_PERFORMANCE_TEXT, "Counter", &size), 0);
    DWORD wide_size = sizeof buffer;
    cr_assert_eq(RegQueryValueExW(HKEY_PERFORMANCE_TEXT, u"Counter 009", NULL, NULL, buffer.bytes, &wide_size), 0);
    put(collector, PFB_RECORD_NAMES, wide_size);
    for (; query(HKEY_PERFORMANCE_DATA, name, &size) == 0; sample++) {
        put(collector, PFB_RECORD_V1, size);
        count += compare_frame(collector, sample);
    }
    cr_expect_eq(sample, 30);
    pfb_collector_close(collector);
    return count;
}

/* Returns the number of rows whose paths begin so, and how many of them were seen. */
static void expect_seen(const char *begin)
{
    for (size_t i = 0; i < table_count; i++)
        cr_expect(table[i].is_seen || strncmp(table[i].path, begin, strlen(begin)) != 0, "%s", table[i].path);
}

Test(registry, values_of_v1)
{
    cr_expect_gt(compare_file(FIXTURE("machine_v1.pfb"), "Global"), 4000);
    expect_seen("\\Process(");
    expect_seen("\\System\\");
    expect_seen("\\TCPv4\\");
}

Test(registry, values_of_v2)
{
    cr_expect_gt(compare_file(FIXTURE("machine.pfb"), "Global"), 6000);
    expect_seen("\\Process V2(");
    expect_seen("\\Processor Information(");
    expect_seen("\\System\\");
    expect_seen("\\Memory\\");
    expect_seen("\\PhysicalDisk(");
    expect_seen("\\LogicalDisk(");
    expect_seen("\\GPU Engine(");
}

Test(registry, values_of_a_log) /* what it does not have of an object that it has is 0 */
{
    FILE *file = fopen(FIXTURE("machine.csv"), "r");
    cr_assert(file && fgets(logged, sizeof logged, file));
    fclose(file);
    cr_expect_gt(compare_file(FIXTURE("machine.blg"), "Global"), 700);
    expect_seen("\\Processor(0)\\% Processor Time");
    expect_seen("\\Memory\\% Committed Bytes In Use");
    expect_seen("\\PhysicalDisk(_Total)\\Avg. Disk sec/Read");
    expect_seen("\\System\\System Up Time");
}

Test(registry, values_of_objects)
{
    cr_expect_gt(compare_file(FIXTURE("machine.pfb"), "2 236"), 100);
    expect_seen("\\System\\");
    expect_seen("\\LogicalDisk(");
    cr_expect_not(find_row("\\Memory\\Pages/sec")->is_seen);
}

Test(registry, bytes_behind_written_values)
{
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_instance instance;
    use_file(FIXTURE("machine.pfb"));
    pfb_v1_reader reader = query_block("Global");
    size_t count = 0;
    while (pfb_v1_next_object(&reader, &object)) {
        uint32_t end = 0;
        uint32_t previous = 0;
        uint32_t headers[3];
        memcpy(headers, buffer.bytes + object.offset, sizeof headers);
        cr_expect_eq(headers[1], headers[2] + 40 * object.counter_count);
        while (pfb_v1_next_counter(&reader, &counter)) {
            end = counter.value_offset + counter.size_bytes > end ? counter.value_offset + counter.size_bytes : end;
            cr_expect(!pfb_counter_type_is_base(counter.type) || counter.title_index == previous);
            cr_expect_eq(counter.help_index, counter.title_index + 1);
            previous = counter.title_index;
        }
        while (pfb_v1_next_instance(&reader, &instance)) {
            cr_expect_leq(end + 8, instance.values_size_bytes);
            cr_expect_eq(instance.unique_id, -1);
            count++;
        }
    }
    cr_expect_gt(count, 15);
    cr_expect_eq(reader.error.code, PFB_OK);
}

/* ---- Tables --------------------------------------------------------------------------------------------- */

/* The text of an index in the table in the buffer, or null. Checks its form. */
static const char *find_text(DWORD size, unsigned long index)
{
    const char *found = NULL;
    const char *at = buffer.text;
    unsigned long last = 0;
    while (*at) {
        char *end;
        unsigned long number = strtoul(at, &end, 10);
        cr_assert(*end == '\0' && number > last, "%s", at);
        last = number;
        at = end + 1;
        cr_assert_neq(*at, '\0', "%lu", number);
        found = number == index ? at : found;
        at += strlen(at) + 1;
    }
    cr_expect_eq(at + 1 - buffer.text, size);
    return found;
}

static void expect_text(HKEY key, const char *table_name, unsigned long index, const char *text)
{
    DWORD size = 0;
    cr_assert_eq(query(key, table_name, &size), 0, "%s", table_name);
    const char *found = find_text(size, index);
    cr_assert_not_null(found, "%lu", index);
    cr_expect_str_eq(found, text);
}

Test(registry, sizes_of_tables) /* T24 */
{
    static const HKEY keys[] = {HKEY_PERFORMANCE_TEXT, HKEY_PERFORMANCE_DATA, HKEY_PERFORMANCE_NLSTEXT};
    use_file(FIXTURE("machine_v1.pfb"));
    for (size_t i = 0; i < 3; i++) {
        DWORD size = 1;
        DWORD wide = 0xDEADBEEF;
        DWORD type = 99;
        cr_expect_eq(RegQueryValueExA(keys[i], "Counter 009", NULL, &type, NULL, &size), 0);
        cr_expect(type == REG_MULTI_SZ && size > 100);
        cr_expect_eq(RegQueryValueExW(keys[i], u"Counter 009", NULL, &type, NULL, &wide), 0);
        cr_expect(type == REG_MULTI_SZ && wide == 2 * size);
        DWORD given = size - 1;
        memset(buffer.bytes, 0xEE, wide);
        cr_expect_eq(RegQueryValueExA(keys[i], "Counter 009", NULL, &type, buffer.bytes, &given), MORE_DATA);
        cr_expect(given == size && type == REG_MULTI_SZ && buffer.bytes[size - 1] == 0xEE);
        cr_expect_eq(RegQueryValueExA(keys[i], "Counter 009", NULL, NULL, buffer.bytes, &given), 0);
        cr_expect(given == size && memcmp(buffer.bytes, "1\0001847\000", 7) == 0);
        given = wide - 1;
        cr_expect_eq(RegQueryValueExW(keys[i], u"Counter 009", NULL, NULL, buffer.bytes, &given), MORE_DATA);
        cr_expect_eq(given, wide);
        cr_expect_eq(RegQueryValueExW(keys[i], u"Counter 009", NULL, NULL, buffer.bytes, &given), 0);
        cr_expect_eq(given, wide);
        cr_expect_eq(RegQueryValueExA(keys[i], "Counter", NULL, NULL, NULL, NULL), 0);
        cr_expect_eq(RegQueryValueExA(keys[i], "Counter", NULL, NULL, buffer.bytes, NULL), BAD_ARGUMENT);
    }
}

Test(registry, texts)
{
    use_file(FIXTURE("machine_v1.pfb"));
    expect_text(HKEY_PERFORMANCE_DATA, "CounterDefinition", 238, "Processor");
    expect_text(HKEY_PERFORMANCE_DATA, "counter 9", 6, "% Processor Time");
    expect_text(HKEY_PERFORMANCE_TEXT, "Counter  0409", 2, "System");
    expect_text(HKEY_PERFORMANCE_NLSTEXT, "Counter", 230, "Process");
    expect_text(HKEY_PERFORMANCE_DATA, "Help", 239, "Processor"); /* unknown help texts are names */
    expect_text(HKEY_PERFORMANCE_DATA, "Explain 009", 239, "Processor");
    DWORD size = 0;
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "Counter 007", &size), NOT_FOUND);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "Counter 000", &size), NOT_FOUND);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "Explain 00C", &size), NOT_FOUND);
}

Test(registry, german_texts)
{
    use_file(FIXTURE("machine_german_v1.pfb"));
    expect_text(HKEY_PERFORMANCE_DATA, "Counter 009", 238, "Prozessor"); /* it has no English names */
    expect_text(HKEY_PERFORMANCE_DATA, "Counter 007", 238, "Prozessor");
    expect_text(HKEY_PERFORMANCE_NLSTEXT, "Counter", 238, "Prozessor");
}

Test(registry, invented_indexes)
{
    DWORD size = 0;
    DWORD index = 0;
    char name[64];
    use_file(FIXTURE("machine.pfb"));
    expect_text(HKEY_PERFORMANCE_DATA, "Counter 009", 2, "System");
    expect_text(HKEY_PERFORMANCE_DATA, "Counter 009", 674, "System Up Time");
    cr_assert_eq(PdhLookupPerfIndexByNameA(NULL, "Process V2", &index), 0);
    cr_expect(index >= 10000 && index % 2 == 0);
    expect_text(HKEY_PERFORMANCE_DATA, "Counter 009", index, "Process V2");
    snprintf(name, sizeof name, "%u", index);
    cr_expect_str_eq(titles(query_block(name)), name);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "Help 009", &size), 0);
    cr_expect_not_null(find_text(size, index + 1UL));
}

/* ---- Keys ----------------------------------------------------------------------------------------------- */

Test(registry, predefined_keys)
{
    DWORD size = 0;
    HKEY key = foreign();
    use_file(FIXTURE("machine_v1.pfb"));
    const HKEY unsigned_key = (HKEY)(uintptr_t)0x80000004;
    cr_expect_eq(query(unsigned_key, "2", &size), 0);
    cr_expect_eq(RegCloseKey(unsigned_key), 0);
#if UINTPTR_MAX > UINT32_MAX
    cr_expect_eq(query((HKEY)(uintptr_t)0x180000004, "2", &size), HANDLE_BAD);
    cr_expect_eq(query((HKEY)(uintptr_t)0xFFFFFFFE80000004, "2", &size), HANDLE_BAD);
#endif
    cr_expect_eq(query(foreign(), "2", &size), HANDLE_BAD);
    cr_expect_eq(query(NULL, "2", &size), HANDLE_BAD);
    cr_expect_eq(query((HKEY)(uintptr_t)0x80000001, "2", &size), HANDLE_BAD);
    cr_expect_eq(RegCloseKey(foreign()), HANDLE_BAD);
    cr_expect_eq(RegOpenKeyExA(HKEY_PERFORMANCE_DATA, "Global", 0, KEY_READ, &key), HANDLE_BAD);
    cr_expect_null(key);
    cr_expect_eq(RegOpenKeyA(HKEY_PERFORMANCE_TEXT, NULL, &key), HANDLE_BAD);
    cr_expect_eq(RegOpenKeyW(foreign(), NULL, &key), HANDLE_BAD);
    cr_expect_eq(RegOpenKeyW(HKEY_LOCAL_MACHINE, NULL, NULL), BAD_ARGUMENT);
    cr_expect_eq(query(HKEY_LOCAL_MACHINE, "Version", &size), NOT_FOUND);
}

Test(registry, paths)
{
    static const struct {
        HKEY key;
        const char *path;
        LSTATUS code;
    } rows[] = {{HKEY_LOCAL_MACHINE, PERFLIB, SUCCESS},
                {HKEY_LOCAL_MACHINE, PERFLIB "\\", SUCCESS},
                {HKEY_LOCAL_MACHINE, "software\\microsoft\\windows nt\\currentversion\\perflib\\009", SUCCESS},
                {HKEY_LOCAL_MACHINE, PERFLIB "\\currentlanguage", SUCCESS},
                {HKEY_LOCAL_MACHINE, PERFLIB "\\008", NOT_FOUND},
                {HKEY_LOCAL_MACHINE, PERFLIB "x", NOT_FOUND},
                {HKEY_LOCAL_MACHINE, "SOFTWARE", NOT_FOUND},
                {HKEY_LOCAL_MACHINE, "SYSTEM\\CurrentControlSet\\Services\\X\\Performance", NOT_FOUND},
                {HKEY_LOCAL_MACHINE, "", SUCCESS},
                {HKEY_LOCAL_MACHINE, NULL, SUCCESS},
                {HKEY_USERS, "", SUCCESS},
                {HKEY_USERS, PERFLIB, NOT_FOUND},
                {HKEY_USERS, "009", NOT_FOUND}};
    use_file(FIXTURE("machine_v1.pfb"));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        HKEY key = foreign();
        cr_expect_eq(RegOpenKeyExA(rows[i].key, rows[i].path, 0, KEY_READ, &key), rows[i].code, "%zu", i);
        cr_expect_eq(key != NULL, rows[i].code == 0);
        cr_expect_eq(RegCloseKey(key), rows[i].code == 0 ? 0 : HANDLE_BAD);
        cr_expect_eq(RegCloseKey(key), HANDLE_BAD);
    }
}

Test(registry, values_of_perflib)
{
    static const struct {
        const char *name;
        DWORD number;
    } rows[] = {{"Base Index", 1847},
                {"last counter", 1746},
                {"Last Help", 1747},
                {"Supports Metadata", 0},
                {"Version", 0x10001}};
    HKEY key = NULL;
    HKEY below = NULL;
    use_file(FIXTURE("machine_v1.pfb"));
    cr_assert_eq(RegOpenKeyExW(HKEY_LOCAL_MACHINE, u"" PERFLIB, 0, KEY_QUERY_VALUE, &key), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        DWORD number = 0;
        DWORD type = 0;
        DWORD size = 4;
        cr_expect_eq(RegQueryValueExA(key, rows[i].name, NULL, &type, (BYTE *)&number, &size), 0);
        cr_expect(number == rows[i].number && type == REG_DWORD && size == 4, "%zu: %u", i, number);
        size = 3;
        cr_expect_eq(RegQueryValueExA(key, rows[i].name, NULL, NULL, (BYTE *)&number, &size), MORE_DATA);
        cr_expect_eq(size, 4);
        size = 0;
        cr_expect_eq(RegQueryValueExA(key, rows[i].name, NULL, NULL, NULL, &size), 0);
        cr_expect_eq(size, 4);
    }
    DWORD size = 0;
    cr_expect_eq(query(key, "Disable Performance Counters", &size), NOT_FOUND);
    cr_assert_eq(RegOpenKeyExA(key, "009", 0, KEY_READ, &below), 0);
    expect_text(below, "Counter", 238, "Processor");
    expect_text(below, "help", 239, "Processor");
    cr_expect_eq(query(below, "2", &size), 0);
    cr_expect_eq(RegCloseKey(below), 0);
    cr_expect_eq(query(below, "Counter", &size), HANDLE_BAD);
    cr_expect_eq(RegCloseKey(key), 0);
}

Test(registry, lists)
{
    char name[32];
    HKEY perflib = NULL;
    HKEY english = NULL;
    DWORD size = sizeof name;
    FILETIME time = {0};
    use_file(FIXTURE("machine_v1.pfb"));
    cr_assert_eq(RegOpenKeyA(HKEY_LOCAL_MACHINE, PERFLIB, &perflib), 0);
    cr_assert_eq(RegOpenKeyA(perflib, "009", &english), 0);
    cr_expect_eq(RegEnumKeyExA(perflib, 1, name, &size, NULL, NULL, NULL, &time), 0);
    cr_expect(strcmp(name, "CurrentLanguage") == 0 && size == 15 && time.dwHighDateTime > 0);
    size = 15;
    cr_expect_eq(RegEnumKeyExA(perflib, 1, name, &size, NULL, NULL, NULL, NULL), MORE_DATA);
    WCHAR wide[32];
    WCHAR class_name[2] = {7, 7};
    DWORD class_size = 2;
    size = 32;
    cr_expect_eq(RegEnumKeyExW(perflib, 0, wide, &size, NULL, class_name, &class_size, NULL), 0);
    cr_expect(memcmp(wide, u"009", 8) == 0 && size == 3 && class_size == 0 && class_name[0] == 0);
    cr_expect_eq(RegEnumKeyExW(perflib, 2, wide, &size, NULL, NULL, NULL, NULL), NO_MORE);
    cr_expect_eq(RegEnumKeyExA(english, 0, name, &size, NULL, NULL, NULL, NULL), NO_MORE);
    cr_expect_eq(RegEnumKeyExA(HKEY_PERFORMANCE_DATA, 0, name, &size, NULL, NULL, NULL, NULL), HANDLE_BAD);
    cr_expect_eq(RegEnumKeyExA(foreign(), 0, name, &size, NULL, NULL, NULL, NULL), HANDLE_BAD);
    cr_expect_eq(RegEnumKeyExA(perflib, 0, NULL, &size, NULL, NULL, NULL, NULL), BAD_ARGUMENT);
    cr_expect_eq(RegEnumKeyExA(perflib, 0, name, NULL, NULL, NULL, NULL, NULL), BAD_ARGUMENT);
    cr_expect_eq(RegEnumKeyExA(perflib, 0, name, &size, &size, NULL, NULL, NULL), BAD_ARGUMENT);

    DWORD type = 0;
    DWORD number = 0;
    DWORD number_size = 4;
    size = sizeof name;
    cr_expect_eq(RegEnumValueA(perflib, 1, name, &size, NULL, &type, (BYTE *)&number, &number_size), 0);
    cr_expect(strcmp(name, "Last Counter") == 0 && size == 12 && type == REG_DWORD && number == 1746);
    size = 12;
    cr_expect_eq(RegEnumValueA(perflib, 1, name, &size, NULL, NULL, NULL, NULL), MORE_DATA);
    number_size = 3;
    size = sizeof name;
    cr_expect_eq(RegEnumValueA(perflib, 1, name, &size, NULL, &type, (BYTE *)&number, &number_size), MORE_DATA);
    cr_expect_eq(RegEnumValueA(perflib, 1, name, &size, NULL, NULL, (BYTE *)&number, NULL), BAD_ARGUMENT);
    cr_expect_eq(RegEnumValueA(perflib, 5, name, &size, NULL, NULL, NULL, NULL), NO_MORE);
    size = 32;
    cr_expect_eq(RegEnumValueW(english, 1, wide, &size, NULL, &type, NULL, NULL), 0);
    cr_expect(memcmp(wide, u"Help", 10) == 0 && type == REG_MULTI_SZ);
    cr_expect_eq(RegEnumValueW(english, 2, wide, &size, NULL, NULL, NULL, NULL), NO_MORE);
    cr_expect_eq(RegEnumValueA(HKEY_LOCAL_MACHINE, 0, name, &size, NULL, NULL, NULL, NULL), NO_MORE);
    size = sizeof name;
    cr_expect_eq(RegEnumValueA(HKEY_PERFORMANCE_DATA, 2, name, &size, NULL, NULL, NULL, NULL), MORE_DATA);
    cr_expect(strcmp(name, "Costly") == 0 && size == sizeof name);
    cr_expect_eq(RegEnumValueA(HKEY_PERFORMANCE_DATA, 3, name, &size, NULL, NULL, NULL, NULL), NO_MORE);
    cr_expect_eq(RegEnumValueA(HKEY_PERFORMANCE_DATA, 0, NULL, &size, NULL, NULL, NULL, NULL), BAD_ARGUMENT);
    cr_expect_eq(RegCloseKey(english), 0);
    cr_expect_eq(RegCloseKey(perflib), 0);
}

Test(registry, information)
{
    HKEY perflib = NULL;
    HKEY english = NULL;
    DWORD keys = 9;
    DWORD key_size = 9;
    DWORD values = 9;
    DWORD name_size = 9;
    DWORD value_size = 9;
    FILETIME time = {0};
    FILETIME other = {0};
    use_file(FIXTURE("machine_v1.pfb"));
    cr_assert_eq(RegOpenKeyA(HKEY_LOCAL_MACHINE, PERFLIB, &perflib), 0);
    cr_assert_eq(RegOpenKeyA(perflib, "009", &english), 0);
    cr_expect_eq(RegQueryInfoKeyA(perflib, NULL, NULL, NULL, &keys, &key_size, NULL, &values, &name_size, &value_size,
                                  NULL, &time),
                 0);
    cr_expect(keys == 2 && key_size == 15 && values == 5 && name_size == 17 && value_size == 4);
    cr_expect_eq(RegQueryInfoKeyA(english, NULL, NULL, NULL, &keys, &key_size, NULL, &values, &name_size, &value_size,
                                  NULL, &other),
                 0);
    cr_expect(keys == 0 && key_size == 0 && values == 2 && name_size == 7 && value_size > 100);
    cr_expect(memcmp(&time, &other, sizeof time) == 0 && time.dwHighDateTime > 0);
    char class_name[4] = "abc";
    DWORD class_size = 4;
    DWORD security = 9;
    DWORD max_class = 9;
    cr_expect_eq(RegQueryInfoKeyA(HKEY_PERFORMANCE_DATA, class_name, &class_size, NULL, &keys, &key_size, &max_class,
                                  &values, &name_size, &value_size, &security, NULL),
                 0);
    cr_expect(keys == 0 && values == 3 && name_size == 0 && value_size == 0 && security == 0 && max_class == 0);
    cr_expect(class_size == 0 && class_name[0] == '\0');
    cr_expect_eq(RegQueryInfoKeyW(perflib, NULL, NULL, &keys, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                 BAD_ARGUMENT);
    cr_expect_eq(RegQueryInfoKeyW(foreign(), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                 HANDLE_BAD);
    use_file(FIXTURE("machine.pfb"));
    cr_expect_eq(RegQueryInfoKeyW(perflib, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &other), 0);
    cr_expect_neq(memcmp(&time, &other, sizeof time), 0);
    cr_expect_eq(RegCloseKey(english), 0);
    cr_expect_eq(RegCloseKey(perflib), 0);
}

Test(registry, machines)
{
    HKEY key = NULL;
    DWORD size = 0;
    use_file(FIXTURE("machine_v1.pfb"));
    cr_assert_eq(RegConnectRegistryA("\\\\fixture", HKEY_PERFORMANCE_DATA, &key), 0);
    cr_expect_eq(query(key, "2", &size), 0);
    cr_expect_eq(RegCloseKey(key), 0);
    cr_expect_eq(RegCloseKey(key), HANDLE_BAD);
    cr_assert_eq(RegConnectRegistryW(NULL, HKEY_LOCAL_MACHINE, &key), 0);
    HKEY below = NULL;
    cr_expect_eq(RegOpenKeyA(key, PERFLIB, &below), 0);
    cr_expect_eq(RegCloseKey(below), 0);
    cr_expect_eq(RegCloseKey(key), 0);
    cr_expect_eq(RegConnectRegistryA("\\\\elsewhere", HKEY_PERFORMANCE_DATA, &key), BAD_PATH);
    cr_expect_null(key);
    char name[300];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    cr_expect_eq(RegConnectRegistryA(name, HKEY_USERS, &key), BAD_PATH);
    cr_expect_eq(RegConnectRegistryA(NULL, HKEY_PERFORMANCE_TEXT, &key), HANDLE_BAD);
    cr_expect_eq(RegConnectRegistryA(NULL, foreign(), &key), HANDLE_BAD);
    cr_expect_eq(RegConnectRegistryA(NULL, HKEY_USERS, NULL), BAD_ARGUMENT);
    /* A key of a machine that the source no longer has. */
    cr_assert_eq(RegConnectRegistryA("FIXTURE", HKEY_PERFORMANCE_DATA, &key), 0);
    use_file(FIXTURE("machine.blg"));
    LSTATUS code = query(key, "2", &size);
    cr_expect(code == 0 || code == BAD_PATH);
    cr_expect_eq(RegCloseKey(key), 0);
}

Test(registry, handles_do_not_look_predefined)
{
    use_file(FIXTURE("machine_v1.pfb"));
    for (unsigned i = 0; i < 64 * 2200; i++) {
        HKEY key = NULL;
        cr_assert_eq(RegOpenKeyA(HKEY_LOCAL_MACHINE, NULL, &key), 0);
        cr_assert_neq((uintptr_t)key & 0xFFFFFF00, 0x80000000);
        cr_assert_eq(RegCloseKey(key), 0);
    }
}

/* ---- Sources -------------------------------------------------------------------------------------------- */

Test(registry, unreadable_sources)
{
    DWORD size = 0;
    FILETIME time;
    use_file("/nowhere.blg");
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "2", &size), NOT_FOUND);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "Counter", &size), NOT_FOUND);
    cr_expect_eq(
        RegQueryInfoKeyA(HKEY_PERFORMANCE_DATA, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &time),
        NOT_FOUND);
    use_file(PERFBLOCK_SOURCE_DIR "/README.md");
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "2", &size), CORRUPT);
    use_file(FIXTURE("machine.csv")); /* displayed values: no blocks */
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "Global", &size), NO_MORE);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "Counter", &size), 0);
}

/* A recording as a live source, with faults. */
static pfb_source *open_faulty(void *context, pfb_source_failure *failure)
{
    static const pfb_source_fault fault = {PFB_SOURCE_QUERY_COLLECT, 3, PFB_SOURCE_FAULT_FAIL, BUSY, 0};
    (void)context;
    pfb_stream *stream = pfb_stream_new();
    pfb_stream_add_file(stream, FIXTURE("machine.pfb"));
    return pfb_source_open_faulty(pfb_source_open_stream(stream, failure), &fault, 1, failure);
}

static pfb_source *open_none(void *context, pfb_source_failure *failure)
{
    (void)context;
    (void)failure;
    return NULL;
}

/* Succeeds twice. */
static pfb_source *open_twice(void *context, pfb_source_failure *failure)
{
    static int count;
    return ++count <= 2 ? open_faulty(context, failure) : NULL;
}

Test(registry, sources_that_go)
{
    DWORD size = 0;
    cr_assert_eq(pfb_pdh_use(open_twice, NULL), 0);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "2", &size), 0);
    cr_expect_eq(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "2", &size), 50); /* ERROR_NOT_SUPPORTED */
    cr_expect_eq(query(HKEY_PERFORMANCE_TEXT, "Counter", &size), 0);
}

Test(registry, faults)
{
    DWORD size = 0;
    cr_assert_eq(pfb_pdh_use(open_faulty, NULL), 0);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "2", &size), 0);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "2", &size), 0);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "2", &size), BUSY);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "2", &size), 0); /* was opened again */
    cr_expect_eq(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "2", &size), 0);
    cr_assert_eq(pfb_pdh_use(open_none, NULL), 0);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "2", &size), 50); /* ERROR_NOT_SUPPORTED */
}

Test(registry, many_names_begin_again)
{
    DWORD size = 0;
    char name[16];
    use_file(FIXTURE("machine_names_v1.pfb"));
    pfb_v1_reader first = query_block("230");
    cr_expect_gt(query_block("230").perf_time_100ns, first.perf_time_100ns);
    for (unsigned i = 0; i < 64; i++) {
        snprintf(name, sizeof name, "230 %u", 20000 + i);
        cr_expect_eq(query(HKEY_PERFORMANCE_DATA, name, &size), 0);
    }
    cr_expect_eq(query_block("230").perf_time_100ns, first.perf_time_100ns);
}

#if defined(__linux__)
Test(registry, this_machine)
{
    DWORD size = 0;
    use_machine();
    expect_text(HKEY_PERFORMANCE_DATA, "Counter 009", 4, "Memory");
    cr_expect_str_eq(titles(query_block("4 2")), "4 2");
    cr_expect_str_eq(titles(query_block("2")), "2");
    cr_expect_gt(query_block("Global").object_count, 4);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "Help 009", &size), 0);
    cr_expect_not_null(find_text(size, 5));
    cr_expect_eq(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
    cr_expect_str_eq(titles(query_block("2")), "2");
}
#endif

/* ---- Blocks of a source ----------------------------------------------------------------------------------- */

/* A recording that is being made. */
static pfb_bytes recording;

static void add_chunk(uint32_t tag, uint32_t language, const pfb_bytes *body)
{
    static uint8_t chunk[1 << 16];
    const pfb_chunk header = {.tag = tag, .language = language};
    size_t size = pfb_capture_write(&header, body->data, body->size_bytes, chunk, sizeof chunk);
    cr_assert(size > 0 && size <= sizeof chunk);
    cr_assert(pfb_bytes_append(&recording, chunk, size));
}

/* Adds a name table of System, Process, Thread and Processor, whose names begin with a letter. */
static void add_names(uint32_t language, const char *letter)
{
    static const uint32_t indexes[] = {2, 230, 232, 238, 784};
    uint8_t bytes[1024];
    char name[16];
    pfb_writer writer;
    pfb_write_init(&writer, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++) {
        snprintf(name, sizeof name, "%s%u", letter, indexes[i]);
        const pfb_name text = pfb_utf8_name(name, strlen(name));
        pfb_write_name(&writer, indexes[i], &text);
    }
    pfb_write_end_names(&writer);
    add_chunk(PFB_TAG_NAMES, language, &(pfb_bytes){.data = bytes, .size_bytes = writer.size_bytes});
}

/* How a block is written. */
typedef struct block_form {
    const char *machine;
    bool is_big_endian;
    pfb_fault fault; /* in its last object */
    uint32_t parent; /* of the instances */
    uint32_t more;   /* bytes at the end of the last object */
} block_form;

static void write_object(pfb_writer *writer, uint32_t title, uint32_t parent)
{
    const pfb_name name = pfb_utf8_name("a", 1);
    pfb_write_begin_object(writer, &(pfb_v1_object){.title_index = title, .help_index = title + 1});
    uint32_t at = pfb_write_definition(writer, &(pfb_v1_counter){.title_index = 784, .type = 0x10000, .size_bytes = 4});
    pfb_write_v1_instance(writer, &(pfb_v1_instance){.name = name, .unique_id = -1, .parent_title = parent});
    pfb_write_v1_value(writer, at, title, 4);
    pfb_write_end_object(writer);
}

/* Adds a block with two objects, at a second. */
static void add_block(unsigned second, uint32_t first, uint32_t last, const block_form *form)
{
    static uint8_t bytes[4096];
    pfb_writer writer;
    const pfb_name machine = pfb_utf8_name(form->machine, strlen(form->machine));
    const pfb_write_times times = {.perf_time = second * 10000000LL,
                                   .perf_freq = 10000000,
                                   .perf_time_100ns = INT64_C(133000000000000000) + second * 10000000LL};
    pfb_write_init(&writer, bytes, sizeof bytes);
    pfb_write_begin_v1(&writer, &times, *form->machine ? &machine : &(pfb_name){.bytes = NULL}, form->is_big_endian);
    write_object(&writer, first, form->parent);
    pfb_write_break(&writer, form->fault);
    size_t at = writer.size_bytes;
    write_object(&writer, last, 0);
    pfb_write_end_v1(&writer);
    cr_assert_eq(writer.error.code, PFB_OK);
    memset(bytes + writer.size_bytes, 0, form->more);
    bytes[at] = (uint8_t)(bytes[at] + form->more);
    bytes[20] = (uint8_t)(bytes[20] + form->more);
    add_chunk(PFB_TAG_V1, 0, &(pfb_bytes){.data = bytes, .size_bytes = writer.size_bytes + form->more});
}

static char recording_path[64];

static void begin_recording(void)
{
    add_chunk(PFB_TAG_CAPTURE, 0, &(pfb_bytes){.size_bytes = 0});
    add_names(0x409, "E");
    add_names(0x407, "G");
}

static void use_written(void)
{
    snprintf(recording_path, sizeof recording_path, "/tmp/test_registry_%ld.pfb", (long)getpid());
    FILE *file = fopen(recording_path, "wb");
    cr_assert(file && fwrite(recording.data, 1, recording.size_bytes, file) == recording.size_bytes);
    cr_assert_eq(fclose(file), 0);
    use_file(recording_path);
}

static void end_written(void)
{
    cr_expect_eq(unlink(recording_path), 0);
    pfb_bytes_free(&recording);
}

Test(registry_blocks, two_languages)
{
    begin_recording();
    add_block(1, 230, 238, &(block_form){.machine = "PC"});
    use_written();
    expect_text(HKEY_PERFORMANCE_DATA, "Counter 009", 238, "E238");
    expect_text(HKEY_PERFORMANCE_DATA, "Counter", 784, "E784");
    expect_text(HKEY_PERFORMANCE_TEXT, "Counter", 230, "E230");
    expect_text(HKEY_PERFORMANCE_DATA, "Counter 007", 238, "G238");
    expect_text(HKEY_PERFORMANCE_DATA, "Counter 0407", 784, "G784");
    expect_text(HKEY_PERFORMANCE_NLSTEXT, "Counter", 230, "G230");
    expect_text(HKEY_PERFORMANCE_NLSTEXT, "Counter 009", 230, "E230");
    end_written();
}

Test(registry_blocks, blocks_of_one_time_are_one_sample)
{
    DWORD size = 0;
    begin_recording();
    add_block(1, 2, 230, &(block_form){.machine = "PC"});
    add_block(1, 232, 238, &(block_form){.machine = "PC"});
    add_block(2, 2, 230, &(block_form){.machine = "PC"});
    add_block(3, 238, 2, &(block_form){.machine = "PC"});
    use_written();
    cr_expect_str_eq(titles(query_block("Global")), "2 230 232 238");
    cr_expect_str_eq(titles(query_block("Global")), "2 230");
    cr_expect_str_eq(titles(query_block("Global")), "238 2");
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "Global", &size), NO_MORE);
    cr_expect_str_eq(titles(query_block("238 2")), "238 2");
    cr_expect_str_eq(titles(query_block("238 2")), "2");
    pfb_v1_reader first = query_block("238");
    pfb_v1_reader second = query_block("238"); /* passes over samples without it */
    cr_expect_eq(second.perf_time - first.perf_time, 20000000);
    end_written();
}

Test(registry_blocks, parents_follow)
{
    begin_recording();
    add_block(1, 232, 230, &(block_form){.machine = "PC", .parent = 230});
    add_block(2, 232, 238, &(block_form){.machine = "PC", .parent = 230});
    use_written();
    cr_expect_str_eq(titles(query_block("232")), "232 230");
    cr_expect_str_eq(titles(query_block("232")), "232");
    cr_expect_str_eq(titles(query_block("230 232")), "230 232");
    cr_expect_str_eq(titles(query_block("230")), "230");
    end_written();
}

Test(registry_blocks, machines)
{
    DWORD size = 0;
    HKEY key = NULL;
    begin_recording();
    add_block(1, 2, 230, &(block_form){.machine = "PC"});
    add_block(1, 232, 238, &(block_form){.machine = "OTHER"});
    add_block(2, 2, 238, &(block_form){.machine = "OTHER"});
    add_block(3, 2, 238, &(block_form){.machine = ""});
    use_written();
    cr_expect_str_eq(titles(query_block("Global")), "2 230");
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "Global", &size), NO_MORE);
    cr_assert_eq(RegConnectRegistryA("\\\\other", HKEY_PERFORMANCE_DATA, &key), 0);
    cr_expect_eq(query(key, "2", &size), 0);
    pfb_v1_reader reader;
    cr_assert(pfb_v1_open(&reader, buffer.bytes, size, NULL));
    cr_expect_str_eq(titles(reader), "2");
    cr_expect_eq(reader.perf_time, 20000000);
    cr_expect_eq(RegCloseKey(key), 0);
    end_written();
}

Test(registry_blocks, invalid_objects_are_left_out)
{
    begin_recording();
    add_block(1, 2, 230, &(block_form){.machine = "", .fault = PFB_FAULT_INSTANCE_SIZE_HUGE});
    add_block(2, 2, 230, &(block_form){.machine = "", .fault = PFB_FAULT_DEFINITION_SIZE_ZERO});
    add_block(3, 2, 230, &(block_form){.machine = "", .more = 4});
    use_written();
    cr_expect_str_eq(titles(query_block("Global")), "2");
    cr_expect_str_eq(titles(query_block("Global")), "2");
    DWORD size = 0;
    cr_assert_eq(query(HKEY_PERFORMANCE_DATA, "Global", &size), 0);
    pfb_v1_reader reader;
    cr_assert(pfb_v1_open(&reader, buffer.bytes, size, NULL));
    cr_expect_eq(size % 8, 0); /* so is the size of the object that ends 4 bytes behind its last instance */
    cr_expect_str_eq(titles(reader), "2 230");
    end_written();
}

Test(registry_blocks, byte_orders)
{
    begin_recording();
    add_block(1, 2, 230, &(block_form){.machine = "PC", .is_big_endian = true});
    add_block(2, 2, 230, &(block_form){.machine = "PC", .is_big_endian = true});
    add_block(2, 232, 238, &(block_form){.machine = "PC"}); /* of another order: not added */
    use_written();
    pfb_v1_reader first = query_block("230");
    cr_expect(first.is_big_endian);
    cr_expect_str_eq(titles(first), "230");
    cr_expect_str_eq(titles(query_block("Global")), "2 230");
    cr_expect_str_eq(titles(query_block("Global")), "2 230");
    end_written();
}

Test(registry_blocks, damaged_recordings)
{
    DWORD size = 0;
    begin_recording();
    add_block(1, 2, 230, &(block_form){.machine = "PC"});
    recording.size_bytes -= 8;
    add_block(2, 2, 230, &(block_form){.machine = "PC"});
    recording.size_bytes -= 8;
    use_written();
    LSTATUS code = query(HKEY_PERFORMANCE_DATA, "2", &size);
    while (code == 0)
        code = query(HKEY_PERFORMANCE_DATA, "2", &size);
    cr_expect_eq(code, CORRUPT);
    cr_expect_eq(query(HKEY_PERFORMANCE_DATA, "2", &size), CORRUPT);
    end_written();
}

/* A live source of V1 blocks, as that of another machine with Windows. */
static bool answer_v1(void *context, const char *name, pfb_bytes *bytes, pfb_source_failure *failure)
{
    static unsigned second;
    (void)context;
    (void)failure;
    if (strncmp(name, "Counter", 7) == 0) {
        static const WCHAR names[] = u"2\0System\000238\0Processor\000784\0Count\0";
        return pfb_bytes_append(bytes, names, sizeof names);
    }
    recording.size_bytes = 0;
    add_block(++second, 2, 238, &(block_form){.machine = ""});
    /* the block without the header of its chunk */
    return pfb_bytes_append(bytes, recording.data + 16, recording.size_bytes - 16);
}

static bool has_no_countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    (void)context;
    (void)bytes;
    failure->code = PFB_WIN32_NOT_SUPPORTED;
    return false;
}

static void *has_no_queries(void *context, pfb_source_failure *failure)
{
    (void)context;
    failure->code = PFB_WIN32_NOT_SUPPORTED;
    return NULL;
}

static void close_nothing(void *context)
{
    (void)context;
}

static pfb_source *open_live_v1(void *context, pfb_source_failure *failure)
{
    static const pfb_source_operations operations = {
        .close = close_nothing, .countersets = has_no_countersets, .query_open = has_no_queries, .v1 = answer_v1};
    return pfb_source_make(&operations, context, failure);
}

Test(registry_blocks, live_blocks)
{
    cr_assert_eq(pfb_pdh_use(open_live_v1, NULL), 0);
    pfb_v1_reader first = query_block("238 2");
    cr_expect_str_eq(titles(first), "238 2");
    pfb_v1_reader second = query_block("238 2");
    cr_expect_gt(second.perf_time, first.perf_time);
    cr_expect_str_eq(titles(query_block("Global")), "2 238");
    cr_expect_eq(RegCloseKey(HKEY_PERFORMANCE_DATA), 0);
    expect_text(HKEY_PERFORMANCE_TEXT, "Counter", 238, "Processor");
    pfb_bytes_free(&recording);
}
