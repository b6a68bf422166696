/* SPDX-License-Identifier: MIT */
#include "perfblock/lwp/cpuid_text.h"

#include "bytes/line.h"

#include <limits.h>

/* ---- A line ------------------------------------------------------------------------------------------------------ */

static unsigned lower(unsigned c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Returns true if c is `letter`, which is lower case, or the same letter in upper case. */
static bool is_same_letter(unsigned c, char letter)
{
    return (c | 0x20) == (unsigned char)letter;
}

/* Classes of characters: 1 plus the value of a hexadecimal digit; W for other characters of a word; 0 for characters
 * that are not part of a word. A table, because it is faster than comparisons and used for most characters of a dump.
 */
enum { HEX_DIGITS = 16, W = HEX_DIGITS + 1 /* another character of a word */ };
static const uint8_t character_classes[256] = {
    0, 0,  0,  0,  0,  0,  0,  0, 0, 0,  0, 0, 0, 0, 0, 0, /* control characters */
    0, 0,  0,  0,  0,  0,  0,  0, 0, 0,  0, 0, 0, 0, 0, 0, /* control characters */
    0, 0,  0,  0,  0,  0,  0,  0, 0, 0,  0, 0, 0, 0, 0, 0, /* space and punctuation */
    1, 2,  3,  4,  5,  6,  7,  8, 9, 10, 0, 0, 0, 0, 0, 0, /* 0 to 9 */
    0, 11, 12, 13, 14, 15, 16, W, W, W,  W, W, W, W, W, W, /* A to O */
    W, W,  W,  W,  W,  W,  W,  W, W, W,  W, 0, 0, 0, 0, W, /* P to Z, and _ */
    0, 11, 12, 13, 14, 15, 16, W, W, W,  W, W, W, W, W, W, /* a to o */
    W, W,  W,  W,  W,  W,  W,  W, W, W,  W, 0, 0, 0, 0, 0, /* p to z */
};

/* The result of digit_value for a character that is not part of a word. */
#define NO_WORD UINT_MAX

/* Returns the value of a hexadecimal digit; HEX_DIGITS or more for any other character. */
static inline unsigned digit_value(unsigned c)
{
    return character_classes[c] - 1u;
}

static bool is_hex(unsigned c)
{
    return digit_value(c) < HEX_DIGITS;
}

/* If `word`, which is lower case, comes next in either case of letters, moves past it and returns true. */
static bool take_word(span *s, const char *word)
{
    size_t at = s->at;
    for (; *word != '\0'; word++, at++) {
        if (at == s->end || lower(s->data[at]) != (unsigned char)*word)
            return false;
    }
    s->at = at;
    return true;
}

/* A hexadecimal number and its notation. */
typedef struct hex {
    uint32_t value;
    unsigned digits;
    bool is_marked; /* has the prefix "0x" */
} hex;

/* Reads a number; the character at s->at is a digit. */
static inline bool take_digits(span *s, hex *number)
{
    enum { MAX_DIGITS = 8 };
    size_t at = s->at;
    bool is_marked = s->end - at >= 2 && s->data[at] == '0' && is_same_letter(s->data[at + 1], 'x');
    at += is_marked ? 2 : 0;
    size_t first = at;
    uint32_t value = 0;
    unsigned digit = NO_WORD;
    for (; at < s->end && at - first <= MAX_DIGITS; at++) {
        digit = digit_value(s->data[at]);
        if (digit >= HEX_DIGITS)
            break;
        value = value << 4 | digit;
    }
    if (at == first || at - first > MAX_DIGITS || (at < s->end && digit != NO_WORD))
        return false;
    *number = (hex){value, (unsigned)(at - first), is_marked};
    s->at = at;
    return true;
}

/* Reads at most eight hexadecimal digits, with or without "0x"; no character of a word may follow. Tests the first
 * character before it calls take_digits, because other lines than leaves rarely begin with a number. */
static inline bool take_hex(span *s, hex *number)
{
    return is_hex(peek(s)) && take_digits(s, number);
}

static bool take_index(span *s, uint32_t *number)
{
    uint64_t value = 0;
    if (!take_decimal(s, UINT32_MAX, &value))
        return false;
    *number = (uint32_t)value;
    return true;
}

/* Reads a register name and moves past it: 0 for "eax" to 3 for "edx". Returns 4 and does not move if there is none. */
static inline unsigned take_register_name(span *s)
{
    const uint8_t *name = s->data + s->at;
    if (s->end - s->at < 3 || !is_same_letter(name[0], 'e') || !is_same_letter(name[2], 'x'))
        return 4;
    unsigned n = lower(name[1]) - (unsigned)'a';
    if (n > 3)
        return 4;
    s->at += 3;
    return n;
}

static void set_registers(pfb_cpuid_leaf *leaf, const uint32_t registers[4])
{
    leaf->eax = registers[0];
    leaf->ebx = registers[1];
    leaf->ecx = registers[2];
    leaf->edx = registers[3];
}

/* Reads four registers, each once: named in any order, or unnamed in the order EAX to EDX. */
static bool take_registers(span *s, pfb_cpuid_leaf *leaf)
{
    uint32_t registers[4];
    unsigned taken = 0;
    for (unsigned i = 0; i < 4; i++) {
        hex number;
        skip(s, BLANKS | CHARACTER(',') | CHARACTER('-'));
        unsigned at = take_register_name(s);
        if (at == 4)
            at = i;
        else
            skip(s, BLANKS | CHARACTER('=') | CHARACTER(':'));
        if (!take_hex(s, &number))
            return false;
        registers[at] = number.value;
        taken |= 1u << at;
    }
    if (taken != 0xF)
        return false;
    set_registers(leaf, registers);
    return true;
}

/* ---- Layouts --------------------------------------------------------------------------------------------------- */

/* The kind of a line: no leaf, a leaf, or a malformed leaf. */
typedef enum verdict { OTHER, LEAF, BROKEN } verdict;

/* After the registers, "[SL 3E]" may give the sub-leaf; any other text is ignored. */
static verdict take_subleaf(span *s, pfb_cpuid_leaf *leaf)
{
    hex subleaf;
    skip(s, BLANKS);
    if (!take_word(s, "[sl "))
        return LEAF;
    if (!take_hex(s, &subleaf) || peek(s) != ']')
        return BROKEN;
    leaf->subleaf = subleaf.value;
    return LEAF;
}

/* Reads "CPUID 8000001C: 00000000-80032013-00010200-8000000F [SL 00]", after the first word. */
static verdict read_marked(span *s, pfb_cpuid_leaf *leaf)
{
    hex number;
    skip(s, BLANKS);
    if (!take_hex(s, &number))
        return OTHER;
    skip(s, BLANKS);
    if (peek(s) != ':')
        return OTHER;
    s->at++;
    leaf->leaf = number.value;
    return take_registers(s, leaf) ? take_subleaf(s, leaf) : BROKEN;
}

/* Returns true if a number may be a column: eight digits, or any number of them after "0x". This excludes the bytes of
 * hex dumps. */
static bool is_column(const hex *number)
{
    return number->is_marked || number->digits == 8;
}

static inline bool take_column(span *s, uint32_t *value)
{
    span rest = *s;
    hex number;
    if (!take_hex(&rest, &number) || !is_column(&number))
        return false;
    *value = number.value;
    *s = rest;
    return true;
}

enum { MAX_COLUMNS = 6 }; /* after the leaf: one more than valid, to detect too many */

/* Reads columns, moves past the last one and returns their number. */
static unsigned take_columns(span *s, uint32_t columns[MAX_COLUMNS])
{
    span rest = *s;
    unsigned count = 0;
    for (; count < MAX_COLUMNS; count++) {
        skip(&rest, BLANKS | CHARACTER(',') | CHARACTER('-'));
        if (!take_column(&rest, &columns[count]))
            break;
        *s = rest;
    }
    return count;
}

/* Returns true if the rest of the line begins with numbers of which at least two are columns: then the line is a leaf
 * with a damaged column. A hex dump has at most one, by chance, in the text at the end of the line. */
static bool has_columns(span s)
{
    enum { SHORTEST = 7 }; /* "0x0 0x0" */
    hex number;
    unsigned count = 0;
    if (s.end - s.at < SHORTEST)
        return false;
    for (;;) {
        skip(&s, BLANKS | CHARACTER(',') | CHARACTER('-') | CHARACTER(':'));
        if (!take_hex(&s, &number))
            return count >= 2;
        count += is_column(&number);
    }
}

/* Reads "0x8000001c 0x00: eax=... ebx=...", or unnamed registers with or without a sub-leaf, after the leaf's column.
 * *unnamed becomes the number of columns without names, 0 if the registers have names. */
static verdict read_columns(span *s, pfb_cpuid_leaf *leaf, unsigned *unnamed)
{
    uint32_t columns[MAX_COLUMNS];
    skip(s, BLANKS);
    s->at += peek(s) == ':';
    skip(s, BLANKS);
    span rest = *s;
    unsigned count = take_columns(&rest, columns);
    if (count > 5)
        return OTHER;
    if (count == 5) {
        *unnamed = 5;
        leaf->subleaf = columns[0];
        set_registers(leaf, columns + 1);
        return LEAF;
    }
    if (count >= 2) { /* with two or three columns, the next register has fewer digits or is malformed */
        hex number;
        *unnamed = 4;
        if (!take_registers(s, leaf))
            return BROKEN;
        skip(s, BLANKS | CHARACTER(',') | CHARACTER('-'));
        /* With a fifth number the first one is a sub-leaf, and then every register must be a column. */
        return count < 4 && take_hex(s, &number) ? BROKEN : LEAF;
    }
    span ahead = *s;
    if (count == 0 && take_register_name(&ahead) == 4)
        return has_columns(*s) ? BROKEN : OTHER;
    if (count == 1) {
        leaf->subleaf = columns[0];
        *s = rest;
        skip(s, BLANKS | CHARACTER(':'));
        ahead = *s;
        if (take_register_name(&ahead) == 4)
            *unnamed = 5;
    }
    return take_registers(s, leaf) ? LEAF : BROKEN;
}

/* Reads the function number in names such as "intel_fn4[", "intel_fn12h[" and "amd_fn8000001dh[": hexadecimal with an
 * h, otherwise decimal. */
static bool take_function(span *s, uint32_t *function)
{
    size_t at = s->at;
    uint32_t value = 0;
    for (; at < s->end && is_hex(s->data[at]) && value <= UINT32_MAX >> 4; at++)
        value = value << 4 | digit_value(s->data[at]);
    if (at < s->end && is_same_letter(s->data[at], 'h')) {
        s->at = at + 1;
        *function = value;
        return true;
    }
    return take_index(s, function);
}

/* Reads "ext_cpuid[28]=00000000 80032013 00010200 8000000f" and lines of the other arrays of libcpuid. */
static verdict read_array(span *s, pfb_cpuid_leaf *leaf)
{
    uint32_t index;
    uint32_t first = 0;
    bool is_function = false;
    if (take_word(s, "ext_cpuid"))
        first = UINT32_C(0x80000000);
    else if (take_word(s, "intel_fn") || take_word(s, "amd_fn"))
        is_function = true;
    else if (!take_word(s, "basic_cpuid"))
        return OTHER;
    if (is_function && !take_function(s, &leaf->leaf))
        return OTHER;
    if (peek(s) != '[')
        return OTHER;
    s->at++;
    if (!take_index(s, &index) || index > UINT32_C(0x7FFFFFFF) || !take_word(s, "]="))
        return BROKEN;
    leaf->leaf = is_function ? leaf->leaf : first + index;
    leaf->subleaf = is_function ? index : 0;
    return take_registers(s, leaf) ? LEAF : BROKEN;
}

/* Reads a line of any layout. The first characters decide which layout it is: no layout begins like another one. */
static verdict read_leaf(const span *line, pfb_cpuid_leaf *leaf, unsigned *unnamed)
{
    enum { SHORTEST = 7 }; /* "cpuid0:" and "0x0 0x0", which are malformed; valid leaves are longer */
    span s = *line;
    *unnamed = 0;
    if (s.end - s.at < SHORTEST)
        return OTHER;
    *leaf = (pfb_cpuid_leaf){0};
    if (take_word(&s, "cpuid"))
        return read_marked(&s, leaf);
    if (take_column(&s, &leaf->leaf))
        return read_columns(&s, leaf, unnamed);
    return read_array(&s, leaf);
}

/* Skips blanks and punctuation around the words of a heading. */
static void skip_decoration(span *s)
{
    /* Sets of characters below 64, and of those from 64 to 127. */
    const uint64_t low = BLANKS | CHARACTER('-') | CHARACTER('=') | CHARACTER('(') | CHARACTER(')') | CHARACTER('/') |
                         CHARACTER('*') | CHARACTER('#') | CHARACTER('.') | CHARACTER(':');
    const uint64_t high =
        CHARACTER('_' - 64) | CHARACTER('[' - 64) | CHARACTER(']' - 64) | CHARACTER('{' - 64) | CHARACTER('}' - 64);
    while (s->at < s->end && (is_one_of(s->data[s->at], low) || is_one_of(s->data[s->at] - 64u, high)))
        s->at++;
}

/* Returns true for a line that only names a CPU: "CPU 0:", "CPU:", "------[ Logical CPU #3 ]------". */
static bool is_heading(span s)
{
    enum { SHORTEST = 4 }; /* "cpu:" */
    static const char registers[] = "cpuid registers";
    uint32_t number;
    if (s.end - s.at < SHORTEST || is_digit(peek(&s)))
        return false;
    skip_decoration(&s);
    if (s.end - s.at > sizeof registers && take_word(&s, registers))
        skip_decoration(&s);
    if (take_word(&s, "logical"))
        skip_decoration(&s);
    if (!take_word(&s, "cpu"))
        return false;
    size_t name_end = s.at;
    skip(&s, BLANKS | CHARACTER('#'));
    if (!take_index(&s, &number)) {
        s.at = name_end;
        if (peek(&s) != ':')
            return false;
    }
    skip_decoration(&s);
    return s.at == s.end;
}

/* ---- The dump ---------------------------------------------------------------------------------------------------- */

void pfb_cpuid_text_open(pfb_cpuid_text *text, const void *data, size_t size)
{
    *text = (pfb_cpuid_text){.data = data, .size = data ? size : 0};
}

static bool next_line(pfb_cpuid_text *text, span *line, size_t *start)
{
    span rest = {text->data, text->at, text->size};
    text->lines += skip_empty_lines(&rest);
    text->at = rest.at;
    if (!take_line(&rest, line, start))
        return false;
    text->at = rest.at;
    text->lines++;
    return true;
}

static void begin_cpu(pfb_cpuid_text *text)
{
    text->cpu += text->has_leaf;
    text->has_leaf = false;
}

/* Checks that a line of unnamed registers has as many columns as the earlier ones. A program prints all lines with the
 * same number of columns; a line that lost one would otherwise be read with the wrong registers. */
static bool has_same_width(pfb_cpuid_text *text, unsigned unnamed)
{
    if (text->columns == 0)
        text->columns = unnamed;
    return unnamed == 0 || unnamed == text->columns;
}

bool pfb_cpuid_text_next(pfb_cpuid_text *text, pfb_cpuid_row *row)
{
    span line;
    unsigned unnamed;
    while (text->error.code == PFB_OK && next_line(text, &line, &row->offset)) {
        verdict result = read_leaf(&line, &row->leaf, &unnamed);
        if (result == BROKEN || (result == LEAF && !has_same_width(text, unnamed))) {
            text->error = (pfb_error){PFB_BAD_CPUID_LINE, row->offset};
        } else if (result == LEAF) {
            if (row->leaf.leaf == 0 && row->leaf.subleaf == 0 && !text->is_named)
                begin_cpu(text);
            text->has_leaf = true;
            row->line = text->lines;
            row->cpu = text->cpu;
            return true;
        } else if (is_heading(line)) {
            begin_cpu(text);
            text->is_named = true;
        }
    }
    return false;
}
