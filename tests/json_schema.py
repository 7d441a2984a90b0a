"""Every JSON output that a test sees is checked against the schema that `mtlaunch help json` prints.

A new output: a definition in src/cmd/schema/mtlaunch.schema.json, in its top `anyOf`, and in OUTPUTS here.
"""
import json
from functools import lru_cache
from pathlib import Path

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

SCHEMA = Path(__file__).resolve().parents[1] / "src/cmd/schema/mtlaunch.schema.json"

# What each command may print; each may print a failure instead.
OUTPUTS = {
    "start": ["run", "plan", "log_line"], "stop": ["run", "run_entries"], "wait": ["run", "run_entries"],
    "supervise": ["run"], "status": ["run", "runs"], "list": ["runs"], "show": ["record"],
    "remove": ["removed", "removals"], "hosts": ["hosts", "host_keys"], "exec": ["exec"],
    "logs": ["log_line", "saved"], "signal": ["signal"], "stacks": ["stacks"], "container": ["container"], "check": ["check", "checks"],
    "init": ["written"],
    "version": ["version"], "push": ["copy"], "diagnose": ["diagnosis"], "compare": ["comparison"], "ladder": ["ladder"],
    "metrics": ["metrics", "written", "served"], "report": ["report"], "pull": ["copy"],
}


@lru_cache(maxsize=None)
def validator(name):
    schema = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator({"$schema": schema["$schema"], "$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})


def parse(text):
    """The object, or one a line; None when it is neither."""
    try:
        return [json.loads(text)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return None


def check_output(words, text):
    """words: of the call, the command first; text: what it printed."""
    words = [str(word) for word in words]
    own = words[:words.index("--")] if "--" in words else words
    if not words or "--json" not in own or not text:
        return
    objects = parse(text)
    foreign = words[0] == "exec" and not text.startswith("{")  # --json may be a word of the command
    if objects is None and foreign:
        return
    assert objects is not None, f"{words}: no JSON: {text[:500]}"
    allowed = [*OUTPUTS.get(words[0], []), "failure"]
    for value in objects:
        if foreign and not (isinstance(value, dict) and "schema" in value):
            continue
        if not any(validator(name).is_valid(value) for name in allowed):
            said = [f"{name}: {error.json_path}: {error.message[:300]}" for name in allowed
                    for error in [best_match(validator(name).iter_errors(value))]]
            raise AssertionError(f"{words}: the output is none of the schema's:\n" + "\n".join(said) + f"\n{value}")
