// Unsafe: a `Lent` exists only in `lend`, and functions that `lend` calls borrow it. It cannot be copied, so the value does not
// move before the last use. Each use compares the value's type with the requested one.

/// A value of some type, at its address in memory, for the length of a call. Its user knows the type.
///
/// Code that is generic over a type and not specialised for it looks up the type's optionals, arrays and existentials at run time.
/// A `Lent` is one type for all values.
@safe
@usableFromInline
package struct Lent: ~Copyable {
    @usableFromInline let place: UnsafeRawPointer?
    @usableFromInline let type: Any.Type

    /// Lends nothing.
    @inlinable
    package init() {
        unsafe place = nil
        type = Never.self
    }

    @inlinable
    init(_ place: UnsafeRawPointer, _ type: Any.Type) {
        unsafe self.place = place
        self.type = type
    }

    /// Whether nothing is lent.
    @inlinable
    package var isEmpty: Bool { unsafe place == nil }

    /// Calls `body` with the value, without retaining the objects that it refers to.
    ///
    /// A copy would retain and release every array and object of a state for a query that reads one number. Here its bits are
    /// copied, and the copy is never destroyed.
    /// - Parameter type: the type of the lent value.
    @inlinable
    @inline(__always)
    package func read<Value, Result, Failure: Error>(
        as type: Value.Type, _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe readBits(of: UnsafePointer(address(of: type)), body)
    }

    /// Calls `body` with a property of the value, as `read(as:_:)` does. A stored property is read in place.
    @inlinable
    @inline(__always)
    package func read<Root, Value, Result, Failure: Error>(
        _ property: PropertyPlace<Root, Value>, _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let root = unsafe address(of: Root.self)
        guard let offset = property.offset else { return try unsafe body(root.pointee[keyPath: property.path]) }
        return try unsafe readBits(
            of: (UnsafeRawPointer(root) + offset).assumingMemoryBound(to: Value.self), body)
    }

    @inlinable
    @inline(__always)
    func address<Value>(of type: Value.Type) -> UnsafePointer<Value> {
        guard self.type == type, let place = unsafe place else { preconditionFailure("another type of value is lent") }
        return unsafe place.assumingMemoryBound(to: type)
    }
}

extension Lent {
    /// Calls `body` with a value as a `Value`, if that is exactly its type. A cast would search the runtime for other conversions.
    /// - Returns: what `body` returns, or nil if the value is of another type.
    @inlinable
    @inline(__always)
    package static func read<Known, Value, Result>(
        _ known: Known, as type: Value.Type, _ body: (Value) throws -> Result
    ) rethrows -> Result? {
        guard Known.self == Value.self else { return nil }
        return try unsafe withUnsafePointer(to: known) {
            try unsafe body(UnsafeRawPointer($0).assumingMemoryBound(to: type).pointee)
        }
    }
}

/// A property of values of a type. It finds the offset of a stored property once.
@usableFromInline
package struct PropertyPlace<Root, Value>: Sendable {
    @usableFromInline let path: any KeyPath<Root, Value> & Sendable
    /// The offset in bytes, or nil if the property is computed.
    @usableFromInline let offset: Int?

    @inlinable
    package init(_ path: any KeyPath<Root, Value> & Sendable) {
        self.path = path
        offset = MemoryLayout<Root>.offset(of: path)
    }
}

/// Lends a value to a call.
@inlinable
@inline(__always)
package func lend<Value, Result, Failure: Error>(
    _ value: borrowing Value, to body: (borrowing Lent) throws(Failure) -> Result
) throws(Failure) -> Result {
    try unsafe withUnsafePointer(to: value) { (place) throws(Failure) in
        try unsafe body(Lent(UnsafeRawPointer(place), Value.self))
    }
}

/// Lends a value in place to a call, without a copy.
@inlinable
@inline(__always)
package func lend<Value, Result, Failure: Error>(
    _ value: inout Value, to body: (borrowing Lent) throws(Failure) -> Result
) throws(Failure) -> Result {
    try unsafe withUnsafeMutablePointer(to: &value) { (place) throws(Failure) in
        try unsafe body(Lent(UnsafeRawPointer(place), Value.self))
    }
}

/// Calls `body` with the value at an address, without retaining the objects that it refers to. The value does not change during the
/// call.
@inlinable
@inline(__always)
func readBits<Value, Result, Failure: Error>(
    of place: UnsafePointer<Value>, _ body: (Value) throws(Failure) -> Result
) throws(Failure) -> Result {
    try unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { (room) throws(Failure) in
        guard let copy = room.baseAddress else { return try unsafe body(place.pointee) }
        unsafe UnsafeMutableRawPointer(copy).copyMemory(from: place, byteCount: MemoryLayout<Value>.size)
        let value = unsafe copy.move()
        defer { unsafe copy.initialize(to: value) }
        return try body(value)
    }
}
