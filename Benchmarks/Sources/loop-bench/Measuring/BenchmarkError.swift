/// Why a case has no result.
enum BenchmarkError: Error, CustomStringConvertible {
    /// Loop did not keep what it promises: the figures of the case mean nothing.
    case promise(String)
    /// A process of a case ended, or said something else than what was asked.
    case role(String)
    case usage(String)
    /// What a case needs is not there; the others are run.
    case leftOut(String)

    var description: String {
        switch self {
        case .promise(let what): "a promise was broken: \(what)"
        case .role(let what): what
        case .leftOut(let why): "left out: \(why)"
        case .usage(let what): "\(what); see --help"
        }
    }
}
