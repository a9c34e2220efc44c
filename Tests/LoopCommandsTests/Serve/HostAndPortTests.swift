import Testing

@testable import LoopCommands

@Suite struct `The address of loopctl serve` {
    @Test(
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1", 8080), ("localhost:0", "localhost", 0), ("[::1]:80", "::1", 80),
            ("0.0.0.0:65535", "0.0.0.0", 65535),
        ] as [(String, String, UInt16)])
    func `is host and port, and is written as it is read`(text: String, host: String, port: UInt16) {
        #expect(HostAndPort(text) == HostAndPort(host: host, port: port))
        #expect(HostAndPort(text)?.description == text)
    }

    @Test(arguments: ["", "8080", ":80", "::1:80", "host:", "host:65536", "host:-1", "[]:80"])
    func `is nothing else`(text: String) { #expect(HostAndPort(text) == nil) }

    @Test func `is known as open to others`() {
        #expect(HostAndPort("127.1.2.3:1")?.isLoopback == true)
        #expect(HostAndPort("[::1]:1")?.isLoopback == true)
        #expect(HostAndPort("0.0.0.0:1")?.isLoopback == false)
        #expect(HostAndPort("10.0.0.1:1")?.isLoopback == false)
    }
}
