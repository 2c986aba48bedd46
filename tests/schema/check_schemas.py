#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates the JSON of every verb against its schema.

    check_schemas.py COMMAND ROOT TRAIN_LM    exit 1 and one line per problem; 77 without jsonschema

docs/schema/NAME.schema.json describes the JSON of a verb; tests/schema/commands.txt has the commands
whose output it must describe: "NAME VERB ARGUMENTS", with $GOLDEN for the folder of golden traces and
$NAME.vst for the traces recorded below. A member that the schema does not describe is a problem here,
although schemas let readers accept more. Each schema must also refuse a document without one of its
members.
"""
import copy
import json
import os
import shlex
import subprocess
import sys
import tempfile
import warnings

try:
    warnings.simplefilter("ignore", DeprecationWarning)
    import jsonschema
except ImportError:
    print("skipped: no python3-jsonschema")
    sys.exit(77)

# Traces of real programs: the name, options of `vramscope run`, arguments of train_lm.
RECORDED = (
    ("plain", "--simulate t4-16g", "--steps 6"),
    ("leak", "--simulate t4-16g,capacity=500MiB", "--steps 30 --leak 8MiB"),
    ("observed", "--simulate t4-16g --allocator=observe", "--steps 6"),
    ("sampled", "--simulate t4-16g --sample 4 --min-size 4KiB", "--steps 6"),
)


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


def validator(schemas, name):
    store = {other: strict(schema) for other, schema in schemas.items()}
    schema = store[name]
    resolver = jsonschema.RefResolver(name, schema, store=store)
    return jsonschema.validators.validator_for(schema)(schema, resolver=resolver)


def no_duplicates(pairs):
    keys = [k for k, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"the member {key} is there twice")
    return dict(pairs)


def record(command, train_lm, folder):
    for name, options, arguments in RECORDED:
        path = os.path.join(folder, name + ".vst")
        subprocess.run([command, "run", "-q", *options.split(), "-o", path, "--", train_lm,
                        *arguments.split()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=120, check=False)
        if not os.path.exists(path):
            sys.exit(f"{name}: no trace was recorded")


def check_command(command, line, folder, golden, schemas, documents):
    """One line of commands.txt; returns its problems."""
    words = shlex.split(line)
    name = words[0] + ".schema.json"
    if name not in schemas:
        return [f"{line}: no docs/schema/{name}"]
    arguments = [w.replace("$GOLDEN", golden).replace("$", folder + "/") for w in words[1:]]
    done = subprocess.run([command, *arguments], capture_output=True, timeout=120, check=False)
    try:
        document = json.loads(done.stdout, object_pairs_hook=no_duplicates)
    except ValueError as why:
        return [f"{line}: exit {done.returncode}, not JSON: {why}; "
                f"{done.stderr.decode(errors='replace')[:300]}"]
    documents.setdefault(name, document)
    problems = []
    for error in validator(schemas, name).iter_errors(document):
        error = jsonschema.exceptions.best_match([error])
        place = "/".join(str(part) for part in error.absolute_path) or "the document"
        problems.append(f"{line}: {place}: {error.message[:300]}")
    return problems[:10]


def check_refusal(schemas, name, document):
    """A schema that accepts anything is no schema."""
    problems = []
    for member in schemas[name].get("required", []):
        less = copy.deepcopy(document)
        del less[member]
        if validator(schemas, name).is_valid(less):
            problems.append(f"{name}: accepts a document without {member}")
    if not schemas[name].get("required"):
        problems.append(f"{name}: requires no member")
    return problems


def main():
    command, root, train_lm = sys.argv[1:4]
    schemas = load(os.path.join(root, "docs", "schema"))
    golden = os.path.join(root, "tests", "golden")
    documents, problems, lines = {}, [], 0
    for name, schema in schemas.items():
        try:
            jsonschema.validators.validator_for(schema).check_schema(schema)
        except jsonschema.SchemaError as why:
            problems.append(f"{name}: not a schema: {why.message}")
    with tempfile.TemporaryDirectory() as folder:
        record(command, train_lm, folder)
        with open(os.path.join(root, "tests", "schema", "commands.txt"), encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    lines += 1
                    problems += check_command(command, line.strip(), folder, golden, schemas,
                                              documents)
    for name in schemas:
        if name in documents:
            problems += check_refusal(schemas, name, documents[name])
        else:
            problems.append(f"{name}: no command of tests/schema/commands.txt prints it")
    for problem in problems:
        print(problem)
    print(f"{lines} commands, {len(schemas)} schemas, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
