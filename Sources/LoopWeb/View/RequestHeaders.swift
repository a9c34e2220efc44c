internal import CHTTPD

/// What a request says beside its body. Valid while the request is answered.
struct RequestHeaders {
    private let connection: OpaquePointer

    init(_ connection: OpaquePointer) { self.connection = connection }

    /// A header, by its name in any spelling.
    subscript(_ name: String) -> String? { value(.HEADER_KIND, name) }

    func cookie(_ name: String) -> String? { value(.COOKIE_KIND, name) }

    func query(_ name: String) -> String? { value(.GET_ARGUMENT_KIND, name) }

    private func value(_ kind: MHD_ValueKind, _ name: String) -> String? {
        MHD_lookup_connection_value(connection, kind, name).map { String(cString: $0) }
    }
}
