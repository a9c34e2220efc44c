/// A value of a registered field in the form that crosses processes.
public enum FieldValue: Codable, Hashable, Sendable {
    /// A text.
    case text(String)
    /// A whole number.
    case whole(Int64)
    /// A decimal number.
    case decimal(Double)
    /// On or off.
    case flag(Bool)
    /// An optional field without a value.
    case empty
}

/// A type that a registered field may have.
public protocol FieldValueConvertible: Sendable {
    /// Fails if `value` is of another kind.
    init?(fieldValue value: FieldValue)
    /// The value in the form that crosses processes. `init(fieldValue:)` makes an equal value of it.
    var fieldValue: FieldValue { get }
}

extension String: FieldValueConvertible {
    /// Fails if `value` is not a text.
    public init?(fieldValue value: FieldValue) {
        guard case .text(let text) = value else { return nil }
        self = text
    }

    /// The text as a `text`.
    public var fieldValue: FieldValue { .text(self) }
}

extension Int: FieldValueConvertible {
    /// Fails if `value` is not a whole number, or one that `Int` cannot represent.
    public init?(fieldValue value: FieldValue) {
        guard case .whole(let number) = value, let exact = Int(exactly: number) else { return nil }
        self = exact
    }

    /// The number as a `whole`.
    public var fieldValue: FieldValue { .whole(Int64(self)) }
}

extension Double: FieldValueConvertible {
    /// Fails if `value` is not a decimal number.
    public init?(fieldValue value: FieldValue) {
        guard case .decimal(let number) = value else { return nil }
        self = number
    }

    /// The number as a `decimal`.
    public var fieldValue: FieldValue { .decimal(self) }
}

extension Bool: FieldValueConvertible {
    /// Fails if `value` is not a flag.
    public init?(fieldValue value: FieldValue) {
        guard case .flag(let flag) = value else { return nil }
        self = flag
    }

    /// The value as a `flag`.
    public var fieldValue: FieldValue { .flag(self) }
}

extension Optional: FieldValueConvertible where Wrapped: FieldValueConvertible {
    /// Nil for `empty`, otherwise the wrapped type's value. Fails if the wrapped type's initialiser fails.
    public init?(fieldValue value: FieldValue) {
        if value == .empty {
            self = .none
        } else if let wrapped = Wrapped(fieldValue: value) {
            self = wrapped
        } else {
            return nil
        }
    }

    /// The wrapped value's `fieldValue`; `empty` for nil.
    public var fieldValue: FieldValue { self?.fieldValue ?? .empty }
}

extension FieldValueConvertible where Self: RawRepresentable, RawValue: FieldValueConvertible {
    /// Fails if `value` is of another kind, or if no case has this raw value.
    public init?(fieldValue value: FieldValue) {
        guard let raw = RawValue(fieldValue: value) else { return nil }
        self.init(rawValue: raw)
    }

    /// The raw value's `fieldValue`.
    public var fieldValue: FieldValue { rawValue.fieldValue }
}
