"""What `schemathesis` does besides: the requests of `seeds.py`, and a record of what each operation answered."""

import base64
import collections
import json
import pathlib

import schemathesis

ROOT = pathlib.Path.cwd()
GIVEN = json.loads((ROOT / "given.json").read_text(encoding="utf-8"))
CALLS = GIVEN["calls"]
KEYS = collections.Counter()
ANSWERED = open(ROOT / "answered.jsonl", "w", encoding="utf-8", buffering=1)


def id_of(context):
    return context.operation.definition.raw.get("operationId")


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Bodies and headers that are valid, so that what is made up of them fails at one place and not at the first."""
    for name, value in GIVEN["headers"].items():
        raw_schema["components"]["parameters"][f"checkfu-{name}"]["example"] = value
    for item in raw_schema["paths"].values():
        for operation in item.values():
            call = CALLS.get(operation["operationId"], {})
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content and call.get("body"):
                content["example"] = call["body"]


@schemathesis.hook
def before_add_examples(context, examples):
    """Only the request that must be answered with 2xx: what is made up comes after, for it may end what others need."""
    call = dict(CALLS[id_of(context)])
    if "bytes" in call:
        call["body"] = base64.b64decode(call.pop("bytes"))
    examples[:] = [context.operation.Case(**call)]


@schemathesis.hook
def before_call(context, case, kwargs):
    """What everything else needs is not ended: its own token, of which `tokens.list` tells, and the apply."""
    if case.path_parameters.get("id") in GIVEN["kept"].get(id_of(context), []):
        case.path_parameters["id"] = "none"
    # Few keys are made up. Each is sent twice; then it would say no more than that it is used.
    key = (case.headers or {}).get("idempotency-key")
    if key is not None:
        KEYS[key] += 1
        if KEYS[key] > 2:
            case.headers["idempotency-key"] = f"{key}{KEYS[key]}"


@schemathesis.hook
def after_call(context, case, response):
    ANSWERED.write(json.dumps([id_of(context), response.status_code]) + "\n")
