extension View {
    /// Gives the meaning of a colour.
    public func tone(_ tone: Tone) -> some View { changed { $0.style.tone = tone } }

    /// Makes it stand out.
    public func strong(_ isStrong: Bool = true) -> some View { changed { $0.style.isStrong = isStrong } }

    /// Disables its actions and those of everything in it.
    public func disabled(_ isDisabled: Bool = true) -> some View { changed { if isDisabled { $0.disable() } } }

    /// Names it among its siblings, so that it remains the same element wherever it moves. It keeps the focus, and a press
    /// reaches the element that was meant.
    public func id(_ id: some CustomStringConvertible & Sendable) -> some View {
        let name = id.description
        return Changed(base: self) { elements in
            if elements.count == 1 {
                elements[0].name(name)
            } else {
                var group = Element(.group, children: elements)
                group.name(name)
                elements = [group]
            }
        }
    }

    /// A button presses itself as soon as it is visible, such as "more" at the end of a list. It does so once for each
    /// element that appears. Give it an `id` that names what it loads, so that the next one is another element.
    public func pressedWhenSeen(_ presses: Bool = true) -> some View { changed { $0.pressesWhenSeen = presses } }

    private func changed(_ change: @escaping @Sendable (inout Element) -> Void) -> some View {
        Changed(base: self) { elements in
            for place in elements.indices { change(&elements[place]) }
        }
    }
}

/// A view whose elements are changed whenever they are made.
private struct Changed<Base: View>: View {
    let base: Base
    let change: @Sendable (inout [Element]) -> Void

    var body: [Element] {
        var elements = base.body
        change(&elements)
        return elements
    }
}

extension Element {
    mutating func disable() {
        isDisabled = true
        for place in children.indices { children[place].disable() }
    }

    mutating func name(_ id: String) {
        key = "#" + ElementID.escaped(id)
        hasID = true
    }
}
