"""Interop part: the pages of docs/ as a site.

    docs_site.py BINARY

mdBook builds them, and every link of every page of the site has to lead to a file, and its anchor
to an element of it. The tests of the program check only the Markdown.
"""

import html.parser
import os
import subprocess
import sys
import tempfile
import urllib.parse

import interop

ROOT = os.path.join(interop.HERE, "..", "..")

checks = interop.Checks("docs_site")


class Page(html.parser.HTMLParser):
    """The links of a page, and the names that links to it may have."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], set()
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key in ("href", "src", "srcset") and value:
                self.links.append(value)
            if key == "id":
                self.names.add(value)


def main():
    with checks.section("the part"), tempfile.TemporaryDirectory() as site:
        mdbook = os.path.join(os.path.dirname(sys.executable), "mdbook")
        subprocess.run([mdbook, "build", "--dest-dir", site, ROOT], check=True, capture_output=True)
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(site)
                 for name in names if name.endswith(".html")]
        pages = {path: Page(path) for path in paths}
        wrong, followed = [], 0
        for path, page in pages.items():
            # The page for addresses that do not exist refers to the root of a server.
            if os.path.basename(path) == "404.html":
                continue
            for link in page.links:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                followed += 1
                there = os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path))
                there = os.path.normpath(there) if parts.path else path
                name = urllib.parse.unquote(parts.fragment)
                if not os.path.exists(there):
                    wrong.append(f"{os.path.relpath(path, site)}: {link}")
                elif name and there in pages and name not in pages[there].names:
                    wrong.append(f"{os.path.relpath(path, site)}: {link}: no such anchor")
        checks.that(f"{followed} links of {len(pages)} pages lead somewhere",
                    not wrong and followed > 1000, wrong[:20])
    checks.close()


if __name__ == "__main__":
    main()
