"""What the SDK's tests share: a call must be refused with one exact code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from stratadb.errors import StrataError


@contextmanager
def refused(code: str) -> Iterator[pytest.ExceptionInfo[StrataError]]:
    """The block must raise a StrataError with exactly this code."""
    with pytest.raises(StrataError) as caught:
        yield caught
    assert caught.value.code == code
