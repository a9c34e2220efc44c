import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `An operator` {
    private static let tool = PeerID(high: 0, low: 55)

    /// A worker's effect that has failed for good.
    private func parked(_ policy: EffectPolicy = .once) throws -> (ReducerBench, SessionID, Grant) {
        var bench = try ReducerBench(policy: policy)
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 5)).grants.first)
        let failed = Entry(
            kind: .failed, effect: grant.effect, attempt: grant.attempt, payload: Failure(message: "dark").bytes[...])
        _ = bench.push(bench.batch(worker, from: 1, [failed]))
        return (bench, worker, grant)
    }

    /// A reducer with one quarantined event of a client, and, with `isOfEffect`, of a worker's effect.
    private func quarantined(isOfEffect: Bool = false) throws -> MinedReducer {
        var reducer = try MinedReducer()
        var batch = reducer.bench.batch(SessionID(1), from: 1, [try reducer.bench.event(.mine(1))])
        if isOfEffect {
            let worker = reducer.bench.join(alice)
            let sender = reducer.bench.join(client, capacity: 0)
            let grant = try #require(try reducer.bench.send(sender, from: 1, .light("a", 1)).grants.first)
            let mine = try reducer.bench.event(.mine(1), of: (grant.effect, grant.attempt))
            batch = reducer.bench.batch(worker, from: 1, [mine])
            for _ in 0..<2 {
                reducer = try reducer.dying(of: batch)
                let claim = ClaimedAttempt(effect: grant.effect, attempt: grant.attempt)
                reducer.bench.join(alice, claiming: [claim])
            }
        } else {
            reducer.bench.join(client, capacity: 0)
            for _ in 0..<2 { reducer = try reducer.dyingAnew(of: batch) }
        }
        _ = reducer.bench.push(batch)
        reducer.memory.forget()
        #expect(reducer.bench.machine.status().quarantined == 1)
        return reducer
    }

    @Test func `has a reducer step down that can follow another one, and no other`() throws {
        let request = AdministrationRequest.stepDown(takesSnapshot: true, who: String(repeating: "e", count: 300))
        var bench = try ReducerBench()
        let refused = bench.ask(request)
        #expect(refused.refusal?.contains("started without --standby") == true && bench.journalRequests == [])
        var setting = ReducerSetting()
        setting.mayStepDown = true
        bench = try ReducerBench(setting: setting)
        _ = bench.say(.administration(request: 3, bench.document(request)), from: Self.tool)
        // The shell answers when it has let go.
        #expect(
            bench.journalRequests.map(\.question)
                == [.stepDown(takesSnapshot: true, who: String(repeating: "e", count: 256))])
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .finish)
        #expect(bench.ask(request).refusal == "the loop has ended")
        #expect(bench.ask(.standBack(milliseconds: 1, who: "eve")).refusal?.contains("this reducer leads") == true)
    }

    @Test(arguments: [(Int.min, 1), (0, 1), (7, 7), (.max, 1000)])
    func `gets at least one change of a part, and a thousand at most`(asked: Int, count: Int) throws {
        var bench = try ReducerBench()
        _ = bench.ask(.changes(of: StateSelection(path: ["notes"]), before: nil, max: asked))
        #expect(
            bench.journalRequests.map(\.question)
                == [.read(.changes(of: StateSelection(path: ["notes"]), before: nil, max: count))])
    }

    @Test func `has a parked effect run again, by record, with its failures forgotten`() throws {
        var (bench, _, grant) = try parked()
        let asked = AdministrationRequest.retryParked(effect: "0.1.0", who: "eve@desk")
        let out = bench.say(.administration(request: 3, bench.document(asked)), from: Self.tool)
        #expect(
            bench.records.suffix(2) == [
                .operatorAction(
                    OperatorAction(
                        .retryParked(grant.effect), by: "eve@desk", at: WallTime(milliseconds: bench.time))),
                .granted(GrantRecord(first: Attempt(epoch: 1, count: 2), effects: [grant.effect])),
            ])
        #expect(out.grants.map(\.effect) == [grant.effect])
        #expect(out.grants.map(\.failures) == [0])
        #expect(out.grants.map(\.attempt) == [Attempt(epoch: 1, count: 2)])
        #expect(out.answer(3) == .done("the effect 0.1.0 of lamps waits to be run again"))
        #expect(bench.ask(asked) == .refused("the effect 0.1.0 is not parked; see: loopctl effects"))
    }

    @Test func `learns why an effect cannot be run again`() throws {
        var (bench, _, _) = try parked()
        #expect(bench.ask(.retryParked(effect: "all", who: "")).refusal?.contains("names no effect") == true)
        #expect(bench.ask(.retryParked(effect: "0.9.0", who: "")).refusal?.contains("not wanted") == true)
        var large = try WordBench()
        let unsendable = large.ask(.retryParked(effect: "0.1.0", who: "me"))
        #expect(unsendable.refusal?.contains("larger than 524288 bytes") == true)
    }

    @Test func `need not do anything where an effect could not be sent and the state asks for less`() throws {
        var bench = try WordBench()
        let less = try CBORCoder().encode("www")
        for attempt: UInt64 in 1...3 {
            let grants = try bench.send(.shrink).grants
            #expect(grants.map(\.request) == [less])
            #expect(grants.map(\.attempt) == [Attempt(epoch: 1, count: attempt)])
            #expect(grants.map(\.isResumed) == [attempt > 1])
            #expect(try bench.send(.grow).grants == [])
            #expect(bench.ask(.retryParked(effect: "0.1.0", who: "me")).refusal?.contains("larger than") == true)
        }
    }

    @Test func `lists the quarantine, and looks at one of it`() throws {
        var reducer = try quarantined()
        let record = try #require(reducer.bench.records.quarantined.first)
        var listed = QuarantinedEvent(
            id: 1, time: record.time.milliseconds, session: 1, number: 1, effect: nil, phase: "reduce", crashes: 2,
            event: [])
        #expect(reducer.bench.ask(.quarantine) == .quarantine([listed]))
        listed.event = try reducer.bench.coder.encode(Lamps.Event.mine(1))
        #expect(reducer.bench.ask(.quarantined(id: 1)) == .quarantine([listed]))
        #expect(
            reducer.bench.ask(.quarantined(id: 2))
                == .refused("there is no quarantined event 2; see: loopctl quarantine list"))
    }

    @Test(arguments: [false, true])
    func `applies a quarantined event after all, alone in its turn`(isOfEffect: Bool) throws {
        var reducer = try quarantined(isOfEffect: isOfEffect)
        let (seq, effect) = (
            reducer.bench.machine.seq.next, isOfEffect ? EffectID(feedback: 0, seq: Seq(1), index: 0) : nil
        )
        reducer.bench.join(client, capacity: 0)
        let before = reducer.bench.records.count
        let asked = reducer.bench.document(.retryQuarantined(id: 1, who: "eve"))
        #expect(reducer.bench.say(.administration(request: 4, asked), from: Self.tool).answer(4) == nil)
        // Another sender's event comes in the same turn, and waits for the next.
        let other = reducer.bench.batch(SessionID(isOfEffect ? 2 : 1), from: 2, [try reducer.bench.event(.note)])
        let out = reducer.bench.turn { $0.receive(other, by: .unknown) }
        #expect(out.answer(4) == .done("event 1 is applied as seq \(seq)"))
        let records = reducer.records(after: before)
        #expect(records.count == 2)
        let time = WallTime(milliseconds: reducer.bench.time)
        #expect(records.first == .operatorAction(OperatorAction(.retryQuarantined(1), by: "eve", at: time)))
        guard case .event(let event) = records.last else {
            Issue.record("the second record is \(String(describing: records.last))")
            return
        }
        #expect(event.seq == seq && event.session == .none && event.effect == effect)
        #expect(reducer.notes == 1)
        reducer.bench.turn()
        #expect(reducer.notes == 2)
        #expect(reducer.bench.ask(.quarantine) == .quarantine([]))
        #expect(reducer.bench.machine.status().warnings == [])
    }

    @Test func `learns when the effect of a quarantined event is not wanted any more, and may drop the event`() throws {
        var reducer = try quarantined(isOfEffect: true)
        reducer.bench.join(client, capacity: 0)
        _ = try reducer.bench.send(SessionID(2), from: 2, .darken("a"))
        #expect(
            reducer.bench.ask(.retryQuarantined(id: 1, who: "eve"))
                == .refused(
                    "the effect 0.1.0 that sent event 1 is no longer wanted, and its events with it; drop it:"
                        + " loopctl quarantine drop 1"))
        #expect(
            reducer.bench.ask(.dropQuarantined(id: 1, who: "eve")) == .done("quarantined event 1 is dropped"))
        #expect(reducer.bench.machine.status().quarantined == 0)
        #expect(reducer.notes == 0)
    }

    @Test func `whose retry ends the process learns so when asking again`() throws {
        var reducer = try quarantined()
        let durable = reducer.bench.records
        _ = reducer.bench.ask(.retryQuarantined(id: 1, who: "eve"))
        let image = try #require(reducer.memory.image)
        var next = try MinedReducer(replaying: durable, image: image)
        #expect(next.finding == .retry(quarantined: 1))
        #expect(next.bench.machine.status().quarantined == 1)
        let first = next.bench.ask(.retryQuarantined(id: 1, who: "eve"))
        #expect(first.refusal?.hasPrefix("the last try of event 1 ended the process in reduce") == true)
        #expect(next.bench.ask(.retryQuarantined(id: 1, who: "eve")).refusal == nil)
        #expect(next.notes == 1)
    }

    @Test func `with a question that only the journal can answer is answered by the shell`() throws {
        var bench = try ReducerBench()
        _ = bench.say(.administration(request: 8, bench.document(.verify)), from: Self.tool)
        #expect(bench.journalRequests.map(\.number) == [8])
    }

    @Test func `that sends no valid request is refused`() throws {
        var bench = try ReducerBench()
        let out = bench.say(.administration(request: 8, [0xff]), from: Self.tool)
        #expect(out.answer(8)?.refusal?.contains("does not know the request") == true)
    }

    @Test(arguments: ["0.57.0", "4294967295.18446744073709551615.0"])
    func `names effects as they are printed`(text: String) { #expect(EffectID(text)?.description == text) }

    @Test(arguments: ["", "0.57", "0.57.0.1", "+0.57.0", "00.57.0", "0.-1.0", "4294967296.1.0", " 0.1.0", "0..0"])
    func `names no effect by anything else`(text: String) { #expect(EffectID(text) == nil) }
}

extension EffectPolicy {
    /// No second try.
    static let once = EffectPolicy(
        retry: Retry(attemptsMax: 1, firstDelay: .seconds(1), delayMax: .seconds(1), jitter: 0))
}

extension AdministrationAnswer {
    var refusal: String? { if case .refused(let why) = self { why } else { nil } }
}

extension ReducerBench {
    func document(_ request: AdministrationRequest) -> ArraySlice<UInt8> {
        ((try? coder.encode(request)) ?? [])[...]
    }

    /// Asks, and waits for the answer.
    mutating func ask(_ request: AdministrationRequest) -> AdministrationAnswer {
        var out = say(.administration(request: 1, document(request)), from: PeerID(high: 0, low: 55))
        while machine.hasDeferred { out += turn() }
        return out.answer(1) ?? .refused("no answer")
    }
}

extension [Outbound] {
    /// The answer to a request, put together from its parts.
    func answer(_ request: UInt64) -> AdministrationAnswer? {
        let parts = compactMap { outbound -> AnswerPart? in
            guard case .reply(_, let frame) = outbound, case .answer(let part) = frame.message,
                part.request == request
            else { return nil }
            return part
        }
        return try? CBORCoder().decode(AdministrationAnswer.self, from: parts.flatMap { [UInt8]($0.bytes) })
    }
}
