import LoopNode
import LoopWire

/// `loopctl schema` shows the form of a loop's events, requests and state.
enum SchemaCommand {
    static let subcommand = Subcommand(
        asking: Command(
            "schema", abstract: "Show what a loop's events, requests and state look like, with examples.",
            discussion: """
                The reducer looks at the types of its definition. Cases of an enum are known from the definition's examples \
                of events; what is not known is listed. A reducer's own program shows the same without a running reducer: \
                loop-reducer LOOP schema.

                Exit codes: 0 done, 1 refused, or another schema than that of --check, 2 no answer, 64 wrong usage.
                """,
            groups: [ConnectionOptions.group, LoopSchema.output])
    ) { arguments, reducer in
        try reducer.ask(.schema, \.schema).print(arguments)
    }
}
