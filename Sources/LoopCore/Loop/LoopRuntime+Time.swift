internal import LoopLock

// Timed work: delays, limits, timers.

extension LoopRuntime {
    func arm(_ timer: Shared.Timer) {
        timer.replaced?.cancel()
        guard let deadline = timer.deadline else { return }
        let generation = timer.generation
        // Detached, like an effect. The next timer or the loop's end cancels it.
        let task = Task.detached(executorPreference: clock.executor) { [weak self, clock] in
            guard (try? await clock.sleep(deadline)) != nil else { return }
            self?.timerFired(generation)
        }
        if !shared.withLock({ $0.attachTimer(task, generation: generation) }) { task.cancel() }
    }

    func timerFired(_ generation: UInt64) {
        let limits = feedbacks.map { $0.policy.timeout ?? .zero }
        let work = locked { [clock, hasTimers] shared in
            if hasTimers { shared.see(clock.moment) }
            return shared.timerFired(generation: generation, at: clock.now()) { limits[Int($0.feedback)] }
        }
        performAndDrain(work)
    }
}
