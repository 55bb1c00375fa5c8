// Tabs of which one is shown; arrow keys move between them.
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import "./tabs.css";

interface Tab<Name extends string> {
  name: Name;
  label: string;
}

interface Props<Name extends string> {
  label: string;
  tabs: readonly Tab<Name>[];
  shown: Name;
  show: (name: Name) => void;
  children: ComponentChildren;
}

export function Tabs<Name extends string>({ label, tabs, shown, show, children }: Props<Name>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const step = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    const at = (tabs.findIndex((tab) => tab.name === shown) + by + tabs.length) % tabs.length;
    const next = tabs[at];
    if (!next) return;
    show(next.name);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[at]?.focus();
  };
  return (
    <div class="tabs">
      <div class="tabs-list" role="tablist" aria-label={label} ref={list}>
        {tabs.map(({ name, label: text }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === shown}
            aria-controls={`${id}-panel`}
            tabIndex={name === shown ? 0 : -1}
            onClick={() => show(name)}
            onKeyDown={step}
          >
            {text}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${shown}`}>
        {children}
      </div>
    </div>
  );
}
