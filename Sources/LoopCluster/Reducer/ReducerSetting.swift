package import LoopCore

/// What a reducer's machine is told of its process when it begins to lead.
package struct ReducerSetting: Sendable {
    /// The address of the publisher for peers: its port for TCP, else its endpoint.
    package var publisher = ""
    /// The address of the collector, in the form of ``publisher``.
    package var collector = ""
    /// The address that the reducer gives to peers and tools, or nil for none.
    package var advertised: String?
    /// Whether the reducer has keys. Then no key is admitted until the shell calls `ReducerMachine.admit`.
    package var isGuarded = false
    /// Whether other machines can reach the reducer although it has no keys. The status warns of it.
    package var isOpenToAll = false
    /// Whether the reducer can let another one lead, and stand by.
    package var mayStepDown = false
    /// How long peers may take to find this reducer after they have noticed its predecessor's silence. Zero if its address
    /// never changes, ``LeaderSearch/walkMax`` if it has several.
    package var searchLimit = Duration.zero
    /// When the reducer's process began, which may be before it led.
    package var processBegan = MonotonicTime.zero
    /// The time zones that the definition's schedules name.
    package var timeZones = ZoneDatabase()

    /// Creates the setting of a reducer without keys, with one address that no other machine reaches.
    package init() {}
}
