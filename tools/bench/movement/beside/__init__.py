"""Other libraries' moves beside tmajit's, on the same buffers; see docs/movement.md."""
