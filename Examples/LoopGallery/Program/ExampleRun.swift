internal import Glibc
internal import Linux
internal import LoopApp
internal import LoopNode
internal import LoopView

/// One run of one example: it starts what it needs, shows it, and removes everything again.
struct ExampleRun {
    private let example: GalleryExample
    private let arguments: ParsedArguments
    private let mode: GalleryOptions.Mode

    init(_ example: GalleryExample, _ arguments: ParsedArguments) {
        self.example = example
        self.arguments = arguments
        mode = GalleryOptions.Mode(rawValue: arguments[GalleryOptions.mode]) ?? .terminal
    }

    /// Runs the example, and returns the exit code.
    func run() async throws -> Int32 {
        let server = try stubServer()
        defer { server?.stop() }
        let address = server?.address ?? ""
        switch mode {
        case .web: return try await serve(address)
        case .cluster: return try await showCluster(address)
        case .terminal, .text: return try await show(example.local(address))
        }
    }

    private func stubServer() throws -> StubServer? {
        guard example.service != nil else { return nil }
        guard let data = arguments[GalleryOptions.data] ?? StubData.folder else {
            throw ExampleCluster.Failure(
                description:
                    "there is no Examples/Data here; run it in the project's folder, or name the data by --data")
        }
        let faults = FaultPlan(
            arguments[GalleryOptions.faults].compactMap(FaultPlan.Fault.init), share: arguments[GalleryOptions.share],
            atMost: arguments[GalleryOptions.count], seed: UInt64(arguments[GalleryOptions.seed]))
        return try StubServer(data: data, port: serverPort, faults: faults)
    }

    /// A journal contains the server's address, so a run that continues it needs the server at the same address.
    private var serverPort: UInt16 {
        let asked = UInt16(arguments[GalleryOptions.serverPort])
        let isKept = mode == .cluster && arguments[GalleryOptions.journal] != "memory"
        return asked == 0 && isKept ? 7790 : asked
    }

    // MARK: On the terminal, or as text

    private func show(_ view: some View) async throws -> Int32 {
        if mode != .text, isatty(0) == 1, isatty(1) == 1 {
            try await TerminalProgram.run(view)
            return 0
        }
        let text = TextMode(
            until: arguments[GalleryOptions.until], limit: arguments[GalleryOptions.limit],
            print: { text throws(OutputError) in try StandardOutput.line(text) })
        let lines = try Self.inputLines()
        let end = try await Self.untilSignal { await text.run(view, lines: lines) }
        switch end {
        case .shown, .stopped, nil: return 0
        case .unprinted(let error): throw error
        case .timeOver(let waiting):
            for line in waiting { StandardError.line("loop-example: nothing to press or to fill in for \"\(line)\"") }
            if let until = text.until { StandardError.line("loop-example: \"\(until)\" was not shown") }
            return waiting.isEmpty && text.until == nil ? 0 : 1
        }
    }

    /// The typed lines, read on a separate thread. The thread ends with the input, or with the process, because nothing
    /// else interrupts `readLine`.
    private static func inputLines() throws -> AsyncStream<String> {
        let (lines, post) = AsyncStream.makeStream(of: String.self)
        _ = try NodeThread("input") {
            while let line = readLine() { post.yield(line) }
            post.finish()
        }
        return lines
    }

    /// The result of the body, or nil if a signal came first.
    private static func untilSignal<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async throws
        -> Value?
    {
        let signals = try SignalPipe.ofProcess()
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let watch = try SignalThread(signals) { ask.finish() }
        defer { watch.end() }
        return await withTaskGroup(of: Value?.self) { group in
            group.addTask { await body() }
            group.addTask {
                for await _ in asked {}
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    private static func untilCancelled() async {
        let (nothing, post) = AsyncStream.makeStream(of: Void.self)
        for await _ in nothing {}
        post.finish()
    }

    // MARK: In a cluster

    private func showCluster(_ address: String) async throws -> Int32 {
        let cluster = try ExampleCluster(
            example.name, workers: arguments[GalleryOptions.workers], journal: arguments[GalleryOptions.journal],
            arguments: example.reducerArguments(server: address))
        let code = try await withThrowingTaskGroup(of: Int32?.self) { group in
            group.addTask { try await show(try example.remote(cluster.reducer, address, .silent)) }
            group.addTask {
                _ = await cluster.wait()
                return nil
            }
            let first = await group.nextResult()
            group.cancelAll()
            // A task that still waits for the cluster waits for this.
            await cluster.stop()
            return try first?.get() ?? nil
        }
        if let code { return code }
        for line in cluster.lines { StandardError.line(line) }
        StandardError.line("loop-example: the cluster has ended")
        return 2
    }

    // MARK: In browsers

    private func serve(_ address: String) async throws -> Int32 {
        var options = ViewServer.Options()
        options.title = example.name
        options.port = UInt16(arguments[GalleryOptions.port])
        let server = try ViewServer(options: options, perSession: { [example] in example.local(address) })
        try StandardOutput.line("\(example.name) is at \(server.address) (Ctrl-C ends it)")
        if let warning = server.warning { StandardError.line("loop-example: \(warning)") }
        _ = try await Self.untilSignal { await Self.untilCancelled() }
        server.stop()
        return 0
    }
}
