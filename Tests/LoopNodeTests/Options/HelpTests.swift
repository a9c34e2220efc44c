import LoopNode
import Testing

@Suite struct `Help texts` {
    @Test func `of a program with commands`() {
        #expect(
            Sample.control.helpText(width: 80) == """
                Watch and steer a loop.

                Usage: loopctl COMMAND [options]

                Commands:
                  status              Show what the reducer is doing.
                  tail                Print transitions as they happen.
                  send                Send one event.

                Connection:
                  --reducer ENDPOINT  which reducer to ask [default: tcp://127.0.0.1:7710,
                                      env: LOOP_REDUCER]

                General:
                  -h, --help          show this text

                More about a command: loopctl COMMAND --help
                """)
    }

    @Test func `of a command with options, arguments and a default subcommand`() {
        #expect(
            Sample.program.helpText(of: ["linkcheck"], width: 80) == """
                Check the links of a web site or of a folder.

                Usage: loop-reducer linkcheck [run] [options] SITE

                Pages in scope are read, all others only asked for.

                Exit codes: 0 nothing broken, 1 broken links.

                Commands:
                  run                   Run the loop. [default]
                  verify                Replay a journal and compare.
                  history               Print transitions.

                Arguments:
                  SITE                  a URL or a folder [env: LOOP_SITE]

                Node:
                  --bind ENDPOINT       where to listen [default: tcp://127.0.0.1:7710,
                                        env: LOOP_BIND]
                  --silence-limit TIME  how long a worker may be silent before its effects run
                                        elsewhere [default: 3s, env: LOOP_SILENCE_LIMIT]
                  --message-max SIZE    the largest message a peer may send [default: 2MiB,
                                        env: LOOP_MESSAGE_MAX]
                  --insecure            bind other addresses than loopback without keys
                                        [env: LOOP_INSECURE]
                  --keys FILE           the file of the allowed keys [env: LOOP_KEYS]

                Link checker:
                  --external            also check links that leave the site
                                        [env: LOOP_EXTERNAL]
                  --header NAME:VALUE   a header of each request [may be repeated,
                                        env: LOOP_HEADER]
                  --per-host N          how many requests one host gets at once [default: 8,
                                        env: LOOP_PER_HOST]

                General:
                  -h, --help            show this text
                  --version             show the version

                More about a command: loop-reducer linkcheck COMMAND --help
                """)
    }

    @Test func `of a subcommand, narrow`() {
        #expect(
            Sample.control.helpText(of: ["send"], width: 48) == """
                Send one event.

                Usage: loopctl send [options] EVENT [NOTE]

                Arguments:
                  EVENT               the event as JSON
                  [NOTE]              why

                Who:
                  --token TEXT        who you are [required,
                                      env: LOOP_ADMIN_TOKEN]

                Connection:
                  --reducer ENDPOINT  which reducer to ask
                                      [default: tcp://127.0.0.1:7710,
                                      env: LOOP_REDUCER]

                General:
                  -h, --help          show this text
                """)
    }

    @Test(arguments: [40, 60, 80, 120])
    func `fit the width`(width: Int) {
        let lines = Sample.program.helpText(of: ["linkcheck"], width: width).split(separator: "\n")
        // A title may be longer than the line, and its help keeps 20 characters; the usage line is not broken.
        let wrapped = lines.filter { !$0.hasPrefix("Usage:") && !$0.hasPrefix("More") }
        #expect(wrapped.allSatisfy { $0.count <= max(width, 56) })
    }
}
