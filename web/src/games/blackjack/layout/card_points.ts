// Where cards come from and go to on the page.
import { createContext, type RefObject } from "preact";

export interface CardPoints {
  shoe: RefObject<HTMLDivElement>;
  discards: RefObject<HTMLDivElement>;
}

export const CardPointsContext = createContext<CardPoints | null>(null);
