"""Whether a value is all that a closed schema says."""

from collections.abc import Mapping
from typing import Any


def assert_holds(value: object, schema: Mapping[str, Any]) -> None:
    """A value is as the schema wants it, in all that a closed schema can say."""
    kind = schema.get("type")
    if kind == "object":
        assert isinstance(value, dict)
        assert set(schema["required"]) <= value.keys() <= schema["properties"].keys()
        for name, held in value.items():
            assert_holds(held, schema["properties"][name])
    elif kind == "array":
        assert isinstance(value, list)
        assert schema.get("minItems", 0) <= len(value) <= schema["maxItems"]
        for held in value:
            assert_holds(held, schema["items"])
    elif kind == "string":
        assert isinstance(value, str)
        assert "enum" not in schema or value in schema["enum"]
        assert schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
    elif kind == "boolean":
        assert isinstance(value, bool)
    elif kind == "integer":
        assert isinstance(value, int)
        assert schema["minimum"] <= value <= schema["maximum"]
    else:
        assert isinstance(value, int | float)  # of fractions llama.cpp's grammars bound nothing: shapes do
