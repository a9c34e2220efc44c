extension View {
    /// Gives the elements the meaning of a colour.
    public func tone(_ tone: Tone) -> some View { changed { $0.style.tone = tone } }

    /// Shows the elements bold or otherwise emphasized.
    public func strong(_ isStrong: Bool = true) -> some View { changed { $0.style.isStrong = isStrong } }

    /// Disables the actions of the elements and of everything in them.
    public func disabled(_ isDisabled: Bool = true) -> some View { changed { if isDisabled { $0.disable() } } }

    /// Names the view among its siblings, so that it remains the same element wherever it moves. It keeps the focus, and a press
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

    /// Makes a button press itself as soon as it is visible, such as "more" at the end of a list. It does so once for each element
    /// that appears. Give it an `id` that names what it loads, so that the next button is another element.
    public func pressedWhenSeen(_ presses: Bool = true) -> some View { changed { $0.pressesWhenSeen = presses } }

    func styled(_ change: @escaping @Sendable (inout Style) -> Void) -> some View { changed { change(&$0.style) } }

    private func changed(_ change: @escaping @Sendable (inout Element) -> Void) -> some View {
        Changed(base: self) { elements in
            for place in elements.indices { change(&elements[place]) }
        }
    }
}

/// A view that changes the elements of another view each time they are made.
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
