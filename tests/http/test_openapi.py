#!/usr/bin/env python3
"""http/openapi.json against the routes: the same paths, methods and queries, and every
answer of a server is as its schema says.

    python3 tests/http/test_openapi.py PATH/TO/cocabo [unittest arguments]
"""

import json
import os
import random
import re
import sys
import unittest
import urllib.parse

import test_http

DESCRIPTION = json.loads((test_http.ROOT / "http/openapi.json").read_text())
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
         "integer": int, "number": (int, float)}


def resolve(schema):
    if "$ref" not in schema:
        return schema
    found = DESCRIPTION
    for part in schema["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return found


def is_kind(value, kind):
    return isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def faults(value, schema, at=""):
    """What JSON Schema would find, of the words that the description uses."""
    schema = resolve(schema)
    unknown = set(schema) - {"type", "properties", "required", "additionalProperties", "items",
                             "enum", "anyOf", "minimum", "maximum", "default"}
    if unknown:
        return [f"{at}: the schema says {unknown}"]
    if "anyOf" in schema:
        tried = [faults(value, one, at) for one in schema["anyOf"]]
        return [] if [] in tried else min(tried, key=len)
    if "enum" in schema and not any(value == e and type(value) is type(e) for e in schema["enum"]):
        return [f"{at}: {value!r} is none of {schema['enum']}"]
    kinds = schema.get("type", list(KINDS))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not any(is_kind(value, kind) for kind in kinds):
        return [f"{at}: {str(value)[:60]!r} is no {kinds}"]
    found = []
    if isinstance(value, dict):
        found += [f"{at}: no {key}" for key in schema.get("required", []) if key not in value]
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            found += [f"{at}: unknown {key}"] if inner is False else faults(item, inner or {}, f"{at}/{key}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            found += faults(item, schema.get("items", {}), f"{at}/{i}")
    elif is_kind(value, "number"):
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            found.append(f"{at}: {value} is out of range")
    return found


def routes():
    """(method, path): query of every row of the table."""
    text = (test_http.ROOT / "http/routes.c").read_text()
    rows = re.findall(r'\{"(GET|POST)",\s*"(/api[^"]*)",\s*(NULL|"[^"]*"),', text)
    return {(method.lower(), path): set() if query == "NULL" else set(query.strip('"').split())
            for method, path, query in rows}


def operations():
    for path, methods in DESCRIPTION["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


class Description(unittest.TestCase):
    def test_it_has_the_routes_and_no_others(self):
        described = {(method, path): {p["name"] for p in operation.get("parameters", [])
                                      if p["in"] == "query"}
                     for method, path, operation in operations()}
        self.assertGreater(len(described), 15)
        self.assertEqual(described, routes())

    def test_its_version_is_ours(self):
        header = (test_http.ROOT / "include/cocabo.h").read_text()
        parts = [re.search(rf"COCABO_VERSION_{part} (\d+)", header)[1]
                 for part in ("MAJOR", "MINOR", "PATCH")]
        self.assertEqual(DESCRIPTION["info"]["version"], ".".join(parts))

    def test_the_check_finds_faults(self):
        trial = {"$ref": "#/components/schemas/Told"}
        good = {"number": 1, "state": "failed", "seq": 3}
        self.assertEqual(faults(good, trial), [])
        for bad in ({**good, "seq": "3"}, {**good, "more": 1}, {"number": 1}, [], None,
                    {**good, "state": "lost"}, {**good, "number": True}, {**good, "number": 1.5}):
            self.assertTrue(faults(bad, trial), bad)


class Answers(test_http.Case):
    def setUp(self):
        super().setUp()
        self.make()
        self.cocabo("create", "--study", "empty", "-p", "x=float(0,1)")
        self.server = self.serve("--allow-tell", "--allow-store")
        self.rng = random.Random(7)

    def check(self, operation, path, status, headers, content):
        answers = operation["responses"]
        self.assertIn(str(status), answers, f"{path}: {content[:200]}")
        described = resolve(answers[str(status)])["content"]
        kind = headers["Content-Type"]
        self.assertIn(kind, described, path)
        self.assertEqual(faults(json.loads(content), described[kind]["schema"]), [], path)

    def value_of(self, parameter):
        """One that is right, or at an end, or wrong."""
        schema, wild = parameter["schema"], self.rng.random()
        if parameter["name"] == "name":
            return "svm" if wild < 0.7 else self.rng.choice(["empty", "nope", "..", "%", "é" * 90])
        if parameter["name"] in ("x", "y"):
            return self.rng.choice(["lr", "k", "deg", "size"]) if wild < 0.8 else "nope"
        low, high = schema["minimum"], min(schema.get("maximum", 30), 10 ** 18)
        if wild < 0.6:
            return str(self.rng.randint(low, min(high, low + 40)))
        return self.rng.choice([str(low), str(high), str(low - 1), str(high + 1), "x", "", "1.5",
                                "-0", "9" * 30])

    def path_for(self, path, operation):
        query = []
        for parameter in operation.get("parameters", []):
            value = self.value_of(parameter)
            if parameter["in"] == "path":
                path = path.replace("{" + parameter["name"] + "}", urllib.parse.quote(value, safe=""))
            elif parameter["required"] or self.rng.random() < 0.6:
                query.append(parameter["name"] + "=" + urllib.parse.quote(value, safe=""))
        return path + ("?" + "&".join(query) if query else "")

    def test_every_get_answers_as_described(self):
        seen = set()
        for method, path, operation in operations():
            if method != "get" or path.endswith("/events"):
                continue
            for _ in range(20):
                target = self.path_for(path, operation)
                answer = self.server.ask(target)
                seen.add((path, answer[0]))
                if "//" not in target and not target.endswith("/") and "%25" not in target:
                    self.check(operation, target, *answer)
            self.assertIn((path, 200), seen)
        self.assertTrue({400, 404, 409} <= {status for _, status in seen})

    def content_for(self, schema, depth=0):
        """Something that the schema may or may not allow."""
        schema = resolve(schema)
        if self.rng.random() < 0.08:
            return self.rng.choice([None, [], {}, "x", -1, 1e308, True, 1.5])
        if schema.get("type") == "object":
            names = {k: v for k, v in schema.get("properties", {}).items()
                     if k in schema.get("required", []) or self.rng.random() < 0.4}
            out = {k: self.content_for(v, depth + 1) for k, v in names.items()}
            extra = schema.get("additionalProperties")
            if isinstance(extra, dict):
                out.update({f"n{i}": self.content_for(extra, depth + 1) for i in range(2)})
            elif self.rng.random() < 0.1:
                out["command"] = ["true"]
            return out
        if schema.get("type") == "integer":
            return self.rng.randint(0, 30)
        if schema.get("type") == "number":
            return self.rng.choice([0.5, 3, 1e-300, self.rng.random()])
        return self.rng.choice(["", "text", "é", "a" * 300])

    def test_every_post_answers_as_described(self):
        seen = set()
        for method, path, operation in operations():
            if method != "post" or path.startswith("/api/store/"):  # those: test_raw_store.py
                continue
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            for _ in range(40):
                document = self.content_for(schema)
                answer = self.server.ask(path.replace("{name}", "svm"), "POST", json.dumps(document),
                                         Content_Type="application/json")
                seen.add((path, answer[0]))
                self.check(operation, path, *answer)
                if answer[0] == 200:
                    self.assertEqual(faults(document, schema), [], document)
        self.assertEqual({path for path, status in seen if status == 200},
                         {path for method, path, _ in operations()
                          if method == "post" and not path.startswith("/api/store/")})
        self.cocabo("verify", "--study", "svm")


if __name__ == "__main__":
    test_http.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
