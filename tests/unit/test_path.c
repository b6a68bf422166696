/* SPDX-License-Identifier: MIT */
/* Parts of counter paths, such as \\machine\set(instance)\counter. */
#include <criterion/criterion.h>

#include "perfblock/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 256 };

static void add_part(char text[TEXT], const char *label, const pfb_name *part)
{
    char utf8[TEXT - 56];
    size_t used = strlen(text);
    if (!part->bytes)
        return;
    pfb_name_to_utf8(part, utf8, sizeof utf8);
    snprintf(text + used, TEXT - used, "%s=%s;", label, utf8);
}

/* Writes the parts of a path as text. */
static void describe_parts(const pfb_path *parts, char text[TEXT])
{
    text[0] = '\0';
    add_part(text, "m", &parts->machine);
    add_part(text, "s", &parts->counterset);
    add_part(text, "i", &parts->instance);
    add_part(text, "p", &parts->parent);
    add_part(text, "n", &parts->name);
    if (parts->has_index)
        snprintf(text + strlen(text), TEXT - strlen(text), "#=%u;", (unsigned)parts->index);
    add_part(text, "c", &parts->counter);
}

/* The same of a text; "" if it is not a path. */
static void describe(const pfb_name *path, char text[TEXT])
{
    pfb_path parts;
    pfb_path_parse(path, &parts);
    describe_parts(&parts, text);
}

Test(path, the_parts_of_each_path_are_found)
{
    static const struct {
        const char *path, *parts;
    } rows[] = {
        {"\\Memory\\Available MBytes", "s=Memory;c=Available MBytes;"},
        {"\\\\HOST\\Memory\\Pages/sec", "m=HOST;s=Memory;c=Pages/sec;"},
        {"\\Processor(_Total)\\% Processor Time", "s=Processor;i=_Total;n=_Total;c=% Processor Time;"},
        {"\\Processor Information(0,1)\\*", "s=Processor Information;i=0,1;n=0,1;c=*;"},
        {"\\\\h\\Thread(svchost/3#12)\\ID Thread", "m=h;s=Thread;i=svchost/3#12;p=svchost;n=3;#=12;c=ID Thread;"},
        {"\\LogicalDisk(/)\\x", "s=LogicalDisk;i=/;n=/;c=x;"}, /* a folder of Linux has no parent */
        {"\\LogicalDisk(/var/lib)\\x", "s=LogicalDisk;i=/var/lib;n=/var/lib;c=x;"},
        {"\\Thread(a/)\\x", "s=Thread;i=a/;p=a;n=;c=x;"},
        {"\\Process(a#109)\\x", "s=Process;i=a#109;n=a;#=109;c=x;"},
        {"\\Process(a#b#2)\\x", "s=Process;i=a#b#2;n=a#b;#=2;c=x;"},
        {"\\Process(a#)\\x", "s=Process;i=a#;n=a#;c=x;"},
        {"\\Process(12)\\x", "s=Process;i=12;n=12;c=x;"},
        {"\\Process(#1)\\x", "s=Process;i=#1;n=;#=1;c=x;"},
        {"\\Process(a#1234567890)\\x", "s=Process;i=a#1234567890;n=a#1234567890;c=x;"},
        {"\\Process(a#999999999)\\x", "s=Process;i=a#999999999;n=a;#=999999999;c=x;"},
        {"\\T(a/b/c)\\x", "s=T;i=a/b/c;p=a/b;n=c;c=x;"},
        {"\\Net(Intel(R) (PRO/1000) #2)\\x", "s=Net;i=Intel(R) (PRO/1000) #2;n=Intel(R) (PRO/1000) ;#=2;c=x;"},
        {"\\T((a/b)/c(d/e))\\x", "s=T;i=(a/b)/c(d/e);p=(a/b);n=c(d/e);c=x;"},
        {"\\T(a(b/c)\\x", "s=T;i=a(b/c;p=a(b;n=c;c=x;"},
        {"\\T(a/b))\\x", "s=T;i=a/b);p=a;n=b);c=x;"},
        {"\\Process()\\x", "s=Process;i=;n=;c=x;"},
        {"\\Net(Intel(R) #1)\\x", "s=Net;i=Intel(R) #1;n=Intel(R) ;#=1;c=x;"},
        {"\\Disk(C:\\mnt(1)\\a)\\Free (MB)", "s=Disk;i=C:\\mnt(1)\\a;n=C:\\mnt(1)\\a;c=Free (MB);"},
        {"\\A\\B\\C", "s=A;c=B\\C;"},
        {"\\A\\b(c)\\d", "s=A;c=b(c)\\d;"},
        {"\\\xC3\x84(\xC3\xA4)\\\xC3\xB6", "s=\xC3\x84;i=\xC3\xA4;n=\xC3\xA4;c=\xC3\xB6;"},
        /* The instance ends at the parenthesis that balances, if a backslash follows; else at the last one. */
        {"\\O(I)\\CT(i)", "s=O;i=I;n=I;c=CT(i);"},
        {"\\O(d:\\f\\I(d)x)\\CT(d:\\f(d)\\i)", "s=O;i=d:\\f\\I(d)x;n=d:\\f\\I(d)x;c=CT(d:\\f(d)\\i);"},
        {"\\O(plain)\\Rate (a)\\sec", "s=O;i=plain;n=plain;c=Rate (a)\\sec;"},
        {"\\O(a)b(c)\\x (y)\\z", "s=O;i=a)b(c;n=a)b(c;c=x (y)\\z;"},
        {"\\O(a(b)\\c (d)\\e", "s=O;i=a(b)\\c (d;n=a(b)\\c (d;c=e;"},
        {"\\O(a)b)\\c)\\d", "s=O;i=a)b)\\c;n=a)b)\\c;c=d;"},
        {"\\O(a))\\c", "s=O;i=a);n=a);c=c;"},
        {"\\O(a\\c", "s=O(a;c=c;"},
        {"\\(a)\\x", "s=(a);c=x;"},
        {"\\A(\\x", "s=A(;c=x;"},
        /* Not paths. */
        {"", ""},
        {"\\", ""},
        {"\\\\", ""},
        {"Memory\\x", ""},
        {"\\Memory", ""},
        {"\\Memory\\", ""},
        {"\\\\h", ""},
        {"\\\\h\\", ""},
        {"\\\\h\\Memory", ""},
        {"\\\\\\Memory\\x", ""},
        {"\\A(a)x", ""},
        {"\\A(a)", ""},
        {"\\A(a)\\", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TEXT];
        uint8_t utf16[2 * TEXT];
        pfb_name path = {(const uint8_t *)rows[i].path, strlen(rows[i].path), PFB_ENCODING_UTF8};
        describe(&path, text);
        cr_expect_str_eq(text, rows[i].parts, "%s: %s", rows[i].path, text);
        path.size_bytes = 2 * pfb_name_to_utf16(&path, utf16, TEXT);
        path.bytes = utf16;
        path.encoding = PFB_ENCODING_UTF16LE;
        describe(&path, text);
        cr_expect_str_eq(text, rows[i].parts, "UTF-16: %s: %s", rows[i].path, text);
    }
}

Test(path, null_is_not_a_path)
{
    pfb_path parts;
    cr_expect_not(pfb_path_parse(&(pfb_name){NULL, 20, PFB_ENCODING_UTF8}, &parts));
    cr_expect_not(pfb_path_parse(&(pfb_name){NULL, 20, PFB_ENCODING_UTF16LE}, &parts));
}

/* All ways to split a path, each once. */
Test(path, the_other_ways_to_split_a_path_are_found)
{
    static const struct {
        const char *path, *splits[8];
    } rows[] = {
        {"\\A\\b", {"s=A;c=b;"}},
        {"\\A(b)\\c", {"s=A;i=b;n=b;c=c;", "s=A(b);c=c;"}},
        {"\\A(\\c", {"s=A(;c=c;"}},
        {"\\A()\\c", {"s=A;i=;n=;c=c;", "s=A();c=c;"}},
        {"\\A(b)\\c)\\d", {"s=A;i=b;n=b;c=c)\\d;", "s=A;i=b)\\c;n=b)\\c;c=d;", "s=A(b);c=c)\\d;", "s=A(b)\\c);c=d;"}},
        {"\\A\\(b)\\c", {"s=A;c=(b)\\c;", "s=A\\;i=b;n=b;c=c;", "s=A\\(b);c=c;"}},
        {"\\\\m\\A\\b", {"m=m;s=A;c=b;", "s=\\m;c=A\\b;", "s=\\m\\A;c=b;"}},
        {"\\\\\\A", {"s=\\;c=A;"}},
        {"\\A", {NULL}},
        {"A\\b", {NULL}},
        {"", {NULL}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t utf16[2 * TEXT];
        pfb_name path = {(const uint8_t *)rows[i].path, strlen(rows[i].path), PFB_ENCODING_UTF8};
        for (int wide = 0; wide < 2; wide++) {
            pfb_path parts = {.has_index = false};
            size_t count = 0;
            while (pfb_path_next_split(&path, &parts)) {
                char text[TEXT];
                describe_parts(&parts, text);
                cr_assert(count < 7 && rows[i].splits[count], "%s: %s", rows[i].path, text);
                cr_expect_str_eq(text, rows[i].splits[count], "%s: %s", rows[i].path, text);
                count++;
            }
            cr_expect_null(rows[i].splits[count], "%s", rows[i].path);
            path.size_bytes = 2 * pfb_name_to_utf16(&path, utf16, TEXT);
            path.bytes = utf16;
            path.encoding = PFB_ENCODING_UTF16LE;
        }
    }
}

/* Each prefix is in memory of exactly its size, so that a sanitizer detects reads past the end. Without its closing
 * parenthesis and a backslash after that, a path has no instance, nor a counter here. */
Test(path, no_prefix_of_a_path_is_a_path)
{
    static const char path[] = "\\\\h\\A(b/c#1)\\d";
    for (size_t size = 0; size < sizeof path; size++) {
        uint8_t *copy = malloc(size > 0 ? size : 1);
        pfb_path parts;
        memcpy(copy, path, size);
        pfb_name name = {copy, size, PFB_ENCODING_UTF8};
        cr_expect_eq(pfb_path_parse(&name, &parts), size >= sizeof path - 1, "prefix of %zu bytes", size);
        free(copy);
    }
}
