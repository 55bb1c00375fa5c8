// The mark and the name, which link to the lobby from every page.
import { addressOf } from "../browser/routes";
import { dictionary } from "../words/language";
import "./brand.css";

const brandWords = dictionary({ toLobby: "ir para as mesas" }, { toLobby: "to the tables" });

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 64 64" aria-hidden="true">
      <circle cx="32" cy="32" r="31" fill="#0e6b45" />
      <circle cx="32" cy="32" r="26" fill="none" stroke="#e2bd6b" stroke-width="3" stroke-dasharray="10.2 6.13" />
      <circle cx="32" cy="32" r="17" fill="#0b4d33" stroke="#e2bd6b" stroke-width="2" />
      <path d="M26 42V22h14v4H31v5h8v4h-8v7z" fill="#f5efe0" />
    </svg>
  );
}

export function Brand({ short }: { short?: boolean }) {
  const { toLobby } = brandWords();
  return (
    <a
      class="brand"
      href={addressOf({ page: "lobby" })}
      aria-label={`Feltro: ${toLobby}`}
      title={toLobby}
      data-testid="to-lobby"
    >
      <Mark />
      {!short && <span>Feltro</span>}
    </a>
  );
}
