public import LoopCollections

/// A dictionary for large states. Import `LoopCollections` only to use more than this type.
public typealias TrackedDictionary = LoopCollections.TrackedDictionary
