import type { Choice, RpcCodec } from "./codec.ts";
import { type CodecFor, choose, parseRequestedVersion, type RequestForm, type SupportedVersions } from "./negotiate.ts";
import type { DialectSettings } from "./options.ts";
import type { VersionRow } from "./registry.ts";

/** What the choice of a codec depends on. `rows` are the supported versions, newest first. */
export interface RpcChooserOptions {
  readonly rows: readonly VersionRow[];
  readonly supported: SupportedVersions;
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
  const { rows, supported, settings } = options;
  const codecs = new Map<string, RpcCodec>();
  for (const { version, rpc } of rows) if (rpc !== undefined) codecs.set(version, rpc(settings));
  const codecOf = (version: string): RpcCodec => {
    const codec = codecs.get(version) ?? codecs.get(supported.requestable[0]);
    if (codec === undefined) throw new TypeError(`Version ${version} has no JSON-RPC binding.`);
    return codec;
  };
  /** One union codec per pair of versions, created when the first request needs it. */
  const unions = new Map<string, RpcCodec>();
  const codecFor: CodecFor<RpcCodec> = (version, candidates) => {
    const older = rows.find(
      (row) => row.union !== undefined && row.version !== version && candidates.includes(row.version),
    );
    if (older?.union === undefined) return codecOf(version);
    const key = `${older.version}+${version}`;
    const union = unions.get(key) ?? older.union(codecOf(version));
    unions.set(key, union);
    return union;
  };
  /** Only methods that some version defines are cached: a caller could send any number of others. */
  const forms = new Map<string, RequestForm>();
  const formOf = (method: string): RequestForm => {
    const known = forms.get(method);
    if (known !== undefined) return known;
    const definedBy = [...codecs]
      .filter(([, codec]) => codec.operationOf(method) !== undefined)
      .map(([version]) => version);
    const [newest] = definedBy;
    if (newest === undefined) return { definedBy, closest: closestVersion(method, supported) };
    const form = { definedBy, closest: newest };
    forms.set(method, form);
    return form;
  };
  return {
    chooseRpc: (requested, method) =>
      choose(
        {
          supported,
          requested: parseRequestedVersion(requested, supported),
          form: formOf(method),
          lenient: settings.lenient,
        },
        codecFor,
      ),
    fallbackRpc: (requested) => {
      const parsed = parseRequestedVersion(requested, supported);
      if (parsed === "unsupported") return codecOf(supported.requestable[0]);
      return codecOf(parsed === "none" ? supported.assumed : parsed.version);
    },
  };
}

/** For a method that no version defines, by its naming style: 1.0 has `PascalCase` methods, 0.x has methods with slashes. */
function closestVersion(method: string, { versions, requestable, assumed }: SupportedVersions): string {
  return method.includes("/") && versions.includes(assumed) ? assumed : requestable[0];
}
