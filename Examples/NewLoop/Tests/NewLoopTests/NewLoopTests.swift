import LoopCore
import LoopSimulation
import LoopTesting
import NewLoop
import Testing

private let order = Order(number: "1", customer: "Ada", cents: 2500)

/// Events and effects one by one: the test decides the result of each effect.
@Suite struct `An order` {
    @Test func `is charged, then shipped`() throws {
        try TestLoop.run(NewLoop()) { loop in
            try loop.send(.place(order)) { $0.unpaid["1"] = order }
            let charge = try loop.expectStart("charge", order)
            try charge.complete(sending: .charged(number: "1")) {
                $0.unpaid["1"] = nil
                $0.paid["1"] = order
            }
            let ship = try loop.expectStart("ship", order)
            try ship.complete(sending: .shipped(number: "1", parcel: "p")) {
                $0.paid["1"] = nil
                $0.closed["1"] = .shipped(parcel: "p")
            }
        }
    }

    @Test func `is declined when its card is, without another try`() throws {
        try TestLoop.run(NewLoop()) { loop in
            try loop.send(.place(order)) { $0.unpaid["1"] = order }
            let charge = try loop.expectStart("charge", order)
            try charge.fail(CardDeclined())
            try loop.expectEvent(.declined(number: "1", reason: "the card was declined")) {
                $0.unpaid["1"] = nil
                $0.closed["1"] = .declined(reason: "the card was declined")
            }
        }
    }

    @Test func `that is cancelled is refunded, even if its charge is not known yet`() throws {
        try TestLoop.run(NewLoop()) { loop in
            try loop.send(.place(order)) { $0.unpaid["1"] = order }
            let charge = try loop.expectStart("charge", order)
            try loop.send(.cancel(number: "1")) {
                $0.unpaid["1"] = nil
                $0.refunds["1"] = order
            }
            try loop.expectCancel(charge)
            let refund = try loop.expectStart("refund", order)
            try refund.complete(sending: .refunded(number: "1")) {
                $0.refunds["1"] = nil
                $0.closed["1"] = .cancelled
            }
        }
    }

    @Test func `waits when four others are being shipped`() throws {
        try TestLoop.run(NewLoop(), mode: .selective) { loop in
            for number in 1...5 {
                try loop.send(.place(Order(number: "\(number)", customer: "Ada", cents: 100)))
                let charge = try loop.expectStart("charge") { (order: Order) in order.number == "\(number)" }
                try charge.complete(sending: .charged(number: "\(number)"))
            }
            try loop.expectWaiting("ship", Order(number: "5", customer: "Ada", cents: 100))
        }
    }
}

/// The actual reducer and workers in virtual time, with faults of networks, processes and disks.
@Suite struct `A cluster` {
    @Test(arguments: 0..<10 as Range<UInt64>) func `ships each order, whatever fails`(seed: UInt64) throws {
        let cluster = SimulatedCluster(NewLoop(), seed: seed, faults: .all)
        cluster.answer("charge") { (order: Order, effect: inout SimulatedEffect<NewLoop.Event>) in
            effect.pause(upTo: .seconds(2))
            effect.send(.charged(number: order.number))
        }
        cluster.answer("ship") { (order: Order, effect: inout SimulatedEffect<NewLoop.Event>) in
            effect.pause(upTo: .seconds(2))
            effect.send(.shipped(number: order.number, parcel: "p"))
        }
        for number in 1...8 {
            let order = Order(number: "\(number)", customer: "Ada", cents: 100)
            cluster.send(.place(order), at: .seconds(number))
        }
        cluster.invariant("an order is in one place") { state in
            state.closed.allSatisfy { state.unpaid[$0.key] == nil && state.paid[$0.key] == nil }
        }
        let end = try cluster.run()
        // A client that is killed may not have placed all orders.
        let placed = end.events.filter { if case .place = $0 { true } else { false } }
        #expect(!placed.isEmpty)
        #expect(end.state.closed.count == placed.count)
        #expect(end.state.unpaid.isEmpty && end.state.paid.isEmpty)
    }
}
