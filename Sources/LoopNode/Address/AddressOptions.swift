/// The options that name a program's reducer.
package enum AddressOptions {
    fileprivate static let reducer = Option(
        "reducer", .reducerAddress, default: ReducerAddress.fallback,
        help: "the address of the reducer; with standbys, the addresses of all, with commas in between")

    static let key = Option(
        optional: "key", .path(),
        help: "this program's own key, as loopctl keygen writes it (NAME.key_secret), if the reducer has keys")
    static let reducerKey = Option(
        optional: "reducer-key", .string.named("FILE"),
        help: "the reducer's public key, by which it is known: server.key, or the 40 characters in it")

    /// All options. They are in the help of every program that talks to a reducer.
    package static let all: [any DeclaredOption] = [reducer, key, reducerKey]
}

extension ParsedArguments {
    /// The reducer that the command line or the environment names, with the keys for it.
    package var reducer: ReducerAddress {
        get throws(NodeError) {
            try self[AddressOptions.reducer]
                .with(key: self[AddressOptions.key], reducerKey: self[AddressOptions.reducerKey])
        }
    }
}

extension ValueType where Value == ReducerAddress {
    /// The address of a reducer, for its clients.
    package static var reducerAddress: ValueType {
        address { text throws(NodeError) in try ReducerAddress(parsing: text) }
    }
}

extension ValueType where Value == BindAddress {
    /// The address at which a reducer listens.
    package static var bindAddress: ValueType {
        address { text throws(NodeError) in try BindAddress(parsing: text) }
    }
}

extension ValueType where Value: CustomStringConvertible {
    fileprivate static func address(_ parse: @escaping @Sendable (String) throws(NodeError) -> Value) -> ValueType {
        ValueType(
            placeholder: "ENDPOINT", expected: Endpoint.form,
            parse: { text throws(Misfit) in
                do throws(NodeError) {
                    return try parse(text)
                } catch {
                    guard case .endpoint(let part, let why) = error else { throw Misfit("\(error)") }
                    throw Misfit(part == text ? why : "of '\(part)', \(why)")
                }
            }, write: \.description)
    }
}
