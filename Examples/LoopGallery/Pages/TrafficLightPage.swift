package import LoopExamples
package import LoopView

/// Three lights, of which one is on.
package struct TrafficLightPage: View {
    let store: Store<TrafficLight.State, TrafficLight.Event>

    package init(store: Store<TrafficLight.State, TrafficLight.Event>) { self.store = store }

    package var body: [Element] {
        Widget(viewModel: store) { context in
            Heading("Traffic light")
            Lights(on: context.state)
            Button("Next", action: context.action(for: .next))
        }
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
