import { expect, test } from "vitest";
import { createDeferred } from "../../internal/deferred.ts";
import { turns } from "../../testing/engine-harness.ts";
import { CallQueue } from "./call-queue.ts";

test("runs a limited number of calls at a time, the others in their order, also after a call that fails", async () => {
  const queue = new CallQueue({ size: 2, maxWait: 0 });
  const begun: number[] = [];
  const ends = Array.from({ length: 5 }, () => createDeferred<number>());
  const calls = ends.map(({ promise }, n) =>
    queue.run(() => {
      begun.push(n);
      return promise;
    }),
  );
  await turns(1);
  expect(begun).toEqual([0, 1]);
  const failed = expect(calls[1]).rejects.toThrow("broken");
  ends[1]?.reject(new Error("broken"));
  await failed;
  await turns(1);
  expect(begun).toEqual([0, 1, 2]);
  for (const [n, end] of ends.entries()) end.resolve(n);
  expect(await Promise.all(calls.filter((_, n) => n !== 1))).toEqual([0, 2, 3, 4]);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(await queue.run(async () => "free again")).toBe("free again");
});

test("a call that waits too long fails with busy and is not made", async () => {
  const queue = new CallQueue({ size: 1, maxWait: 10 });
  const end = createDeferred<void>();
  const first = queue.run(() => end.promise);
  let isMade = false;
  const second = queue.run(async () => {
    isMade = true;
  });
  await expect(second).rejects.toMatchObject({ code: "busy", message: expect.stringContaining("nothing was sent") });
  end.resolve();
  await first;
  await queue.run(async () => undefined);
  expect(isMade).toBe(false);
});
