import Linux

/// Where a node says over HTTP how it is: `/livez`, `/readyz`, `/leader`, `/standby`, `/status.json` and `/metrics`.
public struct HealthEndpoint: Hashable, Sendable, CustomStringConvertible {
    let host: String
    let port: UInt16
    let tokenFile: String?

    /// The address as text, such as `127.0.0.1:9710`.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Reads an address such as `127.0.0.1:9710` or `[::1]:9710`. Port 0 is any free one, which the log names.
    /// - Parameters:
    ///   - text: an IP address of this machine or a name of one, and a port.
    ///   - tokenFile: a file whose first line every request must bring as its bearer token. An address that other machines can
    ///     reach needs one.
    /// - Throws: `NodeError.configuration` if the text is not an address, or if a token is needed and there is none.
    public init(_ text: String, tokenFile: String? = nil) throws(NodeError) {
        let colon = text.lastIndex(of: ":") ?? text.startIndex
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        let isBare = host.contains(":") && !text.hasPrefix("[")
        guard !host.isEmpty, !isBare, !host.hasPrefix("["), let port = UInt16(text[colon...].dropFirst()) else {
            throw .configuration(
                "'\(text)' is not an address for HTTP: give a host and a port, such as 127.0.0.1:9710 or [::1]:9710")
        }
        guard tokenFile != nil || OriginCheck.isLoopback(host) else {
            throw .configuration(
                "\(text) can be reached from other machines, and shows the loop's status: give a file with a token"
                    + " (--http-token FILE), or an address of this machine alone, such as 127.0.0.1:\(port)")
        }
        self.host = host
        self.port = port
        self.tokenFile = tokenFile
    }

    /// Reads the token, or returns nil if none is needed.
    func token() throws(NodeError) -> String? {
        guard let tokenFile else { return nil }
        if let status = FileSystem.status(of: tokenFile), status.kind != .file {
            throw .configuration("the token for HTTP cannot be read from \(tokenFile), which is no regular file")
        }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try FileSystem.bytes(of: tokenFile, atMost: 4096)
        } catch {
            throw .configuration("the token for HTTP could not be read from \(tokenFile): \(error.text)")
        }
        let line = String(decoding: bytes, as: UTF8.self).prefix { !$0.isNewline }
        let token = String(line.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        guard token.utf8.count >= 16, token.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw .configuration(
                "the first line of \(tokenFile) is no token: a token has 16 or more visible characters of ASCII, and no spaces;"
                    + " make one with: openssl rand -hex 32 > \(tokenFile)")
        }
        return token
    }
}
