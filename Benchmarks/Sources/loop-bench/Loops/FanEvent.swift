/// What happens to a fan.
enum FanStep {
    case begin(limit: Int, window: Int)
    case done(Int)
}

/// One way to write it.
protocol FanEvent: Codable, Sendable {
    init(_ step: FanStep)

    var step: FanStep { get }
}

/// 17 bytes, by hand: two numbers. The second one is `UInt64.max` when an effect is done.
struct PackedFanEvent: FanEvent {
    private let first: UInt64
    private let second: UInt64

    init(_ step: FanStep) {
        (first, second) =
            switch step {
            case .begin(let limit, let window): (UInt64(limit), UInt64(window))
            case .done(let number): (UInt64(number), .max)
            }
    }

    var step: FanStep { second == .max ? .done(Int(first)) : .begin(limit: Int(first), window: Int(second)) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode([UInt8](packing: [first, second], count: 16))
    }

    init(from decoder: any Decoder) throws {
        let numbers = try decoder.singleValueContainer().decode([UInt8].self).unpacked(count: 16)
        (first, second) = (numbers[0], numbers[1])
    }
}

/// What people write.
enum PlainFanEvent: FanEvent {
    case begin(limit: Int, window: Int)
    case done(Int)

    init(_ step: FanStep) {
        self =
            switch step {
            case .begin(let limit, let window): .begin(limit: limit, window: window)
            case .done(let number): .done(number)
            }
    }

    var step: FanStep {
        switch self {
        case .begin(let limit, let window): .begin(limit: limit, window: window)
        case .done(let number): .done(number)
        }
    }
}
