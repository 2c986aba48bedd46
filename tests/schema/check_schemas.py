#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates the JSON of every verb against its schema.

    check_schemas.py COMMAND ROOT TRAIN_LM PROGRAMS   exit 1 and a line per problem; 77: no jsonschema

docs/schema/NAME.schema.json describes the JSON of a verb; tests/schema/commands.txt has the commands
whose output it must describe: "NAME VERB ARGUMENTS", with $GOLDEN for the folder of golden traces,
$TRAIN_LM for the program, $PROGRAMS for the folder of the scenarios, $NAME.vst for the traces
of recorded_traces.py, $NAME.txt for the lines of a scenario, and $cut.vst for a trace that is cut off.
With "-> FILE" at its end the document is not the output of the command but FILE, which it writes. A
member that the schema does not describe is a problem here, although schemas let readers accept more.
Each schema must also refuse a document without one of its members, the schema of oom must list every
verdict, and a manual must name each schema.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

import recorded_traces

try:
    warnings.simplefilter("ignore", DeprecationWarning)
    import jsonschema
except ImportError:
    print("skipped: no python3-jsonschema")
    sys.exit(77)

def strict(schema):
    """The same schema, which also refuses members that it does not describe."""
    if isinstance(schema, list):
        return [strict(x) for x in schema]
    if not isinstance(schema, dict):
        return schema
    out = {k: strict(v) for k, v in schema.items()}
    if "properties" in out and isinstance(out["properties"], dict):
        out.setdefault("additionalProperties", False)
    return out


def load(folder):
    schemas = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".schema.json"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                schemas[name] = json.load(file)
    return schemas


def validator(schemas, name, known={}):  # made once
    if name not in known:
        store = {other: strict(schema) for other, schema in schemas.items()}
        schema = store[name]
        resolver = jsonschema.RefResolver(name, schema, store=store)
        known[name] = jsonschema.validators.validator_for(schema)(schema, resolver=resolver)
    return known[name]


def no_duplicates(pairs):
    keys = [k for k, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"the member {key} is there twice")
    return dict(pairs)


def innermost(error):
    """Of alternatives, the first error of the one that the document resembles most."""
    while error.context:
        forms = {}
        for one in error.context:
            forms.setdefault(one.schema_path[0], []).append(one)
        error = min(forms.values(), key=lambda errors: (
            sum(one.validator in ("type", "const") for one in errors), len(errors)))[0]
    return error


def written(path):
    with open(path, "rb") as file:
        return file.read()


def check_command(command, line, words, schemas, documents):
    """One line of commands.txt; returns its problems."""
    name = words[0] + ".schema.json"
    if name not in schemas:
        return [f"{line}: no docs/schema/{name}"]
    arguments = words[1:]
    file = arguments[-1] if arguments[-2:-1] == ["->"] else None
    done = subprocess.run([command, *arguments[:-2 if file else None]], capture_output=True, timeout=600, check=False)
    try:
        text = written(file) if file else done.stdout
        document = json.loads(text, object_pairs_hook=no_duplicates)
    except (OSError, ValueError) as why:
        return [f"{line}: exit {done.returncode}, not JSON: {why}; "
                f"{done.stderr.decode(errors='replace')[:300]}"]
    shortest = documents.setdefault(name, {}).get(frozenset(document))
    if not shortest or len(text) < shortest[0]:
        documents[name][frozenset(document)] = len(text), document
    problems = []
    for error in validator(schemas, name).iter_errors(document):
        error = innermost(error)
        place = "/".join(str(part) for part in error.absolute_path) or "the document"
        problems.append(f"{line}: {place}: {error.message[:300]}")
    return problems[:10]


def required_members(schema):
    """The members that the document or one form of it must have."""
    names = [form["$ref"].rsplit("/", 1)[1] for form in schema.get("oneOf", ())]
    forms = [schema] + [schema["$defs"][name] for name in names]
    return {member for form in forms for member in form.get("required", ())}


def check_refusal(schemas, name, document):
    """A schema that accepts anything is no schema."""
    problems = []
    required = required_members(schemas[name])
    for member in sorted(required.intersection(document)):
        less = {key: value for key, value in document.items() if key != member}
        if validator(schemas, name).is_valid(less):
            problems.append(f"{name}: accepts a document without {member}")
    if not required:
        problems.append(f"{name}: requires no member")
    return problems


def check_verdicts(schemas, root):
    """The schema lists the verdicts of the source."""
    folder = os.path.join(root, "src", "analysis", "oom")
    pattern = re.compile(r'struct vs_verdict vs_verdict_\w+ = \{\s*\.name = "(\w+)"')
    found = set()
    for name in os.listdir(folder):
        if name.endswith(".c"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found.update(pattern.findall(file.read()))
    listed = set(schemas["oom.schema.json"]["$defs"]["verdict"]["enum"])
    return [f"oom.schema.json: the verdict {name} is in the schema or in {folder}, but not in both"
            for name in sorted(found ^ listed)]


def check_manuals(schemas, root):
    """Every schema is named in the manual of a verb."""
    folder, text = os.path.join(root, "docs", "man"), ""
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text += file.read()
    return [f"docs/schema/{name}: no manual names it" for name in sorted(schemas)
            if "docs/schema/" + name not in text]


def main():
    command, root, train_lm, programs = sys.argv[1:5]
    schemas = load(os.path.join(root, "docs", "schema"))
    documents, lines = {}, 0
    problems = check_verdicts(schemas, root) + check_manuals(schemas, root)
    for name, schema in schemas.items():
        try:
            jsonschema.validators.validator_for(schema).check_schema(schema)
        except jsonschema.SchemaError as why:
            problems.append(f"{name}: not a schema: {why.message}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(root, "tests", "schema", "commands.txt")
        for line, words in recorded_traces.commands(path, command, root, train_lm, programs, folder):
            lines += 1
            problems += check_command(command, line, words, schemas, documents)
    for name in schemas:
        for _, document in documents.get(name, {}).values():
            problems += check_refusal(schemas, name, document)
        if name not in documents:
            problems.append(f"{name}: no command of tests/schema/commands.txt prints it")
    for problem in problems:
        print(problem)
    print(f"{lines} commands, {len(schemas)} schemas, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
