# SPDX-License-Identifier: Apache-2.0
"""Prints, for each file given after the schema, whether the schema accepts it: 'accepted PATH' or 'rejected PATH: why'."""
import json
import sys

import jsonschema


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for path in sys.argv[2:]:
    try:
        with open(path, encoding="utf-8") as file:
            error = next(validator.iter_errors(json.load(file, parse_constant=refuse_constant)), None)
    except ValueError as problem:  # not JSON at all
        error = problem
    print(f"accepted {path}" if error is None else f"rejected {path}: {str(error).splitlines()[0]}")
