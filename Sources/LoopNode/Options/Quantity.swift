/// An exact number with a unit. `1.5s` is 15 tenths of a second. It has digits and at most one point, with up to 9 digits after it.
struct Quantity {
    let digits: Int
    /// The divisor of the digits: a power of ten.
    let divisor: Int
    let unit: Substring

    init?(_ text: String) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, parts.count <= 2 else { return nil }
        let fraction = parts.count == 2 ? parts[1] : ""
        guard parts.count == 1 || (1...9).contains(fraction.count), let digits = Int(whole + fraction) else {
            return nil
        }
        self.digits = digits
        divisor = fraction.reduce(1) { power, _ in power * 10 }
        unit = text[number.endIndex...]
    }

    /// The number in parts of the unit, or nil if it is not a whole number of parts or too large.
    func scaled(by parts: Int) -> Int? {
        let (product, overflow) = digits.multipliedReportingOverflow(by: parts)
        guard !overflow, product % divisor == 0 else { return nil }
        return product / divisor
    }
}

extension ValueType where Value == Duration {
    /// A time within the range, with a unit (`us`, `ms`, `s`, `m`, `h`, `d`), exact to a nanosecond: `500ms`, `1.5s`.
    package static func duration(in range: ClosedRange<Duration> = .zero ... .seconds(100 * 365 * 86_400)) -> ValueType
    {
        let unlimited = range == .zero ... .seconds(100 * 365 * 86_400)
        let limits = unlimited ? "" : ", from \(text(range.lowerBound)) to \(text(range.upperBound))"
        return ValueType(
            placeholder: "TIME", expected: "a time with a unit, such as 500ms, 3s or 2m" + limits,
            read: { text in
                guard let quantity = Quantity(text), let parts = durationUnits[String(quantity.unit)],
                    let nanoseconds = quantity.scaled(by: parts)
                else { return nil }
                let duration = Duration.nanoseconds(nanoseconds)
                return range.contains(duration) ? duration : nil
            }, write: Self.text)
    }

    @Sendable private static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        for (unit, length) in [("d", 86_400), ("h", 3600), ("m", 60)] as [(String, Int64)] {
            if attoseconds == 0, seconds != 0, seconds % length == 0 { return "\(seconds / length)\(unit)" }
        }
        if attoseconds == 0 { return "\(seconds)s" }
        let milliseconds = attoseconds / 1_000_000_000_000_000
        if attoseconds % 1_000_000_000_000_000 == 0 { return "\(seconds * 1000 + milliseconds)ms" }
        return "\(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)us"
    }
}

private let durationUnits = [
    "us": 1000, "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
]

extension ValueType where Value == Int {
    /// A number of bytes within the range: plain, or with `B`, `KiB`, `MiB`, `GiB` (powers of 1024), `kB`, `MB`, `GB`.
    package static func size(in range: ClosedRange<Int> = 0 ... .max) -> ValueType {
        let limits =
            switch (range.lowerBound, range.upperBound) {
            case (0, .max): ""
            case (let low, .max): ", at least \(sizeText(low))"
            case (let low, let high): ", from \(sizeText(low)) to \(sizeText(high))"
            }
        return ValueType(
            placeholder: "SIZE", expected: "a size such as 65536, 64KiB or 1MiB" + limits,
            read: { text in
                guard let quantity = Quantity(text), let parts = sizeUnits[String(quantity.unit)],
                    let bytes = quantity.scaled(by: parts), range.contains(bytes)
                else { return nil }
                return bytes
            }, write: Self.sizeText)
    }

    @Sendable private static func sizeText(_ bytes: Int) -> String {
        for (unit, length) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
            if bytes != 0, bytes % length == 0 { return "\(bytes / length)\(unit)" }
        }
        return "\(bytes)"
    }
}

private let sizeUnits = [
    "": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 1000, "MB": 1_000_000, "GB": 1_000_000_000,
]
