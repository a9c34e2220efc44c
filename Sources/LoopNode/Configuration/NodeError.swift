import LoopCluster

/// Why a node could not start or continue.
public enum NodeError: Error, Sendable, CustomStringConvertible {
    /// The text is not an address, for this reason.
    case endpoint(String, String)
    /// The address can be reached from other machines, there are no keys, and the configuration does not allow that.
    case notSecured(BindAddress)
    /// A key or a folder of keys cannot be used.
    case keys(String)
    /// A value of the node's configuration is out of range.
    case configuration(String)
    /// The definition cannot run with its placements, or could not be made.
    case definition(String)
    /// The other side does not let this node in.
    case refused(String)
    /// No reducer answered. The reason is given if it is known.
    case noAnswer(ReducerAddress, after: Duration, because: String? = nil)
    /// A socket or a system call failed.
    case system(String)
    /// The journal failed. Nothing that depends on the failed operation has left.
    case journal(String)
    /// The journal is damaged, or acknowledged records are missing from it. A person has to decide, because another
    /// start changes nothing.
    case damaged(String)

    /// One line for people: what went wrong, with which value, and what to do.
    public var description: String {
        switch self {
        case .endpoint(let text, let why):
            "cannot use the address '\(Redaction.of(value: text))': \(why); an address is \(Endpoint.form)"
        case .notSecured(let address):
            "binding \(address) lets everybody who can reach it send events and see the state;"
                + " pass --keys DIR to admit only owners of keys, bind tcp://127.0.0.1:…, or pass --insecure"
        case .noAnswer(let reducer, let limit, let why):
            "no reducer answered at \(reducer) within \(limit)\(why.map { ": \($0)" } ?? ""); is it running?"
        case .keys(let why), .configuration(let why), .definition(let why), .refused(let why), .system(let why),
            .journal(let why), .damaged(let why):
            why
        }
    }
}

extension NodeError {
    /// Creates the error of a journal that cannot be used without a change.
    init(_ error: JournalError) { self = error.kind == .corrupt ? .damaged("\(error)") : .journal("\(error)") }
}
