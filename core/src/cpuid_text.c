/* SPDX-License-Identifier: MIT */
#include "perfblock/cpuid_text.h"

#include "line.h"

/* ---- A line ------------------------------------------------------------------------------------------------------ */

static unsigned lower(unsigned c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool is_hex(unsigned c)
{
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

/* True, and behind it, when the word stands next, in either case of letters; the word is lower case. */
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

/* Hexadecimal digits, at most eight, with or without "0x"; nothing that could be part of a word may follow. */
static bool take_hex(span *s, uint32_t *number, size_t *digits)
{
    span ahead = *s;
    if (!take_word(&ahead, "0x"))
        ahead.at = s->at;
    *number = 0;
    *digits = 0;
    for (; is_hex(peek(&ahead)) && *digits < 9; ahead.at++, ++*digits) {
        unsigned c = lower(peek(&ahead));
        *number = *number << 4 | (is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    unsigned next = lower(peek(&ahead));
    if (*digits == 0 || *digits > 8 || (next >= 'a' && next <= 'z') || next == '_')
        return false;
    s->at = ahead.at;
    return true;
}

static bool take_index(span *s, uint32_t *number)
{
    uint64_t value = 0;
    if (!take_decimal(s, UINT32_MAX, &value))
        return false;
    *number = (uint32_t)value;
    return true;
}

/* The register whose name stands next: 0 to 3; behind it then. 4 when none does. */
static unsigned take_register_name(span *s)
{
    static const char names[4][4] = {"eax", "ebx", "ecx", "edx"};
    unsigned n = 0;
    while (n < 4 && !take_word(s, names[n]))
        n++;
    return n;
}

/* Four registers, each once: with names in any order, or without in the order of their letters. */
static bool take_registers(span *s, pfb_cpuid_leaf *leaf)
{
    uint32_t *const registers[] = {&leaf->eax, &leaf->ebx, &leaf->ecx, &leaf->edx};
    unsigned taken = 0;
    for (unsigned i = 0; i < 4; i++) {
        size_t digits;
        skip(s, " \t,-");
        unsigned at = take_register_name(s);
        if (at == 4)
            at = i;
        else
            skip(s, " \t=:");
        if (!take_hex(s, registers[at], &digits))
            return false;
        taken |= 1u << at;
    }
    return taken == 0xF;
}

/* ---- Layouts --------------------------------------------------------------------------------------------------- */

typedef enum verdict { OTHER, LEAF, BROKEN } verdict;

/* Behind the registers "[SL 3E]" may tell the sub-leaf; any other remark is ignored. */
static verdict take_mark(span *s, pfb_cpuid_leaf *leaf)
{
    size_t digits;
    skip(s, " \t");
    if (!take_word(s, "[sl "))
        return LEAF;
    return take_hex(s, &leaf->subleaf, &digits) && peek(s) == ']' ? LEAF : BROKEN;
}

/* "CPUID 8000001C: 00000000-80032013-00010200-8000000F [SL 00]" */
static verdict read_marked(span *s, pfb_cpuid_leaf *leaf)
{
    size_t digits;
    if (!take_word(s, "cpuid"))
        return OTHER;
    skip(s, " \t");
    if (!take_hex(s, &leaf->leaf, &digits))
        return OTHER;
    skip(s, " \t");
    if (peek(s) != ':')
        return OTHER;
    s->at++;
    return take_registers(s, leaf) ? take_mark(s, leaf) : BROKEN;
}

/* A number of a column: eight digits, or any after "0x". So the lines of a hex dump are none. */
static bool take_column(span *s, uint32_t *number)
{
    span ahead = *s;
    size_t digits;
    bool is_marked = take_word(&ahead, "0x");
    ahead = *s;
    if (!take_hex(&ahead, number, &digits) || (!is_marked && digits != 8))
        return false;
    *s = ahead;
    return true;
}

/* How many columns begin the rest of the line; enough of them to tell too many. */
static unsigned count_columns(span s)
{
    uint32_t number;
    unsigned count = 0;
    for (; count < 6; count++) {
        skip(&s, " \t,-");
        if (!take_column(&s, &number))
            break;
    }
    return count;
}

/* Two columns among the numbers that begin the rest of the line: a leaf one of whose columns was cut or shortened.
 * Lines of hex dumps have one at most, by chance, in the text at their end. */
static bool has_columns(span s)
{
    uint32_t number;
    size_t digits;
    unsigned count = 0;
    for (;;) {
        skip(&s, " \t,-:");
        if (take_column(&s, &number))
            count++;
        else if (!take_hex(&s, &number, &digits))
            return count >= 2;
    }
}

/* "0x8000001c 0x00: eax=... ebx=..." and bare columns, with or without the sub-leaf's; *bare is their number behind the
 * leaf, 0 where registers have names. */
static verdict read_columns(span *s, pfb_cpuid_leaf *leaf, unsigned *bare)
{
    if (!take_column(s, &leaf->leaf))
        return OTHER;
    skip(s, " \t");
    s->at += peek(s) == ':';
    skip(s, " \t");
    unsigned columns = count_columns(*s);
    span ahead = *s;
    if (columns == 0 && take_register_name(&ahead) == 4)
        return has_columns(*s) ? BROKEN : OTHER;
    if (columns > 5)
        return OTHER;
    bool has_subleaf = columns == 1 || columns == 5;
    if (has_subleaf) {
        take_column(s, &leaf->subleaf);
        skip(s, " \t:");
    }
    ahead = *s;
    if (take_register_name(&ahead) == 4)
        *bare = has_subleaf ? 5 : 4;
    return take_registers(s, leaf) ? LEAF : BROKEN;
}

/* The function in "intel_fn4[", "intel_fn12h[", "amd_fn8000001dh[": hexadecimal with an h, else decimal. */
static bool take_function(span *s, uint32_t *function)
{
    span ahead = *s;
    *function = 0;
    for (; is_hex(peek(&ahead)) && *function <= UINT32_MAX >> 4; ahead.at++) {
        unsigned c = lower(peek(&ahead));
        *function = *function << 4 | (is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    if (lower(peek(&ahead)) == 'h') {
        s->at = ahead.at + 1;
        return true;
    }
    return take_index(s, function);
}

/* "ext_cpuid[28]=00000000 80032013 00010200 8000000f" and its kin. */
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

static verdict read_leaf(const span *line, pfb_cpuid_leaf *leaf, unsigned *bare)
{
    span s = *line;
    *leaf = (pfb_cpuid_leaf){0};
    *bare = 0;
    verdict found = read_marked(&s, leaf);
    if (found == OTHER) {
        s = *line;
        found = read_columns(&s, leaf, bare);
    }
    if (found == OTHER) {
        s = *line;
        *leaf = (pfb_cpuid_leaf){0};
        found = read_array(&s, leaf);
    }
    return found;
}

/* A line that names a CPU and nothing else: "CPU 0:", "CPU:", "------[ Logical CPU #3 ]------". */
static bool is_heading(span s)
{
    static const char decoration[] = " \t-_=[](){}/*#.:";
    uint32_t number;
    skip(&s, decoration);
    if (take_word(&s, "cpuid registers"))
        skip(&s, decoration);
    if (take_word(&s, "logical"))
        skip(&s, decoration);
    if (!take_word(&s, "cpu"))
        return false;
    size_t behind = s.at;
    skip(&s, " \t#");
    if (!take_index(&s, &number)) {
        s.at = behind;
        if (peek(&s) != ':')
            return false;
    }
    skip(&s, decoration);
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

/* One program prints all its lines alike, so that a line of another number of columns has lost one: with its sub-leaf
 * taken for EAX, or its last register for nothing, it would be believed. */
static bool is_as_wide(pfb_cpuid_text *text, unsigned bare)
{
    if (text->columns == 0)
        text->columns = bare;
    return bare == 0 || bare == text->columns;
}

bool pfb_cpuid_text_next(pfb_cpuid_text *text, pfb_cpuid_row *row)
{
    span line;
    unsigned bare;
    while (text->error.code == PFB_OK && next_line(text, &line, &row->offset)) {
        verdict found = read_leaf(&line, &row->leaf, &bare);
        if (found == BROKEN || (found == LEAF && !is_as_wide(text, bare))) {
            text->error = (pfb_error){PFB_BAD_CPUID_LINE, row->offset};
        } else if (found == LEAF) {
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
