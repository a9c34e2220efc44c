/// An array in pieces. Changing one element of a shared value copies one piece, and growing moves none.
///
/// A state that is published after every event is shared at every event. So the cost of a change must not depend on the
/// size of the whole.
struct Chunks<Element: Sendable>: Sendable {
    private static var pieceCount: Int { 256 }

    private var pieces: [[Element]] = []
    private(set) var count = 0

    init() {}

    init(_ elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }

    mutating func append(_ element: Element) {
        if count == pieces.count * Self.pieceCount {
            var piece: [Element] = []
            piece.reserveCapacity(Self.pieceCount)
            pieces.append(piece)
        }
        pieces[pieces.count - 1].append(element)
        count += 1
    }

    subscript(index: Int) -> Element { pieces[index / Self.pieceCount][index % Self.pieceCount] }

    /// Changes one element in place.
    mutating func update<Result>(_ index: Int, _ body: (inout Element) -> Result) -> Result {
        body(&pieces[index / Self.pieceCount][index % Self.pieceCount])
    }

    /// All elements in one array.
    var flattened: [Element] { Array(pieces.joined()) }
}
