import Glibc
import TestFolders
import Testing
import ZMQ

@Suite struct `ZMQ refusals` {
    let context: ZMQContext
    private let folder = TestFolder()

    init() throws { context = try ZMQContext() }

    @Test func `a full queue says that it would block`() throws {
        var options = SocketOptions()
        options.sendMessagesMax = 10
        var push = try Socket(.push, in: context, options: options)
        try push.connect("tcp://127.0.0.1:9")
        for _ in 0..<10 { #expect(try push.send([1]) == .sent) }
        #expect(try push.send([1]) == .wouldBlock)
    }

    @Test func `an immediate socket queues nothing for a peer that is not there`() throws {
        var options = SocketOptions()
        options.immediate = true
        var push = try Socket(.push, in: context, options: options)
        try push.connect("tcp://127.0.0.1:9")
        #expect(try push.send([1]) == .wouldBlock)
    }

    @Test func `a router says that a peer is not reachable`() throws {
        var router = try Socket(.router, in: context)
        try router.bind("inproc://router")
        #expect(try router.send([1, 2, 3], to: RoutingID([0, 1, 2, 3, 4])) == .unreachable)
        var dealer = try Socket(.dealer, in: context)
        try dealer.connect("inproc://router")
        try deliver("here", by: &dealer)
        let peer = try nextRouted(&router).peer
        #expect(try router.send([UInt8]("still"), to: peer) == .sent)
        #expect(try next(&dealer) == "still")
    }

    @Test func `an address in use is reported in a line that says what to do`() throws {
        var first = try Socket(.pull, in: context)
        var second = try Socket(.pull, in: context)
        let endpoint = try first.bind("tcp://127.0.0.1:*")
        let error = try #require(throws: ZMQError.self) { try second.bind(endpoint) }
        #expect(error.code == EADDRINUSE)
        #expect(
            error.description == "could not bind \(endpoint): Address already in use "
                + "(another process is bound there; stop it or choose another endpoint)")
    }

    @Test func `an ipc path is for this user alone, with or without keys, and another file in its place stays`() throws
    {
        let path = "\(folder.path)/private"
        var socket = try Socket(.pull, in: context)
        #expect(try socket.bind("ipc://\(path)") == "ipc://\(path)")
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode == S_IFSOCK | 0o600)
        var client = try Socket(.push, in: context)
        try client.connect("ipc://\(path)")
        // A second socket has its own listener: the first one's was not left with the options.
        #expect(try socket.bind("ipc://\(path)2") == "ipc://\(path)2")
        #expect(try socket.bind("tcp://127.0.0.1:*").hasPrefix("tcp://127.0.0.1:"))
        let letter = "\(folder.path)/letter"
        close(open(letter, O_WRONLY | O_CREAT, 0o600))
        symlink(letter, "\(folder.path)/link")
        for taken in [letter, "\(folder.path)/link"] {
            #expect(throws: ZMQError(.bind, code: EEXIST, endpoint: "ipc://\(taken)")) {
                try socket.bind("ipc://\(taken)")
            }
        }
        let error = #expect(throws: ZMQError.self) { try socket.bind("ipc://\(folder.path)") }
        #expect(error?.hint == "what is there is no socket; remove it, or choose another path")
        #expect(lstat(letter, &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
    }

    @Test func `an ipc path with a listener is not taken over, a stale one is`() throws {
        let path = "\(folder.path)/in-use"
        var first = try Socket(.pull, in: context)
        try first.bind("ipc://\(path)")
        var second = try Socket(.pull, in: context)
        #expect(throws: ZMQError(.bind, code: EADDRINUSE, endpoint: "ipc://\(path)")) {
            try second.bind("ipc://\(path)")
        }
        // A killed process leaves a socket file without a listener.
        let stale = "\(folder.path)/stale"
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: stale.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        close(descriptor)
        #expect(try second.bind("ipc://\(stale)") == "ipc://\(stale)")
    }

    @Test(arguments: [
        ("tcp://192.0.2.1:7710", "this machine has no such address"), ("7710", "an endpoint looks like"),
        ("tcp://127.0.0.1:port", "an endpoint looks like"), ("ipc:///no/such/folder/x", "folder"),
        ("ipc:///tmp/" + String(repeating: "x", count: 200), "107 bytes"), ("carrier://x", "use tcp://"),
    ])
    func `a bind that cannot be done names the endpoint and gives a hint`(endpoint: String, hint: String) throws {
        var socket = try Socket(.pull, in: context)
        let error = try #require(throws: ZMQError.self) { try socket.bind(endpoint) }
        #expect(error.description.hasPrefix("could not bind \(endpoint): "))
        #expect(error.description.contains(hint), "\(error)")
    }

    @Test func `a closed socket leaves no file behind, and an unbound one neither`() throws {
        let paths = ["file", "other"].map { "\(folder.path)/\($0)" }
        func bindOnce() throws {
            var socket = try Socket(.pull, in: context)
            for path in paths { try socket.bind("ipc://\(path)") }
            #expect(paths.map { access($0, F_OK) } == [0, 0])
            try socket.unbind("ipc://\(paths[1])")
            #expect(paths.map { access($0, F_OK) } == [0, -1])
        }
        try bindOnce()
        #expect(paths.map { access($0, F_OK) } == [-1, -1])
    }

    @Test func `an unbound endpoint is free again`() throws {
        var first = try Socket(.pull, in: context)
        let endpoint = try first.bind("inproc://again")
        try first.unbind(endpoint)
        var second = try Socket(.pull, in: context)
        try second.bind(endpoint)
        var push = try Socket(.push, in: context)
        try push.connect(endpoint)
        try push.disconnect(endpoint)
        #expect(throws: ZMQError(.disconnect, code: ENOENT, endpoint: endpoint)) { try push.disconnect(endpoint) }
    }
}
