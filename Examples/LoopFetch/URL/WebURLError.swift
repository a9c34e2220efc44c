/// The reason why a text is no `http` or `https` URL.
package enum WebURLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It has another scheme, such as `mailto` (in lower case).
    case otherScheme(String)
    /// It has no scheme, and there is no base to resolve it against.
    case notAbsolute(String)
    /// There is no host between `//` and the path.
    case noHost(String)
    /// The host has forbidden characters, or is no IPv6 address between its brackets.
    case badHost(String)
    /// The port is no number from 0 to 65535.
    case badPort(String)
    /// It has a user name or a password.
    case user
    /// There are several.
    case ambiguous

    /// A line with the error and the text.
    package var description: String {
        switch self {
        case .otherScheme(let scheme): "the scheme \"\(scheme)\" is neither http nor https"
        case .notAbsolute(let text): "\"\(text)\" does not begin with http:// or https://"
        case .noHost(let text): "\"\(text)\" names no host"
        case .badHost(let text): "\"\(text)\" has a malformed host"
        case .badPort(let text): "\"\(text)\" has a port that is no number from 0 to 65535"
        case .user: "it has a user name or a password"
        case .ambiguous: "there are several"
        }
    }
}
