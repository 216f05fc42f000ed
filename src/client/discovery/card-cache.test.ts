import { describe, expect, it } from "vitest";
import { createDeferred } from "../../internal/deferred.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import type { DocumentAnswer } from "../http/fetch-document.ts";
import { type CardCacheOptions, createCardCache, type DocumentRequest } from "./card-cache.ts";

const MINUTE = 60_000;
const URL_A = "https://a.example/.well-known/agent-card.json";

type Fields = Readonly<Record<string, string>>;

/** A cache on a clock that stands still, in front of a server that counts what it is asked. */
class Trial {
  readonly clock = new FakeClock();
  readonly cache;
  readonly asked: Fields[] = [];
  #next: () => Promise<DocumentAnswer> = async () => answer(200);

  constructor(options: CardCacheOptions = {}) {
    this.cache = createCardCache({ clock: this.clock, ...options });
  }

  /** What the server answers from now on. */
  answers(next: DocumentAnswer | Error | Promise<DocumentAnswer>): void {
    this.#next = async () => {
      if (next instanceof Error) throw next;
      return next;
    };
  }

  get(request: Partial<DocumentRequest> = {}): Promise<DocumentAnswer> {
    return this.cache.get({ url: URL_A, headers: {}, ...request }, async (headers) => {
      this.asked.push(headers);
      return this.#next();
    });
  }
}

function answer(status: number, headers: Fields = {}, text = "{}"): DocumentAnswer {
  return { status, headers: new Headers(headers), url: URL_A, text };
}

describe("the cache of cards", () => {
  it("gives a card without headers again for five minutes, and then asks anew", async () => {
    const trial = new Trial();
    await trial.get();
    trial.clock.adjust(trial.clock.now() + 5 * MINUTE - 1);
    await trial.get();
    expect(trial.asked).toHaveLength(1);
    trial.clock.adjust(trial.clock.now() + 1);
    await trial.get();
    expect(trial.asked).toEqual([{}, {}]);
  });

  it("asks whether an old card still holds, and goes on with it for as long as the server then says", async () => {
    const trial = new Trial();
    trial.answers(answer(200, { etag: '"1"', "cache-control": "max-age=60" }, '{"n":1}'));
    await trial.get();
    trial.clock.adjust(trial.clock.now() + MINUTE);
    trial.answers(answer(304, { "cache-control": "max-age=600" }, ""));
    expect(await trial.get()).toMatchObject({ status: 200, text: '{"n":1}' });
    trial.clock.adjust(trial.clock.now() + 9 * MINUTE);
    expect(await trial.get()).toMatchObject({ text: '{"n":1}' });
    expect(trial.asked).toEqual([{}, { "if-none-match": '"1"' }]);
  });

  it("takes the new card where the old one no longer holds", async () => {
    const trial = new Trial();
    trial.answers(answer(200, { "last-modified": "x", "cache-control": "no-cache" }, "old"));
    await trial.get();
    trial.answers(answer(200, {}, "new"));
    expect(await trial.get()).toMatchObject({ text: "new" });
    expect(await trial.get()).toMatchObject({ text: "new" });
    expect(trial.asked).toEqual([{}, { "if-modified-since": "x" }]);
  });

  it("asks about a fresh card where the caller wants to be sure", async () => {
    const trial = new Trial();
    trial.answers(answer(200, { etag: '"1"' }));
    await trial.get();
    await trial.get({ revalidate: true });
    expect(trial.asked).toEqual([{}, { "if-none-match": '"1"' }]);
  });

  it.each([
    ["must not be kept", answer(200, { "cache-control": "no-store" })],
    ["differs by what cannot be known", answer(200, { vary: "*" })],
    ["is none", answer(404)],
    ["is broken", answer(500)],
  ])("does not keep what %s", async (_what, given) => {
    const trial = new Trial();
    trial.answers(given);
    await trial.get();
    await trial.get();
    expect(trial.asked).toHaveLength(2);
    expect(trial.cache.size).toBe(0);
  });

  it("forgets a card that is gone", async () => {
    const trial = new Trial({ staleIfError: 10 * MINUTE });
    await trial.get();
    trial.clock.adjust(trial.clock.now() + 6 * MINUTE);
    trial.answers(answer(404));
    expect(await trial.get()).toMatchObject({ status: 404 });
    expect(trial.cache.size).toBe(0);
  });

  it("keeps what depends on a header apart by that header", async () => {
    const trial = new Trial();
    trial.answers(answer(200, { vary: "A2A-Version" }));
    await trial.get({ headers: { "A2A-Version": "x" } });
    await trial.get({ headers: { "a2a-version": "y" } });
    await trial.get({ headers: { "a2a-version": "x", accept: "application/json" } });
    await trial.get();
    expect(trial.asked).toHaveLength(3);
  });

  it("does not give to one caller what was answered to another", async () => {
    const trial = new Trial();
    trial.answers(answer(200, {}, "for ada"));
    await trial.get({ headers: { authorization: "Bearer ada" } });
    trial.answers(answer(200, {}, "for bob"));
    expect(await trial.get({ headers: { authorization: "Bearer bob" } })).toMatchObject({ text: "for bob" });
    expect(await trial.get({ headers: { authorization: "Bearer ada" } })).toMatchObject({ text: "for ada" });
    trial.answers(answer(200, {}, "for all"));
    expect(await trial.get()).toMatchObject({ text: "for all" });
    trial.answers(answer(200, {}, "for eve"));
    expect(await trial.get({ headers: { authorization: "Bearer eve" } })).toMatchObject({ text: "for eve" });
  });

  it("serves an old card while the agent is not there, if told to", async () => {
    for (const failure of [new Error("refused"), answer(503)]) {
      const trial = new Trial({ staleIfError: 10 * MINUTE });
      await trial.get();
      trial.clock.adjust(trial.clock.now() + 6 * MINUTE);
      trial.answers(failure);
      expect(await trial.get()).toMatchObject({ status: 200 });
      trial.clock.adjust(trial.clock.now() + 10 * MINUTE);
      if (failure instanceof Error) await expect(trial.get()).rejects.toBe(failure);
      else expect(await trial.get()).toMatchObject({ status: 503 });
    }
  });

  it("tells of failures where it is not told to, and asks again the next time", async () => {
    const trial = new Trial();
    const failure = new Error("refused");
    trial.answers(failure);
    await expect(trial.get()).rejects.toBe(failure);
    trial.answers(answer(200));
    expect(await trial.get()).toMatchObject({ status: 200 });
  });

  it("asks once for all who ask at the same time", async () => {
    const trial = new Trial();
    const given = createDeferred<DocumentAnswer>();
    trial.answers(given.promise);
    const all = [trial.get(), trial.get(), trial.get({ headers: { accept: "x" } })];
    given.resolve(answer(200));
    await Promise.all(all);
    expect(trial.asked).toEqual([{}, { accept: "x" }]);
  });

  it("lets one of them give up without the others", async () => {
    const trial = new Trial();
    const given = createDeferred<DocumentAnswer>();
    trial.answers(given.promise);
    const one = new AbortController();
    const quitter = trial.get({ signal: one.signal });
    const other = trial.get();
    one.abort(new Error("enough"));
    await expect(quitter).rejects.toThrow("enough");
    given.resolve(answer(200));
    expect(await other).toMatchObject({ status: 200 });
    expect(trial.asked).toHaveLength(1);
  });

  it("stops asking when nobody waits any more", async () => {
    const { cache } = new Trial();
    const control = new AbortController();
    const given = createDeferred<AbortSignal>();
    const asking = cache.get({ url: URL_A, headers: {}, signal: control.signal }, (_headers, signal) => {
      given.resolve(signal);
      return new Promise(() => {});
    });
    const signal = await given.promise;
    expect(signal.aborted).toBe(false);
    control.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
    expect(signal.aborted).toBe(true);
  });

  it("keeps no more than it may, and lets go of what was used least recently", async () => {
    const trial = new Trial({ maxEntries: 2 });
    await trial.get({ url: "https://a.example/1" });
    await trial.get({ url: "https://a.example/2" });
    await trial.get({ url: "https://a.example/1" });
    await trial.get({ url: "https://a.example/3" });
    await trial.get({ url: "https://a.example/1" });
    expect(trial.asked).toHaveLength(3);
    await trial.get({ url: "https://a.example/2" });
    expect(trial.asked).toHaveLength(4);
    expect(trial.cache.size).toBe(2);
  });

  it("keeps no more text than it may", async () => {
    const trial = new Trial({ maxLength: 10 });
    trial.answers(answer(200, {}, "123456"));
    await trial.get({ url: "https://a.example/1" });
    await trial.get({ url: "https://a.example/2" });
    expect(trial.cache.size).toBe(1);
    trial.answers(answer(200, {}, "12345678901"));
    await trial.get({ url: "https://a.example/3" });
    expect(trial.cache.size).toBe(1);
    trial.cache.clear();
    expect(trial.cache.size).toBe(0);
  });
});
