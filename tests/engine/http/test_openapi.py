"""The description that is served says what is served: all of it, and nothing else."""

from typing import Any

from openapi_spec_validator import OpenAPIV31SpecValidator
from starlette.applications import Starlette
from starlette.routing import Route

from engine.http import app as service_app
from engine.http.app import WAYS
from engine.http.bodies import NoBody
from engine.http.faults import STATUS
from engine.http.service import Service
from tests.engine.http.conftest import TOKEN, Api


async def test_the_description_is_valid_openapi(api: Api) -> None:
    description = await api.described()
    assert description["openapi"] == "3.1.0"
    assert [str(error) for error in OpenAPIV31SpecValidator(description).iter_errors()] == []


async def test_every_address_and_method_is_described_and_nothing_else(api: Api, service: Service) -> None:
    description = await api.described()
    described = {(path, method.upper()) for path, ways in description["paths"].items() for method in ways}
    guard: Any = service_app.make_app(service, TOKEN)
    served = guard._app
    assert isinstance(served, Starlette)
    routes = [route for route in served.routes if isinstance(route, Route)]
    assert len(routes) == len(served.routes)
    bare = {"/healthz", "/v1/openapi.json"}
    found = {(route.path, method) for route in routes for method in route.methods or () if method != "HEAD" and route.path not in bare}
    assert found == described
    assert bare == {route.path for route in routes} - set(description["paths"])


async def test_the_six_operations_are_where_the_seed_has_them(api: Api) -> None:
    paths = (await api.described())["paths"]
    one = "/v1/memory/sessions/{id}"
    for path, method in (
        ("/v1/memory/sessions", "post"), (f"{one}/turns", "post"), (f"{one}/pin", "post"), (f"{one}/scratch", "post"),
        (f"{one}/collapse", "post"), (one, "delete"),
    ):  # fmt: skip
        assert method in paths[path]


async def test_all_that_is_read_and_written_is_described(api: Api) -> None:
    description = await api.described()
    schemas = description["components"]["schemas"]
    for way in WAYS:
        operation = description["paths"][way.path][way.method.lower()]
        given = {parameter["name"] for parameter in operation.get("parameters", ())}
        assert given == set(way.query.model_fields) | ({"id"} if "{id}" in way.path else set())
        assert ("requestBody" in operation) == (way.body is not NoBody)
        assert {str(status) for status in (*way.successes, *way.faults, 401, 500)} <= set(operation["responses"])
    assert {str(status) for status in STATUS.values()} == set(description["components"]["responses"])
    turn = schemas["TurnGiven"]
    assert turn["required"] == ["role", "content"]
    assert turn["additionalProperties"] is False
    assert (turn["properties"]["content"]["maxLength"], turn["properties"]["role"]["enum"]) == (20_000, ["agent", "actor", "note"])
    assert schemas["Fault"]["required"] == ["kind", "message", "advice"]
    assert schemas["SessionWhole"]["required"] == [
        "id", "state", "scratch", "tasks", "meta", "turns", "report", "summary", "collapses", "became",
    ]  # fmt: skip
    collapse = description["paths"]["/v1/memory/sessions/{id}/collapse"]["post"]
    assert "Idempotent" in collapse["description"]
    assert set(collapse["responses"]) >= {"200", "202", "402", "502"}
