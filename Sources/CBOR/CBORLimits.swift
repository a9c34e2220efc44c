/// The limits for a CBOR document.
package struct CBORLimits: Sendable, Equatable {
    /// How deep arrays, maps and tags may be nested. A single number has depth 0, `[1]` has depth 1.
    package var depthMax: Int
    /// How long a document may be, in bytes. The initialiser keeps it below `UInt32.max`.
    package var bytesMax: Int

    /// The standard limits: depth 64 and 1 GiB.
    package static var `default`: CBORLimits { CBORLimits() }

    /// Limits for one use of the coder.
    ///
    /// - Parameters:
    ///   - depthMax: the depth, kept within 0...512, because reading recurses.
    ///   - bytesMax: the length in bytes, kept within 0 … 4 GiB − 2.
    package init(depthMax: Int = 64, bytesMax: Int = 1 << 30) {
        self.depthMax = min(max(depthMax, 0), 512)
        self.bytesMax = min(max(bytesMax, 0), Int(UInt32.max) - 1)
    }
}
