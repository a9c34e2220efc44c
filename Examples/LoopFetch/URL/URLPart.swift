internal import LoopCore

/// A part of a URL. Each part allows other characters without encoding.
enum URLPart {
    case userInfo, host, path, query

    /// Whether the byte needs no encoding in this part. Bytes that RFC 3986 forbids but browsers send are allowed too.
    ///
    /// In a host, this is all of ASCII except what the WHATWG standard forbids.
    func allows(_ byte: UInt8) -> Bool {
        switch self {
        case .userInfo: Self.userInfoTable[Int(byte)]
        case .host: Self.hostTable[Int(byte)]
        case .path: Self.pathTable[Int(byte)]
        case .query: Self.queryTable[Int(byte)]
        }
    }

    private static let userInfoTable = table("!$&'()*+,;=:%")
    private static let hostTable = table("!$&'()*+,;=`{}\"")
    private static let pathTable = table("!$&'()*+,;=:@%[]^|/")
    private static let queryTable = table("!$&()*+,;=:@%[]^|/?\\`{}")

    private static func table(_ characters: String) -> [Bool] {
        (UInt8.min...UInt8.max).map { PercentEncoding.isUnreserved($0) || characters.utf8.contains($0) }
    }
}
