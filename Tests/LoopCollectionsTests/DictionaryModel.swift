import LoopCollections
import LoopCore

/// What a `TrackedDictionary` must be: a dictionary and the order of its keys.
struct DictionaryModel<Key: Hashable & Sendable>: Equatable, Sendable {
    var keys: [Key] = []
    var values: [Key: String] = [:]

    mutating func set(_ key: Key, _ value: String?) {
        if let value {
            if values.updateValue(value, forKey: key) == nil { keys.append(key) }
        } else if values.removeValue(forKey: key) != nil {
            keys.removeAll { $0 == key }
        }
    }

    mutating func removeAll(where isRemoved: (Key) -> Bool) {
        for key in keys where isRemoved(key) { values[key] = nil }
        keys.removeAll(where: isRemoved)
    }
}

/// One step of a random history.
enum DictionaryStep: Equatable, Sendable {
    case update(Int, String)
    case assign(Int, String?)
    case modify(Int, String)
    case modifyDefault(Int, String)
    case modifyToNil(Int)
    case remove(Int)
    case removeMany(divisor: Int)
    case removeAll
    /// Keeps a copy, which must stay as it is now.
    case copy
    /// Lets the oldest copy go.
    case forget
    /// Goes on with the oldest copy instead.
    case goBack
    case check

    static func random(keys: Int, _ random: inout SeededRandom) -> DictionaryStep {
        let key = Int.random(in: 0..<keys, using: &random)
        let value = "value \(Int.random(in: 0..<1000, using: &random)) of a key that is not short"
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<35: return .update(key, value)
        case 35..<45: return .assign(key, Bool.random(using: &random) ? value : nil)
        case 45..<55: return .modify(key, value)
        case 55..<60: return .modifyDefault(key, value)
        case 60..<65: return .modifyToNil(key)
        case 65..<85: return .remove(key)
        case 85: return Int.random(in: 0..<6, using: &random) == 0 ? .removeAll : .removeMany(divisor: 3)
        case 86..<92: return .copy
        case 92..<95: return .forget
        case 95: return .goBack
        default: return .check
        }
    }
}

/// Takes a history's steps in a `TrackedDictionary` and in its model.
struct DictionaryHistory<Key: Hashable & Sendable> {
    typealias Tracked = TrackedDictionary<Key, String>

    let key: (Int) -> Key
    var tracked: Tracked
    var model = DictionaryModel<Key>()
    var copies: [(tracked: Tracked, model: DictionaryModel<Key>)] = []
    let copiesMax = 6

    init(firstOrdinal: Int = 0, key: @escaping (Int) -> Key) {
        self.key = key
        tracked = Tracked(firstOrdinal: firstOrdinal)
    }

    /// Takes a step and says what is wrong then.
    mutating func take(_ step: DictionaryStep) -> String? {
        switch step {
        case .update(let number, let value):
            let old = tracked.updateValue(value, forKey: key(number))
            if old != model.values[key(number)] { return "updateValue returns \(old ?? "nil")" }
            model.set(key(number), value)
        case .assign(let number, let value):
            tracked[key(number)] = value
            model.set(key(number), value)
        case .modify(let number, let value):
            tracked[key(number)]?.append(value)
            if let old = model.values[key(number)] { model.set(key(number), old + value) }
        case .modifyDefault(let number, let value):
            tracked[key(number), default: "new"].append(value)
            model.set(key(number), (model.values[key(number)] ?? "new") + value)
        case .modifyToNil(let number):
            Self.modify(&tracked[key(number)]) { $0 = nil }
            model.set(key(number), nil)
        case .remove(let number):
            let old = tracked.removeValue(forKey: key(number))
            if old != model.values[key(number)] { return "removeValue returns \(old ?? "nil")" }
            model.set(key(number), nil)
        case .removeMany(let divisor):
            let removed = Set((0..<10_000 / divisor).map { key($0 * divisor) })
            tracked.removeAll { removed.contains($0.key) }
            model.removeAll { removed.contains($0) }
        case .removeAll:
            tracked.removeAll()
            model = DictionaryModel()
        case .copy:
            copies.append((tracked, model))
            if copies.count > copiesMax { return forget() }
        case .forget:
            return forget()
        case .goBack:
            if let (tracked, model) = copies.first { (self.tracked, self.model) = (tracked, model) }
        case .check:
            return check()
        }
        return tracked.count == model.keys.count ? nil : "there are \(tracked.count) for \(model.keys.count) entries"
    }

    private mutating func forget() -> String? {
        guard let (tracked, model) = copies.first else { return nil }
        copies.removeFirst()
        return Self.difference(tracked, model, key).map { "in a copy, \($0)" }
    }

    func check() -> String? {
        for (tracked, model) in copies {
            if let wrong = Self.difference(tracked, model, key) { return "in a copy, \(wrong)" }
        }
        return Self.difference(tracked, model, key)
    }

    static func difference(_ tracked: Tracked, _ model: DictionaryModel<Key>, _ key: (Int) -> Key) -> String? {
        if Array(tracked.keys) != model.keys { return "the order is \(Array(tracked.keys)), not \(model.keys)" }
        for (key, value) in tracked where model.values[key] != value { return "\(key) has \(value)" }
        for (key, value) in model.values where tracked[key] != value { return "\(key) is found as another" }
        if tracked.indices.reversed().map({ tracked[$0].key }) != model.keys.reversed() { return "backwards differs" }
        for number in 0..<40 where tracked.contains(key(number)) != (model.values[key(number)] != nil) {
            return "\(key(number)) is there or not"
        }
        if tracked.first?.key != model.keys.first || tracked.last?.key != model.keys.last { return "ends differ" }
        return nil
    }

    private static func modify(_ value: inout String?, _ change: (inout String?) -> Void) { change(&value) }
}
