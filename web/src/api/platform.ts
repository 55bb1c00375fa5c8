// The platform as this page sees it: who plays, the one connection, and his money.
import { computed, signal } from "@preact/signals";
import { recall, remember } from "../memory";
import { Connection, type LineState, type TableListener } from "./connection";
import type { Balance, MethodName, Mode, Params, PlayerFact, Result } from "./messages";
import { Refusal } from "./refusal";

/** Where the operator's own pages are: `/front-end.json`. An empty address is a page that he does not have. */
interface Operator {
  environment: string;
  login_url: string;
  token_url: string;
  logout_url: string;
  cashier_url: string;
}

interface Pass {
  token: string;
  player_id: string;
  expires_at: string;
}

export type Who = { kind: "nobody" } | { kind: "guest" | "player"; playerId: string };

const NOWHERE: Operator = { environment: "", login_url: "", token_url: "", logout_url: "", cashier_url: "" };
// A token is not used in its last moments.
const SPARE_MS = 20_000;
// Who has done nothing for this long has to log in anew (GLI-19 2.5.4): his token is not renewed behind his back.
const IDLE_MS = 30 * 60_000;

export const operator = signal<Operator>(NOWHERE);
/** Who plays here: nobody yet, a guest with credits, or a player of the operator's. */
export const who = signal<Who>({ kind: "nobody" });
/** Why he was shut out, until he is in again. */
export const shutOut = signal("");
/** Nobody plays any more, and it was a guest who did. */
export const guestBefore = signal(false);
export const balances = signal<Partial<Record<Mode, Balance>>>({});
export const lineState = computed<LineState>(() => line.value?.state.value ?? "connecting");
/** The page knows who plays, and can be shown. */
export const ready = signal(false);

const line = signal<Connection | null>(null);
let pass: Pass | null = null;
let touched_ms = performance.now();
const factListeners = new Set<(fact: PlayerFact) => void>();
const afreshListeners = new Set<() => void>();

/** Ask the platform. */
export async function call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
  if (!line.value) throw new Refusal("UNAVAILABLE", {}, "", "The page is not connected yet.");
  return line.value.call(method, params);
}

/** Watch a table on whatever connection there is. */
export function watch(tableId: string, listener: TableListener): () => void {
  return line.value?.watch(tableId, listener) ?? (() => undefined);
}

export function onFact(listener: (fact: PlayerFact) => void): () => void {
  factListeners.add(listener);
  return () => factListeners.delete(listener);
}

/** Something should have been heard by now: the line may be dead. */
export function doubtLine(): void {
  line.value?.doubt();
}

/** Private facts may have been missed: read again what they told. */
export function onAfresh(listener: () => void): () => void {
  afreshListeners.add(listener);
  return () => afreshListeners.delete(listener);
}

/** A name for a command, so that it acts once. */
export function requestId(): string {
  return crypto.randomUUID();
}

/** Begin: find out who plays here, and connect. */
export async function begin(): Promise<void> {
  for (const doing of ["pointerdown", "keydown"]) addEventListener(doing, touched, { passive: true });
  operator.value = await settings();
  const guest = rememberedGuest();
  if (await fetchPass()) become("player");
  else if (guest) {
    pass = guest;
    become("guest");
  } else connect();
  ready.value = true;
}

/** Anybody may try, for credits. */
export async function enterAsGuest(): Promise<void> {
  if (who.value.kind !== "nobody") return;
  const entered = await call("GatewayService.EnterDemo", {});
  pass = { token: entered.token, player_id: entered.player_id, expires_at: String(entered.expires_at) };
  remember("guest", JSON.stringify(pass));
  become("guest");
}

/** To the operator's own login, and back to where one was. */
export function logIn(): void {
  const address = new URL(operator.value.login_url);
  address.searchParams.set("return_to", location.href);
  location.assign(address);
}

/** To the operator's cashier, and back. */
export function toCashier(): void {
  const address = new URL(operator.value.cashier_url);
  address.searchParams.set("return_to", location.href);
  location.assign(address);
}

/** All sessions end, and the token opens nothing any more. */
export async function logOut(): Promise<void> {
  const wasPlayer = who.value.kind === "player";
  await call("GatewayService.Logout", {}).catch(() => undefined);
  if (wasPlayer && operator.value.logout_url) {
    await fetch(operator.value.logout_url, { method: "POST", credentials: "include" }).catch(() => undefined);
  }
  leave("");
}

/** Read what he has. */
export async function readBalance(mode: Mode): Promise<void> {
  if (who.value.kind === "nobody") return;
  try {
    const found = await call("WalletService.FindAccount", { player_id: who.value.playerId, mode });
    if (found.balance) newer(found.balance);
  } catch (error) {
    // No account yet: one gets credits, and an account for them, by entering a table.
    if (!(error instanceof Refusal)) throw error;
  }
}

/** A balance was told; the newer one counts. */
export function newer(balance: Balance): void {
  const known = balances.value[balance.mode];
  if (known && known.account_id === balance.account_id && Number(known.version) >= Number(balance.version)) return;
  balances.value = { ...balances.value, [balance.mode]: balance };
}

async function settings(): Promise<Operator> {
  try {
    const answer = await fetch("/front-end.json");
    return answer.ok ? { ...NOWHERE, ...(await answer.json()) } : NOWHERE;
  } catch {
    return NOWHERE;
  }
}

async function fetchPass(): Promise<boolean> {
  if (!operator.value.token_url) return false;
  try {
    const answer = await fetch(operator.value.token_url, { credentials: "include" });
    if (!answer.ok) return false;
    pass = await answer.json();
    return true;
  } catch {
    return false;
  }
}

function rememberedGuest(): Pass | null {
  try {
    const kept = JSON.parse(recall("guest") ?? "null") as Pass | null;
    return kept && Date.parse(kept.expires_at) > Date.now() + SPARE_MS ? kept : null;
  } catch {
    return null;
  }
}

function become(kind: "guest" | "player"): void {
  who.value = { kind, playerId: pass?.player_id ?? "" };
  shutOut.value = "";
  balances.value = {};
  connect();
}

function leave(reason: string): void {
  const wasSomebody = who.value.kind !== "nobody";
  if (wasSomebody) guestBefore.value = who.value.kind === "guest";
  pass = null;
  remember("guest", "null");
  who.value = { kind: "nobody" };
  balances.value = {};
  shutOut.value = reason;
  if (wasSomebody) connect();
}

function connect(): void {
  line.value?.close();
  const address = `${location.origin.replace(/^http/, "ws")}/v1/ws`;
  const connection = new Connection(address, { token, shutOut: leave });
  connection.onFact((fact) => {
    if (fact.balance_changed?.balance) newer(fact.balance_changed.balance);
    for (const listener of factListeners) listener(fact);
  });
  connection.onAfresh(() => {
    void readBalance(who.value.kind === "guest" ? "MODE_DEMO" : "MODE_REAL").catch(() => undefined);
    for (const listener of afreshListeners) listener();
  });
  line.value = connection;
}

function touched(): void {
  touched_ms = performance.now();
}

async function token(anew: boolean): Promise<string | null> {
  if (who.value.kind === "nobody") return null;
  const stale = anew || !pass || Date.parse(pass.expires_at) < Date.now() + SPARE_MS;
  const idle = performance.now() - touched_ms > IDLE_MS;
  if (stale && !idle && who.value.kind === "player") await fetchPass();
  return pass?.token ?? null;
}
