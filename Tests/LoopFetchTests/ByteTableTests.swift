import Testing

@testable import LoopFetch

/// The table of texts against a dictionary.
@Suite struct `Tables of texts` {
    @Test func `number texts as a dictionary does`() {
        var random = SplitMix(state: 27)
        var table = ByteTable()
        var model: [[UInt8]: Int] = [:]
        for _ in 0..<20_000 {
            let length = Int.random(in: 0...6, using: &random)
            let text = (0..<length).map { _ in UInt8.random(in: 0...3, using: &random) }
            let interned = text.withUnsafeBufferPointer { table.intern($0) }
            #expect(interned.isNew == (model[text] == nil))
            #expect(interned.number == model[text, default: model.count])
            model[text] = interned.number
            #expect(table.count == model.count)
        }
        for (text, number) in model { #expect(table.withBytes(of: number) { $0.elementsEqual(text) }) }
    }
}
