// Unsafe: the connection exists while its request is answered, and each text is copied at once.

internal import CHTTPD

/// The parts of a request other than its body. Valid while the request is answered.
package struct HTTPRequest: ~Copyable {
    /// The connection that the request came on.
    package let connection: HTTPConnection

    init(_ connection: HTTPConnection) { self.connection = connection }

    /// A header, by its name in upper or lower case.
    package func header(_ name: String) -> String? { value(.HEADER_KIND, name) }

    /// A cookie.
    package func cookie(_ name: String) -> String? { value(.COOKIE_KIND, name) }

    /// A value of the URL's query.
    package func query(_ name: String) -> String? { value(.GET_ARGUMENT_KIND, name) }

    private func value(_ kind: MHD_ValueKind, _ name: String) -> String? {
        unsafe MHD_lookup_connection_value(connection.pointer, kind, name).map {
            unsafe String(cString: $0)
        }
    }
}
