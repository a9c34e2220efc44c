import LoopCore
import LoopNode
import Testing
import ZMQ

// What docs/services.md uses of swift-distributed-tracing, which is no part of this project.

private protocol Injector<Carrier>: Sendable {
    associatedtype Carrier
    func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}

private protocol Extractor<Carrier>: Sendable {
    associatedtype Carrier
    func extract(key: String, from carrier: Carrier) -> String?
}

private struct ServiceContext: Sendable {
    @TaskLocal static var current: ServiceContext?
    static let topLevel = ServiceContext()
    var traceparent: String?

    static func withValue<Value>(_ context: ServiceContext, operation: () async throws -> Value) async rethrows -> Value
    {
        try await $current.withValue(context, operation: operation)
    }
}

/// A tracer that passes on the header.
private enum InstrumentationSystem {
    static let instrument = Instrument()

    struct Instrument: Sendable {
        func inject<Carrier, Inject: Injector>(
            _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
        ) where Inject.Carrier == Carrier {
            if let header = context.traceparent { injector.inject(header, forKey: "traceparent", into: &carrier) }
        }

        func extract<Carrier, Extract: Extractor>(
            _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
        ) where Extract.Carrier == Carrier {
            context.traceparent = extractor.extract(key: "traceparent", from: carrier)
        }
    }
}

private struct Headers: Injector, Extractor {
    func inject(_ value: String, forKey key: String, into headers: inout [String: String]) { headers[key] = value }
    func extract(key: String, from headers: [String: String]) -> String? { headers[key] }
}

/// Runs what sends events in the trace of the service.
private func inLoopTrace<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    var headers: [String: String] = [:]
    InstrumentationSystem.instrument.inject(ServiceContext.current ?? .topLevel, into: &headers, using: Headers())
    let trace = headers["traceparent"].flatMap { TraceContext(traceparent: $0) }
    return try await TraceContext.$current.withValue(trace, operation: body)
}

/// Runs what the body of an effect asks of other services in the trace of the effect.
private func inServiceTrace<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    var context = ServiceContext.topLevel
    let headers = TraceContext.current.map { ["traceparent": $0.traceparent] } ?? [:]
    InstrumentationSystem.instrument.extract(headers, into: &context, using: Headers())
    return try await ServiceContext.withValue(context, operation: body)
}

@Suite(.timeLimit(.minutes(5))) struct `A service with swift-distributed-tracing` {
    @Test func `continues its trace through a loop, and the loop's trace through itself`() async throws {
        let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let (context, address) = (try ZMQContext(), try ReducerAddress(parsing: "inproc://service"))
        // The effect tells the header that a request of its own would have.
        let jobs = Jobs { job in
            let traceparent = await inServiceTrace { ServiceContext.current?.traceparent }
            return traceparent?.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") == true ? job : -1
        }
        let reducer = try ReducerNode(jobs, configuration: .test(address, context))
        let run = Task { try await reducer.run() }
        let worker = try EffectNode(jobs, configuration: .test(address, context, "worker"))
        let work = Task { try await worker.run() }
        let remote = try RemoteLoop(Jobs.self, reducer: address, context: context, log: .silent)
        _ = try await ServiceContext.withValue(ServiceContext(traceparent: header)) {
            try await inLoopTrace { try await remote.sendAndConfirm(.add(3)) }
        }
        #expect(try await run.value?.text == "sum 3")
        _ = try await work.value
        await remote.close()
    }
}
