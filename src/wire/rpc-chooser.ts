import type { Choice, RpcCodec } from "./codec.ts";
import { choose, claimOf, type Speaker, type Spelling, type Spoken } from "./negotiate.ts";
import type { DialectSettings } from "./options.ts";
import type { VersionRow } from "./registry.ts";

export interface RpcChooserOptions {
  readonly rows: readonly VersionRow[];
  readonly spoken: Spoken;
  readonly settings: DialectSettings;
}

/** Chooses the codec of a JSON-RPC request. `requested` is the value of `A2A-Version`, if the caller sent it. */
export interface RpcChooser {
  /** By method and requested version. The choice has a refusal if no version defines the method, or the server lacks the version. */
  chooseRpc(requested: string | undefined, method: string): Choice<RpcCodec>;
  /** For requests without a readable method: the requested version, else the assumed one, else the newest. */
  fallbackRpc(requested: string | undefined): RpcCodec;
}

/** Creates one JSON-RPC codec per supported version. */
export function createRpcChooser(options: RpcChooserOptions): RpcChooser {
  const { rows, spoken, settings } = options;
  const codecs = new Map<string, RpcCodec>();
  for (const { version, rpc } of rows) if (rpc !== undefined) codecs.set(version, rpc(settings));
  const codecOf = (version: string): RpcCodec => {
    const codec = codecs.get(version) ?? codecs.get(spoken.nameable[0]);
    if (codec === undefined) throw new TypeError(`Version ${version} has no JSON-RPC.`);
    return codec;
  };
  const unions = new Map<string, RpcCodec>();
  const speaker: Speaker<RpcCodec> = (version, among) => {
    const older = rows.find((row) => row.union !== undefined && row.version !== version && among.includes(row.version));
    if (older?.union === undefined) return codecOf(version);
    const key = `${older.version}+${version}`;
    const union = unions.get(key) ?? older.union(codecOf(version));
    unions.set(key, union);
    return union;
  };
  const spellings = new Map<string, Spelling>();
  const spellingOf = (method: string): Spelling => {
    const known = spellings.get(method);
    if (known !== undefined) return known;
    const of = [...codecs].filter(([, codec]) => codec.operationOf(method) !== undefined).map(([version]) => version);
    const [newest] = of;
    if (newest === undefined) return { of, like: grammarOf(method, spoken) };
    const spelling = { of, like: newest };
    spellings.set(method, spelling);
    return spelling;
  };
  return {
    chooseRpc: (requested, method) =>
      choose(
        { spoken, claim: claimOf(requested, spoken), spelling: spellingOf(method), lenient: settings.lenient },
        speaker,
      ),
    fallbackRpc: (requested) => {
      const claim = claimOf(requested, spoken);
      if (claim === "unsupported") return codecOf(spoken.nameable[0]);
      return codecOf(claim === "none" ? spoken.assumed : claim.named);
    },
  };
}

/** Of a method that nobody has: words run together in the newest version, words with slashes in those before. */
function grammarOf(method: string, { versions, nameable, assumed }: Spoken): string {
  return method.includes("/") && versions.includes(assumed) ? assumed : nameable[0];
}
