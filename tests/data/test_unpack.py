from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.data.fetch import decompress
from fsvm_cli.errors import DataError

CONTENTS = st.one_of(
    st.binary(max_size=3000),
    st.text("ab", max_size=3000).map(str.encode),
    st.randoms(use_true_random=False).map(lambda random: random.randbytes(3000)),
)


def compress(content: bytes, widest: int) -> bytes:
    """LZW as the program writes it: groups of eight codes of one width, then one bit more."""
    codes = {bytes([value]): value for value in range(256)}
    next_code, width, group, out, phrase = 257, 9, [], bytearray(b"\x1f\x9d" + bytes([0x80 | widest])), b""

    def flush() -> None:
        packed = sum(code << place * width for place, code in enumerate(group))
        out.extend(packed.to_bytes(width, "little"))
        group.clear()

    for value in content:
        if phrase + bytes([value]) in codes:
            phrase += bytes([value])
            continue
        group.append(codes[phrase])
        if len(group) == 8:
            flush()
        # The reader lacks the code that is about to be defined: it lags by one.
        if next_code >= 1 << width and width < widest:
            if group:
                flush()
            width += 1
        if next_code < 1 << widest:
            codes[phrase + bytes([value])] = next_code
            next_code += 1
        phrase = bytes([value])
    if phrase:
        group.append(codes[phrase])
        packed = sum(code << place * width for place, code in enumerate(group))
        out.extend(packed.to_bytes((len(group) * width + 7) // 8, "little"))
    return bytes(out)


@given(CONTENTS, st.integers(9, 16))
def test_undoes_compression(content: bytes, widest: int) -> None:
    assert decompress(compress(content, widest), len(content)) == content


def test_a_cleared_table_starts_anew() -> None:
    # a, b, (clear, then padding up to 8 codes of 9 bits), b, b
    codes = [97, 98, 256, 0, 0, 0, 0, 0, 98, 98]
    packed = sum(code << place * 9 for place, code in enumerate(codes)).to_bytes(12, "little")
    assert decompress(b"\x1f\x9d\x90" + packed, 10) == b"abbb"


def test_stops_near_the_limit() -> None:
    assert 1000 < len(decompress(compress(bytes(100_000), 16), 1000)) < 2000


@pytest.mark.parametrize(
    "packed",
    [b"", b"\x1f\x9d", b"\x1f\x8b\x90aa", b"\x1f\x9d\x88aa", b"\x1f\x9d\x91aa", b"\x1f\x9d\x90\xff\xff\xff"],
)
def test_refuses_what_is_not_compressed(packed: bytes) -> None:
    with pytest.raises(DataError):
        decompress(packed, 100)


@given(st.binary(max_size=200))
def test_never_fails_otherwise(body: bytes) -> None:
    try:
        content = decompress(b"\x1f\x9d\x90" + body, 10_000)
    except DataError:
        return
    assert len(content) < 12_000
