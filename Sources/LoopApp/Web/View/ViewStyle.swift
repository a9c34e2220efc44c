/// The look of a page: the system's fonts, one column, light and dark.
enum ViewStyle {
    static let text = """
        :root {
          color-scheme: light dark;
          --ground: light-dark(#f6f6f4, #17181a);
          --sheet: light-dark(#ffffff, #1f2123);
          --ink: light-dark(#1d1e20, #e8e8e6);
          --faint: light-dark(#6a6d72, #9a9da3);
          --line: light-dark(#dddedb, #35383c);
          --accent: light-dark(#2456c4, #7fa6ff);
          --on-accent: light-dark(#ffffff, #10131a);
          --good: light-dark(#18743a, #6fcf8e);
          --warning: light-dark(#8a5a00, #e8b64c);
          --bad: light-dark(#b3261e, #ff8a80);
        }
        * { box-sizing: border-box; }
        body {
          margin: 0;
          padding: clamp(.5rem, 3vw, 2rem) clamp(.25rem, 2vw, 1rem);
          background: var(--ground);
          color: var(--ink);
          font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
        }
        #page { max-width: 44rem; margin: 0 auto; }
        #page.wide { max-width: 90rem; }
        main > .column {
          padding: 1.5rem;
          background: var(--sheet);
          border: 1px solid var(--line);
          border-radius: 12px;
        }
        .column { display: flex; flex-direction: column; align-items: flex-start; gap: .75rem; min-width: 0; }
        .column > .column, .column > .row, .column > .list, .column > .field, .column > hr { width: 100%; }
        .row { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; min-width: 0; }
        .row > .field { flex: 1 1 14rem; }
        .list { margin: 0; padding: 0; list-style: none; }
        .list > li { padding: .55rem 0; border-top: 1px solid var(--line); }
        .list > li:first-child { border-top: 0; }
        .list .list { padding-left: 1rem; }
        .list > li > .row > :not(button) + button { margin-left: auto; }
        h1, h2, h3, h4, h5, h6 { margin: .5rem 0 0; line-height: 1.25; text-wrap: balance; }
        h1 { margin: 0; font-size: 1.6rem; }
        h2 { font-size: 1.25rem; }
        h3 { font-size: 1.1rem; }
        h4, h5, h6 { font-size: 1rem; }
        p { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
        hr { height: 0; margin: .25rem 0; border: 0; border-top: 1px solid var(--line); }
        a { color: var(--accent); text-underline-offset: .15em; }
        .secondary { color: var(--faint); }
        .accent { color: var(--accent); }
        .good { color: var(--good); }
        .warning { color: var(--warning); }
        .bad { color: var(--bad); }
        .strong { font-weight: 600; }
        .code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .85rem; max-width: 100%; overflow-x: auto; }
        p.code { overflow-wrap: normal; white-space: pre; }
        .window { width: 100%; height: 70vh; min-height: 12rem; overflow-y: auto; overflow-anchor: none; contain: strict; }
        .window .rows > * { height: 30px; overflow: hidden; flex-wrap: nowrap; white-space: nowrap; align-items: center; }
        .window .rows p { white-space: nowrap; flex: none; overflow: hidden; text-overflow: ellipsis; }
        .window .rows p:last-child { flex: 0 1 auto; }

        button {
          padding: .4rem .9rem;
          border: 1px solid var(--line);
          border-radius: 8px;
          background: var(--sheet);
          color: inherit;
          font: inherit;
          cursor: pointer;
        }
        button:hover:not(:disabled) { border-color: var(--faint); }
        button:active:not(:disabled) { transform: translateY(1px); }
        button.strong, button.accent { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
        button:disabled, input:disabled { opacity: .5; cursor: default; }
        button.default { position: absolute; width: 0; height: 0; padding: 0; border: 0; overflow: hidden; opacity: 0; }
        button.toggle { display: inline-flex; align-items: center; gap: .6rem; padding: .25rem 0; border: 0; background: none; }
        button.toggle::before {
          content: "";
          width: 2.25rem;
          height: 1.25rem;
          flex: none;
          border-radius: 1rem;
          background: radial-gradient(circle at .625rem, #fff .42rem, transparent .45rem) var(--faint);
          transition: background-color .15s;
        }
        button.toggle[aria-checked="true"]::before {
          background: radial-gradient(circle at 1.625rem, #fff .42rem, transparent .45rem) var(--accent);
        }
        .field { display: flex; flex-direction: column; gap: .25rem; min-width: 0; }
        .field > span { color: var(--faint); font-size: .875rem; }
        .field > span:empty { display: none; }
        input {
          width: 100%;
          padding: .45rem .65rem;
          border: 1px solid var(--line);
          border-radius: 8px;
          background: var(--ground);
          color: inherit;
          font: inherit;
        }
        input::placeholder { color: var(--faint); opacity: .8; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        .progress { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; width: 100%; }
        .progress > span:empty { display: none; }
        progress { flex: 1 1 10rem; height: .5rem; border: 0; border-radius: 1rem; appearance: none; overflow: hidden; }
        progress, progress::-webkit-progress-bar { background: var(--line); }
        progress::-webkit-progress-value { background: var(--accent); border-radius: 1rem; transition: width .2s; }
        progress::-moz-progress-bar { background: var(--accent); border-radius: 1rem; }
        progress:indeterminate {
          background: linear-gradient(90deg, var(--line) 30%, var(--accent) 50%, var(--line) 70%) 0 0 / 300% 100%;
          animation: going 1.6s linear infinite;
        }
        progress:indeterminate::-webkit-progress-bar { background: none; }
        @keyframes going { from { background-position: 150% 0; } to { background-position: 0 0; } }
        #connection {
          position: fixed;
          inset: auto 0 1rem;
          width: fit-content;
          margin: 0 auto;
          padding: .4rem 1rem;
          border-radius: 2rem;
          background: var(--ink);
          color: var(--ground);
          font-size: .875rem;
        }
        #connection[hidden] { display: none; }
        @media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; } }

        """
}
