"""A Java machine of one's own: what a session is started with holds for every session after it in the same machine."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def own_java() -> Iterator[None]:
    """Spark starts a new Java machine within, which ends with it."""
    _end_java()
    try:
        yield
    finally:
        _end_java()


def _end_java() -> None:
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    gateway.proc.kill()
    gateway.proc.stdin.close()
    gateway.proc.wait()
