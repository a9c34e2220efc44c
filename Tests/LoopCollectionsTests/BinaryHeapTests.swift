import LoopCollections
import LoopCore
import Testing

/// The heap against a sorted array.
@Suite struct `Binary heaps` {
    @Test(arguments: 1...8) func `give what a sorted array gives`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var heap = BinaryHeap<Int>()
        var model: [Int] = []
        for _ in 0..<4000 {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<55:
                let number = Int.random(in: 0..<1000, using: &random)
                heap.push(number)
                model.insert(number, at: model.firstIndex { $0 >= number } ?? model.endIndex)
            case 55..<99:
                #expect(heap.pop() == (model.isEmpty ? nil : model.removeFirst()))
            default:
                let divisor = Int.random(in: 2...5, using: &random)
                heap.compact { !$0.isMultiple(of: divisor) }
                model.removeAll { $0.isMultiple(of: divisor) }
            }
            #expect(heap.count == model.count)
            #expect(heap.top == model.first)
        }
        while let number = heap.pop() { #expect(number == model.removeFirst()) }
        #expect(model.isEmpty)
    }
}
