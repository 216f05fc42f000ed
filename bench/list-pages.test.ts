import { expect, test } from "vitest";
import { BUSY_CONTEXT, seededTask } from "./dataset.ts";
import { PAGE_SIZE, pagesOf } from "./list-pages.ts";

const SIZE = 5_000;
const pages = pagesOf(SIZE);

function page(filter: string, place: string) {
  const found = pages.find((one) => one.filter === filter && one.place === place);
  if (found === undefined) throw new Error(`No page ${place} of ${filter}`);
  return found;
}

test("the first page contains the newest tasks and needs no token", () => {
  const { ids, params, total } = page("no filter", "first");
  expect(ids[0]).toBe(seededTask(SIZE - 1).id);
  expect(ids).toHaveLength(PAGE_SIZE);
  expect(total).toBe(SIZE);
  expect(params.pageToken).toBeUndefined();
});

test("the last page ends with the oldest task", () => {
  expect(page("no filter", "last").ids.at(-1)).toBe(seededTask(0).id);
});

test("the busy context contains about a tenth, and every filter matches tasks except one for an unused state", () => {
  expect(page("a busy context", "first").total / SIZE).toBeCloseTo(0.1, 1);
  expect(page("a busy context", "first").params.contextId).toBe(BUSY_CONTEXT);
  const empty = pages.filter(({ total }) => total === 0).map(({ filter }) => filter);
  expect(new Set(empty).isSubsetOf(new Set(["working", "rejected in a small context"]))).toBe(true);
});

test("a small context contains few tasks", () => {
  expect(page("a small context", "first").total).toBeLessThan(PAGE_SIZE);
});

test("ids rise with time, so that ties never decide the order", () => {
  const ids = Array.from({ length: 100 }, (_, index) => seededTask(index).id);
  expect(ids).toEqual(ids.toSorted());
});
