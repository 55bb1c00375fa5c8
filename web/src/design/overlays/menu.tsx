// A button that opens a panel of choices. Escape, a click elsewhere or a choice closes it.
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "../icon";
import "./menu.css";

interface Props {
  /** The button's accessible name. */
  label: string;
  icon: IconName;
  /** Shown beside the pictogram. */
  text?: string;
  children: ComponentChildren;
  testId?: string;
}

export function Menu({ label, icon, text, children, testId }: Props) {
  const [open, setOpen] = useState(false);
  const whole = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useId();
  // A layout effect, because an effect that waits for the next frame would miss a quick key.
  useLayoutEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      if (event.target instanceof Node && !whole.current?.contains(event.target)) setOpen(false);
    };
    const escaped = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("focusin", outside);
    document.addEventListener("keydown", escaped);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("focusin", outside);
      document.removeEventListener("keydown", escaped);
    };
  }, [open]);
  return (
    <div class="menu" ref={whole}>
      <button
        ref={button}
        type="button"
        class={text ? "button plain menu-button" : "button plain icon menu-button"}
        aria-expanded={open}
        aria-controls={panel}
        aria-label={label}
        title={label}
        data-testid={testId}
        onClick={() => setOpen(!open)}
      >
        <Icon name={icon} />
        {text && <span class="menu-text">{text}</span>}
      </button>
      {open && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: a choice closes the panel, however it was made; the choices are buttons
        // biome-ignore lint/a11y/noStaticElementInteractions: as above
        <div
          id={panel}
          class="menu-panel"
          // The chosen item disappears with the panel: the focus returns to the button first, so that a dialog can restore it.
          onClickCapture={(event) => closes(event) && button.current?.focus()}
          onClick={(event) => closes(event) && setOpen(false)}
        >
          {children}
        </div>
      )}
    </div>
  );
}

function closes(event: Event): boolean {
  return event.target instanceof Element && event.target.closest("[data-closes]") !== null;
}

interface ItemProps {
  icon: IconName;
  children: ComponentChildren;
  onChoose?: () => void;
  href?: string;
  testId?: string;
}

export function MenuItem({ icon, children, onChoose, href, testId }: ItemProps) {
  const inside = (
    <>
      <Icon name={icon} />
      <span>{children}</span>
    </>
  );
  return href ? (
    <a class="menu-item" href={href} data-closes data-testid={testId}>
      {inside}
    </a>
  ) : (
    <button type="button" class="menu-item" onClick={onChoose} data-closes data-testid={testId}>
      {inside}
    </button>
  );
}
