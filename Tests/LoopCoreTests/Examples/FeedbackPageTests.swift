import LoopCore
import LoopTesting
import Testing

/// The feedbacks of docs/feedbacks.md do what the page says of them.
@Suite struct `The page about feedbacks` {
    private struct Parcelling: LoopDefinition {
        static let name = "parcels"
        let initial: Parcels

        func reduce(into state: inout Parcels, _ event: ParcelEvent, _: Transition) {
            switch event {
            case .charged(let number):
                if let parcel = state.unpaid.removeValue(forKey: number) { state.paid[number] = parcel }
            case .declined(let number, _): state.unpaid[number] = nil
            case .shipped(let number): state.paid[number] = nil
            }
        }

        var feedbacks: [Feedback<Parcels, ParcelEvent>] {
            parcelFeedbacks(charge: { _, _ in }, ship: { _, _ in })
        }
    }

    @Test func `has one feedback of each form, under names of their own`() {
        let forms = feedbackForms(Input(), AsyncStream { _ in }) + olderForms()
        #expect(Set(forms.map(\.name)).count == forms.count)
        #expect(forms.count == 22)
    }

    @Test func `limits each customer to two charges, and turns a final failure into an event`() throws {
        let parcels = (1...4).map { ($0, Parcel(number: $0, customer: $0 == 4 ? "Bob" : "Ada", cents: 100)) }
        try TestLoop.run(Parcelling(initial: Parcels(unpaid: TrackedDictionary(parcels))), mode: .withoutStates) {
            loop in
            // Two of Ada's run; Bob is of another group, and does not wait behind her third.
            let first = try loop.expectStart("charge") { (parcel: Parcel) in parcel.number == 1 }
            let second = try loop.expectStart("charge") { (parcel: Parcel) in parcel.number == 2 }
            let third = try loop.expectWaiting("charge", Parcel(number: 3, customer: "Ada", cents: 100))
            let fourth = try loop.expectStart("charge") { (parcel: Parcel) in parcel.number == 4 }
            try first.fail(CardDeclined())
            try loop.expectEvent(.declined(1, because: "\(CardDeclined())")) { $0.unpaid[1] = nil }
            try loop.expectStart(third)
            // A failure that is not final is tried again, no earlier than its error asks for.
            try second.fail(TooManyRequests(retryAfter: .seconds(20)))
            try loop.advance(by: .seconds(19))
            try loop.advance(by: .seconds(1))
            try loop.expectStart(second)
            _ = fourth
        }
    }

    @Test func `ships for each customer in turn, and of each the urgent parcels first`() throws {
        let parcels = (1...4).map {
            Parcel(number: $0, customer: $0 == 4 ? "Bob" : "Ada", cents: 100, urgency: $0 == 3 ? 5 : 0)
        }
        let paid = TrackedDictionary(parcels.map { ($0.number, $0) })
        try TestLoop.run(Parcelling(initial: Parcels(paid: paid)), mode: .withoutStates) { loop in
            let effects = try parcels.map { try loop.expectWaiting("ship", $0) }
            for number in [3, 4, 1, 2] {
                try loop.advance()
                try loop.expectStart(effects[number - 1])
            }
        }
    }
}
