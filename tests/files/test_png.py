"""Plain PNG: what Pillow reads, by other ways; and what is left to Pillow."""

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from conncomp._core import native
from conncomp.files import _pictures
from conncomp.files.images import read_content

READ_PLAIN = _pictures.read_plain_png  # which a test replaces

COLOURS = {1: 0, 3: 2, 4: 6}


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def filtered(image, filters):
    """Return the lines of an image with a filter each, as the specification has them."""
    height, step = len(image), image.dtype.itemsize * (1 if image.ndim == 2 else image.shape[2])
    lines = image.astype(image.dtype.newbyteorder(">")).reshape(height, -1).view(np.uint8)
    above, packed = np.zeros(lines.shape[1], int), []
    for line, kind in zip(lines.astype(int), filters, strict=True):
        ahead, aslant = (
            np.concatenate([np.zeros(step, int), row])[:-step] for row in (line, above)
        )
        guess = ahead + above - aslant
        ways = np.stack([ahead, above, aslant])
        nearest = np.take_along_axis(ways, np.abs(ways - guess).argmin(0)[None], 0)[0]
        taken = [0 * line, ahead, above, (ahead + above) // 2, nearest][kind]
        packed.append(bytes([kind]) + ((line - taken) % 256).astype(np.uint8).tobytes())
        above = line
    return b"".join(packed)


def png(image, filters, between=b"", header=b"\0\0\0", parts=2):
    channels = 1 if image.ndim == 2 else image.shape[2]
    kind = struct.pack(">BB", 8 * image.dtype.itemsize, COLOURS[channels])
    size = struct.pack(">II", image.shape[1], image.shape[0])
    packed = zlib.compress(filtered(image, filters))
    cut = len(packed) // parts
    return b"".join(
        [
            _pictures.SIGNATURE,
            chunk(b"IHDR", size + kind + header),
            between,
            *(chunk(b"IDAT", packed[k * cut : (k + 1) * cut]) for k in range(parts - 1)),
            chunk(b"IDAT", packed[(parts - 1) * cut :]),
            chunk(b"IEND", b""),
        ]
    )


def read(content):
    return READ_PLAIN(io.BytesIO(content), len(content), 1 << 20)


def image_of(seed, shape, dtype):
    smooth = np.cumsum(np.random.default_rng(seed).integers(-3, 4, shape), axis=1) + 100
    return smooth.astype(dtype)


@pytest.mark.parametrize("unpacker", [zlib, None])
@settings(max_examples=60)
@given(
    st.integers(0, 2**32),
    st.lists(st.integers(0, 4), min_size=1, max_size=12),
    st.integers(1, 70),
    st.sampled_from([("u1", ()), ("u2", ()), ("u1", (3,)), ("u1", (4,))]),
)
def test_every_filter(unpacker, seed, filters, width, kind):
    if unpacker is None:
        pytest.importorskip("isal")
    dtype, channels = kind
    image = image_of(seed, (len(filters), width, *channels), dtype)
    content = png(image, filters)
    with pytest.MonkeyPatch.context() as patch:
        if unpacker is not None:
            patch.setattr(_pictures, "_unpacker", lambda: unpacker)
        found = read(content)
    np.testing.assert_array_equal(found, image, strict=True)
    with Image.open(io.BytesIO(content)) as picture:
        np.testing.assert_array_equal(found, np.array(picture))


@pytest.mark.parametrize("mode", ["L", "I;16", "RGB", "RGBA", "LA", "1", "P"])
def test_files_of_pillow(tmp_path, monkeypatch, mode):
    shape = (40, 57, len(mode)) if mode in ("RGB", "RGBA", "LA") else (40, 57)
    image = image_of(1, shape, "u2" if mode == "I;16" else "u1")
    picture = Image.fromarray(image[..., 0] if mode == "P" and image.ndim > 2 else image)
    if mode in ("1", "P"):
        picture = picture.convert(mode)
    picture.save(tmp_path / "a.png", dpi=(300, 300))
    found = read_content(tmp_path / "a.png")
    monkeypatch.setattr(_pictures, "read_plain_png", lambda *given: None)
    wanted = read_content(tmp_path / "a.png")
    assert found.channels == wanted.channels
    np.testing.assert_array_equal(found.image, wanted.image, strict=True)
    plain = read((tmp_path / "a.png").read_bytes())
    assert (plain is None) == (mode in ("LA", "1", "P"))


def test_what_is_left_to_pillow():
    image, filters = image_of(2, (9, 30), "u1"), [k % 5 for k in range(9)]
    content = png(image, filters, between=chunk(b"tEXt", b"a\0b"))
    np.testing.assert_array_equal(read(content), image)
    assert read(png(image, filters, between=chunk(b"tRNS", b"\0\5"))) is None
    assert read(png(image, filters, between=chunk(b"acTL", bytes(8)))) is None
    assert read(png(image, filters, header=b"\0\0\1")) is None  # interlaced
    assert READ_PLAIN(io.BytesIO(content), len(content), 9 * 30 - 1) is None
    for end in range(0, len(content), 7):
        assert read(content[:end]) is None
    for place in (9, 17, 20, 24, 25, 30, len(content) - 9):
        damaged = bytearray(content)
        damaged[place] ^= 1
        assert read(bytes(damaged)) is None
    # More and fewer lines than the header says.
    taller, lower = (
        content.replace(
            chunk(b"IHDR", struct.pack(">IIBB", 30, 9, 8, 0) + bytes(3)),
            chunk(b"IHDR", struct.pack(">IIBB", 30, height, 8, 0) + bytes(3)),
        )
        for height in (10, 8)
    )
    assert read(taller) is None
    assert read(lower) is None


def test_a_filter_that_there_is_not():
    lines = np.zeros(2 * 5, np.uint8)
    lines[5] = 5
    assert not native.write_png_lines(lines, 2, 1, np.empty(8, np.uint8))
    lines[5] = 4
    assert native.write_png_lines(lines, 2, 1, np.empty(8, np.uint8))


@pytest.mark.parametrize(("height", "step", "size"), [(2, 1, 7), (0, 1, 8), (2, 0, 8), (-2, 1, 8)])
def test_lines_of_another_image(height, step, size):
    with pytest.raises(ValueError, match="lines have a byte more"):
        native.write_png_lines(np.zeros(10, np.uint8), height, step, np.empty(size, np.uint8))


def test_a_bomb_is_not_unpacked(monkeypatch):
    """No more is unpacked than the header says, whatever is packed."""
    huge = zlib.compress(bytes(1 << 24))
    body = _pictures.SIGNATURE + chunk(b"IHDR", struct.pack(">IIBB", 4, 4, 8, 0) + bytes(3))
    content = body + chunk(b"IDAT", huge) + chunk(b"IEND", b"")
    sizes = []

    class Watched:
        def __init__(self):
            self._real = zlib.decompressobj()
            self.eof = False

        def decompress(self, data, most):
            out = self._real.decompress(data, most)
            sizes.append(len(out))
            return out

    monkeypatch.setattr(_pictures, "_unpacker", lambda: type("M", (), {"decompressobj": Watched}))
    assert read(content) is None
    assert sizes == [21]
