import { describe, expect, it } from "vitest";
import {
  choose,
  DECISIONS,
  type Decision,
  decide,
  parseRequestedVersion,
  RELATIONS,
  type Relation,
  type RequestedVersion,
  type RequestForm,
  type SupportedVersions,
} from "./negotiate.ts";
import { dialectSettings } from "./options.ts";
import { supportedRows, supportedVersions } from "./registry.ts";
import { createRpcCodec as createRpcCodec0_3 } from "./v0_3/codec.ts";
import { createRpcCodec as createRpcCodec1_0 } from "./v1_0/codec.ts";

function supportedWith(versions?: readonly string[], assumeVersion: "0.3" | "0.2" = "0.3"): SupportedVersions {
  return supportedVersions(supportedRows(versions), dialectSettings({ assumeVersion }));
}

const all = supportedWith();

/** What is done with a request, in short: `0.3`, `not found in 0.3`, `not spoken, says 1.0`. */
function short(decision: Decision): string {
  if ("as" in decision) return decision.as;
  const what = decision.refuse === "method-not-found" ? "not found in" : "not spoken, says";
  return `${what} ${decision.form}`;
}

function claimed(claim: string): RequestedVersion {
  return claim === "none" || claim === "unsupported" ? claim : { named: claim };
}

/** The forms there are: methods or paths of one version, of several, and of none. */
const SPELLINGS: Readonly<Record<string, RequestForm>> = {
  SendMessage: { of: ["1.0"], like: "1.0" },
  "agent/getAuthenticatedExtendedCard": { of: ["0.3"], like: "0.3" },
  "message/send": { of: ["0.3", "0.2"], like: "0.3" },
  "tasks/send": { of: ["0.1"], like: "0.1" },
  "tasks/get": { of: ["0.3", "0.2", "0.1"], like: "0.3" },
  "/a2a/tasks/send": { of: ["plain"], like: "plain" },
  Nothing: { of: [], like: "1.0" },
  "no/thing": { of: [], like: "0.3" },
};

type Row = [claim: string, form: string, relation: Relation, usual: string, lenient?: string, strict?: string];

/** Every claim and spelling, and what is decided by default, by a lenient server and by a strict one, where they differ. */
const ROWS: readonly Row[] = [
  ["1.0", "SendMessage", "agreed", "1.0"],
  ["0.3", "SendMessage", "ahead", "1.0", "1.0", "not found in 0.3"],
  ["0.2", "SendMessage", "ahead", "1.0", "1.0", "not found in 0.2"],
  ["0.1", "SendMessage", "ahead", "1.0", "1.0", "not found in 0.1"],
  ["none", "SendMessage", "silently ahead", "1.0", "1.0", "not found in 0.3"],
  ["unsupported", "SendMessage", "unspoken", "not spoken, says 1.0"],

  ["1.0", "agent/getAuthenticatedExtendedCard", "behind", "not found in 1.0", "0.3", "not found in 1.0"],
  ["0.3", "agent/getAuthenticatedExtendedCard", "agreed", "0.3"],
  ["0.2", "agent/getAuthenticatedExtendedCard", "ahead", "0.3", "0.3", "not found in 0.2"],
  ["0.1", "agent/getAuthenticatedExtendedCard", "ahead", "0.3", "0.3", "not found in 0.1"],
  ["none", "agent/getAuthenticatedExtendedCard", "silent", "0.3"],
  ["unsupported", "agent/getAuthenticatedExtendedCard", "unspoken", "not spoken, says 1.0"],

  ["1.0", "message/send", "behind", "not found in 1.0", "0.3", "not found in 1.0"],
  ["0.3", "message/send", "agreed", "0.3"],
  ["0.2", "message/send", "agreed", "0.2"],
  ["0.1", "message/send", "ahead", "0.3", "0.3", "not found in 0.1"],
  ["none", "message/send", "silent", "0.3"],
  ["unsupported", "message/send", "unspoken", "not spoken, says 1.0"],

  ["1.0", "tasks/send", "behind", "not found in 1.0", "0.1", "not found in 1.0"],
  ["0.3", "tasks/send", "behind", "not found in 0.3", "0.1", "not found in 0.3"],
  ["0.2", "tasks/send", "behind", "not found in 0.2", "0.1", "not found in 0.2"],
  ["0.1", "tasks/send", "agreed", "0.1"],
  ["none", "tasks/send", "silent", "0.1"],
  ["unsupported", "tasks/send", "unspoken", "not spoken, says 1.0"],

  ["1.0", "tasks/get", "behind", "not found in 1.0", "0.3", "not found in 1.0"],
  ["0.3", "tasks/get", "agreed", "0.3"],
  ["0.2", "tasks/get", "agreed", "0.2"],
  ["0.1", "tasks/get", "agreed", "0.1"],
  ["none", "tasks/get", "silent", "0.3"],
  ["unsupported", "tasks/get", "unspoken", "not spoken, says 1.0"],

  ["1.0", "/a2a/tasks/send", "nameless", "plain"],
  ["0.3", "/a2a/tasks/send", "nameless", "plain"],
  ["0.2", "/a2a/tasks/send", "nameless", "plain"],
  ["0.1", "/a2a/tasks/send", "nameless", "plain"],
  ["none", "/a2a/tasks/send", "nameless", "plain"],
  ["unsupported", "/a2a/tasks/send", "nameless", "plain"],

  ["1.0", "Nothing", "unknown", "not found in 1.0"],
  ["0.3", "Nothing", "unknown", "not found in 0.3"],
  ["0.2", "Nothing", "unknown", "not found in 0.2"],
  ["0.1", "Nothing", "unknown", "not found in 0.1"],
  ["none", "Nothing", "unknown", "not found in 1.0"],
  ["unsupported", "Nothing", "unspoken", "not spoken, says 1.0"],

  ["1.0", "no/thing", "unknown", "not found in 1.0"],
  ["0.3", "no/thing", "unknown", "not found in 0.3"],
  ["0.2", "no/thing", "unknown", "not found in 0.2"],
  ["0.1", "no/thing", "unknown", "not found in 0.1"],
  ["none", "no/thing", "unknown", "not found in 0.3"],
  ["unsupported", "no/thing", "unspoken", "not spoken, says 1.0"],
];

interface Asked {
  readonly lenient?: boolean;
  readonly supported?: SupportedVersions;
}

function decided(claim: string, form: string, { lenient, supported = all }: Asked = {}): Decision {
  const known = SPELLINGS[form];
  if (known === undefined) throw new Error(`There is no form ${form}.`);
  return decide({ supported, claim: claimed(claim), form: known, lenient });
}

describe("The decision of how to read a request", () => {
  it.each(ROWS)("of a caller that says %s, spelt %s", (...row) => {
    const [claim, form, relation, usual, lenient = usual, strict = usual] = row;
    expect(short(decided(claim, form))).toBe(usual);
    expect(short(decided(claim, form, { lenient: true }))).toBe(lenient);
    expect(short(decided(claim, form, { lenient: false }))).toBe(strict);
    const { usual: verdict, lenient: whenLenient, strict: whenStrict } = DECISIONS[relation];
    expect([lenient === usual, strict === usual]).toEqual([verdict === whenLenient, verdict === whenStrict]);
  });

  it("is tested for every claim and spelling, and for every row of the table", () => {
    const claims = [...all.requestable, "none", "unsupported"];
    const pairs = Object.keys(SPELLINGS).flatMap((form) => claims.map((claim) => `${claim} ${form}`));
    expect(ROWS.map(([claim, form]) => `${claim} ${form}`)).toEqual(pairs);
    expect(new Set(ROWS.map(([, , relation]) => relation))).toEqual(new Set(RELATIONS));
  });

  it.each([
    ["SendMessage", "1.0", "1.0"],
    ["agent/getAuthenticatedExtendedCard", "0.3", "0.3"],
    ["message/send", "0.2", "0.2"],
    ["tasks/send", "0.1", "0.1"],
    ["tasks/get", "0.2", "0.2"],
  ])("takes callers of %s that say nothing for those of the version assumed, if that has it", (form, as, strict) => {
    const supported = supportedWith(undefined, "0.2");
    expect(short(decided("none", form, { supported }))).toBe(as);
    expect(short(decided("none", form, { supported, lenient: false }))).toBe(
      form === "SendMessage" ? "not found in 0.2" : strict,
    );
  });

  it("knows who may be asking where nobody says it", () => {
    expect(decided("none", "tasks/get")).toEqual({ as: "0.3", among: ["0.3", "0.2", "0.1"] });
    expect(decided("0.3", "tasks/get")).toEqual({ as: "0.3", among: ["0.3"] });
    expect(decided("0.1", "tasks/get")).toEqual({ as: "0.1", among: ["0.1"] });
    expect(decided("none", "message/send")).toEqual({ as: "0.3", among: ["0.3", "0.2"] });
  });

  it("refuses callers that say nothing to a strict server which does not speak what they are taken for", () => {
    const supported = supportedWith(["1.0"]);
    expect(short(decided("none", "SendMessage", { supported }))).toBe("1.0");
    expect(short(decided("none", "SendMessage", { supported, lenient: false }))).toBe("not spoken, says 1.0");
  });
});

describe("The version a caller names", () => {
  it.each<[string | undefined, RequestedVersion]>([
    [undefined, "none"],
    ["", "none"],
    [" ", "none"],
    ["\t", "none"],
    ["1.0", { named: "1.0" }],
    [" 1.0 ", { named: "1.0" }],
    ["1.0.0", { named: "1.0" }],
    ["1.0.1", { named: "1.0" }],
    ["1.0.99999", { named: "1.0" }],
    ["0.3", { named: "0.3" }],
    ["0.3 ", { named: "0.3" }],
    ["0.3.0", { named: "0.3" }],
    ["0.2", { named: "0.2" }],
    ["0.2.6", { named: "0.2" }],
    ["0.1", { named: "0.1" }],
    ["0.1.0", { named: "0.1" }],
  ])("%j is %j", (requested, claim) => {
    expect(parseRequestedVersion(requested, all)).toEqual(claim);
  });

  it.each([
    ...["99.0", "0.0", "0.5", "2.0", "1.1", "0.4", "0.30", "10.0", "plain"],
    ...["1", "0", "v1.0", "1.0beta", "1.0-rc", "1.0.0.0", "1.0.", ".1.0", "01.0", "1.00", "-1.0", "+1.0", "1 .0"],
    ...["garbage", "latest", "1,0", "1.0,0.3", "1.0, 1.0", "0.3;q=1", "none", "unsupported", "toString", "１.０"],
    "9".repeat(5000),
    `1.0${"0".repeat(5000)}`,
  ])("%j is none that is spoken here", (requested) => {
    expect(parseRequestedVersion(requested, all)).toBe("unsupported");
  });

  it("is not spoken where it is turned off", () => {
    const some = supportedWith(["1.0", "0.2"]);
    expect(["1.0", "0.3", "0.2", "0.1"].map((version) => parseRequestedVersion(version, some))).toEqual([
      { named: "1.0" },
      "unsupported",
      { named: "0.2" },
      "unsupported",
    ]);
  });
});

describe("Who speaks to a caller", () => {
  const codecs = new Map([
    ["1.0", createRpcCodec1_0()],
    ["0.3", createRpcCodec0_3(dialectSettings({}))],
  ]);
  const codecFor = (version: string) => {
    const codec = codecs.get(version);
    if (codec === undefined) throw new Error(`${version} is not asked for here.`);
    return codec;
  };
  const situation = (claim: string, form: RequestForm) =>
    choose({ supported: all, claim: claimed(claim), form, lenient: undefined }, codecFor);

  it("is the version a request is read as", () => {
    expect(situation("none", { of: ["0.3"], like: "0.3" })).toEqual({ codec: codecs.get("0.3") });
  });

  it("refuses a version that is not spoken, and says which are", () => {
    const choice = situation("unsupported", { of: ["0.3"], like: "0.3" });
    expect(choice.codec).toBe(codecs.get("1.0"));
    expect(choice.refusal).toMatchObject({
      code: "version-not-supported",
      message: "This server speaks A2A 1.0, 0.3, 0.2, 0.1",
      metadata: { supportedVersions: "1.0,0.3,0.2,0.1" },
    });
  });

  it("refuses a method that the version named does not have, in its form", () => {
    const choice = situation("0.3", { of: [], like: "1.0" });
    expect(choice.codec).toBe(codecs.get("0.3"));
    expect(choice.refusal).toMatchObject({ code: "method-not-found", message: "Method not found" });
  });
});
