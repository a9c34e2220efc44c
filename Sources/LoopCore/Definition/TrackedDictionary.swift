public import LoopCollections

/// A dictionary for large states: see `LoopCollections`, which is imported only to name more than these two.
public typealias TrackedDictionary = LoopCollections.TrackedDictionary

/// What two tracked dictionaries differ in.
public typealias TrackedChanges = LoopCollections.TrackedChanges
