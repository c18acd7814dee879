"""Files in an object store or behind https.

fsspec is imported only when a URL is read or written. Users, passwords and signatures in URLs are
used, but never shown. A remote file is read through a local copy.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from podium.errors import DataError, PodiumError, UsageError, install_hint

DRIVERS = {
    "s3": ("s3fs", "s3"),
    "gs": ("gcsfs", "gs"),
    "http": ("aiohttp", "https"),
    "https": ("aiohttp", "https"),
}
"""For each scheme, the package that fsspec needs and the extra of podium that installs it."""
CREDENTIALS = {
    "s3": "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; for a public bucket "
    "FSSPEC_S3_ANON=true",
    "gs": "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS; "
    "for a public bucket FSSPEC_GS_TOKEN=anon",
}
"""What the user can do about missing credentials, by scheme."""
CREDENTIAL_ERRORS = {
    "NoCredentialsError",
    "PartialCredentialsError",
    "CredentialRetrievalError",
    "TokenRetrievalError",
    "ProfileNotFound",
    "UnauthorizedSSOTokenError",
    "SSOTokenLoadError",
    "DefaultCredentialsError",
    "RefreshError",
}
"""Errors of drivers, by name, that mean missing or expired credentials."""
STORES = ("s3", "gs")
"""Schemes whose folders can be listed, and that can be written to."""
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=://)")
"""Matches the scheme of a URL, such as `s3`."""
USER = re.compile(r"(?<=://)[^/\s@]*@")
"""Matches user and password in a URL: `ann:secret@` of `https://ann:secret@host/`."""
QUERY = re.compile(r"(https?://[^\s?'\"]*)\?[^\s'\"),]*")
"""Matches a URL with a query, which may hold a signature. Group 1 is the URL without the query."""


def is_url(text: str) -> bool:
    """Return whether a text is a URL of any scheme, not a path. `label=URL` is not a URL."""
    return SCHEME.match(text) is not None


def without_secrets(text: str) -> str:
    """Remove users and passwords of all URLs in a text, and queries of http and https URLs."""
    without_users = USER.sub("", text)
    return QUERY.sub(r"\1", without_users)


@dataclass(frozen=True, order=True, slots=True)
class RemoteFile:
    """An object in a store, or a web document.

    Methods that connect to the store raise UsageError if the object does not exist or access is
    denied, and DataError if the connection fails.

    Attributes:
        url: the URL with any user, password and signature. `str()` of the object leaves them out.
    """

    url: str = field(repr=False)

    def __str__(self) -> str:
        """Return the URL without user and password; of http and https, also without its query."""
        return without_secrets(self.url)

    @property
    def scheme(self) -> str:
        """`s3`, `gs`, `http` or `https`."""
        return self.url.partition("://")[0]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(str(self)).name

    @property
    def suffix(self) -> str:
        """The end of the name, from its last dot; empty if it has none."""
        return PurePosixPath(self.name).suffix

    def with_name(self, name: str) -> "RemoteFile":
        """Return the object of another name in the same folder, which need not exist.

        The query of the URL is left out.
        """
        return RemoteFile(f"{self.url.rpartition('/')[0]}/{name}")

    def version(self) -> str:
        """Return a text that changes when the object does: all that the store says of it.

        Raises:
            UsageError: there is no such object, or access is denied.
            DataError: the connection fails.
        """
        with _file_system(self) as system:
            return str(sorted(system.info(self.url).items(), key=str))

    @property
    def local_path(self) -> Path:
        """The path of the local copy, which may not exist yet.

        Its folders have the names of the folders in the store; `_` is put before names of dots
        alone, such as `..`, so that the copy stays in the folder of copies.
        """
        location = str(self)
        query = self.url.removeprefix(location)
        names = location.partition("://")[2].split("/")
        parts = [name if name.strip(".") else f"_{name}" for name in names]
        # URLs that differ only in their query have different copies.
        hash_of_query = hashlib.sha256(query.encode()).hexdigest()[:8]
        return Path(_copies(), hash_of_query, self.scheme, *parts)

    def download(self) -> Path:
        """Download the object unless its copy is up to date, and return the path of the copy.

        The copy is up to date if `version` is as it was at the last download. It is removed when
        the process ends.

        Raises:
            UsageError: there is no such object, or access is denied.
            DataError: the connection fails.
        """
        version = self.version()
        path = self.local_path
        if _VERSIONS.get(self.url) != version:
            path.parent.mkdir(parents=True, exist_ok=True)
            with _file_system(self) as system:
                system.get_file(self.url, str(path))
            _VERSIONS[self.url] = version
        return path

    def upload(self, path: Path) -> None:
        """Upload a local file. The store keeps the old object until the new one is complete.

        Raises:
            UsageError: nothing can be written to the URL (`check_writable`).
            DataError: the connection fails.
        """
        self.check_writable()
        with _file_system(self) as system:
            system.put_file(str(path), self.url)

    def check_writable(self) -> None:
        """Raise an error if nothing can be written to the URL; nothing is written.

        It asks the store whether the bucket exists, and not whether this user may write to it.

        Raises:
            UsageError: the URL is not of a store or names no object, the bucket does not exist, or
                credentials are missing or refused.
            DataError: the store cannot be reached.
        """
        if self.scheme not in STORES:
            raise UsageError(
                f"{self}: nothing can be written there; name a local file, s3:// or gs://"
            )
        bucket, _, key = self.url.partition("://")[2].partition("/")
        if not bucket or not key or key.endswith("/"):
            raise UsageError(f"{self}: name an object to write, as {self.scheme}://BUCKET/NAME")
        with _file_system(self) as system:
            if not system.exists(bucket):
                raise UsageError(
                    f"{self}: there is no bucket {bucket!r}; create it, or name another"
                )


Place: TypeAlias = Path | RemoteFile
"""A local or remote file."""


def place_of(text: str | Path) -> Place:
    """Return the file that a path or URL names, which need not exist.

    A URL that begins with `file://` is a local path.

    Raises:
        UsageError: the scheme of the URL is unknown.
    """
    scheme = SCHEME.match(str(text))
    if isinstance(text, Path) or scheme is None:
        return Path(text)
    if scheme[0] == "file":
        return Path(text.removeprefix("file://"))
    if scheme[0] not in DRIVERS:
        raise UsageError(
            f"{without_secrets(text)}: podium reads local files, s3://, gs:// and https://"
        )
    return RemoteFile(text)


def local_file(place: Place) -> Path:
    """Return the path of a file, or of the local copy of a remote one.

    Raises:
        UsageError: there is no such object, or access is denied.
        DataError: the connection fails.
    """
    return place.download() if isinstance(place, RemoteFile) else place


def named_file(text: str) -> Path | None:
    """Return the path of the single file that a path or URL names, or of its local copy.

    None for a folder, a glob, and a local file that does not exist. A URL whose last part has no
    suffix counts as a folder.

    Raises:
        UsageError: there is no such object, access is denied, or the scheme of the URL is unknown.
        DataError: the connection fails.
    """
    place = place_of(text)
    if not isinstance(place, RemoteFile):
        return place if place.is_file() else None
    if place.url.endswith("/") or not place.suffix or has_magic(str(place)):
        return None
    return place.download()


def find_remote(url: str, suffixes: tuple[str, ...]) -> tuple[tuple[RemoteFile, ...], bool]:
    """Find the objects that a URL names: a single object, or those in a folder or of a glob.

    Args:
        url: URL of an object or folder, or a glob.
        suffixes: endings of the names of objects that are wanted in a folder. A single object, and
            the objects of a glob, may have any ending.

    Returns:
        The objects, sorted, and whether the URL is a folder (False for a glob).

    Raises:
        UsageError: there is no such object, a folder has no object with such an ending, or access
            is denied.
        DataError: the connection fails.
    """
    place = RemoteFile(url)
    with _file_system(place) as system:
        is_folder = True
        try:
            if system.info(url)["type"] == "file":
                return (place,), False
            names = [name for name in system.find(url) if name.endswith(suffixes)]
        except FileNotFoundError:
            # Nothing has this very name, so that it may be a glob.
            if place.scheme not in STORES or not has_magic(url):
                raise
            is_folder = False
            matches = system.glob(url, detail=True).values()
            names = [match["name"] for match in matches if match["type"] == "file"]
            if not names:
                raise
        if not names:
            raise UsageError(f"{place} contains no {', '.join(suffixes[:5])} file")
        files = sorted(RemoteFile(system.unstrip_protocol(name)) for name in names)
        return tuple(files), is_folder


def list_siblings(place: RemoteFile) -> list[RemoteFile]:
    """List all objects in the folder of an object, itself included.

    The list is empty for web documents, because their folders cannot be listed.

    Raises:
        UsageError: access is denied.
        DataError: the connection fails.
    """
    if place.scheme not in STORES:
        return []
    with _file_system(place) as system:
        entries = system.ls(place.url.rpartition("/")[0], detail=True)
        return [
            RemoteFile(system.unstrip_protocol(entry["name"]))
            for entry in entries
            if entry["type"] == "file"
        ]


def with_urls(text: str) -> str:
    """Replace the paths of local copies in a text by the URLs of the objects, without queries."""
    if not _copies.cache_info().currsize:
        return text
    return re.sub(rf"{re.escape(str(_copies()))}/\w+/(\w+)/", r"\1://", text)


@contextmanager
def urls_in_errors() -> Iterator[None]:
    """Replace the paths of local copies by URLs in podium's errors that the block raises."""
    try:
        yield
    except PodiumError as error:
        error.args = tuple(with_urls(str(part)) for part in error.args)
        for name, part in list(vars(error).items()):
            if isinstance(part, str):
                vars(error)[name] = with_urls(part)
        raise


@contextmanager
def _file_system(place: RemoteFile) -> Iterator[Any]:
    """Yield fsspec's file system for an object, and convert its driver's errors to podium's.

    Nothing that the file system listed before is reused.

    Raises:
        UsageError: the driver is not installed, credentials are missing, access is denied, or
            there is no such object.
        DataError: any other error of the driver.
    """
    import logging

    import fsspec

    package, extra = DRIVERS[place.scheme]
    # Failures are raised as errors, so the driver's log messages are not printed, too. They are
    # printed if the user configures logging.
    logging.getLogger(package).addHandler(logging.NullHandler())
    # With `trust_env`, proxies of the environment and the keys in ~/.netrc are used.
    options = {"client_kwargs": {"trust_env": True}} if extra == "https" else {}
    try:
        system = fsspec.filesystem(place.scheme, **options)
        system.invalidate_cache()
        yield system
    except PodiumError:
        raise
    except ImportError as error:
        raise UsageError(
            f"{place.scheme}:// needs {package} ({error}): {install_hint(extra)}"
        ) from None
    except Exception as error:
        raise _convert_error(place, error) from None


def _convert_error(place: RemoteFile, error: Exception) -> PodiumError:
    """Convert a driver's error to an error that names the object, without credentials.

    It is a UsageError if credentials are missing, access is denied or there is no such object, and
    else a DataError.
    """
    cause = error.__cause__ if error.__cause__ is not None else error
    status = getattr(cause, "status", None) or getattr(cause, "code", None)
    remedy = CREDENTIALS.get(
        place.scheme, "ask for a URL that is signed anew, or for the right to read it"
    )
    error_names = {type(error).__name__, type(cause).__name__}
    if error_names & CREDENTIAL_ERRORS:
        return UsageError(f"{place}: no credentials. Remedy: {remedy}")
    if isinstance(error, PermissionError) or status in (401, 403):
        return UsageError(f"{place}: access denied. Remedy: {remedy}")
    if isinstance(error, FileNotFoundError) and (place.scheme in STORES or status == 404):
        return UsageError(
            f"{place}: there is nothing of this name; check the path, and the bucket if it is in "
            "a store"
        )
    name_and_message = type(cause).__name__
    message = " ".join(without_secrets(str(cause)).split())[:200]
    if message:
        name_and_message += f": {message}"
    problem = f"it cannot be read or written ({name_and_message})"
    return DataError(
        problem, source=str(place), remedy="see whether it can be reached from here, and try again"
    )


@cache
def _copies() -> Path:
    """Return the folder of local copies, which is removed when the process ends."""
    from podium.storage.temporary_folders import make_folder

    return make_folder()


_VERSIONS: dict[str, str] = {}
"""Version of each object at the time of its download, by URL."""
