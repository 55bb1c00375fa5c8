// The words of caves, presence, leaving and the waiting list.
import type { CaveAtSeat } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import { amount, cents } from "../../../words/money";
import type { RefusalWords } from "../../../words/refusals";
import type { CaveOffers } from "./cave_offers";

interface CaveWords {
  cave: string;
  waiting: (amount: string) => string;
  buyIn: Readonly<Record<CaveOffers["kind"], string>>;
  title: Readonly<Record<CaveOffers["kind"], string>>;
  text: Readonly<Record<CaveOffers["kind"], string>>;
  amount: string;
  bounds: (minimum: string, maximum: string) => string;
  only: (amount: string) => string;
  least: string;
  most: string;
  chips: string;
  commission: string;
  debit: string;
  balance: string;
  tooLittle: string;
  cashier: string;
  nextHand: string;
  confirm: (amount: string) => string;
  later: string;
  fillWithin: (seconds: number) => string;
  sitOut: string;
  comeBack: string;
  comeBackAndPost: string;
  post: string;
  postHint: string;
  rest: string;
  restsLeft: (count: number) => string;
  restingUntil: (time: string) => string;
  standing: Readonly<Partial<Record<CaveAtSeat["standing"], string>>>;
  group: string;
  leave: {
    none: (cave: string) => string;
    in: string;
    all_in: string;
    back: (minutes: number) => string;
  };
  list: {
    join: string;
    hint: string;
    position: (position: number) => string;
    kept: (seat: number) => string;
    keptHint: string;
    keptFor: (seconds: number) => string;
    lost: string;
    take: (seat: number) => string;
    leave: string;
    waiting: (count: number) => string;
  };
  period: {
    open: (begins: string, ends: string) => string;
    registered: (players: number) => string;
    notRegistered: (players: number) => string;
    begun: string;
    over: string;
    register: string;
    cancel: string;
  };
  refusals: RefusalWords;
}

export const caveWords = dictionary<CaveWords>(
  {
    cave: "A sua cave",
    waiting: (more) => `mais ${more} na próxima jogada`,
    buyIn: { initial: "Trazer a cave inicial", refill: "Repor a cave", top_up: "Reforçar a cave" },
    title: { initial: "A sua cave inicial", refill: "Repor a cave", top_up: "Reforçar a cave" },
    text: {
      initial: "Para jogar precisa de fichas na mesa. O que não perder volta ao seu saldo quando sair.",
      refill: "A sua cave não chega para a aposta mínima. Com uma reposição volta a receber cartas.",
      top_up: "Enquanto estiver à mesa, nada sai da cave. Volta ao seu saldo quando sair.",
    },
    amount: "Valor em fichas",
    bounds: (minimum, maximum) => `De ${minimum} a ${maximum}`,
    only: (only) => `Nesta mesa: ${only}`,
    least: "Mínimo",
    most: "Máximo",
    chips: "Fica na cave",
    commission: "Comissão",
    debit: "Sai do saldo",
    balance: "O seu saldo",
    tooLittle: "O saldo não chega para este valor.",
    cashier: "Ir para a caixa",
    nextHand: "Há uma jogada a decorrer: este valor só entra em jogo na próxima.",
    confirm: (chips) => `Trazer ${chips}`,
    later: "Agora não",
    fillWithin: (s) => `Reponha a cave dentro de ${s} s. Depois a sua sessão nesta mesa termina.`,
    sitOut: "Ficar de fora",
    comeBack: "Voltar ao jogo",
    comeBackAndPost: "Voltar já e pagar a grande aposta",
    post: "Entrar já e pagar a grande aposta",
    postHint: "Sem isso, recebe cartas quando a grande aposta chegar ao seu lugar.",
    rest: "Descansar",
    restsLeft: (count) => (count === 1 ? "Tem 1 descanso nesta hora" : `Tem ${count} descansos nesta hora`),
    restingUntil: (time) => `Está a descansar até às ${time}. O lugar fica guardado.`,
    standing: {
      CAVE_STANDING_WAITING: "Espera pela sua primeira jogada",
      CAVE_STANDING_AWAY: "Está de fora: não recebe cartas",
      CAVE_STANDING_SHORT: "A cave está abaixo da aposta mínima",
      CAVE_STANDING_LEAVING: "Sai quando esta jogada acabar",
    },
    group: "A sua cave e a sua presença",
    leave: {
      none: (cave) => `A sua cave de ${cave} volta ao seu saldo.`,
      in: "Está numa jogada: desiste dela na sua vez, e o que já apostou fica no pote. A cave que lhe restar volta ao seu saldo quando a jogada acabar.",
      all_in:
        "Já apostou tudo nesta jogada: ela vale até ao fim sem si, e o que ganhar volta ao seu saldo com o resto da cave.",
      back: (minutes) =>
        `Se voltar a esta mesa dentro de ${minutes} minutos, tem de trazer pelo menos o que leva agora.`,
    },
    list: {
      join: "Entrar na lista de espera",
      hint: "Quando um lugar ficar livre, guardamo-lo durante uns momentos para quem espera há mais tempo.",
      position: (position) => `É o ${position}.º da lista de espera`,
      kept: (seat) => `O lugar ${seat} está guardado para si`,
      keptHint: "Sente-se já: não fica guardado por muito tempo.",
      keptFor: (seconds) => `Fica guardado durante mais ${seconds} s`,
      lost: "Já não está na lista de espera.",
      take: (seat) => `Sentar-me no lugar ${seat}`,
      leave: "Sair da lista de espera",
      waiting: (count) => (count === 1 ? "Espera 1 jogador" : `Esperam ${count} jogadores`),
    },
    period: {
      open: (begins, ends) => `Sessão de ${begins} a ${ends}, só para inscritos`,
      registered: (players) => `Está inscrito. Inscritos: ${players}.`,
      notRegistered: (players) => `Inscreva-se antes de a sessão começar. Inscritos: ${players}.`,
      begun: "As inscrições acabaram quando a sessão começou.",
      over: "A sessão desta mesa acabou.",
      register: "Inscrever-me",
      cancel: "Anular a inscrição",
    },
    refusals: {
      CAVE_OUT_OF_BOUNDS: (facts, mode) => {
        const [least, most] = [cents(facts["minimum_cents"]), cents(facts["maximum_cents"])];
        if (!most) return "A sua cave não aceita mais fichas agora. Nada lhe foi cobrado.";
        return `Pode trazer de ${amount(least, mode)} a ${amount(most, mode)}. Nada lhe foi cobrado.`;
      },
      INSUFFICIENT_FUNDS: "O saldo não chega para este valor. Nada lhe foi cobrado.",
      REST_REFUSED: "Já não tem descansos nesta hora. Pode ficar de fora sem descanso.",
      POST_REFUSED: "Agora não pode pagar a grande aposta para entrar. Recebe cartas quando ela chegar ao seu lugar.",
      WAITING_LIST_FULL: (facts) =>
        facts["limit"]
          ? `A lista de espera está cheia: já esperam ${facts["limit"]}.`
          : "A lista de espera está cheia.",
      ALREADY_SEATED: "Já está sentado a esta mesa.",
      NOT_SEATED: "Já não está sentado a esta mesa. Sente-se de novo para jogar.",
    },
  },
  {
    cave: "Your stack",
    waiting: (more) => `${more} more in the next hand`,
    buyIn: { initial: "Buy in", refill: "Rebuy", top_up: "Top up" },
    title: { initial: "Buy in", refill: "Rebuy", top_up: "Top up" },
    text: {
      initial: "To play you need chips on the table. What you do not lose goes back to your balance when you leave.",
      refill: "Your stack does not cover the minimum bet. After a rebuy you are dealt in again.",
      top_up: "While you sit here nothing leaves your stack. It goes back to your balance when you leave.",
    },
    amount: "Amount in chips",
    bounds: (minimum, maximum) => `${minimum} to ${maximum}`,
    only: (only) => `At this table: ${only}`,
    least: "Minimum",
    most: "Maximum",
    chips: "Added to your stack",
    commission: "Commission",
    debit: "Taken from your balance",
    balance: "Your balance",
    tooLittle: "Your balance is too low for this amount.",
    cashier: "Go to the cashier",
    nextHand: "A hand is under way: this amount is in play from the next one on.",
    confirm: (chips) => `Buy in for ${chips}`,
    later: "Not now",
    fillWithin: (s) => `Rebuy within ${s} s. Your session at this table ends otherwise.`,
    sitOut: "Sit out",
    comeBack: "Come back",
    comeBackAndPost: "Come back now and post the big blind",
    post: "Enter now and post the big blind",
    postHint: "Otherwise you are dealt in when the big blind reaches your seat.",
    rest: "Take a rest",
    restsLeft: (count) => (count === 1 ? "You have 1 rest in this hour" : `You have ${count} rests in this hour`),
    restingUntil: (time) => `You are resting until ${time}. Your seat is kept.`,
    standing: {
      CAVE_STANDING_WAITING: "You wait for your first hand",
      CAVE_STANDING_AWAY: "You sit out: you are not dealt in",
      CAVE_STANDING_SHORT: "Your stack is below the minimum bet",
      CAVE_STANDING_LEAVING: "You leave when this hand is over",
    },
    group: "Your stack and your presence",
    leave: {
      none: (cave) => `Your stack of ${cave} goes back to your balance.`,
      in: "You are in a hand: it is folded in your turn, and what you have bet stays in the pot. What is left of your stack goes back to your balance when the hand is over.",
      all_in:
        "You have bet everything in this hand: it counts to its end without you, and what you win goes back to your balance with the rest of your stack.",
      back: (minutes) =>
        `If you come back to this table within ${minutes} minutes, you have to bring at least what you take with you now.`,
    },
    list: {
      join: "Join the waiting list",
      hint: "When a seat falls free we keep it for a while for whoever has waited longest.",
      position: (position) => `You are number ${position} on the waiting list`,
      kept: (seat) => `Seat ${seat} is kept for you`,
      keptHint: "Sit down now: it is not kept for long.",
      keptFor: (seconds) => `It is kept for ${seconds} s more`,
      lost: "You are not on the waiting list any more.",
      take: (seat) => `Sit down on seat ${seat}`,
      leave: "Leave the waiting list",
      waiting: (count) => (count === 1 ? "1 player waits" : `${count} players wait`),
    },
    period: {
      open: (begins, ends) => `Session from ${begins} to ${ends}, for registered players only`,
      registered: (players) => `You are registered. Registered players: ${players}.`,
      notRegistered: (players) => `Register before the session begins. Registered players: ${players}.`,
      begun: "Registration ended when the session began.",
      over: "This table's session is over.",
      register: "Register",
      cancel: "Cancel my registration",
    },
    refusals: {
      CAVE_OUT_OF_BOUNDS: (facts, mode) => {
        const [least, most] = [cents(facts["minimum_cents"]), cents(facts["maximum_cents"])];
        if (!most) return "Your stack takes no more chips now. You were not charged.";
        return `You can bring ${amount(least, mode)} to ${amount(most, mode)}. You were not charged.`;
      },
      INSUFFICIENT_FUNDS: "Your balance is too low for this amount. You were not charged.",
      REST_REFUSED: "You have no rests left in this hour. You can sit out without one.",
      POST_REFUSED: "You cannot post the big blind to enter now. You are dealt in when it reaches your seat.",
      WAITING_LIST_FULL: (facts) =>
        facts["limit"] ? `The waiting list is full: ${facts["limit"]} wait already.` : "The waiting list is full.",
      ALREADY_SEATED: "You sit at this table already.",
      NOT_SEATED: "You no longer sit at this table. Sit down again to play.",
    },
  },
);
