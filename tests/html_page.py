"""A page of HTML, read strictly."""

from html.parser import HTMLParser

VOID = {"meta", "input"}


class Page(HTMLParser):
    """Checks that tags close in order, and collects what is there.

    `attributes` has those of each tag, of which none comes twice; `texts` what is in elements, by
    their ids, or else by their tags.
    """

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.links = [], [], [], []
        self.text, self.texts = "", {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in VOID:
            self.open.append((tag, self.attributes[-1].get("id", tag)))
            self.texts.setdefault(self.open[-1][1], "")

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_startendtag(self, tag, attributes):
        assert len(dict(attributes)) == len(attributes)
        self.tags.append(tag)
        self.attributes.append(dict(attributes))
        self.links += [value for name, value in attributes if name.endswith(("href", "src"))]

    def handle_data(self, data):
        self.text += data
        if self.open:
            self.texts[self.open[-1][1]] += data
