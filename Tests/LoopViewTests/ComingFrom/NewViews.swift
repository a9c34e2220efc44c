import LoopCore
import LoopView

// The lines about showing a loop that the pages of docs/coming-from put beside those of other libraries.

/// Stores, and what can be done with them.
func stores(_ loop: Loop<Search, SearchEvent>, _ feedbacks: [SearchFeedback]) -> [String] {
    let store = Store(loop)
    let model = ViewModel(initial: Search(), reducer: reduce, feedbacks: feedbacks)
    model.send(event: .type("model"))
    store.send(event: .type("store"))
    store.mutate(keyPath: \.results, value: ["one"])
    let detail = store.scoped(to: \.detail, event: SearchEvent.detail)
    let viewed = store.view(value: \.detail, event: SearchEvent.detail)
    let distinct = store.removingDuplicates()
    let returning = ViewModel(initial: Search(), reducer: Reducer(returning: next), feedbacks: feedbacks)
    returning.send(event: .type("returned"))
    return [
        store.state.text, model.state.text, detail.state?.title ?? "-", distinct.state.results.joined(),
        viewed.state?.title ?? "-", returning.state.text,
    ]
}

/// What a context offers.
func contexts(_ context: Context<Search, SearchEvent>) -> (Binding<String>, Binding<String>, @Sendable () -> Void) {
    let title = context.text.isEmpty ? "Nothing" : context.text
    context.send(event: .type(title))
    let detail = context.view(value: \.detail, event: SearchEvent.detail)
    detail.send(event: .like)
    return (
        context.binding(for: \.text, event: SearchEvent.type),
        context.binding(for: \.text),
        context.action(for: .submit)
    )
}

@Sendable func haveSameResults(_ a: Search, _ b: Search) -> Bool { a.results == b.results }

/// Widgets in place of views of SwiftUI.
struct SearchPage: View {
    let store: Store<Search, SearchEvent>

    var body: [Element] {
        Widget(viewModel: store) { context in
            TextField("Search", text: context.binding(for: \.text, event: SearchEvent.type))
            Toggle("Loading", isOn: context.binding(for: \.isLoading, event: .submit))
            Button("Go", action: context.action(for: .submit))
        }
        Widget(viewModel: store, removeDuplicates: haveSameResults) { context in
            List(context.results, id: \.self) { Text($0) }
        }
        IfLetWidget(viewModel: store.scoped(to: \.detail, event: SearchEvent.detail)) { context in
            Button(context.title, action: context.action(for: .like))
        } else: {
            Text("No detail")
        }
    }
}

enum Stage: Sendable {
    case searching(Search)
    case finished(Int)
}

struct StagePage: View {
    let store: Store<Stage, SearchEvent>

    var body: [Element] {
        SwitchWidget(viewModel: store) {
            CaseLetWidget(CasePath(Stage.searching)) { context in Text(context.text) }
            CaseLetWidget(CasePath(Stage.finished)) { context in Text("\(context.state) found") }
        }
    }
}
