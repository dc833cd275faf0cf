"""What the document leaves to its reader, and what of an answer is not the gateway's."""

import os
import re

import schemathesis

PROXIED = ("/streams/", "/shapes/", "/registry/")
SQL = {"where", "subset__where", "subset__params", "subset__order_by"}

# A server error, on any request; data that is against the schema taken, data that is not refused.
JUDGED_BY_THE_UPSTREAM = {"ST101", "ST102", "ST201", "ST202"}


@schemathesis.hook
def before_call(context, case, kwargs):
    # `x-multi-segment`: the slashes of such a path stay as they are.
    path = (case.path_parameters or {}).get("path")
    if isinstance(path, str):
        path = path.replace("%2F", "/")
        # A service that is no longer public takes no commands.
        if case.path.startswith("/registry/") and case.method == "PATCH":
            path = path.replace("assistant", "another")
        case.path_parameters["path"] = path
    # Only this deployment's tenant will do, whose name no schema can know.
    if case.path.endswith("/spawn") and isinstance(case.body, dict):
        rename(case.body, "parent", r"^/t/[A-Za-z0-9][A-Za-z0-9_-]{0,62}/", "/t/default/")
        rename(case.body, "workspaceRef", r"^[A-Za-z0-9][A-Za-z0-9_-]{0,62}/", "default/")
    # Restate would call whatever address it is given.
    if case.path == "/registry/deployments" and isinstance(case.body, dict):
        if str(case.body.get("uri", "")).startswith("http"):
            case.body["uri"] = os.environ["FUZZ_AGENTS_URI"]


def rename(body, field, pattern, name):
    if isinstance(body.get(field), str):
        body[field] = re.sub(pattern, name, body[field])


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if not is_upstreams_own(case, response):
        # What may stand in a piece of SQL, or in JSON within a string, no schema can say.
        return failure.code != "ST202" or SQL.isdisjoint(case.query or {})
    # An upstream judges what is its own, and the gateway passes that on. Paths are the gateway's.
    if failure.code in JUDGED_BY_THE_UPSTREAM:
        return "in path" in str(failure)
    # Electric's "Not found" has no media type, and a body of `*/*` may be none.
    return failure.code != "ST104"


def is_upstreams_own(case, response):
    media_type = response.headers.get("content-type", [""])[0]
    return case.path.startswith(PROXIED) and "application/problem+json" not in media_type
