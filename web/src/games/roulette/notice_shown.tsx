// A notice over the board. It takes every tap on itself and goes by one: none of them reaches the places that it hides.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { toCashier } from "../../api/platform";
import { Icon } from "../../design/icon";
import { tableWords } from "../../table/words";
import type { FeltNotice, Notice } from "./felt_notice";
import { words } from "./words";
import "./notice_shown.css";

export function NoticeShown({ notice }: { notice: FeltNotice }) {
  const said = notice.shown.value;
  return (
    // Always there, so that what comes into it is read out.
    <div class="notice-place" role="alert" data-testid="message">
      {said && <Box key={said.text} notice={notice} said={said} />}
    </div>
  );
}

function Box({ notice, said }: { notice: FeltNotice; said: Notice }) {
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
  // Whoever is in it with the keyboard is led back to where he came from when it goes.
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
        // A tap that began on the board and brought this up is no answer to it. Keys click without pressing.
        if (event.detail !== 0 && !pressed.current) event.stopPropagation();
        pressed.current = false;
      }}
      onClick={() => notice.close()}
      onPointerEnter={(event) => event.pointerType === "mouse" && notice.keep()}
      onPointerLeave={() => !box.current?.contains(document.activeElement) && notice.letGo()}
      onFocusIn={(event) => {
        const from = event.relatedTarget;
        if (!(from instanceof Node) || !box.current?.contains(from)) cameFrom.current = from;
        notice.keep();
      }}
      onFocusOut={() => notice.letGo()}
    >
      <p>{said.text}</p>
      {said.wantsMoney && (
        <button type="button" class="button notice-button" onClick={toCashier} data-testid="message-cashier">
          <Icon name="money" />
          {tableWords().cashier}
        </button>
      )}
      <button type="button" class="notice-close" aria-label={words().closeNotice} data-testid="message-close">
        <Icon name="close" />
      </button>
    </div>
  );
}
