"""Every lint rule can fail: a text that breaks it is found, the tidy one beside it is not."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import rules  # noqa: E402  pylint: disable=wrong-import-position

LONG = "int f(void)\n{\n" + "    g();\n" * 80 + "}\n"
GUARD = "/* What it is for. */\n#ifndef MTLAUNCH_BASE_X_H\n#define MTLAUNCH_BASE_X_H\n#endif\n"

BAD_AND_GOOD = [
    ("layers", "src/base/x.c", '#include "model/host.h"\n', '#include "base/str.h"\n'),
    ("layers", "src/model/x.c", '#include "run/plan.h"\n', '#include "base/str.h"\n'),
    ("layers", "src/transport/x.c", '#include "run/store.h"\n', '#include "model/host.h"\n'),
    ("layers", "src/reach/x.c", '#include "transport/fleet.h"\n', '#include "model/host.h"\n'),
    ("layers", "src/transport/fleet/x.c", '#include "transport/ssh/x_internal.h"\n', '#include "transport/x_internal.h"\n'),
    ("layers", "src/run/x.c", '#include "report/json.h"\n', '#include "transport/fleet.h"\n'),
    ("layers", "src/run/x.c", '#include "node/node_internal.h"\n', '#include "run/run_internal.h"\n'),
    ("layers", "src/run/x.c", '#include "store.h"\n', '#include "run/store.h"\n'),
    ("layers", "include/launcher/x.h", '#include "input/yaml.h"\n', '/* x */\n#ifndef MTLAUNCH_LAUNCHER_X_H\n'),
    ("libraries", "src/run/x.c", "#include <yaml.h>\n", "#include <unistd.h>\n"),
    ("libraries", "src/report/x.c", "#include <jansson.h>\n", "#include <stdio.h>\n"),
    ("libraries", "src/transport/fleet/fleet.c", "#include <libssh/libssh.h>\n", "#include <uv.h>\n"),
    ("libraries", "src/reach/x.c", "#include <openssl/evp.h>\n", "#include <netdb.h>\n"),
    ("libraries", "src/cmd/x.c", "#include <uv.h>\n", "#include <stdio.h>\n"),
    ("pure", "src/model/x.c", "int f(void)\n{\n    return open(name, 0);\n}\n", "int f(void)\n{\n    return reopen(name);\n}\n"),
    ("pure", "src/launcher/x.c", "int f(void)\n{\n    x = getenv(name);\n}\n", "/* getenv(name) */\n"),
    ("print", "src/run/x.c", '    printf("x");\n', '    snprintf(b, n, "printf");\n'),
    ("print", "src/transport/x.c", '    fprintf(stderr, "x");\n', "    fprintf(file, text);\n"),
    ("foreign", "src/report/x.c", "    text_add_safe(out, bytes, len);\n", "    text_add_line(out, bytes, len);\n"),
    ("foreign", "src/cmd/x.c", '    printf("%s", text);\n', '    snprintf(b, n, "%s", text);\n'),
    ("globals", "src/run/x.c", "static int count;\n", "static const int count = 3;\n"),
    ("globals", "src/run/x.c", "int f(void)\n{\n    static unsigned calls = 0;\n}\n", "int f(void)\n{\n    unsigned calls = 0;\n}\n"),
    ("file_size", "src/run/x.c", "int x(void);\n" * 601, "int x(void);\n" * 600),
    ("function_size", "src/run/x.c", LONG, LONG.replace("    g();\n", "", 5)),
    ("columns", "src/run/x.c", "int " + "x" * 130 + "(void);\n", "int x(void);\n"),
    ("unfinished", "src/run/x.c", "/* TODO: more */\n", "/* all done */\n"),
    ("unfinished", "src/run/x.c", "#if 0\n", "#if 1\n"),
    ("pointers", "src/run/x.c", "    if (p == NULL) {\n", "    if (!p) {\n"),
    ("pointers", "src/run/x.c", "    return p != NULL;\n", "    return p;\n"),
    ("opening", "src/run/x.c", "int x(void);\n", "/* What it is for. */\nint x(void);\n"),
    ("guard", "include/base/x.h", "/* x */\n#ifndef X_H\n", GUARD),
    ("guard", "include/base/x.h", GUARD.split("\n", 1)[1], GUARD),
]


@pytest.mark.parametrize("rule,path,bad,good", BAD_AND_GOOD)
def test_rule_finds_the_bad_and_passes_the_good(rule, path, bad, good):
    assert rule in {f[2] for f in rules.check_text(path, bad)}
    assert rule not in {f[2] for f in rules.check_text(path, good)}


def test_a_library_in_one_file_only():
    texts = {"src/input/a.c": "#include <yaml.h>\n", "src/input/b.c": "#include <yaml.h>\n"}
    assert list(rules.check_counts(texts))
    assert not list(rules.check_counts({"src/input/a.c": "#include <yaml.h>\n"}))


def test_every_rule_is_shown_to_fail():
    assert {case[0] for case in BAD_AND_GOOD} == set(rules.RULES)


def test_every_folder_is_a_layer():
    root = Path(__file__).resolve().parents[2]
    for folder in ("src", "include"):
        assert {p.name for p in (root / folder).iterdir() if p.is_dir()} <= set(rules.LAYERS)
