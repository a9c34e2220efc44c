import Linux
import Testing

@testable import LoopNode

@Suite struct `The address of a reducer` {
    @Test(arguments: [
        "tcp://127.0.0.1:7710", "tcp://reducer:1", "tcp://a-b.example_1.org:65535", "tcp://[::1]:7710",
        "tcp://[fe80::1%eth0]:7710", "tcp://0.0.0.0:7710", "ipc:///run/loop", "ipc://a b", "ipc://@abstract",
        "inproc://x",
    ])
    func `is shown as it was given`(text: String) throws {
        #expect(try ReducerAddress(parsing: text).description == text)
        #expect(try ReducerAddress(parsing: text) == ReducerAddress(parsing: text))
    }

    @Test(arguments: [
        ("", "it begins with none of tcp://, ipc://, inproc://"),
        ("7710", "it begins with none of tcp://, ipc://, inproc://"),
        ("http://reducer:7710", "it begins with none of tcp://, ipc://, inproc://"),
        ("tcp://", "it names no port"), ("tcp://reducer", "it names no port"), ("tcp://[::1]", "it names no port"),
        ("tcp://reducer:", "'' is no port"), ("tcp://reducer:70000", "'70000' is no port"),
        ("tcp://reducer:-1", "'-1' is no port"), ("tcp://127.0.0.1:*", "'*' is no port"),
        ("tcp://:7710", "it names no host"), ("tcp://a b:7710", "'a b' is no host"),
        ("tcp://a:7710/", "'7710/' is no port"), ("tcp://a/b:7710", "'a/b' is no host"),
        ("tcp://[]:1", "'[]' is no IPv6 address"), ("tcp://[10.0.0.1]:1", "'[10.0.0.1]' is no IPv6 address"),
        ("tcp://[::1%]:1", "'[::1%]' is no IPv6 address"), ("tcp://a%eth0:1", "'a%eth0' is no host"),
        ("tcp://::1:7710", "an IPv6 address stands in brackets, as in tcp://[::1]:7710"),
        (
            "tcp://[fe80::1]:7710",
            "'[fe80::1]' is a link-local address, which needs an interface, as in tcp://[fe80::1%eth0]:7710"
        ),
        ("tcp://u@h:1", "it has a user name or a password, which no reducer takes; leave that out"),
        ("tcp://1.2.3:1", "'1.2.3' is no IPv4 address, which has four numbers from 0 to 255"),
        ("tcp://1.2.3.256:1", "'1.2.3.256' is no IPv4 address, which has four numbers from 0 to 255"),
        ("tcp://0x7f.1:1", "'0x7f.1' is no IPv4 address, which has four numbers from 0 to 255"),
        ("tcp://1.2.0X3:1", "'1.2.0X3' is no IPv4 address, which has four numbers from 0 to 255"),
        ("tcp://0X7F:1", "'0X7F' is no IPv4 address, which has four numbers from 0 to 255"),
        ("tcp://7:1", "'7' is no IPv4 address, which has four numbers from 0 to 255"),
        ("tcp://reducer:0", "nothing can be reached at port 0"),
        ("tcp://*:7710", "'*' is only for a reducer's own --bind; name a host"), ("ipc://", "it names no path"),
        ("ipc://" + String(repeating: "x", count: 108), "its path has 108 bytes, of at most 107"),
        ("inproc://", "it has no name"),
    ])
    func `says what is wrong with a text, and what fits`(text: String, why: String) {
        let error = #expect(throws: NodeError.self) { try ReducerAddress(parsing: text) }
        #expect(
            error?.description
                == "cannot use the address '\(text)': \(why); an address is tcp://HOST:PORT, ipc://PATH or inproc://NAME"
        )
    }

    @Test func `may be those of several reducers, one of which leads`() throws {
        let address = try ReducerAddress(parsing: "tcp://a:7710,ipc:///run/loop,tcp://b:1")
        #expect(address.description == "tcp://a:7710,ipc:///run/loop,tcp://b:1")
        #expect(address.each == ["tcp://a:7710", "ipc:///run/loop", "tcp://b:1"])
        // A path may have commas.
        #expect(try ReducerAddress(parsing: "ipc://a,b").each.map(\.description) == ["ipc://a,b"])
        #expect(throws: NodeError.self) { try BindAddress(address) }
    }

    @Test(arguments: [
        ("tcp://a:1,", "", "it begins with none of tcp://, ipc://, inproc://"),
        ("tcp://a:1,b:2", "b:2", "it begins with none of tcp://, ipc://, inproc://"),
        ("tcp://a:1, tcp://b:2", " tcp://b:2", "it begins with none of tcp://, ipc://, inproc://"),
        ("tcp://a:1,tcp://b:0", "tcp://b:0", "nothing can be reached at port 0"),
        ("tcp://a:1,ipc://x,tcp://a:1", "tcp://a:1", "it is named twice"),
        (
            "ipc://1,ipc://2,ipc://3,ipc://4,ipc://5,ipc://6", "ipc://1,ipc://2,ipc://3,ipc://4,ipc://5,ipc://6",
            "these are 6 addresses, of at most 5"
        ),
    ])
    func `says which of several is wrong`(text: String, part: String, why: String) {
        let error = #expect(throws: NodeError.self) { try ReducerAddress(parsing: text) }
        guard case .endpoint(part, why)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `is refused if its host is not in ASCII, with what to write`() {
        let text = "tcp://ümlaut.invalid:22100"
        let errors = [
            #expect(throws: NodeError.self) { try ReducerAddress(parsing: text) },
            #expect(throws: NodeError.self) { try BindAddress(parsing: text) },
        ]
        for error in errors {
            let line = error?.description ?? ""
            #expect(line.contains("'ümlaut.invalid' is not in ASCII"), "\(line)")
        }
    }

    @Test(arguments: ["tcp://u:secret@h:1", "tcp://u:secret@h", "tcp://u:secret@[::1]:1", "tcp://u:secret@::1:7"])
    func `is refused without its password being shown`(text: String) {
        let error = #expect(throws: NodeError.self) { try BindAddress(parsing: text) }
        #expect(error?.description.contains("it has a user name or a password") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func `is looked up before other machines are talked of, and the loopback interface is local`() throws {
        #expect(("tcp://lo:7710" as BindAddress).endpoint.isLocal)
        #expect(try ("tcp://lo:7710" as BindAddress).lookedUp() == "tcp://127.0.0.1:7710")
        #expect(("tcp://lo:7710" as BindAddress).dialled == "tcp://127.0.0.1:7710")
        let error = #expect(throws: NodeError.self) {
            try ReducerNode(Jobs(), configuration: ReducerNodeConfiguration(bind: "tcp://nosuchhost.invalid:7710"))
        }
        #expect(error?.description.contains("the host name has no address") == true, "\(String(describing: error))")
    }

    @Test func `leads to each of the machines that a name stands for`() throws {
        let address = try ReducerAddress(parsing: "tcp://loop:7710,tcp://10.0.0.9:1,ipc://x,tcp://one:2,tcp://gone:3")
        let places = AddressResearch.places(address.endpoints) { name in
            ["loop": ["fd00::2", "10.0.0.2", "10.0.0.1", "10.0.0.2"], "one": ["10.0.0.3"]][name, default: []]
                .compactMap(HostAddress.init)
        }
        #expect(
            places == [
                "tcp://10.0.0.1:7710", "tcp://10.0.0.9:1", "ipc://x", "tcp://one:2", "tcp://gone:3",
                "tcp://10.0.0.2:7710", "tcp://[fd00::2]:7710",
            ])
    }

    @Test func `of IPv6 is the same however it is written`() throws {
        let address = try ReducerAddress(parsing: "tcp://[0:0:0:0:0:0:0:1]:7710")
        #expect(address == "tcp://[::1]:7710")
        #expect(throws: NodeError.self) { try ReducerAddress(parsing: "tcp://[::1]:1,tcp://[0::1]:1") }
    }

    @Test func `may be a literal, which ends the process where it is wrong`() async {
        let address: ReducerAddress = "ipc:///run/loop"
        #expect(address.description == "ipc:///run/loop")
        await #expect(processExitsWith: .failure) { _ = "reducer:7710" as ReducerAddress }
    }

    @Test func `is that of the environment where none is given, else the one of this machine`() throws {
        #expect(try ReducerAddress.standard(in: ["LOOP_REDUCER": "ipc://x"]) == "ipc://x")
        #expect(try ReducerAddress.standard(in: ["LOOP_REDUCER": ""]) == "tcp://127.0.0.1:7710")
        #expect(try ReducerAddress.standard(in: [:]) == "tcp://127.0.0.1:7710")
        #expect(throws: NodeError.self) { try ReducerAddress.standard(in: ["LOOP_REDUCER": "x"]) }
    }

    @Test func `leads to the endpoints that the reducer tells`() {
        let address: ReducerAddress = "tcp://[::1]:7710"
        #expect(address.endpoint(advertised: "7711") == "tcp://[::1]:7711")
        #expect(address.endpoint(advertised: "inproc://x") == "inproc://x")
        #expect(("ipc://x" as ReducerAddress).endpoint(advertised: "ipc://x.pub") == "ipc://x.pub")
    }

    @Test func `is a usage error where an option is wrong`() throws {
        let command = Command("worker", abstract: "", groups: [OptionGroup("Connection", AddressOptions.all)])
        let error = #expect(throws: UsageError.self) {
            try command.parse(["--reducer", "tcp://reducer"], environment: [:])
        }
        #expect(
            error?.description == "--reducer cannot be 'tcp://reducer': it names no port; "
                + "it takes tcp://HOST:PORT, ipc://PATH or inproc://NAME")
        let second = #expect(throws: UsageError.self) {
            try command.parse(["--reducer", "tcp://a:1,tcp://b"], environment: [:])
        }
        #expect(second?.description.contains("of 'tcp://b', it names no port") == true)
        #expect(throws: UsageError.self) { try command.parse([], environment: ["LOOP_REDUCER": "x"]) }
        guard case .arguments(let arguments) = try command.parse(["--reducer", "ipc://x"], environment: [:]) else {
            Issue.record("no arguments")
            return
        }
        #expect(try arguments.reducer == "ipc://x")
    }
}

@Suite struct `The address that a reducer binds` {
    @Test(arguments: [
        ("tcp://h:7710", ["tcp://h:7710", "tcp://h:7711", "tcp://h:7712"]),
        ("tcp://*:0", ["tcp://*:*", "tcp://*:*", "tcp://*:*"]),
        ("ipc://x", ["ipc://x", "ipc://x.pub", "ipc://x.pull"]),
        ("inproc://x", ["inproc://x", "inproc://x.pub", "inproc://x.pull"]),
    ])
    func `stands for those of three sockets`(text: String, endpoints: [String]) throws {
        let bind = try BindAddress(parsing: text)
        #expect([bind.router, bind.publisher, bind.collector] == endpoints)
        #expect(bind.description == text)
    }

    @Test(arguments: [
        "tcp://h:65534", "tcp://h", "tcp://:1", "h:1", "ipc://" + String(repeating: "x", count: 103), "inproc://",
    ])
    func `needs a place for all three`(text: String) {
        #expect(throws: NodeError.self) { try BindAddress(parsing: text) }
    }

    @Test(
        arguments: [
            ("tcp://127.0.0.1:0", true), ("tcp://localhost:1", true), ("tcp://[::1]:1", true), ("ipc://x", true),
            ("inproc://x", true), ("tcp://*:1", false), ("tcp://0.0.0.0:1", false), ("tcp://reducer:1", false),
            ("tcp://[0::1]:1", true), ("tcp://[::ffff:127.0.0.1]:1", true), ("tcp://[::]:1", false),
            ("tcp://127.example.org:1", false), ("tcp://[fd00::1]:1", false), ("tcp://LOCALHOST:1", true),
            ("tcp://localhost.:1", true), ("tcp://LO:1", false),
        ] as [(BindAddress, Bool)])
    func `is local if no other machine can reach it`(bind: BindAddress, isLocal: Bool) {
        #expect(bind.endpoint.isLocal == isLocal)
    }

    @Test(
        arguments: [
            ("tcp://10.0.0.1:7710", "tcp://10.0.0.1:7710"), ("ipc://x", "ipc://x"), ("tcp://*:7710", nil),
            ("tcp://0.0.0.0:7710", nil), ("tcp://[::]:7710", nil), ("tcp://[0::0]:7710", nil),
            ("tcp://10.0.0.1:0", nil),
        ] as [(BindAddress, String?)])
    func `is where peers are told to find the reducer, if they can dial it`(bind: BindAddress, told: String?) {
        var configuration = ReducerNodeConfiguration(bind: bind)
        #expect(configuration.address() == told)
        configuration.advertised = "tcp://reducer:7710"
        #expect(configuration.address() == "tcp://reducer:7710")
    }

    @Test func `is dialled by processes of its machine`() throws {
        #expect(("tcp://*:7710" as BindAddress).dialled == "tcp://127.0.0.1:7710")
        #expect(("tcp://127.0.0.1:0" as BindAddress).dialled == nil)
        #expect(("tcp://[::]:7710" as BindAddress).dialled == "tcp://127.0.0.1:7710")
        #expect(try BindAddress("ipc://x" as ReducerAddress).dialled == "ipc://x")
    }
}

@Suite struct `A host's address in digits` {
    @Test(
        arguments: [
            ("10.1.2.3", "10.1.2.3", false), ("::ffff:10.1.2.3", "10.1.2.3", false), ("127.9.9.9", "127.9.9.9", true),
            ("::ffff:127.0.0.1", "127.0.0.1", true), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", false),
            ("fe80::1%eth0", "fe80::/64", false), ("::1", "::/64", true),
        ] as [(String, String, Bool)])
    func `names the machine that limits are for`(text: String, machine: String, isLoopback: Bool) throws {
        let address = try #require(HostAddress(text))
        #expect((address.machine, address.isLoopback) == (machine, isLoopback))
        #expect(address.description == text)
    }

    @Test(arguments: ["", "a", "1.2.3", "127.example.org", "1.2.3.4%lo", "::1%", "[::1]", "::g", "1.2.3.4\0"])
    func `is nothing else`(text: String) { #expect(HostAddress(text) == nil) }
}
