package import LoopCore

/// The reducer's report about itself: one CBOR document, which tools show as JSON.
public struct StatusReport: Codable, Equatable, Sendable {
    /// One peer that has a session.
    public struct Peer: Codable, Equatable, Sendable {
        /// The name that the peer gave itself, for people, in at most 256 characters.
        public var name: String
        /// The first 8 hexadecimal digits of the peer's ID.
        package var peer: String
        /// The number of its session, from 1.
        package var session: UInt64
        /// The groups whose effects it serves; empty for a peer that runs none.
        public var groups: [String]
        /// How many effects it may hold at once; 0 if it runs none or is stopping.
        package var capacity: Int
        /// How many effects it holds.
        public var leases = 0
        /// Milliseconds until its effects may be taken from it; negative once they may.
        package var leaseMilliseconds: Int64 = 0
        /// How many numbered inbox messages it was sent and has not reported as applied.
        package var lag: UInt64 = 0
        /// How many effects it has completed since this epoch began.
        package var completed: UInt64 = 0
        /// Every entry of its session up to this number is consumed.
        package var watermark: UInt64 = 0
    }

    /// The live effects of one feedback, counted by their condition.
    public struct FeedbackCounts: Codable, Equatable, Sendable {
        /// The name of the feedback.
        public var name: String
        /// How many of its live effects a peer holds.
        public var running = 0
        /// How many of its live effects wait for a worker, for a limit or for the time of the next try.
        public var waiting = 0
        /// How many of its effects have completed since this epoch began, by their end or by an event of their own.
        public var completed = 0
        /// How many of its live effects have failed for good.
        public var parked = 0
        /// How long the one that has waited longest has waited, or nil if none waits. It is in milliseconds since the effect was
        /// asked for, was tried last, or this epoch began.
        package var oldestWaitMilliseconds: Int64?
        /// The group that runs its effects, or nil for a reducer of an earlier release.
        package var group: String?
        /// How many effects wait for each reason of `loopctl effects`, or nil if none waits.
        package var waitReasons: [String: Int]?
    }

    /// One effect that failed for good.
    public struct Parked: Codable, Equatable, Sendable {
        /// The effect as `feedback.seq.index`; `loopctl effects retry` takes it.
        public var effect: String
        /// The name of the feedback.
        public var feedback: String
        /// How many attempts of the effect have failed or timed out since it started, or since an operator last
        /// retried it.
        public var failures: Int
        /// Why the last attempt failed, for people, in at most 4096 characters.
        public var message: String
    }

    /// How far one running effect that has reported it has come.
    public struct EffectReport: Codable, Equatable, Sendable {
        /// The effect as `feedback.seq.index`.
        public var effect: String
        /// The name of the feedback.
        public var feedback: String
        /// The session of the peer that runs it.
        package var session: UInt64
        /// How much is done, from 0 to 1.
        public var fraction: Double
        /// A few words from its body, for people; at most 128 bytes of UTF-8.
        public var text: String
    }

    /// How a standby follows the journal.
    package struct Following: Codable, Equatable, Sendable {
        /// The position of the last record that it has applied.
        package var position: UInt64
        /// How many records that are known to be in the journal it has not applied.
        package var lag: UInt64
        /// An upper bound of its state's age in milliseconds, or nil if it never had everything that was in the journal.
        package var lagMilliseconds: Int64?
        /// Why it has no state and would recover as at a start, for people; or nil if it is warm.
        package var coldBecause: String?

        /// Creates the report of a standby's position from its parts.
        package init(position: UInt64, lag: UInt64, lagMilliseconds: Int64?, coldBecause: String?) {
            self.position = position
            self.lag = lag
            self.lagMilliseconds = lagMilliseconds
            self.coldBecause = coldBecause
        }
    }

    /// The lease of a journal in a database.
    package struct JournalLease: Codable, Equatable, Sendable {
        /// How long after the last sign of life no other reducer takes over.
        package var milliseconds: Int64
        /// How long ago the last commit began that proved that this reducer leads.
        package var provenMillisecondsAgo: Int64

        /// Creates the report of a lease from its parts.
        package init(milliseconds: Int64, provenMillisecondsAgo: Int64) {
            self.milliseconds = milliseconds
            self.provenMillisecondsAgo = provenMillisecondsAgo
        }
    }

    /// The name of the loop.
    public var loop: String
    /// The reducer's schema: the version of the loop's state and events as they are encoded.
    package var schema: UInt64
    /// The role of the reducer: `leader`, or `standby`, which waits for the journal. Nil for a reducer of an earlier
    /// release, which leads.
    package var role: String?
    /// The published address of the leader, or nil if it has none, or if a standby knows no leader.
    package var leader: String?
    /// How a standby follows the journal; nil for a leader.
    package var following: Following?
    /// The lease of a leader whose journal is in a database; else nil.
    package var journalLease: JournalLease?
    /// The history as 16 hexadecimal digits. Empty for a standby that has no state.
    package var history = ""
    /// The number of the reducer's epoch, from 1.
    package var epoch: UInt64 = 0
    /// The seq of the newest transition; 0 before the first event. For a standby, of the newest that it has applied.
    public var seq: UInt64 = 0
    /// Milliseconds since the reducer's process began.
    package var uptimeMilliseconds: Int64 = 0
    /// Events applied per second, as the mean of the last few ticks.
    package var eventsPerSecond: Double = 0
    /// Whether events are being committed and read; `notReadyBecause` says why not.
    package var isReady = false
    /// The reason, for people, if the reducer is not ready; else nil.
    package var notReadyBecause: String?
    /// Why the journal cannot be used, for programs; or nil if it can, or if a standby waits for its turn.
    package var journalFault: JournalFault?
    /// How long the journal has been unusable, in milliseconds, or nil without a fault.
    package var journalFaultMilliseconds: Int64?
    /// How far the job has come, as the definition says; or nil if it does not say, or if the report has no space for it.
    package var progress: Progress?
    /// The exit code of the loop's outcome; nil until the loop has ended.
    package var exitCode: Int32?
    /// The peers that have been admitted in this epoch, in the order of their sessions, at most 1000.
    public var peers: [Peer] = []
    /// How many more peers there are than `peers` lists, or nil if there are none.
    package var peersLeftOut: Int?
    /// The counts of each feedback of the definition, in its order.
    public var feedbacks: [FeedbackCounts] = []
    /// The effects that failed for good, at most 100.
    public var parked: [Parked] = []
    /// How many more parked effects there are than `parked` lists, or nil if there are none.
    package var parkedLeftOut: Int?
    /// How many timers are set, or nil if there are none.
    public var timers: Int?
    /// When the next of them is due, in milliseconds since 1970-01-01T00:00:00Z.
    package var nextTimer: Int64?
    /// How far the reducer's clock is behind the times in the journal, in milliseconds. Timers and schedules do not run for
    /// that long. Nil if it is less than five seconds.
    package var clockBehindMilliseconds: Int64?
    /// The newest reports of running effects, at most 100, or nil if there are none.
    public var effectReports: [EffectReport]?
    /// How many more effects have reported than `effectReports` lists, or nil if there are none.
    package var effectReportsLeftOut: Int?
    /// How many connections are open, or nil if the reducer has no sockets.
    package var connections: Int?
    /// How many connections may be open.
    package var connectionsMax: Int?
    /// How many events are set aside because the reducer's process ended in them.
    package var quarantined = 0
    /// One line for each condition that a person should act on.
    package var warnings: [String] = []
    /// The numbers of dropped or refused messages, entries and peers, by the counters of the protocol's section 11.
    package var counters: [String: UInt64] = [:]

    /// Creates a report in which everything but the loop is empty or 0, to be filled in.
    package init(loop: String, schema: UInt64) {
        self.loop = loop
        self.schema = schema
    }
}

extension StatusReport {
    /// The role of a reducer that owns the state.
    package static let leaderRole = "leader"
    /// The role of a reducer that waits for the journal.
    package static let standbyRole = "standby"

    /// Whether the report is a standby's.
    package var isStandby: Bool { role == Self.standbyRole }
}

extension StatusReport.Peer {
    /// Creates the report of a peer in which everything else is 0, to be filled in.
    package init(name: String, peer: PeerID, session: SessionID, groups: [String], capacity: Int) {
        self.name = name
        self.peer = peer.description
        self.session = session.value
        self.groups = groups
        self.capacity = capacity
    }
}

extension StatusReport.FeedbackCounts {
    /// Creates the counts of a feedback, all 0, to be filled in.
    package init(name: String) {
        self.name = name
    }
}

extension StatusReport.EffectReport {
    /// Creates the report of an effect from its parts.
    package init(_ report: AttemptProgress, feedback: String, session: SessionID) {
        effect = report.effect.description
        self.feedback = feedback
        self.session = session.value
        fraction = report.progress.fraction
        text = report.progress.text
    }
}

extension StatusReport.Parked {
    /// Creates an entry of the list of parked effects from its parts.
    package init(effect: EffectID, feedback: String, failures: Int, message: String) {
        self.effect = effect.description
        self.feedback = feedback
        self.failures = failures
        self.message = message
    }
}
