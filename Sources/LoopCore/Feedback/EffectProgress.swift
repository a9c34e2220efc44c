/// How far one effect has come, as its body reports it. It is for people, and never in the journal.
public struct EffectProgress: Codable, Equatable, Sendable {
    /// Hundredths of a percent, from 0 to 10,000.
    package let hundredths: UInt16
    /// A few words, such as "page 12"; at most 128 bytes of UTF-8.
    public let text: String

    /// The longest text in bytes of UTF-8.
    package static let textBytesMax = 128
    package static let hundredthsMax: UInt16 = 10_000

    /// How much is done, from 0 to 1, in steps of 0.0001.
    public var fraction: Double { Double(hundredths) / Double(Self.hundredthsMax) }

    /// - Parameters:
    ///   - fraction: how much is done. Values below 0 and NaN count as 0, values above 1 as 1.
    ///   - text: a few words, truncated to the limit.
    public init(_ fraction: Double, _ text: String = "") {
        let bounded = fraction > 0 ? min(fraction, 1) : 0
        self.init(hundredths: UInt16((bounded * Double(Self.hundredthsMax)).rounded()), text)
    }

    package init(hundredths: UInt16, _ text: String) {
        self.hundredths = min(hundredths, Self.hundredthsMax)
        var text = text
        if text.utf8.count > Self.textBytesMax {
            text = String(text.prefix(Self.textBytesMax))
            while text.utf8.count > Self.textBytesMax { text.removeLast() }
        }
        self.text = text
    }
}
