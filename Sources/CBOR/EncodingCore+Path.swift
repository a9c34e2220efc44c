// Unsafe: the bytes of a key are in the log as long as its node is there.

/// Coding paths while encoding. They are read back from the nodes, so that they cost nothing until an error needs one.
extension EncodingCore {
    /// The keys from the outermost value to this node, or an empty path if the node no longer exists.
    func codingPath(of node: Int, _ serial: UInt32) -> [any CodingKey] {
        guard node < nodes.count, nodes[node].serial == serial else { return [] }
        return steps(to: node)
    }

    /// The path to a node as text for people.
    func path(of node: Int?) -> String { CBORPath.text(steps(to: node)) }

    private func steps(to node: Int?) -> [any CodingKey] {
        var steps: [any CodingKey] = []
        var node = node
        while let here = node {
            switch nodes[here].position.step {
            case .none: break
            case .index(let index): steps.append(CBORPath.Step(index: index))
            case .key(let start, let length): unsafe steps.append(CBORPath.Step(encodedKey: log.base + start, length))
            }
            node = nodes[here].position.node
        }
        return steps.reversed()
    }
}
