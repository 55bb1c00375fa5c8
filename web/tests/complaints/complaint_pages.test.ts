// Complaints of several accounts are read as one list: none is lost, none comes twice.
import { beforeEach, describe, expect, it, vi } from "vitest";

const call = vi.fn();
vi.mock("../../src/api/platform", () => ({ call: (...asked: unknown[]) => call(...asked) }));
const { readComplaints } = await import("../../src/complaints/complaint_pages");

/** Sets the platform's complaints: the pages of each account, in order. */
function holds(pages: Record<string, string[][]>): void {
  call.mockImplementation(async (_: string, { account_id, page_token }: Record<string, string>) => {
    const at = page_token ? Number(page_token.split("|")[1]) : 0;
    const more = at + 1 < (pages[account_id as string]?.length ?? 0);
    return {
      complaints: pages[account_id as string]?.[at]?.map((reference) => ({ reference })) ?? [],
      // Tokens are the platform's own, and opaque.
      next_page_token: more ? `p|${at + 1}` : "",
    };
  });
}

async function all(accounts: string[]): Promise<string[]> {
  const found: string[] = [];
  let token = "";
  do {
    const page = await readComplaints(accounts, token);
    found.push(...page.items.map(({ reference }) => reference));
    token = page.next;
  } while (token);
  return found;
}

describe("complaints", () => {
  beforeEach(() => {
    call.mockReset();
  });

  it("of one account come page by page", async () => {
    holds({ real: [["a", "b"], ["c"]] });
    expect(await all(["real"])).toEqual(["a", "b", "c"]);
    expect(call).toHaveBeenCalledTimes(2);
  });

  it("of two accounts come one account after the other", async () => {
    holds({ real: [["a", "b"], ["c"]], demo: [["d"], ["e"]] });
    expect(await all(["real", "demo"])).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("an account without any hides no other's", async () => {
    holds({ real: [[]], demo: [["d"]] });
    expect(await all(["real", "demo"])).toEqual(["d"]);
    holds({ real: [["a"]], demo: [[]] });
    expect(await all(["real", "demo"])).toEqual(["a"]);
  });

  it("without an account there are none", async () => {
    expect(await all([])).toEqual([]);
    expect(call).not.toHaveBeenCalled();
  });
});
