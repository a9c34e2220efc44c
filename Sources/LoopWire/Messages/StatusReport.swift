public import LoopCore

/// What a reducer says about itself: one CBOR document, shown as JSON by tools.
public struct StatusReport: Codable, Equatable, Sendable {
    /// One peer that has a session.
    public struct Peer: Codable, Equatable, Sendable {
        public var name: String
        public var peer: String
        public var session: UInt64
        public var groups: [String]
        public var capacity: Int
        /// Effects it holds.
        public var leases: Int
        /// Milliseconds until its leases may be taken away; negative when they may.
        public var leaseMilliseconds: Int64
        /// Numbered inbox messages sent that it has not confirmed.
        public var lag: UInt64
        /// Effects it completed since this epoch began.
        public var completed: UInt64
        public var watermark: UInt64
    }

    /// What lives of one feedback.
    public struct FeedbackCounts: Codable, Equatable, Sendable {
        public var name: String
        public var running: Int
        public var waiting: Int
        public var completed: Int
        public var parked: Int
    }

    /// One effect that failed for good.
    public struct Parked: Codable, Equatable, Sendable {
        public var effect: String
        public var feedback: String
        public var failures: Int
        public var message: String
    }

    public var loop: String
    public var schema: UInt64
    public var history: String
    public var epoch: UInt64
    public var seq: UInt64
    /// Milliseconds since this epoch began.
    public var uptimeMilliseconds: Int64
    /// Events applied per second, over the last seconds.
    public var eventsPerSecond: Double
    /// Whether events are being committed and read.
    public var isReady: Bool
    /// Why not, where not.
    public var notReadyBecause: String?
    public var progress: Progress?
    /// The loop's end, once it has come.
    public var exitCode: Int32?
    public var peers: [Peer]
    /// How many more peers there are than the report has room for; nil: none.
    public var peersLeftOut: Int?
    public var feedbacks: [FeedbackCounts]
    public var parked: [Parked]
    /// How many more parked effects there are than the report has room for; nil: none.
    public var parkedLeftOut: Int?
    /// How many events are set aside because the reducer ended in them.
    public var quarantined: Int
    /// What somebody should do something about, a line for each.
    public var warnings: [String]
    /// Everything dropped or refused, by reason.
    public var counters: [String: UInt64]

    public init(loop: String, schema: UInt64) {
        self.loop = loop
        self.schema = schema
        history = ""
        epoch = 0
        seq = 0
        uptimeMilliseconds = 0
        eventsPerSecond = 0
        isReady = false
        notReadyBecause = nil
        progress = nil
        exitCode = nil
        peers = []
        peersLeftOut = nil
        feedbacks = []
        parked = []
        parkedLeftOut = nil
        quarantined = 0
        warnings = []
        counters = [:]
    }
}

extension StatusReport.Peer {
    public init(name: String, peer: PeerID, session: SessionID, groups: [String], capacity: Int) {
        self.name = name
        self.peer = peer.description
        self.session = session.value
        self.groups = groups
        self.capacity = capacity
        leases = 0
        leaseMilliseconds = 0
        lag = 0
        completed = 0
        watermark = 0
    }
}

extension StatusReport.FeedbackCounts {
    public init(name: String) {
        self.name = name
        running = 0
        waiting = 0
        completed = 0
        parked = 0
    }
}

extension StatusReport.Parked {
    public init(effect: EffectID, feedback: String, failures: Int, message: String) {
        self.effect = effect.description
        self.feedback = feedback
        self.failures = failures
        self.message = message
    }
}
