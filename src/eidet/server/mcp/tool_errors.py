"""Errors as tools tell them: what was wrong, and what a model can do about it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from mcp.server.mcpserver.exceptions import (
    MCPServerError,
    ResourceError,
    ResourceNotFoundError,
    ToolError,
)
from pydantic import ValidationError

from ...core.errors import (
    BadInput,
    Conflict,
    Corrupt,
    EidetError,
    Misconfigured,
    NotFound,
    Refused,
    Unavailable,
)

LOG: Final = logging.getLogger("eidet.server.mcp")
HINTS: Final[dict[type[EidetError], str]] = {
    BadInput: "Correct the arguments and call the tool again.",
    NotFound: "Use recall to find the right id, and name the scope it is in.",
    Conflict: "Somebody changed it first. Recall it again, then decide whether your change still holds.",
    Refused: "Do not try to get around it; tell the user.",
    Unavailable: "Nothing was lost. Try again in a few seconds.",
    Corrupt: "Calling again does not help. Tell the user to run `eidet doctor`.",
    Misconfigured: "Calling again does not help. Tell the user.",
}
INTERNAL: Final = "the memory failed; its log says why. Calling again in the same way is not likely to help."


def explain_call(error: ToolError, tool: str, tools: Sequence[str]) -> ToolError:
    """The error with what a model needs to act on it; secrets and addresses stay in the log."""
    cause = _find_cause(error)
    if cause is None:
        return ToolError(f"{error}. The tools are {', '.join(tools)}.")
    return ToolError(f"{tool}: {_tell_failure(cause, tool)}")


def explain_read(error: ResourceError) -> ResourceError:
    cause = _find_cause(error)
    if cause is None:
        return error
    if isinstance(cause, NotFound | BadInput):
        return ResourceNotFoundError(str(cause))
    return ResourceError(_tell_failure(cause, "reading"))


def explain_prompt(error: Exception) -> str:
    cause = _find_cause(error)
    if cause is None or type(cause) is ValueError:  # the SDK's own: an unknown prompt, a missing argument
        return str(error)
    return _tell_failure(cause, "the prompt")


def _find_cause(error: BaseException) -> BaseException | None:
    """What a tool, resource or prompt raised: the innermost cause. The SDK wraps it, sometimes twice."""
    cause = error.__cause__
    while cause is not None and cause.__cause__ is not None and not isinstance(cause, EidetError):
        cause = cause.__cause__
    return cause


def _tell_failure(cause: BaseException, doing: str) -> str:
    if isinstance(cause, ValidationError):
        return f"{_describe_arguments(cause)}. {HINTS[BadInput]}"
    if isinstance(cause, EidetError):
        return _describe(cause)
    if isinstance(cause, MCPServerError):
        return str(cause)
    LOG.error("%s failed", doing, exc_info=cause)
    return INTERNAL


def _describe(error: EidetError) -> str:
    """What happened, and what to do."""
    for kind, hint in HINTS.items():
        if isinstance(error, kind):
            return f"{_tell_cause(error)}. {hint}"
    return str(error)


def _tell_cause(error: EidetError) -> str:
    """The message of the error; what only operators may know goes to the log instead."""
    if isinstance(error, Unavailable | Corrupt | Misconfigured):
        LOG.warning("a tool failed: %s: %s", type(error).__name__, error)
        return "the memory cannot answer this now"
    cause = str(error).rstrip(".")
    if isinstance(error, Conflict) and error.current is not None:
        cause += f" (it is at version {error.current} now)"
    return cause


def _describe_arguments(error: ValidationError) -> str:
    """Each argument that is wrong and why, without repeating its value."""
    wrong = []
    for one in error.errors(include_url=False, include_input=False, include_context=False):
        name = ".".join(str(part) for part in one["loc"])
        wrong.append(f"{name}: {one['msg']}")
    return "; ".join(wrong)
