/// The script of a page. It follows the event stream, replaces changed parts without disturbing what the user is doing, and posts
/// the user's actions. It never makes markup of anything but what the server has escaped.
enum ViewScript {
    static let text = #"""
        "use strict";
        (() => {
          const page = document.getElementById("page");
          const banner = document.getElementById("connection");
          if (!page || !window.EventSource) return;

          // What is typed into a field, until the loop has answered: what was sent, and what the loop said last.
          const drafts = new WeakMap();
          const draft = (input) => {
            if (!drafts.has(input)) drafts.set(input, { sent: [], known: input.defaultValue });
            return drafts.get(input);
          };

          // Actions go out one after the other. Of the texts of one field that wait, the newest counts. A press that cannot
          // be posted is lost, since it may have arrived; a text is posted again.
          const queue = [];
          const unsent = new Map();
          let isPosting = false;
          const post = (action) => {
            const last = queue[queue.length - 1];
            if (action.do === "write" && last && last.do === "write" && last.element === action.element) queue.pop();
            queue.push(action);
            if (!isPosting) next();
          };
          const next = async () => {
            isPosting = true;
            while (queue.length > 0) {
              const action = queue.shift();
              try {
                const answer = await fetch("/", { method: "POST", body: new URLSearchParams(action) });
                if (answer.status === 410) location.reload();
                unsent.delete(action.element);
              } catch {
                banner.hidden = false;
                if (action.do === "write") unsent.set(action.element, action.text);
              }
            }
            isPosting = false;
          };

          page.addEventListener("submit", (event) => {
            event.preventDefault();
            const button = event.submitter;
            if (button && button.value !== "") post({ do: "press", element: button.value });
          });
          page.addEventListener("keydown", (event) => {
            const input = event.target;
            if (event.key !== "Enter" || event.isComposing || !input.dataset || !("field" in input.dataset)) return;
            event.preventDefault();
            if ("submit" in input.dataset) post({ do: "submit", element: input.dataset.field });
          });
          const write = (event) => {
            const input = event.target;
            if (event.isComposing || !input.dataset || !("field" in input.dataset)) return;
            const known = draft(input);
            known.sent.push(input.value);
            if (known.sent.length > 256) known.sent.shift();
            post({ do: "write", element: input.dataset.field, text: input.value });
          };
          page.addEventListener("input", write);
          page.addEventListener("compositionend", write);

          // Buttons that press themselves as soon as they are seen, once for each that appears.
          const seen = new IntersectionObserver((entries) => {
            for (const entry of entries) {
              if (!entry.isIntersecting) continue;
              seen.unobserve(entry.target);
              post({ do: "press", element: entry.target.value });
            }
          });
          const watched = new WeakSet();
          const watch = () => {
            for (const button of page.querySelectorAll("button[data-seen]")) {
              if (watched.has(button)) continue;
              watched.add(button);
              seen.observe(button);
            }
          };

          // The address of the page names what it shows. A link within the page, Back and Forward ask for what they name.
          const named = () => {
            try {
              return decodeURIComponent(location.hash.slice(1));
            } catch {
              return "";
            }
          };
          let address = null;
          const name = () => {
            const shown = page.querySelector("[data-address]");
            if (!shown || shown.dataset.address === address) return;
            const isFirst = address === null;
            address = shown.dataset.address;
            if (isFirst && named() !== "") return visit();
            const hash = "#" + encodeURI(address).replaceAll("#", "%23");
            if (named() !== address) history[isFirst ? "replaceState" : "pushState"](null, "", hash);
          };
          const visit = () => {
            const shown = page.querySelector("[data-address]");
            if (shown && named() !== shown.dataset.address)
              post({ do: "write", element: shown.dataset.element, text: named() });
          };
          window.addEventListener("hashchange", visit);

          // A list of which a window is here. All rows have one height, and what is not here is empty space. A browser cannot
          // show more than some million pixels, so that in a very long list the space stands for more rows.
          const rowHeight = 30;
          const heightMax = 15e6;
          const sizes = (list) => {
            const [count, first] = [Number(list.dataset.count), Number(list.dataset.first)];
            const shown = list.querySelector(".rows").childElementCount;
            const scale = count > shown ? (Math.min(count * rowHeight, heightMax) - shown * rowHeight) / (count - shown) : 0;
            return { count, first, shown, scale };
          };
          // The first row that a list was last scrolled to, until it is here.
          const asked = new WeakMap();
          const lay = () => {
            for (const list of page.querySelectorAll(".window")) {
              const { count, first, shown, scale } = sizes(list);
              const begin = first * scale;
              list.querySelector(".before").style.height = begin + "px";
              list.querySelector(".after").style.height = Math.max(count - shown - first, 0) * scale + "px";
              if (asked.get(list) === first) asked.delete(list);
              // The loop has moved the window by itself. At the top of the last window, scrolling would ask for an earlier one.
              const isSeen = list.scrollTop < begin + shown * rowHeight && list.scrollTop + list.clientHeight > begin;
              const isLast = first > 0 && first + shown >= count;
              if (!isSeen && !asked.has(list)) list.scrollTop = isLast ? list.scrollHeight : begin;
            }
          };
          // Asks for another window when the end of this one comes near.
          const scrolled = (list) => {
            const { count, first, shown, scale } = sizes(list);
            if (scale === 0) return;
            const visible = Math.ceil(list.clientHeight / rowHeight);
            const margin = Math.max(Math.floor((shown - visible) / 2), 0);
            const row = Math.floor((list.scrollTop - first * scale) / rowHeight);
            const isNear = row < margin / 2 && first > 0;
            const isFar = row + visible > shown - margin / 2 && first + shown < count;
            if (!isNear && !isFar) return;
            const top = row < 0 || row > shown ? Math.floor(list.scrollTop / scale) : first + row;
            const wanted = Math.min(Math.max(top - margin, 0), count - shown);
            if (wanted === first) return;
            asked.set(list, wanted);
            post({ do: "write", element: list.dataset.element, text: String(wanted) });
          };
          let isDue = false;
          page.addEventListener("scroll", (event) => {
            if (isDue || !event.target.classList.contains("window")) return;
            isDue = true;
            requestAnimationFrame(() => {
              isDue = false;
              scrolled(event.target);
            });
          }, true);

          // Makes one node like another, keeping every node that stays what it is: with its focus, its selection, its
          // place in scrolling.
          const isSame = (a, b) => a.nodeName === b.nodeName && (a.id || "") === (b.id || "");
          const morph = (from, to) => {
            if (!isSame(from, to)) return from.replaceWith(to);
            if (from.nodeType !== Node.ELEMENT_NODE) {
              if (from.data !== to.data) from.data = to.data;
              return;
            }
            const shown = "field" in from.dataset ? draft(from) : null;
            for (const { name, value } of [...to.attributes])
              if (from.getAttribute(name) !== value) from.setAttribute(name, value);
            for (const { name } of [...from.attributes]) if (!to.hasAttribute(name)) from.removeAttribute(name);
            if (shown) return answer(from, shown, to.defaultValue);
            const wanted = new Set([...to.childNodes].map((node) => node.id).filter((id) => id));
            for (const node of [...from.childNodes]) if (node.id && !wanted.has(node.id)) node.remove();
            const byID = new Map([...from.childNodes].filter((node) => node.id).map((node) => [node.id, node]));
            let place = from.firstChild;
            for (const node of [...to.childNodes]) {
              const match = node.id ? byID.get(node.id) : place && !place.id ? place : null;
              if (!match) {
                from.insertBefore(node, place);
              } else if (!isSame(match, node)) {
                if (match === place) place = place.nextSibling;
                match.replaceWith(node);
                if (node.nextSibling !== place) from.insertBefore(node, place);
              } else {
                if (match === place) place = place.nextSibling;
                else from.insertBefore(match, place);
                morph(match, node);
              }
            }
            while (place) {
              const gone = place;
              place = place.nextSibling;
              gone.remove();
            }
          };
          // The loop's word on a field: what was sent comes back and changes nothing; anything else is shown.
          const answer = (input, known, text) => {
            if (text === known.known) return;
            known.known = text;
            const place = known.sent.indexOf(text);
            if (place >= 0) {
              known.sent.splice(0, place + 1);
              return;
            }
            known.sent = [];
            if (input.value !== text) input.value = text;
          };

          const replace = (id, html) => {
            const from = document.getElementById(id);
            if (!from) return;
            const template = document.createElement("template");
            template.innerHTML = html;
            const to = template.content.firstElementChild;
            if (!to) return;
            const active = document.activeElement;
            const range = active && "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
            morph(from, document.adoptNode(to));
            if (active && active !== document.activeElement && active.isConnected) {
              active.focus({ preventScroll: true });
              if (range && range[0] !== null) active.setSelectionRange(range[0], range[1]);
            }
          };

          const events = new EventSource("/events?revision=" + encodeURIComponent(page.dataset.revision));
          events.onopen = () => {
            banner.hidden = true;
            for (const [element, text] of unsent) post({ do: "write", element, text });
          };
          events.onerror = () => {
            banner.hidden = false;
            // The browser has given up: the server is another one, perhaps.
            if (events.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 3000);
          };
          events.onmessage = (event) => {
            const message = JSON.parse(event.data);
            if (message.reload) return location.reload();
            for (const [id, html] of message.parts) replace(id, html);
            settle();
          };
          const settle = () => {
            lay();
            name();
            watch();
          };
          settle();
        })();

        """#
}
