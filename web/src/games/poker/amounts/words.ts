// The words of an amount that is being chosen.
import { dictionary } from "../../../words/language";
import type { AmountProblem } from "./typed_amount";

interface AmountWords {
  less: string;
  more: string;
  slider: string;
  problem: (problem: AmountProblem, minimum: string, maximum: string) => string;
}

export const amountWords = dictionary<AmountWords>(
  {
    less: "Menos",
    more: "Mais",
    slider: "com o cursor",
    problem: (problem, minimum, maximum) => {
      const bounds = minimum === maximum ? `só ${minimum}` : `de ${minimum} a ${maximum}`;
      if (problem === "unreadable") return `Escreva um valor como 12,50. São possíveis valores ${bounds}.`;
      return problem === "below"
        ? `É pouco: o mínimo é ${minimum}. São possíveis valores ${bounds}.`
        : `É demasiado: o máximo é ${maximum}. São possíveis valores ${bounds}.`;
    },
  },
  {
    less: "Less",
    more: "More",
    slider: "with the slider",
    problem: (problem, minimum, maximum) => {
      const bounds = minimum === maximum ? `only ${minimum}` : `${minimum} to ${maximum}`;
      if (problem === "unreadable") return `Type an amount such as 12.50. Possible: ${bounds}.`;
      return problem === "below"
        ? `Too little: the minimum is ${minimum}. Possible: ${bounds}.`
        : `Too much: the maximum is ${maximum}. Possible: ${bounds}.`;
    },
  },
);
