"""What the site has beside its pages: llms.txt, rules.json, descriptions, heads of table cells.

A hook of MkDocs. `llms.txt` is the list of pages that assistants read first (llmstxt.org);
`llms-full.txt` has the text of those that answer questions of users.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from samedevice import __version__, rules

#: Sections of the nav that are for those who doubt or work on it, not for those who ask.
_OPTIONAL = ("Measured", "Project")
#: Letters of a description; search engines show about as many.
_LONG = 160

_texts: dict[str, str] = {}


def on_files(files: Any, config: Any) -> Any:
    """Add the index of rules, which a page links to (called by MkDocs)."""
    from mkdocs.structure.files import File

    index = rules_json(config.site_url or "")
    files.append(File.generated(config, "rules.json", content=index))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Describe a page by its first sentences, where it does not say how, and keep its text."""
    page.meta.setdefault("description", description(markdown))
    _texts[page.file.src_uri] = markdown
    return markdown


def description(markdown: str) -> str:
    """Return the first paragraph of a page as plain text, cut at the end of a word."""
    text = re.sub(r"<!--.*?-->\n?|^```.*?^```$", "", markdown, flags=re.S | re.M)
    for paragraph in re.split(r"\n\s*\n", text):
        if not re.match(r"[A-Za-z`*\"']", paragraph.strip()):
            continue  # a heading, code, a table, a list
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)(?:\{[^}]*\})?", r"\1", " ".join(paragraph.split()))
        plain = re.sub(r"`|\*\*", "", plain)
        if len(plain) <= _LONG:
            return plain
        return plain[: _LONG - 2].rpartition(" ")[0].rstrip(",;:") + " \u2026"
    return ""


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Give each cell of a table its column's head: a narrow screen shows them in rows."""
    return re.sub(r"<table>.*?</table>", lambda table: with_heads(table[0]), html, flags=re.S)


def with_heads(table: str) -> str:
    """Return a table whose cells say which column they are in."""
    heads = [re.sub(r"<[^>]*>", "", head) for head in re.findall(r"<th[^>]*>(.*?)</th>", table)]

    def row(cells: re.Match[str]) -> str:
        told = iter(heads)
        return re.sub(
            r"<td", lambda _: f'<td data-head="{next(told, "")}"'.replace(' data-head=""', ""),
            cells[0],
        )  # fmt: skip

    return re.sub(r"<tr>.*?</tr>", row, table, flags=re.S)


def on_post_build(config: Any) -> None:
    """Write what is read by programs."""
    folder = Path(config.site_dir)
    address = config.site_url or ""
    (folder / "llms.txt").write_text(llms(config.nav, config.site_description, address), "utf-8")
    (folder / "llms-full.txt").write_text(llms_full(config.nav), "utf-8")


def rules_json(address: str) -> str:
    """Return the index of rules: name, what it finds, where its page is."""
    rows = [
        {"name": rule.name, "summary": rule.summary,
         "url": f"{address}reference/rules/{rule.name}/"}
        for rule in rules.load().values()
    ]  # fmt: skip
    return json.dumps({"version": __version__, "rules": rows}, indent=1, ensure_ascii=False) + "\n"


def llms(nav: Any, about: str, address: str) -> str:
    """Return llms.txt: the sections of the nav, each page with its description, and the rules."""
    parts = [
        "# samedevice\n",
        f"> {about}\n",
        "It finds and repairs \"Expected all tensors to be on the same device\" and the like in "
        "PyTorch programs, without running them: `samedevice check PATH`, `samedevice fix PATH`. "
        "It needs no GPU.\n",
    ]  # fmt: skip
    sections = _sections(nav)
    for last in (False, True):
        for title, pages in sections.items():
            if (title in _OPTIONAL) is last:
                parts += [f"## {'Optional: ' * last}{title}\n", _list(pages, address)]
        if not last:
            rows = [f"- [{rule.name}]({address}reference/rules/{rule.name}/): {rule.summary}"
                    for rule in rules.load().values()]  # fmt: skip
            parts += ["## Rules\n", "\n".join(rows) + "\n"]
    return "\n".join(parts)


def llms_full(nav: Any) -> str:
    """Return the text of the pages that answer questions of users, one after the other."""
    pages = [path for title, pages in _sections(nav).items() if title not in _OPTIONAL
             for _, path in pages]  # fmt: skip
    pages += [path for path in _texts if path.startswith("reference/rules/")]
    return "\n\n".join(
        f"<!-- {path} -->\n{_texts[path].strip()}" for path in pages if path in _texts
    )


def _sections(nav: Any) -> dict[str, list[tuple[str, str]]]:
    """Return the pages of each section of the nav: title and path; single ones are "Start"."""
    found: dict[str, list[tuple[str, str]]] = {"Start": []}
    for entry in nav:
        ((title, inner),) = entry.items()
        if isinstance(inner, str):
            found["Start"].append((title, inner))
        else:
            found[title] = [(name, path) for page in inner for name, path in page.items()]
    return found


def _list(pages: list[tuple[str, str]], address: str) -> str:
    rows = []
    for title, path in pages:
        url = re.sub(r"(?:^|(?<=/))index\.md$|\.md$", lambda end: "/" * (end[0] == ".md"), path)
        said = description(_texts.get(path, ""))
        address_of = address + url or "./"
        rows.append(f"- [{title}]({address_of})" + (f": {said}" if said else ""))
    return "\n".join(rows) + "\n"
