import { AIMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { createServer } from "palaver";
import { type AgentClient, connect, type Task, textOf } from "palaver/client";
import { fromLangGraph, type LangGraphGraph, type LangGraphOptions } from "palaver/langgraph";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";

const card = { name: "Graph", description: "Runs a graph.", version: "1" };
const BASE = "https://agents.example.org";

let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  close = undefined;
});

async function serve(graph: LangGraphGraph, options: Partial<LangGraphOptions> = {}): Promise<AgentClient> {
  const server = createServer(fromLangGraph(graph, { ...card, ...options }), { store: "memory:", publicUrl: BASE });
  close = server.close;
  return connect(BASE, { fetch: (input, init) => server.fetch(new Request(input, init)) });
}

async function taskOf(sent: ReturnType<AgentClient["send"]>): Promise<Task> {
  const result = await sent;
  if (result.kind !== "task") throw new Error("Expected a task.");
  return result.task;
}

const resultParts = (task: Task) => task.artifacts?.[0]?.parts;

describe("a graph of LangGraph", () => {
  test("asks what its nodes ask with `interrupt`, several at once, and gets the answers", async () => {
    const State = Annotation.Root({ size: Annotation<string>, place: Annotation<{ city: string }> });
    const graph = new StateGraph(State)
      .addNode("askSize", () => ({ size: interrupt<string, string>("Which size?") }))
      .addNode("askPlace", () => ({ place: interrupt({ question: "Where to?", kind: "address" }) }))
      .addEdge(START, "askSize")
      .addEdge(START, "askPlace")
      .addEdge("askSize", END)
      .addEdge("askPlace", END)
      .compile();
    const agent = await serve(graph, {
      input: () => ({}),
      output: (values) => z.object({ size: z.string(), place: z.object({ city: z.string() }) }).parse(values),
    });
    const asked: string[] = [];
    const task = await taskOf(
      agent.send("Pizza.", {
        onInput: ({ text }) => {
          asked.push(text);
          return text.includes("size") ? "large" : [{ data: { city: "Ulm" } }];
        },
      }),
    );
    expect(asked.toSorted()).toEqual(["Where to?", "Which size?"]);
    expect(task.status.state).toBe("completed");
    expect(resultParts(task)).toMatchObject([{ data: { size: "large", place: { city: "Ulm" } } }]);
  });

  test("asks again if a node interrupts twice, and keeps the values of earlier nodes", async () => {
    const graph = new StateGraph(
      Annotation.Root({ log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }) }),
    )
      .addNode("first", () => ({ log: ["first"] }))
      .addNode("second", () => ({ log: [interrupt<string, string>("A?"), interrupt<string, string>("B?")] }))
      .addEdge(START, "first")
      .addEdge("first", "second")
      .addEdge("second", END)
      .compile();
    const agent = await serve(graph, {
      input: () => ({}),
      output: (values) => z.object({ log: z.array(z.string()) }).parse(values),
    });
    const task = await taskOf(agent.send("Go.", { onInput: ({ text }) => `answer to ${text}` }));
    expect(resultParts(task)).toMatchObject([{ data: { log: ["first", "answer to A?", "answer to B?"] } }]);
  });

  test("with a subgraph that interrupts", async () => {
    const State = Annotation.Root({ name: Annotation<string> });
    const inner = new StateGraph(State)
      .addNode("ask", () => ({ name: interrupt<string, string>("Your name?") }))
      .addEdge(START, "ask")
      .addEdge("ask", END)
      .compile();
    const graph = new StateGraph(State).addNode("inner", inner).addEdge(START, "inner").addEdge("inner", END).compile();
    const agent = await serve(graph, {
      input: () => ({}),
      output: (values) => z.object({ name: z.string() }).parse(values),
    });
    const task = await taskOf(agent.send("Go.", { onInput: () => "Ann" }));
    expect(resultParts(task)).toMatchObject([{ data: { name: "Ann" } }]);
  });

  test("continues after a static pause", async () => {
    const graph = new StateGraph(Annotation.Root({ done: Annotation<boolean> }))
      .addNode("act", () => ({ done: true }))
      .addEdge(START, "act")
      .addEdge("act", END)
      .compile({ interruptBefore: ["act"] });
    const agent = await serve(graph, {
      input: () => ({}),
      output: (values) => z.object({ done: z.boolean() }).parse(values),
    });
    const asked: string[] = [];
    const onInput = ({ text }: { readonly text: string }) => {
      asked.push(text);
      return "go on";
    };
    expect(resultParts(await taskOf(agent.send("Go.", { onInput })))).toMatchObject([{ data: { done: true } }]);
    expect(asked).toEqual(["The agent is paused before act. Answer to continue."]);
  });

  test("shows only the messages of the named nodes", async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("think", () => ({ messages: [new AIMessage("Hm.")] }))
      .addNode("answer", () => new Command({ update: { messages: [new AIMessage("Yes.")] } }))
      .addEdge(START, "think")
      .addEdge("think", "answer")
      .addEdge("answer", END)
      .compile();
    const agent = await serve(graph, { nodes: ["answer"] });
    expect(textOf(resultParts(await taskOf(agent.send("Go."))) ?? [])).toBe("Yes.");
  });

  test("with a checkpointer of its own keeps the conversation in one thread per caller and context", async () => {
    const checkpointer = new MemorySaver();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("answer", ({ messages }) => ({
        messages: [{ role: "assistant", content: `I know ${messages.map(({ text }) => text).join(", ")}.` }],
      }))
      .addEdge(START, "answer")
      .addEdge("answer", END)
      .compile({ checkpointer });
    const agent = await serve(graph);
    const first = await taskOf(agent.send("one"));
    expect(textOf(resultParts(first) ?? [])).toBe("I know one.");
    const second = await taskOf(agent.send("two", { contextId: first.contextId }));
    expect(textOf(resultParts(second) ?? [])).toBe("I know one, I know one., two.");
    const elsewhere = await taskOf(agent.send("three"));
    expect(textOf(resultParts(elsewhere) ?? [])).toBe("I know three.");
    expect(Object.keys(checkpointer.storage)).toHaveLength(2);
  });

  test("with a checkpointer of its own interrupts and resumes in the thread that the options name", async () => {
    const checkpointer = new MemorySaver();
    const graph = new StateGraph(Annotation.Root({ size: Annotation<string> }))
      .addNode("askSize", () => ({ size: interrupt<string, string>("Which size?") }))
      .addEdge(START, "askSize")
      .addEdge("askSize", END)
      .compile({ checkpointer });
    const agent = await serve(graph, {
      thread: ({ contextId }) => `thread-${contextId}`,
      input: () => ({}),
      output: (values) => z.object({ size: z.string() }).parse(values),
    });
    const task = await taskOf(agent.send("Pizza.", { onInput: () => "large" }));
    expect(resultParts(task)).toMatchObject([{ data: { size: "large" } }]);
    expect(Object.keys(checkpointer.storage)).toEqual([`thread-${task.contextId}`]);
  });
});
