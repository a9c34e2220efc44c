/// How much a CBOR document may ask of its reader.
public struct CBORLimits: Sendable, Equatable {
    /// How deep arrays, maps and tags may be nested; a lone number has depth 0, `[1]` has depth 1.
    public var depthMax: Int
    /// How long a document may be, in bytes; never above `UInt32.max`.
    public var bytesMax: Int

    /// Depth 64 and 1 GiB.
    public static var `default`: CBORLimits { CBORLimits() }

    /// Limits for one use of the coder.
    ///
    /// - Parameters:
    ///   - depthMax: kept within 0...512, because reading recurses.
    ///   - bytesMax: in bytes; kept within 0 … 4 GiB − 2.
    public init(depthMax: Int = 64, bytesMax: Int = 1 << 30) {
        self.depthMax = min(max(depthMax, 0), 512)
        self.bytesMax = min(max(bytesMax, 0), Int(UInt32.max) - 1)
    }
}
