// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number.

/// Coding paths while encoding: read back from the nodes, so that they cost nothing until somebody asks.
extension EncodingCore {
    /// The keys from the outermost value to this node; empty for a node that is gone.
    func codingPath(of node: Int, _ serial: UInt32) -> [any CodingKey] {
        guard node >= 0, node < nodeCount, unsafe nodes[node].serial == serial else { return [] }
        return steps(to: node)
    }

    /// The same as a text for people.
    func path(of node: Int) -> String { CBORPath.text(steps(to: node)) }

    /// An encoder that belongs nowhere, for a call that has no other way to refuse: writing to it throws.
    var strayEncoder: CBOREncoder { CBOREncoder(core: self, node: -1, serial: 0) }

    private func steps(to node: Int) -> [any CodingKey] {
        var steps: [any CodingKey] = []
        var place = node
        while place >= 0 {
            let here = unsafe nodes[place]
            if here.keyLength > 0 {
                unsafe steps.append(CBORPath.Step(encodedKey: log.base + here.keyStartOrIndex, Int(here.keyLength)))
            } else if here.keyLength == 0 {
                steps.append(CBORPath.Step(index: here.keyStartOrIndex))
            }
            place = Int(here.parent)
        }
        return steps.reversed()
    }
}
