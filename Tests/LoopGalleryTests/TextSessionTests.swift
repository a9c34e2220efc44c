import LoopView
import Testing

@testable import LoopGallery

@Suite struct `A session of text` {
    private func tree(@ViewBuilder _ content: @escaping @Sendable () -> [Element]) -> ViewTree {
        ViewTree(Group(content))
    }

    @Test func `prints each frame that differs from the one before`() {
        var session = TextSession()
        #expect(session.show(tree { Text("one") }).text == "one")
        #expect(session.show(tree { Text("one") }).text == nil)
        #expect(session.show(tree { Text("two") }).text == "two")
        #expect(session.text == "two")
    }

    @Test func `a line waits until what it names is there and can be pressed`() {
        var session = TextSession()
        #expect(session.take("More").action == nil)
        #expect(session.take("  ").action == nil)
        #expect(session.show(tree { Text("loading") }).action == nil)
        #expect(session.show(tree { Button("More") {}.disabled() }).action == nil)
        let ready = tree { Button("More") {} }
        #expect(session.show(ready).action == ready.button("More").map { .press($0) })
        #expect(session.waiting.isEmpty)
    }

    @Test func `a line waits until what the line before it did shows`() {
        var session = TextSession()
        func count(_ number: Int) -> ViewTree {
            tree {
                Text("\(number)")
                Button("+") {}
            }
        }
        _ = session.show(count(0))
        #expect(session.take("+").action != nil)
        #expect(session.take("+").action == nil)
        #expect(session.show(count(0)).action == nil)
        #expect(session.show(count(1)).action != nil)
        #expect(session.show(count(2)).action == nil)
    }

    @Test func `a button that presses itself is pressed once`() {
        var session = TextSession()
        func page(_ number: Int, _ note: String = "") -> ViewTree {
            tree {
                Text(note)
                Button("More") {}.pressedWhenSeen().id("after \(number)")
            }
        }
        _ = session.take("More")
        #expect(session.show(page(1)).action != nil)
        #expect(session.take("More").action == nil)
        #expect(session.show(page(1, "something else")).action == nil)
        #expect(session.show(page(2)).action != nil)
    }

    @Test func `types into fields, submits them, and turns toggles`() throws {
        var session = TextSession()
        let form = tree {
            TextField("Name", text: .constant("")) {}
            Toggle("News", isOn: .constant(false))
        }
        _ = session.show(form)
        let name = try #require(form.field("Name"))
        #expect(session.take("Name =  Ann = B ").action == .write(name, "Ann = B"))
        var other = TextSession()
        _ = other.show(form)
        #expect(other.take("Name").action == .submit(name))
        var third = TextSession()
        _ = third.show(form)
        #expect(third.take("News").action == form.toggle("News").map { .press($0) })
    }
}
