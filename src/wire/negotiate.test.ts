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
  const settings = dialectSettings({ versions, assumeVersion });
  return supportedVersions(supportedRows(settings), settings);
}

const all = supportedWith();

/** The decision as a short text: `0.3`, `not found in 0.3`, `unsupported, in 1.0`. */
function short(decision: Decision): string {
  if (!("refuse" in decision)) return decision.version;
  return `${decision.refuse === "method-not-found" ? "not found in" : "unsupported, in"} ${decision.version}`;
}

function requestedVersion(text: string): RequestedVersion {
  return text === "none" || text === "unsupported" ? text : { version: text };
}

/** Methods and paths of one version, of several versions and of no version. */
const FORMS: Readonly<Record<string, RequestForm>> = {
  SendMessage: { definedBy: ["1.0"], closest: "1.0" },
  "agent/getAuthenticatedExtendedCard": { definedBy: ["0.3"], closest: "0.3" },
  "message/send": { definedBy: ["0.3", "0.2"], closest: "0.3" },
  "tasks/send": { definedBy: ["0.1"], closest: "0.1" },
  "tasks/get": { definedBy: ["0.3", "0.2", "0.1"], closest: "0.3" },
  "/a2a/tasks/send": { definedBy: ["plain"], closest: "plain" },
  Nothing: { definedBy: [], closest: "1.0" },
  "no/thing": { definedBy: [], closest: "0.3" },
};

type Row = [requested: string, form: string, relation: Relation, byDefault: string, lenient?: string, strict?: string];

/** Every requested version with every method or path: the decision by default, and with `lenient` true and false where it differs. */
const ROWS: readonly Row[] = [
  ["1.0", "SendMessage", "match", "1.0"],
  ["0.3", "SendMessage", "newer", "1.0", "1.0", "not found in 0.3"],
  ["0.2", "SendMessage", "newer", "1.0", "1.0", "not found in 0.2"],
  ["0.1", "SendMessage", "newer", "1.0", "1.0", "not found in 0.1"],
  ["none", "SendMessage", "header missing", "1.0", "1.0", "not found in 0.3"],
  ["unsupported", "SendMessage", "unsupported", "unsupported, in 1.0"],

  ["1.0", "agent/getAuthenticatedExtendedCard", "older", "not found in 1.0", "0.3", "not found in 1.0"],
  ["0.3", "agent/getAuthenticatedExtendedCard", "match", "0.3"],
  ["0.2", "agent/getAuthenticatedExtendedCard", "newer", "0.3", "0.3", "not found in 0.2"],
  ["0.1", "agent/getAuthenticatedExtendedCard", "newer", "0.3", "0.3", "not found in 0.1"],
  ["none", "agent/getAuthenticatedExtendedCard", "header optional", "0.3"],
  ["unsupported", "agent/getAuthenticatedExtendedCard", "unsupported", "unsupported, in 1.0"],

  ["1.0", "message/send", "older", "not found in 1.0", "0.3", "not found in 1.0"],
  ["0.3", "message/send", "match", "0.3"],
  ["0.2", "message/send", "match", "0.2"],
  ["0.1", "message/send", "newer", "0.3", "0.3", "not found in 0.1"],
  ["none", "message/send", "header optional", "0.3"],
  ["unsupported", "message/send", "unsupported", "unsupported, in 1.0"],

  ["1.0", "tasks/send", "older", "not found in 1.0", "0.1", "not found in 1.0"],
  ["0.3", "tasks/send", "older", "not found in 0.3", "0.1", "not found in 0.3"],
  ["0.2", "tasks/send", "older", "not found in 0.2", "0.1", "not found in 0.2"],
  ["0.1", "tasks/send", "match", "0.1"],
  ["none", "tasks/send", "header optional", "0.1"],
  ["unsupported", "tasks/send", "unsupported", "unsupported, in 1.0"],

  ["1.0", "tasks/get", "older", "not found in 1.0", "0.3", "not found in 1.0"],
  ["0.3", "tasks/get", "match", "0.3"],
  ["0.2", "tasks/get", "match", "0.2"],
  ["0.1", "tasks/get", "match", "0.1"],
  ["none", "tasks/get", "header optional", "0.3"],
  ["unsupported", "tasks/get", "unsupported", "unsupported, in 1.0"],

  ["1.0", "/a2a/tasks/send", "unversioned", "plain"],
  ["0.3", "/a2a/tasks/send", "unversioned", "plain"],
  ["0.2", "/a2a/tasks/send", "unversioned", "plain"],
  ["0.1", "/a2a/tasks/send", "unversioned", "plain"],
  ["none", "/a2a/tasks/send", "unversioned", "plain"],
  ["unsupported", "/a2a/tasks/send", "unversioned", "plain"],

  ["1.0", "Nothing", "unknown", "not found in 1.0"],
  ["0.3", "Nothing", "unknown", "not found in 0.3"],
  ["0.2", "Nothing", "unknown", "not found in 0.2"],
  ["0.1", "Nothing", "unknown", "not found in 0.1"],
  ["none", "Nothing", "unknown", "not found in 1.0"],
  ["unsupported", "Nothing", "unsupported", "unsupported, in 1.0"],

  ["1.0", "no/thing", "unknown", "not found in 1.0"],
  ["0.3", "no/thing", "unknown", "not found in 0.3"],
  ["0.2", "no/thing", "unknown", "not found in 0.2"],
  ["0.1", "no/thing", "unknown", "not found in 0.1"],
  ["none", "no/thing", "unknown", "not found in 0.3"],
  ["unsupported", "no/thing", "unsupported", "unsupported, in 1.0"],
];

interface DecideOptions {
  readonly lenient?: boolean;
  readonly supported?: SupportedVersions;
}

function decided(requested: string, form: string, { lenient, supported = all }: DecideOptions = {}): Decision {
  const known = FORMS[form];
  if (known === undefined) throw new Error(`No such form: ${form}.`);
  return decide({ supported, requested: requestedVersion(requested), form: known, lenient });
}

describe("decide", () => {
  it.each(ROWS)("requested version %s, method or path %s: %s", (...row) => {
    const [requested, form, relation, byDefault, lenient = byDefault, strict = byDefault] = row;
    expect(short(decided(requested, form))).toBe(byDefault);
    expect(short(decided(requested, form, { lenient: true }))).toBe(lenient);
    expect(short(decided(requested, form, { lenient: false }))).toBe(strict);
    const { default: verdict, lenient: whenLenient, strict: whenStrict } = DECISIONS[relation];
    expect([lenient === byDefault, strict === byDefault]).toEqual([verdict === whenLenient, verdict === whenStrict]);
  });

  it("is tested for every requested version with every form, and for every row of DECISIONS", () => {
    const requests = [...all.requestable, "none", "unsupported"];
    const pairs = Object.keys(FORMS).flatMap((form) => requests.map((requested) => `${requested} ${form}`));
    expect(ROWS.map(([requested, form]) => `${requested} ${form}`)).toEqual(pairs);
    expect(new Set(ROWS.map(([, , relation]) => relation))).toEqual(new Set(RELATIONS));
  });

  it.each([
    ["SendMessage", "1.0", "1.0"],
    ["agent/getAuthenticatedExtendedCard", "0.3", "0.3"],
    ["message/send", "0.2", "0.2"],
    ["tasks/send", "0.1", "0.1"],
    ["tasks/get", "0.2", "0.2"],
  ])("decodes %s without A2A-Version as the assumed version 0.2 if 0.2 defines it, else as %s", (form, as, strict) => {
    const supported = supportedWith(undefined, "0.2");
    expect(short(decided("none", form, { supported }))).toBe(as);
    expect(short(decided("none", form, { supported, lenient: false }))).toBe(
      form === "SendMessage" ? "not found in 0.2" : strict,
    );
  });

  it("returns all versions that the caller may be using as candidates", () => {
    expect(decided("none", "tasks/get")).toEqual({ version: "0.3", candidates: ["0.3", "0.2", "0.1"] });
    expect(decided("0.3", "tasks/get")).toEqual({ version: "0.3", candidates: ["0.3"] });
    expect(decided("0.1", "tasks/get")).toEqual({ version: "0.1", candidates: ["0.1"] });
    expect(decided("none", "message/send")).toEqual({ version: "0.3", candidates: ["0.3", "0.2"] });
  });

  it("refuses a request without A2A-Version if the server is strict and does not support the assumed version", () => {
    const supported = supportedWith(["1.0"]);
    expect(short(decided("none", "SendMessage", { supported }))).toBe("1.0");
    expect(short(decided("none", "SendMessage", { supported, lenient: false }))).toBe("unsupported, in 1.0");
  });
});

describe("parseRequestedVersion", () => {
  it.each<[string | undefined, RequestedVersion]>([
    [undefined, "none"],
    ["", "none"],
    [" ", "none"],
    ["\t", "none"],
    ["1.0", { version: "1.0" }],
    [" 1.0 ", { version: "1.0" }],
    ["1.0.0", { version: "1.0" }],
    ["1.0.1", { version: "1.0" }],
    ["1.0.99999", { version: "1.0" }],
    ["0.3", { version: "0.3" }],
    ["0.3 ", { version: "0.3" }],
    ["0.3.0", { version: "0.3" }],
    ["0.2", { version: "0.2" }],
    ["0.2.6", { version: "0.2" }],
    ["0.1", { version: "0.1" }],
    ["0.1.0", { version: "0.1" }],
  ])("parses %j as %j", (requested, parsed) => {
    expect(parseRequestedVersion(requested, all)).toEqual(parsed);
  });

  it.each([
    ...["99.0", "0.0", "0.5", "2.0", "1.1", "0.4", "0.30", "10.0", "plain"],
    ...["1", "0", "v1.0", "1.0beta", "1.0-rc", "1.0.0.0", "1.0.", ".1.0", "01.0", "1.00", "-1.0", "+1.0", "1 .0"],
    ...["garbage", "latest", "1,0", "1.0,0.3", "1.0, 1.0", "0.3;q=1", "none", "unsupported", "toString", "１.０"],
    "9".repeat(5000),
    `1.0${"0".repeat(5000)}`,
  ])("reports %j as unsupported", (requested) => {
    expect(parseRequestedVersion(requested, all)).toBe("unsupported");
  });

  it("reports versions that the server has turned off as unsupported", () => {
    const some = supportedWith(["1.0", "0.2"]);
    expect(["1.0", "0.3", "0.2", "0.1"].map((version) => parseRequestedVersion(version, some))).toEqual([
      { version: "1.0" },
      "unsupported",
      { version: "0.2" },
      "unsupported",
    ]);
  });
});

describe("choose", () => {
  const codecs = new Map([
    ["1.0", createRpcCodec1_0()],
    ["0.3", createRpcCodec0_3(dialectSettings({}))],
  ]);
  const codecFor = (version: string) => {
    const codec = codecs.get(version);
    if (codec === undefined) throw new Error(`Unexpected version ${version}.`);
    return codec;
  };
  const situation = (requested: string, form: RequestForm) =>
    choose({ supported: all, requested: requestedVersion(requested), form, lenient: undefined }, codecFor);

  it("returns the codec of the decided version", () => {
    expect(situation("none", { definedBy: ["0.3"], closest: "0.3" })).toEqual({ codec: codecs.get("0.3") });
  });

  it("refuses an unsupported version with an error that lists the supported ones", () => {
    const choice = situation("unsupported", { definedBy: ["0.3"], closest: "0.3" });
    expect(choice.codec).toBe(codecs.get("1.0"));
    expect(choice.refusal).toMatchObject({
      code: "version-not-supported",
      message: "This server supports A2A 1.0, 0.3, 0.2, 0.1",
      metadata: { supportedVersions: "1.0,0.3,0.2,0.1" },
    });
  });

  it("refuses a method that the requested version does not define, in the format of that version", () => {
    const choice = situation("0.3", { definedBy: [], closest: "1.0" });
    expect(choice.codec).toBe(codecs.get("0.3"));
    expect(choice.refusal).toMatchObject({ code: "method-not-found", message: "Method not found" });
  });
});
