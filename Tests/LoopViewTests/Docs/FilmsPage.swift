import LoopCore
import LoopView

struct Films: LoopDefinition {
    struct State: Codable, Sendable, Equatable {
        var titles: [String] = []
        var search = ""
        var wantsOld = false
        var isLoading = false
        var failure: String?
    }

    enum Event: Codable, Sendable, Equatable {
        case search(String)
        case old(Bool)
        case more
        case loaded([String])
        case failed(String)
    }

    static let name = "films"
    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .search(let text): state.search = text
        case .old(let isOn): state.wantsOld = isOn
        case .more: (state.isLoading, state.failure) = (true, nil)
        case .loaded(let titles): (state.titles, state.isLoading) = (state.titles + titles, false)
        case .failed(let reason): (state.failure, state.isLoading) = (reason, false)
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [
            .whenBecomesTrue("load", state: \.isLoading) { state in
                .event(.loaded((1...10).map { "Film \(state.titles.count + $0)" }))
            }
        ]
    }
}

struct FilmsPage: View {
    let store: Store<Films.State, Films.Event>

    var body: [Element] {
        Widget(viewModel: store) { context in
            Heading("Films")
            TextField("Search", text: context.binding(for: \.search, event: { .search($0) }))
            Toggle("Old ones too", isOn: context.binding(for: \.wantsOld, event: { .old($0) }))
            if let failure = context.failure {
                Text(failure).tone(.bad)
                Button("Try again", action: context.action(for: .more))
            }
            List(context.titles.filter { $0.hasPrefix(context.search) }, id: \.self) { title in
                Text(title)
            }
            if context.isLoading {
                ProgressBar("Loading")
            } else {
                Button("More", action: context.action(for: .more))
                    .pressedWhenSeen()
                    .id("after \(context.titles.count)")
            }
        }
    }
}
