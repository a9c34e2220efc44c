import LoopCluster
import LoopWire
import ZMQ

/// The sockets of a peer at several addresses: it sends to one of them, and listens at all.
extension PeerShell {
    /// Connects to an address, to which every later message goes.
    mutating func dial(_ address: String) throws {
        let new = try reducer.other(at: address)
        let socket = try DialledSocket(new, .control, in: context)
        polls.remove(dealerItem)
        polls.remove(handshakeItem)
        (dealerItem, handshakeItem) = socket.add(to: &polls)
        dealer = consume socket
        place = new
        (wasUnheard, standbyOf, busy) = (false, nil, nil)
        listensEverywhere = false
    }

    func noteBadAddress(_ error: any Error) {
        log.once(
            .badAddress, "the reducer names an address that cannot be used: \(error); asking again",
            [.reason("\(error)")])
    }

    // MARK: Listening

    /// Listens at an address with a new socket.
    mutating func listen(at place: ReducerAddress, publisher: String) throws(ZMQError) {
        forgetListeners { $0 == place.description }
        let (loop, peer) = (driver.machine.loop, driver.machine.configuration.peer)
        var topics = [.inbox(loop, peer)] + (observer?.topics(of: loop) ?? [])
        if driver.machine.places.count > 1, observer == nil { topics.append(.tick(loop)) }
        listeners.append(try Listener(at: place, publisher: publisher, topics: topics, in: context, &polls))
    }

    private mutating func forgetListeners(where isGone: (String) -> Bool) {
        for gone in listeners where isGone(gone.place) { polls.remove(gone.item) }
        listeners.removeAll { isGone($0.place) }
    }

    /// Listens at all addresses, so that the next leader is received at once. For a reducer that has not named its publisher,
    /// the endpoint is derived as `--bind` does. If that is wrong, the reducer is found by greeting it.
    mutating func listenEverywhere() {
        // A tool has no loop's name until the reducer gives it.
        guard driver.machine.loop != LoopID(name: "") else { return }
        listensEverywhere = true
        let (places, current) = (driver.machine.places, place.description)
        forgetListeners { !places.contains($0) && $0 != current }
        // A single address publishes nothing for this peer before it has answered.
        if places == [current] { return }
        for text in places where !listeners.contains(where: { $0.place == text }) {
            guard let place = try? reducer.other(at: text), let publisher = BindAddress.publisher(at: place) else {
                continue
            }
            try? listen(at: place, publisher: publisher)
        }
    }
}
