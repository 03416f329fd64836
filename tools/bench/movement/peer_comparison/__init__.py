"""Moves of other libraries, to compare with tmajit's on the same buffers; see docs/movement.md."""
