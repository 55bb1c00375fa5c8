"""Records what a page receives, sends and shows, in the order in which it happens.

Its script runs before the page's own: it gets every message before the page does, and reads the page each time that
anything has changed, before it is drawn. No moment is missed, and none depends on speed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from playwright.sync_api import BrowserContext, Page

from tests.browser.driver.rest import Json

_SCRIPT = """
(() => {
  const log = [];
  const sockets = [];
  window.recording = { log, sockets };

  const PlainWebSocket = window.WebSocket;
  window.WebSocket = class extends PlainWebSocket {
    constructor(...parameters) {
      super(...parameters);
      sockets.push(this);
      this.addEventListener("message", ({ data }) => {
        const message = JSON.parse(data);
        if (message.method) log.push({ ...message.params, kind: "received", method: message.method });
      });
    }
    send(text) {
      const { method, params } = JSON.parse(text);
      if (method !== "authenticate") log.push({ kind: "sent", method, params, text });
      super.send(text);
    }
  };

  const one = (id) => document.querySelector(`[data-testid="${id}"]`);
  const all = (selector) => [...document.querySelectorAll(selector)];
  // Every number stands on these, whichever is drawn; clocks count, and people come and go.
  const CHANGING = ["board", "racetrack", "wheel", "played", "phase", "company"];
  const LEFT_OUT = CHANGING.map((id) => `[data-testid=${id}]`).join(", ");
  const otherTexts = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      if (text.data.trim() && !text.parentElement.closest(LEFT_OUT)) found.push(text.data.trim());
    }
    return found;
  };
  const picture = () => {
    const roulette = one("roulette");
    if (!roulette) return null;
    return {
      stage: roulette.dataset.stage,
      phase: one("phase")?.dataset.stage,
      headline: one("phase")?.querySelector("[role=status]")?.textContent,
      seconds: one("seconds-left")?.dataset.seconds ?? null,
      balance: one("balance")?.dataset.cents ?? null,
      lastNumbers: all("[data-testid=last-numbers] li").map((number) => number.dataset.number),
      closed: document.querySelector(".board-drawn")?.classList.contains("shut") ?? true,
      marked: one("marker")?.dataset.number ?? null,
      wheelNumber: document.querySelector(".wheel-called")?.textContent ?? null,
      verdict: one("outcome-called")?.dataset.verdict ?? null,
      outcomeText: one("outcome-called")?.textContent ?? "",
      chips: all("[data-own]").map((pile) => pile.dataset.own),
      collectedChips: all("[data-own].gone").map((pile) => pile.dataset.own),
      prizes: Object.fromEntries(all("[data-prize]").map((pile) => [pile.dataset.prize, Number(pile.dataset.cents)])),
      otherChips: all("[data-other]").map((mark) => mark.dataset.other),
      otherChipsLost: all("[data-other].lost").map((mark) => mark.dataset.other),
      announcements: all("[role=status], [role=alert], [aria-live]").map((part) => part.textContent).filter(Boolean),
      otherTexts: otherTexts(),
      title: document.title,
    };
  };
  let before = "";
  const look = () => {
    const now = picture();
    const text = JSON.stringify(now);
    if (!now || text === before) return;
    before = text;
    log.push({ kind: "page", ...now });
  };
  new MutationObserver(look).observe(document, {
    subtree: true, childList: true, characterData: true, attributes: true,
    attributeFilter: ["class", "data-stage", "data-cents", "data-number", "data-verdict", "data-seconds"],
  });
})();
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One message received or sent, or one state of the page."""

    kind: str
    content: Json

    def is_event(self, event: str, round_id: str = "") -> bool:
        """Whether it is a table's event of that kind, of that round."""
        if self.kind != "received" or event not in self.content:
            return False
        told = self.content[event]
        return round_id in {"", told.get("round_id") or told.get("round", {}).get("round_id")}

    def is_stage(self, stage: str) -> bool:
        """Whether it is a state of the page at that stage of the result."""
        return self.kind == "page" and self.content["stage"] == stage


@dataclass(frozen=True, slots=True)
class Recording:
    """Entries in their order."""

    entries: Sequence[Entry]

    @property
    def page_states(self) -> list[Json]:
        """The states of the page, one for each change."""
        return [moment.content for moment in self.entries if moment.kind == "page"]

    @property
    def sent_messages(self) -> list[Json]:
        """What the page sent."""
        return [moment.content for moment in self.entries if moment.kind == "sent"]

    def table_events(self, event: str) -> list[Json]:
        """The table's events of a kind."""
        return [moment.content[event] for moment in self.entries if moment.is_event(event)]

    def since_event(self, event: str, round_id: str = "") -> Recording:
        """The entries from the first event of a kind on, of a round if it is named."""
        return Recording(self.entries[self._first(lambda moment: moment.is_event(event, round_id), event) :])

    def until_event(self, event: str, round_id: str = "") -> Recording:
        """The entries before the first event of a kind, of a round if it is named."""
        return Recording(self.entries[: self._first(lambda moment: moment.is_event(event, round_id), event)])

    def since_stage(self, stage: str) -> Recording:
        """The entries from the first state at a stage on."""
        return Recording(self.entries[self._first(lambda moment: moment.is_stage(stage), stage) :])

    def until_stage(self, stage: str) -> Recording:
        """The entries before the first state at a stage."""
        return Recording(self.entries[: self._first(lambda moment: moment.is_stage(stage), stage)])

    def stages(self) -> list[str]:
        """The stages that the page showed, one after the other."""
        return [stage for stage, _ in groupby(str(seen["stage"]) for seen in self.page_states)]

    def _first(self, so: Callable[[Entry], bool], name: str) -> int:
        for at, moment in enumerate(self.entries):
            if so(moment):
                return at
        raise AssertionError(f"{name} never came")


def record_pages(context: BrowserContext) -> None:
    """Records the pages that this context opens from now on."""
    context.add_init_script(_SCRIPT)


def recording_of(page: Page) -> Recording:
    """The recording of a page until now."""
    log = page.evaluate("() => window.recording.log")
    return Recording([Entry(entry.pop("kind"), entry) for entry in log])
