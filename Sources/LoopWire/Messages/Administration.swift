package import CBOR

/// A request of an operator's tool to a running reducer; a CBOR document in the body of one message. 256 characters of
/// a `who` are kept.
package enum AdministrationRequest: Codable, Equatable, Sendable {
    /// Lists live effects, and why each of them waits.
    case effects(EffectSelection)
    /// Runs a parked effect again. `effect` is its ID in the list; `who` is the operator, for the journal.
    case retryParked(effect: String, who: String)
    /// Lists the newest 1000 events that were set aside, without their bytes.
    case quarantine
    /// Requests one quarantined event, with its bytes.
    case quarantined(id: UInt64)
    /// Applies a quarantined event after all. `who` is the operator, for the journal.
    case retryQuarantined(id: UInt64, who: String)
    /// Drops a quarantined event from the list; its bytes remain only in the journal. `who` is the operator.
    case dropQuarantined(id: UInt64, who: String)
    /// Requests a page of the journal's records in a range of seqs. Without `through` the range ends at the newest. The
    /// page begins after the position `after`, or without one at the seq `from`. With a filter it has only what the filter selects,
    /// the newest first, and begins before the position `after`.
    case history(from: UInt64, through: UInt64?, after: UInt64?, filter: HistoryFilter? = nil)
    /// Requests the state after a transition: 0 is the initial state, nil the newest. Without a part it is the whole state. With an
    /// outline, the bytes of the answer are a ``CBOROutline`` of it.
    case state(at: UInt64?, part: StateSelection? = nil, outline: OutlineSelection? = nil)
    /// Requests where an event came from. With `step` also what its transition changed, which may take as long as `state`.
    case origin(of: UInt64, step: Bool? = nil)
    /// Requests the newest transitions that changed a part of the state: at most `max` and 1000, and only those below the seq
    /// `before` if there is one. It may take as long as `verify`.
    case changes(of: StateSelection, before: UInt64?, max: Int)
    /// Replays the journal, and compares it with its snapshots and state hashes. It may take minutes.
    case verify
    /// Removes the records below a seq, as far as the second newest intact snapshot covers them.
    case trim(before: UInt64)
    /// Lists the schedules.
    case schedules
    /// Pauses a schedule until it is resumed. `who` is the operator, for the journal.
    case pauseSchedule(name: String, who: String)
    /// Resumes a paused schedule. `who` is the operator, for the journal.
    case resumeSchedule(name: String, who: String)
    /// Runs a schedule now, besides its own runs. `who` is the operator, for the journal.
    case runSchedule(name: String, who: String)
    /// Checks whether bytes are an event of the loop, with the reason if not, and the parts that are not read.
    case explain(event: [UInt8])
    /// Requests the types of the loop's events, requests and state.
    case schema
    /// Makes the leader step down, so that a standby leads. With `takesSnapshot` it first writes a snapshot, for a successor that
    /// is not warm. The answer comes when it has released the journal. `who` is the operator, for the log.
    case stepDown(takesSnapshot: Bool, who: String)
    /// Makes a standby leave the journal to others for this time, at most a minute, so that another one leads next. 0 ends it.
    /// `who` is the operator, for the log.
    case standBack(milliseconds: UInt64, who: String)
}

/// The reducer's answer to an operator's tool: a CBOR document, in as many messages as it needs.
package enum AdministrationAnswer: Codable, Equatable, Sendable {
    /// The request succeeded; the text is the result, for people.
    case done(String)
    /// The request failed; the text is the reason, for people.
    case refused(String)
    /// Answers `effects`: the first of the selected effects in the order of their IDs, and how many others there are.
    case effects([ListedEffect], others: Int)
    /// Answers `quarantine` with the newest 1000 events without bytes, and `quarantined` with one event and its
    /// bytes.
    case quarantine([QuarantinedEvent])
    /// Answers `history` with one page.
    case history(HistoryPage)
    /// Answers `state`: the encoded state or its part, and the seq that it belongs to.
    case state(seq: UInt64, bytes: [UInt8])
    /// Answers `origin`.
    case origin(EventOrigin)
    /// Answers `changes`, the newest first. Changes up to the seq `from` were not looked for; `because` is the reason, for people,
    /// if they cannot be found.
    case changes([PartChange], from: UInt64, because: String? = nil)
    /// Answers `verify`.
    case verified(VerifyReport)
    /// Answers `schedules`: those of the definition, in its order.
    case schedules([ListedSchedule])
    /// Answers `explain`.
    case explained(DecodingExplanation)
    /// Answers `schema`.
    case schema(LoopSchema)
}

/// The contents of an answer, or nil if the answer is of another kind. `AdministrationCall.ask` takes one of these.
extension AdministrationAnswer {
    package var done: String? { if case .done(let text) = self { text } else { nil } }
    package var effects: (effects: [ListedEffect], others: Int)? {
        if case .effects(let effects, let others) = self { (effects, others) } else { nil }
    }
    package var quarantine: [QuarantinedEvent]? { if case .quarantine(let events) = self { events } else { nil } }
    package var history: HistoryPage? { if case .history(let page) = self { page } else { nil } }
    package var state: (seq: UInt64, bytes: [UInt8])? {
        if case .state(let seq, let bytes) = self { (seq, bytes) } else { nil }
    }
    package var origin: EventOrigin? { if case .origin(let origin) = self { origin } else { nil } }
    package var changes: (changes: [PartChange], from: UInt64, because: String?)? {
        if case .changes(let changes, let from, let reason) = self { (changes, from, reason) } else { nil }
    }
    package var verified: VerifyReport? { if case .verified(let report) = self { report } else { nil } }
    package var schedules: [ListedSchedule]? { if case .schedules(let schedules) = self { schedules } else { nil } }
    package var explained: DecodingExplanation? {
        if case .explained(let explanation) = self { explanation } else { nil }
    }
    package var schema: LoopSchema? { if case .schema(let schema) = self { schema } else { nil } }
}

/// A schedule of the definition.
package struct ListedSchedule: Codable, Equatable, Sendable {
    /// The name of its feedback.
    package var name: String
    /// The times of its runs, as text for people.
    package var schedule: String
    /// Whether it does not run until it is resumed.
    package var isPaused: Bool
    /// The time of its newest run in milliseconds since 1970, or nil if there was none.
    package var last: Int64?
    /// The times of its next runs, at most five, in milliseconds since 1970. Empty while it is paused.
    package var next: [Int64]
    /// The time until which no schedule runs because the reducer's clock is behind the journal's times, or nil if it is not.
    package var standsStillUntil: Int64?

    /// Creates an entry of the list of schedules from its parts.
    package init(
        name: String, schedule: String, isPaused: Bool, last: Int64?, next: [Int64], standsStillUntil: Int64? = nil
    ) {
        self.standsStillUntil = standsStillUntil
        self.name = name
        self.schedule = schedule
        self.isPaused = isPaused
        self.last = last
        self.next = next
    }
}

/// Which live effects are listed.
package struct EffectSelection: Codable, Equatable, Sendable {
    /// The name of their feedback, or nil for all.
    package var feedback: String?
    /// Their state, or nil for all.
    package var state: ListedEffect.State?
    /// The ID of the only one, or nil for all.
    package var effect: String?
    /// How many are listed, at most 10,000.
    package var max: Int

    /// Creates a selection from its parts.
    package init(feedback: String? = nil, state: ListedEffect.State? = nil, effect: String? = nil, max: Int = 100) {
        self.feedback = feedback
        self.state = state
        self.effect = effect
        self.max = max
    }
}

/// A live effect, and what it waits for.
package struct ListedEffect: Codable, Equatable, Sendable {
    /// The states. The raw values are stable names for programs.
    package enum State: String, CaseIterable, Codable, Sendable {
        case running, waiting, parked, completed
    }

    /// Why it is in its state. The raw values are stable names for programs.
    package enum Reason: String, CaseIterable, Codable, Sendable {
        /// A worker runs it.
        case runs
        /// A timer waits for its time.
        case timer
        /// It has failed, and waits for its next try.
        case retry
        /// It is within all limits, and is granted as soon as a worker asks for more.
        case next
        /// No worker that is heard serves it.
        case noWorker = "no_worker"
        /// The workers that serve it hold as many effects as they may.
        case workersFull = "workers_full"
        /// Its feedback runs as many effects as it may.
        case concurrency
        /// Its feedback has started as many effects as its rate allows.
        case rate
        /// Its group of the policy runs as many effects as it may.
        case groupConcurrency = "group_concurrency"
        /// Its group of the policy has started as many effects as its rate allows.
        case groupRate = "group_rate"
        /// A worker may run it since before the reducer's start, and has not said so yet.
        case unclaimed
        /// The worker that has it is silent, and no other can run it.
        case silent
        /// The loop has ended, or waits for a person.
        case ended
        /// It has failed for good.
        case failed
        /// Its body has returned. It is not run again while the state asks for it.
        case done
    }

    /// The ID of the effect: `feedback.seq.index`.
    package var effect: String
    /// The name of the feedback.
    package var feedback: String
    package var state: State
    package var reason: Reason
    /// The reason, for people.
    package var text: String
    /// The seq at which its present request was made.
    package var seq: UInt64
    /// How long it has waited, in milliseconds since it was asked for, was tried last, or this epoch began. It is nil if it
    /// waits for no worker, limit or next try.
    package var waitMilliseconds: Int64?
    /// How many attempts have failed or timed out.
    package var failures: Int
    /// The encoded request. Empty if it does not fit into the 4 MiB of an answer, after the requests listed before it.
    package var request: [UInt8]
    /// The size of the encoded request in bytes, even if it is not included.
    package var requestBytes: Int

    /// Creates an entry of the list from its parts. Without `requestBytes` the size is that of `request`.
    package init(
        effect: String, feedback: String, state: State, reason: Reason, text: String, seq: UInt64,
        waitMilliseconds: Int64? = nil, failures: Int, request: [UInt8], requestBytes: Int? = nil
    ) {
        self.requestBytes = requestBytes ?? request.count
        self.effect = effect
        self.feedback = feedback
        self.state = state
        self.reason = reason
        self.text = text
        self.seq = seq
        self.waitMilliseconds = waitMilliseconds
        self.failures = failures
        self.request = request
    }
}

/// An event that was set aside because the process ended in it more than once.
package struct QuarantinedEvent: Codable, Equatable, Sendable {
    /// The ID of the event for `quarantined`, `retryQuarantined` and `dropQuarantined`; unique in the journal.
    package var id: UInt64
    /// The time of the event in milliseconds since 1970.
    package var time: Int64
    /// The session that numbered the event.
    package var session: UInt64
    /// The number of the event in that session, which is consumed.
    package var number: UInt64
    /// The effect that sent the event, or nil for an event of a client.
    package var effect: String?
    /// The phase in which the process ended: "decoding the event", "reduce" or "a feedback's query".
    package var phase: String
    /// How many times the reducer's process ended in the event before it was set aside.
    package var crashes: Int
    /// The encoded event; empty in a list.
    package var event: [UInt8]

    /// Creates an entry of the quarantine from its parts.
    package init(
        id: UInt64, time: Int64, session: UInt64, number: UInt64, effect: String?, phase: String, crashes: Int,
        event: [UInt8]
    ) {
        self.id = id
        self.time = time
        self.session = session
        self.number = number
        self.effect = effect
        self.phase = phase
        self.crashes = crashes
        self.event = event
    }
}

/// A page of a journal's records, in order.
package struct HistoryPage: Codable, Equatable, Sendable {
    /// The records in the order of their positions, or in the reverse order with a filter, at most 2000.
    package var records: [HistoryRecord]
    /// The position to pass as `after` for the next page, or nil if this page is the last. A page with a filter may be empty and not
    /// the last, because a search ends after some ten thousand records.
    package var next: UInt64?

    /// Creates a page from its parts.
    package init(records: [HistoryRecord], next: UInt64?) {
        self.records = records
        self.next = next
    }
}

/// One record of a journal, for people and programs.
package struct HistoryRecord: Codable, Equatable, Sendable {
    /// The record's number in the journal, counted over all records, from 1.
    package var position: UInt64
    /// The seq of the newest event at or before this record.
    package var seq: UInt64
    /// The kind of the record: one of `kinds`.
    package var kind: String
    /// The time of the record in milliseconds since 1970, or nil if it has none.
    package var time: Int64?
    /// The earliest time of an effect's next attempt in milliseconds since 1970, or nil if the record sets none.
    package var retryAt: Int64?
    /// The session whose entry or life the record is about, or nil if it is about none.
    package var session: UInt64?
    /// The number of the entry in that session, or nil if the record is about no entry.
    package var number: UInt64?
    /// The effect that the record is about, as `feedback.seq.index`, or nil if it is about none.
    package var effect: String?
    /// The attempt of that effect, as `epoch/count`, or nil if the record is about no effect.
    package var attempt: String?
    /// Further content of the record as text, or nil if there is none.
    package var note: String?
    /// The encoded event, if the record is an event or a quarantined one.
    package var event: [UInt8]?

    /// The kinds, which are stable names for programs.
    package static let kinds = [
        "event", "timer fired", "timed out for good", "schedule ran", "scheduled", "refused", "completed", "skipped",
        "granted", "attempt ended", "session opened", "session owned", "session retired", "epoch begun", "definition",
        "state hash", "state marked", "mark hash", "quarantined", "operator action", "history begun",
    ]

    /// Creates a record with the fields that every record has. All others are nil.
    package init(position: UInt64, seq: UInt64, kind: String) {
        self.position = position
        self.seq = seq
        self.kind = kind
    }
}

/// The result of a replay of a whole journal.
package struct VerifyReport: Codable, Equatable, Sendable {
    /// The seq of the state that the replay began with; 0 for the initial state.
    package var from: UInt64
    /// The seq that the replay reached: the newest of the journal, or that of the first difference.
    package var through: UInt64
    /// How many records of all kinds were replayed.
    package var records: UInt64
    /// How many snapshots of this definition were compared with the replay.
    package var snapshots: Int
    /// How many state hashes were compared with the replay.
    package var stateHashes: UInt64
    /// The first difference and the snapshots that cannot be read, or nil if there are none.
    package var difference: String?

    /// Creates a report from its parts.
    package init(
        from: UInt64, through: UInt64, records: UInt64, snapshots: Int, stateHashes: UInt64, difference: String?
    ) {
        self.from = from
        self.through = through
        self.records = records
        self.snapshots = snapshots
        self.stateHashes = stateHashes
        self.difference = difference
    }
}

/// A part of an encoded `AdministrationAnswer`; the reducer sends all parts, in order.
///
/// | bytes | field |
/// |---|---|
/// | 8 | request u64: as asked |
/// | 4 | part u32, from 0 |
/// | 4 | parts u32 |
/// | 4 + n | bytes |
package struct AnswerPart: Equatable, Sendable {
    /// The number of the question that this answers.
    package var request: UInt64
    /// The index of this part in the answer, from 0.
    package var part: UInt32
    /// How many parts the answer has, at least 1.
    package var parts: UInt32
    /// This part's slice of the answer in CBOR.
    package var bytes: ArraySlice<UInt8>

    /// Creates a part of an answer from its fields; `part` is below `parts`.
    package init(request: UInt64, part: UInt32, parts: UInt32, bytes: ArraySlice<UInt8>) {
        self.request = request
        self.part = part
        self.parts = parts
        self.bytes = bytes
    }

    func write(to writer: inout ByteWriter) {
        writer.u64(request)
        writer.u32(part)
        writer.u32(parts)
        writer.prefixed(bytes)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        request = try reader.u64()
        part = try reader.u32()
        parts = try reader.u32()
        guard part < parts else {
            throw .malformed(what: "part \(part) of \(parts) of an answer", offset: reader.position)
        }
        bytes = try reader.prefixed()
    }

    /// A whole answer, in parts that each fit into a message.
    package static func parts(of answer: [UInt8], request: UInt64) -> [AnswerPart] {
        let size = Wire.messageBytesMax / 2
        let count = max(1, (answer.count + size - 1) / size)
        return (0..<count).map { part in
            AnswerPart(
                request: request, part: UInt32(part), parts: UInt32(count),
                bytes: answer[min(part * size, answer.count)..<min((part + 1) * size, answer.count)])
        }
    }
}
