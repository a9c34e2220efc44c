public import LoopCore

/// Shows a store. Its content is made again from each context.
///
/// ```swift
/// Widget(viewModel: store) { context in
///     Text("\(context.count) so far")
///     Button("One more", action: context.action(for: .increment))
/// }
/// ```
public struct Widget<State: Sendable, Event: Sendable>: View {
    private let store: Store<State, Event>
    private let content: @Sendable (Context<State, Event>) -> [Element]
    private let isDistinct: Bool

    /// Shows the elements that `content` makes from the store's newest context.
    public init(
        viewModel: Store<State, Event>,
        @ViewBuilder content: @escaping @Sendable (Context<State, Event>) -> [Element]
    ) {
        store = viewModel
        self.content = content
        isDistinct = false
    }

    /// Shows the elements that `content` makes from the store's newest context.
    public init(
        _ store: Store<State, Event>,
        @ViewBuilder content: @escaping @Sendable (Context<State, Event>) -> [Element]
    ) {
        self.init(viewModel: store, content: content)
    }

    /// - Parameters:
    ///   - viewModel: the store to show.
    ///   - removeDuplicates: whether two states are equal; a state that equals the last one is not drawn.
    ///   - content: makes the views of a state.
    public init(
        viewModel: Store<State, Event>, removeDuplicates: @escaping @Sendable (State, State) -> Bool,
        @ViewBuilder content: @escaping @Sendable (Context<State, Event>) -> [Element]
    ) {
        store = viewModel.removingDuplicates(by: removeDuplicates)
        self.content = content
        isDistinct = true
    }

    /// The elements that the content makes from the store's newest context.
    public var body: [Element] {
        var elements = content(store.context)
        if isDistinct {
            // The store that compares states must live as long as the elements that show it.
            if elements.isEmpty { elements = [Element(.group)] }
            elements[0].owned = store
        }
        return elements
    }
}

/// Shows the value of an optional state, or other content if it is nil.
public struct IfLetWidget<State: Sendable, Event: Sendable>: View {
    private let store: Store<State?, Event>
    private let content: @Sendable (Context<State, Event>) -> [Element]
    private let otherwise: @Sendable () -> [Element]

    /// Shows the first content with the value of the state, or the second if the state is nil.
    /// - Parameters:
    ///   - viewModel: the store to show.
    ///   - content: makes the views of the value.
    ///   - otherwise: shown if the state is nil; nothing by default.
    public init(
        viewModel: Store<State?, Event>,
        @ViewBuilder then content: @escaping @Sendable (Context<State, Event>) -> [Element],
        @ViewBuilder else otherwise: @escaping @Sendable () -> [Element] = { [] }
    ) {
        store = viewModel
        self.content = content
        self.otherwise = otherwise
    }

    /// The elements that the first content makes from the value, or those of the second if the state is nil.
    public var body: [Element] {
        if let context = store.context.unwrapped() {
            content(context)
        } else {
            otherwise()
        }
    }
}

/// Shows the first of its cases that the state is in, or nothing if it is in none.
///
/// ```swift
/// SwitchWidget(viewModel: store) {
///     CaseLetWidget(CasePath(Session.signedIn)) { context in
///         Text(context.name)
///     }
///     CaseLetWidget(…)
/// }
/// ```
public struct SwitchWidget<State: Sendable, Event: Sendable>: View {
    private let store: Store<State, Event>
    private let cases: [CaseLetWidget<State, Event>]

    /// Shows the store's state by the first case that fits it.
    /// - Parameters:
    ///   - viewModel: the store to show.
    ///   - cases: tried in this order.
    public init(
        viewModel: Store<State, Event>,
        @CaseBuilder<State, Event> cases: () -> [CaseLetWidget<State, Event>]
    ) {
        store = viewModel
        self.cases = cases()
    }

    /// One group with the elements of the case that fits, or nothing if none does.
    public var body: [Element] {
        let context = store.context
        for (place, one) in cases.enumerated() {
            guard let elements = one.elements(context) else { continue }
            // Each case has elements of its own, so that none inherits the focus of another case's element.
            var group = Element(.group, children: elements)
            group.key = "case\(place)"
            return [group]
        }
        return []
    }
}

/// One case of a `SwitchWidget`.
public struct CaseLetWidget<State: Sendable, Event: Sendable>: Sendable {
    let elements: @Sendable (Context<State, Event>) -> [Element]?

    /// - Parameters:
    ///   - extract: the state of this case, or nil if the state is in another case.
    ///   - event: turns an event of the case into one of the whole.
    ///   - content: makes the views of the case.
    public init<Part: Sendable, PartEvent: Sendable>(
        _ extract: @escaping @Sendable (State) -> Part?, event: @escaping @Sendable (PartEvent) -> Event,
        @ViewBuilder then content: @escaping @Sendable (Context<Part, PartEvent>) -> [Element]
    ) {
        elements = { context in
            extract(context.state).map {
                content(Context<Part, PartEvent>(state: $0, sender: context.sender.reading(extract, event: event)))
            }
        }
    }

    /// A case that a path names. Its content can also change fields of the case.
    public init<Part: Sendable, PartEvent: Sendable>(
        _ state: CasePath<State, Part>, event: CasePath<Event, PartEvent>,
        @ViewBuilder then content: @escaping @Sendable (Context<Part, PartEvent>) -> [Element]
    ) {
        elements = { context in
            state.extract(context.state).map {
                content(
                    Context<Part, PartEvent>(
                        state: $0, sender: context.sender.scoped(to: state, event: event.embed)))
            }
        }
    }

    /// A case that a path names. Its content sends events of the whole.
    public init<Part: Sendable>(
        _ state: CasePath<State, Part>,
        @ViewBuilder then content: @escaping @Sendable (Context<Part, Event>) -> [Element]
    ) {
        self.init(state, event: CasePath(embed: { $0 }, extract: { $0 }), then: content)
    }

    /// A case with content that sends events of the whole.
    public init<Part: Sendable>(
        _ extract: @escaping @Sendable (State) -> Part?,
        @ViewBuilder then content: @escaping @Sendable (Context<Part, Event>) -> [Element]
    ) {
        self.init(extract, event: { $0 }, then: content)
    }
}

/// Collects the cases of a `SwitchWidget`.
@resultBuilder
public enum CaseBuilder<State: Sendable, Event: Sendable> {
    /// Takes one case.
    public static func buildExpression(_ one: CaseLetWidget<State, Event>) -> CaseLetWidget<State, Event> { one }

    /// Joins the cases, in the order in which they are tried.
    public static func buildBlock(_ cases: CaseLetWidget<State, Event>...) -> [CaseLetWidget<State, Event>] { cases }
}
