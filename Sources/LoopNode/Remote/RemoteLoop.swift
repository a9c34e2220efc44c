import LoopCluster
public import LoopCore
import LoopLock
import LoopWire
public import ZMQ

/// A handle on a loop that runs elsewhere: follow its state, send it events.
///
///     let loop = try RemoteLoop(Traffic.self, reducer: "tcp://127.0.0.1:7710")
///     let seq = try await loop.confirmed(.carArrived)
///     for await (seq, state) in loop.states { … }
public final class RemoteLoop<Definition: LoopDefinition>: Sendable {
    let connection: RemoteConnection
    let log: NodeLog

    /// - Parameters:
    ///   - reducer: the reducer's address; it need not run yet.
    ///   - outbox: a file that keeps what is sent until its outcome is known, also when this process dies; whoever opens
    ///     it next sends what is left over. One process at a time has it. nil: what is sent lives as long as the process.
    /// - Throws: where the file cannot be used, and where the system refuses something.
    public init(
        _ definition: Definition.Type, reducer: String = "tcp://127.0.0.1:7710", name: String = "",
        outbox: String? = nil,
        context: ZMQContext? = nil, log: @escaping @Sendable (String) -> Void = StandardError.line
    ) throws(NodeError) {
        self.log = NodeLog(name: "observer", write: log)
        connection = try RemoteConnection(
            loop: Definition.name, schema: UInt64(Definition.schema), reducer: reducer, name: name,
            observing: .states, outbox: outbox, context: context, log: log)
    }

    /// The state now, then the latest state after every change that this observer could keep up with, at most ten a
    /// second: full updates show the last state of each batch, never one that did not exist. Ends with the loop. A state
    /// that cannot be decoded, because the reducer has a newer schema, is left out, and the log says so.
    public var states: AsyncStream<(seq: Seq, state: Definition.State)> {
        let (connection, log) = (connection, log)
        let (stream, continuation) = AsyncStream.makeStream(
            of: (seq: Seq, state: Definition.State).self, bufferingPolicy: .bufferingNewest(1))
        let id = connection.observe { action in
            switch action {
            case .state(let seq, let bytes):
                if let state = RemoteLoop.decode(bytes, seq, log) { continuation.yield((seq, state)) }
            case .ended: continuation.finish()
            default: break
            }
        }
        continuation.onTermination = { _ in connection.stopObserving(id) }
        return stream
    }

    /// Nil, and a line in the log: it cannot be read.
    static func decode(_ bytes: [UInt8], _ seq: Seq, _ log: NodeLog) -> Definition.State? {
        do {
            return try CBOR.decode(Definition.State.self, from: bytes)
        } catch {
            log.once(
                a: "state",
                "the state at seq \(seq) cannot be read as schema \(Definition.schema) of this loop: \(error); run"
                    + " the reducer's build")
            return nil
        }
    }

    /// Hands an event over. With an outbox file it is on disk when this returns, and is applied or refused whatever
    /// becomes of this process; without one, as long as this process lives. Suspends while the outbox is full, and with a
    /// file until it is written.
    public nonisolated(nonsending) func send(_ event: Definition.Event) async throws(SendRefusal) {
        if try offer(event) { return }
        _ = try await connection.send(try encode(event), confirmed: false)
    }

    /// Hands over from where it was encoded, with no array of its own, what need not wait.
    private func offer(_ event: Definition.Event) throws(SendRefusal) -> Bool {
        var outcome = Result<Bool, SendRefusal>.success(false)
        do {
            try CBOR.withEncoding(of: event) { bytes in
                outcome = Result { () throws(SendRefusal) in try connection.offer(bytes) }
            }
        } catch {
            throw SendRefusal(.undecodable, detail: "it could not be encoded: \(error)")
        }
        return try outcome.get()
    }

    /// Hands an event over and waits until it was applied.
    /// - Returns: the seq at which it was applied.
    @discardableResult
    public func confirmed(_ event: Definition.Event) async throws(SendRefusal) -> Seq {
        try await connection.send(try encode(event), confirmed: true)
    }

    private func encode(_ event: Definition.Event) throws(SendRefusal) -> [UInt8] {
        do {
            return try CBOR.encode(event)
        } catch {
            throw SendRefusal(.undecodable, detail: "it could not be encoded: \(error)")
        }
    }

    /// What became of the events that an earlier process had left in the outbox; waits until all of it is known. Empty
    /// without an outbox file.
    /// - Throws: where the connection ended before.
    public func leftOver() async throws(NodeError) -> [LeftOver] { try await connection.leftOver() }

    /// Waits until the outcome of everything sent is known, then ends the session. After five seconds what is not known
    /// stays in the outbox file, where there is one.
    public func close() async { await connection.close() }
}
