"""README.md stays short, README.zh.md says all that it says, and both name what is there."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGLISH, CHINESE = ROOT / "README.md", ROOT / "README.zh.md"
MAX_LINES, MAX_WORDS = 240, 100


def without_code(text):
    """Prose: fenced and indented code left out, wherever it stands."""
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S)
    return re.sub(r"^(?: {4,}(?! *[-*\d]).*\n)+", "\n", text, flags=re.M)


def paragraphs(text):
    """Blocks of prose, items of lists and rows of tables each by itself."""
    for block in re.split(r"\n\s*\n", without_code(text)):
        yield from re.split(r"\n(?=[-*|#] ?|\d+\. )", block.strip())


def words(paragraph):
    """A Chinese character counts as half a word."""
    return len(re.findall(r"[A-Za-z0-9_./<>$~@*\[\]{}:=-]+", paragraph)) + len(re.findall(r"[\u4e00-\u9fff]", paragraph)) / 2


def headings(path):
    return [len(marks) for marks in re.findall(r"^(#+) ", re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S), re.M)]


def code(path):
    """What can be typed: code spans, and lines of code without their comments and drawings."""
    text = path.read_text()
    lines = [line for block in re.findall(r"^ *```(?:console|yaml)\n(.*?)^ *```$", text, re.M | re.S) for line in block.splitlines()]
    lines += re.findall(r"^ {4,}((?:mtlaunch|make|echo|tar) .*)$", text, re.M)
    return [re.sub(r"\s+#.*|^#.*", "", line).strip() for line in lines]


@pytest.mark.parametrize("path", [ENGLISH, CHINESE], ids=lambda path: path.name)
def test_it_is_short(path):
    text = path.read_text()
    assert len(text.splitlines()) <= MAX_LINES
    for paragraph in paragraphs(text):
        assert words(paragraph) <= MAX_WORDS, paragraph


def test_the_rules_can_fail():
    assert max(words(p) for p in paragraphs("a " * 101)) > MAX_WORDS
    assert max(words(p) for p in paragraphs("- " + "a " * 60 + "\n- " + "a " * 60)) <= MAX_WORDS
    assert max(words(p) for p in paragraphs("```\n" + "a " * 101 + "\n```\n")) == 0


def test_both_languages_say_the_same():
    assert headings(ENGLISH) == headings(CHINESE)
    assert code(ENGLISH) == code(CHINESE) and len(code(ENGLISH)) > 20
    rows = [re.findall(r"^\|", path.read_text(), re.M) for path in (ENGLISH, CHINESE)]
    assert len(rows[0]) == len(rows[1])
    spans = [sorted(set(re.findall(r"`([^`\n]+)`", without_code(path.read_text())))) for path in (ENGLISH, CHINESE)]
    assert spans[0] == spans[1]


@pytest.mark.parametrize("path", [ENGLISH, CHINESE, ROOT / "examples/README.md"], ids=lambda path: f"{path.parent.name}-{path.name}")
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert target.startswith("https://") or (path.parent / target).exists(), target
