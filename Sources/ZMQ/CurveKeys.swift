// Unsafe: libzmq writes 41 bytes into each text and 32 into each key, which have that space; it reads texts that end with 0.

internal import CZMQ

/// Keys of CURVE, made by libzmq.
public enum CurveKeys {
    /// Makes a pair of random keys, of 32 bytes each.
    /// - Throws: ``ZMQError`` with the code ENOTSUP if libzmq was built without CURVE.
    public static func generate() throws(ZMQError) -> (publicKey: [UInt8], secretKey: [UInt8]) {
        var publicText = [CChar](repeating: 0, count: 41)
        var secretText = [CChar](repeating: 0, count: 41)
        guard unsafe zmq_curve_keypair(&publicText, &secretText) == 0 else {
            throw ZMQError(.setOption, code: zmq_errno())
        }
        return (try bytes(of: publicText), try bytes(of: secretText))
    }

    private static func bytes(of text: [CChar]) throws(ZMQError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        guard unsafe zmq_z85_decode(&bytes, text) != nil else { throw ZMQError(.setOption, code: zmq_errno()) }
        return bytes
    }
}
