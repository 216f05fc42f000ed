import type { Agent } from "../engine/agent/agent.ts";
import { createAssistant } from "./assistant.ts";
import { booking } from "./booking.ts";
import { countdown } from "./countdown.ts";
import { echo } from "./echo.ts";
import { files } from "./files.ts";

/** Demo agents that need no API key. The assistant uses a real model if `OPENAI_BASE_URL` is set. The first is also served at the root. */
export const demoAgents: readonly Agent[] = [echo, countdown, booking, files, createAssistant(process.env)];
