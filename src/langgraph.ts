export type { ApprovalRequest, FrameworkOptions } from "./adapters/frameworks/framework-options.ts";
export { fromLangGraph, type LangGraphOptions } from "./adapters/langgraph/from-langgraph.ts";
export type {
  LangChainAgent,
  LangGraphGraph,
  LangGraphInterrupt,
  LangGraphSnapshot,
} from "./adapters/langgraph/graph.ts";
