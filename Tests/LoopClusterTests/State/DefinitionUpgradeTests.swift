import LoopCluster
import LoopCore
import LoopWire
import Testing

private func effect(_ feedback: UInt32, _ seq: UInt64, _ index: UInt32 = 0) -> EffectID {
    EffectID(feedback: feedback, seq: Seq(seq), index: index)
}

@Suite struct `A new definition takes over at its record` {
    /// Two jobs and an alarm.
    private func site() throws -> Site {
        var site = try Site(Works(Works.jobs, Works.alarm))
        try site.happen(.job("dig", 1))
        try site.happen(.job("saw", 2))
        try site.happen(.alarm(7))
        #expect(site.core.effects.keys.sorted() == [effect(0, 1), effect(0, 2), effect(1, 3)])
        return site
    }

    @Test func `and the same one changes nothing`() throws {
        var site = try site()
        #expect(try site.begin() == [])
        let before = site.core
        #expect(try site.continueWith(Works(Works.jobs, Works.alarm)) == [])
        #expect(try site.core.differences(from: before) == ["epochs"])
    }

    @Test func `and one of the same shape has what its queries ask for now`() throws {
        var site = try site()
        let build = Works(Works.harderJobs, Works.alarm)
        #expect(DefinitionFingerprint(of: build) == site.core.loop.fingerprint)
        #expect(try site.continueWith(build) == [.updated(effect(0, 1)), .updated(effect(0, 2))])
        let idle = Works.Form.react(
            "jobs", requests: { $0.jobs.filter { $0.value > 1 } }, effect: { (_: Int) in .none }
        ).on(.workers)
        #expect(
            try site.continueWith(Works(idle, Works.alarm))
                == [.cancelled(effect(0, 1)), .updated(effect(0, 2))])
        #expect(try site.begin() == [])
    }

    @Test func `effects of a feedback that is gone are cancelled, a new one is asked, a kept one goes on`() throws {
        var site = try site()
        try site.write(.completed(SessionID(1), number: 9, effect(0, 1), Attempt(epoch: 1, count: 1)))
        let kept = site.core.effects.filter { $0.key.feedback == 0 }
        let changes = try site.continueWith(Works(Works.jobs, Works.lamp))
        #expect(changes == [.cancelled(effect(1, 3)), .started(effect(2, 3, 1))])
        #expect(site.core.table.names == ["jobs", "alarm", "lamp"])
        #expect(site.core.effects.filter { $0.key.feedback == 0 } == kept)
        #expect(site.core.feedback(of: effect(1, 3)) == nil)
        #expect(site.core.feedbackName(of: effect(1, 3)) == "alarm")
        #expect(try site.happen(.job("dig", nil)) == [.cancelled(effect(0, 1))])
        #expect(try site.happen(.alarm(8)) == [])
        #expect(try site.happen(.alarm(nil)) == [.cancelled(effect(2, 3, 1))])
    }

    @Test func `feedbacks in another order keep their numbers and effects`() throws {
        var site = try site()
        let before = site.core.effects
        #expect(try site.continueWith(Works(Works.lamp, Works.alarm, Works.jobs)) == [.started(effect(2, 3, 1))])
        #expect(site.core.table.numbers == [2, 1, 0])
        #expect(site.core.loop.feedbacks.map(\.name) == ["lamp", "alarm", "jobs"])
        #expect(before.allSatisfy { site.core.effects[$0.key] == $0.value })
        #expect(try site.happen(.alarm(9)) == [.cancelled(effect(1, 3)), .started(effect(1, 4))])
    }

    @Test func `a feedback that comes back keeps its number, and gives its effects new names`() throws {
        var site = try site()
        #expect(try site.continueWith(Works(Works.jobs)) == [.cancelled(effect(1, 3))])
        #expect(try site.continueWith(Works(Works.jobs, Works.alarm)) == [.started(effect(1, 3, 1))])
        #expect(try site.continueWith(Works(Works.jobs)) == [.cancelled(effect(1, 3, 1))])
        #expect(try site.continueWith(Works(Works.jobs, Works.alarm)) == [.started(effect(1, 3, 2))])
        #expect(site.core.table.names == ["jobs", "alarm"])
    }

    @Test func `a kept feedback that asks for something else updates its effects`() throws {
        var site = try site()
        let changes = try site.continueWith(Works(Works.alarm, Works.harderJobs))
        #expect(changes == [.updated(effect(0, 1)), .updated(effect(0, 2))])
        #expect(try site.request(of: effect(0, 1)) == 10)
        #expect(site.core.effects[effect(0, 1)]?.version == Seq(3))
        // The worker that runs them sees a newer version, and continues.
        #expect(site.core.effects[effect(0, 1)]?.floor == Attempt(epoch: 1, count: 0))
    }

    @Test func `a request that cannot be told by its version from the one before voids its attempts`() throws {
        var site = try site()
        try site.happen(.job("mow", 3))
        #expect(
            try site.continueWith(Works(Works.alarm, Works.harderJobs))
                == [.updated(effect(0, 1)), .updated(effect(0, 2)), .updated(effect(0, 4))])
        #expect(site.core.effects[effect(0, 4)]?.floor == Attempt(epoch: 1, count: .max))
        #expect(site.core.effects[effect(0, 1)]?.floor == Attempt(epoch: 1, count: 0))
    }

    @Test func `a feedback of another form, or with keys of another type, starts again`() throws {
        var site = try site()
        let single = Works.Form.react("jobs", request: { $0.jobs["dig"] }, effect: { (_: Int) in .none })
        #expect(
            try site.continueWith(Works(single, Works.alarm))
                == [.cancelled(effect(0, 1)), .cancelled(effect(0, 2)), .started(effect(0, 3, 1))])
        let numbered = Works.Form.react(
            "jobs", requests: { Dictionary(uniqueKeysWithValues: $0.jobs.values.map { ($0, $0) }) },
            effect: { (_: Int) in .none })
        #expect(
            try site.continueWith(Works(numbered, Works.alarm))
                == [.cancelled(effect(0, 3, 1)), .started(effect(0, 3, 2)), .started(effect(0, 3, 3))])
        #expect(
            try site.continueWith(Works(Works.jobs, Works.alarm))
                == [
                    .cancelled(effect(0, 3, 2)), .cancelled(effect(0, 3, 3)), .started(effect(0, 3, 4)),
                    .started(effect(0, 3, 5)),
                ])
    }

    @Test func `a part around a kept feedback does not end its effects`() throws {
        var site = try site()
        let guarded = Works.jobs.autoconnect { $0.alarm != nil }
        #expect(try site.continueWith(Works(guarded, Works.alarm)) == [])
        #expect(try site.continueWith(Works(Works.jobs, Works.alarm)) == [])
        try site.happen(.alarm(nil))
        #expect(
            try site.continueWith(Works(guarded, Works.alarm))
                == [.cancelled(effect(0, 1)), .cancelled(effect(0, 2))])
    }

    @Test func `groups are those of the present definition`() throws {
        var site = try site()
        #expect(site.core.effects[effect(0, 1)]?.group == nil)
        let grouped = Works.jobs.grouped { (effort: Int) in effort.isMultiple(of: 2) ? "even" : "odd" }
        #expect(try site.continueWith(Works(grouped, Works.alarm)) == [])
        #expect(site.core.effects[effect(0, 1)]?.group == "odd")
        #expect(site.core.effects[effect(0, 2)]?.group == "even")
    }

    @Test func `and does so again at every replay`() throws {
        var site = try site()
        let snapshot = try site.core.snapshot()
        let count = site.records.count
        let build = Works(Works.lamp, Works.harderJobs)
        _ = try site.continueWith(build)
        try site.happen(.job("mow", 4))
        var replayed = try JournaledState(restoring: snapshot, definition: build, coder: CBORCoder())
        for record in site.records[count...] { try replayed.apply(record) }
        #expect(try replayed.snapshot() == site.core.snapshot())
        #expect(replayed.digest() == site.core.digest())
    }
}

@Suite struct `A journal of another definition` {
    @Test func `is not replayed past the events that the other one applied`() throws {
        var site = try Site(Works(Works.jobs))
        try site.happen(.job("dig", 1))
        var other = JournaledState(
            definition: Works(Works.jobs, Works.alarm), coder: CBORCoder(), history: History(3))
        let told = message { for record in site.records { try other.apply(record) } }
        #expect(
            told == """
                event 1 was applied by another definition than this one (the journal's: fingerprint \(hexadecimal(site.core.loop.fingerprint.value)), \
                schema 1, feedbacks jobs; this one: fingerprint \(hexadecimal(other.loop.fingerprint.value)), schema 1, \
                feedbacks jobs, alarm); start the earlier build on this journal once and stop it with SIGTERM, which writes \
                a snapshot that this one takes over, or pass --reinterpret to apply the events since the last snapshot with \
                this definition
                """)
    }

    @Test func `differs from this one even if only the form of a feedback has changed`() throws {
        var site = try Site(Works(Works.jobs))
        let snapshot = try site.happenAndSnapshot(.job("dig", 1))
        let count = site.records.count
        try site.happen(.job("saw", 2))
        let single = Works.Form.react(
            "jobs", request: { $0.jobs["dig"] }, effect: { (_: Int) in .none }
        ).on(.workers)
        var other = try JournaledState(restoring: snapshot, definition: Works(single), coder: CBORCoder())
        #expect(other.loop.fingerprint == site.core.loop.fingerprint)
        #expect(
            message { for record in site.records[count...] { try other.apply(record) } } == """
                event 2 was applied by another definition than this one (a feedback has other keys or requests, or another \
                form, under the same name); start the earlier build on this journal once and stop it with SIGTERM, which \
                writes a snapshot that this one takes over, or pass --reinterpret to apply the events since the last \
                snapshot with this definition
                """)
    }

    @Test func `is reinterpreted where that was asked for, and goes on from there`() throws {
        var site = try Site(Works(Works.jobs))
        try site.happen(.job("dig", 1))
        try site.happen(.alarm(2))
        var other = JournaledState(
            definition: Works(Works.alarm, Works.jobs), coder: CBORCoder(), history: History(3))
        other.reinterprets = .always
        for record in site.records { try other.apply(record) }
        #expect(other.state(of: Works()) == site.core.state(of: Works()))
        #expect(other.table.names == ["jobs", "alarm"])
        #expect(other.effects.keys.sorted() == [effect(0, 1), effect(1, 2)])
        // Its own record finds nothing left to be taken over.
        #expect(try other.apply(.definition(other.ownDefinition)) == [])
        #expect(try other.apply(.definition(other.ownDefinition)) == [])
    }

    @Test func `is taken over where no event is left, and its first effects get new names`() throws {
        let site = try Site(Works(Works.alarm).beginning(with: Works.State(jobs: ["dig": 1], alarm: 2)))
        var other = JournaledState(
            definition: Works(Works.alarm, Works.jobs).beginning(with: Works.State(jobs: ["dig": 1], alarm: 2)),
            coder: CBORCoder(), history: History(3))
        for record in site.records { #expect(try other.apply(record) == []) }
        #expect(message { try other.snapshot() }.hasPrefix("a snapshot cannot be made before"))
        #expect(
            try other.apply(.definition(other.ownDefinition))
                == [.started(effect(0, 0, 1 << 24)), .started(effect(1, 0, 1 << 24))])
    }

    @Test func `with another initial state belongs to another run`() throws {
        var site = try Site(Works(Works.jobs))
        try site.happen(.job("dig", 1))
        let build = Works(Works.jobs).beginning(with: Works.State(alarm: 1))
        let snapshot = try site.core.snapshot()
        let expected = """
            the journal belongs to a run of this loop that began with another initial state \
            (\(hexadecimal(site.core.loop.initialHash)), this one begins with \(hexadecimal(try Site(build).core.loop.initialHash))); \
            start with the same arguments, or give this run a journal of its own
            """
        #expect(message { try JournaledState(restoring: snapshot, definition: build, coder: CBORCoder()) } == expected)
        var replayed = JournaledState(definition: build, coder: CBORCoder(), history: History(3))
        #expect(message { for record in site.records { try replayed.apply(record) } } == expected)
    }

    @Test func `never gives a number to another name`() throws {
        var site = try Site(Works(Works.jobs, Works.alarm))
        var record = site.core.ownDefinition
        record.feedbacks = ["alarm", "jobs"]
        #expect(
            message { try site.core.apply(.definition(record)) }
                == "a record does not fit the ones before it: feedbacks alarm, jobs do not begin with those before, jobs,"
                + " alarm")
        var unborn = JournaledState(definition: Works(), coder: CBORCoder(), history: History(3))
        let event = Record.event(
            EventRecord(
                seq: Seq(1), time: WallTime(milliseconds: 1), session: SessionID(1), number: 1, effect: nil,
                attempt: .none, wantsSeq: false, bytes: []))
        #expect(
            message { try unborn.apply(event) }
                == "a record does not fit the ones before it: event 1 comes before any definition")
    }
}
