"""The house rules that a machine can see. Each rule: (path, lines of code, raw lines) -> [(line, text)].

    python3 tests/lint/rules.py [ROOT]

The tree is the architecture diagram: a layer includes only what LAYERS allows, a library's header stands only
where LIBRARIES allows. tests/lint/test_rules.py shows for every rule that it can fail.
"""
import re
import sys
from pathlib import Path

# layer -> layers it may include besides itself
LAYERS = {
    "base": [],
    "model": ["base"],
    "launcher": ["base", "model"],
    "input": ["base", "model", "launcher"],
    "check": ["base", "model"],
    "insight": ["base", "model"],
    "node": ["base", "model"],
    "reach": ["base", "model"],
    "transport": ["base", "model", "reach"],
    "run": ["base", "model", "input", "launcher", "check", "insight", "node", "reach", "transport"],
    "report": ["base", "model", "run", "check", "insight"],
    "cmd": ["base", "model", "input", "launcher", "check", "insight", "node", "reach", "transport", "run", "report"],
}

# header -> pattern of the files that may include it, and in how many it may stand
LIBRARIES = {
    "yaml.h": (r"src/input/[^/]+\.c", 1),
    "uv.h": (r"src/transport/([a-z]+/)?[^/]+\.[ch]", None),
    "libssh/": (r"src/transport/ssh/[^/]+\.[ch]", None),
    "openssl/": (r"src/(reach/known_hosts_hash|run/push_sum)\.c", 2),
    "jansson.h": (r"include/base/json\.h", 1),
    "curl/": (r"src/report/[^/]+_internal\.h", 1),
    "archive": (r"src/run/push_libarchive_internal\.h", None),
    "regex.h": (r"(src|include)/(insight|cmd|report|model)/[^/]+\.[ch]", None),
}

PURE = ("model", "launcher", "node", "check", "insight")
IO_CALLS = ("getenv|secure_getenv|setenv|fopen|fdopen|open|openat|popen|system|socket|connect|time|clock_gettime|"
            "gettimeofday|read|write|fork|execv|execve|execvp|unlink|rename|mkdir|stat|opendir|getpwuid|gethostname|uname")
MAY_PRINT = r"src/(cmd|report)/|(src|include)/base/(msg|alloc)\.[ch]$"
MAY_HOLD_GLOBALS = {"src/base/msg.c", "src/base/term.c", "src/report/notify_curl.c", "src/run/push_libarchive.c"}

MAY_KEEP_LINES = {"include/base/text.h", "src/base/text_print.c", "src/report/logview.c", "src/report/dryrun.c", "src/report/dryrun_fold.c",
                  "src/report/failure.c", "src/transport/openssh/openssh.c", "src/run/lastlines.c", "src/run/judge.c",
                  "src/check/setup.c", "src/report/page/html.c"}
MAY_WRITE_RAW = {"src/base/alloc.c", "src/report/failure.c", "src/report/progress.c", "src/cmd/init.c", "src/cmd/trust.c",
                 "src/cmd/main.c", "src/cmd/man_main.c"}

MAX_FILE, MAX_FUNCTION, MAX_COLUMNS = 600, 80, 110


def layer_of(path):
    parts = Path(path).parts
    return parts[1] if len(parts) > 2 and parts[0] in ("src", "include") else None


def strip(text):
    """The code with comments and the insides of literals blanked, line for line."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''

    def blank(match):
        token = match.group(0)
        if token[0] in "\"'":
            return token[0] + " " * (len(token) - 2) + token[0]
        return re.sub(r"[^\n]", " ", token)

    return re.sub(pattern, blank, text, flags=re.S)


def rule_layers(path, _code, raw):
    layer = layer_of(path)
    for number, line in enumerate(raw, 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not match or layer is None:
            continue
        target = match.group(1)
        if "/" not in target and (target.endswith("_internal.h") or target == "cmd.h"):
            continue
        if "/" not in target:
            yield number, f"'{target}': includes name their layer: \"{layer}/{target}\""
            continue
        other = target.split("/")[0]
        if other == layer:
            folder = target.rsplit("/", 1)[0]
            if target.endswith("_internal.h") and not path.startswith(f"src/{folder}/"):
                yield number, f"'{target}' is internal to {folder}"
            continue
        if other not in LAYERS:
            yield number, f"'{target}': no layer '{other}'"
        elif other not in LAYERS[layer]:
            yield number, f"{layer} may not include {other} ('{target}')"
        elif target.endswith("_internal.h") or other == "cmd":
            yield number, f"'{target}' is internal to {other}"


def rule_libraries(path, _code, raw):
    for number, line in enumerate(raw, 1):
        match = re.match(r"\s*#\s*include\s+<([^>]+)>", line)
        for header, (allowed, _most) in LIBRARIES.items():
            if match and match.group(1).startswith(header) and not re.fullmatch(allowed, path):
                yield number, f"<{match.group(1)}> may only stand in {allowed}"


def rule_pure(path, code, _raw):
    if layer_of(path) in PURE:
        for number, line in enumerate(code, 1):
            match = re.search(rf"(?<![\w.>])({IO_CALLS})\s*\(", line)
            if match and not re.match(r"^[a-z].*\b" + match.group(1) + r"\s*\(", line):
                yield number, f"{layer_of(path)} does no I/O: '{match.group(1)}'"


def rule_print(path, code, _raw):
    if layer_of(path) and not re.search(MAY_PRINT, path):
        for number, line in enumerate(code, 1):
            match = re.search(r"\b(printf|vprintf|puts|putchar|perror|stdout|stderr|STDOUT_FILENO|STDERR_FILENO)\b", line)
            if match and "format(" not in line:
                yield number, f"only cmd and report print: '{match.group(1)}'"


def rule_foreign(path, code, _raw):
    """Foreign text is cleaned where it is printed, and keeps its newlines only where its lines are shown as such."""
    if layer_of(path) is None:
        return
    for number, line in enumerate(code, 1):
        if "text_add_safe(" in line and path not in MAY_KEEP_LINES:
            yield number, "a newline in foreign text forges a line: text_add_line or text_add_lines"
        match = re.search(r"\b(printf|fprintf|vprintf|puts|fputs|fwrite)\s*\(", line)
        if match and path not in MAY_WRITE_RAW:
            yield number, f"what is printed goes through msg, failure or output: '{match.group(1)}'"


def rule_globals(path, code, _raw):
    if not path.endswith(".c") or not path.startswith("src/") or path in MAY_HOLD_GLOBALS:
        return
    depth = 0
    for number, line in enumerate(code, 1):
        text = line.strip()
        variable = re.match(r"(static\s+)?(volatile\s+)?(struct \w+|enum \w+|unsigned( \w+)?|\w+)\s+\**(\w+)(\[.*?\])*\s*(=|;)", text)
        if variable and not re.match(r"(return|typedef|goto|extern|else)\b", text):
            at_top, static = depth == 0 and line[:1] not in " \t#", text.startswith("static")
            constant = re.search(r"\bconst\b", text.split("=")[0])
            if (at_top or static) and not constant:
                yield number, f"mutable global '{variable.group(5)}'"
        depth += line.count("{") - line.count("}")


def rule_file_size(path, _code, raw):
    if len(raw) > MAX_FILE:
        yield MAX_FILE + 1, f"{len(raw)} lines, at most {MAX_FILE}"


def rule_function_size(path, code, _raw):
    if not path.endswith(".c"):
        return
    start = head = None
    for number, line in enumerate(code, 1):
        if line[:1] not in ("", " ", "\t", "{", "}", "#", "\n"):
            head = number
        if start is None and head and line.rstrip().endswith("{") and (line.startswith("{") or line[:1] not in " \t}"):
            start = head
        elif start is not None and line.startswith("}"):
            if number - start + 1 > MAX_FUNCTION and not line.startswith("};"):
                yield start, f"function of {number - start + 1} lines, at most {MAX_FUNCTION}"
            start = head = None


def rule_columns(path, _code, raw):
    for number, line in enumerate(raw, 1):
        if len(line.rstrip("\n")) > MAX_COLUMNS + 10 and '"' not in line and "http" not in line:
            yield number, f"{len(line)} columns, at most {MAX_COLUMNS}"


def rule_unfinished(_path, _code, raw):
    for number, line in enumerate(raw, 1):
        match = re.search(r"\b(TODO|FIXME|XXX)\b|#if 0\b", line)
        if match:
            yield number, f"unfinished: '{match.group(0)}'"


def rule_guard(path, _code, raw):
    if path.startswith("include/"):
        guard = "MTLAUNCH_" + re.sub(r"[/.]", "_", path[len("include/"):]).upper()
        if not any(line.startswith(f"#ifndef {guard}") for line in raw):
            yield 1, f"include guard {guard} is missing"
        if not raw or not raw[0].startswith("/*"):
            yield 1, "a header begins with a comment that says what it is for"


def rule_opening(path, _code, raw):
    if path.endswith(".c") and (not raw or not raw[0].startswith("/*")):
        yield 1, "a source file begins with a comment that says what it is for"


def rule_pointers(path, code, _raw):
    """A pointer is its own truth value; outside conditions too, so that there is one way to write it."""
    if path.endswith(".c"):
        for number, line in enumerate(code, 1):
            if re.search(r"[!=]=\s*NULL\b|\bNULL\s*[!=]=", line):
                yield number, "a pointer is compared by itself: 'if (p)', 'if (!p)'"


RULES = {name[5:]: rule for name, rule in list(globals().items()) if name.startswith("rule_")}


def check_text(path, text):
    """All findings in one file: [(path, line, rule, text)]."""
    code, raw = strip(text).splitlines(), text.splitlines()
    return [(path, line, name, what) for name, rule in RULES.items() for line, what in rule(path, code, raw) or ()]


def check_counts(texts):
    """Libraries that may stand in so many files only."""
    for header, (_allowed, most) in LIBRARIES.items():
        users = [p for p, text in texts.items() if re.search(rf"^\s*#\s*include\s+<{re.escape(header)}", text, re.M)]
        if most is not None and len(users) > most:
            yield users[-1], 1, "libraries", f"<{header}> stands in {len(users)} files, at most {most}: {users}"


def check_tree(root):
    texts = {}
    for folder in ("src", "include"):
        for file in sorted(Path(root, folder).rglob("*.[ch]")):
            texts[str(file.relative_to(root))] = file.read_text()
    findings = [f for path, text in texts.items() for f in check_text(path, text)]
    return len(texts), findings + list(check_counts(texts))


def main():
    count, findings = check_tree(sys.argv[1] if len(sys.argv) > 1 else ".")
    for path, line, rule, text in findings:
        print(f"{path}:{line}: {rule}: {text}")
    print(f"rules: {count} files, {len(RULES)} rules, {len(findings)} findings")
    return 1 if findings or not count else 0


if __name__ == "__main__":
    sys.exit(main())
