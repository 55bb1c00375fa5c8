// The platform as this page sees it: who plays, the one connection, and the player's balances.
import { computed, signal } from "@preact/signals";
import { readStored, writeStored } from "../browser/storage";
import { Connection, type ConnectionState, type TableListener } from "./connection";
import type { Balance, MethodName, Mode, OwnViewChanged, Params, PlayerFact, Result } from "./messages";
import { Refusal } from "./refusal";

/** The operator's own pages, from `/front-end.json`; an empty address means that there is no such page. */
interface Operator {
  environment: string;
  login_url: string;
  token_url: string;
  logout_url: string;
  cashier_url: string;
}

interface Login {
  token: string;
  player_id: string;
  expires_at: string;
}

export type Identity = { kind: "nobody" } | { kind: "guest" | "player"; playerId: string };

const NO_PAGES: Operator = { environment: "", login_url: "", token_url: "", logout_url: "", cashier_url: "" };
// Tokens are renewed a little before they expire.
const RENEW_BEFORE_MS = 20_000;
// After so long without activity the player has to log in again (GLI-19 2.5.4): the token is not renewed silently.
const IDLE_MS = 30 * 60_000;

export const operator = signal<Operator>(NO_PAGES);
/** Who plays: nobody yet, a guest with credits, or one of the operator's players. */
export const identity = signal<Identity>({ kind: "nobody" });
/** Why the login ended, until the player logs in again or dismisses it. */
export const loginEndedReason = signal("");
/** Nobody plays any more, and the last one was a guest. */
export const wasGuest = signal(false);
export const balances = signal<Partial<Record<Mode, Balance>>>({});
export const connectionState = computed<ConnectionState>(() => current.value?.state.value ?? "connecting");
/** The page knows who plays, and can be shown. */
export const ready = signal(false);

const current = signal<Connection | null>(null);
let login: Login | null = null;
let lastActive_ms = performance.now();
const factListeners = new Set<(fact: PlayerFact) => void>();
const ownViewListeners = new Set<(own: OwnViewChanged) => void>();
const resyncListeners = new Set<() => void>();

/** Calls a method of the platform. */
export async function call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
  if (!current.value) throw new Refusal("UNAVAILABLE", {}, "", "The page is not connected yet.");
  return current.value.call(method, params);
}

/** Subscribes to a table on the current connection. */
export function watch(tableId: string, listener: TableListener): () => void {
  return current.value?.watch(tableId, listener) ?? (() => undefined);
}

export function onFact(listener: (fact: PlayerFact) => void): () => void {
  factListeners.add(listener);
  return () => factListeners.delete(listener);
}

/** Calls the listener with each change of what the player alone may see of a round. */
export function onOwnView(listener: (own: OwnViewChanged) => void): () => void {
  ownViewListeners.add(listener);
  return () => ownViewListeners.delete(listener);
}

/** Checks that the connection is alive, because something expected has not arrived. */
export function checkConnection(): void {
  current.value?.checkAlive();
}

/** Calls the listener when private facts may have been missed: what they said has to be read again. */
export function onResync(listener: () => void): () => void {
  resyncListeners.add(listener);
  return () => resyncListeners.delete(listener);
}

/** A new id for a command, so that it acts once. */
export function requestId(): string {
  return crypto.randomUUID();
}

/** Finds out who plays, and connects. */
export async function startPlatform(): Promise<void> {
  for (const gesture of ["pointerdown", "keydown"]) addEventListener(gesture, noteActivity, { passive: true });
  operator.value = await fetchOperator();
  const guest = storedGuest();
  if (await fetchLogin()) setIdentity("player");
  else if (guest) {
    login = guest;
    setIdentity("guest");
  } else connect();
  ready.value = true;
}

/** Starts a demonstration: anybody may play for credits. */
export async function enterAsGuest(): Promise<void> {
  if (identity.value.kind !== "nobody") return;
  const entered = await call("GatewayService.EnterDemo", {});
  login = { token: entered.token, player_id: entered.player_id, expires_at: String(entered.expires_at) };
  writeStored("guest", JSON.stringify(login));
  setIdentity("guest");
}

/** Goes to the operator's login page, which leads back here. */
export function logIn(): void {
  const address = new URL(operator.value.login_url);
  address.searchParams.set("return_to", location.href);
  location.assign(address);
}

/** Goes to the operator's cashier, which leads back here. */
export function goToCashier(): void {
  const address = new URL(operator.value.cashier_url);
  address.searchParams.set("return_to", location.href);
  location.assign(address);
}

/** Logs out: all sessions end, and the token becomes invalid. */
export async function logOut(): Promise<void> {
  const wasPlayer = identity.value.kind === "player";
  await call("GatewayService.Logout", {}).catch(() => undefined);
  if (wasPlayer && operator.value.logout_url) {
    await fetch(operator.value.logout_url, { method: "POST", credentials: "include" }).catch(() => undefined);
  }
  clearIdentity("");
}

/** Reads the player's balance. */
export async function readBalance(mode: Mode): Promise<void> {
  if (identity.value.kind === "nobody") return;
  try {
    const found = await call("WalletService.FindAccount", { player_id: identity.value.playerId, mode });
    if (found.balance) updateBalance(found.balance);
  } catch (error) {
    // There is no account yet: entering a demonstration table opens one, with credits.
    if (!(error instanceof Refusal)) throw error;
  }
}

/** Takes a balance over unless a newer one is known. */
export function updateBalance(balance: Balance): void {
  const known = balances.value[balance.mode];
  if (known && known.account_id === balance.account_id && Number(known.version) >= Number(balance.version)) return;
  balances.value = { ...balances.value, [balance.mode]: balance };
}

async function fetchOperator(): Promise<Operator> {
  try {
    const answer = await fetch("/front-end.json");
    return answer.ok ? { ...NO_PAGES, ...(await answer.json()) } : NO_PAGES;
  } catch {
    return NO_PAGES;
  }
}

async function fetchLogin(): Promise<boolean> {
  if (!operator.value.token_url) return false;
  try {
    const answer = await fetch(operator.value.token_url, { credentials: "include" });
    // No content: nobody is logged in.
    if (!answer.ok || answer.status === 204) return false;
    login = await answer.json();
    return true;
  } catch {
    return false;
  }
}

function storedGuest(): Login | null {
  try {
    const stored = JSON.parse(readStored("guest") ?? "null") as Login | null;
    return stored && Date.parse(stored.expires_at) > Date.now() + RENEW_BEFORE_MS ? stored : null;
  } catch {
    return null;
  }
}

function setIdentity(kind: "guest" | "player"): void {
  identity.value = { kind, playerId: login?.player_id ?? "" };
  loginEndedReason.value = "";
  balances.value = {};
  connect();
}

function clearIdentity(reason: string): void {
  const wasSomebody = identity.value.kind !== "nobody";
  if (wasSomebody) wasGuest.value = identity.value.kind === "guest";
  login = null;
  writeStored("guest", "null");
  identity.value = { kind: "nobody" };
  balances.value = {};
  loginEndedReason.value = reason;
  if (wasSomebody) connect();
}

function connect(): void {
  current.value?.close();
  const address = `${location.origin.replace(/^http/, "ws")}/v1/ws`;
  const connection = new Connection(address, { token: currentToken, rejected: clearIdentity });
  connection.onFact((fact) => {
    if (fact.balance_changed?.balance) updateBalance(fact.balance_changed.balance);
    for (const listener of factListeners) listener(fact);
  });
  connection.onOwnView((own) => {
    for (const listener of ownViewListeners) listener(own);
  });
  connection.onResync(() => {
    void readBalance(identity.value.kind === "guest" ? "MODE_DEMO" : "MODE_REAL").catch(() => undefined);
    for (const listener of resyncListeners) listener();
  });
  current.value = connection;
}

function noteActivity(): void {
  lastActive_ms = performance.now();
}

async function currentToken(renew: boolean): Promise<string | null> {
  if (identity.value.kind === "nobody") return null;
  const stale = renew || !login || Date.parse(login.expires_at) < Date.now() + RENEW_BEFORE_MS;
  const idle = performance.now() - lastActive_ms > IDLE_MS;
  if (stale && !idle && identity.value.kind === "player") await fetchLogin();
  return login?.token ?? null;
}
