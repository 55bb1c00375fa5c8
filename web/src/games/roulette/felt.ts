// One felt with all that lies on it: it hears the table and tells its parts.
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { OwnSeat, TableEvent, TableSnapshot } from "../../api/messages";
import { balances, call, newer, operator, requestId } from "../../api/platform";
import type { Refusal } from "../../api/refusal";
import { serverNow } from "../../api/server_clock";
import { recall, remember } from "../../memory";
import { heldBack } from "../../table/held_balance";
import type { LiveTable } from "../../table/live_table";
import { refusalWords } from "../../table/refusal_words";
import { type Cents, cents } from "../../words/money";
import { BetSlip } from "./bet_slip";
import { type CallBet, components, type Laid, type Layout, laid, NOTHING, type Place, sum } from "./bets";
import { BetsOfOthers } from "./bets_of_others";
import { type Chip, chipsOf } from "./chips";
import { FeltNotice } from "./felt_notice";
import { sayOwnBets } from "./felt_said";
import { hearLastSeconds } from "./felt_seconds";
import { FeltStory, type Told } from "./felt_story";
import { ownRound } from "./own_round";
import { chipDown, chipsCollected, noMoreBets, prize } from "./sounds";
import { words } from "./words";

// Other players' chips need not fall one by one: a table of 200 is drawn a few times a second.
const OTHERS_EVERY_MS = 150;

export class Felt {
  readonly slip: BetSlip;
  readonly others = new BetsOfOthers((then) => setTimeout(() => requestAnimationFrame(then), OTHERS_EVERY_MS));
  readonly story: FeltStory;
  readonly places: ReadonlyMap<string, Place>;
  readonly callBets: ReadonlyMap<string, CallBet>;
  readonly chips: readonly Chip[];
  readonly chosen = signal<Chip>({ value: 0, colour: 0 });
  /** The place or call bet that is pointed at, or has the keyboard. */
  readonly pointed = signal<string | null>(null);
  /** Where the tab key comes to on the board. */
  readonly tabbed = signal<string | null>(null);
  /** What the next click would put down. */
  readonly aimed: ReadonlySignal<Laid>;
  readonly litPlaces: ReadonlySignal<ReadonlySet<string>>;
  readonly litNumbers: ReadonlySignal<ReadonlySet<string>>;
  /** What the player has to be told; each time anew. */
  readonly notice = new FeltNotice(later);
  /** What a screen reader is told of his own bets, as they come to count. */
  readonly said = signal("");
  /** Own chips as they are to be seen: those of the round that is being told, or of the one that is open. */
  readonly shown: ReadonlySignal<Laid>;
  /** Own chips that count: once a round is paid, those of the next. */
  readonly counting: ReadonlySignal<Laid>;
  readonly bettable: ReadonlySignal<boolean>;

  /** Bets are taken no more, and the outcome is not known yet. */
  private readonly closed = signal(false);

  constructor(
    readonly table: LiveTable,
    readonly layout: Layout,
  ) {
    this.places = new Map(layout.places.map((place) => [place.place, place]));
    this.callBets = new Map(layout.call_bets.map((bet) => [bet.place, bet]));
    const minimum = Math.min(...layout.places.map((place) => cents(place.minimum_cents)));
    const highest = Math.max(...layout.places.map((place) => cents(place.maximum_cents)));
    this.chips = chipsOf(minimum, highest);
    const remembered = this.chips.find(({ colour }) => String(colour) === recall("chip"));
    this.chosen.value = remembered ?? this.chips[0] ?? this.chosen.value;
    this.slip = new BetSlip(table.tableId.value, layout, {
      call,
      requestId,
      newer,
      free: () => {
        const balance = balances.value[table.mode.value];
        return balance ? { cents: cents(balance.free_cents), version: balance.version } : null;
      },
      say: (refusal) => this.refused(refusal),
      later,
    });
    this.story = new FeltStory(layout, {
      now: () => performance.now(),
      platform: serverNow,
      later,
      still: () => matchMedia("(prefers-reduced-motion: reduce)").matches,
    });
    this.shown = computed(() => (this.story.told.value ? this.story.told.value.bets : this.slip.felt.value));
    this.counting = computed(() => {
      const told = this.story.told.value;
      if (told && this.story.stage.value !== "paid") return told.bets;
      return told && !this.slip.round.value ? NOTHING : this.slip.felt.value;
    });
    this.bettable = computed(() => {
      const stage = this.story.stage.value;
      const told = stage === "quiet" || (stage === "paid" && table.individual.value);
      return told && this.slip.round.value !== null && table.doing.value === "playing";
    });
    this.aimed = computed(() => {
      const name = this.pointed.value;
      // While a round is being told nothing else is lit.
      if (!name || !this.bettable.value) return NOTHING;
      const { value } = this.chosen.value;
      const callBet = this.callBets.get(name);
      return callBet ? components(callBet, value) : sum([[name, value]]);
    });
    this.litPlaces = computed(() => new Set(this.aimed.value.keys()));
    this.litNumbers = computed(() => {
      const numbers = [...this.litPlaces.value].flatMap((name) => this.places.get(name)?.numbers ?? []);
      return new Set(numbers);
    });
  }

  /** Live with the table; what is returned ends it. */
  begin(): () => void {
    const snapshot = this.table.snapshot.value;
    if (snapshot) this.picture(snapshot, this.table.own.value);
    const ends = [
      this.table.onPicture((table, own) => this.picture(table, own)),
      this.table.onEvent((event, table) => this.happened(event, table)),
      this.catchUp(),
      hearLastSeconds(this.table),
      effect(() => {
        const stage = this.story.stage.value;
        const staked = (this.story.told.peek()?.staked_cents ?? 0) > 0;
        if (stage === "collected" && staked) chipsCollected();
        if (stage === "paid" && (this.story.told.peek()?.payout_cents ?? 0) > 0) prize();
      }),
      effect(() => {
        const stage = this.story.stage.value;
        heldBack.value = stage === "quiet" ? this.closed.value : stage !== "paid";
      }),
      sayOwnBets(this),
    ];
    return () => {
      for (const end of ends) end();
      this.story.end();
      this.notice.close();
      heldBack.value = true;
    };
  }

  choose(chip: Chip): void {
    this.notice.close();
    this.chosen.value = chip;
    remember("chip", String(chip.colour));
  }

  /** A chip of the chosen kind on a place, or on each component of a call bet. */
  put(place: string): void {
    if (!this.goOn()) this.say(words().bars.closed);
    else if (this.slip.put(place, this.chosen.value.value)) chipDown();
  }

  repeat(): void {
    if (this.goOn()) this.slip.repeat();
  }

  double(): void {
    if (this.goOn() && this.slip.double()) chipDown();
  }

  spin(): void {
    if (this.goOn()) void this.slip.spin();
  }

  say(text: string, wantsMoney = false): void {
    this.notice.say(text, wantsMoney);
  }

  /** The amount that the next click on a place puts down. */
  cost(place: string): Cents {
    const units = this.callBets.get(place)?.units ?? 1;
    return units * this.chosen.value.value;
  }

  /** What the bets of a round that is told won beyond their stakes. */
  prize({ bets, number }: Told): Cents {
    let prize = 0;
    for (const [place, value] of bets) {
      if (this.story.covers(place, number)) prize += (value * (this.places.get(place)?.prize_halves ?? 0)) / 2;
    }
    return prize;
  }

  /** The result has been seen once the player bets again; before, no chip falls. */
  private goOn(): boolean {
    if (!this.bettable.value) return false;
    this.story.dismiss();
    // Whatever he had to be told is behind him.
    this.notice.close();
    return true;
  }

  private refused(refusal: Refusal): void {
    const mode = this.table.mode.value;
    const wantsMoney =
      refusal.reason === "INSUFFICIENT_FUNDS" && mode === "MODE_REAL" && operator.value.cashier_url !== "";
    this.say(refusalWords(refusal, mode), wantsMoney);
  }

  /** What was bet between the table's picture and the first word heard here is asked for. */
  private catchUp(): () => void {
    const heard: TableEvent[] = [];
    const ends = [
      this.table.onEvent((event) => heard.push(event)),
      this.table.onPicture(() => {
        wanted = false;
      }),
    ];
    let wanted = true;
    const end = () => {
      wanted = false;
      for (const each of ends) each();
    };
    call("TableService.GetTable", { table_id: this.table.tableId.value })
      .then(({ table }) => {
        if (!wanted || !table) return;
        const seat = this.table.own.value?.seat;
        this.others.picture(table.bets, seat);
        for (const event of heard) if (Number(event.seq) > Number(table.seq)) this.othersBet(event);
      })
      .catch(() => undefined)
      .finally(end);
    return end;
  }

  private othersBet({ bets_placed, bets_taken_back, round_opened }: TableEvent): void {
    const seat = this.table.own.value?.seat;
    if (bets_placed && bets_placed.seat !== seat) this.others.placed(bets_placed.seat, laid(bets_placed.bets));
    else if (bets_taken_back && bets_taken_back.seat !== seat) {
      this.others.takenBack(bets_taken_back.seat, laid(bets_taken_back.bets));
    } else if (round_opened) this.others.clear();
  }

  private picture(table: TableSnapshot, own: OwnSeat | null): void {
    const mine = laid(table.bets.find(({ seat }) => seat === own?.seat)?.bets);
    const stakes = (own?.stakes ?? []).map(({ bets }) => laid(bets));
    this.others.picture(table.bets, own?.seat);
    const missed = this.story.picture(table, mine);
    if (missed) this.ask(missed);
    this.closed.value = table.phase === "PHASE_CLOSED" || table.phase === "PHASE_DRAWN";
    this.slip.restore(openRound(table), mine, stakes, takeBackForbidden(table));
  }

  /** What a round came to whose end was not heard here. */
  private ask(round_id: string): void {
    ownRound(this.table.tableId.value, round_id).then(
      (brought) => this.story.learns(round_id, brought),
      () => this.story.learnsNothing(round_id),
    );
  }

  private happened(event: TableEvent, table: TableSnapshot): void {
    const seat = this.table.own.value?.seat;
    const { bets_placed, bets_taken_back, betting_closed, round_opened, round_void, table_resting } = event;
    this.othersBet(event);
    if (bets_placed && bets_placed.seat === seat) this.slip.ownPlaced(laid(bets_placed.bets));
    else if (bets_taken_back && bets_taken_back.seat === seat) this.slip.ownTakenBack(laid(bets_taken_back.bets));
    else if (betting_closed) {
      this.slip.closed();
      this.closed.value = true;
      noMoreBets();
    } else if (round_opened || round_void || table_resting) this.closed.value = false;
    this.story.happened(event, table, { seat, bets: this.slip.felt.value });
    if (round_void || table_resting) {
      this.slip.returned();
      this.others.clear();
    } else if (round_opened) {
      this.slip.opened(round_opened.round?.round_id ?? "", takeBackForbidden(table));
    }
  }
}

function openRound(table: TableSnapshot): string | null {
  return table.phase === "PHASE_BETTING" ? (table.round?.round_id ?? null) : null;
}

function takeBackForbidden(table: TableSnapshot): boolean {
  return table.configuration?.take_back_forbidden ?? false;
}

function later(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
}
