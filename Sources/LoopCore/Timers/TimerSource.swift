import LoopCollections

/// The access of a timer query to the state: all times, or those that have changed since the last mark.
struct TimerSource<State: Sendable, Key: Hashable & Sendable>: Sendable {
    /// A mark of the last state.
    enum Mark: Sendable {
        case dictionary([Key: WallTime])
        case stamp(TrackedStamp)
        case one(WallTime?)
    }

    /// Reports each key whose time may have changed since a mark, with its present time, as often as it was changed.
    /// Without a mark it reports each key that has a time.
    ///
    /// It returns the mark of this state. If the changes since the mark are unknown, it returns nil and reports nothing.
    /// Without a mark, nil means that this state has no mark.
    let tell: @Sendable (borrowing Lent, Mark?, (Key, WallTime?) -> Void) -> Mark?

    /// A source whose cost is proportional to all times if an event has changed one.
    init(_ times: @escaping @Sendable (State) -> [Key: WallTime]) {
        tell = { state, mark, tell in
            let now = state.read(as: State.self, times)
            guard case .dictionary(let old)? = mark else {
                for (key, time) in now { tell(key, time) }
                return .dictionary(now)
            }
            // Dictionaries that share their memory are equal without a comparison of their contents.
            if old == now { return mark }
            for (key, time) in now where old[key] != time { tell(key, time) }
            for key in old.keys where now[key] == nil { tell(key, nil) }
            return .dictionary(now)
        }
    }

    /// A source whose cost is proportional to what an event changes.
    init<Entry: Sendable>(
        _ entries: @escaping @Sendable (State) -> TrackedDictionary<Key, Entry>,
        _ time: @escaping @Sendable (Entry) -> WallTime?
    ) {
        tell = { state, mark, tell in
            let now = state.read(as: State.self, entries)
            if case .stamp(let stamp)? = mark {
                let newest = now.forEachChange(after: stamp) { key, hash in
                    tell(key, now.value(of: key, hash).flatMap(time))
                }
                return newest.map { .stamp($0) }
            }
            for (key, entry) in now { if let time = time(entry) { tell(key, time) } }
            return now.stamp.map { .stamp($0) }
        }
    }
}

extension TimerSource where Key == SoleKey {
    init(_ time: @escaping @Sendable (State) -> WallTime?) {
        tell = { state, mark, tell in
            let now = state.read(as: State.self, time)
            switch mark {
            case .one(let old)?: if old != now { tell(SoleKey(), now) }
            case .dictionary?, .stamp?, nil: if let now { tell(SoleKey(), now) }
            }
            return .one(now)
        }
    }
}
