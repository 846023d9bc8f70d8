"""Files of the archive: fetched from the cache, a mirror or their addresses, unpacked and verified.

Files may lie in archives or be compressed, also by the Unix program ``compress`` (``.Z``). Sizes and names that an
archive states are not trusted.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import hashlib
import logging
import lzma
import os
import shutil
import struct
import tarfile
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from urllib.parse import quote, unquote, urldefrag, urlsplit

import platformdirs

from fsvm_cli.errors import DataError
from fsvm_cli.files import special_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fsvm_cli.data.cards import CardFile

MAX_ARCHIVE_BYTES = 200_000_000
HTML_PREFIXES = (b"<!doctype html", b"<html")


def cache_folder() -> Path:
    """Folder of fetched files: ``FSVM_CACHE``, or the user's cache folder; laid out like the archive."""
    chosen = os.environ.get("FSVM_CACHE")
    return Path(chosen) if chosen else platformdirs.user_cache_path("fsvm")


def is_intact(path: Path, file: CardFile) -> bool:
    """Whether `path` holds the bytes that the card expects."""
    if not path.is_file() or path.stat().st_size != file.bytes:
        return False
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256


def fetch_files(files: Sequence[CardFile], announce: Callable[[str], None]) -> list[Path]:
    """Return verified copies of `files`: from the cache, a mirror that is a folder, or the network into the cache.

    Concurrent processes wait for one another, so that each file is fetched once. Files fetched by a killed process are
    kept, and its unfinished download is resumed.

    Parameters
    ----------
    files : sequence of CardFile
        What is needed.
    announce : callable
        Called with a message about each file that is fetched, and its address.

    Returns
    -------
    list of Path
        Where each file lies.

    Raises
    ------
    DataError
        If a file is not available, with all addresses tried and how to place it by hand; or if the cache cannot be
        written.
    """
    found = [_at_hand(file) for file in files]
    if all(found):
        return [path for path in found if path]
    cache = cache_folder()
    try:
        with _only_process(cache, announce), _scratch_folder(cache / ".archives") as scratch:
            fetcher = _Fetcher(cache, scratch, announce)
            return [_at_hand(file) or fetcher.fetch(file) for file in files]
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        raise DataError(
            f"the cache folder {cache} {'is full' if full else 'cannot be written'} ({error.strerror or error}); "
            "FSVM_CACHE=FOLDER names another"
        ) from error


def _at_hand(file: CardFile) -> Path | None:
    return next((path for path in local_paths(file) if is_intact(path, file)), None)


def local_paths(file: CardFile) -> list[Path]:
    """List where a file may lie on this machine, in the order in which this is tried: the cache, a mirror's folder."""
    mirror = os.environ.get("FSVM_MIRROR", "")
    folders = [cache_folder(), *([Path(mirror)] if mirror and not _is_address(mirror) else [])]
    return [folder / file.path for folder in folders]


def _is_address(mirror: str) -> bool:
    return mirror.startswith(("http://", "https://"))


@contextlib.contextmanager
def _only_process(cache: Path, announce: Callable[[str], None]) -> Iterator[None]:
    """Lock the cache for one process at a time; the system releases the lock when a process dies."""
    from filelock import FileLock, Timeout  # noqa: PLC0415 - slow to import, and not needed where nothing is fetched

    cache.mkdir(parents=True, exist_ok=True)
    lock = FileLock(cache / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        announce("waiting for another process that fetches data")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _scratch_folder(folder: Path) -> Iterator[Path]:
    """Make a folder that is removed at the end, except after an interruption: the downloads in it can be resumed."""
    folder.mkdir(exist_ok=True)
    try:
        yield folder
    except Exception:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)


@dataclass
class _Fetcher:
    """Fetches files one after the other and keeps archives as long as files are taken out of them."""

    cache: Path
    scratch: Path
    announce: Callable[[str], None]
    fetched: set[Path] = field(default_factory=set)
    resumed: set[Path] = field(default_factory=set)
    refused: dict[Path, str] = field(default_factory=dict)
    """Errors of archives that cannot be downloaded, so that they are not tried again for other files."""

    def fetch(self, file: CardFile) -> Path:
        import pooch  # noqa: PLC0415 - slow to import, and not needed where nothing is fetched

        pooch.get_logger().setLevel(logging.WARNING)
        path = self.cache / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = _partial(path)
        if special_kind(partial):
            partial.unlink()  # writing into a pipe would wait for a reader
        failures = []
        for address in self._attempts(addresses_of(file), partial):
            archive = self._archive(address)
            if archive in self.refused:
                failures.append(f"  {address}: {self.refused[archive]}")
                continue
            if archive not in self.fetched:
                self.announce(f"fetching {path.name} from {address}")
            try:
                # Within the scratch folder, so that temporary files of pooch are removed with it after a kill.
                verified = pooch.retrieve(
                    address,
                    known_hash=file.sha256,
                    fname=path.name,
                    path=self.scratch,
                    downloader=lambda address, target, _pooch: self.download(address, Path(target), file),
                )
                Path(verified).replace(path)
            except DataError as error:
                partial.unlink(missing_ok=True)
                failures.append(f"  {address}: {error}")
            except OSError:
                # Free the space of the partial file.
                partial.unlink(missing_ok=True)
                raise
            except ValueError:  # pooch: another hash
                failures.append(f"  {address}: sends other bytes than the card expects")
            else:
                return path
            self._discard_resumed(archive)
        raise DataError(_how_to_place(file, path, list(dict.fromkeys(failures))))

    def _attempts(self, addresses: list[str], partial: Path) -> Iterator[str]:
        """Yield the addresses to try; one whose partial download is resumed is tried once more from the start.

        The partial file may be the beginning of other content.
        """
        for address in addresses:
            begun = self._archive(address) if _packed_name(address) else partial
            if begun.exists() and begun not in self.fetched:
                self.resumed.add(begun)
                yield address
            yield address

    def _archive(self, address: str) -> Path:
        # A distinct name for each address, so that no archive is resumed from another one.
        return self.scratch / hashlib.sha256(urldefrag(address).url.encode()).hexdigest()

    def _discard_resumed(self, archive: Path) -> None:
        if archive in self.resumed:
            archive.unlink(missing_ok=True)
            self.resumed.discard(archive)
            self.fetched.discard(archive)

    def download(self, address: str, target: Path, file: CardFile) -> None:
        """Download the content of `address`, unpacked, to `target`; pooch verifies it and moves it into place."""
        from fsvm_cli.data.download import download  # noqa: PLC0415 - slow to import

        source, member = urldefrag(address)
        name = _packed_name(address)
        if not name:
            partial = _partial(self.cache / file.path)
            download(source, partial, file.bytes)
            partial.replace(target)
        else:
            archive = self._archive(address)
            if archive not in self.fetched:
                self._download_archive(source, archive)
            target.write_bytes(extract(archive, name, member, file.bytes))
        _refuse_web_page(target)
        size = target.stat().st_size
        if size != file.bytes:
            raise DataError(f"sends {size:,} bytes, where the card expects {file.bytes:,}")

    def _download_archive(self, source: str, archive: Path) -> None:
        from fsvm_cli.data.download import download  # noqa: PLC0415 - slow to import

        try:
            download(source, archive, MAX_ARCHIVE_BYTES)
            _refuse_web_page(archive)
        except DataError as error:
            # A resumed file may have been the beginning of other content: then the address is not at fault.
            if archive not in self.resumed:
                self.refused[archive] = str(error)
            raise
        self.fetched.add(archive)


def _refuse_web_page(path: Path) -> None:
    with path.open("rb") as stream:
        if stream.read(200).lstrip().lower().startswith(HTML_PREFIXES):
            raise DataError("sends a web page, not the file")


def _packed_name(address: str) -> str:
    """Name of the archive or compressed file at an address; empty where it is the plain file."""
    name = unquote(Path(urlsplit(address).path).name)
    return name if is_packed(name) else ""


def _partial(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def addresses_of(file: CardFile) -> list[str]:
    """List where a file can be downloaded, in the order of the attempts: a mirror at an address, then the card's."""
    mirror = os.environ.get("FSVM_MIRROR", "")
    return ([f"{mirror.rstrip('/')}/{quote(file.path)}"] if _is_address(mirror) else []) + list(file.addresses)


def _how_to_place(file: CardFile, path: Path, failures: list[str]) -> str:
    mirror = os.environ.get("FSVM_MIRROR", "")
    if mirror and not _is_address(mirror):
        placed = Path(mirror) / file.path
        kind = special_kind(placed)
        problem = f"{placed}: is {kind}, not a file" if kind else f"{mirror}: holds no intact '{file.path}'"
        failures = [f"  {problem}", *failures]
    if path.exists():
        kind = special_kind(path)
        problem = f"is {kind}, not a file" if kind else "holds other bytes than the card expects"
        failures = [f"  {path}: {problem}", *failures]
    return "\n".join(
        [
            f"'{path.name}' is not available. Tried:",
            *(failures or ["  nothing: the card has no address"]),
            f"Place the file ({file.bytes:,} bytes, sha256 {file.sha256}) at {path}, or name a mirror by FSVM_MIRROR.",
        ]
    )


COMPRESS_MAGIC = b"\x1f\x9d"
FIRST_CODE_BITS = 9
CLEAR_CODE = 256
"""Resets the table of codes."""


def decompress(packed: bytes, limit: int) -> bytes:
    """Undo LZW compression with codes of 9 to 16 bits.

    Parameters
    ----------
    packed : bytes
        The whole file.
    limit : int
        Bytes beyond which decompression stops.

    Returns
    -------
    bytes
        The content, or its first `limit` bytes and a few more.

    Raises
    ------
    DataError
        If `packed` was not written by ``compress``.
    """
    if packed[:2] != COMPRESS_MAGIC or len(packed) < 3:
        raise DataError("not a file that the program 'compress' wrote")
    widest, has_clear = packed[2] & 0x1F, bool(packed[2] & 0x80)
    if not FIRST_CODE_BITS <= widest <= 16:
        raise DataError(f"codes of {widest} bits, where 'compress' writes 9 to 16")
    body = packed[3:]
    literals = [bytes([value]) for value in range(256)] + ([b""] if has_clear else [])
    table, previous, width = literals.copy(), b"", FIRST_CODE_BITS
    unpacked, size = [], 0
    # Codes are written in groups of eight; the rest of a group is padding when the width changes.
    bit = group = 0
    while bit + width <= 8 * len(body) and size <= limit:
        code = int.from_bytes(body[bit // 8 : bit // 8 + 4], "little") >> bit % 8 & (1 << width) - 1
        bit += width
        if has_clear and code == CLEAR_CODE:
            table, previous = literals.copy(), b""
            bit = group = _end_of_group(bit, group, width)
            width = FIRST_CODE_BITS
            continue
        if code > len(table) or (code == len(table) and not previous):
            raise DataError("damaged: a code stands before its definition")
        entry = table[code] if code < len(table) else previous + previous[:1]
        if previous and len(table) < 1 << widest:
            table.append(previous + entry[:1])
        if len(table) >= 1 << width and width < widest:
            bit = group = _end_of_group(bit, group, width)
            width += 1
        unpacked.append(entry)
        size += len(entry)
        previous = entry
    return b"".join(unpacked)


def _end_of_group(bit: int, group: int, width: int) -> int:
    return bit + (group - bit) % (8 * width)


MAX_UNPACKED_BYTES = 1_000_000_000
TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
COMPRESSED_SUFFIXES = (".Z", ".gz", ".bz2", ".xz")


def is_packed(name: str) -> bool:
    """Whether `extract` supports the suffix of `name`."""
    return name.endswith((".zip", *TAR_SUFFIXES, *COMPRESSED_SUFFIXES))


def extract(packed: Path, name: str, member: str, limit: int) -> bytes:
    """Return one file of an archive, or the content of a compressed file.

    Nothing is written, so that names within an archive cannot lead outside a folder, and reading stops at `limit`, so
    that no archive can decompress to more.

    Parameters
    ----------
    packed : Path
        The archive or compressed file.
    name : str
        File name whose suffix gives the format.
    member : str
        Name of the file within an archive, itself perhaps compressed; empty for a compressed file. ``ARCHIVE#MEMBER``
        names a file of an archive within a zip file.
    limit : int
        Size of the content, in bytes.

    Returns
    -------
    bytes
        The content.

    Raises
    ------
    DataError
        If the archive has another format, is damaged, lacks the file, or the file is larger than `limit`.
    """
    try:
        with packed.open("rb") as stream:
            content = _content(stream, name, member, limit)
    # Damaged streams make bz2 and zipfile raise OSError, names and numbers in them ValueError and struct.error.
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        lzma.LZMAError,
        zlib.error,
        struct.error,
        OSError,
        ValueError,
        EOFError,
    ) as error:
        # tarfile lists the error of each compression method in a line of its own.
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise DataError(f"a damaged archive ({reason})") from error
    except (NotImplementedError, RuntimeError) as error:  # what zipfile says of unknown methods and passwords
        raise DataError(f"an archive that cannot be read ({error})") from error
    if len(content) > limit:
        raise DataError(f"decompresses to more than {limit:,} bytes")
    return content


def _content(stream: BinaryIO, name: str, member: str, limit: int) -> bytes:
    if name.endswith(".zip"):
        return _from_zip(stream, member, limit)
    if name.endswith(TAR_SUFFIXES):
        return _from_tar(stream, member, limit)
    return _decompress(stream, name, limit)


def _from_zip(stream: BinaryIO, path: str, limit: int) -> bytes:
    member, _, within = path.partition("#")
    with zipfile.ZipFile(stream) as archive:
        if member not in archive.namelist():
            raise DataError(f"the archive holds no '{member}'")
        with archive.open(member) as inner:
            return _content(cast("BinaryIO", inner), member, within, limit)


def _from_tar(stream: BinaryIO, member: str, limit: int) -> bytes:
    with tarfile.open(fileobj=stream, mode="r:*") as archive:
        for entry in archive:
            if entry.offset_data + entry.size > MAX_UNPACKED_BYTES:
                raise DataError(f"decompresses to more than {MAX_UNPACKED_BYTES:,} bytes")
            if str(PurePosixPath(entry.name)) == member and entry.isfile():
                inner = archive.extractfile(entry)
                assert inner is not None
                return _decompress(cast("BinaryIO", inner), member, limit)
    raise DataError(f"the archive holds no '{member}'")


def _decompress(stream: BinaryIO, name: str, limit: int) -> bytes:
    if name.endswith(".Z"):
        return decompress(stream.read(limit + 1), limit)
    openers: dict[str, Callable[[BinaryIO], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    opener = openers.get(PurePosixPath(name).suffix)
    if opener is None:
        return stream.read(limit + 1)
    with opener(stream) as inner:
        return cast("bytes", inner.read(limit + 1))
