extension SimulationPlan {
    /// The kinds of faults.
    package enum Fault: String, CaseIterable, Sendable {
        /// The publisher drops the next few messages for one peer.
        case burst
        /// A PUSH connection is lost, with the middle of its queue.
        case push
        /// A SUB connection is lost and made again.
        case subscription
        /// A DEALER connection is lost. Both directions are cleared, and it comes back under another routing id. If the journal is
        /// no database, some connections carry nothing from then on until they are made again.
        case dealer
        /// A SUB receives nothing until it is made again.
        case deadSubscription
        /// A PUSH delivers nothing, or accepts nothing, until it is made again.
        case deadPush
        /// The messages of a PUSH are lost for a while, even if it is made again.
        case lostCollector
        /// No messages pass between a process and the reducer for a while, in one direction or both.
        case partition
        /// Old messages of a process, sent or received, arrive once more: out of order, and perhaps of an older session or epoch.
        case replay
        /// A process is frozen.
        case freeze
        case kill
        /// A worker gets a request to leave, and another comes.
        case stop
        /// The reducer is frozen.
        case reducerFreeze
        case crash
        /// The reducer's process is killed while it reduces an event that is not the cause.
        case crashInReduction
        /// The reducer's machine loses power: unsynced records are lost.
        case powerLoss
        /// The reducer is stopped gracefully, and started again.
        case restart
        /// The next append takes long.
        case slowDisk
        /// The next append fails. Some of its records may remain.
        case failingDisk
        /// Appends fail for a while.
        case fullDisk
        /// The newest snapshot has other bytes than those that were written.
        case damagedSnapshot
        /// Another reducer is started on the same journal.
        case secondReducer
        /// A client or an effect sends an event that this build of the loop cannot reduce.
        case poison
        /// The reducer's wall clock is set.
        case clockSet
        /// An operator retries, drops, lists or trims.
        case administration
        /// When a process next gets a new session, messages of the former one arrive once more.
        case earlierSession
        /// The reducer's machine loses power after a turn. No peer that could show the loss has received a message of the turn.
        case quietLoss
        /// The reducer's process ends. When it starts again, a worker does not claim its attempts, but does so the next time.
        case forgetfulClaim
        /// An operator makes a copy of the journal.
        case copy
        /// An operator puts the copy back.
        case restored
        /// A batch of another process has the next number of a session.
        case forgedBatch
        /// A client's outbox file is copied, or such a copy is put back.
        case copiedOutbox
        /// A hostile process sends something that is not allowed.
        case hostile
        /// A key is removed, put back, or gets other roles or groups.
        case keysChanged
        /// The leader releases the journal, and stands by.
        case stepDown
        /// A process of the reducer loses its connection to the database, with everything under way.
        case lostConnection
        /// A process of the reducer does not reach the database for a while, and does not know.
        case candidateCut
        /// No peer reaches a process of the reducer for a while.
        case isolation
        /// The database does nothing for a while.
        case databaseAway
        /// No standby of the database confirms anything for a while. Then one confirms everything, or replaces the database with
        /// what it has.
        case failover
        /// While a process of the reducer stands by, the server that it reads does not advance any more.
        case stillSource

        /// The faults that come only if a mix or a plan with keys adds them.
        static let impostors: [Fault] = [.forgedBatch, .copiedOutbox, .hostile, .keysChanged]

        /// The faults of a journal in a database, which come only if a mix adds them.
        static let ofDatabases: [Fault] = [
            .stepDown, .lostConnection, .candidateCut, .isolation, .databaseAway, .failover, .stillSource,
        ]

        /// How often it comes per second, if a seed's faults are neither rare nor frequent. Faults that stop a process for long are
        /// rarer than those that lose a few messages, so that a cluster works most of the time.
        var perSecond: Double {
            switch self {
            case .burst, .push, .dealer: 0.6
            case .replay: 0.2
            case .subscription: 0.3
            case .deadSubscription, .deadPush, .partition, .freeze, .kill, .stop: 0.08
            case .lostCollector, .crash, .poison: 0.05
            case .crashInReduction, .powerLoss, .restart, .slowDisk, .failingDisk, .quietLoss: 0.03
            case .reducerFreeze, .fullDisk, .restored, .forgetfulClaim: 0.02
            case .copy, .earlierSession: 0.05
            case .damagedSnapshot, .secondReducer, .clockSet: 0.1
            case .administration: 0.3
            case .forgedBatch, .copiedOutbox: 0.1
            case .hostile: 1
            case .keysChanged: 0.15
            case .lostConnection: 0.1
            case .stepDown, .candidateCut, .isolation, .databaseAway, .failover, .stillSource: 0.05
            }
        }
    }
}
