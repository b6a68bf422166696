/* SPDX-License-Identifier: MIT */
#include "perfblock/legacy_block.h"
#include "perfblock/name_table.h"
#include "perfblock/source.h"
#include "windows/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* The live source on Windows itself, or on Wine, whose V1 blocks have a header and no objects, and whose name table
 * has two pairs. What a header must say is asked of the system by other calls. A plain program: it tells what it did,
 * and its last line is printed only when every check passed. */

/* ---- Checks ------------------------------------------------------------------------------------------------- */

static unsigned checks_passed;

static void fail(const char *what)
{
    printf("FAILED: %s\n", what);
    fflush(stdout);
    exit(1);
}

static void check(bool is_true, const char *what)
{
    if (!is_true)
        fail(what);
    checks_passed++;
}

static bool is_wine(void)
{
    HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    return ntdll && GetProcAddress(ntdll, "wine_get_version");
}

/* ---- V2 is refused ------------------------------------------------------------------------------------------ */

static void check_refusal(bool is_done, const pfb_source_failure *failure, const char *what)
{
    printf("%s: code %u, %s\n", what, (unsigned)failure->code, failure->sentence);
    check(!is_done, what);
    check(failure->code == 50, "the code is ERROR_NOT_SUPPORTED");
    check(strstr(failure->sentence, "this version reads V1 data only") != NULL, "the sentence says why");
}

static void check_refusals(pfb_source *source)
{
    static const pfb_guid guid = {{1}};
    pfb_bytes bytes = {0};
    pfb_source_failure failure = {0};
    check_refusal(pfb_source_countersets(source, &bytes, &failure), &failure, "countersets");
    failure = (pfb_source_failure){0};
    check_refusal(pfb_source_registration(source, &guid, PFB_REQUEST_COUNTERSET, 0, &bytes, &failure), &failure,
                  "registration");
    failure = (pfb_source_failure){0};
    check_refusal(pfb_source_instances(source, &guid, &bytes, &failure), &failure, "instances");
    failure = (pfb_source_failure){0};
    check_refusal(pfb_source_query_open(source, &failure) != NULL, &failure, "query");
    check(!pfb_source_query_open(source, NULL), "a failure need not be asked for");
    check(bytes.size_bytes == 0, "a refusal gives no bytes");
    pfb_bytes_free(&bytes);
}

/* ---- Blocks ------------------------------------------------------------------------------------------------- */

static void ask(pfb_source *source, const char *query, pfb_bytes *reply)
{
    pfb_source_failure failure = {0};
    if (!pfb_source_legacy(source, query, reply, &failure)) {
        printf("\"%s\": code %u, %s\n", query, (unsigned)failure.code, failure.sentence);
        fail("a query is answered");
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

/* The header's name and clock are those of other calls. */
static void check_header(const pfb_legacy_block *block, const pfb_bytes *reply)
{
    LARGE_INTEGER frequency;
    WCHAR name[MAX_COMPUTERNAME_LENGTH + 1];
    DWORD units = sizeof name / sizeof name[0];
    QueryPerformanceFrequency(&frequency);
    check(block->perf_freq == frequency.QuadPart, "the frequency is that of the performance counter");
    check(GetComputerNameW(name, &units), "the machine has a name");
    check(block->system_name.code_page == 0 && block->system_name.size_bytes == 2 * units &&
              memcmp(reply->data + block->system_name.offset, name, 2 * units) == 0,
          "the system name is that of the machine");
    check(block->version == 1 && block->revision == 1 && !block->is_big_endian, "version 1.1, little-endian");
}

static void count_values(pfb_legacy_block *block, unsigned long *values)
{
    pfb_legacy_instance instance;
    pfb_legacy_value value;
    while (pfb_legacy_block_next_instance(block, &instance)) {
        while (pfb_legacy_block_next_value(block, &value))
            ++*values;
    }
}

/* The whole block is sound. On Wine it is a header without objects; on Windows "Global" and "2", the object System,
 * have some. */
static void check_block(pfb_source *source, const char *query)
{
    pfb_bytes reply = {0};
    pfb_legacy_block block;
    pfb_legacy_object object;
    unsigned long objects = 0;
    unsigned long values = 0;
    int64_t before = performance_counter();
    ask(source, query, &reply);
    int64_t after = performance_counter();
    bool is_open = pfb_legacy_block_open(&block, reply.data, reply.size_bytes, 0);
    printf("  header: %s; %u bytes, %u objects\n", pfb_code_text(block.error.code), (unsigned)block.total_size_bytes,
           (unsigned)block.object_count);
    check(is_open, "the header is sound");
    check(block.total_size_bytes == reply.size_bytes, "the block is as large as the reply");
    check_header(&block, &reply);
    check(before <= block.perf_time && block.perf_time <= after, "the block is of the time of the query");
    for (; pfb_legacy_block_next_object(&block, &object); objects++)
        count_values(&block, &values);
    pfb_error verdict = pfb_legacy_block_finish(&block);
    printf("  verdict: %s; %lu objects, %lu values\n", pfb_code_text(verdict.code), objects, values);
    check(verdict.code == PFB_OK, "the block is sound");
    check(objects == block.object_count, "every object that the header promises is there");
    check(is_wine() ? objects == 0 : values > 0, is_wine() ? "Wine has no objects" : "Windows has values");
    pfb_bytes_free(&reply);
}

/* ---- Name tables -------------------------------------------------------------------------------------------- */

/* The text of an entry is a number in decimal digits. */
static bool is_number(const pfb_bytes *reply, const pfb_name_entry *entry)
{
    for (uint32_t i = 0; i < entry->size_bytes; i += 2) {
        const uint8_t *unit = reply->data + entry->offset + i;
        if (unit[0] < '0' || unit[0] > '9' || unit[1] != 0)
            return false;
    }
    return entry->size_bytes > 0;
}

static void check_names(pfb_source *source)
{
    pfb_bytes reply = {0};
    pfb_name_table table;
    pfb_name_entry entry;
    ask(source, "Counter 009", &reply);
    check(pfb_name_table_open(&table, reply.data, reply.size_bytes, 0) && table.is_utf16, "a name table in UTF-16");
    check(pfb_name_table_next(&table, &entry) && entry.index == 1 && is_number(&reply, &entry),
          "the first pair is 1 and the highest index");
    uint32_t others = pfb_name_table_count(&table);
    printf("  names: %u, notes 0x%X\n", (unsigned)others, (unsigned)table.notes);
    check(table.error.code == PFB_OK && table.notes == 0, "the table is sound");
    check(is_wine() ? others == 1 : others > 100, is_wine() ? "Wine has one name" : "Windows has many names");
    pfb_bytes_free(&reply);
}

/* Help texts have odd indexes. */
static void check_help(pfb_source *source)
{
    pfb_bytes reply = {0};
    pfb_name_table table;
    pfb_name_entry entry;
    ask(source, "Help 009", &reply);
    check(pfb_name_table_open(&table, reply.data, reply.size_bytes, 0) && table.is_utf16, "a help table in UTF-16");
    check(pfb_name_table_next(&table, &entry) && entry.index % 2 == 1, "the first help text has an odd index");
    uint32_t texts = 1 + pfb_name_table_count(&table);
    printf("  help texts: %u, notes 0x%X\n", (unsigned)texts, (unsigned)table.notes);
    check(table.error.code == PFB_OK && table.notes == 0, "the help table is sound");
    pfb_bytes_free(&reply);
}

/* ---- What fails --------------------------------------------------------------------------------------------- */

static void check_bad_query(pfb_source *source)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    check(!pfb_source_legacy(source, "Z\xC3\xA4hler 007", &reply, &failure), "other letters than ASCII are refused");
    printf("other letters: code %u, %s\n", (unsigned)failure.code, failure.sentence);
    check(failure.code == 87 && failure.sentence[0] != '\0', "with ERROR_INVALID_PARAMETER");
    pfb_bytes_free(&reply);
}

/* Sizes in sentences: the C library of Windows has formats of its own. */
static void check_sentence(void)
{
    static const uint8_t cut[24] = {'P', 'F', 'B', 'C', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'N', 'O'};
    pfb_source_failure failure = {0};
    check(!pfb_source_open_capture(cut, sizeof cut, &failure), "a capture that is cut is refused");
    printf("a cut capture: code %u, %s\n", (unsigned)failure.code, failure.sentence);
    check(strncmp(failure.sentence, "the capture cannot be read at offset 16: ", 41) == 0, "with the offset");
}

/* The message begins as the one that the system gives to the narrow function. */
static void check_message(void)
{
    char narrow[512];
    char message[512];
    char cut[4];
    DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
    check(FormatMessageA(flags, NULL, ERROR_ACCESS_DENIED, 0, narrow, sizeof narrow, NULL) > 4, "a narrow message");
    pfb_windows_message(ERROR_ACCESS_DENIED, message, sizeof message);
    pfb_windows_message(ERROR_ACCESS_DENIED, cut, sizeof cut);
    printf("access denied: \"%s\", cut \"%s\"\n", message, cut);
    size_t length = strlen(message);
    if (narrow[0] > 0) /* ASCII in both */
        check(message[0] == narrow[0], "the message is that of the system");
    check(length > 4 && message[length - 1] != '.' && !strpbrk(message, "\r\n"), "one line without a final dot");
    check(strlen(cut) < sizeof cut && strncmp(message, cut, strlen(cut)) == 0, "a message is cut to its room");
    pfb_windows_message(UINT32_C(0x2FFFFFFF), message, sizeof message);
    check(strcmp(message, "the system has no message for it") == 0, "a code without message");
}

int main(void)
{
    pfb_source_failure failure = {0};
    pfb_source *source = pfb_source_open_live(&failure);
    printf("%s\n", is_wine() ? "on Wine" : "on Windows");
    if (!source)
        fail(failure.sentence);
    check_refusals(source);
    for (int i = 0; i < 2; i++) { /* the key is closed after each query, and opens again */
        check_block(source, "Global");
        check_block(source, "2");
        check_names(source);
        check_help(source);
    }
    check_bad_query(source);
    check_sentence();
    check_message();
    pfb_source_close(source);
    if (fflush(stdout) != 0 || ferror(stdout))
        return 1;
    printf("%u checks passed, none failed\n", checks_passed);
    return 0;
}
