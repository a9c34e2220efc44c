/// The errors of `Codable` code as errors of this module.
extension WireError {
    init(encoding error: any Error) {
        switch error {
        case let error as WireError:
            self = error
        case EncodingError.invalidValue(let value, let context):
            self = .refused(
                path: CBORPath.text(context.codingPath),
                why: "\(CBORPath.shortened("\(value)")) cannot be encoded: \(context.debugDescription)")
        default:
            self = .refused(path: "the top level", why: CBORPath.shortened("\(error)"))
        }
    }

    init(decoding error: any Error) {
        switch error {
        case let error as WireError:
            self = error
        case DecodingError.typeMismatch(let type, let context), DecodingError.valueNotFound(let type, let context):
            self =
                (context.underlyingError as? WireError)
                ?? .typeMismatch(
                    path: CBORPath.text(context.codingPath), expected: "\(type)", found: context.debugDescription)
        case DecodingError.keyNotFound(let key, let context):
            self = .keyMissing(path: CBORPath.text(context.codingPath), key: CBORPath.shortened(key.stringValue))
        case DecodingError.dataCorrupted(let context):
            self =
                (context.underlyingError as? WireError)
                ?? .refused(path: CBORPath.text(context.codingPath), why: CBORPath.shortened(context.debugDescription))
        default:
            self = .refused(path: "the top level", why: CBORPath.shortened("\(error)"))
        }
    }
}
