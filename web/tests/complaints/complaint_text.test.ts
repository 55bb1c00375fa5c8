// Characters are counted as the platform counts them.
import { expect, it, vi } from "vitest";

vi.stubGlobal("document", { documentElement: {} });
const { countCharacters } = await import("../../src/complaints/complaint_text");

it("a character outside the basic plane counts as one", () => {
  expect(countCharacters("não")).toBe(3);
  expect(countCharacters("🎲🎲")).toBe(2);
});
