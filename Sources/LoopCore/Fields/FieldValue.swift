/// A value of a registered field, as it crosses processes: what a form can hold.
public enum FieldValue: Codable, Hashable, Sendable {
    case text(String)
    case whole(Int64)
    case decimal(Double)
    case flag(Bool)
    /// An optional field without a value.
    case empty
}

/// A type that a registered field may have.
public protocol FieldValueConvertible: Sendable {
    /// Nil where `value` is of another kind.
    init?(fieldValue value: FieldValue)
    var fieldValue: FieldValue { get }
}

extension String: FieldValueConvertible {
    public init?(fieldValue value: FieldValue) {
        guard case .text(let text) = value else { return nil }
        self = text
    }

    public var fieldValue: FieldValue { .text(self) }
}

extension Int: FieldValueConvertible {
    public init?(fieldValue value: FieldValue) {
        guard case .whole(let number) = value, let exact = Int(exactly: number) else { return nil }
        self = exact
    }

    public var fieldValue: FieldValue { .whole(Int64(self)) }
}

extension Double: FieldValueConvertible {
    public init?(fieldValue value: FieldValue) {
        guard case .decimal(let number) = value else { return nil }
        self = number
    }

    public var fieldValue: FieldValue { .decimal(self) }
}

extension Bool: FieldValueConvertible {
    public init?(fieldValue value: FieldValue) {
        guard case .flag(let flag) = value else { return nil }
        self = flag
    }

    public var fieldValue: FieldValue { .flag(self) }
}

extension Optional: FieldValueConvertible where Wrapped: FieldValueConvertible {
    public init?(fieldValue value: FieldValue) {
        if value == .empty {
            self = .none
        } else if let wrapped = Wrapped(fieldValue: value) {
            self = wrapped
        } else {
            return nil
        }
    }

    public var fieldValue: FieldValue { self?.fieldValue ?? .empty }
}

extension FieldValueConvertible where Self: RawRepresentable, RawValue: FieldValueConvertible {
    public init?(fieldValue value: FieldValue) {
        guard let raw = RawValue(fieldValue: value) else { return nil }
        self.init(rawValue: raw)
    }

    public var fieldValue: FieldValue { rawValue.fieldValue }
}
