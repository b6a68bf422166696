# SPDX-License-Identifier: MIT
"""Parses the HTML pages of `report` and `show -f html` with Python's parser."""

import base64
import hashlib
import html.parser
import itertools
import json
import re

VOID = {"meta", "br", "input", "link", "img", "hr"}  # without end tags


class Element:
    """An HTML element. Its children are elements and strings."""

    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children = []

    def text(self):
        """All text in the element."""
        return "".join(child if isinstance(child, str) else child.text()
                       for child in self.children)

    def walk(self):
        """The element and all elements inside it, in document order."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.walk()

    def find(self, tag, name=None):
        """This element and those inside it, if they have this tag; with
        `name`, only those of that class."""
        return [e for e in self.walk() if e.tag == tag and
                (name is None or name in e.attributes.get("class",
                                                          "").split())]


class Page(html.parser.HTMLParser):
    """A page. Raises ValueError if elements are not properly nested, an
    attribute occurs twice in an element, or there is a comment."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = self.at = Element("", {}, None)
        self.feed(text)
        self.close()
        if self.at is not self.root:
            raise ValueError("not closed: " + self.at.tag)

    def handle_starttag(self, tag, attrs):
        if len({name for name, _ in attrs}) != len(attrs):
            raise ValueError("an attribute twice: " + tag)
        element = Element(tag, {n: v or "" for n, v in attrs}, self.at)
        self.at.children.append(element)
        if tag not in VOID:
            self.at = element

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if self.at.tag != tag:
            raise ValueError("%s ends in %s" % (tag, self.at.tag))
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.children.append(data)

    def handle_comment(self, data):
        raise ValueError("a comment: " + data)

    def find(self, tag, name=None):
        """All elements with this tag; with `name`, those of that class."""
        return self.root.find(tag, name)

    def policy(self):
        """{directive: sources} of the page's Content-Security-Policy."""
        meta, = [e for e in self.find("meta") if
                 e.attributes.get("http-equiv") == "Content-Security-Policy"]
        return dict(part.strip().split(" ", 1)
                    for part in meta.attributes["content"].split(";"))


def hash_source(text):
    """The source expression by which a policy allows an inline script or
    style."""
    digest = hashlib.sha256(text.encode()).digest()
    return "'sha256-%s'" % base64.b64encode(digest).decode()


def check_safe(case, page, tags):
    """Asserts that the page has only elements with these tags, refers to
    nothing elsewhere, and that its policy allows only the style and script that
    it contains, by their hashes."""
    case.assertLessEqual({e.tag for e in page.root.walk()}, tags | {""})
    for element in page.root.walk():
        for name, value in element.attributes.items():
            case.assertFalse(name.startswith("on") or name in
                             ("style", "src", "action", "srcdoc"), name)
            if name == "href":
                case.assertRegex(value, r"\A#[a-z0-9-]+\Z")
    policy = page.policy()
    case.assertEqual(policy["default-src"], "'none'")
    case.assertLessEqual(set(policy), {"default-src", "base-uri", "form-action",
                                       "style-src", "script-src"})
    style, = page.find("style")
    case.assertEqual(policy["style-src"], hash_source(style.text()))
    scripts = [e.text() for e in page.find("script")
               if "type" not in e.attributes]
    if scripts:
        script, = scripts
        case.assertEqual(policy["script-src"], hash_source(script))
        case.assertNotIn("innerHTML", script)
    else:
        case.assertNotIn("script-src", policy)


def sums(steps):
    """The numbers of a list in the page's data, which stores the differences
    between them."""
    return list(itertools.accumulate(steps))


class Line:
    """A line of a chart: points from the script's data, name and figures from
    its row in the table below the chart."""

    def __init__(self, points, row, times):
        self.samples = sums(points["x"])
        self.times = [times[x] for x in self.samples]
        self.points = points["y"]
        cells = [e for e in row.children if isinstance(e, Element)]
        self.name = cells[0].text()
        numbers = [cell.find("data") for cell in cells[1:5]]
        self.figures = [float(found[0].attributes["value"]) if found else None
                        for found in numbers]
        self.values, self.gaps = (int(cell.text()) for cell in cells[5:])


class Report(Page):
    """The page of `report`. `lines` has a Line for each (machine, counterset,
    counter, instance)."""

    TAGS = set("html head meta title style body header h1 div main section dl "
               "dt dd br table thead tbody tr th td h2 h3 small ul li a "
               "article span svg path i p data details summary footer "
               "script".split())

    def __init__(self, text):
        super().__init__(text)
        data, = [e for e in self.find("script") if "type" in e.attributes]
        self.data = json.loads(data.text())
        self.times = sums(self.data["times"])
        self.lines, self.units, self.articles = {}, {}, {}
        number = 0
        for section in self.find("section"):
            if section.attributes["id"] == "summary":
                continue
            head, = section.find("h2")
            machine = "".join(e.text() for e in head.find("small"))
            name = head.text()[:-len(" " + machine)] if machine \
                else head.text()
            for article in section.find("article"):
                self.add(machine, name, article, self.data["charts"][number])
                number += 1
        assert number == len(self.data["charts"])

    def add(self, machine, name, article, points):
        """Adds the lines of the chart in `article`; `points` are its part of
        the script's data."""
        head, = article.find("h3")
        unit = "".join(e.text() for e in head.find("small"))
        counter = head.text()[:-len(" " + unit)] if unit else head.text()
        tables = [body.find("tr") for body in article.find("tbody")]
        rows = sum(tables, [])
        assert len(rows) == len(points)
        assert len(tables[0]) == len(article.find("path", "line"))
        for row, line in zip(rows, points):
            line = Line(line, row, self.times)
            self.lines[machine, name, counter, line.name] = line
        self.units[machine, name, counter] = unit
        self.articles[machine, name, counter] = article

    def facts(self):
        """{term: description} of the list at the top of the page, such as the
        number of samples."""
        terms = [e.text() for e in self.find("dt")]
        return dict(zip(terms, (e.text() for e in self.find("dd"))))


INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e"
                       "\u2066-\u2069\ufeff]")


def shown(name):
    """A name as the page shows it: invisible characters escaped, cut after 200
    characters. The name must have no backslash, because some are doubled.
    """
    assert "\\" not in name
    cut = name if len(name) <= 200 else name[:200] + "\u2026"
    return INVISIBLE.sub(lambda m: "\\u%04X" % ord(m[0]), cut)
