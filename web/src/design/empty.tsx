// Fills a page or a part of it that has nothing to show: says so, and offers what to do about it.
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon";
import "./empty.css";

interface Props {
  icon: IconName;
  title: string;
  children?: ComponentChildren;
  actions?: ComponentChildren;
  /** The title is the page's main heading. */
  page?: boolean;
  testId?: string;
}

export function Empty({ icon, title, children, actions, page, testId }: Props) {
  const Heading = page ? "h1" : "h2";
  return (
    <section class="empty" data-testid={testId}>
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <Heading tabIndex={-1}>{title}</Heading>
      {children && <div class="empty-words">{children}</div>}
      {actions && <div class="row empty-actions">{actions}</div>}
    </section>
  );
}
