// A dialog over the page: the browser's own, so that focus, Escape and screen readers work as expected.
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { dictionary } from "../../words/language";
import { Icon } from "../icon";

const sheetWords = dictionary({ close: "Fechar" }, { close: "Close" });

interface Props {
  title: string;
  children: ComponentChildren;
  /** Buttons at the foot. */
  actions?: ComponentChildren;
  wide?: boolean;
  /** Absent where the player has to choose an action. */
  onClose?: () => void;
  testId?: string;
}

export function Sheet({ title, children, actions, wide, onClose, testId }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    shown?.showModal();
    return () => {
      shown?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? "sheet wide" : "sheet"}
      aria-labelledby={heading}
      data-testid={testId}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      // A click beside the sheet lands on the dialog itself.
      onClick={(event) => event.target === dialog.current && onClose?.()}
      onKeyDown={() => undefined}
    >
      <div class="sheet-body">
        <div class="sheet-head">
          {/* The title is read first: the browser focuses it when the dialog opens. */}
          <h2 id={heading} tabIndex={-1} autofocus>
            {title}
          </h2>
          {onClose && (
            <button type="button" class="button plain icon" onClick={onClose} aria-label={sheetWords().close}>
              <Icon name="close" />
            </button>
          )}
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
        <div class="sheet-content stack" tabIndex={0}>
          {children}
        </div>
        {actions && <div class="sheet-foot">{actions}</div>}
      </div>
    </dialog>
  );
}
