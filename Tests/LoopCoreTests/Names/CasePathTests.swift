import LoopCore
import Testing

@Suite struct `Case paths` {
    private enum Shape: Equatable, Sendable {
        case circle(Int)
        case square(side: Int)
        case line(Int, Int)
        case wrapped(Inner)
        case nothing

        var circle: Int? { if case .circle(let radius) = self { radius } else { nil } }
    }

    private enum Inner: Equatable, Sendable {
        case a(String)
        case b(String)
    }

    @Test func `a case is found by its name alone, and told from one with a value of the same type`() {
        let circle = CasePath(Shape.circle)
        #expect(circle.extract(.circle(3)) == 3)
        #expect(circle.extract(.square(side: 3)) == nil)
        #expect(circle.extract(.nothing) == nil)
        #expect(circle.embed(4) == .circle(4))
        let square = CasePath(Shape.square)
        #expect(square.extract(.square(side: 2)) == 2)
        #expect(square.extract(.circle(2)) == nil)
        #expect(CasePath(Shape.line).extract(.line(1, 2))! == (1, 2))
        #expect(CasePath(Shape.line).extract(.circle(1)) == nil)
    }

    @Test func `a case with a property is found by it`() {
        let circle = CasePath(Shape.circle, \.circle)
        #expect(circle.extract(.circle(3)) == 3)
        #expect(circle.extract(.nothing) == nil)
    }

    @Test func `a case of a case is one`() {
        let path = CasePath(Shape.wrapped).appending(CasePath(Inner.b))
        #expect(path.extract(.wrapped(.b("x"))) == "x")
        #expect(path.extract(.wrapped(.a("x"))) == nil)
        #expect(path.extract(.circle(1)) == nil)
        #expect(path.embed("y") == .wrapped(.b("y")))
    }

    @Test func `31 a reducer of a case changes nothing outside of it`() {
        let growing = Reducer<Int, Int> { size, event in size += event }
        let reducer = growing.pullback(value: CasePath(Shape.circle), event: CasePath(Inner.a).mapped)
        var shape = Shape.circle(1)
        reducer(&shape, .a("2"))
        #expect(shape == .circle(3))
        reducer(&shape, .b("2"))
        #expect(shape == .circle(3))
        shape = .square(side: 1)
        reducer(&shape, .a("2"))
        #expect(shape == .square(side: 1))
    }

    @Test func `31 a reducer of a field and a case of the event`() {
        struct Whole: Equatable, Sendable { var size = 1 }
        let growing = Reducer<Int, Int> { size, event in size += event }
        let reducer = growing.pullback(value: \Whole.size, event: CasePath(Shape.circle))
        var whole = Whole()
        reducer(&whole, .circle(4))
        reducer(&whole, .square(side: 4))
        #expect(whole == Whole(size: 5))
    }
}

extension CasePath where Value == String {
    /// The number that the text is.
    fileprivate var mapped: CasePath<Root, Int> {
        appending(CasePath<String, Int>(embed: { "\($0)" }, extract: { Int($0) }))
    }
}
