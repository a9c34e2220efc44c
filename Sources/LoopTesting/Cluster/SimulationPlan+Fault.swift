extension SimulationPlan {
    /// What can fail.
    package enum Fault: String, CaseIterable, Sendable {
        /// The publisher drops the next few messages for one peer.
        case burst
        /// A PUSH connection is lost: the middle of its queue is gone.
        case push
        /// A SUB connection is lost and made again.
        case subscription
        /// A DEALER connection is lost: both directions are cleared, and it comes back under another routing id. If the
        /// journal is no database, some carry nothing from then on until they are made again.
        case dealer
        /// A SUB that receives nothing until it is made again.
        case deadSubscription
        /// A PUSH that delivers nothing, or takes nothing, until it is made again.
        case deadPush
        /// A PUSH whose messages get lost for a while, also when it is made again.
        case lostCollector
        /// Nothing gets through between a process and the reducer for a while, in one direction or both.
        case partition
        /// Messages of a process's past, sent or received, come once more: out of order, and maybe of an older session or epoch.
        case replay
        /// A process stands still.
        case freeze
        case kill
        /// A worker is asked to leave, and another comes.
        case stop
        /// The reducer stands still.
        case reducerFreeze
        case crash
        /// The reducer's process is killed while it reduces some event that is not to blame.
        case crashInReduction
        /// The reducer's machine loses power: unsynced records are lost.
        case powerLoss
        /// The reducer is stopped gracefully, and started again.
        case restart
        /// The next append takes long.
        case slowDisk
        /// The next append fails; some of its records may stand.
        case failingDisk
        /// Appends fail for a while.
        case fullDisk
        /// The newest snapshot is not what was written.
        case damagedSnapshot
        /// Another reducer is started on the same journal.
        case secondReducer
        /// A client or an effect sends an event that this build of the loop cannot take.
        case poison
        /// The reducer's wall clock is set.
        case clockSet
        /// An operator retries, drops, lists or trims.
        case administration
        /// When a process next gets a new session, what was said to it in the one before comes once more.
        case earlierSession
        /// The reducer's machine loses power after a turn. No peer has heard of that turn that could show the loss.
        case quietLoss
        /// The reducer's process ends, and a worker does not claim what it has when it comes again; it does the next time.
        case forgetfulClaim
        /// An operator makes a copy of the journal.
        case copy
        /// An operator puts the copy back.
        case restored
        /// A batch that another process has made has the next number of a session.
        case forgedBatch
        /// A client's outbox file is copied, or such a copy is put back.
        case copiedOutbox
        /// A hostile process says what it may not.
        case hostile
        /// A key is removed, put back, or gets other roles or groups.
        case keysChanged
        /// The leader lets go of the journal, and stands by.
        case stepDown
        /// A process of the reducer loses its connection to the database, with whatever is under way.
        case lostConnection
        /// A process of the reducer does not reach the database for a while, and is not told.
        case candidateCut
        /// No peer reaches a process of the reducer for a while.
        case isolation
        /// The database does nothing for a while.
        case databaseAway
        /// No standby of the database confirms anything for a while. Then one confirms all, or takes the database's place with what
        /// it has.
        case failover
        /// A process of the reducer reads of a server that does not move any more, while it stands by.
        case stillSource

        /// The faults that come only where a mix or a plan with keys adds them.
        static let impostors: [Fault] = [.forgedBatch, .copiedOutbox, .hostile, .keysChanged]

        /// The faults of a journal in a database, which come only where a mix adds them.
        static let ofDatabases: [Fault] = [
            .stepDown, .lostConnection, .candidateCut, .isolation, .databaseAway, .failover, .stillSource,
        ]

        /// How often it comes per second where a seed's faults are neither rare nor frequent: what stops a process for
        /// long is rarer than what loses a few messages, so that a cluster works most of the time.
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
