"""Reads a report: its tables, headings, tags, and what it refers to."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Texts of table cells by table, all tags, and whatever the page refers to."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.references, self.tables, self.headings = [], [], [], []
        self._into = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.references += [v for k, v in attributes if k in ("src", "href", "srcset", "data")]
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._into = "cell"
        elif tag == "h2":
            self.headings.append("")
            self._into = "heading"

    def handle_endtag(self, tag):
        if tag in ("td", "th", "h2"):
            self._into = None

    def handle_data(self, data):
        if self._into == "cell":
            self.tables[-1][-1][-1] += data
        elif self._into == "heading":
            self.headings[-1] += data

    def table(self, first_header):
        """The rows under the header line of the table that begins like this."""
        return next(rows[1:] for rows in self.tables if rows[0][0] == first_header)
