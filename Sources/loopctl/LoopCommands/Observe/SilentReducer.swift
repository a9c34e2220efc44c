import LoopNode

/// A reducer that has not answered.
struct SilentReducer: Equatable, Sendable {
    let address: ReducerAddress
    /// The reason, to follow a colon.
    let why: String

    /// Looks at each address at which no reducer has answered. Blocks for as long as each look takes.
    static func all(at reducer: ReducerAddress, except members: [StatusProbe.Member]) -> [SilentReducer] {
        reducer.each.filter { address in !members.contains { $0.address == address } }
            .map { SilentReducer(address: $0, why: AddressLook.text(at: $0)) }
    }
}
