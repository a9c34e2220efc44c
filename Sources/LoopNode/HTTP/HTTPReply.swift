/// An answer that is made in memory.
package struct HTTPReply: Sendable {
    package var status: Int
    package var headers: [(String, String)]
    package var body: [UInt8]

    /// Creates an answer from its parts.
    package init(status: Int, headers: [(String, String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
