public import LoopCollections

/// A dictionary for large states. Import `LoopCollections` only to use more than this type and `TrackedChanges`.
public typealias TrackedDictionary = LoopCollections.TrackedDictionary

/// The differences between two tracked dictionaries.
package typealias TrackedChanges = LoopCollections.TrackedChanges
