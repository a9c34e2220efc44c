internal import Linux
internal import LoopView

/// Shows a view as a log of plain text, and reads lines that act on it. Used without a terminal, and in scripts.
struct TextMode: Sendable {
    /// The reason of the end.
    enum End: Equatable, Sendable {
        /// The expected text is shown.
        case shown
        /// The time is over, with the lines that could not be executed.
        case timeOver(waiting: [String])
        /// The user ended it.
        case stopped
        /// A frame could not be printed.
        case unprinted(OutputError)
    }

    private enum Mail: Sendable {
        case tree(ViewTree)
        case line(String)
        case linesEnded
        case timeOver
    }

    /// The text at which it ends, once all lines are executed; or nil to end when the time is over.
    var until: String?
    /// The time until the end, counted from its last line.
    var limit: Duration
    var framesPerSecond = 20
    /// Prints a frame.
    var print: @Sendable (String) throws(OutputError) -> Void

    /// Runs until its end, or until its task is cancelled.
    func run(_ view: some View, lines: AsyncStream<String>) async -> End {
        let (mail, post) = AsyncStream.makeStream(of: Mail.self)
        let frames = Frames(of: view, perSecond: framesPerSecond)
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { for await tree in frames { post.yield(.tree(tree)) } }
            group.addTask {
                for await line in lines { post.yield(.line(line)) }
                post.yield(.linesEnded)
            }
            var session = TextSession()
            var tree = ViewTree.empty
            var end = End.stopped
            for await next in mail {
                let reaction: TextSession.Reaction
                switch next {
                case .tree(let new):
                    tree = new
                    reaction = session.show(new)
                case .line(let line): reaction = session.take(line)
                case .linesEnded:
                    // The expected text may never be shown.
                    group.addTask { [limit] in
                        if (try? await Task.sleep(for: limit)) != nil { post.yield(.timeOver) }
                    }
                    continue
                case .timeOver:
                    end = .timeOver(waiting: session.waiting)
                    post.finish()
                    continue
                }
                do throws(OutputError) {
                    if let text = reaction.text { try print(text + "\n---") }
                } catch {
                    end = .unprinted(error)
                    break
                }
                if let action = reaction.action { tree.perform(action) }
                if let until, reaction.action == nil, session.waiting.isEmpty, session.text.contains(until) {
                    end = .shown
                    break
                }
            }
            group.cancelAll()
            return end
        }
    }
}
