// A paged list with its states: reading, empty, failed, and the button for the next page.
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "../design/icon";
import { dictionary } from "../words/language";
import { refusalText } from "../words/refusals";
import type { Paged } from "./pages";
import "./paged_list.css";

const pagedListWords = dictionary(
  { reading: "A ler…", more: "Mostrar mais", again: "Tentar de novo" },
  { reading: "Reading…", more: "Show more", again: "Try again" },
);

interface Props<T> {
  pages: Paged<T>;
  icon: IconName;
  /** Shown when the list is empty. */
  nothing: string;
  children: (items: readonly T[]) => ComponentChildren;
}

export function PagedList<T>({ pages, icon, nothing, children }: Props<T>) {
  const { items, more, reading, refusal, readMore, restart } = pages;
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
          {refusalText(refusal, "MODE_REAL")}
          <button type="button" class="button" onClick={items ? readMore : restart}>
            {pagedListWords().again}
          </button>
        </div>
      )}
      {reading && (
        <p class="paged-reading" role="status">
          {pagedListWords().reading}
        </p>
      )}
      {more && !reading && !refusal && (
        <button type="button" class="button paged-more" onClick={readMore} data-testid="show-more">
          {pagedListWords().more}
        </button>
      )}
    </div>
  );
}
