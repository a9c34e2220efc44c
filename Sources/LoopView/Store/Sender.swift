internal import LoopCore

/// Sends events and changes of fields from a view to its loop. It does not keep the loop alive.
struct Sender<State: Sendable, Event: Sendable>: Sendable {
    typealias Change = @Sendable (inout State) -> Void

    /// The present state that an event or change would meet, or nil if the loop or the part is gone.
    let read: @Sendable () -> State?
    let send: @Sendable (Event) -> Void
    let mutate: @Sendable (@escaping Change) -> Void

    /// A sender for a part of the state.
    func scoped<Part, PartEvent>(
        to keyPath: any WritableKeyPath<State, Part> & Sendable, event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Sender<Part, PartEvent> {
        Sender<Part, PartEvent>(
            read: { [read] in read()?[keyPath: keyPath] }, send: { [send] in send(embed($0)) },
            mutate: { [mutate] change in mutate { change(&$0[keyPath: keyPath]) } })
    }

    /// A sender for a part that may be absent. While it is, a change does nothing.
    func unwrapped<Wrapped>() -> Sender<Wrapped, Event> where State == Wrapped? {
        Sender<Wrapped, Event>(
            read: { [read] in read() ?? nil }, send: send,
            mutate: { [mutate] change in
                mutate { state in
                    guard var value = state.take() else { return }
                    change(&value)
                    state = value
                }
            })
    }

    /// A sender for one case. While the state is in another case, a change does nothing.
    func scoped<Part, PartEvent>(
        to path: CasePath<State, Part>, event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Sender<Part, PartEvent> {
        Sender<Part, PartEvent>(
            read: { [read] in read().flatMap(path.extract) }, send: { [send] in send(embed($0)) },
            mutate: { [mutate] change in
                mutate { state in
                    guard var value = path.extract(state) else { return }
                    change(&value)
                    state = path.embed(value)
                }
            })
    }

    /// A sender for a part that cannot be written. It sends events only.
    func reading<Part, PartEvent>(
        _ part: @escaping @Sendable (State) -> Part?, event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Sender<Part, PartEvent> {
        Sender<Part, PartEvent>(
            read: { [read] in read().flatMap(part) }, send: { [send] in send(embed($0)) }, mutate: { _ in })
    }

    /// This sender, closed while the part is absent.
    func whilePresent() -> Sender {
        Sender(
            read: read, send: { [read, send] in if read() != nil { send($0) } },
            mutate: { [read, mutate] in if read() != nil { mutate($0) } })
    }
}
