/* SPDX-License-Identifier: MIT */
#include "perfblock/cpi/hooks.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"
#include "bytes/store.h"
#include "bytes/wide.h"

/* ---- Figures: two words, 4 decimal places ------------------------------------------------------------------ */

enum { PLACES = 10000, PERCENT_PLACES = 100 * PLACES };

/* The smallest figure, in ten-thousandths, whose integral part cannot be stored: it would mean "undefined". */
#define TOO_LARGE (UINT64_C(10000) * PFB_CPI_UNDEFINED)

static bool is_undefined(pfb_cpi_words words)
{
    return words.integral == PFB_CPI_UNDEFINED && words.fraction == PFB_CPI_UNDEFINED;
}

static bool is_figure(pfb_cpi_words words)
{
    return words.integral != PFB_CPI_UNDEFINED && words.fraction < PLACES;
}

static uint64_t ten_thousandths(pfb_cpi_words words)
{
    return (uint64_t)PLACES * words.integral + words.fraction;
}

/* Returns factor * numerator + denominator / 2, below 2^85. This number divided by the denominator and rounded down is
 * the quotient rounded half up. */
static pfb_wide dividend(uint64_t numerator, uint64_t factor, uint64_t denominator)
{
    return pfb_wide_plus(pfb_wide_times(pfb_wide_from(numerator), factor), denominator / 2);
}

/* Returns true if the integral part of the quotient cannot be stored; always true for a denominator of 0. */
static bool is_too_large(pfb_wide divided, uint64_t denominator)
{
    return pfb_wide_compare(divided, pfb_wide_times(pfb_wide_from(denominator), TOO_LARGE)) >= 0;
}

/* Returns numerator / denominator (factor PLACES) or 100 times that (PERCENT_PLACES), exact and then rounded half up.
 * Undefined if the denominator is 0 or the integral part does not fit. */
static pfb_cpi_words quotient_words(uint64_t numerator, uint64_t factor, uint64_t denominator)
{
    pfb_wide divided = dividend(numerator, factor, denominator);
    if (is_too_large(divided, denominator))
        return (pfb_cpi_words){PFB_CPI_UNDEFINED, PFB_CPI_UNDEFINED};
    uint64_t q = pfb_wide_floor(divided, pfb_wide_from(denominator));
    /* Not with the / operator: a 32-bit compiler would call its runtime library, and core imports no such function. */
    uint64_t integral = pfb_wide_floor(pfb_wide_from(q), pfb_wide_from(PLACES));
    return (pfb_cpi_words){(uint32_t)integral, (uint32_t)(q - integral * PLACES)};
}

/* Returns true if the words, a figure or undefined, are those of the quotient or differ from them by at most 0.0001:
 * other writers may truncate instead of round. With q from the words and Q = floor(dividend / denominator),
 * q - 1 <= Q <= q + 1 is tested without a division: (q - 1) * denominator <= dividend < (q + 2) * denominator. */
static bool is_near_quotient(pfb_cpi_words words, uint64_t numerator, uint64_t denominator)
{
    pfb_wide divided = dividend(numerator, PLACES, denominator);
    if (is_undefined(words) || is_too_large(divided, denominator))
        return is_undefined(words) && is_too_large(divided, denominator);
    uint64_t q = ten_thousandths(words);
    pfb_wide unit = pfb_wide_from(denominator);
    return (q == 0 || pfb_wide_compare(pfb_wide_times(unit, q - 1), divided) <= 0) &&
           pfb_wide_compare(divided, pfb_wide_times(unit, q + 2)) < 0;
}

bool pfb_cpi_words_value(pfb_cpi_words words, double *value)
{
    *value = 0.0;
    if (!is_figure(words))
        return false;
    *value = pfb_wide_divide(pfb_wide_from(ten_thousandths(words)), pfb_wide_from(PLACES)).value;
    return true;
}

/* ---- Layout of the hooks ------------------------------------------------------------------------------- */

enum { HEADER_BYTES = PFB_CPI_HOOK_HEADER_BYTES, WORD_BYTES = 4, CPI_MAJOR = 0xC0, MAX_MAJOR = 0xFF, MAX_MINOR = 0xFF };

enum { WHOLE_PERCENT = 100 };

/* The record type: the two low bits of a record's first field, whose other bits are the length. Labels are mixed
 * (integers and a string), all other hooks have words only. */
enum { TYPE_WORDS = 0, TYPE_MIXED = 2, TYPE_MASK = 3 };

/* Positions of words after the record header, in the kinds of hooks that the comments name. */
enum {
    FLAGS_WORD = 0,          /* summary, system, processors */
    CPUS_WORD = 1,           /* summary, processors */
    TID_WORD = 0,            /* thread */
    SUMMARY_FIGURES = 4,     /* summary: the figures of CPU 0 */
    SYSTEM_COUNTS = 3,       /* system, thread */
    PROCESSORS_COUNTS = 4,   /* processors: the counts of CPU 0 */
    LABEL_INTEGERS_WORD = 0, /* labels: the number of integers, LABEL_INTEGERS */
    LABEL_LENGTH_WORD = 3    /* labels */
};

enum {
    COUNTS_WORDS = 6,   /* instr, cycles, CPI; as many words again if scaled */
    LABEL_INTEGERS = 2, /* value of the label's first word */
    LABEL_BYTES = 16    /* size of the fields before the label's text */
};

#define BIT(kind) (UINT32_C(1) << (kind))

typedef struct kind_row {
    uint32_t nibble;       /* the kind, in bits 31 to 28 of the minor word */
    uint32_t type;         /* record type */
    uint32_t fixed_words;  /* words that every hook of the kind has */
    uint32_t elapsed_word; /* position of the high word of the elapsed cycles */
    uint32_t flags;        /* allowed bits of the flags word; 0: there is no flags word */
    uint32_t has_cpus;     /* 1: a CPU count follows the flags */
    uint32_t followers;    /* kinds that may come next in a group, as bits */
} kind_row;

static const kind_row kinds[PFB_CPI_HOOK_COUNT] = {
    [PFB_CPI_LABEL_START] = {0x0, TYPE_MIXED, 4, 1, 0, 0,
                             BIT(PFB_CPI_SUMMARY_HOOK) | BIT(PFB_CPI_SYSTEM_HOOK) | BIT(PFB_CPI_THREAD_HOOK)},
    [PFB_CPI_SUMMARY_HOOK] = {0x1, TYPE_WORDS, 6, 2, 7, 1, BIT(PFB_CPI_SYSTEM_HOOK) | BIT(PFB_CPI_LABEL_END)},
    [PFB_CPI_SYSTEM_HOOK] = {0x8, TYPE_WORDS, 9, 1, 3, 0, BIT(PFB_CPI_PROCESSORS_HOOK)},
    [PFB_CPI_PROCESSORS_HOOK] = {0x4, TYPE_WORDS, 4, 2, 3, 1, BIT(PFB_CPI_THREAD_HOOK) | BIT(PFB_CPI_LABEL_END)},
    [PFB_CPI_THREAD_HOOK] = {0x2, TYPE_WORDS, 9, 1, 0, 0, BIT(PFB_CPI_LABEL_END)},
    [PFB_CPI_LABEL_END] = {0xF, TYPE_MIXED, 4, 1, 0, 0, 0},
};

/* Kinds that may begin a group. */
enum {
    FIRST_KINDS =
        1 << PFB_CPI_LABEL_START | 1 << PFB_CPI_SUMMARY_HOOK | 1 << PFB_CPI_SYSTEM_HOOK | 1 << PFB_CPI_THREAD_HOOK
};

const char *pfb_cpi_hook_name(pfb_cpi_hook_kind kind)
{
    static const char names[][13] = {"label_start", "summary",   "system",      "processors",
                                     "thread",      "label_end", "unknown_hook"};
    return names[(unsigned)kind < PFB_CPI_HOOK_COUNT ? (unsigned)kind : PFB_CPI_HOOK_COUNT];
}

const char *pfb_cpi_warning_name(pfb_cpi_warning warning)
{
    static const char names[][20] = {"figure_mismatch", "missing_thread_hook", "stamp_descends", "unknown_warning"};
    return names[(unsigned)warning < PFB_CPI_WARNING_COUNT ? (unsigned)warning : PFB_CPI_WARNING_COUNT];
}

/* Returns the word count of a hook with n CPUs. Not for labels. Requires n <= PFB_CPI_CPU_LIMIT, so it is at most
 * 12292. */
static uint32_t count_words(pfb_cpi_hook_kind kind, uint32_t flags, uint32_t n)
{
    uint32_t is_scaled = (flags & PFB_CPI_FLAG_SCALED) != 0;
    uint32_t is_thread = (flags & PFB_CPI_FLAG_THREAD) != 0;
    uint32_t fixed = kinds[kind].fixed_words;
    if (kind == PFB_CPI_SUMMARY_HOOK)
        return fixed + 2 * n + is_scaled * (4 * n + 4) + is_thread * 2;
    if (kind == PFB_CPI_PROCESSORS_HOOK)
        return fixed + (1 + is_scaled) * COUNTS_WORDS * n;
    return fixed + is_scaled * COUNTS_WORDS; /* the thread's flags are 0 */
}

/* Word positions of the figures of one CPU, of the system or of a thread. 0 means absent: no figure is at word 0. */
typedef struct place {
    uint32_t counts; /* instr and cycles */
    uint32_t cpi;
    uint32_t scaled_cycles;
    uint32_t scaled_cpi; /* busy follows it */
} place;

static place place_of_counts(uint32_t word, uint32_t flags)
{
    bool is_scaled = flags & PFB_CPI_FLAG_SCALED;
    return (place){word, word + 4, is_scaled ? word + 6 : 0, is_scaled ? word + 8 : 0};
}

/* The summary has a list of CPIs and one of scaled figures. In both lists the system's entry follows those of the CPUs.
 */
static bool find_in_summary(const pfb_cpi_hook *hook, uint32_t whose, place *location)
{
    uint32_t n = hook->cpu_count;
    if (whose == PFB_CPI_OF_THREAD) {
        *location = (place){.cpi = hook->word_count - 2};
        return hook->flags & PFB_CPI_FLAG_THREAD;
    }
    uint32_t position = whose == PFB_CPI_OF_SYSTEM ? n : whose;
    uint32_t scaled = SUMMARY_FIGURES + 2 * (n + 1);
    if (position > n || whose == n)
        return false;
    *location = (place){.cpi = SUMMARY_FIGURES + 2 * position,
                        .scaled_cpi = hook->flags & PFB_CPI_FLAG_SCALED ? scaled + 4 * position : 0};
    return true;
}

static bool find_place(pfb_cpi_hook_kind kind, const pfb_cpi_hook *hook, uint32_t whose, place *location)
{
    if (kind == PFB_CPI_SUMMARY_HOOK)
        return find_in_summary(hook, whose, location);
    if (kind == PFB_CPI_PROCESSORS_HOOK && whose < hook->cpu_count) {
        uint32_t step = hook->flags & PFB_CPI_FLAG_SCALED ? 2 * COUNTS_WORDS : COUNTS_WORDS;
        *location = place_of_counts(PROCESSORS_COUNTS + step * whose, hook->flags);
        return true;
    }
    *location = place_of_counts(SYSTEM_COUNTS, hook->flags);
    return (kind == PFB_CPI_SYSTEM_HOOK && whose == PFB_CPI_OF_SYSTEM) ||
           (kind == PFB_CPI_THREAD_HOOK && whose == PFB_CPI_OF_THREAD);
}

/* ---- Loading words ------------------------------------------------------------------------------------- */

static uint32_t word_at(const uint8_t *words, uint32_t position)
{
    return load_le32_at(words, position);
}

/* Loads 64 bits, high word first. */
static uint64_t long_at(const uint8_t *words, uint32_t position)
{
    return (uint64_t)word_at(words, position) << 32 | word_at(words, position + 1);
}

static pfb_cpi_words figure_at(const uint8_t *words, uint32_t position)
{
    return (pfb_cpi_words){word_at(words, position), word_at(words, position + 1)};
}

static pfb_cpi_stored load_stored(const uint8_t *words, place location)
{
    pfb_cpi_stored stored = {.cpi = figure_at(words, location.cpi)};
    if (location.counts != 0) {
        stored.has_counts = true;
        stored.instr = long_at(words, location.counts);
        stored.cycles = long_at(words, location.counts + 2);
    }
    if (location.scaled_cycles != 0)
        stored.scaled_cycles = long_at(words, location.scaled_cycles);
    if (location.scaled_cpi != 0) {
        stored.has_scaled = true;
        stored.scaled_cpi = figure_at(words, location.scaled_cpi);
        stored.busy = figure_at(words, location.scaled_cpi + 2);
    }
    return stored;
}

/* ---- Checking a record --------------------------------------------------------------------------------- */

/* Counts summed over CPUs. */
typedef struct counts {
    uint64_t instr, cycles, scaled_cycles;
    bool has_overflow; /* a sum does not fit 64 bits */
} counts;

static void add_count(counts *sum, uint64_t *count, uint64_t addend)
{
    *count += addend;
    sum->has_overflow = sum->has_overflow || *count < addend;
}

static void add_counts(counts *sum, uint64_t instr, uint64_t cycles, uint64_t scaled_cycles)
{
    add_count(sum, &sum->instr, instr);
    add_count(sum, &sum->cycles, cycles);
    add_count(sum, &sum->scaled_cycles, scaled_cycles);
}

/* Returns true if a sum over CPUs equals the counts of the system, which cannot have an overflow. */
static bool are_counts_equal(const counts *sum, const counts *whole)
{
    return !sum->has_overflow && sum->instr == whole->instr && sum->cycles == whole->cycles &&
           sum->scaled_cycles == whole->scaled_cycles;
}

/* A record with the CPI major code, CPI_MAJOR. */
typedef struct record {
    pfb_cpi_hook_kind kind;
    pfb_cpi_hook hook;
    const uint8_t *words; /* hook.word_count of them */
    uint32_t minor;
    uint64_t elapsed;
    uint32_t tid;
    uint32_t label_size;
    counts sum;                         /* of the counts in the record, over its CPUs */
    pfb_cpi_warning_summary mismatches; /* figures that do not match their counters */
} record;

static bool fail(pfb_cpi_hooks *hooks, pfb_code code, size_t offset, size_t word_offset)
{
    hooks->error = (pfb_error){code, offset};
    hooks->word_offset = word_offset;
    return false;
}

/* Fails at a word of a record. */
static bool fail_word(pfb_cpi_hooks *hooks, pfb_code code, const record *r, uint32_t word)
{
    return fail(hooks, code, r->hook.offset, r->hook.offset + HEADER_BYTES + (size_t)WORD_BYTES * word);
}

/* Fails at the length field of a record. */
static bool fail_length(pfb_cpi_hooks *hooks, pfb_code code, const record *r)
{
    return fail(hooks, code, r->hook.offset, r->hook.offset);
}

/* Fails at the minor word of a record. */
static bool fail_minor(pfb_cpi_hooks *hooks, pfb_code code, const record *r)
{
    return fail(hooks, code, r->hook.offset, r->hook.offset + 4);
}

static void warn(pfb_cpi_warning_summary *warned, size_t offset)
{
    if (warned->count++ == 0)
        warned->offset = offset;
}

static bool check_figure(pfb_cpi_hooks *hooks, const record *r, pfb_cpi_words words, uint32_t at, bool is_busy)
{
    bool is_above = words.integral > WHOLE_PERCENT || (words.integral == WHOLE_PERCENT && words.fraction > 0);
    if (!is_figure(words) && !is_undefined(words))
        return fail_word(hooks, PFB_BAD_FRACTION, r, at);
    if (is_busy && is_above && words.integral != PFB_CPI_UNDEFINED)
        return fail_word(hooks, PFB_BUSY_RANGE, r, at);
    return true;
}

/* Compares a figure with its counters. */
static void compare_figure(record *r, pfb_cpi_words words, uint32_t at, uint64_t cycles, uint64_t instr)
{
    if (!is_near_quotient(words, cycles, instr))
        warn(&r->mismatches, r->hook.offset + HEADER_BYTES + (size_t)WORD_BYTES * at);
}

/* Checks the figures and counts of one CPU, of the system or of the thread, in the order in which the record has them.
 */
static bool check_counted(pfb_cpi_hooks *hooks, record *r, uint32_t whose)
{
    place at = {.cpi = 0};
    find_place(r->kind, &r->hook, whose, &at);
    pfb_cpi_stored s = load_stored(r->words, at);
    if (!check_figure(hooks, r, s.cpi, at.cpi, false))
        return false;
    compare_figure(r, s.cpi, at.cpi, s.cycles, s.instr);
    add_counts(&r->sum, s.instr, s.cycles, s.scaled_cycles);
    if (!s.has_scaled)
        return true;
    compare_figure(r, s.scaled_cpi, at.scaled_cpi, s.scaled_cycles, s.instr);
    return check_figure(hooks, r, s.scaled_cpi, at.scaled_cpi, false) &&
           check_figure(hooks, r, s.busy, at.scaled_cpi + 2, true);
}

/* From SUMMARY_FIGURES on, every two words are a figure. Among the scaled figures, every second one is a busy share. */
static bool check_summary(pfb_cpi_hooks *hooks, const record *r)
{
    uint32_t scaled = SUMMARY_FIGURES + 2 * (r->hook.cpu_count + 1);
    uint32_t scaled_end = r->hook.flags & PFB_CPI_FLAG_SCALED ? scaled + 4 * (r->hook.cpu_count + 1) : scaled;
    for (uint32_t at = SUMMARY_FIGURES; at < r->hook.word_count; at += 2) {
        bool is_busy = at >= scaled && at < scaled_end && (at - scaled) % 4 == 2;
        if (!check_figure(hooks, r, figure_at(r->words, at), at, is_busy))
            return false;
    }
    return true;
}

static bool check_figures(pfb_cpi_hooks *hooks, record *r)
{
    if (r->kind == PFB_CPI_SUMMARY_HOOK)
        return check_summary(hooks, r);
    if (r->kind != PFB_CPI_PROCESSORS_HOOK)
        return check_counted(hooks, r, r->kind == PFB_CPI_SYSTEM_HOOK ? PFB_CPI_OF_SYSTEM : PFB_CPI_OF_THREAD);
    for (uint32_t i = 0; i < r->hook.cpu_count; i++) {
        if (!check_counted(hooks, r, i))
            return false;
    }
    return true;
}

/* Checks a hook that is not a label. The CPU count is checked against PFB_CPI_CPU_LIMIT before it is multiplied, so the
 * product cannot overflow. */
static bool check_words(pfb_cpi_hooks *hooks, record *r)
{
    const kind_row *row = &kinds[r->kind];
    pfb_cpi_hook *hook = &r->hook;
    if (hook->word_count < row->fixed_words)
        return fail_length(hooks, PFB_LENGTH_MISMATCH, r);
    if (row->flags != 0)
        hook->flags = word_at(r->words, FLAGS_WORD);
    if (row->flags != 0 && (!(hook->flags & PFB_CPI_FLAG_RAW) || (hook->flags & ~row->flags)))
        return fail_word(hooks, PFB_BAD_FLAGS, r, FLAGS_WORD);
    if (row->has_cpus)
        hook->cpu_count = word_at(r->words, CPUS_WORD);
    if (row->has_cpus && (hook->cpu_count == 0 || hook->cpu_count > PFB_CPI_CPU_LIMIT))
        return fail_word(hooks, PFB_BAD_NUM_CPUS, r, CPUS_WORD);
    if (hook->word_count != count_words(r->kind, hook->flags, hook->cpu_count))
        return fail_length(hooks, PFB_LENGTH_MISMATCH, r);
    if (r->kind == PFB_CPI_THREAD_HOOK)
        r->tid = word_at(r->words, TID_WORD);
    r->elapsed = long_at(r->words, row->elapsed_word);
    return check_figures(hooks, r);
}

/* Checks a label: a count of integers (2), the elapsed cycles, and a string that is not empty, contains no NUL and is
 * padded with zeros. */
static bool check_label(pfb_cpi_hooks *hooks, record *r)
{
    uint32_t bytes = WORD_BYTES * r->hook.word_count;
    if (bytes < LABEL_BYTES)
        return fail_length(hooks, PFB_BAD_LABEL, r);
    if (word_at(r->words, LABEL_INTEGERS_WORD) != LABEL_INTEGERS)
        return fail_word(hooks, PFB_BAD_LABEL, r, LABEL_INTEGERS_WORD);
    uint32_t size = word_at(r->words, LABEL_LENGTH_WORD);
    if (size == 0 || size > PFB_CPI_MAX_LABEL_BYTES || bytes != (LABEL_BYTES + size + 3) / 4 * 4)
        return fail_word(hooks, PFB_BAD_LABEL, r, LABEL_LENGTH_WORD);
    for (uint32_t i = LABEL_BYTES; i < bytes; i++) {
        bool is_padding = i >= LABEL_BYTES + size;
        if ((r->words[i] == 0) != is_padding)
            return fail(hooks, PFB_BAD_LABEL, r->hook.offset, r->hook.offset + HEADER_BYTES + i);
    }
    r->elapsed = long_at(r->words, kinds[r->kind].elapsed_word);
    r->label_size = size;
    return true;
}

static bool find_kind(uint32_t nibble, pfb_cpi_hook_kind *kind)
{
    for (unsigned i = 0; i < PFB_CPI_HOOK_COUNT; i++) {
        if (kinds[i].nibble == nibble) {
            *kind = (pfb_cpi_hook_kind)i;
            return true;
        }
    }
    return false;
}

/* Checks a record with the CPI major code; all of it lies inside the stream. */
static bool check_record(pfb_cpi_hooks *hooks, record *r, const uint8_t *header, uint32_t type)
{
    uint32_t minor = load_le32(header + 4);
    r->hook.stamp = load_le32(header + 8);
    r->words = header + HEADER_BYTES;
    r->minor = minor & MAX_MINOR;
    if (!find_kind(minor >> 28, &r->kind) || (minor & UINT32_C(0x0FFFFF00)))
        return fail_minor(hooks, PFB_UNKNOWN_MINOR, r);
    if (type != kinds[r->kind].type)
        return fail_length(hooks, PFB_BAD_TYPE, r);
    return type == TYPE_MIXED ? check_label(hooks, r) : check_words(hooks, r);
}

/* ---- Reading records ----------------------------------------------------------------------------------- */

/* Reads the header of the next record of any major code and moves past the record; null on error. The difference
 * limits.bytes - offset cannot wrap, because earlier records ended within the limit. */
static const uint8_t *read_record(pfb_cpi_hooks *hooks, uint32_t *type_len, uint32_t *major)
{
    size_t offset = hooks->at;
    pfb_cursor cursor = pfb_cursor_between(hooks->data, offset, hooks->size);
    size_t left = pfb_cursor_left(&cursor);
    const uint8_t *header = pfb_cursor_take(&cursor, HEADER_BYTES, PFB_TRUNC_HEADER);
    *type_len = header ? load_le16(header) : 0;
    *major = header ? load_le16(header + 2) : 0;
    size_t size = *type_len & ~(uint32_t)TYPE_MASK;
    if (!header)
        fail(hooks, PFB_TRUNC_HEADER, offset, offset);
    else if (size < HEADER_BYTES)
        fail(hooks, PFB_BAD_LENGTH, offset, offset);
    else if (size > left)
        fail(hooks, PFB_TRUNC_RECORD, offset, offset);
    else if (hooks->limits.bytes != 0 && size > hooks->limits.bytes - offset)
        fail(hooks, PFB_CALLER_LIMIT, offset, offset);
    else if (*major == 0 || *major > MAX_MAJOR)
        fail(hooks, PFB_BAD_MAJOR, offset, offset + 2);
    if (hooks->error.code != PFB_OK)
        return NULL;
    hooks->at = offset + size;
    hooks->record_count++;
    return header;
}

/* Returns the next record with the CPI major code, skipping others; false at the end and on error. */
static bool next_record(pfb_cpi_hooks *hooks, record *r)
{
    while (hooks->at < hooks->size) {
        size_t offset = hooks->at;
        uint32_t type_len;
        uint32_t major;
        if (hooks->limits.records != 0 && hooks->record_count >= hooks->limits.records)
            return fail(hooks, PFB_CALLER_LIMIT, offset, offset);
        const uint8_t *header = read_record(hooks, &type_len, &major);
        if (!header)
            return false;
        if (major == CPI_MAJOR) {
            *r = (record){.hook = {.is_present = true, .offset = offset}};
            r->hook.word_count = (uint32_t)(hooks->at - offset - HEADER_BYTES) / WORD_BYTES;
            return check_record(hooks, r, header, type_len & TYPE_MASK);
        }
        hooks->skipped_count++;
    }
    return false;
}

/* ---- Groups -------------------------------------------------------------------------------------------- */

/* A group that is being read. */
typedef struct partial_group {
    pfb_cpi_group group;
    pfb_cpi_hook_kind last;
    counts system; /* of the system hook */
} partial_group;

/* Returns true if the group may end here. */
static bool is_complete(const partial_group *b)
{
    if (b->group.hooks[PFB_CPI_LABEL_START].is_present)
        return b->last == PFB_CPI_LABEL_END;
    return b->last != PFB_CPI_SYSTEM_HOOK;
}

/* Returns true if the record continues this group. If the group may end here, a record with another minor code or other
 * elapsed cycles begins the next group. If it may not, such a record belongs to this group, and check_member reports
 * the mismatch. */
static bool belongs(const partial_group *b, const record *r)
{
    bool may_follow = kinds[b->last].followers & BIT(r->kind);
    if (!is_complete(b))
        return may_follow;
    return may_follow && r->kind != PFB_CPI_LABEL_END && r->minor == b->group.minor &&
           r->elapsed == b->group.elapsed_cycles;
}

static bool is_label_same(const pfb_cpi_hooks *hooks, const pfb_cpi_group *group, const record *r)
{
    const pfb_view stream = {hooks->data, hooks->size};
    return r->label_size == group->label_size_bytes &&
           memcmp(r->words + LABEL_BYTES, pfb_checked(stream, group->label_offset, r->label_size), r->label_size) == 0;
}

static bool check_flags(pfb_cpi_hooks *hooks, const pfb_cpi_group *group, const record *r)
{
    const pfb_cpi_hook *summary = &group->hooks[PFB_CPI_SUMMARY_HOOK];
    const pfb_cpi_hook *system = &group->hooks[PFB_CPI_SYSTEM_HOOK];
    if (r->kind == PFB_CPI_SYSTEM_HOOK && summary->is_present &&
        r->hook.flags != (summary->flags & ~PFB_CPI_FLAG_THREAD))
        return fail_word(hooks, PFB_FLAGS_MISMATCH, r, FLAGS_WORD);
    if (r->kind == PFB_CPI_PROCESSORS_HOOK && r->hook.flags != system->flags)
        return fail_word(hooks, PFB_FLAGS_MISMATCH, r, FLAGS_WORD);
    if (r->kind == PFB_CPI_THREAD_HOOK && summary->is_present && !(summary->flags & PFB_CPI_FLAG_THREAD))
        return fail_minor(hooks, PFB_FLAGS_MISMATCH, r);
    return true;
}

/* Checks a record against the earlier ones of its group. */
static bool check_member(pfb_cpi_hooks *hooks, const partial_group *b, const record *r)
{
    const pfb_cpi_group *group = &b->group;
    const pfb_cpi_hook *summary = &group->hooks[PFB_CPI_SUMMARY_HOOK];
    if (r->minor != group->minor)
        return fail_minor(hooks, PFB_MINOR_MISMATCH, r);
    if (r->elapsed != group->elapsed_cycles)
        return fail_word(hooks, PFB_ELAPSED_MISMATCH, r, kinds[r->kind].elapsed_word);
    if (!check_flags(hooks, group, r))
        return false;
    if (r->kind == PFB_CPI_PROCESSORS_HOOK && summary->is_present && r->hook.cpu_count != summary->cpu_count)
        return fail_word(hooks, PFB_NUM_CPUS_MISMATCH, r, CPUS_WORD);
    if (r->kind == PFB_CPI_PROCESSORS_HOOK && !are_counts_equal(&r->sum, &b->system))
        return fail_word(hooks, PFB_SUM_MISMATCH, r, PROCESSORS_COUNTS);
    if (r->kind == PFB_CPI_LABEL_END && !is_label_same(hooks, group, r))
        return fail_word(hooks, PFB_LABEL_MISMATCH, r, LABEL_LENGTH_WORD);
    return true;
}

static void add_member(pfb_cpi_hooks *hooks, partial_group *b, const record *r)
{
    pfb_cpi_group *group = &b->group;
    group->hooks[r->kind] = r->hook;
    group->end_offset = hooks->at;
    b->last = r->kind;
    if (r->kind == PFB_CPI_LABEL_START) {
        group->label_offset = r->hook.offset + HEADER_BYTES + LABEL_BYTES;
        group->label_size_bytes = r->label_size;
    }
    if (kinds[r->kind].has_cpus)
        group->cpu_count = r->hook.cpu_count;
    if (r->kind == PFB_CPI_THREAD_HOOK)
        group->tid = r->tid;
    if (r->kind == PFB_CPI_SYSTEM_HOOK)
        b->system = r->sum;
    pfb_cpi_warning_summary *figures = &group->warnings[PFB_CPI_WARN_FIGURE];
    if (figures->count == 0)
        figures->offset = r->mismatches.offset;
    figures->count += r->mismatches.count;
    if (r->hook.stamp == 0) /* no time stamp */
        return;
    if (r->hook.stamp < hooks->last_stamp)
        warn(&group->warnings[PFB_CPI_WARN_STAMP], r->hook.offset + 8);
    hooks->last_stamp = r->hook.stamp;
}

static bool begin_group(pfb_cpi_hooks *hooks, partial_group *b)
{
    record r;
    if (!next_record(hooks, &r))
        return false;
    if (hooks->limits.groups != 0 && hooks->group_count >= hooks->limits.groups)
        return fail(hooks, PFB_CALLER_LIMIT, r.hook.offset, r.hook.offset);
    if (!(FIRST_KINDS & BIT(r.kind)))
        return fail_minor(hooks, PFB_BAD_ORDER, &r);
    *b = (partial_group){.group = {.offset = r.hook.offset, .minor = r.minor, .elapsed_cycles = r.elapsed}};
    add_member(hooks, b, &r);
    return true;
}

/* Reads the rest of the group. A record or an error after a complete group is not part of it: the reader moves back and
 * the next call reads it again. */
static bool read_members(pfb_cpi_hooks *hooks, partial_group *b)
{
    while (b->last != PFB_CPI_LABEL_END) {
        pfb_cpi_hooks before = *hooks;
        record r;
        bool has_record = next_record(hooks, &r);
        if (is_complete(b) && (!has_record || !belongs(b, &r))) {
            *hooks = before;
            break;
        }
        if (!has_record) {
            return hooks->error.code == PFB_OK ? fail(hooks, PFB_UNTERMINATED_GROUP, hooks->size, hooks->size) : false;
        }
        if (!belongs(b, &r))
            return fail_minor(hooks, PFB_BAD_ORDER, &r);
        if (!check_member(hooks, b, &r))
            return false;
        add_member(hooks, b, &r);
    }
    return true;
}

void pfb_cpi_hooks_open(pfb_cpi_hooks *hooks, const void *data, size_t size, const pfb_cpi_limits *limits)
{
    *hooks = (pfb_cpi_hooks){.data = data, .size = data ? size : 0};
    if (limits)
        hooks->limits = *limits;
}

bool pfb_cpi_hooks_next(pfb_cpi_hooks *hooks, pfb_cpi_group *group)
{
    partial_group b;
    if (hooks->error.code != PFB_OK || !begin_group(hooks, &b) || !read_members(hooks, &b))
        return false;
    const pfb_cpi_hook *summary = &b.group.hooks[PFB_CPI_SUMMARY_HOOK];
    if ((summary->flags & PFB_CPI_FLAG_THREAD) && b.group.hooks[PFB_CPI_PROCESSORS_HOOK].is_present &&
        !b.group.hooks[PFB_CPI_THREAD_HOOK].is_present)
        warn(&b.group.warnings[PFB_CPI_WARN_NO_THREAD], summary->offset + HEADER_BYTES);
    hooks->group_count++;
    *group = b.group;
    return true;
}

pfb_error pfb_cpi_hooks_finish(pfb_cpi_hooks *hooks)
{
    pfb_cpi_group group;
    while (pfb_cpi_hooks_next(hooks, &group))
        continue;
    return hooks->error;
}

/* ---- Contents of a group ------------------------------------------------------------------------------- */

/* The location of the figures is inside the hook, because flags, CPU count and word count were checked against each
 * other when the group was read. */
bool pfb_cpi_hooks_stored(const pfb_cpi_hooks *hooks, const pfb_cpi_group *group, pfb_cpi_hook_kind kind,
                          uint32_t whose, pfb_cpi_stored *stored)
{
    place location;
    if ((unsigned)kind >= PFB_CPI_HOOK_COUNT || !group->hooks[kind].is_present)
        return false;
    const pfb_cpi_hook *hook = &group->hooks[kind];
    if (!find_place(kind, hook, whose, &location))
        return false;
    const uint8_t *words = pfb_checked((pfb_view){hooks->data, hooks->size}, hook->offset + HEADER_BYTES,
                                       (size_t)WORD_BYTES * hook->word_count);
    *stored = load_stored(words, location);
    return true;
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

/* A group that is being written. */
typedef struct draft {
    const pfb_cpi_result *result;
    const pfb_cpi_figures *cpus;
    const pfb_cpi_identity *identity;
    uint32_t hooks; /* the kinds of its hooks, as bits */
    uint8_t *at;
} draft;

static bool is_valid_label(const uint8_t *label, size_t size)
{
    if (size > PFB_CPI_MAX_LABEL_BYTES)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (label[i] == 0)
            return false;
    }
    return true;
}

/* Returns true if the figures of CPUs and system can be written: the number of CPUs and busy are in range, the system
 * has instructions, and the CPUs' counts add up to the system's in 64 bits. */
static bool are_counts_valid(const pfb_cpi_result *result, const pfb_cpi_figures *cpus)
{
    bool is_scaled = result->mode & PFB_CPI_SCALED;
    counts sum = {.instr = 0};
    counts busy = {.instr = 0}; /* sums of busy and elapsed, in `instr` and `cycles` */
    if (result->cpu_count == 0 || result->cpu_count > PFB_CPI_CPU_LIMIT || result->system.instr == 0)
        return false;
    for (size_t i = 0; i < result->cpu_count; i++) {
        const pfb_cpi_figures *f = &cpus[i];
        add_counts(&sum, f->instr, f->cycles, is_scaled ? f->scaled_cycles : 0);
        if (is_scaled)
            add_counts(&busy, f->busy, f->elapsed, 0);
        if (is_scaled && f->busy > f->elapsed)
            return false;
    }
    const pfb_cpi_figures *system = &result->system;
    const counts all = {system->instr, system->cycles, is_scaled ? system->scaled_cycles : 0, false};
    const counts all_busy = {is_scaled ? system->busy : 0, is_scaled ? system->elapsed : 0, 0, false};
    return are_counts_equal(&sum, &all) && are_counts_equal(&busy, &all_busy);
}

/* Returns the kinds of hooks of the group as bits; 0 if it cannot be written. */
static uint32_t choose_hooks(const pfb_cpi_result *result, const pfb_cpi_figures *cpus,
                             const pfb_cpi_identity *identity)
{
    const uint32_t forms = identity->forms;
    bool is_thread_only = result->mode & PFB_CPI_THREAD_ONLY;
    bool has_thread = result->mode & (PFB_CPI_ON_THREAD | PFB_CPI_THREAD_ONLY);
    if ((forms & ~(PFB_CPI_FORM_SUMMARY | PFB_CPI_FORM_DETAILED)) || identity->minor > MAX_MINOR ||
        !is_valid_label(identity->label, identity->label_size_bytes) || (has_thread && !result->has_thread))
        return 0;
    uint32_t hooks = identity->label_size_bytes > 0 ? BIT(PFB_CPI_LABEL_START) | BIT(PFB_CPI_LABEL_END) : 0;
    if (is_thread_only)
        return forms & PFB_CPI_FORM_SUMMARY ? 0 : hooks | BIT(PFB_CPI_THREAD_HOOK);
    if (!are_counts_valid(result, cpus))
        return 0;
    if ((forms & PFB_CPI_FORM_SUMMARY) || forms == 0)
        hooks |= BIT(PFB_CPI_SUMMARY_HOOK);
    if (forms & PFB_CPI_FORM_DETAILED)
        hooks |= BIT(PFB_CPI_SYSTEM_HOOK) | BIT(PFB_CPI_PROCESSORS_HOOK) | (has_thread ? BIT(PFB_CPI_THREAD_HOOK) : 0);
    return hooks;
}

static uint32_t choose_flags(const draft *d, pfb_cpi_hook_kind kind)
{
    uint32_t flags = PFB_CPI_FLAG_RAW | (d->result->mode & PFB_CPI_SCALED ? PFB_CPI_FLAG_SCALED : 0) |
                     (d->result->mode & PFB_CPI_ON_THREAD ? PFB_CPI_FLAG_THREAD : 0);
    return flags & kinds[kind].flags;
}

/* Returns the size of the record: at most 49180 bytes, with scaled figures of 1024 processors. */
static uint32_t record_size(const draft *d, pfb_cpi_hook_kind kind)
{
    if (kinds[kind].type == TYPE_MIXED)
        return HEADER_BYTES + (LABEL_BYTES + (uint32_t)d->identity->label_size_bytes + 3) / 4 * 4;
    return HEADER_BYTES + WORD_BYTES * count_words(kind, choose_flags(d, kind), (uint32_t)d->result->cpu_count);
}

static void put_word(draft *d, uint32_t word)
{
    store_le32(d->at, word);
    d->at += WORD_BYTES;
}

static void put_long(draft *d, uint64_t value)
{
    put_word(d, (uint32_t)(value >> 32));
    put_word(d, (uint32_t)value);
}

static void put_words(draft *d, pfb_cpi_words words)
{
    put_word(d, words.integral);
    put_word(d, words.fraction);
}

static void put_scaled(draft *d, const pfb_cpi_figures *f)
{
    put_words(d, quotient_words(f->scaled_cycles, PLACES, f->instr));
    put_words(d, quotient_words(f->busy, PERCENT_PLACES, f->elapsed));
}

static void put_counted(draft *d, const pfb_cpi_figures *f, bool is_scaled)
{
    put_long(d, f->instr);
    put_long(d, f->cycles);
    put_words(d, quotient_words(f->cycles, PLACES, f->instr));
    if (is_scaled) {
        put_long(d, f->scaled_cycles);
        put_scaled(d, f);
    }
}

static void put_summary(draft *d, uint32_t flags)
{
    const pfb_cpi_result *result = d->result;
    for (size_t i = 0; i <= result->cpu_count; i++) {
        const pfb_cpi_figures *f = i < result->cpu_count ? &d->cpus[i] : &result->system;
        put_words(d, quotient_words(f->cycles, PLACES, f->instr));
    }
    for (size_t i = 0; (flags & PFB_CPI_FLAG_SCALED) && i <= result->cpu_count; i++)
        put_scaled(d, i < result->cpu_count ? &d->cpus[i] : &result->system);
    if (flags & PFB_CPI_FLAG_THREAD)
        put_words(d, quotient_words(result->thread.cycles, PLACES, result->thread.instr));
}

/* Writes the words after the elapsed cycles. */
static void put_rest(draft *d, pfb_cpi_hook_kind kind, uint32_t flags)
{
    bool is_scaled = flags & PFB_CPI_FLAG_SCALED;
    size_t label_size = d->identity->label_size_bytes;
    if (kinds[kind].type == TYPE_MIXED) {
        put_word(d, (uint32_t)label_size);
        memset(d->at, 0, (label_size + 3) / 4 * 4);
        memcpy(d->at, d->identity->label, label_size);
        d->at += (label_size + 3) / 4 * 4;
    } else if (kind == PFB_CPI_SUMMARY_HOOK) {
        put_summary(d, flags);
    } else if (kind == PFB_CPI_SYSTEM_HOOK) {
        put_counted(d, &d->result->system, is_scaled);
    } else if (kind == PFB_CPI_THREAD_HOOK) {
        put_counted(d, &d->result->thread, false);
    } else {
        for (size_t i = 0; i < d->result->cpu_count; i++)
            put_counted(d, &d->cpus[i], is_scaled);
    }
}

static void put_record(draft *d, pfb_cpi_hook_kind kind)
{
    const kind_row *row = &kinds[kind];
    uint32_t flags = choose_flags(d, kind);
    put_word(d, record_size(d, kind) | row->type | (uint32_t)CPI_MAJOR << 16);
    put_word(d, row->nibble << 28 | d->identity->minor);
    put_word(d, d->identity->stamp);
    if (row->type == TYPE_MIXED)
        put_word(d, LABEL_INTEGERS);
    else if (row->flags != 0)
        put_word(d, flags);
    else
        put_word(d, d->result->tid);
    if (row->has_cpus)
        put_word(d, (uint32_t)d->result->cpu_count);
    put_long(d, d->result->elapsed_cycles);
    put_rest(d, kind, flags);
}

pfb_code pfb_cpi_hooks_write(const pfb_cpi_result *result, const pfb_cpi_figures *cpus,
                             const pfb_cpi_identity *identity, void *out, size_t capacity, size_t *size_bytes)
{
    draft d = {.result = result, .cpus = cpus, .identity = identity, .at = out};
    d.hooks = choose_hooks(result, cpus, identity);
    *size_bytes = 0;
    if (d.hooks == 0)
        return PFB_CALLER_ARGUMENT;
    for (unsigned kind = 0; kind < PFB_CPI_HOOK_COUNT; kind++)
        *size_bytes += d.hooks & BIT(kind) ? record_size(&d, (pfb_cpi_hook_kind)kind) : 0;
    if (*size_bytes > capacity)
        return PFB_CALLER_TOO_SMALL;
    for (unsigned kind = 0; kind < PFB_CPI_HOOK_COUNT; kind++) {
        if (d.hooks & BIT(kind))
            put_record(&d, (pfb_cpi_hook_kind)kind);
    }
    return PFB_OK;
}
