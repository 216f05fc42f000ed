import { findPackageJSON } from "node:module";
import type { Model } from "./model-contract.ts";

/** Variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

const PACKAGE = "@ai-sdk/openai-compatible";

/** Where the endpoint of a provider is unless a variable says otherwise. */
const KNOWN: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  ollama: "http://127.0.0.1:11434/v1",
  vllm: "http://127.0.0.1:8000/v1",
  lmstudio: "http://127.0.0.1:1234/v1",
};

interface Endpoint {
  readonly provider: string;
  /** The part after the first slash, as the endpoint gets it. */
  readonly modelId: string;
  readonly baseURL: string;
  readonly apiKey: string | undefined;
}

/**
 * A model behind an OpenAI-compatible endpoint, by its name: `provider/model`. The address is `<PROVIDER>_BASE_URL`, else `OPENAI_BASE_URL`, else that of a
 * known provider (`openai`, `ollama`, `vllm`, `lmstudio`); the key is `<PROVIDER>_API_KEY`, or `OPENAI_API_KEY` for the address of `OPENAI_BASE_URL`.
 * Throws a `TypeError` for a name without an endpoint, and an `Error` if the package `@ai-sdk/openai-compatible` is not installed.
 */
export function modelByName(name: string, environment: Environment = process.env): Model {
  const endpoint = endpointOf(name, environment);
  if (!isInstalled())
    throw new Error(
      `The model ${JSON.stringify(name)} needs the package ${PACKAGE}, which is not installed. Run \`npm install ${PACKAGE}\`.`,
    );
  let loaded: Promise<Model> | undefined;
  return {
    provider: endpoint.provider,
    modelId: endpoint.modelId,
    async doStream(call) {
      // The package is loaded with the first call, so that other agents start without it.
      loaded ??= load(endpoint);
      return (await loaded).doStream(call);
    },
  };
}

function endpointOf(name: string, environment: Environment): Endpoint {
  const slash = name.indexOf("/");
  const [provider, modelId] = [name.slice(0, slash), name.slice(slash + 1)];
  if (slash < 1 || modelId === "")
    throw new TypeError(`The model ${JSON.stringify(name)} must have the form provider/model, as in ollama/llama3.2.`);
  const prefix = provider.toUpperCase().replace(/[^A-Z0-9]/g, "_");
  const own = environment[`${prefix}_BASE_URL`] || undefined;
  const shared = environment["OPENAI_BASE_URL"] || undefined;
  const baseURL = own ?? shared ?? KNOWN[provider.toLowerCase()];
  if (baseURL === undefined)
    throw new TypeError(
      `The model ${JSON.stringify(name)} has no endpoint. Set ${prefix}_BASE_URL or OPENAI_BASE_URL to the address of an OpenAI-compatible endpoint, or use a known provider: ${Object.keys(KNOWN).join(", ")}.`,
    );
  if (!URL.canParse(baseURL))
    throw new TypeError(`The address ${JSON.stringify(baseURL)} of the model ${JSON.stringify(name)} is not a URL.`);
  // A key goes only to the address that it belongs to.
  const isShared = own === undefined && shared !== undefined;
  const apiKey = environment[isShared ? "OPENAI_API_KEY" : `${prefix}_API_KEY`] || undefined;
  if (apiKey === undefined && baseURL === KNOWN["openai"])
    throw new TypeError(`The model ${JSON.stringify(name)} needs a key: set OPENAI_API_KEY.`);
  return { provider, modelId, baseURL, apiKey };
}

function isInstalled(): boolean {
  try {
    return findPackageJSON(PACKAGE, import.meta.url) !== undefined;
  } catch {
    return false;
  }
}

async function load({ provider, modelId, baseURL, apiKey }: Endpoint): Promise<Model> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const create = createOpenAICompatible({
    name: provider,
    baseURL,
    includeUsage: true,
    ...(apiKey !== undefined && { apiKey }),
  });
  return create(modelId);
}
