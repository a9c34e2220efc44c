// Unsafe: an IPv4 socket address may be passed as a general one, and the system uses it only during the call. A list of addresses
// is read until it is freed.

internal import CLinux
internal import Glibc

/// Calls on sockets by number. Their callers close them.
package enum Sockets {
    /// Whether a process accepts connections at a Unix socket path.
    package static func isListening(atPath path: String) -> Bool { unsafe loop_unix_is_listening(path) == 1 }

    /// Sends one datagram to a Unix socket, without waiting.
    /// - Parameter path: its path, or an "@" and its name in the abstract namespace.
    /// - Throws: ``SystemError`` if no process receives there, or if the receiver's queue is full.
    package static func send(_ bytes: [UInt8], toUnixSocket path: String) throws(SystemError) {
        let code = unsafe loop_unix_send(path, bytes, bytes.count)
        guard code == 0 else { throw SystemError("send to \(path)", code: -code) }
    }

    /// Sets an option with a number as its value. If the system refuses it, the option does not change.
    package static func set(_ option: Int32, of level: Int32, on socket: Int32, to value: Int32) {
        var value = value
        unsafe setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Binds a socket to a numeric IPv4 address.
    /// - Throws: ``SystemError``.
    package static func bind(_ socket: Int32, host: String, port: UInt16) throws(SystemError) {
        let code = unsafe withAddress(host, port) { unsafe Glibc.bind(socket, $0, $1) }
        guard code == 0 else { throw SystemError("bind \(host):\(port)") }
    }

    /// Connects a socket to a numeric IPv4 address.
    /// - Throws: ``SystemError``, with the code EINPROGRESS if the socket does not wait.
    package static func connect(_ socket: Int32, host: String, port: UInt16) throws(SystemError) {
        let code = unsafe withAddress(host, port) { unsafe Glibc.connect(socket, $0, $1) }
        guard code == 0 else { throw SystemError("connect to \(host):\(port)") }
    }

    /// The next connection of a listening socket, or nil.
    package static func accept(_ listener: Int32) -> Int32? {
        let socket = Glibc.accept(listener, nil, nil)
        return socket < 0 ? nil : socket
    }

    /// The local port of an IPv4 socket.
    package static func port(of socket: Int32) -> UInt16 {
        if case .port(let port)? = Connections.localAddress(of: socket) { port } else { 0 }
    }

    private static func withAddress(
        _ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        unsafe inet_pton(AF_INET, host, &address.sin_addr)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    // MARK: Trying to connect

    /// The result of trying to connect.
    package enum Trial: Equatable, Sendable {
        /// A listener has accepted and sent these bytes. `hasEnded` says whether it then ended the connection.
        case accepted([UInt8], hasEnded: Bool)
        /// The machine has no such port open.
        case refused
        /// No answer came in time.
        case silent
        /// The system does not know the host; with the system's text.
        case noSuchHost(String)
        /// The connection has failed; with the system's text.
        case failed(String)
        /// No socket could be created.
        case unknown
    }

    /// Connects to a host by TCP, at each of its addresses until one accepts, and closes the connection.
    /// - Parameters:
    ///   - milliseconds: the limit for each connection, for the greeting, and for the answer. The system's lookup of the host
    ///     has none.
    ///   - greeting: the bytes to send first.
    ///   - replyBytes: the number of bytes of the answer to wait for.
    package static func tryConnecting(
        host: String, port: UInt16, milliseconds: Int32, greeting: [UInt8] = [], replyBytes: Int = 0
    ) -> Trial {
        var trial = Trial.unknown
        do throws(UnknownHost) {
            try unsafe forEachAddress(of: host, "\(port)") { address in
                trial = unsafe tryConnecting(to: address, milliseconds, greeting, replyBytes)
                return if case .accepted = trial { false } else { true }
            }
        } catch {
            return .noSuchHost(error.reason)
        }
        return trial
    }

    /// The addresses of a host name, IPv4 first, without duplicates. The system's lookup has no time limit.
    /// - Throws: ``UnknownHost`` if there are none.
    package static func addresses(of host: String) throws(UnknownHost) -> [HostAddress] {
        var addresses: Set<HostAddress> = []
        try unsafe forEachAddress(of: host) { address in
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let code = unsafe getnameinfo(
                address.ai_addr, address.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            let digits = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
            if code == 0, let address = HostAddress(digits) { addresses.insert(address) }
            return true
        }
        return addresses.sorted()
    }

    /// Calls `body` with the addresses of a host in the system's order, until it returns false.
    private static func forEachAddress(
        of host: String, _ service: String? = nil, _ body: (addrinfo) -> Bool
    ) throws(UnknownHost) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        // This function frees the system's list. `found` and everything that it points to live until then.
        var found: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, service, &hints, &found)
        guard code == 0 else { throw unsafe UnknownHost(reason: String(cString: gai_strerror(code))) }
        defer { unsafe freeaddrinfo(found) }
        var next = unsafe found
        while let address = unsafe next?.pointee, unsafe body(address) { unsafe next = address.ai_next }
    }

    /// Whether this machine has a network interface of this name.
    package static func isInterface(_ name: String) -> Bool { unsafe if_nametoindex(name) != 0 }

    private static func tryConnecting(
        to address: addrinfo, _ milliseconds: Int32, _ greeting: [UInt8], _ replyBytes: Int
    ) -> Trial {
        let number = unsafe socket(address.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return .unknown }
        let socket = Descriptor(number, name: "a socket")
        _ = fcntl(socket.number, F_SETFL, O_NONBLOCK)
        var code = unsafe Glibc.connect(socket.number, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno
        if code == EINPROGRESS {
            var watched = [Poll.item(socket.number, POLLOUT)]
            guard let count = Poll.wait(&watched, milliseconds: milliseconds), count > 0 else { return .silent }
            var size = socklen_t(MemoryLayout<Int32>.size)
            unsafe getsockopt(socket.number, SOL_SOCKET, SO_ERROR, &code, &size)
        }
        switch code {
        case 0:
            send(greeting, to: socket.number, milliseconds)
            return reply(on: socket.number, replyBytes, milliseconds)
        case ECONNREFUSED: return .refused
        default: return .failed(SystemError("", code: code).text)
        }
    }

    /// Sends as much as the other side takes.
    /// - Parameter milliseconds: the limit for all of it.
    private static func send(_ bytes: [UInt8], to socket: Int32, _ milliseconds: Int32) {
        let deadline = ContinuousClock.now + .milliseconds(milliseconds)
        var done = 0
        while done < bytes.count {
            do throws(SystemError) {
                done += try SystemCall.send(bytes[done...], to: socket)
            } catch {
                var watched = [Poll.item(socket, POLLOUT)]
                let left = Int32(max(0, (deadline - .now) / .milliseconds(1)))
                guard error.code == EAGAIN, let ready = Poll.wait(&watched, milliseconds: left), ready > 0 else {
                    return
                }
            }
        }
    }

    /// - Parameter milliseconds: the limit for the whole answer, in whichever pieces it comes.
    private static func reply(on socket: Int32, _ count: Int, _ milliseconds: Int32) -> Trial {
        let deadline = ContinuousClock.now + .milliseconds(milliseconds)
        var reply: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: max(count, 1))
        while reply.count < count {
            var watched = [Poll.item(socket, POLLIN)]
            let left = Int32(max(0, (deadline - .now) / .milliseconds(1)))
            guard let ready = Poll.wait(&watched, milliseconds: left), ready > 0 else { break }
            guard let read = try? SystemCall.read(from: socket, into: &buffer), read > 0 else {
                return .accepted(reply, hasEnded: true)
            }
            reply += buffer[..<read]
        }
        return .accepted(reply, hasEnded: false)
    }
}
