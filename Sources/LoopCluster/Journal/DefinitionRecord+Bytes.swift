import CBOR
import LoopWire

// Records of what people did: a changed definition, and an operator's action.

extension DefinitionRecord {
    func write(to output: inout [UInt8]) {
        output.fields(.definition) {
            $0.u64(fingerprint)
            $0.varint(schema)
            $0.u64(initial)
            $0.varint(UInt64(initialState.count))
        }
        output += initialState
        output.number(feedbacks.count)
        for name in feedbacks { output.string(name) }
    }

    init(from reader: inout ByteReader) throws(WireError) {
        fingerprint = try reader.u64("fingerprint")
        schema = try reader.varint()
        initial = try reader.u64("initial state's hash")
        initialState = Array(try reader.shortPrefixed())
        let count = try reader.varint()
        // Each name takes at least one byte, so an impossible count is refused before anything is allocated.
        guard count <= reader.remaining else {
            throw .malformed(what: "\(count) names in \(reader.remaining) bytes", offset: reader.position)
        }
        feedbacks = []
        feedbacks.reserveCapacity(Int(count))
        for _ in 0..<count { feedbacks.append(try reader.shortString()) }
    }
}

extension OperatorAction {
    func write(to output: inout [UInt8]) {
        output.fields(.operatorAction) {
            switch what {
            case .retryParked(let effect):
                $0.append(1)
                $0.effect(effect)
            case .retryQuarantined(let id):
                $0.append(2)
                $0.varint(id)
            case .dropQuarantined(let id):
                $0.append(3)
                $0.varint(id)
            case .pauseSchedule(let number):
                $0.append(4)
                $0.varint(UInt64(number))
            case .resumeSchedule(let number):
                $0.append(5)
                $0.varint(UInt64(number))
            case .runSchedule(let number):
                $0.append(6)
                $0.varint(UInt64(number))
            case .acceptClock: $0.append(7)
            }
            $0.time(time)
        }
        output.string(who)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        let code = try reader.u8("action")
        switch code {
        case 1: what = .retryParked(try reader.shortEffect())
        case 2: what = .retryQuarantined(try reader.varint())
        case 3: what = .dropQuarantined(try reader.varint())
        case 4: what = .pauseSchedule(try reader.varint32())
        case 5: what = .resumeSchedule(try reader.varint32())
        case 6: what = .runSchedule(try reader.varint32())
        case 7: what = .acceptClock
        default: throw .malformed(what: "action \(code)", offset: reader.position - 1)
        }
        time = try reader.time()
        who = try reader.shortString()
    }
}
