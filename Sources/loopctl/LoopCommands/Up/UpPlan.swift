import LoopNode
import LoopPostgres

/// The processes of a loop on this machine: their programs and command lines.
struct UpPlan: Equatable, Sendable {
    let loop: String
    let workers: Int
    /// The address at which workers and tools find the reducer.
    let reducer: ReducerAddress
    let reducerProgram: String
    let reducerArguments: [String]
    let workerProgram: String
    /// The file or database that keeps the loop, without a password, or nil if nothing keeps it.
    let journal: String?
    /// Whether the command exits with 0 after a bad verdict.
    let exitsZero: Bool
    /// The environment of the processes.
    let environment: [String: String]
    private let workerOptions: [String]

    /// The lowest level of the processes' logs that is shown by default. At this level the user does not see `up`'s own workers
    /// join and leave.
    private static let logLevel = LogLevel.notice

    /// - Parameters:
    ///   - claimed: the address to listen on if the request names none.
    ///   - keys: the keys in the request's folder, or nil if it names none.
    ///   - folder: the folder of programs that the request does not name.
    ///   - environment: the variables of this process.
    /// - Throws: `UsageError` if workers could not find the address.
    init(
        _ request: UpRequest, claimed: BindAddress?, keys: UpKeys? = nil, folder: String,
        environment: [String: String] = ProcessEnvironment.current
    ) throws(UsageError) {
        let given = request.options
        let bind = given[UpCommand.bind] ?? claimed ?? .standard
        loop = request.loop
        workers = given[UpCommand.workers]
        exitsZero = given[UpCommand.exitZero]
        reducer = try Self.dialled(bind).with(keys?.peer)
        reducerProgram = given[UpCommand.reducerProgram] ?? "\(folder)/loop-reducer"
        workerProgram = given[UpCommand.workerProgram] ?? "\(folder)/loop-effect"
        let journal = given[UpCommand.journal] ?? "\(request.loop).journal"
        self.journal = journal == "memory" ? nil : Self.shown(journal)
        var options = ["--bind", bind.description]
        if let keys { options += ["--keys", keys.folder] }
        if given[UpCommand.insecure] { options.append("--insecure") }
        if let limit = given[UpCommand.silenceLimit] {
            options += ["--silence-limit", "\(limit.wholeNanoseconds / 1_000_000)ms"]
        }
        var environment = environment.filter { !Self.ownVariables.contains($0.key) }
        let (log, logLevel) = (given[UpCommand.log], given[UpCommand.logLevel])
        if logLevel == nil { environment["LOOP_LOG_LEVEL"] = Self.logLevel.rawValue }
        if let journal = given[UpCommand.journal] {
            // Every user of the machine can read command lines, and the URL of a database may have a password.
            if ConnectionString.isURL(journal) {
                environment["LOOP_JOURNAL"] = journal
            } else {
                options += ["--journal", journal]
            }
        }
        self.environment = environment
        if let durability = given[UpCommand.durability] { options += ["--durability", durability] }
        if given[UpCommand.wait] { options.append("--wait") }
        if let file = given[UpCommand.json] { options += ["--json", file] }
        let logOptions = (log.map { ["--log", $0] } ?? []) + (logLevel.map { ["--log-level", $0] } ?? [])
        reducerArguments = [request.loop] + options + logOptions + request.loopArguments
        let keyOptions = keys.map { ["--key", $0.workersPath, "--reducer-key", $0.reducersPath] }
        let capacity = given[UpCommand.capacity].map { ["--capacity", String($0)] }
        workerOptions = (capacity ?? []) + (keyOptions ?? []) + logOptions
    }

    /// Variables that the processes do not get, because `up` has read them itself or decides about them. A worker with the key of
    /// another loop, or a standby as the reducer, would wait for ever, and several processes cannot listen at one address. A service
    /// manager has started `up`, and not its processes.
    private static let ownVariables: Set<String> = {
        let declarations = (UpCommand.groups.flatMap(\.options) + AddressOptions.all.map { $0.declaration })
        return Set(declarations.compactMap(\.environment))
            .union(["LOOP_STANDBY", "LOOP_ADVERTISE", "LOOP_NAME", "LOOP_GROUP", "LOOP_HTTP", "LOOP_HTTP_TOKEN"])
            .union(ServiceManager.variables)
    }()

    /// A journal's name without its password. If it cannot be read, the reducer refuses it.
    private static func shown(_ journal: String) -> String {
        guard ConnectionString.isURL(journal) else { return journal }
        return (try? ConnectionString(journal).description) ?? "a database"
    }

    /// The arguments of a worker. Workers are numbered from 1.
    func workerArguments(_ number: Int) -> [String] {
        [loop, "--reducer", reducer.description, "--name", "worker-\(number)"] + workerOptions
    }

    /// The address by which workers reach a reducer that listens on `bind`.
    static func dialled(_ bind: BindAddress) throws(UsageError) -> ReducerAddress {
        guard let reducer = bind.dialled else {
            throw UsageError(
                message: "--bind cannot be '\(bind)': workers must be told its port",
                hint: "name one from 1 to 65533, or leave --bind out")
        }
        return reducer
    }
}
