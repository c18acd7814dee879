"""Files that lie in an object store or behind https. fsspec and its drivers are loaded when one of them is typed.

What a URL holds beside a place (a user and password, the signature in a query) is used and never shown.
"""

import logging
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from podium.errors import DataError, PodiumError, UsageError, install_hint

DRIVERS = {"s3": ("s3fs", "s3"), "gs": ("gcsfs", "gs"), "http": ("aiohttp", "https"), "https": ("aiohttp", "https")}
"""By scheme: the package that speaks it, and podium's extra that brings the package."""
CREDENTIALS = {
    "s3": "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; of a public bucket FSSPEC_S3_ANON=true",
    "gs": "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS; of a public bucket "
    "FSSPEC_GS_TOKEN=anon",
    "https": "ask for a URL that is signed anew, or for rights to read it",
}
LACKS = {"NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "TokenRetrievalError"} | {
    *("ProfileNotFound", "UnauthorizedSSOTokenError", "SSOTokenLoadError", "DefaultCredentialsError", "RefreshError")
}
"""Errors of drivers, by name: there are no credentials, or none that hold."""
REFUSED = (401, 403)
MAGIC = frozenset("*?[")
STORES = ("s3", "gs")
"""Schemes of which folders can be listed, and to which can be written."""
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=://)")
USER = re.compile(r"(?<=://)[^/\s@]*@")
QUERY = re.compile(r"(https?://[^\s?'\"]*)\?[^\s'\"),]*")
IDENTITY = ("ETag", "etag", "generation", "size", "mtime", "updated", "LastModified", "last_modified")
"""What a store says of an object that changes with it."""


def is_url(text: str) -> bool:
    """Whether a source is a URL and no path.

    >>> is_url("s3://bucket/votes.csv"), is_url("votes.csv"), is_url("gpt=s3://bucket/votes.csv")
    (True, False, False)
    """
    return SCHEME.match(text) is not None


def without_secrets(text: str) -> str:
    """Return a text with its URLs reduced to places.

    >>> without_secrets("https://me:word@host/votes.csv?Signature=1f is gone")
    'https://host/votes.csv is gone'
    """
    return QUERY.sub(r"\1", USER.sub("", text))


@dataclass(frozen=True, order=True, slots=True)
class RemoteFile:
    """An object in a store, or what a web server gives.

    Whatever asks for it raises `UsageError` where it is not there, or may not be read or written, and `DataError` where
    the store cannot be reached.

    Attributes:
        url: as it was typed or listed.
    """

    url: str = field(repr=False)

    def __str__(self) -> str:
        return without_secrets(self.url)

    @property
    def scheme(self) -> str:
        """`s3`, `gs`, `http` or `https`."""
        return self.url.partition("://")[0]

    @property
    def name(self) -> str:
        """The last part of the place."""
        return PurePosixPath(str(self)).name

    @property
    def suffix(self) -> str:
        """The end of the name, from its last dot."""
        return PurePosixPath(self.name).suffix

    def with_name(self, name: str) -> "RemoteFile":
        """Return the object of another name in the same folder."""
        return RemoteFile(f"{self.url.rpartition('/')[0]}/{name}")

    def identity(self) -> tuple[Any, ...]:
        """Return what changes when the object does."""
        with _errors_of(self):
            system = file_system(self.scheme)
            system.invalidate_cache()
            about = system.info(self.url)
        return tuple(str(about.get(name)) for name in IDENTITY)

    @property
    def local_path(self) -> Path:
        """Where its copy lies, once there is one."""
        return _copies().path_of(self)

    def local_copy(self) -> Path:
        """Return a copy that lasts as long as this process, made again where the object has changed.

        Its folders are called as those of the object are.
        """
        identity, path = self.identity(), self.local_path
        identities = _copies().identities
        if identities.get(self.url) != identity:
            path.parent.mkdir(parents=True, exist_ok=True)
            with _errors_of(self):
                file_system(self.scheme).get_file(self.url, str(path))
            identities[self.url] = identity
        return path

    def put(self, draft: Path) -> None:
        """Put a local file in its place; a store shows an object when all of it is there, the old one until then."""
        self.check_writable()
        with _errors_of(self):
            file_system(self.scheme).put_file(str(draft), self.url)

    def check_writable(self) -> None:
        """Find out what would fail after all has been computed: there is no such bucket, or it is no store."""
        if self.scheme not in STORES:
            raise UsageError(f"{self}: nothing can be written there; name a local file, s3:// or gs://")
        bucket, _, key = self.url.partition("://")[2].partition("/")
        if not bucket or not key or key.endswith("/"):
            raise UsageError(f"{self}: name an object to write, as {self.scheme}://BUCKET/NAME")
        with _errors_of(self):
            if not file_system(self.scheme).exists(f"{self.scheme}://{bucket}"):
                raise UsageError(f"{self}: there is no bucket {bucket!r}; create it, or name another")


Place: TypeAlias = Path | RemoteFile
"""Where a file is, or is to be."""


def place_of(text: str | Path) -> Place:
    """Return the file that a path or URL names; `file://` is a path.

    Raises:
        UsageError: podium knows no such scheme.
    """
    scheme = SCHEME.match(str(text))
    if isinstance(text, Path) or scheme is None:
        return Path(text)
    if scheme[0] == "file":
        return Path(text.removeprefix("file://"))
    if scheme[0] not in DRIVERS:
        raise UsageError(f"{without_secrets(text)}: podium reads local files, s3://, gs:// and https://")
    return RemoteFile(text)


def local_file(place: Place) -> Path:
    """Return where a file can be read as a local one; raises as `RemoteFile`."""
    return place.local_copy() if isinstance(place, RemoteFile) else place


@cache
def file_system(scheme: str) -> Any:
    """Return fsspec's file system for a scheme.

    Raises:
        UsageError: its driver is not installed.
    """
    package, extra = DRIVERS[scheme]
    try:
        import fsspec

        # What goes wrong is said once, by an error; whoever asks for a driver's log still gets it.
        logging.getLogger(package).addHandler(logging.NullHandler())
        # Proxies, and the keys in ~/.netrc.
        options = {"client_kwargs": {"trust_env": True}} if extra == "https" else {}
        return fsspec.filesystem(scheme, **options)
    except ImportError as error:
        raise UsageError(f"{scheme}:// needs {package} ({error}): {install_hint(extra)}") from None


def find_remote(url: str, suffixes: tuple[str, ...]) -> tuple[tuple[RemoteFile, ...], bool]:
    """Find the objects that a URL names: one, all with a suffix below a folder, or those that match a glob.

    Returns:
        The objects, sorted, and whether a folder was searched.

    Raises:
        UsageError: there are none, or they may not be read.
        DataError: the store cannot be reached.
    """
    place = place_of(url)
    assert isinstance(place, RemoteFile)
    with _errors_of(place):
        system = file_system(place.scheme)
        system.invalidate_cache()
        kind = _kind(system, place)
        if kind == "file":
            return (place,), False
        if kind == "directory":
            names = [name for name in system.find(url) if name.endswith(suffixes)]
        elif place.scheme in STORES and set(url) & MAGIC:
            names = [name for name, about in system.glob(url, detail=True).items() if about["type"] == "file"]
        else:
            raise _absent(place, system)
        if not names and kind is None:
            raise _absent(place, system)
    if not names:
        raise UsageError(f"{place} holds no {', '.join(suffixes[:5])} file")
    return tuple(sorted(RemoteFile(f"{place.scheme}://{name}") for name in names)), kind == "directory"


def siblings(place: RemoteFile) -> list[RemoteFile]:
    """Return the objects in the same folder of a store; none behind https. Raises as `RemoteFile`."""
    if place.scheme not in STORES:
        return []
    with _errors_of(place):
        listed = file_system(place.scheme).ls(place.url.rpartition("/")[0], detail=True)
    return [RemoteFile(f"{place.scheme}://{about['name']}") for about in listed if about["type"] == "file"]


def with_urls(text: str) -> str:
    """Return a text in which local copies are called by the URLs that they were made of."""
    return _copies().URLS.sub(r"\1://", text) if _copies.cache_info().currsize else text


@contextmanager
def urls_in_errors() -> Iterator[None]:
    """Call local copies by their URLs in whatever goes wrong.

    Raises:
        PodiumError: what went wrong.
    """
    try:
        yield
    except DataError as error:
        problem, remedy = with_urls(error.problem), with_urls(error.remedy)
        source = error.source and with_urls(error.source)
        raise DataError(problem, remedy=remedy, source=source, row=error.row) from None
    except PodiumError as error:
        error.args = tuple(map(with_urls, map(str, error.args)))
        raise


def _kind(system: Any, place: RemoteFile) -> str | None:
    """Return `file` or `directory`; None where nothing has this name."""
    try:
        return str(system.info(place.url)["type"])
    except FileNotFoundError as error:
        # Behind https every failure is called so.
        if place.scheme in STORES or getattr(error.__cause__, "status", None) == 404:
            return None
        raise


def _absent(place: RemoteFile, system: Any) -> UsageError:
    if place.scheme in STORES:
        bucket = place.url.partition("://")[2].partition("/")[0]
        if not system.exists(f"{place.scheme}://{bucket}"):
            return UsageError(f"{place}: there is no bucket {bucket!r}, or it is not yours to see; check its name")
        if set(place.url) & MAGIC:
            return UsageError(f"no object matches {place}")
    return UsageError(f"{place}: there is nothing of this name; check the path")


@contextmanager
def _errors_of(place: RemoteFile) -> Iterator[None]:
    """Turn what a driver raises into an error that names the place, and no credentials."""
    try:
        yield
    except PodiumError:
        raise
    except Exception as error:
        raise _explanation(error, place) from None


def _explanation(error: BaseException, place: RemoteFile) -> PodiumError:
    cause = error.__cause__ if error.__cause__ is not None else error
    status = getattr(cause, "status", None) or getattr(cause, "code", None)
    remedy = CREDENTIALS.get(place.scheme, CREDENTIALS["https"])
    if {type(known).__name__ for known in (error, cause)} & LACKS:
        return UsageError(f"{place}: no credentials. Remedy: {remedy}")
    if isinstance(error, PermissionError) or status in REFUSED:
        return UsageError(f"{place}: access is refused. Remedy: {remedy}")
    if isinstance(error, FileNotFoundError) and (place.scheme in STORES or status == 404):
        return UsageError(f"{place}: there is nothing of this name; check the path")
    said = " ".join(without_secrets(str(cause)).split())[:200]
    problem = f"the store does not give it ({type(cause).__name__}{': ' if said else ''}{said})"
    return DataError(problem, source=str(place), remedy="see whether it can be reached from here, and try again")


class _Copies:
    """The folder of local copies, removed when the process ends.

    Attributes:
        identities: of the objects when they were copied, by URL.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="podium-copies-")
        self._queries: list[str] = []
        self.identities: dict[str, tuple[Any, ...]] = {}
        self.URLS = re.compile(rf"{re.escape(self._folder.name)}/\d+/(\w+)/")

    def path_of(self, place: RemoteFile) -> Path:
        """Return where the copy of an object lies; two of one name that differ by their query lie apart."""
        query = place.url.removeprefix(str(place))
        if query not in self._queries:
            self._queries.append(query)
        parts = str(place).partition("://")[2].split("/")
        safe = [part if part.strip(".") else f"_{part}" for part in parts]
        return Path(self._folder.name, str(self._queries.index(query)), place.scheme, *safe)


@cache
def _copies() -> _Copies:
    return _Copies()
