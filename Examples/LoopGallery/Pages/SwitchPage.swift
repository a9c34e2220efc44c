internal import LoopCore
package import LoopExamples
package import LoopView

/// The present child, and a button for the other one.
package struct SwitchPage: View {
    let store: Store<Switch.State, Switch.Event>

    package init(store: Store<Switch.State, Switch.Event>) { self.store = store }

    package var body: [Element] {
        SwitchWidget(viewModel: store) {
            CaseLetWidget(CasePath(Switch.State.light), event: CasePath(Switch.Event.light)) { context in
                Heading("Traffic light")
                Lights(on: context.state)
                Button("Next", action: context.action(for: .next))
            }
            CaseLetWidget(CasePath(Switch.State.counter), event: CasePath(Switch.Event.counter)) { context in
                CountedNumber(context: context)
            }
        }
        Widget(viewModel: store) { context in Button("The other one", action: context.action(for: .flip)) }
    }
}

/// The lights, from top to bottom.
struct Lights: View {
    let on: TrafficLight.State

    init(on: TrafficLight.State) { self.on = on }

    var body: [Element] {
        light(.red, tone: .bad)
        light(.yellow, tone: .warning)
        light(.green, tone: .good)
    }

    @ViewBuilder private func light(_ colour: TrafficLight.State, tone: Tone) -> [Element] {
        if colour == on {
            Text("● \(colour.rawValue)").tone(tone).strong()
        } else {
            Text("○").tone(.secondary)
        }
    }
}
