/// Calls with the value that lies there, and retains nothing of what it refers to.
///
/// `pointee` is a copy where whatever is called may be anything: every array and object of a state is retained and released for
/// a query that looks at one number. Here its bits are copied, and the copy is never destroyed.
/// - Parameter place: stays initialised, and unchanged, until the call returns.
@inlinable
@inline(__always)
package func lend<Value, Result>(_ place: UnsafePointer<Value>, to body: (Value) -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { room in
        guard let copy = room.baseAddress else { return body(place.pointee) }
        UnsafeMutableRawPointer(copy).copyMemory(from: place, byteCount: MemoryLayout<Value>.size)
        let value = copy.move()
        defer { copy.initialize(to: value) }
        return body(value)
    }
}
