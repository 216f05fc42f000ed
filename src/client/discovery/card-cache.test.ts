import { describe, expect, it } from "vitest";
import { createDeferred } from "../../internal/deferred.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import type { DocumentAnswer } from "../http/fetch-document.ts";
import { type CardCacheOptions, createCardCache, type DocumentRequest } from "./card-cache.ts";

const MINUTE = 60_000;
const URL_A = "https://a.example/.well-known/agent-card.json";

type Fields = Readonly<Record<string, string>>;

/** A cache with a fake clock, and a server that records its requests. */
class Trial {
  readonly clock = new FakeClock();
  readonly cache;
  readonly asked: Fields[] = [];
  #next: () => Promise<DocumentAnswer> = async () => answer(200);

  constructor(options: CardCacheOptions = {}) {
    this.cache = createCardCache({ clock: this.clock, ...options });
  }

  /** Sets the response for later requests. */
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

describe("the card cache", () => {
  it("keeps a card without cache headers for 5 minutes, and then fetches it again", async () => {
    const trial = new Trial();
    await trial.get();
    trial.clock.adjust(trial.clock.now() + 5 * MINUTE - 1);
    await trial.get();
    expect(trial.asked).toHaveLength(1);
    trial.clock.adjust(trial.clock.now() + 1);
    await trial.get();
    expect(trial.asked).toEqual([{}, {}]);
  });

  it("revalidates a stale card, and keeps it for as long as the 304 response allows", async () => {
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

  it("replaces a card that has changed", async () => {
    const trial = new Trial();
    trial.answers(answer(200, { "last-modified": "x", "cache-control": "no-cache" }, "old"));
    await trial.get();
    trial.answers(answer(200, {}, "new"));
    expect(await trial.get()).toMatchObject({ text: "new" });
    expect(await trial.get()).toMatchObject({ text: "new" });
    expect(trial.asked).toEqual([{}, { "if-modified-since": "x" }]);
  });

  it("revalidates a fresh card if the caller asks for it", async () => {
    const trial = new Trial();
    trial.answers(answer(200, { etag: '"1"' }));
    await trial.get();
    await trial.get({ revalidate: true });
    expect(trial.asked).toEqual([{}, { "if-none-match": '"1"' }]);
  });

  it.each([
    ["has no-store", answer(200, { "cache-control": "no-store" })],
    ["varies by unknown criteria (Vary: *)", answer(200, { vary: "*" })],
    ["is a 404", answer(404)],
    ["is a 500", answer(500)],
  ])("does not store a response that %s", async (_what, given) => {
    const trial = new Trial();
    trial.answers(given);
    await trial.get();
    await trial.get();
    expect(trial.asked).toHaveLength(2);
    expect(trial.cache.size).toBe(0);
  });

  it("removes a card that the server no longer has", async () => {
    const trial = new Trial({ staleIfError: 10 * MINUTE });
    await trial.get();
    trial.clock.adjust(trial.clock.now() + 6 * MINUTE);
    trial.answers(answer(404));
    expect(await trial.get()).toMatchObject({ status: 404 });
    expect(trial.cache.size).toBe(0);
  });

  it("stores one card per value of a header that Vary names", async () => {
    const trial = new Trial();
    trial.answers(answer(200, { vary: "A2A-Version" }));
    await trial.get({ headers: { "A2A-Version": "x" } });
    await trial.get({ headers: { "a2a-version": "y" } });
    await trial.get({ headers: { "a2a-version": "x", accept: "application/json" } });
    await trial.get();
    expect(trial.asked).toHaveLength(3);
  });

  it("does not return the card of one caller to another", async () => {
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

  it("returns a stale card while the server is unreachable, for `staleIfError` milliseconds", async () => {
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

  it("reports failures without `staleIfError`, and fetches again the next time", async () => {
    const trial = new Trial();
    const failure = new Error("refused");
    trial.answers(failure);
    await expect(trial.get()).rejects.toBe(failure);
    trial.answers(answer(200));
    expect(await trial.get()).toMatchObject({ status: 200 });
  });

  it("sends one request for concurrent callers", async () => {
    const trial = new Trial();
    const given = createDeferred<DocumentAnswer>();
    trial.answers(given.promise);
    const all = [trial.get(), trial.get(), trial.get({ headers: { accept: "x" } })];
    given.resolve(answer(200));
    await Promise.all(all);
    expect(trial.asked).toEqual([{}, { accept: "x" }]);
  });

  it("lets one concurrent caller abort without the others", async () => {
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

  it("aborts the request when the last caller aborts", async () => {
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

  it("keeps at most `maxEntries` cards, and removes the least recently used one", async () => {
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

  it("limits the total size of the cards", async () => {
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
