import CBOR
package import LoopCore

/// How far one attempt of an effect has come.
///
/// | bytes | field |
/// |---|---|
/// | 16 | effect |
/// | 16 | attempt |
/// | 2 | hundredths of a percent u16, at most 10,000 |
/// | 4 + n | a text for people: UTF-8, at most 128 bytes |
package struct AttemptProgress: Equatable, Sendable {
    /// The effect that runs.
    package var effect: EffectID
    /// The attempt that reports.
    package var attempt: Attempt
    /// The report itself.
    package var progress: EffectProgress

    /// Creates a report from its parts.
    package init(effect: EffectID, attempt: Attempt, progress: EffectProgress) {
        self.effect = effect
        self.attempt = attempt
        self.progress = progress
    }

    /// The largest size of one in a message.
    package static var byteCountMax: Int { bytesMin + EffectProgress.textBytesMax }

    /// The smallest size of one in a message.
    static var bytesMin: Int { 38 }

    func write(to writer: inout ByteWriter) {
        writer.effect(effect)
        writer.attempt(attempt)
        writer.u16(progress.hundredths)
        writer.string(progress.text)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        effect = try reader.effect()
        attempt = try reader.attempt()
        let hundredths = try reader.u16()
        guard hundredths <= EffectProgress.hundredthsMax else {
            throw .malformed(what: "\(hundredths) hundredths of a percent", offset: reader.position)
        }
        progress = EffectProgress(
            hundredths: hundredths, try reader.string(bytesMax: EffectProgress.textBytesMax))
    }
}
