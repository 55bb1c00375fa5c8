// Around a list that is read in pages: waiting, nothing there, an error in words, and the button to read on.
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "../design/icon";
import { refusalWords } from "../table/refusal_words";
import { dictionary } from "../words/language";
import type { Paged } from "./pages";
import "./paged_list.css";

const words = dictionary(
  { reading: "A ler…", more: "Mostrar mais", again: "Tentar de novo" },
  { reading: "Reading…", more: "Show more", again: "Try again" },
);

interface Props<T> {
  pages: Paged<T>;
  icon: IconName;
  /** What is said when there is nothing. */
  nothing: string;
  children: (items: readonly T[]) => ComponentChildren;
}

export function PagedList<T>({ pages, icon, nothing, children }: Props<T>) {
  const { items, more, reading, refusal, readOn, afresh } = pages;
  return (
    <div class="paged">
      {items && items.length > 0 && children(items)}
      {items?.length === 0 && !refusal && (
        <p class="paged-nothing" data-testid="nothing">
          <Icon name={icon} />
          {nothing}
        </p>
      )}
      {refusal && (
        <div class="paged-nothing" role="alert">
          <Icon name="warning" />
          {refusalWords(refusal, "MODE_REAL")}
          <button type="button" class="button" onClick={items ? readOn : afresh}>
            {words().again}
          </button>
        </div>
      )}
      {reading && (
        <p class="paged-reading" role="status">
          {words().reading}
        </p>
      )}
      {more && !reading && !refusal && (
        <button type="button" class="button paged-more" onClick={readOn} data-testid="show-more">
          {words().more}
        </button>
      )}
    </div>
  );
}
