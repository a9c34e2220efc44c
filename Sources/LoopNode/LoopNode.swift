// Who runs a node writes a definition too: one import brings both.
@_exported public import LoopCore
