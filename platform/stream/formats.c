/* SPDX-License-Identifier: MIT */
/* Recognises the format of a file by its content. */
#include "stream/formats.h"

#include "perfblock/capture.h"
#include "perfblock/log.h"
#include "perfblock/number_text.h"
#include "perfblock/pdh_text.h"
#include "perfblock/v1.h"
#include "perfblock/v2.h"

#include <string.h>

static uint32_t load_u16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t load_u32(const uint8_t *p)
{
    return load_u16(p) | load_u16(p + 2) << 16;
}

/* ---- Name tables ----------------------------------------------------------------------------------------- */

/* Whether a name is not empty and has only digits. */
static bool is_number(const pfb_name *name)
{
    size_t step = name->encoding == PFB_ENCODING_UTF16LE ? 2 : 1;
    bool is_digit = name->size_bytes > 0;
    for (size_t i = 0; i < name->size_bytes; i += step) {
        const uint8_t *unit = name->bytes + i;
        is_digit = is_digit && unit[0] >= '0' && unit[0] <= '9' && (step == 1 || unit[1] == 0);
    }
    return is_digit;
}

/* Tables of counter names begin with index 1. The text of this entry is the highest index of the system: a number,
 * mostly of two or more digits. In small tables, such as Samba's, it has one digit; then the text of the second entry
 * must not be a number, to exclude lists of numbers. A V2 block hardly begins like this: its size would be odd, too
 * small for the number of its results, or tens of MiB. */
static bool is_name_table(const uint8_t *data, size_t size)
{
    enum { EXAMINED_BYTES = 1024 };
    enum { MAX_TEXT_OFFSET = 8 }; /* after a byte order mark, "1" and the end of its line, all in UTF-16 */
    pfb_name_table table;
    pfb_name_entry entry;
    if (!pfb_name_table_open(&table, data, size < EXAMINED_BYTES ? size : EXAMINED_BYTES, NULL) ||
        !pfb_name_table_next_entry(&table, &entry) || entry.index != 1 || entry.name.bytes - data > MAX_TEXT_OFFSET ||
        !is_number(&entry.name))
        return false;
    bool is_long = entry.name.size_bytes >= (entry.name.encoding == PFB_ENCODING_UTF16LE ? 4 : 2);
    return is_long || (pfb_name_table_next_entry(&table, &entry) && !is_number(&entry.name));
}

/* ---- V2 data --------------------------------------------------------------------------------------------- */

enum { DATA_HEADER_BYTES = 48, RESULT_HEADER_BYTES = 16 };

/* Whether dwTotalSize is large enough for dwNumCounters results, and a multiple of 8. Requires 8 bytes. */
static bool has_sizes(const uint8_t *data)
{
    uint32_t total = load_u32(data);
    return total >= DATA_HEADER_BYTES && total % 8 == 0 &&
           load_u32(data + 4) <= (total - DATA_HEADER_BYTES) / RESULT_HEADER_BYTES;
}

/* Whether the header of the first result (PERF_COUNTER_HEADER) is valid and the result fits into the block. A block
 * without results must have only its own header. If the file is shorter than the block (is_truncated), a size that fits
 * proves less, so the size of the result must also be aligned, and the reserved field zero. Requires has_sizes(). */
static bool has_first_result(const uint8_t *data, size_t available, bool is_truncated)
{
    uint32_t total = load_u32(data);
    if (load_u32(data + 4) == 0)
        return total == DATA_HEADER_BYTES;
    if (available < DATA_HEADER_BYTES + RESULT_HEADER_BYTES)
        return false;
    uint32_t kind = load_u32(data + DATA_HEADER_BYTES + 4);
    uint32_t size = load_u32(data + DATA_HEADER_BYTES + 8);
    uint32_t reserved = load_u32(data + DATA_HEADER_BYTES + 12);
    bool is_kind = kind <= 2 || kind == 4 || kind == 6;
    bool is_aligned = size % 8 == 0 && reserved == 0;
    return is_kind && size >= RESULT_HEADER_BYTES && size <= total - DATA_HEADER_BYTES && (is_aligned || !is_truncated);
}

/* Whether a file that ends before or inside the header of the first result may be a truncated block. The size in its
 * header must be plausible: less than 256 MiB. */
static bool is_truncated_header(const uint8_t *data, size_t size)
{
    enum { MAX_TOTAL = 1 << 28 };
    return size >= 8 && has_sizes(data) && load_u32(data) < MAX_TOTAL;
}

/* Whether the sizes and the first result are valid. Recognises V2 data whose system time is damaged or zero. */
static bool has_valid_start(const uint8_t *data, size_t available, uint64_t file_size)
{
    size_t needed = DATA_HEADER_BYTES;
    if (available >= 8 && load_u32(data + 4) > 0)
        needed += RESULT_HEADER_BYTES;
    if (available < needed)
        return available == file_size && is_truncated_header(data, available);
    return has_sizes(data) && has_first_result(data, available, load_u32(data) > file_size);
}

/* ---- Other formats --------------------------------------------------------------------------------------- */

static const struct {
    uint8_t offset, size;
    const char *bytes;
    const char *description;
} signatures[] = {
    {0, 8, "\x89PNG\r\n\x1a\n", "looks like a PNG image"},
    {0, 3, "\xff\xd8\xff", "looks like a JPEG image"},
    {0, 4, "GIF8", "looks like a GIF image"},
    {0, 5, "%PDF-", "looks like a PDF document"},
    {0, 3, "\x1f\x8b\x08", "looks like gzip data"},
    {0, 4, "PK\x03\x04", "looks like a zip archive"},
    {0, 4, "PK\x05\x06", "looks like an empty zip archive"},
    {0, 6, "7z\xbc\xaf\x27\x1c", "looks like a 7z archive"},
    {0, 6, "\xfd\x37zXZ\0", "looks like xz data"},
    {4, 6, "1AY&SY", "looks like bzip2 data"},
    {0, 4, "\x28\xb5\x2f\xfd", "looks like Zstandard data"},
    {0, 4, "MSCF", "looks like a cabinet archive"},
    {0, 4,
     "\x7f"
     "ELF",
     "looks like an ELF program or library"},
    {0, 8, "ElfFile\0", "looks like a Windows event log (.evtx)"},
    {4, 4, "LfLe", "looks like a Windows event log (.evt)"},
    {0, 4, "regf", "looks like a Windows registry hive"},
    {0, 16, "SQLite format 3", "looks like an SQLite database"},
};

static const char *find_signature(const uint8_t *data, size_t size, uint64_t file_size)
{
    (void)file_size;
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
        size_t offset = signatures[i].offset;
        size_t length = signatures[i].size;
        if (size >= offset + length && memcmp(data + offset, signatures[i].bytes, length) == 0)
            return signatures[i].description;
    }
    return NULL;
}

/* Recognises a Windows program: "MZ", and "PE" at the offset that is stored at offset 60. */
static const char *find_program(const uint8_t *data, size_t size, uint64_t file_size)
{
    (void)file_size;
    enum { DOS_HEADER_BYTES = 64, NEW_HEADER = 60 };
    if (size < DOS_HEADER_BYTES || memcmp(data, "MZ", 2) != 0)
        return NULL;
    uint32_t at = load_u32(data + NEW_HEADER);
    bool is_pe = at <= size - 4 && memcmp(data + at, "PE\0\0", 4) == 0;
    return is_pe ? "looks like a Windows program or library (PE)" : NULL;
}

/* Whether a trace is something else than a perfmon log (.blg). Both have the container format of event traces (.etl).
 * The second buffer of a perfmon log begins with an event that has the GUID below; other traces have a different GUID
 * there. */
static bool is_other_trace(const uint8_t *data, size_t size)
{
    enum { FIRST_GUID = 0x48 + 0x18 }; /* the header of the buffer, and the offset of the GUID in the event */
    static const uint8_t perfmon[] = {0xb3, 0x3b, 0x3f, 0x93, 0x3e, 0x94, 0x0d, 0x49,
                                      0x9c, 0xed, 0x3c, 0xbb, 0x14, 0xc1, 0x44, 0x79};
    size_t first_size = load_u32(data);
    if (first_size >= size || size - first_size < FIRST_GUID + sizeof perfmon)
        return false;
    return memcmp(data + first_size + FIRST_GUID, perfmon, sizeof perfmon) != 0;
}

/* ---- Text ------------------------------------------------------------------------------------------------ */

enum { TEXT_EXAMINED_BYTES = 4096 };

/* Text in ASCII, UTF-8 or a code page has no control characters except TAB, LF, FF, CR and ESC. */
static bool is_text(const uint8_t *data, size_t size)
{
    static const char controls[] = {'\t', '\n', '\f', '\r', '\x1b'};
    size_t at = 0;
    while (at < size && (data[at] >= 0x20 || memchr(controls, data[at], sizeof controls)) && data[at] != 0x7f)
        at++;
    return at == size;
}

/* Whether the bytes have a word in ASCII or UTF-16. */
static bool has_word(const uint8_t *data, size_t size, const char *word)
{
    size_t length = strlen(word);
    for (size_t at = 0; at < size; at++) {
        size_t step = at + 1 < size && data[at + 1] == 0 ? 2 : 1;
        size_t count = 0;
        while (count < length && at + count * step < size && data[at + count * step] == (uint8_t)word[count])
            count++;
        if (count == length)
            return true;
    }
    return false;
}

/* V2 manifests: XML that defines countersets. */
static const char *as_manifest(const uint8_t *data, size_t available, uint64_t file_size)
{
    (void)file_size;
    size_t start = available < TEXT_EXAMINED_BYTES ? available : TEXT_EXAMINED_BYTES;
    bool is_xml = has_word(data, start, "<?xml") || has_word(data, start, "instrumentationManifest") ||
                  has_word(data, start, "<counters");
    /* Names of elements may have a prefix. */
    bool is_manifest = is_xml && (has_word(data, available, "<counterSet") || has_word(data, available, ":counterSet"));
    return is_manifest ? "is a manifest (.man), which has the definitions of counters and no samples" : NULL;
}

static bool begins_with(const uint8_t *data, size_t size, const char *text)
{
    size_t length = strlen(text);
    return size >= length && memcmp(data, text, length) == 0;
}

/* Counts the commas outside of quotation marks in the line that starts at *at. Moves *at to the next line. */
static size_t count_commas(const uint8_t *data, size_t size, size_t *at)
{
    size_t count = 0;
    bool is_quoted = false;
    while (*at < size && data[*at] != '\n') {
        is_quoted = is_quoted != (data[*at] == '"');
        count += data[*at] == ',' && !is_quoted;
        (*at)++;
    }
    *at += *at < size;
    return count;
}

/* Whether the first two lines have the same number of commas, at least one. The second line may be missing. With
 * `is_truncated` it may end after the examined bytes, so it may have fewer commas. */
static bool is_csv(const uint8_t *data, size_t size, bool is_truncated)
{
    size_t at = 0;
    size_t first = count_commas(data, size, &at);
    if (first == 0 || at == size)
        return first > 0;
    size_t second = count_commas(data, size, &at);
    return first == second || (is_truncated && at == size && second < first);
}

static const char *describe_text(const uint8_t *data, size_t size, bool is_truncated)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    if (begins_with(data, size, byte_order_mark)) {
        data += 3;
        size -= 3;
    }
    if (begins_with(data, size, "<?xml"))
        return "looks like XML";
    if (begins_with(data, size, "{\""))
        return "looks like JSON";
    if (begins_with(data, size, "perfblock text "))
        return "is the text form of samples: perfblock-fixture converts it";
    return is_csv(data, size, is_truncated) ? "looks like CSV" : "looks like text";
}

/* Whether all bytes are zero. Reads only up to the first one that is not. */
static bool is_zero(const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (at < size && data[at] == 0)
        at++;
    return at == size;
}

/* Describes bytes that have no known signature, the first `size` ones of a file of `file_size` bytes. */
static const char *describe_plain(const uint8_t *data, size_t size, uint64_t file_size)
{
    size_t start = size < TEXT_EXAMINED_BYTES ? size : TEXT_EXAMINED_BYTES;
    if (size == 0)
        return "is empty";
    if (is_text(data, start))
        return describe_text(data, start, start < size);
    if (start >= 2 && (memcmp(data, "\xff\xfe", 2) == 0 || memcmp(data, "\xfe\xff", 2) == 0))
        return "looks like text in UTF-16";
    if (is_zero(data, size))
        return size < file_size ? "begins with zeros" : "contains only zeros";
    return "is of no known format";
}

/* ---- The table of formats -------------------------------------------------------------------------------- */

/* Returns true for a text of snapshots of CPI counters (cpi/text.h), whose reader is not in this library. */
static bool is_cpi_text(const uint8_t *data, size_t size)
{
    static const char first[] = "cpi-snapshots";
    static const char blanks[] = {' ', '\t', '\r', '\n'};
    size_t at = begins_with(data, size, "\xef\xbb\xbf") ? 3 : 0;
    size_t end = at + sizeof first - 1;
    return begins_with(data + at, size - at, first) && (end == size || memchr(blanks, data[end], sizeof blanks));
}

/* A row of the table: a function that returns what the file looks like, or null if it is something else, and how this
 * format is read. */
typedef struct format_row {
    const char *(*recognise)(const uint8_t *data, size_t available, uint64_t file_size);
    const stream_format *format; /* null: it is not read */
    uint32_t kind;               /* as pfb_stream_recognise returns it */
} format_row;

static const char *as_capture(const uint8_t *data, size_t available, uint64_t file_size)
{
    (void)file_size;
    return pfb_capture_recognise(data, available) ? "is a capture" : NULL;
}

static const char *as_v1(const uint8_t *data, size_t available, uint64_t file_size)
{
    (void)file_size;
    return pfb_v1_recognise(data, available) ? "holds V1 blocks" : NULL;
}

static const char *as_numbers(const uint8_t *data, size_t available, uint64_t file_size)
{
    (void)file_size;
    return pfb_number_text_recognise(data, available) ? "holds V1 blocks as numbers in a text" : NULL;
}

static const char *as_cpi_text(const uint8_t *data, size_t available, uint64_t file_size)
{
    (void)file_size;
    return is_cpi_text(data, available) ? "is a text of CPI snapshots" : NULL;
}

static const char *as_names(const uint8_t *data, size_t available, uint64_t file_size)
{
    (void)file_size;
    return is_name_table(data, available) ? "is a name table" : NULL;
}

static const char *as_text(const uint8_t *data, size_t available, uint64_t file_size)
{
    (void)file_size;
    return pfb_pdh_text_recognise(data, available) ? "is a perfmon log in text (PDH CSV or TSV)" : NULL;
}

static const char *as_samples(const uint8_t *data, size_t available, uint64_t file_size)
{
    (void)file_size;
    return pfb_format_samples_recognise(data, available);
}

static const char *as_v2(const uint8_t *data, size_t available, uint64_t file_size)
{
    (void)file_size;
    return pfb_v2_recognise(data, available) ? "holds V2 data" : NULL;
}

/* V2 data whose system time is damaged or zero. */
static const char *as_damaged_v2(const uint8_t *data, size_t available, uint64_t file_size)
{
    return has_valid_start(data, available, file_size) ? "holds V2 data" : NULL;
}

static const char *as_log(const uint8_t *data, size_t available, uint64_t file_size)
{
    (void)file_size;
    bool is_log = pfb_log_recognise(data, available) && !is_other_trace(data, available);
    return is_log ? "is a perfmon log (.blg)" : NULL;
}

static const char *as_trace(const uint8_t *data, size_t available, uint64_t file_size)
{
    (void)file_size;
    return pfb_log_recognise(data, available) ? "looks like an event trace (.etl)" : NULL;
}

/* The first row that recognises the file decides: those with a signature come before those without. */
static const format_row format_rows[] = {
    {as_capture, &pfb_format_capture, PFB_RECORD_BEGIN},
    {as_v1, &pfb_format_v1, PFB_RECORD_V1},
    {as_numbers, &pfb_format_numbers, PFB_RECORD_V1},
    {as_cpi_text, NULL, 0},
    {as_names, NULL, PFB_RECORD_NAMES},
    {as_text, &pfb_format_text, PFB_RECORD_ROW},
    {as_samples, &pfb_format_samples, PFB_RECORD_ROW},
    {as_v2, &pfb_format_v2, PFB_RECORD_V2},
    {find_signature, NULL, 0},
    {find_program, NULL, 0},
    {as_log, &pfb_format_log, PFB_RECORD_LOG},
    {as_trace, NULL, 0},
    {as_manifest, NULL, 0},
    {as_damaged_v2, &pfb_format_v2, PFB_RECORD_V2},
    {describe_plain, NULL, 0},
};

recognised_format pfb_format_recognise(const uint8_t *data, size_t available, uint64_t file_size)
{
    recognised_format found = {.description = NULL};
    for (const format_row *row = format_rows; !found.description; row++) /* the last row describes everything */
        found = (recognised_format){row->format, row->recognise(data, available, file_size), row->kind};
    return found;
}

const char *pfb_stream_recognise(const void *data, size_t available, uint64_t file_size, uint32_t *kind)
{
    recognised_format found = pfb_format_recognise(data, available, file_size);
    *kind = found.kind;
    return found.description;
}

/* Whether the bytes have all of the first line that is not empty. */
static bool has_first_line(const uint8_t *data, size_t size)
{
    size_t at = begins_with(data, size, "\xef\xbb\xbf") ? 3 : 0;
    while (at < size && (data[at] == '\r' || data[at] == '\n'))
        at++;
    return at < size && memchr(data + at, '\n', size - at);
}

/* Returns true for V1 blocks as numbers, unless the numbers examined may continue with another digit. */
static bool is_certain_numbers(const uint8_t *data, size_t size)
{
    enum { EXAMINED_BYTES = 1024 }; /* by pfb_number_text_recognise */
    static const char ends[] = {'\t', '\n', '\r', ' ', ',', ']', '}'};
    while (size > 0 && size < EXAMINED_BYTES && !memchr(ends, data[size - 1], sizeof ends))
        size--;
    return pfb_number_text_recognise(data, size);
}

bool pfb_format_is_certain(const uint8_t *data, size_t available)
{
    return pfb_capture_recognise(data, available) || pfb_v1_recognise(data, available) ||
           is_certain_numbers(data, available) ||
           (pfb_pdh_text_recognise(data, available) && has_first_line(data, available));
}

bool pfb_format_is_begun(const uint8_t *data, size_t available)
{
    size_t at = 0;
    while (at < available && at < sizeof(uint32_t) && data[at] == (PFB_TAG_CAPTURE >> 8 * at & 0xff))
        at++;
    return at == available && at < sizeof(uint32_t);
}

const stream_format *pfb_format_of_kind(uint32_t kind, const uint8_t *data, size_t available)
{
    /* A .blg begins with the size of its buffers, which is small enough that one of its 4 bytes is zero; text has no
     * zero bytes, except in UTF-16. */
    size_t size = available < sizeof(uint32_t) ? available : sizeof(uint32_t);
    bool is_text = size > 0 && (!memchr(data, 0, size) || pfb_pdh_text_recognise(data, available));
    bool is_samples = !pfb_pdh_text_recognise(data, available) && pfb_format_samples_recognise(data, available);
    if (kind == PFB_RECORD_LOG)
        return is_samples ? &pfb_format_samples : is_text ? &pfb_format_text : &pfb_format_log;
    if (kind == PFB_RECORD_BEGIN)
        return &pfb_format_capture;
    if (kind == PFB_RECORD_V1)
        return pfb_number_text_recognise(data, available) ? &pfb_format_numbers : &pfb_format_v1;
    return &pfb_format_v2;
}
