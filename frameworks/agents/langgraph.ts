import { langGraphAssistant } from "../support/langgraph-assistant.ts";

export default langGraphAssistant();
