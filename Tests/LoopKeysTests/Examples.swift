@testable import LoopKeys

/// Keys and certificates that tests share.
enum Examples {
    /// The pairs of ZeroMQ's manual (zmq_curve).
    static let client = pair("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID", "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs")
    static let server = pair("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7", "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6")

    /// Another pair for each number from 1 to 255. They do not belong together, which nothing here checks.
    static func pair(_ number: UInt8) -> KeyPair {
        guard let publicKey = PublicKey(bytes: [UInt8](repeating: number, count: 32)),
            let secretKey = SecretKey(bytes: [UInt8](repeating: number ^ 255, count: 31) + [1])
        else { preconditionFailure("no keys") }
        return KeyPair(publicKey: publicKey, secretKey: secretKey)
    }

    static func certificate(
        _ number: UInt8, name: String? = nil, _ roles: Set<Role>, groups: WorkerGroups = .none
    ) -> Certificate {
        do {
            return try Certificate(name: name, roles: roles, groups: groups, publicKey: pair(number).publicKey)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    private static func pair(_ publicKey: String, _ secretKey: String) -> KeyPair {
        do {
            return KeyPair(publicKey: try PublicKey(z85: publicKey), secretKey: try SecretKey(z85: secretKey))
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// What CZMQ's `zcert_save` writes for the client's pair, with the metadata of its own test.
    static let czmqPublic = """
        #   ****  Generated on 2014-02-25 16:15:56 by CZMQ  ****
        #   ZeroMQ CURVE Public Certificate
        #   Exchange securely, or use a secure mechanism to verify the contents
        #   of this file after exchange. Store public certificates in your home
        #   directory, in the .curve subdirectory.

        metadata
            email = "ph@imatix.com"
            name = "Pieter Hintjens"
            organization = "iMatix Corporation"
            version = "1"
        curve
            public-key = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

        """
    static let czmqSecret = """
        #   ****  Generated on 2014-02-25 16:15:56 by CZMQ  ****
        #   ZeroMQ CURVE **Secret** Certificate
        #   DO NOT PROVIDE THIS FILE TO OTHER USERS nor change its permissions.

        metadata
            name = "Pieter Hintjens"
        curve
            public-key = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
            secret-key = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"

        """
}

extension Certificate {
    init(reading text: String) throws(CertificateError) { try self.init(reading: Array(text.utf8)) }
}

extension SecretCertificate {
    init(reading text: String) throws(CertificateError) { try self.init(reading: Array(text.utf8)) }
}
