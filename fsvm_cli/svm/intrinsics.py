"""What LLVM can do and numba has no words for."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


def _selection(sign: str) -> Any:
    """Return a compiled function that gives the one of two numbers which compares so with the other.

    LLVM runs it on vectors where it reduces a loop to one number, for it is told that no number is NaN. What numba
    makes of `max` and `min` it leaves as it is: pair steps took two to three times as long.
    """

    def of_two(typing_context: Any, a: Any, b: Any) -> Any:  # noqa: ARG001 - numba asks for it so
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
            flags = ("nnan", "nsz")
            return builder.select(builder.fcmp_ordered(sign, *arguments, flags=flags), *arguments, flags=flags)

        return types.float64(types.float64, types.float64), generate

    return intrinsic(of_two)


def _double_of(typing_context: Any, bits: Any) -> Any:  # noqa: ARG001 - numba asks for it so
    """Give the number whose 64 bits are those of an integer; through memory it would take a loop of its own."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


def _single_of(typing_context: Any, bits: Any) -> Any:  # noqa: ARG001 - numba asks for it so
    """Give the number of single precision whose 32 bits are those of an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(arguments[0], context.get_value_type(types.float32))

    return types.float32(types.int32), generate


larger, smaller = _selection(">"), _selection("<")
double_of: Any = intrinsic(_double_of)
single_of: Any = intrinsic(_single_of)
