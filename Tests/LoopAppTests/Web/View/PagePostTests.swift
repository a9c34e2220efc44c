import LoopCore
import LoopNode
import LoopView
import Testing

@testable import LoopApp

@Suite struct `Posted forms` {
    @Test func `are decoded as browsers encode them`() {
        let form = FormBody("a=1+2&b=%C3%A9%26%3d&c&=d&a=3&e=%zz%4&f=%ff&g=a=b".utf8)
        #expect(form.fields.map(\.name) == ["a", "b", "c", "", "a", "e", "f", "g"])
        #expect(form.fields.map(\.value) == ["1 2", "é&=", "", "d", "3", "%zz%4", "\u{FFFD}", "a=b"])
        #expect(form["a"] == "1 2")
        #expect(form["x"] == nil)
        #expect(FormBody([]).fields.isEmpty)
    }

    @Test(arguments: [
        ("do=press&element=%2F1", ViewAction.press(ElementID(path: "/1"))),
        ("do=submit&element=/1", .submit(ElementID(path: "/1"))),
        ("do=write&element=/1&text=a+b", .write(ElementID(path: "/1"), "a b")),
        ("do=write&element=/1&text=", .write(ElementID(path: "/1"), "")),
    ])
    func `of the script are one action`(body: String, action: ViewAction) {
        #expect(PagePost.action(FormBody(body.utf8)) == action)
    }

    @Test(arguments: ["do=press", "do=write&element=/1", "do=x&element=/1", "element=/1", ""])
    func `that are no action are none`(body: String) {
        #expect(PagePost.action(FormBody(body.utf8)) == nil)
    }

    @Test func `without the script write what was edited, and nothing else`() {
        let form = FormBody("press=&was:/0=a&text:/0=b&was:/1=c&text:/1=c&text:/2=x".utf8)
        #expect(PagePost.edits(form) == [.write(ElementID(path: "/0"), "b")])
    }

    @Test func `without the script press what was pressed, and submit at Enter`() {
        let one = ViewTree(
            Group {
                TextField("a", text: .constant(""))
                TextField("b", text: .constant(""), onSubmit: {})
            })
        let two = ViewTree(
            Group {
                TextField("a", text: .constant(""), onSubmit: {})
                TextField("b", text: .constant(""), onSubmit: {})
            })
        let (first, second) = (ElementID(path: "/0"), ElementID(path: "/1"))
        func press(_ body: String, _ tree: ViewTree) -> ViewAction? { PagePost.press(FormBody(body.utf8), in: tree) }
        #expect(press("press=/7", one) == .press(ElementID(path: "/7")))
        #expect(press("press=", one) == .submit(second))
        #expect(press("press=", two) == nil)
        #expect(press("press=&was:/0=&text:/0=x", two) == .submit(first))
        #expect(press("press=&was:/1=&text:/1=x", two) == .submit(second))
        #expect(press("text:/0=x", one) == nil)
    }

    @Test(
        arguments: [
            ("same-origin", nil, "h:1", true), ("cross-site", "http://h:1", "h:1", false),
            ("same-site", nil, "h:1", false),
            ("none", nil, "h:1", false), (nil, "http://h:1", "h:1", true), (nil, "http://H:1", "h:1", true),
            (nil, "https://h", "h", true), (nil, "http://h:2", "h:1", false), (nil, "http://evil", "h:1", false),
            (nil, "null", "h:1", false), (nil, "http://h:1", nil, false), (nil, nil, "h:1", false),
        ] as [(String?, String?, String?, Bool)])
    func `are taken from this server's pages only`(site: String?, origin: String?, host: String?, isOurs: Bool) {
        let check = OriginCheck(hosts: [])
        #expect(check.isSameOrigin(site: site, origin: origin, host: host, allowsUnknown: false) == isOurs)
    }

    @Test func `and pages are given under this server's names only`() {
        let check = OriginCheck(hosts: ["127.0.0.1", "localhost", "[::1]"])
        for host in ["127.0.0.1:80", "localhost", "LOCALHOST:1", "[::1]:99"] { #expect(check.isOurs(host: host)) }
        for host in ["evil.org", "localhost.evil.org", "127.0.0.1.evil.org:80", "", "[::2]:1"] {
            #expect(!check.isOurs(host: host))
        }
        #expect(!check.isOurs(host: nil))
        // A numeric address is allowed: unlike a name, it cannot be made to lead elsewhere.
        let addresses = OriginCheck(hosts: ["Box"], allowsAddresses: true)
        for host in ["10.0.0.7:80", "[fe80::1]:99", "box", "BOX:80"] { #expect(addresses.isOurs(host: host)) }
        for host in [
            "evil.org", "10.0.0.7.evil.org", "1.2.3", "1.2.3.4.5", "1.2.3.256", "box.evil.org", "localhost", "",
        ] {
            #expect(!addresses.isOurs(host: host))
        }
        #expect(!addresses.isOurs(host: nil))
        for host in ["localhost", "app.localhost:80", "127.0.0.1", "127.1.2.3", "[::1]"] {
            #expect(OriginCheck.loopback("127.0.0.1").isOurs(host: host))
        }
        #expect(!OriginCheck.loopback("127.0.0.1").isOurs(host: "evil.org"))
    }
}
