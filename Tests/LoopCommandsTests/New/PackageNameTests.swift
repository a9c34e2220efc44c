import LoopTemplate
import Testing

@testable import LoopCommands

@Suite struct `The name of a new package` {
    @Test(arguments: ["Orders", "A", "Shop2", String(repeating: "A", count: 40)])
    func `is a capital letter, then letters and digits`(text: String) {
        #expect(PackageName(text)?.description == text)
        #expect(PackageName(text)?.ofPrograms == text.lowercased())
    }

    @Test(arguments: [
        "", "orders", "2Orders", "My-Orders", "My_Orders", "My Orders", "../Orders", "Or/ders", "Örders", "Orders\n",
        String(repeating: "A", count: 41),
    ])
    func `is nothing else`(text: String) { #expect(PackageName(text) == nil) }

    @Test(arguments: [
        "Loop", "LoopCore", "Loops", "NewLoop", "CBOR", "Foundation", "Testing", "Order", "Services", "State", "String",
        "Duration", "TrackedDictionary", "Self",
    ])
    func `hides nothing that the package uses`(text: String) { #expect(PackageName(text)?.isTaken == true) }

    @Test(arguments: ["Orders", "Shop", "Invoices", "Traffic"])
    func `is free otherwise`(text: String) { #expect(PackageName(text)?.isTaken == false) }
}

@Suite struct `Where a new package has Loop from` {
    @Test(
        arguments: [
            ("/a/orders", "/a/loop", "..", "orders", "loop"),
            ("/a/b/c/orders", "/a/x/loop", "../../..", "b/c/orders", "x/loop"),
            ("/orders", "/usr/src/loop", "..", "orders", "usr/src/loop"),
        ])
    func `is a path from its own folder on`(package: String, loop: String, up: String, first: String, second: String) {
        let place = LoopSource.Place(package: package, loop: loop)
        #expect(place?.up == up && place?.package == first && place?.loop == second)
        #expect(place?.path == "\(up)/\(second)")
    }

    @Test(arguments: [("/a/loop/orders", "/a/loop"), ("/a", "/a/loop"), ("/a", "/a")])
    func `is not inside of it, nor around it`(package: String, loop: String) {
        #expect(LoopSource.Place(package: package, loop: loop) == nil)
    }

    @Test(
        arguments: [
            ("https://example.org/some/loop.git", "loop"), ("git@example.org:some/Loop.git", "Loop"),
            ("file:///srv/loop", "loop"),
        ])
    func `is a repository where it is a URL`(url: String, identity: String) {
        #expect(LoopSource.isURL(url))
        #expect(LoopSource.repository(url: url, branch: nil).identity == identity)
    }

    @Test(arguments: ["../loop", "/srv/loop", "loop", "a:b/loop", "./git@x/y:z"])
    func `is a folder otherwise`(path: String) { #expect(!LoopSource.isURL(path)) }
}
