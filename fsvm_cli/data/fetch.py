"""Files of the archive: from the cache, a mirror or their addresses, and never unverified."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urldefrag, urlsplit

import platformdirs

from fsvm_cli.data.unpack import extract, is_packed
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
    """Have verified copies of `files`: from the cache, a mirror that is a folder, or the network into the cache.

    Processes that need files at once wait for one another, so that each file is fetched once. What a killed
    process fetched is kept, and the file or archive that it was at is resumed.

    Parameters
    ----------
    files : sequence of CardFile
        What is needed.
    announce : callable
        Is told what is fetched, and from where.

    Returns
    -------
    list of Path
        Where each file lies.

    Raises
    ------
    DataError
        If one cannot be had, with all that was tried and how to place it by hand; or if the cache cannot be
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
    """Hold the cache for one process at a time; the system lets go of it when a process dies."""
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
    """Offer a folder that is gone at the end; what a killed or interrupted process left can be gone on from."""
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
    """What was wrong with the archives that cannot be downloaded, so that no other file waits for them again."""

    def fetch(self, file: CardFile) -> Path:
        import pooch  # noqa: PLC0415 - slow to import, and not needed where nothing is fetched

        pooch.get_logger().setLevel(logging.WARNING)
        path = self.cache / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = _partial(path)
        if special_kind(partial):
            partial.unlink()  # to write into a pipe waits for a reader
        failures = []
        for address in self._attempts(addresses_of(file), partial):
            archive = self._archive(address)
            if archive in self.refused:
                failures.append(f"  {address}: {self.refused[archive]}")
                continue
            if archive not in self.fetched:
                self.announce(f"fetching {path.name} from {address}")
            try:
                # Within the scratch folder, so that what a kill leaves of pooch's own is gone with it.
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
                # Half a file would keep a full disk full.
                partial.unlink(missing_ok=True)
                raise
            except ValueError:  # pooch: another hash
                failures.append(f"  {address}: sends other bytes than the card expects")
            else:
                return path
            self._forget_what_was_gone_on_from(archive)
        raise DataError(_how_to_place(file, path, list(dict.fromkeys(failures))))

    def _attempts(self, addresses: list[str], partial: Path) -> Iterator[str]:
        """Yield the addresses to try; where a killed process began, the one that goes on gets a clean attempt too.

        What was left may be the beginning of something else.
        """
        for address in addresses:
            begun = self._archive(address) if _packed_name(address) else partial
            if begun.exists() and begun not in self.fetched:
                self.resumed.add(begun)
                yield address
            yield address

    def _archive(self, address: str) -> Path:
        # A name of its own, so that no archive is taken for the beginning of another.
        return self.scratch / hashlib.sha256(urldefrag(address).url.encode()).hexdigest()

    def _forget_what_was_gone_on_from(self, archive: Path) -> None:
        if archive in self.resumed:
            archive.unlink(missing_ok=True)
            self.resumed.discard(archive)
            self.fetched.discard(archive)

    def download(self, address: str, target: Path, file: CardFile) -> None:
        """Bring what `address` holds, unpacked, to `target`; pooch verifies it and moves it into place."""
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
            # What was gone on from may have been the beginning of something else: that says nothing about the address.
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
        told = f"{placed}: is {kind}, not a file" if kind else f"{mirror}: holds no intact '{file.path}'"
        failures = [f"  {told}", *failures]
    if path.exists():
        kind = special_kind(path)
        told = f"is {kind}, not a file" if kind else "holds other bytes than the card expects"
        failures = [f"  {path}: {told}", *failures]
    return "\n".join(
        [
            f"'{path.name}' cannot be had. Tried:",
            *(failures or ["  nothing: the card has no address"]),
            f"Place the file ({file.bytes:,} bytes, sha256 {file.sha256}) at {path}, or name a mirror by FSVM_MIRROR.",
        ]
    )
