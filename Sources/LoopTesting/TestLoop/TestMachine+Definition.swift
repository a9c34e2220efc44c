internal import LoopCore

/// Checks of the definition that every test makes.
extension TestMachine {
    /// The time zones that a test gives. Throws if a schedule's zone is missing, because it would never run.
    static func zones(
        _ rules: [String: String], for feedbacks: [Feedback<State, Event>]
    ) throws(TestLoopError) -> ZoneDatabase {
        if let mistake = feedbacks.firstMistake() { throw .unusable(mistake) }
        var zones = ZoneDatabase()
        for (zone, rule) in rules {
            do {
                zones.named[zone] = ZoneRules(rule: try ZoneRule(rule))
            } catch {
                throw .unusable("the time zone \"\(zone)\": \(error.reason)")
            }
        }
        for feedback in feedbacks {
            guard let schedule = feedback.schedule?.schedule else { continue }
            if let zone = schedule.namedZone, zones.named[zone] == nil {
                throw .unusable(
                    "the schedule \"\(feedback.name)\" needs the rule of its time zone, so that the test is the same on every"
                        + " machine: TestLoop.run(…, timeZones: [\"\(zone)\": \"CET-1CEST,M3.5.0,M10.5.0/3\"]);"
                        + " the last line of /usr/share/zoneinfo/\(zone) is its rule")
            }
            do {
                _ = try schedule.planned(zones)
            } catch {
                throw .unusable("the schedule \"\(feedback.name)\" cannot run: \(error.reason)")
            }
        }
        return zones
    }

    /// Applies an event a second time. `reduce` and the queries must have equal results again, as a replay of the journal requires.
    func requirePurity(
        of event: Event, _ before: LoopTurn<State, Event>, _ changes: [EffectChange]
    ) throws(TestLoopError) {
        var again = before
        let changesAgain = again.advance(.event(event)) { [wall] in wall.milliseconds }
        let difference = Difference(from: state, to: again.state)
        guard difference.isEmpty else { throw .impure(ValueText.of(event), difference.lines) }
        let requests = Difference(from: changes.map(\.text), to: changesAgain.map(\.text))
        guard requests.isEmpty else { throw .impure(ValueText.of(event), requests.lines) }
    }
}

extension EffectChange {
    /// The change as text that can be compared.
    fileprivate var text: String {
        switch self {
        case .start(let id, let request): "start \(id) \(ValueText.of(request, charactersMax: .max))"
        case .update(let id, let request): "update \(id) \(ValueText.of(request, charactersMax: .max))"
        case .cancel(let id): "cancel \(id)"
        }
    }
}
