import LoopNode

/// Starts the services of the compose file as processes, in its order, and waits for the verdict of one of them.
struct ComposedRun: Sendable {
    struct Verdict: Sendable {
        let exit: ProcessExit
        /// What the service printed.
        let report: [String]
        /// What all services wrote to standard error, for the message of a test that fails.
        let log: [String]
        let kind: ServiceNetwork.Kind
    }

    let services: [ComposeService]
    /// How many of each are started, where that is not one.
    let scale: [String: Int]
    /// The service whose end ends the run.
    let verdictFrom: String

    func run() async throws -> Verdict {
        let hosts = services.flatMap { self.hosts(of: $0) }
        return try await ServiceNetwork.with(hosts) { network in
            let log = Lines()
            let report = Lines()
            var children: [ChildProcess] = []
            defer { for child in children { child.kill() } }
            var deciding: ChildProcess?
            for service in services {
                for host in self.hosts(of: service) {
                    let child = try start(service, host, on: network, report: report, log: log)
                    children.append(child)
                    if service.name == verdictFrom { deciding = child }
                }
                try await waitUntilHealthy(service, on: network, log: log)
            }
            guard let deciding else { throw ComposeFailure("no service is called \(verdictFrom)") }
            let exit = await deciding.wait(within: .seconds(90))
            for child in children { child.terminate() }
            for child in children { _ = await child.wait(within: .seconds(10)) }
            return Verdict(exit: exit, report: report.all, log: log.all, kind: network.kind)
        }
    }

    private func hosts(of service: ComposeService) -> [String] {
        let count = scale[service.name] ?? 1
        return count == 1 ? [service.name] : (1...count).map { "\(service.name)-\($0)" }
    }

    private func start(
        _ service: ComposeService, _ host: String, on network: ServiceNetwork, report: Lines, log: Lines
    ) throws -> ChildProcess {
        let (words, environment) = network.command(
            service.command, on: host, environment: service.environment)
        let isDeciding = service.name == verdictFrom
        return try ChildProcess(
            .init(
                words[0], Array(words.dropFirst()), environment: environment,
                output: .lines { channel, line in
                    if channel == .output && isDeciding { report.add(line) } else { log.add("\(host): \(line)") }
                }, ownGroup: true))
    }

    /// Asks as the compose file says, until it is answered well.
    private func waitUntilHealthy(_ service: ComposeService, on network: ServiceNetwork, log: Lines) async throws {
        guard let check = service.healthcheck else { return }
        var environment = service.environment
        if case .loopback = network.kind, let bind = service.command.firstIndex(of: "--bind") {
            // Without a namespace the service does not have the address at which the check looks for it.
            environment["LOOP_REDUCER"] = service.command[bind + 1]
        }
        let (words, variables) = network.command(check, on: service.name, environment: environment)
        var last = ""
        for _ in 0..<100 {
            let result = try await Command.run(
                words[0], Array(words.dropFirst()), environment: variables, within: .seconds(5))
            if result.exit.isSuccess { return }
            last = "\(result.exit): \(result.text)"
            try await Task.sleep(for: .milliseconds(100))
        }
        throw ComposeFailure("\(service.name) did not become healthy: \(last)\n\(log.all.joined(separator: "\n"))")
    }
}
