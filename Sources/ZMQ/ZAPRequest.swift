package import LoopKeys

/// The question whether the owner of a key may connect, which libzmq asks once for each connection (ZeroMQ RFC 27). By then the
/// peer has proved that it has the secret key.
package struct ZAPRequest: Sendable, Equatable {
    /// The domain of the socket at which the peer connects, from its ``SocketSecurity``.
    package let domain: String
    /// The key of the peer.
    package let key: PublicKey
    /// Identifies the question in its answer.
    let requestID: [UInt8]

    /// Reads the frames: version, request ID, domain, address, routing ID, mechanism, credentials.
    /// - Returns: the question, or for invalid frames an answer that admits no peer.
    static func parse(_ frames: [[UInt8]]) -> Result<ZAPRequest, ZAPAnswer> {
        let requestID = frames.count > 1 ? frames[1] : []
        func fault(_ status: ZAPAnswer.Status, _ text: String) -> Result<ZAPRequest, ZAPAnswer> {
            .failure(ZAPAnswer(requestID: requestID, status: status, text: text))
        }
        guard frames.count >= 6 else { return fault(.failed, "a request has at least 6 frames, not \(frames.count)") }
        guard frames[0] == ZAPAnswer.version else { return fault(.failed, "the version is not 1.0") }
        guard !frames[2].isEmpty else { return fault(.refused, "the socket has no domain") }
        guard frames[5] == Array("CURVE".utf8) else { return fault(.refused, "the mechanism is not CURVE") }
        guard frames.count == 7 else { return fault(.failed, "CURVE has 7 frames, not \(frames.count)") }
        guard let key = PublicKey(bytes: frames[6]) else {
            return fault(.failed, "the key is not 32 bytes, or all of them are 0")
        }
        return .success(
            ZAPRequest(
                domain: String(decoding: frames[2], as: UTF8.self), key: key, requestID: requestID))
    }
}
