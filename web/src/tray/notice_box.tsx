// A notice over the felt. A tap closes it, and never reaches the places that it hides.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { goToCashier } from "../api/platform";
import { Icon } from "../design/icon";
import type { BettingNotice, Notice } from "./betting_notice";
import { trayWords } from "./words";
import "./notice_box.css";

export function NoticeBox({ notice }: { notice: BettingNotice }) {
  const shown = notice.shown.value;
  return (
    // Always in the page, so that screen readers announce its content.
    <div class="notice-place" role="alert" data-testid="message">
      {shown && <OpenNotice key={shown.text} notice={notice} shown={shown} />}
    </div>
  );
}

function OpenNotice({ notice, shown }: { notice: BettingNotice; shown: Notice }) {
  const box = useRef<HTMLDivElement>(null);
  const pressed = useRef(false);
  const cameFrom = useRef<EventTarget | null>(null);
  useEffect(() => {
    const escaped = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) notice.close();
    };
    document.addEventListener("keydown", escaped);
    return () => document.removeEventListener("keydown", escaped);
  }, [notice]);
  // A focus within the notice returns to where it came from when the notice closes.
  useLayoutEffect(() => {
    const here = box.current;
    return () => {
      const back = cameFrom.current;
      if (here?.contains(document.activeElement) && (back instanceof HTMLElement || back instanceof SVGElement)) {
        back.focus();
      }
    };
  }, []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a tap anywhere is a convenience; its button does the same
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape and its button do the same
    <div
      ref={box}
      class="notice"
      onPointerDown={() => {
        pressed.current = true;
      }}
      onClickCapture={(event) => {
        // The tap on the felt that caused the notice does not close it. Keys click without a pointer.
        if (event.detail !== 0 && !pressed.current) event.stopPropagation();
        pressed.current = false;
      }}
      onClick={() => notice.close()}
      onPointerEnter={(event) => event.pointerType === "mouse" && notice.keepOpen()}
      onPointerLeave={() => !box.current?.contains(document.activeElement) && notice.closeLater()}
      onFocusIn={(event) => {
        const from = event.relatedTarget;
        if (!(from instanceof Node) || !box.current?.contains(from)) cameFrom.current = from;
        notice.keepOpen();
      }}
      onFocusOut={() => notice.closeLater()}
    >
      <p>{shown.text}</p>
      {shown.offersCashier && (
        <button type="button" class="button notice-button" onClick={goToCashier} data-testid="message-cashier">
          <Icon name="money" />
          {trayWords().cashier}
        </button>
      )}
      <button type="button" class="notice-close" aria-label={trayWords().closeNotice} data-testid="message-close">
        <Icon name="close" />
      </button>
    </div>
  );
}
