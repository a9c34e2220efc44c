import LoopNode
import LoopOptions

/// The processes of a loop on this machine: their programs and command lines.
struct UpPlan: Equatable, Sendable {
    let loop: String
    let workers: Int
    /// Where workers and tools find the reducer.
    let endpoint: String
    let reducerProgram: String
    let reducerArguments: [String]
    let workerProgram: String
    private let workerOptions: [String]

    /// - Parameters:
    ///   - claimed: the port to listen on where the request names none.
    ///   - folder: where programs are that the request does not name.
    /// - Throws: where workers could not find the address.
    init(_ request: UpRequest, claimed: UInt16?, folder: String) throws(UsageError) {
        let bind = request.bind ?? "tcp://127.0.0.1:\(claimed ?? 7710)"
        loop = request.loop
        workers = request.workers
        endpoint = try Self.dialled(bind)
        reducerProgram = request.reducerProgram ?? "\(folder)/loop-reducer"
        workerProgram = request.workerProgram ?? "\(folder)/loop-effect"
        var options = ["--bind", bind]
        if request.isInsecure { options.append("--insecure") }
        if let limit = request.silenceLimit { options += ["--silence-limit", limit] }
        if let journal = request.journal { options += ["--journal", journal] }
        if let durability = request.durability { options += ["--durability", durability] }
        if request.waitsForJournal { options.append("--wait") }
        if let file = request.json { options += ["--json", file] }
        reducerArguments = [request.loop] + options + request.loopArguments
        workerOptions = request.capacity.map { ["--capacity", String($0)] } ?? []
    }

    /// What a worker is started with; they are numbered from 1.
    func workerArguments(_ number: Int) -> [String] {
        [loop, "--reducer", endpoint, "--name", "worker-\(number)"] + workerOptions
    }

    /// The address by which a process of this machine reaches a reducer that listens there.
    static func dialled(_ bind: String) throws(UsageError) -> String {
        guard bind.hasPrefix("tcp://") else { return bind }
        let address = bind.dropFirst("tcp://".count)
        let host = address.lastIndex(of: ":").map { address[..<$0] } ?? address
        let port = address.dropFirst(host.count + 1)
        guard let number = UInt16(port), number > 0 else {
            throw UsageError(
                message: "--bind cannot be '\(bind)': workers must be told its port",
                hint: "name one from 1 to 65533, or leave --bind out")
        }
        return switch host {
        case "0.0.0.0", "*": "tcp://127.0.0.1:\(port)"
        case "[::]": "tcp://[::1]:\(port)"
        default: bind
        }
    }
}
