import LoopCore

extension ModelCase {
    /// Runs the case with a real loop and with the reference, and says in words where they part; nil where they do not.
    /// - Parameters:
    ///   - flaw: what is deliberately wrong with the real loop.
    ///   - patience: how long something that should happen may take.
    func difference(flaw: Flaw? = nil, patience: Duration = .seconds(20)) async -> String? {
        let world = World(self, flaw: flaw)
        var reference = Reference(self)
        reference.start()
        world.start()
        var difference = await compare("the start", world, &reference, patience)
        for (number, step) in steps.enumerated() where difference == nil {
            // Time goes on between steps, so that what is due at different steps is never due together.
            let next = reference.time + 1
            if reference.nextTime == next {
                advance(to: next, world, &reference)
                difference = await compare("the time before step \(number)", world, &reference, patience)
                if difference != nil { break }
            } else {
                advance(to: next, world, &reference)
            }
            await perform(step, world, &reference)
            difference = await compare("step \(number), \(step)", world, &reference, patience)
        }
        reference.stop()
        let rests = await world.close()
        if difference != nil { return difference }
        for (number, reader) in reference.readers.enumerated() {
            let expected = Array(reader.states.dropFirst(reader.readCount))
            if rests[number] != expected {
                return "states of reader \(number): expected \(expected), found \(rests[number])"
            }
        }
        return nil
    }

    private func compare(
        _ place: String, _ world: World, _ reference: inout Reference, _ patience: Duration
    ) async -> String? {
        let expected = reference.rest()
        let begin = ContinuousClock.now
        while true {
            var found = world.look()
            let pairs = found.pairs
            if reference.isStopped, found.sawBeginnings(of: expected) { found.pairs = expected.pairs }
            found.answers.sort()
            var sorted = expected
            sorted.answers.sort()
            if found == sorted, !world.isBusy {
                found.pairs = pairs
                world.rest(found)
                return nil
            }
            let waited = begin.duration(to: .now)
            if found.isWrong(expected: expected) || waited > patience {
                return "after \(place)\n" + Observation.difference(expected: expected, found: found)
            }
            // What comes, comes at once; what does not should not keep a core busy.
            if waited < .milliseconds(20) { await Task.yield() } else { try? await Task.sleep(for: .milliseconds(2)) }
        }
    }

    private func perform(_ step: Step, _ world: World, _ reference: inout Reference) async {
        switch step {
        case .send(let event):
            reference.send(event)
            world.send(event)
        case .mutate(let cell, let value):
            reference.mutate(cell, value)
            world.mutate(cell, value)
        case .subscribe:
            reference.subscribe()
            world.subscribe()
        case .read(let reader, let event):
            guard reference.readers.indices.contains(reader), reference.readers[reader].hasMore else { return }
            reference.read(reader, event)
            await world.read(reader, event)
        case .effect(let feedback, let back, let deed):
            guard let attempt = reference.attempt(feedback, back: back) else { return }
            perform(deed, attempt, world, &reference)
        case .custom(let feedback, let event):
            guard feedbacks[feedback].form == .custom, reference.isAttached(feedback) else { return }
            reference.send(event, asCustom: feedback)
            world.send(event, asCustom: feedback)
        case .input(let feedback, let event):
            guard feedbacks[feedback].form == .input, !reference.isStopped else { return }
            reference.send(event, asCustom: feedback)
            world.inputs[feedback].send(event)
        case .advance:
            if let time = reference.nextTime { advance(to: time, world, &reference) }
        case .retryParked(let feedback):
            if let id = reference.retryParked(feedback) { world.retryParked(id) }
        case .stop:
            reference.stop()
            world.stop()
        }
    }

    private func perform(_ deed: Step.Deed, _ attempt: Attempt, _ world: World, _ reference: inout Reference) {
        let feedback = feedbacks[Int(attempt.id.feedback)]
        switch deed {
        case .send(let events):
            guard reference.bodies.contains(attempt) else { return }
            for event in events {
                reference.send(feedback.embed(event), as: attempt)
                world.send(event, as: attempt)
            }
        case .confirm(let event):
            guard reference.bodies.contains(attempt) else { return }
            reference.send(feedback.embed(event), as: attempt, asking: true)
            world.send(event, as: attempt, asking: true)
        case .complete:
            reference.complete(attempt)
            world.end(attempt, .success(()))
        case .fail:
            reference.fail(attempt)
            world.end(attempt, .failure(Puppet.Failure()))
        case .takeUpdate:
            guard reference.hasUpdate(attempt) else { return }
            reference.takeUpdate(attempt)
            world.takeUpdate(attempt)
        }
    }

    private func advance(to time: Int, _ world: World, _ reference: inout Reference) {
        reference.advance(to: time)
        world.clock.advance(to: .milliseconds(time))
    }
}

extension Reference.Reader {
    var hasMore: Bool { readCount < states.count }
}
