import LoopWire

/// One value for each session of a history. Sessions are numbered from 1, so the table is an array.
struct SessionTable<Value: Sendable>: Sendable {
    private var values: [Value?] = []

    subscript(session: SessionID) -> Value? {
        get { session.value < UInt64(values.count) ? values[Int(session.value)] : nil }
        set {
            let index = Int(session.value)
            while values.count <= index { values.append(nil) }
            values[index] = newValue
        }
        _modify {
            let index = Int(session.value)
            while values.count <= index { values.append(nil) }
            yield &values[index]
        }
    }
}
