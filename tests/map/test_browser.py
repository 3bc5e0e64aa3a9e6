"""What the page does, in a headless Chromium."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from samedevice import map as map_
from samedevice.migration.migrate import migrate
from samedevice.reading import source
from samedevice.reading.config import Config
from samedevice.reading.project import Project

from .browser import Browser, find

FIXTURES = Path(__file__).parents[2] / "fixtures" / "projects"
PROGRAM = find()

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium or Chrome here")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The map of a program of three files, before and after its repair."""
    root = FIXTURES / "trainer_class" / "before"
    before = Project(map(source.read, sorted(root.glob("*.py"))))
    after = before.like(migrate(before, Config()).sources.values())
    path = tmp_path_factory.mktemp("map") / "map.html"
    path.write_text(
        map_.page(before, Config(), after=after, root=str(root), title="before").text, "utf-8"
    )
    return path


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    assert PROGRAM is not None
    with Browser(PROGRAM) as browser:
        yield browser


@pytest.fixture
def browser(chromium: Browser, file: Path) -> Iterator[Browser]:
    """The page as it is when it is opened; it may ask for nothing and must not stumble."""
    chromium.size(1400, 900)
    chromium.media()
    chromium.problems.clear()
    chromium.open(file)
    chromium.js("localStorage.clear()")
    yield chromium
    assert chromium.requests == [file.resolve().as_uri()]
    assert chromium.problems == []


def mark(line: str, text: str) -> str:
    """Return JavaScript for the value `text` in a line."""
    return (
        f"[...document.getElementById('{line}').querySelectorAll('[data-i]')]"
        f".find(mark => mark.textContent === '{text}')"
    )


CARD = "document.getElementById('card')"


def test_hovering_a_value_tells_its_place_and_the_sites_behind_it(browser: Browser) -> None:
    browser.js(f"{mark('trainer.py:48', 'self.model')}.setAttribute('id', 'it')")
    assert browser.js(f"{CARD}.hidden")
    browser.hover("#it")
    text = browser.js(f"{CARD}.innerText")
    assert text.startswith("device self.model module, on the project's device")
    assert [text.index(site) for site in ("main.py:13", "trainer.py:12")]
    assert browser.js("document.getElementById('it').getAttribute('aria-describedby')") == "card"
    link = f"[...{CARD}.querySelectorAll('a')].find(a => a.textContent === 'main.py:13')"
    browser.js(f"{link}.click()")
    assert browser.js("location.hash") == "#main.py:13"


def test_the_keyboard_goes_from_value_to_value(browser: Browser) -> None:
    browser.js("document.querySelector('[id=\"trainer.py\"] .pane').focus()")
    browser.key("Enter")
    first = browser.js("document.activeElement.textContent")
    assert first == "model"
    assert not browser.js(f"{CARD}.hidden")
    browser.key("ArrowRight")
    assert browser.js("document.activeElement.textContent") == "device"
    browser.key("ArrowDown")
    assert browser.js("document.activeElement.closest('.l').id") == "trainer.py:11"
    browser.key("Enter")
    assert browser.js(f"{CARD}.contains(document.activeElement)")
    browser.key("Escape")
    assert browser.js(f"{CARD}.hidden")
    assert browser.js("document.activeElement.closest('.l').id") == "trainer.py:11"


def test_arrows_lead_from_both_origins_to_where_they_meet(browser: Browser) -> None:
    browser.js("document.getElementById('next').click()")
    browser.js("document.getElementById('next').click()")
    browser.settle()
    ends = browser.js(
        "[...document.querySelectorAll('#arrows .on circle')].map(c => c.classList[0])"
    )
    assert sorted(ends) == ["c", "h"]
    tip = browser.js("document.querySelector('#arrows .on .tip').getBoundingClientRect().top")
    line = "document.getElementById('trainer.py:48').getBoundingClientRect()"
    assert browser.js(f"{line}.top") < tip < browser.js(f"{line}.bottom")
    assert browser.js("document.querySelector('li.on').id") == "finding-2"
    count = "document.querySelectorAll('#arrows g').length"
    browser.js("window.scrollTo({top: 0, behavior: 'instant'})")
    assert browser.js(count) == 1  # and no others, far from view


SHOWN = (
    "['b', 'a'].map(side => [...document.querySelectorAll('.pane.' + side + ' .l')]"
    ".filter(row => row.getClientRects().length).map(row => Math.round(row.offsetTop)))"
)


def test_the_first_screen_has_only_what_is_found_before_and_after(browser: Browser) -> None:
    before, after = browser.js(SHOWN)
    assert 0 < len(before) < 20 and before == after  # of 88
    assert browser.js("document.getElementById('main.py').offsetParent === null")
    lead = browser.js("document.getElementById('lead').innerText")
    assert lead == "⚡ 2 findings in 1 of 3 files. samedevice fix repairs all of them."
    line = "document.getElementById('after:trainer.py:48')"
    assert browser.js(f"{line}.getBoundingClientRect().bottom") < 900  # without scrolling
    assert browser.js(f"{line}.classList.contains('ch')")


def test_only_findings_can_be_left_and_come_back(browser: Browser) -> None:
    few = len(browser.js(SHOWN)[0])
    browser.js("document.getElementById('only').click()")
    assert few < len(browser.js(SHOWN)[0])
    assert browser.js("document.getElementById('main.py').offsetParent !== null")
    browser.js("document.getElementById('only').click()")
    assert few == len(browser.js(SHOWN)[0])
    browser.js("document.getElementById('all').click()")
    assert browser.js("document.activeElement.closest('.file').id") == "main.py"
    browser.js("document.getElementById('only').click()")
    browser.js("location.hash = '#main.py:5'")
    browser.settle()
    assert browser.js("document.getElementById('main.py:5').offsetParent !== null")


def test_a_separator_says_what_is_left_out_and_shows_it_on_both_sides(browser: Browser) -> None:
    separators = "[...document.querySelectorAll('.pane.{} .sep')].filter(s => s.offsetParent)"
    words = separators.format("b") + ".map(s => s.innerText)"
    assert browser.js(words) == ["⋯ 9 lines", "⋯ 29 lines"]
    few = browser.js(SHOWN)
    browser.js(separators.format("a") + "[1].click()")
    assert browser.js(words) == ["⋯ 9 lines"]
    more = browser.js(SHOWN)
    assert [len(side) for side in more] == [len(side) + 29 for side in few]
    assert more[0] == more[1]


def test_arrows_of_other_findings_are_dim_under_the_mouse(
    chromium: Browser, tmp_path: Path
) -> None:
    code = "import torch\nd = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
    code += "w = torch.ones(3, device=d)\na = torch.zeros(3)\nb = torch.ones(3)\n"
    code += "print(w + a)\nprint(w * b)\n"
    path = tmp_path / "map.html"
    path.write_text(map_.page(Project([source.from_text(code, "a.py")]), Config()).text, "utf-8")
    chromium.open(path)
    dim = "[...document.querySelectorAll('#arrows .dim')].map(g => g.dataset.clash)"
    assert chromium.js("document.querySelectorAll('#arrows g').length") == 2
    assert chromium.js(dim) == []
    chromium.hover("[id='a.py:4'] code")
    assert chromium.js(dim) == ["1"]
    chromium.hover("#finding-2 .about")
    assert chromium.js(dim) == ["0"]
    lanes = "[...document.querySelectorAll('#arrows path:not(.tip)')].map(p => p.getBBox().x)"
    assert len(set(chromium.js(lanes))) == 4  # none on top of another


def test_boxes_and_arrows_of_the_drawing_can_be_followed(browser: Browser) -> None:
    on = "[...document.querySelectorAll('.graph .on .name')].map(t => t.textContent)"
    browser.hover(".graph .box:nth-of-type(3) .back")
    names = browser.js(on)
    assert "metrics.py" not in names or "main.py" not in names
    assert browser.js("document.querySelectorAll('.graph .edge.on').length") == 1
    faint = "getComputedStyle(document.querySelector('.graph .box:not(.on)')).opacity"
    browser.js("new Promise(done => setTimeout(done, 200))")
    assert float(browser.js(faint)) < 0.5
    browser.hover("h1")
    assert browser.js("document.querySelectorAll('.graph .on').length") == 0


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_the_page_saves_its_picture(
    browser: Browser, tmp_path: Path, kind: str, start: bytes
) -> None:
    browser("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    address = browser.js("location.href")
    browser.js(f"document.getElementById('{kind}').click()")
    saved = tmp_path / f"before.{kind}"
    for _ in range(100):
        if saved.exists():
            break
        browser.js("new Promise(done => setTimeout(done, 50))")
    data = saved.read_bytes()
    assert data.startswith(start) and len(data) > 10_000
    if kind == "svg":
        assert b"leaves out device" in data and b"prefers-color-scheme" in data
    # what it drew itself is all that it asked for
    assert all(request.startswith(("data:", "blob:")) for request in browser.requests[1:])
    browser.requests[:] = [address]


def test_colours_can_be_put_away(browser: Browser) -> None:
    colour = f"getComputedStyle({mark('trainer.py:47', 'x')}).color"
    plain = "getComputedStyle(document.querySelector('.code')).color"
    assert browser.js(colour) != browser.js(plain)
    browser.js("document.querySelector('.key.h').click()")
    assert browser.js(colour) == browser.js(plain)
    assert browser.js("document.querySelector('.key.h').getAttribute('aria-pressed')") == "false"


def test_places_differ_by_more_than_their_colour(browser: Browser) -> None:
    styles = browser.js(
        "['h', 'c', 'x', 'f', 'u'].map(p => getComputedStyle("
        "document.querySelector('.key .v.' + p)).textDecorationStyle)"
    )
    assert len(set(styles)) == 5
    browser.js("document.getElementById('letters').click()")
    letter = f"getComputedStyle({mark('trainer.py:47', 'x')}, '::after').content"
    assert browser.js(letter) == '"C"'


def test_light_and_dark(browser: Browser, file: Path) -> None:
    page = "getComputedStyle(document.body).backgroundColor"
    light = browser.js(page)
    browser.media("dark")
    dark = browser.js(page)
    assert dark != light
    browser.js("document.getElementById('theme').click()")
    assert browser.js(page) == light
    browser.open(file)
    assert browser.js(page) == light  # remembered


def test_contrast_is_enough_to_read(browser: Browser) -> None:
    measure = """(() => {
      const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
      const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1); return canvas.getImageData(0, 0, 1, 1).data };
      const light = (c) => [...c].slice(0, 3).map(v => (v /= 255) <= .03928 ? v / 12.92
        : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
      return [...document.querySelectorAll('.key .v')].map(v => {
        const ink = light(rgb(getComputedStyle(v).color));
        let back = getComputedStyle(v).backgroundColor;
        if (back === 'rgba(0, 0, 0, 0)') back = getComputedStyle(document.body).backgroundColor;
        const paper = light(rgb(back));
        return (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05) }) })()"""
    for scheme in ("light", "dark"):
        browser.media(scheme)
        assert min(browser.js(measure)) >= 4.5  # WCAG AA


def test_sides(browser: Browser) -> None:
    seen = "['b', 'a'].map(s => document.querySelector('.pane.' + s).offsetParent !== null)"
    assert browser.js(seen) == [True, True]
    for side, expected in (("before", [True, False]), ("after", [False, True])):
        browser.js(f"document.querySelector('input[value={side}]').click()")
        assert browser.js(seen) == expected


def test_a_link_to_a_line(browser: Browser, file: Path) -> None:
    browser.open(file, "#trainer.py:48")
    box = "document.getElementById('trainer.py:48').getBoundingClientRect()"
    browser.js("new Promise(done => setTimeout(done, 300))")
    assert 0 < browser.js(f"{box}.top") < 900


def test_print_shows_all_code_and_no_tools(browser: Browser) -> None:
    browser.media(media="print")
    assert browser.js("getComputedStyle(document.querySelector('.tools')).display") == "none"
    assert (
        browser.js("getComputedStyle(document.querySelector('.l code')).whiteSpace") == "pre-wrap"
    )
    letter = f"getComputedStyle({mark('trainer.py:47', 'x')}, '::after').content"
    assert browser.js(letter) == '"C"'


def test_narrow_windows_need_no_sideways_scrolling(browser: Browser) -> None:
    for width in (380, 800):
        browser.size(width, 800)
        browser.settle()
        assert browser.js("document.documentElement.scrollWidth") <= width
        cut = "[...document.querySelectorAll('.files th a, .path a, .findings p')]"
        heights = f"{cut}.filter(e => e.offsetParent).map(e => e.getBoundingClientRect().height)"
        assert max(browser.js(heights)) < 90  # no name goes down letter by letter


def test_programs_stand_below_each_other_where_there_is_no_room(
    chromium: Browser, tmp_path: Path
) -> None:
    code = "import torch\nx = torch.ones(2).cuda()\n"
    names = [f"program_{number}.py" for number in range(6)]
    page = map_.page(Project([source.from_text(code, name) for name in names]), Config())
    (tmp_path / "map.html").write_text(page.text, "utf-8")
    chromium.media()
    heights = []
    for width in (1400, 400):
        chromium.size(width, 900)
        chromium.open(tmp_path / "map.html")
        scroll = "document.querySelector('.graph .scroll')"
        assert chromium.js(f"{scroll}.scrollWidth - {scroll}.clientWidth") == 0
        heights.append(chromium.js("document.querySelector('.graph svg').clientHeight"))
    assert heights[1] > 2 * heights[0]
    chromium.size(1400, 900)
    chromium.settle()
    assert chromium.js("document.querySelector('.graph svg').clientHeight") == heights[0]


def test_names_and_roles_for_screen_readers(browser: Browser) -> None:
    nameless = (
        "[...document.querySelectorAll('button, a[href], [role=button], [role=region], input')]"
        ".filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() ||"
        " e.closest('label')?.textContent.trim())).length"
    )
    assert browser.js(nameless) == 0
    repeated = (
        "(() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id);"
        "return ids.length - new Set(ids).size })()"
    )
    assert browser.js(repeated) == 0
    broken = (
        "[...document.querySelectorAll('a[href^=\"#\"]')]"
        ".map(a => a.getAttribute('href').slice(1)).filter(id => !document.getElementById(id))"
    )
    assert browser.js(broken) == []


@pytest.mark.skipif("AXE_CORE" not in os.environ, reason="AXE_CORE names no axe.min.js of npm")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, scheme: str) -> None:
    browser.media(scheme)
    browser("Page.setBypassCSP", enabled=True)
    browser("Runtime.evaluate", expression=Path(os.environ["AXE_CORE"]).read_text("utf-8"))
    found = "axe.run().then(r => r.violations.map(v => [v.id, v.impact, v.nodes[0].html]))"
    assert browser.js(found) == []


def test_five_thousand_lines(chromium: Browser, tmp_path: Path) -> None:
    lines = ["import torch", "device = torch.device('cuda')", "w = torch.ones(3, device=device)"]
    for at in range(833):
        lines += [f"def f_{at}(t):", f"    z = torch.zeros({at})", "    return t + z + w", ""]
        lines += [f"f_{at}(w)", ""]
    path = tmp_path / "map.html"
    program = Project([source.from_text("\n".join(lines), "long.py")])
    path.write_text(map_.page(program, Config()).text, "utf-8")
    chromium.size(1400, 900)
    chromium.open(path, "#long.py:4000")
    chromium.js("new Promise(done => setTimeout(done, 300))")
    box = chromium.js("document.getElementById('long.py:4000').getBoundingClientRect().top")
    assert 0 < box < 900
    assert chromium.js("performance.now()") < 30_000  # on a busy machine
    assert 0 < chromium.js("document.querySelectorAll('#arrows g').length") < 60  # of 833
