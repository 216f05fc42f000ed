import type { ClientContext, PromptCapabilities, SessionUpdate } from "@agentclientprotocol/sdk";
import type { TaskContext } from "../../engine/agent/agent.ts";
import { acpFailure } from "./acp-failure.ts";
import type { AcpHost } from "./acp-host.ts";
import { promptContent, promptText } from "./prompt-content.ts";

/** An open session of an ACP agent. */
export interface Session {
  readonly sessionId: string;
  /** The content that prompts may have. */
  readonly accepts: PromptCapabilities;
  /** The session has the prompt of this task already: an earlier attempt was cut off while the agent worked on it. */
  readonly isContinued: boolean;
  /** What the agent did for this task in the earlier attempt. */
  readonly earlier: readonly SessionUpdate[];
}

export interface OpenSessionOptions {
  readonly task: TaskContext;
  readonly host: AcpHost;
  /** Sets who gets the updates from now on. */
  readonly onUpdates: (handle: (update: SessionUpdate) => Promise<void>) => void;
}

/** The key of the session's id among the values of the context. */
const SESSION = "acp-session";

/** Connects, and loads the session of the context or creates it. */
export async function openSession(
  acp: { readonly PROTOCOL_VERSION: number },
  agent: ClientContext,
  options: OpenSessionOptions,
): Promise<Session> {
  const { task, host } = options;
  const { files } = host.settings;
  const { protocolVersion, agentCapabilities = {} } = await agent.request("initialize", {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: files !== "none", writeTextFile: files === "write" }, terminal: false },
    clientInfo: { name: "palaver", version: "1" },
  });
  if (protocolVersion !== acp.PROTOCOL_VERSION)
    throw acpFailure("acp-version-unsupported", `The agent speaks version ${protocolVersion} of ACP.`);
  const accepts = agentCapabilities.promptCapabilities ?? {};
  const canLoad = agentCapabilities.loadSession === true;
  const create = async (): Promise<string> => {
    const { sessionId } = await agent.request("session/new", { cwd: host.program.cwd, mcpServers: [] });
    return sessionId;
  };
  const known = await task.context.get(SESSION);
  let loaded: LoadedSession | undefined;
  let isStored = true;
  // The id is stored before the prompt is sent, so that the next attempt can load the session.
  const stored = await task.step("session", async () => {
    isStored = false;
    loaded = typeof known === "string" && canLoad ? await loadSession(agent, known, options) : undefined;
    return loaded?.sessionId ?? (await create());
  });
  if (isStored && canLoad) loaded = await loadSession(agent, stored, { ...options, isResumed: true });
  const sessionId = loaded?.sessionId ?? (isStored ? await create() : stored);
  await task.context.set(SESSION, sessionId);
  return { isContinued: false, earlier: [], ...loaded, sessionId, accepts };
}

type LoadedSession = Omit<Session, "accepts">;

/** `undefined` if the agent does not have the session any more. */
async function loadSession(
  agent: ClientContext,
  sessionId: string,
  { task, host, isResumed = false, onUpdates }: OpenSessionOptions & { readonly isResumed?: boolean },
): Promise<LoadedSession | undefined> {
  // The agent repeats the whole conversation. What follows the last message of the user may belong to this task.
  let said = "";
  let isSpeaking = false;
  let earlier: SessionUpdate[] = [];
  onUpdates(async (update) => {
    if (update.sessionUpdate !== "user_message_chunk") {
      // A request to go on belongs to the message before it.
      if (isSpeaking && said !== host.settings.continueWith) earlier = [];
      isSpeaking = false;
      earlier.push(update);
      return;
    }
    if (!isSpeaking) said = "";
    isSpeaking = true;
    if (update.content.type === "text") said += update.content.text;
  });
  try {
    await agent.request("session/load", { sessionId, cwd: host.program.cwd, mcpServers: [] });
  } catch (error) {
    task.log.warn("The session of an agent could not be loaded; a new one is created", { error });
    return undefined;
  }
  const own = [promptText(promptContent(task.message)), host.settings.continueWith];
  const isContinued = isResumed && own.includes(said);
  const isUnanswered = isSpeaking && said !== host.settings.continueWith;
  return { sessionId, isContinued, earlier: isContinued && !isUnanswered ? earlier : [] };
}
