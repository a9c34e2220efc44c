import LoopCollections

/// How a query of timers asks the state: for all times, and for those that have changed since it last asked.
struct TimerSource<State: Sendable, Key: Hashable & Sendable>: Sendable {
    /// Of what was last asked.
    enum Mark: Sendable {
        case dictionary([Key: WallTime])
        case stamp(TrackedStamp)
        case one(WallTime?)
    }

    /// Tells, of the state that is lent, each key whose time may have changed after a mark, with its present time, as often
    /// as it was changed. Without a mark it tells each key that has a time.
    ///
    /// It returns the mark of this state. Nil, and nothing is told, if what has changed since the mark is not known; without
    /// a mark nil says that there is none.
    let tell: @Sendable (borrowing Lent, Mark?, (Key, WallTime?) -> Void) -> Mark?

    /// An event costs a look at all times if it has changed one.
    init(_ times: @escaping @Sendable (State) -> [Key: WallTime]) {
        tell = { state, mark, tell in
            let now = state.read(as: State.self, times)
            guard case .dictionary(let old)? = mark else {
                for (key, time) in now { tell(key, time) }
                return .dictionary(now)
            }
            // Dictionaries that share their memory are equal without a look at what is in it.
            if old == now { return mark }
            for (key, time) in now where old[key] != time { tell(key, time) }
            for key in old.keys where now[key] == nil { tell(key, nil) }
            return .dictionary(now)
        }
    }

    /// An event costs what it changes.
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
