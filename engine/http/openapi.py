"""The description of the service: OpenAPI 3.1, made of the endpoints and of the models that read and write."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from engine.http.bodies import NoBody, NoQuery
from engine.http.endpoint import Way
from engine.http.faults import STATUS, FaultReply, phrase
from engine.http.reading import LARGEST_BODY
from engine.http.sending import JSON

OPENAPI_PATH: Final = "/v1/openapi.json"
_Refs: TypeAlias = Mapping[Any, dict[str, Any]]
"""Models with their modes, and where their schemas stand."""
_REFERENCE: Final = "#/components/schemas/{model}"
_ANYWHERE: Final = (401, 421, 500, 503)
"""Statuses that any request can meet."""
_OF_BODIES: Final = (400, 408, 413, 415, 422)
_ABOUT: Final = f"""\
The sessions and the knowledge of one open save.

Every request but `GET /healthz` bears the token of the service: `Authorization: Bearer TOKEN`. Every reply that is no success has one
shape, `{{"error": {{"kind", "message", "advice", "field"}}}}`: `kind` is a word that programs can go by, and `field`, when it is there,
says where in the body or the query the fault is. Times are world time, without a zone. Texts name people by true names, or with `viewer`
as that one calls them. Bodies are JSON objects of at most {LARGEST_BODY:,} bytes, nested at most 200 deep. What is not described is
refused.

A cap that forbids a call to a model is 402: no waiting helps, but raising it does.
"""


@cache
def described(ways: Sequence[Way]) -> bytes:
    """The description as it is served."""
    return json.dumps(description(ways), ensure_ascii=False, indent=1).encode()


def description(ways: Sequence[Way]) -> dict[str, Any]:
    """The description of these endpoints."""
    wanted: list[tuple[type[BaseModel], JsonSchemaMode]] = [(FaultReply, "serialization")]
    for way in ways:
        wanted.append((way.reply, "serialization"))
        wanted += [(way.body, "validation")] if way.body is not NoBody else []
    mapping, schemas = models_json_schema(list(dict.fromkeys(wanted)), ref_template=_REFERENCE)
    paths: dict[str, dict[str, Any]] = {}
    for way in ways:
        paths.setdefault(way.path, {})[way.method.lower()] = _operation(way, mapping)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Otherminds", "version": "1", "description": _ABOUT, "license": {"name": "MIT", "identifier": "MIT"}},
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "tags": [{"name": "sessions"}, {"name": "knowledge"}, {"name": "service"}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas["$defs"],
            "responses": {str(status): _fault(status, mapping) for status in sorted(set(STATUS.values()))},
        },
    }


def _operation(way: Way, mapping: _Refs) -> dict[str, Any]:
    reply = {JSON: {"schema": mapping[way.reply, "serialization"]}}
    faults = {*way.faults, *_ANYWHERE, *(_OF_BODIES if way.method != "GET" else ())}
    found: dict[str, Any] = {
        "operationId": way.name, "summary": way.title, "tags": [_tag(way.path)],
        "responses": {
            **{str(status): {"description": text, "content": reply} for status, text in way.successes.items()},
            **{str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(faults)},
        },
    }
    if way.about:
        found["description"] = way.about
    if parameters := list(_parameters(way)):
        found["parameters"] = parameters
    if way.body is not NoBody:
        found["requestBody"] = {"required": True, "content": {JSON: {"schema": mapping[way.body, "validation"]}}}
    return found


def _parameters(way: Way) -> Iterator[dict[str, Any]]:
    if "{id}" in way.path:
        yield {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    if way.query is NoQuery:
        return
    schema = way.query.model_json_schema()
    for name, field in schema["properties"].items():
        about = {"description": field.pop("description")} if "description" in field else {}
        field.pop("title", None)
        yield {"name": name, "in": "query", "required": name in schema.get("required", ()), "schema": _given(field), **about}


def _given(field: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter: it can be left out, but nobody sends null in a query."""
    options = [option for option in field.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1:
        rest = {name: value for name, value in field.items() if name != "anyOf" and (name, value) != ("default", None)}
        return {**options[0], **rest}
    return field


def _fault(status: int, mapping: _Refs) -> dict[str, Any]:
    kinds = [kind for kind, its in STATUS.items() if its == status]
    said = f"{phrase(status)}: {', '.join(f'`{kind}`' for kind in kinds)}."
    found: dict[str, Any] = {"description": said, "content": {JSON: {"schema": mapping[FaultReply, "serialization"]}}}
    if status == 401:
        found["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}}}
    return found


def _tag(path: str) -> str:
    return "sessions" if "/sessions" in path else "knowledge" if "/memory/" in path else "service"
