import LoopCommands
import LoopNode
import Testing

@Suite struct `The help of loopctl` {
    @Test func `names its commands`() {
        #expect(
            ControlProgram.command.helpText(width: 80) == """
                Start, watch and steer loops.

                Usage: loopctl COMMAND [options]

                Every option can come from the environment too: the variable is shown with it.

                Commands:
                  up          Run a loop here: a reducer and its workers.
                  status      Show what a reducer is doing.
                  top         Show what a reducer is doing, again and again.
                  ready       Tell whether a reducer commits events and is read; for health
                              checks.
                  tail        Print transitions as they happen.
                  send        Send one event, and print the seq at which it was applied.
                  effects     List the effects that the state asks for, and why they wait; retry
                              a parked one.
                  why         Say why an effect waits, or which transitions changed a part of
                              the state.
                  who         Say who sent an event, and which transition asked for its effect.
                  quarantine  List events that were set aside; look into one, apply it after
                              all, or drop it.
                  schedules   List the schedules with their next runs; pause, resume or run one.
                  history     Print the records of the journal.
                  state       Print the state, also as it was after an earlier transition.
                  diff        Show how the states after two transitions differ.
                  schema      Show what a loop's events, requests and state look like, with
                              examples.
                  verify      Replay the journal, and compare with its snapshots and state
                              hashes.
                  trim        Forget the journal's records before a seq.
                  step-down   Have the reducer that leads let a standby lead.
                  serve       Serve a folder as a web site.
                  console     Serve a page that shows a running loop.
                  journal     Prepare a database for journals; list them; move a journal there
                              or back.
                  doctor      Examine a database, a file or reducers, and say what to mend.
                  keygen      Make a key pair, for a peer or a reducer.
                  new         Make a package with a loop of your own.

                General:
                  -h, --help  show this text
                  --version   show the version

                More about a command: loopctl COMMAND --help
                """)
    }

    @Test func `says what up starts and how it ends`() {
        #expect(
            ControlProgram.command.helpText(of: ["up"], width: 100) == """
                Run a loop here: a reducer and its workers.

                Usage: loopctl up [options] LOOP [ARGUMENT…]

                Starts one reducer and its workers as processes of this machine, shows how far they are, starts
                again what crashes, and prints the loop's outcome. Ctrl-C or SIGTERM stops all of them, a second one
                kills them; nothing is left running.

                What is interrupted is not lost: the loop is kept in a journal, and the same command in the same
                folder goes on where it was.

                Exit codes: 0 and 1 are the loop's verdict (linkcheck: 0 nothing broken, 1 broken links), with
                --exit-zero always 0; 0 also when a signal has stopped it; 2 could not run; 64 wrong usage; 130
                ended by a second signal.

                Arguments:
                  LOOP                   the loop's name, such as linkcheck
                  [ARGUMENT…]            the loop's own options and arguments: see loop-reducer LOOP --help

                Processes:
                  --workers N            how many worker processes are started [default: 4, env: LOOP_WORKERS]
                  --capacity N           how many effects each worker holds at once [env: LOOP_CAPACITY]
                  --serve PATH           serve a folder, or the folder of a page, on loopback for as long as the
                                         loop runs, at the same port each time; its URL becomes the loop's first
                                         argument [env: LOOP_SERVE]
                  --quiet                show no progress, and what the processes say only when they fail
                                         [env: LOOP_QUIET]
                  --log text|json        how the processes write their logs: text for people, or JSON lines
                                         [env: LOOP_LOG]
                  --log-level debug|info|notice|warning|error
                                         leave out of the logs what matters less than this; without it notice
                                         [env: LOOP_LOG_LEVEL]
                  --exit-zero            end with 0 when the loop's verdict is bad, too: for people, who read the
                                         outcome
                  --reducer-exe PATH     the reducer's program; else loop-reducer next to loopctl
                                         [env: LOOP_REDUCER_EXE]
                  --worker-exe PATH      the workers' program; else loop-effect next to loopctl
                                         [env: LOOP_WORKER_EXE]

                Reducer:
                  --bind ENDPOINT        where peers find the reducer; without it tcp://127.0.0.1:7710 where that is
                                         free, else any free ports [env: LOOP_BIND]
                  --keys DIR             admit only owners of the keys in DIR/allowed; the reducer's and the
                                         workers' are made where they are missing [env: LOOP_KEYS]
                  --insecure             allow an address that other machines can reach without --keys: everyone may
                                         take part [env: LOOP_INSECURE]
                  --silence-limit TIME   how long a worker may be silent before its effects run elsewhere
                                         [env: LOOP_SILENCE_LIMIT]
                  --journal FILE         where the reducer keeps the loop, so that the same command goes on with it,
                                         or memory to keep nothing; without it LOOP.journal in the working directory
                                         [env: LOOP_JOURNAL]
                  --durability fsync|os  what must have happened to a record before it is acknowledged; without it
                                         fsync [env: LOOP_DURABILITY]
                  --wait                 wait for a journal that another reducer holds [env: LOOP_WAIT]
                  --json FILE            write the loop's outcome as JSON to this file, or - to write it to standard
                                         output and the text to standard error [env: LOOP_JSON]

                General:
                  -h, --help             show this text
                  --version              show the version
                """)
    }

    @Test(arguments: [
        "status", "top", "ready", "tail", "send", "effects", "why", "who", "diff", "quarantine", "history", "state",
        "verify", "trim", "serve", "up", "keygen", "new", "doctor",
    ])
    func `tells the exit codes of every command`(name: String) {
        #expect(ControlProgram.command.helpText(of: [name]).contains("Exit codes:"))
    }
}

extension Command {
    fileprivate func helpText(of path: [String] = [], width: Int = 100) -> String {
        guard case .text(let text)? = try? parse(path + ["--help"], width: width) else { return "" }
        return text
    }
}
