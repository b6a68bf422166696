/* SPDX-License-Identifier: MIT */
#include "../unit/support_replay.h"
#include "checks.h"
#include "live/windows/message.h"
#include "perfblock/live.h"
#include "perfblock/name.h"
#include "perfblock/source.h"
#include "perfblock/v1.h"

#include <stdio.h>
#include <string.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Tests V1 in the Windows source, on Windows or Wine. V1 blocks of Wine have a header and no objects, and its name
 * table has two pairs. The expected values of the header come from other system calls. */

/* ---- Blocks ------------------------------------------------------------------------------------------------- */

static void query_source(pfb_source *source, const char *query, pfb_bytes *reply)
{
    pfb_source_failure failure = {0};
    if (!pfb_source_v1(source, query, reply, &failure)) {
        printf("\"%s\": code %u, %s\n", query, (unsigned)failure.code, failure.sentence);
        fail("a query succeeds");
    }
    printf("\"%s\": %lu bytes\n", query, (unsigned long)reply->size_bytes);
    check(reply->size_bytes > 0, "a reply is not empty");
}

static int64_t performance_counter(void)
{
    LARGE_INTEGER counter;
    QueryPerformanceCounter(&counter);
    return counter.QuadPart;
}

/* Checks the version of the header, and its name and clock frequency against other system calls. */
static void check_header(const pfb_v1_reader *block)
{
    LARGE_INTEGER frequency;
    WCHAR name[MAX_COMPUTERNAME_LENGTH + 1];
    DWORD units = sizeof name / sizeof name[0];
    QueryPerformanceFrequency(&frequency);
    check(block->perf_freq == frequency.QuadPart, "the frequency is that of the performance counter");
    check(GetComputerNameW(name, &units), "the machine has a name");
    check(block->system_name.encoding == PFB_ENCODING_UTF16LE && block->system_name.size_bytes == 2 * (size_t)units &&
              memcmp(block->system_name.bytes, name, block->system_name.size_bytes) == 0,
          "the system name is that of the machine");
    check(block->version == 1 && block->revision == 1 && !block->is_big_endian, "version 1.1, little-endian");
}

static void count_values(pfb_v1_reader *block, unsigned long *values)
{
    pfb_v1_instance instance;
    pfb_v1_value value;
    while (pfb_v1_next_instance(block, &instance)) {
        while (pfb_v1_next_value(block, &value))
            ++*values;
    }
}

/* Checks that the whole block is valid. On Wine it is a header without objects. On Windows the query "Global" returns
 * several objects, and "2" returns System, whose title index is 2. */
static void check_block(pfb_source *source, const char *query)
{
    pfb_bytes reply = {0};
    pfb_v1_reader block;
    pfb_v1_object object;
    unsigned long objects = 0;
    unsigned long values = 0;
    int64_t before = performance_counter();
    query_source(source, query, &reply);
    int64_t after = performance_counter();
    bool is_open = pfb_v1_open(&block, reply.data, reply.size_bytes, NULL);
    printf("  header: %s; %u bytes, %u objects\n", pfb_code_text(block.error.code), (unsigned)block.total_size_bytes,
           (unsigned)block.object_count);
    check(is_open, "the header is valid");
    check(block.total_size_bytes == reply.size_bytes, "the block is as large as the reply");
    check_header(&block);
    check(before <= block.perf_time && block.perf_time <= after, "the time of the block is that of the query");
    for (; pfb_v1_next_object(&block, &object); objects++)
        count_values(&block, &values);
    pfb_error error = block.error;
    printf("  final code: %s; %lu objects, %lu values\n", pfb_code_text(error.code), objects, values);
    check(error.code == PFB_OK, "the block is valid");
    check(objects == block.object_count, "the number of objects is that in the header");
    check(is_wine() ? objects == 0 : values > 0, is_wine() ? "Wine has no objects" : "Windows has values");
    pfb_bytes_free(&reply);
}

/* ---- Name tables -------------------------------------------------------------------------------------------- */

/* Returns true if a name in UTF-16LE is a decimal number. */
static bool is_number(const pfb_name *name)
{
    for (size_t i = 0; i < name->size_bytes; i += 2) {
        const uint8_t *unit = name->bytes + i;
        if (unit[0] < '0' || unit[0] > '9' || unit[1] != 0)
            return false;
    }
    return name->size_bytes > 0;
}

static void check_names(pfb_source *source)
{
    pfb_bytes reply = {0};
    pfb_name_table table;
    pfb_name_entry entry;
    query_source(source, "Counter 009", &reply);
    check(pfb_name_table_open(&table, reply.data, reply.size_bytes, NULL) && table.encoding == PFB_ENCODING_UTF16LE,
          "the name table is in UTF-16");
    check(pfb_name_table_next_entry(&table, &entry) && entry.index == 1 && is_number(&entry.name),
          "the first pair has the index 1 and a number as its text");
    uint32_t others = pfb_name_table_count(&table);
    printf("  names: %u, notes 0x%X\n", (unsigned)others, (unsigned)table.notes);
    check(table.error.code == PFB_OK && table.notes == 0, "the table is valid");
    check(is_wine() ? others == 1 : others > 100, is_wine() ? "Wine has one name" : "Windows has many names");
    pfb_bytes_free(&reply);
}

/* Help texts have odd indexes. */
static void check_help(pfb_source *source)
{
    pfb_bytes reply = {0};
    pfb_name_table table;
    pfb_name_entry entry;
    query_source(source, "Help 009", &reply);
    check(pfb_name_table_open(&table, reply.data, reply.size_bytes, NULL) && table.encoding == PFB_ENCODING_UTF16LE,
          "the help table is in UTF-16");
    check(pfb_name_table_next_entry(&table, &entry) && entry.index % 2 == 1, "the first help text has an odd index");
    uint32_t texts = 1 + pfb_name_table_count(&table);
    printf("  help texts: %u, notes 0x%X\n", (unsigned)texts, (unsigned)table.notes);
    check(table.error.code == PFB_OK && table.notes == 0, "the help table is valid");
    pfb_bytes_free(&reply);
}

/* ---- Other machines -------------------------------------------------------------------------------------------- */

/* Opens this machine by its own name. On Wine the result is the same as without a name. On Windows the query may fail:
 * it needs the service Remote Registry and the right to use it. */
static void check_own_name(const char *backslashes, size_t expected_size)
{
    WCHAR wide[MAX_COMPUTERNAME_LENGTH + 1];
    char name[3 * sizeof wide / sizeof wide[0]];
    char machine[2 + sizeof name];
    DWORD units = sizeof wide / sizeof wide[0];
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    pfb_v1_reader block;
    check(GetComputerNameW(wide, &units), "the machine has a name");
    pfb_name own = pfb_utf16_name(wide, units);
    pfb_name_to_utf8(&own, name, sizeof name);
    snprintf(machine, sizeof machine, "%s%s", backslashes, name);
    pfb_source *source = pfb_source_open_remote(machine, &failure);
    check(source != NULL, "a source opens for a machine name");
    bool is_read = pfb_source_v1(source, "2", &reply, &failure);
    printf("%s: %lu bytes, code %u, %s\n", machine, (unsigned long)reply.size_bytes, (unsigned)failure.code,
           failure.sentence);
    check(is_read || (!is_wine() && failure.code != 0), "the query succeeds, or on Windows fails with a code");
    if (is_read) {
        check(pfb_v1_open(&block, reply.data, reply.size_bytes, NULL), "the block of the machine has a header");
        check_header(&block);
        check(!is_wine() || reply.size_bytes == expected_size, "the block is as large as without a machine name");
    }
    pfb_source_close(source);
    pfb_bytes_free(&reply);
}

static void check_own_names(pfb_source *source)
{
    pfb_bytes reply = {0};
    query_source(source, "2", &reply);
    check_own_name("", reply.size_bytes);
    check_own_name("\\\\", reply.size_bytes);
    pfb_bytes_free(&reply);
}

static void check_no_name(const char *machine)
{
    pfb_source_failure failure = {0};
    check(!pfb_source_open_remote(machine, &failure), "an empty machine name is rejected");
    check(failure.code == 87 && failure.sentence[0] != '\0', "the code is ERROR_INVALID_PARAMETER");
}

/* The top-level domain "invalid" never exists. After the text that is compared, the sentence has the system's message
 * for the code that RegConnectRegistryW returned. */
static void check_remote(void)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    pfb_source *source = pfb_source_open_remote("\\\\perfblock.invalid", &failure);
    check(source != NULL, "opening does not connect to the machine");
    check(!pfb_source_v1(source, "2", &reply, &failure), "a query to a missing machine fails");
    printf("another machine: code %u, %s\n", (unsigned)failure.code, failure.sentence);
    check(failure.code != 0 &&
              strncmp(failure.sentence,
                      "RegConnectRegistryW of HKEY_PERFORMANCE_DATA on perfblock.invalid failed: ", 74) == 0,
          "the sentence names the call and the machine");
    check(reply.size_bytes == 0, "a failed query returns no bytes");
    pfb_source_close(source);
    pfb_bytes_free(&reply);
}

/* ---- Failures and messages -------------------------------------------------------------------------- */

static void check_bad_query(pfb_source *source)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    check(!pfb_source_v1(source, "Z\xC3\xA4hler 007", &reply, &failure), "letters other than ASCII are rejected");
    printf("other letters: code %u, %s\n", (unsigned)failure.code, failure.sentence);
    check(failure.code == 87 && failure.sentence[0] != '\0', "the code is ERROR_INVALID_PARAMETER");
    pfb_bytes_free(&reply);
}

/* Sentences are formatted with %zu, which printf of msvcrt.dll lacks: checks that the offset is a number. */
static void check_sentence(void)
{
    static const uint8_t cut[24] = {'P', 'F', 'B', 'C', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'N', 'O'};
    pfb_source_failure failure = {0};
    check(!replay_bytes(cut, sizeof cut, &failure), "a truncated capture is rejected");
    printf("a truncated capture: code %u, %s\n", (unsigned)failure.code, failure.sentence);
    check(strncmp(failure.sentence, "the recording cannot be read at offset 16: ", 43) == 0,
          "the sentence contains the offset");
}

/* Checks the message of ERROR_ACCESS_DENIED. Compares its first character with that of FormatMessageA, but only if that
 * is ASCII: FormatMessageA returns other characters in the code page of the system, pfb_windows_message in UTF-8. */
static void check_message(void)
{
    char narrow[512];
    char message[512];
    char cut[4];
    DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
    check(FormatMessageA(flags, NULL, ERROR_ACCESS_DENIED, 0, narrow, sizeof narrow, NULL) > 4,
          "FormatMessageA returns a message");
    pfb_windows_message(ERROR_ACCESS_DENIED, message, sizeof message);
    pfb_windows_message(ERROR_ACCESS_DENIED, cut, sizeof cut);
    printf("access denied: \"%s\", cut \"%s\"\n", message, cut);
    size_t length = strlen(message);
    if (narrow[0] > 0) /* ASCII */
        check(message[0] == narrow[0], "the message is that of the system");
    check(length > 4 && message[length - 1] != '.' && !strpbrk(message, "\r\n"),
          "the message is one line without a final dot");
    check(strlen(cut) < sizeof cut && strncmp(message, cut, strlen(cut)) == 0, "a message is cut to the buffer's size");
    pfb_windows_message(UINT32_C(0x2FFFFFFF), message, sizeof message);
    check(strcmp(message, "the system has no message for it") == 0, "a code without message has a fixed text");
}

int main(void)
{
    pfb_source_failure failure = {0};
    pfb_source *source = pfb_source_open_live(&failure);
    printf("%s\n", is_wine() ? "on Wine" : "on Windows");
    if (!source)
        fail(failure.sentence);
    for (int i = 0; i < 2; i++) { /* the key is closed after each query, and can be opened again */
        check_block(source, "Global");
        check_block(source, "2");
        check_names(source);
        check_help(source);
    }
    check_remote();
    check_own_names(source);
    check_no_name(NULL);
    check_no_name("");
    check_bad_query(source);
    check_sentence();
    check_message();
    pfb_source_close(source);
    return finish_checks();
}
