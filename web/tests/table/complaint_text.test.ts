// Letters are counted as the platform counts them.
import { expect, it, vi } from "vitest";

vi.stubGlobal("document", { documentElement: {} });
const { letters } = await import("../../src/table/complaint_text");

it("what lies outside the basic plane is one letter", () => {
  expect(letters("não")).toBe(3);
  expect(letters("🎲🎲")).toBe(2);
});
