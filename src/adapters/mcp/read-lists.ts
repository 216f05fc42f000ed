import type { Client } from "@modelcontextprotocol/client";
import type { McpSettings } from "./mcp-agent-options.ts";
import type { ServerLists } from "./server-skills.ts";

/** Reads everything that the server offers and the options allow. Rejects with the error of the client. */
export async function readLists(client: Client, settings: McpSettings): Promise<ServerLists> {
  const { connectTimeout: timeout, only, except } = settings;
  const options = { timeout, cacheMode: "refresh" } as const;
  const has = client.getServerCapabilities() ?? {};
  const tools = has.tools === undefined ? [] : (await client.listTools(undefined, options)).tools;
  const wantsPrompts = settings.prompts && has.prompts !== undefined;
  const wantsResources = settings.resources && has.resources !== undefined;
  return {
    tools: tools.filter(({ name }) => only?.includes(name) !== false && except?.includes(name) !== true),
    prompts: wantsPrompts ? (await client.listPrompts(undefined, options)).prompts : [],
    resources: wantsResources ? (await client.listResources(undefined, options)).resources : [],
    templates: wantsResources ? await templatesOf(client, options) : [],
  };
}

/** Many servers with resources have no templates and say so with an error. */
async function templatesOf(
  client: Client,
  options: { readonly timeout: number; readonly cacheMode: "refresh" },
): Promise<ServerLists["templates"]> {
  try {
    return (await client.listResourceTemplates(undefined, options)).resourceTemplates;
  } catch {
    return [];
  }
}
