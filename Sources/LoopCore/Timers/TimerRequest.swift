/// The request for one timer: its key, and the time at which it is due.
public struct TimerRequest<Key: Hashable & Codable & Sendable>: Hashable, Codable, Sendable {
    /// The purpose of the timer: an order, a customer.
    public var key: Key
    /// When the timer is due.
    public var time: WallTime

    /// Creates a request from its parts.
    public init(key: Key, time: WallTime) {
        self.key = key
        self.time = time
    }

    /// Reads the milliseconds of the time, then the key.
    /// - Throws: the decoding error if either is missing.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        time = WallTime(milliseconds: try container.decode(Int64.self))
        key = try container.decode(Key.self)
    }

    /// Writes the milliseconds of the time, then the key.
    /// - Throws: the encoder's error.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(time.milliseconds)
        try container.encode(key)
    }
}
