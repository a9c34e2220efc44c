public import LoopOptions

/// The options by which a program is told its reducer.
package enum AddressOptions {
    private static let reducer = Option(
        "reducer", .reducerAddress, default: ReducerAddress.fallback, help: "the address of the reducer")

    /// Each is in the help of every program that talks to a reducer.
    package static let all: [any DeclaredOption] = [reducer]

    fileprivate static func address(in arguments: ParsedArguments) -> ReducerAddress { arguments[reducer] }
}

extension ParsedArguments {
    /// The reducer that the command line or the environment names.
    package var reducer: ReducerAddress { AddressOptions.address(in: self) }
}

extension ValueType where Value == ReducerAddress {
    /// The address of a reducer, for its clients.
    public static var reducerAddress: ValueType {
        ValueType(
            placeholder: "ENDPOINT", expected: Endpoint.form,
            parse: { text throws(Misfit) in
                try Endpoint.misfit { () throws(NodeError) in try ReducerAddress(parsing: text) }
            }, write: \.description)
    }
}

extension ValueType where Value == BindAddress {
    /// Where a reducer listens.
    public static var bindAddress: ValueType {
        ValueType(
            placeholder: "ENDPOINT", expected: Endpoint.form,
            parse: { text throws(Misfit) in
                try Endpoint.misfit { () throws(NodeError) in try BindAddress(parsing: text) }
            }, write: \.description)
    }
}

extension Endpoint {
    fileprivate static func misfit<Address>(_ parse: () throws(NodeError) -> Address) throws(Misfit) -> Address {
        do {
            return try parse()
        } catch {
            guard case .endpoint(_, let why) = error else { throw Misfit("\(error)") }
            throw Misfit(why)
        }
    }
}
