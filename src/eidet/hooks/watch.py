"""Methods with a capture around them. The method runs exactly once, whatever happens to the capture."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import nullcontext
from functools import partial, wraps
from types import FunctionType
from typing import Any, Final

from .call import Call, begin_call

_Method = Callable[..., Any]
MARK: Final = "__eidet_hooked__"


def hook_method(method: FunctionType) -> _Method:
    """The method with a capture around it, of the same kind: plain, coroutine or generator of either sort."""
    if inspect.isasyncgenfunction(method):
        wrapper: _Method = _async_generator(method)
    elif inspect.iscoroutinefunction(method):
        wrapper = _coroutine(method)
    elif inspect.isgeneratorfunction(method):
        wrapper = _generator(method)
    else:
        wrapper = _plain(method)
    setattr(wrapper, MARK, True)
    return wrapper


def _plain(method: _Method) -> _Method:
    @wraps(method)
    def wrapper(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if (call := begin_call(self, method, args, kwargs)) is None:
            return method(self, *args, **kwargs)
        try:
            with call.inside():
                result = method(self, *args, **kwargs)
        except BaseException as error:
            call.fail(error)
            raise
        return _later(call, result)

    return wrapper


def _later(call: Call, result: Any) -> Any:
    """Ends the capture later if a plain method returns something that has to run first."""
    if inspect.iscoroutine(result):
        return _await_call(call, result)
    if inspect.isgenerator(result):
        return _relay(call, result)
    if inspect.isasyncgen(result):
        return _async_generator(lambda _: result, begin=lambda *_: call)(call.agent)
    call.finish(result)
    return result


def _coroutine(method: _Method) -> _Method:
    @wraps(method)
    async def wrapper(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if (call := begin_call(self, method, args, kwargs)) is None:
            return await method(self, *args, **kwargs)
        return await _await_call(call, method(self, *args, **kwargs))

    return wrapper


async def _await_call(call: Call, running: Any) -> Any:
    try:
        with call.inside():
            result = await running
    except BaseException as error:
        call.fail(error)
        raise
    await call.finish_without_blocking(result)
    return result


def _generator(method: _Method) -> _Method:
    @wraps(method)
    def wrapper(self: Any, /, *args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        if (call := begin_call(self, method, args, kwargs)) is None:
            return (yield from method(self, *args, **kwargs))
        return (yield from _relay(call, method(self, *args, **kwargs)))

    return wrapper


def _relay(call: Call, inner: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    try:
        result = yield from _steps(call, inner)
    except BaseException as error:
        _end_call(call, error)
        raise
    call.finish(result)
    return result


def _steps(call: Call, inner: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Works like `yield from`, but is inside the call only while the method itself runs."""
    step: Callable[[], Any] = partial(next, inner)
    while True:
        try:
            with call.inside():
                item = step()
        except StopIteration as end:
            return end.value
        try:
            sent = yield item
        except GeneratorExit:
            with call.inside():
                inner.close()
            raise
        except BaseException as error:  # noqa: BLE001  it is thrown into the method, which decides
            step = partial(inner.throw, error)
        else:
            step = partial(inner.send, sent)


def _async_generator(method: _Method, begin: Callable[..., Call | None] = begin_call) -> _Method:
    @wraps(method)
    async def wrapper(self: Any, /, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        call, inner = begin(self, method, args, kwargs), method(self, *args, **kwargs)
        inside = nullcontext if call is None else call.inside
        step: Callable[[], Any] = inner.__anext__
        try:
            while True:
                with inside():
                    item = await step()
                try:
                    sent = yield item
                except GeneratorExit:
                    with inside():
                        await inner.aclose()
                    raise
                except BaseException as error:  # noqa: BLE001  as above
                    step = partial(inner.athrow, error)
                else:
                    step = partial(inner.asend, sent)
        except StopAsyncIteration:
            _end_call(call, None)
        except BaseException as error:
            _end_call(call, error)
            raise

    return wrapper


def _end_call(call: Call | None, error: BaseException | None) -> None:
    """Ends the call; a closed generator counts as finished."""
    if call is None:
        return
    if error is None or isinstance(error, GeneratorExit):
        call.finish(None)
    else:
        call.fail(error)
