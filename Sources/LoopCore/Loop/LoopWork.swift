// What a critical section of a loop leaves to be done outside of the lock, by the shell of `Loop` or of a test.

extension LoopShared {
    /// The work to do after a critical section, in this order.
    package struct Work: Sendable {
        package var cancelled: [Handle] = []
        package var updated: [(updates: AsyncStream<any Sendable>.Continuation, request: any Sendable)] = []
        package var timer: Timer?
        package var occasions: [Occasion] = []
        package var launches: [Launch] = []
    }

    /// Something of which a feedback may make an event. Its code runs outside of the lock.
    package enum Occasion: Sendable {
        /// An effect has failed for good.
        case failure(EffectID, request: any Sendable, EffectFailure)
        case timer(EffectID, request: any Sendable)
        case schedule(feedback: Int, ScheduleRun)

        /// The event that the feedback makes, or nil for none.
        package func event(_ feedbacks: [Feedback<State, Event>]) -> Event? {
            switch self {
            case .failure(let id, let request, let failure):
                feedbacks[Int(id.feedback)].failureEvent?(request, failure)
            case .timer(let id, let request): feedbacks[Int(id.feedback)].timer?.event(request)
            case .schedule(let feedback, let run): feedbacks[feedback].schedule?.event(run)
            }
        }
    }

    package struct Timer: Sendable {
        var replaced: Task<Void, Never>?
        package var deadline: MonotonicTime?
        package var generation: UInt64
    }

    /// A running body of a custom feedback.
    package struct CustomHandle: Sendable {
        var finish: @Sendable () -> Void
        var task: Task<Void, Never>?

        func cancel() {
            finish()
            task?.cancel()
        }
    }

    /// A running attempt, as the shell tracks it.
    package struct Handle: Sendable {
        var attempt: Int
        var task: Task<Void, Never>?
        var updates: AsyncStream<any Sendable>.Continuation

        package func cancel() {
            task?.cancel()
            updates.finish()
        }
    }

    package struct Launch: Sendable {
        package var effect: EffectTable.Launch
        package var updates: AsyncStream<any Sendable>
    }
}
