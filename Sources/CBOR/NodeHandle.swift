/// A name for a node that a value's `encode(to:)` writes to. It is refused once the value is encoded.
struct NodeHandle {
    let core: EncodingCore
    let node: Int
    let serial: UInt32

    @inline(__always)
    init(core: EncodingCore, node: Int) {
        self.init(core: core, node: node, serial: core.nodes[node].serial)
    }

    @inline(__always)
    init(core: EncodingCore, node: Int, serial: UInt32) {
        self.core = core
        self.node = node
        self.serial = serial
    }

    /// A handle of no node, for a call that cannot throw. Writing to it throws.
    static func stray(_ core: EncodingCore) -> NodeHandle {
        // The first node has serial number 1.
        NodeHandle(core: core, node: 0, serial: 0)
    }

    var codingPath: [any CodingKey] { core.codingPath(of: node, serial) }

    func open(as kind: EncodingCore.Node.Kind) { core.open(node, serial, as: kind) }

    /// An encoder for a node that `make` adds to this container of a kind, or a stray one if this is no such container.
    @inline(__always)
    func child(in kind: EncodingCore.Node.Kind, _ make: () -> Int) -> CBOREncoder {
        guard core.isLive(node, serial), core.nodes[node].kind == kind else {
            return CBOREncoder(handle: .stray(core))
        }
        return CBOREncoder(handle: NodeHandle(core: core, node: make()))
    }
}
