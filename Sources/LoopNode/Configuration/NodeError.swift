import LoopCluster
import LoopOptions

/// Why a node could not start or go on.
public enum NodeError: Error, Sendable, CustomStringConvertible {
    /// This text is no address, for this reason.
    case endpoint(String, String)
    /// Binding beyond this machine without keys was not asked for.
    case notSecured(BindAddress)
    /// A key or a folder of keys cannot be used.
    case keys(String)
    /// A value of the node's configuration is out of range.
    case configuration(String)
    /// The definition cannot run as it is placed, or could not be made.
    case definition(String)
    /// The other side does not let this node in.
    case refused(String)
    /// No reducer answered; why, as far as is known.
    case noAnswer(ReducerAddress, after: Duration, because: String? = nil)
    /// A socket or the system refused something.
    case system(String)
    /// The journal refused something; nothing that depends on it has left.
    case journal(String)
    /// The journal is damaged, or acknowledged records are missing from it. A person has to decide, for another start changes nothing.
    case damaged(String)

    /// One line for people: what went wrong, with which value, and what to do.
    public var description: String {
        switch self {
        case .endpoint(let text, let why):
            "cannot use the address '\(Redaction.of(value: text))': \(why); an address is \(Endpoint.form)"
        case .notSecured(let address):
            "binding \(address) lets everybody who can reach it send events and see the state;"
                + " pass --keys DIR to admit only owners of keys, bind tcp://127.0.0.1:…, or pass --insecure"
        case .keys(let why): why
        case .configuration(let why): why
        case .definition(let why): why
        case .refused(let why): why
        case .noAnswer(let reducer, let limit, let why):
            "no reducer answered at \(reducer) within \(limit)\(why.map { ": \($0)" } ?? ""); is it running?"
        case .system(let what): what
        case .journal(let what), .damaged(let what): what
        }
    }
}

extension NodeError {
    /// Creates the error of a journal that cannot be used without a change.
    init(_ error: JournalError) { self = error.kind == .corrupt ? .damaged("\(error)") : .journal("\(error)") }
}
