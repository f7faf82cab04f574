"""
Plain buffers out of Arrow columns.

Once a table is loaded its numbers and strings are read without Arrow and numpy, which costs a fraction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

NARROW_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ByteColumn:
    """Byte strings behind each other: number i is `data[offsets[i]:offsets[i + 1]]`."""

    offsets: memoryview
    data: bytes

    def at(self, index: int) -> bytes:
        """One of the strings."""
        return self.data[self.offsets[index] : self.offsets[index + 1]]

    def run(self, first: int, stop: int) -> list[bytes]:
        """Several strings next to each other."""
        data = self.data
        offsets = self.offsets[first : stop + 1].tolist()
        return [data[offsets[i] : offsets[i + 1]] for i in range(len(offsets) - 1)]

    @property
    def nbytes(self) -> int:
        """Memory taken."""
        return self.offsets.nbytes + len(self.data)


NO_STRINGS: Final = ByteColumn(memoryview(bytes(8)).cast("q"), b"")


def to_numpy(column: Any) -> NDArray[Any]:
    """A column without nulls as one numpy array."""
    import numpy as np

    return np.ascontiguousarray(column.to_numpy(zero_copy_only=False) if _is_array(column) else column.to_numpy())


def _is_array(column: Any) -> bool:
    import pyarrow as pa

    return isinstance(column, pa.Array)


def to_view(array: NDArray[Any]) -> memoryview:
    """Flags or whole numbers as a buffer of their own, 4 bytes each where that is enough."""
    import numpy as np

    # Always a copy: a slice or a view would keep the Arrow table alive.
    if array.dtype == np.bool_:
        return np.array(array).data
    is_narrow = len(array) == 0 or (int(array.max()) <= NARROW_MAX and int(array.min()) >= -NARROW_MAX)
    return np.array(array, dtype=np.int32 if is_narrow else np.int64).data


def bytes_array(column: Any) -> Any:
    """A binary or string column as one array with 64-bit offsets."""
    import pyarrow as pa

    whole = column.cast(pa.large_string() if pa.types.is_string(column.type) else pa.large_binary())
    whole = whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
    whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    return whole.cast(pa.large_binary())


def byte_column(array: Any) -> ByteColumn:
    """The buffers of a binary array with 64-bit offsets."""
    import numpy as np

    if len(array) == 0:
        return NO_STRINGS
    _, offset_buffer, data_buffer = array.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64)[array.offset : array.offset + len(array) + 1]
    first, stop = int(offsets[0]), int(offsets[-1])
    data = data_buffer.slice(first, stop - first).to_pybytes() if data_buffer is not None else b""
    return ByteColumn(to_view(offsets - first), data)


def branch_ranges(sorted_uids: NDArray[Any]) -> dict[int, tuple[int, int]]:
    """For each branch uid of a sorted array the part of the array that it fills."""
    import numpy as np

    found, firsts = np.unique(sorted_uids, return_index=True)
    bounds = [*firsts.tolist(), len(sorted_uids)]
    return {uid: (bounds[index], bounds[index + 1]) for index, uid in enumerate(found.tolist())}
