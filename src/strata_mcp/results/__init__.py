"""Result shapes: dataclasses named as on the wire, returned by the engine and the SDK alike."""
