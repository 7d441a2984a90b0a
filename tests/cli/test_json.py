"""The schema that `help json` prints: it is one, it is installed as it is, and it can refuse."""
import copy
import json
import re

import pytest
from conftest import help_commands
from json_schema import OUTPUTS, SCHEMA, check_output, validator
from jsonschema import Draft202012Validator

ALL = json.loads(SCHEMA.read_text())


def test_help_json_prints_the_schema(cli):
    assert json.loads(cli.mt("help", "json").stdout) == ALL
    Draft202012Validator.check_schema(ALL)
    assert ALL["$schema"].endswith("2020-12/schema")


def test_every_output_and_definition_is_used():
    outputs = {name for names in OUTPUTS.values() for name in names} | {"failure"}
    assert outputs == {entry["$ref"].split("/")[-1] for entry in ALL["anyOf"]}
    used = set(re.findall(r"#/\$defs/(\w+)", SCHEMA.read_text()))
    assert used == set(ALL["$defs"])


def test_every_command_with_a_json_form_has_an_output():
    assert set(OUTPUTS) == set(help_commands()) - {"help", "completion"}


def test_every_object_is_closed():
    def walk(value, path):
        if isinstance(value, dict):
            if "properties" in value:
                assert value["additionalProperties"] is False and value["required"], path
            for key, below in value.items():
                walk(below, f"{path}.{key}")
        elif isinstance(value, list):
            for below in value:
                walk(below, path)
    walk(ALL["$defs"], "")


def outputs(cli):
    (cli.folder / "j.yaml").write_text("program: x.py\nhosts: 'a,b slots=8'\n")
    return [["version", "--json"], ["list", "--json"], ["hosts", "-H", "a,b", "--json"], ["init", "x", "--json"],
            ["start", "j.yaml", "r", "--dry-run", "--json"], ["exec", "--json", "--", "echo", "x"],
            ["remove", "--ended", "--json"]]


def test_outputs_fit_and_a_key_too_few_or_too_many_does_not(cli):
    for words in outputs(cli):
        text = cli.mt(*words).stdout  # checks it
        value = json.loads(text)
        for key in value:
            less = copy.deepcopy(value)
            del less[key]
            with pytest.raises(AssertionError):
                check_output(words, json.dumps(less))
        with pytest.raises(AssertionError):
            check_output(words, json.dumps({**value, "more": 1}))
    assert not validator("time").is_valid("2026-11-30 10:00:00")


def test_errors_fit(cli):
    for words, code in [(["status", "none", "--json"], 6), (["start", "none.yaml", "--json"], 2), (["stop", "--json"], 2),
                        (["help", "--json"], 2), (["logs", "none", "--json"], 6), (["foo", "--json"], 2)]:
        assert json.loads(cli.mt(*words, code=code).stdout)["error"]["code"] == code
